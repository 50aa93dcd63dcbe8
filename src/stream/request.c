/* SPDX-License-Identifier: GPL-2.0-or-later */
/* request.c - the stages of a request up to the choice of a server */
#include "base/clock.h"
#include "proxy/balance.h"
#include "stream/persist.h"
#include "stream/service.h"
#include "stream/tracing.h"
#include "stream/track.h"
#include "tls/tls.h"
#include "account_priv.h"
#include "capture_priv.h"
#include "engine_priv.h"
#include "filter/filter_priv.h"
#include "log_priv.h"
#include "stream_conf_priv.h"

enum rule_result rule_rewrite_failed(struct stream *s)
{
	if (s->rule.lax)
		return RULE_CONTINUE;
	stream_set_end(s, END_RULE_REWRITE);
	return RULE_ERROR;
}

/* A request that never was complete, by its client's fault. */
static enum step never_whole(struct stream *s, enum stream_end why)
{
	s->t.request = 0;
	stream_count_front(s, CNT_REQ_ERRORS);
	return stream_fail(s, why);
}

void stream_begin_request(struct stream *s)
{
	s->front.flags &= ~EP_RX_HEAD;
	s->log.method = s->req.method_text;
	s->log.uri = s->req.uri;
	s->log.version = s->req.version > 9 ? s->req.version_text : SLICE("HTTP/1.0");
	capture_request(s);
	s->t.request = clock_now_ns();
	stream_log_step(s, LOG_STEP_REQUEST);
}

/* No memory for its head, or what came behind the head is no body: nothing leaves for a server. */
static enum step begin_failed(struct stream *s)
{
	uint32_t f = s->front.flags;

	if (tables_are_used())
		track_request(s);
	if (f & EP_RX_ABORT && f & EP_ERROR)
		return stream_fail(s, END_REQUEST_CUT);
	if (f & EP_ERROR)
		return stream_fail(s, END_REQUEST_NO_MEMORY);
	stream_count_request(s, CNT_REQ_ERRORS);
	if (tables_are_used())
		track_refused(s);
	return stream_fail_with(s, END_REQUEST_BAD, s->front.status);
}

/* Frontend and backend are known (anew): which stages do nothing for this stream? */
static void note_idle_stages(struct stream *s)
{
	s->run.idle_stages = stream_proxy(s->fe)->idle_front & stream_proxy(s->be)->idle_back;
	if (unlikely(s->overrides != NULL))
		s->run.idle_stages &= ~(1u << STAGE_RESPONSE_RULES_FE);
	if (unlikely(tls_is_early(s->sess->conn)))
		s->run.idle_stages &= ~(1u << STAGE_PREPARE);
	if (unlikely(s->flags & STRM_FILTERED))
		s->run.idle_stages &= filters_idle_stages(s->filters);
}

/* What few frontends have: traces and filters. */
static enum step begin_more(struct stream *s)
{
	stream_tracing_begin(s);
	return stream_proxy(s->fe)->filters ? filters_open(s, s->fe, STEP_NEXT) : STEP_NEXT;
}

enum step stage_begin(struct stream *s)
{
	SHARED_LINES_BEGIN();
	stream_count_begin(s);
	stream_log_step(s, LOG_STEP_ACCEPT);
	if (s->flags & STRM_HTTP)
		stream_begin_request(s);
	else
		s->t.request = clock_now_ns();
	note_idle_stages(s);
	s->retry.left = (uint16_t)s->fe->retry.count;
	if (s->fe->http.connection == HTTP_CONN_CLOSE)
		s->flags |= STRM_CLIENT_CLOSE;
	if (unlikely(s->front.flags & (EP_ERROR | EP_RX_BAD)))
		return begin_failed(s);
	return unlikely(stream_proxy(s->fe)->begins_more) ? begin_more(s) : STEP_NEXT;
}

/* Ends without an answer, with the client's connection. */
static enum step cut_client(struct stream *s, enum stream_end why)
{
	s->front.flags |= EP_KILL;
	stream_set_end(s, why);
	return stream_goto(s, STAGE_END);
}

/* A service answers: nothing of servers is needed any more. */
static enum step service_step(struct stream *s, const struct proxy *px)
{
	stream_set_end(s, END_SERVICE);
	if (s->fe == px)
		counter_add(&px->state->fe, CNT_INTERCEPTED, 1);
	s->due.stage_ms = TIMER_NEVER;
	stream_send_continue(s);
	return stream_goto(s, STAGE_SEND);
}

/* A rule waits for something outside of the stream: a client that has left waits for nothing. */
static enum step rule_waits(struct stream *s)
{
	const struct rule *r = s->rule.rule;

	if (s->front.flags & EP_ERROR ||
	    (r && r->action->ends_with_client && stream_client_left(s))) {
		stream_cancel_waits(s);
		return stream_fail(s, END_RULE_CLIENT_LEFT);
	}
	stream_hold_front(s);
	return STEP_WAIT;
}

/* What a rule list decided, as a step. NEXT: go on. */
static enum step rules_step(struct stream *s, struct proxy *px, enum rule_result r,
			    const struct rule *which)
{
	switch (r) {
	case RULE_CONTINUE:
	case RULE_SKIP:
	case RULE_ACCEPT:
		return STEP_NEXT;
	case RULE_WAIT:
		return rule_waits(s);
	case RULE_DENY:
		stream_count_request(s, CNT_DENIED_REQ);
		stream_set_end(s, END_RULE_DENY);
		if (s->flags & STRM_HTTP && rule_deny_reply(which, s))
			return stream_reply(s);
		return stream_goto(s, STAGE_END);
	case RULE_REPLY:
		stream_set_end(s, END_RULE_ANSWER);
		if (s->fe == px)
			counter_add(&px->state->fe, CNT_INTERCEPTED, 1);
		return stream_reply(s);
	case RULE_SERVICE:
		return service_step(s, px);
	case RULE_REJECT:
		s->flags |= STRM_NO_REQUEST_TIME;
		stream_count_request(s, CNT_DENIED_REQ);
		return cut_client(s, END_RULE_REJECT);
	case RULE_TARPIT:
		s->flags |= STRM_TARPIT;
		stream_wait_ms(s, stream_timeout_ms(s, STREAM_TIMEOUT_TARPIT));
		return stream_goto(s, STAGE_TARPIT);
	case RULE_CLOSE:
		return cut_client(s, END_RULE_CLOSE);
	case RULE_BAD_REQUEST:
		return never_whole(s, END_RULE_BAD_REQUEST);
	case RULE_TIMEOUT:
		return never_whole(s, END_RULE_TIMEOUT);
	case RULE_TO_HTTP:
		return s->flags & STRM_HTTP ? STEP_NEXT : stream_goto(s, STAGE_UPGRADE);
	case RULE_CUT_SERVER:
	case RULE_RETRY:
	case RULE_ERROR:
		break;
	}
	stream_count_request(s, CNT_INTERNAL_ERRORS);
	return stream_fail(s, END_RULE_ERROR);
}

/* Runs a list, turns what it decided into a step; NEXT: go on */
static enum step stream_rules(struct stream *s, struct proxy *px, enum ruleset set, unsigned dir)
{
	bool waited = s->rule.rule != NULL;
	const struct rule *which = NULL;
	enum rule_result r;

	if (!rules_any(px, set))
		return STEP_NEXT;
	r = rules_run(px, set, stream_expr(s, dir), false, &which);
	if (waited && r != RULE_WAIT)
		s->t.request = clock_now_ns(); /* rules that wait make the request late */
	return rules_step(s, px, r, which);
}

/* tcp-request content: may wait for bytes until inspect-delay has passed. */
static enum step tcp_content(struct stream *s, struct proxy *px)
{
	int64_t delay = rules_inspect_delay_ms(px, false);
	const struct rule *which = NULL;
	enum rule_result r;
	bool final;

	if (!rules_any(px, RULES_TCP_CONTENT))
		return STEP_NEXT;
	if (delay && !(s->flags & STRM_INSPECT)) {
		s->flags |= STRM_INSPECT;
		stream_wait_ms(s, delay);
	}
	if (stream_client_left(s))
		return stream_fail(s, END_CONTENT_CLIENT_LEFT);
	/* (a request that is whole is no end: the client may wait for as long as it takes) */
	final = !delay || stream_is_late(s) || s->front.rx.len >= block_size() ||
		(s->front.flags & EP_RX_END && !(s->flags & STRM_HTTP));
	r = rules_run(px, RULES_TCP_CONTENT,
		      stream_expr(s, EXPR_DIR_REQUEST | (final ? EXPR_FINAL : 0)), final, &which);
	if (r == RULE_WAIT) {
		stream_hold_front(s);
		return STEP_WAIT;
	}
	s->due.stage_ms = TIMER_NEVER;
	s->flags &= ~STRM_INSPECT;
	return rules_step(s, px, r, which);
}

enum step stage_tcp_content_fe(struct stream *s)
{
	enum step step = tcp_content(s, s->fe);

	if (tables_are_used() && step == STEP_NEXT && s->flags & STRM_HTTP)
		track_request(s);
	return step;
}

static bool name_is_restricted(struct slice name)
{
	for (size_t i = 0; i < name.len; i++)
		if (!ascii_is_digit(name.ptr[i]) && name.ptr[i] != '-' &&
		    !(name.ptr[i] >= 'a' && name.ptr[i] <= 'z'))
			return true;
	return false;
}

/* option http-restrict-req-hdr-names: false when the request is refused. */
static bool restrict_names(struct stream *s, const struct proxy *px)
{
	struct http_fields *f = &s->req.fields;

	if (px->http.restrict_names != RESTRICT_DELETE &&
	    px->http.restrict_names != RESTRICT_REJECT)
		return true;
	for (unsigned i = 0; i < f->count; i++) {
		if (!f->list[i].name.ptr || !name_is_restricted(f->list[i].name))
			continue;
		if (px->http.restrict_names == RESTRICT_REJECT)
			return false;
		http_msg_drop_field(&s->req, &f->list[i]);
	}
	return true;
}

/* http-request rules, then redirect rules. */
static enum step http_request(struct stream *s, struct proxy *px)
{
	const struct rule *which = NULL;
	enum rule_result r;
	enum step step;

	if (!(s->flags & STRM_HTTP))
		return STEP_NEXT;
	step = stream_rules(s, px, RULES_HTTP_REQUEST, EXPR_DIR_REQUEST | EXPR_FINAL);
	if (step != STEP_NEXT)
		return step;
	if (!restrict_names(s, px)) {
		stream_count_request(s, CNT_DENIED_REQ);
		return stream_fail(s, END_FIELD_NAME_REFUSED);
	}
	r = service_choose(s, px);
	if (r == RULE_CONTINUE)
		r = rules_redirect(px, stream_expr(s, EXPR_DIR_REQUEST | EXPR_FINAL), &which);
	return r == RULE_CONTINUE ? STEP_NEXT : rules_step(s, px, r, which);
}

enum step stage_http_request_fe(struct stream *s)
{
	return http_request(s, s->fe);
}

/* A request cannot go on as bytes in a backend of mode tcp: it is refused. */
static enum step refuse_tcp_backend(struct stream *s)
{
	stream_set_end(s, END_TCP_BACKEND);
	s->answer.status = 500;
	s->flags |= STRM_SILENT | STRM_NO_REQUEST_TIME;
	return stream_goto(s, STAGE_END);
}

/* Do the stream and the backend chosen fit together? */
static inline enum step switched(struct stream *s)
{
	if (s->flags & STRM_HTTP)
		return s->be->mode == PROXY_MODE_HTTP ? STEP_NEXT : refuse_tcp_backend(s);
	return s->be->mode == PROXY_MODE_HTTP ? stream_goto(s, STAGE_UPGRADE) : STEP_NEXT;
}

enum step stage_switch(struct stream *s)
{
	struct expr_ctx *ctx = stream_expr(s, EXPR_DIR_REQUEST | EXPR_FINAL | EXPR_MAY_WAIT);
	struct proxy *be = NULL;
	enum step step;

	if (s->be != s->fe)
		return STEP_NEXT; /* its choice made it an HTTP stream */
	if (rules_backend(s->fe, ctx, &be) == EXPR_WAIT) {
		stream_hold_front(s);
		return STEP_WAIT;
	}
	if (!be) {
		if (!(s->fe->caps & PROXY_BE))
			return stream_fail(s, END_NO_BACKEND);
		be = s->fe;
	}
	if (s->be != be) {
		s->retry.left = (uint16_t)be->retry.count;
		stream_forget_backend_overrides(s);
	}
	s->be = be;
	note_idle_stages(s);
	/* (the client's connection is the frontend's) */
	if (be->http.connection != HTTP_CONN_KEEP_ALIVE ||
	    s->fe->http.connection == HTTP_CONN_SERVER_CLOSE)
		s->flags |= STRM_SERVER_CLOSE;
	stream_count_backend(s);
	step = switched(s);
	if (unlikely(stream_proxy(be)->filters && !(s->flags & STRM_FILTERED)))
		return filters_open(s, be, step);
	return step;
}

enum step stage_tcp_content_be(struct stream *s)
{
	return s->be == s->fe ? STEP_NEXT : tcp_content(s, s->be);
}

enum step stage_http_request_be(struct stream *s)
{
	enum step step = s->be == s->fe ? STEP_NEXT : http_request(s, s->be);

	return step == STEP_NEXT ? stream_goto_busy(s, STAGE_PREPARE) : step;
}

enum step stage_tarpit(struct stream *s)
{
	if (!stream_is_late(s) && !(s->front.flags & (EP_ERROR | EP_PEER_SHUT)))
		return STEP_WAIT;
	s->due.stage_ms = TIMER_NEVER;
	s->t.queued = clock_now_ns(); /* it was the wait of this request */
	s->flags |= STRM_NO_REQUEST_TIME;
	stream_set_end(s, END_RULE_TARPIT);
	stream_count_request(s, CNT_DENIED_REQ);
	if (rule_deny_reply(s->last_rule, s))
		return stream_reply(s);
	return stream_goto(s, STAGE_END);
}

/* --- what is added to a request --------------------------------------------------------------- */

static bool address_is_excepted(const struct proxy_forward_for *f, const struct addr *a)
{
	const uint8_t *bytes = a->family == ADDR_INET ? (const uint8_t *)&a->v4 : a->v6;
	unsigned n = a->family == ADDR_INET ? 4 : 16;

	if (!f->has_except || f->except_family != (a->family == ADDR_INET ? AF_INET : AF_INET6))
		return false;
	for (unsigned i = 0; i < n; i++)
		if ((bytes[i] & f->except_mask[i]) != f->except[i])
			return false;
	return true;
}

/* Adds one of X-Forwarded-For and X-Original-To. False: no memory. */
static bool add_address(struct stream *s, const struct proxy_forward_for *fe,
			const struct proxy_forward_for *be, const struct addr *a)
{
	const struct proxy_forward_for *f = be->enabled ? be : fe;
	struct slice name = slice_of(f->header);
	char text[ADDR_IP_MAX];
	size_t n;

	if (!addr_is_inet(a) || (fe->enabled && address_is_excepted(fe, a)) ||
	    (be->enabled && address_is_excepted(be, a)))
		return true;
	if ((!fe->enabled || fe->if_none) && (!be->enabled || be->if_none) &&
	    http_field_find(&s->req.fields, field_id_of(name), name))
		return true;
	n = addr_put_ip(a, text, sizeof(text));
	return http_msg_add_field(&s->req, name, slice_make(text, n));
}

bool stream_has_early_field(const struct stream *s)
{
	return http_field_find(&s->req.fields, FIELD_OTHER, SLICE("early-data"));
}

static bool add_fields(struct stream *s)
{
	const struct proxy *fe = s->fe, *be = s->be;

	if (be->http.forwarded && !stream_add_forwarded(s))
		return false;
	if ((fe->http.forward_for.enabled || be->http.forward_for.enabled) &&
	    !add_address(s, &fe->http.forward_for, &be->http.forward_for, stream_src(s)))
		return false;
	/* RFC 8470 5.1 */
	if (tls_is_early(s->sess->conn)) {
		s->early_field = !stream_has_early_field(s);
		if (!http_msg_set_field(&s->req, SLICE("Early-Data"), SLICE("1")))
			return false;
	}
	return !(fe->http.original_to.enabled || be->http.original_to.enabled) ||
	       add_address(s, &fe->http.original_to, &be->http.original_to, stream_dst(s));
}

/* The body, or a buffer full of it: option http-buffer-request before the rules of <px>, balance
 * url_param behind them.
 */
static enum step wait_body(struct stream *s, struct proxy *px)
{
	bool waited = s->due.stage_ms != TIMER_NEVER;

	/* the client has our permission, so the server is not asked for one */
	stream_send_continue(s);
	if (s->front.flags & EP_RX_END || s->front.rx.len >= block_size() - 1024) {
		if (waited)
			s->t.request = clock_now_ns();
		s->due.stage_ms = TIMER_NEVER;
		return STEP_NEXT;
	}
	if (s->front.flags & (EP_RX_BAD | EP_RX_ABORT | EP_ERROR)) {
		s->t.request = clock_now_ns();
		s->due.stage_ms = TIMER_NEVER;
		if (s->front.flags & EP_RX_BAD)
			return stream_fail_with(s, END_BODY_BAD, s->front.status);
		return STEP_NEXT; /* (a client that has left does so to a backend: its counters) */
	}
	if (!waited)
		stream_wait_ms(s, px->timeout.http_request ? px->timeout.http_request
							   : s->fe->timeout.client);
	if (!stream_is_late(s))
		return STEP_WAIT;
	return never_whole(s, END_BODY_TIMEOUT);
}

enum step stage_body_fe(struct stream *s)
{
	return s->flags & STRM_HTTP && s->fe->options & PROXY_OPT_HTTP_BUFFER_REQUEST ?
		wait_body(s, s->fe) : STEP_NEXT;
}

enum step stage_body_be(struct stream *s)
{
	return s->flags & STRM_HTTP && s->be != s->fe &&
		s->be->options & PROXY_OPT_HTTP_BUFFER_REQUEST ? wait_body(s, s->be) : STEP_NEXT;
}

enum step stage_prepare(struct stream *s)
{
	if (s->be->balancing.hash.body_key && s->flags & STRM_HTTP &&
	    s->req.method == HTTP_METH_POST) {
		enum step step = wait_body(s, s->be);

		if (step != STEP_NEXT)
			return step;
	}
	capture_request_cookie(s);
	persist_request(s);
	if (s->flags & STRM_HTTP && (!stream_add_unique_id(s) || !add_fields(s)))
		return stream_fail(s, END_PREPARE_NO_MEMORY);
	return stream_goto(s, STAGE_ASSIGN);
}

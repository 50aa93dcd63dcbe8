/* SPDX-License-Identifier: GPL-2.0-or-later */
/* response.c - the stages of an answer, the server's or our own */
#include "base/clock.h"
#include "net/conn.h"
#include "stream/persist.h"
#include "stream/service.h"
#include "stream/stick.h"
#include "stream/track.h"
#include "tls/tls.h"
#include "account_priv.h"
#include "capture_priv.h"
#include "engine_priv.h"
#include "filter/filter_priv.h"
#include "log_priv.h"
#include "server_conn.h"

/* More interim answers than this to one request are an attack, or a server gone wrong. */
#define INTERIMS_MAX 1000

/* Passes an interim answer on and gets ready for the next one. STEP_WAIT: not before the client
 * has read the earlier ones.
 */
static enum step forward_interim(struct stream *s)
{
	if (s->front.flags & EP_TX_FULL)
		return STEP_WAIT;
	/* each leaves something in the arena: a server without end must not fill the memory */
	if (++s->answer.interims > INTERIMS_MAX)
		return stream_fail(s, END_INTERIM_FLOOD);
	if (s->server) {
		counter_add(&s->server->state->counters, CNT_HRSP_1XX, 1);
		counter_add(&s->server->state->counters, CNT_REQ_TOT, 1);
	}
	if (s->req.version >= 11) {
		s->front.tx_head = &s->res;
		s->front.flags |= EP_TX_HEAD;
		s->front.ops->send(&s->front);
		s->front.flags &= ~EP_TX_HEAD;
	}
	http_msg_fini(&s->res);
	http_msg_init(&s->res, &s->arena);
	s->back.flags &= ~EP_RX_HEAD;
	s->back.ops->resume(&s->back);
	return STEP_AGAIN;
}

static void count_server_error(struct stream *s)
{
	stream_count_back(s, CNT_RESP_ERRORS);
}

/* What the server does counts as a check (`observe layer7`), and for outlier-ejection. */
static void observe(const struct stream *s, enum check_observation seen)
{
	if (!s->server)
		return;
	check_observe(s->server, &s->server->checks, seen);
	outlier_count(s->server, &s->be->outlier, seen, clock_now_ns() - s->t.connected);
}

static enum check_observation status_seen(int status)
{
	return status < 500 || status == 501 || status == 505 ? SEEN_RESPONSE_OK
							      : SEEN_RESPONSE_STATUS;
}

/* The server has not looked at what was sent before the handshake was over (RFC 8470). */
static enum step early_refused(struct stream *s)
{
	if (stream_retry(s, PROXY_RETRY_0RTT_REJECTED))
		return retry_go(s);
	return stream_fail(s, END_EARLY_REFUSED);
}

/* The server failed before its answer's head. */
static enum step response_failed(struct stream *s)
{
	uint32_t f = s->back.flags;
	unsigned wanted = f & EP_RX_BAD ? PROXY_RETRY_JUNK_RESPONSE : PROXY_RETRY_EMPTY_RESPONSE;

	if (s->service)
		return stream_fail_with(s, END_SERVICE_FAILED, s->back.status);
	if (f & EP_TX_REFUSED)
		return stream_fail(s, END_REQUEST_UNSPEAKABLE);
	if (s->flags & STRM_SENT_EARLY &&
	    tls_early_is_refused(s->back.ops->conn(&s->back)))
		return early_refused(s);
	observe(s, f & EP_RX_BAD ? SEEN_RESPONSE_BAD : SEEN_RESPONSE_BROKEN);
	if (stream_retry(s, wanted))
		return retry_go(s);
	count_server_error(s);
	if (f & EP_RX_BAD)
		return stream_fail_with(s, END_RESPONSE_BAD, s->back.status ? s->back.status : 502);
	return stream_fail(s, END_RESPONSE_CUT);
}

/* Nothing, or not enough, came in time. */
static enum step response_late(struct stream *s)
{
	uint64_t now = clock_now_ms();

	/* a client that stalls in its request keeps the server waiting, not the other way round */
	if (now >= s->due.client_ms) {
		stream_count_back(s, CNT_CLIENT_ABORTS);
		return stream_fail(s, END_UPLOAD_TIMEOUT);
	}
	if (now >= s->due.server_ms) {
		observe(s, SEEN_RESPONSE_TIMEOUT);
		if (!s->service && stream_retry(s, PROXY_RETRY_RESPONSE_TIMEOUT))
			return retry_go(s);
		count_server_error(s);
		return stream_fail(s, END_RESPONSE_TIMEOUT);
	}
	return STEP_WAIT;
}

/* The server wants the request once more, behind the handshake. A client which was as early, or a
 * proxy before it, must hear of that (RFC 8470 5.2).
 */
static bool too_early_is_retried(const struct stream *s)
{
	if (tls_is_early(s->sess->conn))
		return false;
	if (s->be->retry.on & PROXY_RETRY_425)
		return true;
	return s->flags & STRM_SENT_EARLY && s->be->retry.on & PROXY_RETRY_0RTT_REJECTED &&
	       (s->early_field || !stream_has_early_field(s));
}

static bool status_is_retried(const struct stream *s)
{
	switch (s->res.status) {
	case 425:
		return too_early_is_retried(s);
#define X(code) case code: return s->be->retry.on & PROXY_RETRY_##code;
	X(401) X(403) X(404) X(408) X(421) X(429) X(500) X(501) X(502) X(503) X(504)
#undef X
	}
	return false;
}

static void count_denied(struct stream *s)
{
	stream_count_request(s, CNT_DENIED_RESP);
	if (s->server)
		counter_add(&s->server->state->counters, CNT_DENIED_RESP, 1);
}

enum step stream_response_wait(struct stream *s)
{
	stream_forward(s);
	if (s->front.flags & EP_ERROR)
		return stream_fail(s, END_RULES_CLIENT_GONE);
	s->due.client_ms = s->due.server_ms = TIMER_NEVER;
	return STEP_WAIT;
}

/* What the tcp-response rules decided. */
static enum step tcp_response_step(struct stream *s, enum rule_result r)
{
	switch (r) {
	case RULE_CONTINUE:
	case RULE_SKIP:
	case RULE_ACCEPT:
		return STEP_NEXT;
	case RULE_REJECT:
	case RULE_DENY:
		count_denied(s);
		return stream_fail(s, END_TCP_RESPONSE_DENY);
	case RULE_CUT_SERVER:
		return stream_fail(s, END_TCP_RESPONSE_CUT);
	case RULE_CLOSE:
		return stream_fail(s, END_TCP_RESPONSE_CLOSE);
	default:
		return stream_fail(s, END_TCP_RESPONSE_ERROR);
	}
}

/* tcp-response content of the backend, once its server is connected: may wait for bytes until
 * inspect-delay has passed.
 */
enum step stage_tcp_response(struct stream *s)
{
	int64_t delay = rules_inspect_delay_ms(s->be, true);
	const struct rule *which = NULL;
	enum rule_result r = RULE_CONTINUE;
	bool final;

	if (rules_any(s->be, RULES_TCP_RESPONSE)) {
		if (delay && !(s->flags & STRM_INSPECT))
			stream_wait_ms(s, delay);
		s->flags |= STRM_INSPECT;
		final = !delay || stream_is_late(s) || s->back.rx.len >= block_size() ||
			s->back.flags & (EP_RX_END | EP_RX_ABORT | EP_RX_BAD | EP_ERROR);
		r = rules_run(s->be, RULES_TCP_RESPONSE,
			      stream_expr(s, EXPR_DIR_RESPONSE | (final ? EXPR_FINAL : 0)), final,
			      &which);
		if (r == RULE_WAIT)
			return stream_response_wait(s);
		s->flags &= ~STRM_INSPECT;
		s->due.stage_ms = TIMER_NEVER;
	}
	return tcp_response_step(s, r);
}

/* Bytes both ways from now on. */
static enum step tcp_begin(struct stream *s)
{
	s->t.data = s->t.connected;
	if (tables_are_used())
		stick_store(s);
	s->flags |= STRM_HEAD_SENT;
	stream_log_early(s);
	return stream_goto(s, STAGE_FORWARD);
}

/* To a client that asked with an extended CONNECT, any 2xx means that its protocol is spoken from
 * now on (RFC 8441 5): a server's page must not say so.
 */
static bool promises_tunnel(const struct stream *s)
{
	return s->req.flags & HTTP_MSG_EXTENDED_CONNECT && s->res.status >= 200 &&
	       s->res.status < 300 && s->res.body != HTTP_BODY_TUNNEL;
}

/* No answer comes any more, or no client waits for it; else STEP_WAIT. */
static enum step check_waiting(struct stream *s)
{
	bool gone;

	if (s->back.flags & (EP_RX_BAD | EP_RX_ABORT | EP_ERROR))
		return response_failed(s);
	if (s->front.flags & EP_RX_BAD)
		return stream_fail_with(s, END_UPLOAD_BAD,
					s->front.status ? s->front.status : 400);
	if (stream_client_left(s)) {
		stream_count_back(s, CNT_CLIENT_ABORTS);
		/* gone altogether, or only done with sending */
		gone = (s->front.flags & (EP_ERROR | EP_RX_ABORT)) == EP_ERROR;
		return stream_fail(s, gone ? END_CLIENT_GONE : END_CLIENT_LEFT);
	}
	return s->flags & STRM_TIMED_OUT ? response_late(s) : STEP_WAIT;
}

/* The request's bytes go to the server as they come, and answers that are none yet (1xx) to the
 * client. An answer may come before all of the request has left.
 */
enum step stage_send(struct stream *s)
{
	enum step step;

	if (!(s->flags & STRM_HTTP))
		return tcp_begin(s);
	stream_forward(s);
	if (!(s->back.flags & EP_RX_HEAD))
		return check_waiting(s);
	if (!(s->res.flags & HTTP_MSG_INTERIM))
		return STEP_NEXT;
	step = forward_interim(s);
	return step == STEP_WAIT ? check_waiting(s) : step;
}

/* Is one of the challenges, which commas separate, as they do their parameters, of a scheme that is
 * about the connection, not about the request?
 */
static bool has_connection_scheme(struct slice challenges)
{
	bool quoted = false, begins = true;

	for (size_t i = 0; i < challenges.len; i++) {
		struct slice rest = slice_make(challenges.ptr + i, challenges.len - i);
		char c = *rest.ptr;

		if (begins && (slice_starts_nocase(rest, SLICE("ntlm")) ||
			       slice_starts_nocase(rest, SLICE("nego"))))
			return true;
		quoted ^= c == '"';
		begins = !quoted && (c == ',' || (begins && (c == ' ' || c == '\t')));
	}
	return false;
}

/* Does the server ask for such a scheme? */
static bool asks_for_connection(const struct http_msg *m)
{
	uint8_t id = m->status == 401 ? FIELD_WWW_AUTHENTICATE : FIELD_PROXY_AUTHENTICATE;

	for (unsigned i = 0; i < m->fields.count; i++) {
		const struct h1_field *f = &m->fields.list[i];

		if (f->id == id && has_connection_scheme(f->value))
			return true;
	}
	return false;
}

/* The head of the answer is there. */
enum step stage_response(struct stream *s)
{
	/* what came with the head is no body: no half answer for the client */
	if (s->back.flags & EP_RX_BAD)
		return response_failed(s);
	s->back.flags &= ~EP_RX_HEAD;
	/* a tunnel amid a request: its bytes could not be told from the request's */
	if (s->res.body == HTTP_BODY_TUNNEL && !(s->front.flags & EP_RX_END))
		return stream_fail(s, END_TUNNEL_TOO_EARLY);
	if (promises_tunnel(s))
		return stream_fail(s, END_TUNNEL_UNASKED);
	s->t.data = clock_now_ns();
	observe(s, status_seen(s->res.status));
	if (s->be->retry.on && !s->service && status_is_retried(s) &&
	    stream_retry(s, s->be->retry.on)) {
		/* (the server may remember how the connection began) */
		s->flags |= s->flags & STRM_SENT_EARLY ? STRM_NO_REUSE : 0;
		return retry_go(s);
	}
	if (unlikely(s->flags & STRM_FILTERED) &&
	    filters_instead(s, (unsigned)s->res.status, true))
		return stream_goto(s, STAGE_SEND);
	s->answer.status = s->answer.server = s->res.status;
	if (unlikely(s->res.status == 401 || s->res.status == 407) && asks_for_connection(&s->res))
		server_conn_make_private(s);
	if (tables_are_used()) {
		track_answer(s, s->answer.status);
		stick_store(s);
	}
	capture_response(s);
	return STEP_NEXT;
}

/* http-response of one proxy; STEP_NEXT: go on. */
static enum step response_rules(struct stream *s, struct proxy *px)
{
	const struct rule *which = NULL;
	enum rule_result r;

	if (!rules_any(px, RULES_HTTP_RESPONSE) ||
	    (s->service && s->service->skips_response_rules))
		return STEP_NEXT;
	r = rules_run(px, RULES_HTTP_RESPONSE, stream_expr(s, EXPR_DIR_RESPONSE | EXPR_FINAL),
		      false, &which);
	if (r == RULE_WAIT)
		return stream_response_wait(s);
	if (r == RULE_CONTINUE || r == RULE_ACCEPT)
		return STEP_NEXT;
	s->last_rule = which;
	switch (r) {
	case RULE_REPLY:
		stream_set_end(s, END_RESPONSE_ANSWER);
		return stream_reply(s);
	case RULE_DENY:
		count_denied(s);
		stream_set_end(s, END_RESPONSE_DENY);
		if (rule_deny_reply(which, s))
			return stream_reply(s);
		return stream_goto(s, STAGE_END);
	case RULE_CLOSE:
		stream_set_end(s, END_RESPONSE_CLOSE);
		return stream_goto(s, STAGE_END);
	case RULE_TIMEOUT:
		return stream_fail(s, END_RESPONSE_RULE_TIMEOUT);
	default:
		return stream_fail(s, END_RESPONSE_RULE_ERROR);
	}
}

enum step stage_response_rules_be(struct stream *s)
{
	return response_rules(s, s->be);
}

/* What rules of the request have noted for the answer; without memory it is not told. */
static void add_answer_fields(struct stream *s)
{
	for (const struct answer_field *f = s->overrides->answer_fields; f; f = f->next)
		http_msg_set_field(&s->res, f->name, f->value);
}

/* http-after-response edits every answer; it cannot refuse, but fail: false. */
static bool after_response(struct stream *s)
{
	enum rule_result done = RULE_CONTINUE;
	const struct rule *which = NULL;
	unsigned dir = EXPR_DIR_RESPONSE | EXPR_FINAL;

	if (unlikely(s->overrides != NULL))
		add_answer_fields(s);
	if (rules_any(s->be, RULES_HTTP_AFTER))
		done = rules_run(s->be, RULES_HTTP_AFTER, stream_expr(s, dir), true, &which);
	if (done != RULE_ERROR && s->be != s->fe && rules_any(s->fe, RULES_HTTP_AFTER))
		done = rules_run(s->fe, RULES_HTTP_AFTER, stream_expr(s, dir), true, &which);
	return done != RULE_ERROR;
}

enum step stage_response_rules_fe(struct stream *s)
{
	enum step step = s->be == s->fe ? STEP_NEXT : response_rules(s, s->fe);
	bool has_cookie; /* before ours is added */

	if (step != STEP_NEXT)
		return step;
	capture_response_cookie(s);
	has_cookie = stream_response_has_cookie(s);
	persist_response(s);
	if (has_cookie && stream_response_leaks_cookie(s)) {
		count_denied(s);
		return stream_fail(s, END_RESPONSE_COOKIE);
	}
	if (!after_response(s))
		return stream_fail(s, END_RESPONSE_RULE_ERROR);
	return stream_goto(s, STAGE_REPLY);
}

/* The answer to an upgrade or a CONNECT opens a tunnel: what ended was the request only. */
static void open_tunnel(struct stream *s)
{
	s->flags |= STRM_TUNNEL;
	if (unlikely(s->flags & STRM_FILTERED))
		filters_open_tunnel(s);
	s->front.flags = (s->front.flags & ~EP_RX_END) | EP_TUNNEL;
	s->back.flags = (s->back.flags & ~(EP_TX_END | EP_TX_DONE)) | EP_TUNNEL;
}

enum step stage_reply(struct stream *s)
{
	if (s->flags & STRM_HEAD_SENT)
		return stream_goto(s, STAGE_END);
	if (s->flags & STRM_LOCAL_REPLY) {
		if (tables_are_used())
			track_end(s); /* http-after-response rules see it */
		/* an error's own page is not edited: it would fail again */
		if (!after_response(s) && !stream_reply_page(s, 500))
			return stream_goto(s, STAGE_END);
		/* (the rules may ask about the connection) */
		stream_drop_back(s);
		stream_drop_slot(s);
	}
	s->answer.status = s->answer.asked ? s->answer.asked : s->res.status;
	if (!(s->flags & STRM_LOCAL_REPLY))
		stream_log_step(s, LOG_STEP_RESPONSE);
	if (s->flags & STRM_CLIENT_CLOSE ||
	    (s->flags & STRM_LOCAL_REPLY && s->res.flags & HTTP_MSG_CONN_CLOSE))
		s->front.flags |= EP_CLOSE;
	if (!(s->flags & STRM_LOCAL_REPLY) && s->res.body == HTTP_BODY_TUNNEL)
		open_tunnel(s);
	s->front.flags |= EP_TX_HEAD;
	if (s->flags & STRM_LOCAL_REPLY) {
		s->local.bytes += http_msg_size(&s->res);
		if (s->req.method != HTTP_METH_HEAD)
			s->local.bytes += s->local.body.len;
		if (s->res.flags & HTTP_MSG_CONN_CLOSE)
			s->local.bytes += sizeof("connectionclose") - 1;
		block_queue_move(&s->front.tx, &s->local.body);
		s->front.flags |= EP_TX_END;
		s->front.ops->send(&s->front);
	}
	s->flags |= STRM_HEAD_SENT;
	return STEP_NEXT;
}

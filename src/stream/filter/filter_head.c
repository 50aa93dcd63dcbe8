/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filter_head.c - the stages that only streams with filters have: heads pass the chain */
#include "base/clock.h"
#include "stream/service.h"
#include "stream/tracing.h"
#include "../account_priv.h"
#include "../trace_priv.h"
#include "filter_priv.h"

/* --- waiting, failing ------------------------------------------------------------------------- */

/* A filter waits before a step of the request. */
static enum step wait_for_request(struct stream *s)
{
	stream_hold_front(s);
	if (stream_client_left(s))
		return stream_fail(s, END_FILTER_CLIENT_LEFT);
	return STEP_WAIT;
}

/* A filter does not let the message go on. */
static enum step filters_broken(struct stream *s, enum filter_side side, enum filter_result r)
{
	if (r == FILTER_REPLY && !(s->flags & STRM_HEAD_SENT)) {
		stream_set_end(s, END_FILTER_ANSWER);
		return stream_reply(s);
	}
	return stream_fail(s, side == FILTER_REQUEST ? END_FILTER_REQUEST : END_FILTER_RESPONSE);
}

enum step filters_step(struct stream *s, enum filter_side side, enum filter_result r)
{
	if (r == FILTER_NEXT)
		return STEP_NEXT;
	if (r != FILTER_WAIT)
		return filters_broken(s, side, r);
	return side == FILTER_REQUEST ? wait_for_request(s) : stream_response_wait(s);
}

/* --- heads ------------------------------------------------------------------------------------ */

static enum filter_result call_head(struct filter *f, unsigned side)
{
	struct stream *s = f->stream;

	if (!f->kind->head)
		return FILTER_NEXT;
	return f->kind->head(f, (enum filter_side)side, side == FILTER_REQUEST ? &s->req : &s->res);
}

/* Head, and end where nothing else belongs to the message: a tunnel begins, or may. */
static enum filter_result pass_head(struct stream *s, enum filter_side side, bool is_all)
{
	struct filters *fs = s->filters;
	enum filter_result r = FILTER_NEXT;

	if (!fs->has_head)
		r = filters_call(fs, &fs->resume, call_head, side);
	if (r != FILTER_NEXT)
		return r;
	fs->has_head = true;
	if (!is_all)
		return FILTER_NEXT;
	fs->ways[side].drained = true;
	return filters_pass_end(fs, side);
}

enum step stage_filter_request(struct stream *s)
{
	bool is_connect = s->req.method == HTTP_METH_CONNECT;
	enum filter_result r = FILTER_NEXT;

	if (s->flags & STRM_HTTP)
		r = pass_head(s, FILTER_REQUEST, is_connect);
	if (r != FILTER_NEXT)
		return filters_step(s, FILTER_REQUEST, r);
	filters_flow_ahead(s);
	return stream_goto(s, s->service ? STAGE_SEND : STAGE_ASSIGN);
}

enum step stage_filter_response(struct stream *s)
{
	enum filter_result r;

	r = pass_head(s, FILTER_RESPONSE, s->res.body == HTTP_BODY_TUNNEL);
	return r == FILTER_NEXT ? STEP_NEXT : filters_step(s, FILTER_RESPONSE, r);
}

/* --- another answer than the server's --------------------------------------------------------- */

/* The server is left: what it has said is not the answer, but counts as what it said. */
static void leave_server(struct stream *s, unsigned status, bool is_servers)
{
	if (s->server && is_servers)
		counter_add(&s->server->state->counters, counter_of_status((int)status), 1);
	stream_drop_back(s);
	stream_forget_answer(s);
	stream_drop_slot(s);
	s->server = NULL;
	http_msg_fini(&s->res);
	block_queue_clear(&s->front.rx);
	s->due.stage_ms = s->due.client_ms = s->due.server_ms = TIMER_NEVER;
	s->flags &= ~STRM_TIMED_OUT;
}

bool filters_instead(struct stream *s, unsigned status, bool is_servers)
{
	const struct service_kind *kind = NULL;
	const void *arg = NULL;
	struct filter *f;

	if (s->service || s->flags & STRM_HEAD_SENT)
		return false;
	for (f = s->filters->first; f; f = f->next) {
		kind = f->kind->instead ? f->kind->instead(f, status, is_servers, &arg) : NULL;
		if (kind)
			break;
	}
	if (!kind)
		return false;
	STREAM_TRACE(USER, s, SERVER, "filter %s answers instead of status %u", f->kind->name,
		     status);
	stream_tracing_note(s, END_NONE, status);
	leave_server(s, status, is_servers);
	stream_set_end(s, END_SERVICE);
	return service_attach(s, f->conf->proxy, kind, arg);
}

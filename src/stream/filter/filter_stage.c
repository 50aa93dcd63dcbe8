/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filter_stage.c - the stages of a stream that has filters: callbacks around each
 *
 * The driver calls run_stage() for whatever stage such a stream is in:
 *
 *     enter: attach what is new, begin(), before()   may wait: the stage has not run yet
 *     the stage itself                               may wait
 *     leave: backend(), after(); the stages FILTER_REQUEST and FILTER_RESPONSE (filter_head.c) come
 *            behind PREPARE and RESPONSE_RULES_FE: streams without filters do not have them
 */
#include "stream/persist.h"
#include "stream/rule_list.h"
#include "filter_priv.h"

/* --- which points there are ------------------------------------------------------------------- */

static bool is_http(const struct stream *s)
{
	return s->flags & STRM_HTTP;
}

static bool has_own_backend(const struct stream *s)
{
	return s->be != s->fe;
}

static bool has_tcp_request_fe(const struct stream *s)
{
	return rules_any(s->fe, RULES_TCP_CONTENT);
}

static bool has_tcp_request_be(const struct stream *s)
{
	return has_own_backend(s) && rules_any(s->be, RULES_TCP_CONTENT);
}

static bool has_body_fe(const struct stream *s)
{
	return is_http(s) && s->fe->options & PROXY_OPT_HTTP_BUFFER_REQUEST;
}

static bool has_body_be(const struct stream *s)
{
	return is_http(s) && has_own_backend(s) && s->be->options & PROXY_OPT_HTTP_BUFFER_REQUEST;
}

static bool has_http_request_be(const struct stream *s)
{
	return is_http(s) && has_own_backend(s);
}

static bool has_no_backend(const struct stream *s)
{
	return !s->filters->has_backend;
}

static bool has_use_server(const struct stream *s)
{
	return !list_is_empty(&rule_proxy_of(s->be)->servers);
}

static bool has_rdp_cookie(const struct stream *s)
{
	return !is_http(s) && persist_of_proxy(s->be)->rdp_cookie;
}

static bool has_tcp_response(const struct stream *s)
{
	return rules_any(s->be, RULES_TCP_RESPONSE);
}

/* Where points are, in order. <leave>: the stage behind which after() is called; STAGE_COUNT: right
 * behind before().
 */
#define POINT_TABLE(ROW) \
	ROW(TCP_CONTENT_FE, TCP_CONTENT_FE, TCP_REQUEST_FE, has_tcp_request_fe) \
	ROW(MONITOR, MONITOR, REQUEST_HEAD, is_http) \
	ROW(BODY_FE, BODY_FE, REQUEST_BODY, has_body_fe) \
	ROW(HTTP_REQUEST_FE, HTTP_REQUEST_FE, HTTP_REQUEST_FE, is_http) \
	ROW(SWITCH, SWITCH, SWITCH, has_no_backend) \
	ROW(TCP_CONTENT_BE, TCP_CONTENT_BE, TCP_REQUEST_BE, has_tcp_request_be) \
	ROW(BODY_BE, BODY_BE, REQUEST_BODY, has_body_be) \
	ROW(HTTP_REQUEST_BE, HTTP_REQUEST_BE, HTTP_REQUEST_BE, has_http_request_be) \
	ROW(TARPIT, TARPIT, TARPIT, is_http) \
	ROW(PREPARE, COUNT, USE_SERVER, has_use_server) \
	ROW(PREPARE, PREPARE, PREPARE, is_http) \
	ROW(FILTER_REQUEST, COUNT, RDP_COOKIE, has_rdp_cookie) \
	ROW(TCP_RESPONSE, TCP_RESPONSE, TCP_RESPONSE, has_tcp_response) \
	ROW(SEND, RESPONSE, RESPONSE_HEAD, is_http) \
	ROW(RESPONSE_RULES_BE, RESPONSE_RULES_FE, HTTP_RESPONSE, is_http)

static const struct point_row {
	uint8_t enter, leave, point;
	bool (*applies)(const struct stream *s);
} points[] = {
#define ROW(from, to, name, applies) \
	{ STAGE_##from, STAGE_##to, FILTER_POINT_##name, applies },
	POINT_TABLE(ROW)
#undef ROW
};

#define POINT_ROWS (sizeof(points) / sizeof(*points))

/* A bit for each stage before which there is a point, or behind which. */
#define ROW(from, to, name, applies) | 1u << STAGE_##from
static const uint32_t entered = 0 POINT_TABLE(ROW);
#undef ROW
#define ROW(from, to, name, applies) | 1u << STAGE_##to
static const uint32_t left_behind = 0 POINT_TABLE(ROW);
#undef ROW

static enum filter_result call_before(struct filter *f, unsigned point)
{
	enum filter_side side = filter_point_side((enum filter_point)point);

	if (!f->kind->before || !(f->begun & FILTER_SIDE_BIT(side)))
		return FILTER_NEXT;
	return f->kind->before(f, (enum filter_point)point);
}

static enum filter_result call_after(struct filter *f, unsigned point)
{
	enum filter_side side = filter_point_side((enum filter_point)point);

	if (f->kind->after && f->begun & FILTER_SIDE_BIT(side))
		f->kind->after(f, (enum filter_point)point);
	return FILTER_NEXT;
}

/* --- beginning -------------------------------------------------------------------------------- */

static enum filter_result call_begin(struct filter *f, unsigned side)
{
	enum filter_result r = FILTER_NEXT;

	if (f->begun & FILTER_SIDE_BIT(side))
		return FILTER_NEXT;
	if (f->kind->begin)
		r = f->kind->begin(f, (enum filter_side)side);
	if (r == FILTER_NEXT)
		f->begun |= FILTER_SIDE_BIT(side);
	return r;
}

/* The request begins for a filter before the first step of its own proxy, its body but for: that is
 * waited for first.
 */
static bool is_request_begin(const struct stream *s)
{
	return s->stage == STAGE_TCP_CONTENT_FE || s->stage == STAGE_HTTP_REQUEST_BE ||
	       s->stage == STAGE_PREPARE || s->stage == STAGE_FILTER_REQUEST ||
	       (s->stage == STAGE_TCP_CONTENT_BE && has_tcp_request_be(s));
}

/* The answer begins when there is a server or a service to give one; again at each try. */
static bool is_response_begin(const struct stream *s)
{
	return s->stage == STAGE_TCP_RESPONSE || (s->stage == STAGE_SEND && s->service);
}

static enum filter_result begin_side(struct filters *fs, enum filter_side side)
{
	enum filter_result r = FILTER_NEXT;

	if (!(fs->begun & FILTER_SIDE_BIT(side)))
		r = filters_call(fs, &fs->resume, call_begin, side);
	if (r == FILTER_NEXT)
		fs->begun |= FILTER_SIDE_BIT(side);
	return r;
}

static enum filter_result begin(struct stream *s)
{
	if (is_request_begin(s))
		return begin_side(s->filters, FILTER_REQUEST);
	if (is_response_begin(s))
		return begin_side(s->filters, FILTER_RESPONSE);
	return FILTER_NEXT;
}

/* --- entering a stage ------------------------------------------------------------------------- */

static enum step enter_points(struct stream *s)
{
	struct filters *fs = s->filters;
	const struct point_row *row;
	enum filter_result r;

	if (!fs->has_points || !(entered >> s->stage & 1))
		return STEP_NEXT;
	for (; fs->row < POINT_ROWS; fs->row++) {
		row = &points[fs->row];
		if (row->enter != s->stage || !row->applies(s))
			continue;
		r = filters_call(fs, &fs->resume, call_before, row->point);
		if (r != FILTER_NEXT)
			return filters_step(s, filter_point_side((enum filter_point)row->point), r);
		if (row->leave == STAGE_COUNT)
			filters_call_all(fs, call_after, row->point);
	}
	return STEP_NEXT;
}

static void enter_first(struct stream *s)
{
	struct filters *fs = s->filters;

	fs->stage = s->stage;
	fs->row = 0;
	fs->has_begun = fs->has_head = false;
	fs->resume = NULL;
	if (!is_response_begin(s))
		return;
	fs->begun &= (uint8_t)~FILTER_SIDE_BIT(FILTER_RESPONSE);
	for (struct filter *f = fs->first; f; f = f->next)
		f->begun &= (uint8_t)~FILTER_SIDE_BIT(FILTER_RESPONSE);
}

/* What comes before a stage. STEP_NEXT: it may run. */
static enum step enter(struct stream *s)
{
	struct filters *fs = s->filters;
	enum filter_result r;

	if (fs->stage != s->stage)
		enter_first(s);
	if (!fs->has_begun && fs->has_calls) {
		r = begin(s);
		if (r != FILTER_NEXT)
			return filters_step(s, is_response_begin(s) ? FILTER_RESPONSE
								   : FILTER_REQUEST, r);
		fs->has_begun = true;
	}
	return enter_points(s);
}

/* --- leaving a stage -------------------------------------------------------------------------- */

static enum filter_result call_reset(struct filter *f, unsigned side)
{
	if (f->kind->reset)
		f->kind->reset(f, (enum filter_side)side);
	return FILTER_NEXT;
}

/* The backend is known: its filters join. */
static bool take_backend(struct stream *s)
{
	struct filters *fs = s->filters;

	if (fs->has_backend)
		return true;
	return (!has_own_backend(s) || filters_attach(s, s->be)) && filters_tell_backend(fs);
}

/* Has a stage done what it is there for, and was it not the last thing that was done? */
static bool has_passed(const struct stream *s, enum stream_stage left)
{
	return s->stage > left && s->stage != STAGE_END &&
	       !(s->stage == STAGE_REPLY && s->flags & STRM_LOCAL_REPLY);
}

static void leave_points(struct stream *s, enum stream_stage left)
{
	if (!s->filters->has_points || !(left_behind >> left & 1))
		return;
	for (unsigned i = 0; i < POINT_ROWS; i++)
		if (points[i].leave == left && points[i].applies(s))
			filters_call_all(s->filters, call_after, points[i].point);
}

/* The stages that only streams with filters have. */
static void detour(struct stream *s, enum stream_stage left)
{
	bool request = left == STAGE_PREPARE || s->stage == STAGE_SEND;

	if (request && left < STAGE_FILTER_REQUEST)
		stream_goto(s, STAGE_FILTER_REQUEST);
	else if (left == STAGE_RESPONSE_RULES_FE)
		stream_goto(s, STAGE_FILTER_RESPONSE);
}

/* The stage <left> led to another one. */
static enum step leave(struct stream *s, enum stream_stage left)
{
	struct filters *fs = s->filters;
	bool is_switched = left == STAGE_SWITCH && !fs->has_backend;

	fs->stage = STAGE_COUNT;
	if (!has_passed(s, left))
		return STEP_AGAIN;
	if (is_switched && !take_backend(s))
		return stream_fail(s, END_FILTER_NO_MEMORY);
	if (is_switched)
		filters_call_all(fs, call_after, FILTER_POINT_SWITCH);
	else
		leave_points(s, left);
	detour(s, left);
	return STEP_AGAIN;
}

/* --- running ---------------------------------------------------------------------------------- */

/* A timer has fired since the last run. */
static void tell_timeout(struct stream *s)
{
	struct filters *fs = s->filters;

	if (fs->told_run == s->run.count)
		return;
	fs->timed_out = false;
	fs->told_run = s->run.count;
	for (struct filter *f = fs->first; f; f = f->next)
		if (f->kind->timeout)
			f->kind->timeout(f);
}

/* Tells filters that the sides end, once. The request ends first, unless it was never whole, or its
 * answer was broken off, or is a service's.
 */
static void finish(struct stream *s)
{
	struct filters *fs = s->filters;
	bool has_response = fs->has_backend || s->service;
	bool is_broken = (s->flags & (STRM_HEAD_SENT | STRM_LOCAL_REPLY)) == STRM_HEAD_SENT &&
			 !fs->ways[FILTER_RESPONSE].ended;

	if (fs->first && fs->first->begun & FILTER_SIDE_BIT(FILTER_RESPONSE) &&
	    (s->service || !fs->ways[FILTER_REQUEST].ended || is_broken))
		filters_finish(fs, FILTER_RESPONSE);
	filters_finish(fs, FILTER_REQUEST);
	if (has_response)
		filters_finish(fs, FILTER_RESPONSE);
}

/* What a stage returned; a filter of its bytes may have said something else. */
static enum step settle(struct stream *s, enum stream_stage stage, enum step step)
{
	struct filters *fs = s->filters;
	enum filter_result verdict = (enum filter_result)fs->verdict;

	if (step == STEP_END)
		return STEP_END;
	if (verdict != FILTER_NEXT && s->stage != STAGE_END && s->stage != STAGE_REPLY) {
		fs->verdict = FILTER_NEXT;
		return filters_step(s, (enum filter_side)fs->verdict_side, verdict);
	}
	/* that was an interim answer, or there is another one instead: the stage goes on */
	if (step == STEP_AGAIN && s->stage == STAGE_SEND &&
	    (stage == STAGE_SEND || stage == STAGE_RESPONSE)) {
		filters_call_all(fs, call_reset, FILTER_RESPONSE);
		fs->stage = STAGE_SEND;
		return STEP_AGAIN;
	}
	if (step != STEP_NEXT)
		return s->stage == stage ? step : leave(s, stage);
	s->stage++;
	step = leave(s, stage);
	return step == STEP_AGAIN ? stream_goto_busy(s, (enum stream_stage)s->stage) : step;
}

/* Is there nothing to be called around this stage? */
static inline bool is_quiet(const struct stream *s)
{
	uint32_t stage = 1u << s->stage;

	return s->filters->quiet & stage && (!(STAGES_OF_TRIES & stage) || filters_have_passed(s));
}

/* Calls what comes before a stage. STEP_NEXT: it may run. */
static enum step prepare(struct stream *s)
{
	enum step step = enter(s);

	if (step != STEP_NEXT)
		return step;
	if (s->stage >= STAGE_ASSIGN && s->stage <= STAGE_TURN_AROUND)
		filters_flow_ahead(s);
	else if (s->stage == STAGE_END)
		finish(s);
	return STEP_NEXT;
}

/* A stage has run, and there is more to it than that. */
static __attribute__((noinline)) enum step end_stage(struct stream *s, enum stream_stage stage,
						     enum step step)
{
	step = settle(s, stage, step);
	if (step == STEP_END) {
		finish(s);
		filters_end(s);
	}
	return step;
}

static __attribute__((noinline)) enum step run_among_filters(struct stream *s)
{
	enum stream_stage stage = (enum stream_stage)s->stage;
	enum step step = prepare(s);

	return step == STEP_NEXT ? end_stage(s, stage, stream_stages[stage].run(s)) : step;
}

static enum step run_stage(struct stream *s)
{
	enum stream_stage stage = (enum stream_stage)s->stage;
	enum step step;

	if (unlikely(s->filters->timed_out || s->flags & STRM_TIMED_OUT))
		tell_timeout(s);
	if (!is_quiet(s))
		return run_among_filters(s);
	step = stream_stages[stage].run(s);
	if (step == STEP_NEXT && s->stage == stage && s->filters->verdict == FILTER_NEXT)
		return STEP_NEXT;
	return end_stage(s, stage, step);
}

const struct stage_step filter_stages[STAGE_COUNT] = {
#define X(name, fn, c) { #name, run_stage, c },
	STREAM_STAGES(X)
#undef X
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream.c - the driver: a table of stages, and the events that advance a stream
 *
 * Everything that happens to a stream (bytes, room, a connection, a timer, a granted slot) ends in
 * stream_run(). It calls the current stage's step until one waits or the stream ends. Steps call
 * down into the muxes, which may call wake() before they return: the RUNNING flag turns that into
 * another round instead of a recursion.
 */
#include "base/bug.h"
#include "base/clock.h"
#include "core/pool.h"
#include "core/profile.h"
#include "core/task.h"
#include "core/thread.h"
#include "net/pipe.h"
#include "stream/error_capture.h"
#include "engine_priv.h"
#include "session_priv.h"
#include "trace_priv.h"

/* A stream that goes round this often in one call has lost its way. */
#define PASSES_MAX 100000
#define NUMBERS_IN_LOT 64

static struct pool *stream_pool;
static __thread uint64_t last_serial;

__thread struct list stream_list_of_thread;

/* The table of stages.c, given at start-up: the driver knows no stage. The others are for streams
 * with filters.
 */
static const struct stage_step *stages, *filtered_stages;
static stream_instead_fn *answer_instead;

void stream_set_stages(const struct stage_step *table, const struct stage_step *filtered,
		       stream_instead_fn *instead)
{
	stages = table;
	filtered_stages = filtered;
	answer_instead = instead;
}

bool stream_init(void)
{
	if (stream_pool)
		return true; /* another generation goes live */
	stream_pool = pool_new("stream", sizeof(struct stream) + slot_class_size(SLOT_STREAM));
	return stream_pool != NULL;
}

struct slot_area *stream_slots(struct stream *s)
{
	return (struct slot_area *)(s + 1);
}

static void front_wake(struct endpoint *ep)
{
	stream_run(stream_of_front(ep));
}

static void back_wake(struct endpoint *ep)
{
	stream_run(stream_of_back(ep));
}

static const struct endpoint_user front_user = {
	.bad = error_capture_front_bad, .wake = front_wake, .trace = stream_trace_front,
};
static const struct endpoint_user back_user = {
	.bad = error_capture_back_bad, .wake = back_wake, .trace = stream_trace_back,
};

struct stream *stream_of_endpoint(struct endpoint *ep)
{
	return ep->user == &back_user ? stream_of_back(ep) : NULL;
}

bool stream_mux_facts(const struct stream *s, const struct endpoint *ep, struct endpoint_facts *out)
{
	if (!ep->ops) {
		if (ep == &s->back && s->answer.left)
			*out = s->answer.left->facts;
		return ep == &s->back && s->answer.left;
	}
	*out = (struct endpoint_facts){ .streams = 1, .streams_limit = 1, .reset_code = -1 };
	if (ep->ops->facts)
		ep->ops->facts(ep, out);
	else if (s->flags & STRM_HTTP)
		out->major = 1;
	if (out->major < 2 && ep == &s->front)
		out->id = s->id.in_session;
	return true;
}

static void stream_timer(struct timer *t)
{
	struct stream *s = container_of(t, struct stream, timer);

	s->flags |= STRM_TIMED_OUT;
	stream_run(s);
}

/* Numbers (%rt) are handed to threads in lots: no counter is shared at each request. */
static uint32_t next_number(void)
{
	static uint32_t lots;
	static __thread uint32_t next;

	if (next % NUMBERS_IN_LOT == 0)
		next = __atomic_fetch_add(&lots, 1, __ATOMIC_RELAXED) * NUMBERS_IN_LOT;
	return next++;
}

struct stream *stream_new(struct session *sess, bool http)
{
	struct stream *s = pool_alloc_clear(stream_pool, offsetof(struct stream, area));

	if (!s)
		return NULL;
	if (slot_class_size(SLOT_STREAM) && !slot_area_init(SLOT_STREAM, stream_slots(s))) {
		pool_free(stream_pool, s);
		return NULL;
	}
	arena_init_in(&s->arena, s->area, sizeof(s->area), 0);
	s->vars.txn.arena = s->vars.message.arena = &s->arena;
	s->trail.tries = NULL;
	s->trail.rules = 0;
	s->sess = sess;
	s->config = session_config(sess);
	s->listener = sess->listener;
	s->fe = s->be = sess->fe;
	s->flags = http ? STRM_HTTP : 0;
	s->stage = STAGE_BEGIN;
	s->log.level = 255;
	s->due.stage_ms = s->due.client_ms = s->due.server_ms = TIMER_NEVER;
	s->id.in_session = sess->requests++;
	s->id.on_thread = ++last_serial;
	s->id.in_process = next_number();
	s->expr.session = sess;
	s->expr.stream = s;
	s->expr.arena = &s->arena;
	s->expr.vars[VAR_TXN] = &s->vars.txn;
	s->expr.vars[VAR_REQ] = &s->vars.message;
	s->req.arena = s->res.arena = &s->arena; /* all else of a head is zero at first */
	s->front.user = &front_user;
	s->front.rx_head = &s->req;
	s->front.tx_head = &s->res;
	s->back.user = &back_user;
	s->back.rx_head = &s->res;
	s->back.tx_head = &s->req;
	timer_init(&s->timer, stream_timer);
	sess->open_streams++;
	list_append(&stream_list_of_thread, &s->thread_link);
	STREAM_TRACE(STATE, s, NEW, "a stream begins");
	return s;
}

static void stream_free(struct stream *s)
{
	struct config *held = NULL;

	BUG_ON(s->back.ops || s->flags & (STRM_SLOT | STRM_FILTERED));
	STREAM_TRACE(USER, s, FREE, "the stream ends, status %u", s->answer.status);
	timer_cancel(&s->timer);
	stream_cancel_waits(s);
	if (s->queue.task)
		task_free(&s->queue.task);
	s->sess->open_streams--;
	if (unlikely(s->config != session_config(s->sess)))
		held = session_past_leave(s->sess, s->config);
	list_remove(&s->thread_link);
	http_msg_drop_blocks(&s->req);
	http_msg_drop_blocks(&s->res);
	block_queue_clear(&s->front.rx);
	block_queue_clear(&s->front.tx);
	block_queue_clear(&s->local.body);
	block_queue_clear(&s->replay);
	vars_clear(&s->vars.txn);
	vars_clear(&s->vars.message);
	if (slot_class_size(SLOT_STREAM))
		slot_area_fini(SLOT_STREAM, stream_slots(s));
	arena_fini(&s->arena);
	/* the session may go with its connection: nothing of it is looked at after this */
	if (s->front.ops)
		s->front.ops->detach(&s->front);
	pool_free(stream_pool, s);
	config_drop(&held);
}

void stream_abandon(struct stream *s)
{
	stream_free(s);
}

struct expr_ctx *stream_expr(struct stream *s, unsigned flags)
{
	s->expr.proxy = s->be;
	s->expr.flags = flags;
	/* names are the generation's: a stream of a former one cannot look there any more */
	s->expr.vars[VAR_SESS] = NULL;
	if (likely(s->config == session_config(s->sess)))
		s->expr.vars[VAR_SESS] = s->sess->vars;
	if (!(flags & EXPR_DIR_RESPONSE)) {
		s->expr.vars[VAR_REQ] = &s->vars.message;
	} else if (s->expr.vars[VAR_REQ]) { /* the request's make room for the response's */
		vars_clear(&s->vars.message);
		s->expr.vars[VAR_REQ] = NULL;
	}
	s->expr.vars[VAR_RES] = s->expr.vars[VAR_REQ] ? NULL : &s->vars.message;
	return &s->expr;
}

void stream_set_end(struct stream *s, enum stream_end why)
{
	const struct stream_end_row *row = &stream_ends[why];

	if (s->end != END_NONE)
		return;
	s->end = (uint8_t)why;
	s->end_phase = (uint8_t)(row->phase ? row->phase : stages[s->stage].phase);
	s->trail.stage = s->stage;
	s->trail.rules_at_end = s->trail.rules;
	STREAM_TRACE(STATE, s, END, "end %s: %s", row->name, row->text);
}

void stream_wait_ms(struct stream *s, int64_t ms)
{
	s->due.stage_ms = ms > 0 ? clock_now_ms() + (uint64_t)ms : TIMER_NEVER;
}

bool stream_is_late(const struct stream *s)
{
	return clock_now_ms() >= s->due.stage_ms;
}

/* Re-arms the timer from the deadlines. */
static void stream_arm(struct stream *s)
{
	uint64_t at = s->due.stage_ms;

	if (s->due.client_ms < at)
		at = s->due.client_ms;
	if (s->due.server_ms < at)
		at = s->due.server_ms;
	if (at != s->timer.expire_ms)
		timer_set(&s->timer, at);
}

/* To the following stage, past those in which the proxies have nothing to do. */
static inline void next_stage(struct stream *s)
{
	s->stage++;
	s->stage = (uint8_t)(s->stage + (unsigned)__builtin_ctz(~s->run.idle_stages >> s->stage));
}

/* Calls steps until one waits (false) or the stream ends (true). */
static bool stream_steps(struct stream *s)
{
	const struct stage_step *table = stages;

	if (unlikely(s->flags & STRM_FILTERED))
		table = filtered_stages;
	for (unsigned passes = 0;; passes++) {
		BUG_ON(passes > PASSES_MAX);
		STREAM_TRACE(STATE, s, STAGE, "in stage %s", table[s->stage].name);
		switch (table[s->stage].run(s)) {
		case STEP_NEXT:
			next_stage(s);
			break;
		case STEP_AGAIN:
			break;
		case STEP_WAIT:
			return false;
		case STEP_END:
			return true;
		}
	}
}

/* Everything that can be done for it now. True: it ends. */
static bool stream_pass(struct stream *s)
{
	bool over;

	do {
		s->flags &= ~STRM_AGAIN;
		over = stream_steps(s);
		s->flags &= ~STRM_TIMED_OUT;
	} while (!over && s->flags & STRM_AGAIN);
	return over;
}

/* --- measured, where the thread profiles ------------------------------------------------------ */

/* Since the call in progress began: time of other streams which were run inside of it. */
static __thread uint64_t inner_ns;

/* When that was known which it is called for: the end of poll(), or its wake-up. */
static uint64_t woken_at_ns(const struct stream *s)
{
	if (s->queue.task && task_current() == s->queue.task && s->queue.task->woken_ns)
		return s->queue.task->woken_ns;
	return clock_now_ns();
}

static bool stream_pass_measured(struct stream *s)
{
	uint64_t outer_ns = inner_ns, woken_ns = woken_at_ns(s), spent_ns;
	bool over;

	inner_ns = 0;
	s->run.began_ns = clock_read_ns();
	if (s->run.began_ns > woken_ns)
		s->run.latency_ns += s->run.began_ns - woken_ns;
	over = stream_pass(s);
	spent_ns = clock_read_ns() - s->run.began_ns;
	s->run.cpu_ns += spent_ns - inner_ns;
	s->run.began_ns = 0;
	inner_ns = outer_ns + spent_ns;
	return over;
}

uint64_t stream_cpu_ns(const struct stream *s)
{
	return s->run.cpu_ns + (s->run.began_ns ? clock_read_ns() - s->run.began_ns - inner_ns : 0);
}

void stream_run(struct stream *s)
{
	bool over;

	if (s->flags & STRM_RUNNING) {
		s->flags |= STRM_AGAIN;
		return;
	}
	s->flags |= STRM_RUNNING;
	s->run.count++;
	STREAM_TRACE(DEVELOPER, s, RUN, "the stream runs");
	over = likely(!profile_is_on) ? stream_pass(s) : stream_pass_measured(s);
	s->flags &= ~STRM_RUNNING;
	if (over)
		stream_free(s);
	else
		stream_arm(s);
}

void stream_wake(struct stream_wait *w)
{
	struct stream *s = w->stream;

	STREAM_TRACE(USER, s, WAKE, "what it waited for is there: %s", w->kind->name);
	stream_wait_end(w);
	stream_run(s);
}

/* --- ending ----------------------------------------------------------------------------------- */

enum step stream_reply(struct stream *s)
{
	/* what has expired is answered now: the client gets its whole time to take that */
	s->due.stage_ms = s->due.client_ms = s->due.server_ms = TIMER_NEVER;
	s->flags &= ~STRM_TIMED_OUT;
	return stream_goto(s, STAGE_REPLY);
}

/* Is it the server's fault, and has a filter something better than the page that says so? */
static bool is_answered_instead(struct stream *s, enum stream_end why, unsigned status)
{
	enum stream_cause cause = stream_ends[why].cause;

	return unlikely(s->flags & STRM_FILTERED) && s->flags & STRM_HTTP && status >= 502 &&
	       cause != CAUSE_CLIENT_ABORT && cause != CAUSE_CLIENT_TIMEOUT &&
	       cause != CAUSE_KILLED && answer_instead(s, status, false);
}

enum step stream_fail_with(struct stream *s, enum stream_end why, unsigned status)
{
	if (is_answered_instead(s, why, status))
		return stream_goto(s, STAGE_SEND);
	stream_set_end(s, why);
	STREAM_TRACE(ERROR, s, ERROR, "the stream fails with status %u, end %s: %s", status,
		     stream_ends[why].name, stream_ends[why].text);
	if (!(s->flags & STRM_HTTP) || s->flags & STRM_HEAD_SENT || !status) {
		if (status && !s->answer.status)
			s->answer.status = (uint16_t)status;
		return stream_goto(s, STAGE_END);
	}
	s->flags |= STRM_CLIENT_CLOSE * (status == 400 || status == 408);
	if (stream_reply_page(s, status))
		return stream_reply(s);
	s->answer.status = (uint16_t)status;
	s->flags |= STRM_SILENT;
	return stream_goto(s, STAGE_END);
}

enum step stream_fail(struct stream *s, enum stream_end why)
{
	return stream_fail_with(s, why, stream_ends[why].status);
}

void stream_kill(struct stream *s, enum stream_end why)
{
	BUG_ON(s->flags & STRM_RUNNING);
	s->answer.status = s->flags & STRM_HTTP ? 500 : 0;
	stream_fail(s, why);
	stream_run(s);
}

uint64_t stream_last_serial(void)
{
	return last_serial;
}

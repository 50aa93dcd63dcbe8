/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_inside.c - streams that the program begins, against stages that do what the test says */
#include "core/task.h"
#include "core/thread.h"
#include "base/module.h"
#include "fake.h"
#include "stream/inside.h"
#include "tap.h"

static struct inside *x;
static struct {
	unsigned parts, heads, datas, ends;
	unsigned status;
	bool whole;
	enum stream_end why;
	size_t bytes;
} seen;
static enum inside_result next_part;
static size_t appetite;      /* of data() */
static bool cancel_in_data, cancel_in_part;

static enum inside_result on_part(struct inside *i, struct block_queue *to)
{
	seen.parts++;
	if (cancel_in_part) {
		inside_cancel(i);
		fake.step = STEP_END;
	}
	if (next_part != INSIDE_ERROR && next_part != INSIDE_WAIT)
		block_queue_add_static(to, SLICE("part"));
	return next_part;
}

static void on_head(struct inside *i, const struct http_msg *m)
{
	seen.heads++;
	seen.status = m->status;
}

static void on_data(struct inside *i, struct block_queue *from)
{
	size_t n = from->len < appetite ? from->len : appetite;

	seen.datas++;
	seen.bytes += n;
	block_queue_skip(from, n);
	if (cancel_in_data)
		inside_cancel(i);
}

static void on_end(struct inside *i, bool whole, enum stream_end why)
{
	seen.ends++;
	seen.whole = whole;
	seen.why = why;
	x = NULL;
}

static const struct inside_kind get_kind = {
	.name = "GET", .head = on_head, .data = on_data, .end = on_end,
};
static const struct inside_kind post_kind = {
	.name = "POST", .part = on_part, .head = on_head, .data = on_data, .end = on_end,
};

static void begin(const struct inside_kind *kind, struct slice method)
{
	memset(&seen, 0, sizeof(seen));
	appetite = SIZE_MAX;
	cancel_in_data = cancel_in_part = false;
	fake.step = STEP_WAIT;
	fake.runs = 0;
	x = inside_new(&fake.px, kind, NULL, method, SLICE("/path"));
	if (!x)
		abort();
}

/* What a stream does with an answer. */
static void answer(unsigned status, const char *body, bool end)
{
	struct endpoint *ep = &x->stream->front;

	if (status) {
		x->stream->res.flags = HTTP_MSG_RESPONSE;
		if (!http_msg_set_status(&x->stream->res, status, slice_none()))
			abort();
		ep->flags |= EP_TX_HEAD;
	}
	if (*body)
		block_queue_add_static(&ep->tx, slice_of(body));
	if (end)
		ep->flags |= EP_TX_END;
	ep->ops->send(ep);
}

static void end_stream(void)
{
	fake.step = STEP_END;
	stream_run(x->stream);
}

/* --- the steps, each in a turn of its own ---------------------------------------------------- */

static unsigned refs;

static void cancel_new(void)
{
	refs = fake.config.refs;
	begin(&get_kind, SLICE("GET"));
	is_int(fake.config.refs, refs + 1, "it holds its generation");
	is_str(x->stream->front.ops->name, "INSIDE", "the front endpoint is ours");
	inside_cancel(x);
	is_int(seen.ends + fake.runs, 0, "cancelled before it began, nothing is told");
	is_int(fake.config.refs, refs, "and nothing is held");
	begin(&get_kind, SLICE("GET"));
	inside_start(x);
	is_int(fake.runs, 0, "nothing happens within inside_start()");
}

static void see_started(void)
{
	struct endpoint *ep = &x->stream->front;

	is_int(fake.runs, 1, "the stream runs at the end of the turn");
	ok(ep->flags & EP_RX_HEAD && ep->flags & EP_RX_END, "with a whole request");
	ok(x->request->method == HTTP_METH_GET && x->request->body == HTTP_BODY_NONE,
	   "that has no body");
	appetite = 2;
	answer(200, "data", false);
	ok(seen.heads == 1 && seen.status == 200, "the head is told");
	ok(seen.bytes == 2 && ep->tx.len == 2, "data that are not wanted yet stay");
	appetite = SIZE_MAX;
	inside_read(x);
	ok(seen.bytes == 4 && !ep->tx.len, "until they are read");
	answer(0, "", true);
	ok(ep->flags & EP_TX_DONE, "the end is taken");
	end_stream();
	ok(seen.ends == 1 && seen.whole && seen.why == END_NONE, "and told as a whole");
	is_int(fake.config.refs, refs, "nothing is held");
	begin(&post_kind, SLICE("POST"));
	next_part = INSIDE_MORE;
	inside_start(x);
}

static void see_more(void)
{
	ok(seen.parts >= 1 && x->stream->front.rx.len >= 4, "a part of the body is asked for");
	is_int(x->request->body, HTTP_BODY_CHUNKED, "the body has no length");
	x->stream->front.flags |= EP_RX_BLOCKED;
}

static unsigned parts_before;

static void see_blocked(void)
{
	parts_before = seen.parts;
}

static void see_still_blocked(void)
{
	struct endpoint *ep = &x->stream->front;

	is_int(seen.parts, parts_before, "a stream without room is not given more");
	ep->flags &= ~EP_RX_BLOCKED;
	next_part = INSIDE_WAIT;
	ep->ops->resume(ep);
}

static void see_waiting(void)
{
	is_int(seen.parts, parts_before + 1, "room asks for more");
	ok(!(x->stream->front.flags & EP_RX_END), "a part that waits is no end");
	next_part = INSIDE_DONE;
	inside_continue(x);
}

static void see_sent(void)
{
	ok(x->stream->front.flags & EP_RX_END, "the last part is the end");
	cancel_in_data = true;
	fake.step = STEP_END;
	answer(200, "data", false);
	ok(seen.datas == 1, "cancelled in a callback");
	is_int(fake.config.refs, refs + 1, "it is there until the turn ends");
}

static void see_cancelled(void)
{
	is_int(fake.config.refs, refs, "then nothing is held");
	is_int(seen.ends, 0, "and nothing was told");
	begin(&post_kind, SLICE("POST"));
	next_part = INSIDE_WAIT;
	inside_start(x);
}

static void cancel_waiting(void)
{
	fake.step = STEP_END;
	inside_cancel(x);
	ok(!seen.ends && fake.config.refs == refs, "cancelled while it waits, at once");
	begin(&post_kind, SLICE("POST"));
	cancel_in_part = true;
	next_part = INSIDE_MORE;
	inside_start(x);
}

static void see_part_cancelled(void)
{
	ok(!seen.ends && fake.config.refs == refs, "cancelled while it gives a part");
	begin(&post_kind, SLICE("POST"));
	next_part = INSIDE_ERROR;
	inside_start(x);
}

static void see_aborted(void)
{
	ok(x->stream->front.flags & EP_RX_ABORT, "a part that fails breaks the request off");
	stream_set_end(x->stream, END_REQUEST_CUT);
	end_stream();
	ok(seen.ends == 1 && !seen.whole && seen.why == END_REQUEST_CUT, "which is told");
	begin(&get_kind, SLICE("HEAD"));
	inside_start(x);
}

static void see_head(void)
{
	answer(103, "", false);
	ok(!seen.bytes, "an interim answer");
	answer(200, "nothing", true);
	ok(seen.heads >= 1 && !seen.bytes, "an answer to HEAD has no data");
	end_stream();
	ok(seen.whole, "and is whole");
	thread_stop_all();
}

static void (*const steps[])(void) = {
	cancel_new, see_started, see_more, see_blocked, see_still_blocked, see_waiting, see_sent,
	see_cancelled, cancel_waiting, see_part_cancelled, see_aborted, see_head,
};

#define STEPS_PAUSE_MS 5
#include "core/steps.h"

static bool start_thread(void)
{
	return steps_start() && session_thread_init();
}

static const struct module test_module = {
	.name = "test", .thread_init = start_thread, .thread_fini = steps_stop,
};

int main(void)
{
	static const struct module *const modules[] = { &test_module, NULL };

	fake_init();
	fake.px.caps = PROXY_FE | PROXY_BE;
	fake.config.refs = 1;
	ok(thread_layout(1, 1), "one thread");
	ok(inside_init(), "what stands for a listener");
	ok(thread_run_all(modules), "it ran");
	is_int(step, sizeof(steps) / sizeof(*steps), "through all steps");
	return done_testing();
}

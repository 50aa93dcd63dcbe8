/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits of a stream: their end by an answer, and by the stream's end in any stage. */
#include "fake.h"
#include "tap.h"

static unsigned cancelled;
static struct stream_wait *last_cancelled;

static void count_cancel(struct stream_wait *w)
{
	cancelled++;
	last_cancelled = w;
}

static const struct stream_wait_kind answer = { .name = "answer", .cancel = count_cancel };
static const struct stream_wait_kind other = { .name = "other", .cancel = count_cancel };

static void test_wake(void)
{
	struct stream *s = fake_stream();
	struct stream_wait w = { 0 };

	cancelled = 0;
	ok(stream_wait_is_over(&w), "a wait that has not begun is none");
	stream_wait_begin(s, &w, &answer);
	ok(!stream_wait_is_over(&w), "a wait has begun");
	ok(stream_wait_find(s, &answer) == &w, "it is found by its kind");
	ok(!stream_wait_find(s, &other), "no other kind is found");
	stream_wake(&w);
	is_int(fake.runs, 1, "an answer runs the stream");
	ok(stream_wait_is_over(&w), "the wait is over");
	ok(!stream_wait_find(s, &answer), "and not found any more");
	stream_wait_begin(s, &w, &answer);
	stream_wait_cancel(&w);
	is_int(cancelled, 1, "a wait that is given up is cancelled");
	is_int(fake.runs, 1, "its stream is not run");
	stream_wait_cancel(&w);
	is_int(cancelled, 1, "a wait is cancelled once");
	stream_abandon(s);
	is_int(cancelled, 1, "a wait that is over is not cancelled by the stream's end");
}

/* A wake-up may be the stream's end. */
static void test_end_by_wake(void)
{
	struct stream *s = fake_stream();
	struct stream_wait w = { 0 }, second = { 0 };

	cancelled = 0;
	stream_wait_begin(s, &w, &answer);
	stream_wait_begin(s, &second, &other);
	fake.step = STEP_END;
	stream_wake(&w);
	is_int(cancelled, 1, "the stream's end cancels what it waits for");
	ok(last_cancelled == &second, "but not what has come");
	is_int(fake.sess.open_streams, 0, "the stream is freed");
}

static void test_several(void)
{
	struct stream *s = fake_stream();
	struct stream_wait w[3] = { 0 };

	cancelled = 0;
	stream_wait_begin(s, &w[0], &answer);
	stream_wait_begin(s, &w[1], &other);
	stream_wait_begin(s, &w[2], &answer);
	ok(stream_wait_find(s, &answer) == &w[2], "the last of a kind is found first");
	stream_wait_cancel(&w[1]);
	ok(!stream_wait_find(s, &other), "one is taken out of the middle");
	stream_wake(&w[2]);
	ok(stream_wait_find(s, &answer) == &w[0], "the first still waits");
	stream_abandon(s);
	is_int(cancelled, 2, "and is cancelled at the end");
	ok(stream_wait_is_over(&w[0]), "no wait is left");
}

/* The stage itself brings the answer: a fetch whose answer was there after all. */
static struct stream_wait inner;

static enum step wake_inside(struct stream *s)
{
	fake.runs++;
	if (!stream_wait_is_over(&inner))
		stream_wake(&inner);
	return STEP_WAIT;
}

static void test_wake_while_running(void)
{
	static struct stage_step table[STAGE_COUNT];
	struct stream *s = fake_stream();

	for (unsigned i = 0; i < STAGE_COUNT; i++)
		table[i] = (struct stage_step){ "INSIDE", wake_inside, '-' };
	stream_set_stages(table, table, NULL);
	stream_wait_begin(s, &inner, &answer);
	stream_run(s);
	is_int(fake.runs, 2, "a stream that is woken while it runs goes round once more");
	stream_abandon(s);
}

int main(void)
{
	fake_init();
	test_wake();
	test_end_by_wake();
	test_several();
	test_wake_while_running();
	return done_testing();
}

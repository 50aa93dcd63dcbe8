/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connection over a simulated network and clock (sim.h): bytes that go up and come back through
 * losses and delays; what happens when the client falls silent, says goodbye or moves.
 */
#include "conn_priv.h"
#include "sim.h"

/* Takes what came back, and compares. */
static uint64_t take(struct sim *s, uint64_t at)
{
	char bytes[512];

	while (s->down.ready.len) {
		size_t n = block_queue_peek(&s->down.ready, 0, bytes, sizeof(bytes));

		for (size_t i = 0; i < n; i++)
			s->wrong += (uint8_t)bytes[i] != byte_at(at + i);
		block_queue_skip(&s->down.ready, n);
		at += n;
	}
	return at;
}

static void test_echo(unsigned loss, enum quic_cc_algo algo, bool moves)
{
	struct sim *s = begin(loss, algo);
	uint64_t got = 0;

	put_upload(s);
	for (unsigned i = 0; i < 120000 && got < s->size && !played_freed; i++) {
		if (moves && i % 300 == 150)
			s->q->path.from = addr_from_v4("\x0a\0\0\1", (uint16_t)i);
		step(s);
		got = take(s, got);
	}
	is_int(got, TOTAL, "an echo through %u losses of 1000, algorithm %d%s", loss, (int)algo,
	       moves ? ", at changing addresses" : "");
	is_int(s->wrong, 0, "nothing of it was wrong");
	ok(!played_freed && s->q->state == QUIC_OPEN, "the connection is open");
	for (unsigned i = 0; i < 2000; i++)
		step(s);
	ok(!played_freed && !s->q->in_flight && !s->q->spaces[QUIC_LEVEL_APP].eliciting_in_flight,
	   "in the end nothing is in flight");
	ok(!tree_first(&s->q->streams.all), "and no stream is left");
	finish(s);
}

static void test_silence(void)
{
	struct sim *s = begin(0, QUIC_CC_CUBIC);
	uint64_t fell_ms;

	put_upload(s);
	for (unsigned i = 0; i < 300; i++)
		step(s);
	s->silent = true;
	fell_ms = s->now_ms;
	while (!played_freed && s->now_ms < fell_ms + 60000)
		step(s);
	ok(played_freed && s->now_ms - fell_ms >= 4900 && s->now_ms - fell_ms < 12000,
	   "a client that falls silent is forgotten after max-idle-timeout");
	finish(s);
}

static void test_goodbye(void)
{
	static const uint8_t bye[] = { QUIC_FT_CLOSE_APP, 0x41, 0, 0 };
	static const uint8_t bad[] = { 0x21, 0, 0, 0 };
	struct sim *s = begin(0, QUIC_CC_CUBIC);

	client_packet(s, bye, sizeof(bye));
	for (unsigned i = 0; i < 50; i++)
		step(s);
	ok(!played_freed && s->q->state == QUIC_DRAINING, "the client says goodbye");
	for (unsigned i = 0; i < 5000 && !played_freed; i++)
		step(s);
	ok(played_freed, "and is forgotten");
	finish(s);
	s = begin(0, QUIC_CC_CUBIC);
	client_packet(s, bad, sizeof(bad));
	for (unsigned i = 0; i < 100; i++)
		step(s);
	ok(!played_freed && s->q->state == QUIC_CLOSING && s->ended, "an unknown frame ends it");
	for (unsigned i = 0; i < 5000 && !played_freed; i++)
		step(s);
	ok(played_freed, "then it is forgotten");
	finish(s);
}

int main(void)
{
	if (!sim_init())
		return 1;
	test_echo(0, QUIC_CC_CUBIC, false);
	test_echo(30, QUIC_CC_CUBIC, false);
	test_echo(150, QUIC_CC_CUBIC, false);
	test_echo(30, QUIC_CC_NEWRENO, false);
	test_echo(30, QUIC_CC_NONE, false);
	test_echo(20, QUIC_CC_CUBIC, true);
	test_silence();
	test_goodbye();
	return done_testing();
}

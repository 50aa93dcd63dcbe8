/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much may be in flight, and how fast it leaves: controllers alone, pacing in a simulation. */
#include "congestion_priv.h"
#include "conn_priv.h"
#include "sim.h"
#include "stream_priv.h"

#define MTU 1000

static struct quic_cc cc;

static void start(enum quic_cc_algo algo)
{
	quic_cc_init(&cc, algo, MTU, 1000000);
}

static void test_min_losses(void)
{
	uint64_t before;

	start(QUIC_CC_CUBIC);
	before = cc.window;
	quic_cc_lost(&cc, 100 * MS, 90 * MS);
	ok(cc.window < before, "a loss makes the window smaller");
	start(QUIC_CC_CUBIC);
	cc.losses_least = 3;
	for (unsigned i = 0; i < 10; i++) {
		quic_cc_lost(&cc, (100 + i) * MS, 90 * MS);
		quic_cc_lost(&cc, (100 + i) * MS, 90 * MS);
		quic_cc_acked(&cc, (100 + i) * MS, 95 * MS, MTU, MS, false);
	}
	is_int(cc.window, before, "two between acknowledgements do not, if three have to be");
	for (unsigned i = 0; i < 3; i++)
		quic_cc_lost(&cc, 200 * MS, 190 * MS);
	ok(cc.window < before, "three do");
}

/* Rounds of 20 packets; in each, the round trip is longer by <more>. Returns the window. */
static uint64_t rounds(unsigned count, uint64_t more)
{
	uint64_t pn = 0, rtt = 50 * MS;

	for (unsigned r = 0; r < count; r++, rtt += more)
		for (unsigned i = 0; i < 20; i++, pn++) {
			quic_cc_acked(&cc, (1 + pn) * MS, 1 + pn * MS, MTU, rtt, true);
			quic_cc_rtt(&cc, rtt, pn, (r + 1) * 20);
		}
	return cc.window;
}

static void test_hystart(void)
{
	uint64_t first = 0, plain, longer;

	start(QUIC_CC_NEWRENO);
	first = cc.window;
	plain = rounds(10, 10 * MS);
	is_int(plain, first + 200 * MTU, "slow start grows by what is acknowledged");
	start(QUIC_CC_NEWRENO);
	cc.hystart.on = true;
	is_int(rounds(10, 0), plain, "with HyStart too, while round trips stay");
	start(QUIC_CC_NEWRENO);
	cc.hystart.on = true;
	longer = rounds(10, 10 * MS);
	ok(longer < plain / 2 && cc.threshold != UINT64_MAX, "it ends when they become longer");
	start(QUIC_CC_NEWRENO);
	cc.hystart.on = true;
	rounds(3, 10 * MS);
	ok(cc.hystart.careful && cc.threshold == UINT64_MAX, "at first it is only slower");
	for (uint64_t i = 60; i < 80; i++)
		quic_cc_rtt(&cc, 50 * MS, i, 80);
	ok(!cc.hystart.careful, "and goes on when they are as short as before");
}

#define BULK 60000

/* How much of 60,000 bytes leaves immediately, *ms: how long all of it takes. */
static size_t burst(bool unpaced, unsigned *ms)
{
	static const char bulk[BULK];
	uint8_t room[QUIC_DATAGRAM_MAX];
	size_t at_once = 0, all, n;
	struct quic_stream *q;
	struct sim *s;
	uint64_t now;

	tunes.unpaced = unpaced;
	s = begin(0, QUIC_CC_NONE);
	put_upload(s);
	s->up.fin = false;
	for (unsigned i = 0; i < 2000; i++)
		step(s);
	q = list_entry(tree_first(&s->q->streams.all), struct quic_stream, node);
	quic_stream_send_copy(q, bulk, BULK);
	now = s->now_ms * MS;
	while ((n = quic_conn_send(s->q, room, now)))
		at_once += n;
	all = at_once;
	for (*ms = 0; all < BULK && *ms < 1000; ) {
		now = quic_conn_deadline(s->q);
		*ms = (unsigned)(now / MS - s->now_ms) + 1;
		while ((n = quic_conn_send(s->q, room, now)))
			all += n;
	}
	finish(s);
	return at_once;
}

static void test_pacing(void)
{
	unsigned ms;
	size_t n = burst(true, &ms);

	ok(n > BULK && !ms, "without pacing all leaves at once: %zu bytes", n);
	n = burst(false, &ms);
	/* the window is 100,000, the round trip 40 ms, slow start goes on: 5,000 a ms */
	ok(n > 10000 && n < 30000, "with it, a burst does: %zu bytes", n);
	ok(ms > 2 && ms < 20, "the rest follows in its time: %u ms", ms);
}

int main(void)
{
	if (!sim_init())
		return 1;
	test_min_losses();
	test_hystart();
	test_pacing();
	return done_testing();
}

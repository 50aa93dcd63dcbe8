/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Explicit congestion notification, over a simulated network (sim.h): marks are counted and told,
 * what the peer tells of ours slows the sender down, and a path or a peer that does not keep to it
 * gets no more.
 */
#include "conn_priv.h"
#include "ecn_priv.h"
#include "sim.h"

/* What the socket's side does before it makes datagrams. */
static void run(struct sim *s, unsigned ms)
{
	while (ms-- && !played_freed) {
		s->q->path.ecn.tx = (uint8_t)quic_ecn_mark(s->q);
		step(s);
	}
}

static struct sim *begin_marked(uint8_t becomes, bool tells)
{
	struct sim *s = begin(0, QUIC_CC_NEWRENO);

	/* (packets of the handshake are not heard by this client) */
	quic_ecn_restart(s->q);
	s->becomes = becomes;
	s->tells_marks = tells;
	/* (this client acknowledges one by one, with the counts of the moment) */
	s->in_order = true;
	put_upload(s);
	return s;
}

static void test_counts(void)
{
	struct sim *s = begin(0, QUIC_CC_NEWRENO);

	s->mark = QUIC_ECN_ECT0;
	put_upload(s);
	run(s, 3000);
	is_int(s->wrong, 0, "the transfer goes on");
	ok(s->told[QUIC_COUNT_ECT0] > 200, "%llu packets came with ECT(0)",
	   (unsigned long long)s->told[QUIC_COUNT_ECT0]);
	is_int(s->told[QUIC_COUNT_CE], 0, "and none with CE");
	s->mark = QUIC_ECN_CE;
	client_packet(s, (const uint8_t[]){ QUIC_FT_PING }, 1);
	run(s, 100);
	is_int(s->told[QUIC_COUNT_CE], 1, "one that did is told");
	finish(s);
}

static void test_capable(void)
{
	struct sim *s = begin_marked(QUIC_ECN_ECT0, true);
	uint64_t window;

	run(s, 300);
	is_int(s->q->path.ecn.state, QUIC_ECN_CAPABLE, "marks come through");
	is_int(quic_ecn_mark(s->q), QUIC_ECN_ECT0, "and go on");
	window = s->q->cc.window;
	s->becomes = QUIC_ECN_CE;
	run(s, 1);
	s->becomes = QUIC_ECN_ECT0;
	run(s, 2 * DELAY_MS + 2);
	ok(s->q->cc.window <= window * 3 / 4, "congestion slows it down: %llu, %llu",
	   (unsigned long long)window, (unsigned long long)s->q->cc.window);
	is_int(s->q->counts.lost, 0, "without a loss");
	is_int(s->q->path.ecn.state, QUIC_ECN_CAPABLE, "which is what marks are for");
	finish(s);
}

static void test_failed(const char *what, uint8_t becomes, bool tells, const uint64_t more[3])
{
	struct sim *s = begin_marked(becomes, tells);

	memcpy(s->marks, more, sizeof(s->marks));
	run(s, 3000);
	is_int(s->q->path.ecn.state, QUIC_ECN_FAILED, "%s: is found out", what);
	is_int(quic_ecn_mark(s->q), QUIC_ECN_NONE, "%s: no more marks", what);
	is_int(s->wrong, 0, "%s: the transfer goes on", what);
	finish(s);
}

static void test_fewer(void)
{
	struct sim *s = begin_marked(QUIC_ECN_ECT0, true);

	run(s, 300);
	is_int(s->q->path.ecn.state, QUIC_ECN_CAPABLE, "marks come through");
	s->marks[QUIC_COUNT_ECT0] = 1;
	run(s, 300);
	is_int(s->q->path.ecn.state, QUIC_ECN_FAILED, "counts that fall are no counts");
	finish(s);
}

/* Everything that is marked is lost. */
static void test_black_hole(void)
{
	struct sim *s = begin_marked(QUIC_ECN_ECT0, true);

	for (unsigned ms = 0; ms < 20000 && s->size == UINT64_MAX; ms++) {
		s->q->path.ecn.tx = (uint8_t)quic_ecn_mark(s->q);
		s->loss = 0;
		step(s);
		for (unsigned i = 0; i < s->flying; i++)
			if (!s->net[i]->up && s->net[i]->mark) {
				free(s->net[i]);
				s->net[i--] = s->net[--s->flying];
			}
	}
	is_int(s->q->path.ecn.state, QUIC_ECN_UNKNOWN, "marks are given up");
	ok(s->down.at + s->down.early_len > 10000, "and bytes arrive: %llu",
	   (unsigned long long)s->down.at);
	finish(s);
}

static void test_restart(void)
{
	struct sim *s = begin_marked(QUIC_ECN_NONE, false);

	run(s, 500);
	is_int(s->q->path.ecn.state, QUIC_ECN_FAILED, "a path that takes marks away");
	quic_ecn_restart(s->q);
	is_int(quic_ecn_mark(s->q), QUIC_ECN_ECT0, "another path is tried anew");
	finish(s);
}

int main(void)
{
	if (!sim_init())
		return 1;
	test_counts();
	test_capable();
	test_failed("marks that are taken away", QUIC_ECN_NONE, false, (const uint64_t[3]){ 0 });
	test_failed("a peer that says nothing", QUIC_ECN_ECT0, false, (const uint64_t[3]){ 0 });
	test_failed("counts that do not grow", QUIC_ECN_NONE, true, (const uint64_t[3]){ 0 });
	test_failed("a mark of another kind", QUIC_ECN_ECT1, true, (const uint64_t[3]){ 0 });
	test_failed("more than was sent", QUIC_ECN_ECT0, true,
		    (const uint64_t[3]){ 1000000, 0, 0 });
	test_failed("more than was sent, all told", QUIC_ECN_ECT0, true,
		    (const uint64_t[3]){ 0, 0, UINT64_C(1) << 61 });
	test_fewer();
	test_black_hole();
	test_restart();
	return done_testing();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ecn.c - QUIC: explicit congestion notification: marks, and whether the path lets them through */
#include "ecn_priv.h"
#include "codec/quic.h"
#include "conn_priv.h"
#include "quic_trace.h"
#include "recovery_priv.h"

/* Packets that may be lost for their marks (RFC 9000 A.4). */
#define TESTED_MOST 10

enum quic_ecn_mark quic_ecn_mark(const struct quic_conn *q)
{
	const struct quic_ecn *e = &q->path.ecn;

	return e->state == QUIC_ECN_TESTING || e->state == QUIC_ECN_CAPABLE ? QUIC_ECN_ECT0
									    : QUIC_ECN_NONE;
}

bool quic_ecn_sent(struct quic_conn *q, struct quic_space *s)
{
	struct quic_ecn *e = &q->path.ecn;

	if (e->tx != QUIC_ECN_ECT0)
		return false;
	s->marks.sent++;
	if (e->state == QUIC_ECN_TESTING && ++e->tested == TESTED_MOST)
		e->state = QUIC_ECN_UNKNOWN;
	return true;
}

void quic_ecn_received(struct quic_conn *q, struct quic_space *s)
{
	static const uint8_t counts[] = {
		[QUIC_ECN_ECT0] = QUIC_COUNT_ECT0, [QUIC_ECN_ECT1] = QUIC_COUNT_ECT1,
		[QUIC_ECN_CE] = QUIC_COUNT_CE,
	};

	if (q->path.ecn.rx != QUIC_ECN_NONE)
		s->marks.received[counts[q->path.ecn.rx]]++;
}

bool quic_ecn_has_counts(const struct quic_space *s)
{
	const uint64_t *n = s->marks.received;

	return n[QUIC_COUNT_ECT0] || n[QUIC_COUNT_ECT1] || n[QUIC_COUNT_CE];
}

static bool fail(struct quic_conn *q)
{
	QUIC_TRACE(STATE, q, ACK, "marks do not come through: no more are sent");
	q->path.ecn.state = QUIC_ECN_FAILED;
	return false;
}

/* May the peer have seen that? Each packet counts once at most, whatever its mark has become, and
 * none can have one that we do not send.
 */
static bool is_possible(const struct quic_space *s, const struct quic_frame *f, unsigned marked)
{
	const uint64_t *told = s->marks.told, *now = f->ecn;
	uint64_t ect0 = now[QUIC_COUNT_ECT0], ce = now[QUIC_COUNT_CE];

	if (now[QUIC_COUNT_ECT1] || ect0 < told[QUIC_COUNT_ECT0] || ce < told[QUIC_COUNT_CE])
		return false;
	return ect0 <= s->marks.sent && ce <= s->marks.sent - ect0 &&
	       ect0 - told[QUIC_COUNT_ECT0] + ce - told[QUIC_COUNT_CE] >= marked;
}

bool quic_ecn_acked(struct quic_conn *q, struct quic_space *s, const struct quic_frame *f,
		    unsigned marked)
{
	uint64_t ce = s->marks.told[QUIC_COUNT_CE];

	if (q->path.ecn.state == QUIC_ECN_FAILED)
		return false;
	if (f->type != QUIC_FT_ACK_ECN)
		return marked ? fail(q) : false;
	if (!is_possible(s, f, marked))
		return fail(q);
	for (unsigned i = 0; i < QUIC_ECN_COUNTS; i++)
		s->marks.told[i] = f->ecn[i];
	if (marked)
		q->path.ecn.state = QUIC_ECN_CAPABLE;
	return f->ecn[QUIC_COUNT_CE] > ce;
}

void quic_ecn_doubt(struct quic_conn *q)
{
	if (q->path.ecn.state == QUIC_ECN_TESTING && q->path.ecn.tested)
		q->path.ecn.state = QUIC_ECN_UNKNOWN;
}

void quic_ecn_restart(struct quic_conn *q)
{
	q->path.ecn.state = QUIC_ECN_TESTING;
	q->path.ecn.tested = 0;
}

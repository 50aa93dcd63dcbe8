/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recovery.c - QUIC: packets that were sent: acknowledged, lost, or asked about (RFC 9002) */
#include <stdlib.h>
#include "base/clock.h"
#include "buffers_priv.h"
#include "congestion_priv.h"
#include "conn_priv.h"
#include "core/pool.h"
#include "keys_priv.h"
#include "quic_trace.h"
#include "ranges_priv.h"
#include "recovery_priv.h"
#include "stream_priv.h"

/* Packets acknowledged behind one that is missing, at least, before it counts as lost. */
#define PACKET_THRESHOLD 3
/* Bytes under way, of a thread, that others are not told of. */
#define TX_UNTOLD (64 * 1024)
#define GRANULARITY_NS NS_PER_MS
#define INITIAL_RTT_NS (333 * NS_PER_MS)
#define PTO_COUNT_MAX 16
/* Persistent congestion is that long, in probe timeouts. */
#define PERSISTENT 3
/* Ranges of an ACK that are looked at. */
#define ACK_RANGES_MAX 256

static struct pool *pool, *spaces;

bool quic_recovery_init(void)
{
	if (!pool)
		pool = pool_new("quic_packet", sizeof(struct quic_sent));
	if (!spaces)
		spaces = pool_new("quic_space", sizeof(struct quic_space));
	return pool && spaces;
}

static int64_t tx_told;              /* atomic: bytes under way of all threads */
static __thread int64_t tx_untold;

static void count_tx(int64_t bytes)
{
	tx_untold += bytes;
	if (tx_untold < TX_UNTOLD && tx_untold > -TX_UNTOLD)
		return;
	__atomic_add_fetch(&tx_told, tx_untold, __ATOMIC_RELAXED);
	tx_untold = 0;
}

bool quic_tx_is_full(const struct quic_tunes *t)
{
	int64_t now = tx_untold;

	if (!t->tx_max)
		return false;
	now += __atomic_load_n(&tx_told, __ATOMIC_RELAXED);
	return now > 0 && (uint64_t)now >= t->tx_max;
}

struct quic_sent *quic_sent_new(void)
{
	struct quic_sent *p = pool_alloc(pool);

	if (p) {
		list_init(&p->link);
		p->count = 0;
		p->eliciting = p->in_flight = false;
	}
	return p;
}

void quic_sent_free(struct quic_sent *p)
{
	pool_free(pool, p);
}

void quic_on_sent(struct quic_conn *q, struct quic_space *s, struct quic_sent *p)
{
	if (!p->in_flight) { /* an acknowledgement alone: nothing to wait for */
		pool_free(pool, p);
		return;
	}
	list_append(&s->sent, &p->link);
	if (q->cc.algo == QUIC_CC_BBR)
		quic_bbr_sent(&q->cc, p, !q->in_flight);
	q->in_flight += p->size;
	count_tx(p->size);
	if (!p->eliciting)
		return;
	s->eliciting_in_flight++;
	s->last_eliciting_ns = p->sent_ns;
}

/* It is in flight no more. */
static void forget(struct quic_conn *q, struct quic_space *s, struct quic_sent *p)
{
	list_remove(&p->link);
	q->in_flight -= p->size;
	count_tx(-(int64_t)p->size);
	s->eliciting_in_flight -= p->eliciting;
	pool_free(pool, p);
}

/* --- round trips (RFC 9002 5) ----------------------------------------------------------------- */

static void take_sample(struct quic_conn *q, uint64_t sample, uint64_t delay)
{
	struct quic_rtt *r = &q->rtt;
	uint64_t adjusted, diff;

	r->latest = sample;
	QUIC_TRACE(DATA, q, RTT, "a round trip of %llu us", (unsigned long long)(sample / 1000));
	if (!r->known) {
		r->known = true;
		r->min = r->smoothed = sample;
		r->var = sample / 2;
		return;
	}
	if (sample < r->min)
		r->min = sample;
	if (delay > q->params.ack_delay_ms * NS_PER_MS && q->state != QUIC_HANDSHAKE)
		delay = q->params.ack_delay_ms * NS_PER_MS;
	adjusted = sample >= r->min + delay ? sample - delay : sample;
	diff = r->smoothed > adjusted ? r->smoothed - adjusted : adjusted - r->smoothed;
	r->var = (3 * r->var + diff) / 4;
	r->smoothed = (7 * r->smoothed + adjusted) / 8;
}

uint64_t quic_pto_ns(const struct quic_conn *q, bool app)
{
	const struct quic_rtt *r = &q->rtt;
	uint64_t srtt = r->known ? r->smoothed : INITIAL_RTT_NS;
	uint64_t var = r->known ? r->var : INITIAL_RTT_NS / 2;

	var = 4 * var > GRANULARITY_NS ? 4 * var : GRANULARITY_NS;
	return srtt + var + (app ? q->params.ack_delay_ms * NS_PER_MS : 0);
}

/* --- what becomes of frames ------------------------------------------------------------------- */

static void frame_acked(struct quic_conn *q, struct quic_space *s, const struct quic_sent_frame *f)
{
	if (f->type == QUIC_FT_CRYPTO)
		quic_sendbuf_acked(&s->crypto_tx, f->offset, f->len, false);
	else if (f->type == QUIC_FT_ACK)
		/* the peer knows of these: they need no telling again */
		quic_received_forget(s, f->offset);
	else
		quic_stream_frame_acked(q, f);
}

static void frame_lost(struct quic_conn *q, struct quic_space *s, const struct quic_sent_frame *f)
{
	switch (f->type) {
	case QUIC_FT_ACK:
		break;
	case QUIC_FT_CRYPTO:
		quic_sendbuf_lost(&s->crypto_tx, f->offset, f->len, false);
		break;
	case QUIC_FT_HANDSHAKE_DONE:
		q->flags |= QUIC_FL_DONE_DUE;
		break;
	case QUIC_FT_MAX_DATA:
		q->flags |= QUIC_FL_MAX_DATA_DUE;
		break;
	case QUIC_FT_MAX_STREAMS_BIDI:
		q->flags |= QUIC_FL_MAX_BIDI_DUE;
		break;
	case QUIC_FT_MAX_STREAMS_UNI:
		q->flags |= QUIC_FL_MAX_UNI_DUE;
		break;
	case QUIC_FT_RETIRE_CONNECTION_ID:
		if (q->ids.retired_count < QUIC_RETIRED_MAX)
			q->ids.retired[q->ids.retired_count++] = f->id;
		break;
	default:
		quic_stream_frame_lost(q, f);
	}
}

/* Bytes that are lost again and again, as long as they are the first that are missing: the path
 * does not take them.
 */
static void count_loss(struct quic_conn *q, struct quic_space *s, const struct quic_sent_frame *f)
{
	int most = q->tunes->frame_losses;
	struct quic_sendbuf *b = NULL;

	if (f->type == QUIC_FT_CRYPTO)
		b = &s->crypto_tx;
	else if (f->type == QUIC_FT_STREAM)
		b = quic_stream_sendbuf(q, f->id);
	if (!b || !most || f->offset > b->base || f->offset + f->len < b->base)
		return;
	if (b->lost_base != b->base)
		b->lost_times = 0;
	b->lost_base = b->base;
	if (++b->lost_times > (uint32_t)most)
		quic_conn_fail(q, QUIC_INTERNAL_ERROR, 0);
}

static void packet_lost(struct quic_conn *q, struct quic_space *s, struct quic_sent *p)
{
	q->counts.lost++;
	quic_count(q, COUNT_QUIC_LOST);
	QUIC_TRACE(PROTO, q, LOSS, "packet %llu is lost", (unsigned long long)p->pn);
	for (unsigned i = 0; i < p->count; i++) {
		count_loss(q, s, &p->frames[i]);
		frame_lost(q, s, &p->frames[i]);
	}
	forget(q, s, p);
}

/* --- losses (RFC 9002 6.1) -------------------------------------------------------------------- */

static uint64_t loss_delay(const struct quic_conn *q)
{
	const struct quic_rtt *r = &q->rtt;
	uint64_t rtt = r->latest > r->smoothed ? r->latest : r->smoothed;

	rtt = rtt * 9 / 8;
	return rtt > GRANULARITY_NS ? rtt : GRANULARITY_NS;
}

/* What an acknowledgement brought. */
struct acked {
	uint64_t largest_sent_ns;      /* when the largest number was sent, if it is new; 0 */
	uint64_t first_sent_ns;        /* when the first of the new ones was */
	uint64_t before;               /* the largest number acknowledged before */
	unsigned marked;               /* of the new ones: those with ECT(0) */
	bool any, eliciting;
	bool larger;                   /* a larger number than before */
};

/* The more is under way, the more may be out of order (tune.quic.fe.cc.reorder-ratio). */
static uint64_t packet_threshold(const struct quic_conn *q, const struct quic_space *s)
{
	uint64_t n = (uint64_t)s->eliciting_in_flight * (uint64_t)q->tunes->reorder_ratio / 100;

	return n > PACKET_THRESHOLD ? n : PACKET_THRESHOLD;
}

/* <acked>: NULL when it is a timer that asks. */
static void detect_lost(struct quic_conn *q, struct quic_space *s, uint64_t now_ns,
			const struct acked *acked)
{
	uint64_t delay = loss_delay(q), first = 0, last = 0, threshold = packet_threshold(q, s);
	struct quic_sent *p, *next;

	s->loss_ns = 0;
	if (s->largest_acked == UINT64_MAX)
		return;
	list_for_each_safe(p, next, &s->sent, link) {
		if (p->pn > s->largest_acked)
			break;
		if (p->sent_ns + delay > now_ns &&
		    s->largest_acked < p->pn + threshold) {
			if (!s->loss_ns || p->sent_ns + delay < s->loss_ns)
				s->loss_ns = p->sent_ns + delay;
			continue;
		}
		if (p->eliciting && p->sent_ns > s->alive_ns) {
			first = first ? first : p->sent_ns;
			last = p->sent_ns;
		}
		quic_cc_lost(&q->cc, now_ns, p->sent_ns);
		packet_lost(q, s, p);
	}
	/* nothing that was sent in between has arrived (RFC 9002 7.6.2) */
	if (acked && first && last < acked->first_sent_ns &&
	    last - first > PERSISTENT * quic_pto_ns(q, true))
		quic_cc_collapse(&q->cc);
}

/* --- acknowledgements ------------------------------------------------------------------------- */

static void packet_acked(struct quic_conn *q, struct quic_space *s, struct quic_sent *p,
			 uint64_t now_ns, bool full)
{
	for (unsigned i = 0; i < p->count; i++)
		frame_acked(q, s, &p->frames[i]);
	if (q->cc.algo == QUIC_CC_BBR)
		quic_bbr_acked(&q->cc, p, now_ns);
	quic_cc_acked(&q->cc, now_ns, p->sent_ns, p->size,
		      q->rtt.known ? q->rtt.smoothed : INITIAL_RTT_NS, full);
	forget(q, s, p);
}

/* The ranges of an ACK that packets in flight may be in, highest first; returns how many. No honest
 * peer has more than fit.
 */
static unsigned ack_ranges(const struct quic_space *s, struct quic_frame *f, struct quic_range *out)
{
	uint64_t low = f->largest - f->first, high = f->largest, least;
	unsigned n = 0;

	if (list_is_empty(&s->sent))
		return 0;
	least = list_first(&s->sent, struct quic_sent, link)->pn;
	do {
		if (high < least)
			break;
		out[n++] = (struct quic_range){ low, high + 1 };
	} while (n < ACK_RANGES_MAX && quic_ack_next(f, &low, &high));
	return n;
}

/* Packets and ranges are both walked once, whatever the ranges are. */
static void take_acks(struct quic_conn *q, struct quic_space *s, struct quic_frame *f,
		      uint64_t now_ns, struct acked *out)
{
	/* the window was in use: what could be sent next would not fit */
	bool full = q->in_flight + 2ull * q->mtu >= q->cc.window;
	struct quic_range ranges[ACK_RANGES_MAX];
	unsigned n = ack_ranges(s, f, ranges);
	struct quic_sent *p, *next;

	list_for_each_safe(p, next, &s->sent, link) {
		while (n && p->pn >= ranges[n - 1].to)
			n--;
		if (!n)
			break;
		if (p->pn < ranges[n - 1].from)
			continue;
		if (!out->any || p->sent_ns < out->first_sent_ns)
			out->first_sent_ns = p->sent_ns;
		out->any = true;
		q->counts.reordered += p->pn < out->before;
		out->eliciting |= p->eliciting;
		out->marked += p->marked;
		if (p->pn == f->largest)
			out->largest_sent_ns = p->sent_ns;
		if (s == q->spaces[QUIC_LEVEL_APP] && p->pn >= q->phase.tx_pn)
			q->flags |= QUIC_FL_PHASE_ACKED;
		packet_acked(q, s, p, now_ns, full);
	}
}

enum quic_error quic_on_ack(struct quic_conn *q, struct quic_space *s, struct quic_frame *f,
			    uint64_t now_ns)
{
	struct acked acked = { 0 };
	uint64_t delay;

	if (f->largest >= s->next_pn)
		return QUIC_PROTOCOL_VIOLATION;
	QUIC_TRACE(DATA, q, ACK, "up to packet %llu is acknowledged",
		   (unsigned long long)f->largest);
	acked.before = s->largest_acked == UINT64_MAX ? 0 : s->largest_acked;
	acked.larger = s->largest_acked == UINT64_MAX || f->largest > s->largest_acked;
	if (acked.larger)
		s->largest_acked = f->largest;
	take_acks(q, s, f, now_ns, &acked);
	if (!acked.any)
		return QUIC_NO_ERROR;
	if (acked.largest_sent_ns && acked.eliciting) {
		delay = f->delay < UINT32_MAX ? f->delay << q->params.ack_exponent : UINT32_MAX;
		if (s != q->spaces[QUIC_LEVEL_APP])
			delay = 0;
		take_sample(q, now_ns - acked.largest_sent_ns, delay * 1000);
		if (s == q->spaces[QUIC_LEVEL_APP])
			quic_cc_rtt(&q->cc, q->rtt.latest, f->largest, s->next_pn);
	}
	/* (an older one may have been overtaken) */
	if (acked.larger && quic_ecn_acked(q, s, f, acked.marked))
		quic_cc_lost(&q->cc, now_ns,
			     acked.largest_sent_ns ? acked.largest_sent_ns : now_ns);
	detect_lost(q, s, now_ns, &acked);
	if (q->cc.algo == QUIC_CC_BBR)
		quic_bbr_ack_end(&q->cc, now_ns, acked.largest_sent_ns && acked.eliciting
						 ? q->rtt.latest : 0, q->in_flight);
	if (acked.largest_sent_ns > s->alive_ns)
		s->alive_ns = acked.largest_sent_ns;
	q->pto_count = 0;
	return QUIC_NO_ERROR;
}

/* --- timers (RFC 9002 6.2) -------------------------------------------------------------------- */

/* A server may have to hear more of us before it may say more, although nothing that we sent is
 * under way (RFC 9002 6.2.2.1). It is asked with the latest keys.
 */
static bool must_ask(const struct quic_conn *q, unsigned level)
{
	bool handshake = q->spaces[QUIC_LEVEL_HANDSHAKE]->tx.aead != NULL;
	const struct quic_space *first = q->spaces[QUIC_LEVEL_INITIAL];

	if (!(q->flags & QUIC_FL_CLIENT) || q->flags & QUIC_FL_CONFIRMED ||
	    q->state > QUIC_OPEN || first->eliciting_in_flight ||
	    q->spaces[QUIC_LEVEL_HANDSHAKE]->eliciting_in_flight)
		return false;
	return level == (handshake ? QUIC_LEVEL_HANDSHAKE : QUIC_LEVEL_INITIAL) &&
	       (first->done || first->next_pn);
}

/* When to ask what became of the last packets of a level; UINT64_MAX: nothing to ask. */
static uint64_t pto_deadline(const struct quic_conn *q, unsigned level)
{
	const struct quic_space *s = q->spaces[level];
	unsigned shift = q->pto_count < PTO_COUNT_MAX ? q->pto_count : PTO_COUNT_MAX;

	if (s->done || !quic_may_send_there(q))
		return UINT64_MAX;
	if (!s->eliciting_in_flight && !must_ask(q, level))
		return UINT64_MAX;
	/* the peer may not be able to read that yet (RFC 9002 6.2.1) */
	if (level == QUIC_LEVEL_APP &&
	    (q->state == QUIC_HANDSHAKE ||
	     (q->flags & (QUIC_FL_CLIENT | QUIC_FL_CONFIRMED)) == QUIC_FL_CLIENT))
		return UINT64_MAX;
	return s->last_eliciting_ns + (quic_pto_ns(q, level == QUIC_LEVEL_APP) << shift);
}

uint64_t quic_loss_deadline(const struct quic_conn *q)
{
	uint64_t at = UINT64_MAX, pto;

	for (unsigned i = 0; i < QUIC_LEVELS; i++) {
		const struct quic_space *s = q->spaces[i];

		if (!s->done && s->loss_ns && s->loss_ns < at)
			at = s->loss_ns;
	}
	if (at != UINT64_MAX)
		return at;
	for (unsigned i = 0; i < QUIC_LEVELS; i++) {
		pto = pto_deadline(q, i);
		if (pto < at)
			at = pto;
	}
	return at;
}

/* Two packets may leave now. What is in flight is sent again, as there may be nothing else. */
static void probe(struct quic_conn *q, struct quic_space *s)
{
	unsigned n = 0;
	struct quic_sent *p;

	s->probes = 2;
	list_for_each(p, &s->sent, link) {
		if (!p->eliciting)
			continue;
		for (unsigned i = 0; i < p->count; i++)
			frame_lost(q, s, &p->frames[i]);
		if (++n == 2)
			break;
	}
}

/* Levels whose handshake bytes were lost, and wait behind a window that is full of what the peer
 * cannot read without them. They have nothing in flight, so no timer of their own.
 */
static void probe_waiting(struct quic_conn *q)
{
	for (unsigned i = 0; i < QUIC_LEVELS; i++) {
		struct quic_space *s = q->spaces[i];

		if (!s->done && !s->probes && s->tx.aead &&
		    quic_sendbuf_is_due(&s->crypto_tx, UINT64_MAX))
			probe(q, s);
	}
}

void quic_on_loss_timer(struct quic_conn *q, uint64_t now_ns)
{
	bool due = false;

	QUIC_TRACE(STATE, q, TIMER, "the timer of losses is due, %u before", q->pto_count);
	for (unsigned i = 0; i < QUIC_LEVELS; i++) {
		struct quic_space *s = q->spaces[i];

		if (s->done || !s->loss_ns)
			continue;
		due = true;
		if (s->loss_ns <= now_ns)
			detect_lost(q, s, now_ns, NULL);
	}
	if (due)
		return;
	for (unsigned i = 0; i < QUIC_LEVELS; i++)
		if (pto_deadline(q, i) <= now_ns) {
			due = true;
			probe(q, q->spaces[i]);
		}
	q->pto_count += due;
	if (due) {
		probe_waiting(q);
		quic_ecn_doubt(q);
	}
}

void quic_space_resend(struct quic_conn *q, struct quic_space *s)
{
	while (!list_is_empty(&s->sent)) {
		struct quic_sent *p = list_first(&s->sent, struct quic_sent, link);

		for (unsigned i = 0; i < p->count; i++)
			frame_lost(q, s, &p->frames[i]);
		forget(q, s, p);
	}
	s->loss_ns = 0;
	q->pto_count = 0;
}

void quic_received_forget(struct quic_space *s, uint64_t below)
{
	quic_ranges_remove(&s->received, 0, below);
	if (below > s->received_floor)
		s->received_floor = below;
}

void quic_space_strip(struct quic_conn *q, struct quic_space *s)
{
	if (s->done)
		return;
	while (!list_is_empty(&s->sent))
		forget(q, s, list_first(&s->sent, struct quic_sent, link));
	quic_keys_free(&s->rx);
	quic_sendbuf_free(&s->crypto_tx);
	quic_recvbuf_free(&s->crypto_rx);
	quic_ranges_free(&s->received);
	s->ack_ns = 0;
}

void quic_space_discard(struct quic_conn *q, enum quic_level level)
{
	struct quic_space *s = q->spaces[level];

	if (s->done)
		return;
	quic_space_strip(q, s);
	s->done = true;
	s->loss_ns = 0;
	quic_keys_free(&s->tx);
	if (level == QUIC_LEVEL_INITIAL && q->version.rx_first) {
		quic_keys_free(q->version.rx_first);
		free(q->version.rx_first);
		q->version.rx_first = NULL;
	}
	q->pto_count = 0;
}

/* Stands for all that are done. */
static struct quic_space done_space = {
	.done = true, .largest_acked = UINT64_MAX, .largest_rx = UINT64_MAX,
};

bool quic_spaces_make(struct quic_conn *q)
{
	for (unsigned i = 0; i < QUIC_LEVELS; i++)
		q->spaces[i] = &done_space;
	for (unsigned i = 0; i < QUIC_LEVELS; i++) {
		struct quic_space *s = pool_zalloc(spaces);

		if (!s)
			return false;
		list_init(&s->sent);
		s->largest_acked = s->largest_rx = UINT64_MAX;
		quic_recvbuf_init(&s->crypto_rx);
		q->spaces[i] = s;
	}
	return true;
}

void quic_spaces_shed(struct quic_conn *q)
{
	for (unsigned i = 0; i < QUIC_LEVELS; i++) {
		struct quic_space *s = q->spaces[i];

		if (!s->done || s == &done_space)
			continue;
		q->spaces[i] = &done_space;
		pool_free(spaces, s);
	}
}

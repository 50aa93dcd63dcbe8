/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bbr.c - QUIC: congestion control by a model of the path (BBR)
 *
 * The path is described by two values: the highest delivery rate of the last ten round trips, and
 * the shortest round trip of the last ten seconds. The pacing rate is the former, times a gain; the
 * limit in flight is their product, times another. The gains depend on the state:
 *
 *      STARTUP ---> DRAIN ---> PROBE_BW <---> PROBE_RTT
 *       more each   what was    more, less,    nearly nothing, for a
 *       round trip  too much    then as is     round trip without queues
 *
 * Losses are no sign of congestion here. See: draft-cardwell-iccrg-bbr-congestion-control-00,
 * draft-cheng-iccrg-delivery-rate-estimation-00.
 */
#include "base/clock.h"
#include "congestion_priv.h"
#include "recovery_priv.h"

#define HIGH_GAIN 2.885               /* 2 / ln 2: doubles in a round trip */
#define MIN_RTT_LIFE_NS (10 * NS_PER_SEC)
#define PROBE_RTT_NS (200 * NS_PER_MS)
#define LEAST_PACKETS 4
#define FULL_ROUNDS 3
#define FULL_GROWTH 1.25
/* Packets beyond the model, for what leaves and is acknowledged in batches. */
#define SLACK_PACKETS 30

static const double cycle_gains[] = { 1.25, 0.75, 1, 1, 1, 1, 1, 1 };
#define CYCLE (sizeof(cycle_gains) / sizeof(*cycle_gains))

void quic_bbr_init(struct quic_bbr *b)
{
	*b = (struct quic_bbr){
		.state = BBR_STARTUP, .pacing_gain = HIGH_GAIN, .window_gain = HIGH_GAIN,
		.min_rtt_ns = UINT64_MAX,
	};
}

/* --- what is measured ------------------------------------------------------------------------- */

void quic_bbr_sent(struct quic_cc *cc, struct quic_sent *p, bool idle)
{
	struct quic_bbr *b = &cc->bbr;

	if (idle)
		b->first_sent_ns = b->delivered_ns = p->sent_ns;
	p->rate = (struct quic_rate){
		.delivered = b->delivered, .delivered_ns = b->delivered_ns,
		.first_sent_ns = b->first_sent_ns, .app_limited = b->app_limited != 0,
	};
}

void quic_bbr_acked(struct quic_cc *cc, const struct quic_sent *p, uint64_t now_ns)
{
	struct quic_bbr *b = &cc->bbr;

	b->delivered += p->size;
	b->delivered_ns = now_ns;
	b->acked += p->size;
	if (b->sample_ns && p->rate.delivered < b->sample.delivered)
		return;
	/* the latest of them: what was sent since before it */
	b->sample = p->rate;
	b->sample_ns = p->sent_ns;
	b->first_sent_ns = p->sent_ns;
}

void quic_bbr_app_limited(struct quic_cc *cc, uint64_t in_flight)
{
	uint64_t until = cc->bbr.delivered + in_flight;

	cc->bbr.app_limited = until ? until : 1;
}

static double most(const struct quic_bbr *b)
{
	double bw = 0;

	for (unsigned i = 0; i < QUIC_BBR_ROUNDS; i++)
		if (b->rounds[i] > bw)
			bw = b->rounds[i];
	return bw;
}

/* Bytes in a nanosecond that this acknowledgement shows; 0: nothing that can be told. */
static double rate_of(const struct quic_bbr *b, uint64_t now_ns)
{
	uint64_t sent = b->sample_ns - b->sample.first_sent_ns,
		 acked = now_ns - b->sample.delivered_ns, interval = sent > acked ? sent : acked;

	if (!interval || (b->min_rtt_ns != UINT64_MAX && interval < b->min_rtt_ns))
		return 0;
	return (double)(b->delivered - b->sample.delivered) / (double)interval;
}

static void note_rate(struct quic_bbr *b, double bw)
{
	if (b->noted_round != b->round) {
		b->place = (uint8_t)((b->place + 1) % QUIC_BBR_ROUNDS);
		b->rounds[b->place] = 0;
		b->noted_round = b->round;
	}
	if (bw > b->rounds[b->place])
		b->rounds[b->place] = bw;
	b->bw = most(b);
}

static void take_rate(struct quic_bbr *b, uint64_t now_ns)
{
	double bw = rate_of(b, now_ns);

	b->round_start = b->sample.delivered >= b->next_round;
	if (b->round_start) {
		b->next_round = b->delivered;
		b->round++;
	}
	/* (rounds in which there was little to send neither tell of the path, nor make it old) */
	if (bw > 0 && (bw >= b->bw || !b->sample.app_limited))
		note_rate(b, bw);
	if (b->app_limited && b->delivered > b->app_limited)
		b->app_limited = 0;
}

/* What the path holds, times <gain>. */
static uint64_t inflight_of(const struct quic_cc *cc, double gain)
{
	const struct quic_bbr *b = &cc->bbr;

	if (b->min_rtt_ns == UINT64_MAX || b->bw <= 0)
		return cc->window;
	return (uint64_t)(gain * b->bw * (double)b->min_rtt_ns);
}

/* --- states ----------------------------------------------------------------------------------- */

/* Does the path deliver no more although more is sent? */
static void check_full(struct quic_bbr *b)
{
	if (b->filled || !b->round_start || b->sample.app_limited)
		return;
	if (b->bw >= b->full_bw * FULL_GROWTH) {
		b->full_bw = b->bw;
		b->full_count = 0;
	} else if (++b->full_count >= FULL_ROUNDS) {
		b->filled = true;
	}
}

static void set_cycle(struct quic_bbr *b, unsigned at, uint64_t now_ns)
{
	b->cycle = (uint8_t)(at % CYCLE);
	b->cycle_ns = now_ns;
	b->pacing_gain = cycle_gains[b->cycle];
}

static void enter_probe_bw(struct quic_bbr *b, uint64_t now_ns)
{
	/* (flows that began together do not probe together; not with the low gain) */
	unsigned at = (unsigned)(now_ns >> 10) % (CYCLE - 1);

	b->state = BBR_PROBE_BW;
	b->window_gain = 2;
	set_cycle(b, at ? at + 1 : 0, now_ns);
}

static void go_round(struct quic_cc *cc, uint64_t now_ns, uint64_t in_flight)
{
	struct quic_bbr *b = &cc->bbr;
	bool over = now_ns - b->cycle_ns > b->min_rtt_ns;

	if (b->pacing_gain > 1)
		over = over && (b->lost || in_flight >= inflight_of(cc, b->pacing_gain));
	else if (b->pacing_gain < 1)
		over = over || in_flight <= inflight_of(cc, 1);
	if (over)
		set_cycle(b, b->cycle + 1u, now_ns);
}

static void leave_probe_rtt(struct quic_cc *cc, uint64_t now_ns)
{
	struct quic_bbr *b = &cc->bbr;

	b->min_rtt_at_ns = now_ns;
	if (cc->window < b->window_before)
		cc->window = b->window_before;
	if (b->filled) {
		enter_probe_bw(b, now_ns);
		return;
	}
	b->state = BBR_STARTUP;
	b->pacing_gain = b->window_gain = HIGH_GAIN;
}

static void stay_in_probe_rtt(struct quic_cc *cc, uint64_t now_ns, uint64_t in_flight)
{
	struct quic_bbr *b = &cc->bbr;

	quic_bbr_app_limited(cc, in_flight); /* little is sent because we want it so */
	if (!b->probe_end_ns) {
		if (in_flight > (uint64_t)LEAST_PACKETS * cc->mtu)
			return;
		b->probe_end_ns = now_ns + PROBE_RTT_NS;
		b->probe_round = b->round + 1;
	} else if (b->round >= b->probe_round && now_ns > b->probe_end_ns) {
		leave_probe_rtt(cc, now_ns);
	}
}

/* The shortest round trip; when it is old, the path is to be seen without queues. */
static void take_rtt(struct quic_cc *cc, uint64_t now_ns, uint64_t rtt_ns, uint64_t in_flight)
{
	struct quic_bbr *b = &cc->bbr;
	bool old = b->min_rtt_ns != UINT64_MAX && now_ns > b->min_rtt_at_ns + MIN_RTT_LIFE_NS;

	if (rtt_ns && (rtt_ns <= b->min_rtt_ns || old)) {
		b->min_rtt_ns = rtt_ns;
		b->min_rtt_at_ns = now_ns;
	}
	if (old && b->state != BBR_PROBE_RTT) {
		b->state = BBR_PROBE_RTT;
		b->pacing_gain = b->window_gain = 1;
		b->window_before = cc->window;
		b->probe_end_ns = 0;
	}
	if (b->state == BBR_PROBE_RTT)
		stay_in_probe_rtt(cc, now_ns, in_flight);
}

/* --- what follows of it ----------------------------------------------------------------------- */

/* Until the path is full, at least as if a window left in a round trip: what a handshake shows says
 * little of it.
 */
static void set_pace(struct quic_cc *cc)
{
	struct quic_bbr *b = &cc->bbr;
	uint64_t rtt = b->min_rtt_ns < NS_PER_MS ? NS_PER_MS : b->min_rtt_ns;
	double pace = b->pacing_gain * b->bw;

	if (!b->filled && b->min_rtt_ns != UINT64_MAX &&
	    pace < HIGH_GAIN * 10 * cc->mtu / (double)rtt)
		pace = HIGH_GAIN * 10 * cc->mtu / (double)rtt;
	if (pace > 0 && (b->filled || pace > b->pace))
		b->pace = pace;
}

static void set_window(struct quic_cc *cc)
{
	struct quic_bbr *b = &cc->bbr;
	uint64_t target = inflight_of(cc, b->window_gain) + (uint64_t)SLACK_PACKETS * cc->mtu,
		 least = (uint64_t)LEAST_PACKETS * cc->mtu;

	if (b->filled)
		cc->window = cc->window + b->acked < target ? cc->window + b->acked : target;
	else if (cc->window < target || b->delivered < 10ull * cc->mtu)
		cc->window += b->acked;
	if (cc->window < least || b->state == BBR_PROBE_RTT)
		cc->window = least;
	if (cc->window > cc->window_max)
		cc->window = cc->window_max;
}

void quic_bbr_ack_end(struct quic_cc *cc, uint64_t now_ns, uint64_t rtt_ns, uint64_t in_flight)
{
	struct quic_bbr *b = &cc->bbr;

	if (!b->sample_ns)
		return;
	take_rate(b, now_ns);
	check_full(b);
	if (b->state == BBR_STARTUP && b->filled) {
		b->state = BBR_DRAIN;
		b->pacing_gain = 1 / HIGH_GAIN;
	}
	if (b->state == BBR_DRAIN && in_flight <= inflight_of(cc, 1))
		enter_probe_bw(b, now_ns);
	else if (b->state == BBR_PROBE_BW)
		go_round(cc, now_ns, in_flight);
	take_rtt(cc, now_ns, rtt_ns, in_flight);
	set_pace(cc);
	set_window(cc);
	b->sample_ns = b->acked = 0;
	b->lost = false;
}

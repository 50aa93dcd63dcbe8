/* SPDX-License-Identifier: GPL-2.0-or-later */
/* congestion.c - QUIC: how much may be in flight: CUBIC (RFC 9438), NewReno (RFC 9002 7) */
#include <math.h>
#include "base/clock.h"
#include "congestion_priv.h"

#define CUBIC_C 0.4
#define CUBIC_BETA 0.7
#define RENO_BETA 0.5
/* RFC 9406 4.3 */
#define HYSTART_SAMPLES 8
#define HYSTART_LEAST_NS (4 * NS_PER_MS)
#define HYSTART_MOST_NS (16 * NS_PER_MS)
#define HYSTART_DIVISOR 4
#define HYSTART_ROUNDS 5

void quic_cc_init(struct quic_cc *cc, enum quic_cc_algo algo, uint32_t mtu, uint64_t window_max)
{
	uint64_t initial = 10ull * mtu, most = 14720 > 2 * mtu ? 14720 : 2ull * mtu;

	*cc = (struct quic_cc){
		.algo = (uint8_t)algo, .mtu = mtu, .threshold = UINT64_MAX,
		.window = initial < most ? initial : most, .window_max = window_max,
		.losses_least = 1,
		.hystart = { .now_ns = UINT64_MAX, .last_ns = UINT64_MAX },
	};
	if (algo == QUIC_CC_NONE)
		cc->window = window_max;
	quic_bbr_init(&cc->bbr);
}

static uint64_t least(const struct quic_cc *cc)
{
	return 2ull * cc->mtu;
}

/* Congestion avoidance of CUBIC: the window follows a function of the time since the last loss, or
 * what Reno would have, whichever is more.
 */
static void cubic_grow(struct quic_cc *cc, uint64_t now_ns, uint32_t bytes, uint64_t srtt_ns)
{
	double mtu = cc->mtu, window = (double)cc->window, t, target;

	if (!cc->epoch_ns) {
		cc->epoch_ns = now_ns;
		if (cc->w_max <= window) {
			cc->w_max = window;
			cc->k = 0;
		} else {
			cc->k = cbrt((cc->w_max - window) / mtu / CUBIC_C);
		}
		cc->w_est = window;
	}
	t = (double)(now_ns - cc->epoch_ns + srtt_ns) / (double)NS_PER_SEC - cc->k;
	target = cc->w_max + CUBIC_C * t * t * t * mtu;
	if (target > window * 1.5)
		target = window * 1.5;
	cc->w_est += 3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA) * mtu * bytes / window;
	if (target > window)
		window += (target - window) * bytes / window;
	if (cc->w_est > window)
		window = cc->w_est;
	cc->window = (uint64_t)window;
}

static void next_round(struct quic_cc *cc, uint64_t next)
{
	struct quic_hystart *h = &cc->hystart;

	h->round_end = next;
	h->last_ns = h->now_ns;
	h->now_ns = UINT64_MAX;
	h->samples = 0;
	if (h->careful && ++h->rounds >= HYSTART_ROUNDS)
		cc->threshold = cc->window;
}

void quic_cc_rtt(struct quic_cc *cc, uint64_t rtt_ns, uint64_t largest, uint64_t next)
{
	struct quic_hystart *h = &cc->hystart;
	uint64_t longer;

	if (!h->on || cc->window >= cc->threshold || cc->algo == QUIC_CC_BBR)
		return;
	if (largest >= h->round_end)
		next_round(cc, next);
	if (rtt_ns < h->now_ns)
		h->now_ns = rtt_ns;
	h->samples++;
	if (h->samples < HYSTART_SAMPLES || h->last_ns == UINT64_MAX)
		return;
	if (h->careful) {
		h->careful = h->now_ns >= h->base_ns; /* (it was none) */
		return;
	}
	longer = h->last_ns / 8;
	longer = longer < HYSTART_LEAST_NS ? HYSTART_LEAST_NS
		 : longer > HYSTART_MOST_NS ? HYSTART_MOST_NS : longer;
	if (h->now_ns < h->last_ns + longer)
		return;
	h->careful = true;
	h->base_ns = h->now_ns;
	h->rounds = 0;
}

void quic_cc_acked(struct quic_cc *cc, uint64_t now_ns, uint64_t sent_ns, uint32_t bytes,
		   uint64_t srtt_ns, bool full)
{
	cc->losses = 0;
	if (cc->algo >= QUIC_CC_NONE || sent_ns <= cc->recovery_ns || !full)
		return;
	if (cc->window < cc->threshold)
		cc->window += cc->hystart.careful ? bytes / HYSTART_DIVISOR : bytes;
	else if (cc->algo == QUIC_CC_CUBIC)
		cubic_grow(cc, now_ns, bytes, srtt_ns);
	else
		cc->window += (uint64_t)cc->mtu * bytes / cc->window;
	if (cc->window > cc->window_max)
		cc->window = cc->window_max;
}

void quic_cc_lost(struct quic_cc *cc, uint64_t now_ns, uint64_t sent_ns)
{
	double window = (double)cc->window;

	cc->bbr.lost = true;
	if (cc->algo >= QUIC_CC_NONE || sent_ns <= cc->recovery_ns)
		return;
	if (cc->algo == QUIC_CC_CUBIC && ++cc->losses < cc->losses_least)
		return;
	cc->recovery_ns = now_ns;
	cc->hystart.careful = false;
	cc->epoch_ns = 0;
	/* a flow that had to yield below its last maximum leaves some of it to others */
	cc->w_max = window < cc->w_max ? window * (1 + CUBIC_BETA) / 2 : window;
	cc->window = (uint64_t)(window * (cc->algo == QUIC_CC_CUBIC ? CUBIC_BETA : RENO_BETA));
	if (cc->window < least(cc))
		cc->window = least(cc);
	cc->threshold = cc->window;
}

void quic_cc_collapse(struct quic_cc *cc)
{
	if (cc->algo == QUIC_CC_NONE)
		return;
	cc->window = least(cc);
	cc->hystart.careful = false;
	cc->recovery_ns = 0;
	cc->epoch_ns = 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* congestion_priv.h - QUIC: how much may be in flight: CUBIC and NewReno (congestion.c), BBR
 * (bbr.c)
 *
 * Owns   : nothing; all state is in struct quic_cc. Time comes as an argument, in ns.
 * Threads: the connection's.
 * Source : RFC 9002 7, RFC 9438, RFC 9406
 */
#ifndef QUIC_CONGESTION_PRIV_H
#define QUIC_CONGESTION_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include "quic/quic.h"

/* HyStart++ (RFC 9406): slow start ends when round trips become longer. */
struct quic_hystart {
	bool on;
	bool careful;                  /* conservative slow start */
	uint8_t rounds;                /* of that */
	uint32_t samples;              /* of this round */
	uint64_t round_end;            /* number of the first packet of the next round */
	uint64_t now_ns, last_ns;      /* shortest of this round and of the one before */
	uint64_t base_ns;              /* where <careful> began */
};

/* What was known when a packet left, for the rate at which it is delivered. */
struct quic_rate {
	uint64_t delivered, delivered_ns, first_sent_ns;
	bool app_limited;
};

enum quic_bbr_state { BBR_STARTUP, BBR_DRAIN, BBR_PROBE_BW, BBR_PROBE_RTT };
#define QUIC_BBR_ROUNDS 10

/* See bbr.c; rates in bytes a nanosecond. */
struct quic_bbr {
	uint8_t state;                 /* enum quic_bbr_state */
	uint8_t cycle, full_count;
	bool filled, round_start, lost;
	double pacing_gain, window_gain;
	double bw, full_bw, pace;      /* pace 0: none yet */
	double rounds[QUIC_BBR_ROUNDS]; /* the most of each of the last that told something */
	uint8_t place;                 /* of the latest in <rounds> */
	uint64_t round, next_round, probe_round, noted_round;
	uint64_t delivered, delivered_ns, first_sent_ns;
	uint64_t app_limited;          /* until so much is delivered; 0: it is not */
	uint64_t min_rtt_ns, min_rtt_at_ns; /* UINT64_MAX: not known */
	uint64_t cycle_ns, probe_end_ns, window_before;
	/* of this acknowledgement */
	struct quic_rate sample;
	uint64_t sample_ns, acked;
};

struct quic_cc {
	uint8_t algo;                  /* enum quic_cc_algo */
	uint32_t mtu;                  /* bytes of a datagram */
	uint64_t window, threshold;    /* bytes */
	uint64_t window_max;
	uint64_t recovery_ns;          /* losses of packets sent until then are known; 0: none */
	uint32_t losses;               /* since the last acknowledgement */
	uint32_t losses_least;         /* that CUBIC takes for congestion */
	struct quic_hystart hystart;
	/* CUBIC (RFC 9438) */
	uint64_t epoch_ns;             /* congestion avoidance began; 0: it did not */
	double k, w_max, w_est;        /* seconds, bytes, bytes */
	struct quic_bbr bbr;
};

void quic_cc_init(struct quic_cc *cc, enum quic_cc_algo algo, uint32_t mtu, uint64_t window_max);
/* <bytes>, sent at <sent_ns>, were acknowledged. <full>: the window was in use. */
void quic_cc_acked(struct quic_cc *cc, uint64_t now_ns, uint64_t sent_ns, uint32_t bytes,
		   uint64_t srtt_ns, bool full);
/* An acknowledgement up to <largest> gave a sample of the round trip; the next packet is <next>. */
void quic_cc_rtt(struct quic_cc *cc, uint64_t rtt_ns, uint64_t largest, uint64_t next);
/* A packet that was sent at <sent_ns> was lost. */
void quic_cc_lost(struct quic_cc *cc, uint64_t now_ns, uint64_t sent_ns);
/* Everything was lost for a long time (RFC 9002 7.6). */
void quic_cc_collapse(struct quic_cc *cc);

struct quic_sent;
void quic_bbr_init(struct quic_bbr *b);
/* A packet leaves, its <sent_ns> known; <idle>: nothing was under way before. */
void quic_bbr_sent(struct quic_cc *cc, struct quic_sent *p, bool idle);
/* One of the packets of an acknowledgement; then, once for all of them: */
void quic_bbr_acked(struct quic_cc *cc, const struct quic_sent *p, uint64_t now_ns);
void quic_bbr_ack_end(struct quic_cc *cc, uint64_t now_ns, uint64_t rtt_ns, uint64_t in_flight);
/* There is nothing to send although more might be under way. */
void quic_bbr_app_limited(struct quic_cc *cc, uint64_t in_flight);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* congestion_priv.h - QUIC: limit of bytes in flight: CUBIC and NewReno (congestion.c), BBR
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
	uint8_t rounds;                /* of conservative slow start */
	uint32_t samples;              /* in this round */
	uint64_t round_end;            /* packet number that starts the next round */
	uint64_t now_ns, last_ns;      /* shortest RTT of this round and of the previous one */
	uint64_t base_ns;              /* <now_ns> when <careful> was set */
};

/* State when a packet left, from which its delivery rate is computed. */
struct quic_rate {
	uint64_t delivered, delivered_ns, first_sent_ns;
	bool app_limited;
};

enum quic_bbr_state { BBR_STARTUP, BBR_DRAIN, BBR_PROBE_BW, BBR_PROBE_RTT };
#define QUIC_BBR_ROUNDS 10

/* See bbr.c; rates in bytes per nanosecond. */
struct quic_bbr {
	uint8_t state;                 /* enum quic_bbr_state */
	uint8_t cycle, full_count;
	bool filled, round_start, lost;
	double pacing_gain, window_gain;
	double bw, full_bw, pace;      /* pace 0: none yet */
	/* highest rate of each of the last rounds that gave a sample */
	double rounds[QUIC_BBR_ROUNDS];
	uint8_t place;                 /* index of the latest one in <rounds> */
	uint64_t round, next_round, probe_round, noted_round;
	uint64_t delivered, delivered_ns, first_sent_ns;
	uint64_t app_limited;          /* until this many bytes are delivered; 0: not limited */
	uint64_t min_rtt_ns, min_rtt_at_ns; /* UINT64_MAX: unknown */
	uint64_t cycle_ns, probe_end_ns, window_before;
	/* of the acknowledgement being processed */
	struct quic_rate sample;
	uint64_t sample_ns, acked;
};

struct quic_cc {
	uint8_t algo;                  /* enum quic_cc_algo */
	uint32_t mtu;                  /* bytes of a datagram */
	uint64_t window, threshold;    /* bytes */
	uint64_t window_max;
	/* losses of packets sent up to this time are already counted; 0: none */
	uint64_t recovery_ns;
	uint32_t losses;               /* since the last acknowledgement */
	uint32_t losses_least;         /* fewer are not congestion for CUBIC */
	struct quic_hystart hystart;
	/* CUBIC (RFC 9438) */
	uint64_t epoch_ns;             /* start of congestion avoidance; 0: not in it */
	double k, w_max, w_est;        /* seconds, bytes, bytes */
	struct quic_bbr bbr;
};

void quic_cc_init(struct quic_cc *cc, enum quic_cc_algo algo, uint32_t mtu, uint64_t window_max);
/* Called when <bytes>, sent at <sent_ns>, were acknowledged. <full>: the window was in use. */
void quic_cc_acked(struct quic_cc *cc, uint64_t now_ns, uint64_t sent_ns, uint32_t bytes,
		   uint64_t srtt_ns, bool full);
/* Called when an ACK up to <largest> gave an RTT sample; <next> is the next packet number. */
void quic_cc_rtt(struct quic_cc *cc, uint64_t rtt_ns, uint64_t largest, uint64_t next);
/* Called when a packet sent at <sent_ns> was lost. */
void quic_cc_lost(struct quic_cc *cc, uint64_t now_ns, uint64_t sent_ns);
/* Called on persistent congestion (RFC 9002 7.6). */
void quic_cc_collapse(struct quic_cc *cc);

struct quic_sent;
void quic_bbr_init(struct quic_bbr *b);
/* Called when a packet leaves, its <sent_ns> set; <idle>: nothing was in flight before. */
void quic_bbr_sent(struct quic_cc *cc, struct quic_sent *p, bool idle);
/* Called for each packet of an acknowledgement; then quic_bbr_ack_end() once for all of them. */
void quic_bbr_acked(struct quic_cc *cc, const struct quic_sent *p, uint64_t now_ns);
void quic_bbr_ack_end(struct quic_cc *cc, uint64_t now_ns, uint64_t rtt_ns, uint64_t in_flight);
/* Called when there is nothing to send although more could be in flight. */
void quic_bbr_app_limited(struct quic_cc *cc, uint64_t in_flight);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ecn_priv.h - QUIC: explicit congestion notification (ecn.c)
 *
 * Purpose: routers that are about to be congested say so by a mark on a packet, where they would
 *          else have to drop it. What we send says that it may be marked, ECT(0), as long as the
 *          path is found to let that through; marks that the peer has seen count as a loss does.
 *          Marks on what comes are counted, and told in acknowledgements.
 * Owns   : nothing.
 * Threads: the connection's.
 * Source : RFC 3168, RFC 9000 13.4 and A.4, RFC 9002 7.1
 */
#ifndef QUIC_ECN_PRIV_H
#define QUIC_ECN_PRIV_H

#include <stdbool.h>
#include <stdint.h>

struct quic_conn;
struct quic_frame;
struct quic_space;

/* The two bits of an IP header. */
enum quic_ecn_mark { QUIC_ECN_NONE, QUIC_ECN_ECT1, QUIC_ECN_ECT0, QUIC_ECN_CE };
#define QUIC_ECN_BITS 3

enum quic_ecn_state {
	QUIC_ECN_TESTING,              /* the first packets are marked */
	QUIC_ECN_UNKNOWN,              /* no more are until one of them is acknowledged */
	QUIC_ECN_CAPABLE,
	QUIC_ECN_FAILED,               /* the path, or the peer, does not keep to it */
};

struct quic_ecn {
	uint8_t state;                 /* enum quic_ecn_state */
	uint8_t tested;                /* packets marked while it was TESTING */
	uint8_t rx;                    /* enum quic_ecn_mark of the datagram that is handled */
	uint8_t tx;                    /* same, of those that are made */
};

/* What is counted, in the order in which a frame tells it. */
enum quic_ecn_count { QUIC_COUNT_ECT0, QUIC_COUNT_ECT1, QUIC_COUNT_CE, QUIC_ECN_COUNTS };

/* The mark that the datagrams made next are to have. */
enum quic_ecn_mark quic_ecn_mark(const struct quic_conn *q);
/* A packet of <s> leaves. Returns whether it is marked. */
bool quic_ecn_sent(struct quic_conn *q, struct quic_space *s);
/* A packet of <s> has come in the datagram that is handled. */
void quic_ecn_received(struct quic_conn *q, struct quic_space *s);
/* Has any packet with a mark come? */
bool quic_ecn_has_counts(const struct quic_space *s);
/* <f>, an ACK that acknowledges a larger number than those before, is the first for <marked>
 * packets that had left with a mark. Returns whether a router has marked one.
 */
bool quic_ecn_acked(struct quic_conn *q, struct quic_space *s, const struct quic_frame *f,
		    unsigned marked);
/* Something was not acknowledged in time: it may be for the marks. */
void quic_ecn_doubt(struct quic_conn *q);
/* The path is another one. */
void quic_ecn_restart(struct quic_conn *q);

#endif

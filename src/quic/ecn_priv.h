/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ecn_priv.h - QUIC: explicit congestion notification (ecn.c)
 *
 * Purpose: a router that is close to congestion marks a packet instead of dropping it. Our packets
 *          allow this, ECT(0), as long as the path proves to keep the marks; CE marks reported by
 *          the peer count as a loss does. Marks on received packets are counted and reported in
 *          acknowledgements.
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

/* The two ECN bits of the IP header. */
enum quic_ecn_mark { QUIC_ECN_NONE, QUIC_ECN_ECT1, QUIC_ECN_ECT0, QUIC_ECN_CE };
#define QUIC_ECN_BITS 3

enum quic_ecn_state {
	QUIC_ECN_TESTING,              /* the first packets are marked */
	/* no packets are marked until a marked one is acknowledged */
	QUIC_ECN_UNKNOWN,
	QUIC_ECN_CAPABLE,
	QUIC_ECN_FAILED,               /* the path or the peer does not support it */
};

struct quic_ecn {
	uint8_t state;                 /* enum quic_ecn_state */
	uint8_t tested;                /* packets marked while it was TESTING */
	uint8_t rx;                    /* enum quic_ecn_mark of the datagram being handled */
	uint8_t tx;                    /* likewise, of the datagram being built */
};

/* The counters, in the order of an ACK frame. */
enum quic_ecn_count { QUIC_COUNT_ECT0, QUIC_COUNT_ECT1, QUIC_COUNT_CE, QUIC_ECN_COUNTS };

/* Returns the mark for the datagrams built next. */
enum quic_ecn_mark quic_ecn_mark(const struct quic_conn *q);
/* Called when a packet of <s> leaves. Returns true if it is marked. */
bool quic_ecn_sent(struct quic_conn *q, struct quic_space *s);
/* Counts the mark of the datagram being handled for a packet of <s>. */
void quic_ecn_received(struct quic_conn *q, struct quic_space *s);
/* Returns true if any marked packet has arrived. */
bool quic_ecn_has_counts(const struct quic_space *s);
/* Checks the counts of <f>, an ACK with a higher largest number than all before, which is the first
 * to acknowledge <marked> marked packets. Returns true if a router has marked one.
 */
bool quic_ecn_acked(struct quic_conn *q, struct quic_space *s, const struct quic_frame *f,
		    unsigned marked);
/* Called on a probe timeout: the marks may be the cause. */
void quic_ecn_doubt(struct quic_conn *q);
/* Called when the path has changed: tests it again. */
void quic_ecn_restart(struct quic_conn *q);

#endif

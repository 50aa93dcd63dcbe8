/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recovery_priv.h - QUIC: packets sent: acknowledgement, loss, probes (recovery.c)
 *
 * Owns   : a space owns its packets, keys and buffers; packets come from a pool of the thread.
 * Threads: the connection's. Time comes as an argument, in ns.
 * Source : RFC 9002
 */
#ifndef QUIC_RECOVERY_PRIV_H
#define QUIC_RECOVERY_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include "base/list.h"
#include "buffers_priv.h"
#include "codec/quic.h"
#include "congestion_priv.h"
#include "ecn_priv.h"
#include "keys_priv.h"
#include "quic/quic.h"
#include "ranges_priv.h"

/* A frame that must arrive. */
struct quic_sent_frame {
	uint8_t type;                  /* enum quic_frame_type */
	bool fin;
	uint16_t len;
	uint64_t id, offset;
};
#define QUIC_SENT_FRAMES 8

struct quic_sent {
	struct list link;
	uint64_t pn, sent_ns;
	uint16_t size;
	bool eliciting, in_flight;
	bool marked;                   /* ECT(0) */
	uint8_t count;
	struct quic_rate rate;         /* with BBR */
	struct quic_sent_frame frames[QUIC_SENT_FRAMES];
};

struct quic_rtt {
	uint64_t latest, smoothed, var, min; /* ns */
	bool known;
};

/* ECN counts of the packets of a level (ecn.c), by enum quic_ecn_count. */
struct quic_marks {
	uint64_t received[QUIC_ECN_COUNTS];
	uint64_t told[QUIC_ECN_COUNTS]; /* for ours, as reported by the peer */
	uint64_t sent;                 /* packets with ECT(0) */
};

/* A packet number space: the numbers of one level and the state that depends on them. */
struct quic_space {
	struct quic_keys rx, tx;
	struct list sent;              /* struct quic_sent, ascending */
	uint64_t next_pn;
	uint64_t largest_acked;        /* UINT64_MAX: none */
	uint64_t loss_ns;              /* when the next packet is declared lost; 0: none */
	uint64_t last_eliciting_ns;    /* when the last ack-eliciting packet was sent */
	uint32_t eliciting_in_flight;
	uint64_t alive_ns;             /* send time of the latest packet known to have arrived */
	struct quic_ranges received;   /* to acknowledge */
	uint64_t received_floor;       /* everything below counts as received */
	uint64_t largest_rx, largest_rx_ns; /* UINT64_MAX: none */
	uint64_t ack_ns;               /* when an acknowledgement is due; 0: none */
	uint32_t unacked;              /* ack-eliciting packets since the last acknowledgement */
	uint8_t probes;                /* packets to send even if the window is full */
	struct quic_marks marks;
	struct quic_sendbuf crypto_tx;
	struct quic_recvbuf crypto_rx;
	bool done;                     /* discarded */
};

/* Creates the pools, once. Returns false: no memory. */
bool quic_recovery_init(void);
/* Returns true if all connections together have as much in flight as tune.quic.mem.tx-max allows.
 * Approximate: each thread publishes its own amount only now and then.
 */
bool quic_tx_is_full(const struct quic_tunes *t);
struct quic_sent *quic_sent_new(void);
void quic_sent_free(struct quic_sent *p);
/* Called when a packet leaves. */
void quic_on_sent(struct quic_conn *q, struct quic_space *s, struct quic_sent *p);
/* Handles an ACK frame. Returns QUIC_NO_ERROR, or the error in it. */
enum quic_error quic_on_ack(struct quic_conn *q, struct quic_space *s, struct quic_frame *f,
			    uint64_t now_ns);
/* Returns when quic_on_loss_timer() is due; UINT64_MAX: never. */
uint64_t quic_loss_deadline(const struct quic_conn *q);
void quic_on_loss_timer(struct quic_conn *q, uint64_t now_ns);
/* Returns the probe timeout without back-off, ns. */
uint64_t quic_pto_ns(const struct quic_conn *q, bool app);
/* Drops packet numbers below <below> from the acknowledgements; they count as received. */
void quic_received_forget(struct quic_space *s, uint64_t below);
/* Queues everything in flight again: the peer did not accept it. */
void quic_space_resend(struct quic_conn *q, struct quic_space *s);
/* Reduces a level to what CONNECTION_CLOSE needs. */
void quic_space_strip(struct quic_conn *q, struct quic_space *s);
/* Frees the packets and keys of a level that is no longer needed. */
void quic_space_discard(struct quic_conn *q, enum quic_level level);
/* Allocates the spaces. Returns false: no memory; those allocated are freed with the connection. */
bool quic_spaces_make(struct quic_conn *q);
/* Frees the spaces that are done, when none of them is in use, and replaces them with a shared one
 * that is never written to.
 */
void quic_spaces_shed(struct quic_conn *q);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recovery_priv.h - QUIC: packets that were sent: acknowledged, lost, or asked about (recovery.c)
 *
 * Owns   : a space owns its packets, keys and buffers; packets are of a pool of the thread.
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

/* A frame that has to arrive. */
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

/* Marks of a level's packets (ecn.c), by enum quic_ecn_count. */
struct quic_marks {
	uint64_t received[QUIC_ECN_COUNTS];
	uint64_t told[QUIC_ECN_COUNTS]; /* of ours, by the peer */
	uint64_t sent;                 /* packets with ECT(0) */
};

/* The packet numbers of one level and what depends on them. */
struct quic_space {
	struct quic_keys rx, tx;
	struct list sent;              /* struct quic_sent, rising */
	uint64_t next_pn;
	uint64_t largest_acked;        /* UINT64_MAX: none */
	uint64_t loss_ns;              /* when the next packet counts as lost; 0: none will */
	uint64_t last_eliciting_ns;    /* when one was last sent */
	uint32_t eliciting_in_flight;
	uint64_t alive_ns;             /* the last packet known to have arrived was sent then */
	struct quic_ranges received;   /* to acknowledge */
	uint64_t received_floor;       /* below it all counts as received */
	uint64_t largest_rx, largest_rx_ns; /* UINT64_MAX: none */
	uint64_t ack_ns;               /* an acknowledgement is due then; 0: none */
	uint32_t unacked;              /* ack-eliciting packets since the last one */
	uint8_t probes;                /* packets to be sent although the window is full */
	struct quic_marks marks;
	struct quic_sendbuf crypto_tx;
	struct quic_recvbuf crypto_rx;
	bool done;                     /* discarded */
};

/* Makes the pools, once. False: no memory. */
bool quic_recovery_init(void);
/* Is more under way than all connections together may have (tune.quic.mem.tx-max)? About so: each
 * thread tells others of its own now and then.
 */
bool quic_tx_is_full(const struct quic_tunes *t);
struct quic_sent *quic_sent_new(void);
void quic_sent_free(struct quic_sent *p);
/* A packet leaves. */
void quic_on_sent(struct quic_conn *q, struct quic_space *s, struct quic_sent *p);
/* An ACK came. QUIC_NO_ERROR, or what is wrong with it. */
enum quic_error quic_on_ack(struct quic_conn *q, struct quic_space *s, struct quic_frame *f,
			    uint64_t now_ns);
/* When quic_on_loss_timer() is due; UINT64_MAX: never. */
uint64_t quic_loss_deadline(const struct quic_conn *q);
void quic_on_loss_timer(struct quic_conn *q, uint64_t now_ns);
/* Probe timeout without back-off, ns. */
uint64_t quic_pto_ns(const struct quic_conn *q, bool app);
/* The peer need not be told any more of packets received below <below>. */
void quic_received_forget(struct quic_space *s, uint64_t below);
/* All that is under way is sent again: the peer did not take it. */
void quic_space_resend(struct quic_conn *q, struct quic_space *s);
/* The end of the connection may still be told at a level, nothing else. */
void quic_space_strip(struct quic_conn *q, struct quic_space *s);
/* The packets of a level are no longer needed, nor its keys. */
void quic_space_discard(struct quic_conn *q, enum quic_level level);
/* Makes those of a connection. False: no memory; what there is, is freed as any other. */
bool quic_spaces_make(struct quic_conn *q);
/* Frees those that are done, when none of them is in use: one that is shared and that nothing
 * writes to stands for them.
 */
void quic_spaces_shed(struct quic_conn *q);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quic_priv.h - what the files of the QUIC floor share
 *
 *   keys.c        secrets to keys, protection of packets
 *   token.c       connection ids, reset tokens, tokens of Retry
 *   ranges.c      sets of numbers
 *   sendbuf.c     bytes on their way to the client until they are acknowledged
 *   recvbuf.c     bytes of the client, put in order
 *   congestion.c  how much may be in flight
 *   bbr.c         the same, by a model of the path
 *   recovery.c    packets sent: acknowledged, lost, probes
 *   stream.c      streams and their flow control
 *   rx.c, tx.c    packets received, packets made
 *   retry.c       what servers say before there are keys, or behind them
 *   refusal.c     the answer to a client that gets no connection
 *   conn.c        states of a connection, timers, the end
 *   tune.c        where settings are kept
 *   udp.c         sockets, and whose connection a datagram is
 *   accept.c      those of clients begin; answers where there is none
 *   dial.c        those to servers
 *   quic_ctl.c    show quic
 *
 * All but the last ones do without sockets and clocks: time comes as an argument, in ns.
 */
#ifndef QUIC_QUIC_PRIV_H
#define QUIC_QUIC_PRIV_H

#include <openssl/evp.h>
#include "base/addr.h"
#include "base/list.h"
#include "base/tree.h"
#include "codec/quic.h"
#include "core/timer.h"
#include "ctl/ctl.h"
#include "quic/quic.h"

/* --- keys.c ----------------------------------------------------------------------------------- */

#define QUIC_TAG_LEN 16
#define QUIC_SAMPLE_LEN 16

/* The keys of one direction of one level. */
struct quic_keys {
	EVP_CIPHER_CTX *aead, *hp;     /* owned; NULL: there are none */
	uint8_t iv[12];
	uint8_t secret[QUIC_SECRET_MAX];
	uint8_t secret_len;
	uint16_t suite;                /* enum quic_suite */
	bool seal;                     /* to protect, not to open */
};

/* Keys of a traffic secret. <hp>: those for headers too. False: no such suite, no memory. */
bool quic_keys_make(struct quic_keys *k, unsigned suite, const uint8_t *secret, size_t len,
		    bool seal, bool hp);
/* Keys of Initial packets (RFC 9001 5.2). <client>: of those that the client sends. */
bool quic_keys_initial(struct quic_keys *k, const struct quic_cid *dcid, bool client, bool seal);
/* The keys that follow (RFC 9001 6), without those for headers, which stay. */
bool quic_keys_next(struct quic_keys *next, const struct quic_keys *now);
void quic_keys_free(struct quic_keys *k);
/* The mask for a header, of a sample: 5 bytes. */
bool quic_header_mask(const struct quic_keys *k, const uint8_t *sample, uint8_t *mask);
/* Protects <len> bytes in place and adds the tag behind them / opens <len> bytes, their tag
 * included, in place. False: they are not authentic.
 */
bool quic_seal(const struct quic_keys *k, uint64_t pn, const uint8_t *head, size_t head_len,
	       uint8_t *bytes, size_t len);
bool quic_open(const struct quic_keys *k, uint64_t pn, const uint8_t *head, size_t head_len,
	       uint8_t *bytes, size_t len);
/* The integrity tag of a Retry packet (RFC 9001 5.8). */
bool quic_retry_tag(const struct quic_cid *odcid, const uint8_t *packet, size_t len, uint8_t *tag);
/* HMAC with SHA-256, 32 bytes. False: no memory. */
bool quic_hmac(const uint8_t *key, size_t key_len, const uint8_t *bytes, size_t len, uint8_t *out);

/* --- token.c ---------------------------------------------------------------------------------- */

/* Bytes of our connection ids: the first two tell the thread. */
#define QUIC_OUR_CID_LEN 10

extern struct slot quic_tune_slot, quic_line_slot, quic_server_slot; /* tune.c */
struct quic_both_tunes {
	struct quic_tunes fe, be;
};
/* The secret of all of them: any bytes, or NULL for random ones. False: that failed. */
bool quic_secret_set(const void *bytes, size_t len);
/* A new connection id of this thread. False: the system has no random bytes. */
bool quic_cid_new(struct quic_cid *cid, unsigned thread);
/* The thread of one of our ids. */
unsigned quic_cid_thread(const struct quic_cid *cid);
/* The stateless reset token of an id of ours. */
bool quic_reset_token(const struct quic_cid *cid, uint8_t *token);
/* A token for a client at <peer>, whose first packets went to <odcid>; returns its length, 0: it
 * failed. <room>: QUIC_TOKEN_MAX bytes.
 */
#define QUIC_TOKEN_MAX 80
size_t quic_token_make(uint8_t *room, const struct addr *peer, const struct quic_cid *odcid,
		       const struct quic_cid *scid, uint64_t now_s);
/* Was this made by us, for this client and these ids, a moment ago? Then *odcid is set. */
bool quic_token_check(const uint8_t *token, size_t len, const struct addr *peer,
		      const struct quic_cid *scid, uint64_t now_s, struct quic_cid *odcid);

/* --- ranges.c --------------------------------------------------------------------------------- */

struct quic_range {
	uint64_t from, to;             /* without <to> */
};

struct quic_ranges {
	struct quic_range *list;       /* owned, rising, never touching each other */
	uint32_t count, room;
};

/* Adds [from, to). False: no memory. */
bool quic_ranges_add(struct quic_ranges *r, uint64_t from, uint64_t to);
/* Takes [from, to) out. False: no memory, it may stay. */
bool quic_ranges_remove(struct quic_ranges *r, uint64_t from, uint64_t to);
bool quic_ranges_has(const struct quic_ranges *r, uint64_t n);
void quic_ranges_free(struct quic_ranges *r);

/* --- sendbuf.c -------------------------------------------------------------------------------- */

/* Bytes of a stream, or of CRYPTO, from the first that is not acknowledged on. */
struct quic_sendbuf {
	struct block_queue data;
	uint64_t base;                 /* offset of data's first byte */
	uint64_t sent;                 /* offset behind what was sent at least once */
	struct quic_ranges acked;      /* beyond <base> */
	struct quic_ranges lost;       /* to be sent again */
	uint64_t lost_base;            /* <base> when the bytes there were last lost */
	uint32_t lost_times;           /* how often, since they are the first */
	bool fin, fin_sent, fin_acked; /* the end: known, sent and not lost, acknowledged */
};

static inline uint64_t quic_sendbuf_end(const struct quic_sendbuf *b)
{
	return b->base + b->data.len;
}

/* What goes next into a packet with room for <max> bytes, new bytes up to offset <limit>: *from and
 * *len, and whether the end is with it. False: nothing.
 */
bool quic_sendbuf_next(const struct quic_sendbuf *b, uint64_t limit, size_t max, uint64_t *from,
		       size_t *len, bool *fin);
/* Is there something to send? */
bool quic_sendbuf_is_due(const struct quic_sendbuf *b, uint64_t limit);
/* It was put into a packet / acknowledged / lost. False: no memory. */
bool quic_sendbuf_sent(struct quic_sendbuf *b, uint64_t from, size_t len, bool fin);
bool quic_sendbuf_acked(struct quic_sendbuf *b, uint64_t from, size_t len, bool fin);
bool quic_sendbuf_lost(struct quic_sendbuf *b, uint64_t from, size_t len, bool fin);
void quic_sendbuf_free(struct quic_sendbuf *b);

/* --- recvbuf.c -------------------------------------------------------------------------------- */

struct quic_recvbuf {
	struct block_queue ready;      /* in order, not taken yet */
	uint64_t at;                   /* offset behind <ready> */
	struct tree early;             /* struct early: what came before what precedes it */
	size_t early_len;
	uint32_t early_count;
};

void quic_recvbuf_init(struct quic_recvbuf *b);
/* Takes bytes. False: no memory, or far too many pieces. */
bool quic_recvbuf_add(struct quic_recvbuf *b, uint64_t from, const uint8_t *bytes, size_t len);
void quic_recvbuf_free(struct quic_recvbuf *b);

/* --- congestion.c ----------------------------------------------------------------------------- */

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

/* --- recovery.c ------------------------------------------------------------------------------- */

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
	uint8_t count;
	struct quic_rate rate;         /* with BBR */
	struct quic_sent_frame frames[QUIC_SENT_FRAMES];
};

struct quic_rtt {
	uint64_t latest, smoothed, var, min; /* ns */
	bool known;
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
/* The packets of a level are no longer needed, nor its keys. */
void quic_space_discard(struct quic_conn *q, enum quic_level level);

/* What a connection asks of what carries its datagrams. */
struct quic_host {
	/* There is something to send, or a deadline has changed: at the end of the turn. */
	void (*later)(struct quic_conn *q);
	/* Its handshake is over, or it has ended. */
	void (*not_half_open)(struct quic_conn *q);
	/* The handshake is over: the user is told, or that it went before. */
	void (*ready)(struct quic_conn *q);
	void (*gone)(struct quic_conn *q);
	/* It is about to be freed. */
	void (*forget)(struct quic_conn *q);
};

/* --- the connection --------------------------------------------------------------------------- */

enum quic_state {
	QUIC_HANDSHAKE, QUIC_OPEN,
	QUIC_CLOSING,                  /* we said so, and say so again */
	QUIC_DRAINING,                 /* the peer said so: nothing is sent */
	QUIC_DEAD,                     /* to be freed */
};

enum quic_conn_flags {
	QUIC_FL_VALID = 1 << 0,        /* the client's address is */
	QUIC_FL_BUSY = 1 << 1,         /* on the stack: do not free */
	QUIC_FL_CLIENT = 1 << 2,       /* we have opened it, to a server */
	QUIC_FL_READY = 1 << 3,        /* the handshake is over, the user is to be told */
	QUIC_FL_DONE_DUE = 1 << 4,     /* HANDSHAKE_DONE is to be sent */
	QUIC_FL_MAX_DATA_DUE = 1 << 5,
	QUIC_FL_MAX_BIDI_DUE = 1 << 6,
	QUIC_FL_MAX_UNI_DUE = 1 << 7,
	QUIC_FL_RESPONSE_DUE = 1 << 8, /* PATH_RESPONSE */
	QUIC_FL_CLOSE_DUE = 1 << 9,
	QUIC_FL_CLOSE_APP = 1 << 10,   /* the error is the application's */
	QUIC_FL_PHASE = 1 << 11,       /* key phase of what we send and expect */
	QUIC_FL_IDLE_SENT = 1 << 12,   /* something that elicits was sent since the last packet */
	QUIC_FL_HALF_OPEN = 1 << 13,   /* counted among those whose handshake goes on */
	QUIC_FL_PHASE_ACKED = 1 << 15, /* one of our packets of this phase was acknowledged */
	QUIC_FL_MOVED = 1 << 17,       /* the client's address is another, see struct quic_path */
	QUIC_FL_CHALLENGE_DUE = 1 << 18, /* PATH_CHALLENGE */
	QUIC_FL_LENT = 1 << 14,        /* <conn> is the user's: it is not closed, but left */
	QUIC_FL_RETRIED = 1 << 16,     /* it came back with the token of a Retry */
	QUIC_FL_CONFIRMED = 1 << 19,   /* to a server: it has our Finished (RFC 9001 4.1.2) */
	QUIC_FL_PEER_CID = 1 << 20,    /* to a server: it has told how to call it */
	QUIC_FL_CONTROL_DUE = QUIC_FL_DONE_DUE | QUIC_FL_MAX_DATA_DUE | QUIC_FL_MAX_BIDI_DUE |
			      QUIC_FL_MAX_UNI_DUE,
	QUIC_FL_PATH_DUE = QUIC_FL_RESPONSE_DUE | QUIC_FL_CHALLENGE_DUE,
};

/* The largest datagram that we receive, and how long we may hold an acknowledgement back. */
#define QUIC_UDP_PAYLOAD_MAX 2048
#define QUIC_ACK_DELAY_MS 25

/* A connection id that the client gave us. */
struct quic_peer_cid {
	uint64_t seq;
	struct quic_cid cid;
	bool used, has_token;
	uint8_t token[QUIC_RESET_TOKEN_LEN]; /* of a server: ends its stateless resets */
};
#define QUIC_PEER_CIDS 4
#define QUIC_RETIRED_MAX 16

struct quic_flow {
	uint64_t max;                  /* what the receiver allows */
	uint64_t used;                 /* offset reached */
};

/* Ids of a connection. */
struct quic_ids {
	struct quic_cid ours;          /* by which the client calls us */
	struct quic_cid original;      /* by which its first packets did */
	struct quic_cid retry;         /* by which those behind our Retry did, else the same */
	struct tree_node by_ours, by_original;
	uint8_t *token;                /* to a server: of its Retry, owned; NULL */
	uint16_t token_len;
	struct quic_peer_cid peer[QUIC_PEER_CIDS];
	uint8_t active;                /* index of the one in use */
	uint64_t retire_prior;
	uint64_t retired[QUIC_RETIRED_MAX]; /* to be told by RETIRE_CONNECTION_ID */
	uint8_t retired_count;
};

/* The streams of a connection. */
struct quic_streams {
	struct tree all;               /* by id */
	struct list dirty;             /* with something to send */
	struct list woken;             /* the user is to be told of something */
	uint64_t bidi_max, uni_max;    /* how many the client may open, as announced */
	uint64_t bidi_next, uni_next;  /* the number of the first one that it did not open */
	uint64_t bidi_closed, uni_closed; /* of the client's, ended */
	uint64_t own_uni_next, own_uni_max;
	uint64_t own_bidi_next, own_bidi_max; /* to a server */
	uint32_t own_bidi_open;
	uint64_t total_max;            /* tune.quic.fe.stream.max-total; 0: any */
	uint32_t early;                /* pieces that all of them hold out of order */
};

/* Where the client is. A NAT may give it another address at any time (RFC 9000 9): what it says
 * from there is believed once it has answered a challenge; until then little is sent there.
 */
struct quic_path {
	struct addr peer;              /* where we send to */
	struct addr from;              /* where the datagram that is being handled came from */
	struct addr valid;             /* with QUIC_FL_MOVED: the last one that was proved */
	uint64_t until_ns;             /* same: how long we wait for the answer */
	uint64_t again_ns, pause_ns;   /* same: when we ask again, how long after that */
	uint8_t challenge[8];          /* same: ours */
	uint8_t response[8];           /* what the client's last challenge was */
};

/* Why a connection ends. */
struct quic_end {
	uint64_t error, frame;
	int system;                    /* to a server: an errno that says as much; 0 */
	uint64_t until_ns;             /* of CLOSING and DRAINING */
	uint32_t received;             /* packets since then */
};

/* Updates of keys (RFC 9001 6): those of the level APP. */
struct quic_phase {
	struct quic_keys rx_next;      /* of the next phase */
	struct quic_keys rx_prev;      /* of the one before, for late packets */
	uint64_t rx_pn, tx_pn;         /* the first packet received, sent in this phase */
	uint64_t sealed;               /* packets protected in it */
	uint64_t forged;               /* packets that were not authentic, in all */
};

/* For those who look. */
struct quic_counts {
	uint64_t packets, bytes;       /* sent */
	uint32_t lost;                 /* packets */
	uint32_t reordered;            /* packets acknowledged behind later ones */
};

struct quic_conn {
	struct quic_ids ids;
	struct quic_space spaces[QUIC_LEVELS];
	struct quic_phase phase;
	struct quic_rtt rtt;
	struct quic_cc cc;
	uint64_t in_flight;            /* bytes */
	uint32_t pto_count;
	uint64_t pace_ns;              /* when <credit> was counted */
	uint64_t paced_ns;             /* when pacing lets more leave; 0: it is not in the way */
	double credit;                 /* bytes that may leave now (pacing); parts of one count */
	uint64_t received, sent;       /* bytes, until the address is valid: amplification */
	struct quic_params params;     /* the client's */
	struct quic_flow rx, tx;       /* of all streams together */
	uint64_t rx_taken;             /* bytes that the user has taken */
	struct quic_streams streams;
	struct quic_end end;
	struct quic_counts counts;
	uint64_t idle_ns, idle_max_ns; /* when it ends; how long that is, 0: never */
	uint64_t idle_after_ns;        /* how long once the handshake is over */
	uint64_t since_ns;
	uint32_t mtu;
	uint32_t flags;                /* enum quic_conn_flags */
	uint8_t state;                 /* enum quic_state */
	const struct quic_tunes *tunes;
	struct quic_tunes own_tunes;
	const struct quic_host *host;
	const struct quic_tls_ops *tls;
	const struct quic_events *events; /* NULL: nobody is to be told */
	void *owner;
	struct conn *conn;             /* what floors above see; see QUIC_FL_LENT; NULL: no more */
	struct quic_path path;
	struct addr local;
	struct quic_socket *socket;    /* counted */
	void *listener_owner;          /* of its listener when it began */
	struct timer timer;
	struct list flush;             /* sends when the turn ends */
};

static inline void quic_flush_later(struct quic_conn *q)
{
	q->host->later(q);
}

static inline bool quic_is_open(const struct quic_conn *q)
{
	return q->state <= QUIC_OPEN;
}

/* Must more be received before anything is sent to an address that may be somebody else's (RFC 9000
 * 8.1)?
 */
static inline bool quic_is_amplifying(const struct quic_conn *q)
{
	return !(q->flags & QUIC_FL_VALID) && q->sent + q->mtu > 3 * q->received;
}

/* How large the next datagram may be. */
static inline size_t quic_allowed(const struct quic_conn *q)
{
	if (!quic_is_amplifying(q))
		return q->mtu;
	/* (a handshake's are padded) */
	return q->flags & QUIC_FL_MOVED && q->sent < 3 * q->received
		       ? (size_t)(3 * q->received - q->sent) : 0;
}

/* May anything but challenges leave? To an address that may be another's, a part of the little that
 * is allowed stays for these.
 */
static inline bool quic_may_send_there(const struct quic_conn *q)
{
	if (q->flags & QUIC_FL_VALID)
		return true;
	return q->sent + q->mtu <= (q->flags & QUIC_FL_MOVED ? 2 : 3) * q->received;
}

/* --- stream.c --------------------------------------------------------------------------------- */

enum quic_stream_flags {
	QUIC_SFL_RX = 1 << 0,          /* the client sends on it */
	QUIC_SFL_TX = 1 << 1,          /* we do */
	QUIC_SFL_RX_SIZE = 1 << 2,     /* its final size is known */
	QUIC_SFL_RX_END = 1 << 3,      /* all of it came, or it was reset */
	QUIC_SFL_TX_RESET = 1 << 4,    /* we have reset it */
	QUIC_SFL_RESET_DUE = 1 << 5, QUIC_SFL_RESET_ACKED = 1 << 6,
	QUIC_SFL_STOP_DUE = 1 << 7, QUIC_SFL_STOPPED = 1 << 8, /* nobody wants what comes */
	QUIC_SFL_MAX_DUE = 1 << 9,     /* MAX_STREAM_DATA */
	QUIC_SFL_LEFT = 1 << 10,       /* its user has left */
	QUIC_SFL_BLOCKED = 1 << 11,    /* its user waits for room */
};

struct quic_stream {
	struct tree_node node;         /* by id */
	struct quic_conn *conn;
	void *owner;                   /* the user's */
	uint64_t id;
	struct quic_sendbuf tx;
	uint64_t tx_max;               /* what the client allows */
	struct quic_recvbuf rx;
	uint64_t rx_max, rx_high;      /* what it may send, the highest offset that it used */
	uint64_t rx_taken;             /* bytes that the user has taken */
	uint64_t rx_size;              /* final size */
	uint64_t tx_error, stop_error, error; /* sent, sent, received */
	uint64_t tx_size;              /* with QUIC_SFL_TX_RESET: final size */
	uint32_t window;               /* bytes to allow beyond what was taken */
	uint16_t flags;                /* enum quic_stream_flags */
	uint8_t events;                /* enum quic_stream_event, not told yet */
	struct list dirty, woken;      /* in the connection's lists */
};

bool quic_stream_init(void);
/* Some of its bytes were sent: its user may have waited for that. */
void quic_stream_check_room(struct quic_stream *s);
/* The stream that a frame of the client names; it begins if it is new. NULL: *error, which is
 * QUIC_NO_ERROR for one that has ended. <sends>: the frame is about what the client sends.
 */
struct quic_stream *quic_stream_of_frame(struct quic_conn *q, uint64_t id, bool sends,
					 enum quic_error *error);
enum quic_error quic_stream_data(struct quic_stream *s, const struct quic_frame *f);
enum quic_error quic_stream_reset_got(struct quic_stream *s, const struct quic_frame *f);
void quic_stream_stop_got(struct quic_stream *s, uint64_t code);
/* Something is to be sent, has arrived, was lost. */
void quic_stream_dirty(struct quic_stream *s);
/* Of a stream that is there; else NULL. */
struct quic_sendbuf *quic_stream_sendbuf(struct quic_conn *q, uint64_t id);
void quic_stream_frame_acked(struct quic_conn *q, const struct quic_sent_frame *f);
void quic_stream_frame_lost(struct quic_conn *q, const struct quic_sent_frame *f);
/* A server allows so many streams of both directions in all. */
void quic_streams_allowed(struct quic_conn *q, uint64_t max);
/* The window of the connection is open again. */
void quic_streams_go_on(struct quic_conn *q);
/* Tells the user what happened to streams. */
void quic_streams_tell(struct quic_conn *q);
/* The connection is lost: all users are told. */
void quic_streams_abort(struct quic_conn *q);
void quic_streams_free(struct quic_conn *q);

/* --- rx.c, tx.c, conn.c ----------------------------------------------------------------------- */

/* Makes the pool. False: no memory. */
bool quic_conn_init(void);
/* A connection of a client, whose first packet is <first>; with <retried>, the id of the packets
 * before our Retry. NULL: no memory.
 */
struct quic_conn *quic_conn_new(const struct quic_listener *l, const struct quic_host *host,
				const struct quic_packet *first, const struct quic_cid *retried,
				uint64_t now_ns);
/* Makes the keys of Initial packets, of the id that the first ones go to. False: no memory. */
bool quic_initial_keys(struct quic_conn *q, const struct quic_cid *dcid);
/* A connection to a server. NULL: no memory, no random bytes. */
struct quic_conn *quic_conn_new_client(const struct quic_tunes *t, const struct quic_line *line,
				       const struct quic_host *host, uint64_t now_ns);
/* Nothing will come of it, for the reason that an errno tells. */
void quic_conn_lose(struct quic_conn *q, int error);
/* Is the first packet of a datagram, whose header is <head>, one that a client made for us? To be
 * asked before anything is spent on the connection.
 */
bool quic_conn_is_first(struct quic_conn *q, const struct quic_packet *head, const uint8_t *bytes);
/* Handles a datagram; its bytes are changed. */
void quic_conn_recv(struct quic_conn *q, uint8_t *bytes, size_t len, uint64_t now_ns);
/* Makes the next datagram into <room>, QUIC_DATAGRAM_MAX bytes; returns its length, 0: none now. */
size_t quic_conn_send(struct quic_conn *q, uint8_t *room, uint64_t now_ns);
#define QUIC_DATAGRAM_MAX 1452
/* When quic_conn_timeout() is due; UINT64_MAX: never. */
uint64_t quic_conn_deadline(const struct quic_conn *q);
void quic_conn_timeout(struct quic_conn *q, uint64_t now_ns);
/* Something is wrong: the connection is closed. <frame>: type of the frame, 0: none. */
void quic_conn_fail(struct quic_conn *q, uint64_t error, uint64_t frame);
/* A packet came from another address than before; a datagram of <len> bytes. */
void quic_conn_moved(struct quic_conn *q, size_t len, uint64_t now_ns);
/* The peer has closed it, or it was idle: nothing is sent any more. */
void quic_conn_drain(struct quic_conn *q, uint64_t now_ns);
/* Tells the user what happened since the last call, and parts with it when the connection has
 * ended. May free the connection.
 */
void quic_conn_settle(struct quic_conn *q);
void quic_conn_free(struct quic_conn *q);
/* Goes on to the next keys, in both directions (RFC 9001 6): because the client did so with packet
 * <pn>, or by ourselves, UINT64_MAX. False: no memory.
 */
bool quic_phase_next(struct quic_conn *q, uint64_t pn);
/* Restarts the idle timer. */
void quic_conn_active(struct quic_conn *q, uint64_t now_ns);
/* Bytes that a connection, and each stream, may have received and not taken. */
uint64_t quic_conn_window(const struct quic_tunes *t);
uint64_t quic_stream_window(const struct quic_tunes *t);
/* Streams of one direction: HTTP/3 needs three of the client. */
#define QUIC_UNI_STREAMS 3
#define QUIC_UNI_WINDOW 16384

/* --- retry.c ---------------------------------------------------------------------------------- */

/* A server wants us to come back with a token (RFC 9000 17.2.5). <len>: bytes of the packet. */
void quic_on_retry(struct quic_conn *q, const struct quic_packet *head, const uint8_t *p,
		   size_t len);
/* A server speaks other versions than ours (RFC 9000 6.2). */
void quic_on_versions(struct quic_conn *q, const struct quic_packet *head, const uint8_t *p,
		      size_t len);
/* Does a datagram that is not authentic end like a stateless reset of the server (RFC 9000 10.3)?
 */
bool quic_is_reset(const struct quic_conn *q, const uint8_t *bytes, size_t len);

/* --- refusal.c -------------------------------------------------------------------------------- */

/* Makes the packet that tells a client, whose Initial packet's header is <of>, of an error; returns
 * its length, 0: no memory, no random bytes.
 */
#define QUIC_REFUSAL_ROOM 96
size_t quic_put_refusal(uint8_t room[QUIC_REFUSAL_ROOM], const struct quic_packet *of,
			uint64_t error);

/* --- udp.c ------------------------------------------------------------------------------------ */

struct quic_socket;
/* A datagram came; its bytes may be changed. */
typedef void quic_input_fn(struct quic_socket *s, const struct addr *peer,
			   const struct addr *local, uint8_t *bytes, size_t len);

/* A socket of a thread: one for each listening one, whose connections share it, and one for each
 * connection to a server.
 */
struct quic_socket {
	int fd;                        /* owned */
	int of;                        /* the listener's; -1: that was closed, there is none */
	uint16_t port;                 /* ours, of a listening one */
	quic_input_fn *input;
	struct quic_conn *only;        /* to a server: whose it is */
	int error;                     /* same: what the kernel has heard of it; 0 */
	struct quic_listener listener;
	bool accepts;
	bool full;                     /* it took no more: <again> tries it */
	bool no_gso;                   /* datagrams are sent one by one */
	struct held *held;             /* owned: what it did not take; NULL */
	uint32_t conns;
	struct list link;
	struct timer again;            /* more is to be read */
	struct list waiting;           /* connections that have something to send */
};

/* Makes one of <fd>, which it takes over. NULL: no memory, no descriptor; <fd> is closed. */
struct quic_socket *quic_socket_new(int fd, bool no_gso, quic_input_fn *input);
void quic_socket_close(struct quic_socket *s);
/* Those of the calling thread: quic_socket.link. */
struct list *quic_sockets(void);
/* Sends what belongs to no connection, if the socket takes it. */
void quic_send_datagram(struct quic_socket *s, const struct addr *peer, const struct addr *local,
			const uint8_t *bytes, size_t len);
/* A connection is reached by <s> from now on, and found by its ids / no more. The socket closes
 * behind the last one when nobody listens on it.
 */
void quic_attach(struct quic_conn *q, struct quic_socket *s);
void quic_detach(struct quic_conn *q);
/* That of an id of ours, or, of Initial packets, of the id that its client has made up. */
struct quic_conn *quic_find(const struct quic_cid *cid, bool initial);
void quic_conn_input(struct quic_conn *q, const struct addr *peer, uint8_t *bytes, size_t len);
/* For struct quic_host. */
void quic_later(struct quic_conn *q);
/* Those of the calling thread, in no order; <fn> must not end any. */
void quic_conns_visit(void (*fn)(void *ctx, struct quic_conn *q), void *ctx);

/* quic_ctl.c */
extern const struct ctl_command quic_commands[];

/* At the start; of each thread. False: no memory, no random bytes. */
bool quic_udp_init(void);
bool quic_udp_thread_init(void);
void quic_udp_thread_fini(void);

#endif

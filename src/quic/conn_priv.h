/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conn_priv.h - QUIC: a connection: its state, packets received (rx.c) and built (tx.c), timers and
 * closing (conn.c), unprotected packets of servers (retry.c), refusing a client (refusal.c)
 *
 * Uses no sockets and no clock: datagrams and the time come as arguments; struct quic_host is the
 * interface to the code that carries the datagrams.
 * Owns   : its streams, keys, TLS; counts its socket.
 * Threads: one, from the first packet to the last.
 * Source : RFC 9000, RFC 9001
 */
#ifndef QUIC_CONN_PRIV_H
#define QUIC_CONN_PRIV_H

#include "base/addr.h"
#include "base/list.h"
#include "base/tree.h"
#include "codec/quic.h"
#include "congestion_priv.h"
#include "core/timer.h"
#include "ecn_priv.h"
#include "keys_priv.h"
#include "quic/quic.h"
#include "recovery_priv.h"

struct quic_conn;
struct quic_socket;

/* The callbacks of a connection to the code that carries its datagrams. */
struct quic_host {
	/* Called when there is something to send or a deadline has changed; acts at the end of the
	 * turn.
	 */
	void (*later)(struct quic_conn *q);
	/* Called when its handshake is over, or it has ended. */
	void (*not_half_open)(struct quic_conn *q);
	/* Called when the handshake is over, which proves the client's address; before ready(),
	 * unless ready() was called for early data. NULL: nothing to do.
	 */
	void (*proved)(struct quic_conn *q);
	/* Called once, when the handshake is over or early data are accepted: tells the user. */
	void (*ready)(struct quic_conn *q);
	/* Called when the connection has ended before it had a user (quic_conn.events). */
	void (*gone)(struct quic_conn *q);
	/* Called just before it is freed. */
	void (*forget)(struct quic_conn *q);
};

enum quic_state {
	QUIC_HANDSHAKE, QUIC_OPEN,
	QUIC_CLOSING,                  /* we have sent CONNECTION_CLOSE, and repeat it */
	QUIC_DRAINING,                 /* the peer has sent it: nothing is sent */
	QUIC_DEAD,                     /* to be freed */
};

enum quic_conn_flags {
	QUIC_FL_VALID = 1 << 0,        /* the peer's address is validated */
	QUIC_FL_BUSY = 1 << 1,         /* on the stack: do not free */
	QUIC_FL_CLIENT = 1 << 2,       /* we have opened it, to a server */
	QUIC_FL_READY = 1 << 3,        /* the handshake is over, the user has to be told */
	QUIC_FL_DONE_DUE = 1 << 4,     /* HANDSHAKE_DONE has to be sent */
	QUIC_FL_MAX_DATA_DUE = 1 << 5,
	QUIC_FL_MAX_BIDI_DUE = 1 << 6,
	QUIC_FL_MAX_UNI_DUE = 1 << 7,
	QUIC_FL_RESPONSE_DUE = 1 << 8, /* PATH_RESPONSE */
	QUIC_FL_CLOSE_DUE = 1 << 9,
	QUIC_FL_CLOSE_APP = 1 << 10,   /* the error is the application's */
	QUIC_FL_PHASE = 1 << 11,       /* key phase that we send and expect */
	/* an ack-eliciting packet was sent since the last one received */
	QUIC_FL_IDLE_SENT = 1 << 12,
	QUIC_FL_HALF_OPEN = 1 << 13,   /* counted among those in their handshake */
	QUIC_FL_PHASE_ACKED = 1 << 15, /* one of our packets of this phase was acknowledged */
	QUIC_FL_MOVED = 1 << 17,       /* the client's address has changed, see struct quic_path */
	QUIC_FL_CHALLENGE_DUE = 1 << 18, /* PATH_CHALLENGE */
	QUIC_FL_LENT = 1 << 14,        /* <conn> belongs to the user: it is left, not closed */
	QUIC_FL_RETRIED = 1 << 16,     /* the client came back with the token of a Retry */
	QUIC_FL_CONFIRMED = 1 << 19,   /* to a server: it has our Finished (RFC 9001 4.1.2) */
	QUIC_FL_PEER_CID = 1 << 20,    /* to a server: it has told its connection id */
	QUIC_FL_PHASE_NEW = 1 << 21,   /* the peer initiated the current key phase */
	QUIC_FL_OWN_SOCKET = 1 << 22,  /* it gets its own socket once the handshake is over */
	QUIC_FL_EARLY = 1 << 23,       /* early data are accepted: used before it is open */
	QUIC_FL_TOLD = 1 << 24,        /* ready() was called */
	QUIC_FL_APP_ERROR = 1 << 25,   /* the peer has closed it with an application error */
	QUIC_FL_CONTROL_DUE = QUIC_FL_DONE_DUE | QUIC_FL_MAX_DATA_DUE | QUIC_FL_MAX_BIDI_DUE |
			      QUIC_FL_MAX_UNI_DUE,
	QUIC_FL_PATH_DUE = QUIC_FL_RESPONSE_DUE | QUIC_FL_CHALLENGE_DUE,
};

/* The largest datagram that we receive, and our largest delay of an acknowledgement. */
#define QUIC_UDP_PAYLOAD_MAX 2048
#define QUIC_ACK_DELAY_MS 25

/* A connection id that the peer has issued. */
struct quic_peer_cid {
	uint64_t seq;
	struct quic_cid cid;
	bool used, has_token;
	uint8_t token[QUIC_RESET_TOKEN_LEN]; /* a server's: detects its stateless resets */
};
#define QUIC_PEER_CIDS 4
#define QUIC_RETIRED_MAX 16

struct quic_flow {
	uint64_t max;                  /* limit set by the receiver */
	uint64_t used;                 /* offset reached */
};

/* The ids of a connection. */
struct quic_ids {
	struct quic_cid ours;          /* the peer sends to this one */
	struct quic_cid original;      /* destination of the client's first packets */
	struct quic_cid retry;         /* destination of those after our Retry, else the same */
	struct tree_node by_ours, by_original;
	uint8_t *token;                /* to a server: the token of its Retry, owned; NULL */
	uint16_t token_len;
	struct quic_peer_cid peer[QUIC_PEER_CIDS];
	uint8_t active;                /* index of the current one */
	uint64_t retire_prior;
	uint64_t retired[QUIC_RETIRED_MAX]; /* to be sent in RETIRE_CONNECTION_ID */
	uint8_t retired_count;
};

/* The streams of a connection. */
struct quic_streams {
	struct tree all;               /* by id */
	struct list dirty;             /* with something to send */
	struct list woken;             /* with an event for the user */
	uint64_t bidi_max, uni_max;    /* number that the peer may open, as announced */
	uint64_t bidi_next, uni_next;  /* number of the first one not opened yet */
	uint64_t bidi_closed, uni_closed; /* opened by the peer and ended */
	uint64_t own_uni_next, own_uni_max;
	uint64_t own_bidi_next, own_bidi_max; /* to a server */
	uint32_t own_bidi_open;
	uint64_t total_max;            /* tune.quic.fe.stream.max-total; 0: unlimited */
	uint32_t early;                /* pieces received out of order, in all of them */
	uint64_t app_limits;           /* see quic_listener */
};

/* The client's address. A NAT may change it at any time (RFC 9000 9): a new address is trusted only
 * after the client has answered a challenge there; until then little is sent to it.
 */
struct quic_path {
	struct addr peer;              /* the address that we send to */
	struct addr from;              /* source of the datagram being handled */
	struct addr valid;             /* with QUIC_FL_MOVED: the last validated one */
	uint64_t until_ns;             /* likewise: deadline of the answer */
	/* likewise: time of the next challenge, and the interval after it */
	uint64_t again_ns, pause_ns;
	uint8_t challenge[8];          /* likewise: ours */
	uint8_t response[8];           /* data of the client's last challenge */
	struct quic_ecn ecn;
};

/* Why a connection ends. */
struct quic_end {
	uint64_t error, frame;
	int system;                    /* to a server: the errno that matches best; 0 */
	uint64_t until_ns;             /* of CLOSING and DRAINING */
	uint32_t received;             /* packets since then */
};

/* Key updates (RFC 9001 6): the keys of the level APP. */
struct quic_phase {
	struct quic_keys rx_next;      /* of the next phase, made when needed */
	struct quic_keys rx_prev;      /* of the previous phase, for late packets */
	struct quic_keys *rx_early;    /* of 0-RTT packets; owned; NULL: not accepted */
	uint64_t rx_pn, tx_pn;         /* the first packet received, sent in this phase */
	uint64_t sealed;               /* packets protected in this phase */
	uint64_t forged;               /* packets that failed authentication, in total */
};

/* The QUIC version, which a client's hello may change (RFC 9369 4.1): Initial packets of the first
 * version are read, too, until a packet of the next level has arrived from the client.
 */
struct quic_version {
	uint32_t id;                   /* used in packets with long headers */
	struct quic_keys *rx_first;    /* keys of the first version; owned; NULL: it is the same */
};

/* For `show quic` (quic_ctl.c) and for the proxy. */
struct quic_counts {
	struct quic_tally tally;
	uint64_t packets, bytes;       /* sent */
	uint32_t lost;                 /* packets */
	uint32_t reordered;            /* packets acknowledged after later ones */
};

struct quic_conn {
	struct quic_ids ids;
	struct quic_space *spaces[QUIC_LEVELS]; /* owned; those that are done share one */
	struct quic_phase phase;
	struct quic_rtt rtt;
	struct quic_cc cc;
	uint64_t in_flight;            /* bytes */
	uint32_t pto_count;
	uint64_t pace_ns;              /* when <credit> was last updated */
	uint64_t paced_ns;             /* pacing lets more leave at this time; 0: not limited */
	double credit;                 /* bytes that pacing allows now; fractions of one count */
	/* bytes, until the address is validated: amplification limit */
	uint64_t received, sent;
	struct quic_params params;     /* the peer's */
	struct quic_flow rx, tx;       /* of all streams together */
	uint64_t rx_taken;             /* bytes that the user has taken */
	struct quic_streams streams;
	struct quic_end end;
	struct quic_counts counts;
	uint64_t idle_ns, idle_max_ns; /* when it times out; the timeout, 0: none */
	uint64_t idle_after_ns;        /* the timeout once the handshake is over */
	uint64_t since_ns;
	uint32_t mtu;
	struct quic_version version;
	uint32_t flags;                /* enum quic_conn_flags */
	uint8_t state;                 /* enum quic_state */
	const struct quic_tunes *tunes;
	struct quic_tunes own_tunes;
	const struct quic_host *host;
	const struct quic_tls_ops *tls;
	const struct quic_events *events; /* NULL: there is no user to tell */
	void *owner;
	/* the connection as upper layers see it; see QUIC_FL_LENT; NULL: gone */
	struct conn *conn;
	struct quic_path path;
	struct addr local;
	struct quic_socket *socket;    /* counted */
	void *listener_owner;          /* the owner of its listener when it began */
	struct timer timer;
	struct list flush;             /* sends at the end of the turn */
};

static inline void quic_flush_later(struct quic_conn *q)
{
	q->host->later(q);
}

static inline void quic_count(const struct quic_conn *q, enum quic_count what)
{
	quic_tally_add(&q->counts.tally, what, 1);
}

static inline bool quic_is_open(const struct quic_conn *q)
{
	return q->state <= QUIC_OPEN;
}

/* Returns true while more must be received before anything may be sent: the address is not
 * validated and may be a victim's (RFC 9000 8.1).
 */
static inline bool quic_is_amplifying(const struct quic_conn *q)
{
	return !(q->flags & QUIC_FL_VALID) && q->sent + q->mtu > 3 * q->received;
}

/* Returns true if streams may be used: the handshake is over, or early data are accepted. */
static inline bool quic_is_used(const struct quic_conn *q)
{
	return q->state == QUIC_OPEN || (q->state == QUIC_HANDSHAKE && q->flags & QUIC_FL_EARLY);
}

/* Returns the largest size of the next datagram. */
static inline size_t quic_allowed(const struct quic_conn *q)
{
	if (!quic_is_amplifying(q))
		return q->mtu;
	/* (handshake datagrams are padded to the full size) */
	return q->flags & QUIC_FL_MOVED && q->sent < 3 * q->received
		       ? (size_t)(3 * q->received - q->sent) : 0;
}

/* The least room in which a packet of the level APP is started. */
#define QUIC_PACKET_LEAST (QUIC_CID_MAX + 64)

/* Is there room for a packet with an acknowledgement? If too little has arrived from an address
 * that may be a victim's, the packet waits for more from there.
 */
static inline bool quic_may_ack(const struct quic_conn *q)
{
	return quic_allowed(q) >= QUIC_PACKET_LEAST;
}

/* May anything but challenges be sent? To an address that is not validated, part of the small
 * amount allowed is reserved for challenges.
 */
static inline bool quic_may_send_there(const struct quic_conn *q)
{
	if (q->flags & QUIC_FL_VALID)
		return true;
	return q->sent + q->mtu <= (q->flags & QUIC_FL_MOVED ? 2 : 3) * q->received;
}

/* --- rx.c, tx.c, conn.c ----------------------------------------------------------------------- */

/* Creates the pool. Returns false: no memory. */
bool quic_conn_init(void);
/* Creates a connection of a client whose first packet is <first>; <retried>: the id of its packets
 * before our Retry, or NULL. Returns NULL: no memory.
 */
struct quic_conn *quic_conn_new(const struct quic_listener *l, const struct quic_host *host,
				const struct quic_packet *first, const struct quic_cid *retried,
				uint64_t now_ns);
/* Derives the keys of Initial packets from <dcid>, the destination of the first ones. Returns
 * false: no memory.
 */
bool quic_initial_keys(struct quic_conn *q, const struct quic_cid *dcid);
/* Creates a connection to a server. Returns NULL: no memory, no random bytes. */
struct quic_conn *quic_conn_new_client(const struct quic_tunes *t, const struct quic_line *line,
				       const struct quic_host *host, uint64_t now_ns);
/* Gives up the connection to a server, with an errno as the reason. */
void quic_conn_lose(struct quic_conn *q, int error);
/* Is the first packet of a datagram, whose header is <head>, authentic? Must be checked before any
 * resources are spent on the connection.
 */
bool quic_conn_is_first(struct quic_conn *q, const struct quic_packet *head, const uint8_t *bytes);
/* Handles a datagram; its bytes are changed. */
void quic_conn_recv(struct quic_conn *q, uint8_t *bytes, size_t len, uint64_t now_ns);
/* Writes the next datagram to <room>, QUIC_DATAGRAM_MAX bytes. Returns its length, or 0: none now.
 */
size_t quic_conn_send(struct quic_conn *q, uint8_t *room, uint64_t now_ns);
#define QUIC_DATAGRAM_MAX 1452
/* Returns when quic_conn_timeout() is due; UINT64_MAX: never. */
uint64_t quic_conn_deadline(const struct quic_conn *q);
void quic_conn_timeout(struct quic_conn *q, uint64_t now_ns);
/* Closes the connection because of an error. <frame>: type of the frame, 0: none. */
void quic_conn_fail(struct quic_conn *q, uint64_t error, uint64_t frame);
/* Called when a packet has arrived from another address than before, in a datagram of <len> bytes.
 */
void quic_conn_moved(struct quic_conn *q, size_t len, uint64_t now_ns);
/* Called when the peer has closed the connection, or it was idle: nothing is sent any more. */
void quic_conn_drain(struct quic_conn *q, uint64_t now_ns);
/* Reports all events since the last call to the user, and separates from the user when the
 * connection has ended. May free the connection.
 */
void quic_conn_settle(struct quic_conn *q);
void quic_conn_free(struct quic_conn *q);
/* Switches to the next keys, in both directions (RFC 9001 6): because the peer has, from packet
 * <pn> on, or on our own initiative, UINT64_MAX. Returns false: no memory.
 */
bool quic_phase_next(struct quic_conn *q, uint64_t pn);
/* Stops accepting 0-RTT packets. */
void quic_early_over(struct quic_conn *q);
/* Restarts the idle timer. */
void quic_conn_active(struct quic_conn *q, uint64_t now_ns);
/* Return the bytes that a connection, and each stream, may have received and not taken. */
uint64_t quic_conn_window(const struct quic_tunes *t);
uint64_t quic_stream_window(const struct quic_tunes *t);
/* Unidirectional streams: HTTP/3 needs three from the client. */
#define QUIC_UNI_STREAMS 3
#define QUIC_UNI_WINDOW 16384

/* --- retry.c ---------------------------------------------------------------------------------- */

/* Handles a Retry of a server (RFC 9000 17.2.5). <len>: bytes of the packet. */
void quic_on_retry(struct quic_conn *q, const struct quic_packet *head, const uint8_t *p,
		   size_t len);
/* Handles a Version Negotiation packet of a server (RFC 9000 6.2). */
void quic_on_versions(struct quic_conn *q, const struct quic_packet *head, const uint8_t *p,
		      size_t len);
/* Does a datagram that is not authentic end with a stateless reset token of the server (RFC 9000
 * 10.3)?
 */
bool quic_is_reset(const struct quic_conn *q, const uint8_t *bytes, size_t len);

/* --- refusal.c -------------------------------------------------------------------------------- */

/* Builds the packet that reports an error to a client, whose Initial packet has the header <of>.
 * Returns its length, or 0: no memory, no random bytes.
 */
#define QUIC_REFUSAL_ROOM 96
size_t quic_put_refusal(uint8_t room[QUIC_REFUSAL_ROOM], const struct quic_packet *of,
			uint64_t error);

#endif

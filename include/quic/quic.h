/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* quic.h - QUIC versions 1 and 2: connections and their streams (RFC 9000, 9001, 9002, 9369)
 *
 * Purpose: makes connections of the datagrams of a socket, with their handshake, acknowledgements,
 *          loss recovery, congestion and flow control. The floor above gets streams of bytes.
 * Owns   : a connection owns its streams. Its struct conn, which floors above know it by, has no
 *          descriptor of its own; it belongs to the user once ready() was called.
 * Threads: a connection is its thread's. Datagrams that reach another one are handed over: the
 *          first bytes of a connection id tell whose it is.
 * Time   : all that is handled in one turn of the loop leaves when the turn ends.
 * Errors : a connection that fails tells its user by closed(), its streams first.
 * Manual : configuration 3.2 tune.quic.*, 5.1 quic-*.
 *
 *      datagrams --> quic_socket_input() --> packets --> frames --> streams --> user
 *      datagrams <-- turn's end          <-- packets <-- frames <-- quic_stream_send() ...
 */
#ifndef QUIC_QUIC_H
#define QUIC_QUIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/block.h"
#include "net/quic_tls.h"
#include "quic/counts.h"

struct addr;
struct config;
struct conn;
struct quic_conn;
struct quic_stream;
struct slot_area;

enum quic_cc_algo { QUIC_CC_CUBIC, QUIC_CC_NEWRENO, QUIC_CC_NONE, QUIC_CC_BBR };

/* What carries the datagrams of a connection. */
enum quic_sockets {
	QUIC_SOCKETS_DEFAULT,         /* nothing was said: its listener's */
	QUIC_SOCKETS_SHARED,          /* its listener's */
	QUIC_SOCKETS_OWN,             /* one of its own, if the system lets it */
};

/* What is configured in `global`, of one side; lives as long as connections that began with it. */
struct quic_tunes {
	int64_t idle_ms;              /* tune.quic.fe.max-idle-timeout */
	int streams;                  /* tune.quic.fe.stream.max-concurrent */
	int streams_total;            /* tune.quic.fe.stream.max-total; 0: any */
	uint64_t rxbuf;               /* tune.quic.fe.stream.rxbuf; 0: as <streams> says */
	int data_ratio;               /* tune.quic.fe.stream.data-ratio: percent */
	uint64_t window_max;          /* tune.quic.fe.cc.max-win-size */
	int retry_threshold;          /* tune.quic.fe.sec.retry-threshold */
	const char *secret;           /* cluster-secret, in the arena; NULL: a random one */
	int cubic_losses;             /* tune.quic.fe.cc.cubic-min-losses */
	int frame_losses;             /* tune.quic.fe.cc.max-frame-loss; 0: any */
	int reorder_ratio;            /* tune.quic.fe.cc.reorder-ratio: percent */
	uint64_t tx_max;              /* tune.quic.mem.tx-max, of both sides; 0: any */
	int glitches;                 /* tune.quic.fe.sec.glitches-threshold; 0: any */
	bool hystart;                 /* tune.quic.fe.cc.hystart */
	bool unpaced;                 /* tune.quic.fe.tx.pacing off */
	bool no_gso;                  /* tune.quic.fe.tx.udp-gso off */
	uint8_t sockets;              /* tune.quic.fe.sock-per-conn: enum quic_sockets */
	bool off;                     /* tune.quic.listen off */
	bool limited;                 /* limited-quic */
	bool any_port;                /* harden.reject-privileged-ports.quic off */
};

/* Those of a bind line. */
struct quic_line {
	uint8_t algo;                 /* enum quic_cc_algo */
	bool force_retry;
	uint8_t sockets;              /* quic-socket: enum quic_sockets */
	uint64_t window_max;          /* 0: that of quic_tunes */
};

/* The settings of a generation for connections of clients. */
const struct quic_tunes *quic_tunes_of(const struct config *cfg);
/* The settings of a generation for connections to servers: tune.quic.be.*; <limited> as for
 * clients.
 */
const struct quic_tunes *quic_back_tunes_of(const struct config *cfg);
/* <bind>: the line's slots. NULL: it says nothing of QUIC. */
const struct quic_line *quic_line_of(const struct slot_area *bind);
const struct quic_line *quic_server_line_of(const struct slot_area *server);

/* --- sockets ---------------------------------------------------------------------------------- */

/* What becomes of the first packet of a client (quic-initial rules). */
enum quic_verdict {
	QUIC_ADMIT,
	QUIC_IGNORE,                  /* as if it had not come */
	QUIC_REFUSE,                  /* the client is told: CONNECTION_REFUSED */
	QUIC_PROVE,                   /* a Retry, unless it has brought the token of one */
};

/* Whose socket it is, and what it wants to know of connections that begin. */
struct quic_user {
	/* A packet came that would begin a connection. NULL: all of them may. */
	enum quic_verdict (*judge)(void *owner, const struct addr *peer, const struct addr *local);
	/* May one more begin now? True takes a place for it, which gone() or ready() gives back. */
	bool (*may_begin)(void *owner);
	/* A connection begins: it gets a struct conn and TLS by quic_conn_secure(). False: it
	 * cannot, the place is given back by gone().
	 */
	bool (*begin)(void *owner, struct quic_conn *q);
	/* Makes a socket of datagrams for a connection alone, bound and connected; it may be called
	 * before ready(). -1: there is none. NULL: never.
	 */
	int (*own_socket)(void *owner, const struct addr *local, const struct addr *peer);
	/* Its handshake is over, or early data of the client are taken beside it (tls_is_early()):
	 * its user takes it by quic_conn_take(), or closes it. The place is the user's.
	 */
	void (*ready)(void *owner, struct quic_conn *q);
	/* It ended before that. */
	void (*gone)(void *owner);
};

struct quic_listener {
	const struct quic_user *user;
	void *owner;                  /* stays while connections are there that were not ready() */
	const struct quic_tunes *tunes;
	const struct quic_line *line; /* or NULL */
	uint64_t handshake_ms;        /* how long a handshake may take; 0: 10 s */
	uint16_t port;                /* that it is bound to */
	/* A number of what the floor above tells clients of its limits, which early data keep to
	 * (RFC 9114 7.2.4.2): with another one than a session began with there are none.
	 */
	uint64_t app_limits;
	struct quic_tally tally;      /* what a connection counts before it is ready() */
};

enum quic_listen { QUIC_LISTEN, QUIC_PAUSE, QUIC_CLOSE };

/* Reads datagrams of <fd> on the calling thread (QUIC_LISTEN), begins no new connection (PAUSE), or
 * leaves it once its connections have ended (CLOSE). <l> is copied. <fd> stays the caller's: a copy
 * of it is used. False: no memory, no descriptor.
 */
bool quic_listen(int fd, const struct quic_listener *l, enum quic_listen how);

/* --- connections ------------------------------------------------------------------------------ */

/* --- to servers ------------------------------------------------------------------------------- */

/* Begins a connection to the server that <fd> is connected to, a socket of datagrams, which is
 * taken over and closed on errors, too. <line>: settings of the server's line, or NULL. Then
 * quic_conn_secure(), and quic_dial_start(). NULL: no memory, no descriptor.
 */
struct quic_conn *quic_dial(int fd, const struct quic_tunes *t, const struct quic_line *line);
/* Sends the first packet when the turn ends. The struct conn, whose CONN_CONNECTING and
 * CONN_HANDSHAKE are set, is the caller's from now on. When the handshake is over they are cleared
 * and its ops->ready() is called; it or something before it has called quic_conn_take(). If the
 * connection is lost before that, CONN_ERROR is set, with an errno, and the mux that has taken it
 * is told by closed(); otherwise ops->ready() is called. False: it failed, and both are gone.
 */
bool quic_dial_start(struct quic_conn *q);
/* Of a connection that is of QUIC; NULL: it is not, or that is over. */
struct quic_conn *quic_conn_of(const struct conn *c);

/* What the user of a connection whose handshake is over is told. The functions may leave streams
 * and close the connection.
 */
struct quic_events {
	/* The peer opened a stream; readable() comes apart. */
	void (*stream_new)(void *owner, struct quic_stream *s);
	/* Something of enum quic_stream_event happened to a stream that has an owner. */
	void (*stream_event)(struct quic_stream *s, unsigned events);
	/* The connection is gone; its streams were told before. */
	void (*closed)(void *owner);
	/* To a server: quic_conn_room() may be another one now. Closes nothing. Or NULL. */
	void (*room)(void *owner);
};

/* From within begin(): <c>, whose transport is TLS, is owned by the connection from now on. */
void quic_conn_secure(struct quic_conn *q, struct conn *c, const struct quic_tls_ops *tls);
/* What TLS calls; the owner is the struct quic_conn. */
extern const struct quic_tls_user quic_conn_tls_user;
/* From within ready(): the struct conn is the caller's from now on. */
struct conn *quic_conn_release(struct quic_conn *q);
/* From within ready(): without it, the connection is closed. */
void quic_conn_take(struct quic_conn *q, const struct quic_events *events, void *owner);
/* Where it counts from now on, as long as its user has it; <t> is copied. */
void quic_conn_tally(struct quic_conn *q, const struct quic_tally *t);
/* Has the peer closed it with an error of the application? From within closed(). */
bool quic_conn_closed_by_app(const struct quic_conn *q, uint64_t *error);
/* The client's address, and ours. */
const struct addr *quic_conn_peer(const struct quic_conn *q);
const struct addr *quic_conn_local(const struct quic_conn *q);
/* When its first packet came, ns. */
uint64_t quic_conn_since_ns(const struct quic_conn *q);
/* Ends it with an error of the application, which the client is told. Nothing is called any more,
 * its streams are gone.
 */
void quic_conn_close(struct quic_conn *q, uint64_t error);
/* As quic_conn_close(), but the client is not told. */
void quic_conn_drop(struct quic_conn *q);
/* So many faults of the client end it (tune.quic.fe.sec.glitches-threshold); 0: any. */
unsigned quic_conn_glitches_max(const struct quic_conn *q);
/* How many requests it has had, if tune.quic.fe.stream.max-total says that these were all. */
bool quic_conn_is_used_up(const struct quic_conn *q);

/* What it has measured; times in microseconds. */
struct quic_figures {
	uint64_t rtt_us, rttvar_us;   /* smoothed */
	uint64_t lost, reordered;     /* packets */
};
/* Those of a connection that is of QUIC. False: it is not, or is over. */
bool quic_conn_figures(const struct conn *c, struct quic_figures *out);

/* --- streams ---------------------------------------------------------------------------------- */

enum quic_stream_event {
	QUIC_EV_READABLE = 1 << 0,    /* more bytes, or the end: quic_stream_rx() */
	QUIC_EV_WRITABLE = 1 << 1,    /* quic_stream_room() was 0, and is not any more */
	QUIC_EV_RESET = 1 << 2,       /* the client sends no more, and has broken off */
	QUIC_EV_STOPPED = 1 << 3,     /* the client wants no more; what we send was reset */
	QUIC_EV_ABORT = 1 << 4,       /* the connection is lost: the stream goes after this call */
	QUIC_EV_NEW = 1 << 5,         /* private */
};

/* Its number. */
uint64_t quic_stream_id(const struct quic_stream *s);
static inline bool quic_id_is_uni(uint64_t id)
{
	return id & 2;
}
/* What its user keeps with it; NULL at first. */
void *quic_stream_owner(const struct quic_stream *s);
void quic_stream_set_owner(struct quic_stream *s, void *owner);
/* A stream of ours, on which only we send. NULL: the client allows none, no memory. */
struct quic_stream *quic_stream_open_uni(struct quic_conn *q);
/* To a server: how many more streams of both directions it takes now, by its own limit and by that
 * of tune.quic.be.stream.max-concurrent; one of them, opened. NULL: none, or no memory.
 */
unsigned quic_conn_room(const struct quic_conn *q);
struct quic_stream *quic_stream_open(struct quic_conn *q);
/* Bytes in order. The user takes them out of the queue, then says how many: the client may send as
 * many again.
 */
struct block_queue *quic_stream_rx(struct quic_stream *s);
void quic_stream_taken(struct quic_stream *s, size_t n);
/* QUIC_EV_READABLE comes once more, not from within. */
void quic_stream_ask(struct quic_stream *s);
/* Do no more come behind those that are there? */
bool quic_stream_rx_ended(const struct quic_stream *s);
/* With QUIC_EV_RESET, QUIC_EV_STOPPED: the client's error code. */
uint64_t quic_stream_error(const struct quic_stream *s);
/* How many bytes it takes now without holding more than its share; 0: QUIC_EV_WRITABLE follows. */
size_t quic_stream_room(struct quic_stream *s);
/* Sends bytes, taken out of <from>, or copied. False: no memory. */
bool quic_stream_send(struct quic_stream *s, struct block_queue *from, size_t n);
bool quic_stream_send_copy(struct quic_stream *s, const void *bytes, size_t len);
/* What was given is all. */
void quic_stream_end(struct quic_stream *s);
/* Breaks off what we send / asks the client to do so. Harmless when that is over. */
void quic_stream_reset(struct quic_stream *s, uint64_t code);
void quic_stream_stop(struct quic_stream *s, uint64_t code);
/* Its user has no more to say, and hears no more of it. What was given is still sent. */
void quic_stream_leave(struct quic_stream *s);

#endif

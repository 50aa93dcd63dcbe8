/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* quic.h - QUIC versions 1 and 2: connections and their streams (RFC 9000, 9001, 9002, 9369)
 *
 * Purpose: turns the datagrams of a socket into connections, with handshake, acknowledgements, loss
 *          recovery, congestion control and flow control. The floor above gets byte streams.
 * Owns   : a connection owns its streams. Its struct conn, by which higher floors know it, has no
 *          descriptor of its own and belongs to the user once ready() was called.
 * Threads: a connection belongs to its thread. Datagrams that arrive on another thread are passed
 *          on: the first bytes of a connection id tell the thread.
 * Time   : the output of one turn of the loop is sent at the end of the turn.
 * Errors : a connection that fails reports it to its streams, then to its user by closed().
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

/* The sockets that carry the datagrams of a connection. */
enum quic_sockets {
	QUIC_SOCKETS_DEFAULT,         /* not set: the listener's socket */
	QUIC_SOCKETS_SHARED,          /* the listener's socket */
	QUIC_SOCKETS_OWN,             /* its own socket, if the system permits it */
};

/* Settings of one side in `global`; valid as long as connections that began with them. */
struct quic_tunes {
	int64_t idle_ms;              /* tune.quic.fe.max-idle-timeout */
	int streams;                  /* tune.quic.fe.stream.max-concurrent */
	int streams_total;            /* tune.quic.fe.stream.max-total; 0: any */
	uint64_t rxbuf;               /* tune.quic.fe.stream.rxbuf; 0: depends on <streams> */
	int data_ratio;               /* tune.quic.fe.stream.data-ratio: percent */
	uint64_t window_max;          /* tune.quic.fe.cc.max-win-size */
	int retry_threshold;          /* tune.quic.fe.sec.retry-threshold */
	const char *secret;           /* cluster-secret, in the arena; NULL: random */
	int cubic_losses;             /* tune.quic.fe.cc.cubic-min-losses */
	int frame_losses;             /* tune.quic.fe.cc.max-frame-loss; 0: any */
	int reorder_ratio;            /* tune.quic.fe.cc.reorder-ratio: percent */
	uint64_t tx_max;              /* tune.quic.mem.tx-max, for both sides; 0: any */
	int glitches;                 /* tune.quic.fe.sec.glitches-threshold; 0: any */
	bool hystart;                 /* tune.quic.fe.cc.hystart */
	bool unpaced;                 /* tune.quic.fe.tx.pacing off */
	bool no_gso;                  /* tune.quic.fe.tx.udp-gso off */
	uint8_t sockets;              /* tune.quic.fe.sock-per-conn: enum quic_sockets */
	bool off;                     /* tune.quic.listen off */
	bool limited;                 /* limited-quic */
	bool any_port;                /* harden.reject-privileged-ports.quic off */
};

/* Settings of a bind line. */
struct quic_line {
	uint8_t algo;                 /* enum quic_cc_algo */
	bool force_retry;
	uint8_t sockets;              /* quic-socket: enum quic_sockets */
	uint64_t window_max;          /* 0: see quic_tunes */
};

/* Returns the settings of a generation for connections of clients. */
const struct quic_tunes *quic_tunes_of(const struct config *cfg);
/* Returns the settings of a generation for connections to servers: tune.quic.be.*; <limited> as for
 * clients.
 */
const struct quic_tunes *quic_back_tunes_of(const struct config *cfg);
/* Return the settings of a bind or server line from its slots. NULL: it has none. */
const struct quic_line *quic_line_of(const struct slot_area *bind);
const struct quic_line *quic_server_line_of(const struct slot_area *server);

/* --- sockets ---------------------------------------------------------------------------------- */

/* Decision about the first packet of a client (quic-initial rules). */
enum quic_verdict {
	QUIC_ADMIT,
	QUIC_IGNORE,                  /* as if it had not arrived */
	QUIC_REFUSE,                  /* answer with CONNECTION_REFUSED */
	QUIC_PROVE,                   /* answer with a Retry, unless it has the token of one */
};

/* The user of a socket: callbacks about connections that begin. */
struct quic_user {
	/* Decides about a packet that would begin a connection. NULL: all may. */
	enum quic_verdict (*judge)(void *owner, const struct addr *peer, const struct addr *local);
	/* May one more begin now? True reserves a place, which gone() or ready() gives back. */
	bool (*may_begin)(void *owner);
	/* A connection begins: must give it a struct conn and TLS by quic_conn_secure(). False: not
	 * possible; gone() gives the place back.
	 */
	bool (*begin)(void *owner, struct quic_conn *q);
	/* Creates a datagram socket for one connection, bound and connected; may be called before
	 * ready(). -1: none. NULL: never.
	 */
	int (*own_socket)(void *owner, const struct addr *local, const struct addr *peer);
	/* The handshake is over, or the client's early data is accepted meanwhile (tls_is_early()):
	 * the user must call quic_conn_take() or close it. The place belongs to the user.
	 */
	void (*ready)(void *owner, struct quic_conn *q);
	/* The connection ended before ready(). */
	void (*gone)(void *owner);
};

struct quic_listener {
	const struct quic_user *user;
	/* remains while there are connections that were not ready() yet */
	void *owner;
	const struct quic_tunes *tunes;
	const struct quic_line *line; /* or NULL */
	uint64_t handshake_ms;        /* time limit of a handshake; 0: 10 s */
	uint16_t port;                /* its local port */
	/* identifies the limits that the floor above announces to clients, which early data
	 * observes (RFC 9114 7.2.4.2): if it differs from the session's, early data is rejected
	 */
	uint64_t app_limits;
	struct quic_tally tally;      /* counters of a connection before it is ready() */
};

enum quic_listen { QUIC_LISTEN, QUIC_PAUSE, QUIC_CLOSE };

/* Reads datagrams of <fd> on the calling thread (QUIC_LISTEN), begins no new connection
 * (QUIC_PAUSE), or stops using it once its connections have ended (QUIC_CLOSE). <l> is copied. The
 * caller keeps <fd>: a duplicate is used. False: out of memory or descriptors.
 */
bool quic_listen(int fd, const struct quic_listener *l, enum quic_listen how);

/* --- connections ------------------------------------------------------------------------------ */

/* --- to servers ------------------------------------------------------------------------------- */

/* Begins a connection to the server that <fd>, a datagram socket, is connected to. Takes over <fd>,
 * and closes it also on errors. <line>: settings of the server's line, or NULL. Call
 * quic_conn_secure() and quic_dial_start() next. NULL: out of memory or descriptors.
 */
struct quic_conn *quic_dial(int fd, const struct quic_tunes *t, const struct quic_line *line);
/* Sends the first packet at the end of the turn. The caller owns the struct conn from now on, whose
 * CONN_CONNECTING and CONN_HANDSHAKE are set. After the handshake they are cleared and its
 * ops->ready() is called; by then, or from there, quic_conn_take() must be called. If the
 * connection is lost earlier, CONN_ERROR is set, with an errno, and the mux that has taken it gets
 * closed(), or else ops->ready() is called. False: failed, and both are freed.
 */
bool quic_dial_start(struct quic_conn *q);
/* Returns the QUIC connection of <c>; NULL: not QUIC, or it is over. */
struct quic_conn *quic_conn_of(const struct conn *c);

/* Callbacks for the user of a connection whose handshake is over. They may leave streams and close
 * the connection.
 */
struct quic_events {
	/* The peer has opened a stream; QUIC_EV_READABLE is reported separately. */
	void (*stream_new)(void *owner, struct quic_stream *s);
	/* Events of a stream that has an owner: mask of enum quic_stream_event. */
	void (*stream_event)(struct quic_stream *s, unsigned events);
	/* The connection is gone; its streams were informed before. */
	void (*closed)(void *owner);
	/* To a server: quic_conn_room() may have changed. Must close nothing. May be NULL. */
	void (*room)(void *owner);
};

/* For begin(): gives <c>, whose transport is TLS, to the connection. */
void quic_conn_secure(struct quic_conn *q, struct conn *c, const struct quic_tls_ops *tls);
/* Callbacks of TLS; the owner is the struct quic_conn. */
extern const struct quic_tls_user quic_conn_tls_user;
/* For ready(): gives the struct conn to the caller. */
struct conn *quic_conn_release(struct quic_conn *q);
/* For ready(): sets the user; without this call, the connection is closed. */
void quic_conn_take(struct quic_conn *q, const struct quic_events *events, void *owner);
/* Sets its counters, while its user has it; <t> is copied. */
void quic_conn_tally(struct quic_conn *q, const struct quic_tally *t);
/* For closed(): has the peer closed it with an application error? */
bool quic_conn_closed_by_app(const struct quic_conn *q, uint64_t *error);
/* Return the peer's address, and ours. */
const struct addr *quic_conn_peer(const struct quic_conn *q);
const struct addr *quic_conn_local(const struct quic_conn *q);
/* Returns when its first packet came, ns. */
uint64_t quic_conn_since_ns(const struct quic_conn *q);
/* Closes it with an application error, which is sent to the peer. No callback is called any more;
 * its streams are gone.
 */
void quic_conn_close(struct quic_conn *q, uint64_t error);
/* As quic_conn_close(), without telling the peer. */
void quic_conn_drop(struct quic_conn *q);
/* Returns after how many faults of the peer it is closed (tune.quic.fe.sec.glitches-threshold); 0:
 * never.
 */
unsigned quic_conn_glitches_max(const struct quic_conn *q);
/* Has it reached the total of requests that tune.quic.fe.stream.max-total allows? */
bool quic_conn_is_used_up(const struct quic_conn *q);

/* Measurements of a connection; times in microseconds. */
struct quic_figures {
	uint64_t rtt_us, rttvar_us;   /* smoothed */
	uint64_t lost, reordered;     /* packets */
};
/* Reads the measurements. False: not a QUIC connection, or it is over. */
bool quic_conn_figures(const struct conn *c, struct quic_figures *out);

/* --- streams ---------------------------------------------------------------------------------- */

enum quic_stream_event {
	QUIC_EV_READABLE = 1 << 0,    /* more bytes, or the end: quic_stream_rx() */
	QUIC_EV_WRITABLE = 1 << 1,    /* quic_stream_room() was 0 and no longer is */
	QUIC_EV_RESET = 1 << 2,       /* the peer has reset the stream: no more bytes come */
	QUIC_EV_STOPPED = 1 << 3,     /* the peer wants no more bytes; our side was reset */
	/* the connection is lost: the stream is freed after this call */
	QUIC_EV_ABORT = 1 << 4,
	QUIC_EV_NEW = 1 << 5,         /* private */
};

/* Returns its stream id. */
uint64_t quic_stream_id(const struct quic_stream *s);
static inline bool quic_id_is_uni(uint64_t id)
{
	return id & 2;
}
/* Get and set its user's data; NULL initially. */
void *quic_stream_owner(const struct quic_stream *s);
void quic_stream_set_owner(struct quic_stream *s, void *owner);
/* Opens a unidirectional stream of ours. NULL: the peer allows none, or out of memory. */
struct quic_stream *quic_stream_open_uni(struct quic_conn *q);
/* To a server: quic_conn_room() returns how many more bidirectional streams can be opened now, by
 * the server's limit and by tune.quic.be.stream.max-concurrent; quic_stream_open() opens one. NULL:
 * none, or out of memory.
 */
unsigned quic_conn_room(const struct quic_conn *q);
struct quic_stream *quic_stream_open(struct quic_conn *q);
/* quic_stream_rx() returns the received bytes, in order. The user removes some from the queue, then
 * calls quic_stream_taken(): the peer may send as many more.
 */
struct block_queue *quic_stream_rx(struct quic_stream *s);
void quic_stream_taken(struct quic_stream *s, size_t n);
/* Makes QUIC_EV_READABLE be reported once more, not from within. */
void quic_stream_ask(struct quic_stream *s);
/* Has the end been received, so that no more bytes follow those in the queue? */
bool quic_stream_rx_ended(const struct quic_stream *s);
/* With QUIC_EV_RESET or QUIC_EV_STOPPED: returns the peer's error code. */
uint64_t quic_stream_error(const struct quic_stream *s);
/* Returns how many bytes it accepts now without exceeding its share; 0: QUIC_EV_WRITABLE follows.
 */
size_t quic_stream_room(struct quic_stream *s);
/* Send bytes, taken from <from> or copied. False: out of memory. */
bool quic_stream_send(struct quic_stream *s, struct block_queue *from, size_t n);
bool quic_stream_send_copy(struct quic_stream *s, const void *bytes, size_t len);
/* Ends our side: nothing more will be sent. */
void quic_stream_end(struct quic_stream *s);
/* Reset our side, and ask the peer to reset its side. Harmless if that side has ended. */
void quic_stream_reset(struct quic_stream *s, uint64_t code);
void quic_stream_stop(struct quic_stream *s, uint64_t code);
/* The user leaves the stream and gets no more events. Bytes already accepted are still sent. */
void quic_stream_leave(struct quic_stream *s);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_conn_priv.h - what the files about connections to servers share
 *
 * server_idle.c keeps the idle ones, server_want.c knows what a stream wants of a connection and
 * which of them are alike, server_conn.c takes and opens them.
 */
#ifndef STREAM_SERVER_CONN_PRIV_H
#define STREAM_SERVER_CONN_PRIV_H

#include "core/timer.h"
#include "mux/mux.h"
#include "net/dial.h"
#include "stream/stream.h"
#include "server_conn.h"

/* The idle connections of one server on one thread. */
struct idle_list {
	struct list conns;       /* struct server_conn.link, newest first */
	struct list roomy;       /* struct server_conn.link: in use, with room for more */
	struct list thread_link; /* in idle_lists while it has any */
	struct timer timer;      /* purge */
	struct server *server;   /* borrowed: every member holds the generation */
	unsigned count;          /* written by its thread, read by others */
	unsigned low;            /* least count since the last purge */
	unsigned used;           /* connections in use, of this thread alone */
	unsigned peak;           /* most of them at once since the last purge */
	unsigned peak_before;    /* the same, in the period before it */
	unsigned most;           /* the same, ever; the three are read by others */
	bool fetching;           /* for a check: another thread has been asked for one */
};

struct server_conn {
	struct list link;        /* in an idle list, one with room, or in the session's */
	struct mux *mux;         /* owns the connection; NULL: ALPN has not chosen yet */
	struct conn *conn;       /* borrowed of it */
	struct server *server;
	struct config *config;   /* counted */
	struct session *session; /* private to it; NULL: shared */
	struct idle_list *idle;  /* where it waits, NULL when in use */
	struct idle_list *used;  /* where it counts as used, NULL when not, or private */
	uint64_t key;            /* what else must be the same to use it: server_conn_key() */
	unsigned streams;        /* served so far */
	unsigned begun;          /* streams that were given to it */
	bool is_private;         /* authenticated for <session>: its alone, whatever the mode */
	bool multiplex;          /* <mux> carries several streams at once */
	bool is_kept;            /* idle, in the session's list */
	bool has_room;           /* counted by server_room_take() */
	bool proven;             /* a second stream went well on it; stays as it is while idle */
};

/* --- server_idle.c: lists of the calling thread unless said otherwise */

/* The list of a server; NULL: there is none yet, or no memory to make it. */
struct idle_list *idle_list_get(struct server *srv, bool make);
/* How many idle connections thread <thread> has; from any thread. */
unsigned idle_count_of(const struct server *srv, unsigned thread);
/* How many a thread may keep, whatever it needs. */
unsigned idle_max(const struct server *srv);
/* Is one more worth keeping? */
bool idle_has_room(const struct idle_list *l);
void idle_put(struct idle_list *l, struct server_conn *sc);
/* rhttp@: <n> more connections of <srv> are attached; from any thread. */
void idle_attached_add(const struct server *srv, int n);
/* Takes it out of whatever list it is in. */
void idle_leave(struct server_conn *sc);
/* <sc> serves streams from now on; no more. */
void idle_use_begin(struct server_conn *sc);
void idle_use_end(struct server_conn *sc);
/* Closes one that serves no stream, and is in no list. */
void idle_close(struct server_conn *sc);
/* Makes room for a new connection when descriptors get scarce: the oldest idle one of this thread
 * goes, whatever its server.
 */
void idle_evict(void);
/* Calls <follow> with each list of a former generation that has any: it empties it. */
void idle_follow(void (*follow)(struct idle_list *l));

/* --- server_want.c */

/* Which mux a stream's connection has to have; NULL: any. */
const struct mux_kind *wanted_mux(struct stream *s);
/* What a connection for the stream says before its first request: expressions, evaluated once. */
struct wanted_said {
	struct slice sni;        /* slice_none(): no name */
	struct slice preamble;   /* the PROXY protocol header; empty: none */
};
/* In <area>, or in the stream's arena. False: no memory, or the header does not fit. */
bool wanted_said(struct stream *s, char area[DIAL_FIRST_MAX], struct wanted_said *said);
/* Does the stream need a connection of its own? */
bool wants_new(const struct stream *s);
/* Which shared connections the reuse mode lets a request have. */
enum reusable { REUSABLE_NONE, REUSABLE_PROVEN, REUSABLE_ANY };
enum reusable wanted_reuse(const struct stream *s);
/* How its connection, to <to>, is to be opened; *w borrows <to> and <said>, and may use <room>. */
void wanted_dial(struct stream *s, const struct server_addr *to, struct wanted_said *said,
		 struct dial_want *w, struct sockaddr_storage *room);

/* Keys: only connections of the same key and server can take each other's place. */

/* The key of connections of name <name> (empty: none) that nothing else tells apart. Others were
 * made with TLS credentials that the server has no more.
 */
uint64_t server_conn_key(const struct server *srv, struct slice name);
/* The key of a connection to <to> for the stream. */
uint64_t wanted_key_to(struct stream *s, const struct server_addr *to,
		       const struct wanted_said *said);
/* The key of a connection to the stream's current destination. False: nowhere, or no memory. */
bool wanted_key(struct stream *s, uint64_t *key);
/* At start-up. False: the kernel gives no random numbers. */
bool server_key_init(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_conn_priv.h - shared by the files about connections to servers
 *
 * server_idle.c keeps idle connections, server_want.c knows what a stream requires of a connection
 * and which connections are equivalent, server_conn.c takes and opens them.
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
	/* struct server_conn.link: in use, with room for further streams */
	struct list roomy;
	struct list thread_link; /* in idle_lists while it is not empty */
	struct timer timer;      /* purge */
	struct server *server;   /* borrowed: every member holds the generation */
	unsigned count;          /* written by its thread, read by others */
	unsigned low;            /* minimum of <count> since the last purge */
	unsigned used;           /* connections in use on this thread */
	unsigned peak;           /* maximum of <used> since the last purge */
	unsigned peak_before;    /* likewise, in the period before */
	unsigned most;           /* likewise, ever; these three are read by other threads */
	bool fetching;           /* for a check: another thread was asked for one */
};

struct server_conn {
	struct list link;        /* in an idle list, a list with room, or the session's */
	struct mux *mux;         /* owns the connection; NULL: ALPN has not chosen yet */
	struct conn *conn;       /* borrowed of it */
	struct server *server;
	struct config *config;   /* counted */
	struct session *session; /* reserved for it; NULL: shared */
	struct idle_list *idle;  /* the list where it waits; NULL: in use */
	struct idle_list *used;  /* where it counts as used; NULL: not, or private */
	uint64_t key;            /* what else must match to use it: server_conn_key() */
	unsigned streams;        /* served so far */
	unsigned begun;          /* streams that were given to it */
	bool is_private;         /* authenticated for <session>: reserved for it in any mode */
	bool multiplex;          /* <mux> carries several streams at a time */
	bool is_kept;            /* idle, in the session's list */
	bool has_room;           /* counted by server_room_take() */
	bool proven;             /* a second stream succeeded on it; stays set while idle */
};

/* --- server_idle.c: lists of the calling thread, unless noted otherwise */

/* Returns the list of a server; NULL: none yet, or out of memory. */
struct idle_list *idle_list_get(struct server *srv, bool make);
/* Returns how many idle connections thread <thread> has. Any thread. */
unsigned idle_count_of(const struct server *srv, unsigned thread);
/* Returns how many a thread may keep, whatever it needs. */
unsigned idle_max(const struct server *srv);
/* Is one more worth keeping? */
bool idle_has_room(const struct idle_list *l);
void idle_put(struct idle_list *l, struct server_conn *sc);
/* rhttp@: <n> more connections of <srv> are attached. Any thread. */
void idle_attached_add(const struct server *srv, int n);
/* Removes it from the list that it is in. */
void idle_leave(struct server_conn *sc);
/* <sc> begins, or stops, serving streams. */
void idle_use_begin(struct server_conn *sc);
void idle_use_end(struct server_conn *sc);
/* Closes a connection that serves no stream and is in no list. */
void idle_close(struct server_conn *sc);
/* Makes room for a new connection when descriptors are scarce: closes the oldest idle one of this
 * thread, of any server.
 */
void idle_evict(void);
/* Calls <follow>, which must empty it, with each non-empty list of an older generation. */
void idle_follow(void (*follow)(struct idle_list *l));

/* --- server_want.c */

/* Returns the mux that a stream's connection must have; NULL: any. */
const struct mux_kind *wanted_mux(struct stream *s);
/* What a connection for the stream sends before its first request: expressions, evaluated once. */
struct wanted_said {
	struct slice sni;        /* slice_none(): no name */
	struct slice preamble;   /* the PROXY protocol header; empty: none */
};
/* Evaluates them, into <area> or the stream's arena. False: out of memory, or the header does not
 * fit.
 */
bool wanted_said(struct stream *s, char area[DIAL_FIRST_MAX], struct wanted_said *said);
/* Does the stream need a connection of its own? */
bool wants_new(const struct stream *s);
/* Returns which shared connections the reuse mode allows for a request. */
enum reusable { REUSABLE_NONE, REUSABLE_PROVEN, REUSABLE_ANY };
enum reusable wanted_reuse(const struct stream *s);
/* Describes how to open its connection to <to>; *w borrows <to> and <said>, and may use <room>. */
void wanted_dial(struct stream *s, const struct server_addr *to, struct wanted_said *said,
		 struct dial_want *w, struct sockaddr_storage *room);

/* Keys: connections are interchangeable only if they have the same key and server. */

/* Returns the key of connections with name <name> (empty: none) and no other distinction.
 * Connections made with TLS credentials that the server no longer has have another key.
 */
uint64_t server_conn_key(const struct server *srv, struct slice name);
/* Returns the key of a connection to <to> for the stream. */
uint64_t wanted_key_to(struct stream *s, const struct server_addr *to,
		       const struct wanted_said *said);
/* Returns the key of a connection to the stream's current destination. False: nowhere, or out of
 * memory.
 */
bool wanted_key(struct stream *s, uint64_t *key);
/* Call at start-up. False: the kernel gives no random numbers. */
bool server_key_init(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_conn.h - connections to servers: opens them, keeps idle ones
 *
 * Owns   : a server_conn belongs to its mux while in use, otherwise to an idle list. It holds a
 *          reference on its generation, so that server and settings outlive it.
 * Threads: each thread has its own idle list per server; connections of other threads are requested
 *          by message.
 * Manual : http-reuse, pool-max-conn, pool-purge-delay, pool-low-conn, max-reuse, strict-maxconn.
 */
#ifndef STREAM_SERVER_CONN_H
#define STREAM_SERVER_CONN_H

#include <stdbool.h>
#include "net/dial.h"
#include "net/pipe.h"
#include "stream/stream.h"

struct server_addr;

/* Gives the stream's back endpoint an idle connection to s->server, if there is a suitable one. */
bool server_conn_take_idle(struct stream *s);
/* If another thread of the group seems to have a suitable idle connection, asks it for one, once
 * per try. True: wait in this stage; the stream will be run when the answer comes (the connection
 * is then among this thread's idle ones) or the time is up. False: open a connection.
 */
bool server_conn_ask_others(struct stream *s);
/* Ends that wait: the answer no longer concerns the stream. Harmless if there is none. */
void server_conn_forget_ask(struct stream *s);
/* Reserves the stream's connection for its client, as the server takes all requests on it for that
 * client's. Not a connection with several streams: others use it already.
 */
void server_conn_make_private(struct stream *s);
/* Returns the server of <be> to which this client's earlier requests have left a connection; or
 * NULL. *knows_client: the client has authenticated on it, or is about to
 * (server_conn_make_private()).
 */
struct server *server_conn_last_server(const struct session *sess, const struct proxy *be,
				       bool *knows_client);
/* Opens a connection to s->server for the back endpoint; it may be in progress (EP_CONNECTED
 * unset).
 */
enum dial_result server_conn_open(struct stream *s);
/* Reverse HTTP: turns <c>, a client's connection whose mux <m> has just settled, into an idle one
 * to <srv> on the calling thread, with the name <name> (empty: none). False: not possible; the
 * session keeps it.
 */
bool server_conn_attach(struct server *srv, struct conn *c, struct mux *m, struct slice name);
/* Returns how many connections rules have attached to <srv>, on all threads. */
unsigned server_conn_attached(const struct server *srv);
/* Moves the private idle connections of a session to the live generation, as the session did. */
void server_conns_follow_session(struct session *sess);
/* Closes the private idle connections of a session that ends. */
void server_conn_end_session(struct session *sess);
/* Returns the idle connections of a server on all threads, for statistics. */
unsigned server_conn_idle_count(const struct server *srv);

/* Do connections to <srv> have different destinations, over time or by request? Then their key
 * tells.
 */
bool server_target_varies(const struct server *srv);

/* Writes the PROXY protocol header for s->server to <out>; returns its length, 0 if it does not fit
 * into <room> (proxy_header.c).
 */
size_t proxy_header_make(struct stream *s, char *out, size_t room);

/* Closes the calling thread's idle connections to <srv>. */
void server_conn_close_idle(struct server *srv);
/* Enables the proxy floor to do so on all threads (server_flush.c); at start-up. */
void server_flush_init(void);

/* Reserves the slot in servers, before any configuration. */
void server_conn_register(void);
/* Sets limits: with <low> or more open descriptors, connections to servers are closed instead of
 * kept idle; with more than <high>, a new connection makes its thread close an idle one. Before the
 * threads run.
 */
void stream_set_idle_descriptors(int low, int high);
bool server_conn_init(void);
bool server_conn_thread_init(void);
/* Closes the idle connections of the calling thread, at its end. */
void server_conn_thread_fini(void);

#endif

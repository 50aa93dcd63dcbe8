/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_conn.h - connections to servers: opening them, keeping the idle ones
 *
 * Owns   : a server_conn belongs to its mux while in use, to an idle list otherwise. It holds a
 *          reference on its generation, so that server and settings outlive it.
 * Threads: each thread has its own idle list per server; another thread's are asked for by message.
 * Manual : http-reuse, pool-max-conn, pool-purge-delay, pool-low-conn, max-reuse, strict-maxconn.
 */
#ifndef STREAM_SERVER_CONN_H
#define STREAM_SERVER_CONN_H

#include <stdbool.h>
#include "net/dial.h"
#include "net/pipe.h"
#include "stream/stream.h"

struct server_addr;

/* Gives the stream's back endpoint an idle connection to s->server if there is one that it may use.
 */
bool server_conn_take_idle(struct stream *s);
/* Another thread of the group seems to have an idle connection that this stream may use: asks it,
 * once per try. True: wait in this stage, the stream will be run when the answer is there (the
 * connection is then among this thread's idle ones) or when the time for it is over. False: open
 * one.
 */
bool server_conn_ask_others(struct stream *s);
/* Ends that wait: the answer concerns the stream no more. Harmless when there is none. */
void server_conn_forget_ask(struct stream *s);
/* The stream's connection to its server is of its client alone from now on, as the server takes all
 * requests on it for that client's. Not one of several streams: others are on it already.
 */
void server_conn_make_private(struct stream *s);
/* The server of <be> that this client's earlier requests have left a connection to; or NULL.
 * *knows_client: the client has authenticated on it, or is about to (server_conn_make_private()).
 */
struct server *server_conn_last_server(const struct session *sess, const struct proxy *be,
				       bool *knows_client);
/* Opens a connection to s->server for the back endpoint, maybe in progress (EP_CONNECTED unset). */
enum dial_result server_conn_open(struct stream *s);
/* Reverse HTTP: makes <c>, a client's connection whose mux <m> has just settled, an idle one to
 * <srv> on the calling thread, with the name <name> (empty: none). False: it cannot be; it is still
 * its session's.
 */
bool server_conn_attach(struct server *srv, struct conn *c, struct mux *m, struct slice name);
/* How many connections rules have attached to <srv>, on all threads. */
unsigned server_conn_attached(const struct server *srv);
/* The private idle connections of a session that has moved to the live generation go there too. */
void server_conns_follow_session(struct session *sess);
/* Closes the private idle connections of a session that ends. */
void server_conn_end_session(struct session *sess);
/* Idle connections of a server on all threads, for statistics. */
unsigned server_conn_idle_count(const struct server *srv);

/* Do connections to <srv> go to different places, in time or by request? Then their key tells. */
bool server_target_varies(const struct server *srv);

/* The PROXY protocol header that s->server wants, in <out>; returns its length, 0 when it does not
 * fit into <room> (proxy_header.c).
 */
size_t proxy_header_make(struct stream *s, char *out, size_t room);

/* Closes the calling thread's idle connections to <srv>. */
void server_conn_close_idle(struct server *srv);
/* Lets the proxy floor have that done on all threads (server_flush.c); at start-up. */
void server_flush_init(void);

/* Reserves the slot in servers; before any configuration. */
void server_conn_register(void);
/* With <low> descriptors open or more, connections to servers are closed instead of kept idle; with
 * more than <high>, a new one makes an idle one of its thread close. Before the threads.
 */
void stream_set_idle_descriptors(int low, int high);
bool server_conn_init(void);
bool server_conn_thread_init(void);
/* Closes the idle connections of the calling thread, which ends. */
void server_conn_thread_fini(void);

#endif

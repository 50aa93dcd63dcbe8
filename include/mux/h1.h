/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* h1.h - the HTTP/1.0 and 1.1 mux: one connection, one message each way at a time
 *
 * Purpose: turns a connection's bytes into heads, body slices and ends of messages for an endpoint,
 *          and back. Decides framing, persistence and what is refused (RFC 9112).
 * Owns   : the connection. A front h1_conn lives until its connection ends and tells its owner (the
 *          session) so; a back one lives while it serves a stream or waits in an idle list.
 * Threads: that of the connection.
 * Idle   : without a message it holds no buffer.
 */
#ifndef MUX_H1_H
#define MUX_H1_H

#include <stdbool.h>
#include <stdint.h>
#include "base/list.h"
#include "mux/front.h"

struct counter_set;
struct h1_conn;
struct strbuf;

/* Takes over <c> (accepted, transport ready). NULL: no memory, <c> still the caller's. */
struct h1_conn *h1_front_new(struct conn *c, const struct front_user *user, void *owner,
			     const struct mux_settings *settings);
/* Bytes that were received already, in whole blocks: taken out of <q>, whose owner has found that
 * they are not HTTP/2's preface. Before the start; goes on with them after this turn at the latest.
 */
void h1_front_give(struct h1_conn *h, struct block_queue *q);
/* The time for a head is up: it ends on the next turn of the loop, with what it was given. */
void h1_front_expire(struct h1_conn *h);
/* How a request's head is parsed under <settings>: enum h1_option. */
uint8_t h1_front_options(const struct mux_settings *settings);
/* Reads at once what may be there already. May destroy the h1_conn. */
void h1_front_start(struct h1_conn *h);
/* Ends it, as when the process stops: at once if idle, else after the current message. */
void h1_front_stop(struct h1_conn *h);
/* Its settings from now on: the connection goes on with another generation. Borrowed. */
void h1_set_settings(struct h1_conn *h, const struct mux_settings *settings);

/* What the mux counts, X(NAME), in the order of `show stat`. CONNS and STREAMS are gauges; a stream
 * begins with the first byte of its head (clients) or with its request (servers).
 */
#define H1_COUNTS(X) \
	X(CONNS) X(STREAMS) X(CONNS_TOTAL) X(STREAMS_TOTAL) X(BYTES_IN) X(BYTES_OUT) \
	X(SPLICED_IN) X(SPLICED_OUT)
enum h1_counter {
#define X(name) H1_CNT_##name,
	H1_COUNTS(X)
#undef X
	H1_CNT_COUNT
};

struct h1_back_user {
	/* A kept connection without a stream has ended or misbehaved: leave the idle list; it dies
	 * after. */
	void (*idle_closed)(void *owner, struct h1_conn *h);
	/* The stream left a connection that can serve another: keep it (true) or let it be closed.
	 */
	bool (*idle_ready)(void *owner, struct h1_conn *h);
	/* The connection is closed and the h1_conn about to be freed (counters). */
	void (*closed)(void *owner, struct h1_conn *h);
	/* For `show fd`: " sv=<backend>/<server>". */
	void (*describe)(const void *owner, struct strbuf *out);
};

/* A connection to a server, maybe still connecting, for <ep>. NULL: no memory, <c> the caller's. */
struct h1_conn *h1_back_new(struct conn *c, struct endpoint *ep, const struct h1_back_user *user,
			    void *owner, const struct mux_settings *settings);
/* An idle connection serves <ep>. */
void h1_back_attach(struct h1_conn *h, struct endpoint *ep);
/* Closes an idle connection. */
void h1_back_close(struct h1_conn *h);
struct conn *h1_conn_conn(struct h1_conn *h);
/* Moves an idle connection from one thread to another: detach on the old one (false: not now, it
 * has something to do), attach on the new one (false: no memory; it can only be closed).
 */
bool h1_back_detach_thread(struct h1_conn *h);
bool h1_back_attach_thread(struct h1_conn *h);

#endif

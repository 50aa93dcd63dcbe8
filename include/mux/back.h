/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* back.h - what a server's mux and the owner of its connection know of each other
 *
 * Purpose: one set of callbacks, whatever protocol the server speaks: when the connection's mux is
 *          known, when it has room for streams, when it is over. The counterpart of front.h.
 * Owns   : nothing. The owner outlives the connection; closed() is its last call.
 * Threads: that of the connection.
 *
 *      mux_back_begin --> begun --> back_attach --> stream_left --+--> kept by the owner
 *                                       ^                         |        |
 *                                       +-------------------------+--------+
 *                                                                 +--> closed
 */
#ifndef MUX_BACK_H
#define MUX_BACK_H

#include <stdbool.h>
#include <stdint.h>

struct mux;
struct mux_settings;
struct strbuf;

struct back_user {
	/* <m> is the connection's mux from now on: told within mux_back_begin(), or when the
	 * handshake is over if ALPN chooses.
	 */
	void (*begun)(void *owner, struct mux *m);
	/* There may be room for another stream now, or none any more: see back_room() in mux.h.
	 * Only muxes of several streams call it.
	 */
	void (*room_changed)(void *owner);
	/* A stream left a connection that can go on. When it was the last one: keep the connection
	 * (true) or let it be closed; otherwise the answer does not matter. The mux may have to
	 * close the connection whatever the answer is.
	 */
	bool (*stream_left)(void *owner, bool last);
	/* The connection is about to be closed, and its mux freed: forget both. Also told of a kept
	 * one that the server has closed, or that misbehaved.
	 */
	void (*closed)(void *owner);
	/* For `show fd`: " sv=<backend>/<server>". */
	void (*describe)(const void *owner, struct strbuf *out);
};

/* Whose connection it is, and how it is used. */
struct back_owner {
	const struct back_user *user;
	void *owner;                         /* for the calls of <user> */
	const struct mux_settings *settings; /* borrowed, live as long as the connection */
	int64_t idle_ping_ms;                /* see mux_kind.set_settings() */
};

#endif

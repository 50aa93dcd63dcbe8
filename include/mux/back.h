/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* back.h - the contract between a server's mux and the owner of its connection
 *
 * Purpose: one set of callbacks for all protocols that servers speak: when the mux of the
 *          connection is known, when it has room for streams, when it is over. The counterpart of
 *          front.h.
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
	/* <m> is the connection's mux from now on. Called within mux_back_begin(), or after the
	 * handshake if ALPN chooses the mux.
	 */
	void (*begun)(void *owner, struct mux *m);
	/* There may be room for another stream now, or none any more: see back_room() in mux.h.
	 * Called only by muxes with several streams.
	 */
	void (*room_changed)(void *owner);
	/* A stream left a connection that can be used again. If <last>: true: keep the connection,
	 * false: close it; otherwise the result does not matter. The mux may have to close the
	 * connection in either case.
	 */
	bool (*stream_left)(void *owner, bool last);
	/* The connection is about to be closed and its mux freed: forget both. Also called for an
	 * idle connection that the server has closed, or that misbehaved.
	 */
	void (*closed)(void *owner);
	/* For `show fd`: " sv=<backend>/<server>". */
	void (*describe)(const void *owner, struct strbuf *out);
};

/* The owner of a connection, and how the connection is used. */
struct back_owner {
	const struct back_user *user;
	void *owner;                         /* passed to the callbacks of <user> */
	const struct mux_settings *settings; /* borrowed, must live as long as the connection */
	int64_t idle_ping_ms;                /* see mux_kind.set_settings() */
};

#endif

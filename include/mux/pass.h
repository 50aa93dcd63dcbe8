/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pass.h - the mux of mode tcp: bytes go through as they are
 *
 * Purpose: an endpoint without heads: rx and tx are the connection's bytes, EP_RX_END its half
 *          close.
 * Owns   : the connection, from pass_new() until the stream detaches, which closes it.
 * Threads: that of the connection.
 */
#ifndef MUX_PASS_H
#define MUX_PASS_H

#include "mux/endpoint.h"

struct conn;
struct strbuf;

struct pass_user {
	/* The connection goes. */
	void (*closed)(void *owner);
	/* For `show fd`: " fe=<name>" or " sv=<backend>/<server>". */
	void (*describe)(const void *owner, struct strbuf *out);
};

/* Binds <c> to <ep>; <back>: towards a server, maybe still connecting. False: no memory, <c> the
 * caller's.
 */
bool pass_attach(struct conn *c, struct endpoint *ep, bool back, const struct pass_user *user,
		 void *owner);
/* Lets go of the connection of <ep>, which another mux is to take, without telling the user that it
 * is closed; <ep> has no mux any more. Nothing may be unsent. Callable from wake().
 */
struct conn *pass_give(struct endpoint *ep);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* probe.h - a connection to a server whose protocol is known once its handshake is over
 *
 * Purpose: holds the place of the mux between endpoint and connection until ALPN has chosen; the
 *          owner then puts the right mux there.
 * Owns   : the connection, until user->ready() took it over or the stream detaches, which closes
 *          it.
 * Threads: that of the connection.
 */
#ifndef MUX_PROBE_H
#define MUX_PROBE_H

#include "mux/endpoint.h"

struct conn;
struct strbuf;

struct probe_user {
	/* The handshake went well: the owner gives <c> and <ep> to a mux, which tells <ep> that it
	 * is connected. False: no memory, both still the probe's.
	 */
	bool (*ready)(void *owner, struct conn *c, struct endpoint *ep);
	/* The connection goes without having had a mux. */
	void (*closed)(void *owner);
	/* For `show fd`: " sv=<backend>/<server>". */
	void (*describe)(const void *owner, struct strbuf *out);
};

/* Binds <c>, which is connecting or shaking hands, to <ep>. False: no memory, <c> the caller's. */
bool probe_attach(struct conn *c, struct endpoint *ep, const struct probe_user *user, void *owner);

#endif

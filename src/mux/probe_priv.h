/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probe_priv.h - a connection to a server whose protocol ALPN will choose
 *
 * Purpose: takes the place of the mux between endpoint and connection until ALPN has chosen, then
 *          installs the right mux and tells the owner (back_user.begun).
 * Owns   : the connection, until a mux has it or the stream detaches, which closes it.
 * Threads: that of the connection.
 */
#ifndef MUX_PROBE_PRIV_H
#define MUX_PROBE_PRIV_H

#include <stdbool.h>
#include "mux/back.h"

struct conn;
struct endpoint;

/* Binds <c>, which is connecting or in a handshake, to <ep>. <o> is copied. False: out of memory,
 * the caller keeps <c>.
 */
bool probe_attach(struct conn *c, struct endpoint *ep, const struct back_owner *o);

#endif

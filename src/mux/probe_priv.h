/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probe_priv.h - a connection to a server whose protocol is known once its handshake is over
 *
 * Purpose: holds the place of the mux between endpoint and connection until ALPN has chosen, then
 *          puts the right mux there and tells the owner (back_user.begun).
 * Owns   : the connection, until a mux has it or the stream detaches, which closes it.
 * Threads: that of the connection.
 */
#ifndef MUX_PROBE_PRIV_H
#define MUX_PROBE_PRIV_H

#include <stdbool.h>
#include "mux/back.h"

struct conn;
struct endpoint;

/* Binds <c>, which is connecting or shaking hands, to <ep>. <o> is copied. False: no memory, <c> is
 * the caller's.
 */
bool probe_attach(struct conn *c, struct endpoint *ep, const struct back_owner *o);

#endif

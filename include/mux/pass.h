/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pass.h - the mux of mode tcp: bytes go through as they are
 *
 * Purpose: an endpoint without heads: rx and tx are the connection's bytes, EP_RX_END its half
 *          close. A client's connection asks for its one stream at the start. It is reached through
 *          its row of the table, mux_pass in mux/mux.h.
 * Owns   : the connection, until the stream detaches, which closes it, or another mux takes it.
 * Threads: that of the connection.
 */
#ifndef MUX_PASS_H
#define MUX_PASS_H

struct conn;
struct endpoint;

/* Lets go of the connection of <ep>, which another mux is to take, without telling the user that it
 * is closed; <ep> has no mux any more. Nothing may be unsent. Callable from wake().
 */
struct conn *pass_give(struct endpoint *ep);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pass.h - the mux of mode tcp: passes bytes through unchanged
 *
 * Purpose: an endpoint without heads: rx and tx are the bytes of the connection, EP_RX_END is its
 *          half close. A client connection asks for its single stream at the start. Accessed
 *          through its row of the table, mux_pass in mux/mux.h.
 * Owns   : the connection, until the stream detaches, which closes it, or another mux takes it
 *          over.
 * Threads: that of the connection.
 */
#ifndef MUX_PASS_H
#define MUX_PASS_H

struct conn;
struct endpoint;

/* Releases the connection of <ep> for another mux, without reporting it as closed; <ep> has no mux
 * afterwards. Nothing may be unsent. May be called from wake().
 */
struct conn *pass_give(struct endpoint *ep);

#endif

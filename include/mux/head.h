/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* head.h - turns decoded heads of HTTP/2 and HTTP/3 into messages
 *
 * Purpose: what the muxes of both protocols do with a head that codec/h2_head.h has decoded and
 *          found well-formed. The decoder's texts and fields lie in buffers of the thread; these
 *          functions copy them as a whole into the arena of the stream that owns the message.
 * Owns   : nothing: the results live as long as the message's arena.
 * Threads: that of the stream.
 * Errors : out of memory: NULL or false, the message must not be used.
 * See    : RFC 9113 8.3, RFC 9114 4.3
 */
#ifndef MUX_HEAD_H
#define MUX_HEAD_H

#include <stdbool.h>
#include "codec/h2_head.h"
#include "http/msg.h"

/* Copies the texts and fields of <head> into the message's arena, makes <head> point there, and
 * gives <m> the fields, with room for those that rules add. False: out of memory.
 */
bool mux_head_fields(struct http_msg *m, struct h2_head *head);
/* Fills <m> with a request, except its version; <ended>: there is no body. False: out of memory. */
bool mux_head_request(struct http_msg *m, struct h2_head *head, bool ended);
/* Turns an extended CONNECT into the upgrade that it stands for (RFC 8441 5, RFC 9220). Call after
 * mux_head_request(). False: out of memory.
 */
bool mux_head_upgrade(struct http_msg *m, const struct h2_head *head);
/* Gives <m> the trailers of <head>; out of memory, it gets none. */
void mux_head_trailers(struct http_msg *m, struct h2_head *head);

#endif

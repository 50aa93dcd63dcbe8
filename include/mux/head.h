/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* head.h - decoded heads of HTTP/2 and HTTP/3 become messages
 *
 * Purpose: what the muxes of both protocols do with a head that codec/h2_head.h has decoded and
 *          found well-formed. The decoder's texts and fields lie in buffers of the thread; here
 *          they are copied, as a whole, to the arena of the stream whose message it is.
 * Owns   : nothing: what is made lives as long as the message's arena.
 * Threads: that of the stream.
 * Errors : no memory: NULL or false, the message is not to be used.
 * See    : RFC 9113 8.3, RFC 9114 4.3
 */
#ifndef MUX_HEAD_H
#define MUX_HEAD_H

#include <stdbool.h>
#include "codec/h2_head.h"
#include "http/msg.h"

/* Copies what <head> points to into the message's arena, so that <head> points there, and gives <m>
 * its fields, with places left for those that rules add. False: no memory.
 */
bool mux_head_fields(struct http_msg *m, struct h2_head *head);
/* Fills <m> with a request, but for its version; <ended>: there is no body. False: no memory. */
bool mux_head_request(struct http_msg *m, struct h2_head *head, bool ended);
/* An extended CONNECT is told as the upgrade that it stands for (RFC 8441 5, RFC 9220), behind
 * mux_head_request(). False: no memory.
 */
bool mux_head_upgrade(struct http_msg *m, const struct h2_head *head);
/* Gives <m> the trailers of <head>; without memory it has none. */
void mux_head_trailers(struct http_msg *m, struct h2_head *head);

#endif

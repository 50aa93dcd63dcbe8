/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture_priv.h - captures from heads, for logs and rules of the frontend (capture.c) */
#ifndef STREAM_CAPTURE_PRIV_H
#define STREAM_CAPTURE_PRIV_H

#include "stream/stream.h"

/* Capture what the frontend wants from the head that has just arrived, for logs and rules
 * (capture.c).
 */
void capture_request(struct stream *s);
void capture_response(struct stream *s);
/* Captures the cookie that a response sets; after its rules, which may have added it. */
void capture_response_cookie(struct stream *s);
/* Captures the cookie of a request that goes to a server; after the rules, as in the reference. */
void capture_request_cookie(struct stream *s);
/* Has <fe> a `capture cookie`? Otherwise the two functions above do nothing. */
bool capture_wants_cookie(const struct proxy *fe);

#endif

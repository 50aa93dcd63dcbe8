/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture_priv.h - what the frontend wants of heads, for logs and rules (capture.c) */
#ifndef STREAM_CAPTURE_PRIV_H
#define STREAM_CAPTURE_PRIV_H

#include "stream/stream.h"

/* Keep what the frontend wants of the head that has just arrived, for logs and rules (capture.c).
 */
void capture_request(struct stream *s);
void capture_response(struct stream *s);
/* The cookie that an answer sets, after its rules: they may have added it. */
void capture_response_cookie(struct stream *s);
/* Captures the cookie of a request that goes to a server: after the rules, as the reference
 * does.
 */
void capture_request_cookie(struct stream *s);
/* Has <fe> a `capture cookie`? Else the two do nothing. */
bool capture_wants_cookie(const struct proxy *fe);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* error_capture.h - the last bytes that were not a valid message, kept for `show errors`
 *
 * Owns   : a slot of each proxy holds at most two copies of at most tune.bufsize bytes each: the
 *          last bad request of a frontend and the last bad response of a backend.
 * Threads: any. One lock per proxy, held only while pointers are copied.
 * Fails  : out of memory: nothing is kept.
 */
#ifndef STREAM_ERROR_CAPTURE_H
#define STREAM_ERROR_CAPTURE_H

#include <stdbool.h>
#include "base/slot.h"
#include "base/strbuf.h"

struct endpoint;
struct endpoint_bad;
struct failure_bytes;
struct proxy;
struct session;

/* Captures bytes from which no request could be parsed. */
void error_capture_request(struct session *sess, const struct endpoint_bad *bad);
/* Capture an invalid body of a request, and an invalid response: callbacks for endpoint_user.bad.
 */
void error_capture_front_bad(struct endpoint *ep, const struct endpoint_bad *bad);
void error_capture_back_bad(struct endpoint *ep, const struct endpoint_bad *bad);

/* Moves the bytes around the error in the calling thread's last bad message to <out>, if that
 * message belongs to <sess> and was not taken before; otherwise sets out->len to 0.
 */
void error_capture_take(const struct session *sess, struct failure_bytes *out);

/* Returns the number of captures since the start. */
unsigned error_capture_count(void);
/* Appends the capture of a proxy's requests or responses. <only>: only if this proxy is one of the
 * two that were involved; NULL: always.
 */
void error_capture_dump(const struct proxy *px, bool response, const struct proxy *only,
		  struct strbuf *out);

/* Moves the captures of <px> to <next>, the generation that replaces its own. Thread 0. */
struct config;
void error_capture_pass_on(struct config *next, const struct proxy *px);

extern struct slot error_capture_slot;

#endif

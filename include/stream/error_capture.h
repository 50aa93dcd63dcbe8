/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* error_capture.h - the last bytes that were no valid request or response, kept for `show errors`
 *
 * Owns   : a slot of each proxy has at most two copies, of tune.bufsize bytes at most: the last bad
 *          request of a frontend, the last bad response of a backend.
 * Threads: any; one lock per proxy, taken for a copy of pointers only.
 * Fails  : without memory nothing is kept.
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

/* No request came out of these bytes. */
void error_capture_request(struct session *sess, const struct endpoint_bad *bad);
/* The body of a request, or a response, is not valid: members of struct endpoint_user. */
void error_capture_front_bad(struct endpoint *ep, const struct endpoint_bad *bad);
void error_capture_back_bad(struct endpoint *ep, const struct endpoint_bad *bad);

/* The bytes around the place of the calling thread's last bad message, if it was of <sess> and was
 * not taken yet; else len is 0.
 */
void error_capture_take(const struct session *sess, struct failure_bytes *out);

/* How many there were since the start. */
unsigned error_capture_count(void);
/* Appends what is kept of a proxy's requests or responses, if <only> (NULL: any) is one of the two
 * proxies which had to do with it.
 */
void error_capture_dump(const struct proxy *px, bool response, const struct proxy *only,
		  struct strbuf *out);

/* What is kept of <px> goes to <next>, the generation that takes its place. Thread 0. */
struct config;
void error_capture_pass_on(struct config *next, const struct proxy *px);

extern struct slot error_capture_slot;

#endif

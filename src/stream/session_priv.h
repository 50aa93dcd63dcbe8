/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session_priv.h - shared by the files about sessions */
#ifndef STREAM_SESSION_PRIV_H
#define STREAM_SESSION_PRIV_H

#include "mux/mux.h"
#include "stream/session.h"
#include "stream/stream.h"

/* --- session.c */
bool session_init(void);
/* Runs the tcp-request session rules of a session whose preambles are over and gives its connection
 * to a mux. <readable>: bytes may be waiting.
 */
void session_start(struct session *s, bool readable);
/* Ends a session before it has a mux. */
void session_abort(struct session *s);
/* Reverse HTTP: makes <c>, which we have opened to <src> for an rhttp@ line and whose mux <m> has
 * just settled, a client's connection; preconnect_ended(<dialled>) is called when the session ends.
 * False: refused by rules, or out of memory; its place is freed, and <c> is unchanged.
 */
bool session_adopt(struct listener_conf *l, struct conn *c, struct mux *m, const struct addr *src,
		   struct preconnect *dialled);
/* For `show fd`; <owner> is a session. */
void session_describe(const void *owner, struct strbuf *out);
bool session_thread_init(void);
/* Gives the connection, which no mux has any more, to the mux of <kind>. False: out of memory. */
bool session_take(struct session *s, const struct mux_kind *kind);
/* Does its mux create a stream per request? */
static inline bool session_is_http(const struct session *s)
{
	return s->mux && s->mux->kind->mode == MUX_HTTP;
}
/* May a client switch to another protocol by its preface as first bytes? */
bool session_may_change(const struct session *s);
/* Makes its mux, which already has the head, use <strm> for its first request, instead of a new
 * stream.
 */
void session_start_with(struct session *s, struct stream *strm);
/* follow.c: moves <s> to the live generation; if that has no such frontend or listener, stops <s>
 * after its next response, which frees it when it is idle.
 */
void session_follow(struct session *s);
/* session_rare.c: the session leaves its generation, which is held for its current streams. False:
 * out of memory.
 */
bool session_past_enter(struct session *s);
/* A stream of <cfg>, which the session has left, ends. Returns what the caller must drop when the
 * stream is no longer used: the generation if this was its last stream, or NULL.
 */
struct config *session_past_leave(struct session *s, struct config *cfg);

/* --- session_addr.c : tells the TLS floor how to find connections. Call once. */
void session_addr_init(void);

#endif

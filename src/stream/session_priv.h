/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session_priv.h - what the files about sessions share */
#ifndef STREAM_SESSION_PRIV_H
#define STREAM_SESSION_PRIV_H

#include "mux/mux.h"
#include "stream/session.h"
#include "stream/stream.h"

/* --- session.c */
bool session_init(void);
/* Runs the rules of a session whose preambles are done (tcp-request session) and gives its
 * connection to a mux. <readable>: bytes may be waiting. */
void session_start(struct session *s, bool readable);
/* Ends a session before it has a mux. */
void session_abort(struct session *s);
/* Reverse HTTP: <c>, which we have opened to <src> for a line of rhttp@ and whose mux <m> has just
 * settled, is a client's from now on; preconnect_ended(<dialled>) is called when the session ends.
 * False: refused by rules, or no memory; its place is free, and <c> as before.
 */
bool session_adopt(struct listener_conf *l, struct conn *c, struct mux *m, const struct addr *src,
		   struct preconnect *dialled);
/* For `show fd`; <owner> is a session. */
void session_describe(const void *owner, struct strbuf *out);
bool session_thread_init(void);
/* Gives the connection, which no other mux has any more, to that of <kind>. False: no memory. */
bool session_take(struct session *s, const struct mux_kind *kind);
/* Does its mux make a stream for each request? */
static inline bool session_is_http(const struct session *s)
{
	return s->mux && s->mux->kind->mode == MUX_HTTP;
}
/* Is a client whose first bytes are the preface of another protocol to be believed? */
bool session_may_change(const struct session *s);
/* Its mux, which has the head already, reads its first request: <strm>, instead of a new stream, is
 * the one that it finds for it.
 */
void session_start_with(struct session *s, struct stream *strm);
/* follow.c: <s> goes on with the live generation, or is stopped after its next
 * answer when it has no such frontend or listener any more: which frees it when it is idle.
 */
void session_follow(struct session *s);
/* session_rare.c: the session leaves its generation, which is kept for the streams that there are.
 * False: no memory.
 */
bool session_past_enter(struct session *s);
/* A stream of <cfg>, which the session has left, ends. Returns what the caller must drop when
 * nothing of the stream is looked at any more: the generation if this was the last one, or NULL.
 */
struct config *session_past_leave(struct session *s, struct config *cfg);

/* --- session_addr.c : tells the TLS floor where connections are. Once. */
void session_addr_init(void);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* timing.h - the phases of a stream in milliseconds: one definition for logs and fetches
 *
 * -1: one of the two dates was not reached. Manual 8.4. Call on the stream's thread.
 */
#ifndef STREAM_TIMING_H
#define STREAM_TIMING_H

#include "base/clock.h"
#include "stream/stream.h"

/* Milliseconds between two dates; -1 when one was not reached. */
static inline int64_t timing_span(uint64_t from, uint64_t to)
{
	if (!to || !from)
		return -1;
	return to > from ? (int64_t)((to - from) / NS_PER_MS) : 0;
}

/* %Th */
static inline int64_t timing_handshake(const struct stream *s)
{
	return s->id.in_session ? 0 : s->sess->handshake_ms;
}

/* %t, in microseconds since 1970: when the connection was accepted or, for later requests, when the
 * previous request was over. <s> may be NULL.
 */
static inline uint64_t timing_accept_wall_us(const struct session *sess, const struct stream *s)
{
	return clock_wall_of(s && s->id.in_session ? s->t.idle_from : sess->accept_ns);
}

/* %Ti */
static inline int64_t timing_idle(const struct stream *s)
{
	return s->flags & STRM_HTTP ? timing_span(s->t.idle_from, s->t.begin) : -1;
}

/* %TR */
static inline int64_t timing_request(const struct stream *s)
{
	if (s->flags & STRM_NO_REQUEST_TIME)
		return -1;
	return s->flags & STRM_HTTP ? timing_span(s->t.begin, s->t.request) : -1;
}

/* %Tq */
static inline int64_t timing_query(const struct stream *s)
{
	int64_t request = timing_request(s);

	return request < 0 ? -1 : timing_handshake(s) + timing_idle(s) + request;
}

/* %Tw */
static inline int64_t timing_queue(const struct stream *s)
{
	return timing_span(s->t.request, s->t.queued);
}

/* %Tc */
static inline int64_t timing_connect(const struct stream *s)
{
	return timing_span(s->t.queued, s->t.connected);
}

/* %Tr */
static inline int64_t timing_response(const struct stream *s)
{
	return s->flags & STRM_HTTP ? timing_span(s->t.connected, s->t.data) : -1;
}

static inline uint64_t timing_end(const struct stream *s)
{
	return s->t.close ? s->t.close : clock_now_ns();
}

/* %Td */
static inline int64_t timing_data(const struct stream *s)
{
	return s->t.data ? timing_span(s->t.data, timing_end(s)) : -1;
}

/* %Ta */
static inline int64_t timing_active(const struct stream *s)
{
	return timing_span(s->t.begin, timing_end(s));
}

/* %Tt */
static inline int64_t timing_total(const struct stream *s)
{
	return timing_span(s->id.in_session ? s->t.idle_from : s->sess->accept_ns, timing_end(s));
}

/* %Tu */
static inline int64_t timing_user(const struct stream *s)
{
	return timing_active(s) + timing_handshake(s);
}

#endif

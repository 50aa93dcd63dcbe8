/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tracing.h - hooks for a tracer: a stream begins, tries a server, ends
 *
 * Purpose: distributed tracing needs the head of each request that leaves (it carries the parent
 *          span) and the times of each try. The engine informs one tracer, of a higher layer, about
 *          the streams of the frontends that it asked for.
 * Owns   : what the tracer keeps about a stream lies in that stream's arena.
 * Threads: the stream's.
 * Cost   : none for streams of other frontends: each hook stands behind a test that is needed
 *          anyway.
 * Limits : requests only: the tracer does not see streams in mode tcp, nor requests that never
 *          became a stream (a bad head).
 */
#ifndef STREAM_TRACING_H
#define STREAM_TRACING_H

#include "base/bug.h"
#include "log/log.h"
#include "stream/stream.h"

struct stream_tracer {
	/* The head has come, no rule has run. To trace the stream, call stream_trace_set() or
	 * stream_trace_by_id(). <how>: see stream_trace_frontend().
	 */
	void (*begin)(struct stream *s, const void *how);
	/* --- for streams that are traced: */
	/* A server is connected: s->req is sent next and may be edited. Called at each try, if
	 * stream_trace_wants() asked for it.
	 */
	void (*connected)(struct stream *s);
	/* A try was given up for another try or another response: because of <why>, which does not
	 * become the stream's end, or (END_NONE) because of <status>, that of the server's response
	 * or of the error page.
	 */
	void (*left)(struct stream *s, enum stream_end why, unsigned status);
	/* The stream is over but still complete. Called for streams that have an end (stream/end.h)
	 * or a status of 500 or more, and for others if stream_trace_wants() asked for it.
	 */
	void (*end)(struct stream *s);
	/* --- for frontends whose log lines are wanted, traced or not: */
	/* A line of the log, whether or not a target gets it. <s>: the stream it is about, or NULL.
	 */
	void (*line)(struct session *sess, struct stream *s, enum log_level level,
		     struct slice text);
};

/* Installs the tracer. Call once, at start-up. <figures>: appends the tracer's counters in the
 * format of Prometheus; called on any thread.
 */
void stream_set_tracer(const struct stream_tracer *tracer, void (*figures)(struct strbuf *out));
/* Reports the streams of <fe> to the tracer, with <how> for its begin(). For the check phase. The
 * getter returns <how>; NULL: not traced.
 */
void stream_trace_frontend(struct proxy *fe, const void *how);
const void *stream_trace_of_frontend(const struct proxy *fe);
/* Reports the log lines of <fe>, too. Must be called before the check phase of the engine, which
 * chooses the log format.
 */
void stream_trace_lines(struct proxy *fe);

/* For begin(): marks the stream as traced; <trace> is the tracer's. */
static inline void stream_trace_set(struct stream *s, void *trace)
{
	s->flags |= STRM_TRACED;
	s->trail.trace = trace;
}

/* For begin(): marks the stream as traced; an id is all that the tracer keeps until it calls
 * stream_trace_set(). <told>: as in stream_trace_wants(); it is not recorded.
 */
static inline void stream_trace_by_id(struct stream *s, uint64_t id, bool told)
{
	s->flags |= told ? STRM_TRACED | STRM_TOLD : STRM_TRACED;
	s->trail.trace = NULL;
	s->trail.trace_id = id;
}

/* For a traced stream: <told>: call connected(). <recorded>: call end() even if the stream has not
 * failed. Neither is done by default.
 */
static inline void stream_trace_wants(struct stream *s, bool told, bool recorded)
{
	s->flags &= ~(STRM_TOLD | STRM_RECORDED);
	s->flags |= (told ? STRM_TOLD : 0) | (recorded ? STRM_RECORDED : 0);
}

/* Returns the tracer's object of a traced stream. NULL: only stream_trace_id() is kept. */
static inline void *stream_trace(const struct stream *s)
{
	return s->trail.trace;
}

static inline uint64_t stream_trace_id(const struct stream *s)
{
	return s->trail.trace_id;
}

static inline bool stream_is_traced(const struct stream *s)
{
	return s->flags & STRM_TRACED;
}

/* Appends the tracer's counters, if there is a tracer. */
void stream_tracing_figures(struct strbuf *out);

/* Calls of the engine. */
void stream_tracing_begin(struct stream *s);
void stream_tracing_connected(struct stream *s);
void stream_tracing_left(struct stream *s, enum stream_end why, unsigned status);
void stream_tracing_end(struct stream *s);
void stream_tracing_line(struct session *sess, struct stream *s, enum log_level level,
			 struct slice text);
static inline void stream_tracing_note(struct stream *s, enum stream_end why, unsigned status)
{
	if (unlikely(s->flags & STRM_TRACED))
		stream_tracing_left(s, why, status);
}

#endif

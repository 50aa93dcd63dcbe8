/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tracing.h - where a tracer learns of a stream's way: its begin, each try at a server, its end
 *
 * Purpose: distributed tracing needs the head of each request that leaves (it says which span is
 *          the parent) and the times of each try. The engine tells one tracer, of a floor above,
 *          of the streams of the frontends that it has asked for.
 * Owns   : what the tracer keeps of a stream lies in that stream's arena.
 * Threads: the stream's.
 * Cost   : none for a stream of another frontend: each of the three places is behind a test that is
 *          made for others, too.
 * Limits : requests only: a stream in mode tcp is not told of, nor is a request that never became a
 *          stream (a bad head).
 */
#ifndef STREAM_TRACING_H
#define STREAM_TRACING_H

#include "base/bug.h"
#include "log/log.h"
#include "stream/stream.h"

struct stream_tracer {
	/* The head has come, no rule has run. Calls stream_trace_set() or stream_trace_by_id(), or
	 * the stream is not traced. <how>: stream_trace_frontend().
	 */
	void (*begin)(struct stream *s, const void *how);
	/* --- of streams that are traced: */
	/* A server is connected: s->req is sent next, and may be edited. Again at each try. Called
	 * if stream_trace_wants() said so.
	 */
	void (*connected)(struct stream *s);
	/* A try is given up for another one, or for another answer: because of an end that it does
	 * not become, or of <status>, of the server's answer or of the page (END_NONE).
	 */
	void (*left)(struct stream *s, enum stream_end why, unsigned status);
	/* It is over, everything of it is still there. Called of those that have an end
	 * (stream/ends.h) or an answer of 500 and more, and if stream_trace_wants() said so.
	 */
	void (*end)(struct stream *s);
	/* --- of frontends whose lines are told of, traced or not: */
	/* A line of the log, whether or not a target gets it; <s>: what it is about, or NULL. */
	void (*line)(struct session *sess, struct stream *s, enum log_level level,
		     struct slice text);
};

/* Once, at start-up. <figures>: appends what the tracer counts, in the format of Prometheus, on any
 * thread.
 */
void stream_set_tracer(const struct stream_tracer *tracer, void (*figures)(struct strbuf *out));
/* The streams of <fe> are told of, with <how> for the tracer. In the check phase. */
void stream_trace_frontend(struct proxy *fe, const void *how);
const void *stream_trace_of_frontend(const struct proxy *fe);
/* Its lines are told of, too: before the check phase of the engine, which chooses its format. */
void stream_trace_lines(struct proxy *fe);

/* In begin(): the stream is traced, <trace> is the tracer's. */
static inline void stream_trace_set(struct stream *s, void *trace)
{
	s->flags |= STRM_TRACED;
	s->trail.trace = trace;
}

/* In begin(): the stream is traced, and so far an id is all that the tracer keeps of it: until it
 * calls stream_trace_set(). <told>: as of stream_trace_wants(); it is not recorded.
 */
static inline void stream_trace_by_id(struct stream *s, uint64_t id, bool told)
{
	s->flags |= told ? STRM_TRACED | STRM_TOLD : STRM_TRACED;
	s->trail.trace = NULL;
	s->trail.trace_id = id;
}

/* Of a stream that is traced: whether connected() is called, and whether end() is of one that has
 * not failed. Neither is before this was said.
 */
static inline void stream_trace_wants(struct stream *s, bool told, bool recorded)
{
	s->flags &= ~(STRM_TOLD | STRM_RECORDED);
	s->flags |= (told ? STRM_TOLD : 0) | (recorded ? STRM_RECORDED : 0);
}

/* Of a stream that is traced. NULL: stream_trace_id() is all that is kept of it. */
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

/* Appends the tracer's figures, if there is one. */
void stream_tracing_figures(struct strbuf *out);

/* For the engine. */
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

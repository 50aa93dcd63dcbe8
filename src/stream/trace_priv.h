/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace_priv.h - the trace sources of sessions and streams */
#ifndef STREAM_TRACE_PRIV_H
#define STREAM_TRACE_PRIV_H

#include "core/trace.h"

struct endpoint;

/* X(NAME, word, explanation) of source session */
#define SESSION_EVENTS(X) \
	X(NEW, "sess_new", "a session begins") X(END, "sess_end", "a session ends") \
	X(ERROR, "sess_err", "a session failed")
/* Same of source stream. */
#define STREAM_EVENTS(X) \
	X(NEW, "strm_new", "a stream begins") X(FREE, "strm_free", "a stream ends") \
	X(ERROR, "strm_err", "a stream failed") X(STAGE, "strm_ana", "a stream goes to a stage") \
	X(RUN, "strm_proc", "a stream runs")

#define X(name, word, help) SESSION_EV_##name,
enum { SESSION_EVENTS(X) };
#undef X
#define X(name, word, help) STREAM_EV_##name,
enum { STREAM_EVENTS(X) };
#undef X

/* Objects: a struct session; a struct stream. */
extern struct trace_source trace_session, trace_stream;

#define SESSION_TRACE(level, s, event, ...) \
	TRACE(&trace_session, level, TRACE_EV(SESSION_EV_##event), s, __VA_ARGS__)
#define STREAM_TRACE(level, s, event, ...) \
	TRACE(&trace_stream, level, TRACE_EV(STREAM_EV_##event), s, __VA_ARGS__)

/* For the muxes: what a stream's endpoints and a session are about. */
void stream_trace_front(const struct endpoint *ep, struct trace_facts *out);
void stream_trace_back(const struct endpoint *ep, struct trace_facts *out);
void session_trace_facts(const void *owner, struct trace_facts *out);

#endif

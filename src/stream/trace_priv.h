/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace_priv.h - the trace sources of sessions, streams and services */
#ifndef STREAM_TRACE_PRIV_H
#define STREAM_TRACE_PRIV_H

#include "core/trace.h"

struct endpoint;

/* X(NAME, word, explanation) of source session */
#define SESSION_EVENTS(X) \
	X(NEW, "sess_new", "a session begins") X(END, "sess_end", "a session ends") \
	X(ERROR, "sess_err", "a session failed")
/* X(NAME, word, explanation) of source stream */
#define STREAM_EVENTS(X) \
	X(NEW, "strm_new", "a stream begins") X(FREE, "strm_free", "a stream ends") \
	X(ERROR, "strm_err", "a stream failed") \
	X(END, "strm_end", "why a stream ends is known") \
	X(STAGE, "strm_ana", "a stream goes to a stage") \
	X(RUN, "strm_proc", "a stream runs") \
	X(SERVER, "strm_srv", "a server is chosen or left") \
	X(QUEUE, "strm_queue", "a stream enters or leaves a queue") \
	X(RETRY, "strm_retry", "a stream tries again, or may not") \
	X(WAIT, "strm_wait", "a stream waits for something outside") \
	X(WAKE, "strm_wake", "what a stream waited for is there, or is not waited for any more")
/* X(NAME, word, explanation) of source applet */
#define APPLET_EVENTS(X) \
	X(NEW, "app_new", "a service is to answer") X(FREE, "app_free", "its call ends") \
	X(RELEASE, "app_release", "the service lets go of it") \
	X(PROC, "app_proc", "it is asked for a part") X(ERROR, "app_err", "it failed") \
	X(START, "app_start", "its answer begins") X(RECEIVE, "app_receive", "it gives bytes") \
	X(SEND, "app_send", "it gets bytes") X(BLOCK, "app_blk", "it waits for room") \
	X(WAKE, "app_wake", "it goes on")

#define X(name, word, help) SESSION_EV_##name,
enum { SESSION_EVENTS(X) };
#undef X
#define X(name, word, help) STREAM_EV_##name,
enum { STREAM_EVENTS(X) };
#undef X
#define X(name, word, help) APPLET_EV_##name,
enum { APPLET_EVENTS(X) };
#undef X

/* Objects: a struct session; a struct stream; a struct service_call. */
extern struct trace_source trace_session, trace_stream, trace_applet;

#define SESSION_TRACE(level, s, event, ...) \
	TRACE(&trace_session, level, TRACE_EV(SESSION_EV_##event), s, __VA_ARGS__)
#define STREAM_TRACE(level, s, event, ...) \
	TRACE(&trace_stream, level, TRACE_EV(STREAM_EV_##event), s, __VA_ARGS__)
#define APPLET_TRACE(level, call, event, ...) \
	TRACE(&trace_applet, level, TRACE_EV(APPLET_EV_##event), call, __VA_ARGS__)

/* Callbacks of muxes: add the facts of a stream's endpoints and of a session. */
void stream_trace_front(const struct endpoint *ep, struct trace_facts *out);
void stream_trace_back(const struct endpoint *ep, struct trace_facts *out);
void session_trace_facts(const void *owner, struct trace_facts *out);

#endif

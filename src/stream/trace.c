/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace.c - the trace sources of sessions, streams and services */
#include "base/addr.h"
#include "base/strbuf.h"
#include "stream/service.h"
#include "engine_priv.h"
#include "trace_priv.h"

void session_trace_facts(const void *owner, struct trace_facts *out)
{
	const struct session *s = owner;

	out->facts[TRACE_LOCK_SESSION] = s;
	out->facts[TRACE_LOCK_FRONTEND] = s->fe;
	out->facts[TRACE_LOCK_LISTENER] = s->listener;
}

static void stream_facts(const void *what, struct trace_facts *out)
{
	const struct stream *s = what;

	session_trace_facts(s->sess, out);
	out->facts[TRACE_LOCK_STREAM] = s;
	out->facts[TRACE_LOCK_BACKEND] = s->be;
	out->facts[TRACE_LOCK_SERVER] = s->server;
}

void stream_trace_front(const struct endpoint *ep, struct trace_facts *out)
{
	stream_facts(container_of(ep, const struct stream, front), out);
}

void stream_trace_back(const struct endpoint *ep, struct trace_facts *out)
{
	stream_facts(container_of(ep, const struct stream, back), out);
}

static void session_describe_trace(const void *what, enum trace_verbosity verbosity,
				   enum trace_level level, struct strbuf *out)
{
	const struct session *s = what;
	char src[ADDR_MAX];

	addr_put(&s->src, src, sizeof(src));
	strbuf_printf(out, " : fe=%s src=%s sess=%p", s->fe->name, src, what);
}

static const char *stage_name(unsigned stage)
{
	static const char *const names[STAGE_COUNT] = {
#define X(name, fn, c) #name,
		STREAM_STAGES(X)
#undef X
	};

	return stage < STAGE_COUNT ? names[stage] : "-";
}

static void put_endpoint(struct strbuf *out, const char *name, const struct endpoint *ep)
{
	strbuf_printf(out, " %s=(0x%08x %s rx=%llu tx=%llu)", name, ep->flags,
		      ep->ops ? ep->ops->name : "-", (unsigned long long)ep->rx.len,
		      (unsigned long long)ep->tx.len);
}

static void stream_describe_trace(const void *what, enum trace_verbosity verbosity,
				  enum trace_level level, struct strbuf *out)
{
	const struct stream *s = what;

	strbuf_printf(out, " : [%s] fe=%s be=%s srv=%s", stage_name(s->stage), s->fe->name,
		      s->be->name, s->server ? s->server->name : "-");
	if (s->log.uri.len)
		strbuf_printf(out, " \"%.*s %.*s\"", SLICE_FMT(s->log.method),
			      SLICE_FMT(s->log.uri));
	if (verbosity >= TRACE_MINIMAL)
		strbuf_printf(out, " strm=%p(0x%08x) sess=%p", what, s->flags,
			      (const void *)s->sess);
	if (verbosity < TRACE_SIMPLE)
		return;
	put_endpoint(out, "front", &s->front);
	put_endpoint(out, "back", &s->back);
}

static void applet_facts(const void *what, struct trace_facts *out)
{
	const struct service_call *c = what;

	stream_facts(c->stream, out);
	out->facts[TRACE_LOCK_APPLET] = c;
}

static void applet_describe_trace(const void *what, enum trace_verbosity verbosity,
				  enum trace_level level, struct strbuf *out)
{
	const struct service_call *c = what;

	strbuf_printf(out, " : [%s] fe=%s", c->kind->shown, c->stream->fe->name);
	if (verbosity >= TRACE_MINIMAL)
		strbuf_printf(out, " appctx=%p strm=%p%s%s%s", what, (const void *)c->stream,
			      c->started ? " started" : "", c->waiting ? " waiting" : "",
			      c->done ? " done" : "");
	if (verbosity >= TRACE_SIMPLE)
		put_endpoint(out, "back", c->ep);
}

static const struct trace_word session_events[] = {
#define X(name, word, help) { word, help },
	SESSION_EVENTS(X)
#undef X
	{ 0 }
};
static const struct trace_word stream_events[] = {
#define X(name, word, help) { word, help },
	STREAM_EVENTS(X)
#undef X
	{ 0 }
};
static const struct trace_word applet_events[] = {
#define X(name, word, help) { word, help },
	APPLET_EVENTS(X)
#undef X
	{ 0 }
};
static const struct trace_word verbosities[] = {
	{ "clean", "and where it comes from and goes to" },
	{ "minimal", "and its flags" },
	{ "simple", "and both sides" },
	{ "advanced", "the same" },
	{ "complete", "and all that is known" },
	{ 0 }
};

#define SESSION_LOCKS \
	(TRACE_LOCK_BIT(FRONTEND) | TRACE_LOCK_BIT(LISTENER) | TRACE_LOCK_BIT(SESSION))

struct trace_source trace_session = {
	.name = "session", .help = "sessions of clients", .events = session_events,
	.locks = SESSION_LOCKS, .facts = session_trace_facts, .describe = session_describe_trace,
};
struct trace_source trace_stream = {
	.name = "stream", .help = "requests and their answers", .events = stream_events,
	.verbosities = verbosities, .facts = stream_facts, .describe = stream_describe_trace,
	.locks = SESSION_LOCKS | TRACE_LOCK_BIT(BACKEND) | TRACE_LOCK_BIT(SERVER) |
		 TRACE_LOCK_BIT(STREAM),
};
struct trace_source trace_applet = {
	.name = "applet", .help = "services that answer", .events = applet_events,
	.verbosities = verbosities, .facts = applet_facts, .describe = applet_describe_trace,
	.locks = SESSION_LOCKS | TRACE_LOCK_BIT(BACKEND) | TRACE_LOCK_BIT(STREAM) |
		 TRACE_LOCK_BIT(APPLET),
};

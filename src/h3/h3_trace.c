/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h3_trace.c - the trace source of HTTP/3 */
#include "base/strbuf.h"
#include "h3_priv.h"
#include "h3_trace.h"

static void h3_facts(const void *what, struct trace_facts *out)
{
	const struct h3_traced *t = what;

	out->facts[TRACE_LOCK_CONNECTION] = t->conn->conn;
	out->facts[TRACE_LOCK_OWN] = t->stream;
	if (t->conn->user && t->conn->user->trace)
		t->conn->user->trace(t->conn->owner, out);
}

static void h3_describe(const void *what, enum trace_verbosity verbosity, enum trace_level level,
			struct strbuf *out)
{
	const struct h3_traced *t = what;

	if (verbosity < TRACE_MINIMAL)
		return;
	strbuf_printf(out, " : qcc=%p(%c) flg=0x%x", (const void *)t->conn,
		      t->conn->back ? 'B' : 'F', t->conn->flags);
	if (t->stream && t->stream->quic)
		strbuf_printf(out, " qcs=%p .id=%llu .flg=0x%x", (const void *)t->stream,
			      (unsigned long long)quic_stream_id(t->stream->quic),
			      t->stream->flags);
}

static const struct trace_word events[] = {
#define X(name, word, help) { word, help },
	H3_EVENTS(X)
#undef X
	{ 0 }
};
static const struct trace_word verbosities[] = {
	{ "clean", "what a user wants to know" },
	{ "minimal", "and which connection and stream it is, with their flags" },
	{ 0 }
};

struct trace_source trace_h3 = {
	.name = "h3", .help = "HTTP/3", .events = events, .verbosities = verbosities,
	.locks = TRACE_LOCK_BIT(OWN) | TRACE_LOCK_BIT(SESSION) | TRACE_LOCK_BIT(FRONTEND) |
		 TRACE_LOCK_BIT(LISTENER) | TRACE_LOCK_BIT(CONNECTION),
	.own = { "qcs", "the stream of QUIC" }, .facts = h3_facts, .describe = h3_describe,
};

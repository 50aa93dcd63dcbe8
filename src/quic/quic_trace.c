/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quic_trace.c - the trace source of QUIC */
#include "base/strbuf.h"
#include "conn_priv.h"
#include "quic_trace.h"

static void quic_facts(const void *what, struct trace_facts *out)
{
	const struct quic_conn *q = what;

	out->facts[TRACE_LOCK_OWN] = q;
	out->facts[TRACE_LOCK_CONNECTION] = q->conn;
}

static void quic_describe(const void *what, enum trace_verbosity verbosity, enum trace_level level,
			  struct strbuf *out)
{
	const struct quic_conn *q = what;

	strbuf_printf(out, " : qc@%p %s", what, q->flags & QUIC_FL_CLIENT ? "(B)" : "(F)");
	if (level >= TRACE_PROTO)
		strbuf_printf(out, " state=%u flags=0x%x inflight=%llu cwnd=%llu", q->state,
			      q->flags, (unsigned long long)q->in_flight,
			      (unsigned long long)q->cc.window);
}

static const struct trace_word events[] = {
#define X(name, word, help) { word, help },
	QUIC_EVENTS(X)
#undef X
	{ 0 }
};
static const struct trace_word verbosities[] = {
	{ "clean", "which connection it is, and where it stands" },
	{ 0 }
};

struct trace_source trace_quic = {
	.name = "quic", .help = "QUIC connections", .events = events, .verbosities = verbosities,
	.locks = TRACE_LOCK_BIT(OWN) | TRACE_LOCK_BIT(CONNECTION),
	.own = { "qconn", "the connection of QUIC" },
	.facts = quic_facts, .describe = quic_describe,
};

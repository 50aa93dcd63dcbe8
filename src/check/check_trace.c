/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_trace.c - the trace source of health checks */
#include "base/strbuf.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "check_priv.h"
#include "check_trace.h"

static void check_facts(const void *what, struct trace_facts *out)
{
	const struct check *c = what;

	out->facts[TRACE_LOCK_CHECK] = c;
	out->facts[TRACE_LOCK_SERVER] = c->server;
	out->facts[TRACE_LOCK_BACKEND] = c->server->proxy;
	out->facts[TRACE_LOCK_CONNECTION] = c->conn;
}

static void check_describe(const void *what, enum trace_verbosity verbosity,
			   enum trace_level level, struct strbuf *out)
{
	const struct check *c = what;

	strbuf_printf(out, " : [%c] srv=%s/%s", c->agent ? 'A' : 'H', c->server->proxy->name,
		      c->server->name);
	if (verbosity >= TRACE_MINIMAL)
		strbuf_printf(out, " check=%p(0x%04x) conn=%p", what, check_flags_of(c->state),
			      (const void *)c->conn);
	if (verbosity >= TRACE_SIMPLE && c->run && c->run->in)
		strbuf_printf(out, " in=%u", (unsigned)c->run->in->used);
}

static const struct trace_word events[] = {
#define X(name, word, help) { word, help },
	CHECK_EVENTS(X)
#undef X
	{ 0 }
};
static const struct trace_word verbosities[] = {
	{ "clean", "and the server" },
	{ "minimal", "and the connection" },
	{ "simple", "and how much came" },
	{ "advanced", "the same" },
	{ "complete", "and all that is known" },
	{ 0 }
};

struct trace_source trace_check = {
	.name = "check", .help = "health checks", .events = events, .verbosities = verbosities,
	.locks = TRACE_LOCK_BIT(CHECK) | TRACE_LOCK_BIT(SERVER) | TRACE_LOCK_BIT(BACKEND),
	.facts = check_facts, .describe = check_describe,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace.c - the trace source of TLS connections */
#include "base/strbuf.h"
#include "conn_priv.h"
#include "facts_priv.h"
#include "net/conn.h"
#include "trace_priv.h"

static void tls_facts(const void *what, struct trace_facts *out)
{
	out->facts[TRACE_LOCK_CONNECTION] = what;
}

static void tls_describe(const void *what, enum trace_verbosity verbosity, enum trace_level level,
			 struct strbuf *out)
{
	const struct conn *c = what;
	const struct tls_conn *t = c->transport_ctx;
	struct slice sni;

	strbuf_printf(out, " : [%c]", c->flags & CONN_BACKEND ? 'B' : 'F');
	if (verbosity >= TRACE_MINIMAL)
		strbuf_printf(out, " conn=%p(0x%04x) fd=%d", what, c->flags, c->fd);
	if (verbosity >= TRACE_SIMPLE && t)
		strbuf_printf(out, " %s(0x%04x) error=%x", tls_conn_version(t), t->flags,
			      t->error);
	if (verbosity < TRACE_ADVANCED || !t)
		return;
	sni = tls_fact(t, TLS_FACT_SNI, NULL);
	strbuf_printf(out, " state=\"%s\" sni=%s", t->ssl ? SSL_state_string_long(t->ssl) : "-",
		      sni.len ? sni.ptr : "-");
}

static const struct trace_word events[] = {
#define X(name, word, help) { word, help },
	TLS_EVENTS(X)
#undef X
	{ 0 }
};
static const struct trace_word verbosities[] = {
	{ "clean", "and the side" },
	{ "minimal", "and the connection" },
	{ "simple", "and the version and errors" },
	{ "advanced", "and the state of the handshake" },
	{ "complete", "and all that is known" },
	{ 0 }
};

struct trace_source trace_tls = {
	.name = "ssl", .help = "TLS connections", .events = events, .verbosities = verbosities,
	.locks = TRACE_LOCK_BIT(CONNECTION), .facts = tls_facts, .describe = tls_describe,
};

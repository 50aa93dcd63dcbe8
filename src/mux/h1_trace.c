/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_trace.c - the trace source of the HTTP/1 mux */
#include "h1_priv.h"
#include "trace_priv.h"

static void h1_facts(const void *what, struct trace_facts *out)
{
	const struct h1_conn *h = what;

	out->facts[TRACE_LOCK_CONNECTION] = h->conn;
	out->facts[TRACE_LOCK_OWN] = h->ep;
	if (h->ep)
		mux_trace_facts(h->ep, out);
	else if (!(h->flags & H1C_FL_BACK) && h->user.front && h->user.front->trace)
		h->user.front->trace(h->owner, out);
}

const char *h1_rx_name(unsigned state)
{
	static const char *const names[] = {
#define X(s) #s,
		H1_RX_STATES(X)
#undef X
	};

	return names[state];
}

const char *h1_tx_name(unsigned state)
{
	static const char *const names[] = {
#define X(s) #s,
		H1_TX_STATES(X)
#undef X
	};

	return names[state];
}

static void h1_trace_describe(const void *what, enum trace_verbosity verbosity,
			      enum trace_level level, struct strbuf *out)
{
	const struct h1_conn *h = what;

	strbuf_printf(out, " : [%c]", h->flags & H1C_FL_BACK ? 'B' : 'F');
	mux_trace_conn(out, h->conn, verbosity);
	if (verbosity >= TRACE_MINIMAL)
		strbuf_printf(out, " h1c=%p(0x%08x) rx=%s tx=%s", what, h->flags,
			      h1_rx_name(h->rx_state), h1_tx_name(h->tx_state));
	if (verbosity >= TRACE_SIMPLE)
		strbuf_printf(out, " in=%u out=%llu ep=%p(0x%08x)",
			      (unsigned)wire_in_bytes(&h->in).len,
			      (unsigned long long)h->out.len, (const void *)h->ep,
			      h->ep ? h->ep->flags : 0);
	if (h->ep)
		mux_trace_head(out, h->ep, h->flags & H1C_FL_BACK, verbosity);
}

static const struct trace_word events[] = {
#define X(name, word, help) { word, help },
	H1_EVENTS(X)
#undef X
	{ 0 }
};

struct trace_source trace_h1 = {
	.name = "h1", .help = "HTTP/1 connections", .events = events,
	.verbosities = mux_trace_verbosities, .locks = MUX_TRACE_LOCKS | TRACE_LOCK_BIT(OWN),
	.own = { "h1s", "the message" }, .facts = h1_facts, .describe = h1_trace_describe,
};

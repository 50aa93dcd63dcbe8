/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_trace.c - the trace source of the HTTP/2 mux */
#include "h2_conn_priv.h"
#include "h2_side_priv.h"
#include "h2_stream_priv.h"
#include "trace_priv.h"

static void h2_facts(const void *what, struct trace_facts *out)
{
	const struct h2_trace *t = what;

	out->facts[TRACE_LOCK_CONNECTION] = t->conn->conn;
	out->facts[TRACE_LOCK_OWN] = t->stream;
	if (t->stream && t->stream->ep)
		mux_trace_facts(t->stream->ep, out);
	else if (!t->conn->side->is_back && t->conn->user.front && t->conn->user.front->trace)
		t->conn->user.front->trace(t->conn->owner, out);
}

static void h2_trace_describe(const void *what, enum trace_verbosity verbosity,
			      enum trace_level level, struct strbuf *out)
{
	static const char *const conn_states[] = {
#define X(s) #s,
		H2C_STATES(X)
#undef X
	};
	static const char *const stream_states[] = {
#define X(s) #s,
		H2S_STATES(X)
#undef X
	};
	const struct h2_trace *t = what;
	const struct h2_stream *s = t->stream;

	strbuf_printf(out, " : [%c,%s]", t->conn->side && t->conn->side->is_back ? 'B' : 'F',
		      conn_states[t->conn->state]);
	if (s)
		strbuf_printf(out, " [%u,%s]", s->id, stream_states[s->state]);
	mux_trace_conn(out, t->conn->conn, verbosity);
	if (verbosity >= TRACE_MINIMAL)
		strbuf_printf(out, " h2c=%p(0x%04x)", (const void *)t->conn, t->conn->flags);
	if (verbosity >= TRACE_SIMPLE)
		strbuf_printf(out, " streams=%u out=%llu txw=%lld rxw=%lld", t->conn->stream_count,
			      (unsigned long long)t->conn->out.len,
			      (long long)t->conn->window.tx, (long long)t->conn->window.rx);
	if (verbosity >= TRACE_SIMPLE && s)
		strbuf_printf(out, " h2s=%p(0x%04x) txw=%lld rxw=%lld ep=%p(0x%08x)",
			      (const void *)s, s->flags, (long long)s->tx_window,
			      (long long)s->rx_window, (const void *)s->ep,
			      s->ep ? s->ep->flags : 0);
	if (s && s->ep)
		mux_trace_head(out, s->ep, t->conn->side->is_back, verbosity);
}

uint64_t h2_trace_frame(uint8_t type)
{
	static const uint64_t of_type[H2_FT_COUNT] = {
		[H2_FT_DATA] = H2_EV(RX_DATA), [H2_FT_HEADERS] = H2_EV(RX_HEAD),
		[H2_FT_PRIORITY] = H2_EV(RX_PRIORITY), [H2_FT_RST_STREAM] = H2_EV(RX_RESET),
		[H2_FT_SETTINGS] = H2_EV(RX_SETTINGS), [H2_FT_PING] = H2_EV(RX_PING),
		[H2_FT_GOAWAY] = H2_EV(RX_GOAWAY), [H2_FT_WINDOW_UPDATE] = H2_EV(RX_WINDOW),
		[H2_FT_CONTINUATION] = H2_EV(RX_CONTINUATION),
		[H2_FT_PUSH_PROMISE] = H2_EV(RX_PUSH),
	};

	return type < H2_FT_COUNT ? of_type[type] : 0;
}

static const struct trace_word events[] = {
#define X(name, word, help) { word, help },
	H2_EVENTS(X)
#undef X
	{ 0 }
};

struct trace_source trace_h2 = {
	.name = "h2", .help = "HTTP/2 connections", .events = events,
	.verbosities = mux_trace_verbosities, .locks = MUX_TRACE_LOCKS | TRACE_LOCK_BIT(OWN),
	.own = { "h2s", "the stream of the connection" }, .facts = h2_facts,
	.describe = h2_trace_describe,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace.c - shared by the trace sources of the muxes */
#include "base/strbuf.h"
#include "net/conn_facts.h"
#include "trace_priv.h"

const struct trace_word mux_trace_verbosities[] = {
	{ "clean", "and start lines" },
	{ "minimal", "and the connection's state" },
	{ "simple", "and the state of what it carries" },
	{ "advanced", "and header fields" },
	{ "complete", "and all that is known" },
	{ 0 }
};

/* Bytes of peers end up on terminals. */
static void put_text(struct strbuf *out, struct slice s)
{
	for (size_t i = 0; i < s.len; i++)
		strbuf_add_char(out, (unsigned char)s.ptr[i] < ' ' || s.ptr[i] == 127 ? '?'
										      : s.ptr[i]);
}

/* The response, once there is one. */
static const struct http_msg *newest_head(const struct endpoint *ep, bool is_back)
{
	const struct http_msg *response = is_back ? ep->rx_head : ep->tx_head;

	return response && response->status ? response : is_back ? ep->tx_head : ep->rx_head;
}

void mux_trace_head(struct strbuf *out, const struct endpoint *ep, bool is_back,
		    enum trace_verbosity verbosity)
{
	const struct http_msg *m = newest_head(ep, is_back);

	if (!m || (!m->status && !m->method_text.len))
		return;
	strbuf_add_str(out, " - \"");
	if (m->status) {
		strbuf_printf(out, "HTTP/%u.%u %u ", m->version / 10, m->version % 10, m->status);
		put_text(out, m->reason);
	} else {
		put_text(out, m->method_text);
		strbuf_add_char(out, ' ');
		put_text(out, m->uri);
		strbuf_printf(out, " HTTP/%u.%u", m->version / 10, m->version % 10);
	}
	strbuf_add_char(out, '"');
	for (unsigned i = 0; verbosity >= TRACE_ADVANCED && i < m->fields.count; i++) {
		const struct h1_field *f = &m->fields.list[i];

		strbuf_add_str(out, "\n\t");
		put_text(out, f->name);
		strbuf_add_str(out, ": ");
		put_text(out, f->value);
	}
}

void mux_trace_conn(struct strbuf *out, const struct conn *c, enum trace_verbosity verbosity)
{
	if (c && verbosity >= TRACE_MINIMAL)
		strbuf_printf(out, " - conn=%p(0x%04x) fd=%d", (const void *)c, c->flags,
			      conn_shown_fd(c));
}

void mux_trace_facts(const struct endpoint *ep, struct trace_facts *out)
{
	if (ep && ep->user && ep->user->trace)
		ep->user->trace(ep, out);
}

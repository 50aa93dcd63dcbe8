/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_show.c - the HTTP/2 mux: its part of `show fd` and `show sess all`
 *
 * The names of the fields are those that scripts know. <nbst>: streams, <nbrcv>: those with a body
 * to receive, <fctl_cnt>: those waiting for a window, <send_cnt>: those waiting for their turn,
 * <dsi>: stream of the last frame, <dbuf>: received and not used.
 */
#include "base/strbuf.h"
#include "h2_conn_priv.h"
#include "h2_side_priv.h"
#include "h2_stream_priv.h"

/* What the next bytes will be: a frame's header or its payload. */
static const char *state_name(const struct h2_conn *h)
{
	switch (h->state) {
	case H2C_PREFACE:
		return "PRF";
	case H2C_SETTINGS:
		return "STG";
	case H2C_OPEN:
		return h->flags & H2C_FL_IN_PAYLOAD ? "FRP" : "FRH";
	}
	return "ERR";
}

static unsigned count_blocked(const struct h2_conn *h)
{
	unsigned n = 0;

	for (struct tree_node *t = tree_first(&h->streams); t; t = tree_next(t)) {
		const struct h2_stream *s = list_entry(t, struct h2_stream, node);

		n += s->ep->tx.len && (s->tx_window <= 0 || h->window.tx <= 0);
	}
	return n;
}

static unsigned count_list(const struct list *l)
{
	unsigned n = 0;

	for (const struct list *at = l->next; at != l; at = at->next)
		n++;
	return n;
}

static void put_conn(const struct h2_conn *h, struct strbuf *out)
{
	const struct block *b = h->in.block;
	bool greeted = h->state != H2C_PREFACE;

	strbuf_printf(out, "h2c.st0=%s .err=%u .maxid=%lld .lastid=%lld .flg=0x%04x .nbst=%u "
			   ".nbsc=%u .nbrcv=%u .glitches=%u", state_name(h), h->goaway.error,
		      greeted ? (long long)h->last_stream : -1,
		      h->flags & H2C_FL_GOAWAY_SENT ? (long long)h->goaway.last : -1, h->flags,
		      h->stream_count, h->stream_count, h->receiving, h->glitches);
	strbuf_printf(out, " .fctl_cnt=%u .send_cnt=%u .tree_cnt=%u .dsi=%lld "
			   ".dbuf=%u@%p+%u/%u .obuf=%u/%u .rxwin=%lld .txwin=%lld .exp=",
		      count_blocked(h), count_list(&h->senders),
		      h->stream_count - count_list(&h->pending),
		      h->state > H2C_SETTINGS ? (long long)h->rx.frame.stream : -1,
		      b ? b->used - h->in.at : 0, b ? (const void *)b->data : NULL,
		      b ? h->in.at : 0, b ? b->size : 0, (unsigned)h->out.len,
		      (unsigned)h->out.count, (long long)h->window.rx, (long long)h->window.tx);
	timer_put_left(out, h->timer.expire_ms, "<NEVER>");
}

static void put_stream(const struct h2_stream *s, struct strbuf *out)
{
	static const char *const names[] = {
		[H2S_IDLE] = "IDL", [H2S_OPEN] = "OPN", [H2S_HALF_LOCAL] = "HCL",
		[H2S_HALF_REMOTE] = "HCR", [H2S_CLOSED] = "CLO",
	};

	strbuf_printf(out, "h2s=%p h2s.id=%u .st=%s .flg=0x%04x .rxwin=%lld .txwin=%lld "
			   ".rxbuf=%u .txbuf=%u", (const void *)s, s->id, names[s->state],
		      s->flags, (long long)s->rx_window, (long long)s->tx_window,
		      (unsigned)(s->ep->rx.len + s->early.len), (unsigned)s->ep->tx.len);
}

void h2_describe(const struct conn *c, struct strbuf *out)
{
	const struct h2_conn *h = c->owner;
	struct tree_node *last = tree_last(&h->streams);

	h->side->describe(h, out);
	strbuf_printf(out, " mux=H2 ctx=%p ", (const void *)h);
	put_conn(h, out);
	if (last) {
		strbuf_add_str(out, " last_");
		put_stream(list_entry(last, struct h2_stream, node), out);
	}
}

void h2_ep_describe(const struct endpoint *ep, struct strbuf *out)
{
	const struct h2_stream *s = ep->mux;

	strbuf_add_str(out, "      ");
	put_stream(s, out);
	strbuf_printf(out, "\n      h2c=%p ", (const void *)s->conn);
	put_conn(s->conn, out);
	strbuf_add_char(out, '\n');
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mux_smp.c - edge file: fetches about the multiplexers of both sides, and a stream's place in them
 *
 * Manual: configuration 7.3.3 fc_nb_streams and its kin, 7.3.4 fs.id and its kin.
 */
#include "stream/sample.h"

#include "base/strbuf.h"
#include "net/conn_facts.h"

/* Which side: <data> of the fetches below. */
enum mux_side { MUX_FRONT, MUX_BACK };

static const enum mux_side mux_front = MUX_FRONT, mux_back = MUX_BACK;

static struct endpoint *endpoint_of(const struct expr_ctx *ctx)
{
	enum mux_side side = *(const enum mux_side *)ctx->data;
	struct stream *s = ctx->stream;
	struct endpoint *ep = s ? side == MUX_FRONT ? &s->front : &s->back : NULL;

	return ep && ep->ops ? ep : NULL;
}

static bool facts_of(const struct expr_ctx *ctx, struct endpoint_facts *f)
{
	enum mux_side side = *(const enum mux_side *)ctx->data;
	const struct stream *s = ctx->stream;

	return s && stream_mux_facts(s, side == MUX_FRONT ? &s->front : &s->back, f);
}

static enum expr_result fetch_streams(struct expr_ctx *ctx, const struct expr_arg *args,
				      struct sample *out)
{
	struct endpoint_facts f;

	return facts_of(ctx, &f) ? smp_give_int(out, f.streams) : EXPR_NONE;
}

static enum expr_result fetch_limit(struct expr_ctx *ctx, const struct expr_arg *args,
				    struct sample *out)
{
	struct endpoint_facts f;

	return facts_of(ctx, &f) ? smp_give_int(out, f.streams_limit) : EXPR_NONE;
}

static enum expr_result fetch_glitches(struct expr_ctx *ctx, const struct expr_arg *args,
				       struct sample *out)
{
	struct endpoint_facts f;

	return facts_of(ctx, &f) && f.major ? smp_give_int(out, f.glitches) : EXPR_NONE;
}

static enum expr_result fetch_major(struct expr_ctx *ctx, const struct expr_arg *args,
				    struct sample *out)
{
	struct endpoint_facts f;

	return facts_of(ctx, &f) && f.major ? smp_give_int(out, f.major) : EXPR_NONE;
}

static enum expr_result fetch_id(struct expr_ctx *ctx, const struct expr_arg *args,
				 struct sample *out)
{
	struct endpoint_facts f;

	return facts_of(ctx, &f) ? smp_give_int(out, f.id) : EXPR_NONE;
}

static enum expr_result fetch_aborted(struct expr_ctx *ctx, const struct expr_arg *args,
				      struct sample *out)
{
	const struct stream *s = ctx->stream;
	struct endpoint_facts f;

	if (!facts_of(ctx, &f))
		return smp_give_bool(out, false);
	return smp_give_bool(out, f.reset_code >= 0 || (ctx->data == &mux_front &&
				  s->front.flags & (EP_ERROR | EP_RX_ABORT)));
}

static enum expr_result fetch_reset_code(struct expr_ctx *ctx, const struct expr_arg *args,
					 struct sample *out)
{
	struct endpoint_facts f;

	return facts_of(ctx, &f) && f.reset_code >= 0 ? smp_give_int(out, f.reset_code) : EXPR_NONE;
}

/* --- for developers --------------------------------------------------------------------------- */

/* What fs.debug_str and bs.debug_str tell; manual 7.3.4. */
enum debug_part { DEBUG_STREAM = 1, DEBUG_MUX = 2, DEBUG_TRANSPORT = 4, DEBUG_CONN = 8 };

static void put_debug(struct strbuf *out, const struct endpoint *ep, unsigned parts)
{
	const struct conn *c = ep->ops->conn((struct endpoint *)ep);

	if (parts & DEBUG_STREAM)
		strbuf_printf(out, " ep=%p ep.flg=0x%x rx=%u tx=%u rx_total=%llu tx_total=%llu",
			      (const void *)ep, ep->flags, ep->rx.len, ep->tx.len,
			      (unsigned long long)ep->rx_bytes, (unsigned long long)ep->tx_bytes);
	if (parts & DEBUG_MUX)
		strbuf_printf(out, " mux=%s ctx=%p", ep->ops->name, (const void *)ep->mux);
	if (parts & DEBUG_TRANSPORT && c)
		strbuf_printf(out, " xprt=%s", c->transport->name);
	if (parts & DEBUG_CONN && c)
		strbuf_printf(out, " conn=%p conn.flg=0x%x conn.fd=%d conn.err_code=%u",
			      (const void *)c, c->flags, conn_shown_fd(c), c->error);
}

static enum expr_result fetch_debug(struct expr_ctx *ctx, const struct expr_arg *args,
				    struct sample *out)
{
	const struct endpoint *ep = endpoint_of(ctx);
	unsigned parts = args[0].type == ARG_INT ? (unsigned)args[0].integer : ~0u;
	struct strbuf text;
	char area[512];

	if (!ep)
		return EXPR_NONE;
	strbuf_init_fixed(&text, area, sizeof(area));
	put_debug(&text, ep, parts ? parts : ~0u);
	return smp_give_text(out, arena_copy(ctx->arena, strbuf_slice(&text)));
}

/* Not kept: the manual's answer then. */
static enum expr_result fetch_term_events(struct expr_ctx *ctx, const struct expr_arg *args,
					  struct sample *out)
{
	return smp_give_text(out, SLICE("-"));
}

#define FETCH(n, type, uses, function, side, text) \
	{ .name = n, .out = type, .use = uses, .fetch = function, .data = &side, .help = text }
#define FRONT(n, function, text) FETCH(n, SMP_INT, EXPR_USE_L4_CLIENT, function, mux_front, text)
#define BACK(n, function, text) FETCH(n, SMP_INT, EXPR_USE_L4_SERVER, function, mux_back, text)

static const struct expr_fetch fetches[] = {
	BACK("bc_glitches", fetch_glitches, "oddities of the server's connection"),
	BACK("bc_http_major", fetch_major, "the HTTP version towards the server: 1, 2"),
	BACK("bc_nb_streams", fetch_streams, "streams on the server's connection"),
	BACK("bc_settings_streams_limit", fetch_limit, "streams that it may carry at once"),
	FETCH("bs.aborted", SMP_BOOL, EXPR_USE_L5_SERVER, fetch_aborted, mux_back,
	      "did the server break off?"),
	{ .name = "bs.debug_str", .args = { ARG_INT }, .out = SMP_STR, .use = EXPR_USE_L5_SERVER,
	  .fetch = fetch_debug, .data = &mux_back, .syntax = "([<bitmap>])",
	  .help = "state of the server's side, for developers" },
	FETCH("bs.id", SMP_INT, EXPR_USE_L5_SERVER, fetch_id, mux_back,
	      "number of the stream on the server's connection"),
	FETCH("bs.rst_code", SMP_INT, EXPR_USE_L5_SERVER, fetch_reset_code, mux_back,
	      "the code that the server reset the stream with"),
	FRONT("fc_glitches", fetch_glitches, "oddities of the client's connection"),
	FRONT("fc_http_major", fetch_major, "the client's HTTP version on the wire: 1, 2, 3"),
	FRONT("fc_nb_streams", fetch_streams, "streams on the client's connection"),
	FRONT("fc_settings_streams_limit", fetch_limit, "streams that it may carry at once"),
	FETCH("fs.aborted", SMP_BOOL, EXPR_USE_L5_CLIENT, fetch_aborted, mux_front,
	      "did the client break off?"),
	{ .name = "fs.debug_str", .args = { ARG_INT }, .out = SMP_STR, .use = EXPR_USE_L5_CLIENT,
	  .fetch = fetch_debug, .data = &mux_front, .syntax = "([<bitmap>])",
	  .help = "state of the client's side, for developers" },
	FETCH("fs.id", SMP_INT, EXPR_USE_L5_CLIENT, fetch_id, mux_front,
	      "number of the stream on the client's connection"),
	FETCH("fs.rst_code", SMP_INT, EXPR_USE_L5_CLIENT, fetch_reset_code, mux_front,
	      "the code that the client reset the stream with"),
	{ .name = "term_events", .out = SMP_STR, .use = EXPR_USE_INTERNAL,
	  .fetch = fetch_term_events, .help = "'-': such events are not kept" },
	{ 0 }
};

const struct module mod_mux_smp = { .name = "mux-fetches", .fetches = fetches };

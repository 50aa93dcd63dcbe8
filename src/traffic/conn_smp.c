/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conn_smp.c - edge file: fetches about the client's connection, its listener and the server's
 *
 * Manual: configuration 7.3.3, 7.3.2 fe_name and its kin.
 */
#include "stream/sample.h"
#include "stream/stream.h"

#include "net/conn.h"
#include "proxy/bind.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "quic/quic.h"

/* Which address: <data> of the fetches below. */
enum address_side {
	ADDRESS_SRC, ADDRESS_DST,             /* as rules see and may set them */
	ADDRESS_FRONT_SRC, ADDRESS_FRONT_DST, /* of the connection of the client */
	ADDRESS_BACK_SRC, ADDRESS_BACK_DST,
};

static const enum address_side address_src = ADDRESS_SRC, address_dst = ADDRESS_DST,
	address_front_src = ADDRESS_FRONT_SRC, address_front_dst = ADDRESS_FRONT_DST,
	address_back_src = ADDRESS_BACK_SRC, address_back_dst = ADDRESS_BACK_DST;

/* The address of one end of the connection to the server; false: there is none, and was none. The
 * server's is known without it, once it is over or did not come to be.
 */
static bool back_address(struct stream *s, bool remote, struct addr *out)
{
	struct conn *c = s && s->back.ops ? s->back.ops->conn(&s->back) : NULL;
	struct server_addr to;

	if (c) {
		*out = conn_address(c, remote);
		if (out->family != ADDR_NONE)
			return true;
	}
	if (!remote && s && s->answer.left) {
		*out = s->answer.left->source;
		return out->family != ADDR_NONE;
	}
	if (!remote || !s || !s->server || !s->t.queued || !server_target(s, &to))
		return false;
	*out = addr_from_sockaddr(&to.sa, to.len);
	return true;
}

/* The address that the fetch asks for; NULL: unknown. */
static const struct addr *fetch_address_of(struct expr_ctx *ctx, struct addr *area)
{
	enum address_side side = *(const enum address_side *)ctx->data;

	switch (side) {
	case ADDRESS_SRC:
		return context_src(ctx);
	case ADDRESS_DST:
		return context_dst(ctx);
	case ADDRESS_FRONT_SRC:
		return ctx->session ? session_conn_src(ctx->session) : NULL;
	case ADDRESS_FRONT_DST:
		return ctx->session ? session_conn_dst(ctx->session) : NULL;
	default:
		return back_address(ctx->stream, side == ADDRESS_BACK_DST, area) ? area : NULL;
	}
}

static enum expr_result fetch_address(struct expr_ctx *ctx, const struct expr_arg *args,
				      struct sample *out)
{
	struct addr area;

	return smp_give_addr(out, fetch_address_of(ctx, &area));
}

static enum expr_result fetch_port(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	struct addr area;
	const struct addr *a = fetch_address_of(ctx, &area);

	/* 0 is none: an address that a rule has set has it, where there was no port before */
	return a && addr_is_inet(a) && a->port ? smp_give_int(out, a->port) : EXPR_NONE;
}

static enum expr_result fetch_received_proxy(struct expr_ctx *ctx, const struct expr_arg *args,
					     struct sample *out)
{
	return ctx->session ? smp_give_bool(out, ctx->session->flags & SESS_PROXY_SRC) : EXPR_NONE;
}

static enum expr_result fetch_back_reused(struct expr_ctx *ctx, const struct expr_arg *args,
					  struct sample *out)
{
	return ctx->stream ? smp_give_bool(out, ctx->stream->flags & STRM_REUSED_CONN) : EXPR_NONE;
}

/* --- listener, frontend, backend, server of this one -------------------------------------- */

static enum expr_result fetch_listener_id(struct expr_ctx *ctx, const struct expr_arg *args,
					  struct sample *out)
{
	return ctx->session && ctx->session->listener ?
		smp_give_int(out, ctx->session->listener->id) : EXPR_NONE;
}

static enum expr_result fetch_listener_name(struct expr_ctx *ctx, const struct expr_arg *args,
					    struct sample *out)
{
	const struct listener_conf *l = ctx->session ? ctx->session->listener : NULL;

	return l && l->bind->name ? smp_give_text(out, slice_of(l->bind->name)) : EXPR_NONE;
}

static const struct proxy *ctx_frontend(const struct expr_ctx *ctx)
{
	return ctx->session ? ctx->session->fe : NULL;
}

static const struct server *ctx_server(const struct expr_ctx *ctx)
{
	if (ctx->check)
		return ctx->check->server;
	return ctx->stream ? stream_server(ctx->stream) : NULL;
}

static enum expr_result fetch_fe_id(struct expr_ctx *ctx, const struct expr_arg *args,
				    struct sample *out)
{
	const struct proxy *px = ctx_frontend(ctx);

	return px ? smp_give_int(out, px->id) : EXPR_NONE;
}

static enum expr_result fetch_fe_name(struct expr_ctx *ctx, const struct expr_arg *args,
				      struct sample *out)
{
	const struct proxy *px = ctx_frontend(ctx);

	return px ? smp_give_text(out, slice_of(px->name)) : EXPR_NONE;
}

static enum expr_result fetch_fe_default(struct expr_ctx *ctx, const struct expr_arg *args,
					 struct sample *out)
{
	const struct proxy *px = ctx_frontend(ctx);

	return px && px->switching.backend ?
		smp_give_text(out, slice_of(px->switching.backend->name)) : EXPR_NONE;
}

/* <data>: which one. */
static enum expr_result fetch_fe_timeout(struct expr_ctx *ctx, const struct expr_arg *args,
					 struct sample *out)
{
	const struct proxy *px = ctx_frontend(ctx);
	const enum stream_timeout *which = ctx->data;

	return px ? smp_give_int(out, proxy_timeout_ms(px, *which)) : EXPR_NONE;
}

/* The frontend where a request has no backend. */
static const struct proxy *ctx_last_proxy(const struct expr_ctx *ctx)
{
	return ctx->check ? ctx->proxy : ctx->stream ? ctx->stream->be : NULL;
}

static enum expr_result fetch_be_id(struct expr_ctx *ctx, const struct expr_arg *args,
				    struct sample *out)
{
	const struct proxy *px = ctx_last_proxy(ctx);

	return px ? smp_give_int(out, px->id) : EXPR_NONE;
}

static enum expr_result fetch_be_name(struct expr_ctx *ctx, const struct expr_arg *args,
				      struct sample *out)
{
	const struct proxy *px = ctx_last_proxy(ctx);

	return px ? smp_give_text(out, slice_of(px->name)) : EXPR_NONE;
}

/* What a frontend only has for backends that follow it in a defaults section. */
static bool is_of_backends(enum stream_timeout which)
{
	return which == STREAM_TIMEOUT_CONNECT || which == STREAM_TIMEOUT_QUEUE ||
		which == STREAM_TIMEOUT_SERVER;
}

static enum expr_result fetch_be_timeout(struct expr_ctx *ctx, const struct expr_arg *args,
					 struct sample *out)
{
	const struct proxy *px = ctx_last_proxy(ctx);
	const enum stream_timeout *which = ctx->data;

	if (!px)
		return EXPR_NONE;
	return smp_give_int(out, px->caps & PROXY_BE || !is_of_backends(*which) ?
					 proxy_timeout_ms(px, *which) : 0);
}

static enum expr_result fetch_srv_id(struct expr_ctx *ctx, const struct expr_arg *args,
				     struct sample *out)
{
	const struct server *srv = ctx_server(ctx);

	return srv ? smp_give_int(out, srv->id) : EXPR_NONE;
}

static enum expr_result fetch_srv_name(struct expr_ctx *ctx, const struct expr_arg *args,
				       struct sample *out)
{
	const struct server *srv = ctx_server(ctx);

	return srv ? smp_give_text(out, slice_of(srv->name)) : EXPR_NONE;
}

/* --- bytes -------------------------------------------------------------------------------- */

/* wait_end: true once nothing more is waited for. */
static enum expr_result fetch_wait_end(struct expr_ctx *ctx, const struct expr_arg *args,
				       struct sample *out)
{
	return ctx->flags & EXPR_FINAL || !ctx->stream || !(ctx->stream->flags & STRM_INSPECT) ?
		smp_give_bool(out, true) : EXPR_WAIT;
}

/* Bytes that are there: the head counts as in logs. */
static int64_t len_of(const struct stream *s, const struct http_msg *head,
		      const struct endpoint *ep)
{
	bool is_there = s->flags & STRM_HTTP && !slice_is_none(head->version_text);

	return (int64_t)(ep->rx.len + (is_there ? http_msg_size(head) : 0));
}

static enum expr_result fetch_request_len(struct expr_ctx *ctx, const struct expr_arg *args,
					  struct sample *out)
{
	const struct stream *s = ctx->stream;

	if (!s)
		return EXPR_NONE;
	smp_give_int(out, len_of(s, &s->req, &s->front));
	if (!(ctx->flags & EXPR_FINAL))
		out->flags |= SMP_MAY_CHANGE;
	return EXPR_FOUND;
}

static enum expr_result fetch_response_len(struct expr_ctx *ctx, const struct expr_arg *args,
					   struct sample *out)
{
	const struct stream *s = ctx->stream;

	if (!s)
		return EXPR_NONE;
	smp_give_int(out, len_of(s, &s->res, &s->back));
	if (!(ctx->flags & EXPR_FINAL))
		out->flags |= SMP_MAY_CHANGE;
	return EXPR_FOUND;
}

#define L4 EXPR_USE_L4_CLIENT
#define BACK EXPR_USE_L4_SERVER
#define FETCH(n, type, uses, function, text) \
	{ .name = n, .out = type, .use = uses, .fetch = function, .help = text }
#define ADDRESS(n, uses, which, text) \
	{ .name = n, .out = SMP_ADDR, .use = uses, .fetch = fetch_address, .data = &which, \
	  .help = text }
#define PORT(n, uses, which, text) \
	{ .name = n, .out = SMP_INT, .use = uses, .fetch = fetch_port, .data = &which, \
	  .help = text }
#define TIMEOUT(n, side, uses, which, text) \
	{ .name = n, .out = SMP_INT, .use = EXPR_USE_##uses, .fetch = fetch_##side##_timeout, \
	  .data = &(const enum stream_timeout){ STREAM_TIMEOUT_##which }, .help = text }

/* Of the generation that is asked, or, outside of proxies, of the live one. */
static enum expr_result fetch_quic_enabled(struct expr_ctx *ctx, const struct expr_arg *args,
					   struct sample *out)
{
	const struct config *cfg = ctx->proxy ? ctx->proxy->config : proxies_current();

	return smp_give_bool(out, cfg && !quic_tunes_of(cfg)->off);
}

static const struct expr_fetch fetches[] = {
	ADDRESS("bc_dst", BACK, address_back_dst, "the server's address, as connected to"),
	PORT("bc_dst_port", BACK, address_back_dst, "the server's port, as connected to"),
	FETCH("bc_reused", SMP_BOOL, BACK, fetch_back_reused,
	      "had the server's connection served before?"),
	ADDRESS("bc_src", BACK, address_back_src, "our address towards the server"),
	PORT("bc_src_port", BACK, address_back_src, "our port towards the server"),
	FETCH("be_id", SMP_INT, EXPR_USE_BACKEND, fetch_be_id, "the backend's number"),
	FETCH("be_name", SMP_STR, EXPR_USE_BACKEND, fetch_be_name, "the backend's name"),
	TIMEOUT("be_connect_timeout", be, BACKEND, CONNECT, "the backend's timeout connect, in ms"),
	TIMEOUT("be_queue_timeout", be, BACKEND, QUEUE, "the backend's timeout queue, in ms"),
	TIMEOUT("be_server_timeout", be, BACKEND, SERVER, "the backend's timeout server, in ms"),
	TIMEOUT("be_tarpit_timeout", be, BACKEND, TARPIT, "the backend's timeout tarpit, in ms"),
	TIMEOUT("be_tunnel_timeout", be, BACKEND, TUNNEL, "the backend's timeout tunnel, in ms"),
	ADDRESS("dst", L4, address_dst, "the address that the client reached"),
	PORT("dst_port", L4, address_dst, "the port that the client reached"),
	ADDRESS("fc_dst", L4, address_front_dst, "the address that the client reached"),
	PORT("fc_dst_port", L4, address_front_dst, "the port that the client reached"),
	FETCH("fc_rcvd_proxy", SMP_BOOL, L4, fetch_received_proxy,
	      "did the connection begin with the PROXY protocol?"),
	ADDRESS("fc_src", L4, address_front_src, "the client's address"),
	PORT("fc_src_port", L4, address_front_src, "the client's port"),
	TIMEOUT("fe_client_timeout", fe, FRONTEND, CLIENT, "the frontend's timeout client, in ms"),
	FETCH("fe_defbe", SMP_STR, EXPR_USE_FRONTEND, fetch_fe_default,
	      "the frontend's default backend"),
	FETCH("fe_id", SMP_INT, EXPR_USE_FRONTEND, fetch_fe_id, "the frontend's number"),
	FETCH("fe_name", SMP_STR, EXPR_USE_FRONTEND, fetch_fe_name, "the frontend's name"),
	TIMEOUT("fe_tarpit_timeout", fe, FRONTEND, TARPIT, "the frontend's timeout tarpit, in ms"),
	FETCH("quic_enabled", SMP_BOOL, EXPR_USE_CONST, fetch_quic_enabled,
	      "are QUIC clients listened to?"),
	FETCH("req.len", SMP_INT, EXPR_USE_L6_REQUEST, fetch_request_len,
	      "bytes received and not yet sent"),
	FETCH("req_len", SMP_INT, EXPR_USE_L6_REQUEST, fetch_request_len,
	      "bytes received and not yet sent"),
	FETCH("res.len", SMP_INT, EXPR_USE_L6_RESPONSE, fetch_response_len,
	      "bytes of the response received and not yet sent"),
	FETCH("so_id", SMP_INT, EXPR_USE_FRONTEND, fetch_listener_id, "the listener's number"),
	FETCH("so_name", SMP_STR, EXPR_USE_FRONTEND, fetch_listener_name, "the listener's name"),
	ADDRESS("src", L4, address_src, "the client's address"),
	PORT("src_port", L4, address_src, "the client's port"),
	FETCH("srv_id", SMP_INT, EXPR_USE_SERVER, fetch_srv_id, "the server's number"),
	FETCH("srv_name", SMP_STR, EXPR_USE_SERVER, fetch_srv_name, "the server's name"),
	FETCH("wait_end", SMP_BOOL, EXPR_USE_INTERNAL, fetch_wait_end,
	      "true at the end of the inspection"),
	{ 0 }
};

const struct module mod_conn_smp = { .name = "connection-fetches", .fetches = fetches };

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_want.c - what a stream wants of its connection to a server: name, protocol, socket */
#include <string.h>
#include "base/bug.h"
#include "base/hash.h"
#include "stream/process.h"
#include "tls/tls.h"
#include "filter/filter_priv.h"
#include "server_conn_priv.h"

/* --- what a connection is good for ------------------------------------------------------------ */

/* The name that it asks for in its handshake; or slice_none(). */
static struct slice wanted_sni(struct stream *s)
{
	const struct expr *e = tls_server_sni(server_slots(s->server));
	struct slice name;

	if (likely(!e))
		return slice_none();
	if (expr_eval_string(e, stream_expr(s, EXPR_DIR_REQUEST | EXPR_FINAL), &name) != EXPR_FOUND)
		return slice_none();
	return name;
}

/* The PROXY protocol header that s->server wants of this stream: in <area>, or in the stream's
 * arena. Empty: no memory, or it does not fit.
 */
static struct slice wanted_preamble(struct stream *s, char area[DIAL_FIRST_MAX])
{
	size_t room = DIAL_FIRST_MAX;

	if (s->server->proxy_v2_tlvs) { /* of any length, but that they fit in a buffer */
		room = block_size();
		area = arena_alloc(&s->arena, room);
		if (!area)
			return slice_none();
	}
	return slice_make(area, proxy_header_make(s, area, room));
}

/* What the server was told of the client is part of what a connection is: addresses that rules have
 * changed, the request's unique id, other values of the PROXY protocol header.
 */
static uint64_t preamble_key(struct stream *s)
{
	char area[DIAL_FIRST_MAX];
	struct slice header = wanted_preamble(s, area);

	return header.len ? hash_bytes(header.ptr, header.len, 2) : 0;
}

uint64_t server_conn_key(const struct server *srv, struct slice name)
{
	uint64_t key = name.len ? hash_bytes(name.ptr, name.len, 1) : 0;

	return key ^ tls_server_identity(server_slots(srv));
}

uint64_t wanted_key_to(struct stream *s, const struct server_addr *to)
{
	uint64_t key = server_conn_key(s->server, wanted_sni(s));

	if (unlikely(s->server->send_proxy))
		key ^= preamble_key(s);
	return server_target_varies(s->server) ? key ^ server_target_key(to) : key;
}

uint64_t wanted_key(struct stream *s)
{
	struct server_addr to;

	if (server_target_varies(s->server) && !server_target(s, &to))
		return 0;
	return wanted_key_to(s, &to);
}

static const struct mux_kind *websocket_mux(const struct server *srv)
{
	const struct mux_kind *first = mux_default(MUX_HTTP);

	if (!srv->proto && !tls_server_has_alpn(server_slots(srv)))
		return NULL;
	if (srv->ws)
		return srv->ws;
	/* by ALPN it is asked for, as more servers know how */
	if (!srv->proto && tls_server_offers(server_slots(srv), mux_protocol(first)))
		return first;
	return NULL;
}

const struct mux_kind *wanted_mux(struct stream *s)
{
	if (likely(!(s->req.flags & HTTP_MSG_UPGRADE)) ||
	    !slice_eq_nocase(http_msg_upgrade(&s->req), SLICE("websocket")))
		return NULL;
	return websocket_mux(s->server);
}

static bool method_is_safe(const struct stream *s)
{
	switch (s->req.method) {
	case HTTP_METH_GET:
	case HTTP_METH_HEAD:
	case HTTP_METH_OPTIONS:
	case HTTP_METH_TRACE:
		return true;
	}
	return false;
}

/* May its request go before the TLS handshake with the server is over, at the risk that a host that
 * has seen it sends it again? The client took this risk, or `retry-on 0rtt-rejected` does with what
 * does no harm twice.
 */
static bool wants_early(struct stream *s)
{
	/* (what was refused once is not sent in this way again) */
	if (s->retries || wanted_mux(s))
		return false;
	if (tls_is_early(s->sess->conn) || s->early_field)
		return true;
	return s->be->retry.on & PROXY_RETRY_0RTT_REJECTED && stream_has_whole_request(s) &&
	       method_is_safe(s);
}

/* --- its socket ---------------------------------------------------------------------------- */

/* A source that is the client's own address. */
static void source_settings(struct stream *s, struct socket_settings *set,
			    struct sockaddr_storage *room)
{
	const struct source *src = s->server->source;
	struct addr client;

	if (!src || (src->transparency != SOURCE_CLIENT && src->transparency != SOURCE_CLIENT_IP))
		return;
	client = *stream_src(s);
	if (src->transparency == SOURCE_CLIENT_IP)
		client.port = 0;
	if (!addr_is_inet(&client))
		return;
	addr_to_sockaddr(&client, room);
	set->source = room;
	set->options |= SOCKET_TRANSPARENT;
}

/* What the socket of this stream's connection is to have. */
static void socket_settings(struct stream *s, struct socket_settings *set)
{
	const struct stream_socket_tunes *tunes = &stream_tunes()->server;
	const struct proxy *be = s->be;

	set->rcvbuf = tunes->rcvbuf;
	set->sndbuf = tunes->sndbuf;
	set->notsent_lowat = tunes->notsent_lowat;
	if (be->options & PROXY_OPT_SRVTCPKA) {
		set->options |= SOCKET_KEEPALIVE;
		set->keepalive_count = be->keepalive.server.count;
		set->keepalive_idle_ms = be->keepalive.server.idle_ms;
		set->keepalive_interval_ms = be->keepalive.server.interval_ms;
	}
	if (be->options & PROXY_OPT_SMART_CONNECT)
		set->options |= SOCKET_NO_QUICKACK;
	if (s->server->tfo)
		set->options |= SOCKET_TFO;
	if (s->overrides) {
		set->mark = s->overrides->has_mark ? &s->overrides->mark : NULL;
		set->tos = s->overrides->has_tos ? &s->overrides->tos : NULL;
	}
}

/* --- how to open it --------------------------------------------------------------------------- */

static struct slice first_bytes(struct dial_want *w, int fd, char room[DIAL_FIRST_MAX])
{
	return wanted_preamble(w->ctx, room);
}

static void want_tls(struct stream *s, struct dial_want *w)
{
	const struct mux_kind *mux = wanted_mux(s);

	w->sni = wanted_sni(s);
	w->alpn = mux ? mux->alpn : slice_none();
	if (wants_early(s))
		w->flags |= DIAL_MAY_BE_EARLY;
}

void wanted_dial(struct stream *s, const struct server_addr *to, struct dial_want *w,
		 struct sockaddr_storage *room)
{
	server_dial(s->server, to, w);
	socket_settings(s, &w->set);
	source_settings(s, &w->set, room);
	w->ctx = s;
	if (s->be->options & PROXY_OPT_NOLINGER)
		w->flags |= DIAL_NO_LINGER;
	if (s->flags & STRM_HTTP)
		w->flags |= DIAL_SPEAKS;
	if (s->server->send_proxy)
		w->first = first_bytes;
	if (w->secure)
		want_tls(s, w);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_want.c - what a stream wants of its connection to a server: name, protocol, socket, and
 * the key, a number that says which streams may use it again
 *
 * A connection has a name (pool-conn-name, else the one that its handshake asked for), a source
 * address, a destination address and marks, began with a PROXY protocol header and was made with
 * certain credentials. A request whose key differs needs another connection, whatever http-reuse
 * says: servers apply the data at the beginning of a connection to all its requests. Much of it may
 * come from clients' requests: with a secret hash no client can find a text that has the key of
 * another's.
 * Manual: http-reuse, pool-conn-name.
 */
#include <string.h>
#include <sys/random.h>
#include "base/bug.h"
#include "base/hash.h"
#include "stream/process.h"
#include "stream/session.h"
#include "tls/tls.h"
#include "filter/filter_priv.h"
#include "server_conn_priv.h"

/* --- what a connection is good for ------------------------------------------------------------ */

/* The host of the request, without a port; or slice_none(). */
static struct slice wanted_host(const struct stream *s)
{
	const struct h1_field *host = http_field_find(&s->req.fields, FIELD_HOST, slice_none());

	if (!host)
		return slice_none();
	return slice_sub(host->value, 0, slice_find_char(host->value, 0, ':'));
}

/* The name that it asks for in its handshake; or slice_none(). */
static struct slice wanted_sni(struct stream *s)
{
	struct slice name;
	bool is_auto;
	const struct expr *e = tls_server_sni(server_slots(s->server), &is_auto);

	if (is_auto && s->flags & STRM_HTTP)
		return wanted_host(s);
	if (likely(!e))
		return slice_none();
	if (expr_eval_string(e, stream_expr(s, EXPR_DIR_REQUEST | EXPR_FINAL), &name) != EXPR_FOUND)
		return slice_none();
	return name;
}

bool wanted_said(struct stream *s, char area[DIAL_FIRST_MAX], struct wanted_said *said)
{
	size_t room = DIAL_FIRST_MAX;

	said->sni = wanted_sni(s);
	said->preamble = slice_none();
	if (likely(!s->server->send_proxy) || s->server->is_reverse)
		return true;
	if (s->server->proxy_v2_tlvs) { /* of any length, but that they fit in a buffer */
		room = block_size();
		area = arena_alloc(&s->arena, room);
		if (!area)
			return false;
	}
	said->preamble = slice_make(area, proxy_header_make(s, area, room));
	return said->preamble.len != 0;
}

bool wants_new(const struct stream *s)
{
	return !(s->flags & STRM_HTTP) || s->flags & STRM_NO_REUSE;
}

/* Is whatever an idle connection may end in tried again? Then HAProxy takes first requests for as
 * safe on one as others.
 */
static bool is_retried(const struct proxy *be)
{
	const unsigned all = PROXY_RETRY_CONN_FAILURE | PROXY_RETRY_EMPTY_RESPONSE |
			     PROXY_RETRY_RESPONSE_TIMEOUT;

	return (be->retry.on & all) == all;
}

enum reusable wanted_reuse(const struct stream *s)
{
	if (s->server->is_reverse) /* it has no others */
		return REUSABLE_ANY;
	if (s->be->reuse == REUSE_NEVER)
		return REUSABLE_NONE;
	/* clients of HTTP/2 send again what failed, even their first request */
	if (s->id.in_session || s->req.version >= 20 || s->be->reuse == REUSE_ALWAYS ||
	    is_retried(s->be))
		return REUSABLE_ANY;
	return s->be->reuse == REUSE_AGGRESSIVE ? REUSABLE_PROVEN : REUSABLE_NONE;
}

static const struct mux_kind *websocket_mux(const struct server *srv)
{
	const struct mux_kind *first = mux_default(MUX_HTTP);

	if (srv->is_quic)
		return NULL;
	if (!srv->mux.forced && !tls_server_has_alpn(server_slots(srv)))
		return NULL;
	if (srv->mux.ws)
		return srv->mux.ws;
	/* by ALPN it is asked for, as more servers know how */
	if (!srv->mux.forced && tls_server_offers(server_slots(srv), mux_protocol(first)))
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
	if (s->retry.count || wanted_mux(s))
		return false;
	if (tls_is_early(s->sess->conn) || s->early_field)
		return true;
	return s->be->retry.on & PROXY_RETRY_0RTT_REJECTED && stream_has_whole_request(s) &&
	       method_is_safe(s);
}

/* --- its socket ---------------------------------------------------------------------------- */

/* The client's address that the connection is to come from (`usesrc`). False: its line says. */
static bool wanted_source(struct stream *s, struct addr *from)
{
	const struct source *src = s->server->source;
	struct sample smp;

	if (likely(!src) || src->transparency < SOURCE_CLIENT)
		return false;
	if (src->transparency == SOURCE_HEADER) {
		struct expr_ctx *ctx = stream_expr(s, EXPR_DIR_REQUEST | EXPR_FINAL);

		return expr_eval(src->header, ctx, &smp) == EXPR_FOUND &&
		       sample_to_addr(&smp, ctx->arena, from);
	}
	*from = *stream_src(s);
	if (src->transparency == SOURCE_CLIENT_IP)
		from->port = 0;
	return addr_is_inet(from);
}

/* A source that is the client's own address. */
static void source_settings(struct stream *s, struct socket_settings *set,
			    struct sockaddr_storage *room)
{
	struct addr from;

	if (likely(!wanted_source(s, &from)))
		return;
	addr_to_sockaddr(&from, room);
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
	if (s->server->socket.tfo)
		set->options |= SOCKET_TFO;
	if (s->overrides) {
		set->mark = s->overrides->has_mark ? &s->overrides->mark : NULL;
		set->tos = s->overrides->has_tos ? &s->overrides->tos : NULL;
	}
}

/* --- how to open it --------------------------------------------------------------------------- */

static struct slice first_bytes(struct dial_want *w, int fd, char room[DIAL_FIRST_MAX])
{
	return ((const struct wanted_said *)w->ctx)->preamble;
}

static void want_tls(struct stream *s, struct slice sni, struct dial_want *w)
{
	const struct mux_kind *mux = wanted_mux(s);

	w->sni = sni;
	w->alpn = mux ? mux->alpn : slice_none();
	if (wants_early(s))
		w->flags |= DIAL_MAY_BE_EARLY;
}

void wanted_dial(struct stream *s, const struct server_addr *to, struct wanted_said *said,
		 struct dial_want *w, struct sockaddr_storage *room)
{
	server_dial(s->server, to, w);
	socket_settings(s, &w->set);
	source_settings(s, &w->set, room);
	w->ctx = said;
	if (s->be->options & PROXY_OPT_NOLINGER)
		w->flags |= DIAL_NO_LINGER;
	if (s->flags & STRM_HTTP)
		w->flags |= DIAL_SPEAKS;
	if (said->preamble.len)
		w->first = first_bytes;
	if (w->secure)
		want_tls(s, said->sni, w);
}

/* --- its key ---------------------------------------------------------------------------------- */

/* What a text is, lest two that are the same cancel each other. */
enum key_part { KEY_NAME, KEY_TARGET, KEY_SOURCE, KEY_MARKS, KEY_PREAMBLE };

static uint64_t secret[2];

bool server_key_init(void)
{
	return getrandom(secret, sizeof(secret), 0) == sizeof(secret);
}

static uint64_t part(enum key_part what, const void *data, size_t len)
{
	const uint64_t key[2] = { secret[0] + what, secret[1] };

	return hash_sip24(data, len, key);
}

uint64_t server_conn_key(const struct server *srv, struct slice name)
{
	uint64_t key = name.len ? part(KEY_NAME, name.ptr, name.len) : 0;

	return srv->is_reverse ? key : key ^ tls_server_identity(server_slots(srv));
}

static uint64_t marks_key(const struct stream_overrides *o)
{
	const uint32_t marks[] = { o->has_mark, o->has_mark ? o->mark : 0, o->has_tos,
				   o->has_tos ? (uint32_t)o->tos : 0 };

	return part(KEY_MARKS, marks, sizeof(marks));
}

static uint64_t source_key(struct stream *s)
{
	char text[ADDR_MAX];
	struct addr from;

	if (!wanted_source(s, &from))
		return 0;
	return part(KEY_SOURCE, text, addr_put(&from, text, sizeof(text)));
}

/* What `pool-conn-name` says; nothing is no name. */
static struct slice pool_name(struct stream *s)
{
	struct expr_ctx *ctx = stream_expr(s, EXPR_DIR_REQUEST | EXPR_FINAL);
	struct slice name;

	if (expr_eval_string(s->server->idle.conn_name, ctx, &name) != EXPR_FOUND)
		return slice_none();
	return name;
}

bool server_conn_is_named(const struct server *srv)
{
	const struct slot_area *slots = server_slots(srv);
	bool is_auto;

	return srv->idle.conn_name || (tls_server_is_on(slots) && tls_server_sni(slots, &is_auto));
}

uint64_t wanted_key_to(struct stream *s, const struct server_addr *to,
		       const struct wanted_said *said)
{
	const struct server *srv = s->server;
	const struct stream_overrides *o = s->overrides;
	struct slice name = unlikely(srv->idle.conn_name) ? pool_name(s) : said->sni;
	uint64_t key;

	/* nothing else was said when it was opened, and that by the other side */
	if (unlikely(srv->is_reverse))
		return server_conn_key(srv, server_conn_is_named(srv) ? name : slice_none());
	key = server_conn_key(srv, name);

	if (unlikely(said->preamble.len))
		key ^= part(KEY_PREAMBLE, said->preamble.ptr, said->preamble.len);
	if (unlikely(srv->source))
		key ^= source_key(s);
	if (unlikely(o) && (o->has_mark || o->has_tos))
		key ^= marks_key(o);
	if (server_target_varies(srv))
		key ^= part(KEY_TARGET, &to->sa, to->len);
	return key;
}

bool wanted_key(struct stream *s, uint64_t *key)
{
	char area[DIAL_FIRST_MAX];
	struct wanted_said said;
	struct server_addr to;

	if (server_target_varies(s->server) && !server_target(s, &to))
		return false;
	if (!wanted_said(s, area, &said))
		return false;
	*key = wanted_key_to(s, &to, &said);
	return true;
}

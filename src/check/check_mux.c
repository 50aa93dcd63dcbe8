/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_mux.c - HTTP checks through a mux: HTTP/2, or a connection of the traffic's pool
 *
 * Such a check is one stream of a connection. The HTTP/2 mux takes over a connection opened by the
 * check once it is established (if ALPN, check-proto or proto asks for it), and closes it after the
 * check. With check-reuse-pool the layer above lends a connection with any mux, and gets it back
 * afterwards. Received data is stored where HTTP/1 checks store it, so that rules have a single
 * source.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "conf/conf.h"
#include "core/pool.h"
#include "mux/mux.h"
#include "net/conn.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "proxy/walk.h"
#include "tls/tls.h"
#include "check_priv.h"

/* A connection of a check's own: it may outlive the check until its last bytes are sent. */
struct own_conn {
	struct server *server;   /* of <config> */
	struct config *config;   /* counted */
	struct mux_settings settings;
};

struct check_mux {
	struct endpoint ep;      /* first */
	struct check *check;
	struct http_msg req, res;
	bool busy;               /* on the stack: callbacks must not go on */
	bool secured;            /* by TLS */
};

static struct pool *mux_pool;
static check_pool_fn *pool_hook;

bool check_mux_init(void)
{
	mux_pool = pool_new("check_mux", sizeof(struct check_mux));
	return mux_pool != NULL;
}

void check_set_pool_hook(check_pool_fn *fn)
{
	pool_hook = fn;
}

/* --- what the mux tells ----------------------------------------------------------------------- */

static void own_begun(void *owner, struct mux *m)
{
}

static void own_room_changed(void *owner)
{
}

static bool own_stream_left(void *owner, bool last)
{
	return false; /* one stream is all that it is for */
}

static void own_closed(void *owner)
{
	struct own_conn *o = owner;

	server_unpin(o->server);
	config_drop(&o->config);
	free(o);
}

static void own_describe(const void *owner, struct strbuf *out)
{
	const struct own_conn *o = owner;

	strbuf_printf(out, " sv=%s/%s", o->server->proxy->name, o->server->name);
}

static const struct back_user own_user = {
	.begun = own_begun, .room_changed = own_room_changed, .stream_left = own_stream_left,
	.closed = own_closed, .describe = own_describe,
};

/* --- what is received ------------------------------------------------------------------------- */

/* An answer's head, where the parser of HTTP/1 would have put it. Interim ones are passed over. */
static void take_head(struct check_run *r, struct check_mux *m)
{
	unsigned count = m->res.fields.count;

	m->ep.flags &= ~EP_RX_HEAD;
	if (m->res.flags & HTTP_MSG_INTERIM)
		return;
	if (count > ARRAY_LEN(r->fields))
		count = ARRAY_LEN(r->fields);
	memcpy(r->fields, m->res.fields.list, count * sizeof(r->fields[0]));
	r->head = (struct h1_head){ .fields = r->fields, .field_count = count,
				    .field_capacity = ARRAY_LEN(r->fields),
				    .status = m->res.status };
	if (m->res.version < 20)
		r->head.reason = m->res.reason; /* HTTP/2 has none on the wire */
	r->head_done = true;
	r->seen.response = &m->res;
}

/* As much of a body as the one block of a check holds; what is beyond is not looked at. */
static void take_body(struct check_run *r, struct check_mux *m)
{
	const struct piece *p;

	if (!r->in)
		r->in = block_new();
	for (p = m->ep.rx.first; p && r->in; p = p->next) {
		size_t n = block_room(r->in) < p->len ? block_room(r->in) : p->len;

		memcpy(r->in->data + r->in->used, p->ptr, n);
		r->in->used += (uint32_t)n;
	}
	block_queue_clear(&m->ep.rx);
	if (r->in)
		r->body = slice_make(r->in->data, r->in->used);
}

static void mux_wake(struct endpoint *ep)
{
	struct check_mux *m = (struct check_mux *)ep;
	struct check_run *r = m->check->run;

	if (ep->flags & EP_RX_HEAD)
		take_head(r, m);
	if (ep->rx.len)
		take_body(r, m);
	if (ep->flags & EP_RX_END)
		r->body_end = true;
	if (ep->flags & (EP_RX_END | EP_RX_ABORT | EP_RX_BAD | EP_ERROR))
		r->in_end = true;
	if (!m->busy)
		m->check->go_on(m->check);
}

static const struct endpoint_user mux_user = { .wake = mux_wake };

/* --- connections ------------------------------------------------------------------------------ */

static struct check_mux *mux_new(struct check *c)
{
	struct check_mux *m = pool_zalloc(mux_pool);

	if (!m)
		return NULL;
	m->check = c;
	m->ep.user = &mux_user;
	http_msg_init(&m->req, &c->run->arena);
	http_msg_init(&m->res, &c->run->arena);
	m->ep.tx_head = &m->req;
	m->ep.rx_head = &m->res;
	c->run->mux = m;
	return m;
}

void check_mux_close(struct check_run *r)
{
	struct check_mux *m = r->mux;

	if (!m)
		return;
	r->mux = NULL;
	m->busy = true;
	if (m->ep.ops)
		m->ep.ops->detach(&m->ep);
	block_queue_clear(&m->ep.rx);
	block_queue_clear(&m->ep.tx);
	http_msg_fini(&m->req);
	http_msg_fini(&m->res);
	r->seen.response = NULL;
	r->head_done = false;
	pool_free(mux_pool, m);
}

/* What the line or the rule forces on the connection; NULL: nothing. */
static const struct mux_kind *forced_mux(const struct check *c)
{
	const struct check_connect *o = &c->run->connect_rule->connect;

	if (o->proto || (!o->implicit && !o->use_default))
		return o->proto;
	if (c->server->checks.proto || c->server->is_quic)
		return c->server->checks.proto; /* (over TCP, as it is told otherwise) */
	return c->server->mux.forced;
}

/* The mux that the check goes through; checks speak HTTP/1 themselves. NULL: none. */
static const struct mux_kind *mux_of(const struct check *c)
{
	const struct mux_kind *first = mux_default(MUX_HTTP), *k = forced_mux(c);

	if (conn_quic(c->conn))
		return mux_find("quic");
	if (c->kind == CHECK_KIND_GRPC)
		return mux_find("h2"); /* (which gRPC is) */
	if (!k)
		k = mux_of_alpn(conn_alpn(c->conn));
	return k->mode == MUX_HTTP && k != first ? k : NULL;
}

bool check_mux_is_due(const struct check *c)
{
	return (c->kind == CHECK_KIND_HTTP || c->kind == CHECK_KIND_GRPC) && mux_of(c);
}

static struct own_conn *own_new(const struct check *c)
{
	struct own_conn *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->server = c->server;
	server_pin(o->server);
	o->config = config_take(c->server->proxy->config);
	mux_settings_init(&o->settings, o->config);
	o->settings.fields_max = ARRAY_LEN(c->run->fields);
	o->settings.head_max = block_size();
	o->settings.fcgi = c->server->proxy->http.fcgi;
	return o;
}

bool check_mux_start(struct check *c)
{
	struct check_mux *m = mux_new(c);
	struct own_conn *o = m ? own_new(c) : NULL;
	struct back_owner owner = { .user = &own_user };
	struct conn *conn = c->conn;

	if (!o)
		return false;
	m->secured = tls_is_on(conn);
	owner.owner = o;
	owner.settings = &o->settings;
	if (!mux_back_begin(conn, &m->ep, mux_of(c), &owner)) {
		own_closed(o);
		return false;
	}
	c->conn = NULL;
	m->busy = true;
	conn->ops->ready(conn);
	m->busy = false;
	return true;
}

/* A connection as that of the traffic: no rule says otherwise. */
static bool is_as_line(const struct check_connect *o)
{
	return o->implicit ||
	       (o->use_default && !o->send_proxy && !o->linger && !o->ssl && !o->via_socks4 &&
		!o->port && !o->port_expr && !o->addr && !o->sni && !o->alpn.ptr && !o->proto);
}

/* Does the server's line leave it open how checks connect? */
static bool line_shares(const struct server_checks *s)
{
	return !s->health.addr && !s->health.port && !s->send_proxy && !s->via_socks4 &&
	       !s->ssl && !s->proto && !s->alpn.ptr;
}

bool check_mux_shares_all(const struct server *srv, const struct check_proxy *cp)
{
	for (const struct check_rule *r = cp->run; r; r = r->next)
		if (r->type == CHECK_CONNECT && !is_as_line(&r->connect))
			return false;
	return cp->kind == CHECK_KIND_HTTP && line_shares(&srv->checks);
}

/* May this check use a connection of the traffic? Not when anything says how it is to connect. */
static bool may_share(const struct check *c)
{
	const struct server_checks *s = &c->server->checks;

	return (s->reuse_pool || c->server->is_reverse) && pool_hook &&
	       c->kind == CHECK_KIND_HTTP && is_as_line(&c->run->rule->connect) && line_shares(s);
}

enum check_lend check_mux_share(struct check *c)
{
	const struct server_checks *s = &c->server->checks;
	enum check_lend lent;
	struct check_mux *m;
	struct slice name;

	if (!may_share(c))
		return CHECK_LEND_NONE;
	name = slice_of(s->pool_conn_name ? s->pool_conn_name : s->sni);
	if (!name.ptr && tls_server_is_on(server_slots(c->server)))
		name = check_http_sni(c);
	m = mux_new(c);
	if (!m)
		return CHECK_LEND_NONE;
	m->secured = tls_server_is_on(server_slots(c->server));
	m->busy = true;
	lent = pool_hook(c->server, name, &m->ep);
	m->busy = false;
	c->run->lend_named = name.len > 0;
	if (lent != CHECK_LENT)
		check_mux_close(c->run);
	return lent;
}

bool check_mux_stands(const struct check_run *r)
{
	return r->mux->ep.flags & EP_CONNECTED;
}

int check_mux_error(struct check_run *r)
{
	struct endpoint *ep = &r->mux->ep;
	struct conn *conn = ep->ops ? ep->ops->conn(ep) : NULL;

	return !(ep->flags & EP_ERROR) ? 0 : conn && conn_take_error(conn) ? conn_take_error(conn)
		: ECONNRESET;
}

/* --- the request ------------------------------------------------------------------------------ */

/* With a Host the target is absolute: HTTP/2 says it as ":authority". */
static bool set_target(struct check_mux *m, struct slice uri, struct slice host)
{
	struct arena *a = m->req.arena;

	if (host.len && uri.len && uri.ptr[0] == '/') {
		m->req.uri = slice_of(arena_printf(a, "%s://%.*s%.*s",
						   m->secured ? "https" : "http",
						   SLICE_FMT(host), SLICE_FMT(uri)));
		m->req.flags |= HTTP_MSG_ABSOLUTE | HTTP_MSG_NORMALIZED;
	} else {
		m->req.uri = arena_copy(a, uri);
	}
	return m->req.uri.ptr != NULL;
}

bool check_mux_add(struct check_run *r, struct slice name, struct slice value)
{
	return http_msg_add_field(&r->mux->req, name, value);
}

bool check_mux_send(struct check_run *r, struct slice method, struct slice uri, struct slice host,
		    struct slice body)
{
	struct check_mux *m = r->mux;

	m->req.method_text = method;
	m->req.method = (uint8_t)http_method_of(method);
	m->req.version = 11;
	m->req.version_text = SLICE("HTTP/1.1");
	if (!set_target(m, uri, host) ||
	    (body.len && !block_queue_add_copy(&m->ep.tx, body)))
		return false;
	m->req.body = body.len ? HTTP_BODY_LENGTH : HTTP_BODY_NONE;
	m->req.content_length = body.len;
	m->ep.flags |= EP_TX_HEAD | EP_TX_END;
	m->busy = true;
	m->ep.ops->send(&m->ep);
	m->busy = false;
	return true;
}

const struct http_fields *check_mux_trailers(const struct check_run *r)
{
	return r->mux && r->mux->res.trailers.count ? &r->mux->res.trailers : NULL;
}

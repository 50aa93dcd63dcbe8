/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http_client.c - requests that the program makes by itself */
#include "client/http_client.h"
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include "base/addr.h"
#include "base/block.h"
#include "codec/uri.h"
#include "conf/conf.h"
#include "core/background.h"
#include "dns/resolvers.h"
#include "proxy/proxy.h"
#include "stream/stream.h"
#include "http_client_priv.h"

#define CONNECT_MS 5000
#define RETRIES 3
#define HOST_MAX 256

/* A name that is being resolved. With the system's library it may outlive its call. */
struct http_lookup {
	struct http_call *call;         /* NULL: no request waits any more */
	struct resolve_query *query;    /* NULL: the library is asked */
	struct addr addr;
	char host[HOST_MAX];
};

/* --- settings --------------------------------------------------------------------------------- */

static bool settings_init(void *data)
{
	struct http_client_conf *c = data;

	c->connect_ms = CONNECT_MS;
	c->retries = RETRIES;
	c->ca_file = "@system-ca";
	c->prefer = DNS_AAAA;
	return true;
}

struct slot http_client_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct http_client_conf), .init = settings_init,
};

struct http_client_conf *http_client_conf_of(const struct config *cfg)
{
	return slot_of(&http_client_slot, config_slots(cfg));
}

void http_client_want_tls(struct config *cfg)
{
	http_client_conf_of(cfg)->wants_tls = true;
}

/* --- what the stream tells -------------------------------------------------------------------- */

static enum inside_result call_part(struct inside *x, struct block_queue *to)
{
	struct http_call *c = x->ctx;

	return c->kind->part(c, to);
}

static void call_head(struct inside *x, const struct http_msg *m)
{
	struct http_call *c = x->ctx;

	if (c->kind->head)
		c->kind->head(c, m);
}

static void call_data(struct inside *x, struct block_queue *from)
{
	struct http_call *c = x->ctx;

	if (c->kind->data)
		c->kind->data(c, from);
	else
		block_queue_clear(from);
}

static void call_end(struct inside *x, bool whole, enum stream_end why)
{
	struct http_call *c = x->ctx;

	c->inside = NULL;
	c->request = NULL;
	c->kind->end(c, whole, why);
	free(c);
}

static const struct inside_kind with_body = {
	.name = "HTTPCLIENT", .part = call_part, .head = call_head, .data = call_data,
	.end = call_end,
};
static const struct inside_kind without_body = {
	.name = "HTTPCLIENT", .head = call_head, .data = call_data, .end = call_end,
};

/* --- addresses -------------------------------------------------------------------------------- */

bool http_call_to(struct http_call *c, const struct addr *to)
{
	struct stream_overrides *o = stream_overrides_get(c->inside->stream);

	if (!o)
		return false;
	o->dst = *to;
	return true;
}

bool http_call_via(struct http_call *c, const struct addr *to)
{
	struct http_msg *m = c->request;
	const struct h1_field *f = http_field_find(&m->fields, FIELD_HOST, slice_none());
	char *url = arena_printf(m->arena, "%s://%.*s%.*s", c->is_tls ? "https" : "http",
				 SLICE_FMT(f->value), SLICE_FMT(m->uri));

	if (!url)
		return false;
	m->uri = slice_of(url);
	return http_call_to(c, to);
}

void http_call_be_silent(struct http_call *c)
{
	c->inside->stream->log.level = LOG_LEVEL_SILENT;
}

bool http_call_set_timeout(struct http_call *c, int64_t ms)
{
	struct stream_overrides *o = stream_overrides_get(c->inside->stream);

	if (!o)
		return false;
	o->timeout_ms[STREAM_TIMEOUT_SERVER] = ms;
	return true;
}

/* A name has its address, or none: a rule of the backend answers 503 then. */
static void looked_up(struct http_lookup *l)
{
	struct http_call *c = l->call;

	if (c) {
		l->addr.port = c->port;
		if (addr_is_inet(&l->addr))
			http_call_to(c, &l->addr);
		c->lookup = NULL;
		inside_start(c->inside);
	}
	free(l);
}

static void answered(void *ctx, const struct addr *addr)
{
	struct http_lookup *l = ctx;

	l->addr = *addr;
	looked_up(l);
}

/* In the background. */
static void ask_library(void *ctx)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
	struct http_lookup *l = ctx;

	if (getaddrinfo(l->host, NULL, &hints, &list) == 0 && list)
		l->addr = addr_from_sockaddr(list->ai_addr, list->ai_addrlen);
	freeaddrinfo(list);
}

static void library_said(void *ctx)
{
	looked_up(ctx);
}

/* False: it is hopeless. */
static bool look_up(struct http_call *c, const struct http_client_conf *conf, struct slice host)
{
	struct http_lookup *l = conf->no_resolvers || host.len >= HOST_MAX ? NULL
		: calloc(1, sizeof(*l));

	if (!l)
		return false;
	memcpy(l->host, host.ptr, host.len);
	l->call = c;
	if (conf->resolvers)
		l->query = resolvers_ask_once(conf->resolvers, host, conf->prefer, answered, l);
	if (conf->resolvers ? !l->query : !background_run(ask_library, library_said, l)) {
		free(l);
		return false;
	}
	c->lookup = l;
	return true;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* The Host field's value, which is the URL's authority without a user. */
static struct slice host_field(const struct uri *u)
{
	const char *from = u->host.ptr, *end = u->authority.ptr + u->authority.len;

	return slice_make(from, (size_t)(end - from));
}

static struct proxy *backend_for(const struct http_client_conf *conf, struct slice scheme,
				 const char **error)
{
	if (slice_eq_nocase(scheme, SLICE("http"))) {
		*error = "out of memory";
		return conf->clear;
	}
	if (!slice_eq_nocase(scheme, SLICE("https"))) {
		*error = "the URL is none of http or https";
		return NULL;
	}
	*error = "https needs 'httpclient.ssl.ca-file @system-ca' in the global section";
	return conf->tls;
}

/* "/path?query" of the URL; its fragment is not sent. */
static struct slice target_of(const struct uri *u)
{
	struct slice last = u->query.ptr ? u->query : u->path;

	if (u->path.len)
		return slice_make(u->path.ptr, (size_t)(last.ptr + last.len - u->path.ptr));
	return SLICE("/");
}

static bool is_token(struct slice s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] <= ' ' || s.ptr[i] >= 0x7f || strchr("()<>@,;:\\\"/[]?={}", s.ptr[i]))
			return false;
	return s.len > 0;
}

/* Takes over what http_call_new() has checked. NULL: no memory. */
static struct http_call *make(struct proxy *px, const struct http_call_kind *kind, void *ctx,
			      struct slice method, const struct uri *u)
{
	struct http_call *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->kind = kind;
	c->ctx = ctx;
	c->is_tls = slice_eq_nocase(u->scheme, SLICE("https"));
	c->port = u->port ? u->port : uri_default_port(u->scheme);
	c->inside = inside_new(px, kind->part ? &with_body : &without_body, c, method,
			       target_of(u));
	if (c->inside) {
		c->request = c->inside->request;
		c->request->body = HTTP_BODY_NONE;
		c->host = arena_copy(c->request->arena, u->host);
		if (*u->host.ptr == '[')
			c->host = slice_sub(c->host, 1, c->host.len - 1);
		if (c->host.ptr && http_msg_add_field(c->request, SLICE("host"), host_field(u)))
			return c;
		inside_cancel(c->inside);
	}
	free(c);
	return NULL;
}

struct http_call *http_call_new(struct config *cfg, const struct http_call_kind *kind, void *ctx,
				struct slice method, struct slice url, const char **error)
{
	const struct http_client_conf *conf = http_client_conf_of(cfg);
	struct http_call *c;
	struct proxy *px;
	struct uri u;

	*error = "the method is none";
	if (!is_token(method))
		return NULL;
	*error = "the URL is none, as in 'http://example.org/path'";
	if (!uri_parse(url, false, &u) || u.form != URI_ABSOLUTE || !u.host.len)
		return NULL;
	px = backend_for(conf, u.scheme, error);
	c = px ? make(px, kind, ctx, method, &u) : NULL;
	if (px && !c)
		*error = "out of memory";
	return c;
}

bool http_call_has_body(struct http_call *c, uint64_t len)
{
	struct http_msg *m = c->request;
	char digits[24];

	m->body = HTTP_BODY_CHUNKED;
	if (len == UINT64_MAX)
		return true;
	m->body = HTTP_BODY_LENGTH;
	m->content_length = len;
	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)len);
	return http_msg_add_field(m, SLICE("content-length"), slice_of(digits));
}

/* What most servers want to see. */
static void add_usual_fields(struct http_msg *m)
{
	static const struct {
		const char *name, *value;
	} usual[] = { { "accept", "*/*" }, { "user-agent", "HAProxy" } };

	for (unsigned i = 0; i < ARRAY_LEN(usual); i++) {
		struct slice name = slice_of(usual[i].name);

		if (!http_field_find(&m->fields, http_field_id(name), name))
			http_msg_add_field(m, name, slice_of(usual[i].value));
	}
}

void http_call_start(struct http_call *c)
{
	const struct http_client_conf *conf = http_client_conf_of(session_config(&c->inside->sess));
	const struct stream_overrides *o = c->inside->stream->overrides;
	struct addr addr = { .family = ADDR_NONE };
	struct slice host = c->host;

	add_usual_fields(c->request);
	if (c->request->body == HTTP_BODY_NONE)
		c->inside->kind = &without_body;
	if (o && o->dst.family != ADDR_NONE) {
		inside_start(c->inside);
		return;
	}
	if (slice_eq_nocase(host, SLICE("localhost")))
		host = SLICE("127.0.0.1");
	addr_parse_ip(host, 0, &addr);
	addr.port = c->port;
	if (addr_is_inet(&addr))
		http_call_to(c, &addr);
	else if (look_up(c, conf, host))
		return;
	inside_start(c->inside);
}

void http_call_read(struct http_call *c)
{
	inside_read(c->inside);
}

void http_call_cancel(struct http_call *c)
{
	struct http_lookup *l = c->lookup;

	if (l && l->query) {
		resolve_forget(&l->query);
		free(l);
	} else if (l) {
		l->call = NULL;
	}
	if (c->inside)
		inside_cancel(c->inside);
	free(c);
}

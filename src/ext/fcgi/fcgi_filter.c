/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fcgi_filter.c - filter fcgi-app: converts requests for an application
 *
 * The filter acts when all rules of the request have run, whatever server will be chosen. The
 * parameters are built when the request starts on a connection, also for checks, which have no
 * stream and no rules.
 */
#include "base/clock.h"
#include "base/regex.h"
#include "expr/give.h"
#include "expr/logformat.h"
#include "http/auth.h"
#include "net/conn.h"
#include "stream/sample.h"
#include "tls/tls.h"
#include "fcgi_priv.h"

#define PARAMS_MAX 256 /* that lines set */
#define VALUE_MAX 16384

struct fcgi_state {
	struct cgi_param *set;    /* in the stream's arena */
	unsigned count;
	uint64_t until_ms;        /* for a body of unknown length to come; 0: not waited for */
};

/* --- the request's way ------------------------------------------------------------------------ */

/* What no application gets, unless a line passes it on. */
static const struct {
	uint8_t id;
	bool passable;
} hidden[] = {
	{ FIELD_AUTHORIZATION, true }, { FIELD_PROXY_AUTHORIZATION, true }, { FIELD_TE, true },
	{ FIELD_KEEP_ALIVE, true }, { FIELD_UPGRADE, true }, { FIELD_CONNECTION, true },
	{ FIELD_TRANSFER_ENCODING, false }, { FIELD_EXPECT, false },
};

static bool add_param(struct filter *f, struct slice name, struct slice value)
{
	struct fcgi_state *st = f->state;
	struct arena *a = &f->stream->arena;

	for (unsigned i = 0; i < st->count; i++)
		if (slice_eq(st->set[i].name, name)) {
			st->set[i].value = value;
			return true;
		}
	if (!st->set)
		st->set = arena_alloc(a, PARAMS_MAX * sizeof(*st->set));
	if (!st->set || st->count == PARAMS_MAX)
		return false;
	st->set[st->count++] = (struct cgi_param){ name, value };
	return true;
}

/* Adds the type and the name of the user (RFC 3875 4.1.1, 4.1.11), before the field is hidden. */
static bool add_auth(struct filter *f, const struct http_msg *m)
{
	struct auth_fields auth;

	if (!http_field_find(&m->fields, FIELD_AUTHORIZATION, slice_none()) ||
	    !auth_fields_parse(m, SLICE("authorization"), &f->stream->arena, &auth) ||
	    !auth.type.len)
		return true;
	if (!add_param(f, SLICE("AUTH_TYPE"), auth.type))
		return false;
	return !auth.user.len || add_param(f, SLICE("REMOTE_USER"), auth.user);
}

static bool holds(const struct fcgi_rule *r, struct expr_ctx *ctx)
{
	return condition_eval(r->condition, ctx) == EXPR_FOUND;
}

static bool add_params(struct filter *f, const struct fcgi_app *app, struct expr_ctx *ctx)
{
	for (const struct fcgi_rule *r = app->rules; r; r = r->next) {
		struct slice value;

		if (!r->value || !holds(r, ctx))
			continue;
		value = logformat_make(r->value, ctx, VALUE_MAX);
		if (!value.ptr)
			return false;
		if (value.len && !add_param(f, r->name, value))
			return false;
	}
	return true;
}

static bool is_passed(const struct fcgi_app *app, struct slice name, struct expr_ctx *ctx)
{
	for (const struct fcgi_rule *r = app->rules; r; r = r->next)
		if (!r->value && slice_eq(r->name, name) && holds(r, ctx))
			return true;
	return false;
}

static void hide_fields(const struct fcgi_app *app, struct http_msg *m, struct expr_ctx *ctx)
{
	uint64_t there = http_fields_there(&m->fields);

	for (size_t i = 0; i < ARRAY_LEN(hidden); i++) {
		uint8_t id = hidden[i].id;

		if (there >> id & 1 &&
		    (!hidden[i].passable || !is_passed(app, field_name_of(id), ctx)))
			http_msg_del_field_of(m, id, slice_none());
	}
	m->flags &= ~(unsigned)HTTP_MSG_UPGRADE;
}

/* Its length must be known before it begins: all of it fits a buffer, or it is refused. */
static enum filter_result wait_for_body(struct filter *f, struct http_msg *m)
{
	struct fcgi_state *st = f->state;
	struct stream *s = f->stream;
	int64_t wait_ms = stream_timeout_ms(s, STREAM_TIMEOUT_CLIENT);

	if (s->front.flags & EP_RX_END)
		return filter_set_length(m, s->front.rx.len) ? FILTER_NEXT : FILTER_ERROR;
	if (s->front.rx.len >= block_size() || s->front.flags & (EP_RX_BAD | EP_RX_ABORT) ||
	    (st->until_ms && clock_now_ms() >= st->until_ms))
		return FILTER_ERROR;
	if (wait_ms) {
		if (!st->until_ms)
			st->until_ms = clock_now_ms() + (uint64_t)wait_ms;
		filter_wake_ms(f, (int64_t)(st->until_ms - clock_now_ms()) + 1);
	}
	return FILTER_WAIT;
}

static const struct fcgi_app *app_of(const struct filter *f)
{
	return fcgi_proxy_of(f->conf->proxy)->app;
}

static enum filter_result fcgi_head(struct filter *f, enum filter_side side, struct http_msg *m)
{
	struct fcgi_state *st = f->state;
	const struct fcgi_app *app = app_of(f);
	struct expr_ctx *ctx = NULL; /* (only rules need it) */

	if (side != FILTER_REQUEST || !app)
		return FILTER_NEXT;
	if (app->rules)
		ctx = stream_expr(f->stream, EXPR_DIR_REQUEST | EXPR_FINAL);
	if (st->until_ms)
		return wait_for_body(f, m);
	st->count = 0;
	if (!add_auth(f, m) || !add_params(f, app, ctx))
		return FILTER_ERROR;
	hide_fields(app, m, ctx);
	stream_send_continue(f->stream);
	return m->body == HTTP_BODY_CHUNKED ? wait_for_body(f, m) : FILTER_NEXT;
}

static bool fcgi_attach(struct filter *f)
{
	return f->is_backend || f->stream->be == f->conf->proxy;
}

static bool fcgi_parse(struct conf_line *l, struct filter_conf *conf)
{
	struct fcgi_filter *ff = arena_zalloc(&l->cfg->arena, sizeof(*ff));
	const char *name = conf_next(l);

	if (!ff)
		return conf_error(l, 0, NULL, "out of memory.");
	if (!name)
		return conf_error(l, 0, NULL, "'filter' : fcgi-app : expects a <name> argument");
	ff->name = name;
	conf->data = ff;
	return true;
}

const struct filter_kind fcgi_filter_kinds[] = {
	{ .name = "fcgi-app", .group = "FCGI", .id = "fcgi-app filter",
	  .state_size = sizeof(struct fcgi_state), .parse = fcgi_parse, .attach = fcgi_attach,
	  .head = fcgi_head, .syntax = "<name>",
	  .help = "where the rules of an application are evaluated" },
	{ 0 }
};

/* --- parameters ------------------------------------------------------------------------------- */

/* The path without escapes, in <room> where it has some. False: it is none. */
static bool read_path(struct slice path, struct strbuf *room, struct slice *out)
{
	*out = path;
	if (path.len && path.ptr[0] == '/' && !memchr(path.ptr, '%', path.len))
		return true;
	if (!cgi_add_path(room, path))
		return false;
	*out = strbuf_slice(room);
	return true;
}

/* The path without escapes, in two parts. False: no application may see it. */
static bool split_path(const struct fcgi_app *app, struct slice path, struct cgi_request *rq)
{
	struct slice groups[REGEX_GROUPS_MAX];

	rq->script = path;
	rq->path_info = slice_none();
	if (slice_find_char(path, 0, 0) != SIZE_MAX) /* for C it ends there, for rules it did not */
		return false;
	if (!app->path_info)
		return true;
	if (slice_find_char(path, 0, '\n') != SIZE_MAX)
		return false;
	if (!regex_match_groups(app->path_info, path, 0, groups) || !groups[1].ptr)
		return true;
	rq->script = groups[1];
	rq->path_info = groups[2];
	return true;
}

static struct slice ip_text(const struct addr *a, char *out, size_t size, uint16_t *port)
{
	if (!a || !addr_is_inet(a))
		return slice_none();
	*port = a->port;
	return slice_make(out, addr_put_ip(a, out, size));
}

/* What a stream adds. */
static void of_stream(struct cgi_request *rq, struct stream *s, char server[ADDR_IP_MAX],
		      char client[ADDR_IP_MAX])
{
	const struct filter *f = filters_of_stream(s);
	const struct fcgi_state *st;

	while (f && (f->kind != fcgi_filter_kinds || f->conf->proxy != s->be))
		f = f->next;
	st = f ? f->state : NULL;
	rq->set = st ? st->set : NULL;
	rq->set_count = st ? st->count : 0;
	rq->server = ip_text(stream_dst(s), server, ADDR_IP_MAX, &rq->server_port);
	rq->client = ip_text(stream_src(s), client, ADDR_IP_MAX, &rq->client_port);
	rq->https = s->sess->conn && tls_is_on(s->sess->conn);
}

/* A check has no client: it is the host at the other end that it asks for (RFC 3875 4.1.14). */
static void of_check(struct cgi_request *rq, struct endpoint *ep, char server[ADDR_IP_MAX])
{
	const struct conn *c = ep->ops->conn(ep);
	struct addr to = c ? conn_address(c, true) : (struct addr){ 0 };

	rq->server = ip_text(&to, server, ADDR_IP_MAX, &rq->server_port);
}

bool fcgi_app_params(const struct fcgi_peer *peer, struct endpoint *ep, struct strbuf *out)
{
	const struct fcgi_app *app = (const struct fcgi_app *)peer;
	const struct http_msg *m = ep->tx_head;
	struct stream *s = stream_of_endpoint(ep);
	char server[ADDR_IP_MAX], client[ADDR_IP_MAX];
	struct cgi_request rq = {
		.head = m, .docroot = app->docroot, .fixed = app->fixed, .index = app->index,
		.software = app->software,
		.body_len = m->body == HTTP_BODY_LENGTH ? m->content_length : 0,
	};
	struct strbuf path;
	struct slice text;
	bool ok;

	strbuf_init(&path);
	ok = read_path(http_msg_path(m), &path, &text) && split_path(app, text, &rq);
	if (ok) {
		if (s)
			of_stream(&rq, s, server, client);
		else
			of_check(&rq, ep, server);
		cgi_add_params(out, &rq);
	}
	strbuf_fini(&path);
	return ok;
}

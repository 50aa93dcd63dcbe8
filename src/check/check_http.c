/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_http.c - the request of an HTTP check, and its response
 *
 * The codec parses (RFC 9112), as strictly as for traffic; or a mux does everything (check_mux.c).
 * A response is examined in the single buffer of a check: of a body that does not fit, only the
 * first part is compared.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/strbuf.h"
#include "codec/h1.h"
#include "proxy/address.h"
#include "proxy/balance.h"
#include "proxy/proxy.h"
#include "proxy/queue.h"
#include "proxy/server.h"
#include "check_priv.h"
#include "check_settings.h"

/* --- the request ---------------------------------------------------------------------------- */

/* The value of "X-Haproxy-Server-State" : how the server is seen from here. */
static void put_state(struct strbuf *b, const struct server *srv)
{
	const struct proxy *be = srv->proxy;
	const char *node = check_settings_of(be->config)->node;
	char status[64], host[256] = "", ip[64];
	struct server_addr to;

	server_status(srv, status, sizeof(status));
	server_address(srv, &to);
	if (!node)
		gethostname(host, sizeof(host) - 1);
	strbuf_printf(b, "%s; ", status);
	if (to.sa.ss_family == AF_UNIX)
		strbuf_add_str(b, "address=unix; port=unix; ");
	else
		strbuf_printf(b, "address=%s; port=%d; ",
			      address_ip_text((struct sockaddr *)&to.sa, ip, sizeof(ip)),
			      address_port((struct sockaddr *)&to.sa));
	strbuf_printf(b, "name=%s/%s; node=%s; weight=%u/%u; scur=%lld/%lld; qcur=%u", be->name,
		      srv->name, node ? node : host, server_weight(srv), balance_total_weight(be),
		      (long long)counter_read(&srv->state->counters, CNT_SESS_CUR),
		      (long long)proxy_be_sessions(be), queue_length_server(srv));
}

/* Would it break the request apart? */
static bool is_clean(char c, bool is_uri)
{
	unsigned char ch = (unsigned char)c;

	return (ch >= (is_uri ? 0x21 : 0x20) || (!is_uri && ch == '\t')) && ch != 0x7f;
}

/* Without what is not clean. */
static void put_clean(struct strbuf *b, struct slice text, bool is_uri)
{
	for (size_t i = 0; i < text.len; i++)
		if (is_clean(text.ptr[i], is_uri))
			strbuf_add_char(b, text.ptr[i]);
}

/* The cleaned text as a copy; ptr NULL: no memory. */
static struct slice cleaned(struct check_run *r, struct slice text, bool is_uri)
{
	char *to = arena_alloc(&r->arena, text.len + 1);
	size_t n = 0;

	for (size_t i = 0; to && i < text.len; i++)
		if (is_clean(text.ptr[i], is_uri))
			to[n++] = text.ptr[i];
	return slice_make(to, to ? n : 0);
}

/* An absolute URI, and an authority alone, names the host that the Host field names. */
static void put_uri(struct strbuf *b, struct slice uri, struct slice host)
{
	size_t from = slice_find(uri, SLICE("://")), path;

	if (host.len && slice_find_char(uri, 0, '/') == SIZE_MAX && !slice_eq(uri, SLICE("*"))) {
		put_clean(b, host, true);
		return;
	}
	if (!host.len || !uri.len || uri.ptr[0] == '/' || from == SIZE_MAX) {
		put_clean(b, uri, true);
		return;
	}
	path = slice_find_char(uri, from + 3, '/');
	put_clean(b, slice_sub(uri, 0, from + 3), true);
	put_clean(b, host, true);
	put_clean(b, slice_sub(uri, path == SIZE_MAX ? uri.len : path, uri.len), true);
}

static bool is_field(const struct check_field *f, const char *name)
{
	return strcmp(f->name, name) == 0;
}

/* The fields as written; those that delimit the body are ours. */
static void put_fields(struct check *c, struct strbuf *b, const struct check_http_send *h,
		       bool *has_connection)
{
	for (const struct check_field *f = h->fields; f; f = f->next) {
		struct slice value;

		if (is_field(f, "content-length") || is_field(f, "transfer-encoding"))
			continue;
		*has_connection |= is_field(f, "connection");
		value = logformat_make(f->value, &c->run->ctx, 8192);
		strbuf_add_str(b, f->name);
		strbuf_add_str(b, ": ");
		put_clean(b, value, false);
		strbuf_add_str(b, "\r\n");
	}
}

static struct slice host_of(struct check *c, const struct check_http_send *h)
{
	for (const struct check_field *f = h->fields; f; f = f->next)
		if (is_field(f, "host"))
			return logformat_make(f->value, &c->run->ctx, 8192);
	return slice_none();
}

/* "[::1]" of "[::1]:80". */
static struct slice without_port(struct slice host)
{
	size_t from = slice_find_char(host, 0, ']'), colon;

	colon = slice_find_char(host, from == SIZE_MAX ? 0 : from, ':');
	return colon == SIZE_MAX ? host : slice_sub(host, 0, colon);
}

struct slice check_http_sni(struct check *c)
{
	const struct server_checks *s = &c->server->checks;
	const struct check_rule *rule = c->run->rule;

	if (s->sni || s->no_sni_auto || c->kind != CHECK_KIND_HTTP || !rule->connect.implicit)
		return slice_of(s->sni);
	while (rule && rule->type != CHECK_HTTP_SEND)
		rule = rule->next;
	return rule ? without_port(host_of(c, &rule->http)) : slice_none();
}

/* Does a request without a body say so? Not with methods that have none. */
static bool tells_no_body(const char *method)
{
	static const char *const bare[] = { "GET", "HEAD", "OPTIONS", "DELETE" };

	for (unsigned i = 0; i < ARRAY_LEN(bare); i++)
		if (!method || strcmp(method, bare[i]) == 0)
			return false;
	return true;
}

/* Most requests are no longer. */
#define REQUEST_USUAL 256

static bool is_given(const struct check_value *v)
{
	return v->text.ptr || v->format;
}

static void put_request(struct check *c, struct strbuf *b, const struct check_http_send *h)
{
	const char *version = h->version ? h->version : "HTTP/1.0";
	struct slice uri = SLICE("/"), body = slice_none();
	bool has_connection = false;

	if (is_given(&h->uri))
		uri = check_value_make(c->run, &h->uri);
	if (is_given(&h->body))
		body = check_value_make(c->run, &h->body);
	strbuf_reserve(b, REQUEST_USUAL);
	strbuf_add_str(b, h->method ? h->method : "OPTIONS");
	strbuf_add_str(b, " ");
	put_uri(b, uri.len ? uri : SLICE("/"), host_of(c, h));
	strbuf_add_str(b, " ");
	strbuf_add_str(b, version);
	strbuf_add_str(b, "\r\n");
	put_fields(c, b, h, &has_connection);
	if (c->proxy->send_state) {
		strbuf_add_str(b, "x-haproxy-server-state: ");
		put_state(b, c->server);
		strbuf_add_str(b, "\r\n");
	}
	if (body.len || tells_no_body(h->method))
		strbuf_printf(b, "content-length: %zu\r\n", body.len);
	if (!has_connection && strcmp(version, "HTTP/1.0") != 0)
		strbuf_add_str(b, "connection: close\r\n");
	strbuf_add_str(b, "\r\n");
	strbuf_add(b, body);
}

/* Fields of a request through a mux, which writes those that delimit the body. */
static bool mux_fields(struct check *c, const struct check_http_send *h)
{
	struct check_run *r = c->run;
	struct strbuf b;
	bool good = true;

	for (const struct check_field *f = h->fields; f && good; f = f->next) {
		struct slice value;

		if (is_field(f, "content-length") || is_field(f, "transfer-encoding") ||
		    is_field(f, "connection"))
			continue;
		value = cleaned(r, logformat_make(f->value, &r->ctx, 8192), false);
		good = value.ptr && check_mux_add(r, slice_of(f->name), value);
	}
	if (!good || !c->proxy->send_state)
		return good;
	strbuf_init(&b);
	put_state(&b, c->server);
	good = check_mux_add(r, SLICE("x-haproxy-server-state"), strbuf_slice(&b));
	strbuf_fini(&b);
	return good;
}

/* gRPC wants the name of the service's host: where none is configured, it is the server's
 * address.
 */
static struct slice own_authority(struct check *c)
{
	struct server_addr to;
	char text[80];

	server_address(c->server, &to);
	if (to.sa.ss_family == AF_UNIX)
		return SLICE("localhost");
	return arena_copy(&c->run->arena, slice_of(address_text((struct sockaddr *)&to.sa, text,
								sizeof(text))));
}

static bool mux_request(struct check *c, const struct check_http_send *h)
{
	struct check_run *r = c->run;
	struct slice uri = is_given(&h->uri) ? check_value_make(r, &h->uri) : SLICE("/");
	struct slice body = is_given(&h->body) ? check_value_make(r, &h->body) : SLICE("");
	struct slice host = cleaned(r, host_of(c, h), true);

	r->sent_http = true;
	if (!host.len && c->kind == CHECK_KIND_GRPC)
		host = own_authority(c);
	uri = cleaned(r, uri.len ? uri : SLICE("/"), true);
	return uri.ptr && host.ptr && mux_fields(c, h) &&
		check_mux_send(r, slice_of(h->method ? h->method : "OPTIONS"), uri, host, body);
}

bool check_http_request(struct check *c, const struct check_http_send *h)
{
	struct check_run *r = c->run;
	struct strbuf b;
	bool good;

	if (r->mux)
		return mux_request(c, h);
	strbuf_init(&b);
	put_request(c, &b, h);
	good = !b.overflow && block_queue_add_copy(&r->out, strbuf_slice(&b));
	strbuf_fini(&b);
	r->sent_http = true;
	r->to_head = h->method && strcmp(h->method, "HEAD") == 0;
	return good;
}

/* --- the response --------------------------------------------------------------------------- */

/* What fetches of responses read. Its texts are in the block, as long as that stands. */
static void fill_msg(struct check_run *r)
{
	const struct h1_head *h = &r->head;
	struct http_msg *m = &r->msg;

	http_msg_init(m, &r->arena);
	m->flags = HTTP_MSG_RESPONSE;
	m->fields = (struct http_fields){ .list = r->fields, .count = h->field_count,
					  .room = h->field_count };
	m->version = (uint8_t)(h->major * 10 + (h->minor > 1 ? 1 : h->minor));
	m->version_text = h->version;
	m->status = h->status;
	m->reason = h->reason;
	if (h->body == H1_BODY_LENGTH)
		m->body = HTTP_BODY_LENGTH;
	m->content_length = h->content_length;
	r->seen.response = m;
}

static bool parse_head(struct check_run *r)
{
	struct slice in = slice_make(r->in->data, r->in->used);

	if (!r->head_begun) {
		h1_parser_init(&r->parser, H1_OPT_RESPONSE | (r->to_head ? H1_OPT_TO_HEAD : 0));
		r->head = (struct h1_head){ .fields = r->fields,
					    .field_capacity = ARRAY_LEN(r->fields) };
		r->head_begun = true;
	}
	switch (h1_parse_head(&r->parser, in, &r->head)) {
	case H1_ERROR:
		return false;
	case H1_MORE:
		return block_room(r->in) > 0;
	default:
		break;
	}
	r->head_done = true;
	fill_msg(r);
	r->raw_at = r->head.length;
	r->body = slice_make(r->in->data + r->head.length, 0);
	chunk_decoder_init(&r->chunks);
	return true;
}

/* Payload is moved to where the body ends: framing goes. */
static bool decode_chunks(struct check_run *r)
{
	char *end = (char *)(uintptr_t)r->body.ptr + r->body.len;

	while (!r->body_end && r->raw_at < r->in->used) {
		struct slice in = slice_make(r->in->data + r->raw_at, r->in->used - r->raw_at);
		struct chunk_step step = { 0 };
		enum h1_status st = chunk_decode(&r->chunks, in, &step);

		if (st == H1_ERROR)
			return false;
		memmove(end, in.ptr + step.used - step.payload, step.payload);
		end += step.payload;
		r->body.len += step.payload;
		r->raw_at += step.used;
		r->body_end = st == H1_DONE;
		if (!step.used)
			break;
	}
	return true;
}

bool check_http_response(struct check *c)
{
	struct check_run *r = c->run;
	size_t have;

	if (r->mux || !r->in || (!r->head_done && !r->in->used))
		return true;
	if (!r->head_done && !parse_head(r))
		return false;
	if (!r->head_done)
		return true;
	if (r->head.body == H1_BODY_CHUNKED)
		return decode_chunks(r);
	have = r->in->used - r->head.length;
	r->body.len = have;
	if (r->head.body == H1_BODY_NONE || r->head.body == H1_BODY_TUNNEL)
		r->body.len = 0;
	else if (r->head.body == H1_BODY_LENGTH && have > r->head.content_length)
		r->body.len = (size_t)r->head.content_length;
	r->body_end = r->head.body == H1_BODY_NONE || r->head.body == H1_BODY_TUNNEL ||
		(r->head.body == H1_BODY_LENGTH && have >= r->head.content_length);
	return true;
}

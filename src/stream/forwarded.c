/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forwarded.c - option forwarded: the field of RFC 7239
 *
 * The result of an expression is converted to a form that the field allows: an address, else an
 * obfuscated name or port, which begins with '_', else nothing.
 */
#include "base/num.h"
#include "base/strbuf.h"
#include "codec/rfc7239.h"
#include "tls/tls.h"
#include "engine_priv.h"

/* "by" or "for" (RFC 7239 6). */
struct node {
	struct slice name;
	struct slice port; /* empty: none */
	char room[ADDR_IP_MAX + 2], port_room[8];
};

/* What the field says, but "proto". */
struct parts {
	struct slice host;
	struct node by, client;
};

static struct slice prefixed(struct stream *s, struct slice text)
{
	char *copy = arena_alloc(&s->arena, text.len + 1);

	if (!copy)
		return slice_none();
	copy[0] = '_';
	memcpy(copy + 1, text.ptr, text.len);
	return slice_make(copy, text.len + 1);
}

static struct slice value_of(struct stream *s, const struct expr *e)
{
	struct slice text;

	if (expr_eval_string(e, stream_expr(s, EXPR_DIR_REQUEST | EXPR_FINAL), &text) != EXPR_FOUND)
		return slice_none();
	return text;
}

static void set_address(struct node *n, const struct addr *a)
{
	char ip[ADDR_IP_MAX];

	if (!addr_is_inet(a))
		return;
	addr_put_ip(a, ip, sizeof(ip));
	snprintf(n->room, sizeof(n->room), a->family == ADDR_INET6 ? "[%s]" : "%s", ip);
	n->name = slice_of(n->room);
}

/* A node's name without a port, as the field has it. */
static bool is_node_name(struct slice text)
{
	struct rfc7239_node node;
	size_t used;

	return rfc7239_parse_node(text, &node, &used) && used == text.len && !node.number &&
	       !node.port.ptr;
}

static void set_name(struct stream *s, struct node *n, const struct expr *e)
{
	struct expr_ctx *ctx = stream_expr(s, EXPR_DIR_REQUEST | EXPR_FINAL);
	struct sample smp;
	struct addr a;

	if (expr_eval(e, ctx, &smp) != EXPR_FOUND)
		return;
	if ((smp.type == SMP_IPV4 || smp.type == SMP_IPV6) &&
	    sample_to_addr(&smp, ctx->arena, &a))
		return set_address(n, &a);
	if (!sample_cast(&smp, SMP_STR, ctx->arena))
		return;
	if (is_node_name(smp.text))
		n->name = smp.text;
	else if (rfc7239_is_obfuscated(smp.text))
		n->name = prefixed(s, smp.text);
}

static struct slice port_of(struct stream *s, struct slice text)
{
	uint64_t number;

	if (text.len <= 5 && num_parse_u64(text, &number) && number && number <= 65535)
		return text;
	if (!rfc7239_is_obfuscated(text))
		return slice_none();
	return text.ptr[0] == '_' && text.len > 1 ? text : prefixed(s, text);
}

static void set_node(struct stream *s, struct node *n, const struct proxy_forwarded_part *name,
		     const struct proxy_forwarded_part *port, const struct addr *own)
{
	n->name = SLICE("unknown");
	n->port = slice_none();
	if (!name->on)
		return;
	if (name->expr)
		set_name(s, n, name->expr);
	else
		set_address(n, own);
	if (port->expr) {
		n->port = port_of(s, value_of(s, port->expr));
	} else if (port->on && addr_is_inet(own)) {
		snprintf(n->port_room, sizeof(n->port_room), "%u", own->port);
		n->port = slice_of(n->port_room);
	}
}

static struct slice host_of(struct stream *s, const struct proxy_forwarded_part *part)
{
	struct h1_field *f;
	struct slice host;

	if (part->expr) {
		host = value_of(s, part->expr);
	} else {
		f = http_field_find(&s->req.fields, FIELD_HOST, SLICE("host"));
		host = f ? f->value : slice_none();
	}
	return rfc7239_is_host(host) ? host : slice_none();
}

static void put_node(struct strbuf *b, const char *name, const struct node *n, bool has_port)
{
	const char *quote = has_port || slice_starts(n->name, SLICE("[")) ? "\"" : "";

	strbuf_printf(b, "%s=%s%.*s%s%.*s%s;", name, quote, SLICE_FMT(n->name),
		      n->port.len ? ":" : "", SLICE_FMT(n->port), quote);
}

/* A list of valid elements, none of them empty. */
static bool is_valid_list(struct slice list)
{
	struct rfc7239 said;
	size_t comma;

	do {
		size_t end = list.len;

		comma = slice_find_char(list, 0, ',');
		if (comma != SIZE_MAX)
			end = comma;
		if (!rfc7239_parse(slice_trim(slice_sub(list, 0, end)), &said))
			return false;
		list = slice_sub(list, end < list.len ? end + 1 : end, list.len);
	} while (comma != SIZE_MAX);
	return true;
}

/* At the end of the list that proxies before have begun, if they have and it is valid. */
static bool append(struct stream *s, struct slice element)
{
	struct h1_field *field, *last = NULL;
	struct strbuf b;
	size_t room;
	char *text;
	int at = -1;

	while ((field = http_field_next(&s->req.fields, &at, FIELD_FORWARDED, slice_none())))
		last = field;
	if (!last || !is_valid_list(last->value))
		return http_msg_add_field(&s->req, SLICE("forwarded"), element);
	room = last->value.len + element.len + 2;
	text = arena_alloc(&s->arena, room);
	if (!text)
		return false;
	strbuf_init_fixed(&b, text, room);
	strbuf_printf(&b, "%.*s,%.*s", SLICE_FMT(last->value), SLICE_FMT(element));
	return http_msg_set_value(&s->req, last, strbuf_slice(&b));
}

bool stream_add_forwarded(struct stream *s)
{
	const struct proxy_forwarded *f = s->be->http.forwarded;
	struct parts p = { .host = f->host.on ? host_of(s, &f->host) : slice_none() };
	struct strbuf b;
	size_t room;
	char *text;

	set_node(s, &p.by, &f->by, &f->by_port, stream_dst(s));
	set_node(s, &p.client, &f->client, &f->client_port, stream_src(s));
	room = 64 + p.host.len + p.by.name.len + p.by.port.len + p.client.name.len +
	       p.client.port.len;
	text = arena_alloc(&s->arena, room);
	if (!text)
		return false;
	strbuf_init_fixed(&b, text, room);
	if (f->proto)
		strbuf_printf(&b, "proto=%s;", tls_is_on(s->sess->conn) ? "https" : "http");
	if (f->host.on)
		strbuf_printf(&b, "host=\"%.*s\";", SLICE_FMT(p.host));
	if (f->by.on)
		put_node(&b, "by", &p.by, f->by_port.on);
	if (f->client.on)
		put_node(&b, "for", &p.client, f->client_port.on);
	if (!b.len)
		return true;
	return append(s, slice_make(b.ptr, b.len - 1));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forwarded_conf.c - edge file: what servers are told of the client: option forwardfor, originalto,
 * forwarded
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "base/addr.h"
#include "base/door.h"
#include "conf/conf.h"
#include "expr/expr.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "proxy_priv.h"

/* --- forwardfor, originalto ----------------------------------------------------------------- */

/* The address of a network: whole, with zeros left out ("10.1" is 10.0.0.1), or a host's. */
static bool parse_network_address(struct conf_line *l, const char *text, struct addr *out)
{
	struct sockaddr_storage found;
	char ip[ADDR_IP_MAX];
	socklen_t len;

	if (addr_parse_ip(slice_of(text), ADDR_NONE, out))
		return true;
	if (addr_parse_short_ip(slice_of(text), out)) {
		addr_put_ip(out, ip, sizeof(ip));
		conf_report(l, l->at, DIAG_DIAG, DIAG_PARSING, "'%s' is taken as %s.", text, ip);
		return true;
	}
	if (!*text || ascii_is_digit(*text) || !door_host(text, AF_INET, &found, &len))
		return false;
	*out = addr_from_sockaddr(&found, len);
	return true;
}

/* <mask> is a number of bits, or for IPv4 a dotted mask; NULL: all bits. */
static bool parse_network_mask(const char *mask, struct proxy_forward_for *f)
{
	bool v4 = f->except_family == AF_INET;
	long max = v4 ? 32 : 128, bits = max;
	char *end;

	memset(f->except_mask, 0, sizeof(f->except_mask));
	if (mask && v4 && inet_pton(AF_INET, mask, f->except_mask) == 1)
		return true;
	if (mask) {
		bits = strtol(mask, &end, 10);
		if (end == mask || *end || bits < 0 || bits > max)
			return false;
	}
	for (long i = 0; i < bits; i++)
		f->except_mask[i / 8] |= (uint8_t)(0x80 >> (i % 8));
	return true;
}

/* The next word: "10.0.0.0/8" or an address. */
static bool parse_network(struct conf_line *l, struct proxy_forward_for *f)
{
	const char *text = conf_peek(l);
	char copy[256], *slash;
	struct addr a;

	if (!text || strlen(text) >= sizeof(copy))
		return false;
	strcpy(copy, text);
	slash = strchr(copy, '/');
	if (slash)
		*slash++ = 0;
	if (!parse_network_address(l, copy, &a))
		return false;
	f->except_family = a.family == ADDR_INET ? AF_INET : AF_INET6;
	if (a.family == ADDR_INET)
		memcpy(f->except, &a.v4, 4);
	else
		memcpy(f->except, a.v6, 16);
	if (!parse_network_mask(slash, f))
		return false;
	/* 10.0.0.1/25 is written for 10.0.0.0/25 too */
	for (unsigned i = 0; i < sizeof(f->except); i++)
		f->except[i] &= f->except_mask[i];
	f->has_except = true;
	return true;
}

static bool parse_header_option(struct conf_line *l, struct proxy_forward_for *f,
				const char *name, const char *header)
{
	const char *word;

	*f = (struct proxy_forward_for){ .enabled = true, .header = header };
	while ((word = conf_next(l))) {
		if (strcmp(word, "except") == 0) {
			if (!parse_network(l, f))
				return conf_error(l, l->at - !conf_peek(l), NULL,
						  "'option %s except' expects <address>[/mask] as "
						  "argument.", name);
			l->at++;
		} else if (strcmp(word, "header") == 0) {
			if (!conf_peek(l))
				return conf_error(l, l->at - 1, NULL, "'option %s header' expects "
						  "<header_name> as argument.", name);
			f->header = conf_next(l);
		} else if (strcmp(word, "if-none") == 0 && strcmp(name, "forwardfor") == 0) {
			f->if_none = true;
		} else {
			return conf_error(l, l->at - 1, NULL, "'option %s' only supports optional "
					  "values: 'except'%s 'header'%s.", name,
					  strcmp(name, "forwardfor") == 0 ? "," : " and",
					  strcmp(name, "forwardfor") == 0 ? " and 'if-none'" : "");
		}
	}
	return true;
}

static bool parse_forwardfor(struct conf_line *l)
{
	struct proxy *px = l->object;

	return parse_header_option(l, &px->http.forward_for, "forwardfor", "X-Forwarded-For");
}

static bool parse_originalto(struct conf_line *l)
{
	struct proxy *px = l->object;

	return parse_header_option(l, &px->http.original_to, "originalto", "X-Original-To");
}

/* --- forwarded (RFC 7239) --------------------------------------------------------------------- */

/* Where a word of the option belongs. */
static const struct forwarded_word {
	const char *name, *by_expression;
	size_t offset;
} forwarded_words[] = {
	{ "host", "host-expr", offsetof(struct proxy_forwarded, host) },
	{ "by", "by-expr", offsetof(struct proxy_forwarded, by) },
	{ "by_port", "by_port-expr", offsetof(struct proxy_forwarded, by_port) },
	{ "for", "for-expr", offsetof(struct proxy_forwarded, client) },
	{ "for_port", "for_port-expr", offsetof(struct proxy_forwarded, client_port) },
};

/* The next word. One that has no value for requests will give none: HAProxy warns of it only. */
static bool take_expression(struct conf_line *l, struct proxy_forwarded_part *part)
{
	const char *text = conf_peek(l);
	struct expr *e;

	if (!text)
		return conf_error(l, l->at - 1, NULL, "'%s' expects <expr> as argument.",
				  l->words[l->at - 1]);
	part->expr = e = expr_take(l, 0);
	if (!e)
		return false;
	if (!(expr_phases(e) & EXPR_BE_HRQ_HDR))
		conf_warn(l, l->at - 1, NULL, "in 'option forwarded' sample expression '%s' : some "
			  "args extract information from '%s', none of which is available here.",
			  text, expr_use_name(expr_uses(e)));
	return true;
}

static bool take_part(struct conf_line *l, const char *word, struct proxy_forwarded *f)
{
	for (unsigned i = 0; i < ARRAY_LEN(forwarded_words); i++) {
		const struct forwarded_word *w = &forwarded_words[i];
		bool by_expression = strcmp(word, w->by_expression) == 0;
		struct proxy_forwarded_part *part = (void *)((char *)f + w->offset);

		if (!by_expression && strcmp(word, w->name) != 0)
			continue;
		*part = (struct proxy_forwarded_part){ .on = true };
		return !by_expression || take_expression(l, part);
	}
	return conf_error(l, l->at - 1, NULL, "'option forwarded' only supports optional values: "
			  "'proto', 'host', 'host-expr', 'by', 'by-expr', 'by_port', "
			  "'by_port-expr', 'for', 'for-expr', 'for_port' and 'for_port-expr'.");
}

/* A port alone says nothing. */
static void warn_lone_port(struct conf_line *l, const struct proxy_forwarded_part *port,
			   const struct proxy_forwarded_part *node, const char *name)
{
	if (port->on && !node->on)
		conf_warn(l, 1, NULL, "'option forwarded' : '%s_port%s' will be ignored because "
			  "both '%s' and '%s-expr' are unset", name, port->expr ? "-expr" : "",
			  name, name);
}

static bool parse_forwarded(struct conf_line *l)
{
	struct proxy *px = l->object;
	struct proxy_forwarded *f;
	const char *word;

	px->http.forwarded = NULL;
	if (l->no || l->dflt)
		return true;
	f = arena_zalloc(&l->cfg->arena, sizeof(*f));
	if (!f)
		return conf_error(l, 0, NULL, "out of memory.");
	if (!conf_peek(l))
		f->proto = f->client.on = true;
	while ((word = conf_next(l))) {
		if (strcmp(word, "proto") == 0)
			f->proto = true;
		else if (!take_part(l, word, f))
			return false;
	}
	warn_lone_port(l, &f->by_port, &f->by, "by");
	warn_lone_port(l, &f->client_port, &f->client, "for");
	px->http.forwarded = f;
	return true;
}

/* --- tables --------------------------------------------------------------------------------- */

static const struct conf_keyword keywords[] = {
	{ .words = "option forwardfor", .where = CONF_PROXY, .max_args = -1, .flags = CONF_HTTP,
	  .parse = parse_forwardfor, .syntax = "[except <network>] [header <name>] [if-none]",
	  .help = "tell servers the client's address" },
	{ .words = "option originalto", .where = CONF_PROXY, .max_args = -1, .flags = CONF_HTTP,
	  .parse = parse_originalto, .syntax = "[except <network>] [header <name>]",
	  .help = "tell servers the original destination" },
	{ .words = "option forwarded", .where = CONF_DEF_BE, .max_args = -1,
	  .flags = CONF_CAN_NO | CONF_CAN_DEFAULT | CONF_HTTP, .parse = parse_forwarded,
	  .syntax = "[proto] [{ host | host-expr <expr> }] [{ by | by-expr <expr> }] "
	  "[{ by_port | by_port-expr <expr> }] [{ for | for-expr <expr> }] "
	  "[{ for_port | for_port-expr <expr> }]",
	  .help = "tell servers with RFC 7239's field" },
	{ 0 }
};

const struct module mod_forwarded = {
	.name = "forwarded",
	.keywords = keywords,
};

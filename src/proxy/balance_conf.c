/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance_conf.c - edge file: balance, hash-type and what goes with them */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "conf/conf.h"
#include "expr/expr.h"
#include "proxy/balance.h"
#include "proxy/hash.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "log_backend.h"
#include "proxy/server.h"

/* --- keys ------------------------------------------------------------------------------------- */

/* A fetch of the part of a request that an algorithm is about; "%s" in <format> is <name>. NULL:
 * reported.
 */
static const struct expr *take_key(struct conf_line *l, const char *format, const char *name)
{
	const char *text = arena_printf(&l->cfg->arena, format, name);
	struct expr *e;
	size_t end;

	if (!text) {
		conf_error(l, 0, NULL, "out of memory.");
		return NULL;
	}
	if (strpbrk(name, "(),\"'\\ ")) {
		conf_error(l, 1, NULL, "invalid name '%s'.", name);
		return NULL;
	}
	e = expr_parse(l, text, &end, EXPR_BE_SET_SRV);
	return e;
}

/* The name in "hdr(name)"; NULL: none, or no closing parenthesis. */
static const char *name_in_word(struct conf_line *l, const char *word)
{
	const char *open = strchr(word, '(');
	size_t len = open ? strcspn(open + 1, ")") : 0;

	if (!len || open[1 + len] != ')')
		return NULL;
	return arena_copy(&l->cfg->arena, slice_make(open + 1, len)).ptr;
}

static bool parse_source(struct conf_line *l, struct proxy *px, const char *word)
{
	px->balancing.hash.input = HASH_INPUT_ADDRESS;
	px->balancing.hash.key = take_key(l, "src", "");
	return px->balancing.hash.key != NULL;
}

/* The number behind `len` or `depth`. */
static bool take_positive(struct conf_line *l, const char *what, unsigned *out)
{
	const char *word = conf_next(l);
	long v = word ? strtol(word, NULL, 10) : 0;

	if (v <= 0 || v > 65535)
		return conf_error(l, l->at - 1, NULL, "%s : '%s' expects a positive integer (got "
				  "'%s').", "balance uri", what, word ? word : "");
	*out = (unsigned)v;
	return true;
}

static bool parse_uri(struct conf_line *l, struct proxy *px, const char *unused)
{
	struct hash_settings *h = &px->balancing.hash;
	const char *fetch = "url", *word;

	h->input = HASH_INPUT_URI;
	h->len = h->depth = 0;
	h->whole = false;
	while ((word = conf_next(l))) {
		if (strcmp(word, "whole") == 0)
			h->whole = true;
		else if (strcmp(word, "path-only") == 0)
			fetch = "pathq";
		else if (strcmp(word, "len") != 0 && strcmp(word, "depth") != 0)
			return conf_error(l, l->at - 1, NULL, "balance uri only accepts parameters "
					  "'len', 'depth', 'path-only', and 'whole' (got '%s').",
					  word);
		else if (!take_positive(l, word, *word == 'l' ? &h->len : &h->depth))
			return false;
	}
	h->key = take_key(l, fetch, "");
	return h->key != NULL;
}

/* The body is looked at when it is there; check_post waits for it. */
static bool parse_url_param(struct conf_line *l, struct proxy *px, const char *unused)
{
	bool has_body_fetch = expr_fetch_find(SLICE("req.body_param")) != NULL;
	const char *name = conf_next(l), *word;
	struct hash_settings *h = &px->balancing.hash;

	if (!name)
		return conf_error(l, 0, NULL, "balance url_param requires an URL parameter name.");
	word = conf_next(l);
	if (word && strcmp(word, "check_post") != 0)
		return conf_error(l, l->at - 1, NULL, "balance url_param only accepts "
				  "'check_post' modifier (got '%s').", word);
	if (word && !has_body_fetch)
		return conf_error(l, l->at - 1, NULL, "'check_post' is not supported yet.");
	conf_next(l); /* once a limit of time, ignored since */
	if (word)
		px->options |= PROXY_OPT_HTTP_BUFFER_REQUEST;
	h->input = HASH_INPUT_PARAM;
	h->key = take_key(l, "url_param(%s)", name);
	h->body_key = has_body_fetch ? take_key(l, "req.body_param(%s)", name) : NULL;
	return h->key && (h->body_key || !has_body_fetch);
}

static bool parse_hdr(struct conf_line *l, struct proxy *px, const char *word)
{
	const char *name = name_in_word(l, word), *modifier = conf_next(l);

	if (!name)
		return conf_error(l, 1, NULL, "balance hdr requires an http header field name.");
	if (modifier && strcmp(modifier, "use_domain_only") != 0)
		return conf_error(l, l->at - 1, NULL, "balance %s only accepts 'use_domain_only' "
				  "modifier (got '%s').", word, modifier);
	px->balancing.hash.input = modifier ? HASH_INPUT_DOMAIN : HASH_INPUT_TEXT;
	px->balancing.hash.key = take_key(l, "req.fhdr(%s,-1)", name);
	return px->balancing.hash.key != NULL;
}

static bool parse_rdp_cookie(struct conf_line *l, struct proxy *px, const char *word)
{
	const char *name = "mstshash";

	if (strchr(word, '(')) {
		name = name_in_word(l, word);
		if (!name)
			return conf_error(l, 1, NULL, "balance rdp-cookie : missing cookie name.");
	}
	if (!expr_fetch_find(SLICE("req.rdp_cookie")))
		return conf_error(l, 1, NULL, "balance algorithm '%s' is not supported yet.", word);
	px->balancing.hash.input = HASH_INPUT_TEXT;
	px->balancing.hash.key = take_key(l, "req.rdp_cookie(%s)", name);
	return px->balancing.hash.key != NULL;
}

static bool parse_hash(struct conf_line *l, struct proxy *px, const char *unused)
{
	if (!conf_peek(l))
		return conf_error(l, 0, NULL, "balance hash requires a sample expression.");
	px->balancing.hash.input = HASH_INPUT_BYTES;
	px->balancing.hash.key = expr_take(l, EXPR_BE_SET_SRV);
	if (px->balancing.hash.key && conf_peek(l))
		return conf_error(l, l->at, NULL, "balance hash takes no other argument (got "
				  "'%s').", conf_peek(l));
	return px->balancing.hash.key != NULL;
}

static bool parse_random(struct conf_line *l, struct proxy *px, const char *word)
{
	const char *open = strchr(word, '(');
	char *end;
	long v;

	px->balancing.random_draws = 2;
	if (!open)
		return true;
	v = strtol(open + 1, &end, 10);
	if (!*end)
		return conf_error(l, 1, NULL, "balance random : missing closing parenthesis.");
	if (*end != ')')
		return conf_error(l, 1, NULL, "balance random : unexpected character '%c' after "
				  "argument.", *end);
	if (v < 1)
		return conf_error(l, 1, NULL, "balance random : number of draws must be at least "
				  "1.");
	px->balancing.random_draws = v > 65535 ? 65535 : (unsigned)v;
	return true;
}

/* --- balance ---------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	bool has_parenthesis; /* "hdr(name)", "random(2)": may, or must */
	/* What stands behind the name; NULL: nothing that matters. */
	bool (*parse)(struct conf_line *l, struct proxy *px, const char *word);
} algorithms[] = {
	{ "roundrobin", false, NULL }, { "static-rr", false, NULL },
	{ "leastconn", false, NULL }, { "first", false, NULL }, { "sticky", false, NULL },
	{ "peak-ewma", false, NULL },
	{ "random", true, parse_random }, { "source", false, parse_source },
	{ "uri", false, parse_uri }, { "url_param", false, parse_url_param },
	{ "hdr", true, parse_hdr }, { "rdp-cookie", true, parse_rdp_cookie },
	{ "hash", false, parse_hash }, { "log-hash", false, log_backend_parse_hash },
};

static bool parse_balance(struct conf_line *l)
{
	struct proxy *px = l->object;
	const char *word = conf_next(l);
	size_t len = word ? strcspn(word, "(") : 0;

	px->balancing.is_set = true;
	if (!word)
		return true; /* round robin, as before */
	for (unsigned i = 0; i < ARRAY_LEN(algorithms); i++) {
		if (strlen(algorithms[i].name) != len ||
		    strncmp(algorithms[i].name, word, len) != 0)
			continue;
		if (word[len] && !algorithms[i].has_parenthesis)
			break;
		if (!word[len] && strcmp(algorithms[i].name, "hdr") == 0)
			break;
		px->balancing.hash.key = px->balancing.hash.body_key = NULL;
		px->balancing.algorithm = balance_find(algorithms[i].name);
		if (!px->balancing.algorithm) /* log-hash, which picks by itself */
			px->balancing.algorithm = balance_find("roundrobin");
		px->balancing.log_hash = NULL;
		if (algorithms[i].parse)
			return algorithms[i].parse(l, px, word) && conf_take_end(l);
		return conf_take_end(l);
	}
	return conf_error(l, 1, NULL, "balance only supports 'roundrobin', 'static-rr', "
			  "'leastconn', 'source', 'uri', 'url_param', 'hash', 'hdr(name)', "
			  "'rdp-cookie(name)', 'random', 'first' and 'sticky' options.");
}

/* --- hash-type and kin ------------------------------------------------------------------------ */

static bool parse_hash_type(struct conf_line *l)
{
	static const char *const functions[] = {
#define X(name, text) text,
		HASH_FUNCTIONS(X)
#undef X
	};
	struct hash_settings *h = &((struct proxy *)l->object)->balancing.hash;
	const char *method = conf_next(l), *function = conf_next(l), *modifier = conf_next(l);
	unsigned i = 0;

	if (!method || (strcmp(method, "consistent") != 0 && strcmp(method, "map-based") != 0))
		return conf_error(l, 1, NULL, "'hash-type' only supports 'consistent' and "
				  "'map-based'.");
	h->method = *method == 'c' ? HASH_CONSISTENT : HASH_MAP;
	h->function = HASH_SDBM;
	h->function_is_set = function != NULL;
	h->avalanche = modifier != NULL;
	if (function && strcmp(function, "wt6") == 0)
		return conf_error(l, 2, "use sdbm, djb2 or crc32: keys then move to other servers "
				  "once.", "'wt6' is not supported: no description of this hash is "
				  "public.");
	while (function && i < HASH_FUNCTION_COUNT && strcmp(function, functions[i]) != 0)
		i++;
	if (i == HASH_FUNCTION_COUNT)
		return conf_error(l, 2, NULL, "'hash-type' only supports 'sdbm', 'djb2', 'crc32' "
				  "or 'none' hash functions.");
	h->function = i;
	if (modifier && strcmp(modifier, "avalanche") != 0)
		return conf_error(l, 3, NULL, "'hash-type' only supports 'avalanche' as a modifier "
				  "for hash functions.");
	return conf_take_end(l);
}

static bool parse_balance_factor(struct conf_line *l)
{
	const char *word = conf_next(l);
	char *end;
	long v = word ? strtol(word, &end, 10) : 0;

	if (!word || end == word || *end)
		return conf_error(l, 1, NULL, "'hash-balance-factor' expects an integer argument.");
	if (v < 0 || (v > 0 && v <= 100) || v > 1000000)
		return conf_error(l, 1, NULL, "'hash-balance-factor' must be 0 or greater than "
				  "100.");
	((struct proxy *)l->object)->balancing.hash.balance_factor = (unsigned)v;
	return conf_take_end(l);
}

static bool parse_affinity(struct conf_line *l)
{
	static const char *const names[] = {
		[HASH_AFFINITY_ALWAYS] = "always", [HASH_AFFINITY_MAXCONN] = "maxconn",
		[HASH_AFFINITY_MAXQUEUE] = "maxqueue",
	};
	const char *word = conf_next(l);

	if (!word)
		return conf_error(l, 0, NULL, "'hash-preserve-affinity' needs a keyword to specify "
				  "when to preserve hash affinity");
	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(word, names[i]) == 0) {
			((struct proxy *)l->object)->balancing.hash.affinity = i;
			return conf_take_end(l);
		}
	return conf_error(l, 1, NULL, "'hash-preserve-affinity': unknown keyword '%s'", word);
}

static bool parse_hash_key(struct conf_line *l)
{
	static const char *const names[] = {
		[HASH_KEY_ID] = "id", [HASH_KEY_ADDRESS] = "addr",
		[HASH_KEY_ADDRESS_PORT] = "addr-port",
	};
	struct server *srv = l->object;
	const char *word = conf_next(l);

	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(word, names[i]) == 0) {
			srv->hash_key = i;
			return true;
		}
	return conf_report(l, l->at - 1, DIAG_ALERT, DIAG_AT, "'server %s/%s' : 'hash-key' has to "
			   "be 'id', 'addr', or 'addr-port'.", srv->proxy->name, srv->name);
}

static const struct conf_keyword keywords[] = {
	{ .words = "balance", .where = CONF_DEF_BE, .max_args = -1,
	  .parse = parse_balance, .syntax = "<algorithm> [<arguments>]",
	  .help = "how the next server is chosen" },
	{ .words = "hash-type", .where = CONF_DEF_BE, .max_args = -1, .parse = parse_hash_type,
	  .syntax = "{ map-based | consistent } [<function> [avalanche]]",
	  .help = "how hashes mean servers" },
	{ .words = "hash-balance-factor", .where = CONF_DEF_BE, .max_args = -1,
	  .parse = parse_balance_factor, .syntax = "<percent>",
	  .help = "load of a server above which a hash means the next one" },
	{ .words = "hash-preserve-affinity", .where = CONF_DEF_BE, .max_args = -1,
	  .parse = parse_affinity, .syntax = "{ always | maxconn | maxqueue }",
	  .help = "when a hash means its server although it is full" },
	{ .words = "hash-key", .where = CONF_SERVER, .min_args = 1, .max_args = 1,
	  .parse = parse_hash_key, .syntax = "{ id | addr | addr-port }",
	  .help = "what its points of consistent hashing come from" },
	{ 0 }
};

/* Requests of `mode tcp` have nothing of HTTP to hash. */
static void balance_check(struct config *cfg, struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };
	static const char *const http_only[] = { "uri", "url_param", "hdr" };

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		for (unsigned i = 0; i < ARRAY_LEN(http_only); i++) {
			if (px->mode == PROXY_MODE_HTTP || !px->balancing.algorithm ||
			    px->balancing.algorithm != balance_find(http_only[i]))
				continue;
			diag_add(diags, DIAG_WARNING, &nowhere, NULL, "Layer 7 hash not possible "
				 "for backend '%s' (needs 'mode http'). Falling back to round "
				 "robin.", px->name);
			px->balancing.algorithm = balance_find("roundrobin");
			break;
		}
}

const struct module mod_balance = {
	.name = "balance",
	.keywords = keywords,
	.check = balance_check,
};

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
#include "proxy/server.h"
#include "balance_priv.h"

/* --- balance ---------------------------------------------------------------------------------- */

/* "'roundrobin', 'hdr(<name>)', ...": every algorithm as it is written. */
static const char *algorithm_names(struct config *cfg)
{
	const char *text = "";
	const struct balance_algorithm *a;

	for (unsigned i = 0; text && (a = balance_at(i)); i++)
		text = arena_printf(&cfg->arena, "%s%s'%s%s'", text, i ? ", " : "", a->name,
				    a->needs_parenthesis ? a->syntax : "");
	return text ? text : "";
}

/* The algorithm that a word names; NULL: none does, or its parenthesis is too much or missing. */
static const struct balance_algorithm *algorithm_of(const char *word)
{
	size_t len = strcspn(word, "(");
	const struct balance_algorithm *a = NULL;

	for (unsigned i = 0; (a = balance_at(i)); i++)
		if (strlen(a->name) == len && strncmp(a->name, word, len) == 0)
			break;
	if (!a || (word[len] && !a->takes_parenthesis) || (!word[len] && a->needs_parenthesis))
		return NULL;
	return a;
}

static const char *next_algorithm(void *ctx)
{
	const struct balance_algorithm *a = balance_at((*(unsigned *)ctx)++);

	return a ? a->name : NULL;
}

/* "did you mean"; NULL. In the arena. */
static const char *algorithm_hint(struct config *cfg, const char *word)
{
	unsigned at = 0;
	const char *near = conf_closest(word, next_algorithm, &at);

	return near ? arena_printf(&cfg->arena, "did you mean '%s' ?", near) : NULL;
}

static bool parse_balance(struct conf_line *l)
{
	struct proxy *px = l->object;
	const char *word = conf_next(l);
	const struct balance_algorithm *a;

	px->balancing.is_set = true;
	if (!word)
		return true; /* round robin, as before */
	a = algorithm_of(word);
	if (!a)
		return conf_error(l, 1, algorithm_hint(l->cfg, word),
				  "balance only supports %s options.",
				  algorithm_names(l->cfg));
	px->balancing.hash.key = px->balancing.hash.body_key = NULL;
	px->balancing.log_hash = NULL;
	px->balancing.algorithm = a;
	return (!a->parse || a->parse(l, px, word)) && conf_take_end(l);
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
		[HASH_KEY_ID] = "id", [HASH_KEY_ID32] = "id32", [HASH_KEY_GUID] = "guid",
		[HASH_KEY_ADDRESS] = "addr", [HASH_KEY_ADDRESS_PORT] = "addr-port",
	};
	struct server *srv = l->object;
	const char *word = conf_next(l);

	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(word, names[i]) == 0) {
			srv->hash_key = i;
			return true;
		}
	return conf_report(l, l->at - 1, DIAG_ALERT, DIAG_AT, "'server %s/%s' : 'hash-key' has to "
			   "be 'id', 'id32', 'guid', 'addr', or 'addr-port'.", srv->proxy->name,
			   srv->name);
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
	  .parse = parse_hash_key, .syntax = "{ id | id32 | guid | addr | addr-port }",
	  .help = "what its points of consistent hashing come from" },
	{ 0 }
};

/* Requests of `mode tcp` have nothing of HTTP to hash, streams have no log line. */
static void check_mode(struct proxy *px, struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };

	if (px->mode != PROXY_MODE_LOG && px->caps & PROXY_BE && px->balancing.log_hash) {
		diag_add(diags, DIAG_WARNING, &nowhere, NULL, "Unusable balance algorithm for "
			 "backend '%s' (needs 'mode log'). Falling back to round robin.", px->name);
		px->balancing.log_hash = NULL;
		px->balancing.algorithm = balance_find("roundrobin");
	}
	if (px->mode == PROXY_MODE_HTTP || !(px->caps & PROXY_BE) || !px->balancing.algorithm ||
	    !px->balancing.algorithm->http_only)
		return;
	diag_add(diags, DIAG_WARNING, &nowhere, NULL, "Layer 7 hash not possible for backend '%s' "
		 "(needs 'mode http'). Falling back to round robin.", px->name);
	px->balancing.algorithm = balance_find("roundrobin");
}

static void balance_check(struct config *cfg, struct diag_list *diags)
{
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		check_mode(px, diags);
}

const struct module mod_balance = {
	.name = "balance",
	.keywords = keywords,
	.check = balance_check, .check_backend = check_mode,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance_hash.c - the algorithms that hash something of the request: all the same, but for what
 * `balance` made of the key (balance_parse.c). A hash means a server even if it has no room: the
 * request then waits for it.
 */
#include "balance_priv.h"
#include "proxy/hash.h"
#include "proxy/proxy.h"

static bool is_consistent(const struct balance *b)
{
	return b->proxy->balancing.hash.method == HASH_CONSISTENT;
}

static bool hash_init(struct balance *b)
{
	return is_consistent(b) ? balance_ring_init(b) : balance_map_init(b);
}

static void hash_fini(struct balance *b)
{
	if (is_consistent(b))
		balance_ring_fini(b);
	else
		balance_map_fini(b);
}

static void hash_update(struct balance *b)
{
	if (is_consistent(b))
		balance_ring_update(b);
	else
		balance_map_update(b);
}

/* A map knows one server for a hash, no other server takes its requests. */
static struct server *hash_pick(struct balance *b, const struct balance_pick_args *args)
{
	uint32_t hash;

	if (!__atomic_load_n(&b->in_use, __ATOMIC_RELAXED))
		return NULL;
	if (!hash_request(&b->proxy->balancing.hash, args->expr, &hash))
		return is_consistent(b) ? balance_ring_next(b, args->avoid)
					: balance_map_next(b, args->avoid);
	return is_consistent(b) ? balance_ring_at(b, hash, args->avoid) : balance_map_at(b, hash);
}

#define ALGORITHM(symbol, text, words) \
	const struct balance_algorithm balance_##symbol = { \
		.name = text, .syntax = words, .parse = balance_parse_##symbol, .hashes = true, \
		.init = hash_init, .fini = hash_fini, .update = hash_update, .pick = hash_pick,

ALGORITHM(source, "source", NULL) };
ALGORITHM(uri, "uri", "[len <n>] [depth <n>] [path-only] [whole]") .http_only = true };
ALGORITHM(url_param, "url_param", "<name> [check_post]") .http_only = true };
ALGORITHM(hdr, "hdr", "(<name>) [use_domain_only]")
	.takes_parenthesis = true, .needs_parenthesis = true, .http_only = true };
ALGORITHM(rdp_cookie, "rdp-cookie", "[(<name>)]") .takes_parenthesis = true };
ALGORITHM(hash, "hash", "<expression>") };

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hash.h - the keys of hash-based balancing, and how a key becomes a number
 *
 * Purpose: the settings of `balance source, uri, url_param, hdr, rdp-cookie, hash` and of
 *          `hash-type`, and the hash of a request. proxy/balance.h finds the server for a hash.
 * Owns   : nothing: the expressions lie in the generation's arena.
 * Threads: settings are immutable; hashing from any thread.
 * Manual : balance, hash-type, hash-balance-factor, hash-preserve-affinity, hash-key (server).
 */
#ifndef PROXY_HASH_H
#define PROXY_HASH_H

#include <stdbool.h>
#include <stdint.h>
#include "base/slice.h"

struct expr;
struct expr_ctx;
struct server;

enum hash_method { HASH_MAP, HASH_CONSISTENT };

/* X(name, word of hash-type) */
#define HASH_FUNCTIONS(X) \
	X(SDBM, "sdbm") X(DJB2, "djb2") X(CRC32, "crc32") X(NONE, "none")
enum hash_function {
#define X(name, text) HASH_##name,
	HASH_FUNCTIONS(X)
#undef X
	HASH_FUNCTION_COUNT
};

/* How the value of the key's expression is prepared for hashing. */
enum hash_input {
	HASH_INPUT_TEXT,    /* a field, a cookie; an empty one counts as missing */
	HASH_INPUT_PARAM,   /* a parameter: may be empty */
	HASH_INPUT_ADDRESS, /* not hashed by the function: its 32-bit words are combined into one */
	HASH_INPUT_URI,     /* cut by <len>, <depth>, <whole> */
	HASH_INPUT_DOMAIN,  /* the second-level label of a host name */
	HASH_INPUT_BYTES,   /* any sample, as bytes */
};

/* A server without room: use it all the same, or skip it when its maxconn, or its maxqueue, is
 * reached.
 */
enum hash_affinity { HASH_AFFINITY_ALWAYS, HASH_AFFINITY_MAXCONN, HASH_AFFINITY_MAXQUEUE };

/* hash-key of a server: what the seed of its points on the ring is derived from. */
enum hash_key {
	HASH_KEY_ID, HASH_KEY_ID32, HASH_KEY_GUID, HASH_KEY_ADDRESS, HASH_KEY_ADDRESS_PORT,
};

struct hash_settings {
	enum hash_method method;
	enum hash_function function;
	bool function_is_set, avalanche;
	enum hash_affinity affinity;
	unsigned balance_factor;       /* percent of the average load; 0: no bound */
	const struct expr *key;        /* of `balance`; NULL: not one of these algorithms */
	const struct expr *body_key;   /* the key in a POST body, or NULL */
	const struct expr *body_for;   /* with body_key: the request's method */
	enum hash_input input;
	unsigned len, depth;           /* `uri`; 0: no limit */
	bool whole;
};

/* Hashes the request of <ctx>. False: it has no such key, any server will do. */
bool hash_request(const struct hash_settings *h, struct expr_ctx *ctx, uint32_t *hash);
/* Hashes a text with the function and modifier of `hash-type`. */
uint32_t hash_of_text(const struct hash_settings *h, struct slice text);
/* Returns the seed for the points of <srv>. */
uint32_t hash_server_seed(const struct server *srv);

#endif

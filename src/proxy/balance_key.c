/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance_key.c - the input of balancing by hash, and its conversion to a number */
#include "proxy/hash.h"
#include <netinet/in.h>
#include <string.h>
#include "base/hash.h"
#include "base/num.h"
#include "expr/expr.h"
#include "proxy/server.h"

/* --- parts of texts --------------------------------------------------------------------------- */

static struct slice hash_uri_part(const struct hash_settings *h, struct slice uri)
{
	size_t end = h->len && h->len < uri.len ? h->len : uri.len;
	unsigned slashes = 0;

	for (size_t i = 0; i < end; i++) {
		if (uri.ptr[i] == '/' && h->depth && ++slashes > h->depth)
			return slice_sub(uri, 0, i);
		if (uri.ptr[i] == '?' && !h->whole)
			return slice_sub(uri, 0, i);
	}
	return slice_sub(uri, 0, end);
}

/* "1wt" of "haproxy.1wt.eu": what stands before the last dot, back to the one before. A label has
 * one character at least. Without a dot, or nothing before it: all of it.
 */
static struct slice hash_domain_part(struct slice host)
{
	size_t end = host.len, start;

	while (end > 0 && host.ptr[end - 1] != '.')
		end--;
	if (end < 2)
		return host;
	end--; /* at the dot */
	start = end - 1;
	while (start > 0 && host.ptr[start - 1] != '.')
		start--;
	return slice_sub(host, start, end);
}

/* --- hashing ---------------------------------------------------------------------------------- */

/* The number at the start of a text, as 64 bits, then its low half; no number is 0. */
static uint32_t hash_none(struct slice text)
{
	bool minus = text.len && text.ptr[0] == '-';
	uint64_t v = 0;

	for (size_t i = minus; i < text.len && ascii_is_digit(text.ptr[i]); i++)
		v = v * 10 + (uint64_t)(text.ptr[i] - '0');
	return (uint32_t)(minus ? -v : v);
}

static uint32_t hash_text(const struct hash_settings *h, struct slice text)
{
	switch (h->function) {
	case HASH_DJB2:
		return hash_djb2(text.ptr, text.len);
	case HASH_CRC32:
		return hash_crc32(0, text.ptr, text.len);
	case HASH_NONE:
		return hash_none(text);
	default:
		return hash_sdbm(text.ptr, text.len);
	}
}

static uint32_t hash_words(const uint8_t *bytes, size_t len)
{
	uint32_t hash = 0, word;

	for (; len >= sizeof(word); len -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash ^= ntohl(word);
	}
	return hash;
}

static bool hash_address(const struct sample *s, uint32_t *hash)
{
	if (s->type == SMP_IPV4)
		*hash = ntohl(s->ipv4);
	else if (s->type == SMP_IPV6)
		*hash = hash_words(s->ipv6, sizeof(s->ipv6));
	else
		return false;
	return true;
}

/* The value of the key; false: none. */
static bool key_take(const struct hash_settings *h, struct expr_ctx *ctx, struct sample *s)
{
	if (expr_eval(h->key, ctx, s) == EXPR_FOUND)
		return true;
	return h->body_key && expr_eval(h->body_for, ctx, s) == EXPR_FOUND &&
		slice_eq(s->text, SLICE("POST")) &&
		expr_eval(h->body_key, ctx, s) == EXPR_FOUND;
}

/* The text to hash; false: none. */
static bool key_text(const struct hash_settings *h, struct expr_ctx *ctx, struct sample *s)
{
	bool bytes = h->input == HASH_INPUT_BYTES && h->function != HASH_NONE;

	if (!sample_cast(s, bytes ? SMP_BIN : SMP_STR, ctx->arena))
		return false;
	if (h->input == HASH_INPUT_URI)
		s->text = hash_uri_part(h, s->text);
	else if (h->input == HASH_INPUT_DOMAIN)
		s->text = hash_domain_part(s->text);
	return s->text.len || (h->input != HASH_INPUT_TEXT && h->input != HASH_INPUT_DOMAIN);
}

bool hash_request(const struct hash_settings *h, struct expr_ctx *ctx, uint32_t *hash)
{
	struct sample s;

	if (!ctx || !h->key || !key_take(h, ctx, &s))
		return false;
	if (h->input == HASH_INPUT_ADDRESS) {
		if (!hash_address(&s, hash))
			return false;
	} else if (key_text(h, ctx, &s)) {
		*hash = hash_text(h, s.text);
	} else {
		return false;
	}
	if (h->avalanche || (h->method == HASH_CONSISTENT && !h->function_is_set))
		*hash = hash_avalanche(*hash);
	return true;
}

uint32_t hash_of_text(const struct hash_settings *h, struct slice text)
{
	uint32_t hash = hash_text(h, text);

	return h->avalanche ? hash_avalanche(hash) : hash;
}

/* --- servers ---------------------------------------------------------------------------------- */

/* Ids are this far apart, so that the points of one never meet the next one's. */
#define SEEDS_PER_ID 4096

static uint32_t address_seed(const struct server_addr *addr)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&addr->sa;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&addr->sa;
	uint32_t word, seed = 0;

	if (addr->sa.ss_family == AF_INET)
		return v4->sin_addr.s_addr;
	for (size_t i = 0; i < sizeof(v6->sin6_addr); i += sizeof(word)) {
		memcpy(&word, (const char *)&v6->sin6_addr + i, sizeof(word));
		seed ^= word;
	}
	return seed;
}

uint32_t hash_server_seed(const struct server *srv)
{
	struct server_addr addr;
	uint32_t seed;
	in_port_t port;

	if (srv->hash_key == HASH_KEY_ID32)
		return hash_avalanche(htonl((uint32_t)srv->id));
	if (srv->hash_key == HASH_KEY_GUID && srv->guid)
		return hash_xxh32(srv->guid, strlen(srv->guid), 0);
	if (srv->hash_key == HASH_KEY_ID || srv->hash_key == HASH_KEY_GUID)
		return (uint32_t)srv->id * SEEDS_PER_ID;
	server_address(srv, &addr);
	if (addr.sa.ss_family != AF_INET && addr.sa.ss_family != AF_INET6)
		return (uint32_t)srv->id * SEEDS_PER_ID;
	seed = address_seed(&addr);
	if (srv->hash_key == HASH_KEY_ADDRESS_PORT) {
		port = addr.sa.ss_family == AF_INET ? ((struct sockaddr_in *)&addr.sa)->sin_port
						    : ((struct sockaddr_in6 *)&addr.sa)->sin6_port;
		seed += hash_avalanche(ntohs(port));
	}
	return hash_avalanche(seed);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pattern_index.c - see pattern_index.h
 *
 * Open addressing, at most half full, 32-bit slots. The hash runs over the bytes one by one, so
 * that one pass over a text gives the hashes of all its prefixes: each is compared with the table
 * only when keys of that length exist.
 */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/hash.h"
#include "pattern_index.h"

#define HASH_SEED 0xcbf29ce484222325ull

static inline uint64_t hash_step(uint64_t h, unsigned char c)
{
	return (h ^ c) * 0x100000001b3ull;
}

static inline uint32_t hash_end(uint64_t h)
{
	h ^= h >> 32;
	h *= 0x9e3779b97f4a7c15ull;
	return (uint32_t)(h >> 32);
}

static inline unsigned char fold(bool nocase, char c)
{
	return (unsigned char)(nocase ? ascii_lower(c) : c);
}

static uint32_t key_hash(const struct key_table *t, struct slice key)
{
	uint64_t h = HASH_SEED;

	if (t->whole)
		return (uint32_t)hash_bytes(key.ptr, key.len, 0);
	for (size_t i = 0; i < key.len; i++)
		h = hash_step(h, fold(t->nocase, key.ptr[t->reverse ? key.len - 1 - i : i]));
	return hash_end(h);
}

static bool key_eq(const struct key_table *t, struct slice a, struct slice b)
{
	return t->nocase ? slice_eq_nocase(a, b) : slice_eq(a, b);
}

void key_table_fini(struct key_table *t)
{
	free(t->keys);
	free(t->slots);
	free(t->lengths);
	memset(t, 0, sizeof(*t));
}

bool key_table_add(struct key_table *t, struct slice key)
{
	if (t->count == t->room) {
		uint32_t room = t->room ? t->room * 2 : 8;
		struct slice *bigger = realloc(t->keys, room * sizeof(*bigger));

		if (!bigger)
			return false;
		t->keys = bigger;
		t->room = room;
	}
	t->keys[t->count++] = key;
	return true;
}

static uint32_t slots_for(uint32_t count)
{
	uint32_t n = 8;

	while (n < count * 2ull)
		n *= 2;
	return n;
}

/* Notes which lengths exist in a bitmap, then lists them. */
static bool build_lengths(struct key_table *t)
{
	size_t longest = 0, n = 0;
	uint64_t *exists;

	for (uint32_t i = 0; i < t->count; i++)
		if (t->keys[i].len > longest)
			longest = t->keys[i].len;
	exists = calloc(longest / 64 + 1, sizeof(*exists));
	if (!exists)
		return false;
	for (uint32_t i = 0; i < t->count; i++)
		exists[t->keys[i].len / 64] |= 1ull << t->keys[i].len % 64;
	for (size_t word = 0; word <= longest / 64; word++)
		n += (size_t)__builtin_popcountll(exists[word]);
	t->lengths = malloc((n + 1) * sizeof(*t->lengths));
	for (size_t len = 0; t->lengths && len <= longest; len++)
		if (exists[len / 64] >> len % 64 & 1)
			t->lengths[t->length_count++] = (uint32_t)len;
	free(exists);
	return t->lengths != NULL;
}

bool key_table_build(struct key_table *t)
{
	uint32_t n = slots_for(t->count);

	t->slots = calloc(n, sizeof(*t->slots));
	t->slot_mask = n - 1;
	if (!t->slots || !build_lengths(t))
		return false;
	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t at = key_hash(t, t->keys[i]) & t->slot_mask;

		while (t->slots[at] && !key_eq(t, t->keys[t->slots[at] - 1], t->keys[i]))
			at = (at + 1) & t->slot_mask;
		if (!t->slots[at])
			t->slots[at] = i + 1;
	}
	return true;
}

static int64_t key_probe(const struct key_table *t, uint32_t hash, struct slice text)
{
	uint32_t at = hash & t->slot_mask;

	for (; t->slots[at]; at = (at + 1) & t->slot_mask)
		if (key_eq(t, t->keys[t->slots[at] - 1], text))
			return t->slots[at] - 1;
	return -1;
}

int64_t key_table_find(const struct key_table *t, struct slice text)
{
	if (!t->count)
		return -1;
	return key_probe(t, key_hash(t, text), text);
}

/* All keys that <text> starts or ends with, shorter ones first: the last one found, or the one of
 * the smallest index.
 */
static int64_t find_end(const struct key_table *t, struct slice text, bool want_first)
{
	uint64_t h = HASH_SEED;
	int64_t best = -1;
	size_t done = 0;

	for (uint32_t n = 0; n < t->length_count && t->lengths[n] <= text.len; n++) {
		size_t len = t->lengths[n];
		int64_t found;

		for (; done < len; done++)
			h = hash_step(h, fold(t->nocase,
					      text.ptr[t->reverse ? text.len - 1 - done : done]));
		found = key_probe(t, hash_end(h), t->reverse ?
				  slice_make(text.ptr + text.len - len, len) :
				  slice_make(text.ptr, len));
		if (found >= 0 && (!want_first || best < 0 || found < best))
			best = found;
	}
	return best;
}

int64_t key_table_find_longest(const struct key_table *t, struct slice text)
{
	return find_end(t, text, false);
}

int64_t key_table_find_first(const struct key_table *t, struct slice text)
{
	return find_end(t, text, true);
}

/* Keys that start at the start of <text> and end before a delimiter or the end: the first of the
 * list. */
static int64_t part_at(const struct key_table *t, struct slice text, const bool *is_delimiter)
{
	uint64_t h = HASH_SEED;
	int64_t best = -1;
	size_t done = 0;

	for (uint32_t n = 0; n < t->length_count && t->lengths[n] <= text.len; n++) {
		size_t len = t->lengths[n];
		int64_t found;

		if (!len)
			continue; /* a pattern of delimiters alone matches nothing */
		for (; done < len; done++)
			h = hash_step(h, fold(t->nocase, text.ptr[done]));
		if (len < text.len && !is_delimiter[(unsigned char)text.ptr[len]])
			continue;
		found = key_probe(t, hash_end(h), slice_make(text.ptr, len));
		if (found >= 0 && (best < 0 || found < best))
			best = found;
	}
	return best;
}

int64_t key_table_find_part(const struct key_table *t, struct slice text, const char *delimiters)
{
	bool is_delimiter[256] = { false };
	int64_t best = -1;

	for (; *delimiters; delimiters++)
		is_delimiter[(unsigned char)*delimiters] = true;
	for (size_t i = 0; i < text.len; i++) {
		int64_t found;

		if (i && !is_delimiter[(unsigned char)text.ptr[i - 1]])
			continue;
		found = part_at(t, slice_sub(text, i, text.len), is_delimiter);
		if (found >= 0 && (best < 0 || found < best))
			best = found;
	}
	return best;
}

/* --- networks ----------------------------------------------------------------------------- */

static void mask_ip(uint8_t *ip, const uint8_t *from, unsigned bytes, unsigned bits)
{
	memset(ip, 0, 16);
	memcpy(ip, from, bits / 8);
	if (bits % 8 && bits / 8 < bytes)
		ip[bits / 8] = (uint8_t)(from[bits / 8] & (0xff00 >> (bits % 8)));
}

static uint32_t net_hash(const uint8_t *ip, unsigned bits)
{
	uint64_t a, b;

	memcpy(&a, ip, 8);
	memcpy(&b, ip + 8, 8);
	a = (a ^ bits) * 0x9e3779b97f4a7c15ull;
	a ^= a >> 29;
	return hash_end(a ^ b * 0xc2b2ae3d27d4eb4full);
}

void net_table_fini(struct net_table *t)
{
	free(t->entries);
	free(t->slots);
	memset(t, 0, sizeof(*t));
}

bool net_table_add(struct net_table *t, const uint8_t *ip, unsigned bits, uint32_t index)
{
	struct net_entry *e;

	if (t->count == t->room) {
		uint32_t room = t->room ? t->room * 2 : 8;
		struct net_entry *bigger = realloc(t->entries, room * sizeof(*bigger));

		if (!bigger)
			return false;
		t->entries = bigger;
		t->room = room;
	}
	e = &t->entries[t->count++];
	mask_ip(e->ip, ip, t->bytes, bits);
	e->bits = (uint8_t)bits;
	e->index = index;
	t->bits_used[bits / 64] |= 1ull << (bits % 64);
	return true;
}

static int64_t net_probe(const struct net_table *t, const uint8_t *ip, unsigned bits, uint32_t *at)
{
	*at = net_hash(ip, bits) & t->slot_mask;
	for (; t->slots[*at]; *at = (*at + 1) & t->slot_mask) {
		const struct net_entry *e = &t->entries[t->slots[*at] - 1];

		if (e->bits == bits && memcmp(e->ip, ip, 16) == 0)
			return e->index;
	}
	return -1;
}

bool net_table_build(struct net_table *t)
{
	uint32_t n = slots_for(t->count), at;

	t->slots = calloc(n, sizeof(*t->slots));
	t->slot_mask = n - 1;
	if (!t->slots)
		return false;
	for (uint32_t i = 0; i < t->count; i++)
		if (net_probe(t, t->entries[i].ip, t->entries[i].bits, &at) < 0)
			t->slots[at] = i + 1;
	return true;
}

int64_t net_table_find(const struct net_table *t, const uint8_t *ip)
{
	uint8_t masked[16];
	uint32_t at;

	if (!t->count)
		return -1;
	for (int word = 2; word >= 0; word--) {
		uint64_t left = t->bits_used[word];

		while (left) {
			unsigned bit = 63u - (unsigned)__builtin_clzll(left);
			int64_t found;

			left &= ~(1ull << bit);
			mask_ip(masked, ip, t->bytes, (unsigned)word * 64 + bit);
			found = net_probe(t, masked, (unsigned)word * 64 + bit, &at);
			if (found >= 0)
				return found;
		}
	}
	return -1;
}

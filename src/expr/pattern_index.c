/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pattern_index.c - see pattern_index.h
 *
 * Open addressing, at most half full (three quarters once it grows while others look), 32-bit
 * slots. The hash runs over the bytes one by one, so that one pass over a text gives the hashes of
 * all its prefixes: each is compared with the table only when keys of that length exist. A few keys
 * are compared one by one: that costs less than a hash.
 */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/hash.h"
#include "core/mailbox.h"
#include "core/thread.h"
#include "pattern_index.h"

/* Up to so many keys are compared one by one. */
#define FEW 8

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

/* --- what is freed later ------------------------------------------------------------------ */

struct pattern_junk {
	struct pattern_junk *next;
	void *ptr;
	void (*release)(void *ptr);
};

void pattern_bin_add(struct pattern_bin *bin, void *ptr, void (*release)(void *ptr))
{
	struct pattern_junk *j;

	if (!ptr)
		return;
	if (!bin) {
		release(ptr);
		return;
	}
	j = malloc(sizeof(*j));
	if (!j)
		return; /* leaked: a thread may be reading it */
	*j = (struct pattern_junk){ .next = bin->first, .ptr = ptr, .release = release };
	bin->first = j;
}

void pattern_bin_free(struct pattern_bin *bin)
{
	while (bin->first) {
		struct pattern_junk *j = bin->first;

		bin->first = j->next;
		j->release(j->ptr);
		free(j);
	}
}

/* Each thread has been here: it holds nothing of before. */
static void bin_pass(void *ctx)
{
}

static void bin_done(void *ctx)
{
	struct pattern_bin bin = { .first = ctx };

	pattern_bin_free(&bin);
}

void pattern_bin_empty(struct pattern_bin *bin)
{
	if (!bin->first || !thread_is_worker())
		return;
	if (thread_call_all(bin_pass, bin_done, bin->first))
		bin->first = NULL;
}

bool pattern_grow(struct pattern_bin *bin, void **array, size_t used, size_t size)
{
	void *copy;

	if (!bin) {
		copy = realloc(*array, size);
		if (copy)
			*array = copy;
		return copy != NULL;
	}
	copy = malloc(size);
	if (!copy)
		return false;
	if (used)
		memcpy(copy, *array, used);
	memset((char *)copy + used, 0, size - used);
	pattern_bin_add(bin, *array, free);
	__atomic_store_n(array, copy, __ATOMIC_RELEASE);
	return true;
}

static uint32_t slots_for(uint32_t count)
{
	uint32_t n = 8;

	while (n < count * 2ull)
		n *= 2;
	return n;
}

static struct index_slots *slots_new(uint32_t count)
{
	uint32_t n = slots_for(count);
	struct index_slots *slots = calloc(1, sizeof(*slots) + n * sizeof(slots->at[0]));

	if (slots)
		slots->mask = n - 1;
	return slots;
}

static inline bool slots_are_full(const struct index_slots *slots)
{
	return slots->used >= slots->mask - slots->mask / 4;
}

/* --- keys --------------------------------------------------------------------------------- */

void key_table_fini(struct key_table *t)
{
	free(t->keys);
	free(t->next);
	free(t->slots);
	free(t->lengths);
	memset(t, 0, sizeof(*t));
}

static inline const struct slice *keys_of(const struct key_table *t)
{
	return __atomic_load_n(&t->keys, __ATOMIC_ACQUIRE);
}

/* The place of the chain of a key with this hash, or the free one where it would begin. */
static uint32_t key_place(const struct key_table *t, const struct index_slots *slots,
			  uint32_t hash, struct slice key)
{
	uint32_t at = hash & slots->mask;

	while (slots->at[at] && !key_eq(t, t->keys[slots->at[at] - 1], key))
		at = (at + 1) & slots->mask;
	return at;
}

/* Puts <number> at the end of the chain that <first> begins. */
static bool key_chain(struct key_table *t, uint32_t first, uint32_t number,
		      struct pattern_bin *bin)
{
	if (number >= t->next_room) {
		uint32_t room = t->room, used = t->next_room;

		if (!pattern_grow(bin, (void **)&t->next, used * sizeof(*t->next),
				  room * sizeof(*t->next)))
			return false;
		if (!bin)
			memset(t->next + used, 0, (room - used) * sizeof(*t->next));
		t->next_room = room;
	}
	while (t->next[first])
		first = t->next[first] - 1;
	__atomic_store_n(&t->next[first], number + 1, __ATOMIC_RELEASE);
	return true;
}

/* Makes the key of <number> found. */
static bool key_publish(struct key_table *t, uint32_t number, uint32_t hash,
			struct pattern_bin *bin)
{
	uint32_t at = key_place(t, t->slots, hash, t->keys[number]);

	if (t->slots->at[at])
		return key_chain(t, t->slots->at[at] - 1, number, bin);
	t->slots->used++;
	__atomic_store_n(&t->slots->at[at], number + 1, __ATOMIC_RELEASE);
	return true;
}

/* Twice the room: only the first of each chain has a place. */
static bool slots_grow(struct key_table *t, struct pattern_bin *bin)
{
	struct index_slots *old = t->slots, *slots = slots_new(old->used * 2);

	if (!slots)
		return false;
	for (uint32_t i = 0; i <= old->mask; i++) {
		struct slice key = old->at[i] ? t->keys[old->at[i] - 1] : slice_none();

		if (old->at[i])
			slots->at[key_place(t, slots, key_hash(t, key), key)] = old->at[i];
	}
	slots->used = old->used;
	__atomic_store_n(&t->slots, slots, __ATOMIC_RELEASE);
	pattern_bin_add(bin, old, free);
	return true;
}

/* Adds a length unless it is there. */
static bool lengths_add(struct key_table *t, uint32_t len, struct pattern_bin *bin)
{
	struct index_lengths *old = t->lengths, *lengths;
	uint32_t n = 0;

	while (n < old->count && old->at[n] < len)
		n++;
	if (n < old->count && old->at[n] == len)
		return true;
	lengths = malloc(sizeof(*lengths) + (old->count + 1) * sizeof(len));
	if (!lengths)
		return false;
	lengths->count = old->count + 1;
	memcpy(lengths->at, old->at, n * sizeof(len));
	lengths->at[n] = len;
	memcpy(lengths->at + n + 1, old->at + n, (old->count - n) * sizeof(len));
	__atomic_store_n(&t->lengths, lengths, __ATOMIC_RELEASE);
	pattern_bin_add(bin, old, free);
	return true;
}

bool key_table_add(struct key_table *t, struct slice key, struct pattern_bin *bin)
{
	uint32_t number = t->count;

	if (number == t->room) {
		uint32_t room = t->room ? t->room * 2 : 8;

		if (!pattern_grow(bin, (void **)&t->keys, number * sizeof(*t->keys),
				  room * sizeof(*t->keys)))
			return false;
		t->room = room;
	}
	t->keys[number] = key;
	__atomic_store_n(&t->count, number + 1, __ATOMIC_RELEASE);
	if (!bin || t->listed)
		return true;
	return lengths_add(t, (uint32_t)key.len, bin) &&
	       (!slots_are_full(t->slots) || slots_grow(t, bin)) &&
	       key_publish(t, number, key_hash(t, key), bin);
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
	t->lengths = malloc(sizeof(*t->lengths) + (n + 1) * sizeof(t->lengths->at[0]));
	if (t->lengths)
		t->lengths->count = 0;
	for (size_t len = 0; t->lengths && len <= longest; len++)
		if (exists[len / 64] >> len % 64 & 1)
			t->lengths->at[t->lengths->count++] = (uint32_t)len;
	free(exists);
	return t->lengths != NULL;
}

/* A large table is not in any cache: places are asked for before they are needed, and then the
 * keys which are there already.
 */
#define AHEAD 16
#define AHEAD_KEY 8

static bool build_slots(struct key_table *t)
{
	uint32_t hashes[2 * AHEAD];
	const struct index_slots *slots = t->slots;

	for (uint64_t i = 0; i < (uint64_t)t->count + AHEAD; i++) {
		uint32_t *hash = &hashes[i % (2 * AHEAD)], other;

		if (i < t->count) {
			*hash = key_hash(t, t->keys[i]);
			__builtin_prefetch(&slots->at[*hash & slots->mask], 1);
		}
		if (i >= AHEAD_KEY && i - AHEAD_KEY < t->count) {
			other = slots->at[hashes[(i - AHEAD_KEY) % (2 * AHEAD)] & slots->mask];
			if (other)
				__builtin_prefetch(&t->keys[other - 1]);
		}
		if (i >= AHEAD && !key_publish(t, (uint32_t)(i - AHEAD),
					       hashes[(i - AHEAD) % (2 * AHEAD)], NULL))
			return false;
	}
	return true;
}

bool key_table_build(struct key_table *t)
{

	if (t->listed)
		return true;
	t->slots = slots_new(t->count);
	if (!t->slots || !build_lengths(t))
		return false;
	return build_slots(t);
}

/* The first of the chain that counts. */
static int64_t key_seen(const struct key_table *t, const struct pattern_view *v, uint32_t number)
{
	while (!pattern_is_seen(v, number)) {
		const uint32_t *next = __atomic_load_n(&t->next, __ATOMIC_ACQUIRE);
		uint32_t other = next ? __atomic_load_n(&next[number], __ATOMIC_ACQUIRE) : 0;

		if (!other)
			return -1;
		number = other - 1;
	}
	return number;
}

static int64_t key_probe(const struct key_table *t, const struct pattern_view *v, uint32_t hash,
			 struct slice text)
{
	const struct index_slots *slots = __atomic_load_n(&t->slots, __ATOMIC_ACQUIRE);
	uint32_t at = hash & slots->mask, number;

	for (;; at = (at + 1) & slots->mask) {
		number = __atomic_load_n(&slots->at[at], __ATOMIC_ACQUIRE);
		if (!number)
			return -1;
		if (key_eq(t, keys_of(t)[number - 1], text))
			return key_seen(t, v, number - 1);
	}
}

/* Where of a text the keys are looked for, when there are few. */
enum key_part { KEY_WHOLE, KEY_START, KEY_TAIL };

static inline bool key_is_at(const struct key_table *t, struct slice key, struct slice text,
			     enum key_part part)
{
	if (part == KEY_WHOLE)
		return key_eq(t, key, text);
	if (key.len > text.len)
		return false;
	if (part == KEY_TAIL)
		text.ptr += text.len - key.len;
	text.len = key.len;
	return key_eq(t, key, text);
}

/* The first of the <count> keys that is there, or the longest one; of equal ones the first. */
static inline int64_t find_few(const struct key_table *t, const struct pattern_view *v,
			       uint32_t count, struct slice text, enum key_part part,
			       bool want_first)
{
	const struct slice *keys = keys_of(t);
	int64_t best = -1;

	for (uint32_t i = 0; i < count; i++) {
		if ((best >= 0 && keys[i].len <= keys[best].len) ||
		    !key_is_at(t, keys[i], text, part) || !pattern_is_seen(v, i))
			continue;
		best = i;
		if (want_first)
			break;
	}
	return best;
}

/* How many keys there are: read before the keys themselves, which can then be more. */
static inline uint32_t key_count(const struct key_table *t)
{
	return __atomic_load_n(&t->count, __ATOMIC_ACQUIRE);
}

int64_t key_table_find(const struct key_table *t, const struct pattern_view *v, struct slice text)
{
	uint32_t count = key_count(t);

	if (count <= FEW)
		return find_few(t, v, count, text, KEY_WHOLE, true);
	return key_probe(t, v, key_hash(t, text), text);
}

/* All keys that <text> starts or ends with, shorter ones first: the last one found, or the one of
 * the smallest number.
 */
static int64_t find_end(const struct key_table *t, const struct pattern_view *v, struct slice text,
			bool want_first)
{
	const struct index_lengths *lengths;
	uint64_t h = HASH_SEED;
	int64_t best = -1;
	uint32_t count = key_count(t);
	size_t done = 0;

	if (count <= FEW)
		return find_few(t, v, count, text, t->reverse ? KEY_TAIL : KEY_START, want_first);
	lengths = __atomic_load_n(&t->lengths, __ATOMIC_ACQUIRE);
	for (uint32_t n = 0; n < lengths->count && lengths->at[n] <= text.len; n++) {
		size_t len = lengths->at[n];
		int64_t found;

		for (; done < len; done++)
			h = hash_step(h, fold(t->nocase,
					      text.ptr[t->reverse ? text.len - 1 - done : done]));
		found = key_probe(t, v, hash_end(h), t->reverse ?
				  slice_make(text.ptr + text.len - len, len) :
				  slice_make(text.ptr, len));
		if (found >= 0 && (!want_first || best < 0 || found < best))
			best = found;
	}
	return best;
}

int64_t key_table_find_longest(const struct key_table *t, const struct pattern_view *v,
			       struct slice text)
{
	return find_end(t, v, text, false);
}

int64_t key_table_find_first(const struct key_table *t, const struct pattern_view *v,
			     struct slice text)
{
	return find_end(t, v, text, true);
}

/* Keys that start at the start of <text> and end before a delimiter or the end: the first of the
 * list. */
static int64_t part_at(const struct key_table *t, const struct pattern_view *v, struct slice text,
		       const bool *is_delimiter)
{
	const struct index_lengths *lengths = __atomic_load_n(&t->lengths, __ATOMIC_ACQUIRE);
	uint64_t h = HASH_SEED;
	int64_t best = -1;
	size_t done = 0;

	for (uint32_t n = 0; n < lengths->count && lengths->at[n] <= text.len; n++) {
		size_t len = lengths->at[n];
		int64_t found;

		if (!len)
			continue; /* a pattern of delimiters alone matches nothing */
		for (; done < len; done++)
			h = hash_step(h, fold(t->nocase, text.ptr[done]));
		if (len < text.len && !is_delimiter[(unsigned char)text.ptr[len]])
			continue;
		found = key_probe(t, v, hash_end(h), slice_make(text.ptr, len));
		if (found >= 0 && (best < 0 || found < best))
			best = found;
	}
	return best;
}

int64_t key_table_find_part(const struct key_table *t, const struct pattern_view *v,
			    struct slice text, const char *delimiters)
{
	bool is_delimiter[256] = { false };
	int64_t best = -1;

	for (; *delimiters; delimiters++)
		is_delimiter[(unsigned char)*delimiters] = true;
	for (size_t i = 0; i < text.len; i++) {
		int64_t found;

		if (i && !is_delimiter[(unsigned char)text.ptr[i - 1]])
			continue;
		found = part_at(t, v, slice_sub(text, i, text.len), is_delimiter);
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

/* The place of the network's chain, or the free one where it would begin. */
static uint32_t net_place(const struct net_table *t, const struct index_slots *slots,
			  const struct net_entry *e)
{
	uint32_t at = net_hash(e->ip, e->bits) & slots->mask;

	for (; slots->at[at]; at = (at + 1) & slots->mask) {
		const struct net_entry *other = &t->entries[slots->at[at] - 1];

		if (other->bits == e->bits && memcmp(other->ip, e->ip, 16) == 0)
			break;
	}
	return at;
}

static void net_publish(struct net_table *t, uint32_t entry)
{
	uint32_t at = net_place(t, t->slots, &t->entries[entry]), *place = &t->slots->at[at];

	if (!*place)
		t->slots->used++;
	while (*place)
		place = &t->entries[*place - 1].next;
	__atomic_store_n(place, entry + 1, __ATOMIC_RELEASE);
}

static bool net_slots_grow(struct net_table *t, struct pattern_bin *bin)
{
	struct index_slots *old = t->slots, *slots = slots_new(old->used * 2);

	if (!slots)
		return false;
	for (uint32_t i = 0; i <= old->mask; i++)
		if (old->at[i])
			slots->at[net_place(t, slots, &t->entries[old->at[i] - 1])] = old->at[i];
	slots->used = old->used;
	__atomic_store_n(&t->slots, slots, __ATOMIC_RELEASE);
	pattern_bin_add(bin, old, free);
	return true;
}

bool net_table_add(struct net_table *t, const uint8_t *ip, unsigned bits, uint32_t number,
		   struct pattern_bin *bin)
{
	struct net_entry *e;

	if (t->count == t->room) {
		uint32_t room = t->room ? t->room * 2 : 8;

		if (!pattern_grow(bin, (void **)&t->entries, t->count * sizeof(*e),
				  room * sizeof(*e)))
			return false;
		t->room = room;
	}
	if (bin && slots_are_full(t->slots) && !net_slots_grow(t, bin))
		return false;
	e = &t->entries[t->count++];
	mask_ip(e->ip, ip, t->bytes, bits);
	e->bits = (uint8_t)bits;
	e->number = number;
	e->next = 0;
	__atomic_fetch_or(&t->bits_used[bits / 64], 1ull << (bits % 64), __ATOMIC_RELAXED);
	if (bin)
		net_publish(t, t->count - 1);
	return true;
}

bool net_table_build(struct net_table *t)
{
	t->slots = slots_new(t->count);
	if (!t->slots)
		return false;
	for (uint32_t i = 0; i < t->count; i++)
		net_publish(t, i);
	return true;
}

static int64_t net_probe(const struct net_table *t, const struct pattern_view *v,
			 const uint8_t *ip, unsigned bits)
{
	const struct index_slots *slots = __atomic_load_n(&t->slots, __ATOMIC_ACQUIRE);
	uint32_t at = net_hash(ip, bits) & slots->mask, n;

	for (;; at = (at + 1) & slots->mask) {
		const struct net_entry *entries, *e;

		n = __atomic_load_n(&slots->at[at], __ATOMIC_ACQUIRE);
		if (!n)
			return -1;
		entries = __atomic_load_n(&t->entries, __ATOMIC_ACQUIRE);
		e = &entries[n - 1];
		if (e->bits != bits || memcmp(e->ip, ip, 16) != 0)
			continue;
		while (!pattern_is_seen(v, e->number)) {
			n = __atomic_load_n(&e->next, __ATOMIC_ACQUIRE);
			if (!n)
				return -1;
			entries = __atomic_load_n(&t->entries, __ATOMIC_ACQUIRE);
			e = &entries[n - 1];
		}
		return e->number;
	}
}

int64_t net_table_find(const struct net_table *t, const struct pattern_view *v, const uint8_t *ip)
{
	uint8_t masked[16];

	for (int word = 2; word >= 0; word--) {
		uint64_t left = __atomic_load_n(&t->bits_used[word], __ATOMIC_RELAXED);

		while (left) {
			unsigned bit = 63u - (unsigned)__builtin_clzll(left);
			int64_t found;

			left &= ~(1ull << bit);
			mask_ip(masked, ip, t->bytes, (unsigned)word * 64 + bit);
			found = net_probe(t, v, masked, (unsigned)word * 64 + bit);
			if (found >= 0)
				return found;
		}
	}
	return -1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state.c - the entries of a table: shards, their buckets, their memory and their order of use
 *
 * A shard's entries are in slabs that grow with it. Its buckets double when there are two entries
 * per bucket; each new entry then moves a few buckets, so that no insertion costs more than
 * another.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "base/bug.h"
#include "base/hash.h"
#include "core/lock.h"
#include "core/thread.h"
#include "table_priv.h"

#define SLAB_HEAD 64
#define SLAB_BYTES_MAX 65536
#define SLAB_FIRST 8
#define BUCKETS_FIRST 8
#define SHARDS_MAX 256
/* A table so small is worth the exact order of use more than several locks. */
#define ONE_SHARD_SIZE 1024
#define SHARD_SIZE_MIN 128
#define GRAIN_MAX_MS 1000
/* An entry that is given an age keeps its place for `expire`, 31 bits, from now: in all it must not
 * seem to be of a clock that is ahead.
 */
#define AGE_MAX (INT32_MAX - TABLE_AHEAD_MS)
/* Buckets that a new entry moves, expired entries that it gives up, used ones that it passes. */
#define MOVED_EACH 8
#define SWEPT_EACH 4
#define PASSED_MAX 1024

/* --- time ------------------------------------------------------------------------------------- */

/* 0 when <from> is of a clock that is a turn ahead. `expire` has 31 bits: all between is old. */
static uint32_t since_ms(uint32_t from_ms, uint32_t now_ms)
{
	uint32_t since = now_ms - from_ms;

	return since > UINT32_MAX - TABLE_AHEAD_MS ? 0 : since;
}

uint32_t table_idle(const struct table_entry *e)
{
	return since_ms(__atomic_load_n(&e->touched_ms, __ATOMIC_RELAXED), table_now_ms());
}

static uint32_t expire_ms(const struct table_state *st)
{
	return __atomic_load_n(&st->expire_ms, __ATOMIC_RELAXED);
}

uint32_t table_expires_in(const struct table_state *st, const struct table_entry *e)
{
	uint32_t expire = expire_ms(st), idle = table_idle(e);

	return idle < expire ? expire - idle : 0;
}

/* May it not be found any more? Under the lock of its shard. */
static bool is_expired(const struct table_state *st, const struct table_entry *e)
{
	return expire_ms(st) && !__atomic_load_n(&e->refs, __ATOMIC_ACQUIRE) &&
	       !table_expires_in(st, e);
}

/* --- buckets ---------------------------------------------------------------------------------- */

static struct table_shard *shard_of(struct table_state *st, uint32_t hash)
{
	return &st->shards[st->shard_bits ? hash >> (32 - st->shard_bits) : 0];
}

static void shard_lock(struct table_shard *sh)
{
	SHARED_LINE(&sh->lock);
	lock_take(&sh->lock);
}

/* Where the chain of a hash begins; of the former buckets, NULL: moved, or there are none. */
static struct table_entry **chain(struct table_shard *sh, uint32_t hash)
{
	return &sh->buckets[hash & (sh->bucket_count - 1)];
}

static struct table_entry **old_chain(struct table_shard *sh, uint32_t hash)
{
	uint32_t i = hash & (sh->old_count - 1);

	return sh->old && i >= sh->moved ? &sh->old[i] : NULL;
}

static void move_buckets(struct table_shard *sh)
{
	for (unsigned n = 0; sh->old && n < MOVED_EACH; n++) {
		struct table_entry *e = sh->old[sh->moved++];

		while (e) {
			struct table_entry *next = e->next, **to = chain(sh, e->hash);

			e->next = *to;
			*to = e;
			e = next;
		}
		if (sh->moved < sh->old_count)
			continue;
		free(sh->old);
		sh->old = NULL;
	}
	if (!sh->old)
		return;
	/* what the next call moves comes from memory meanwhile */
	for (uint32_t i = sh->moved; i < sh->old_count && i < sh->moved + MOVED_EACH; i++)
		__builtin_prefetch(sh->old[i], 1);
}

/* False: there are none, and no memory for some. */
static bool grow_buckets(struct table_shard *sh)
{
	uint32_t count = sh->buckets ? sh->bucket_count * 2 : BUCKETS_FIRST;
	struct table_entry **buckets;

	move_buckets(sh);
	if (sh->old || (sh->buckets && sh->used < 2 * sh->bucket_count))
		return true;
	buckets = calloc(count, sizeof(struct table_entry *));
	if (!buckets)
		return sh->buckets != NULL;
	sh->old = sh->buckets;
	sh->old_count = sh->bucket_count;
	sh->moved = 0;
	sh->buckets = buckets;
	sh->bucket_count = count;
	return true;
}

static struct table_entry *chain_find(const struct table_state *st, struct table_entry *e,
				      uint32_t hash, const struct table_key *key)
{
	while (e && (e->hash != hash || !table_key_is(&st->shape, e, key)))
		e = e->next;
	return e;
}

static bool chain_remove(struct table_entry **at, const struct table_entry *e)
{
	while (at && *at && *at != e)
		at = &(*at)->next;
	if (!at || !*at)
		return false;
	*at = e->next;
	return true;
}

/* --- memory ----------------------------------------------------------------------------------- */

static struct table_entry *slab_cell(const struct table_state *st, const struct table_slab *slab,
				     uint32_t i)
{
	return (struct table_entry *)(void *)((char *)(uintptr_t)slab + SLAB_HEAD +
					      (size_t)i * st->shape.size);
}

/* More free entries; false: no memory. */
static bool slab_add(struct table_state *st, struct table_shard *sh)
{
	uint32_t cells = sh->slab_count ? sh->slabs[sh->slab_count - 1]->cells * 2 : SLAB_FIRST;
	uint32_t most = (SLAB_BYTES_MAX - SLAB_HEAD) / st->shape.size;
	void *made = NULL;
	struct table_slab *slab;

	cells = cells > most ? most : cells;
	cells = cells ? cells : 1;
	if (sh->slab_count == sh->slab_room) {
		uint32_t room = sh->slab_room ? sh->slab_room * 2 : 4;
		struct table_slab **all = realloc(sh->slabs, room * sizeof(struct table_slab *));

		if (!all)
			return false;
		sh->slabs = all;
		sh->slab_room = room;
	}
	if (posix_memalign(&made, 64, SLAB_HEAD + (size_t)cells * st->shape.size) != 0)
		return false;
	slab = made;
	slab->cells = cells;
	sh->slabs[sh->slab_count++] = slab;
	for (uint32_t i = cells; i--;) {
		struct table_entry *e = slab_cell(st, slab, i);

		e->refs = TABLE_ENTRY_FREE;
		e->next = sh->free;
		sh->free = e;
	}
	return true;
}

/* Nothing is in it any more: its memory goes. */
static void shard_empty(struct table_shard *sh)
{
	for (uint32_t i = 0; i < sh->slab_count; i++)
		free(sh->slabs[i]);
	sh->slab_count = 0;
	sh->free = NULL;
	free(sh->buckets);
	free(sh->old);
	sh->buckets = sh->old = NULL;
}

/* Puts an entry that nothing holds out of the table. Under the lock. */
static void entry_free(struct table_state *st, struct table_shard *sh, struct table_entry *e)
{
	if (!chain_remove(chain(sh, e->hash), e))
		BUG_ON(!chain_remove(old_chain(sh, e->hash), e));
	list_remove(&e->lru);
	__atomic_store_n(&e->refs, TABLE_ENTRY_FREE, __ATOMIC_RELAXED);
	e->next = sh->free;
	sh->free = e;
	__atomic_fetch_sub(&st->used, 1, __ATOMIC_RELAXED);
	if (!--sh->used && sh->slab_count > 1)
		shard_empty(sh);
}

/* Is there room for one more? Then it is taken. */
static bool room_take(struct table_state *st)
{
	if (__atomic_fetch_add(&st->used, 1, __ATOMIC_RELAXED) <
	    __atomic_load_n(&st->size, __ATOMIC_RELAXED))
		return true;
	__atomic_fetch_sub(&st->used, 1, __ATOMIC_RELAXED);
	return false;
}

/* A new entry, held once, for which there is room. NULL: no memory. */
static struct table_entry *entry_new(struct table_state *st, struct table_shard *sh,
				     uint32_t hash, const struct table_key *key)
{
	struct table_entry *e, **at;

	if (!grow_buckets(sh) || (!sh->free && !slab_add(st, sh))) {
		__atomic_fetch_sub(&st->used, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	e = sh->free;
	sh->free = e->next;
	memset((char *)e + sizeof(e->next), 0, st->shape.size - sizeof(e->next));
	SHARED_LINE(e);
	SHARED_LINE(&st->used);
	e->hash = hash;
	e->touched_ms = e->placed_ms = table_now_ms();
	__atomic_store_n(&e->refs, 1, __ATOMIC_RELAXED);
	table_key_put(&st->shape, e, key);
	list_append(&sh->lru, &e->lru);
	at = chain(sh, hash);
	e->next = *at;
	*at = e;
	sh->used++;
	return e;
}

/* --- order of use ----------------------------------------------------------------------------- */

static void place_last(struct table_shard *sh, struct table_entry *e, uint32_t now_ms)
{
	SHARED_LINE(&e->lru);
	SHARED_LINE(e->lru.next);
	SHARED_LINE(e->lru.prev);
	list_remove(&e->lru);
	list_append(&sh->lru, &e->lru);
	SHARED_LINE(e->lru.prev);
	__atomic_store_n(&e->placed_ms, now_ms, __ATOMIC_RELAXED);
}

static struct table_entry *least_recent(struct table_shard *sh)
{
	return list_is_empty(&sh->lru) ? NULL : list_first(&sh->lru, struct table_entry, lru);
}

/* Gives up what has expired; true: there is no more of it. */
static bool shard_sweep(struct table_state *st, struct table_shard *sh, unsigned budget)
{
	uint32_t expire = expire_ms(st), now_ms = table_now_ms();
	struct table_entry *e;

	while (expire && (e = least_recent(sh)) && since_ms(e->placed_ms, now_ms) >= expire) {
		if (!budget--)
			return false;
		if (is_expired(st, e))
			entry_free(st, sh, e);
		else if (__atomic_load_n(&e->refs, __ATOMIC_RELAXED))
			place_last(sh, e, now_ms);
		else
			return true; /* used since it was placed: it expires within <grain_ms> */
	}
	return true;
}

/* Gives up the entry that was used least recently. False: all are held. */
static bool shard_give_up(struct table_state *st, struct table_shard *sh)
{
	struct table_entry *e;

	for (unsigned n = 0; n < PASSED_MAX && (e = least_recent(sh)); n++) {
		if (!__atomic_load_n(&e->refs, __ATOMIC_ACQUIRE)) {
			entry_free(st, sh, e);
			return true;
		}
		place_last(sh, e, table_now_ms());
	}
	return false;
}

/* Makes room in a full table, in any shard but <mine>, which was looked at. Without a lock. */
static bool make_room(struct table_state *st, const struct table_shard *mine)
{
	bool keep = __atomic_load_n(&st->keep, __ATOMIC_RELAXED);
	unsigned count = 1u << st->shard_bits, first = (unsigned)(mine - st->shards);

	for (unsigned i = 1; i < count; i++) {
		struct table_shard *sh = &st->shards[(first + i) % count];
		uint32_t before;
		bool made;

		shard_lock(sh);
		before = sh->used;
		shard_sweep(st, sh, SWEPT_EACH);
		made = sh->used < before || (!keep && shard_give_up(st, sh));
		lock_drop(&sh->lock);
		if (made)
			return true;
	}
	return false;
}

/* Makes room in the shard of the key, under its lock. */
static bool make_room_here(struct table_state *st, struct table_shard *sh)
{
	uint32_t before = sh->used;

	shard_sweep(st, sh, PASSED_MAX);
	return sh->used < before ||
	       (!__atomic_load_n(&st->keep, __ATOMIC_RELAXED) && shard_give_up(st, sh));
}

/* Takes the place of one entry, if need be by giving up another; of two in a table which a reload
 * has made smaller than what is in it. Under the lock of the key's shard.
 */
static bool room_make(struct table_state *st, struct table_shard *sh)
{
	for (unsigned given_up = 0; !room_take(st); given_up++) {
		if (given_up == 2) {
			__atomic_fetch_add(&st->used, 1, __ATOMIC_RELAXED);
			return true;
		}
		if (!make_room_here(st, sh))
			return false;
	}
	return true;
}

void table_touch(struct table_state *st, struct table_entry *e)
{
	uint32_t now_ms = table_now_ms();
	struct table_shard *sh;

	/* several times a request, most often in one millisecond: that is known already */
	if (__atomic_load_n(&e->touched_ms, __ATOMIC_RELAXED) == now_ms)
		return;
	SHARED_LINE(&e->touched_ms);
	__atomic_store_n(&e->touched_ms, now_ms, __ATOMIC_RELAXED);
	if (since_ms(__atomic_load_n(&e->placed_ms, __ATOMIC_RELAXED), now_ms) <
	    __atomic_load_n(&st->grain_ms, __ATOMIC_RELAXED))
		return;
	sh = shard_of(st, e->hash);
	shard_lock(sh);
	place_last(sh, e, now_ms);
	lock_drop(&sh->lock);
}

void table_changed(struct table_state *st, struct table_entry *e)
{
	struct table_feed *feed;

	table_touch(st, e);
	counter_add(&st->changes, 0, 1);
	feed = __atomic_load_n(&st->feed, __ATOMIC_ACQUIRE);
	if (unlikely(feed != NULL))
		table_feed_note(feed, e);
}

/* --- finding ---------------------------------------------------------------------------------- */

/* Under the lock. One that has expired is given up. */
static struct table_entry *shard_find(struct table_state *st, struct table_shard *sh, uint32_t hash,
				      const struct table_key *key)
{
	struct table_entry *e, **old;

	if (!sh->buckets)
		return NULL;
	e = chain_find(st, *chain(sh, hash), hash, key);
	if (!e && (old = old_chain(sh, hash)))
		e = chain_find(st, *old, hash, key);
	if (!e || !is_expired(st, e))
		return e;
	entry_free(st, sh, e);
	return NULL;
}

static uint32_t key_hash(const struct table_state *st, const struct table_key *key)
{
	return (uint32_t)hash_sip13(table_key_bytes(key), key->len, st->secret);
}

struct table_entry *table_find(struct table_state *st, const struct table_key *key)
{
	uint32_t hash = key_hash(st, key);
	struct table_shard *sh = shard_of(st, hash);
	struct table_entry *e;

	shard_lock(sh);
	e = shard_find(st, sh, hash, key);
	if (e)
		table_hold(e);
	lock_drop(&sh->lock);
	return e;
}

/* Under the lock. */
static struct table_entry *shard_get(struct table_state *st, struct table_shard *sh, uint32_t hash,
				     const struct table_key *key, uint32_t age_ms)
{
	struct table_entry *e = shard_find(st, sh, hash, key);
	uint32_t now_ms = table_now_ms();

	if (e) {
		table_hold(e);
		if (age_ms && table_idle(e) <= age_ms)
			return e;
		__atomic_store_n(&e->touched_ms, now_ms - age_ms, __ATOMIC_RELAXED);
		if (since_ms(e->placed_ms, now_ms) >=
		    __atomic_load_n(&st->grain_ms, __ATOMIC_RELAXED))
			place_last(sh, e, now_ms);
		return e;
	}
	shard_sweep(st, sh, SWEPT_EACH);
	if (!room_make(st, sh))
		return NULL;
	e = entry_new(st, sh, hash, key);
	if (e && age_ms)
		e->touched_ms = now_ms - age_ms;
	return e;
}

struct table_entry *table_get_aged(struct table_state *st, const struct table_key *key,
				   uint32_t age_ms)
{
	uint32_t hash = key_hash(st, key);
	struct table_shard *sh = shard_of(st, hash);
	struct table_entry *e;

	if (unlikely(age_ms > AGE_MAX))
		age_ms = AGE_MAX;
	for (unsigned turns = 0; turns < 4; turns++) {
		shard_lock(sh);
		e = shard_get(st, sh, hash, key, age_ms);
		lock_drop(&sh->lock);
		if (e || !make_room(st, sh))
			return e;
	}
	return NULL;
}

struct table_entry *table_get(struct table_state *st, const struct table_key *key)
{
	return table_get_aged(st, key, 0);
}

/* What is <steps> behind where a chain begins; 0 is the place of its first entry. Compilers leave
 * out calls of functions that do nothing but fetch.
 */
static const void *chain_step(struct table_entry *const *at, unsigned steps)
{
	const struct table_entry *e;

	if (!at || !steps)
		return at;
	for (e = *at; e && --steps;)
		e = e->next;
	return e;
}

static void shard_fetch(struct table_shard *sh, uint32_t hash, unsigned steps)
{
	shard_lock(sh);
	if (sh->buckets) {
		__builtin_prefetch(chain_step(chain(sh, hash), steps), 1);
		__builtin_prefetch(chain_step(old_chain(sh, hash), steps), 1);
	}
	lock_drop(&sh->lock);
}

void table_expect(struct table_state *st, const struct table_key *keys, unsigned count)
{
	uint32_t hashes[TABLE_EXPECTED_MAX];

	for (unsigned i = 0; i < count; i++)
		hashes[i] = key_hash(st, &keys[i]);
	for (unsigned steps = 0; steps < 3; steps++)
		for (unsigned i = 0; i < count; i++)
			shard_fetch(shard_of(st, hashes[i]), hashes[i], steps);
}

bool table_remove(struct table_state *st, struct table_entry *e)
{
	struct table_shard *sh = shard_of(st, e->hash);
	bool last;

	shard_lock(sh);
	last = __atomic_load_n(&e->refs, __ATOMIC_ACQUIRE) == 1;
	if (last)
		entry_free(st, sh, e);
	else
		table_drop(e);
	lock_drop(&sh->lock);
	return last;
}

/* --- walking ---------------------------------------------------------------------------------- */

/* Holds what stands in a cell, if that is an entry. Under the lock. */
static struct table_entry *cell_hold(const struct table_state *st, struct table_entry *e)
{
	if (__atomic_load_n(&e->refs, __ATOMIC_RELAXED) == TABLE_ENTRY_FREE || is_expired(st, e))
		return NULL;
	return table_hold(e);
}

/* The next of this shard. */
static struct table_entry *shard_walk(struct table_state *st, struct table_shard *sh,
				      struct table_cursor *at, unsigned *budget)
{
	for (; at->slab < sh->slab_count; at->slab++, at->cell = 0) {
		const struct table_slab *slab = sh->slabs[at->slab];

		while (at->cell < slab->cells) {
			struct table_entry *e;

			if (!*budget)
				return NULL;
			(*budget)--;
			e = cell_hold(st, slab_cell(st, slab, at->cell++));
			if (e)
				return e;
		}
	}
	return NULL;
}

struct table_entry *table_walk(struct table_state *st, struct table_cursor *at, unsigned budget,
			       bool *more)
{
	struct table_entry *e;

	*more = false;
	for (; at->shard < 1u << st->shard_bits; at->shard++, at->slab = at->cell = 0) {
		struct table_shard *sh = &st->shards[at->shard];

		shard_lock(sh);
		e = shard_walk(st, sh, at, &budget);
		lock_drop(&sh->lock);
		*more = !e && !budget;
		if (e || *more)
			return e;
	}
	return NULL;
}

struct table_entry *table_at(struct table_state *st, uintptr_t address)
{
	struct table_entry *e = NULL;

	for (unsigned i = 0; i < 1u << st->shard_bits && !e; i++) {
		struct table_shard *sh = &st->shards[i];

		shard_lock(sh);
		for (uint32_t s = 0; s < sh->slab_count; s++) {
			const struct table_slab *slab = sh->slabs[s];
			uintptr_t first = (uintptr_t)slab_cell(st, slab, 0);

			if (address < first || (address - first) % st->shape.size ||
			    (address - first) / st->shape.size >= slab->cells)
				continue;
			e = cell_hold(st, (struct table_entry *)address);
			break;
		}
		lock_drop(&sh->lock);
	}
	return e;
}

bool table_sweep(struct table_state *st, unsigned budget)
{
	unsigned each = budget >> st->shard_bits;
	bool all = true;

	for (unsigned i = 0; i < 1u << st->shard_bits; i++) {
		struct table_shard *sh = &st->shards[i];

		shard_lock(sh);
		all = shard_sweep(st, sh, each ? each : 1) && all;
		lock_drop(&sh->lock);
	}
	return table_parts_sweep(st, budget) && all;
}

/* --- life ------------------------------------------------------------------------------------- */

static unsigned shard_bits_for(uint32_t size)
{
	unsigned bits = 0;

	if (size < ONE_SHARD_SIZE || thread_count() == 1)
		return 0;
	while (1u << bits < 4 * thread_count() && 1u << bits < SHARDS_MAX &&
	       (size >> (bits + 1)) >= SHARD_SIZE_MIN)
		bits++;
	return bits;
}

void table_state_set_limits(struct table_state *st, const struct table_limits *l)
{
	uint32_t grain = l->expire_ms ? l->expire_ms / 64 : GRAIN_MAX_MS;

	grain = grain > GRAIN_MAX_MS ? GRAIN_MAX_MS : grain;
	if (l->size < ONE_SHARD_SIZE || !grain)
		grain = 1;
	__atomic_store_n(&st->size, l->size, __ATOMIC_RELAXED);
	__atomic_store_n(&st->expire_ms, l->expire_ms, __ATOMIC_RELAXED);
	__atomic_store_n(&st->keep, l->keep, __ATOMIC_RELAXED);
	__atomic_store_n(&st->bytes_factor, l->bytes_factor, __ATOMIC_RELAXED);
	__atomic_store_n(&st->sums, l->sums, __ATOMIC_RELAXED);
	__atomic_store_n(&st->grain_ms, grain, __ATOMIC_RELAXED);
	table_parts_set_limits(st, l);
}

struct table_limits table_state_limits(const struct table_state *st)
{
	return (struct table_limits){
		.size = __atomic_load_n(&st->size, __ATOMIC_RELAXED),
		.expire_ms = __atomic_load_n(&st->expire_ms, __ATOMIC_RELAXED),
		.keep = __atomic_load_n(&st->keep, __ATOMIC_RELAXED),
		.bytes_factor = __atomic_load_n(&st->bytes_factor, __ATOMIC_RELAXED),
		.sums = __atomic_load_n(&st->sums, __ATOMIC_RELAXED),
	};
}

struct table_state *table_state_new(const char *name, const struct table_shape *s,
				    const struct table_limits *l)
{
	unsigned bits = shard_bits_for(l->size);
	size_t size = sizeof(struct table_state) + sizeof(struct table_shard) * ((size_t)1 << bits);
	void *made = NULL;
	struct table_state *st;

	if (posix_memalign(&made, 64, size) != 0)
		return NULL;
	st = memset(made, 0, size);
	st->name = strdup(name);
	if (!st->name || !counter_set_init(&st->changes, 1) ||
	    getrandom(st->secret, sizeof(st->secret), 0) != sizeof(st->secret)) {
		counter_set_fini(&st->changes);
		free(st->name);
		free(st);
		return NULL;
	}
	st->refs = 1;
	st->shape = *s;
	st->shard_bits = bits;
	for (unsigned i = 0; i < 1u << bits; i++)
		list_init(&st->shards[i].lru);
	table_state_set_limits(st, l);
	return st;
}

struct table_state *table_state_take(struct table_state *st)
{
	__atomic_fetch_add(&st->refs, 1, __ATOMIC_RELAXED);
	return st;
}

void table_state_drop(struct table_state **at)
{
	struct table_state *st = *at;

	*at = NULL;
	if (!st || __atomic_sub_fetch(&st->refs, 1, __ATOMIC_ACQ_REL))
		return;
	for (unsigned i = 0; i < 1u << st->shard_bits; i++) {
		shard_empty(&st->shards[i]);
		free(st->shards[i].slabs);
	}
	table_texts_free(&st->texts);
	table_feed_free(st->feed);
	table_parts_free(st->parts);
	counter_set_fini(&st->changes);
	free(st->name);
	free(st);
}

const struct table_shape *table_state_shape(const struct table_state *st)
{
	return &st->shape;
}

uint32_t table_state_used(const struct table_state *st)
{
	return __atomic_load_n(&st->used, __ATOMIC_RELAXED);
}

uint32_t table_state_changes(const struct table_state *st)
{
	return (uint32_t)counter_read(&st->changes, 0);
}

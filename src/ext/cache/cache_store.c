/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_store.c - finds objects by key, evicts the least recently used ones
 *
 * The limit applies to all shards together; a thread that needs room takes it from the shard that
 * it works on, then from the others, one lock at a time.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "base/clock.h"
#include "base/hash.h"
#include "core/lock.h"
#include "cache_priv.h"

#define SHARDS 16

struct shard {
	unsigned lock;
	struct tree tree;
	struct list lru;           /* least recently used first */
	uint32_t serial;           /* of the newest */
} __attribute__((aligned(64)));

struct cache {
	unsigned refs;             /* atomic */
	char *name;                /* owned */
	uint64_t secret[2];
	uint64_t size;             /* bytes that there may be */
	uint64_t used __attribute__((aligned(64))); /* atomic */
	struct cache_fills *fills;
	struct shard shards[SHARDS];
};

/* --- finding ---------------------------------------------------------------------------------- */

uint64_t cache_hash(const struct cache *c, struct slice key)
{
	return hash_sip13(key.ptr, key.len, c->secret);
}

static struct shard *shard_of(struct cache *c, uint64_t hash)
{
	return &c->shards[hash >> 60];
}

/* Under the lock. */
static void object_out(struct cache *c, struct shard *sh, struct cache_object *o)
{
	tree_remove(&sh->tree, &o->node);
	list_remove(&o->lru);
	o->is_in = false;
	__atomic_fetch_sub(&c->used, cache_object_size(o), __ATOMIC_RELAXED);
	cache_object_drop(o);
}

/* It is given to no client any more. */
static bool is_over(const struct cache_object *o)
{
	return o->end_ms + o->kept_s * 1000ULL <= clock_now_ms();
}

static struct cache_object *find(struct cache *c, struct slice key,
				 const struct cache_second *request, bool hints)
{
	uint64_t hash = cache_hash(c, key);
	struct shard *sh = shard_of(c, hash);
	struct cache_object *found = NULL;
	struct tree_node *n, *next;

	lock_take(&sh->lock);
	for (n = tree_find(&sh->tree, hash); n && n->key == hash; n = next) {
		struct cache_object *o = (struct cache_object *)n;

		next = tree_next(n);
		if (is_over(o))
			object_out(c, sh, o);
		else if ((!found || cache_second_of(o)->vary & CACHE_VARY_OURS) &&
			 cache_is_hints(o) == hints && slice_eq(cache_key_of(o), key) &&
			 cache_second_fits(cache_second_of(o), request))
			found = o; /* what is compressed already goes before what is not */
	}
	if (found) {
		cache_object_take(found);
		list_remove(&found->lru);
		list_append(&sh->lru, &found->lru);
	}
	lock_drop(&sh->lock);
	return found;
}

struct cache_object *cache_find(struct cache *c, struct slice key,
				const struct cache_second *request)
{
	return find(c, key, request, false);
}

struct cache_object *cache_find_hints(struct cache *c, struct slice key,
				      const struct cache_second *request)
{
	return find(c, key, request, true);
}

static bool second_eq(const struct cache_second *a, const struct cache_second *b)
{
	return a->vary == b->vary &&
	       (!(a->vary & CACHE_VARY_ENCODING) || a->encodings == b->encodings) &&
	       (!(a->vary & CACHE_VARY_REFERER) || a->referer == b->referer) &&
	       (!(a->vary & CACHE_VARY_ORIGIN) || a->origin == b->origin) &&
	       (!(a->vary & CACHE_VARY_OTHERS) ||
		(a->others_hash == b->others_hash && slice_eq(a->others, b->others)));
}

/* --- room ------------------------------------------------------------------------------------- */

static bool room_take(struct cache *c, uint64_t size)
{
	if (__atomic_add_fetch(&c->used, size, __ATOMIC_RELAXED) <= c->size)
		return true;
	__atomic_fetch_sub(&c->used, size, __ATOMIC_RELAXED);
	return false;
}

/* The least recently used of a shard leaves. False: it is empty. */
static bool shard_give_up(struct cache *c, struct shard *sh)
{
	bool any;

	lock_take(&sh->lock);
	any = !list_is_empty(&sh->lru);
	if (any)
		object_out(c, sh, list_first(&sh->lru, struct cache_object, lru));
	lock_drop(&sh->lock);
	return any;
}

/* False: it is larger than all that can leave. */
static bool room_make(struct cache *c, uint64_t size, unsigned first)
{
	for (unsigned i = 0; !room_take(c, size); i++) {
		unsigned n = 0;

		while (n < SHARDS && !shard_give_up(c, &c->shards[(first + i + n) % SHARDS]))
			n++;
		if (n == SHARDS)
			return false;
	}
	return true;
}

/* --- adding and removing ---------------------------------------------------------------------- */

/* Those that <o> replaces leave, and those that are over. Returns how many others of the key
 * vary.
 */
static unsigned make_place(struct cache *c, struct shard *sh, const struct cache_object *o,
			   uint64_t hash)
{
	struct tree_node *n, *next;
	unsigned others = 0;

	for (n = tree_find(&sh->tree, hash); n && n->key == hash; n = next) {
		struct cache_object *old = (struct cache_object *)n;

		next = tree_next(n);
		if (!slice_eq(cache_key_of(old), cache_key_of(o)) ||
		    cache_is_hints(old) != cache_is_hints(o))
			continue;
		if (is_over(old) || !o->varies || !old->varies ||
		    second_eq(cache_second_of(old), cache_second_of(o)))
			object_out(c, sh, old);
		else
			others++;
	}
	return others;
}

void cache_add(struct cache *c, struct cache_object *o, unsigned max_secondary)
{
	uint64_t hash = cache_hash(c, cache_key_of(o));
	struct shard *sh = shard_of(c, hash);

	if (!room_make(c, cache_object_size(o), (unsigned)(sh - c->shards)))
		return;
	lock_take(&sh->lock);
	if (make_place(c, sh, o, hash) >= max_secondary && o->varies) {
		__atomic_fetch_sub(&c->used, cache_object_size(o), __ATOMIC_RELAXED);
	} else {
		cache_object_take(o);
		tree_insert(&sh->tree, &o->node, hash);
		list_append(&sh->lru, &o->lru);
		o->is_in = true;
		o->serial = ++sh->serial;
	}
	lock_drop(&sh->lock);
}

unsigned cache_remove(struct cache *c, struct slice key)
{
	uint64_t hash = cache_hash(c, key);
	struct shard *sh = shard_of(c, hash);
	struct tree_node *n, *next;
	unsigned count = 0;

	lock_take(&sh->lock);
	for (n = tree_find(&sh->tree, hash); n && n->key == hash; n = next) {
		next = tree_next(n);
		if (!slice_eq(cache_key_of((struct cache_object *)n), key))
			continue;
		object_out(c, sh, (struct cache_object *)n);
		count++;
	}
	lock_drop(&sh->lock);
	return count;
}

unsigned cache_remove_object(struct cache *c, struct cache_object *o)
{
	struct shard *sh = shard_of(c, cache_hash(c, cache_key_of(o)));
	bool was_in;

	lock_take(&sh->lock);
	was_in = o->is_in;
	if (was_in)
		object_out(c, sh, o);
	lock_drop(&sh->lock);
	return was_in;
}

/* Under the lock. Those of one hash are in the order of their serials, which go round. */
static struct cache_object *shard_walk(struct shard *sh, struct cache_cursor *at)
{
	struct tree_node *n = tree_find_ge(&sh->tree, at->hash);
	struct cache_object *o;

	while (n && at->begun && n->key == at->hash &&
	       (int32_t)(((struct cache_object *)n)->serial - at->serial) <= 0)
		n = tree_next(n);
	if (!n)
		return NULL;
	o = (struct cache_object *)n;
	at->begun = true;
	at->hash = n->key;
	at->serial = o->serial;
	return cache_object_take(o);
}

struct cache_object *cache_walk(struct cache *c, struct cache_cursor *at)
{
	for (; at->shard < SHARDS; at->shard++, at->hash = 0, at->begun = false) {
		struct shard *sh = &c->shards[at->shard];
		struct cache_object *o;

		lock_take(&sh->lock);
		o = shard_walk(sh, at);
		lock_drop(&sh->lock);
		if (o)
			return o;
	}
	return NULL;
}

/* --- life ------------------------------------------------------------------------------------- */

struct cache *cache_new(const char *name, uint64_t bytes)
{
	void *made = NULL;
	struct cache *c;

	if (posix_memalign(&made, 64, sizeof(*c)) != 0)
		return NULL;
	c = memset(made, 0, sizeof(*c));
	c->name = strdup(name);
	c->fills = cache_fills_new();
	if (!c->name || !c->fills ||
	    getrandom(c->secret, sizeof(c->secret), 0) != sizeof(c->secret)) {
		cache_fills_free(c->fills);
		free(c->name);
		free(c);
		return NULL;
	}
	c->refs = 1;
	c->size = bytes;
	for (unsigned i = 0; i < SHARDS; i++)
		list_init(&c->shards[i].lru);
	return c;
}

struct cache *cache_take(struct cache *c)
{
	__atomic_fetch_add(&c->refs, 1, __ATOMIC_RELAXED);
	return c;
}

void cache_drop(struct cache **at)
{
	struct cache *c = *at;

	*at = NULL;
	if (!c || __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL))
		return;
	for (unsigned i = 0; i < SHARDS; i++)
		while (shard_give_up(c, &c->shards[i]))
			;
	cache_fills_free(c->fills);
	free(c->name);
	free(c);
}

struct cache_fills *cache_fills_of(struct cache *c)
{
	return c->fills;
}

uint64_t cache_size(const struct cache *c)
{
	return c->size;
}

uint64_t cache_used(const struct cache *c)
{
	return __atomic_load_n(&c->used, __ATOMIC_RELAXED);
}

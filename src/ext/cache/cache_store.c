/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_store.c - objects: found by key, the least recently used leave when there is no room
 *
 * The room is that of all shards together; who needs some takes it from the shard that it works on,
 * then from the others, one lock at a time.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "base/clock.h"
#include "base/hash.h"
#include "codec/date.h"
#include "core/lock.h"
#include "cache_priv.h"

#define SHARDS 16
#define PART_MIN 2048
#define PART_MAX 65536

struct shard {
	unsigned lock;
	struct tree tree;
	struct list lru;           /* least recently used first */
} __attribute__((aligned(64)));

struct cache {
	unsigned refs;             /* atomic */
	char *name;                /* owned */
	uint64_t secret[2];
	uint64_t size;             /* bytes that there may be */
	uint64_t used __attribute__((aligned(64))); /* atomic */
	struct shard shards[SHARDS];
};

/* --- objects ---------------------------------------------------------------------------------- */

/* Bytes that it takes. */
static uint64_t object_size(const struct cache_object *o)
{
	uint64_t size = sizeof(*o) + o->head_size + o->field_count * sizeof(struct cache_field);

	for (const struct cache_part *p = o->first; p; p = p->next)
		size += sizeof(*p) + p->room;
	return size;
}

struct cache_object *cache_object_take(struct cache_object *o)
{
	__atomic_fetch_add(&o->refs, 1, __ATOMIC_RELAXED);
	return o;
}

void cache_object_drop(struct cache_object *o)
{
	if (!o || __atomic_sub_fetch(&o->refs, 1, __ATOMIC_ACQ_REL))
		return;
	while (o->first) {
		struct cache_part *p = o->first;

		o->first = p->next;
		free(p);
	}
	free(o->fields);
	free(o->text);
	free(o);
}

static struct slice put(char **at, struct slice s)
{
	struct slice copy = slice_make(*at, s.len);

	if (s.len)
		memcpy(*at, s.ptr, s.len);
	*at += s.len;
	return copy;
}

static void look_at_validators(struct cache_object *o, const struct http_msg *m)
{
	const struct h1_field *f;

	for (unsigned i = 0; i < o->field_count; i++)
		if (slice_eq(o->fields[i].name, SLICE("etag")))
			o->etag = o->fields[i].value;
	f = http_field_find(&m->fields, FIELD_LAST_MODIFIED, slice_none());
	if (f && date_parse(f->value, &o->modified_s))
		return;
	f = http_field_find(&m->fields, FIELD_DATE, slice_none());
	if (!f || !date_parse(f->value, &o->modified_s))
		o->modified_s = (int64_t)(clock_wall_us() / 1000000);
}

struct cache_object *cache_object_new(struct cache *c, struct slice key, const struct http_msg *m)
{
	struct cache_object *o = calloc(1, sizeof(*o));
	size_t size = key.len;
	char *at;

	if (!o)
		return NULL;
	o->refs = 1;
	for (unsigned i = 0; i < m->fields.count; i++)
		size += m->fields.list[i].name.len + m->fields.list[i].value.len;
	o->text = at = malloc(size + 1);
	o->fields = malloc((m->fields.count + 1) * sizeof(*o->fields));
	if (!o->text || !o->fields) {
		cache_object_drop(o);
		return NULL;
	}
	o->key = put(&at, key);
	for (unsigned i = 0; i < m->fields.count; i++) {
		const struct h1_field *f = &m->fields.list[i];
		struct cache_field *to = &o->fields[o->field_count];

		if (!f->name.ptr || !cache_keeps_field(m, f))
			continue;
		to->name = put(&at, f->name);
		to->value = put(&at, f->value);
		o->field_count++;
	}
	o->head_size = size;
	look_at_validators(o, m);
	return o;
}

/* Room for some more; those of large bodies are large. */
static struct cache_part *part_add(struct cache_object *o)
{
	size_t room = o->last ? o->last->room * 2 : PART_MIN;
	struct cache_part *p;

	room = room > PART_MAX ? PART_MAX : room;
	p = malloc(sizeof(*p) + room);
	if (!p)
		return NULL;
	*p = (struct cache_part){ .room = room };
	if (o->last)
		o->last->next = p;
	else
		o->first = p;
	o->last = p;
	return p;
}

bool cache_object_add(struct cache_object *o, const char *bytes, size_t len)
{
	while (len) {
		struct cache_part *p = o->last;
		size_t n;

		if ((!p || p->len == p->room) && !(p = part_add(o)))
			return false;
		n = len < p->room - p->len ? len : p->room - p->len;
		memcpy(p->data + p->len, bytes, n);
		p->len += n;
		o->len += n;
		bytes += n;
		len -= n;
	}
	return true;
}

/* Gives back what is not needed of the last part. */
static void object_shrink(struct cache_object *o)
{
	struct cache_part *p = o->last, **at = &o->first, *small;

	if (!p || p->len == p->room)
		return;
	while (*at != p)
		at = &(*at)->next;
	small = realloc(p, sizeof(*p) + p->len);
	if (!small)
		return;
	small->room = small->len;
	*at = o->last = small;
}

/* --- finding ---------------------------------------------------------------------------------- */

static uint64_t hash_of(const struct cache *c, struct slice key)
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
	__atomic_fetch_sub(&c->used, object_size(o), __ATOMIC_RELAXED);
	cache_object_drop(o);
}

static bool is_stale(const struct cache_object *o)
{
	return o->end_ms <= clock_now_ms();
}

struct cache_object *cache_find(struct cache *c, struct slice key,
				const struct cache_second *request)
{
	uint64_t hash = hash_of(c, key);
	struct shard *sh = shard_of(c, hash);
	struct cache_object *found = NULL;
	struct tree_node *n, *next;

	lock_take(&sh->lock);
	for (n = tree_find(&sh->tree, hash); n && n->key == hash && !found; n = next) {
		struct cache_object *o = (struct cache_object *)n;

		next = tree_next(n);
		if (is_stale(o))
			object_out(c, sh, o);
		else if (slice_eq(o->key, key) && cache_second_fits(&o->second, request))
			found = cache_object_take(o);
	}
	if (found) {
		list_remove(&found->lru);
		list_append(&sh->lru, &found->lru);
	}
	lock_drop(&sh->lock);
	return found;
}

static bool second_eq(const struct cache_second *a, const struct cache_second *b)
{
	return a->vary == b->vary &&
	       (!(a->vary & CACHE_VARY_ENCODING) || a->encodings == b->encodings) &&
	       (!(a->vary & CACHE_VARY_REFERER) || a->referer == b->referer) &&
	       (!(a->vary & CACHE_VARY_ORIGIN) || a->origin == b->origin);
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

/* Those that <o> replaces leave, and the stale ones. Returns how many others of the key vary. */
static unsigned make_place(struct cache *c, struct shard *sh, const struct cache_object *o,
			   uint64_t hash)
{
	struct tree_node *n, *next;
	unsigned others = 0;

	for (n = tree_find(&sh->tree, hash); n && n->key == hash; n = next) {
		struct cache_object *old = (struct cache_object *)n;

		next = tree_next(n);
		if (!slice_eq(old->key, o->key))
			continue;
		if (is_stale(old) || second_eq(&old->second, &o->second) || !o->second.vary ||
		    !old->second.vary)
			object_out(c, sh, old);
		else
			others++;
	}
	return others;
}

void cache_add(struct cache *c, struct cache_object *o, unsigned max_secondary)
{
	uint64_t hash = hash_of(c, o->key);
	struct shard *sh = shard_of(c, hash);

	object_shrink(o);
	if (!room_make(c, object_size(o), (unsigned)(sh - c->shards)))
		return;
	lock_take(&sh->lock);
	if (make_place(c, sh, o, hash) >= max_secondary && o->second.vary) {
		__atomic_fetch_sub(&c->used, object_size(o), __ATOMIC_RELAXED);
	} else {
		cache_object_take(o);
		tree_insert(&sh->tree, &o->node, hash);
		list_append(&sh->lru, &o->lru);
		o->is_in = true;
	}
	lock_drop(&sh->lock);
}

void cache_remove(struct cache *c, struct slice key)
{
	uint64_t hash = hash_of(c, key);
	struct shard *sh = shard_of(c, hash);
	struct tree_node *n, *next;

	lock_take(&sh->lock);
	for (n = tree_find(&sh->tree, hash); n && n->key == hash; n = next) {
		next = tree_next(n);
		if (slice_eq(((struct cache_object *)n)->key, key))
			object_out(c, sh, (struct cache_object *)n);
	}
	lock_drop(&sh->lock);
}

/* Under the lock. */
static struct cache_object *shard_walk(struct shard *sh, struct cache_cursor *at)
{
	struct tree_node *n = tree_find_ge(&sh->tree, at->hash);

	for (unsigned i = 0; n && n->key == at->hash && i < at->nth; i++)
		n = tree_next(n);
	if (!n)
		return NULL;
	at->nth = n->key == at->hash ? at->nth + 1 : 1;
	at->hash = n->key;
	return cache_object_take((struct cache_object *)n);
}

struct cache_object *cache_walk(struct cache *c, struct cache_cursor *at)
{
	for (; at->shard < SHARDS; at->shard++, at->hash = 0, at->nth = 0) {
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
	if (!c->name || getrandom(c->secret, sizeof(c->secret), 0) != sizeof(c->secret)) {
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
	free(c->name);
	free(c);
}

uint64_t cache_size(const struct cache *c)
{
	return c->size;
}

uint64_t cache_used(const struct cache *c)
{
	return __atomic_load_n(&c->used, __ATOMIC_RELAXED);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forward_auth_cache.c - recent grants, by key, for a limited time
 *
 * All grants of a rule have the same lifetime, so they expire in the order of their creation.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "base/clock.h"
#include "base/hash.h"
#include "core/lock.h"
#include "forward_auth_priv.h"

struct grant {
	struct tree_node node;     /* by hash of the key */
	struct list link;          /* the oldest first */
	uint64_t end_ms;
	size_t key_len, len;       /* bytes of the key, of key and pairs */
	unsigned count;
	char bytes[];              /* key, then name NUL value NUL ... */
};

struct fa_cache {
	struct fa_cache *next;     /* of the generation */
	unsigned lock;
	struct tree tree;
	struct list grants;
	unsigned count, max;
	int64_t ttl_ms;
	uint64_t secret[2];
};

static void grant_drop(struct fa_cache *c, struct grant *g)
{
	tree_remove(&c->tree, &g->node);
	list_remove(&g->link);
	c->count--;
	free(g);
}

static void caches_fini(void *data)
{
	struct grant *g, *next;

	for (struct fa_cache *c = *(struct fa_cache **)data; c; c = c->next)
		list_for_each_safe(g, next, &c->grants, link)
			grant_drop(c, g);
}

struct slot fa_cache_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct fa_cache *), .fini = caches_fini,
};

struct fa_cache *fa_cache_new(struct config *cfg, int64_t ttl_ms, unsigned max)
{
	struct fa_cache **first = slot_of(&fa_cache_slot, config_slots(cfg));
	struct fa_cache *c = arena_zalloc(&cfg->arena, sizeof(*c));

	if (!c || getrandom(c->secret, sizeof(c->secret), 0) != sizeof(c->secret))
		return NULL;
	list_init(&c->grants);
	c->ttl_ms = ttl_ms;
	c->max = max;
	c->next = *first;
	*first = c;
	return c;
}

/* Under the lock. */
static struct grant *grant_of(struct fa_cache *c, struct slice key, uint64_t hash)
{
	struct tree_node *n;

	for (n = tree_find(&c->tree, hash); n && n->key == hash; n = tree_next(n)) {
		struct grant *g = (struct grant *)n;

		if (slice_eq(key, slice_make(g->bytes, g->key_len)))
			return g;
	}
	return NULL;
}

static bool copy_out(const struct grant *g, struct arena *arena, struct fa_pairs *out)
{
	const char *at = g->bytes + g->key_len;
	char *bytes = arena_alloc(arena, g->len - g->key_len + 1);

	out->count = g->count;
	out->list = arena_alloc(arena, (g->count + 1) * sizeof(*out->list));
	if (!bytes || !out->list)
		return false;
	memcpy(bytes, at, g->len - g->key_len);
	for (unsigned i = 0; i < g->count; i++) {
		out->list[i].name = slice_of(bytes);
		bytes += out->list[i].name.len + 1;
		out->list[i].value = slice_of(bytes);
		bytes += out->list[i].value.len + 1;
	}
	return true;
}

bool fa_cache_find(struct fa_cache *c, struct slice key, struct arena *arena,
		   struct fa_pairs *out)
{
	uint64_t hash = hash_sip13(key.ptr, key.len, c->secret), now_ms = clock_now_ms();
	struct grant *g;
	bool found;

	lock_take(&c->lock);
	while (!list_is_empty(&c->grants) &&
	       list_first(&c->grants, struct grant, link)->end_ms <= now_ms)
		grant_drop(c, list_first(&c->grants, struct grant, link));
	g = grant_of(c, key, hash);
	found = g && copy_out(g, arena, out);
	lock_drop(&c->lock);
	return found;
}

static char *put(char *to, struct slice s)
{
	memcpy(to, s.ptr, s.len);
	to[s.len] = '\0';
	return to + s.len + 1;
}

static struct grant *grant_new(struct slice key, const struct fa_pairs *pairs)
{
	size_t len = key.len;
	struct grant *g;
	char *to;

	for (unsigned i = 0; i < pairs->count; i++)
		len += pairs->list[i].name.len + pairs->list[i].value.len + 2;
	g = calloc(1, sizeof(*g) + len + 1);
	if (!g)
		return NULL;
	g->key_len = key.len;
	g->len = len;
	g->count = pairs->count;
	memcpy(g->bytes, key.ptr, key.len);
	to = g->bytes + key.len;
	for (unsigned i = 0; i < pairs->count; i++)
		to = put(put(to, pairs->list[i].name), pairs->list[i].value);
	return g;
}

void fa_cache_add(struct fa_cache *c, struct slice key, const struct fa_pairs *pairs)
{
	uint64_t hash = hash_sip13(key.ptr, key.len, c->secret);
	struct grant *g = grant_new(key, pairs), *old;

	if (!g)
		return;
	g->end_ms = clock_now_ms() + (uint64_t)c->ttl_ms;
	lock_take(&c->lock);
	old = grant_of(c, key, hash);
	if (old)
		grant_drop(c, old);
	while (c->count >= c->max)
		grant_drop(c, list_first(&c->grants, struct grant, link));
	tree_insert(&c->tree, &g->node, hash);
	list_append(&c->grants, &g->link);
	c->count++;
	lock_drop(&c->lock);
}

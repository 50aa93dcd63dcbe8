/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_purge.c - removes objects: by address, by prefix, by tag; http-request cache-purge
 *
 * An address is found by its hash. For prefixes and tags all objects are examined, some in each
 * turn of the loop: this request waits until that is done, others do not. An extension.
 */
#include <string.h>
#include "core/thread.h"
#include "stream/action.h"
#include "stream/wait.h"
#include "cache_priv.h"

/* So many objects are looked at in one turn. */
#define STEP 200

bool cache_purge_by(const char *word, enum cache_purge_by *out)
{
	static const char *const words[] = {
		[CACHE_PURGE_URL] = "url", [CACHE_PURGE_PREFIX] = "prefix",
		[CACHE_PURGE_TAG] = "tag",
	};

	for (unsigned i = CACHE_PURGE_URL; i <= CACHE_PURGE_TAG; i++) {
		if (strcmp(word, words[i]) != 0)
			continue;
		*out = (enum cache_purge_by)i;
		return true;
	}
	return false;
}

static bool is_meant(const struct cache_purge *p, const struct cache_object *o)
{
	switch (p->by) {
	case CACHE_PURGE_PREFIX:
		return slice_starts(cache_key_of(o), p->text);
	case CACHE_PURGE_TAG:
		return cache_object_has_tag(o, p->text);
	default:
		return true;
	}
}

bool cache_purge_step(struct cache *c, struct cache_purge *p)
{
	struct cache_object *o;

	if (p->by == CACHE_PURGE_URL) {
		p->count += cache_remove(c, p->text);
		return true;
	}
	for (unsigned i = 0; i < STEP; i++) {
		o = cache_walk(c, &p->cursor);
		if (!o)
			return true;
		p->count += is_meant(p, o) ? cache_remove_object(c, o) : 0;
		cache_object_drop(o);
	}
	return false;
}

/* --- http-request cache-purge ----------------------------------------------------------------- */

/* A request that waits for its purge; in its stream's arena. */
struct purging {
	struct stream_wait wait;
	struct turn_hook hook;
	struct cache *cache;       /* counted until the wait is over */
	struct cache_purge what;
};

static void purging_cancel(struct stream_wait *w)
{
	struct purging *x = container_of(w, struct purging, wait);

	turn_hook_cancel(&x->hook);
	cache_drop(&x->cache);
}

static const struct stream_wait_kind wait_kind = {
	.name = "cache-purge", .cancel = purging_cancel,
};

static void purging_step(struct turn_hook *h)
{
	struct purging *x = container_of(h, struct purging, hook);

	if (!cache_purge_step(x->cache, &x->what)) {
		turn_hook_add(h);
		return;
	}
	cache_drop(&x->cache);
	stream_wake(&x->wait);
}

/* Without memory nothing is removed, and the client is told so. */
static enum rule_result purge_begin(struct stream *s, const struct cache_rule *rule,
				    struct slice text)
{
	struct purging *x = arena_zalloc(&s->arena, sizeof(*x));

	if (!x)
		return RULE_ERROR;
	x->what = (struct cache_purge){ .by = rule->purge_by, .text = text };
	x->cache = cache_take(rule->conf->cache);
	turn_hook_init(&x->hook, purging_step);
	s->rule.data = x;
	stream_wait_begin(s, &x->wait, &wait_kind);
	turn_hook_add(&x->hook);
	return RULE_WAIT;
}

enum rule_result cache_purge_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct cache_rule *rule = r->data;
	struct stream *s = ctx->stream;
	struct purging *x = s->rule.data;
	struct slice text;

	if (x)
		return stream_wait_is_over(&x->wait) ? RULE_CONTINUE : RULE_WAIT;
	text = rule->purge_by == CACHE_PURGE_ALL ? cache_request_key(s)
						 : rule_text_make(&rule->purge_text, ctx);
	if (!text.len) /* nothing is meant: by no means all */
		return RULE_CONTINUE;
	if (rule->purge_by == CACHE_PURGE_PREFIX || rule->purge_by == CACHE_PURGE_TAG)
		return purge_begin(s, rule, text);
	cache_remove(rule->conf->cache, text);
	return RULE_CONTINUE;
}

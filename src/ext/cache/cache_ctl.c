/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_ctl.c - edge file: show cache
 *
 * Manual: management 9.3
 */
#include <inttypes.h>
#include <stdlib.h>
#include "base/clock.h"
#include "ctl/ctl.h"
#include "ext/cache.h"
#include "cache_priv.h"

struct listing {
	struct config *cfg;          /* counted */
	const struct cache_conf *at;
	struct cache_cursor cursor;
	bool begun;                  /* the line of the cache is written */
};

static void show_cache(struct strbuf *out, const struct cache_conf *c)
{
	uint64_t used = cache_used(c->cache), size = cache_size(c->cache);

	strbuf_printf(out, "%p: %s (shctx:%p, available blocks:%" PRIu64 ")\n", (const void *)c,
		      c->name, (const void *)c->cache, (size > used ? size - used : 0) >> 10);
}

static void show_object(struct strbuf *out, const struct cache_object *o)
{
	int64_t left_ms = (int64_t)(o->end_ms - clock_now_ms());
	const struct cache_second *x = &o->second;
	uint64_t bytes = o->head_size + o->len;

	strbuf_printf(out, "%p hash:%u vary:0x%08x%016" PRIx64 "%016" PRIx64 " size:%" PRIu64
		      " (%" PRIu64 " blocks), refcount:%u, expire:%" PRId64 "\n",
		      (const void *)o, (uint32_t)o->node.key,
		      x->vary & CACHE_VARY_ENCODING ? x->encodings : 0,
		      x->vary & CACHE_VARY_REFERER ? x->referer : 0,
		      x->vary & CACHE_VARY_ORIGIN ? x->origin : 0, bytes, (bytes + 1023) >> 10,
		      __atomic_load_n(&o->refs, __ATOMIC_RELAXED) - 2, left_ms / 1000);
}

static void release(struct ctl_request *rq)
{
	struct listing *x = rq->state;

	if (x)
		config_drop(&x->cfg);
	free(x);
	rq->state = NULL;
}

static enum ctl_step show(struct ctl_request *rq)
{
	struct listing *x = rq->state;
	struct cache_object *o;

	if (!x) {
		x = rq->state = calloc(1, sizeof(*x));
		if (!x) {
			ctl_error(rq, "Out of memory.");
			return CTL_DONE;
		}
		x->cfg = config_take(proxies_current());
		x->at = *(struct cache_conf **)slot_of(&cache_config_slot, config_slots(x->cfg));
	}
	while (x->at) {
		if (!x->begun)
			show_cache(rq->out, x->at);
		x->begun = true;
		if (ctl_is_due(rq))
			return CTL_MORE;
		o = cache_walk(x->at->cache, &x->cursor);
		if (o) {
			show_object(rq->out, o);
			cache_object_drop(o);
			continue;
		}
		x->at = x->at->next;
		x->begun = false;
		x->cursor = (struct cache_cursor){ 0 };
	}
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "show cache", .level = CTL_USER, .help = "list caches and what is in them",
	  .run = show, .release = release },
	{ 0 }
};

const struct module mod_cache_ctl = { .name = "cache-commands", .commands = commands };

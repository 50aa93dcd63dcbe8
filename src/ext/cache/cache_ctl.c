/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_ctl.c - edge file: show cache, clear cache
 *
 * Manual: management 9.3
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
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
	const struct cache_second *x = cache_second_of(o);
	uint64_t bytes = o->head_size + o->body->len;

	strbuf_printf(out, "%p hash:%u vary:0x%08x%016" PRIx64 "%016" PRIx64 " size:%" PRIu64
		      " (%" PRIu64 " blocks), refcount:%u, expire:%" PRId64 "%s\n",
		      (const void *)o, (uint32_t)o->node.key,
		      x->vary & CACHE_VARY_ENCODING ? x->encodings : 0,
		      x->vary & CACHE_VARY_REFERER ? x->referer : 0,
		      x->vary & CACHE_VARY_ORIGIN ? x->origin : 0, bytes, (bytes + 1023) >> 10,
		      __atomic_load_n(&o->refs, __ATOMIC_RELAXED) - 2, left_ms / 1000,
		      cache_is_hints(o) ? ", hints" : "");
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

/* --- clear cache ------------------------------------------------------------------------------ */

struct clearing {
	struct cache *cache;         /* counted */
	struct cache_purge what;     /* its text: in the words of the request */
};

static void clear_release(struct ctl_request *rq)
{
	struct clearing *x = rq->state;

	if (x)
		cache_drop(&x->cache);
	free(x);
	rq->state = NULL;
}

/* "[url <url> | prefix <url> | tag <word>]" */
static bool take_what(struct ctl_request *rq, struct clearing *x)
{
	int left = rq->count - rq->at;

	if (!left)
		return true;
	if (left == 2 && cache_purge_by(rq->words[rq->at], &x->what.by)) {
		x->what.text = slice_of(rq->words[rq->at + 1]);
		return true;
	}
	ctl_error(rq, "'clear cache' expects a cache, and 'url <url>', 'prefix <url>', "
		  "'tag <word>' or nothing.");
	return false;
}

static bool clear_begin(struct ctl_request *rq)
{
	const char *name = rq->at < rq->count ? rq->words[rq->at++] : "";
	const struct cache_conf *c = cache_conf_find(proxies_current(), name);
	struct clearing *x;

	if (!c) {
		ctl_error(rq, *name ? "No such cache."
				    : "'clear cache' expects the name of a cache.");
		return false;
	}
	x = rq->state = calloc(1, sizeof(*x));
	if (!x) {
		ctl_error(rq, "Out of memory.");
		return false;
	}
	x->cache = cache_take(c->cache);
	return take_what(rq, x);
}

static enum ctl_step clear(struct ctl_request *rq)
{
	struct clearing *x;

	if (!rq->state && !clear_begin(rq))
		return CTL_DONE;
	x = rq->state;
	while (!cache_purge_step(x->cache, &x->what))
		if (ctl_is_due(rq))
			return CTL_MORE;
	ctl_say(rq, "%" PRIu64 " objects were removed.", x->what.count);
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "show cache", .level = CTL_USER, .help = "list caches and their objects",
	  .run = show, .release = release },
	{ .words = "clear cache", .level = CTL_OPERATOR,
	  .syntax = "<name> [url <url>|prefix <url>|tag <word>]",
	  .help = "remove what is in a cache, or some of it (an extension)",
	  .run = clear, .release = clear_release },
	{ 0 }
};

const struct module mod_cache_ctl = { .name = "cache-commands", .commands = commands };

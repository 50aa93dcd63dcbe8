/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_beyond_conf.c - edge file: lines of sections cache that HAProxy's caches do not have
 *
 * Without them a cache behaves as the reference's. RFC 9111 4.3 (validation), RFC 5861 (stale), RFC
 * 9110 14 (ranges), RFC 8297 (early hints).
 */
#include <string.h>
#include "ext/cache.h"
#include "cache_priv.h"

static bool parse_revalidate(struct conf_line *l)
{
	struct cache_conf *c = l->object;

	return conf_take_int(l, 0, INT32_MAX, &c->revalidate_s) && conf_take_end(l);
}

static bool parse_stale_revalidate(struct conf_line *l)
{
	struct cache_conf *c = l->object;

	return conf_take_int(l, 0, INT32_MAX, &c->stale_revalidate_s) && conf_take_end(l);
}

static bool parse_stale_error(struct conf_line *l)
{
	struct cache_conf *c = l->object;

	return conf_take_int(l, 0, INT32_MAX, &c->stale_error_s) && conf_take_end(l);
}

static bool parse_collapse(struct conf_line *l)
{
	struct cache_conf *c = l->object;

	return conf_take_time_ms(l, &c->collapse_ms) && conf_take_end(l);
}

static bool take_switch(struct conf_line *l, bool *on)
{
	const char *word = conf_peek(l) ? conf_next(l) : "";

	*on = strcmp(word, "on") == 0;
	if (!*on && strcmp(word, "off") != 0)
		return conf_error(l, 1, "'on' or 'off'", "'%s' expects 'on' or 'off'", l->words[0]);
	return conf_take_end(l);
}

static bool parse_ranges(struct conf_line *l)
{
	return take_switch(l, &((struct cache_conf *)l->object)->ranges);
}

static bool parse_rfc(struct conf_line *l)
{
	return take_switch(l, &((struct cache_conf *)l->object)->rfc9111);
}

static bool parse_tags(struct conf_line *l)
{
	struct cache_conf *c = l->object;
	const char *name = conf_next(l);

	if (!name || !*name)
		return conf_error(l, 0, NULL, "'%s' expects the name of a field of answers",
				  l->words[0]);
	c->tag_field = conf_strdup(l->cfg, name);
	return conf_take_end(l);
}

/* "{ on | only | off } [http1]" */
static bool parse_hints(struct conf_line *l)
{
	static const char *const words[] = {
		[CACHE_HINTS_OFF] = "off", [CACHE_HINTS_ON] = "on", [CACHE_HINTS_ONLY] = "only",
	};
	struct cache_conf *c = l->object;
	const char *word = conf_peek(l) ? conf_next(l) : "";
	unsigned i = 0;

	while (i < ARRAY_LEN(words) && strcmp(word, words[i]) != 0)
		i++;
	if (i == ARRAY_LEN(words))
		return conf_error(l, 1, "'on', 'only' or 'off'", "'%s' expects 'on', 'only' or "
				  "'off'", l->words[0]);
	c->hints = (enum cache_hints)i;
	c->hints_http1 = conf_peek(l) && strcmp(conf_peek(l), "http1") == 0;
	if (c->hints_http1)
		conf_next(l);
	return conf_take_end(l);
}

static bool parse_hints_age(struct conf_line *l)
{
	struct cache_conf *c = l->object;

	return conf_take_int(l, 1, INT32_MAX, &c->hints_age_s) && conf_take_end(l);
}

#define CACHE .where = CONF_OTHER, .section = "cache", .max_args = -1

static const struct conf_keyword keywords[] = {
	{ .words = "revalidate", CACHE, .parse = parse_revalidate, .syntax = "<seconds>",
	  .help = "keep what is stale so long, to ask the server about it (an extension)" },
	{ .words = "stale-while-revalidate", CACHE, .parse = parse_stale_revalidate,
	  .syntax = "<seconds>",
	  .help = "give what is stale so long, while one request asks the server (an extension)" },
	{ .words = "stale-if-error", CACHE, .parse = parse_stale_error, .syntax = "<seconds>",
	  .help = "give what is stale so long, when servers fail (an extension)" },
	{ .words = "collapse-requests", CACHE, .parse = parse_collapse, .syntax = "<time>",
	  .help = "wait so long for what another request fetches (an extension)" },
	{ .words = "serve-ranges", CACHE, .parse = parse_ranges, .syntax = "{ on | off }",
	  .help = "answer Range with a part of what is kept (an extension)" },
	{ .words = "rfc9111", CACHE, .parse = parse_rfc, .syntax = "{ on | off }",
	  .help = "keep and give all that RFC 9111 lets a shared cache (an extension)" },
	{ .words = "tags-from", CACHE, .parse = parse_tags, .syntax = "<field>",
	  .help = "the field of answers with words to clear them by (an extension)" },
	{ .words = "early-hints", CACHE, .parse = parse_hints,
	  .syntax = "{ on | only | off } [http1]",
	  .help = "send links of the last answer before the next one, as 103 (an extension)" },
	{ .words = "early-hints-max-age", CACHE, .parse = parse_hints_age, .syntax = "<seconds>",
	  .help = "how long such links are kept, 3600 by default (an extension)" },
	{ 0 }
};

const struct module mod_cache_beyond = { .name = "cache-beyond", .keywords = keywords };

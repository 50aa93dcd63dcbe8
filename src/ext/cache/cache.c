/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache.c - edge file: sections cache, cache-use, cache-store, res.cache_hit
 *
 * Manual: configuration 6, 4.4, 7.3.7
 */
#include <string.h>
#include "base/num.h"
#include "expr/give.h"
#include "ext/cache.h"
#include "stream/action.h"
#include "stream/sample.h"
#include "cache_priv.h"

#define TOTAL_MAX_MB 4095
#define MAX_AGE_S 60
#define MAX_SECONDARY 10
#define HINTS_AGE_S 3600

/* --- sections --------------------------------------------------------------------------------- */

static void sections_fini(void *data)
{
	for (struct cache_conf *c = *(struct cache_conf **)data; c; c = c->next)
		cache_drop(&c->cache);
}

struct slot cache_config_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct cache_conf *), .fini = sections_fini,
};

static struct cache_conf **first_of(const struct config *cfg)
{
	return slot_of(&cache_config_slot, config_slots(cfg));
}

struct cache_conf *cache_conf_find(const struct config *cfg, const char *name)
{
	struct cache_conf *c = *first_of(cfg);

	while (c && strcmp(c->name, name) != 0)
		c = c->next;
	return c;
}

static bool section_open(struct conf_line *l)
{
	const char *name = conf_next(l);
	struct cache_conf *c;

	if (!name || !*name)
		return conf_error(l, 0, NULL, "'%s' expects a <name> argument", l->words[0]);
	if (cache_conf_find(l->cfg, name))
		return conf_error(l, 1, NULL, "Duplicate cache name '%s'.", name);
	c = arena_zalloc(&l->cfg->arena, sizeof(*c));
	if (!c)
		return conf_error(l, 0, NULL, "out of memory.");
	*c = (struct cache_conf){
		.next = *first_of(l->cfg), .name = conf_strdup(l->cfg, name),
		.file = conf_strdup(l->cfg, l->place.file ? l->place.file : ""),
		.line = l->place.line, .max_age_s = MAX_AGE_S, .max_secondary = MAX_SECONDARY,
		.hints_age_s = HINTS_AGE_S,
	};
	*first_of(l->cfg) = c;
	l->object = c;
	l->slots = config_slots(l->cfg);
	return conf_take_end(l);
}

static bool wrong(struct conf_line *l)
{
	return conf_error(l, 1, NULL, "%s wrong value '%s'", l->words[0],
			  l->count > 1 ? l->words[1] : "");
}

static bool parse_total(struct conf_line *l)
{
	struct cache_conf *c = l->object;
	uint64_t mb;

	if (!conf_peek(l) || !num_parse_u64(slice_of(conf_next(l)), &mb))
		return wrong(l);
	if (mb > TOTAL_MAX_MB)
		return conf_error(l, 1, NULL, "\"total-max-size\" must not be greater than %d",
				  TOTAL_MAX_MB);
	c->total_mb = (int64_t)mb;
	return conf_take_end(l);
}

static bool parse_object(struct conf_line *l)
{
	struct cache_conf *c = l->object;

	if (!conf_peek(l) || !num_parse_u64(slice_of(conf_next(l)), &c->max_object))
		return wrong(l);
	return conf_take_end(l);
}

static bool parse_age(struct conf_line *l)
{
	struct cache_conf *c = l->object;

	if (!conf_peek(l)) {
		conf_warn(l, 0, NULL, "'max-age' expects an age parameter in seconds.");
		return true;
	}
	return conf_take_int(l, 0, INT32_MAX, &c->max_age_s) && conf_take_end(l);
}

static bool parse_secondary(struct conf_line *l)
{
	struct cache_conf *c = l->object;
	uint64_t n;

	if (!conf_peek(l) || !num_parse_u64(slice_of(conf_next(l)), &n) || !n || n > INT32_MAX)
		return wrong(l);
	c->max_secondary = (int64_t)n;
	return conf_take_end(l);
}

static bool parse_vary(struct conf_line *l)
{
	struct cache_conf *c = l->object;
	const char *word = conf_peek(l) ? conf_next(l) : "";

	c->process_vary = strcmp(word, "on") == 0;
	if (!c->process_vary && strcmp(word, "off") != 0)
		conf_warn(l, 1, NULL, "'process-vary' expects \"on\" or \"off\" (enable or "
			  "disable vary processing).");
	return conf_take_end(l);
}

#define CACHE .where = CONF_OTHER, .section = "cache", .max_args = -1

static const struct conf_keyword keywords[] = {
	{ .words = "total-max-size", CACHE, .parse = parse_total, .syntax = "<megabytes>",
	  .help = "memory that it may take" },
	{ .words = "max-object-size", CACHE, .parse = parse_object, .syntax = "<bytes>",
	  .help = "the largest object, a 256th of all by default" },
	{ .words = "max-age", CACHE, .parse = parse_age, .syntax = "<seconds>",
	  .help = "how long an object is kept at most, 60 by default" },
	{ .words = "max-secondary-entries", CACHE, .parse = parse_secondary,
	  .syntax = "<number>", .help = "objects of one address that vary, 10 by default" },
	{ .words = "process-vary", CACHE, .parse = parse_vary, .syntax = "{ on | off }",
	  .help = "keep answers that vary by accept-encoding, referer, origin" },
	{ 0 }
};

static const struct conf_section sections[] = {
	{ .name = "cache", .where = CONF_OTHER, .open = section_open, .syntax = "<name>",
	  .help = "answers kept in memory" },
	{ 0 }
};

/* --- rules ------------------------------------------------------------------------------------ */

static bool rule_parse(struct conf_line *l, struct rule *r)
{
	struct cache_rule *rule = arena_zalloc(&l->cfg->arena, sizeof(*rule));

	if (!rule)
		return rule_no_memory(l, r);
	r->data = rule;
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "expects a cache name");
	rule->name = conf_next(l);
	return true;
}

/* "NAME [url <fmt> | prefix <fmt> | tag <fmt>]" */
static bool purge_parse(struct conf_line *l, struct rule *r)
{
	struct cache_rule *rule;

	if (!rule_parse(l, r))
		return false;
	rule = r->data;
	if (rule_at_end(l))
		return true;
	if (!cache_purge_by(conf_next(l), &rule->purge_by))
		return rule_error(l, r, l->at - 1, "expects 'url', 'prefix' or 'tag' behind the "
				  "name of the cache");
	if (rule_at_end(l))
		return rule_error(l, r, l->at - 1, "expects a format behind this word");
	return rule_text_parse(l, conf_next(l), rule_phases(r->proxy, r->set), 0,
			       &rule->purge_text);
}

/* The filter of this cache in the rule's proxy: a line's, or one that rules ask for. */
static struct filter_conf *filter_find(const struct proxy *px, const char *name)
{
	const struct filter_conf *f;

	for (f = filter_confs(px); f; f = f->next) {
		const struct cache_filter *cf = f->kind == cache_filter_kinds ? f->data : NULL;

		if (cf && strcmp(cf->name, name) == 0)
			return (struct filter_conf *)(uintptr_t)f;
	}
	return NULL;
}

static struct filter_conf *filter_add(struct config *cfg, struct proxy *px, const char *name)
{
	struct cache_filter *cf = arena_zalloc(&cfg->arena, sizeof(*cf));
	const struct filter_conf *f;

	if (!cf || !filter_conf_add(px, cache_filter_kinds))
		return NULL;
	cf->name = name;
	for (f = filter_confs(px); f; f = f->next)
		if (f->kind == cache_filter_kinds && !f->data)
			break;
	if (f)
		((struct filter_conf *)(uintptr_t)f)->data = cf;
	return (struct filter_conf *)(uintptr_t)f;
}

/* A filter that is not in the file comes last; only some get along with that. */
static bool may_be_added(const struct proxy *px, const char *name, struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };
	const struct filter_conf *f = filter_confs(px);

	while (f && (f->kind == cache_filter_kinds || strcmp(f->kind->name, "fcgi-app") == 0 ||
		     slice_starts(slice_of(f->kind->name), SLICE("comp"))))
		f = f->next;
	if (f)
		diag_add(diags, DIAG_ALERT, &nowhere, "add a line `filter cache` where it belongs "
			 "among the others.", "config: %s '%s': require an explicit filter "
			 "declaration to use the cache '%s'.", proxy_kind_name(px), px->name, name);
	return !f;
}

bool cache_order_is_good(const struct proxy *px, const struct filter_conf *mine,
			 struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };
	const struct cache_filter *cf = mine->data;

	for (const struct filter_conf *f = filter_confs(px); f && f != mine; f = f->next) {
		if (!slice_starts(slice_of(f->kind->name), SLICE("comp")))
			continue;
		diag_add(diags, DIAG_ALERT, &nowhere, NULL, "config: %s '%s': unable to enable the "
			 "compression filter before the cache '%s'.", proxy_kind_name(px),
			 px->name, cf->name);
		return false;
	}
	return true;
}

static bool purge_check(struct config *cfg, struct rule *r, struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };
	struct cache_rule *rule = r->data;

	rule->conf = cache_conf_find(cfg, rule->name);
	if (!rule->conf)
		diag_add(diags, DIAG_ALERT, &nowhere, NULL, "config: %s '%s': unable to find the "
			 "cache '%s' referenced by the filter 'cache'.", proxy_kind_name(r->proxy),
			 r->proxy->name, rule->name);
	return rule->conf != NULL;
}

static bool rule_check(struct config *cfg, struct rule *r, struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };
	struct cache_rule *rule = r->data;
	struct filter_conf *f;
	struct cache_filter *cf;

	if (!purge_check(cfg, r, diags))
		return false;
	f = filter_find(r->proxy, rule->name);
	if (!f && !may_be_added(r->proxy, rule->name, diags))
		return false;
	if (!f)
		f = filter_add(cfg, r->proxy, rule->name);
	if (!f) {
		diag_add(diags, DIAG_ALERT, &nowhere, NULL, "out of memory.");
		return false;
	}
	cf = f->data;
	cf->conf = rule->conf;
	rule->filter = f;
	return cache_order_is_good(r->proxy, f, diags);
}

static const struct rule_action actions[] = {
	{ .words = "cache-use", .rulesets = RULES_BIT(RULES_HTTP_REQUEST), .parse = rule_parse,
	  .check = rule_check, .run = cache_use_run, .syntax = "<name>",
	  .ends_with_client = true,
	  .help = "answer from a cache, or let the answer be kept" },
	{ .words = "cache-store", .rulesets = RULES_BIT(RULES_HTTP_RESPONSE),
	  .parse = rule_parse, .check = rule_check, .run = cache_store_run,
	  .syntax = "<name>", .help = "keep the answer in a cache" },
	{ .words = "cache-purge", .rulesets = RULES_BIT(RULES_HTTP_REQUEST),
	  .parse = purge_parse, .check = purge_check, .run = cache_purge_run,
	  .ends_with_client = true, .syntax = "<name> [url <fmt>|prefix <fmt>|tag <fmt>]",
	  .help = "forget what a cache has of this address, or what is said (an extension)" },
	{ 0 }
};

/* --- fetches ---------------------------------------------------------------------------------- */

static enum expr_result fetch_hit(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *out)
{
	return ctx->stream ? smp_give_bool(out, cache_that_answers(ctx->stream) != NULL)
			   : EXPR_NONE;
}

static enum expr_result fetch_name(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	const struct cache_conf *c = ctx->stream ? cache_that_answers(ctx->stream) : NULL;

	return c ? smp_give_text(out, slice_of(c->name)) : EXPR_NONE;
}

static const struct expr_fetch fetches[] = {
	{ .name = "res.cache_hit", .out = SMP_BOOL, .use = EXPR_USE_HTTP_RESPONSE,
	  .fetch = fetch_hit, .help = "is it an answer of a cache?" },
	{ .name = "res.cache_name", .out = SMP_STR, .use = EXPR_USE_HTTP_RESPONSE,
	  .fetch = fetch_name, .help = "the name of that cache" },
	{ 0 }
};

/* --- life ------------------------------------------------------------------------------------- */

static void sections_check(struct config *cfg, struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };

	for (struct cache_conf *c = *first_of(cfg); c; c = c->next) {
		uint64_t half = (uint64_t)c->total_mb << 19;

		if (!c->total_mb)
			diag_add(diags, DIAG_ALERT, &nowhere, "'total-max-size 64', in megabytes",
				 "config : Size not specified for cache '%s'", c->name);
		else if (c->max_object > half)
			diag_add(diags, DIAG_ALERT, &nowhere, NULL, "config : \"max-object-size\" "
				 "is limited to an half of \"total-max-size\" => %llu",
				 (unsigned long long)half);
	}
}

static bool sections_start(struct config *cfg, struct diag_list *diags)
{
	for (struct cache_conf *c = *first_of(cfg); c; c = c->next) {
		c->cache = cache_new(c->name, (uint64_t)c->total_mb << 20);
		if (c->cache)
			continue;
		diag_add(diags, DIAG_ALERT, NULL, NULL, "out of memory for cache '%s'.", c->name);
		return false;
	}
	return true;
}

static void sections_adopt(struct config *next, struct config *prev)
{
	for (struct cache_conf *c = *first_of(next); c; c = c->next) {
		const struct cache_conf *old = cache_conf_find(prev, c->name);

		if (!old || old->total_mb != c->total_mb)
			continue;
		cache_drop(&c->cache);
		c->cache = cache_take(old->cache);
	}
}

static struct slot *const slots[] = { &cache_config_slot, NULL };

const struct module mod_cache = {
	.name = "cache", .sections = sections, .keywords = keywords, .fetches = fetches,
	.actions = actions, .filters = cache_filter_kinds, .services = cache_services,
	.slots = slots, .check = sections_check, .start = sections_start,
	.adopt = sections_adopt,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compression_lines.c - compression ..., maxcomprate and similar, tune.comp.*, tune.zlib.*
 *
 * Manual: configuration 3.1, 3.2, 4.2, 9.2.
 */
#include <stdlib.h>
#include <string.h>
#include "base/num.h"
#include "conf/conf.h"
#include "compression_priv.h"

const struct comp_algo comp_algos[] = {
	{ "identity", { "identity", 8 }, COMPRESS_RAW, true },
	{ "deflate", { "deflate", 7 }, COMPRESS_ZLIB, false },
	{ "raw-deflate", { "deflate", 7 }, COMPRESS_RAW, false },
	{ "gzip", { "gzip", 4 }, COMPRESS_GZIP, false },
	{ "br", { "br", 2 }, COMPRESS_BR, false },
	{ "zstd", { "zstd", 4 }, COMPRESS_ZSTD, false },
	{ 0 }
};

/* --- slots ------------------------------------------------------------------------------------ */

static bool proxy_init(void *data)
{
	struct comp_proxy *cp = data;

	cp->directions[FILTER_RESPONSE] = true;
	return true;
}

struct slot comp_proxy_slot = {
	.of = SLOT_PROXY, .size = sizeof(struct comp_proxy), .init = proxy_init,
};

static bool config_init(void *data)
{
	struct comp_config *cc = data;

	cc->level = 1;
	cc->params.mem_level = 8;
	cc->params.window_bits = 15;
	cc->cpu_percent = 100;
	return true;
}

struct slot comp_config_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct comp_config), .init = config_init,
};

const struct comp_config *comp_config_of(const struct stream *s)
{
	return slot_of(&comp_config_slot, config_slots(s->config));
}

/* --- compression ... -------------------------------------------------------------------------- */

static const struct comp_algo *algo_find(const char *name)
{
	const struct comp_algo *a = comp_algos;

	while (a->name && strcmp(a->name, name) != 0)
		a++;
	return a->name && (a->is_identity || compress_can(a->format)) ? a : NULL;
}

static bool add_algo(struct conf_line *l, struct comp_proxy *cp, enum filter_side side)
{
	const char *name = conf_next(l);
	struct comp_choice *c = arena_zalloc(&l->cfg->arena, sizeof(*c));

	if (!c)
		return conf_error(l, 0, NULL, "out of memory.");
	c->algo = algo_find(name ? name : "");
	if (!c->algo)
		return conf_error(l, name ? l->at - 1 : l->at, "one of identity, gzip, deflate, "
				  "raw-deflate, br and zstd, as far as -vv lists them.",
				  "'compression' : '%s' is not a supported algorithm.",
				  name ? name : "");
	/* a list of one: requests do not say what the server takes */
	c->next = side == FILTER_REQUEST ? NULL : cp->algos[side];
	cp->algos[side] = c;
	return true;
}

static bool parse_algos(struct conf_line *l, struct comp_proxy *cp, enum filter_side side)
{
	if (!conf_peek(l) && side == FILTER_RESPONSE)
		return conf_error(l, l->at, NULL, "'compression' expects <algorithm>.");
	do {
		if (!add_algo(l, cp, side))
			return false;
	} while (conf_peek(l) && side == FILTER_RESPONSE);
	return true;
}

static bool parse_types(struct conf_line *l, struct comp_proxy *cp, enum filter_side side)
{
	const char *word;

	if (!conf_peek(l))
		return conf_error(l, l->at, NULL, "'compression' expects <type>.");
	while ((word = conf_next(l)) != NULL) {
		struct comp_type *t = arena_zalloc(&l->cfg->arena, sizeof(*t));

		if (!t)
			return conf_error(l, 0, NULL, "out of memory.");
		t->text = slice_of(word);
		t->next = cp->types[side];
		cp->types[side] = t;
	}
	return true;
}

static bool parse_size(struct conf_line *l, struct comp_proxy *cp, enum filter_side side)
{
	const char *option = l->words[l->at - 1], *word = conf_peek(l);
	size_t at = 0;

	if (!word || !*word)
		return conf_error(l, l->at, NULL, "'%s' expects an integer argument.", option);
	if (num_parse_size(slice_of(word), &cp->min_size[side], &at) != NUM_OK)
		return conf_error(l, l->at, NULL, "unexpected '%s' after size passed to '%s'",
				  word + at, option);
	l->at++;
	return true;
}

static bool parse_direction(struct conf_line *l, struct comp_proxy *cp)
{
	const char *word = conf_next(l);
	bool both = word && strcmp(word, "both") == 0;
	bool request = both || (word && strcmp(word, "request") == 0);
	bool response = both || (word && strcmp(word, "response") == 0);

	if (!request && !response)
		return conf_error(l, word ? l->at - 1 : l->at, NULL, "'compression' expects "
				  "'request', 'response', or 'both'.");
	cp->directions[FILTER_REQUEST] = request;
	cp->directions[FILTER_RESPONSE] = response;
	return true;
}

static bool parse_offload(struct conf_line *l, struct comp_proxy *cp)
{
	if (l->where == CONF_DEFAULTS)
		conf_warn(l, l->at - 1, NULL, "'compression' : 'offload' ignored in 'defaults' "
			  "section.");
	else
		cp->offload = true;
	return true;
}

static bool parse_word(struct conf_line *l, struct comp_proxy *cp, const char *word)
{
	static const struct {
		const char *word;
		bool (*parse)(struct conf_line *l, struct comp_proxy *cp, enum filter_side side);
		enum filter_side side;
	} words[] = {
		{ "algo", parse_algos, FILTER_RESPONSE },
		{ "algo-req", parse_algos, FILTER_REQUEST },
		{ "algo-res", parse_algos, FILTER_RESPONSE },
		{ "type", parse_types, FILTER_RESPONSE },
		{ "type-req", parse_types, FILTER_REQUEST },
		{ "type-res", parse_types, FILTER_RESPONSE },
		{ "minsize-req", parse_size, FILTER_REQUEST },
		{ "minsize-res", parse_size, FILTER_RESPONSE },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(words[i].word, word) == 0)
			return words[i].parse(l, cp, words[i].side);
	if (strcmp(word, "direction") == 0)
		return parse_direction(l, cp);
	if (strcmp(word, "offload") == 0)
		return parse_offload(l, cp);
	return conf_error(l, l->at - 1, NULL, "'compression' expects 'algo', 'type', 'direction', "
			  "'offload', 'minsize-req' or 'minsize-res'.");
}

static bool parse_compression(struct conf_line *l)
{
	struct comp_proxy *cp = slot_of(&comp_proxy_slot, l->slots);
	const char *word = conf_next(l);

	cp->is_used = true;
	if (!parse_word(l, cp, word ? word : ""))
		return false;
	if (conf_peek(l)) {
		conf_report(l, l->at, DIAG_DIAG, DIAG_PARSING, "'compression %s': '%s' is passed "
			    "over.", word, conf_peek(l));
		l->at = l->count;
	}
	return true;
}

/* --- filter ... ------------------------------------------------------------------------------- */

static bool is_of_both(const struct filter_kind *kind)
{
	return kind != &comp_kinds[COMP_KIND_REQ] && kind != &comp_kinds[COMP_KIND_RES];
}

bool comp_parse(struct conf_line *l, struct filter_conf *conf)
{
	struct comp_proxy *cp = slot_of(&comp_proxy_slot, l->slots);
	const char *name = conf->kind->name;

	if (conf_peek(l))
		return conf_error(l, l->at, NULL, "'filter %s' : unknown keyword '%s'.", name,
				  conf_peek(l));
	/* `filter compression` is both of the others */
	for (const struct filter_conf *c = filter_confs(conf->proxy); c; c = c->next)
		if (c->kind == conf->kind || (c->kind->parse == comp_parse &&
					      (is_of_both(c->kind) || is_of_both(conf->kind))))
			return conf_error(l, 1, NULL, "'filter' : %s: Proxy supports only one %s "
					  "filter", conf->proxy->name, name);
	cp->is_used = true;
	if (conf->kind == &comp_kinds[COMP_KIND_REQ])
		cp->directions[FILTER_REQUEST] = true;
	if (conf->kind == &comp_kinds[COMP_KIND_RES])
		cp->directions[FILTER_RESPONSE] = true;
	return true;
}

static bool has_filter(const struct proxy *px)
{
	const struct filter_conf *c = filter_confs(px);

	while (c && c->kind->parse != comp_parse)
		c = c->next;
	return c;
}

/* Is there one that compression must know its place among? */
static bool has_others(const struct proxy *px)
{
	const struct filter_conf *c = filter_confs(px);

	while (c && (strcmp(c->kind->name, "fcgi-app") == 0 || strcmp(c->kind->name, "cache") == 0))
		c = c->next;
	return c;
}

/* Where there is no other filter, the settings are enough. */
void comp_check_proxy(struct proxy *px, struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };

	if (!comp_of(px)->is_used || px->mode != PROXY_MODE_HTTP || has_filter(px))
		return;
	if (has_others(px))
		diag_add(diags, DIAG_ALERT, &nowhere, "add a line `filter compression` where it "
			 "belongs among the others.", "config: %s '%s': require an explicit filter "
			 "declaration to use HTTP compression", proxy_kind_name(px), px->name);
	else if (!filter_conf_add(px, &comp_kinds[COMP_KIND_BOTH]))
		diag_add(diags, DIAG_ALERT, &nowhere, NULL, "out of memory.");
}

void comp_check(struct config *cfg, struct diag_list *diags)
{
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		comp_check_proxy(px, diags);
}

/* --- global ----------------------------------------------------------------------------------- */

static struct comp_config *global_of(const struct conf_line *l)
{
	return slot_of(&comp_config_slot, config_slots(l->cfg));
}

/* A number; what is none is taken for 0, as HAProxy does, and said to be. */
static bool take_number(struct conf_line *l, int64_t *out)
{
	const char *word = conf_next(l);
	char *end;

	*out = strtoll(word, &end, 10);
	if (end == word || *end)
		conf_report(l, l->at - 1, DIAG_DIAG, DIAG_PARSING, "'%s': '%s' is not a number, "
			    "%lld is taken.", l->words[0], word, (long long)*out);
	return true;
}

static bool parse_rate(struct conf_line *l)
{
	int64_t *rate = &global_of(l)->rate_kb;

	if (!conf_peek(l) || !*conf_peek(l))
		return conf_error(l, l->at, NULL, "'%s' expects an integer argument in kb/s.",
				  l->words[0]);
	take_number(l, rate);
	if (*rate < 0 || *rate > UINT32_MAX) {
		conf_report(l, l->at - 1, DIAG_DIAG, DIAG_PARSING, "'%s': out of range, there is "
			    "no limit.", l->words[0]);
		*rate = 0;
	}
	return true;
}

static bool parse_cpu(struct conf_line *l)
{
	int64_t *percent = &global_of(l)->cpu_percent;

	if (conf_peek(l) && *conf_peek(l)) {
		take_number(l, percent);
		if (*percent >= 0 && *percent <= 100)
			return true;
	}
	return conf_error(l, 1, NULL, "'%s' expects an integer argument between 0 and 100.",
			  l->words[0]);
}

static bool parse_level(struct conf_line *l)
{
	const char *word = conf_next(l);

	if (!word || word[0] < '1' || word[0] > '9' || word[1])
		return conf_error(l, 1, NULL, "'%s' expects a numeric value between 1 and 9",
				  l->words[0]);
	global_of(l)->level = word[0] - '0';
	return true;
}

static bool parse_isal(struct conf_line *l)
{
	const char *word = conf_next(l);
	bool off = word && strcmp(word, "off") == 0;

	if (!off && (!word || strcmp(word, "on") != 0))
		return conf_error(l, 1, "'on' or 'off'", "'%s' expects 'on' or 'off'", l->words[0]);
	global_of(l)->params.no_isal = off;
	return true;
}

#define GLOBAL(text) .words = text, .where = CONF_GLOBAL, .max_args = 1, .syntax = "<number>"
#define NUMBER(text, member, low, high, about) \
	{ GLOBAL(text), .min_args = 1, .type = CONF_INT, .slot = &comp_config_slot, \
	  .offset = offsetof(struct comp_config, member), .min = low, .max = high, .help = about }

static bool parse_memory(struct conf_line *l)
{
	return conf_take_int(l, 0, INT32_MAX, &global_of(l)->memory_mb);
}

const struct conf_keyword comp_keywords[] = {
	{ .words = "compression", .where = CONF_PROXY, .flags = CONF_HTTP, .max_args = -1,
	  .parse = parse_compression,
	  .syntax = "algo|algo-req|algo-res|type|type-req|type-res|minsize-req|minsize-res|"
		    "direction|offload <arguments>...",
	  .help = "compress answers, or requests" },
	{ GLOBAL("maxcomprate"), .parse = parse_rate,
	  .help = "kilobytes a second that are compressed at most" },
	{ GLOBAL("maxcompcpuusage"), .parse = parse_cpu,
	  .help = "percent of the CPU beyond which nothing is compressed" },
	{ GLOBAL("maxzlibmem"), .min_args = 1, .parse = parse_memory,
	  .help = "megabytes that zlib takes at most" },
	{ GLOBAL("tune.comp.maxlevel"), .parse = parse_level,
	  .help = "level of compression, 1 to 9" },
	{ .words = "tune.comp.isal", .where = CONF_GLOBAL, .max_args = 1, .parse = parse_isal,
	  .syntax = "{ on | off }",
	  .help = "compress by ISA-L at level 1, where it is built in (an extension)" },
	NUMBER("tune.zlib.memlevel", params.mem_level, 1, 9, "memory of zlib, 1 to 9"),
	NUMBER("tune.zlib.windowsize", params.window_bits, 8, 15,
	       "bytes that zlib looks back, as a power of two"),
	{ 0 }
};

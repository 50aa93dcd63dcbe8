/* SPDX-License-Identifier: GPL-2.0-or-later */
/* split.c - use_backends: choosing among backends by weight */
#include "stream/split.h"

#include <math.h>
#include <string.h>
#include "base/hash.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "stream/rule_list.h"

#define EXAMPLE "as in 'use_backends stable:95 canary:5'"

/* --- parsing ---------------------------------------------------------------------------------- */

bool split_read(const char *word, size_t *name_len, unsigned *weight)
{
	const char *colon = strrchr(word, ':');
	uint64_t number;

	if (!colon || colon == word || !num_parse_u64(slice_of(colon + 1), &number) ||
	    number > SPLIT_WEIGHT_MAX)
		return false;
	*name_len = (size_t)(colon - word);
	*weight = (unsigned)number;
	return true;
}

/* One word, "stable:95". */
static bool take_target(struct conf_line *l, struct split *sp)
{
	struct split_target *t = &sp->targets[sp->count];
	const char *word = conf_peek(l);
	size_t len;

	if (sp->count == SPLIT_MAX)
		return conf_error(l, l->at, NULL, "'use_backends' takes up to %d backends.",
				  SPLIT_MAX);
	if (!split_read(word, &len, &t->weight))
		return conf_error(l, l->at, NULL, "'use_backends' expects a backend with its "
				  "weight from 0 to %d, " EXAMPLE ", and then 'by', 'if' or "
				  "'unless' (got '%s').", SPLIT_WEIGHT_MAX, word);
	t->name = arena_printf(&l->cfg->arena, "%.*s", (int)len, word);
	if (!t->name)
		return conf_error(l, l->at, NULL, "out of memory.");
	for (unsigned i = 0; i < sp->count; i++)
		if (strcmp(sp->targets[i].name, t->name) == 0)
			return conf_error(l, l->at, "write it once, with the sum of its weights",
					  "'use_backends' names backend '%s' twice.", t->name);
	t->column = l->columns ? l->columns[l->at] : 0;
	t->seed = hash_bytes(t->name, len, 0);
	sp->weights[sp->count++] = t->weight;
	l->at++;
	return true;
}

static bool at_condition(const struct conf_line *l)
{
	const char *word = conf_peek(l);

	return !word || strcmp(word, "if") == 0 || strcmp(word, "unless") == 0;
}

static bool take_key(struct conf_line *l, struct split *sp)
{
	if (at_condition(l) || strcmp(conf_peek(l), "by") != 0)
		return true;
	l->at++;
	if (at_condition(l))
		return conf_error(l, l->at, NULL, "'by' expects a sample expression, as in "
				  "'by req.cook(user)'.");
	sp->key = expr_take(l, EXPR_FE_SET_BCK);
	return sp->key != NULL;
}

/* The words from <from> up to the condition. */
static const char *join(struct conf_line *l, int from)
{
	struct strbuf text;
	const char *joined;

	strbuf_init(&text);
	for (int i = from; i < l->at; i++)
		strbuf_printf(&text, "%s%s", i > from ? " " : "", l->words[i]);
	joined = arena_printf(&l->cfg->arena, "%.*s", SLICE_FMT(strbuf_slice(&text)));
	strbuf_fini(&text);
	return joined;
}

static struct split *split_new(struct conf_line *l)
{
	struct split *sp = arena_zalloc(&l->cfg->arena, sizeof(*sp));
	size_t room = (size_t)(l->count - l->at);

	if (!sp)
		return NULL;
	room = room < SPLIT_MAX ? room : SPLIT_MAX;
	for (int i = l->at; i < l->count; i++)
		sp->written = hash_bytes(l->words[i], strlen(l->words[i]) + 1, sp->written);
	sp->targets = arena_zalloc(&l->cfg->arena, room * sizeof(*sp->targets));
	sp->weights = arena_zalloc(&l->cfg->arena, room * sizeof(*sp->weights));
	return sp->targets && sp->weights ? sp : NULL;
}

struct split *split_parse(struct conf_line *l, const char **text)
{
	struct split *sp;
	int from = l->at;
	uint64_t sum = 0;

	if (at_condition(l)) {
		conf_error(l, l->at, NULL, "'use_backends' expects backends with their weights, "
			   EXAMPLE ".");
		return NULL;
	}
	sp = split_new(l);
	if (!sp) {
		conf_error(l, 0, NULL, "out of memory.");
		return NULL;
	}
	while (!at_condition(l) && strcmp(conf_peek(l), "by") != 0)
		if (!take_target(l, sp))
			return NULL;
	for (unsigned i = 0; i < sp->count; i++)
		sum += sp->targets[i].weight;
	if (!sum) {
		conf_error(l, from, sp->count ? "a rule that is to rest is commented out" : NULL,
			   "'use_backends' expects a backend whose weight is above 0.");
		return NULL;
	}
	if (!take_key(l, sp))
		return NULL;
	*text = join(l, from);
	return sp;
}

/* --- choosing --------------------------------------------------------------------------------- */

static unsigned weight_left(const struct split *sp, unsigned i, uint32_t tried)
{
	return tried >> i & 1 ? 0 : split_weight(sp, i);
}

static enum expr_result pick_by_chance(const struct split *sp, uint32_t tried, unsigned *which)
{
	uint64_t sum = 0, at;

	for (unsigned i = 0; i < sp->count; i++)
		sum += weight_left(sp, i, tried);
	if (!sum)
		return EXPR_NONE;
	at = num_random() % sum;
	/* weights may change meanwhile: the last one that has some stands in */
	for (unsigned i = 0; i < sp->count; i++) {
		unsigned weight = weight_left(sp, i, tried);

		if (weight)
			*which = i;
		if (at < weight)
			break;
		at -= weight;
	}
	return EXPR_FOUND;
}

/* How much the target wants the key: its weight over a number that is exponentially distributed,
 * so that it has the highest score for its share of the keys.
 */
static double score(const struct split_target *t, unsigned weight, uint64_t key)
{
	double u = ((double)(hash_u64(key ^ t->seed) >> 12) + 0.5) * 0x1p-52;

	return (double)weight / -log(u);
}

static enum expr_result pick_by_key(const struct split *sp, uint64_t key, uint32_t tried,
				    unsigned *which)
{
	enum expr_result ret = EXPR_NONE;
	double best = 0;

	for (unsigned i = 0; i < sp->count; i++) {
		unsigned weight = weight_left(sp, i, tried);
		double mine = weight ? score(&sp->targets[i], weight, key) : 0;

		if (mine <= best)
			continue;
		best = mine;
		*which = i;
		ret = EXPR_FOUND;
	}
	return ret;
}

enum expr_result split_pick(const struct split *sp, struct expr_ctx *ctx, uint32_t tried,
			    unsigned *which)
{
	enum expr_result ret = sp->key ? EXPR_FOUND : EXPR_NONE;
	struct sample s;

	if (sp->key)
		ret = expr_eval(sp->key, ctx, &s);
	if (ret == EXPR_WAIT)
		return EXPR_WAIT;
	/* a request without a key has nothing to come back by */
	if (ret == EXPR_NONE || !sample_cast(&s, SMP_BIN, ctx->arena) || !s.text.len)
		return pick_by_chance(sp, tried, which);
	return pick_by_key(sp, hash_bytes(s.text.ptr, s.text.len, 0), tried, which);
}

/* --- all of a frontend ------------------------------------------------------------------------ */

struct switch_rule *split_next(const struct proxy *fe, const struct switch_rule *after)
{
	const struct list *rules = &rule_proxy_of(fe)->backends;
	const struct list *at = after ? after->link.next : rules->next;

	for (; at != rules; at = at->next) {
		struct switch_rule *sr = list_entry(at, struct switch_rule, link);

		if (sr->split)
			return sr;
	}
	return NULL;
}

/* The rule of <fe> that is written as <like>, with as many of them before it. */
static const struct switch_rule *same_rule(const struct proxy *fe, const struct split *like,
					   unsigned before)
{
	const struct switch_rule *sr = NULL;

	while ((sr = split_next(fe, sr)) != NULL)
		if (sr->split->written == like->written && sr->split->count == like->count &&
		    !before--)
			return sr;
	return NULL;
}

void split_adopt(struct config *next, const struct proxy *prev)
{
	const struct proxy *fe = prev->caps & PROXY_FE ? proxy_heir(next, prev) : NULL;
	struct switch_rule *sr = NULL;

	if (!fe)
		return;
	while ((sr = split_next(fe, sr)) != NULL) {
		const struct switch_rule *was = NULL, *it = NULL;
		unsigned before = 0;

		while ((it = split_next(fe, it)) != sr)
			before += it->split->written == sr->split->written;
		was = same_rule(prev, sr->split, before);
		for (unsigned i = 0; was && i < sr->split->count; i++)
			sr->split->weights[i] = split_weight(was->split, i);
	}
}

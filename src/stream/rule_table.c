/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rule_table.c - the actions of all modules: finding one by its words, naming them in messages and
 * in -dK
 */
#include "rule_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/strbuf.h"

#define ACTIONS_MAX 512

static const struct module *const *rule_modules;
/* The actions by the first letter of their names, those of one in the order of the modules: of <c>,
 * those from letters[c] up to letters[c + 1].
 */
static const struct rule_action *by_letter[ACTIONS_MAX];
static uint16_t letters[257];
static rules_script_fn *find_script;

void rules_set_scripts(rules_script_fn *find)
{
	find_script = find;
}

const char *ruleset_name(enum ruleset set)
{
	static const char *const names[RULES_COUNT] = {
		[RULES_QUIC_INITIAL] = "quic-initial",
		[RULES_TCP_CONNECTION] = "tcp-request connection",
		[RULES_TCP_SESSION] = "tcp-request session",
		[RULES_TCP_CONTENT] = "tcp-request content",
		[RULES_TCP_RESPONSE] = "tcp-response content",
		[RULES_HTTP_REQUEST] = "http-request",
		[RULES_HTTP_RESPONSE] = "http-response",
		[RULES_HTTP_AFTER] = "http-after-response",
	};

	return names[set];
}

/* The rows of all modules one by one; NULL at the end. Start with zeroes. */
struct action_walk {
	enum ruleset set; /* for action_next_name() */
	int module;
	const struct rule_action *next;
};

static const struct rule_action *action_next(struct action_walk *w)
{
	while (rule_modules && rule_modules[w->module]) {
		if (!w->next)
			w->next = rule_modules[w->module]->actions;
		if (w->next && w->next->words)
			return w->next++;
		w->next = NULL;
		w->module++;
	}
	return NULL;
}

/* May the action's word go on so? */
static bool action_goes_on(const struct rule_action *a, const char *rest)
{
	if (a->has_number)
		rest += strspn(rest, "0123456789");
	return !*rest || (a->has_parameter && *rest == '(');
}

/* How many words of the line, from <at>, the action's name takes; 0: another name. */
static int action_match(const struct rule_action *a, const struct conf_line *l, int at)
{
	const char *name = a->words;
	int words = 0;

	while (*name) {
		const char *word = at + words < l->count ? l->words[at + words] : "";
		size_t len;

		if (*name != *word)
			return 0;
		len = strcspn(name, " ");
		if (strncmp(name, word, len) != 0 || !action_goes_on(a, word + len))
			return 0;
		words++;
		name += len;
		if (*name == ' ')
			name++;
	}
	return words;
}

/* The action that the next words name in one of <sets>, and how many words; NULL: unknown. */
static const struct rule_action *action_find(const struct conf_line *l, unsigned sets, int *words)
{
	unsigned char letter = l->at < l->count ? (unsigned char)*l->words[l->at] : 0;
	const struct rule_action *best = NULL;

	*words = 0;
	for (unsigned i = letters[letter]; i < letters[letter + 1]; i++) {
		const struct rule_action *a = by_letter[i];
		int n = a->rulesets & sets ? action_match(a, l, l->at) : 0;

		if (n > *words || (n && n == *words && best->waits_for)) {
			best = a;
			*words = n;
		}
	}
	return best;
}

static const char *action_next_name(void *data)
{
	struct action_walk *w = data;
	const struct rule_action *a;

	while ((a = action_next(w)) != NULL)
		if (a->rulesets & RULES_BIT(w->set) && !a->waits_for)
			return a->words;
	return NULL;
}

/* "http-request, http-response": the rulesets of a mask. */
static void put_rulesets(struct strbuf *out, unsigned sets)
{
	bool first = true;

	for (unsigned set = 0; set < RULES_COUNT; set++) {
		if (!(sets & RULES_BIT(set)))
			continue;
		strbuf_printf(out, "%s%s", first ? "" : ", ", ruleset_name(set));
		first = false;
	}
}

/* Says where the word is an action, or which one is spelled almost so. False: neither. */
static bool action_hint(struct conf_line *l, enum ruleset set, char *hint, size_t size)
{
	struct action_walk walk = { .set = set };
	const struct rule_action *a;
	const char *close = NULL;
	struct strbuf out;
	int words;

	strbuf_init_fixed(&out, hint, size);
	a = action_find(l, ~0u, &words);
	if (a) {
		strbuf_printf(&out, "'%s' is an action of ", a->words);
		put_rulesets(&out, a->rulesets);
		strbuf_add_str(&out, " rules");
	} else {
		if (conf_peek(l))
			close = conf_closest(conf_peek(l), action_next_name, &walk);
		if (!close)
			return false;
		strbuf_printf(&out, "did you mean '%s' maybe ?", close);
	}
	return strbuf_add_char(&out, '\0');
}

static bool action_unknown(struct conf_line *l, enum ruleset set)
{
	struct action_walk walk = { .set = set };
	const char *word = conf_peek(l), *name;
	char hint[256], area[2000];
	struct strbuf names;
	bool hinted;

	strbuf_init_fixed(&names, area, sizeof(area));
	while ((name = action_next_name(&walk)) != NULL)
		strbuf_printf(&names, "%s'%s'", names.len ? ", " : "", name);
	hinted = action_hint(l, set, hint, sizeof(hint));
	return conf_error(l, l->at, hinted ? hint : NULL, "'%s' expects %s, but got '%s'%s.",
			  ruleset_name(set), names.len ? names.ptr : "nothing", word ? word : "",
			  word ? "" : " (missing argument)");
}

const struct rule_action *rule_action_take(struct conf_line *l, enum ruleset set)
{
	int words;
	const struct rule_action *a = action_find(l, RULES_BIT(set), &words);

	if (!a && find_script && conf_peek(l)) {
		a = find_script(l->cfg, conf_peek(l), RULES_BIT(set));
		words = 1;
	}
	if (!a) {
		action_unknown(l, set);
		return NULL;
	}
	if (a->waits_for) {
		conf_error(l, l->at, NULL, "'%s %s' is not supported yet: it needs %s.",
			   ruleset_name(set), a->words, a->waits_for);
		return NULL;
	}
	if (a->experimental && !conf_experimental(l->cfg)) {
		conf_error(l, l->at, NULL, "'%s' action is experimental, must be allowed via a "
			   "global 'expose-experimental-directives'", a->words);
		return NULL;
	}
	l->at += words;
	return a;
}

/* --- -dKcfg ------------------------------------------------------------------------------- */

static int compare_actions(const void *a, const void *b)
{
	return strcmp((*(const struct rule_action *const *)a)->words,
		      (*(const struct rule_action *const *)b)->words);
}

static void dump_ruleset(enum ruleset set, FILE *out)
{
	static const struct rule_action *sorted[ACTIONS_MAX];
	struct action_walk walk = { 0 };
	const struct rule_action *a;
	size_t count = 0;

	while ((a = action_next(&walk)) != NULL && count < ACTIONS_MAX)
		if (a->rulesets & RULES_BIT(set) && !a->waits_for)
			sorted[count++] = a;
	qsort(sorted, count, sizeof(*sorted), compare_actions);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "\t%s %s%s\n", ruleset_name(set), sorted[i]->words,
			sorted[i]->has_parameter || sorted[i]->has_number ? "*" : "");
}

static void dump_actions(FILE *out)
{
	/* (the reference lists no actions of quic-initial) */
	for (enum ruleset set = RULES_TCP_CONNECTION; set < RULES_COUNT; set++)
		dump_ruleset(set, out);
}

static void sort_by_letter(void)
{
	uint16_t next[257];
	const struct rule_action *a;

	memset(letters, 0, sizeof(letters));
	for (struct action_walk walk = { 0 }; (a = action_next(&walk)) != NULL;)
		letters[(unsigned char)*a->words + 1]++;
	for (unsigned i = 0; i < 256; i++)
		letters[i + 1] += letters[i];
	BUG_ON(letters[256] > ACTIONS_MAX);
	memcpy(next, letters, sizeof(next));
	for (struct action_walk walk = { 0 }; (a = action_next(&walk)) != NULL;)
		by_letter[next[(unsigned char)*a->words]++] = a;
}

bool rules_register(const struct module *const *modules)
{
	rule_modules = modules;
	sort_by_letter();
	return conf_on_dump("listen", dump_actions);
}

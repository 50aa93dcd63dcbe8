/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map_act.c - edge file: actions that change maps and lists of patterns
 *
 * Manual: configuration 4.4 set-map, del-map, add-acl, del-acl; 2.7.
 */
#include <stdlib.h>
#include "base/block.h"
#include "expr/pattern.h"
#include "stream/action.h"

struct map_arg {
	struct pattern_ref *ref;
	struct pattern_set *entries; /* by their text, to find them */
	struct rule_text key, value;
};

/* What stands in the parentheses of the action's own word; NULL: reported. */
static const char *take_name(struct conf_line *l, struct rule *r)
{
	const char *word = l->words[l->at - 1], *open = strchr(word, '(');
	size_t len = strlen(word);
	char *name;

	if (!open || word[len - 1] != ')' || open + 2 >= word + len) {
		rule_error(l, r, l->at - 1, "expects a file name in parentheses: '%s(<name>)', not "
			   "'%s'", r->action->words, word);
		return NULL;
	}
	name = conf_strdup(l->cfg, open + 1);
	if (name)
		name[strlen(name) - 1] = '\0';
	else
		rule_no_memory(l, r);
	return name;
}

static bool take_text(struct conf_line *l, struct rule *r, const char *what, struct rule_text *out)
{
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "missing %s after '%s'", what, r->action->words);
	if (!rule_text_parse(l, conf_peek(l), rule_phases(r->proxy, r->set), 0, out))
		return false;
	l->at++;
	return true;
}

/* <action>(<name>) <key> [<value>] */
static bool map_parse(struct conf_line *l, struct rule *r)
{
	struct map_arg *arg = arena_zalloc(&l->cfg->arena, sizeof(*arg));
	bool acl = strstr(r->action->words, "acl") != NULL;
	const char *name, *error;
	int at = l->at - 1;

	if (!arg)
		return rule_no_memory(l, r);
	r->data = arg;
	name = take_name(l, r);
	if (!name || !take_text(l, r, "<key>", &arg->key))
		return false;
	if (strcmp(r->action->words, "set-map") == 0 && !take_text(l, r, "<value>", &arg->value))
		return false;
	arg->ref = pattern_ref_take(l, name, acl, &error);
	if (!arg->ref)
		return rule_error(l, r, at, "%s", error);
	arg->entries = pattern_set_get(l, arg->ref, PATTERN_STR, 0);
	return arg->entries != NULL;
}

/* Is there an entry of this text? With what stands beside it. */
static bool find_entry(const struct map_arg *arg, struct slice key, struct slice *value)
{
	struct sample smp = { .type = SMP_STR, .text = key };
	struct pattern_match match;

	if (!pattern_set_find(arg->entries, &smp, &match))
		return false;
	*value = match.value;
	return true;
}

static enum rule_result add_acl_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct map_arg *arg = r->data;
	struct slice key = rule_text_make(&arg->key, ctx), value;
	struct pattern_error error;

	if (key.len && !find_entry(arg, key, &value))
		pattern_set_add_missing(arg->entries, key, slice_none(), &error);
	return RULE_CONTINUE;
}

static enum rule_result set_map_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct map_arg *arg = r->data;
	struct slice key = rule_text_make(&arg->key, ctx), value, old;
	struct pattern_error error;

	value = key.len ? rule_text_make(&arg->value, ctx) : slice_none();
	if (!value.ptr)
		return RULE_CONTINUE;
	if (!find_entry(arg, key, &old))
		pattern_set_add_missing(arg->entries, key, value, &error);
	else if (!slice_eq(old, value))
		pattern_ref_replace(arg->ref, PATTERN_NOW, key, 0, value, &error);
	return RULE_CONTINUE;
}

static enum rule_result delete_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct map_arg *arg = r->data;
	struct slice key = rule_text_make(&arg->key, ctx);

	if (key.len)
		pattern_ref_delete(arg->ref, PATTERN_NOW, key, 0);
	return RULE_CONTINUE;
}

#define HTTP_BOTH (RULES_BIT(RULES_HTTP_REQUEST) | RULES_BIT(RULES_HTTP_RESPONSE))
#define HTTP_ALL (HTTP_BOTH | RULES_BIT(RULES_HTTP_AFTER))
#define ACTION(name, sets, runner, what, text) \
	{ .words = name, .rulesets = sets, .has_parameter = true, .parse = map_parse, \
	  .run = runner, .syntax = what, .help = text }

static const struct rule_action actions[] = {
	ACTION("add-acl", HTTP_BOTH, add_acl_run, "(<file>) <key>",
	       "add a pattern to a list, if it is not there"),
	ACTION("del-acl", HTTP_ALL, delete_run, "(<file>) <key>", "delete a pattern from a list"),
	ACTION("del-map", HTTP_ALL, delete_run, "(<file>) <key>", "delete an entry of a map"),
	ACTION("set-map", HTTP_ALL, set_map_run, "(<file>) <key> <value>",
	       "set an entry of a map, or add it"),
	{ 0 }
};

const struct module mod_map_act = { .name = "map-actions", .actions = actions };

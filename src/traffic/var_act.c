/* SPDX-License-Identifier: GPL-2.0-or-later */
/* var_act.c - actions that set and forget variables: set-var, set-var-fmt, unset-var */
#include <string.h>
#include "expr/vars.h"
#include "stream/action.h"

#define VAR_ACTIONS "'set-var(<var-name>)', 'set-var-fmt(<var-name>)' or 'unset-var(<var-name>)'"
#define VALUE_MAX 65536

struct var_action {
	const struct var_ref *ref;
	const struct expr *expr;         /* set-var */
	const struct logformat *format;  /* set-var-fmt */
};

/* What stands in the parentheses of the action's own word; NULL: reported. */
static const char *parameter_take(struct conf_line *l, struct rule *r)
{
	const char *word = l->words[l->at - 1], *open = strchr(word, '(');
	size_t len = strlen(word);

	if (!open) {
		rule_error(l, r, l->at - 1, "invalid or incomplete action '%s'. Expects "
			   VAR_ACTIONS, word);
		return NULL;
	}
	if (word[len - 1] != ')') {
		rule_error(l, r, l->at - 1, "incomplete argument after action '%s'. Expects "
			   VAR_ACTIONS, word);
		return NULL;
	}
	return conf_strdup(l->cfg, open + 1);
}

/* The action with its variable. NULL: reported. */
static struct var_action *var_action_new(struct conf_line *l, struct rule *r)
{
	struct var_action *a = arena_zalloc(&l->cfg->arena, sizeof(*a));
	const char *parameter = a ? parameter_take(l, r) : NULL, *error;

	if (!a)
		rule_no_memory(l, r);
	if (!parameter)
		return NULL;
	((char *)parameter)[strlen(parameter) - 1] = 0;
	a->ref = var_ref_parse(l->cfg, parameter, true, &error);
	if (!a->ref) {
		rule_error(l, r, l->at - 1, "%s", error);
		return NULL;
	}
	if (r->set <= RULES_TCP_SESSION && !var_ref_outlives_stream(a->ref))
		conf_warn(l, l->at - 1, "a variable of the scope 'sess' lasts as long as the "
			  "connection", "rule without effect: there is no stream yet that could "
			  "keep '%s'.", parameter);
	r->data = a;
	return a;
}

static bool set_var_parse(struct conf_line *l, struct rule *r)
{
	struct var_action *a = var_action_new(l, r);

	if (!a)
		return false;
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "missing fetch method");
	a->expr = expr_take(l, rule_phases(r->proxy, r->set));
	return a->expr != NULL;
}

static bool set_var_fmt_parse(struct conf_line *l, struct rule *r)
{
	struct var_action *a = var_action_new(l, r);

	if (!a)
		return false;
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "missing log-format string");
	/* the bytes of the samples: what uses the variable encodes what it must */
	a->format = logformat_parse(l, conf_peek(l), rule_phases(r->proxy, r->set), 0);
	l->at++;
	return a->format != NULL;
}

static bool unset_var_parse(struct conf_line *l, struct rule *r)
{
	return var_action_new(l, r) != NULL;
}

/* A value that does not exist leaves the variable as it is. */
static enum rule_result set_var_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct var_action *a = r->data;
	struct sample value;
	enum expr_result ret;

	if (ctx->stream && r->set != RULES_HTTP_AFTER)
		ctx->flags |= EXPR_MAY_WAIT;
	ret = expr_eval(a->expr, ctx, &value);
	ctx->flags &= ~EXPR_MAY_WAIT;
	if (ret == EXPR_WAIT)
		return RULE_WAIT;
	if (ret == EXPR_FOUND)
		var_set(a->ref, ctx, &value);
	return RULE_CONTINUE;
}

static enum rule_result set_var_fmt_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct var_action *a = r->data;
	struct sample value = { .type = SMP_STR };

	value.text = logformat_make(a->format, ctx, VALUE_MAX);
	if (value.text.ptr)
		var_set(a->ref, ctx, &value);
	return RULE_CONTINUE;
}

static enum rule_result unset_var_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct var_action *a = r->data;

	var_unset(a->ref, ctx);
	return RULE_CONTINUE;
}

#define ALL ((RULES_BIT(RULES_COUNT) - 1) & ~RULES_BIT(RULES_QUIC_INITIAL))
#define ACTION(name, parser, runner, what, text) \
	{ .words = name, .rulesets = ALL, .has_parameter = true, \
	  .parse = parser, .run = runner, .syntax = what, .help = text }

static const struct rule_action actions[] = {
	ACTION("set-var", set_var_parse, set_var_run, "(<name>[,<condition>...]) <expr>",
	       "set a variable"),
	ACTION("set-var-fmt", set_var_fmt_parse, set_var_fmt_run,
	       "(<name>[,<condition>...]) <fmt>", "set a variable to a text"),
	ACTION("unset-var", unset_var_parse, unset_var_run, "(<name>)", "forget a variable"),
	{ 0 }
};

const struct module mod_var_act = { .name = "var-actions", .actions = actions };

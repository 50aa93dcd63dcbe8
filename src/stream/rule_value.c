/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rule_value.c - arguments of actions that are a number, or an expression that gives one */
#include <stdlib.h>
#include "base/num.h"
#include "rule_priv.h"

bool rule_value_take_expr(struct conf_line *l, struct rule *r, struct rule_value *v)
{
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "missing fetch method");
	v->expr = expr_take(l, rule_phases(r->proxy, r->set));
	return v->expr != NULL;
}

bool rule_value_take_number(struct conf_line *l, struct rule *r, struct rule_value *v)
{
	char *end;

	if (rule_at_end(l))
		return rule_error(l, r, l->at, "expects an argument");
	v->number = strtoll(conf_peek(l), &end, 0);
	if (*end)
		return rule_value_take_expr(l, r, v);
	l->at++;
	return true;
}

bool rule_value_take_time(struct conf_line *l, struct rule *r, struct rule_value *v)
{
	const char *word = conf_peek(l);
	size_t bad = 0;
	uint64_t us;

	if (rule_at_end(l) || !*word)
		return rule_error(l, r, l->at, "expects a time or an expression");
	if (!ascii_is_digit(*word))
		return rule_value_take_expr(l, r, v);
	switch (num_parse_time(slice_of(word), NUM_MS, &us, &bad)) {
	case NUM_OK:
		break;
	case NUM_OVERFLOW:
		return rule_error(l, r, l->at, "the time '%s' is too long", word);
	default:
		return rule_error(l, r, l->at, "unexpected character '%c' in '%s'", word[bad],
				  word);
	}
	v->number = (int64_t)((us + 999) / 1000);
	if (!v->number)
		return rule_error(l, r, l->at, "null value is not valid for a '%s' rule",
				  r->action->words);
	l->at++;
	return true;
}

bool rule_value_eval(const struct rule_value *v, struct expr_ctx *ctx, int64_t *out)
{
	struct sample smp;

	*out = v->number;
	if (!v->expr)
		return true;
	if (expr_eval(v->expr, ctx, &smp) != EXPR_FOUND || !sample_cast(&smp, SMP_INT, ctx->arena))
		return false;
	*out = smp.integer;
	return true;
}

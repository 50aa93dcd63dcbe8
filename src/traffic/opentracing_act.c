/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opentracing_act.c - edge file: ot-group, which needs the OpenTracing filter: there is none
 *
 * The rule is refused with the message of a program that was built without the filter, so that the
 * filter is reported as missing, not the rule.
 * Manual: configuration 4.4 ot-group.
 */
#include "stream/action.h"

struct group_arg {
	const char *filter, *group;
};

static bool group_parse(struct conf_line *l, struct rule *r)
{
	struct group_arg *arg = arena_zalloc(&l->cfg->arena, sizeof(*arg));

	if (!arg)
		return rule_no_memory(l, r);
	if (l->count - l->at < 2)
		return rule_error(l, r, l->at, "expects: <filter-id> <group-id>");
	arg->filter = conf_next(l);
	arg->group = conf_next(l);
	r->data = arg;
	return true;
}

static bool group_check(struct config *cfg, struct rule *r, struct diag_list *diags)
{
	const struct group_arg *arg = r->data;

	diag_add(diags, DIAG_ALERT, &(struct diag_place){ .form = DIAG_BARE }, NULL,
		 "Proxy '%s': unable to find the OpenTracing filter '%s' used by the ot-group "
		 "'%s'.", r->proxy->name, arg->filter, arg->group);
	return false;
}

static enum rule_result group_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	return RULE_CONTINUE;
}

static const struct rule_action actions[] = {
	{ .words = "ot-group",
	  .rulesets = RULES_BIT(RULES_TCP_CONTENT) | RULES_BIT(RULES_TCP_RESPONSE) |
		      RULES_BIT(RULES_HTTP_REQUEST) | RULES_BIT(RULES_HTTP_RESPONSE) |
		      RULES_BIT(RULES_HTTP_AFTER),
	  .parse = group_parse, .check = group_check, .run = group_run,
	  .syntax = "<filter-id> <group-id>",
	  .help = "refused: it needs the OpenTracing filter, which is not there" },
	{ 0 }
};

const struct module mod_opentracing_act = { .name = "opentracing-actions", .actions = actions };

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* service_act.c - edge file: use-service
 *
 * Manual: configuration 4.4 use-service.
 */
#include "stream/action.h"
#include "stream/service.h"

struct service_rule {
	const struct service_kind *kind;
	const void *arg;
};

static bool use_service_parse(struct conf_line *l, struct rule *r)
{
	struct service_rule *sr = arena_zalloc(&l->cfg->arena, sizeof(*sr));
	const char *name = conf_peek(l);

	if (!sr)
		return rule_no_memory(l, r);
	r->data = sr;
	if (!name || rule_at_end(l))
		return rule_error(l, r, l->at, "expects the name of a service");
	sr->kind = service_find(l->cfg, name);
	if (!sr->kind)
		return rule_error(l, r, l->at, "unknown service name '%s'", name);
	if (sr->kind->is_raw != (r->set == RULES_TCP_CONTENT))
		return rule_error(l, r, l->at, "service '%s' is for mode %s", name,
				  sr->kind->is_raw ? "tcp" : "http");
	l->at++;
	return !sr->kind->parse || sr->kind->parse(l, &sr->arg);
}

static enum rule_result use_service_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct service_rule *sr = r->data;

	return service_attach(ctx->stream, r->proxy, sr->kind, sr->arg) ? RULE_SERVICE : RULE_ERROR;
}

static const struct rule_action actions[] = {
	{ .words = "use-service", .rulesets = RULES_BIT(RULES_HTTP_REQUEST) |
						     RULES_BIT(RULES_TCP_CONTENT),
	  .parse = use_service_parse, .run = use_service_run, .syntax = "<service> [<arguments>]",
	  .help = "answer by a service of the program" },
	{ 0 }
};

const struct module mod_service_act = { .name = "services", .actions = actions };

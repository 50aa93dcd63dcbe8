/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolve_act.c - edge file: action do-resolve: a name of the request becomes an address
 *
 * The stream waits in its rule while others are served. On any failure the variable is not set and
 * the next rule decides. Manual: configuration 4.4 do-resolve.
 */
#include <string.h>
#include "dns/resolvers.h"
#include "expr/vars.h"
#include "stream/action.h"
#include "stream/stream.h"
#include "stream/wait.h"

#define USAGE "Expects 'do-resolve(<varname>,<resolvers>[,<options>]) <expr>'. Available options " \
	"are 'ipv4' and 'ipv6'."

struct resolve_action {
	const struct var_ref *ref;
	const char *section_name;
	struct resolvers *section;
	enum dns_type prefer;
	const struct expr *expr;
};

/* What a stream waits for: in its arena. */
struct resolve_wait {
	struct stream_wait wait;
	struct resolve_query *query;
	struct addr addr;            /* the answer; ADDR_NONE: none */
};

static void resolve_cancel(struct stream_wait *wait)
{
	resolve_forget(&container_of(wait, struct resolve_wait, wait)->query);
}

static const struct stream_wait_kind resolve_kind = {
	.name = "do-resolve", .cancel = resolve_cancel,
};

/* --- configuration --------------------------------------------------------------------------- */

/* Takes "<variable>,<section>[,<family>]" apart, in place. */
static bool parameter_cut(char *text, struct resolve_action *a, const char **var)
{
	char *parts[4], *part;
	int count = 0;

	while ((part = strsep(&text, ",")) != NULL && count < 4)
		parts[count++] = part;
	if (part || count < 2 || count > 3 || !*parts[0] || !*parts[1])
		return false;
	*var = parts[0];
	a->section_name = parts[1];
	a->prefer = count == 3 && strcmp(parts[2], "ipv4") == 0 ? DNS_A : DNS_AAAA;
	return count == 2 || a->prefer == DNS_A || strcmp(parts[2], "ipv6") == 0;
}

static bool resolve_parse(struct conf_line *l, struct rule *r)
{
	const char *word = l->words[l->at - 1], *open = strchr(word, '('), *var, *error;
	struct resolve_action *a = arena_zalloc(&l->cfg->arena, sizeof(*a));
	char *text = conf_strdup(l->cfg, open ? open + 1 : "");
	size_t len = text ? strlen(text) : 0;

	if (!a || !text)
		return rule_no_memory(l, r);
	if (!len || text[len - 1] != ')')
		return rule_error(l, r, l->at - 1, "Can't parse '%s'. " USAGE, word);
	text[len - 1] = 0;
	if (!parameter_cut(text, a, &var))
		return rule_error(l, r, l->at - 1, "Can't parse '%s'. " USAGE, word);
	a->ref = var_ref_parse(l->cfg, var, false, &error);
	if (!a->ref)
		return rule_error(l, r, l->at - 1, "%s", error);
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "Can't parse '': missing fetch method. " USAGE);
	r->data = a;
	a->expr = expr_take(l, rule_phases(r->proxy, r->set));
	return a->expr != NULL;
}

static bool resolve_check(struct config *cfg, struct rule *r, struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };
	struct resolve_action *a = r->data;

	a->section = resolvers_find(cfg, a->section_name);
	if (!a->section)
		diag_add(diags, DIAG_ALERT, &nowhere, NULL, "Proxy '%s': Can't find resolvers "
			 "section '%s' for do-resolve action.", r->proxy->name, a->section_name);
	return a->section != NULL;
}

/* --- at run time ------------------------------------------------------------------------------ */

static void resolved(void *ctx, const struct addr *addr)
{
	struct resolve_wait *w = ctx;

	w->addr = *addr;
	stream_wake(&w->wait);
}

/* EXPR_WAIT: asked, or the name is not known yet. Else there is nothing to wait for. */
static enum expr_result ask(const struct resolve_action *a, struct expr_ctx *ctx)
{
	struct stream *s = ctx->stream;
	struct resolve_wait *w;
	struct sample name;
	enum expr_result ret;

	ctx->flags |= EXPR_MAY_WAIT;
	ret = expr_eval(a->expr, ctx, &name);
	ctx->flags &= ~EXPR_MAY_WAIT;
	if (ret != EXPR_FOUND || !sample_cast(&name, SMP_STR, ctx->arena))
		return ret == EXPR_WAIT ? ret : EXPR_NONE;
	w = arena_zalloc(&s->arena, sizeof(*w));
	if (w)
		w->query = resolvers_ask_once(a->section, name.text, a->prefer, resolved, w);
	if (!w || !w->query)
		return EXPR_NONE;
	stream_wait_begin(s, &w->wait, &resolve_kind);
	s->rule.data = w;
	return EXPR_WAIT;
}

static void keep(const struct resolve_action *a, struct expr_ctx *ctx, const struct addr *addr)
{
	struct sample value = { .type = SMP_IPV4, .ipv4 = addr->v4 };

	if (addr->family == ADDR_INET6) {
		value.type = SMP_IPV6;
		memcpy(value.ipv6, addr->v6, sizeof(addr->v6));
	}
	if (addr->family != ADDR_NONE)
		var_set(a->ref, ctx, &value);
}

static enum rule_result resolve_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct resolve_action *a = r->data;
	struct resolve_wait *w = ctx->stream->rule.data;

	if (!w)
		return ask(a, ctx) == EXPR_WAIT ? RULE_WAIT : RULE_CONTINUE;
	if (!stream_wait_is_over(&w->wait) && !(ctx->stream->front.flags & EP_ERROR))
		return RULE_WAIT;
	stream_wait_cancel(&w->wait); /* it goes on when the client has failed */
	keep(a, ctx, &w->addr);
	return RULE_CONTINUE;
}

static const struct rule_action actions[] = {
	{ .words = "do-resolve",
	  .rulesets = RULES_BIT(RULES_TCP_CONTENT) | RULES_BIT(RULES_HTTP_REQUEST),
	  .has_parameter = true, .parse = resolve_parse, .check = resolve_check,
	  .run = resolve_run, .syntax = "(<variable>,<resolvers>[,{ipv4|ipv6}]) <expr>",
	  .help = "ask name servers for an address and keep it in a variable" },
	{ 0 }
};

const struct module mod_resolve_act = { .name = "resolve-actions", .actions = actions };

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rule_switch.c - use_backend, force-be-switch and use-server: which backend of a frontend, which
 * server of a backend
 */
#include "rule_priv.h"

#include <stdio.h>
#include <string.h>
#include "proxy/server.h"
#include "stream/split.h"

/* A rule of this line, without its name and condition; NULL: no memory, reported. */
static struct switch_rule *switch_rule_new(struct conf_line *l)
{
	struct switch_rule *sr = arena_zalloc(&l->cfg->arena, sizeof(*sr));

	if (!sr) {
		conf_error(l, 0, NULL, "out of memory.");
		return NULL;
	}
	list_init(&sr->link);
	sr->word = l->keyword->words;
	sr->file = rule_file(l);
	sr->line = l->place.line;
	return sr;
}

/* Parses the name and the condition into a new rule. */
static struct switch_rule *switch_rule_parse(struct conf_line *l, unsigned phase)
{
	struct switch_rule *sr = switch_rule_new(l);
	struct rule_text text;

	if (!sr)
		return NULL;
	sr->name = conf_peek(l);
	if (!rule_text_parse(l, sr->name, phase, 0, &text))
		return NULL;
	l->at++;
	/* a format of constants is one too: "%[env(NAME)]" */
	if (!text.constant.ptr || strchr(sr->name, '%'))
		sr->format = text.format;
	return rule_take_condition(l, l->keyword->words, phase, &sr->condition) ? sr : NULL;
}

bool switch_backend_parse(struct conf_line *l)
{
	struct rule_proxy *rp = slot_of(&rule_proxy_slot, l->slots);
	const struct proxy *px = l->object;
	struct switch_rule *sr;

	if (!(px->caps & PROXY_FE))
		conf_warn(l, 0, NULL, "'use_backend' ignored because backend '%s' has no frontend "
			  "capability.", px->name);
	if (!conf_peek(l) || !*conf_peek(l))
		return conf_error(l, l->at, NULL, "'use_backend' expects a backend name.");
	rule_warn_order(l, ORDER_USE_BACKEND);
	if (l->count - l->at > 1 && strcmp(l->words[l->at + 1], "if") != 0 &&
	    strcmp(l->words[l->at + 1], "unless") != 0)
		return conf_error(l, l->at + 1, NULL,
				  "unexpected keyword '%s' after switching rule, "
				  "only 'if' and 'unless' are allowed.", l->words[l->at + 1]);
	sr = switch_rule_parse(l, EXPR_FE_SET_BCK);
	if (!sr)
		return false;
	if (px->caps & PROXY_FE)
		list_append(&rp->backends, &sr->link);
	return true;
}

bool switch_split_parse(struct conf_line *l)
{
	struct rule_proxy *rp = slot_of(&rule_proxy_slot, l->slots);
	struct switch_rule *sr = switch_rule_new(l);

	rule_warn_order(l, ORDER_USE_BACKEND);
	if (!sr)
		return false;
	sr->split = split_parse(l, &sr->name);
	if (!sr->split || !rule_take_condition(l, sr->word, EXPR_FE_SET_BCK, &sr->condition))
		return false;
	list_append(&rp->backends, &sr->link);
	return true;
}

bool switch_server_parse(struct conf_line *l)
{
	struct rule_proxy *rp = slot_of(&rule_proxy_slot, l->slots);
	const struct proxy *px = l->object;
	struct switch_rule *sr;

	if (!(px->caps & PROXY_BE))
		conf_warn(l, 0, NULL, "'use-server' ignored because frontend '%s' has no backend "
			  "capability.", px->name);
	if (!conf_peek(l) || !*conf_peek(l))
		return conf_error(l, l->at, NULL, "'use-server' expects a server name.");
	rule_warn_order(l, ORDER_USE_SERVER);
	if (l->count - l->at < 2 || (strcmp(l->words[l->at + 1], "if") != 0 &&
				     strcmp(l->words[l->at + 1], "unless") != 0))
		return conf_error(l, l->at + 1, NULL,
				  "'use-server' expects either 'if' or 'unless' "
				  "followed by a condition.");
	sr = switch_rule_parse(l, EXPR_BE_SET_SRV);
	if (!sr)
		return false;
	if (px->caps & PROXY_BE)
		list_append(&rp->servers, &sr->link);
	return true;
}

bool switch_force_parse(struct conf_line *l)
{
	struct rule_proxy *rp = slot_of(&rule_proxy_slot, l->slots);
	struct switch_rule *sr = switch_rule_new(l);

	if (!sr)
		return false;
	if (!conf_peek(l) ||
	    (strcmp(conf_peek(l), "if") != 0 && strcmp(conf_peek(l), "unless") != 0))
		return conf_error(l, l->at, NULL, "'force-be-switch' expects either 'if' or "
				  "'unless' followed by a condition.");
	if (!rule_take_condition(l, l->keyword->words, EXPR_FE_SET_BCK, &sr->condition))
		return false;
	list_append(&rp->forces, &sr->link);
	return true;
}

static struct diag_place switch_place(const struct switch_rule *sr)
{
	return (struct diag_place){ .file = sr->file, .line = sr->line };
}

/* Resolves a fixed backend name, which must be able to take this frontend's traffic. <column>: of
 * the name, or 0.
 */
static struct proxy *switch_check_backend(struct proxy *px, const struct switch_rule *sr,
					  const char *name, int column, struct diag_list *diags)
{
	struct diag_place place = switch_place(sr);
	struct proxy *be = proxy_find_kept(px->config, name, PROXY_BE);

	place.column = column;
	if (!be)
		diag_add(diags, DIAG_ALERT, &place, proxy_hint(px->config, name, PROXY_BE),
			 "Proxy '%s': unable to find required %s: '%s'.", px->name, sr->word, name);
	else if (be == px)
		diag_add(diags, DIAG_ALERT, &place, NULL,
			 "Proxy '%s': loop detected for %s: '%s'.", px->name, sr->word, name);
	else if (px->mode == PROXY_MODE_HTTP && be->mode != px->mode)
		diag_add(diags, DIAG_ALERT, &place, NULL, "http frontend '%s' (%s:%d) tries to use "
			 "incompatible tcp backend '%s' (%s:%d) in a '%s' rule "
			 "(see 'mode').", px->name, px->file, px->line, be->name, be->file,
			 be->line, sr->word);
	else if (px->mode == PROXY_MODE_TCP && be->mode == PROXY_MODE_HTTP)
		px->switching.to_http = true;
	if (be && be != px && !proxy_add_target(px, be))
		diag_add(diags, DIAG_ALERT, &place, NULL, "out of memory.");
	return be;
}

static void switch_check_rule(struct proxy *px, struct switch_rule *sr, struct diag_list *diags)
{
	rule_warn_bytes(px, sr->condition, sr->file, sr->line, diags);
	for (unsigned i = 0; sr->split && i < sr->split->count; i++) {
		struct split_target *t = &sr->split->targets[i];

		t->backend = switch_check_backend(px, sr, t->name, t->column, diags);
	}
	if (!sr->format && !sr->split)
		sr->target = switch_check_backend(px, sr, sr->name, 0, diags);
}

void switch_check(struct proxy *px, struct diag_list *diags)
{
	struct rule_proxy *rp = rule_proxy_of(px);
	struct switch_rule *sr;

	list_for_each(sr, &rp->backends, link)
		switch_check_rule(px, sr, diags);
	list_for_each(sr, &rp->servers, link) {
		struct diag_place place = switch_place(sr);

		rule_warn_bytes(px, sr->condition, sr->file, sr->line, diags);
		if (sr->format)
			continue;
		sr->target = server_find(px, sr->name);
		if (sr->target)
			((struct server *)sr->target)->life.is_referenced = true;
		else
			diag_add(diags, DIAG_ALERT, &place, NULL,
				 "%s '%s' : unable to find server '%s' referenced in a "
				 "'use-server' rule.", proxy_kind_name(px), px->name, sr->name);
	}
}

/* The first rule of a list of <px>, or the first behind <after>, whose condition holds; NULL: none.
 * EXPR_WAIT in *ret: not known yet.
 */
static struct switch_rule *switch_find(const struct proxy *px, const struct list *rules,
				       const struct switch_rule *after, struct expr_ctx *ctx,
				       enum expr_result *ret)
{
	const struct rule_proxy *rp = rule_proxy_of(px);
	uint32_t side = ctx->stream ? stream_rule_side(ctx->stream, px) : 0;
	struct rule_hits *hits = list_is_empty(rules) ? NULL : rule_hits_mine(rp);
	const struct list *at = after ? after->link.next : rules->next;
	struct switch_rule *sr;

	for (; at != rules; at = at->next) {
		sr = list_entry(at, struct switch_rule, link);
		*ret = condition_eval(sr->condition, ctx);
		if (*ret == EXPR_WAIT)
			return NULL;
		if (hits)
			rule_hit(&hits[sr->number].evaluated);
		if (*ret == EXPR_NONE)
			continue;
		if (hits)
			rule_hit(&hits[sr->number].matched);
		if (ctx->stream && !sr->split) /* (else the backend is noted) */
			stream_note_rule(ctx->stream, sr->number | side);
		return sr;
	}
	*ret = EXPR_NONE;
	return NULL;
}

/* The computed name of a rule; slice_none(): no memory. */
static struct slice switch_name(const struct switch_rule *sr, struct expr_ctx *ctx)
{
	return logformat_make(sr->format, ctx, 256);
}

/* May <be> be chosen? One that is disabled or unpublished may by force-be-switch only. */
static enum expr_result may_choose(struct proxy *fe, struct proxy *be, struct expr_ctx *ctx)
{
	const struct rule_proxy *rp = rule_proxy_of(fe);
	struct switch_rule *sr;
	enum expr_result ret = EXPR_NONE;

	if (likely(!be->disabled && !__atomic_load_n(&be->state->unpublished, __ATOMIC_RELAXED)))
		return EXPR_FOUND;
	list_for_each(sr, &rp->forces, link) {
		ret = condition_eval(sr->condition, ctx);
		if (ret != EXPR_NONE)
			break;
	}
	return ret;
}

/* What a rule means; NULL: a name that no backend has. */
static struct proxy *switch_target(struct proxy *fe, struct switch_rule *sr, struct expr_ctx *ctx)
{
	struct proxy *be;
	struct slice name;
	char text[256];

	if (!sr->format)
		return sr->target;
	name = switch_name(sr, ctx);
	slice_copy(name, text, sizeof(text));
	be = name.ptr ? proxy_find(fe->config, text, PROXY_BE) : NULL;
	/* (a TCP stream becomes one of HTTP for it) */
	return be && fe->mode == PROXY_MODE_HTTP && be->mode != fe->mode ? NULL : be;
}

/* Chooses among the backends of a use_backends rule: one that may not be chosen has no share. NULL
 * in *be: none of them may.
 */
static enum expr_result split_target(struct proxy *fe, const struct switch_rule *sr,
				     struct expr_ctx *ctx, struct proxy **be)
{
	struct rule_hits *hits = rule_hits_mine(rule_proxy_of(fe));
	enum expr_result ret;
	uint32_t tried = 0;
	unsigned which = 0;

	*be = NULL;
	for (;;) {
		ret = split_pick(sr->split, ctx, tried, &which);
		if (ret != EXPR_FOUND)
			return ret;
		ret = may_choose(fe, sr->split->targets[which].backend, ctx);
		if (ret != EXPR_NONE)
			break;
		tried |= UINT32_C(1) << which;
	}
	if (ret == EXPR_WAIT)
		return ret;
	*be = sr->split->targets[which].backend;
	if (hits)
		rule_hit(&hits[sr->number + 1 + which].matched);
	if (ctx->stream)
		stream_note_rule(ctx->stream, (sr->number + 1 + which) |
				 stream_rule_side(ctx->stream, fe));
	return EXPR_FOUND;
}

enum expr_result rules_backend(struct proxy *fe, struct expr_ctx *ctx, struct proxy **be)
{
	struct rule_proxy *rp = rule_proxy_of(fe);
	struct switch_rule *sr = NULL;
	enum expr_result ret;

	*be = NULL;
	while ((sr = switch_find(fe, &rp->backends, sr, ctx, &ret))) {
		if (unlikely(sr->split)) {
			ret = split_target(fe, sr, ctx, be);
		} else {
			*be = switch_target(fe, sr, ctx);
			/* a name that no backend has falls back to the default one: no other rule
			 * is tried
			 */
			ret = *be ? may_choose(fe, *be, ctx) : EXPR_FOUND;
		}
		if (ret != EXPR_NONE)
			break;
		*be = NULL;
	}
	if (!*be && ret != EXPR_WAIT && fe->switching.backend) {
		*be = fe->switching.backend;
		ret = may_choose(fe, *be, ctx);
		if (ret == EXPR_NONE)
			*be = NULL;
	}
	if (ret == EXPR_WAIT)
		return EXPR_WAIT;
	if (!*be && (fe->caps & PROXY_BE))
		*be = fe;
	return *be ? EXPR_FOUND : EXPR_NONE;
}

enum expr_result rules_server(struct proxy *be, struct expr_ctx *ctx, bool forced,
			      struct server **srv)
{
	struct rule_proxy *rp = rule_proxy_of(be);
	struct switch_rule *sr = NULL;
	enum expr_result ret;
	struct slice name;
	char text[256];

	*srv = NULL;
	while ((sr = switch_find(be, &rp->servers, sr, ctx, &ret))) {
		if (!sr->format) {
			*srv = sr->target;
		} else {
			name = switch_name(sr, ctx);
			slice_copy(name, text, sizeof(text));
			*srv = name.ptr ? server_find(be, text) : NULL;
		}
		/* a name that no server has: no other rule is tried */
		if (!*srv || forced || server_is_willing(*srv))
			return *srv ? EXPR_FOUND : EXPR_NONE;
		*srv = NULL;
	}
	return ret;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preamble_act.c - edge file: rules that say which clients send a header before their first byte
 *
 * Manual: configuration 4.4, expect-proxy, expect-netscaler-cip.
 */
#include "stream/action.h"

static bool layer4_parse(struct conf_line *l, struct rule *r)
{
	const char *word = conf_peek(l);

	if (!word || strcmp(word, "layer4") != 0)
		return rule_error(l, r, l->at, "expects 'layer4' after '%s'", r->action->words);
	l->at++;
	return true;
}

static enum rule_result expect_proxy_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	ctx->session->flags |= SESS_EXPECT_PROXY;
	return RULE_CONTINUE;
}

static enum rule_result expect_cip_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	ctx->session->flags |= SESS_EXPECT_CIP;
	return RULE_CONTINUE;
}

#define ACTION(name, runner, text) \
	{ .words = name, .rulesets = RULES_BIT(RULES_TCP_CONNECTION), .parse = layer4_parse, \
	  .run = runner, .syntax = "layer4", .help = text }

static const struct rule_action actions[] = {
	ACTION("expect-proxy", expect_proxy_run, "the PROXY protocol comes first"),
	ACTION("expect-netscaler-cip", expect_cip_run, "NetScaler's client addresses come first"),
	{ 0 }
};

const struct module mod_preamble_act = { .name = "preamble-actions", .actions = actions };

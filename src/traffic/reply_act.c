/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reply_act.c - edge file: actions that end a request by an answer: deny, tarpit, return,
 * redirect
 */
#include "stream/reply.h"

static bool deny_parse(struct conf_line *l, struct rule *r)
{
	r->data = reply_parse(l, r, r->set == RULES_HTTP_RESPONSE ? 502 : 403, true);
	return r->data != NULL;
}

static bool tarpit_parse(struct conf_line *l, struct rule *r)
{
	r->data = reply_parse(l, r, 500, true);
	return r->data != NULL;
}

static bool return_parse(struct conf_line *l, struct rule *r)
{
	r->data = reply_parse(l, r, 200, false);
	return r->data != NULL;
}

static bool reply_rule_check(struct config *cfg, struct rule *r, struct diag_list *diags)
{
	return reply_check(cfg, r->data, r, diags);
}

static const struct reply *reply_of(const struct rule *r)
{
	return r->data;
}

static enum rule_result deny_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	return RULE_DENY;
}

static enum rule_result tarpit_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	return RULE_TARPIT;
}

static enum rule_result return_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	/* before the answer is made: its texts may tell the end */
	stream_set_end(ctx->stream, r->set == RULES_HTTP_RESPONSE ? END_RESPONSE_ANSWER
								   : END_RULE_ANSWER);
	switch (reply_make(r->data, ctx->stream, ctx)) {
	case REPLY_DONE:
		return RULE_REPLY;
	case REPLY_SILENT:
		return RULE_CLOSE;
	default:
		return RULE_ERROR;
	}
}

static bool redirect_action_parse(struct conf_line *l, struct rule *r)
{
	r->data = redirect_parse(l, r, true);
	return r->data != NULL;
}

static enum rule_result redirect_action_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	return redirect_run(r->data, ctx);
}

#define HTTP_BOTH (RULES_BIT(RULES_HTTP_REQUEST) | RULES_BIT(RULES_HTTP_RESPONSE))
#define REPLY_SYNTAX "[{default-errorfiles|errorfile <file>|errorfiles <name>|file <file>|" \
	"lf-file <file>|string <str>|lf-string <fmt>}] [content-type <type>] [hdr <name> <fmt>]*"

static const struct rule_action actions[] = {
	{ .words = "deny", .is_final = true, .rulesets = HTTP_BOTH,
	  .parse = deny_parse, .run = deny_run,
	  .check = reply_rule_check, .reply = reply_of,
	  .syntax = "[{status|deny_status} <code>] " REPLY_SYNTAX,
	  .help = "refuse the request or the response" },
	{ .words = "redirect", .is_final = true, .rulesets = HTTP_BOTH,
	  .parse = redirect_action_parse,
	  .run = redirect_action_run,
	  .syntax = "{location|prefix|scheme} <fmt> [<options>...]",
	  .help = "redirect the client" },
	{ .words = "return", .is_final = true, .rulesets = HTTP_BOTH,
	  .parse = return_parse, .run = return_run,
	  .check = reply_rule_check, .syntax = "[status <code>] " REPLY_SYNTAX,
	  .help = "answer this" },
	{ .words = "tarpit", .is_final = true, .rulesets = RULES_BIT(RULES_HTTP_REQUEST),
	  .parse = tarpit_parse,
	  .run = tarpit_run, .check = reply_rule_check, .reply = reply_of,
	  .syntax = "[{status|deny_status} <code>] " REPLY_SYNTAX,
	  .help = "hold the request for `timeout tarpit`, then refuse it" },
	{ 0 }
};

const struct module mod_reply_act = { .name = "reply-actions", .actions = actions };

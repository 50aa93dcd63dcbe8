/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hint_act.c - edge file: early-hint, an answer 103 before the final one (RFC 8297)
 *
 * Consecutive rules make one answer: it is sent with the last of them, which is the one before
 * another action, or before one with a condition.
 * Manual: configuration 4.4 early-hint.
 */
#include <stdlib.h>
#include "stream/action.h"
#include "stream/rule_list.h"
#include "stream/stream.h"

struct hint {
	struct slice name; /* lower case */
	struct rule_text text;
};

static bool hint_parse(struct conf_line *l, struct rule *r)
{
	struct hint *h = arena_zalloc(&l->cfg->arena, sizeof(*h));
	if (!h)
		return rule_no_memory(l, r);
	r->data = h;
	if (rule_at_end(l) || l->at + 1 >= l->count)
		return rule_error(l, r, l->at, "expects exactly 2 arguments");
	h->name = rule_take_name(l, r, false);
	if (slice_is_none(h->name))
		return false;
	if (!rule_text_parse(l, conf_peek(l), rule_phases(r->proxy, r->set), LOGFORMAT_HTTP,
			     &h->text))
		return false;
	l->at++;
	return true;
}

static enum rule_result hint_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct stream_overrides *o = stream_overrides_get(ctx->stream);
	const struct hint *h = r->data;
	struct slice value = rule_text_make(&h->text, ctx);
	struct http_msg *m = o ? o->hints : NULL;

	if (!o || !value.ptr)
		return RULE_CONTINUE;
	if (!m) {
		m = arena_zalloc(ctx->arena, sizeof(*m));
		if (!m)
			return RULE_CONTINUE;
		http_msg_init(m, ctx->arena);
		m->flags = HTTP_MSG_RESPONSE | HTTP_MSG_INTERIM;
		m->status = 103;
		m->reason = SLICE("Early Hints");
		o->hints = m;
	}
	if (!http_msg_add_field(m, h->name, value) || r->number)
		return RULE_CONTINUE;
	o->hints = NULL;
	if (ctx->stream->req.version >= 11)
		stream_send_interim(ctx->stream, m);
	http_msg_fini(m);
	return RULE_CONTINUE;
}

/* Does the next rule go on with the same answer? Noted in <number>. */
static bool hint_check(struct config *cfg, struct rule *r, struct diag_list *diags)
{
	const struct list *end = &rule_proxy_of(r->proxy)->rules[r->set];
	const struct rule *next = list_entry(r->link.next, struct rule, link);

	r->number = r->link.next != end && next->action->run == hint_run && !next->condition;
	return true;
}

static const struct rule_action actions[] = {
	{ .words = "early-hint", .rulesets = RULES_BIT(RULES_HTTP_REQUEST), .parse = hint_parse,
	  .run = hint_run, .check = hint_check, .syntax = "<name> <fmt>",
	  .help = "tell the client a field of the answer beforehand (103)" },
	{ 0 }
};

const struct module mod_hint_act = { .name = "hint-actions", .actions = actions };

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* auth_act.c - edge file: the action auth, which asks for a name and a password
 *
 * Manual: configuration 4.4 auth; RFC 7617.
 */
#include "stream/action.h"
#include "stream/auth.h"
#include "stream/track.h"

static bool auth_parse(struct conf_line *l, struct rule *r)
{
	struct slice *challenge = arena_zalloc(&l->cfg->arena, sizeof(*challenge));
	const char *realm = r->proxy->name, *text;

	if (!challenge)
		return rule_no_memory(l, r);
	if (conf_peek(l) && strcmp(conf_peek(l), "realm") == 0) {
		l->at++;
		realm = conf_next(l);
		if (!realm)
			return rule_error(l, r, l->at, "missing realm value");
		if (strpbrk(realm, "\r\n"))
			return rule_error(l, r, l->at - 1, "a realm cannot hold line breaks");
	}
	text = arena_printf(&l->cfg->arena, "Basic realm=\"%s\"", realm);
	if (!text)
		return rule_no_memory(l, r);
	*challenge = slice_of(text);
	r->data = challenge;
	return true;
}

/* A page, with the challenge instead of any that it had. */
static enum rule_result auth_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct slice *challenge = r->data;
	struct stream *s = ctx->stream;
	bool proxy = stream_is_for_proxy(s);

	if (!stream_reply_page(s, proxy ? 407 : 401))
		return RULE_CLOSE;
	if (!http_msg_set_field(&s->res, proxy ? SLICE("proxy-authenticate")
					       : SLICE("www-authenticate"), *challenge))
		return RULE_ERROR;
	track_refused(s);
	return RULE_REPLY;
}

static const struct rule_action actions[] = {
	{ .words = "auth", .rulesets = RULES_BIT(RULES_HTTP_REQUEST), .parse = auth_parse,
	  .run = auth_run, .syntax = "[realm <realm>]", .help = "ask for a name and a password" },
	{ 0 }
};

const struct module mod_auth_act = { .name = "authentication-actions", .actions = actions };

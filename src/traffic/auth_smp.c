/* SPDX-License-Identifier: GPL-2.0-or-later */
/* auth_smp.c - edge file: fetches on the user of a request, and the user lists that they name
 *
 * Manual: configuration 7.3.6 http_auth...
 */
#include "stream/auth.h"

#include "base/diag.h"
#include "expr/pattern.h"
#include "stream/sample.h"

static enum expr_result fetch_auth(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	const struct auth_user *user;
	struct auth_fields fields;
	enum expr_result ret;

	if (!stream_auth_fields(ctx, slice_none(), &fields) || !fields.user.ptr)
		return EXPR_NONE;
	ret = stream_auth_user(ctx, args[0].object, &user);
	out->flags = SMP_AWAITED;
	return ret == EXPR_WAIT ? ret : smp_give_bool(out, ret == EXPR_FOUND);
}

/* The user's name; in an ACL, which looks at all values, the groups that the user is in. */
static enum expr_result fetch_auth_group(struct expr_ctx *ctx, const struct expr_arg *args,
					 struct sample *out)
{
	const struct auth_user *user;
	enum expr_result ret = stream_auth_user(ctx, args[0].object, &user);
	struct slice group;

	out->flags = SMP_AWAITED;
	if (ret != EXPR_FOUND)
		return ret;
	if (!(ctx->flags & EXPR_ITERATE))
		return smp_give_text(out, auth_user_name(user));
	group = auth_user_group(user, (unsigned)ctx->cursor[0]++);
	ret = smp_give_text(out, group);
	if (ret == EXPR_FOUND && auth_user_group(user, (unsigned)ctx->cursor[0]).ptr)
		out->flags |= SMP_NOT_LAST;
	return ret;
}

/* One of the texts of the field. */
static enum expr_result fetch_auth_text(struct expr_ctx *ctx, const struct expr_arg *args,
					struct sample *out)
{
	size_t offset = *(const size_t *)ctx->data;
	struct auth_fields fields;
	struct slice field = args[0].type == ARG_STR ? args[0].text : slice_none();

	if (!stream_auth_fields(ctx, field, &fields))
		return EXPR_NONE;
	return smp_give_text(out, *(const struct slice *)((const char *)&fields + offset));
}

/* --- arguments ---------------------------------------------------------------------------- */

static void userlists_resolve(struct config *cfg, struct diag_list *diags)
{
	struct expr_pending *p;

	for (p = expr_pending_first(cfg); p; p = p->next) {
		struct diag_place place = { .file = p->file, .line = p->line };

		if (p->arg->type != ARG_USERLIST)
			continue;
		p->arg->object = (void *)userlist_find(cfg, p->arg->name.ptr);
		if (!p->arg->name.len)
			diag_add(diags, DIAG_ALERT, &place, NULL,
				 "missing userlist name in arg %d of %s '%s'.", p->position,
				 p->what, p->keyword);
		else if (!p->arg->object)
			diag_add(diags, DIAG_ALERT, &place, NULL,
				 "unable to find userlist '%s' referenced in arg %d of %s '%s'.",
				 p->arg->name.ptr, p->position, p->what, p->keyword);
	}
}

#define FETCH(word, type, arg, min, function, what, text) \
	{ .name = word, .args_min = min, .args = { arg }, .out = type, \
	  .use = EXPR_USE_HTTP_REQUEST_VOLATILE, .fetch = function, .syntax = what, .help = text }
#define TEXT(word, member, arg, what, text) \
	{ .name = word, .args = { arg }, .out = SMP_STR, .use = EXPR_USE_HTTP_REQUEST_VOLATILE, \
	  .fetch = fetch_auth_text, .syntax = what, .help = text, \
	  .data = &(const size_t){ offsetof(struct auth_fields, member) } }

static const struct expr_fetch fetches[] = {
	FETCH("http_auth", SMP_BOOL, ARG_USERLIST, 1, fetch_auth, "(<userlist>)",
	      "are name and password right by this user list?"),
	TEXT("http_auth_bearer", token, ARG_STR, "[(<field>)]", "the token of a Bearer"),
	FETCH("http_auth_group", SMP_STR, ARG_USERLIST, 1, fetch_auth_group, "(<userlist>)",
	      "the user whose password is right; in ACLs the user's groups"),
	TEXT("http_auth_pass", password, ARG_END, "", "the password that the client gives"),
	TEXT("http_auth_type", type, ARG_END, "", "the scheme of the client's credentials"),
	TEXT("http_auth_user", user, ARG_END, "", "the user name that the client gives"),
	{ 0 }
};

static const struct expr_acl_keyword acl_keywords[] = {
	{ "http_auth_group", "http_auth_group", PATTERN_STR },
	{ 0 }
};

const struct module mod_auth_smp = {
	.name = "authentication-fetches", .fetches = fetches, .acl_keywords = acl_keywords,
	.check = userlists_resolve,
};

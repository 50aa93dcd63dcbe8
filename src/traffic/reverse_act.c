/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reverse_act.c - edge file: attach-srv: a client's connection becomes one to a server
 *
 * Manual: configuration 4.4 attach-srv.
 */
#include <string.h>
#include "stream/action.h"
#include "stream/session.h"

struct attach_arg {
	const char *path;         /* "backend/server", as written */
	struct server *server;    /* once checked */
	struct rule_value name;   /* <expr> NULL: none */
};

static bool attach_parse(struct conf_line *l, struct rule *r)
{
	struct attach_arg *arg = arena_zalloc(&l->cfg->arena, sizeof(*arg));

	if (!arg)
		return rule_no_memory(l, r);
	r->data = arg;
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "expects a server: <backend>/<server>");
	arg->path = conf_next(l);
	if (rule_at_end(l) || strcmp(conf_peek(l), "name") != 0)
		return true;
	l->at++;
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "missing name value");
	return rule_value_take_expr(l, r, &arg->name);
}

#define SAY(d, r, ...) \
	(diag_add(d, DIAG_ALERT, &(struct diag_place){ .file = (r)->file, .line = (r)->line }, \
		  NULL, "Proxy '%s': attach-srv rule" __VA_ARGS__), false)

static bool attach_check(struct config *cfg, struct rule *r, struct diag_list *d)
{
	struct attach_arg *arg = r->data;
	const char *slash = strchr(arg->path, '/'), *px = r->proxy->name;
	char backend[256];
	struct proxy *be;

	if (!slash || !slash[1] || slash == arg->path ||
	    (size_t)(slash - arg->path) >= sizeof(backend))
		return SAY(d, r, ": invalid server name '%s'.", px, arg->path);
	snprintf(backend, sizeof(backend), "%.*s", (int)(slash - arg->path), arg->path);
	be = proxy_find(cfg, backend, PROXY_BE);
	if (!be)
		return SAY(d, r, ": no such backend '%s'.", px, arg->path);
	arg->server = server_find(be, slash + 1);
	if (!arg->server)
		return SAY(d, r, ": no such server '%s'.", px, arg->path);
	if (!arg->server->is_reverse)
		return SAY(d, r, ": server '%s' has no 'rhttp@' address: it opens its connections "
			   "by itself.", px, arg->path);
	if (arg->name.expr && !server_conn_is_named(arg->server))
		return SAY(d, r, " has a name argument while server '%s' does not use "
			   "pool-conn-name; either reconfigure the server or remove the name "
			   "argument from this attach-srv rule.", px, arg->path);
	if (!arg->name.expr && server_conn_is_named(arg->server))
		return SAY(d, r, " has no name argument while server '%s' uses pool-conn-name; "
			   "either add a name argument to the attach-srv rule or reconfigure the "
			   "server.", px, arg->path);
	arg->server->life.is_referenced = true;
	return true;
}

static enum rule_result attach_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct attach_arg *arg = r->data;
	struct slice name = slice_none();

	if (arg->name.expr && expr_eval_string(arg->name.expr, ctx, &name) != EXPR_FOUND)
		name = slice_none();
	return session_attach(ctx->session, arg->server, name) ? RULE_CONTINUE : RULE_ERROR;
}

static const struct rule_action actions[] = {
	{ .words = "attach-srv", .rulesets = RULES_BIT(RULES_TCP_SESSION), .parse = attach_parse,
	  .check = attach_check, .run = attach_run, .syntax = "<srv> [name <expr>]",
	  .help = "reverse HTTP: make the client's connection one to a server",
	  .experimental = true },
	{ 0 }
};

const struct module mod_reverse_act = { .name = "reverse-actions", .actions = actions };

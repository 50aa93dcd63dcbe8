/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acl_smp.c - edge file: named ACLs as a fetch, and the converter `when`
 *
 * Manual: configuration 7.3.2 acl, 7.3.1 when.
 */
#include "stream/sample.h"

#include "expr/pattern.h"
#include "stream/action.h"
#include "stream/log.h"
#include "stream/stream.h"

#define ACLS_MAX 12

/* The conjunction of ACLs that the arguments name; it goes to args[0].object. False: *error. */
static bool compile_acls(struct conf_line *l, struct expr_arg *args, bool may_not,
			 const char **error)
{
	static const int columns[ACLS_MAX + 2];
	char *words[ACLS_MAX + 2] = { (char *)"if" };
	struct acl_set *set = rule_acls(l);
	struct conf_line line = *l;
	struct diag_list ignored;
	struct condition *c = NULL;
	bool ok = true;

	*error = "out of memory";
	if (!set)
		return false;
	diag_list_init(&ignored);
	line.words = words;
	line.columns = columns;
	line.count = 1;
	line.diags = &ignored;
	for (int i = 0; ok && i < ACLS_MAX && args[i].type == ARG_STR; i++) {
		const char *name = args[i].name.ptr;
		struct conf_line one = line;

		words[line.count] = (char *)name;
		one.words = (char *[]){ (char *)"if", (char *)name };
		one.count = 2;
		one.at = 0;
		ok = *name && strcmp(name, "{") != 0 && strcmp(name, "!") != 0 &&
		     (may_not || *name != '!') && condition_parse(&one, set, 0, &c);
		if (!ok)
			*error = arena_printf(&l->cfg->arena, "ACL '%s' not found", name);
		line.count++;
	}
	line.at = 0;
	ok = ok && line.count > 1 && condition_parse(&line, set, 0, &c);
	diag_list_fini(&ignored);
	args[0].object = c;
	return ok;
}

static bool check_acl(struct conf_line *l, struct expr_arg *args, const char **error)
{
	return compile_acls(l, args, true, error);
}

static enum expr_result fetch_acl(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *out)
{
	enum expr_result r = condition_eval(args[0].object, ctx);

	return r == EXPR_WAIT ? r : smp_give_bool(out, r == EXPR_FOUND);
}

/* --- when --------------------------------------------------------------------------------- */

enum when { WHEN_STOPPING, WHEN_NORMAL, WHEN_ERROR, WHEN_FORWARDED, WHEN_TOAPPLET, WHEN_PROCESSED,
	    WHEN_ACL, WHENS };

static const char *const when_names[WHENS] = {
	"stopping", "normal", "error", "forwarded", "toapplet", "processed", "acl",
};

/* ([!]<condition>[,<acl>]): args[0].integer is the condition, args[2].integer whether it is
 * negated, args[1].object the ACL.
 */
static bool check_when(struct conf_line *l, struct expr_arg *args, const char **error)
{
	const char *name = args[0].name.ptr;
	unsigned which = 0;

	args[2].integer = *name == '!';
	name += *name == '!';
	while (which < WHENS && strcmp(name, when_names[which]) != 0)
		which++;
	if (which == WHENS) {
		*error = arena_printf(&l->cfg->arena, "expects a supported keyword among {stopping,"
				      "normal,error,forwarded,toapplet,processed,acl} but got '%s'",
				      name);
		return false;
	}
	if (which == WHEN_ACL) {
		*error = "'acl' selector requires an extra argument with the ACL name";
		if (args[1].type != ARG_STR || !compile_acls(l, &args[1], false, error))
			return false;
	}
	args[0].type = ARG_INT;
	args[0].integer = which;
	return true;
}

static bool is_stopping(struct expr_ctx *ctx)
{
	const struct expr_fetch *f = expr_fetch_find(SLICE("stopping"));
	struct sample s;

	return f && f->fetch(ctx, NULL, &s) == EXPR_FOUND && s.boolean;
}

static bool holds(struct expr_ctx *ctx, const struct expr_arg *args)
{
	const struct stream *s = ctx->stream;

	switch ((enum when)args[0].integer) {
	case WHEN_STOPPING:
		return is_stopping(ctx);
	case WHEN_NORMAL:
		return s && stream_is_normal(s);
	case WHEN_ERROR:
		return s && !stream_is_normal(s);
	case WHEN_FORWARDED:
		return s && s->t.connected && !s->service;
	case WHEN_TOAPPLET:
		return s && s->t.connected && s->service;
	case WHEN_PROCESSED:
		return s && s->t.connected;
	case WHEN_ACL:
		return condition_eval(args[1].object, ctx) == EXPR_FOUND;
	default:
		return false;
	}
}

static bool convert_when(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return holds(ctx, args) != (bool)args[2].integer;
}

static const struct expr_fetch fetches[] = {
	{ .name = "acl", .args_min = 1,
	  .args = { ARG_STR, ARG_STR, ARG_STR, ARG_STR, ARG_STR, ARG_STR, ARG_STR, ARG_STR,
		    ARG_STR, ARG_STR, ARG_STR, ARG_STR },
	  .out = SMP_BOOL, .use = EXPR_USE_CONST, .fetch = fetch_acl, .check = check_acl,
	  .syntax = "[!]<name>[,...]", .help = "do all these ACLs pass?" },
	{ 0 }
};

static const struct expr_converter converters[] = {
	{ .name = "when", .args_min = 1, .args = { ARG_STR, ARG_STR, ARG_STR }, .in = SMP_ANY,
	  .out = SMP_ANY, .context = true, .convert = convert_when, .check = check_when,
	  .syntax = "([!]<condition>[,<acl>])", .help = "the sample, unless a condition fails" },
	{ 0 }
};

static bool acl_smp_init(void)
{
	pattern_ctl_set_config(proxies_current);
	return true;
}

const struct module mod_acl_smp = {
	.name = "acl-fetches", .fetches = fetches, .converters = converters,
	.init = acl_smp_init,
};

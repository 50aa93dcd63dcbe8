/* SPDX-License-Identifier: GPL-2.0-or-later */
/* var_smp.c - edge file: variables in expressions and in the global section */
#include <string.h>
#include "base/block.h"
#include "base/bug.h"
#include "base/strbuf.h"
#include "expr/logformat.h"
#include "expr/modules.h"
#include "expr_priv.h"
#include "vars_priv.h"

/* --- fetch -------------------------------------------------------------------------------- */

static bool check_var(struct conf_line *l, struct expr_arg *args, const char **error)
{
	args[0].object = var_ref_parse(l->cfg, args[0].name.ptr, false, error);
	args[0].type = ARG_VAR;
	return args[0].object != NULL;
}

static enum expr_result fetch_var(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *out)
{
	if (var_get(args[0].object, ctx, out)) {
		out->flags |= SMP_CONST | SMP_VOLATILE;
		return EXPR_FOUND;
	}
	if (args[1].type != ARG_STR)
		return EXPR_NONE;
	out->type = SMP_STR;
	out->flags |= SMP_CONST;
	out->text = args[1].text;
	return EXPR_FOUND;
}

/* --- dump_all_vars ------------------------------------------------------------------------ */

struct dump {
	struct strbuf out;
	struct arena *arena;
	enum var_scope scope;
	struct slice prefix, delimiter;
};

/* [<scope>][,<prefix>][,<delimiter>]; the fourth becomes the store. */
static bool check_dump(struct conf_line *l, struct expr_arg *args, const char **error)
{
	struct slice scope = args[0].type == ARG_STR ? args[0].name : slice_of("");

	args[3].type = ARG_VAR;
	args[3].object = vars_store_of(l->cfg);
	args[0].type = ARG_INT;
	args[0].integer = scope.len ? var_scope_find(scope) : VAR_SCOPES;
	if (!scope.len || args[0].integer <= VAR_CHECK)
		return true;
	*error = arena_printf(&l->cfg->arena, "invalid scope '%.*s', must be one of: sess, txn, "
			      "req, res, proc", SLICE_FMT(scope));
	return false;
}

static void put_quoted(struct strbuf *out, struct slice text)
{
	static const char special[] = "\"\\\r\n\b", letters[] = "\"\\rnb";

	strbuf_add_char(out, '"');
	for (size_t i = 0; i < text.len; i++) {
		const char *at = text.ptr[i] ? strchr(special, text.ptr[i]) : NULL;

		if (at || !text.ptr[i])
			strbuf_add_char(out, '\\');
		strbuf_add_char(out, at ? letters[at - special] : text.ptr[i] ? text.ptr[i] : '0');
	}
	strbuf_add_char(out, '"');
}

static void put_var(void *data, struct slice name, const struct sample *value)
{
	struct dump *d = data;
	struct sample s = *value;

	if (name.len < d->prefix.len || memcmp(name.ptr, d->prefix.ptr, d->prefix.len) != 0)
		return;
	if (d->out.len)
		strbuf_add(&d->out, d->delimiter);
	strbuf_printf(&d->out, "%s.%.*s=", var_scope_name(d->scope), SLICE_FMT(name));
	if (s.type == SMP_BOOL) {
		strbuf_add_str(&d->out, s.boolean ? "true" : "false");
	} else if (s.type == SMP_BIN) {
		strbuf_add_char(&d->out, 'x');
		for (size_t i = 0; i < s.text.len; i++)
			strbuf_printf(&d->out, "%02X", (uint8_t)s.text.ptr[i]);
	} else if (sample_cast(&s, SMP_STR, d->arena)) {
		if (value->type == SMP_STR || value->type == SMP_METH)
			put_quoted(&d->out, s.text);
		else
			strbuf_add(&d->out, s.text);
	}
}

static enum expr_result fetch_dump(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	static const enum var_scope all[] = { VAR_SESS, VAR_TXN, VAR_REQ, VAR_RES, VAR_PROC };
	struct dump d = { .arena = ctx->arena, .delimiter = SLICE(", "), .prefix = SLICE("") };
	bool fits;

	if (args[1].type == ARG_STR)
		d.prefix = args[1].name;
	if (args[2].type == ARG_STR && args[2].name.len)
		d.delimiter = args[2].name;
	strbuf_init(&d.out);
	for (unsigned i = 0; i < ARRAY_LEN(all); i++) {
		d.scope = args[0].integer < VAR_SCOPES ? (enum var_scope)args[0].integer : all[i];
		vars_each(args[3].object, d.scope, ctx, put_var, &d);
		if (args[0].integer < VAR_SCOPES)
			break;
	}
	fits = d.out.len < block_size();
	out->type = SMP_STR;
	out->flags |= SMP_CONST | SMP_VOLATILE;
	out->text = fits ? arena_copy(ctx->arena, strbuf_slice(&d.out)) : SLICE("");
	strbuf_fini(&d.out);
	return fits && out->text.ptr ? EXPR_FOUND : EXPR_NONE;
}

static const struct expr_fetch var_fetches[] = {
	{ .name = "dump_all_vars", .args = { ARG_STR, ARG_STR, ARG_STR }, .out = SMP_STR,
	  .use = EXPR_USE_CONST, .fetch = fetch_dump, .check = check_dump,
	  .syntax = "[([<scope>][,<prefix>][,<delimiter>])]",
	  .help = "the variables of a scope, or all, with their values" },
	{ .name = "var", .args_min = 1, .args = { ARG_STR, ARG_STR }, .out = SMP_ANY,
	  .use = EXPR_USE_CONST, .fetch = fetch_var, .check = check_var,
	  .syntax = "(<name>[,<default>])", .help = "a variable, as it was set" },
	{ 0 }
};

/* --- converters --------------------------------------------------------------------------- */

static bool check_set_var(struct conf_line *l, struct expr_arg *args, const char **error)
{
	struct var_ref *ref = var_ref_parse(l->cfg, args[0].name.ptr, false, error);

	for (int i = 1; ref && i < EXPR_ARGS_MAX && args[i].type == ARG_STR; i++)
		if (!var_ref_add_condition(l->cfg, ref, args[i].name, error))
			return false;
	args[0].object = ref;
	args[0].type = ARG_VAR;
	return ref != NULL;
}

static bool convert_set_var(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return var_set(args[0].object, ctx, s);
}

static bool convert_unset_var(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	var_unset(args[0].object, ctx);
	return true;
}

/* As check_var(), in the words of converters that only read one. */
static bool check_other(struct conf_line *l, struct expr_arg *args, const char **error)
{
	const char *reason;

	*error = arena_printf(&l->cfg->arena, "failed to register variable name '%s'",
			      args[0].name.ptr);
	args[0].object = var_ref_parse(l->cfg, args[0].name.ptr, false, &reason);
	args[0].type = ARG_VAR;
	return args[0].object != NULL;
}

/* The difference of the first bytes that differ, up to a NUL. Not strncmp(): only the sign of its
 * result is promised.
 */
static int64_t first_difference(const char *a, const char *b, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (a[i] != b[i])
			return (uint8_t)a[i] - (uint8_t)b[i];
		if (!a[i])
			break;
	}
	return 0;
}

/* The difference of the first bytes that differ, else the order of the lengths. */
static bool convert_strcmp(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	struct sample other;
	int64_t order;
	size_t len;

	if (!var_get(args[0].object, ctx, &other) || !sample_cast(&other, SMP_STR, ctx->arena))
		return false;
	len = s->text.len < other.text.len ? s->text.len : other.text.len;
	order = first_difference(s->text.ptr, other.text.ptr, len);
	if (!order)
		order = (s->text.len > len) - (other.text.len > len);
	s->type = SMP_INT;
	s->integer = order;
	return true;
}

/* Takes as long whatever the bytes are, so that nothing is learnt from it. */
static bool convert_secure_memcmp(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *s)
{
	struct sample other;
	volatile unsigned char difference = 0;

	if (!var_get(args[0].object, ctx, &other) || !sample_cast(&other, SMP_BIN, ctx->arena))
		return false;
	if (other.text.len != s->text.len)
		difference = 1;
	else
		for (size_t i = 0; i < s->text.len; i++)
			difference |= (unsigned char)(s->text.ptr[i] ^ other.text.ptr[i]);
	s->type = SMP_BOOL;
	s->boolean = difference == 0;
	return true;
}

static const struct expr_converter var_converters[] = {
	{ .name = "set-var", .args_min = 1,
	  .args = { ARG_STR, ARG_STR, ARG_STR, ARG_STR, ARG_STR }, .in = SMP_ANY, .out = SMP_ANY,
	  .context = true, .convert = convert_set_var, .check = check_set_var,
	  .syntax = "(<name>[,<condition>...])", .help = "keeps it in a variable" },
	{ .name = "unset-var", .args_min = 1, .args = { ARG_STR }, .in = SMP_ANY, .out = SMP_ANY,
	  .context = true, .convert = convert_unset_var, .check = check_var,
	  .syntax = "(<name>)", .help = "forgets a variable" },
	{ .name = "strcmp", .args_min = 1, .args = { ARG_STR }, .in = SMP_STR, .out = SMP_INT,
	  .context = true, .convert = convert_strcmp, .check = check_other,
	  .syntax = "(<name>)", .help = "its order compared with a variable: 0 when equal" },
	{ .name = "secure_memcmp", .args_min = 1, .args = { ARG_STR }, .in = SMP_BIN,
	  .out = SMP_BOOL, .context = true, .convert = convert_secure_memcmp, .check = check_other,
	  .syntax = "(<name>)", .help = "is it equal to a variable ? in constant time" },
	{ 0 }
};

/* --- the global section ------------------------------------------------------------------- */

/* Sets a variable of the process while the configuration is read. */
static bool global_set_var(struct conf_line *l, bool is_format)
{
	struct expr_ctx ctx = { .arena = &l->cfg->arena, .flags = EXPR_FINAL };
	const char *name = conf_next(l), *error;
	struct var_ref *ref = name ? var_ref_parse(l->cfg, name, true, &error) : NULL;
	struct sample s = { .type = SMP_STR };
	struct logformat *format;
	struct expr *e;

	if (!name || !conf_peek(l))
		return conf_error(l, l->at, NULL, "'%s' needs exactly two arguments: the variable "
				  "name and %s.", l->keyword->words,
				  is_format ? "a format" : "an expression");
	if (ref && strncmp(name, "proc.", 5) != 0)
		error = arena_printf(&l->cfg->arena, "invalid variable name '%s', only scope "
				     "'proc' is permitted in the global section", name);
	if (!ref || strncmp(name, "proc.", 5) != 0)
		return conf_error(l, l->at - 1, NULL, "%s.", error);
	if (is_format) {
		format = logformat_parse(l, conf_next(l), EXPR_CFG_PARSER, 0);
		if (!format)
			return false;
		s.text = logformat_make(format, &ctx, 65536);
		if (!s.text.ptr)
			return conf_error(l, l->at - 1, NULL, "out of memory.");
	} else {
		e = expr_take(l, EXPR_CFG_PARSER);
		if (!e)
			return false;
		if (expr_eval(e, &ctx, &s) != EXPR_FOUND)
			return conf_take_end(l);
	}
	var_set(ref, &ctx, &s);
	return conf_take_end(l);
}

static bool set_var_parse(struct conf_line *l)
{
	return global_set_var(l, false);
}

static bool set_var_fmt_parse(struct conf_line *l)
{
	return global_set_var(l, true);
}

static bool max_size_parse(struct conf_line *l)
{
	static const char *const words[VARS_MAXES] = {
		"tune.vars.global-max-size", "tune.vars.proc-max-size", "tune.vars.sess-max-size",
		"tune.vars.txn-max-size", "tune.vars.reqres-max-size",
		"tune.vars.check-max-size",
	};
	struct vars_store *store = vars_store_of(l->cfg);
	uint64_t size;

	if (!conf_take_size(l, &size))
		return false;
	for (int i = 0; i < VARS_MAXES; i++)
		if (strcmp(l->keyword->words, words[i]) == 0)
			store->max[i] = size;
	store->limited |= size != 0;
	return true;
}

#define MAX_SIZE(w, h) \
	{ .words = w, .where = CONF_GLOBAL, .min_args = 1, .max_args = 1, .parse = max_size_parse, \
	  .syntax = "<size>", .help = h }

static const struct conf_keyword var_keywords[] = {
	{ .words = "set-var", .where = CONF_GLOBAL, .max_args = -1, .parse = set_var_parse,
	  .syntax = "<name> <expression>", .help = "set a variable of the process" },
	{ .words = "set-var-fmt", .where = CONF_GLOBAL, .max_args = -1, .parse = set_var_fmt_parse,
	  .syntax = "<name> <format>", .help = "set a variable of the process" },
	MAX_SIZE("tune.vars.check-max-size", "memory for variables of one health check"),
	MAX_SIZE("tune.vars.global-max-size", "memory for all variables"),
	MAX_SIZE("tune.vars.proc-max-size", "memory for all variables of the process"),
	MAX_SIZE("tune.vars.reqres-max-size", "memory for variables of one message"),
	MAX_SIZE("tune.vars.sess-max-size", "memory for variables of one session"),
	MAX_SIZE("tune.vars.txn-max-size", "memory for variables of one request and its answer"),
	{ 0 }
};

const struct module mod_expr_vars = {
	.name = "expr_vars",
	.keywords = var_keywords,
	.fetches = var_fetches,
	.converters = var_converters,
};

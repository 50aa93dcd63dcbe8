/* SPDX-License-Identifier: GPL-2.0-or-later */
/* expr.c - expressions: compiling, constant folding, evaluating */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/bug.h"
#include "expr_priv.h"

/* Puts words before an error found deeper. */
__attribute__((format(printf, 2, 3)))
static void expr_fail_in(struct expr_error *e, const char *fmt, ...)
{
	struct expr_error inner = *e;
	struct strbuf text;
	va_list ap;

	strbuf_init_fixed(&text, e->text, sizeof(e->text));
	va_start(ap, fmt);
	strbuf_vprintf(&text, fmt, ap);
	va_end(ap);
	strbuf_add_str(&text, " : ");
	strbuf_add_str(&text, inner.text);
}

/* --- compiling ---------------------------------------------------------------------------- */

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ascii_is_digit(c) || c == '_' ||
	       c == '-' || c == '.' || c == '+';
}

static struct slice take_name(struct expr_parser *p)
{
	const char *start = p->at;

	while (is_name_char(*p->at))
		p->at++;
	return slice_make(start, (size_t)(p->at - start));
}

/* <ok>: what a check function said. */
static bool args_verdict(struct expr_parser *p, bool ok, const char *error, const char *what,
			 const char *name)
{
	if (!ok)
		expr_fail(p->error, "invalid args in %s '%s' : %s", what, name,
			  error ? error : "not what was expected");
	return ok;
}

static bool compile_fetch(struct expr_parser *p, struct expr *e, const struct expr_acl_keyword *acl)
{
	const char *what = acl ? "ACL keyword" : "fetch method";
	const char *name = acl ? acl->name : e->fetch->name;
	const char *error = NULL;
	bool ok;

	e->args = expr_args_parse(p, e->fetch->args, e->fetch->args_min, what, name);
	if (!e->args) {
		expr_fail_in(p->error, "%s '%s'", what, name);
		return false;
	}
	e->type = e->fetch->out;
	if (!e->fetch->check)
		return true;
	ok = e->fetch->check(p->line, e->args, &error);
	return args_verdict(p, ok, error, "fetch method", e->fetch->name);
}

/* No table has <name>: says so, or what it waits for. */
static void fail_unknown(struct expr_error *e, const char *what, struct slice name)
{
	const char *feature = expr_later_feature(name);

	if (feature)
		expr_fail(e, "%s '%.*s' is not supported yet: it needs %s", what, SLICE_FMT(name),
			  feature);
	else
		expr_fail(e, "unknown %s '%.*s'", what, SLICE_FMT(name));
}

static bool compile_step(struct expr_parser *p, struct expr *e, struct expr_step *step)
{
	struct slice name = take_name(p);
	const struct expr_converter *c = expr_converter_find(name);
	const char *error = NULL;
	bool ok = true;

	if (!c)
		c = expr_script_converter(p->line->cfg, name);
	if (!c) {
		fail_unknown(p->error, "converter", name);
		return false;
	}
	if (!sample_can_cast(e->type, c->in)) {
		expr_fail(p->error, "converter '%s' cannot be applied", c->name);
		return false;
	}
	step->converter = c;
	step->args = expr_args_parse(p, c->args, c->args_min, "converter", c->name);
	if (!step->args) {
		expr_fail_in(p->error, "invalid arg %u in converter '%s'", p->position, c->name);
		return false;
	}
	if (c->check)
		ok = c->check(p->line, step->args, &error);
	else if (c->prepare)
		ok = c->prepare(p->line, c, step->args, &error);
	if (!args_verdict(p, ok, error, "converter", c->name))
		return false;
	if (!expr_converter_keeps_type(c))
		e->type = c->out;
	return true;
}

static unsigned count_commas(const char *s)
{
	unsigned n = 0;

	for (; *s; s++)
		n += *s == ',';
	return n;
}

static bool args_are_resolved(const struct expr_arg *args)
{
	for (unsigned i = 0; i < EXPR_ARGS_MAX; i++)
		if (args[i].type == ARG_FRONTEND || args[i].type == ARG_BACKEND ||
		    args[i].type == ARG_PROXY || args[i].type == ARG_SERVER ||
		    args[i].type == ARG_TABLE || args[i].type == ARG_USERLIST ||
		    args[i].type == ARG_SINK ||
		    args[i].type == ARG_VAR)
			return false;
	return true;
}

/* Makes of the sample what the converter takes. */
static bool cast_input(const struct expr_converter *c, struct sample *s, struct arena *arena)
{
	enum sample_type in = c->in;

	if (c->keeps_text && (s->type == SMP_STR || s->type == SMP_METH))
		in = SMP_STR;
	return s->type == in || sample_cast(s, in, arena);
}

/* Runs the steps from <from> to <to>. */
static bool run_steps(const struct expr *e, struct expr_ctx *ctx, struct sample *s, unsigned from,
		      unsigned to)
{
	for (unsigned i = from; i < to; i++) {
		const struct expr_converter *c = e->steps[i].converter;

		if (s->type != c->in && !cast_input(c, s, ctx->arena))
			return false;
		ctx->data = c->data;
		if (!c->convert(ctx, e->steps[i].args, s))
			return false;
	}
	return true;
}

/* Evaluates what depends on nothing, once and for all. */
static void expr_fold(struct expr *e, struct config *cfg)
{
	struct expr_ctx ctx = { .arena = &cfg->arena, .flags = EXPR_FINAL };
	unsigned n = 0;

	if (!e->fetch->constant)
		return;
	while (n < e->step_count && !e->steps[n].converter->context &&
	       args_are_resolved(e->steps[n].args))
		n++;
	ctx.data = e->fetch->data;
	memset(&e->value, 0, sizeof(e->value));
	e->folded = e->fetch->fetch(&ctx, e->args, &e->value);
	if (e->folded == EXPR_FOUND && !run_steps(e, &ctx, &e->value, 0, n))
		e->folded = EXPR_NONE;
	e->folded_steps = n;
	e->is_folded = true;
}

struct expr *expr_compile(struct expr_parser *p, const struct expr_acl_keyword *acl)
{
	struct expr *e = arena_zalloc(&p->line->cfg->arena, sizeof(*e));
	struct slice name = take_name(p);

	if (!e) {
		expr_fail(p->error, "out of memory");
		return NULL;
	}
	if (!name.len) {
		expr_fail(p->error, "missing fetch method");
		return NULL;
	}
	e->fetch = expr_fetch_find(acl ? slice_of(acl->fetch) : name);
	if (!e->fetch)
		e->fetch = expr_script_fetch(p->line->cfg, name);
	if (!e->fetch) {
		fail_unknown(p->error, "fetch method", name);
		return NULL;
	}
	if (!compile_fetch(p, e, acl))
		return NULL;
	e->steps = arena_zalloc(&p->line->cfg->arena,
				sizeof(*e->steps) * (count_commas(p->at) + 1));
	if (!e->steps) {
		expr_fail(p->error, "out of memory");
		return NULL;
	}
	while (*p->at == ',') {
		p->at++;
		if (!compile_step(p, e, &e->steps[e->step_count])) {
			if (acl)
				expr_fail_in(p->error, "ACL keyword '%s'", acl->name);
			return NULL;
		}
		e->step_count++;
	}
	expr_fold(e, p->line->cfg);
	return e;
}

struct expr *expr_parse(struct conf_line *l, const char *text, size_t *end, unsigned phase)
{
	struct expr_error error = { "" };
	struct expr_parser p = {
		.line = l, .text = text, .at = text, .phase = phase, .error = &error};
	struct expr *e = expr_compile(&p, NULL);

	if (!e) {
		conf_error(l, l->at, expr_suggest(l, error.text, text),
			   "failed to parse sample expression <%s> : %s.", text, error.text);
		return NULL;
	}
	if (phase && !(expr_phases(e) & phase)) {
		conf_error(l, l->at, NULL,
			   "sample fetch <%s> may not be reliably used here because it needs '%s' "
			   "which is not available here.",
			   e->fetch->name, expr_use_name(e->fetch->use));
		return NULL;
	}
	*end = (size_t)(p.at - text);
	return e;
}

const char *expr_join_words(struct conf_line *l, const char *text)
{
	size_t len = strlen(text);

	while (len > 1 && text[len - 1] == ',') {
		bool more = l->at + 1 < l->count && l->words[l->at + 1][0] != '-';
		const char *next = more ? l->words[l->at + 1] : "";
		char *joined = arena_printf(&l->cfg->arena, "%.*s%s", (int)len - !more, text, next);

		if (!joined)
			break;
		l->at += more;
		text = joined;
		len = strlen(text);
	}
	return text;
}

struct expr *expr_take(struct conf_line *l, unsigned phase)
{
	const char *word = conf_peek(l);
	struct expr *e;
	size_t end;

	if (!word) {
		conf_error(l, l->at, NULL, "missing sample expression.");
		return NULL;
	}
	word = expr_join_words(l, word);
	e = expr_parse(l, word, &end, phase);
	if (!e)
		return NULL;
	if (word[end]) {
		conf_error(l, l->at, NULL, "unexpected '%s' after sample expression <%.*s>.",
			   word + end, (int)end, word);
		return NULL;
	}
	l->at++;
	return e;
}

/* --- reading ------------------------------------------------------------------------------ */

enum sample_type expr_type(const struct expr *e)
{
	return e->type;
}

unsigned expr_phases(const struct expr *e)
{
	return expr_use_phases(e->fetch->use);
}

unsigned expr_uses(const struct expr *e)
{
	return e->fetch->use;
}

const char *expr_fetch_name(const struct expr *e)
{
	return e->fetch->name;
}

bool expr_is_constant(const struct expr *e)
{
	return e->is_folded && e->folded_steps == e->step_count;
}

/* --- evaluating --------------------------------------------------------------------------- */

enum expr_result expr_eval(const struct expr *e, struct expr_ctx *ctx, struct sample *out)
{
	enum expr_result r;
	unsigned from = 0;

	if (e->is_folded) {
		if (e->folded != EXPR_FOUND)
			return EXPR_NONE;
		*out = e->value;
		from = e->folded_steps;
	} else {
		out->flags = 0;
		ctx->data = e->fetch->data;
		r = e->fetch->fetch(ctx, e->args, out);
		if (r != EXPR_FOUND)
			return r == EXPR_WAIT && ctx->flags & EXPR_FINAL &&
			       !(out->flags & SMP_AWAITED) ? EXPR_NONE : r;
	}
	if (run_steps(e, ctx, out, from, e->step_count))
		return EXPR_FOUND;
	return out->flags & SMP_MAY_CHANGE && !(ctx->flags & EXPR_FINAL) ? EXPR_WAIT : EXPR_NONE;
}

enum expr_result expr_eval_now(const struct expr *e, struct expr_ctx *ctx, struct sample *out)
{
	unsigned flags = ctx->flags;
	enum expr_result r;

	ctx->flags |= EXPR_FINAL;
	r = expr_eval(e, ctx, out);
	ctx->flags = flags;
	return r;
}

enum expr_result expr_eval_string(const struct expr *e, struct expr_ctx *ctx, struct slice *out)
{
	struct sample s;
	enum expr_result r = expr_eval(e, ctx, &s);

	*out = slice_none();
	if (r != EXPR_FOUND)
		return r;
	if (!sample_cast(&s, SMP_STR, ctx->arena))
		return EXPR_NONE;
	*out = s.text.ptr ? s.text : SLICE("");
	return EXPR_FOUND;
}

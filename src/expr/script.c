/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script.c - expressions that scripts bring, and those that they ask for; see expr/script.h */
#include "expr/script.h"
#include <stdio.h>
#include <stdlib.h>
#include "base/diag.h"
#include "expr_priv.h"
#include "vars_priv.h"

/* So many texts are kept compiled: scripts may make them of what clients send. */
#define TEXTS_MAX 1000
#define BUCKETS 256

static const struct expr_scripts *known_scripts;

struct compiled {
	struct compiled *next;
	struct slice text;
	const struct expr *expr;
};

struct expr_runtime {
	struct config *live, *scratch;
	struct compiled *buckets[BUCKETS];
	unsigned count;
};

/* What expr_runtime_convert() gives to the converter. */
static __thread const struct sample *input;

void expr_set_scripts(const struct expr_scripts *scripts)
{
	known_scripts = scripts;
}

static enum expr_result fetch_input(struct expr_ctx *ctx, const struct expr_arg *args,
				    struct sample *out)
{
	if (!input)
		return EXPR_NONE;
	*out = *input;
	return EXPR_FOUND;
}

/* No name that a configuration would have. */
static const struct expr_fetch input_row = {
	.name = "+input", .out = SMP_ANY, .use = EXPR_USE_CONST, .fetch = fetch_input,
};

const struct expr_fetch *expr_script_fetch(const struct config *cfg, struct slice name)
{
	if (slice_eq(name, SLICE("+input")))
		return &input_row;
	return known_scripts ? known_scripts->fetch(cfg, name) : NULL;
}

const struct expr_converter *expr_script_converter(const struct config *cfg, struct slice name)
{
	return known_scripts ? known_scripts->converter(cfg, name) : NULL;
}

/* --- expressions that scripts ask for --------------------------------------------------------- */

struct expr_runtime *expr_runtime_new(struct config *live)
{
	struct expr_runtime *rt = calloc(1, sizeof(*rt));

	if (rt)
		rt->live = live;
	return rt;
}

static void forget(struct expr_runtime *rt)
{
	if (rt->scratch)
		config_drop(&rt->scratch);
	memset(rt->buckets, 0, sizeof(rt->buckets));
	rt->count = 0;
}

void expr_runtime_free(struct expr_runtime **rt)
{
	if (*rt)
		forget(*rt);
	free(*rt);
	*rt = NULL;
}

static const struct expr *compile(struct expr_runtime *rt, const char *text, char *error,
				  size_t size)
{
	struct diag_list diags;
	int columns[1] = { 0 };
	struct conf_line line = { .cfg = rt->scratch, .diags = &diags, .columns = columns,
				  .place.form = DIAG_BARE };
	struct expr_error why = { "" };
	struct expr_parser p = { .line = &line, .text = text, .at = text, .error = &why };
	struct expr *e;

	diag_list_init(&diags);
	e = expr_compile(&p, NULL);
	if (!e)
		snprintf(error, size, "%s", why.text);
	else if (*p.at)
		snprintf(error, size, "unexpected '%s'", p.at);
	else if (!expr_resolve(rt->scratch, rt->live, &diags))
		snprintf(error, size, "a name in '%s' is unknown", text);
	else
		error[0] = 0;
	diag_list_fini(&diags);
	return error[0] ? NULL : e;
}

const struct expr *expr_runtime_get(struct expr_runtime *rt, const char *text, char *error,
				    size_t size)
{
	struct slice key = slice_of(text);
	unsigned hash = 5381;
	struct compiled *c;

	for (size_t i = 0; i < key.len; i++)
		hash = hash * 33 + (unsigned char)text[i];
	for (c = rt->buckets[hash % BUCKETS]; c; c = c->next)
		if (slice_eq(c->text, key))
			return c->expr;
	if (rt->count >= TEXTS_MAX)
		forget(rt);
	if (!rt->scratch) {
		rt->scratch = config_new();
		if (!rt->scratch)
			return NULL;
	}
	config_edit_begin();
	vars_store_lend(rt->scratch, rt->live);
	c = arena_zalloc(&rt->scratch->arena, sizeof(*c));
	if (c) {
		c->text = arena_copy(&rt->scratch->arena, key);
		c->expr = compile(rt, text, error, size);
	}
	config_edit_end();
	rt->count++; /* one that failed took memory too */
	if (!c || !c->text.ptr || !c->expr)
		return NULL;
	c->next = rt->buckets[hash % BUCKETS];
	rt->buckets[hash % BUCKETS] = c;
	return c->expr;
}

enum expr_result expr_runtime_convert(struct expr_runtime *rt, const char *text,
				      struct expr_ctx *ctx, const struct sample *value,
				      struct sample *out, char *error, size_t size)
{
	char *whole = arena_printf(ctx->arena, "+input,%s", text);
	const struct expr *e = whole ? expr_runtime_get(rt, whole, error, size) : NULL;
	const struct sample *before = input;
	enum expr_result r;

	if (!e)
		return EXPR_NONE;
	input = value;
	r = expr_eval(e, ctx, out);
	input = before;
	return r;
}

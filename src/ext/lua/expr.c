/* SPDX-License-Identifier: GPL-2.0-or-later */
/* expr.c - fetches and converters that scripts bring: they cannot wait */
#include "class_priv.h"
#include "proxy/proxy.h"
#include "room_priv.h"
#include "row_priv.h"
#include "run_priv.h"
#include "stream/session.h"
#include "stream/stream.h"
#include "value_priv.h"

struct evaluation {
	struct expr_ctx *ctx;
	const struct expr_arg *args;
	struct sample *value;         /* in: of a converter; out: the result */
	bool is_converter;
};

static int push_evaluation(lua_State *L, struct script_run *run, void *data)
{
	struct evaluation *e = data;
	int count = 1;

	if (e->is_converter)
		script_push_sample(L, e->value, e->ctx->arena, true);
	else
		script_push_txn(L, run);
	for (int i = 0; i < EXPR_ARGS_MAX && e->args[i].type != ARG_END; i++, count++)
		lua_pushlstring(L, e->args[i].text.ptr, e->args[i].text.len);
	return count;
}

static void take_value(lua_State *L, struct script_run *run, void *data)
{
	struct evaluation *e = data;

	if (!run->result_count)
		lua_pushnil(L);
	script_to_sample(L, -1, e->ctx->arena, e->value);
}

static bool evaluate(const struct script_function *fn, struct evaluation *e)
{
	struct script_run run = { .limit_ms = fn->room->session_ms, .proxy = e->ctx->proxy };
	unsigned flags = e->ctx->flags;
	bool good;

	if (!script_begin(&run, fn, e->ctx, push_evaluation, e))
		return false;
	good = script_go(&run, take_value, e) == SCRIPT_DONE && !run.is_done;
	script_end(&run);
	e->ctx->flags = flags;
	return good && (e->value->type != SMP_STR || e->value->text.ptr);
}

static enum expr_result fetch_run(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *out)
{
	struct evaluation e = { .ctx = ctx, .args = args, .value = out };

	return evaluate(ctx->data, &e) ? EXPR_FOUND : EXPR_NONE;
}

static bool convert_run(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *smp)
{
	struct evaluation e = { .ctx = ctx, .args = args, .value = smp, .is_converter = true };

	return evaluate(ctx->data, &e);
}

void script_fetch_row(struct script_function *fn)
{
	fn->fetch = (struct expr_fetch){
		.name = fn->name, .out = SMP_STR, .use = EXPR_USE_INTERNAL, .fetch = fetch_run,
		.data = fn,
	};
	memset(fn->fetch.args, ARG_STR, EXPR_ARGS_MAX);
}

void script_converter_row(struct script_function *fn)
{
	fn->converter = (struct expr_converter){
		.name = fn->name, .in = SMP_STR, .out = SMP_STR, .context = true,
		.convert = convert_run, .data = fn,
	};
	memset(fn->converter.args, ARG_STR, EXPR_ARGS_MAX);
}

static const struct script_function *find(const struct config *cfg, enum script_kind kind,
					  struct slice name)
{
	const struct script_function *fn = script_room_of(cfg)->functions;

	while (fn && (fn->kind != kind || !fn->name || !slice_eq(slice_of(fn->name), name)))
		fn = fn->next;
	return fn;
}

static const struct expr_fetch *find_fetch(const struct config *cfg, struct slice name)
{
	const struct script_function *fn = find(cfg, SCRIPT_FETCH, name);

	return fn ? &fn->fetch : NULL;
}

static const struct expr_converter *find_converter(const struct config *cfg, struct slice name)
{
	const struct script_function *fn = find(cfg, SCRIPT_CONVERTER, name);

	return fn ? &fn->converter : NULL;
}

const struct expr_scripts script_exprs = { .fetch = find_fetch, .converter = find_converter };

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* smp.c - classes Fetches and Converters: the program's own, called by scripts */
#include "base/strbuf.h"
#include "class_priv.h"
#include "expr/script.h"
#include "run_priv.h"
#include "state_priv.h"
#include "value_priv.h"

/* Pushes "name(arg,arg)", the arguments quoted: those at <first> and behind. */
static const char *push_text(lua_State *L, const char *name, int first, int last)
{
	luaL_Buffer b;

	for (int i = first; i <= last; i++)
		luaL_checkstring(L, i);
	luaL_buffinit(L, &b);
	luaL_addstring(&b, name);
	for (int i = first; i <= last; i++) {
		size_t len;
		const char *text = lua_tolstring(L, i, &len);

		luaL_addstring(&b, i == first ? "(\"" : ",\"");
		for (size_t n = 0; n < len; n++) {
			if (text[n] == '"' || text[n] == '\\')
				luaL_addchar(&b, '\\');
			luaL_addchar(&b, text[n]);
		}
		luaL_addchar(&b, '"');
	}
	if (first <= last)
		luaL_addchar(&b, ')');
	luaL_pushresult(&b);
	return lua_tostring(L, -1);
}

/* What the expression gave. The classes of texts have "" where the others have nil. */
static int push_result(lua_State *L, struct script_run *run, enum expr_result r, struct sample *s,
		       bool text)
{
	if (r == EXPR_FOUND)
		script_push_sample(L, s, run->ctx->arena, text);
	else
		lua_pushnil(L);
	if (text && lua_isnil(L, -1))
		lua_pushliteral(L, "");
	return 1;
}

static enum expr_result evaluate(struct script_run *run, const struct expr *e, struct sample *out)
{
	struct expr_ctx ctx = *run->ctx;

	memset(ctx.cursor, 0, sizeof(ctx.cursor));
	ctx.flags = (ctx.flags | EXPR_FINAL) & ~(unsigned)(EXPR_ITERATE | EXPR_MAY_WAIT);
	return expr_eval(e, &ctx, out);
}

/* Upvalues: name, class, texts. */
static int fetch_call(lua_State *L)
{
	struct script_run *run = script_self(L, 1, "Fetches");
	const char *name = lua_tostring(L, lua_upvalueindex(1));
	struct sample s = { .flags = 0 };
	const struct expr *e;
	char error[256] = "out of memory";
	bool text;

	lua_getfield(L, 1, "texts");
	text = lua_toboolean(L, -1);
	lua_pop(L, 1);
	e = expr_runtime_get(run->box->exprs, push_text(L, name, 2, lua_gettop(L)), error,
			     sizeof(error));
	if (!e)
		return luaL_error(L, "%s", error);
	return push_result(L, run, evaluate(run, e, &s), &s, text);
}

static int convert_call(lua_State *L)
{
	struct script_run *run = script_self(L, 1, "Converters");
	const char *name = lua_tostring(L, lua_upvalueindex(1));
	struct sample in = { .flags = 0 }, out = { .flags = 0 };
	char error[256] = "";
	enum expr_result r;
	bool text;

	luaL_checkany(L, 2);
	lua_getfield(L, 1, "texts");
	text = lua_toboolean(L, -1);
	lua_pop(L, 1);
	script_to_sample(L, 2, run->ctx->arena, &in);
	r = expr_runtime_convert(run->box->exprs, push_text(L, name, 3, lua_gettop(L)), run->ctx,
				 &in, &out, error, sizeof(error));
	if (error[0])
		return luaL_error(L, "%s", error);
	return push_result(L, run, r, &out, text);
}

static void add_method(lua_State *L, const char *name, lua_CFunction call)
{
	lua_pushstring(L, name);
	lua_pushcclosure(L, call, 1);
	luaL_gsub(L, name, ".", "_");
	luaL_gsub(L, lua_tostring(L, -1), "-", "_");
	lua_replace(L, -2);
	luaL_gsub(L, lua_tostring(L, -1), "+", "_");
	lua_replace(L, -2);
	lua_insert(L, -2);
	lua_settable(L, -3);
}

void script_smp_open(lua_State *L)
{
	static const luaL_Reg none[] = { { NULL, NULL } };
	const struct expr_fetch *f;
	const struct expr_converter *c;

	script_class_new(L, "Fetches", none);
	luaL_getmetatable(L, "Fetches");
	lua_getfield(L, -1, "__index");
	for (size_t i = 0; (f = expr_fetch_at(i)) != NULL; i++)
		add_method(L, f->name, fetch_call);
	lua_pop(L, 2);
	script_class_new(L, "Converters", none);
	luaL_getmetatable(L, "Converters");
	lua_getfield(L, -1, "__index");
	for (size_t i = 0; (c = expr_converter_at(i)) != NULL; i++)
		add_method(L, c->name, convert_call);
	lua_pop(L, 2);
}

static void push_object(lua_State *L, struct script_run *run, const char *class, bool text)
{
	lua_createtable(L, 0, 2);
	script_push_handle(L, run);
	lua_pushboolean(L, text);
	lua_setfield(L, -2, "texts");
	script_class_set(L, class);
}

void script_push_f(lua_State *L, struct script_run *run)
{
	push_object(L, run, "Fetches", false);
}

void script_push_sf(lua_State *L, struct script_run *run)
{
	push_object(L, run, "Fetches", true);
}

void script_push_c(lua_State *L, struct script_run *run)
{
	push_object(L, run, "Converters", false);
}

void script_push_sc(lua_State *L, struct script_run *run)
{
	push_object(L, run, "Converters", true);
}

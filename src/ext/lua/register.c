/* SPDX-License-Identifier: GPL-2.0-or-later */
/* register.c - core.register_*: functions that scripts add to the configuration */
#include "beside_priv.h"
#include "class_priv.h"
#include "room_priv.h"
#include "row_priv.h"
#include "state_priv.h"

/* The function that the configuration knows by this name, or a new one; <sets>: of actions, which
 * may have one name if they are for different rules. Raises an error.
 */
static struct script_function *function_take(lua_State *L, enum script_kind kind, const char *name,
					     unsigned sets)
{
	struct script_box *box = script_box_of(L);
	struct script_room *room = box->room;
	struct script_function *fn = room->functions, **last;
	unsigned count = box->thread ? room->box_count : 1;

	while (fn && (!name || fn->kind != kind || fn->sets != sets || !fn->own_name ||
		      strcmp(fn->own_name, name) != 0))
		fn = fn->next;
	if (fn)
		return fn;
	fn = arena_zalloc(&room->cfg->arena, sizeof(*fn));
	if (!fn)
		luaL_error(L, "out of memory");
	fn->refs = arena_alloc(&room->cfg->arena, count * sizeof(int));
	fn->usage = arena_zalloc(&room->cfg->arena, count * sizeof(*fn->usage));
	fn->own_name = name ? conf_strdup(room->cfg, name) : "(anonymous)";
	fn->name = name ? arena_printf(&room->cfg->arena, "lua.%s", name) : NULL;
	if (!fn->refs || !fn->usage || !fn->own_name || (name && !fn->name))
		luaL_error(L, "out of memory");
	fn->kind = kind;
	fn->sets = sets;
	fn->room = room;
	fn->shared = box->thread ? NULL : box;
	fn->ref_count = count;
	for (unsigned i = 0; i < count; i++)
		fn->refs[i] = LUA_NOREF;
	for (last = &room->functions; *last; last = &(*last)->next)
		;
	*last = fn;
	return fn;
}

/* Keeps the function at <index>. */
static void function_keep(lua_State *L, struct script_function *fn, int index)
{
	struct script_box *box = script_box_of(L);
	unsigned at = box->thread ? box->thread - 1 : 0;

	luaL_checktype(L, index, LUA_TFUNCTION);
	if ((fn->shared != NULL) != (box->thread == 0))
		luaL_error(L, "'%s' is registered by a script of another kind of load",
			   fn->own_name);
	luaL_unref(L, LUA_REGISTRYINDEX, fn->refs[at]);
	lua_pushvalue(L, index);
	fn->refs[at] = luaL_ref(L, LUA_REGISTRYINDEX);
}

struct script_function *script_function_take(lua_State *L, enum script_kind kind, const char *name,
					     int index)
{
	struct script_function *fn;

	if (!script_box_of(L)->is_loading)
		luaL_error(L, "not available outside of the body of a script");
	fn = function_take(L, kind, name, 0);
	function_keep(L, fn, index);
	return fn;
}

static void check_early(lua_State *L, const char *what)
{
	if (!script_box_of(L)->is_loading)
		luaL_error(L, "%s: not available outside of the body of a script", what);
}

/* Is the name one that rules can have? */
static const char *name_at(lua_State *L, int index)
{
	const char *name = luaL_checkstring(L, index);

	luaL_argcheck(L, *name && !strpbrk(name, " \t()[]{},'\"\\"), index, "a name is expected");
	return name;
}

static int register_fetches(lua_State *L)
{
	struct script_function *fn;

	check_early(L, "register_fetches");
	luaL_checktype(L, 2, LUA_TFUNCTION);
	fn = function_take(L, SCRIPT_FETCH, name_at(L, 1), 0);
	function_keep(L, fn, 2);
	script_fetch_row(fn);
	return 0;
}

static int register_converters(lua_State *L)
{
	struct script_function *fn;

	check_early(L, "register_converters");
	luaL_checktype(L, 2, LUA_TFUNCTION);
	fn = function_take(L, SCRIPT_CONVERTER, name_at(L, 1), 0);
	function_keep(L, fn, 2);
	script_converter_row(fn);
	return 0;
}

static unsigned ruleset_at(lua_State *L, int index)
{
	static const struct { const char *name; unsigned set; } sets[] = {
		{ "tcp-req", RULES_TCP_CONTENT }, { "tcp-res", RULES_TCP_RESPONSE },
		{ "http-req", RULES_HTTP_REQUEST }, { "http-res", RULES_HTTP_RESPONSE },
		{ "http-after-res", RULES_HTTP_AFTER },
	};
	const char *name = luaL_checkstring(L, index);

	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		if (strcmp(sets[i].name, name) == 0)
			return RULES_BIT(sets[i].set);
	return (unsigned)luaL_error(L, "Lua action environment '%s' is unknown. 'tcp-req', "
				    "'tcp-res', 'http-req', 'http-res' or 'http-after-res' are "
				    "expected.", name);
}

/* core.register_action(name, {"http-req", ...}, function [, nb_args]) */
static int register_action(lua_State *L)
{
	const char *name = name_at(L, 1);
	lua_Integer args = luaL_optinteger(L, 4, 0);
	struct script_function *fn;
	unsigned sets = 0;

	check_early(L, "register_action");
	luaL_checktype(L, 2, LUA_TTABLE);
	luaL_checktype(L, 3, LUA_TFUNCTION);
	luaL_argcheck(L, args >= 0 && args < 60, 4, "a number of arguments is expected");
	for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1))
		sets |= ruleset_at(L, -1);
	fn = function_take(L, SCRIPT_ACTION, name, sets);
	function_keep(L, fn, 3);
	fn->arg_count = (int)args;
	script_action_row(fn);
	return 0;
}

static int register_init(lua_State *L)
{
	check_early(L, "register_init");
	luaL_checktype(L, 1, LUA_TFUNCTION);
	function_keep(L, function_take(L, SCRIPT_INIT, NULL, 0), 1);
	return 0;
}

/* core.register_service(name, "http" or "tcp", function) */
static int register_service(lua_State *L)
{
	const char *name = name_at(L, 1), *mode = luaL_checkstring(L, 2);
	struct script_function *fn;

	check_early(L, "register_service");
	luaL_checktype(L, 3, LUA_TFUNCTION);
	if (strcmp(mode, "http") != 0 && strcmp(mode, "tcp") != 0)
		return luaL_error(L, "Lua service environment '%s' is unknown. 'http' or 'tcp' "
				  "are expected.", mode);
	fn = function_take(L, SCRIPT_SERVICE, name, 0);
	function_keep(L, fn, 3);
	if (*mode == 'h')
		script_service_row(fn);
	else
		script_service_tcp_row(fn);
	return 0;
}

/* core.register_task(function [, argument]...): begins at the end of start-up, or now. */
static int register_task(lua_State *L)
{
	struct script_box *box = script_box_of(L);
	int fn_ref, args_ref, count = lua_gettop(L) - 1;
	struct script_function *fn = box->room->tasks;

	luaL_checktype(L, 1, LUA_TFUNCTION);
	lua_createtable(L, count, 0);
	for (int i = 1; i <= count; i++) {
		lua_pushvalue(L, i + 1);
		lua_rawseti(L, -2, i);
	}
	lua_pushinteger(L, count);
	lua_setfield(L, -2, "n");
	args_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	lua_pushvalue(L, 1);
	fn_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	if (box->room->is_open) {
		if (!script_task_new(fn, box, fn_ref, args_ref))
			return luaL_error(L, "out of memory");
		return 0;
	}
	lua_getfield(L, LUA_REGISTRYINDEX, "tasks");
	for (int i = 0; i < 2; i++) {
		lua_pushinteger(L, i ? args_ref : fn_ref);
		lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
	}
	return 0;
}

static const luaL_Reg functions[] = {
	{ "register_fetches", register_fetches }, { "register_converters", register_converters },
	{ "register_action", register_action }, { "register_init", register_init },
	{ "register_service", register_service }, { "register_task", register_task },
	{ "register_cli", script_register_cli },
	{ NULL, NULL }
};

void script_register_open(lua_State *L)
{
	luaL_setfuncs(L, functions, 0);
	lua_newtable(L); /* of tasks that wait for the start: references in pairs */
	lua_setfield(L, LUA_REGISTRYINDEX, "tasks");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core.c - the table core: logs, waiting, dates, and texts; and the class Concat */
#include "base/addr.h"
#include "base/clock.h"
#include "class_priv.h"
#include "run_priv.h"
#include "state_priv.h"
#include "value_priv.h"

static int core_log(lua_State *L)
{
	struct script_box *box = script_box_of(L);
	lua_Integer level = luaL_checkinteger(L, 1);

	luaL_argcheck(L, level >= 0 && level < LOG_LEVELS, 1, "a log level is expected");
	script_log(box->room, NULL, (enum log_level)level, script_text(L, 2));
	return 0;
}

static int core_say(lua_State *L)
{
	struct script_box *box = script_box_of(L);

	script_log(box->room, NULL, (enum log_level)lua_tointeger(L, lua_upvalueindex(1)),
		   script_text(L, 1));
	return 0;
}

static uint64_t after(lua_State *L, lua_Integer factor)
{
	lua_Integer n = luaL_checkinteger(L, 1);
	uint64_t now = script_box_of(L)->running ? clock_now_ms() : clock_read_ns() / 1000000;

	luaL_argcheck(L, n >= 0 && n < INT32_MAX, 1, "a time is expected");
	return now + (uint64_t)(n * factor);
}

static int core_sleep(lua_State *L)
{
	return script_yield(L, after(L, 1000));
}

static int core_msleep(lua_State *L)
{
	return script_yield(L, after(L, 1));
}

static int core_yield(lua_State *L)
{
	return script_yield(L, script_box_of(L)->running ? clock_now_ms() : 0);
}

static int core_now(lua_State *L)
{
	uint64_t us = clock_read_wall_us();

	lua_createtable(L, 0, 2);
	lua_pushinteger(L, (lua_Integer)(us / 1000000));
	lua_setfield(L, -2, "sec");
	lua_pushinteger(L, (lua_Integer)(us % 1000000));
	lua_setfield(L, -2, "usec");
	return 1;
}

/* core.tokenize(text, separators [, noblank]) */
static int core_tokenize(lua_State *L)
{
	struct slice text = script_text(L, 1), cuts = script_text(L, 2);
	bool no_blank = lua_toboolean(L, 3);
	size_t from = 0, to;
	int n = 0;

	lua_newtable(L);
	for (; from <= text.len; from = to + 1) {
		for (to = from; to < text.len && !memchr(cuts.ptr, text.ptr[to], cuts.len); to++)
			;
		if (no_blank && to == from)
			continue;
		lua_pushlstring(L, text.ptr + from, to - from);
		lua_rawseti(L, -2, ++n);
	}
	return 1;
}

/* --- class Concat ----------------------------------------------------------------------------- */

static int concat_add(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	script_text(L, 2);
	lua_pushvalue(L, 2);
	lua_rawseti(L, 1, (lua_Integer)lua_rawlen(L, 1) + 1);
	return 0;
}

static int concat_dump(lua_State *L)
{
	luaL_Buffer b;
	lua_Integer n;

	luaL_checktype(L, 1, LUA_TTABLE);
	n = (lua_Integer)lua_rawlen(L, 1);
	luaL_buffinit(L, &b);
	for (lua_Integer i = 1; i <= n; i++) {
		lua_rawgeti(L, 1, i);
		luaL_addvalue(&b);
	}
	luaL_pushresult(&b);
	return 1;
}

static int core_concat(lua_State *L)
{
	lua_newtable(L);
	script_class_set(L, "Concat");
	return 1;
}

/* act.wake_time(ms), or act:wake_time(ms): when a call that returns act.YIELD is made again */
static int act_wake_time(lua_State *L)
{
	struct script_run *run = script_box_of(L)->running;
	lua_Integer ms = luaL_checkinteger(L, lua_istable(L, 1) ? 2 : 1);

	luaL_argcheck(L, ms >= 0 && ms < INT32_MAX, 1, "a time is expected");
	if (run)
		run->again_ms = ms ? ms : 1;
	return 0;
}

/* --- the tables ------------------------------------------------------------------------------- */

static const luaL_Reg functions[] = {
	{ "log", core_log }, { "sleep", core_sleep }, { "msleep", core_msleep },
	{ "yield", core_yield }, { "now", core_now }, { "tokenize", core_tokenize },
	{ "concat", core_concat }, { NULL, NULL }
};

static const luaL_Reg concat_methods[] = {
	{ "add", concat_add }, { "dump", concat_dump }, { NULL, NULL }
};

static void add_levels(lua_State *L)
{
	static const struct { const char *name; int level; } says[] = {
		{ "Debug", LOG_LVL_DEBUG }, { "Info", LOG_LVL_INFO },
		{ "Warning", LOG_LVL_WARNING }, { "Alert", LOG_LVL_ALERT },
	};
	static const char *const names[] = {
		"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug",
	};

	for (int i = 0; i < LOG_LEVELS; i++) {
		lua_pushinteger(L, i);
		lua_setfield(L, -2, names[i]);
	}
	lua_pushinteger(L, -1);
	lua_setfield(L, -2, "silent");
	for (int i = 0; i < 4; i++) {
		lua_pushinteger(L, says[i].level);
		lua_pushcclosure(L, core_say, 1);
		lua_setfield(L, -2, says[i].name);
	}
}

void script_core_open(lua_State *L)
{
	static const char *const acts[] = {
		"CONTINUE", "STOP", "YIELD", "ERROR", "DONE", "DENY", "ABORT", "INVALID",
	};

	script_class_new(L, "Concat", concat_methods);
	lua_newtable(L);
	luaL_setfuncs(L, functions, 0);
	add_levels(L);
	script_register_open(L);
	lua_pushinteger(L, script_box_of(L)->thread);
	lua_setfield(L, -2, "thread");
	lua_setglobal(L, "core");
	lua_newtable(L);
	for (int i = 0; i < 8; i++) {
		lua_pushinteger(L, i);
		lua_setfield(L, -2, acts[i]);
	}
	lua_pushcfunction(L, act_wake_time);
	lua_setfield(L, -2, "wake_time");
	lua_setglobal(L, "act");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* applet_tcp.c - class AppletTCP: what commands and services of mode tcp talk through */
#include "base/clock.h"
#include "ctl/ctl.h"
#include "script_priv.h"

#define CLASS "AppletTCP"

/* The object's, from its own table: the handle is [0], this is [1]. */
static struct script_applet *applet_at(lua_State *L, struct script_run **run)
{
	struct script_applet *a;

	*run = script_self(L, 1, CLASS);
	lua_rawgeti(L, 1, 1);
	a = lua_touserdata(L, -1);
	lua_pop(L, 1);
	return a;
}

static int after_send(lua_State *L, int status, lua_KContext k)
{
	lua_pushinteger(L, (lua_Integer)lua_rawlen(L, 2));
	return 1;
}

static int send_text(lua_State *L)
{
	struct script_run *run;
	struct script_applet *a = applet_at(L, &run);
	struct slice text;

	text.ptr = luaL_checklstring(L, 2, &text.len);
	if (!strbuf_add(&a->out, text))
		return luaL_error(L, "out of memory");
	if (a->out.len > CTL_OUT_SOFT)
		return script_yield_to(L, clock_now_ms(), 0, after_send);
	return after_send(L, LUA_OK, 0);
}

static int set_priv(lua_State *L)
{
	struct script_run *run;

	applet_at(L, &run);
	lua_settop(L, 2);
	lua_rawseti(L, 1, 2);
	return 0;
}

static int get_priv(lua_State *L)
{
	struct script_run *run;

	applet_at(L, &run);
	lua_rawgeti(L, 1, 2);
	return 1;
}

static int set_var(lua_State *L)
{
	struct script_run *run;

	applet_at(L, &run);
	return script_set_var(L, run);
}

static int unset_var(lua_State *L)
{
	struct script_run *run;

	applet_at(L, &run);
	return script_unset_var(L, run);
}

static int get_var(lua_State *L)
{
	struct script_run *run;

	applet_at(L, &run);
	return script_get_var(L, run);
}

static const luaL_Reg methods[] = {
	{ "send", send_text }, { "set_priv", set_priv }, { "get_priv", get_priv },
	{ "set_var", set_var }, { "unset_var", unset_var }, { "get_var", get_var }, { NULL, NULL }
};

void script_applet_tcp_open(lua_State *L)
{
	script_class_new(L, CLASS, methods);
}

void script_push_applet(lua_State *L, struct script_run *run, struct script_applet *a)
{
	lua_createtable(L, 2, 4);
	script_push_handle(L, run);
	lua_pushlightuserdata(L, a);
	lua_rawseti(L, -2, 1);
	script_add_smp(L, run);
	script_class_set(L, CLASS);
}

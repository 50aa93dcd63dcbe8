/* SPDX-License-Identifier: GPL-2.0-or-later */
/* applet_tcp.c - class AppletTCP: the I/O of commands and services of mode tcp */
#include "base/clock.h"
#include "class_priv.h"
#include "run_priv.h"
#include "state_priv.h"

#define CLASS "AppletTCP"

static struct script_applet *applet_at(lua_State *L, struct script_run **run)
{
	*run = script_self(L, 1, CLASS);
	if (!(*run)->applet)
		luaL_argerror(L, 1, "an object of class " CLASS " is expected");
	return (*run)->applet;
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
	if (a->out.len > SCRIPT_APPLET_SOFT)
		return script_yield_to(L, clock_now_ms(), 0, after_send);
	return after_send(L, LUA_OK, 0);
}

/* --- receiving -------------------------------------------------------------------------------- */

/* Takes <len> bytes, all that <a> has at most, behind those that the string at <index> has. */
static void take(lua_State *L, struct script_applet *a, int index, size_t len)
{
	luaL_Buffer b;

	if (!len)
		return;
	luaL_buffinit(L, &b);
	lua_pushvalue(L, index);
	luaL_addvalue(&b);
	block_queue_peek(a->in, 0, luaL_prepbuffsize(&b, len), len);
	luaL_addsize(&b, len);
	luaL_pushresult(&b);
	lua_replace(L, index);
	block_queue_skip(a->in, len);
	a->taken(a);
}

static bool is_over(const struct script_applet *a)
{
	return !a->in || (!a->in->len && *a->is_whole);
}

/* The bytes up to the end of the line; *found: is it there? */
static size_t line_len(const struct block_queue *q, bool *found)
{
	size_t len = 0;

	*found = false;
	for (const struct piece *p = q->first; p; p = p->next) {
		const char *end = memchr(p->ptr, '\n', p->len);

		*found = end != NULL;
		if (end)
			return len + (size_t)(end - p->ptr) + 1;
		len += p->len;
	}
	return len;
}

/* 2: what was taken so far */
static int get_line_on(lua_State *L, int status, lua_KContext k)
{
	struct script_run *run;
	struct script_applet *a = applet_at(L, &run);
	bool found = false;

	if (a->in)
		take(L, a, 2, line_len(a->in, &found));
	if (!found && !is_over(a)) {
		a->wants = true;
		return script_yield_to(L, TIMER_NEVER, 0, get_line_on);
	}
	lua_settop(L, 2);
	return 1;
}

/* applet:getline(): with its end; without at the end of the stream, empty behind it */
static int get_line(lua_State *L)
{
	lua_settop(L, 1);
	lua_pushliteral(L, "");
	return get_line_on(L, LUA_OK, 0);
}

/* 2: what was taken so far, 3: how many bytes shall be, negative: all. <k>: until when, or never */
static int receive_on(lua_State *L, int status, lua_KContext k)
{
	struct script_run *run;
	struct script_applet *a = applet_at(L, &run);
	lua_Integer wanted = lua_tointeger(L, 3), have = (lua_Integer)lua_rawlen(L, 2);
	size_t len = a->in ? a->in->len : 0;

	if (wanted >= 0 && (lua_Integer)len > wanted - have)
		len = (size_t)(wanted - have);
	take(L, a, 2, len);
	have += (lua_Integer)len;
	if (have != wanted && !is_over(a) && clock_now_ms() < (uint64_t)k) {
		a->wants = true;
		return script_yield_to(L, (uint64_t)k, k, receive_on);
	}
	if (!have && wanted && !is_over(a))
		lua_pushnil(L);
	else
		lua_pushvalue(L, 2);
	return 1;
}

/* applet:receive([size [, milliseconds]]) */
static int receive(lua_State *L)
{
	lua_Integer wanted = luaL_optinteger(L, 2, -1), ms = luaL_optinteger(L, 3, -1);
	uint64_t until = ms < 0 ? TIMER_NEVER : clock_now_ms() + (uint64_t)ms;

	lua_settop(L, 1);
	lua_pushliteral(L, "");
	lua_pushinteger(L, wanted < 0 ? -1 : wanted);
	return receive_on(L, LUA_OK, (lua_KContext)until);
}

static int try_receive(lua_State *L)
{
	lua_settop(L, 1);
	lua_pushliteral(L, "");
	lua_pushinteger(L, -1);
	return receive_on(L, LUA_OK, 0);
}

/* --- what a script keeps ---------------------------------------------------------------------- */

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
	{ "send", send_text }, { "getline", get_line }, { "receive", receive },
	{ "try_receive", try_receive }, { "set_priv", set_priv }, { "get_priv", get_priv },
	{ "set_var", set_var }, { "unset_var", unset_var }, { "get_var", get_var }, { NULL, NULL }
};

static int applet_index(lua_State *L)
{
	static const struct script_field fields[] = { SCRIPT_SMP_FIELDS, { NULL, NULL } };

	return script_index(L, CLASS, fields);
}

void script_applet_tcp_open(lua_State *L)
{
	script_class_new(L, CLASS, methods);
	script_class_set_meta(L, CLASS, "__index", applet_index);
}

void script_push_applet(lua_State *L, struct script_run *run, struct script_applet *a)
{
	lua_createtable(L, 2, 4);
	script_push_handle(L, run);
	run->applet = a;
	script_class_set(L, CLASS);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* value.c - texts, numbers and samples as values of Lua, and back */
#include "expr/expr.h"
#include "room_priv.h"
#include "state_priv.h"
#include "value_priv.h"

struct slice script_text(lua_State *L, int index)
{
	size_t len;
	const char *text = luaL_checklstring(L, index, &len);

	return slice_make(text, len);
}

void script_set_text(lua_State *L, const char *name, struct slice text)
{
	lua_pushlstring(L, text.ptr ? text.ptr : "", text.len);
	lua_setfield(L, -2, name);
}

void script_set_string(lua_State *L, const char *name, const char *text)
{
	lua_pushstring(L, text);
	lua_setfield(L, -2, name);
}

void script_set_integer(lua_State *L, const char *name, lua_Integer number)
{
	lua_pushinteger(L, number);
	lua_setfield(L, -2, name);
}

void script_push_sample(lua_State *L, struct sample *s, struct arena *arena, bool text)
{
	if (!text && s->type == SMP_BOOL) {
		if (script_box_of(L)->room->bool_is_bool)
			lua_pushboolean(L, s->boolean);
		else
			lua_pushinteger(L, s->boolean);
	} else if (!text && s->type == SMP_INT) {
		lua_pushinteger(L, s->integer);
	} else if (s->type == SMP_BIN || sample_cast(s, SMP_STR, arena)) {
		lua_pushlstring(L, s->text.ptr ? s->text.ptr : "", s->text.len);
	} else {
		lua_pushnil(L);
	}
}

void script_to_sample(lua_State *L, int index, struct arena *arena, struct sample *s)
{
	size_t len;
	const char *text;

	s->flags = 0;
	switch (lua_type(L, index)) {
	case LUA_TNUMBER:
		s->type = SMP_INT;
		s->integer = lua_tointeger(L, index);
		break;
	case LUA_TSTRING:
		text = lua_tolstring(L, index, &len);
		s->type = SMP_STR;
		s->text = arena_copy(arena, slice_make(text, len));
		break;
	default: /* nil, tables and functions are false, as in HAProxy */
		s->type = SMP_BOOL;
		s->boolean = lua_type(L, index) == LUA_TBOOLEAN && lua_toboolean(L, index);
		break;
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reply.c - class Reply: an answer that a script makes and gives to txn:done() */
#include "class_priv.h"
#include "state_priv.h"
#include "stream/stream.h"

/* What a status says by itself, where a script gives no reason. */
static void push_reason(lua_State *L, lua_Integer status)
{
	struct slice text = http_reason((unsigned)status);

	lua_pushlstring(L, text.ptr, text.len);
}

/* reply:set_status(status [, reason]): ignored, where it is none */
static int reply_set_status(lua_State *L)
{
	lua_Integer status = luaL_checkinteger(L, 2);

	luaL_checktype(L, 1, LUA_TTABLE);
	if (status < 100 || status > 599)
		return 0;
	lua_settop(L, 3);
	if (lua_isnil(L, 3)) {
		push_reason(L, status);
		lua_replace(L, 3);
	}
	lua_setfield(L, 1, "reason");
	lua_setfield(L, 1, "status");
	return 0;
}

static int reply_add_header(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_checkstring(L, 2);
	luaL_checkstring(L, 3);
	if (lua_getfield(L, 1, "headers") != LUA_TTABLE) {
		lua_newtable(L);
		lua_pushvalue(L, -1);
		lua_setfield(L, 1, "headers");
	}
	lua_pushvalue(L, 2);
	if (lua_gettable(L, -2) != LUA_TTABLE) {
		lua_newtable(L);
		lua_pushvalue(L, 2);
		lua_pushvalue(L, -2);
		lua_settable(L, -5);
	}
	lua_pushvalue(L, 3);
	lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
	return 0;
}

static int reply_del_header(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_checkstring(L, 2);
	if (lua_getfield(L, 1, "headers") == LUA_TTABLE) {
		lua_pushvalue(L, 2);
		lua_pushnil(L);
		lua_settable(L, -3);
	}
	return 0;
}

static int reply_set_body(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_checkstring(L, 2);
	lua_settop(L, 2);
	lua_setfield(L, 1, "body");
	return 0;
}

static const luaL_Reg methods[] = {
	{ "set_status", reply_set_status }, { "add_header", reply_add_header },
	{ "del_header", reply_del_header }, { "set_body", reply_set_body }, { NULL, NULL }
};

void script_reply_open(lua_State *L)
{
	script_class_new(L, "Reply", methods);
}

int script_new_reply(lua_State *L)
{
	static const char *const fields[] = { "status", "reason", "headers", "body" };

	lua_settop(L, 2);
	lua_createtable(L, 0, 4);
	for (int i = 0; i < 4 && lua_istable(L, 2); i++) {
		lua_getfield(L, 2, fields[i]);
		lua_setfield(L, -2, fields[i]);
	}
	if (lua_getfield(L, -1, "headers") != LUA_TTABLE) {
		lua_newtable(L);
		lua_setfield(L, -3, "headers");
	}
	lua_pop(L, 1);
	lua_getfield(L, -1, "status");
	if (!lua_isnumber(L, -1)) {
		lua_pushinteger(L, 200);
		lua_setfield(L, -3, "status");
	}
	if (lua_getfield(L, -2, "reason") == LUA_TNIL) {
		lua_getfield(L, -3, "status");
		push_reason(L, lua_tointeger(L, -1));
		lua_setfield(L, -5, "reason");
		lua_pop(L, 1);
	}
	lua_pop(L, 2);
	script_class_set(L, "Reply");
	return 1;
}

static bool is_clean(struct slice text)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.ptr[i] < ' ' && text.ptr[i] != '\t')
			return false;
	return true;
}

static bool add_field(lua_State *L, struct stream *s, struct slice name, int index)
{
	size_t len;
	const char *text = lua_tolstring(L, index, &len);

	return text && h1_is_token(name) && is_clean(slice_make(text, len)) &&
	       http_msg_add_field(&s->res, name, slice_make(text, len));
}

/* The fields of the table on the stack: of texts, or of lists of texts. */
static bool add_fields(lua_State *L, struct stream *s)
{
	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
		struct slice name;

		if (lua_type(L, -2) != LUA_TSTRING)
			return false;
		name = slice_of(lua_tostring(L, -2));
		if (!lua_istable(L, -1)) {
			if (!add_field(L, s, name, -1))
				return false;
			continue;
		}
		for (int i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
			if (!add_field(L, s, name, -1))
				return false;
			lua_pop(L, 1);
		}
		lua_pop(L, 1);
	}
	return true;
}

bool script_reply_make(lua_State *L, int index, struct stream *s)
{
	lua_Integer status = 200;
	const char *reason, *body;
	size_t len = 0;

	if (lua_getfield(L, index, "status") != LUA_TNIL)
		status = luaL_checkinteger(L, -1);
	if (status < 200 || status > 999)
		return luaL_error(L, "status %d is none of an answer", (int)status);
	lua_getfield(L, index, "reason");
	reason = lua_tostring(L, -1);
	lua_getfield(L, index, "body");
	body = lua_tolstring(L, -1, &len);
	stream_reply_begin(s, (unsigned)status,
			   reason && is_clean(slice_of(reason))
			   ? arena_copy(&s->arena, slice_of(reason)) : slice_none());
	if (s->req.version == 10) /* as services and HAProxy do it */
		s->res.version = 10;
	if (lua_getfield(L, index, "headers") == LUA_TTABLE && !add_fields(L, s))
		return false;
	return stream_reply_body(s, slice_make(body ? body : "", len), true);
}

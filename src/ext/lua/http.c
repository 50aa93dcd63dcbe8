/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http.c - class HTTP: the heads of a request and its answer, read and edited by scripts */
#include "base/regex.h"
#include "class_priv.h"
#include "run_priv.h"
#include "state_priv.h"
#include "stream/stream.h"
#include "value_priv.h"

static struct http_msg *message(lua_State *L, bool response)
{
	struct script_run *run = script_self(L, 1, "HTTP");
	struct stream *s = run->ctx->stream;

	if (!s)
		luaL_error(L, "this object of class HTTP has no stream");
	if (!response && run->ctx->flags & EXPR_DIR_RESPONSE)
		luaL_error(L, "the request has been forwarded");
	if (response && !s->res.status)
		luaL_error(L, "there is no answer yet");
	return response ? &s->res : &s->req;
}

/* Upvalue 1 of all methods. */
enum { OF_REQUEST, OF_RESPONSE, OF_OBJECT };

static struct http_msg *message_of(lua_State *L)
{
	lua_Integer which = lua_tointeger(L, lua_upvalueindex(1));
	struct script_run *run;
	unsigned side;

	if (which != OF_OBJECT)
		return message(L, which == OF_RESPONSE);
	run = script_way_at(L, "HTTPMessage", &side);
	return side ? &run->ctx->stream->res : &run->ctx->stream->req;
}

static struct slice name_at(lua_State *L, int index)
{
	struct slice name = script_text(L, index);

	luaL_argcheck(L, name.len && h1_is_token(name), index, "the name of a field is expected");
	return name;
}

/* What may stand in a head: no end of line, no control character. */
static struct slice clean_at(lua_State *L, int index)
{
	struct slice text = script_text(L, index);

	for (size_t i = 0; i < text.len; i++)
		luaL_argcheck(L, (unsigned char)text.ptr[i] >= ' ' || text.ptr[i] == '\t', index,
			      "there is a control character");
	return text;
}

static int must(lua_State *L, bool good)
{
	return good ? 0 : luaL_error(L, "the message cannot be changed so");
}

/* --- fields ----------------------------------------------------------------------------------- */

/* { name = { [0] = value, ... } } */
void script_push_headers(lua_State *L, const struct http_fields *f)
{
	lua_newtable(L);
	for (unsigned i = 0; i < f->count; i++) {
		if (!f->list[i].name.ptr)
			continue;
		luaL_checkstack(L, 4, NULL);
		lua_pushlstring(L, f->list[i].name.ptr, f->list[i].name.len);
		lua_pushvalue(L, -1);
		if (lua_rawget(L, -3) == LUA_TNIL) {
			lua_pop(L, 1);
			lua_newtable(L);
			lua_pushvalue(L, -2);
			lua_pushvalue(L, -2);
			lua_rawset(L, -5);
		}
		lua_rawgeti(L, -1, 0);
		lua_pushlstring(L, f->list[i].value.ptr, f->list[i].value.len);
		lua_rawseti(L, -3, lua_isnil(L, -2) ? 0 : (lua_Integer)lua_rawlen(L, -3) + 1);
		lua_pop(L, 3);
	}
}

static int get_headers(lua_State *L)
{
	script_push_headers(L, &message_of(L)->fields);
	return 1;
}

static int add_header(lua_State *L)
{
	struct http_msg *m = message_of(L);
	struct slice name = name_at(L, 2), value = clean_at(L, 3);

	return must(L, http_msg_add_field(m, name, value) &&
		       http_msg_target_follows(m, http_field_id(name), value));
}

static int set_header(lua_State *L)
{
	struct http_msg *m = message_of(L);
	struct slice name = name_at(L, 2), value = clean_at(L, 3);

	return must(L, http_msg_set_field(m, name, value) &&
		       http_msg_target_follows(m, http_field_id(name), value));
}

static int del_header(lua_State *L)
{
	http_msg_del_field(message_of(L), name_at(L, 2));
	return 0;
}

static int replace(lua_State *L, bool values)
{
	struct http_msg *m = message_of(L);
	struct slice name = name_at(L, 2), pattern = script_text(L, 3), to = clean_at(L, 4);
	char error[256];
	struct regex *re = regex_new(pattern, 0, error, sizeof(error));
	bool good;

	if (!re)
		return luaL_error(L, "%s", error);
	good = http_msg_replace(m, http_field_id(name), name, re, to, values);
	regex_free(&re);
	return must(L, good);
}

static int rep_header(lua_State *L)
{
	return replace(L, false);
}

static int rep_value(lua_State *L)
{
	return replace(L, true);
}

/* --- start lines ------------------------------------------------------------------------------ */

static struct slice target_at(lua_State *L, int index)
{
	struct slice text = clean_at(L, index);

	for (size_t i = 0; i < text.len; i++)
		luaL_argcheck(L, text.ptr[i] != ' ' && text.ptr[i] != '\t' && text.ptr[i] != 127,
			      index, "there is a blank");
	return text;
}

static int pushed(lua_State *L, bool good)
{
	lua_pushboolean(L, good);
	return 1;
}

static int set_method(lua_State *L)
{
	struct http_msg *m = message_of(L);

	return pushed(L, http_msg_set_method(m, name_at(L, 2)));
}

static int set_path(lua_State *L)
{
	struct http_msg *m = message_of(L);

	return pushed(L, http_msg_set_path(m, target_at(L, 2)));
}

static int set_query(lua_State *L)
{
	struct http_msg *m = message_of(L);

	return pushed(L, http_msg_set_query(m, target_at(L, 2)));
}

static int set_uri(lua_State *L)
{
	struct http_msg *m = message_of(L);

	return pushed(L, http_msg_set_uri(m, target_at(L, 2)));
}

static int set_status(lua_State *L)
{
	struct http_msg *m = message_of(L);
	lua_Integer status = luaL_checkinteger(L, 2);
	struct slice reason = lua_isnoneornil(L, 3) ? slice_none() : clean_at(L, 3);

	luaL_argcheck(L, status >= 100 && status <= 999, 2, "a status is expected");
	return must(L, http_msg_set_status(m, (unsigned)status, reason));
}

static int set_message_status(lua_State *L)
{
	set_status(L);
	return pushed(L, true);
}

/* { method, uri, version } or { version, code, reason } */
static int get_stline(lua_State *L)
{
	const struct http_msg *m = message_of(L);

	lua_createtable(L, 0, 3);
	lua_pushfstring(L, "HTTP/%d.%d", m->version / 10, m->version % 10);
	lua_setfield(L, -2, "version");
	if (m->flags & HTTP_MSG_RESPONSE) {
		lua_pushfstring(L, "%d", m->status);
		lua_setfield(L, -2, "code");
		script_set_text(L, "reason", m->reason);
	} else {
		script_set_text(L, "method", m->method_text);
		script_set_text(L, "uri", m->uri);
	}
	return 1;
}

/* --- the class -------------------------------------------------------------------------------- */

static const luaL_Reg request_methods[] = {
	{ "req_get_headers", get_headers }, { "req_add_header", add_header },
	{ "req_set_header", set_header }, { "req_del_header", del_header },
	{ "req_rep_header", rep_header }, { "req_rep_value", rep_value },
	{ "req_set_method", set_method }, { "req_set_path", set_path },
	{ "req_set_query", set_query }, { "req_set_uri", set_uri }, { NULL, NULL }
};

static const luaL_Reg response_methods[] = {
	{ "res_get_headers", get_headers }, { "res_add_header", add_header },
	{ "res_set_header", set_header }, { "res_del_header", del_header },
	{ "res_rep_header", rep_header }, { "res_rep_value", rep_value },
	{ "res_set_status", set_status }, { NULL, NULL }
};

static const luaL_Reg message_methods[] = {
	{ "get_headers", get_headers }, { "add_header", add_header },
	{ "set_header", set_header }, { "del_header", del_header },
	{ "rep_header", rep_header }, { "rep_value", rep_value },
	{ "set_method", set_method }, { "set_path", set_path }, { "set_query", set_query },
	{ "set_uri", set_uri }, { "set_status", set_message_status },
	{ "get_stline", get_stline }, { NULL, NULL }
};

void script_add_head_methods(lua_State *L)
{
	lua_pushinteger(L, OF_OBJECT);
	luaL_setfuncs(L, message_methods, 1);
}

void script_http_open(lua_State *L)
{
	static const luaL_Reg none[] = { { NULL, NULL } };

	script_class_new(L, "HTTP", none);
	luaL_getmetatable(L, "HTTP");
	lua_getfield(L, -1, "__index");
	lua_pushinteger(L, OF_REQUEST);
	luaL_setfuncs(L, request_methods, 1);
	lua_pushinteger(L, OF_RESPONSE);
	luaL_setfuncs(L, response_methods, 1);
	lua_pop(L, 2);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regex.c - class Regex: regular expressions of the program for scripts */
#include "base/regex.h"
#include "class_priv.h"
#include "state_priv.h"
#include "value_priv.h"

struct regex_object {
	struct regex *re;             /* owned */
};

/* Regex.new(pattern, case_sensitive): true and the object, or false and why not */
static int regex_object_new(lua_State *L)
{
	struct slice pattern = script_text(L, 1);
	struct regex_object *o;
	char error[512];

	luaL_checktype(L, 2, LUA_TBOOLEAN);
	lua_pushboolean(L, true);
	o = script_object_new(L, "Regex", sizeof(*o));
	o->re = regex_new(pattern, lua_toboolean(L, 2) ? 0 : REGEX_NOCASE, error, sizeof(error));
	if (o->re)
		return 2;
	lua_pushboolean(L, false);
	lua_pushstring(L, error);
	return 2;
}

static const struct regex *regex_at(lua_State *L)
{
	const struct regex *re = ((struct regex_object *)script_object(L, 1, "Regex"))->re;

	if (!re) /* a script has called __gc() */
		luaL_argerror(L, 1, "this regular expression is gone");
	return re;
}

static int regex_exec(lua_State *L)
{
	const struct regex *re = regex_at(L);

	lua_pushboolean(L, regex_match(re, script_text(L, 2)));
	return 1;
}

/* regex:match(text): whether it matches, and what did: the whole, then the groups */
static int regex_groups(lua_State *L)
{
	const struct regex *re = regex_at(L);
	struct slice groups[REGEX_GROUPS_MAX];
	bool found = regex_match_groups(re, script_text(L, 2), 0, groups);

	lua_pushboolean(L, found);
	lua_newtable(L);
	for (int i = 0; found && i < REGEX_GROUPS_MAX && !slice_is_none(groups[i]); i++) {
		lua_pushlstring(L, groups[i].ptr, groups[i].len);
		lua_rawseti(L, -2, i + 1);
	}
	return 2;
}

/* Of the object's bytes; of its table nothing is to be done. */
static int regex_gc(lua_State *L)
{
	struct regex_object *o = luaL_testudata(L, 1, "Regex");

	if (o && o->re)
		regex_free(&o->re);
	return 0;
}

void script_regex_open(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{ "exec", regex_exec }, { "match", regex_groups }, { NULL, NULL }
	};

	script_class_new(L, "Regex", methods);
	script_class_set_meta(L, "Regex", "__gc", regex_gc);
	lua_createtable(L, 0, 1);
	lua_pushcfunction(L, regex_object_new);
	lua_setfield(L, -2, "new");
	lua_setglobal(L, "Regex");
}

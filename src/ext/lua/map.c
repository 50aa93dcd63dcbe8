/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map.c - class Map: look-ups in map files; changes of maps and ACL files by their name */
#include "base/diag.h"
#include "class_priv.h"
#include "expr/pattern.h"
#include "room_priv.h"
#include "state_priv.h"
#include "value_priv.h"

struct map {
	const struct pattern_set *set; /* of the configuration, which outlives its scripts */
	enum pattern_method method;
};

/* Numbers that scripts of others may hold: as HAProxy counts them. */
static const struct {
	const char *name;
	int number;
	enum pattern_method method;   /* PATTERN_NONE: no map can be read so */
} methods[] = {
	{ "found", 0, PATTERN_NONE }, { "bool", 1, PATTERN_NONE }, { "int", 2, PATTERN_INT },
	{ "ip", 3, PATTERN_IP }, { "bin", 4, PATTERN_NONE }, { "len", 5, PATTERN_NONE },
	{ "str", 6, PATTERN_STR }, { "beg", 7, PATTERN_BEG }, { "sub", 8, PATTERN_SUB },
	{ "dir", 9, PATTERN_DIR }, { "dom", 10, PATTERN_DOM }, { "end", 11, PATTERN_END },
	{ "reg", 12, PATTERN_REG }, { "regm", 13, PATTERN_NONE },
};
#define METHODS ((lua_Integer)(sizeof(methods) / sizeof(*methods)))

/* Map.new(file [, method]): while the configuration is read, or in an init function */
static int map_new(lua_State *L)
{
	struct script_room *room = script_box_of(L)->room;
	struct diag_list diags;
	struct conf_line line = { .cfg = room->cfg, .diags = &diags, .place.file = "lua" };
	const char *name, *error = "out of memory";
	lua_Integer number = 6;
	const struct pattern_set *set;
	struct map *m;

	if (lua_gettop(L) < 1)
		return luaL_error(L, "'new' needs at least 1 argument.");
	name = luaL_checkstring(L, 1);
	if (lua_gettop(L) > 1)
		number = luaL_checkinteger(L, 2);
	if (number < 0 || number >= METHODS)
		return luaL_error(L, "'new' needs a valid match method.");
	if (methods[number].method == PATTERN_NONE)
		return luaL_error(L, "'new' doesn't support this match mode.");
	if (room->is_open)
		return luaL_error(L, "'new': map: cannot load map at runtime.");
	diag_list_init(&diags);
	set = pattern_map_take(&line, name, methods[number].method, &error);
	diag_list_fini(&diags);
	if (!set)
		return luaL_error(L, "'new': %s.", error);
	m = script_object_new(L, "Map", sizeof(*m));
	m->set = set;
	m->method = methods[number].method;
	return 1;
}

/* map:lookup(key), map:slookup(key); the upvalue tells whether "" stands for nil. */
static int map_lookup(lua_State *L)
{
	bool text = lua_toboolean(L, lua_upvalueindex(1));
	struct sample s = { .flags = 0 };
	struct pattern_match match;
	const struct map *m;
	struct arena arena;
	bool found = true;

	script_check_args(L, 2, text ? "slookup" : "lookup");
	m = script_object(L, 1, "Map");
	arena_init(&arena, 0);
	if (m->method == PATTERN_INT) {
		s.type = SMP_INT;
		s.integer = luaL_checkinteger(L, 2);
	} else {
		s.type = SMP_STR;
		s.text.ptr = luaL_checklstring(L, 2, &s.text.len);
		found = sample_cast(&s, pattern_method_type(m->method), &arena);
	}
	found = found && pattern_set_find(m->set, &s, &match);
	arena_fini(&arena);
	if (found)
		lua_pushlstring(L, match.value.ptr, match.value.len);
	else if (text)
		lua_pushliteral(L, "");
	else
		lua_pushnil(L);
	return 1;
}

/* --- changes ---------------------------------------------------------------------------------- */

/* The reference that the first argument names: of an ACL or of a map. Raises an error. */
static struct pattern_ref *ref_at(lua_State *L, const char *call, const char *kind)
{
	const struct config *cfg = script_box_of(L)->room->cfg;
	const char *name = luaL_checkstring(L, 1);
	struct pattern_ref *ref = pattern_ref_find(cfg, name, true);

	if (!ref)
		ref = pattern_ref_find(cfg, name, false);
	if (!ref)
		luaL_error(L, "'%s': unknown %s file '%s'", call, kind, name);
	return ref;
}

static int core_add_acl(lua_State *L)
{
	struct pattern_error error = { "" };
	struct slice key;

	script_check_args(L, 2, "add_acl");
	key = script_text(L, 2);
	if (!pattern_ref_insert(ref_at(L, "add_acl", "acl"), PATTERN_NOW, key, slice_none(),
				&error))
		return luaL_error(L, "'add_acl': %s.", error.text);
	return 0;
}

/* core.del_acl(name, key), core.del_map(name, key); the upvalue is the name. */
static int core_del(lua_State *L)
{
	const char *call = lua_tostring(L, lua_upvalueindex(1));
	struct slice key;

	script_check_args(L, 2, call);
	key = script_text(L, 2);
	pattern_ref_delete(ref_at(L, call, "acl"), PATTERN_NOW, key, 0);
	return 0;
}

/* core.set_map(name, key, value): replaces, or adds. */
static int core_set_map(lua_State *L)
{
	struct pattern_error error = { "" };
	struct slice key, value;
	struct pattern_ref *ref;

	script_check_args(L, 3, "set_map");
	key = script_text(L, 2);
	value = script_text(L, 3);
	ref = ref_at(L, "set_map", "map");
	if (pattern_ref_replace(ref, PATTERN_NOW, key, 0, value, &error))
		return 0;
	if (error.text[0] || !pattern_ref_insert(ref, PATTERN_NOW, key, value, &error))
		return luaL_error(L, "'set_map': %s.", error.text);
	return 0;
}

/* --- the tables ------------------------------------------------------------------------------- */

static void add_class(lua_State *L)
{
	static const luaL_Reg none[] = { { NULL, NULL } };

	script_class_new(L, "Map", none);
	luaL_getmetatable(L, "Map");
	lua_getfield(L, -1, "__index");
	for (int i = 0; i < 2; i++) {
		lua_pushboolean(L, i);
		lua_pushcclosure(L, map_lookup, 1);
		lua_setfield(L, -2, i ? "slookup" : "lookup");
	}
	lua_pop(L, 2);
}

void script_map_open(lua_State *L)
{
	static const char *const deletes[] = { "del_acl", "del_map" };

	add_class(L);
	lua_newtable(L);
	for (lua_Integer i = 0; i < METHODS; i++) {
		lua_pushinteger(L, methods[i].number);
		lua_setfield(L, -2, methods[i].name);
		lua_pushfstring(L, "_%s", methods[i].name);
		lua_pushinteger(L, methods[i].number);
		lua_settable(L, -3);
	}
	lua_pushcfunction(L, map_new);
	lua_setfield(L, -2, "new");
	lua_setglobal(L, "Map");
	lua_getglobal(L, "core");
	lua_pushcfunction(L, core_add_acl);
	lua_setfield(L, -2, "add_acl");
	lua_pushcfunction(L, core_set_map);
	lua_setfield(L, -2, "set_map");
	for (int i = 0; i < 2; i++) {
		lua_pushstring(L, deletes[i]);
		lua_pushcclosure(L, core_del, 1);
		lua_setfield(L, -2, deletes[i]);
	}
	lua_pop(L, 1);
}

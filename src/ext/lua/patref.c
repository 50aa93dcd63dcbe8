/* SPDX-License-Identifier: GPL-2.0-or-later */
/* patref.c - class Patref: the entries of a map or of an ACL file, seen and changed by scripts
 *
 * Between prepare() and commit() or giveup(), an object refers to its own version, which is not
 * visible elsewhere. The remains of a forgotten version are removed by the next commit.
 */
#include "beside_priv.h"
#include "class_priv.h"
#include "expr/pattern.h"
#include "room_priv.h"
#include "state_priv.h"
#include "value_priv.h"

struct patref {
	struct pattern_ref *ref;
	uint32_t version;             /* PATTERN_NOW, or what prepare() has made */
};

static struct patref *patref_at(lua_State *L)
{
	return script_object(L, 1, "Patref");
}

/* What methods give: true; or nil and why not. */
static int push_done(lua_State *L, bool good, const char *why)
{
	if (good) {
		lua_pushboolean(L, true);
		return 1;
	}
	lua_pushnil(L);
	lua_pushstring(L, why);
	return 2;
}

/* core.get_patref(name) */
static int core_get_patref(lua_State *L)
{
	const struct config *cfg = script_box_of(L)->room->cfg;
	const char *name = luaL_checkstring(L, 1);
	struct pattern_ref *ref = NULL;
	struct patref *p;

	if (*name != '#')
		ref = pattern_ref_find(cfg, name, false);
	if (!ref && *name != '#')
		ref = pattern_ref_find(cfg, name, true);
	if (!ref)
		return luaL_error(L, "'get_patref': unknown pattern reference '%s'", name);
	p = script_object_new(L, "Patref", sizeof(*p));
	p->ref = ref;
	p->version = PATTERN_NOW;
	return 1;
}

static int patref_get_name(lua_State *L)
{
	lua_pushstring(L, pattern_ref_file(patref_at(L)->ref));
	return 1;
}

static int patref_is_map(lua_State *L)
{
	lua_pushboolean(L, pattern_ref_is_map(patref_at(L)->ref));
	return 1;
}

/* --- versions --------------------------------------------------------------------------------- */

static int patref_purge(lua_State *L)
{
	pattern_ref_clear(patref_at(L)->ref, PATTERN_NOW);
	lua_pushboolean(L, true);
	return 1;
}

static int patref_prepare(lua_State *L)
{
	struct patref *p = patref_at(L);
	uint32_t version;

	if (p->version != PATTERN_NOW)
		return 0;
	version = pattern_ref_prepare(p->ref);
	if (!version)
		return luaL_error(L, "out of memory");
	p->version = version;
	return 0;
}

static int patref_giveup(lua_State *L)
{
	struct patref *p = patref_at(L);

	if (p->version != PATTERN_NOW)
		pattern_ref_clear(p->ref, p->version);
	p->version = PATTERN_NOW;
	return 0;
}

static int patref_commit(lua_State *L)
{
	struct patref *p = patref_at(L);
	uint32_t version = p->version;

	if (version == PATTERN_NOW)
		return push_done(L, false, "Nothing to do");
	p->version = PATTERN_NOW;
	if (pattern_ref_commit(p->ref, version))
		return push_done(L, true, NULL);
	pattern_ref_clear(p->ref, version);
	return push_done(L, false, "Commit failed");
}

/* --- entries ---------------------------------------------------------------------------------- */

/* patref:add(key [, value]) */
static int patref_add(lua_State *L)
{
	struct patref *p = patref_at(L);
	struct slice key = script_text(L, 2), value = slice_none();
	struct pattern_error error = { "" };

	if (!lua_isnoneornil(L, 3))
		value = script_text(L, 3);
	return push_done(L, pattern_ref_insert(p->ref, p->version, key, value, &error),
			 error.text);
}

/* patref:add_bulk{ key = value }, of ACLs a list of keys */
static int patref_add_bulk(lua_State *L)
{
	struct patref *p = patref_at(L);
	bool is_map = pattern_ref_is_map(p->ref);
	struct pattern_error error = { "" };

	luaL_argcheck(L, lua_istable(L, 2), 2, "argument is expected to be a table");
	for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1))
		luaL_argcheck(L, lua_type(L, -1) == LUA_TSTRING &&
			      (!is_map || lua_type(L, -2) == LUA_TSTRING), 2, "a table of "
			      "strings is expected");
	for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
		struct slice text = script_text(L, -1);

		if (!pattern_ref_insert(p->ref, p->version, is_map ? script_text(L, -2) : text,
					is_map ? text : slice_none(), &error))
			return push_done(L, false, error.text);
	}
	return push_done(L, true, NULL);
}

static int patref_del(lua_State *L)
{
	struct patref *p = patref_at(L);

	lua_pushboolean(L, pattern_ref_delete(p->ref, p->version, script_text(L, 2), 0));
	return 1;
}

/* patref:set(key, value [, force]) */
static int patref_set(lua_State *L)
{
	struct patref *p = patref_at(L);
	struct slice key = script_text(L, 2), value = script_text(L, 3);
	struct pattern_error error = { "" };

	if (pattern_ref_replace(p->ref, p->version, key, 0, value, &error))
		return push_done(L, true, NULL);
	if (error.text[0])
		return push_done(L, false, error.text);
	if (!lua_toboolean(L, 4))
		return push_done(L, false, "entry not found");
	return push_done(L, pattern_ref_insert(p->ref, p->version, key, value, &error),
			 error.text);
}

/* --- as a table ------------------------------------------------------------------------------- */

/* Methods (the upvalue), then entries: the value, or true of one that has none. */
static int patref_index(lua_State *L)
{
	struct slice key, text, value;
	struct patref *p;
	uint32_t at = 0;

	lua_pushvalue(L, 2);
	lua_rawget(L, lua_upvalueindex(1));
	if (!lua_isnil(L, -1) || lua_type(L, 2) != LUA_TSTRING)
		return 1;
	p = patref_at(L);
	key = script_text(L, 2);
	if (!pattern_ref_next_entry(p->ref, p->version, &at, &key, &text, &value))
		return 1;
	if (slice_is_none(value))
		lua_pushboolean(L, true);
	else
		lua_pushlstring(L, value.ptr, value.len);
	return 1;
}

/* Fields are entries: these are changed by methods. */
static int patref_newindex(lua_State *L)
{
	return 0;
}

/* Upvalues: the object, the next number. */
static int entries_next(lua_State *L)
{
	struct patref *p = lua_touserdata(L, lua_upvalueindex(1));
	uint32_t at = (uint32_t)lua_tointeger(L, lua_upvalueindex(2));
	struct slice text, value;

	if (!pattern_ref_next_entry(p->ref, p->version, &at, NULL, &text, &value)) {
		lua_pushnil(L);
		return 1;
	}
	lua_pushinteger(L, at);
	lua_replace(L, lua_upvalueindex(2));
	lua_pushlstring(L, text.ptr, text.len);
	if (slice_is_none(value))
		lua_pushnil(L);
	else
		lua_pushlstring(L, value.ptr, value.len);
	return 2;
}

static int patref_pairs(lua_State *L)
{
	patref_at(L);
	lua_rawgeti(L, 1, 0);
	lua_pushinteger(L, 0);
	lua_pushcclosure(L, entries_next, 2);
	return 1;
}

/* patref:event_sub(types, function) */
static int patref_event_sub(lua_State *L)
{
	return script_subscribe(L, SCRIPT_EVENTS_PATTERN, patref_at(L)->ref, 2);
}

void script_patref_open(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{ "get_name", patref_get_name }, { "is_map", patref_is_map },
		{ "purge", patref_purge }, { "prepare", patref_prepare },
		{ "commit", patref_commit }, { "giveup", patref_giveup }, { "add", patref_add },
		{ "add_bulk", patref_add_bulk }, { "del", patref_del }, { "set", patref_set },
		{ "event_sub", patref_event_sub }, { NULL, NULL }
	};

	script_class_new(L, "Patref", methods);
	script_class_set_meta(L, "Patref", "__pairs", patref_pairs);
	script_class_set_meta(L, "Patref", "__newindex", patref_newindex);
	script_class_set_meta(L, "Patref", "__index", patref_index);
	lua_getglobal(L, "core");
	lua_pushcfunction(L, core_get_patref);
	lua_setfield(L, -2, "get_patref");
	lua_pop(L, 1);
}

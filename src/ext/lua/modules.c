/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules.c - modules in C that scripts require: loaded so that their names stay theirs
 *
 * Lua's own loader would look up a module's undefined names in the program first, which exports its
 * functions for dumps: LuaSocket has its own socket_connect(), lua-cjson its own strbuf_init().
 * Here a module's own names come first. LuaSocket blocks in system calls, and with it everything
 * that its thread serves: after start-up its blocking functions are refused.
 */
#include <dlfcn.h>
#include <lualib.h>
#include "room_priv.h"
#include "state_priv.h"

/* The sanitizers know no libraries loaded so. */
#if defined(RTLD_DEEPBIND) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)
#else
#define OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL)
#endif

/* --- what waits ------------------------------------------------------------------------------- */

/* Upvalues: the function, its name. */
static int guarded(lua_State *L)
{
	if (script_box_of(L)->room->is_open)
		return luaL_error(L, "%s() of LuaSocket stops all that this thread serves: use "
				  "core.tcp(), core.httpclient() or core.sleep()",
				  lua_tostring(L, lua_upvalueindex(2)));
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
	return lua_gettop(L);
}

/* Replaces functions of the table on top. */
static void guard(lua_State *L, const char *prefix, const char *const *names)
{
	for (; *names; names++) {
		if (lua_getfield(L, -1, *names) != LUA_TFUNCTION) {
			lua_pop(L, 1);
			continue;
		}
		lua_pushfstring(L, "%s%s", prefix, *names);
		lua_pushcclosure(L, guarded, 2);
		lua_setfield(L, -2, *names);
	}
}

/* luaopen_socket_core, the upvalue, and what is made of its result */
static int open_socket(lua_State *L)
{
	static const char *const names[] = {
		"tcp", "tcp4", "tcp6", "udp", "udp4", "udp6", "select", "sleep", NULL
	};
	static const char *const dns[] = {
		"toip", "tohostname", "getaddrinfo", "getnameinfo", NULL
	};

	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, 1);
	if (!lua_istable(L, -1))
		return 1;
	guard(L, "socket.", names);
	if (lua_getfield(L, -1, "dns") == LUA_TTABLE)
		guard(L, "socket.dns.", dns);
	lua_pop(L, 1);
	return 1;
}

/* --- loading ---------------------------------------------------------------------------------- */

/* Pushes the function <name> of the library at <path>; NULL, or what is wrong. */
static const char *push_function(lua_State *L, const char *path, const char *name)
{
	void *library = dlopen(path, OPEN_FLAGS), *function;

	if (!library)
		return dlerror();
	function = dlsym(library, name); /* stays loaded: other states may have it too */
	if (!function)
		return dlerror();
	lua_pushcfunction(L, (lua_CFunction)(uintptr_t)function);
	return NULL;
}

/* "luaopen_a_b" of "a.b", or of "version-a.b" */
static const char *push_open_name(lua_State *L, const char *module)
{
	const char *mark = strchr(module, '-');

	luaL_gsub(L, mark ? mark + 1 : module, ".", "_");
	lua_pushfstring(L, "luaopen_%s", lua_tostring(L, -1));
	return lua_tostring(L, -1);
}

/* A searcher: package.searchpath(<file>, package.cpath), then the function of the module at 1.
 * Pushes what searchers return: a function and its file, or why there is none.
 */
static int search(lua_State *L, const char *file)
{
	const char *name = luaL_checkstring(L, 1), *path, *wrong;

	lua_getfield(L, lua_upvalueindex(1), "searchpath");
	lua_pushstring(L, file);
	lua_getfield(L, lua_upvalueindex(1), "cpath");
	lua_call(L, 2, 2);
	if (lua_isnil(L, -2))
		return 1;
	lua_pop(L, 1);
	path = lua_tostring(L, -1);
	wrong = push_function(L, path, push_open_name(L, name));
	if (wrong && strcmp(file, name) != 0) {
		lua_pushfstring(L, "no module '%s' in file '%s'", name, path);
		return 1;
	}
	if (wrong)
		return luaL_error(L, "error loading module '%s' from file '%s':\n\t%s", name, path,
				  wrong);
	if (strcmp(name, "socket.core") == 0)
		lua_pushcclosure(L, open_socket, 1);
	lua_pushstring(L, path);
	return 2;
}

static int search_module(lua_State *L)
{
	return search(L, luaL_checkstring(L, 1));
}

/* A library of several modules: that of "a" has "a.b" too. */
static int search_root(lua_State *L)
{
	const char *name = luaL_checkstring(L, 1), *dot = strchr(name, '.');

	return dot ? search(L, lua_pushlstring(L, name, (size_t)(dot - name))) : 0;
}

/* package.loadlib(path, function) */
static int load_library(lua_State *L)
{
	const char *path = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2), *wrong;
	bool all = *name == '*';
	void *library = dlopen(path, OPEN_FLAGS | (all ? RTLD_GLOBAL : 0));

	wrong = !library ? dlerror() : all ? NULL : push_function(L, path, name);
	if (wrong) {
		lua_pushnil(L);
		lua_pushstring(L, wrong);
		lua_pushstring(L, library ? "init" : "open");
		return 3;
	}
	if (all)
		lua_pushboolean(L, true);
	return 1;
}

void script_modules_open(lua_State *L)
{
	static const lua_CFunction searchers[] = { search_module, search_root };

	if (lua_getglobal(L, LUA_LOADLIBNAME) == LUA_TTABLE &&
	    lua_getfield(L, -1, "searchers") == LUA_TTABLE) {
		for (int i = 0; i < 2; i++) { /* behind those of preloaded and of Lua's files */
			lua_pushvalue(L, -2);
			lua_pushcclosure(L, searchers[i], 1);
			lua_rawseti(L, -2, i + 3);
		}
		lua_pushcfunction(L, load_library);
		lua_setfield(L, -3, "loadlib");
	}
	lua_settop(L, 0);
}

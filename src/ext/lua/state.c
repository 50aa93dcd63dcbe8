/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state.c - the states of Lua: making one, its memory, its libraries, its classes */
#include <lualib.h>
#include <stdlib.h>
#include "base/bug.h"
#include "core/lock.h"
#include "core/thread.h"
#include "room_priv.h"
#include "run_priv.h"
#include "state_priv.h"

static const luaL_Reg libs[] = {
	{ LUA_TABLIBNAME, luaopen_table }, { LUA_IOLIBNAME, luaopen_io },
	{ LUA_OSLIBNAME, luaopen_os }, { LUA_STRLIBNAME, luaopen_string },
	{ LUA_MATHLIBNAME, luaopen_math }, { LUA_UTF8LIBNAME, luaopen_utf8 },
	{ LUA_LOADLIBNAME, luaopen_package }, { LUA_DBLIBNAME, luaopen_debug },
};

/* --- memory ----------------------------------------------------------------------------------- */

#define CREDIT 16384        /* taken of tune.lua.maxmem in one step: threads seldom meet there */
/* Bytes of small blocks that a state keeps for its next objects: none where they are watched. */
#ifdef __SANITIZE_ADDRESS__
#define SPARE_MAX 0
#else
#define SPARE_MAX 131072
#endif
#define STEP 16             /* sizes of small blocks */

/* All states of a configuration share tune.lua.maxmem. */
static bool reserve(struct script_room *room, size_t len)
{
	uint64_t used = __atomic_add_fetch(&room->memory, len, __ATOMIC_RELAXED);

	SHARED_WRITE(process);
	if (!room->maxmem_mb || used <= room->maxmem_mb << 20)
		return true;
	__atomic_sub_fetch(&room->memory, len, __ATOMIC_RELAXED);
	return false;
}

static bool charge(struct script_box *box, size_t len)
{
	if (box->credit < len) {
		size_t missing = len - box->credit;

		if (reserve(box->room, missing + CREDIT))
			box->credit += missing + CREDIT;
		else if (reserve(box->room, missing))
			box->credit += missing;
		else
			return false;
	}
	box->credit -= len;
	box->allocated += len;
	return true;
}

static void discharge(struct script_box *box, size_t len)
{
	box->credit += len;
	if (box->credit <= 4 * CREDIT)
		return;
	SHARED_WRITE(process);
	__atomic_sub_fetch(&box->room->memory, box->credit - CREDIT, __ATOMIC_RELAXED);
	box->credit = CREDIT;
}

/* A block of at least <len> bytes: small ones are rounded up, and come from those kept. */
static void *memory_take(struct script_box *box, size_t len)
{
	size_t class = (len + STEP - 1) / STEP;
	void **p;

	if (class >= SCRIPT_SPARES)
		return malloc(len);
	p = box->spares[class];
	if (!p)
		return malloc(class * STEP);
	box->spares[class] = *p;
	box->spare_bytes -= class * STEP;
	return p;
}

static void memory_give(struct script_box *box, void *ptr, size_t len)
{
	size_t class = (len + STEP - 1) / STEP;
	void **p = ptr;

	if (!class || class >= SCRIPT_SPARES || box->spare_bytes + class * STEP > SPARE_MAX) {
		free(ptr);
		return;
	}
	*p = box->spares[class];
	box->spares[class] = p;
	box->spare_bytes += class * STEP;
}

static void *memory_resize(struct script_box *box, void *ptr, size_t before, size_t after)
{
	size_t was = (before + STEP - 1) / STEP, class = (after + STEP - 1) / STEP;
	void *p;

	if (was >= SCRIPT_SPARES && class >= SCRIPT_SPARES)
		return realloc(ptr, after);
	if (was == class)
		return ptr;
	p = memory_take(box, after);
	if (!p)
		return after < before ? ptr : NULL;
	memcpy(p, ptr, before < after ? before : after);
	memory_give(box, ptr, before);
	return p;
}

/* Under the lock of the state. */
static void *allocate(void *ud, void *ptr, size_t before, size_t after)
{
	struct script_box *box = ud;
	size_t old = ptr ? before : 0;
	void *p;

	if (!after) {
		if (ptr)
			memory_give(box, ptr, old);
		discharge(box, old);
		return NULL;
	}
	if (after > old && !charge(box, after - old))
		return NULL;
	p = ptr ? memory_resize(box, ptr, old, after) : memory_take(box, after);
	if (!p)
		discharge(box, after - old);
	else if (after < old)
		discharge(box, old - after);
	return p;
}

static void free_spares(struct script_box *box)
{
	for (unsigned i = 0; i < SCRIPT_SPARES; i++) {
		void **p = box->spares[i];

		while (p) {
			void **next = *p;

			free(p);
			p = next;
		}
	}
}

/* --- libraries -------------------------------------------------------------------------------- */

bool script_libs_parse(const char *word, unsigned *missing)
{
	*missing = strcmp(word, "none") == 0 ? ~0u : 0;
	if (*missing || strcmp(word, "all") == 0)
		return true;
	*missing = ~0u;
	while (*word) {
		size_t len = strcspn(word, ","), i = 0;

		while (i < ARRAY_LEN(libs) && (strlen(libs[i].name) != len ||
					       memcmp(libs[i].name, word, len) != 0))
			i++;
		if (i == ARRAY_LEN(libs))
			return false;
		*missing &= ~(1u << i);
		word += len + (word[len] == ',');
	}
	return true;
}

void script_prepend_path(lua_State *L, const struct script_path *p)
{
	if (lua_getglobal(L, LUA_LOADLIBNAME) == LUA_TTABLE) {
		lua_getfield(L, -1, p->type);
		lua_pushfstring(L, "%s;%s", p->text, lua_tostring(L, -1));
		lua_setfield(L, -3, p->type);
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
}

/* --- states ----------------------------------------------------------------------------------- */

static lua_CFunction open_classes;

void script_set_classes(lua_CFunction open)
{
	open_classes = open;
}

static int open_all(lua_State *L)
{
	struct script_box *box = script_box_of(L);
	const struct script_path *p;

	luaL_requiref(L, LUA_GNAME, luaopen_base, 1);
	luaL_requiref(L, LUA_COLIBNAME, luaopen_coroutine, 1);
	for (size_t i = 0; i < ARRAY_LEN(libs); i++)
		if (!(box->room->libs & 1u << i))
			luaL_requiref(L, libs[i].name, libs[i].func, 1);
	lua_settop(L, 0);
	script_modules_open(L);
	open_classes(L);
	for (p = box->room->paths; p; p = p->next)
		script_prepend_path(L, p);
	return 0;
}

void script_box_free(struct script_box **at)
{
	struct script_box *box = *at;

	*at = NULL;
	if (!box)
		return;
	if (box->L)
		lua_close(box->L);
	free_spares(box);
	expr_runtime_free(&box->exprs);
	pthread_mutex_destroy(&box->lock);
	free(box);
}

struct script_box *script_box_new(struct script_room *room, unsigned thread)
{
	struct script_box *box = calloc(1, sizeof(*box));
	pthread_mutexattr_t attr;

	if (!box)
		return NULL;
	box->room = room;
	box->thread = thread;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&box->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	box->exprs = expr_runtime_new(room->cfg);
	box->L = lua_newstate(allocate, box);
	if (box->L && box->exprs) {
		script_watch(box->L);
		lua_pushcfunction(box->L, open_all);
		if (lua_pcall(box->L, 0, 0, 0) == LUA_OK)
			return box;
	}
	script_box_free(&box);
	return NULL;
}

void script_box_lock(struct script_box *box)
{
	if (!box->thread) /* the states of threads have theirs for themselves */
		SHARED_WRITE(process);
	pthread_mutex_lock(&box->lock);
}

void script_box_unlock(struct script_box *box)
{
	pthread_mutex_unlock(&box->lock);
}

struct script_box *script_box_of(lua_State *L)
{
	void *ud;

	lua_getallocf(L, &ud);
	return ud;
}

struct script_box *script_box_for(const struct script_function *fn, int *ref)
{
	unsigned at = fn->shared ? 0 : thread_id;

	if (at >= fn->ref_count || fn->refs[at] == LUA_NOREF)
		return NULL;
	*ref = fn->refs[at];
	return fn->shared ? fn->shared : fn->room->boxes[at];
}

/* --- classes ---------------------------------------------------------------------------------- */

static int class_name(lua_State *L)
{
	lua_pushfstring(L, "HAProxy class %s", lua_tostring(L, lua_upvalueindex(1)));
	return 1;
}

void script_class_new(lua_State *L, const char *name, const luaL_Reg *methods)
{
	luaL_newmetatable(L, name);
	lua_pushstring(L, name);
	lua_pushcclosure(L, class_name, 1);
	lua_setfield(L, -2, "__tostring");
	lua_newtable(L);
	luaL_setfuncs(L, methods, 0);
	lua_setfield(L, -2, "__index");
	lua_pop(L, 1);
}

void script_class_add(lua_State *L, const char *name, const char *method, lua_CFunction call)
{
	int top = lua_gettop(L);

	luaL_getmetatable(L, name);
	lua_getfield(L, -1, "__index");
	if (lua_iscfunction(L, -1)) /* a function whose upvalue they are */
		lua_getupvalue(L, -1, 1);
	lua_pushcfunction(L, call);
	lua_setfield(L, -2, method);
	lua_settop(L, top);
}

void script_class_set(lua_State *L, const char *name)
{
	luaL_setmetatable(L, name);
}

void script_class_set_meta(lua_State *L, const char *name, const char *field, lua_CFunction call)
{
	luaL_getmetatable(L, name);
	lua_getfield(L, -1, "__index");
	lua_pushcclosure(L, call, 1);
	lua_setfield(L, -2, field);
	lua_pop(L, 1);
}

int script_index(lua_State *L, const char *class, const struct script_field *fields)
{
	const char *key;

	lua_pushvalue(L, 2);
	if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL || lua_type(L, 2) != LUA_TSTRING)
		return 1;
	key = lua_tostring(L, 2);
	while (fields->name && strcmp(fields->name, key) != 0)
		fields++;
	if (!fields->name)
		return 1;
	fields->push(L, script_self(L, 1, class));
	lua_pushvalue(L, 2);
	lua_pushvalue(L, -2);
	lua_rawset(L, 1);
	return 1;
}

void *script_object_new(lua_State *L, const char *name, size_t size)
{
	void *bytes;

	lua_createtable(L, 1, 0);
	bytes = lua_newuserdatauv(L, size, 0);
	memset(bytes, 0, size);
	luaL_setmetatable(L, name);
	lua_rawseti(L, -2, 0);
	luaL_setmetatable(L, name);
	return bytes;
}

void *script_object(lua_State *L, int index, const char *name)
{
	void *bytes = NULL;

	if (lua_type(L, index) == LUA_TTABLE) {
		lua_rawgeti(L, index, 0);
		bytes = luaL_testudata(L, -1, name);
		lua_pop(L, 1);
	}
	if (!bytes)
		luaL_argerror(L, index, lua_pushfstring(L, "an object of class %s is expected",
							name));
	return bytes;
}

void script_check_args(lua_State *L, int count, const char *name)
{
	if (lua_gettop(L) != count)
		luaL_error(L, "'%s' needs %d arguments", name, count);
}

/* Fields of objects can be overwritten: what is no handle is not taken for one. NULL then. */
static struct script_handle *handle_on_top(lua_State *L)
{
	if (lua_type(L, -1) != LUA_TUSERDATA ||
	    lua_rawlen(L, -1) != sizeof(struct script_handle))
		return NULL;
	if (!lua_getmetatable(L, -1))
		return lua_touserdata(L, -1);
	lua_pop(L, 1);
	return NULL;
}

struct script_run *script_self(lua_State *L, int index, const char *name)
{
	struct script_handle *h = NULL;

	luaL_checktype(L, index, LUA_TTABLE);
	if (lua_getmetatable(L, index)) {
		luaL_getmetatable(L, name);
		if (lua_rawequal(L, -1, -2)) {
			lua_rawgeti(L, index, 0);
			h = handle_on_top(L);
			lua_pop(L, 1);
		}
		lua_pop(L, 2);
	}
	if (!h)
		luaL_argerror(L, index, lua_pushfstring(L, "an object of class %s is expected",
							name));
	if (!h->run || !h->run->ctx)
		luaL_error(L, "this object of class %s has expired", name);
	if (h->run->thread != thread_id)
		luaL_error(L, "this object of class %s is of another thread", name);
	return h->run;
}

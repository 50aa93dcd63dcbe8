/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state_priv.h - states of Lua, and objects and classes in them (state.c)
 *
 * A function that takes a lua_State may raise an error of Lua, which jumps over C frames: nothing
 * is held there that would leak. Everything else is called from outside and protects itself.
 * Threads: that of the state, or any under its lock.
 */
#ifndef SCRIPT_STATE_PRIV_H
#define SCRIPT_STATE_PRIV_H

#include <lauxlib.h>
#include <lua.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct expr_runtime;
struct script_function;
struct script_path;
struct script_room;
struct script_run;

/* A coroutine whose call is over, for the next one. */
struct script_spare {
	lua_State *co;
	int ref, handle_ref;          /* in the registry */
};

#define SCRIPT_SPARES 33 /* small blocks of memory: up to 512 bytes, in steps of 16 */
#define SCRIPT_SPARE_CALLS 16

/* One state of Lua. */
struct script_box {
	lua_State *L;
	struct script_room *room;
	pthread_mutex_t lock;         /* recursive: a script may evaluate what calls another */
	unsigned thread;              /* core.thread; 0: the shared one */
	struct script_run *running;   /* under the lock */
	struct expr_runtime *exprs;
	int method_ref;               /* in the registry: what callbacks of filters are called by */
	bool is_loading;
	bool is_done;                 /* core.done() without a run: start-up goes on */
	size_t credit;                /* bytes taken of tune.lua.maxmem, not in use */
	size_t spare_bytes;
	uint64_t allocated;           /* bytes in all, freed ones too */
	void *spares[SCRIPT_SPARES];  /* free blocks of each size: a list */
	struct script_spare spare_calls[SCRIPT_SPARE_CALLS];
	unsigned spare_call_count;
};

/* What opens the classes of a new state. Once, before any is made. */
void script_set_classes(lua_CFunction open);
struct script_box *script_box_new(struct script_room *room, unsigned thread);
/* NULLs the pointer; harmless when it is. */
void script_box_free(struct script_box **at);
/* The lock of a state: recursive, held while a piece of a script runs. */
void script_box_lock(struct script_box *box);
void script_box_unlock(struct script_box *box);
struct script_box *script_box_of(lua_State *L);
/* The box where <fn> is for this thread, and its reference. NULL: there is none. */
struct script_box *script_box_for(const struct script_function *fn, int *ref);
bool script_libs_parse(const char *word, unsigned *missing);
/* modules.c: how `require` loads modules in C. In a new state, whose stack it clears. */
void script_modules_open(lua_State *L);
void script_prepend_path(lua_State *L, const struct script_path *p);
/* A class: a table of methods that objects of this name have. */
void script_class_new(lua_State *L, const char *name, const luaL_Reg *methods);
/* Gives it a field of its metatable (`__index` or the like): a function whose upvalue is the
 * table of methods. `__index` last.
 */
void script_class_set_meta(lua_State *L, const char *name, const char *field, lua_CFunction call);
/* One more method of a class. */
void script_class_add(lua_State *L, const char *name, const char *method, lua_CFunction call);
/* Fields of objects of calls that are made when a script reads them first. */
struct script_field {
	const char *name;             /* NULL ends the list */
	void (*push)(lua_State *L, struct script_run *run);
};
/* What `__index` of a class does whose upvalue is the table of methods: a method, or a field. */
int script_index(lua_State *L, const char *class, const struct script_field *fields);
/* Makes the table on the stack one. */
void script_class_set(lua_State *L, const char *name);
/* Pushes an object that outlives calls: a table whose [0] are <size> bytes, zeroed. Returns them;
 * they live as long as the object.
 */
void *script_object_new(lua_State *L, const char *name, size_t size);
/* The bytes of the object at <index>; raises an error when it is none of this class. */
void *script_object(lua_State *L, int index, const char *name);
/* Raises an error unless the call has so many arguments, its object being one. */
void script_check_args(lua_State *L, int count, const char *name);
/* The run behind the object at <index>; raises an error when it is over. */
struct script_run *script_self(lua_State *L, int index, const char *name);

#endif

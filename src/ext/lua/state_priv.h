/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state_priv.h - Lua states, and the objects and classes in them (state.c)
 *
 * A function that takes a lua_State may raise a Lua error, which jumps over C frames: it must hold
 * nothing there that would leak. All other functions are called from outside and handle errors
 * themselves.
 * Threads: the state's, or any that holds its lock.
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

/* A coroutine whose call is over, kept for the next call. */
struct script_spare {
	lua_State *co;
	int ref, handle_ref;          /* in the registry */
};

#define SCRIPT_SPARES 33 /* free lists of small blocks: up to 512 bytes, in steps of 16 */
#define SCRIPT_SPARE_CALLS 16

/* A Lua state. */
struct script_box {
	lua_State *L;
	struct script_room *room;
	/* recursive: a script may evaluate an expression that calls another */
	pthread_mutex_t lock;
	unsigned thread;              /* core.thread; 0: the shared one */
	struct script_run *running;   /* under the lock */
	struct expr_runtime *exprs;
	/* in the registry: the function through which filter callbacks are called */
	int method_ref;
	bool is_loading;
	bool is_done;                 /* core.done() without a run: start-up continues */
	size_t credit;                /* bytes reserved from tune.lua.maxmem but not in use */
	size_t spare_bytes;
	uint64_t allocated;           /* total bytes, including those freed again */
	void *spares[SCRIPT_SPARES];  /* a list of free blocks for each size */
	struct script_spare spare_calls[SCRIPT_SPARE_CALLS];
	unsigned spare_call_count;
};

/* Sets the function that opens the classes of a new state. Must be called once, before any state is
 * created.
 */
void script_set_classes(lua_CFunction open);
struct script_box *script_box_new(struct script_room *room, unsigned thread);
/* Frees the box and sets the pointer to NULL; harmless if it is NULL. */
void script_box_free(struct script_box **at);
/* Lock and unlock a state: recursive, held while a piece of a script runs. */
void script_box_lock(struct script_box *box);
void script_box_unlock(struct script_box *box);
struct script_box *script_box_of(lua_State *L);
/* Returns the box that has <fn> for this thread, and the function's reference. Returns NULL: none.
 */
struct script_box *script_box_for(const struct script_function *fn, int *ref);
bool script_libs_parse(const char *word, unsigned *missing);
/* modules.c: sets how `require` loads C modules in a new state, whose stack it clears. */
void script_modules_open(lua_State *L);
void script_prepend_path(lua_State *L, const struct script_path *p);
/* Creates a class: the table of methods of objects with this name. */
void script_class_new(lua_State *L, const char *name, const luaL_Reg *methods);
/* Sets a field of its metatable (`__index` or similar) to a function with the table of methods as
 * upvalue. `__index` must be last.
 */
void script_class_set_meta(lua_State *L, const char *name, const char *field, lua_CFunction call);
/* Adds a method to a class. */
void script_class_add(lua_State *L, const char *name, const char *method, lua_CFunction call);
/* Fields of call objects that are created when a script first reads them. */
struct script_field {
	const char *name;             /* NULL ends the list */
	void (*push)(lua_State *L, struct script_run *run);
};
/* Implements `__index` of a class, with the table of methods as upvalue: returns a method or a
 * field.
 */
int script_index(lua_State *L, const char *class, const struct script_field *fields);
/* Makes the table on top of the stack an object of the class. */
void script_class_set(lua_State *L, const char *name);
/* Pushes an object that outlives calls: a table whose [0] is <size> zeroed bytes. Returns these
 * bytes; they live as long as the object.
 */
void *script_object_new(lua_State *L, const char *name, size_t size);
/* Returns the bytes of the object at <index>; raises an error if it is not of this class. */
void *script_object(lua_State *L, int index, const char *name);
/* Raises an error unless the call has <count> arguments, including its object. */
void script_check_args(lua_State *L, int count, const char *name);
/* Returns the run of the object at <index>; raises an error if the run is over. */
struct script_run *script_self(lua_State *L, int index, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_priv.h - a call of a script's function: one coroutine, run in pieces (run.c)
 *
 * Owns   : the resources it holds while it waits; they are dropped if it ends first.
 * Threads: the one on which it started. A piece runs with the lock of its state held.
 */
#ifndef SCRIPT_RUN_PRIV_H
#define SCRIPT_RUN_PRIV_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>
#include "stream/filter.h"

struct script_applet;
struct script_box;
struct script_function;
struct script_run;

/* Lua objects hold this instead of a pointer to the run. */
struct script_handle {
	struct script_run *run;       /* NULL: the run is over */
};

/* A resource that a run holds while it waits; embedded in it. */
struct script_held {
	struct script_held *next;
	struct script_run *run;
	void (*drop)(struct script_held *h);
};

/* The bytes of one side, which a run may process only while a piece of it runs. */
struct script_way {
	struct block_queue *in;       /* received bytes; NULL: bytes cannot be processed now */
	struct block_queue *out;      /* bytes to pass on; NULL: not possible */
	bool is_ended;                /* no more bytes will come */
};

/* A call of a function: one coroutine. */
struct script_run {
	struct script_box *box;
	const struct script_function *fn;
	lua_State *co;
	int ref, handle_ref;
	struct script_handle *handle;
	struct expr_ctx *ctx;         /* of the current piece; NULL: neither stream nor session */
	struct script_applet *applet; /* the I/O of its AppletTCP; NULL: none */
	const struct proxy *proxy;    /* for logs; or NULL */
	/* the thread of its last piece: no other may use its objects */
	unsigned thread;
	bool may_wait;
	bool has_begun;               /* a piece has run */
	/* its coroutine has returned: can be reused for another call */
	bool is_clean;
	bool is_done;                 /* txn:done() */
	bool has_data;                /* core.done(): its value is the result */
	bool has_reply;               /* it has built s->res */
	bool is_late;                 /* its time is up: it ends, whatever errors it catches */
	const char *failure;          /* why we have ended it; or NULL */
	int arg_count;                /* on the stack of <co>, before the next piece */
	uint64_t used_ns;             /* CPU time of the finished pieces */
	/* start of the current piece: clock_read_ns(), thread CPU time */
	uint64_t piece_began_ns, piece_cpu_ns;
	int64_t limit_ms;             /* of all pieces together; 0: none */
	uint64_t wake_ms;             /* when to resume it after a piece that waits */
	int result_count;             /* after the last piece, on the stack of <co> */
	void (*wake)(struct script_run *run); /* see script_wake(); or NULL */
	struct script_held *held;
	int64_t again_ms;             /* act.wake_time(); 0: not called */
	bool waits_for_alarm, was_alarmed; /* core.wait(), queue:alarm() */
	struct script_way ways[FILTER_SIDES];
};

enum script_step { SCRIPT_DONE, SCRIPT_WAITS, SCRIPT_FAILED };

/* Starts a call; <push> pushes the arguments and returns their number. Returns false: no memory, or
 * an error raised by <push>, logged.
 */
typedef int script_push_fn(lua_State *L, struct script_run *run, void *data);
bool script_begin(struct script_run *run, const struct script_function *fn, struct expr_ctx *ctx,
		  script_push_fn *push, void *data);
/* Does the same with the function <ref> of a box. */
bool script_begin_in(struct script_run *run, const struct script_function *fn,
		     struct script_box *box, int ref, struct expr_ctx *ctx, script_push_fn *push,
		     void *data);
/* Runs the next piece; <take> (or NULL) is called with the results while the lock is held. */
typedef void script_take_fn(lua_State *L, struct script_run *run, void *data);
enum script_step script_go(struct script_run *run, script_take_fn *take, void *data);
/* Ends the run. Harmless if it is over. */
void script_end(struct script_run *run);
/* Stores the handle of <run> as [0] of the table on top of the stack. */
void script_push_handle(lua_State *L, struct script_run *run);
/* Sets the hook that limits the time of loops in scripts, in the main thread of a new state and in
 * coroutines created from it.
 */
void script_watch(lua_State *L);
/* Returns true if the calling script can wait: not at start-up, in coroutines it created itself, or
 * in callbacks from C.
 */
bool script_may_wait(lua_State *L);
/* Makes the script wait until <at_ms>; its result is what the C function must return. */
int script_yield(lua_State *L, uint64_t at_ms);
/* Does the same, and continues in <k> with <ctx>. TIMER_NEVER: until script_wake() or its owner
 * resumes it.
 */
int script_yield_to(lua_State *L, uint64_t at_ms, lua_KContext ctx, lua_KFunction k);
/* Called when the event that <run> waits for has occurred: resumes it in a later turn. On its
 * thread.
 */
void script_wake(struct script_run *run);
/* Registers a resource that <run> holds: <h> is dropped if the run ends first. */
void script_hold(struct script_run *run, struct script_held *h,
		 void (*drop)(struct script_held *h));
/* Drops a resource now. */
void script_let_go(struct script_held *h);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_priv.h - a call of a script's function: one coroutine, in pieces (run.c)
 *
 * Owns   : what it holds while it waits, which is dropped when it ends first.
 * Threads: the one on which it began. A piece runs under the lock of its state.
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

/* What objects of scripts hold instead of a pointer to the run. */
struct script_handle {
	struct script_run *run;       /* NULL: it is over */
};

/* What a run holds while it waits; part of it. */
struct script_held {
	struct script_held *next;
	struct script_run *run;
	void (*drop)(struct script_held *h);
};

/* The bytes of one side that a run may work on, as long as a piece of it runs. */
struct script_way {
	struct block_queue *in;       /* what has come; NULL: nothing can be done with bytes now */
	struct block_queue *out;      /* where it goes on to; NULL: it cannot */
	bool is_ended;                /* no more comes */
};

/* A call of a function: one coroutine. */
struct script_run {
	struct script_box *box;
	const struct script_function *fn;
	lua_State *co;
	int ref, handle_ref;
	struct script_handle *handle;
	struct expr_ctx *ctx;         /* of the piece that runs; NULL: neither stream nor session */
	struct script_applet *applet; /* what its AppletTCP talks to; NULL: it has none */
	const struct proxy *proxy;    /* for logs; or NULL */
	unsigned thread;              /* where its last piece ran: no other may use its objects */
	bool may_wait;
	bool has_begun;               /* a piece has run */
	bool is_clean;                /* its coroutine has returned: another call may have it */
	bool is_done;                 /* txn:done() */
	bool has_data;                /* core.done(): its value is the result */
	bool has_reply;               /* it has made s->res */
	bool is_late;                 /* it has had its time: it ends, whatever it catches */
	const char *failure;          /* why it was ended by us; or NULL */
	int arg_count;                /* on the stack of <co>, before the next piece */
	uint64_t used_ns;             /* CPU time of the pieces that are over */
	uint64_t piece_began_ns, piece_cpu_ns; /* clock_read_ns(), CPU time of the thread then */
	int64_t limit_ms;             /* of all pieces; 0: none */
	uint64_t wake_ms;             /* after a piece that waits */
	int result_count;             /* after the last one, on the stack of <co> */
	void (*wake)(struct script_run *run); /* see script_wake(); or NULL */
	struct script_held *held;
	int64_t again_ms;             /* act.wake_time(); 0: not called */
	bool waits_for_alarm, was_alarmed; /* core.wait(), queue:alarm() */
	struct script_way ways[FILTER_SIDES];
};

enum script_step { SCRIPT_DONE, SCRIPT_WAITS, SCRIPT_FAILED };

/* Begins a call; <push> pushes the arguments and returns how many. False: no memory, or what
 * <push> raised, logged.
 */
typedef int script_push_fn(lua_State *L, struct script_run *run, void *data);
bool script_begin(struct script_run *run, const struct script_function *fn, struct expr_ctx *ctx,
		  script_push_fn *push, void *data);
/* As script_begin(), for a function <ref> of a box. */
bool script_begin_in(struct script_run *run, const struct script_function *fn,
		     struct script_box *box, int ref, struct expr_ctx *ctx, script_push_fn *push,
		     void *data);
/* Runs the next piece; results are for <take>, called under the lock, or NULL. */
typedef void script_take_fn(lua_State *L, struct script_run *run, void *data);
enum script_step script_go(struct script_run *run, script_take_fn *take, void *data);
/* Harmless when it is over. */
void script_end(struct script_run *run);
/* Pushes the handle of <run> as [0] of the table on the stack. */
void script_push_handle(lua_State *L, struct script_run *run);
/* Loops of scripts end in time: in the main thread of a new state, and in coroutines made there. */
void script_watch(lua_State *L);
/* Can the script that calls wait? Not in start-up, in coroutines of its own, in callbacks of C. */
bool script_may_wait(lua_State *L);
/* Waits in a script until <at_ms>: what a C function returns. */
int script_yield(lua_State *L, uint64_t at_ms);
/* As script_yield(); <k> goes on there with <ctx>. TIMER_NEVER: script_wake() resumes it, or its
 * owner.
 */
int script_yield_to(lua_State *L, uint64_t at_ms, lua_KContext ctx, lua_KFunction k);
/* What <run> waits for has come: it goes on in a later turn. On its thread. */
void script_wake(struct script_run *run);
/* <run> holds something from now on: when it ends first, <h> is dropped. */
void script_hold(struct script_run *run, struct script_held *h,
		 void (*drop)(struct script_held *h));
/* Drops it now. */
void script_let_go(struct script_held *h);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* queue.c - class Queue: values between the calls of one state of Lua; core.wait
 *
 * An object holds its values in a table of its own. A call that waits for one has a task on its
 * thread: a push wakes the tasks of all waiting calls, whatever their threads.
 * Locks: everything is done with the lock of the state held.
 */
#include <stdlib.h>
#include "base/clock.h"
#include "class_priv.h"
#include "core/task.h"
#include "run_priv.h"
#include "state_priv.h"

#define VALUES -1 /* of the object: its values, from [1] */

struct queue {
	struct list waiters;
};

/* A call that waits for a value; what it holds. */
struct value_waiter {
	struct script_held held;
	struct list link;
	struct script_box *box;
	struct task *task;            /* of the call's thread */
	bool is_alarm;                /* queue:alarm(): once, for core.wait() */
};

static struct queue *queue_at(lua_State *L)
{
	return script_object(L, 1, "Queue");
}

/* Pushes the values of the object at 1. */
static void push_values(lua_State *L)
{
	if (lua_rawgeti(L, 1, VALUES) != LUA_TTABLE)
		luaL_error(L, "a script has overwritten the values of this queue");
}

static void waiter_drop(struct script_held *held)
{
	struct value_waiter *w = container_of(held, struct value_waiter, held);

	script_box_lock(w->box);
	list_remove(&w->link);
	script_box_unlock(w->box);
	task_free(&w->task);
	free(w);
}

/* A value was pushed. */
static void waiter_due(struct task *task, void *ctx, unsigned why)
{
	struct value_waiter *w = ctx;
	struct script_run *run = w->held.run;

	if (w->is_alarm) {
		script_let_go(&w->held);
		run->was_alarmed = true;
		if (!run->waits_for_alarm)
			return;
	}
	script_wake(run);
}

/* The call waits from now on. NULL: no memory. */
static struct value_waiter *waiter_new(struct script_run *run, struct queue *q, bool is_alarm)
{
	struct value_waiter *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->task = task_new(waiter_due, w);
	if (!w->task) {
		free(w);
		return NULL;
	}
	w->box = run->box;
	w->is_alarm = is_alarm;
	list_append(&q->waiters, &w->link);
	script_hold(run, &w->held, waiter_drop);
	return w;
}

/* The call, which may give its thread back. */
static struct script_run *waiting_run(lua_State *L, const char *name)
{
	struct script_run *run = script_box_of(L)->running;

	if (!script_may_wait(L))
		luaL_error(L, "%s() may only be used within task context (requires yielding)",
			   name);
	return run;
}

static int queue_size(lua_State *L)
{
	queue_at(L);
	push_values(L);
	lua_rawgeti(L, -1, 0); /* how many were popped of the list */
	lua_pushinteger(L, (lua_Integer)lua_rawlen(L, -2) - lua_tointeger(L, -1));
	return 1;
}

static int queue_push(lua_State *L)
{
	struct queue *q = queue_at(L);
	struct value_waiter *w;

	if (lua_gettop(L) != 2 || lua_isnil(L, 2))
		return luaL_error(L, "unexpected argument");
	push_values(L);
	lua_pushvalue(L, 2);
	lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
	list_for_each(w, &q->waiters, link)
		task_wake(w->task, TASK_WOKEN_OTHER);
	lua_pushboolean(L, true);
	return 1;
}

/* Pushes the first value, which is taken out; nil: there is none. A list from which as much was
 * taken as is left is made anew: each value is moved once at most.
 */
static bool take(lua_State *L)
{
	lua_Integer count, popped;

	push_values(L);
	lua_rawgeti(L, -1, 0);
	popped = lua_tointeger(L, -1);
	lua_pop(L, 1);
	count = (lua_Integer)lua_rawlen(L, -1);
	if (popped == count) {
		lua_pushnil(L);
		return false;
	}
	lua_rawgeti(L, -1, ++popped);
	lua_pushboolean(L, false);
	lua_rawseti(L, -3, popped);
	if (popped * 2 < count) {
		lua_pushinteger(L, popped);
		lua_rawseti(L, -3, 0);
		return true;
	}
	lua_createtable(L, (int)(count - popped), 1);
	lua_pushinteger(L, 0);
	lua_rawseti(L, -2, 0);
	for (lua_Integer i = popped + 1; i <= count; i++) {
		lua_rawgeti(L, -3, i);
		lua_rawseti(L, -2, i - popped);
	}
	lua_rawseti(L, 1, VALUES);
	return true;
}

static int queue_pop(lua_State *L)
{
	queue_at(L);
	take(L);
	return 1;
}

static int pop_again(lua_State *L, int status, lua_KContext k)
{
	struct value_waiter *w = (struct value_waiter *)k;
	struct script_run *run = script_box_of(L)->running;

	lua_settop(L, 1);
	if (take(L)) {
		if (w)
			script_let_go(&w->held);
		return 1;
	}
	if (!w)
		w = waiter_new(run, queue_at(L), false);
	if (!w)
		return luaL_error(L, "out of memory");
	return script_yield_to(L, TIMER_NEVER, (lua_KContext)w, pop_again);
}

static int queue_pop_wait(lua_State *L)
{
	queue_at(L);
	waiting_run(L, "pop_wait");
	return pop_again(L, LUA_OK, 0);
}

static int queue_alarm(lua_State *L)
{
	struct queue *q = queue_at(L);

	if (!waiter_new(waiting_run(L, "alarm"), q, true))
		return luaL_error(L, "out of memory");
	return 0;
}

/* Called when the object is collected: its waiters wait for nothing from now on. */
static int queue_collect(lua_State *L)
{
	struct queue *q = luaL_testudata(L, 1, "Queue");

	while (q && !list_is_empty(&q->waiters))
		list_remove(q->waiters.next);
	return 0;
}

static int core_queue(lua_State *L)
{
	struct queue *q = script_object_new(L, "Queue", sizeof(*q));

	list_init(&q->waiters);
	lua_newtable(L);
	lua_pushinteger(L, 0);
	lua_rawseti(L, -2, 0);
	lua_rawseti(L, -2, VALUES);
	return 1;
}

/* --- core.wait -------------------------------------------------------------------------------- */

static int wait_over(lua_State *L, int status, lua_KContext k)
{
	struct script_run *run = script_box_of(L)->running;

	run->waits_for_alarm = run->was_alarmed = false;
	return 0;
}

/* core.wait([ms]): until an alarm, or that time */
static int core_wait(lua_State *L)
{
	lua_Integer ms = luaL_optinteger(L, 1, -1);
	struct script_run *run = script_box_of(L)->running;

	luaL_argcheck(L, ms >= -1 && ms < INT32_MAX, 1, "a time is expected");
	if (!run)
		return luaL_error(L, "wait() is not available while the program starts");
	if (run->was_alarmed) {
		run->was_alarmed = false;
		return 0;
	}
	run->waits_for_alarm = true;
	return script_yield_to(L, ms < 0 ? TIMER_NEVER : clock_now_ms() + (uint64_t)ms, 0,
			       wait_over);
}

void script_queue_open(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{ "size", queue_size }, { "push", queue_push }, { "pop", queue_pop },
		{ "pop_wait", queue_pop_wait }, { "alarm", queue_alarm }, { NULL, NULL }
	};

	script_class_new(L, "Queue", methods);
	script_class_set_meta(L, "Queue", "__gc", queue_collect);
	lua_getglobal(L, "core");
	lua_pushcfunction(L, core_queue);
	lua_setfield(L, -2, "queue");
	lua_pushcfunction(L, core_wait);
	lua_setfield(L, -2, "wait");
	lua_pop(L, 1);
}

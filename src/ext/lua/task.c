/* SPDX-License-Identifier: GPL-2.0-or-later */
/* task.c - core.register_task: functions that run beside streams, as long as their configuration */
#include <stdlib.h>
#include "base/clock.h"
#include "beside_priv.h"
#include "core/lock.h"
#include "core/task.h"
#include "core/thread.h"
#include "room_priv.h"
#include "run_priv.h"
#include "state_priv.h"

/* Belongs to the thread that began it. Holds its configuration. */
struct script_task {
	struct list link;             /* of all, under <lock> */
	struct task *task;
	struct config *cfg;
	struct script_run run;
	struct expr_ctx ctx;
	struct arena arena;
	int fn_ref, args_ref;
	unsigned thread;
	bool is_retired;              /* atomic: it is to end */
};

static struct list tasks = LIST_HEAD(tasks);
static unsigned lock;

static int push_args(lua_State *L, struct script_run *run, void *data)
{
	const struct script_task *t = data;
	int count;

	lua_rawgeti(L, LUA_REGISTRYINDEX, t->args_ref);
	lua_getfield(L, -1, "n");
	count = (int)lua_tointeger(L, -1);
	lua_pop(L, 1);
	luaL_checkstack(L, count, "arguments");
	for (int i = 1; i <= count; i++)
		lua_rawgeti(L, -i, i);
	lua_remove(L, -count - 1);
	return count;
}

static void task_over(struct script_task *t)
{
	struct script_box *box = t->run.box;

	script_box_lock(box);
	luaL_unref(box->L, LUA_REGISTRYINDEX, t->fn_ref);
	luaL_unref(box->L, LUA_REGISTRYINDEX, t->args_ref);
	script_box_unlock(box);
	script_end(&t->run);
	lock_take(&lock);
	list_remove(&t->link);
	lock_drop(&lock);
	task_free(&t->task);
	arena_fini(&t->arena);
	config_drop(&t->cfg);
	free(t);
}

static void task_run(struct task *task, void *ctx, unsigned why)
{
	struct script_task *t = ctx;

	if (__atomic_load_n(&t->is_retired, __ATOMIC_ACQUIRE) ||
	    script_go(&t->run, NULL, NULL) != SCRIPT_WAITS) {
		task_over(t);
		return;
	}
	task_schedule(task, t->run.wake_ms);
	if (t->run.wake_ms <= clock_now_ms())
		task_wake(task, TASK_WOKEN_OTHER);
}

static void task_waken(struct script_run *run)
{
	task_wake(container_of(run, struct script_task, run)->task, TASK_WOKEN_OTHER);
}

bool script_task_new(const struct script_function *fn, struct script_box *box, int fn_ref,
		     int args_ref)
{
	struct script_task *t = calloc(1, sizeof(*t));

	if (!t)
		return false;
	t->fn_ref = fn_ref;
	t->args_ref = args_ref;
	t->thread = thread_id;
	t->run.may_wait = true;
	t->run.wake = task_waken;
	t->run.limit_ms = box->room->task_ms;
	arena_init(&t->arena, 0);
	t->task = task_new(task_run, t);
	if (!t->task || !script_begin_in(&t->run, fn, box, fn_ref, NULL, push_args, t)) {
		if (t->task)
			task_free(&t->task);
		arena_fini(&t->arena);
		free(t);
		return false;
	}
	t->cfg = config_take(box->room->cfg);
	lock_take(&lock);
	list_append(&tasks, &t->link);
	lock_drop(&lock);
	task_wake(t->task, TASK_WOKEN_INIT);
	return true;
}

void script_tasks_retire(const struct config *cfg)
{
	struct script_task *t;

	lock_take(&lock);
	list_for_each(t, &tasks, link) {
		if (t->cfg != cfg)
			continue;
		__atomic_store_n(&t->is_retired, true, __ATOMIC_RELEASE);
		task_wake(t->task, TASK_WOKEN_OTHER);
	}
	lock_drop(&lock);
}

static struct script_task *mine(void)
{
	struct script_task *t, *found = NULL;

	lock_take(&lock);
	list_for_each(t, &tasks, link)
		if (t->thread == thread_id)
			found = t;
	lock_drop(&lock);
	return found;
}

void script_tasks_end(void)
{
	struct script_task *t;

	while ((t = mine()) != NULL)
		task_over(t);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run.c - calls of functions of scripts: coroutines that begin, wait, go on and end */
#include <poll.h>
#include <stdio.h>
#include "base/clock.h"
#include "base/strbuf.h"
#include "beside_priv.h"
#include "core/thread.h"
#include "room_priv.h"
#include "run_priv.h"
#include "state_priv.h"
#include "value_priv.h"

static const char *kind_name(const struct script_run *run)
{
	static const char *const names[] = {
		[SCRIPT_ACTION] = "function", [SCRIPT_FETCH] = "sample-fetch",
		[SCRIPT_CONVERTER] = "converter", [SCRIPT_SERVICE] = "applet http",
		[SCRIPT_INIT] = "init", [SCRIPT_TASK] = "task", [SCRIPT_CLI] = "cli",
		[SCRIPT_FILTER] = "filter",
		[SCRIPT_EVENT] = "event_hdl",
	};

	return names[run->fn->kind];
}

#define WHO_MAX 256

/* "function 'name'"; tasks and functions of events have no name. */
static const char *who(const struct script_run *run, char out[WHO_MAX])
{
	const char *name = run->fn->said ? run->fn->said : run->fn->own_name;

	if (run->fn->kind == SCRIPT_TASK || run->fn->kind == SCRIPT_EVENT)
		return kind_name(run);
	snprintf(out, WHO_MAX, "%s '%s'", kind_name(run), name);
	return out;
}

/* --- time ------------------------------------------------------------------------------------- */

/* What a script uses is CPU time of its thread: a process that is not scheduled for a second, or a
 * script that waits for a program, has used none. Asking for it is a system call, so a piece that
 * took less than this is taken for one that ran all the time; and a piece begins with what was
 * read last if that is not longer ago.
 */
#define CPU_READ_NS (10 * 1000000)

static __thread struct {
	uint64_t at_ns, cpu_ns;
} last_read;

static void piece_begins(struct script_run *run)
{
	run->piece_began_ns = clock_read_ns();
	if (run->piece_began_ns - last_read.at_ns >= CPU_READ_NS) {
		last_read.at_ns = run->piece_began_ns;
		last_read.cpu_ns = clock_read_thread_cpu_ns();
	}
	run->piece_cpu_ns = last_read.cpu_ns;
}

/* The CPU time that the piece has used until now. */
static uint64_t piece_ns(const struct script_run *run)
{
	uint64_t passed = clock_read_ns() - run->piece_began_ns, used;

	if (passed < CPU_READ_NS)
		return passed;
	used = clock_read_thread_cpu_ns() - run->piece_cpu_ns;
	return used < passed ? used : passed;
}

static void count_hook(lua_State *L, lua_Debug *ar);

static int hook_period(const struct script_box *box)
{
	int n = 10000;

	if (box->room->forced_yield)
		return box->room->forced_yield;
	if (box == box->room->shared)
		n /= (int)thread_count();
	return n < 500 ? 500 : n;
}

/* A script may catch an error, again and again. Where a piece can end, it does, and script_go()
 * sees that it was late; the coroutine that has resumed one of the script's own does so next.
 * Elsewhere (in a function that table.sort() calls) no instruction outside of a pcall() runs any
 * more.
 */
static void end_now(lua_State *L, struct script_run *run)
{
	lua_State *next = lua_isyieldable(L) ? run->co : L;

	run->is_late = true;
	lua_sethook(next, count_hook, LUA_MASKCOUNT, 1);
	if (lua_isyieldable(L))
		lua_yield(L, 0);
	else
		luaL_error(L, "%s", run->failure);
}

/* Called every so many instructions: gives the thread back where that is possible, and ends what
 * takes too long.
 */
static void count_hook(lua_State *L, lua_Debug *ar)
{
	struct script_box *box = script_box_of(L);
	struct script_run *run = box->running;
	uint64_t piece_ms;

	if (!run)
		return;
	if (lua_gethookcount(L) == 1 && !run->is_late) /* left behind by end_now() */
		lua_sethook(L, count_hook, LUA_MASKCOUNT, hook_period(box));
	piece_ms = piece_ns(run) / 1000000;
	if (run->limit_ms && run->used_ns / 1000000 + piece_ms >= (uint64_t)run->limit_ms)
		run->failure = "execution timeout";
	else if (box->room->burst_ms && piece_ms >= (uint64_t)box->room->burst_ms)
		run->failure = "burst timeout";
	if (run->failure) {
		end_now(L, run);
		return;
	}
	if (!script_may_wait(L))
		return;
	run->wake_ms = clock_now_ms();
	lua_yield(L, 0);
}

void script_watch(lua_State *L)
{
	lua_sethook(L, count_hook, LUA_MASKCOUNT, 10000);
}

bool script_may_wait(lua_State *L)
{
	const struct script_run *run = script_box_of(L)->running;

	return run && L == run->co && run->may_wait && lua_isyieldable(L);
}

int script_yield_to(lua_State *L, uint64_t at_ms, lua_KContext ctx, lua_KFunction k)
{
	struct script_run *run = script_box_of(L)->running;

	if (!run && !script_box_of(L)->room->is_open) { /* start-up: nothing else runs */
		uint64_t now = clock_read_ns() / 1000000;

		poll(NULL, 0, at_ms > now ? (int)(at_ms - now) : 0);
		return 0;
	}
	if (!run) /* a finalizer, behind a call */
		return luaL_error(L, "yield not allowed");
	if (!script_may_wait(L)) {
		run->failure = "yield not allowed";
		return luaL_error(L, "%s", run->failure);
	}
	run->wake_ms = at_ms;
	return lua_yieldk(L, 0, ctx, k);
}

int script_yield(lua_State *L, uint64_t at_ms)
{
	return script_yield_to(L, at_ms, 0, NULL);
}

void script_wake(struct script_run *run)
{
	if (run->wake)
		run->wake(run);
}

void script_hold(struct script_run *run, struct script_held *h,
		 void (*drop)(struct script_held *h))
{
	h->run = run;
	h->drop = drop;
	h->next = run->held;
	run->held = h;
}

void script_let_go(struct script_held *h)
{
	struct script_held **at = &h->run->held;

	while (*at != h)
		at = &(*at)->next;
	*at = h->next;
	h->drop(h);
}

/* --- errors ----------------------------------------------------------------------------------- */

static void put_frame(struct strbuf *out, const lua_Debug *ar)
{
	if (ar->currentline > 0)
		strbuf_printf(out, "%s:%d: in ", ar->short_src, ar->currentline);
	else
		strbuf_printf(out, "%s: in ", ar->short_src);
	if (*ar->namewhat)
		strbuf_printf(out, "%s '%s'", ar->namewhat, ar->name);
	else if (*ar->what == 'm')
		strbuf_add_str(out, "main chunk");
	else if (*ar->what == 'C')
		strbuf_add_str(out, "C function");
	else
		strbuf_printf(out, "function line %d", ar->linedefined);
}

static void say_failure(struct script_run *run)
{
	char area[2048], name[WHO_MAX];
	struct strbuf out;
	lua_Debug ar;
	const char *text = NULL;

	if (!run->failure && lua_type(run->co, -1) == LUA_TSTRING)
		text = lua_tostring(run->co, -1);
	strbuf_init_fixed(&out, area, sizeof(area));
	for (int level = 0; level < 20 && lua_getstack(run->co, level, &ar); level++) {
		if (!lua_getinfo(run->co, "Snl", &ar))
			break;
		strbuf_add_str(&out, level ? ", " : " from ");
		put_frame(&out, &ar);
	}
	if (run->failure)
		script_error(run->box->room, run->proxy, "Lua %s: %s.", who(run, name),
			     run->failure);
	else
		script_error(run->box->room, run->proxy,
			     "Lua %s: [state-id %u] runtime error: %s%s.", who(run, name),
			     run->box->thread, text ? text : "(no text)",
			     out.len ? area : "");
}

/* --- beginning -------------------------------------------------------------------------------- */

struct beginning {
	struct script_run *run;
	int fn_ref;
	script_push_fn *push;
	void *data;
};

static void make_coroutine(lua_State *L, struct script_run *run)
{
	lua_pushboolean(L, false);
	run->handle_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	run->co = lua_newthread(L);
	run->ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

/* That of a call that is over, if one is there. */
static void take_coroutine(struct script_run *run)
{
	struct script_box *box = run->box;
	const struct script_spare *spare;

	run->ref = run->handle_ref = LUA_NOREF;
	if (!box->spare_call_count)
		return;
	spare = &box->spare_calls[--box->spare_call_count];
	run->co = spare->co;
	run->ref = spare->ref;
	run->handle_ref = spare->handle_ref;
}

/* Is it kept for another call? */
static bool keep_coroutine(struct script_run *run)
{
	struct script_box *box = run->box;

	if (!run->is_clean || box->spare_call_count == SCRIPT_SPARE_CALLS)
		return false;
	lua_settop(run->co, 0);
	lua_pushboolean(box->L, false); /* objects may still have the handle */
	lua_rawseti(box->L, LUA_REGISTRYINDEX, run->handle_ref);
	box->spare_calls[box->spare_call_count++] = (struct script_spare){
		.co = run->co, .ref = run->ref, .handle_ref = run->handle_ref,
	};
	return true;
}

/* With an error it raises one of the main thread, where the caller catches it. */
static int begin(lua_State *L)
{
	struct beginning *b = lua_touserdata(L, 1);
	struct script_run *run = b->run;

	if (!run->co)
		make_coroutine(L, run);
	run->handle = lua_newuserdatauv(L, sizeof(*run->handle), 0);
	run->handle->run = run;
	lua_rawseti(L, LUA_REGISTRYINDEX, run->handle_ref);
	luaL_checkstack(run->co, 64, "arguments");
	lua_rawgeti(run->co, LUA_REGISTRYINDEX, b->fn_ref);
	run->arg_count = b->push ? b->push(run->co, run, b->data) : 0;
	return 0;
}

bool script_begin(struct script_run *run, const struct script_function *fn, struct expr_ctx *ctx,
		  script_push_fn *push, void *data)
{
	int ref;
	struct script_box *box = script_box_for(fn, &ref);

	return box && script_begin_in(run, fn, box, ref, ctx, push, data);
}

bool script_begin_in(struct script_run *run, const struct script_function *fn,
		     struct script_box *box, int ref, struct expr_ctx *ctx, script_push_fn *push,
		     void *data)
{
	struct beginning b = { .run = run, .fn_ref = ref, .push = push, .data = data };
	char name[WHO_MAX];
	bool good;

	run->box = box;
	run->fn = fn;
	run->ctx = ctx;
	run->applet = NULL;
	run->co = NULL;
	run->handle = NULL;
	run->is_clean = run->has_begun = false;
	run->wake_ms = TIMER_NEVER;
	script_box_lock(box);
	take_coroutine(run);
	lua_pushcfunction(box->L, begin);
	lua_pushlightuserdata(box->L, &b);
	good = lua_pcall(box->L, 1, 0, 0) == LUA_OK;
	if (!good) {
		script_error(box->room, run->proxy, "Lua %s: %s.", who(run, name),
			     lua_tostring(box->L, -1));
		lua_pop(box->L, 1);
	}
	script_box_unlock(box);
	if (!good)
		script_end(run);
	return good;
}

void script_push_handle(lua_State *L, struct script_run *run)
{
	lua_rawgeti(L, LUA_REGISTRYINDEX, run->handle_ref);
	lua_rawseti(L, -2, 0);
}

/* --- going on --------------------------------------------------------------------------------- */

struct taking {
	struct script_run *run;
	script_take_fn *take;
	void *data;
};

static int take_results(lua_State *L)
{
	struct taking *t = lua_touserdata(L, 1);

	t->take(t->run->co, t->run, t->data);
	return 0;
}

static void take_protected(struct script_run *run, script_take_fn *take, void *data)
{
	struct taking t = { .run = run, .take = take, .data = data };
	lua_State *L = run->box->L;
	char name[WHO_MAX];

	if (!take)
		return;
	lua_pushcfunction(L, take_results);
	lua_pushlightuserdata(L, &t);
	if (lua_pcall(L, 1, 0, 0) == LUA_OK)
		return;
	script_error(run->box->room, run->proxy, "Lua %s: %s.", who(run, name),
		     lua_tostring(L, -1));
	lua_pop(L, 1);
}

enum script_step script_go(struct script_run *run, script_take_fn *take, void *data)
{
	struct script_box *box = run->box;
	enum script_step step = SCRIPT_FAILED;
	struct script_run *before;
	uint64_t allocated, ns;
	int r;

	script_box_lock(box);
	before = box->running;
	box->running = run;
	piece_begins(run);
	run->thread = thread_id;
	allocated = box->allocated;
	lua_sethook(run->co, count_hook, LUA_MASKCOUNT, hook_period(box));
	r = lua_resume(run->co, NULL, run->arg_count, &run->result_count);
	run->arg_count = 0;
	ns = piece_ns(run);
	run->used_ns += ns;
	run->is_clean = r == LUA_OK;
	if (r == LUA_YIELD && !run->is_late) {
		lua_pop(run->co, run->result_count);
		step = SCRIPT_WAITS;
	} else if (r == LUA_OK || run->is_done || (run->has_data && r != LUA_YIELD)) {
		step = SCRIPT_DONE;
		if (run->has_data) /* the error on the stack */
			run->result_count = 1;
		if (!run->is_done)
			take_protected(run, take, data);
	} else {
		say_failure(run);
	}
	script_usage_count(run, !run->has_begun, step == SCRIPT_FAILED, ns,
			   box->allocated - allocated);
	run->has_begun = true;
	box->running = before;
	script_box_unlock(box);
	return step;
}

void script_end(struct script_run *run)
{
	struct script_box *box = run->box;
	bool is_cut;

	if (!box)
		return;
	while (run->held)
		script_let_go(run->held);
	if (__atomic_load_n(&box->room->is_retired, __ATOMIC_RELAXED))
		script_sockets_retire(box->room->cfg);
	script_box_lock(box);
	if (run->handle)
		run->handle->run = NULL;
	is_cut = run->co && lua_status(run->co) == LUA_YIELD;
	if (!keep_coroutine(run)) {
		if (run->co)
			lua_sethook(run->co, NULL, 0, 0);
		luaL_unref(box->L, LUA_REGISTRYINDEX, run->ref);
		luaL_unref(box->L, LUA_REGISTRYINDEX, run->handle_ref);
	}
	if (is_cut) /* what it has open shall not wait for the next script */
		lua_gc(box->L, LUA_GCSTEP, 0);
	run->box = NULL;
	run->co = NULL;
	script_box_unlock(box);
}

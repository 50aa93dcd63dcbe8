/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process.c - core.get_info, core.get_var, core.set_nice, core.done: the process, and the call */
#include <math.h>
#include "class_priv.h"
#include "core/task.h"
#include "expr/vars.h"
#include "manage/stats.h"
#include "room_priv.h"
#include "run_priv.h"
#include "state_priv.h"
#include "stream/stream.h"
#include "value_priv.h"

#define FIELDS_MAX 256

/* What `show info` tells, gathered first: an error of Lua must not leave its functions. */
struct info {
	struct stats_process_field fields[FIELDS_MAX];
	unsigned count;
	struct arena arena;
};

static void note(void *ctx, const struct stats_process_field *field)
{
	struct info *info = ctx;
	struct slice copy;

	if (info->count == FIELDS_MAX)
		return;
	info->fields[info->count] = *field;
	if (field->text) {
		copy = arena_copy(&info->arena, slice_of(field->text));
		info->fields[info->count].text = copy.ptr ? copy.ptr : "";
	}
	info->count++;
}

static int push_info(lua_State *L)
{
	const struct info *info = lua_touserdata(L, 1);

	lua_createtable(L, 0, (int)info->count);
	for (unsigned i = 0; i < info->count; i++) {
		const struct stats_process_field *f = &info->fields[i];

		if (f->text)
			lua_pushstring(L, f->text);
		else
			lua_pushinteger(L, (lua_Integer)f->number);
		lua_setfield(L, -2, f->name);
	}
	return 1;
}

static int core_get_info(lua_State *L)
{
	struct info info = { .count = 0 };
	int r;

	arena_init(&info.arena, 0);
	stats_each_process_field(script_box_of(L)->room->cfg, note, &info);
	lua_pushcfunction(L, push_info);
	lua_pushlightuserdata(L, &info);
	r = lua_pcall(L, 1, 1, 0);
	arena_fini(&info.arena);
	return r == LUA_OK ? 1 : lua_error(L);
}

/* core.get_var("proc.name") */
static int core_get_var(lua_State *L)
{
	struct script_room *room = script_box_of(L)->room;
	struct sample value = { .flags = 0 };
	struct expr_ctx ctx = { .proxy = NULL };
	enum var_scope scope;
	struct arena arena;
	struct slice name;

	script_check_args(L, 1, "get_var");
	name.ptr = luaL_checklstring(L, 1, &name.len);
	if (!var_name_split(&name, &scope) || scope != VAR_PROC)
		return luaL_error(L, "'get_var': Only 'proc.' scope allowed to be retrieved in "
				  "'core.get_var()'.");
	arena_init(&arena, 0);
	ctx.arena = &arena;
	if (var_get_named(room->cfg, scope, name, &ctx, &value))
		script_push_sample(L, &value, &arena, false);
	else
		lua_pushnil(L);
	arena_fini(&arena);
	return 1;
}

/* Of the task or stream that runs the script. */
static int core_set_nice(lua_State *L)
{
	const struct script_run *run = script_box_of(L)->running;
	lua_Integer nice;
	struct task *task = task_current();

	script_check_args(L, 1, "set_nice");
	nice = luaL_checkinteger(L, 1);
	nice = nice < -1024 ? -1024 : nice > 1024 ? 1024 : nice;
	if (run && run->ctx && run->ctx->stream)
		task = run->ctx->stream->queue.task;
	if (run && task)
		task->nice = (short)nice;
	return 0;
}

/* core.done(data): ends the call, however deep; <data> is its result. */
static int core_done(lua_State *L)
{
	struct script_run *run = script_box_of(L)->running;

	lua_settop(L, 1);
	if (run)
		run->has_data = true;
	else
		script_box_of(L)->is_done = true;
	return lua_error(L);
}

void script_process_open(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{ "get_info", core_get_info }, { "get_var", core_get_var },
		{ "set_nice", core_set_nice }, { "done", core_done }, { NULL, NULL }
	};

	lua_getglobal(L, "core");
	luaL_setfuncs(L, functions, 0);
	lua_pop(L, 1);
}

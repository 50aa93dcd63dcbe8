/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load.c - loading of scripts: lua-load, lua-load-per-thread; functions run at start-up */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/file.h"
#include "beside_priv.h"
#include "core/thread.h"
#include "expr/vars.h"
#include "client/http_client.h"
#include "room_priv.h"
#include "state_priv.h"

#define SCRIPT_MAX (64u << 20)

static bool failed(struct script_box *box, char *error, size_t size, const char *fmt,
		   const char *path)
{
	const char *text = lua_tostring(box->L, -1);

	snprintf(error, size, fmt, path);
	snprintf(error + strlen(error), size - strlen(error), "%s", text ? text : "(null)");
	lua_settop(box->L, 0);
	return false;
}

static int with_traceback(lua_State *L)
{
	if (lua_type(L, 1) == LUA_TSTRING)
		luaL_traceback(L, L, lua_tostring(L, 1), 1);
	return 1;
}

static bool load_file(struct script_box *box, const struct script_file *f, char *error, size_t size)
{
	lua_State *L = box->L;
	size_t len, skip = 0;
	char *text = file_load(f->path, SCRIPT_MAX, &len), chunk[1024];
	int r;

	if (!text) {
		snprintf(error, size, "error in Lua file '%s': cannot open %s: %s", f->path,
			 f->path, strerror(errno));
		return false;
	}
	if (*text == '#') /* "#!/usr/bin/lua": its end stays, for line numbers */
		skip = strcspn(text, "\n");
	snprintf(chunk, sizeof(chunk), "@%s", f->path);
	lua_settop(L, 0);
	lua_pushcfunction(L, with_traceback);
	r = luaL_loadbufferx(L, text + skip, len - skip, chunk, NULL);
	free(text);
	if (r != LUA_OK)
		return failed(box, error, size, "error in Lua file '%s': ", f->path);
	luaL_checkstack(L, f->arg_count + 10, NULL);
	for (int i = 0; i < f->arg_count; i++)
		lua_pushstring(L, f->args[i]);
	box->is_loading = true;
	box->is_done = false;
	r = lua_pcall(L, f->arg_count, 0, 1);
	box->is_loading = false;
	if (r == LUA_OK || box->is_done) {
		lua_settop(L, 0);
		return true;
	}
	return failed(box, error, size, r == LUA_ERRMEM ? "Lua out of memory error: "
		      : "Lua runtime error: ", NULL);
}

static bool line_file(struct conf_line *l, struct script_file *f)
{
	if (!conf_peek(l))
		return conf_error(l, 0, NULL, "'%s' expects a file name as parameter.",
				  l->words[0]);
	f->path = conf_path(l->cfg, conf_next(l));
	f->args = l->words + l->at;
	f->arg_count = l->count - l->at;
	f->conf_file = l->place.file ? conf_strdup(l->cfg, l->place.file) : NULL;
	f->conf_line = l->place.line;
	l->at = l->count;
	return f->path || conf_error(l, 0, NULL, "out of memory.");
}

static void warn_of_booleans(struct conf_line *l, struct script_room *room)
{
	static const struct diag_place nowhere = { .form = DIAG_PARSING };

	if (!room->bool_is_said)
		diag_add(l->diags, DIAG_WARNING, &nowhere, NULL, "hlua: please set "
			 "\"tune.lua.bool-sample-conversion\" tunable to either \"normal\" or "
			 "\"pre-3.1-bug\" explicitly to avoid ambiguities. This must be set before "
			 "any \"lua-load\" or \"lua-load-per-thread\" directive. Defaulting to "
			 "\"pre-3.1-bug\".");
	room->bool_is_said = true;
}

/* Scripts may set variables of any scope: sessions and streams have room for them. */
static bool prepare(struct conf_line *l, struct script_room *room)
{
	const char *error;

	warn_of_booleans(l, room);
	http_client_want_tls(l->cfg); /* scripts may ask any URL */
	room->cfg = l->cfg;
	if (!room->tasks)
		room->tasks = arena_zalloc(&l->cfg->arena, sizeof(*room->tasks));
	if (!room->handlers)
		room->handlers = arena_zalloc(&l->cfg->arena, sizeof(*room->handlers));
	if (!room->tasks || !room->handlers)
		return conf_error(l, 0, NULL, "out of memory.");
	room->tasks->kind = SCRIPT_TASK;
	room->handlers->kind = SCRIPT_EVENT;
	room->tasks->room = room->handlers->room = room;
	room->tasks->own_name = room->handlers->own_name = "(anonymous)";
	return var_name_register(l->cfg, SLICE("lua"), &error) ||
	       conf_error(l, 0, NULL, "%s.", error);
}

static bool load_into(struct conf_line *l, struct script_box *box, const struct script_file *f)
{
	char error[4096];
	char *more;

	if (!box)
		return conf_error(l, 0, NULL, "no memory for a state of Lua.");
	if (load_file(box, f, error, sizeof(error)))
		return true;
	more = strstr(error, "\nstack traceback:");
	if (more)
		*more++ = 0;
	return conf_error(l, 1, more, "%s", error);
}

bool script_load_line(struct conf_line *l)
{
	struct script_room *room = script_room_of(l->cfg);
	struct script_file f = { 0 };

	if (!line_file(l, &f) || !prepare(l, room))
		return false;
	if (!room->shared)
		room->shared = script_box_new(room, 0);
	return load_into(l, room->shared, &f);
}

bool script_load_per_thread_line(struct conf_line *l)
{
	struct script_room *room = script_room_of(l->cfg);
	struct script_file *f = arena_zalloc(&l->cfg->arena, sizeof(*f)), **last;

	if (!f)
		return conf_error(l, 0, NULL, "out of memory.");
	if (!line_file(l, f) || !prepare(l, room))
		return false;
	if (!room->boxes) {
		room->box_count = THREADS_MAX; /* how many there will be is not known yet */
		room->boxes = calloc(THREADS_MAX, sizeof(*room->boxes));
	}
	if (!room->boxes)
		return conf_error(l, 0, NULL, "out of memory.");
	if (!room->boxes[0])
		room->boxes[0] = script_box_new(room, 1);
	for (last = &room->files; *last; last = &(*last)->next)
		;
	*last = f;
	return load_into(l, room->boxes[0], f);
}

/* --- start-up --------------------------------------------------------------------------------- */

static bool load_thread(struct script_room *room, unsigned thread, struct diag_list *diags)
{
	char error[4096];

	room->boxes[thread] = script_box_new(room, thread + 1);
	if (!room->boxes[thread]) {
		diag_add(diags, DIAG_ALERT, NULL, NULL, "no memory for a state of Lua.");
		return false;
	}
	for (const struct script_file *f = room->files; f; f = f->next) {
		struct diag_place place = { .file = f->conf_file, .line = f->conf_line };

		if (load_file(room->boxes[thread], f, error, sizeof(error)))
			continue;
		diag_add(diags, DIAG_ALERT, &place, NULL, "thread %u: %s", thread + 1, error);
		return false;
	}
	return true;
}

/* An init function of the state of thread <at>, or the shared one. */
static bool run_init(const struct script_function *fn, unsigned at, struct diag_list *diags)
{
	struct script_box *box = fn->shared ? fn->shared : fn->room->boxes[at];
	bool good;

	if (!box || fn->refs[at] == LUA_NOREF)
		return true;
	lua_settop(box->L, 0);
	lua_pushcfunction(box->L, with_traceback);
	lua_rawgeti(box->L, LUA_REGISTRYINDEX, fn->refs[at]);
	box->is_done = false;
	good = lua_pcall(box->L, 0, 0, 1) == LUA_OK || box->is_done;
	if (!good)
		diag_add(diags, DIAG_ALERT, NULL, NULL,
			 "Lua init: [state-id %u] runtime error: %s.",
			 box->thread, lua_tostring(box->L, -1));
	lua_settop(box->L, 0);
	return good;
}

/* What the scripts of this state have registered so far. */
static bool begin_tasks(struct script_box *box)
{
	lua_State *L = box->L;
	bool good = true;
	size_t count;

	lua_getfield(L, LUA_REGISTRYINDEX, "tasks");
	count = lua_rawlen(L, -1);
	for (size_t i = 1; i < count && good; i += 2) {
		lua_rawgeti(L, -1, (lua_Integer)i);
		lua_rawgeti(L, -2, (lua_Integer)i + 1);
		good = script_task_new(box->room->tasks, box, (int)lua_tointeger(L, -2),
				       (int)lua_tointeger(L, -1));
		lua_pop(L, 2);
	}
	lua_settop(L, 0);
	return good;
}

bool script_start(struct config *cfg, struct diag_list *diags)
{
	struct script_room *room = script_room_of(cfg);
	unsigned threads = thread_count();

	for (unsigned i = 1; room->boxes && i < threads; i++)
		if (!load_thread(room, i, diags))
			return false;
	for (struct script_function *fn = room->functions; fn; fn = fn->next)
		for (unsigned i = 0; fn->kind == SCRIPT_INIT && i < fn->ref_count; i++)
			if (!run_init(fn, i, diags))
				return false;
	room->is_open = true;
	if (room->shared && !begin_tasks(room->shared))
		return false;
	for (unsigned i = 0; room->boxes && i < threads; i++)
		if (!begin_tasks(room->boxes[i]))
			return false;
	return script_events_start(cfg);
}

/* --- the room --------------------------------------------------------------------------------- */

static bool room_init(void *data)
{
	struct script_room *room = data;

	room->session_ms = room->service_ms = 4000;
	room->burst_ms = 1000;
	room->shared_mb = 16;
	room->log_loggers = SCRIPT_ON;
	room->log_stderr = SCRIPT_AUTO;
	return true;
}

static void room_fini(void *data)
{
	struct script_room *room = data;

	if (room->cfg)
		script_events_forget(room->cfg);
	script_box_free(&room->shared);
	for (unsigned i = 0; room->boxes && i < room->box_count; i++)
		script_box_free(&room->boxes[i]);
	free(room->boxes);
	room->boxes = NULL;
}

struct slot script_room_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct script_room), .init = room_init,
	.fini = room_fini,
};

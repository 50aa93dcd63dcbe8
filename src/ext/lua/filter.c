/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filter.c - core.register_filter: filters whose callbacks are functions of a script
 *
 * For a line `filter lua.NAME` the script creates an object of the filter's class, once per Lua
 * state; for each stream that object's new() creates another one. A callback is a separate call,
 * which cannot wait: after filter.WAIT it is called again.
 */
#include <stdlib.h>
#include "base/bug.h"
#include "class_priv.h"
#include "proxy/proxy.h"
#include "room_priv.h"
#include "row_priv.h"
#include "run_priv.h"
#include "state_priv.h"
#include "value_priv.h"

/* What callbacks return. */
enum { FLT_ERROR = -1, FLT_WAIT, FLT_CONTINUE };
#define FLAG_HTX 1

/* A line of the configuration. */
struct line {
	struct script_function *fn;
	const struct proxy *proxy;
	char **args;
	int arg_count;
	struct line_object *objects;  /* of each state */
};

/* The object that a script has made for a line. */
struct line_object {
	int ref;                      /* LUA_NOREF: it was not made yet, LUA_REFNIL: there shall
				       * be none */
	bool knows_http;              /* its class says so by a flag */
};

/* X(name): callbacks that an object may have. */
#define CALLBACKS(X) \
	X(start_analyze) X(end_analyze) X(http_headers) X(http_payload) X(http_end) X(tcp_payload)
enum callback {
#define X(name) CB_##name,
	CALLBACKS(X)
#undef X
	CB_COUNT
};
static const char *const names[] = {
#define X(name) #name,
	CALLBACKS(X)
#undef X
};

/* The filter of one stream. */
struct script_filter {
	struct filter *f;
	struct script_box *box;
	int object;                   /* in the registry of <box>; LUA_NOREF: none */
	unsigned has;                 /* bits by enum callback */
	bool is_broken;               /* new() has failed */
};

/* A callback that runs. */
struct call {
	struct script_run run;
	struct script_filter *sf;
	enum callback which;
	enum filter_side side;
	bool has_result;
	lua_Integer result;
};

/* --- the object of a line --------------------------------------------------------------------- */

/* (line): makes its object. The registry has { class, function }. */
static int make_object(lua_State *L)
{
	const struct line *line = lua_touserdata(L, 1);
	struct script_box *box = script_box_of(L);
	unsigned at = box->thread ? box->thread - 1 : 0;

	lua_rawgeti(L, LUA_REGISTRYINDEX, line->fn->refs[at]);
	lua_rawgeti(L, -1, 2);
	lua_newtable(L);
	lua_rawgeti(L, 2, 1);
	for (lua_pushnil(L); lua_next(L, -2);) {
		lua_pushvalue(L, -2);
		lua_insert(L, -2);
		lua_rawset(L, 4);
	}
	lua_pop(L, 1);
	lua_createtable(L, line->arg_count, 0);
	for (int i = 0; i < line->arg_count; i++) {
		lua_pushstring(L, line->args[i]);
		lua_rawseti(L, -2, i + 1);
	}
	lua_call(L, 2, 1);
	if (!lua_istable(L, -1))
		return 0;
	lua_getfield(L, -1, "flags");
	line->objects[at].knows_http = lua_tointeger(L, -1) & FLAG_HTX;
	lua_pop(L, 1);
	line->objects[at].ref = luaL_ref(L, LUA_REGISTRYINDEX);
	return 0;
}

/* Makes it if it is not there yet. False: what the script raised is in <error>. */
static bool object_take(const struct line *line, struct script_box *box, char *error, size_t size)
{
	struct line_object *o = &line->objects[box->thread ? box->thread - 1 : 0];
	bool good = true;
	int top;

	script_box_lock(box);
	top = lua_gettop(box->L);
	if (o->ref == LUA_NOREF) {
		o->ref = LUA_REFNIL;
		lua_pushcfunction(box->L, make_object);
		lua_pushlightuserdata(box->L, (void *)line);
		good = lua_pcall(box->L, 1, 0, 0) == LUA_OK;
		if (!good && lua_type(box->L, -1) == LUA_TSTRING)
			snprintf(error, size, "%s", lua_tostring(box->L, -1));
		else if (!good)
			snprintf(error, size, "%s", luaL_typename(box->L, -1));
		lua_settop(box->L, top);
	}
	script_box_unlock(box);
	return good;
}

static bool filter_parse(struct conf_line *l, struct filter_conf *conf)
{
	struct script_function *fn = container_of(conf->kind, struct script_function, filter);
	struct line *line = arena_zalloc(&l->cfg->arena, sizeof(*line));
	char error[512];

	if (line)
		line->objects = arena_zalloc(&l->cfg->arena,
					     fn->ref_count * sizeof(*line->objects));
	if (!line || !line->objects)
		return conf_error(l, 0, NULL, "out of memory.");
	for (unsigned i = 0; i < fn->ref_count; i++)
		line->objects[i].ref = LUA_NOREF;
	line->fn = fn;
	line->proxy = conf->proxy;
	line->args = l->words + l->at;
	line->arg_count = l->count - l->at;
	l->at = l->count;
	conf->data = line;
	if (object_take(line, fn->shared ? fn->shared : fn->room->boxes[0], error, sizeof(error)))
		return true;
	return conf_error(l, 0, NULL, "Lua filter '%s' : runtime error : %s", fn->own_name, error);
}

/* --- calls ------------------------------------------------------------------------------------ */

static struct script_filter *state_of(const struct filter *f)
{
	return f->state;
}

/* (object, name, ...): calls object:name(...) where there is such a function. */
static int call_method(lua_State *L)
{
	lua_pushvalue(L, 2);
	lua_gettable(L, 1);
	lua_remove(L, 2);
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, 1);
	return 1;
}

static int push_new(lua_State *L, struct script_run *run, void *data)
{
	const struct call *c = data;
	const struct line *line = c->sf->f->conf->data;
	unsigned at = run->box->thread ? run->box->thread - 1 : 0;

	lua_rawgeti(L, LUA_REGISTRYINDEX, line->objects[at].ref);
	lua_pushliteral(L, "new");
	return 2;
}

/* What new() returned is the object of the stream. */
static void take_object(lua_State *L, struct script_run *run, void *data)
{
	struct call *c = data;

	if (!run->result_count || !lua_istable(L, -1))
		return;
	for (unsigned i = 0; i < CB_COUNT; i++) {
		lua_getfield(L, -1, names[i]);
		if (lua_isfunction(L, -1))
			c->sf->has |= 1u << i;
		lua_pop(L, 1);
	}
	lua_pushvalue(L, -1);
	c->sf->object = luaL_ref(L, LUA_REGISTRYINDEX);
}

static int push_callback(lua_State *L, struct script_run *run, void *data)
{
	const struct call *c = data;

	lua_rawgeti(L, LUA_REGISTRYINDEX, c->sf->object);
	lua_pushstring(L, names[c->which]);
	script_push_txn(L, run);
	if (c->which == CB_http_headers || c->which == CB_http_payload || c->which == CB_http_end)
		script_push_message(L, run, c->side);
	else
		script_push_channel(L, run, c->side);
	return 4;
}

static void take_result(lua_State *L, struct script_run *run, void *data)
{
	struct call *c = data;
	int is_number = 0;

	if (run->result_count)
		c->result = lua_tointegerx(L, -1, &is_number);
	c->has_result = is_number;
}

/* Runs <c>. False: the script has failed; that was logged. */
static bool call_run(struct call *c, script_push_fn *push, script_take_fn *take)
{
	struct stream *s = c->sf->f->stream;
	const struct line *line = c->sf->f->conf->data;
	struct expr_ctx ctx = *stream_expr(s, c->side ? EXPR_DIR_RESPONSE : EXPR_DIR_REQUEST);
	enum script_step step = SCRIPT_FAILED;

	c->run.limit_ms = line->fn->room->session_ms;
	c->run.proxy = line->proxy;
	if (script_begin_in(&c->run, line->fn, c->sf->box, c->sf->box->method_ref, &ctx, push, c))
		step = script_go(&c->run, take, c);
	script_end(&c->run);
	return step == SCRIPT_DONE;
}

/* A callback about no bytes. */
static enum filter_result call_plain(struct filter *f, enum callback which, enum filter_side side,
				     bool is_ended)
{
	struct script_filter *sf = state_of(f);
	struct call c = { .sf = sf, .which = which, .side = side };

	if (sf->is_broken)
		return FILTER_ERROR;
	if (!(sf->has & 1u << which))
		return FILTER_NEXT;
	c.run.ways[side].is_ended = is_ended;
	if (!call_run(&c, push_callback, take_result))
		return FILTER_ERROR;
	if (!c.has_result || c.result > FLT_WAIT)
		return FILTER_NEXT;
	return c.result == FLT_WAIT ? FILTER_WAIT : FILTER_ERROR;
}

/* --- the filter of a stream ------------------------------------------------------------------- */

static bool filter_attach(struct filter *f)
{
	const struct line *line = f->conf->data;
	struct script_filter *sf = state_of(f);
	struct call c = { .sf = sf };
	const struct line_object *o;
	char error[512];
	int ref;

	sf->f = f;
	sf->object = LUA_NOREF;
	sf->box = script_box_for(line->fn, &ref);
	if (!sf->box)
		return false;
	if (!object_take(line, sf->box, error, sizeof(error))) {
		script_error(line->fn->room, line->proxy, "Lua filter '%s' : runtime error : %s",
			     line->fn->own_name, error);
		return false;
	}
	o = &line->objects[sf->box->thread ? sf->box->thread - 1 : 0];
	if (o->ref == LUA_REFNIL || (f->stream->flags & STRM_HTTP && !o->knows_http))
		return false;
	sf->is_broken = !call_run(&c, push_new, take_object);
	return sf->is_broken || sf->object != LUA_NOREF;
}

static void filter_detach(struct filter *f)
{
	struct script_filter *sf = state_of(f);

	script_box_lock(sf->box);
	luaL_unref(sf->box->L, LUA_REGISTRYINDEX, sf->object);
	script_box_unlock(sf->box);
}

static enum filter_result filter_begin(struct filter *f, enum filter_side side)
{
	return call_plain(f, CB_start_analyze, side, false);
}

static void filter_finish(struct filter *f, enum filter_side side)
{
	call_plain(f, CB_end_analyze, side, true);
}

static enum filter_result filter_head(struct filter *f, enum filter_side side, struct http_msg *m)
{
	return call_plain(f, CB_http_headers, side, m->body == HTTP_BODY_NONE);
}

static enum filter_result filter_end(struct filter *f, enum filter_side side)
{
	return call_plain(f, CB_http_end, side, true);
}

/* What a callback returns is how many bytes go on, behind those that it has forwarded: all, where
 * it returns nothing.
 */
static enum filter_result filter_data(struct filter *f, enum filter_side side,
				      struct block_queue *in, struct block_queue *out, bool end)
{
	struct script_filter *sf = state_of(f);
	enum callback which = filter_sees_http(f) ? CB_http_payload : CB_tcp_payload;
	struct call c = { .sf = sf, .which = which, .side = side };
	size_t n = in->len;

	if (sf->has & 1u << which) {
		c.run.ways[side] = (struct script_way){ .in = in, .out = out, .is_ended = end };
		if (!call_run(&c, push_callback, take_result))
			return FILTER_ERROR;
		n = in->len;
		if (c.has_result && c.result >= 0 && (uint64_t)c.result < n)
			n = (size_t)c.result;
	}
	if (!block_queue_move_len(out, in, n))
		return FILTER_ERROR;
	if (in->len && n)
		filter_wake(f);
	return FILTER_NEXT;
}

const struct filter_kind *script_filter_find(const struct config *cfg, const char *name)
{
	const struct script_function *fn = script_room_of(cfg)->functions;

	for (; fn; fn = fn->next)
		if (fn->kind == SCRIPT_FILTER && strcmp(fn->name, name) == 0)
			return &fn->filter;
	return NULL;
}

/* --- what scripts see ------------------------------------------------------------------------- */

/* core.register_filter(name, class, function) */
static int register_filter(lua_State *L)
{
	struct script_function *fn;
	const char *name = luaL_checkstring(L, 1), *id;

	if (lua_gettop(L) != 3)
		return luaL_error(L, "'register_filter' needs 3 arguments");
	luaL_argcheck(L, lua_istable(L, 2), 2, "2nd argument must be a table");
	luaL_checktype(L, 3, LUA_TFUNCTION);
	fn = script_function_take(L, SCRIPT_FILTER, name, 3);
	lua_createtable(L, 2, 0);
	lua_pushvalue(L, 2);
	lua_rawseti(L, -2, 1);
	lua_pushvalue(L, 3);
	lua_rawseti(L, -2, 2);
	lua_rawseti(L, LUA_REGISTRYINDEX, fn->refs[script_box_of(L)->thread
						   ? script_box_of(L)->thread - 1 : 0]);
	lua_getfield(L, 2, "id");
	id = lua_isstring(L, -1) ? conf_strdup(fn->room->cfg, lua_tostring(L, -1)) : NULL;
	fn->filter = (struct filter_kind){
		.name = fn->name, .group = "HLUA", .id = id ? id : fn->own_name,
		.state_size = sizeof(struct script_filter), .parse = filter_parse,
		.attach = filter_attach, .detach = filter_detach, .begin = filter_begin,
		.finish = filter_finish, .head = filter_head, .data = filter_data,
		.end = filter_end,
	};
	return 0;
}

/* The filter whose callback runs; raises an error outside of one. */
static struct call *call_at(lua_State *L)
{
	struct script_run *run = script_box_of(L)->running;

	if (!run || run->fn->kind != SCRIPT_FILTER)
		luaL_error(L, "only callbacks of filters may call this");
	return container_of(run, struct call, run);
}

/* filter.register_data_filter([object,] channel), and the opposite */
static int watch(lua_State *L)
{
	struct call *c = call_at(L);
	unsigned side;

	lua_replace(L, 1);
	script_way_at(L, "Channel", &side);
	if (lua_toboolean(L, lua_upvalueindex(1)))
		filter_watch(c->sf->f, (enum filter_side)side);
	else
		filter_unwatch(c->sf->f, (enum filter_side)side);
	return 0;
}

/* filter.wake_time(milliseconds) */
static int wake_time(lua_State *L)
{
	struct call *c = call_at(L);
	lua_Integer ms = luaL_checkinteger(L, 1);

	luaL_argcheck(L, ms > 0, 1, "a time is expected");
	filter_wake_ms(c->sf->f, ms);
	return 0;
}

void script_filter_open(lua_State *L)
{
	lua_newtable(L);
	script_set_integer(L, "CONTINUE", FLT_CONTINUE);
	script_set_integer(L, "WAIT", FLT_WAIT);
	script_set_integer(L, "ERROR", FLT_ERROR);
	script_set_integer(L, "FLT_CFG_FL_HTX", FLAG_HTX);
	for (int on = 0; on < 2; on++) {
		lua_pushboolean(L, on);
		lua_pushcclosure(L, watch, 1);
		lua_setfield(L, -2, on ? "register_data_filter" : "unregister_data_filter");
	}
	lua_pushcfunction(L, wake_time);
	lua_setfield(L, -2, "wake_time");
	lua_setglobal(L, "filter");
	lua_getglobal(L, "core");
	lua_pushcfunction(L, register_filter);
	lua_setfield(L, -2, "register_filter");
	lua_pop(L, 1);
	lua_pushcfunction(L, call_method);
	script_box_of(L)->method_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* txn.c - class TXN: a stream as a script sees it; variables */
#include "class_priv.h"
#include "expr/vars.h"
#include "net/conn_facts.h"
#include "room_priv.h"
#include "run_priv.h"
#include "state_priv.h"
#include "stream/stream.h"
#include "value_priv.h"

/* --- variables: of TXN and of services ------------------------------------------------------- */

/* The name at 2, "txn.name". False: it is none, which scripts are told as a value. */
static bool name_at_2(lua_State *L, enum var_scope *scope, struct slice *name)
{
	*name = script_text(L, 2);
	return var_name_split(name, scope);
}

int script_set_var(lua_State *L, struct script_run *run)
{
	bool only_known = lua_toboolean(L, 4);
	struct slice name;
	enum var_scope scope;
	struct sample value;

	luaL_checkany(L, 3);
	if (!name_at_2(L, &scope, &name)) {
		lua_pushboolean(L, false);
		return 1;
	}
	script_to_sample(L, 3, run->ctx->arena, &value);
	lua_pushboolean(L, var_set_named(run->box->room->cfg, scope, name, run->ctx, &value,
					 !only_known || scope != VAR_PROC));
	return 1;
}

int script_unset_var(lua_State *L, struct script_run *run)
{
	struct slice name;
	enum var_scope scope;

	lua_pushboolean(L, name_at_2(L, &scope, &name) &&
			var_set_named(run->box->room->cfg, scope, name, run->ctx, NULL, false));
	return 1;
}

int script_get_var(lua_State *L, struct script_run *run)
{
	struct slice name;
	enum var_scope scope;
	struct sample value;

	if (name_at_2(L, &scope, &name) &&
	    var_get_named(run->box->room->cfg, scope, name, run->ctx, &value))
		script_push_sample(L, &value, run->ctx->arena, false);
	else
		lua_pushnil(L);
	return 1;
}

static int txn_set_var(lua_State *L)
{
	return script_set_var(L, script_self(L, 1, "TXN"));
}

static int txn_unset_var(lua_State *L)
{
	return script_unset_var(L, script_self(L, 1, "TXN"));
}

static int txn_get_var(lua_State *L)
{
	return script_get_var(L, script_self(L, 1, "TXN"));
}

/* --- logs ------------------------------------------------------------------------------------- */

static int txn_log(lua_State *L)
{
	struct script_run *run = script_self(L, 1, "TXN");
	lua_Integer level = luaL_checkinteger(L, 2);

	luaL_argcheck(L, level >= 0 && level < LOG_LEVELS, 2, "a log level is expected");
	script_log(run->box->room, run->ctx->proxy, (enum log_level)level, script_text(L, 3));
	return 0;
}

/* The default level is the highest one, so no target leaves it out. */
static int txn_deflog(lua_State *L)
{
	struct script_run *run = script_self(L, 1, "TXN");

	script_log(run->box->room, run->ctx->proxy, LOG_LVL_EMERG, script_text(L, 2));
	return 0;
}

static int txn_say(lua_State *L)
{
	struct script_run *run = script_self(L, 1, "TXN");

	script_log(run->box->room, run->ctx->proxy,
		   (enum log_level)lua_tointeger(L, lua_upvalueindex(1)), script_text(L, 2));
	return 0;
}

static int txn_set_loglevel(lua_State *L)
{
	struct script_run *run = script_self(L, 1, "TXN");
	lua_Integer level = luaL_checkinteger(L, 2);

	luaL_argcheck(L, level >= -1 && level < LOG_LEVELS, 2, "a log level is expected");
	if (run->ctx->stream)
		run->ctx->stream->log.level = level < 0 ? LOG_LEVEL_SILENT : (uint8_t)level;
	return 0;
}

/* --- packets, ranks --------------------------------------------------------------------------- */

static int set_tos(lua_State *L)
{
	struct script_run *run = script_self(L, 1, "TXN");
	lua_Integer tos = luaL_checkinteger(L, 2);

	if (run->ctx->session && run->ctx->session->conn)
		conn_set_tos(run->ctx->session->conn, (uint8_t)tos);
	return 0;
}

static int set_mark(lua_State *L)
{
	struct script_run *run = script_self(L, 1, "TXN");
	lua_Integer mark = luaL_checkinteger(L, 2);

	if (run->ctx->session && run->ctx->session->conn)
		conn_set_mark(run->ctx->session->conn, (uint32_t)mark);
	return 0;
}

/* The number at 2, cut to its limits. */
static int32_t rank_at(lua_State *L, lua_Integer limit)
{
	lua_Integer n = luaL_checkinteger(L, 2);

	return (int32_t)(n < -limit ? -limit : n > limit ? limit : n);
}

static int set_priority_class(lua_State *L)
{
	struct script_run *run = script_self(L, 1, "TXN");

	if (run->ctx->stream)
		run->ctx->stream->queue.priority_class = (int16_t)rank_at(L, 2047);
	return 0;
}

static int set_priority_offset(lua_State *L)
{
	struct script_run *run = script_self(L, 1, "TXN");

	if (run->ctx->stream)
		run->ctx->stream->queue.priority_offset_ms = rank_at(L, 524287);
	return 0;
}

/* --- what a script keeps with a stream -------------------------------------------------------- */

/* A value in the registry of a state. */
struct kept {
	struct script_box *box;       /* NULL: nothing is kept */
	int ref;
};

static void kept_drop(struct kept *k)
{
	if (!k->box)
		return;
	script_box_lock(k->box);
	luaL_unref(k->box->L, LUA_REGISTRYINDEX, k->ref);
	script_box_unlock(k->box);
	k->box = NULL;
}

static void kept_fini(void *data)
{
	struct kept **k = data;

	if (*k)
		kept_drop(*k);
}

struct slot script_kept_slot = {
	.of = SLOT_STREAM, .size = sizeof(struct kept *), .fini = kept_fini,
};

static struct kept **kept_of(const struct script_run *run)
{
	return slot_of(&script_kept_slot, stream_slots(run->ctx->stream));
}

static int set_priv(lua_State *L)
{
	struct script_run *run = script_self(L, 1, "TXN");
	struct kept **k;

	luaL_checkany(L, 2);
	if (!run->ctx->stream)
		return 0;
	k = kept_of(run);
	if (!*k)
		*k = arena_zalloc(&run->ctx->stream->arena, sizeof(**k));
	if (!*k)
		return luaL_error(L, "out of memory");
	kept_drop(*k);
	lua_settop(L, 2);
	(*k)->ref = luaL_ref(L, LUA_REGISTRYINDEX);
	(*k)->box = run->box;
	return 0;
}

static int get_priv(lua_State *L)
{
	struct script_run *run = script_self(L, 1, "TXN");
	const struct kept *k = run->ctx->stream ? *kept_of(run) : NULL;

	if (k && k->box == run->box)
		lua_rawgeti(L, LUA_REGISTRYINDEX, k->ref);
	else
		lua_pushnil(L);
	return 1;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* txn:done([reply]): ends the script and the transaction. */
static int txn_done(lua_State *L)
{
	struct script_run *run = script_self(L, 1, "TXN");
	struct stream *s = run->ctx->stream;

	if (run->fn->kind != SCRIPT_ACTION || !s)
		return 0;
	if (lua_istable(L, 2) && s->flags & STRM_HTTP) {
		if (!script_reply_make(L, 2, s))
			return luaL_error(L, "the reply cannot be made");
		run->has_reply = true;
	}
	run->is_done = true;
	lua_pushlightuserdata(L, run);
	return lua_error(L);
}

static int txn_reply(lua_State *L)
{
	script_self(L, 1, "TXN");
	return script_new_reply(L);
}

static const luaL_Reg methods[] = {
	{ "set_var", txn_set_var }, { "unset_var", txn_unset_var }, { "get_var", txn_get_var },
	{ "log", txn_log }, { "deflog", txn_deflog }, { "set_loglevel", txn_set_loglevel },
	{ "done", txn_done }, { "reply", txn_reply }, { "set_fc_tos", set_tos },
	{ "set_tos", set_tos }, { "set_fc_mark", set_mark }, { "set_mark", set_mark },
	{ "set_priority_class", set_priority_class },
	{ "set_priority_offset", set_priority_offset }, { "set_priv", set_priv },
	{ "get_priv", get_priv }, { NULL, NULL }
};

/* --- its fields ------------------------------------------------------------------------------- */

static void push_channel(lua_State *L, struct script_run *run, enum filter_side side)
{
	if (run->ctx->stream)
		script_push_channel(L, run, side);
	else
		lua_pushnil(L);
}

static void push_req(lua_State *L, struct script_run *run)
{
	push_channel(L, run, FILTER_REQUEST);
}

static void push_res(lua_State *L, struct script_run *run)
{
	push_channel(L, run, FILTER_RESPONSE);
}

static bool is_http(const struct script_run *run)
{
	return run->ctx->stream && run->ctx->stream->flags & STRM_HTTP;
}

static void push_http(lua_State *L, struct script_run *run)
{
	if (!is_http(run)) {
		lua_pushnil(L);
		return;
	}
	lua_createtable(L, 0, 1);
	script_push_handle(L, run);
	script_class_set(L, "HTTP");
}

static void push_message(lua_State *L, struct script_run *run, enum filter_side side)
{
	if (is_http(run) && run->fn->kind == SCRIPT_FILTER)
		script_push_message(L, run, side);
	else
		lua_pushnil(L);
}

static void push_http_req(lua_State *L, struct script_run *run)
{
	push_message(L, run, FILTER_REQUEST);
}

static void push_http_res(lua_State *L, struct script_run *run)
{
	push_message(L, run, FILTER_RESPONSE);
}

static int txn_index(lua_State *L)
{
	static const struct script_field fields[] = {
		SCRIPT_SMP_FIELDS, { "req", push_req }, { "res", push_res }, { "http", push_http },
		{ "http_req", push_http_req }, { "http_res", push_http_res }, { NULL, NULL }
	};

	return script_index(L, "TXN", fields);
}

void script_txn_open(lua_State *L)
{
	static const struct { const char *name; int level; } says[] = {
		{ "Debug", LOG_LVL_DEBUG }, { "Info", LOG_LVL_INFO },
		{ "Warning", LOG_LVL_WARNING }, { "Alert", LOG_LVL_ALERT },
	};

	script_class_new(L, "TXN", methods);
	luaL_getmetatable(L, "TXN");
	lua_getfield(L, -1, "__index");
	for (int i = 0; i < 4; i++) {
		lua_pushinteger(L, says[i].level);
		lua_pushcclosure(L, txn_say, 1);
		lua_setfield(L, -2, says[i].name);
	}
	lua_pop(L, 2);
	script_class_set_meta(L, "TXN", "__index", txn_index);
}

int script_push_txn(lua_State *L, struct script_run *run)
{
	lua_createtable(L, 0, 4);
	script_push_handle(L, run);
	script_class_set(L, "TXN");
	return 1;
}

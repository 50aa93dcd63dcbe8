/* SPDX-License-Identifier: GPL-2.0-or-later */
/* service.c - services that scripts bring, class AppletHTTP: `http-request use-service lua.NAME` */
#include <stdlib.h>
#include "base/bug.h"
#include "base/clock.h"
#include "class_priv.h"
#include "core/timer.h"
#include "room_priv.h"
#include "row_priv.h"
#include "run_priv.h"
#include "state_priv.h"
#include "stream/stream.h"
#include "value_priv.h"

#define BODY_MAX (64 * 1024)  /* of a request that waits for receive() */
#define AHEAD 16384           /* of an answer that waits for its client */

struct applet {
	struct service_call *call;
	struct script_run run;
	struct expr_ctx ctx;
	struct timer timer;
	struct strbuf out;            /* sent by the script, not yet taken */
	uint64_t left;                /* of content-length */
	bool began, over, failed;
	bool is_due;                  /* it may go on */
	bool wants_body;              /* it may when some came */
	bool has_head;                /* start_response() was called */
	bool has_status, has_length, no_body;
};

static struct applet *applet_at(lua_State *L)
{
	struct script_run *run = script_self(L, 1, "AppletHTTP");

	if (run->fn->kind != SCRIPT_SERVICE || run->applet)
		luaL_argerror(L, 1, "an object of class AppletHTTP is expected");
	return container_of(run, struct applet, run);
}

/* --- the answer ------------------------------------------------------------------------------- */

static int set_status(lua_State *L)
{
	struct applet *a = applet_at(L);
	lua_Integer status = luaL_checkinteger(L, 2);
	struct slice reason = lua_isnoneornil(L, 3) ? slice_none() : script_text(L, 3);

	luaL_argcheck(L, status >= 200 && status <= 999, 2, "the status of an answer is expected");
	for (size_t i = 0; i < reason.len; i++)
		luaL_argcheck(L, (unsigned char)reason.ptr[i] >= ' ', 3, "a control character");
	if (reason.ptr)
		reason = arena_copy(&a->call->stream->arena, reason);
	if (!http_msg_set_status(a->call->head, (unsigned)status, reason))
		return luaL_error(L, "out of memory");
	a->has_status = true;
	a->no_body = status == 204 || status == 304;
	return 0;
}

static int add_header(lua_State *L)
{
	struct applet *a = applet_at(L);
	struct slice name = script_text(L, 2), value = script_text(L, 3);

	luaL_argcheck(L, name.len && h1_is_token(name), 2, "the name of a field is expected");
	if (a->has_head)
		return luaL_error(L, "the answer has been started");
	for (size_t i = 0; i < value.len; i++)
		luaL_argcheck(L, (unsigned char)value.ptr[i] >= ' ' || value.ptr[i] == '\t', 3,
			      "a control character");
	if (slice_eq_nocase(name, SLICE("transfer-encoding")))
		return 0; /* the framing is ours */
	if (slice_eq_nocase(name, SLICE("content-length"))) {
		char *end;

		a->left = strtoull(value.ptr, &end, 10);
		luaL_argcheck(L, value.len && ascii_is_digit(*value.ptr) && !*end, 3,
			      "a length is expected");
		luaL_argcheck(L, !a->has_length, 2, "the length was given already");
		a->has_length = true;
	}
	if (!http_msg_add_field(a->call->head, name, value))
		return luaL_error(L, "out of memory");
	return 0;
}

static int start_response(lua_State *L)
{
	struct applet *a = applet_at(L);
	struct http_msg *m = a->call->head;

	if (a->no_body)
		m->body = HTTP_BODY_NONE;
	else if (a->has_length)
		m->body = HTTP_BODY_LENGTH;
	m->content_length = a->left;
	if (a->call->stream->req.version == 10) /* as HAProxy does it */
		m->version = 10;
	a->has_head = true;
	lua_pushboolean(L, true);
	return 1;
}

static int after_send(lua_State *L, int status, lua_KContext k)
{
	lua_pushinteger(L, (lua_Integer)lua_rawlen(L, 2));
	return 1;
}

static int send_text(lua_State *L)
{
	struct applet *a = applet_at(L);
	struct slice text = script_text(L, 2);

	if (!a->has_head)
		return luaL_error(L, "Lua: 'send' you must call start_response() before sending "
				  "data.");
	if (a->has_length && text.len > a->left)
		text.len = (size_t)a->left;
	if (a->has_length)
		a->left -= text.len;
	if (!a->no_body && !strbuf_add(&a->out, text))
		return luaL_error(L, "out of memory");
	if (a->out.len > AHEAD)
		return script_yield_to(L, clock_now_ms(), 0, after_send);
	return after_send(L, LUA_OK, 0);
}

/* --- the request ------------------------------------------------------------------------------ */

/* Moves <len> bytes of the body to the buffer at <b>. */
static void take_body(struct applet *a, luaL_Buffer *b, size_t len)
{
	char *to = luaL_prepbuffsize(b, len);

	block_queue_peek(&a->call->body, 0, to, len);
	block_queue_skip(&a->call->body, len);
	luaL_addsize(b, len);
	service_read(a->call);
}

/* What was read so far stands in the table at 3, for the body may be longer than what waits. */
static int keep_part(lua_State *L, struct applet *a, size_t len)
{
	luaL_Buffer b;

	if (!len)
		return 0;
	luaL_buffinit(L, &b);
	take_body(a, &b, len);
	luaL_pushresult(&b);
	lua_rawseti(L, 3, (lua_Integer)lua_rawlen(L, 3) + 1);
	return 0;
}

static int push_parts(lua_State *L)
{
	lua_Integer count = (lua_Integer)lua_rawlen(L, 3);
	luaL_Buffer b;

	luaL_buffinit(L, &b);
	for (lua_Integer i = 1; i <= count; i++) {
		lua_rawgeti(L, 3, i);
		luaL_addvalue(&b);
	}
	luaL_pushresult(&b);
	return 1;
}

/* 2: how many bytes are still wanted, negative: all. */
static int receive_on(lua_State *L, int status, lua_KContext k)
{
	struct applet *a = applet_at(L);
	lua_Integer wanted = lua_tointeger(L, 2);
	size_t len = a->call->body.len;

	if (wanted >= 0 && (lua_Integer)len > wanted)
		len = (size_t)wanted;
	keep_part(L, a, len);
	if (wanted >= 0)
		wanted -= (lua_Integer)len;
	if (wanted == 0 || (!a->call->body.len && a->call->body_is_whole))
		return push_parts(L);
	lua_pushinteger(L, wanted);
	lua_replace(L, 2);
	return script_yield_to(L, TIMER_NEVER, 0, receive_on);
}

static int receive(lua_State *L)
{
	lua_Integer wanted = luaL_optinteger(L, 2, -1);

	lua_settop(L, 1);
	lua_pushinteger(L, wanted < 0 ? -1 : wanted);
	lua_newtable(L);
	return receive_on(L, LUA_OK, 0);
}

/* The bytes up to the end of the line, or all that are there; *found: does it end there? */
static size_t line_length(const struct applet *a, bool *found)
{
	const struct piece *p;
	size_t len = 0;

	*found = false;
	for (p = a->call->body.first; p; p = p->next) {
		const char *end = memchr(p->ptr, '\n', p->len);

		if (end) {
			*found = true;
			return len + (size_t)(end - p->ptr) + 1;
		}
		len += p->len;
	}
	return len;
}

static int getline_on(lua_State *L, int status, lua_KContext k)
{
	struct applet *a = applet_at(L);
	bool found;

	keep_part(L, a, line_length(a, &found));
	if (found || (!a->call->body.len && a->call->body_is_whole))
		return push_parts(L);
	return script_yield_to(L, TIMER_NEVER, 0, getline_on);
}

static int get_line(lua_State *L)
{
	lua_settop(L, 2);
	lua_newtable(L);
	return getline_on(L, LUA_OK, 0);
}

/* --- variables -------------------------------------------------------------------------------- */

static int set_var(lua_State *L)
{
	return script_set_var(L, &applet_at(L)->run);
}

static int unset_var(lua_State *L)
{
	return script_unset_var(L, &applet_at(L)->run);
}

static int get_var(lua_State *L)
{
	return script_get_var(L, &applet_at(L)->run);
}

/* applet:set_priv(value), applet:get_priv(): [-1] of the object, which is the call's alone */
static int set_priv(lua_State *L)
{
	script_self(L, 1, "AppletHTTP");
	lua_settop(L, 2);
	lua_rawseti(L, 1, -1);
	return 0;
}

static int get_priv(lua_State *L)
{
	script_self(L, 1, "AppletHTTP");
	lua_rawgeti(L, 1, -1);
	return 1;
}

static const luaL_Reg methods[] = {
	{ "set_priv", set_priv }, { "get_priv", get_priv },
	{ "set_status", set_status }, { "add_header", add_header },
	{ "start_response", start_response }, { "send", send_text }, { "receive", receive },
	{ "getline", get_line }, { "set_var", set_var }, { "unset_var", unset_var },
	{ "get_var", get_var }, { NULL, NULL }
};

/* --- the object ------------------------------------------------------------------------------- */

static void push_slice(lua_State *L, struct slice text)
{
	lua_pushlstring(L, text.ptr ? text.ptr : "", text.len);
}

static const struct http_msg *request_of(lua_State *L, const struct script_run *run)
{
	if (!run->ctx->stream)
		luaL_argerror(L, 1, "an object of class AppletHTTP is expected");
	return &run->ctx->stream->req;
}

static void push_method(lua_State *L, struct script_run *run)
{
	push_slice(L, request_of(L, run)->method_text);
}

static void push_path(lua_State *L, struct script_run *run)
{
	push_slice(L, http_msg_path(request_of(L, run)));
}

static void push_query(lua_State *L, struct script_run *run)
{
	push_slice(L, http_msg_query(request_of(L, run)));
}

static void push_version(lua_State *L, struct script_run *run)
{
	lua_pushstring(L, request_of(L, run)->version == 10 ? "HTTP/1.0" : "HTTP/1.1");
}

static void push_length(lua_State *L, struct script_run *run)
{
	const struct http_msg *m = request_of(L, run);

	lua_pushinteger(L, m->body == HTTP_BODY_LENGTH ? (lua_Integer)m->content_length : 0);
}

static void push_headers(lua_State *L, struct script_run *run)
{
	script_push_headers(L, &request_of(L, run)->fields);
}

static int applet_index(lua_State *L)
{
	static const struct script_field fields[] = {
		SCRIPT_SMP_FIELDS, { "method", push_method }, { "path", push_path },
		{ "qs", push_query }, { "version", push_version }, { "length", push_length },
		{ "headers", push_headers }, { NULL, NULL }
	};

	return script_index(L, "AppletHTTP", fields);
}

void script_service_open(lua_State *L)
{
	script_class_new(L, "AppletHTTP", methods);
	script_class_set_meta(L, "AppletHTTP", "__index", applet_index);
}

static int push_applet(lua_State *L, struct script_run *run, void *data)
{
	lua_createtable(L, 0, 4);
	script_push_handle(L, run);
	script_class_set(L, "AppletHTTP");
	return 1;
}

/* --- the service ------------------------------------------------------------------------------ */

static void applet_due(struct timer *t)
{
	struct applet *a = container_of(t, struct applet, timer);

	a->is_due = true;
	service_continue(a->call);
}

static void applet_wake(struct script_run *run)
{
	applet_due(&container_of(run, struct applet, run)->timer);
}

static void applet_ends(struct applet *a, bool good)
{
	a->over = true;
	a->failed = !good || !a->has_head;
	script_end(&a->run);
}

/* Lets the script go on, if it can. */
static void applet_go(struct applet *a)
{
	enum script_step step;

	if (a->over || (!a->is_due && !a->wants_body))
		return;
	a->is_due = a->wants_body = false;
	timer_cancel(&a->timer); /* something else may have ended the wait */
	step = script_go(&a->run, NULL, NULL);
	if (step != SCRIPT_WAITS) {
		applet_ends(a, step == SCRIPT_DONE);
		return;
	}
	a->wants_body = a->run.wake_ms == TIMER_NEVER;
	a->is_due = a->run.wake_ms <= clock_now_ms();
	if (!a->wants_body && !a->is_due)
		timer_set(&a->timer, a->run.wake_ms);
}

static bool applet_open(struct applet *a, struct service_call *c)
{
	struct script_function *fn = container_of(c->kind, struct script_function, service);
	unsigned flags = c->stream->expr.flags;

	a->began = true;
	a->call = c;
	a->ctx = *stream_expr(c->stream, EXPR_DIR_REQUEST | EXPR_FINAL);
	c->stream->expr.flags = flags;
	timer_init(&a->timer, applet_due);
	strbuf_init(&a->out);
	a->run.may_wait = true;
	a->run.wake = applet_wake;
	a->run.limit_ms = fn->room->service_ms;
	a->run.proxy = c->proxy;
	a->is_due = true;
	return script_begin(&a->run, fn, &a->ctx, push_applet, a);
}

static enum service_result applet_begin(struct service_call *c)
{
	struct applet *a = c->state;

	if (!a->began && !applet_open(a, c))
		return SERVICE_ERROR;
	applet_go(a);
	if (a->has_head)
		return SERVICE_DONE;
	if (a->over)
		return SERVICE_ERROR;
	return a->is_due ? SERVICE_MORE : SERVICE_WAIT;
}

static enum service_result applet_part(struct service_call *c, struct strbuf *out)
{
	struct applet *a = c->state;

	if (!a->out.len)
		applet_go(a);
	if (a->out.len && !strbuf_add(out, strbuf_slice(&a->out)))
		return SERVICE_ERROR;
	strbuf_reset(&a->out);
	if (a->over)
		return a->failed || (a->has_length && a->left && !a->no_body) ? SERVICE_ERROR
			: SERVICE_DONE;
	return a->is_due ? SERVICE_MORE : SERVICE_WAIT;
}

static void applet_end(struct service_call *c)
{
	struct applet *a = c->state;

	if (!a->began)
		return;
	timer_cancel(&a->timer);
	script_end(&a->run);
	strbuf_fini(&a->out);
}

void script_service_row(struct script_function *fn)
{
	fn->said = arena_printf(&fn->room->cfg->arena, "<%s>", fn->name);
	fn->service = (struct service_kind){
		.name = fn->name, .shown = fn->said, .state_size = sizeof(struct applet),
		.body_max = BODY_MAX, .streams_body = true, .begin = applet_begin,
		.part = applet_part, .end = applet_end,
	};
}

const struct service_kind *script_service_find(const struct config *cfg, const char *name)
{
	const struct script_function *fn = script_room_of(cfg)->functions;

	for (; fn; fn = fn->next)
		if (fn->kind == SCRIPT_SERVICE && strcmp(fn->name, name) == 0)
			return &fn->service;
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http_client.c - class HTTPClient: requests of scripts to other servers
 *
 * A function starts a call of the client (client/http_client.h), yields its thread, and continues
 * when the answer is complete. The call belongs to the run: if the run ends first, the call is
 * cancelled.
 */
#include <stdlib.h>
#include "base/addr.h"
#include "base/block.h"
#include "base/strbuf.h"
#include "class_priv.h"
#include "client/http_client.h"
#include "codec/uri.h"
#include "proxy/proxy.h"
#include "run_priv.h"
#include "state_priv.h"

/* Bytes of an answer that are taken. */
#define BODY_MAX (64 << 20)

struct lua_call {
	struct script_held held;
	struct script_run *run;
	struct http_call *call;       /* NULL: it is over */
	uint16_t status;
	struct strbuf reason, fields; /* "name NUL value NUL" ... */
	struct strbuf body;           /* of the answer */
	char *request;                /* the body of the request */
	size_t request_len;
	bool is_large;
};

/* --- what the client tells -------------------------------------------------------------------- */

static enum inside_result call_part(struct http_call *c, struct block_queue *to)
{
	const struct lua_call *lc = c->ctx;

	return block_queue_add_copy(to, slice_make(lc->request, lc->request_len)) ? INSIDE_DONE
		: INSIDE_ERROR;
}

static void call_head(struct http_call *c, const struct http_msg *m)
{
	struct lua_call *lc = c->ctx;

	if (m->flags & HTTP_MSG_INTERIM)
		return;
	lc->status = m->status;
	strbuf_add(&lc->reason, m->reason);
	for (unsigned i = 0; i < m->fields.count; i++) {
		const struct h1_field *f = &m->fields.list[i];

		if (!f->name.ptr)
			continue;
		strbuf_add(&lc->fields, f->name);
		strbuf_add_char(&lc->fields, '\0');
		strbuf_add(&lc->fields, f->value);
		strbuf_add_char(&lc->fields, '\0');
	}
}

static void call_data(struct http_call *c, struct block_queue *from)
{
	struct lua_call *lc = c->ctx;

	for (const struct piece *p = from->first; p && !lc->is_large; p = p->next)
		lc->is_large = lc->body.len + p->len > BODY_MAX ||
			       !strbuf_add(&lc->body, slice_make(p->ptr, p->len));
	block_queue_clear(from);
}

static void call_end(struct http_call *c, bool whole, enum stream_end why)
{
	struct lua_call *lc = c->ctx;

	lc->call = NULL;
	script_wake(lc->run);
}

static const struct http_call_kind call_kind = {
	.name = "LUA", .part = call_part, .head = call_head, .data = call_data, .end = call_end,
};

/* The run ends, or has its answer. */
static void call_drop(struct script_held *held)
{
	struct lua_call *lc = container_of(held, struct lua_call, held);

	if (lc->call)
		http_call_cancel(lc->call);
	strbuf_fini(&lc->reason);
	strbuf_fini(&lc->fields);
	strbuf_fini(&lc->body);
	free(lc->request);
	free(lc);
}

/* --- the answer ------------------------------------------------------------------------------- */

/* The table of fields: by name, each a list from 0 on. */
static void push_fields(lua_State *L, const struct lua_call *lc)
{
	const char *at = lc->fields.ptr, *end = at + lc->fields.len;

	lua_newtable(L);
	while (at < end) {
		struct slice name = slice_of(at), value = slice_of(at + name.len + 1);
		bool has_first;

		lua_pushlstring(L, name.ptr, name.len);
		if (lua_rawget(L, -2) != LUA_TTABLE) {
			lua_pop(L, 1);
			lua_newtable(L);
			lua_pushlstring(L, name.ptr, name.len);
			lua_pushvalue(L, -2);
			lua_rawset(L, -4);
		}
		has_first = lua_rawgeti(L, -1, 0) != LUA_TNIL;
		lua_pop(L, 1);
		lua_pushlstring(L, value.ptr, value.len);
		lua_rawseti(L, -2, has_first ? (lua_Integer)lua_rawlen(L, -2) + 1 : 0);
		lua_pop(L, 1);
		at = value.ptr + value.len + 1;
	}
}

static int answered(lua_State *L, int status, lua_KContext k)
{
	struct lua_call *lc = (struct lua_call *)k;
	bool is_large = lc->is_large;

	if (lc->call)
		return script_yield_to(L, TIMER_NEVER, k, answered);
	lua_createtable(L, 0, 4);
	lua_pushinteger(L, lc->status);
	lua_setfield(L, -2, "status");
	lua_pushlstring(L, lc->reason.len ? lc->reason.ptr : "", lc->reason.len);
	lua_setfield(L, -2, "reason");
	push_fields(L, lc);
	lua_setfield(L, -2, "headers");
	lua_pushlstring(L, lc->body.len ? lc->body.ptr : "", lc->body.len);
	lua_setfield(L, -2, "body");
	script_let_go(&lc->held);
	return is_large ? luaL_error(L, "the answer is longer than %d bytes", BODY_MAX) : 1;
}

/* --- the request ------------------------------------------------------------------------------ */

/* Adds the field of this name whose value is on the stack. False: no memory, or none. */
static bool add_field(lua_State *L, struct http_msg *m, struct slice name)
{
	struct slice value;

	value.ptr = lua_tolstring(L, -1, &value.len);
	for (size_t i = 0; value.ptr && i < value.len; i++)
		if ((unsigned char)value.ptr[i] < ' ' && value.ptr[i] != '\t')
			return false;
	if (!value.ptr || !name.len || !h1_is_token(name))
		return false;
	if (slice_eq_nocase(name, SLICE("host")))
		return http_msg_set_field(m, name, value);
	if (slice_eq_nocase(name, SLICE("content-length")) ||
	    slice_eq_nocase(name, SLICE("transfer-encoding")))
		return true; /* the framing is ours */
	return http_msg_add_field(m, name, value);
}

/* The table `headers` on the stack. */
static bool add_fields(lua_State *L, struct http_msg *m)
{
	bool good = true;

	for (lua_pushnil(L); good && lua_next(L, -2); lua_pop(L, 1)) {
		struct slice name = { 0 };

		if (lua_type(L, -2) == LUA_TSTRING)
			name.ptr = lua_tolstring(L, -2, &name.len);
		if (lua_type(L, -1) != LUA_TTABLE) {
			good = add_field(L, m, name);
			continue;
		}
		for (lua_pushnil(L); good && lua_next(L, -2); lua_pop(L, 1))
			good = add_field(L, m, name);
		if (!good)
			lua_pop(L, 2);
	}
	if (!good)
		lua_pop(L, 2);
	return good;
}

static bool set_address(struct http_call *c, struct slice text)
{
	struct slice host, port_text;
	struct addr to = { .family = ADDR_NONE };
	uint16_t port;

	if (slice_starts(text, SLICE("ipv4@")) || slice_starts(text, SLICE("ipv6@")))
		text = slice_sub(text, 5, text.len);
	if (!uri_parse_host(text, &host, &port_text, &port) || !port)
		return false;
	if (*host.ptr == '[')
		host = slice_sub(host, 1, host.len - 1);
	if (!addr_parse_ip(host, 0, &to))
		return false;
	to.port = port;
	return http_call_to(c, &to);
}

/* What else the table at 2 says. NULL: good; else what is wrong. */
static const char *complete(lua_State *L, struct lua_call *lc)
{
	struct slice text;

	if (lua_getfield(L, 2, "headers") == LUA_TTABLE && !add_fields(L, lc->call->request))
		return "'headers' is no table of fields";
	if (lua_getfield(L, 2, "timeout") == LUA_TNUMBER &&
	    !http_call_set_timeout(lc->call, lua_tointeger(L, -1)))
		return "out of memory";
	if (lua_getfield(L, 2, "dst") == LUA_TSTRING) {
		text.ptr = lua_tolstring(L, -1, &text.len);
		if (!set_address(lc->call, text))
			return "'dst' is no address with a port (UNIX sockets are not supported)";
	}
	if (lua_getfield(L, 2, "body") != LUA_TSTRING)
		return NULL;
	text.ptr = lua_tolstring(L, -1, &text.len);
	lc->request = text.len ? malloc(text.len) : NULL;
	if (text.len && !lc->request)
		return "out of memory";
	lc->request_len = text.len;
	if (text.len)
		memcpy(lc->request, text.ptr, text.len);
	return http_call_has_body(lc->call, text.len) ? NULL : "out of memory";
}

/* httpclient:METHOD{url=, headers=, body=, timeout=, dst=} */
static int request(lua_State *L)
{
	struct script_run *run = script_box_of(L)->running;
	const char *method = lua_tostring(L, lua_upvalueindex(1)), *why = NULL;
	struct lua_call *lc;
	struct slice url;

	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_checktype(L, 2, LUA_TTABLE);
	lua_getfield(L, 2, "url");
	luaL_argcheck(L, lua_type(L, -1) == LUA_TSTRING, 2, "'url' is missing");
	url.ptr = lua_tolstring(L, -1, &url.len);
	if (!script_may_wait(L))
		return luaL_error(L, "HTTPClient: waiting is not possible here");
	lc = calloc(1, sizeof(*lc));
	if (!lc)
		return luaL_error(L, "out of memory");
	lc->run = run;
	strbuf_init(&lc->reason);
	strbuf_init(&lc->fields);
	strbuf_init(&lc->body);
	script_hold(run, &lc->held, call_drop);
	lc->call = http_call_new(proxies_current(), &call_kind, lc, slice_of(method), url, &why);
	if (lc->call)
		why = complete(L, lc);
	if (why) {
		script_let_go(&lc->held);
		return luaL_error(L, "HTTPClient: %s", why);
	}
	http_call_start(lc->call);
	return script_yield_to(L, TIMER_NEVER, (lua_KContext)lc, answered);
}

static int core_httpclient(lua_State *L)
{
	lua_newtable(L);
	script_class_set(L, "HTTPClient");
	return 1;
}

void script_http_client_open(lua_State *L)
{
	static const char *const methods[][2] = {
		{ "get", "GET" }, { "head", "HEAD" }, { "put", "PUT" }, { "post", "POST" },
		{ "delete", "DELETE" },
	};
	static const luaL_Reg none[] = { { NULL, NULL } };

	script_class_new(L, "HTTPClient", none);
	luaL_getmetatable(L, "HTTPClient");
	lua_getfield(L, -1, "__index");
	for (unsigned i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
		lua_pushstring(L, methods[i][1]);
		lua_pushcclosure(L, request, 1);
		lua_setfield(L, -2, methods[i][0]);
	}
	lua_pop(L, 2);
	lua_getglobal(L, "core");
	lua_pushcfunction(L, core_httpclient);
	lua_setfield(L, -2, "httpclient");
	lua_pop(L, 1);
}

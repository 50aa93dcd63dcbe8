/* SPDX-License-Identifier: GPL-2.0-or-later */
/* channel.c - classes Channel and HTTPMessage: the bytes of one side of a stream
 *
 * Both work on the data in struct script_way during a call: received bytes (<in>) and bytes to pass
 * on (<out>). Offsets count from the first byte of <in>, negative ones from its end. Only what a
 * script reads or adds is copied.
 */
#include "class_priv.h"
#include "run_priv.h"
#include "state_priv.h"
#include "stream/stream.h"

#define HELD_MAX (1 << 20) /* bytes that scripts may make of what has come */

/* Upvalue 1 of all methods. */
enum { OF_CHANNEL, OF_MESSAGE };

struct script_run *script_way_at(lua_State *L, const char *name, unsigned *side)
{
	struct script_run *run = script_self(L, 1, name);

	lua_rawgeti(L, 1, 1);
	*side = lua_tointeger(L, -1) == FILTER_RESPONSE ? FILTER_RESPONSE : FILTER_REQUEST;
	lua_pop(L, 1);
	if (!run->ctx->stream)
		luaL_error(L, "this object of class %s has no stream", name);
	return run;
}

/* What the object at 1 shows; *no_bytes: of a Channel of an HTTP stream, whose bytes are not for
 * scripts.
 */
static const struct script_way *way_of(lua_State *L, unsigned *side, bool *no_bytes)
{
	bool is_message = lua_tointeger(L, lua_upvalueindex(1)) == OF_MESSAGE;
	struct script_run *run = script_way_at(L, is_message ? "HTTPMessage" : "Channel", side);

	*no_bytes = !is_message && run->ctx->stream->flags & STRM_HTTP;
	return &run->ways[*side];
}

/* As way_of(), for methods that read or change bytes. */
static const struct script_way *way_at(lua_State *L)
{
	unsigned side;
	bool no_bytes;
	const struct script_way *w = way_of(L, &side, &no_bytes);

	if (no_bytes)
		luaL_error(L, "Cannot manipulate HAProxy channels in HTTP mode.");
	if (!w->in)
		luaL_error(L, "there are no bytes to work on here");
	return w;
}

/* --- places ----------------------------------------------------------------------------------- */

static size_t offset_at(lua_State *L, int index, size_t have)
{
	lua_Integer at = luaL_optinteger(L, index, 0);

	if (at < 0)
		at = at + (lua_Integer)have < 0 ? 0 : at + (lua_Integer)have;
	if (at > (lua_Integer)have)
		luaL_error(L, "offset out of range.");
	return (size_t)at;
}

/* A length behind <from>; -1 means what is there, and, <all>, so does more than that. */
static size_t length_at(lua_State *L, int index, size_t from, size_t have, bool all)
{
	lua_Integer left = (lua_Integer)(have - from), len = luaL_optinteger(L, index, left);

	if (len == -1)
		len = left;
	if (all && len > left)
		len = left;
	if (len < 0 || len > left)
		luaL_error(L, "length out of range.");
	return (size_t)len;
}

/* --- reading ---------------------------------------------------------------------------------- */

static int push_bytes(lua_State *L, const struct script_way *w, size_t from, size_t len)
{
	luaL_Buffer b;
	char *to;

	if (!len && (w->is_ended || lua_tointeger(L, lua_upvalueindex(1)) == OF_MESSAGE)) {
		lua_pushnil(L);
		return 1;
	}
	to = luaL_buffinitsize(L, &b, len);
	block_queue_peek(w->in, from, to, len);
	luaL_pushresultsize(&b, len);
	return 1;
}

/* Does a channel's data begin behind all that there is? There is nothing yet then, while a message
 * has an error.
 */
static bool is_beyond(lua_State *L, const struct script_way *w)
{
	return lua_tointeger(L, lua_upvalueindex(1)) != OF_MESSAGE &&
	       luaL_optinteger(L, 2, 0) > (lua_Integer)w->in->len;
}

static int push_nothing(lua_State *L)
{
	lua_pushliteral(L, "");
	return 1;
}

/* channel:data([offset [, length]]), message:body() */
static int get_data(lua_State *L)
{
	const struct script_way *w = way_at(L);
	size_t from = is_beyond(L, w) ? SIZE_MAX : offset_at(L, 2, w->in->len);

	if (from == SIZE_MAX)
		return push_nothing(L);
	return push_bytes(L, w, from, length_at(L, 3, from, w->in->len, true));
}

/* How many of the <len> bytes behind <from> the first line has. */
static size_t line_len(const struct block_queue *q, size_t from, size_t len)
{
	char part[256];

	for (size_t at = 0; at < len;) {
		size_t want = len - at < sizeof(part) ? len - at : sizeof(part);
		size_t n = block_queue_peek(q, from + at, part, want);
		const char *end = memchr(part, '\n', n);

		if (end || !n)
			return end ? at + (size_t)(end - part) + 1 : at;
		at += n;
	}
	return len;
}

static int get_line(lua_State *L)
{
	const struct script_way *w = way_at(L);
	size_t from = is_beyond(L, w) ? SIZE_MAX : offset_at(L, 2, w->in->len), len;

	if (from == SIZE_MAX)
		return push_nothing(L);
	len = length_at(L, 3, from, w->in->len, true);
	return push_bytes(L, w, from, line_len(w->in, from, len));
}

/* channel:get(), channel:getline(): reads and removes. */
static int take(lua_State *L, bool line)
{
	const struct script_way *w = way_at(L);
	size_t len = line ? line_len(w->in, 0, w->in->len) : w->in->len;

	push_bytes(L, w, 0, len);
	block_queue_skip(w->in, len);
	return 1;
}

static int take_all(lua_State *L)
{
	return take(L, false);
}

static int take_line(lua_State *L)
{
	return take(L, true);
}

/* --- changing --------------------------------------------------------------------------------- */

/* Puts <text> in the place of <len> bytes behind <from>, and pushes its length; -1: no room. */
static int replace(lua_State *L, const struct script_way *w, size_t from, size_t len, int text_at)
{
	struct block_queue q;
	struct slice text;
	bool good;

	text.ptr = luaL_checklstring(L, text_at, &text.len);
	if (w->in->len - len + text.len > HELD_MAX && text.len) {
		lua_pushinteger(L, -1);
		return 1;
	}
	block_queue_init(&q);
	good = block_queue_move_len(&q, w->in, from);
	if (good)
		block_queue_skip(w->in, len);
	good = good && block_queue_add_copy(&q, text);
	block_queue_move(&q, w->in);
	block_queue_move(w->in, &q);
	if (!good)
		return luaL_error(L, "out of memory");
	lua_pushinteger(L, (lua_Integer)text.len);
	return 1;
}

static int append(lua_State *L)
{
	const struct script_way *w = way_at(L);

	return replace(L, w, w->in->len, 0, 2);
}

static int prepend(lua_State *L)
{
	return replace(L, way_at(L), 0, 0, 2);
}

static int insert(lua_State *L)
{
	const struct script_way *w = way_at(L);

	return replace(L, w, offset_at(L, 3, w->in->len), 0, 2);
}

static int set(lua_State *L)
{
	const struct script_way *w = way_at(L);
	size_t from = offset_at(L, 3, w->in->len);

	return replace(L, w, from, length_at(L, 4, from, w->in->len, false), 2);
}

static int remove_bytes(lua_State *L)
{
	const struct script_way *w = way_at(L);
	size_t from = offset_at(L, 2, w->in->len);
	size_t len = length_at(L, 3, from, w->in->len, false);

	lua_settop(L, 1);
	lua_pushliteral(L, "");
	replace(L, w, from, len, 2);
	lua_pushinteger(L, (lua_Integer)len);
	return 1;
}

/* --- sending ---------------------------------------------------------------------------------- */

static int forward(lua_State *L)
{
	const struct script_way *w = way_at(L);
	lua_Integer len = luaL_checkinteger(L, 2);

	if (!w->out)
		return luaL_error(L, "nothing can be forwarded here");
	if (len < 0 || len > (lua_Integer)w->in->len)
		len = (lua_Integer)w->in->len;
	if (!block_queue_move_len(w->out, w->in, (size_t)len))
		return luaL_error(L, "out of memory");
	lua_pushinteger(L, len);
	return 1;
}

static int send_text(lua_State *L)
{
	unsigned side;
	bool no_bytes;
	const struct script_way *w = way_of(L, &side, &no_bytes);
	struct slice text;

	text.ptr = luaL_checklstring(L, 2, &text.len);
	if (no_bytes)
		return luaL_error(L, "Cannot manipulate HAProxy channels in HTTP mode.");
	if (!w->out || w->out->len > HELD_MAX) {
		lua_pushinteger(L, -1);
		return 1;
	}
	if (!block_queue_add_copy(w->out, text))
		return luaL_error(L, "out of memory");
	lua_pushinteger(L, (lua_Integer)text.len);
	return 1;
}

/* --- what it is like -------------------------------------------------------------------------- */

static int get_input(lua_State *L)
{
	unsigned side;
	bool no_bytes;
	const struct script_way *w = way_of(L, &side, &no_bytes);

	lua_pushinteger(L, w->in ? (lua_Integer)w->in->len : 0);
	return 1;
}

static int get_output(lua_State *L)
{
	unsigned side;
	bool no_bytes;
	const struct script_way *w = way_of(L, &side, &no_bytes);

	lua_pushinteger(L, w->out ? (lua_Integer)w->out->len : 0);
	return 1;
}

static int is_full(lua_State *L)
{
	unsigned side;
	bool no_bytes;
	const struct script_way *w = way_of(L, &side, &no_bytes);

	lua_pushboolean(L, w->in && w->in->len >= HELD_MAX);
	return 1;
}

static int is_resp(lua_State *L)
{
	unsigned side;
	bool no_bytes;

	way_of(L, &side, &no_bytes);
	lua_pushboolean(L, side == FILTER_RESPONSE);
	return 1;
}

static int may_recv(lua_State *L)
{
	unsigned side;
	bool no_bytes;

	lua_pushboolean(L, !way_of(L, &side, &no_bytes)->is_ended);
	return 1;
}

static int get_eom(lua_State *L)
{
	unsigned side;
	bool no_bytes;

	lua_pushboolean(L, way_of(L, &side, &no_bytes)->is_ended);
	return 1;
}

/* message:set_body_len(n or "chunked"): before the head is sent. */
static int set_body_len(lua_State *L)
{
	unsigned side;
	struct script_run *run = script_way_at(L, "HTTPMessage", &side);
	struct stream *s = run->ctx->stream;
	struct http_msg *m = side ? &s->res : &s->req;
	lua_Integer len = 0;
	int is_number = 0;
	bool chunked = lua_type(L, 2) == LUA_TSTRING &&
		       strcmp(lua_tostring(L, 2), "chunked") == 0;

	if (!chunked)
		len = lua_tointegerx(L, 2, &is_number);
	if (!chunked && (!is_number || len < 0))
		return luaL_error(L, "The 'set_body_len' function expects a positive integer or "
				  "the string 'chunked' as argument.");
	lua_pushboolean(L, !run->ways[side].in &&
			(chunked ? filter_set_chunked(m) : filter_set_length(m, (uint64_t)len)));
	return 1;
}

/* --- the classes ------------------------------------------------------------------------------ */

static const luaL_Reg both[] = {
	{ "append", append }, { "prepend", prepend }, { "insert", insert }, { "set", set },
	{ "remove", remove_bytes }, { "forward", forward }, { "send", send_text },
	{ "input", get_input }, { "output", get_output }, { "is_full", is_full },
	{ "is_resp", is_resp }, { "may_recv", may_recv }, { NULL, NULL }
};

static const luaL_Reg of_channels[] = {
	{ "data", get_data }, { "line", get_line }, { "dup", get_data }, { "get", take_all },
	{ "getline", take_line }, { "get_in_len", get_input }, { "get_out_len", get_output },
	{ NULL, NULL }
};

static const luaL_Reg of_messages[] = {
	{ "body", get_data }, { "eom", get_eom }, { "set_body_len", set_body_len }, { NULL, NULL }
};

static void open_class(lua_State *L, const char *name, const luaL_Reg *own, int which)
{
	static const luaL_Reg none[] = { { NULL, NULL } };

	script_class_new(L, name, none);
	luaL_getmetatable(L, name);
	lua_getfield(L, -1, "__index");
	lua_pushinteger(L, which);
	luaL_setfuncs(L, both, 1);
	lua_pushinteger(L, which);
	luaL_setfuncs(L, own, 1);
	if (which == OF_MESSAGE)
		script_add_head_methods(L);
	lua_pop(L, 2);
}

void script_channel_open(lua_State *L)
{
	open_class(L, "Channel", of_channels, OF_CHANNEL);
	open_class(L, "HTTPMessage", of_messages, OF_MESSAGE);
}

static void push_side(lua_State *L, struct script_run *run, enum filter_side side)
{
	lua_createtable(L, 1, 1); /* the side, and the handle */
	script_push_handle(L, run);
	lua_pushinteger(L, side);
	lua_rawseti(L, -2, 1);
}

void script_push_channel(lua_State *L, struct script_run *run, enum filter_side side)
{
	push_side(L, run, side);
	script_class_set(L, "Channel");
}

void script_push_message(lua_State *L, struct script_run *run, enum filter_side side)
{
	push_side(L, run, side);
	script_push_channel(L, run, side);
	lua_setfield(L, -2, "channel");
	script_class_set(L, "HTTPMessage");
}

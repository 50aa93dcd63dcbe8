/* SPDX-License-Identifier: GPL-2.0-or-later */
/* socket.c - class Socket: connections that scripts open by themselves
 *
 * The object of a script holds a struct lua_socket. It belongs to the thread that connected it, its
 * *home*, and is used there only. A function that has to wait yields its thread, and continues when
 * the connection has made progress, or on a timeout. Sockets found by Lua's garbage collector, on
 * whatever thread, are sent home to be closed. An open socket holds its configuration; when that is
 * retired, sockets that no run waits for are closed.
 */
#include <stdlib.h>
#include "base/bug.h"
#include "base/clock.h"
#include "beside_priv.h"
#include "class_priv.h"
#include "core/lock.h"
#include "core/mailbox.h"
#include "core/thread.h"
#include "net/conn_facts.h"
#include "net/dial.h"
#include "proxy/address.h"
#include "proxy/source.h"
#include "room_priv.h"
#include "run_priv.h"
#include "state_priv.h"

#define CONNECT_MS 5000       /* as long as the script has said nothing */
#define PENDING_MAX (64 << 20)/* bytes that a line, or all, may have */
#define AT_ONCE (1 << 20)     /* bytes received before others run */

struct lua_socket {
	struct list link;             /* of its home */
	struct message gone;          /* the script has lost it */
	struct config *cfg;           /* counted while it is open */
	struct dial dial;
	struct conn *conn;            /* NULL: it is not open */
	struct block_queue in;        /* received, not yet taken */
	struct script_held held;      /* of the run that waits for it */
	uint64_t deadline_ms;         /* of what is waited for */
	int64_t timeout_ms;           /* 0: none */
	unsigned home;
	bool was_connected, is_waited_for;
	bool is_posted, is_dead;      /* under <lock>: <gone> is on its way; home has ended */
};

static __thread struct list mine;
static unsigned lock;

/* --- life ------------------------------------------------------------------------------------- */

/* Harmless when it is closed. What was received stays. */
static void socket_close(struct lua_socket *s)
{
	struct config *cfg = s->cfg;

	if (!cfg)
		return;
	s->cfg = NULL;
	dial_cancel(&s->dial);
	conn_close(&s->conn);
	list_remove(&s->link);
	config_drop(&cfg);
}

static void socket_free(struct lua_socket *s)
{
	socket_close(s);
	block_queue_clear(&s->in);
	free(s);
}

static void socket_gone(struct message *m)
{
	socket_free(container_of(m, struct lua_socket, gone));
}

/* The collector has its object. On any thread. */
static int socket_collect(lua_State *L)
{
	struct lua_socket **at = luaL_testudata(L, 1, "Socket."), *s = at ? *at : NULL;
	bool is_free;

	if (!s || s->is_waited_for) /* a script has called this */
		return 0;
	*at = NULL;
	lock_take(&lock);
	is_free = s->is_dead || !s->was_connected;
	s->is_posted = !is_free;
	lock_drop(&lock);
	if (is_free)
		socket_free(s);
	else
		mailbox_post(s->home, &s->gone);
	return 0;
}

void script_sockets_begin(void)
{
	list_init(&mine);
}

void script_sockets_end(void)
{
	struct lua_socket *s;

	lock_take(&lock); /* what the collector finds from now on is freed there */
	list_for_each(s, &mine, link)
		s->is_dead = true;
	lock_drop(&lock);
	while (!list_is_empty(&mine)) {
		s = container_of(mine.next, struct lua_socket, link);
		if (s->is_posted)
			socket_free(s);
		else
			socket_close(s);
	}
}

void script_sockets_retire(const struct config *cfg)
{
	struct lua_socket *s, *next;

	list_for_each_safe(s, next, &mine, link)
		if (s->cfg == cfg && !s->is_waited_for && !s->is_posted)
			socket_close(s);
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* The run that waits has ended: what the other side still sends is unknown. */
static void wait_over(struct script_held *h)
{
	struct lua_socket *s = container_of(h, struct lua_socket, held);

	if (s->is_waited_for)
		socket_close(s);
	s->is_waited_for = false;
}

static void wait_wake(struct lua_socket *s)
{
	if (s->is_waited_for)
		script_wake(s->held.run);
}

static void socket_ready(struct conn *c)
{
	wait_wake(c->owner);
}

static void describe_use(const struct conn *c, struct strbuf *out)
{
	strbuf_add_str(out, " mux=LUA");
}

static const struct conn_ops socket_ops = {
	.name = "lua", .ready = socket_ready, .describe = describe_use,
};

static void dialled(struct dial *d, struct conn *c, enum dial_result r)
{
	struct lua_socket *s = container_of(d, struct lua_socket, dial);

	s->conn = c;
	wait_wake(s);
}

/* Raises an error where a script cannot wait. */
static void check_may_wait(lua_State *L, const char *what)
{
	if (!script_may_wait(L))
		luaL_error(L, "%s: waiting is not possible here", what);
}

/* What functions that wait have on the stack; behind it stands what they wait for. */
#define ARGUMENTS 5

/* Until something moves, <at_ms> at the latest; <k> goes on then. Does not return. */
static int wait_for(lua_State *L, struct lua_socket *s, uint64_t at_ms, lua_KFunction k)
{
	if (lua_gettop(L) <= ARGUMENTS) { /* [0] of the object can be overwritten */
		lua_settop(L, ARGUMENTS);
		lua_rawgeti(L, 1, 0);
	}
	script_hold(script_box_of(L)->running, &s->held, wait_over);
	s->is_waited_for = true;
	return script_yield_to(L, at_ms, (lua_KContext)s, k);
}

static struct lua_socket *goes_on(lua_KContext k)
{
	struct lua_socket *s = (struct lua_socket *)k;

	if (s->is_waited_for) {
		s->is_waited_for = false;
		script_let_go(&s->held);
	}
	return s;
}

/* The time for what moves from now on. */
static void allow(struct lua_socket *s)
{
	s->deadline_ms = s->timeout_ms ? clock_now_ms() + (uint64_t)s->timeout_ms : TIMER_NEVER;
}

static bool is_late(const struct lua_socket *s)
{
	return clock_now_ms() >= s->deadline_ms;
}

/* --- the object ------------------------------------------------------------------------------- */

static struct lua_socket *socket_at(lua_State *L)
{
	struct lua_socket **at = NULL;

	luaL_checktype(L, 1, LUA_TTABLE);
	lua_rawgeti(L, 1, 0);
	at = luaL_testudata(L, -1, "Socket.");
	lua_pop(L, 1);
	if (!at || !*at)
		luaL_argerror(L, 1, "an object of class Socket is expected");
	return *at;
}

/* As socket_at(), but an error elsewhere than at home: a connection belongs to the thread that
 * opened it.
 */
static struct lua_socket *socket_at_home(lua_State *L, const char *what)
{
	struct lua_socket *s = socket_at(L);

	if (s->was_connected && s->home != thread_id)
		luaL_error(L, "%s: cannot use socket on other thread", what);
	if (s->is_waited_for)
		luaL_error(L, "%s: another script waits for this socket", what);
	return s;
}

/* core.tcp() */
static int socket_new(lua_State *L)
{
	struct lua_socket **at;

	lua_newtable(L);
	at = lua_newuserdatauv(L, sizeof(*at), 0);
	*at = NULL;
	luaL_setmetatable(L, "Socket.");
	*at = calloc(1, sizeof(**at));
	if (!*at)
		return luaL_error(L, "out of memory");
	list_init(&(*at)->link);
	block_queue_init(&(*at)->in);
	dial_init(&(*at)->dial, dialled);
	(*at)->gone.run = socket_gone;
	lua_rawseti(L, -2, 0);
	script_class_set(L, "Socket");
	return 1;
}

/* --- connecting ------------------------------------------------------------------------------- */

static int connected(lua_State *L, int status, lua_KContext k)
{
	struct lua_socket *s = goes_on(k);

	if (dial_is_on(&s->dial))
		return wait_for(L, s, TIMER_NEVER, connected);
	if (s->conn) {
		lua_pushinteger(L, 1);
		return 1;
	}
	socket_close(s);
	lua_pushnil(L);
	lua_pushliteral(L, "Can't connect");
	return 2;
}

/* The address that the arguments say; names are not resolved. */
static void address_at(lua_State *L, struct address *out)
{
	const char *text = luaL_checkstring(L, 2);

	if (!lua_isnoneornil(L, 3))
		text = lua_pushfstring(L, "%s:%s", text, luaL_checkstring(L, 3));
	if (!address_parse(text, ADDRESS_UNIX | ADDRESS_NO_NAMES, out))
		luaL_error(L, "connect: cannot parse destination address '%s'", text);
	if (out->addr.sa.ss_family != AF_UNIX && lua_isnoneornil(L, 3) && !out->port_low)
		luaL_error(L, "connect: port missing");
}

/* socket:connect(address [, port]), and connect_ssl() */
static int connect_to(lua_State *L)
{
	struct lua_socket *s = socket_at_home(L, "connect");
	struct script_room *room = script_box_of(L)->room;
	struct dial_want want = { 0 };
	struct address to;

	lua_settop(L, 3);
	if (s->was_connected)
		return luaL_error(L, "connect: connect already performed\n");
	check_may_wait(L, "connect");
	address_at(L, &to);
	if (lua_toboolean(L, lua_upvalueindex(1))) {
		if (!room->tls)
			return luaL_error(L, "connect_ssl: this program has no TLS");
		server_dial(room->tls, &to.addr, &want);
	}
	want.to = &to.addr.sa;
	want.to_len = to.addr.len;
	s->was_connected = true;
	s->home = thread_id;
	s->cfg = config_take(room->cfg);
	s->deadline_ms = TIMER_NEVER;
	list_append(&mine, &s->link);
	dial_start(&s->dial, &want, s->timeout_ms ? s->timeout_ms : CONNECT_MS, &socket_ops, s);
	return connected(L, LUA_OK, (lua_KContext)s);
}

/* --- receiving -------------------------------------------------------------------------------- */

enum { WANT_LINE = -1, WANT_ALL = -2 };

/* Takes what has come, as long as less than <wanted> bytes wait. False: others shall run first. */
static bool take_more(struct lua_socket *s, size_t wanted)
{
	size_t before = s->in.len, got;

	while (s->conn && s->conn->flags & CONN_CAN_RECV && s->in.len < wanted) {
		enum io r = conn_recv(s->conn, &s->in, CONN_READ_BLOCKS_MAX * block_size(), &got);

		if (r == IO_EOF || r == IO_ERR)
			socket_close(s);
		else if (r == IO_AGAIN)
			break;
		if (s->in.len - before >= AT_ONCE)
			return false;
	}
	if (s->in.len != before)
		allow(s);
	return true;
}

/* How many bytes the answer has: up to the end of the line, which it may contain, or <wanted>.
 * False: more are needed.
 */
static bool answer_len(const struct lua_socket *s, lua_Integer wanted, size_t *len)
{
	*len = 0;
	if (wanted >= 0) {
		*len = (size_t)wanted < s->in.len ? (size_t)wanted : s->in.len;
		return s->in.len && s->in.len >= (size_t)wanted;
	}
	for (const struct piece *p = s->in.first; p; p = p->next) {
		const char *end = wanted == WANT_LINE ? memchr(p->ptr, '\n', p->len) : NULL;

		if (end) {
			*len += (size_t)(end - p->ptr) + 1;
			return true;
		}
		*len += p->len;
	}
	return false;
}

/* The bytes, behind the prefix at 3. */
static int push_answer(lua_State *L, struct lua_socket *s, size_t len, bool is_line)
{
	luaL_Buffer b;
	size_t kept = len;
	char *to;

	luaL_buffinit(L, &b);
	lua_pushvalue(L, 3);
	luaL_addvalue(&b);
	to = luaL_prepbuffsize(&b, len);
	block_queue_peek(&s->in, 0, to, len);
	block_queue_skip(&s->in, len);
	if (is_line && kept && to[kept - 1] == '\n') {
		kept--;
		kept -= kept && to[kept - 1] == '\r';
	}
	luaL_addsize(&b, kept);
	luaL_pushresult(&b);
	return 1;
}

static int push_closed(lua_State *L)
{
	lua_pushnil(L);
	lua_pushliteral(L, "connection closed.");
	return 2;
}

static int receive_on(lua_State *L, int status, lua_KContext k)
{
	struct lua_socket *s = goes_on(k);
	lua_Integer wanted = lua_tointeger(L, 2);
	bool is_calm = take_more(s, wanted >= 0 ? (size_t)wanted + !wanted : PENDING_MAX);
	size_t len;

	if (answer_len(s, wanted, &len) || (s->in.len && !s->conn))
		return push_answer(L, s, len, wanted == WANT_LINE);
	if (s->in.len >= PENDING_MAX)
		return luaL_error(L, "receive: more than %d bytes", PENDING_MAX);
	if (is_calm && s->conn && is_late(s))
		socket_close(s);
	if (!s->conn)
		return s->in.len ? receive_on(L, status, k) : push_closed(L);
	return wait_for(L, s, is_calm ? s->deadline_ms : clock_now_ms(), receive_on);
}

/* socket:receive([pattern [, prefix]]): a prefix counts as part of so many bytes. */
static int receive(lua_State *L)
{
	struct lua_socket *s = socket_at_home(L, "receive");
	size_t prefix = 0;
	lua_Integer wanted = WANT_LINE;

	lua_settop(L, 3);
	if (lua_isnil(L, 3)) {
		lua_pushliteral(L, "");
		lua_replace(L, 3);
	}
	luaL_checklstring(L, 3, &prefix);
	if (lua_isnumber(L, 2)) {
		wanted = (lua_Integer)lua_tonumber(L, 2);
		if (wanted < 0 || wanted > PENDING_MAX)
			return luaL_error(L, "Unsupported size.");
		wanted = (size_t)wanted > prefix ? wanted - (lua_Integer)prefix : 0;
	} else if (lua_type(L, 2) == LUA_TSTRING) {
		if (strcmp(lua_tostring(L, 2), "*a") == 0)
			wanted = WANT_ALL;
		else if (strcmp(lua_tostring(L, 2), "*l") != 0)
			return luaL_error(L, "Unsupported pattern.");
	}
	check_may_wait(L, "receive");
	lua_pushinteger(L, wanted);
	lua_replace(L, 2);
	allow(s);
	return receive_on(L, LUA_OK, (lua_KContext)s);
}

/* --- sending ---------------------------------------------------------------------------------- */

/* 2: the text, 3: where what is not sent begins, 4: where it ends, 5: where it began. */
static int send_on(lua_State *L, int status, lua_KContext k)
{
	struct lua_socket *s = goes_on(k);
	const char *text = lua_tostring(L, 2);
	size_t from = (size_t)lua_tointeger(L, 3), to = (size_t)lua_tointeger(L, 4);

	while (s->conn && from < to && s->conn->flags & CONN_CAN_SEND) {
		size_t sent;
		enum io r = conn_send_bytes(s->conn, slice_make(text + from, to - from), &sent);

		from += sent;
		if (sent)
			allow(s);
		if (r == IO_ERR)
			socket_close(s);
	}
	if (s->conn && from < to && is_late(s))
		socket_close(s);
	if (!s->conn || from == to) {
		lua_pushinteger(L, s->conn ? (lua_Integer)to - lua_tointeger(L, 5) : -1);
		return 1;
	}
	lua_pushinteger(L, (lua_Integer)from);
	lua_replace(L, 3);
	return wait_for(L, s, s->deadline_ms, send_on);
}

/* socket:send(text [, first [, last]]), as string.sub() takes them */
static int send_text(lua_State *L)
{
	struct lua_socket *s = socket_at_home(L, "send");
	size_t len;
	lua_Integer from, to;

	luaL_checklstring(L, 2, &len);
	from = luaL_optinteger(L, 3, 1);
	to = luaL_optinteger(L, 4, -1);
	if (from < 0)
		from = (lua_Integer)len + from + 1;
	if (to < 0)
		to = (lua_Integer)len + to + 1;
	if (from < 1)
		from = 1;
	if (to > (lua_Integer)len)
		to = (lua_Integer)len;
	if (from > to)
		from = to + 1;
	check_may_wait(L, "send");
	lua_settop(L, 2);
	lua_pushinteger(L, from - 1);
	lua_pushinteger(L, to);
	lua_pushinteger(L, from - 1);
	allow(s);
	return send_on(L, LUA_OK, (lua_KContext)s);
}

/* --- the rest --------------------------------------------------------------------------------- */

static int close_it(lua_State *L)
{
	struct lua_socket *s = socket_at_home(L, "close");

	socket_close(s);
	block_queue_clear(&s->in);
	return 0;
}

static int push_name(lua_State *L, bool peer)
{
	struct lua_socket *s = socket_at_home(L, "getname");
	struct sockaddr_storage ss = { .ss_family = AF_UNSPEC };
	struct addr a = { .family = ADDR_NONE };
	char text[128];

	if (s->conn)
		a = conn_address(s->conn, peer);
	if (a.family == ADDR_NONE || !addr_to_sockaddr(&a, &ss))
		lua_pushnil(L);
	else
		lua_pushstring(L, address_text((struct sockaddr *)&ss, text, sizeof(text)));
	return 1;
}

static int peer_name(lua_State *L)
{
	return push_name(L, true);
}

static int own_name(lua_State *L)
{
	return push_name(L, false);
}

static int set_option(lua_State *L)
{
	return 0;
}

/* socket:settimeout(seconds) */
static int set_timeout(lua_State *L)
{
	struct lua_socket *s = socket_at_home(L, "settimeout");
	lua_Number seconds;

	if (lua_gettop(L) != 2)
		return luaL_error(L, "'settimeout' needs 2 arguments");
	seconds = luaL_checknumber(L, 2);
	if (seconds < 0)
		return luaL_error(L, "settimeout: cannot set negatives values");
	if (!(seconds < INT32_MAX / 1000))
		return luaL_error(L, "settimeout: cannot set values larger than %d",
				  INT32_MAX / 1000);
	s->timeout_ms = (int64_t)(seconds * 1000);
	s->timeout_ms += !s->timeout_ms;
	lua_pushinteger(L, 1);
	return 1;
}

static const luaL_Reg methods[] = {
	{ "close", close_it }, { "receive", receive }, { "send", send_text },
	{ "getpeername", peer_name }, { "getsockname", own_name },
	{ "setoption", set_option }, { "settimeout", set_timeout }, { NULL, NULL }
};

static void add_connect(lua_State *L, const char *name, bool tls)
{
	lua_pushboolean(L, tls);
	lua_pushcclosure(L, connect_to, 1);
	lua_setfield(L, -2, name);
}

void script_socket_open(lua_State *L)
{
	luaL_newmetatable(L, "Socket.");
	lua_pushcfunction(L, socket_collect);
	lua_setfield(L, -2, "__gc");
	lua_pop(L, 1);
	script_class_new(L, "Socket", methods);
	luaL_getmetatable(L, "Socket");
	lua_getfield(L, -1, "__index");
	add_connect(L, "connect", false);
	add_connect(L, "connect_ssl", true);
	lua_pop(L, 2);
	lua_getglobal(L, "core");
	lua_pushcfunction(L, socket_new);
	lua_setfield(L, -2, "tcp");
	lua_pop(L, 1);
}

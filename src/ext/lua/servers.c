/* SPDX-License-Identifier: GPL-2.0-or-later */
/* servers.c - class Server: servers as scripts see and change them
 *
 * A removed server to which scripts have references stays in memory as long as its configuration:
 * from then on, all methods except get_name and similar do nothing and return nil.
 */
#include <sys/un.h>
#include "class_priv.h"
#include "manage/stats.h"
#include "proxy/address.h"
#include "proxy/outlier.h"
#include "proxy/proxy.h"
#include "proxy/queue.h"
#include "proxy/walk.h"
#include "state_priv.h"
#include "stream/stream.h"

struct server_list {
	const struct proxy *px;
};

struct server_object {
	struct server *srv;
};

int script_push_server(lua_State *L, struct server *srv)
{
	struct server_object *o = script_object_new(L, "Server", sizeof(*o));

	server_keep(srv);
	o->srv = srv;
	return 1;
}

struct server *script_server(lua_State *L)
{
	struct server *srv = ((struct server_object *)script_object(L, 1, "Server"))->srv;

	return __atomic_load_n(&srv->life.is_removed, __ATOMIC_RELAXED) ? NULL : srv;
}

/* One whose state is there. */
static struct server *live_at(lua_State *L)
{
	struct server *srv = script_server(L);

	if (srv && !srv->state)
		luaL_error(L, "server '%s' has no state while the configuration is read",
			   srv->name);
	return srv;
}

/* --- what it is ------------------------------------------------------------------------------- */

static int push_integer(lua_State *L, const struct server *srv, int64_t number)
{
	if (srv)
		lua_pushinteger(L, number);
	else
		lua_pushnil(L);
	return 1;
}

static int push_boolean(lua_State *L, const struct server *srv, bool is)
{
	if (srv)
		lua_pushboolean(L, is);
	else
		lua_pushnil(L);
	return 1;
}

static int get_name(lua_State *L)
{
	const struct server *srv = script_server(L);

	lua_pushstring(L, srv ? srv->name : NULL); /* NULL: nil */
	return 1;
}

static int get_puid(lua_State *L)
{
	const struct server *srv = script_server(L);

	if (srv)
		lua_pushfstring(L, "%d", srv->id);
	else
		lua_pushnil(L);
	return 1;
}

static int get_rid(lua_State *L)
{
	const struct server *srv = script_server(L);

	if (srv)
		lua_pushfstring(L, "%d", (int)srv->life.revision);
	else
		lua_pushnil(L);
	return 1;
}

static int is_draining(lua_State *L)
{
	const struct server *srv = live_at(L);

	return push_boolean(L, srv, srv && (!server_weight(srv) ||
					    __atomic_load_n(&srv->state->admin, __ATOMIC_RELAXED) &
					    SERVER_DRAIN));
}

static int is_backup(lua_State *L)
{
	const struct server *srv = script_server(L);

	return push_boolean(L, srv, srv && srv->backup);
}

static int is_dynamic(lua_State *L)
{
	const struct server *srv = script_server(L);

	return push_boolean(L, srv, srv && srv->life.is_dynamic);
}

static int get_cur_sess(lua_State *L)
{
	const struct server *srv = live_at(L);

	return push_integer(L, srv, srv ? (int64_t)counter_read(&srv->state->counters,
								CNT_SESS_CUR) : 0);
}

static int get_pend_conn(lua_State *L)
{
	const struct server *srv = live_at(L);

	return push_integer(L, srv, srv ? queue_length_server(srv) : 0);
}

static int get_maxconn(lua_State *L)
{
	const struct server *srv = live_at(L);

	return push_integer(L, srv, srv ? __atomic_load_n(&srv->state->maxconn, __ATOMIC_RELAXED)
			    : 0);
}

static int get_weight(lua_State *L)
{
	const struct server *srv = live_at(L);

	return push_integer(L, srv, srv ? server_weight(srv) : 0);
}

static int get_addr(lua_State *L)
{
	const struct server *srv = live_at(L);
	struct server_addr addr;
	char text[160];

	if (!srv) {
		lua_pushnil(L);
		return 1;
	}
	server_address(srv, &addr);
	address_ip_text((struct sockaddr *)&addr.sa, text, sizeof(text));
	if (addr.sa.ss_family == AF_UNIX)
		lua_pushstring(L, ((struct sockaddr_un *)&addr.sa)->sun_path);
	else
		lua_pushfstring(L, "%s:%d", text, address_port((struct sockaddr *)&addr.sa));
	return 1;
}

static int get_stats(lua_State *L)
{
	const struct server *srv = live_at(L);
	struct stats_row row;

	if (!srv) {
		lua_pushnil(L);
		return 1;
	}
	stats_fill_server(&row, srv);
	script_push_stats(L, &row);
	return 1;
}

static int get_proxy(lua_State *L)
{
	const struct server *srv = script_server(L);

	if (srv)
		return script_push_proxy(L, srv->proxy);
	lua_pushnil(L);
	return 1;
}

static int tracking(lua_State *L)
{
	const struct server *srv = script_server(L);

	if (srv && srv->checks.track)
		return script_push_server(L, srv->checks.track);
	lua_pushnil(L);
	return 1;
}

static int get_trackers(lua_State *L)
{
	const struct server *srv = script_server(L);
	struct server *f = srv ? __atomic_load_n(&srv->checks.trackers, __ATOMIC_ACQUIRE) : NULL;
	lua_Integer n = 0;

	if (!srv)
		return 0;
	lua_newtable(L);
	for (; f; f = __atomic_load_n(&f->checks.next_tracker, __ATOMIC_ACQUIRE)) {
		script_push_server(L, f);
		lua_rawseti(L, -2, ++n);
	}
	return 1;
}

/* --- changes ---------------------------------------------------------------------------------- */

/* nil, or what was wrong. */
static int set_number(lua_State *L, bool (*set)(struct server *srv, const char *text,
						const char **error))
{
	struct server *srv = live_at(L);
	const char *text = luaL_checkstring(L, 2), *error = NULL;

	if (srv && !set(srv, text, &error))
		lua_pushstring(L, error);
	else
		lua_pushnil(L);
	return 1;
}

static int set_maxconn(lua_State *L)
{
	return set_number(L, server_set_maxconn);
}

static int set_weight(lua_State *L)
{
	return set_number(L, server_set_weight);
}

/* server:set_addr(address [, port]): what has changed, or what was wrong */
static int set_addr(lua_State *L)
{
	struct server *srv = live_at(L);
	const char *address = luaL_checkstring(L, 2), *port = luaL_optstring(L, 3, NULL);
	char message[320];

	if (!srv) {
		lua_pushnil(L);
		return 1;
	}
	server_set_address(srv, address, port, "Lua script", message, sizeof(message));
	lua_pushstring(L, message);
	return 1;
}

static int shut_sess(lua_State *L)
{
	struct server *srv = live_at(L);

	if (srv && !streams_shutdown_server(srv))
		return luaL_error(L, "out of memory");
	return 0;
}

static int set_drain(lua_State *L)
{
	struct server *srv = live_at(L);

	if (srv)
		server_set_admin(srv, SERVER_FDRAIN, SERVER_FMAINT);
	return 0;
}

static int set_maint(lua_State *L)
{
	struct server *srv = live_at(L);

	if (srv)
		server_set_admin(srv, SERVER_FMAINT, SERVER_FDRAIN);
	return 0;
}

static int set_ready(lua_State *L)
{
	struct server *srv = live_at(L);

	if (!srv)
		return 0;
	server_set_admin(srv, 0, SERVER_FMAINT | SERVER_FDRAIN);
	outlier_pardon(srv);
	return 0;
}

/* Upvalue: 1 agent, 2 on. */
static int check_switch(lua_State *L)
{
	lua_Integer how = lua_tointeger(L, lua_upvalueindex(1));
	struct server *srv = live_at(L);

	if (srv)
		check_enable(srv, how & 1, how & 2);
	return 0;
}

/* Upvalue: 0 up, 1 no new clients, 2 down. */
static int check_force(lua_State *L)
{
	struct server *srv = live_at(L);

	if (srv && !srv->checks.track)
		check_force_health(srv, (int)lua_tointeger(L, lua_upvalueindex(1)),
				   SERVER_BY_SCRIPT);
	return 0;
}

/* Upvalue: up? */
static int agent_force(lua_State *L)
{
	struct server *srv = live_at(L);

	if (srv && check_flags_of(&srv->state->agent) & CHECK_ENABLED)
		check_force_agent(srv, lua_toboolean(L, lua_upvalueindex(1)), SERVER_BY_SCRIPT);
	return 0;
}

static const luaL_Reg methods[] = {
	{ "get_name", get_name }, { "get_puid", get_puid }, { "get_rid", get_rid },
	{ "is_draining", is_draining }, { "is_backup", is_backup }, { "is_dynamic", is_dynamic },
	{ "get_cur_sess", get_cur_sess }, { "get_pend_conn", get_pend_conn },
	{ "get_maxconn", get_maxconn }, { "get_weight", get_weight }, { "get_addr", get_addr },
	{ "get_stats", get_stats }, { "get_proxy", get_proxy }, { "tracking", tracking },
	{ "get_trackers", get_trackers }, { "set_maxconn", set_maxconn },
	{ "set_weight", set_weight }, { "set_addr", set_addr }, { "shut_sess", shut_sess },
	{ "set_drain", set_drain }, { "set_maint", set_maint }, { "set_ready", set_ready },
	{ NULL, NULL }
};

/* Those whose function is shared by several names. */
static const struct {
	const char *name;
	lua_CFunction call;
	int how;
} more_methods[] = {
	{ "check_enable", check_switch, 2 }, { "check_disable", check_switch, 0 },
	{ "agent_enable", check_switch, 3 }, { "agent_disable", check_switch, 1 },
	{ "check_force_up", check_force, 0 }, { "check_force_nolb", check_force, 1 },
	{ "check_force_down", check_force, 2 },
};

/* Attributes, then methods: the upvalue. */
static int server_index(lua_State *L)
{
	const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";

	if (strcmp(key, "name") == 0)
		return get_name(L);
	if (strcmp(key, "puid") == 0)
		return get_puid(L);
	lua_pushvalue(L, 2);
	lua_rawget(L, lua_upvalueindex(1));
	return 1;
}

/* --- the list of a proxy ---------------------------------------------------------------------- */

int script_push_servers(lua_State *L, const struct proxy *px)
{
	struct server_list *list = script_object_new(L, "ServerList", sizeof(*list));

	list->px = px;
	return 1;
}

/* Upvalue: the next one. */
static int list_next(lua_State *L)
{
	struct server *srv = lua_touserdata(L, lua_upvalueindex(1));

	if (!srv) {
		lua_pushnil(L);
		return 1;
	}
	lua_pushlightuserdata(L, server_next(srv));
	lua_replace(L, lua_upvalueindex(1));
	lua_pushstring(L, srv->name);
	script_push_server(L, srv);
	return 2;
}

static int list_pairs(lua_State *L)
{
	const struct server_list *list = script_object(L, 1, "ServerList");

	lua_pushlightuserdata(L, server_first(list->px));
	lua_pushcclosure(L, list_next, 1);
	return 1;
}

static int list_index(lua_State *L)
{
	const struct server_list *list = script_object(L, 1, "ServerList");
	struct server *srv = server_find(list->px, luaL_checkstring(L, 2));

	if (srv)
		return script_push_server(L, srv);
	lua_pushnil(L);
	return 1;
}

void script_servers_open(lua_State *L)
{
	static const luaL_Reg none[] = { { NULL, NULL } };

	script_class_new(L, "Server", methods);
	luaL_getmetatable(L, "Server");
	lua_getfield(L, -1, "__index");
	for (unsigned i = 0; i < sizeof(more_methods) / sizeof(*more_methods); i++) {
		lua_pushinteger(L, more_methods[i].how);
		lua_pushcclosure(L, more_methods[i].call, 1);
		lua_setfield(L, -2, more_methods[i].name);
	}
	for (int up = 0; up < 2; up++) {
		lua_pushboolean(L, up);
		lua_pushcclosure(L, agent_force, 1);
		lua_setfield(L, -2, up ? "agent_force_up" : "agent_force_down");
	}
	lua_pop(L, 2);
	script_class_set_meta(L, "Server", "__index", server_index);
	script_class_new(L, "ServerList", none);
	script_class_set_meta(L, "ServerList", "__pairs", list_pairs);
	script_class_set_meta(L, "ServerList", "__index", list_index);
}

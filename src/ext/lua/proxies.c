/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proxies.c - classes Proxy and Listener: core.proxies, core.frontends, core.backends
 *
 * Objects point into the configuration that their script belongs to, which outlives the script.
 * After a reload, queries about an older configuration are answered from the state that both share.
 */
#include "class_priv.h"
#include "manage/stats.h"
#include "proxy/balance.h"
#include "proxy/bind.h"
#include "proxy/proxy.h"
#include "proxy/walk.h"
#include "room_priv.h"
#include "state_priv.h"
#include "stream/stream.h"

struct proxy_list {
	unsigned caps;                /* what its members have at least */
};

struct proxy_object {
	struct proxy *px;
};

struct listener_object {
	const struct listener_conf *lc;
};

void script_push_stats(lua_State *L, const struct stats_row *row)
{
	lua_newtable(L);
	for (unsigned i = 0; i < STATS_BASE_COUNT; i++) {
		const struct stats_value *v = &row->values[i];

		if (v->type == STATS_EMPTY)
			continue;
		if (v->type == STATS_STR)
			lua_pushstring(L, v->text);
		else
			lua_pushinteger(L, v->number);
		lua_setfield(L, -2, stats_field_name(i));
	}
}

/* --- class Listener --------------------------------------------------------------------------- */

static int listener_get_stats(lua_State *L)
{
	const struct listener_object *o = script_object(L, 1, "Listener");
	struct stats_row row;

	if (!o->lc->state)
		return luaL_error(L, "listeners are not there while the configuration is read");
	stats_fill_listener(&row, o->lc);
	script_push_stats(L, &row);
	return 1;
}

static int push_listeners(lua_State *L, const struct proxy *px)
{
	struct bind_conf *b;
	struct listener_conf *lc;
	struct listener_object *o;
	int unnamed = 0;

	lua_newtable(L);
	list_for_each(b, &px->binds, link)
		list_for_each(lc, &b->listeners, link) {
			o = script_object_new(L, "Listener", sizeof(*o));
			o->lc = lc;
			if (b->name)
				lua_pushstring(L, b->name);
			else
				lua_pushfstring(L, "sock-%d", ++unnamed);
			lua_insert(L, -2);
			lua_settable(L, -3);
		}
	return 1;
}

/* --- class Proxy ------------------------------------------------------------------------------ */

int script_push_proxy(lua_State *L, struct proxy *px)
{
	struct proxy_object *o = script_object_new(L, "Proxy", sizeof(*o));

	proxy_keep(px);
	o->px = px;
	return 1;
}

static struct proxy *proxy_at(lua_State *L)
{
	return ((struct proxy_object *)script_object(L, 1, "Proxy"))->px;
}

/* One whose state is there. */
static struct proxy *live_at(lua_State *L)
{
	struct proxy *px = proxy_at(L);

	if (!px->state)
		luaL_error(L, "proxy '%s' has no state while the configuration is read", px->name);
	return px;
}

static int get_name(lua_State *L)
{
	lua_pushstring(L, proxy_at(L)->name);
	return 1;
}

static int get_uuid(lua_State *L)
{
	lua_pushfstring(L, "%d", proxy_at(L)->id);
	return 1;
}

static int get_cap(lua_State *L)
{
	lua_pushstring(L, proxy_kind_name(proxy_at(L)));
	return 1;
}

static int get_mode(lua_State *L)
{
	lua_pushstring(L, proxy_mode_name(proxy_at(L)->mode));
	return 1;
}

static int get_srv_act(lua_State *L)
{
	const struct proxy *px = live_at(L);

	lua_pushinteger(L, px->caps & PROXY_BE ? balance_active_count(px) : 0);
	return 1;
}

static int get_srv_bck(lua_State *L)
{
	const struct proxy *px = live_at(L);

	lua_pushinteger(L, px->caps & PROXY_BE ? balance_backup_count(px) : 0);
	return 1;
}

/* Of a listen section those of its backend. */
static int get_stats(lua_State *L)
{
	const struct proxy *px = live_at(L);
	struct stats_row row;

	if (px->caps & PROXY_BE)
		stats_fill_backend(&row, px, false);
	else
		stats_fill_frontend(&row, px);
	script_push_stats(L, &row);
	return 1;
}

/* What a backend alone listens on is nothing. */
static int px_pause(lua_State *L)
{
	struct proxy *px = live_at(L);

	if (px->caps & PROXY_FE)
		proxy_pause(px);
	return 0;
}

static int px_resume(lua_State *L)
{
	struct proxy *px = live_at(L);

	if (px->caps & PROXY_FE)
		proxy_resume(px);
	return 0;
}

static int px_stop(lua_State *L)
{
	struct proxy *px = live_at(L);

	if (px->caps & PROXY_FE)
		proxy_stop(px);
	return 0;
}

static int shut_bcksess(lua_State *L)
{
	if (!streams_shutdown_backups(live_at(L)))
		return luaL_error(L, "out of memory");
	return 0;
}

static int get_mailers(lua_State *L)
{
	return script_push_mailers(L, proxy_at(L));
}

static const luaL_Reg proxy_methods[] = {
	{ "get_mailers", get_mailers },
	{ "get_name", get_name }, { "get_uuid", get_uuid }, { "get_cap", get_cap },
	{ "get_mode", get_mode }, { "get_srv_act", get_srv_act }, { "get_srv_bck", get_srv_bck },
	{ "get_stats", get_stats }, { "pause", px_pause }, { "resume", px_resume },
	{ "stop", px_stop }, { "shut_bcksess", shut_bcksess }, { NULL, NULL }
};

/* Attributes, then methods: the upvalue. */
static int proxy_index(lua_State *L)
{
	const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";

	if (strcmp(key, "name") == 0)
		return get_name(L);
	if (strcmp(key, "uuid") == 0)
		return get_uuid(L);
	if (strcmp(key, "servers") == 0)
		return script_push_servers(L, proxy_at(L));
	if (strcmp(key, "listeners") == 0)
		return push_listeners(L, proxy_at(L));
	if (strcmp(key, "stktable") == 0)
		return script_push_table(L, proxy_at(L));
	lua_pushvalue(L, 2);
	lua_rawget(L, lua_upvalueindex(1));
	return 1;
}

/* --- the lists -------------------------------------------------------------------------------- */

/* Proxies of the program itself are not listed. */
static bool is_member(const struct proxy *px, unsigned caps)
{
	return (px->caps & caps) == caps && !conf_is_own_text(px->file);
}

/* Scripts may wait, and keep what they have, until their generation ends. */
static void push_next(lua_State *L, struct proxy *px)
{
	if (px)
		proxy_keep(px);
	lua_pushlightuserdata(L, px);
}

/* Upvalues: the next one, sides. */
static int list_next(lua_State *L)
{
	struct proxy *px = lua_touserdata(L, lua_upvalueindex(1));
	unsigned caps = (unsigned)lua_tointeger(L, lua_upvalueindex(2));

	while (px && !is_member(px, caps))
		px = proxy_next(px);
	if (!px) {
		lua_pushnil(L);
		return 1;
	}
	push_next(L, proxy_next(px));
	lua_replace(L, lua_upvalueindex(1));
	lua_pushstring(L, px->name);
	script_push_proxy(L, px);
	return 2;
}

static int list_pairs(lua_State *L)
{
	const struct proxy_list *list = script_object(L, 1, "ProxyList");

	push_next(L, proxies_first(script_box_of(L)->room->cfg));
	lua_pushinteger(L, list->caps);
	lua_pushcclosure(L, list_next, 2);
	return 1;
}

static int list_index(lua_State *L)
{
	const struct proxy_list *list = script_object(L, 1, "ProxyList");
	const struct config *cfg = script_box_of(L)->room->cfg;
	struct proxy *px = proxy_find(cfg, luaL_checkstring(L, 2), list->caps);

	if (px && is_member(px, list->caps))
		return script_push_proxy(L, px);
	lua_pushnil(L);
	return 1;
}

void script_proxies_open(lua_State *L)
{
	static const luaL_Reg none[] = { { NULL, NULL } };
	static const luaL_Reg listener_methods[] = {
		{ "get_stats", listener_get_stats }, { NULL, NULL }
	};
	static const struct { const char *name; unsigned caps; } lists[] = {
		{ "proxies", 0 }, { "frontends", PROXY_FE }, { "backends", PROXY_BE },
	};

	script_class_new(L, "Listener", listener_methods);
	script_class_new(L, "Proxy", proxy_methods);
	script_class_set_meta(L, "Proxy", "__index", proxy_index);
	script_class_new(L, "ProxyList", none);
	script_class_set_meta(L, "ProxyList", "__pairs", list_pairs);
	script_class_set_meta(L, "ProxyList", "__index", list_index);
	lua_getglobal(L, "core");
	for (int i = 0; i < 3; i++) {
		struct proxy_list *list = script_object_new(L, "ProxyList", sizeof(*list));

		list->caps = lists[i].caps;
		lua_setfield(L, -2, lists[i].name);
	}
	lua_pop(L, 1);
}

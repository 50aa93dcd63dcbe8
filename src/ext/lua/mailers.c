/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mailers.c - data for scripts that send alerts by mail: proxy:get_mailers() and similar */
#include <unistd.h>
#include "class_priv.h"
#include "proxy/mailers.h"
#include "proxy/proxy.h"
#include "room_priv.h"
#include "state_priv.h"
#include "value_priv.h"

static void push_servers(lua_State *L, const struct proxy *px)
{
	const char *name;
	char address[128];

	lua_newtable(L);
	for (unsigned n = 0; (name = proxy_mailer(px, n, address, sizeof(address))); n++)
		script_set_string(L, name, address);
}

int script_push_mailers(lua_State *L, const struct proxy *px)
{
	struct proxy_mailers m;
	char host[256] = "";

	if (!proxy_mailers(px, &m)) {
		lua_pushnil(L);
		return 1;
	}
	gethostname(host, sizeof(host) - 1);
	lua_createtable(L, 0, 7);
	lua_pushboolean(L, px->options & PROXY_OPT_LOG_HEALTH_CHECKS);
	lua_setfield(L, -2, "track_server_health");
	lua_pushinteger(L, m.level);
	lua_setfield(L, -2, "log_level");
	lua_pushinteger(L, m.timeout_ms);
	lua_setfield(L, -2, "mailservers_timeout");
	push_servers(L, px);
	lua_setfield(L, -2, "mailservers");
	script_set_string(L, "smtp_hostname", m.hostname ? m.hostname : host);
	script_set_string(L, "smtp_from", m.from);
	script_set_string(L, "smtp_to", m.to);
	return 1;
}

/* core.use_native_mailers_config(): a script sends the alerts */
static int use_native_mailers_config(lua_State *L)
{
	struct script_room *room = script_box_of(L)->room;

	if (room->is_open)
		return luaL_error(L, "use_native_mailers_config: not available outside of body "
				  "context");
	mailers_leave(room->cfg);
	return 0;
}

void script_mailers_open(lua_State *L)
{
	lua_getglobal(L, "core");
	lua_pushcfunction(L, use_native_mailers_config);
	lua_setfield(L, -2, "use_native_mailers_config");
	lua_pop(L, 1);
}

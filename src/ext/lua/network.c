/* SPDX-License-Identifier: GPL-2.0-or-later */
/* network.c - core.parse_addr, core.match_addr: addresses and networks of scripts */
#include "base/addr.h"
#include "class_priv.h"
#include "proxy/address.h"
#include "room_priv.h"
#include "state_priv.h"

#define CLASS "Network"

struct network {
	struct addr net;
	unsigned bits;
};

/* While nothing else runs yet, a name may be asked of the system: this waits. */
static bool resolve(lua_State *L, const char *name, struct network *out)
{
	struct server_addr found;

	if (script_box_of(L)->room->is_open || !*name || strchr(name, '/') ||
	    !address_of_name(name, ADDR_NONE, &found))
		return false;
	out->net = addr_from_sockaddr(&found.sa, found.len);
	out->net.port = 0;
	out->bits = out->net.family == ADDR_INET ? 32 : 128;
	return addr_is_inet(&out->net);
}

/* core.parse_addr("127.0.0.0/8"): an object, or nil */
static int core_parse_addr(lua_State *L)
{
	struct network n = { .bits = 0 };
	struct slice text;

	text.ptr = luaL_checklstring(L, 1, &text.len);
	if (!addr_parse_network(text, &n.net, &n.bits) && !resolve(L, text.ptr, &n)) {
		lua_pushnil(L);
		return 1;
	}
	memcpy(lua_newuserdatauv(L, sizeof(n), 0), &n, sizeof(n));
	luaL_setmetatable(L, CLASS);
	return 1;
}

static int core_match_addr(lua_State *L)
{
	const struct network *a = luaL_testudata(L, 1, CLASS), *b = luaL_testudata(L, 2, CLASS);

	lua_pushboolean(L, a && b && addr_is_in(&a->net, &b->net, a->bits < b->bits ? a->bits
						: b->bits));
	return 1;
}

void script_network_open(lua_State *L)
{
	luaL_newmetatable(L, CLASS);
	lua_pop(L, 1);
	lua_getglobal(L, "core");
	lua_pushcfunction(L, core_parse_addr);
	lua_setfield(L, -2, "parse_addr");
	lua_pushcfunction(L, core_match_addr);
	lua_setfield(L, -2, "match_addr");
	lua_pop(L, 1);
}

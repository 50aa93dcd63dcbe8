/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lua_none.c - USE_LUA=0: no scripts */
#include "base/module.h"
#include "ext/lua.h"

void lua_print_build(FILE *out)
{
	fprintf(out, "Built without Lua support\n");
}

const struct module mod_lua = { .name = "lua" };
const struct module mod_lua_sockets = { .name = "lua-sockets" };

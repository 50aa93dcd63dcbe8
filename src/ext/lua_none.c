/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lua_none.c - USE_LUA=0: no scripts */
#include "base/module.h"
#include "ext/lua.h"

const struct module mod_lua = { .name = "lua" };
const struct module mod_lua_sockets = { .name = "lua-sockets" };

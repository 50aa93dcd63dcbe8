/* SPDX-License-Identifier: GPL-2.0-or-later */
/* certcache.c - CertCache.set: certificates in memory, replaced by scripts */
#include "class_priv.h"
#include "room_priv.h"
#include "run_priv.h"
#include "state_priv.h"
#include "tls/tls.h"

/* CertCache.set{filename=, crt=, key=, ocsp=, issuer=, sctl=}: in init functions, and where a call
 * may wait, for it may take a while.
 */
static int certcache_set(lua_State *L)
{
	struct script_box *box = script_box_of(L);
	struct tls_cert_texts texts = { .crt = slice_none() };
	const struct {
		const char *name;
		struct slice *text;
	} fields[] = { { "crt", &texts.crt }, { "key", &texts.key }, { "ocsp", &texts.ocsp },
		       { "issuer", &texts.issuer }, { "sctl", &texts.sctl } };
	const char *file, *key;
	char why[1024];
	size_t i;

	if (!lua_istable(L, 1))
		return luaL_error(L, "'CertCache.set' needs a table as argument");
	if (lua_getfield(L, 1, "filename") != LUA_TSTRING)
		return luaL_error(L, "No filename specified!");
	file = lua_tostring(L, -1);
	if (box->is_loading)
		return luaL_error(L, "Can't replace a certificate in the body of a script: use "
				  "core.register_init()");
	if (box->running && !box->running->may_wait)
		return luaL_error(L, "Cannot update '%s' in a non-yieldable context", file);
	for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
		key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
		if (strcmp(key, "filename") == 0)
			continue;
		for (i = 0; i < sizeof(fields) / sizeof(*fields); i++)
			if (strcmp(key, fields[i].name) == 0)
				break;
		if (i == sizeof(fields) / sizeof(*fields))
			return luaL_error(L, "Unsupported field '%s'", key);
		if (lua_type(L, -1) != LUA_TSTRING)
			return luaL_error(L, "field '%s' must be a string", key);
		fields[i].text->ptr = lua_tolstring(L, -1, &fields[i].text->len);
	}
	if (!tls_cert_set(box->room->cfg, file, &texts, why, sizeof(why)))
		return luaL_error(L, "%s", why);
	return 0;
}

void script_certcache_open(lua_State *L)
{
	lua_createtable(L, 0, 1);
	lua_pushcfunction(L, certcache_set);
	lua_setfield(L, -2, "set");
	lua_setglobal(L, "CertCache");
}

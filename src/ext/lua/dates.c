/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dates.c - core.http_date and similar: dates of HTTP as seconds since 1970 */
#include <lauxlib.h>
#include "class_priv.h"
#include "codec/date.h"

enum date_form { ANY, IMF, RFC850, ASCTIME };

/* A text that date_parse() takes: which form is it? */
static enum date_form form_of(struct slice text)
{
	if (!memchr(text.ptr, ',', text.len))
		return ASCTIME;
	return memchr(text.ptr, '-', text.len) ? RFC850 : IMF;
}

/* core.http_date(text) and the like; the upvalue is the form. nil: it is none. */
static int core_date(lua_State *L)
{
	lua_Integer form = lua_tointeger(L, lua_upvalueindex(1));
	struct slice text;
	int64_t seconds;

	text.ptr = luaL_checklstring(L, 1, &text.len);
	if (date_parse(text, &seconds) && (form == ANY || form == (lua_Integer)form_of(text)))
		lua_pushinteger(L, seconds);
	else
		lua_pushnil(L);
	return 1;
}

void script_dates_open(lua_State *L)
{
	static const char *const names[] = {
		[ANY] = "http_date", [IMF] = "imf_date", [RFC850] = "rfc850_date",
		[ASCTIME] = "asctime_date",
	};

	lua_getglobal(L, "core");
	for (int i = ANY; i <= ASCTIME; i++) {
		lua_pushinteger(L, i);
		lua_pushcclosure(L, core_date, 1);
		lua_setfield(L, -2, names[i]);
	}
	lua_pop(L, 1);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* value_priv.h - values of scripts and of the program (value.c); what is said of scripts (say.c)
 *
 * A function that takes a lua_State may raise an error of Lua, which jumps over C frames: nothing
 * is held there that would leak. Everything else is called from outside and protects itself.
 */
#ifndef SCRIPT_VALUE_PRIV_H
#define SCRIPT_VALUE_PRIV_H

#include <lua.h>
#include <stdbool.h>
#include "base/slice.h"
#include "log/log.h"

struct sample;
struct script_room;

void script_log(const struct script_room *room, const struct proxy *px, enum log_level level,
		struct slice text);
/* An error of a script: as an alert, too. */
void script_error(const struct script_room *room, const struct proxy *px, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The argument at <index>, which must be a text, or an error is raised. Lives as long as that. */
struct slice script_text(lua_State *L, int index);
/* Set a field of the table on top. slice_none() is the empty text; <text> NULL is nil. */
void script_set_text(lua_State *L, const char *name, struct slice text);
void script_set_string(lua_State *L, const char *name, const char *text);
void script_set_integer(lua_State *L, const char *name, lua_Integer number);

/* Pushes a sample; nil if it cannot be. <text>: as a string. */
void script_push_sample(lua_State *L, struct sample *s, struct arena *arena, bool text);
/* The value at <index> as a sample; texts are copied to <arena>. */
void script_to_sample(lua_State *L, int index, struct arena *arena, struct sample *s);

#endif

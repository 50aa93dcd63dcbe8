/* SPDX-License-Identifier: GPL-2.0-or-later */
/* value_priv.h - conversion of values for scripts (value.c); messages about scripts (say.c)
 *
 * A function that takes a lua_State may raise a Lua error, which jumps over C frames: it must hold
 * nothing there that would leak. All other functions are called from outside and handle errors
 * themselves.
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
/* Logs an error of a script, as an alert, too. */
void script_error(const struct script_room *room, const struct proxy *px, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Returns the argument at <index>; raises an error if it is not a text. Lives as long as the
 * argument.
 */
struct slice script_text(lua_State *L, int index);
/* Set a field of the table on top. slice_none() sets the empty text; <text> NULL sets nil. */
void script_set_text(lua_State *L, const char *name, struct slice text);
void script_set_string(lua_State *L, const char *name, const char *text);
void script_set_integer(lua_State *L, const char *name, lua_Integer number);

/* Pushes a sample, or nil if it cannot be converted. <text>: as a string. */
void script_push_sample(lua_State *L, struct sample *s, struct arena *arena, bool text);
/* Converts the value at <index> to a sample; texts are copied to <arena>. */
void script_to_sample(lua_State *L, int index, struct arena *arena, struct sample *s);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* json.h - finds a value inside a JSON text (RFC 8259), by a simple path
 *
 * "$" is the whole text; ".name" a member (a backslash before a dot makes it part of the name),
 * "[2]" an element. Of members with equal names the first one counts; names are compared as
 * written. What follows the value is ignored. Nothing is allocated. Pure, any thread.
 * Manual : configuration 7.3.1 json_query.
 */
#ifndef CODEC_JSON_H
#define CODEC_JSON_H

#include <stdbool.h>
#include "base/slice.h"

/* Limit of nested arrays and objects. */
#define JSON_DEPTH_MAX 20

enum json_type {
	JSON_NONE, /* not found, or malformed before it */
	JSON_NULL, JSON_TRUE, JSON_FALSE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT,
};

/* Finds the value; *value: its bytes, those of a string without the quotes and still escaped. */
enum json_type json_find(struct slice text, struct slice path, struct slice *value);
/* Returns the next member of the object that <*rest> begins with; <*rest> then is what follows the
 * member. The value is as for json_find(); the name is still escaped. JSON_NONE: not an object,
 * malformed, or no more.
 */
enum json_type json_next_member(struct slice *rest, struct slice *name, struct slice *value);
/* Decodes an escaped string into <out> (at most text.len bytes). \u00XX gives the byte XX; other \u
 * escapes and NUL are refused. -1: malformed.
 */
long json_unescape(struct slice text, char *out);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* json.h - a value inside a JSON text (RFC 8259), by a simple path
 *
 * "$" is the whole; ".name" a member (a backslash before a dot makes it part of the name), "[2]" an
 * element. Of members with equal names the first counts; names are compared as written. What stands
 * behind the value is not looked at. Nothing is allocated. Pure, any thread.
 * Manual : configuration 7.3.1 json_query.
 */
#ifndef CODEC_JSON_H
#define CODEC_JSON_H

#include <stdbool.h>
#include "base/slice.h"

/* Arrays and objects in one another. */
#define JSON_DEPTH_MAX 20

enum json_type {
	JSON_NONE, /* not there, or malformed before it */
	JSON_NULL, JSON_TRUE, JSON_FALSE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT,
};

/* Finds the value; *value gets its bytes: those of a string without the quotes, still escaped. */
enum json_type json_find(struct slice text, struct slice path, struct slice *value);
/* The next member of the object that <*rest> begins with, which then is what stands behind it. The
 * value is as of json_find(), the name still escaped. JSON_NONE: no object, malformed, or no more.
 */
enum json_type json_next_member(struct slice *rest, struct slice *name, struct slice *value);
/* Writes the string that escaped bytes stand for into <out> (text.len bytes at most). \u00XX gives
 * the byte XX; others are refused, and so is NUL. -1: malformed.
 */
long json_unescape(struct slice text, char *out);

#endif

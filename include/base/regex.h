/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* regex.h - regular expressions (PCRE2, with its just-in-time compiler if available)
 *
 * Owns   : a compiled expression belongs to its creator; the scratch memory of matching is per
 *          thread.
 * Threads: a compiled expression is immutable: any thread may match.
 * Errors : errors in a pattern are given as text, with the offset.
 * Limits : matching gives up (no match) at the library's limits, so that no pattern stalls a
 *          thread.
 */
#ifndef BASE_REGEX_H
#define BASE_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include "base/slice.h"
#include "base/strbuf.h"

struct regex;

#define REGEX_GROUPS_MAX 20 /* expanded texts can only refer to \0 to \9 */

enum regex_flags {
	REGEX_NOCASE = 1 << 0,
	REGEX_NOT_BEGIN = 1 << 1, /* for matching: the text is not at the start of a line */
};

/* Compiles a pattern. NULL: <error> (room for <size> bytes) says why, for instance "regex '(' is
 * invalid (error=missing closing parenthesis, erroffset=1)".
 */
struct regex *regex_new(struct slice pattern, unsigned flags, char *error, size_t size);
void regex_free(struct regex **re);
bool regex_match(const struct regex *re, struct slice text);
/* As regex_match(), with <flags>; groups[0..REGEX_GROUPS_MAX-1] get the captures (slice_none() if
 * unset).
 */
bool regex_match_groups(const struct regex *re, struct slice text, unsigned flags,
			struct slice *groups);
/* Writes <pattern> with \0..\9 replaced by the groups, \xHH by a byte and \<c> by <c>. False: no
 * room.
 */
bool regex_expand(struct slice pattern, const struct slice *groups, struct strbuf *out);
/* Frees the calling thread's scratch memory, at its end. */
void regex_trim_thread(void);
/* For -vv: returns "10.42 2022-12-11", and whether the just-in-time compiler works. */
const char *regex_version(void);
bool regex_has_jit(void);

#endif

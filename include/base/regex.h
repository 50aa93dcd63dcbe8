/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* regex.h - regular expressions (PCRE2, compiled just in time where the machine can)
 *
 * Owns   : a compiled expression is its maker's; the scratch memory of matching is per thread.
 * Threads: a compiled expression is immutable: any thread may match.
 * Errors : what is wrong with a pattern comes as text, with the offset.
 * Limits : matching gives up (no match) after the library's limits, so that no pattern stalls a
 * thread.
 */
#ifndef BASE_REGEX_H
#define BASE_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include "base/slice.h"
#include "base/strbuf.h"

struct regex;

#define REGEX_GROUPS_MAX 20 /* texts to expand name \0 to \9 only */

enum regex_flags {
	REGEX_NOCASE = 1 << 0,
	REGEX_NOT_BEGIN = 1 << 1, /* when matching: the text is not the start of a line */
};

/* Compiles. NULL: <error> (room for <size> bytes) says why, for instance
 * "regex '(' is invalid (error=missing closing parenthesis, erroffset=1)".
 */
struct regex *regex_new(struct slice pattern, unsigned flags, char *error, size_t size);
void regex_free(struct regex **re);
bool regex_match(const struct regex *re, struct slice text);
/* As regex_match(), under <flags>, and groups[0..REGEX_GROUPS_MAX-1] get the captures (slice_none()
 * where unset). */
bool regex_match_groups(const struct regex *re, struct slice text, unsigned flags,
			struct slice *groups);
/* Writes <pattern> with \0..\9 replaced by the groups, \xHH by a byte, \<c> by <c>. False: no room.
 */
bool regex_expand(struct slice pattern, const struct slice *groups, struct strbuf *out);
/* Frees the calling thread's scratch memory (it ends). */
void regex_trim_thread(void);
/* "10.42 2022-12-11", and whether the just-in-time compiler works: for -vv. */
const char *regex_version(void);
bool regex_has_jit(void);

#endif

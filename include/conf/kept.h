/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kept.h - keeps the lines of a configuration as read, for commands that show it
 *
 * Purpose: keeps the lines in effect (conditions and includes evaluated, variables replaced), and
 *          writes them without their secrets.
 * Owns   : lines lie in the generation's arena and are freed with it. Each takes some 40 bytes and
 *          its words.
 * Threads: written while a configuration is read; then immutable, any thread.
 * Errors : out of memory, a line is not kept.
 * Manual : management 9.3 show config (an extension).
 */
#ifndef CONF_KEPT_H
#define CONF_KEPT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/strbuf.h"

struct conf_source;
struct config;
struct diag_list;

struct conf_kept {
	struct conf_kept *next;
	const char *file;
	int line, count;        /* count: of words */
	bool opens;             /* begins a section */
	uint64_t hash;          /* of the words: equal for equal lines */
	char words[];           /* each with its NUL */
};

/* Makes conf_read() keep each line in effect, except those of the program's own texts and of
 * dialects.
 */
void conf_keep_lines(struct config *cfg);
/* Returns the first line. NULL: none. */
const struct conf_kept *conf_kept_first(const struct config *cfg);
/* Returns the <i>-th word; "" if there is none. */
const char *conf_kept_word(const struct conf_kept *k, int i);
/* Keeps the lines of the files as they are now, with no other effect: only keywords that control
 * the reading itself are executed. False: reported.
 */
bool conf_read_kept(struct config *cfg, const struct conf_source *sources, int count,
		    struct diag_list *diags);
/* Writes the words as a line that would be parsed into the same words: quoted where needed, and
 * with "***" in place of passwords, keys and credentials.
 */
void conf_kept_put(const struct conf_kept *k, struct strbuf *out);

/* What the word after <word> is, in any line: a single list, for code that hides secrets and for
 * code that looks for them.
 */
enum conf_secret {
	CONF_SECRET_NONE,
	CONF_SECRET_HASH,       /* must be hidden, but may be harmless: a hash */
	CONF_SECRET_CLEAR,      /* a readable secret */
};
enum conf_secret conf_secret_behind(const char *word);
/* Returns the start, name and "(", of the <i>-th converter whose arguments include its key. NULL:
 * no more. After "_", the name may continue.
 */
const char *conf_secret_converter(unsigned i);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kept.h - the lines of a configuration as they were read, for commands that ask what is running
 *
 * Purpose: keeps the lines that count (conditions and includes are carried out, variables are in
 *          their places), and writes them without the secrets that stand in them.
 * Owns   : lines live in the generation's arena, and die with it. Some 40 bytes and the words each.
 * Threads: written while a configuration is read; then immutable, any thread.
 * Errors : without memory a line is not kept.
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
	bool opens;             /* it begins a section */
	uint64_t hash;          /* of the words: equal lines have equal ones */
	char words[];           /* each with its NUL */
};

/* Has conf_read() keep each line that counts, but for those of the program's own texts and those of
 * dialects.
 */
void conf_keep_lines(struct config *cfg);
/* The first line; NULL: none. */
const struct conf_kept *conf_kept_first(const struct config *cfg);
/* The <i>-th word; "": there is none. */
const char *conf_kept_word(const struct conf_kept *k, int i);
/* Keeps the lines of the files as they are now, without any other effect: no keyword is carried out
 * but those that steer the reading itself. False: reported.
 */
bool conf_read_kept(struct config *cfg, const struct conf_source *sources, int count,
		    struct diag_list *diags);
/* Writes the words as a line that would be read again as they are: quoted where needed, and with
 * "***" in the place of passwords, keys and credentials.
 */
void conf_kept_put(const struct conf_kept *k, struct strbuf *out);

/* What the word behind <word> is in any line: the one list for code that hides secrets and for code
 * that looks for them.
 */
enum conf_secret {
	CONF_SECRET_NONE,
	CONF_SECRET_HASH,       /* to be hidden, but it need not be a secret as it stands: a hash */
	CONF_SECRET_CLEAR,      /* readable as it stands */
};
enum conf_secret conf_secret_behind(const char *word);
/* The name and "(" with which a converter begins that has its key among its arguments; NULL: no
 * more of them. Behind "_" there may be more of the name.
 */
const char *conf_secret_converter(unsigned i);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* source.h - a configuration as it is written: lines cut into words, and not a byte is lost
 *
 * Purpose: what the tools that read files have in common (--format, --lint,
 *          --language-server). The reader of conf.h carries lines out; this one keeps comments,
 *          quotes, blanks and branches of .if that are not taken, and evaluates nothing: variables
 *          stay as they are written.
 * Owns   : its texts, lines and words, all in one arena, until source_fini().
 * Threads: the owner's.
 * Errors : a line that the reader would refuse is SOURCE_BROKEN; the others go on.
 * Manual : configuration 2.2 to 2.4.
 */
#ifndef CONF_SOURCE_H
#define CONF_SOURCE_H

#include <stdbool.h>
#include "base/arena.h"
#include "base/slice.h"

enum source_kind {
	SOURCE_BLANK,
	SOURCE_COMMENT,   /* nothing but a comment */
	SOURCE_DIRECTIVE, /* .if and its kin, .include */
	SOURCE_SECTION,   /* it begins a section */
	SOURCE_KEYWORD,
	SOURCE_BROKEN,    /* an open quote, a NUL, a wrong escape, bytes behind a carriage return */
};

struct source_word {
	int at, end;      /* bytes of the line, quotes included */
	const char *text; /* without quotes and escapes */
};

struct source_line {
	const char *file;
	int number;              /* from 1 */
	enum source_kind kind;
	struct slice raw;        /* without its line feed and a carriage return before that */
	struct source_word *words;
	int count;
	int comment;             /* where '#' stands; -1: no comment */
	int section;             /* index of the line that begins its section; -1: none does */
	int depth;               /* of .if blocks around it, in its file */
};

struct source {
	struct arena arena;
	struct source_line *lines;
	int count, room;
	int section;             /* of the next line */
	bool is_truncated;       /* the last line of a file has no line feed */
	bool failed;             /* no memory, or a file could not be read: errno */
	/* set after source_init(), or NULL: the text that stands for that of an included file.
	 * False: the file's own.
	 */
	bool (*text_of)(const void *data, const char *path, struct slice *text);
	const void *data;        /* for it */
};

/* An empty one. */
void source_init(struct source *s);
/* Frees all; it may be made again. */
void source_fini(struct source *s);
/* Adds the lines of a text, copied. <file> is copied, too. */
void source_add(struct source *s, const char *file, struct slice text);
/* As source_add(), and files of `.include` come in the place of that line, which stays. */
void source_add_all(struct source *s, const char *file, struct slice text);
/* As source_add_all(), of a file ("-": standard input) or the *.cfg of a directory. False: errno.
 */
bool source_add_file(struct source *s, const char *path);
/* Word <i> of a line, without quotes; "" behind the last one. */
const char *source_word(const struct source_line *l, int i);
/* source_begins() of a line whose first letter is that of <words>. */
bool source_goes_on(const struct source_line *l, const char *words);
/* Are the first words of a line those of <words> ("timeout client")? */
static inline bool source_begins(const struct source_line *l, const char *words)
{
	return *words == (l->count > 0 ? *l->words[0].text : '\0') && source_goes_on(l, words);
}

#endif

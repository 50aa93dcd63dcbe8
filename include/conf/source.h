/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* source.h - a configuration file as text: lines split into words, without losing a byte
 *
 * Purpose: shared by the tools that read files (--format, --lint, --language-server). The reader of
 *          conf.h executes lines; this one keeps comments, quotes, blanks and .if branches that are
 *          not taken, and evaluates nothing: variables are left as they are.
 * Owns   : its texts, lines and words, all in one arena, until source_fini().
 * Threads: the owner's.
 * Errors : a line that the reader would refuse is SOURCE_BROKEN; the others are read.
 * Manual : configuration 2.2 to 2.4.
 */
#ifndef CONF_SOURCE_H
#define CONF_SOURCE_H

#include <stdbool.h>
#include "base/arena.h"
#include "base/slice.h"

enum source_kind {
	SOURCE_BLANK,
	SOURCE_COMMENT,   /* only a comment */
	SOURCE_DIRECTIVE, /* .if etc., .include */
	SOURCE_SECTION,   /* begins a section */
	SOURCE_KEYWORD,
	SOURCE_BROKEN,    /* an open quote, a NUL, a wrong escape, bytes after a carriage return */
};

struct source_word {
	int at, end;      /* byte offsets in the line, quotes included */
	const char *text; /* without quotes and escapes */
};

struct source_line {
	const char *file;
	int number;              /* from 1 */
	enum source_kind kind;
	struct slice raw;        /* without line feed and preceding carriage return */
	struct source_word *words;
	int count;
	int comment;             /* offset of '#'; -1: no comment */
	int section;             /* index of the line that begins its section; -1: none */
	int depth;               /* number of .if blocks around it, in its file */
};

struct source {
	struct arena arena;
	struct source_line *lines;
	int count, room;
	int section;             /* section of the next line */
	bool is_truncated;       /* the last line of a file has no line feed */
	bool failed;             /* out of memory, or a file could not be read: errno */
	/* optional, set after source_init(): returns the text that replaces an included file.
	 * False: read the file.
	 */
	bool (*text_of)(const void *data, const char *path, struct slice *text);
	const void *data;        /* passed to it */
};

/* Initialises an empty source. */
void source_init(struct source *s);
/* Frees all; source_init() may be called again. */
void source_fini(struct source *s);
/* Adds the lines of a text; the text and <file> are copied. */
void source_add(struct source *s, const char *file, struct slice text);
/* As source_add(), but inserts the files of `.include` after that line, which stays. */
void source_add_all(struct source *s, const char *file, struct slice text);
/* As source_add_all(), for a file ("-": standard input) or the *.cfg of a directory. False: errno.
 */
bool source_add_file(struct source *s, const char *path);
/* Returns word <i> of a line, without quotes; "" after the last one. */
const char *source_word(const struct source_line *l, int i);
/* source_begins() for a line whose first letter is that of <words>. */
bool source_goes_on(const struct source_line *l, const char *words);
/* Do the first words of a line equal <words> ("timeout client")? */
static inline bool source_begins(const struct source_line *l, const char *words)
{
	return *words == (l->count > 0 ? *l->words[0].text : '\0') && source_goes_on(l, words);
}

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* diag.h - what is said about a configuration: collected first, printed by one printer
 *
 * Parsers never print: they add a diagnostic (severity, place, message, hint) to a list and go on.
 * Output: first the one-line form that HAProxy users' tools know
 *
 *     [ALERT]    (pid) : config : parsing [file:line] : message
 *
 * then, where a source line and a column are known, the line (two blanks, without its indentation)
 * with a caret below the column, then each line of the hint behind "   | ".
 * Owns: all texts (copied). Threads: a list belongs to the thread that parses. Fails: when memory
 *       is out the
 * diagnostic is counted but its text lost.
 */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "base/list.h"

enum diag_level { DIAG_DIAG, DIAG_DEBUG, DIAG_NOTICE, DIAG_WARNING, DIAG_ALERT };

/* What stands before the message: the small differences that users' scripts rely on. */
enum diag_form {
	DIAG_PARSING, /* "config : parsing [file:line] : ", what keyword parsers say */
	DIAG_TIGHT,   /* "config : parsing [file:line]: ", what the reader of lines says */
	DIAG_AT,      /* "config : [file:line] : ", about servers */
	DIAG_BARE,    /* nothing at all */
};                    /* the first three give "config : " when there is no file */

/* Where something was said; borrowed pointers, copied when a diagnostic is made. */
struct diag_place {
	enum diag_form form;
	const char *file; /* NULL: not about a file */
	int line;         /* from 1 */
	int column;       /* from 1; 0: unknown */
	const char *text; /* the source line, NULL: unknown */
};

struct diag {
	struct list link;
	enum diag_level level;
	enum diag_form form;
	char *file;
	int line, column;
	char *text;    /* source line or NULL */
	char *message; /* without final newline */
	char *hint;    /* or NULL */
};

struct diag_list {
	struct list diags;
	int alerts, warnings; /* counts */
};

/* Makes an empty list. */
void diag_list_init(struct diag_list *l);
/* Moves all of <from> behind those of <to>; <from> becomes empty. */
void diag_list_splice(struct diag_list *to, struct diag_list *from);
/* Frees every diagnostic. */
void diag_list_fini(struct diag_list *l);

/* Adds one. <place> may be NULL: nothing but "config : " stands before the message. <hint> may be
 * NULL; it may have several lines.
 */
void diag_add(struct diag_list *l, enum diag_level level, const struct diag_place *place,
	      const char *hint, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void diag_vadd(struct diag_list *l, enum diag_level level, const struct diag_place *place,
	       const char *hint, const char *fmt, va_list ap);

/* Prints all diagnostics of at least <least> in order to <out> in the form above. */
void diag_print(const struct diag_list *l, enum diag_level least, FILE *out);

/* Prints them as JSON, one object a line: severity, file, line, column, message, hint. */
void diag_print_json(const struct diag_list *l, enum diag_level least, FILE *out);

/* Writes what diag_print() prints into a text, whether quiet or not, without the banner. */
struct strbuf;
void diag_write(const struct diag_list *l, enum diag_level least, struct strbuf *out);

/* Prints a message immediately to stderr in the one-line form ("[NOTICE]   (pid) : text"). Honours
 * diag_set_quiet(). For start-up and shutdown messages only. Threads: any.
 */
void diag_say(enum diag_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The warnings that diag_print() and diag_say() gave since the start, with diag_set_quiet() too
 * (management 9.3, "show info": TotalWarnings). Threads: any.
 */
uint64_t diag_warnings_total(void);
/* Has <copy> called with every text that is printed; NULL: no copy is made. While one thread
 * runs.
 */
typedef void diag_copy_fn(const char *text, size_t len);
void diag_set_copy(diag_copy_fn *copy);
/* With true, nothing is printed any more: neither lists, nor what is said, nor the banner. */
void diag_set_quiet(bool quiet);
/* Two notices (version and path of the program) that stand once before the first warning or alert
 * of the process, whichever function prints it. Borrowed texts that must live on; NULL: none (the
 * default).
 */
void diag_set_banner(const char *version, const char *path);

#endif

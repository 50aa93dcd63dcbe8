/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* diag.h - diagnostics about a configuration: collected first, printed by one printer
 *
 * Parsers never print: they add a diagnostic (severity, place, message, hint) to a list and
 * continue.
 * Output: first the one-line form that tools of HAProxy users know
 *
 *     [ALERT]    (pid) : config : parsing [file:line] : message
 *
 * then, if the source line and a column are known, the line (after two blanks, without its
 * indentation) with a caret below the column, then each line of the hint after "   | ".
 * Owns: all texts (copied). Threads: a list belongs to the thread that parses. Fails: out of
 * memory, the diagnostic is counted but its text is lost.
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

/* The prefix of the message: users' scripts rely on these small differences. */
enum diag_form {
	DIAG_PARSING, /* "config : parsing [file:line] : ", for keyword parsers */
	DIAG_TIGHT,   /* "config : parsing [file:line]: ", for the reader of lines */
	DIAG_AT,      /* "config : [file:line] : ", for servers */
	DIAG_BARE,    /* nothing at all */
};                    /* the first three give "config : " when there is no file */

/* The place that a diagnostic is about. Borrowed pointers; a diagnostic has copies. */
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

/* Initialises an empty list. */
void diag_list_init(struct diag_list *l);
/* Moves all diagnostics of <from> to the end of <to>; <from> becomes empty. */
void diag_list_splice(struct diag_list *to, struct diag_list *from);
/* Frees all diagnostics. */
void diag_list_fini(struct diag_list *l);

/* Adds a diagnostic. <place> NULL: only "config : " precedes the message. <hint> may be NULL, or
 * have several lines.
 */
void diag_add(struct diag_list *l, enum diag_level level, const struct diag_place *place,
	      const char *hint, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void diag_vadd(struct diag_list *l, enum diag_level level, const struct diag_place *place,
	       const char *hint, const char *fmt, va_list ap);

/* Prints all diagnostics of at least level <least>, in order, to <out> in the form above. */
void diag_print(const struct diag_list *l, enum diag_level least, FILE *out);

/* Prints them as JSON, one object per line: severity, file, line, column, message, hint. */
void diag_print_json(const struct diag_list *l, enum diag_level least, FILE *out);

/* Appends what diag_print() would print to a text, also in quiet mode, without the banner. */
struct strbuf;
void diag_write(const struct diag_list *l, enum diag_level least, struct strbuf *out);

/* Prints a message immediately to stderr in the one-line form ("[NOTICE] (pid) : text"). Obeys
 * diag_set_quiet(). For start-up and shutdown messages only. Threads: any.
 */
void diag_say(enum diag_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Returns the number of warnings that diag_print() and diag_say() gave since the start, also in
 * quiet mode (management 9.3, "show info": TotalWarnings). Threads: any.
 */
uint64_t diag_warnings_total(void);
/* Makes <copy> be called with every text that is printed; NULL: no copies. Only while one thread
 * runs.
 */
typedef void diag_copy_fn(const char *text, size_t len);
void diag_set_copy(diag_copy_fn *copy);
/* True: nothing is printed any more: neither lists, messages nor the banner. */
void diag_set_quiet(bool quiet);
/* Sets two notices (version and path of the program) that are printed once, before the first
 * warning or alert of the process, by whichever function prints it. Borrowed texts, which must
 * remain valid; NULL: none (the default).
 */
void diag_set_banner(const char *version, const char *path);

#endif

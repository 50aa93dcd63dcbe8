/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* diag.h - what is said about a configuration: collected first, printed by one printer
 *
 * Parsers never print: they add a diagnostic (severity, place, message, hint) to a list and go on.
 * Output: first the one-line form of HAProxy ("[ALERT]    (pid) : config : parsing [file:line] : message"),
 * then, where a source line is known, the line with a caret under the column, then the hint.
 * Owns: all texts (copied). Threads: a list belongs to who parses. Fails: when memory is out the
 * diagnostic is counted but its text lost.
 */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "base/list.h"

enum diag_level { DIAG_DIAG, DIAG_DEBUG, DIAG_NOTICE, DIAG_WARNING, DIAG_ALERT };

/* Where something was said; borrowed pointers, copied when a diagnostic is made. */
struct diag_place {
	const char *file; /* NULL: not about a file */
	int line;         /* from 1 */
	int column;       /* from 1; 0: unknown */
	const char *text; /* the source line, NULL: unknown */
};

struct diag {
	struct list link;
	enum diag_level level;
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

void diag_list_init(struct diag_list *l);
/* Frees every diagnostic. */
void diag_list_fini(struct diag_list *l);

/* Adds one. <place> may be NULL. <hint> may be NULL ("did you mean 'x' ?"). */
void diag_add(struct diag_list *l, enum diag_level level, const struct diag_place *place,
	      const char *hint, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void diag_vadd(struct diag_list *l, enum diag_level level, const struct diag_place *place,
	       const char *hint, const char *fmt, va_list ap);

/* Prints all diagnostics of at least <least> in order to <out> in the form above. */
void diag_print(const struct diag_list *l, enum diag_level least, FILE *out);

/* Formats one to <out>: used for what is said without a list (start-up). */
void diag_print_one(const struct diag *d, FILE *out);

/* Says a thing at once to stderr in the one-line form ("[NOTICE]   (pid) : text"). Honours
 * diag_set_quiet(). For start-up and shutdown messages only. Threads: any.
 */
void diag_say(enum diag_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void diag_set_quiet(bool quiet);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools.h - what reads configurations for people: --format, --lint, --language-server
 *
 * Purpose: one parser of lines (conf/source.h) below three tools. None of them serves traffic; each
 *          is entered from the command line and ends with the process.
 * Owns   : nothing between calls.
 * Threads: the main one, before any other is started.
 * Errors : told on stderr; the exit status says what was found.
 * Manual : doc/configuration/tools.md.
 */
#ifndef TOOLS_TOOLS_H
#define TOOLS_TOOLS_H

#include <stdbool.h>
#include <stdio.h>
#include "base/slice.h"

struct diag_list;
struct source;
struct strbuf;

/* What main brings: the tools stand below the modules. */
struct tools_host {
	/* Prints the vocabulary, one record a line: kind, name, syntax, where, notes, help, hint
	 * with tabs between (-dKdoc).
	 */
	void (*vocabulary)(FILE *out);
	/* Reads and checks a configuration as -c -dD would; what is said goes to <diags>. With a
	 * <text>, that stands for the contents of the file. <ends>: the process ends soon, so
	 * nothing is freed.
	 */
	void (*check)(const char *path, const struct slice *text, struct diag_list *diags,
		      bool ends);
};

enum tools_output { TOOLS_TEXT, TOOLS_JSON, TOOLS_SARIF };

/* --- format */

enum format_mode {
	FORMAT_PRINT, /* the new text goes to stdout */
	FORMAT_CHECK, /* nothing is written: 1 where it would differ */
	FORMAT_WRITE, /* the file is replaced */
};

/* Lays out the lines of one file. False: no memory. */
bool format_source(const struct source *s, struct strbuf *out);
/* --format: the exit status. */
int format_run(const char *const *paths, int count, enum format_mode mode);

/* --- lint */

/* --lint: what deserves a look. 0: nothing, or notes only; 1: warnings or errors; 2: a file cannot
 * be read.
 */
int lint_run(const struct tools_host *host, const char *const *paths, int count,
	     enum tools_output output);

/* --- language server */

/* --language-server: speaks LSP 3.17 on stdin and stdout until it is told to exit. */
int language_server_run(const struct tools_host *host);

#endif

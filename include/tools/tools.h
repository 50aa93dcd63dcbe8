/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools.h - tools that read configurations: --format, --lint, --language-server
 *
 * Purpose: three tools on top of one line parser (conf/source.h). None serves traffic; each is
 *          started from the command line and ends with the process.
 * Owns   : nothing between calls.
 * Threads: the main one, before any other is started.
 * Errors : reported on stderr; the exit status tells the result.
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

/* Functions of main, since the tools are below the modules. */
struct tools_host {
	/* Prints the vocabulary, one record per line: kind, name, syntax, where, notes, help, hint,
	 * separated by tabs (-dKdoc).
	 */
	void (*vocabulary)(FILE *out);
	/* Reads and checks a configuration as -c -dD would; diagnostics go to <diags>. <text>, if
	 * given, replaces the contents of the file. <ends>: the process ends soon, so nothing is
	 * freed.
	 */
	void (*check)(const char *path, const struct slice *text, struct diag_list *diags,
		      bool ends);
};

enum tools_output { TOOLS_TEXT, TOOLS_JSON, TOOLS_SARIF };

/* --- format */

enum format_mode {
	FORMAT_PRINT, /* print the new text to stdout */
	FORMAT_CHECK, /* write nothing: exit with 1 if it would differ */
	FORMAT_WRITE, /* replace the file */
};

/* Formats the lines of one file. False: out of memory. */
bool format_source(const struct source *s, struct strbuf *out);
/* Runs --format; returns the exit status. */
int format_run(const char *const *paths, int count, enum format_mode mode);

/* --- lint */

/* Runs --lint; returns 0: nothing, or notes only; 1: warnings or errors; 2: a file cannot be read.
 */
int lint_run(const struct tools_host *host, const char *const *paths, int count,
	     enum tools_output output);

/* --- language server */

/* Runs --language-server: speaks LSP 3.17 on stdin and stdout until it is told to exit. */
int language_server_run(const struct tools_host *host);

#endif

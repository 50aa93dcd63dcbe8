/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* script.h - expressions defined by scripts, and expressions evaluated for scripts
 *
 * A configuration may load scripts that define their own fetches and converters, `lua.NAME`: for a
 * name in no table, the floor that runs scripts is asked. Scripts also evaluate the program's
 * fetches and converters at run time: such an expression is compiled from its text on first use, in
 * a configuration of its own beside the live one.
 * Owns   : a struct expr_runtime owns what was compiled in it; after <max> texts it starts over.
 * Threads: one at a time: the caller has a lock per expr_runtime.
 * Errors : as text in the caller's buffer.
 * Manual : configuration 7.
 */
#ifndef EXPR_SCRIPT_H
#define EXPR_SCRIPT_H

#include "expr/expr.h"

/* Find names that are in no table; the rows live as long as <cfg>. NULL: unknown. */
struct expr_scripts {
	const struct expr_fetch *(*fetch)(const struct config *cfg, struct slice name);
	const struct expr_converter *(*converter)(const struct config *cfg, struct slice name);
};
/* Installs the functions. Call once, before a configuration is read. <scripts> is borrowed. */
void expr_set_scripts(const struct expr_scripts *scripts);

struct expr_runtime;

/* Creates a runtime for expressions that use the names of <live>, which must outlive it. NULL: out
 * of memory.
 */
struct expr_runtime *expr_runtime_new(struct config *live);
void expr_runtime_free(struct expr_runtime **rt);
/* Returns the expression of this text, valid until the next call. NULL: see <error>. */
const struct expr *expr_runtime_get(struct expr_runtime *rt, const char *text, char *error,
				    size_t size);
/* Evaluates "NAME(args)", a converter, for <value>. */
enum expr_result expr_runtime_convert(struct expr_runtime *rt, const char *text,
				      struct expr_ctx *ctx, const struct sample *value,
				      struct sample *out, char *error, size_t size);

#endif

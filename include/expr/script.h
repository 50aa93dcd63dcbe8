/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* script.h - expressions that scripts bring, and expressions that scripts ask for
 *
 * A configuration may load scripts that bring fetches and converters of their own, `lua.NAME`: the
 * floor that runs scripts is asked for a name that no table has. Scripts themselves evaluate the
 * program's fetches and converters while it works: such an expression is compiled from its text on
 * first use, in a configuration of its own beside the live one.
 * Owns   : a struct expr_runtime owns what was compiled in it; each <max> texts it starts afresh.
 * Threads: one at a time: the caller has a lock for each expr_runtime.
 * Errors : told in words in the caller's buffer.
 * Manual : configuration 7.
 */
#ifndef EXPR_SCRIPT_H
#define EXPR_SCRIPT_H

#include "expr/expr.h"

/* Asked for names that no table has; the rows live as long as <cfg>. NULL: unknown. */
struct expr_scripts {
	const struct expr_fetch *(*fetch)(const struct config *cfg, struct slice name);
	const struct expr_converter *(*converter)(const struct config *cfg, struct slice name);
};
/* Once, before a configuration is read. <scripts> is borrowed. */
void expr_set_scripts(const struct expr_scripts *scripts);

struct expr_runtime;

/* For expressions that use the names of <live>, which outlives the result. NULL: no memory. */
struct expr_runtime *expr_runtime_new(struct config *live);
void expr_runtime_free(struct expr_runtime **rt);
/* The expression of this text, good until the next call. NULL: <error> tells. */
const struct expr *expr_runtime_get(struct expr_runtime *rt, const char *text, char *error,
				    size_t size);
/* Evaluates "NAME(args)", a converter of <value>. */
enum expr_result expr_runtime_convert(struct expr_runtime *rt, const char *text,
				      struct expr_ctx *ctx, const struct sample *value,
				      struct sample *out, char *error, size_t size);

#endif

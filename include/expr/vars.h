/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vars.h - variables: named samples that live as long as their scope
 *
 * A name is a scope and a word: txn.user. Names are registered when the configuration is read, so
 * that a lookup at run time compares pointers. A scope is a head (struct vars) inside the object
 * that it is freed with: the session, the stream; the evaluation context (expr.h) has the heads.
 * The scope proc belongs to the generation.
 * Owns   : texts of variables lie in the head's arena or, without one, on the heap.
 * Threads: a head belongs to its owner's thread; those of proc are locked, and reading one copies
 *          it.
 * Errors : a variable that would exceed tune.vars.* is not set.
 * Manual : configuration 2.8, 3.2 (tune.vars).
 */
#ifndef EXPR_VARS_H
#define EXPR_VARS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "conf/conf.h"
#include "expr/expr.h"

struct var;
struct vars_store;
struct var_ref; /* a name, with conditions for setting it */

/* The variables of one scope; all zero: none. */
struct vars {
	struct var *first;
	struct vars_store *store;  /* counts its bytes; set with the first variable */
	struct arena *arena;       /* for texts; NULL: the heap */
	size_t size;               /* bytes counted */
};

/* Does the configuration name a variable of this scope? Otherwise its owners need no head. */
bool vars_are_used(const struct config *cfg, enum var_scope scope);
/* Moves a heap-allocated head to another generation: variables whose names it does not know are
 * dropped.
 */
void vars_follow(struct vars *vars, const struct config *next);
/* Drops all variables of a head. */
void vars_clear(struct vars *vars);

/* Parses "txn.name" or, with <conditions>, "txn.name,ifset,...". The result lives as long as the
 * configuration. NULL: see *error, which lives as long.
 */
struct var_ref *var_ref_parse(struct config *cfg, const char *text, bool conditions,
			      const char **error);
/* Is the scope proc or sess: usable without a stream? */
bool var_ref_outlives_stream(const struct var_ref *ref);
/* Reads a variable; the value is copied to ctx->arena if it might change meanwhile. False: not set,
 * or out of scope.
 */
bool var_get(const struct var_ref *ref, struct expr_ctx *ctx, struct sample *out);
/* Sets a variable. False: a condition does not hold, out of scope, out of memory, or above a limit.
 */
bool var_set(const struct var_ref *ref, struct expr_ctx *ctx, const struct sample *value);
void var_unset(const struct var_ref *ref, struct expr_ctx *ctx);

/* For names that appear at run time: registers <name>, without a scope, for all scopes of streams
 * and sessions. False: see *error.
 */
bool var_name_register(struct config *cfg, struct slice name, const char **error);
/* Sets scope.name or, with <value> NULL, unsets it. The name must be one that a line of <cfg> names
 * or that is registered; with <create>, setting registers any valid name. False: unknown, or not
 * set.
 */
bool var_set_named(struct config *cfg, enum var_scope scope, struct slice name,
		   struct expr_ctx *ctx, const struct sample *value, bool create);

/* Reads scope.name, like var_get(). False: unknown, or not set. */
bool var_get_named(const struct config *cfg, enum var_scope scope, struct slice name,
		   struct expr_ctx *ctx, struct sample *out);
/* Removes the scope "txn." from *name. False: no such scope, or the rest is not a name. */
bool var_name_split(struct slice *name, enum var_scope *scope);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vars.h - variables: named samples that live as long as their scope
 *
 * A name is a scope and a word: txn.user. Names are made known when the configuration is read, so
 * that looking one up at run time compares pointers. A scope is a head (struct vars) inside the
 * object that it dies with: the session, the stream; the context of evaluation (expr.h) says where
 * the heads are. Those of the process belong to the generation.
 * Owns   : the texts of variables: of the head's arena or, without one, of the heap.
 * Threads: a head is its owner's; the process's are locked, and reading one copies.
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
struct var_ref; /* a name as written somewhere, and conditions for setting it */

/* The variables of one scope; zeroed: none. */
struct vars {
	struct var *first;
	struct vars_store *store;  /* where its bytes are counted; set with the first variable */
	struct arena *arena;       /* for texts; NULL: the heap */
	size_t size;               /* bytes counted */
};

/* Does the configuration name any variable of this scope? Else its owners need no head. */
bool vars_are_used(const struct config *cfg, enum var_scope scope);
/* The head, on the heap, goes on with the names of another generation: variables that it does not
 * know are forgotten.
 */
void vars_follow(struct vars *vars, const struct config *next);
/* Forgets all variables of a head. */
void vars_clear(struct vars *vars);

/* Reads "txn.name" or, with <conditions>, "txn.name,ifset,...". NULL: *error tells; it lives as
 * long as the configuration, and so does the result.
 */
struct var_ref *var_ref_parse(struct config *cfg, const char *text, bool conditions,
			      const char **error);
/* Is the scope one of the process or the session: usable without a stream? */
bool var_ref_outlives_stream(const struct var_ref *ref);
/* The value, in ctx->arena when it might change meanwhile. False: not set, or out of scope. */
bool var_get(const struct var_ref *ref, struct expr_ctx *ctx, struct sample *out);
/* Sets it. False: a condition does not hold, out of scope, no memory or above a limit. */
bool var_set(const struct var_ref *ref, struct expr_ctx *ctx, const struct sample *value);
void var_unset(const struct var_ref *ref, struct expr_ctx *ctx);

/* For callers that learn names while the program works. Makes <name>, without a scope, known in all
 * scopes of streams and sessions. False: *error tells.
 */
bool var_name_register(struct config *cfg, struct slice name, const char **error);
/* Sets, or with <value> NULL unsets, scope.name, which some line of <cfg> names or has registered;
 * with <create> any, which a variable of the process then may not be new for. False: it is unknown,
 * or was not set.
 */
bool var_set_named(struct config *cfg, enum var_scope scope, struct slice name,
		   struct expr_ctx *ctx, const struct sample *value, bool create);

/* The value of scope.name, as var_get(). False: it is unknown, or not set. */
bool var_get_named(const struct config *cfg, enum var_scope scope, struct slice name,
		   struct expr_ctx *ctx, struct sample *out);
/* Takes "txn." off *name. False: there is no such scope, or the rest is no name. */
bool var_name_split(struct slice *name, enum var_scope *scope);

#endif

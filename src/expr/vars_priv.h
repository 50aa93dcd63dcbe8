/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vars_priv.h - a generation's data about variables */
#ifndef SRC_EXPR_VARS_PRIV_H
#define SRC_EXPR_VARS_PRIV_H

#include <pthread.h>
#include <stdatomic.h>
#include "expr/vars.h"

/* Limits in bytes, 0: none (tune.vars.*). */
enum vars_max {
	VARS_MAX_GLOBAL, VARS_MAX_PROC, VARS_MAX_SESS, VARS_MAX_TXN, VARS_MAX_MESSAGE,
	VARS_MAX_CHECK, VARS_MAXES,
};

struct vars_store {
	struct arena arena;        /* for names: they may be added while the generation is in use */
	struct var_name *names;    /* newest first; added to by one thread at a time */
	/* atomic: mask of enum var_scope: scopes with at least one name */
	unsigned used_scopes;
	struct vars process;       /* scope proc, under <lock> */
	pthread_mutex_t lock;
	size_t max[VARS_MAXES];
	bool limited;              /* one of them is set */
	_Atomic size_t used;       /* by all heads; only counted if there are limits */
};

bool vars_store_init(struct vars_store *store);
void vars_store_fini(struct vars_store *store);
struct vars_store *vars_store_of(const struct config *cfg);
/* Makes what is compiled for <scratch> use the variables of <cfg>, which must live longer. */
void vars_store_lend(struct config *scratch, const struct config *cfg);
/* Reads the variable of scope proc with this name; its text goes to <arena>. False: none. */
bool vars_process_get(const struct config *cfg, struct slice name, struct arena *arena,
		      struct sample *out);

/* Finds a scope by name; VAR_SCOPES: none. */
enum var_scope var_scope_find(struct slice name);
const char *var_scope_name(enum var_scope scope);
/* Calls <fn> for each variable of a scope that is set. The scope proc is locked meanwhile: <fn>
 * must not access variables.
 */
typedef void var_each_fn(void *data, struct slice name, const struct sample *value);
void vars_each(struct vars_store *store, enum var_scope scope, const struct expr_ctx *ctx,
	       var_each_fn *fn, void *data);

/* Adds a condition for setting: "ifset". False: see *error. */
bool var_ref_add_condition(struct config *cfg, struct var_ref *ref, struct slice text,
			   const char **error);

/* For an argument that is an integer or the name of a variable: check it, and read it. False: see
 * *error, or the variable is not an integer.
 */
bool expr_arg_number_check(struct conf_line *l, struct expr_arg *arg, const char **error);
bool expr_arg_number(const struct expr_arg *arg, struct expr_ctx *ctx, int64_t *out);

#endif

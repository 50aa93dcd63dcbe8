/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* split.h - use_backends: splits requests among several backends, as for canary releases
 *
 * Purpose: one rule that chooses among backends by weight, at random or by a key of the request.
 *          With a key it uses rendezvous hashing: each backend has a score for the key, scaled by
 *          its weight, and the highest score wins. The choice depends on names and weights only: it
 *          is the same in every process, and a backend whose weight grows takes keys from the
 *          others without losing any.
 * Owns   : a split and its weights belong to their configuration. A reload copies the weights to
 *          the rule with the same words (split_adopt()).
 * Threads: immutable after the check phase, except the weights, which are atomic: any thread.
 * Fails  : never, once checked.
 * Manual : configuration use_backends (an extension); management 9.3 set use_backends.
 */
#ifndef STREAM_SPLIT_H
#define STREAM_SPLIT_H

#include <stdbool.h>
#include <stdint.h>
#include "conf/conf.h"
#include "expr/expr.h"

struct proxy;
struct switch_rule;

#define SPLIT_MAX 32              /* backends of one rule */
#define SPLIT_WEIGHT_MAX 65535

struct split_target {
	const char *name;         /* as written */
	struct proxy *backend;    /* resolved in the check phase */
	unsigned weight;          /* as configured */
	int column;               /* of the word that names it, for messages */
	uint64_t seed;            /* seed of its scores */
};

struct split {
	unsigned count;
	struct split_target *targets;
	uint32_t *weights;        /* in force, by target; atomic */
	const struct expr *key;   /* NULL: at random */
	uint64_t written;         /* hash of its words, including the condition's */
};

/* Parses the words before the condition. *text is set to them in one piece. NULL: reported. */
struct split *split_parse(struct conf_line *l, const char **text);
/* Chooses a target whose bit is not set in <tried>. EXPR_NONE: no other has a weight. */
enum expr_result split_pick(const struct split *sp, struct expr_ctx *ctx, uint32_t tried,
			    unsigned *which);
/* Returns the weight in force of a target. */
static inline unsigned split_weight(const struct split *sp, unsigned i)
{
	return __atomic_load_n(&sp->weights[i], __ATOMIC_RELAXED);
}

/* Returns the next rule of <fe> with a split after <after>, or the first one. NULL: no more. */
struct switch_rule *split_next(const struct proxy *fe, const struct switch_rule *after);
/* Parses "name:weight". False: there is no weight, or it is not a number within the limit. */
bool split_read(const char *word, size_t *name_len, unsigned *weight);
/* Copies the weights in force of the rules of <prev> to the rules of <next> with the same words.
 * Call under config_edit_begin(), as all code that changes weights.
 */
void split_adopt(struct config *next, const struct proxy *prev);

#endif

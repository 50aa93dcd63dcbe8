/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* split.h - use_backends: shares of the requests for several backends, as canaries need them
 *
 * Purpose: one rule that chooses among backends by weight, by chance or by a key of the request.
 *          With a key the choice is a rendezvous: each backend has a score for the key, which its
 *          weight scales, and the highest wins. So it depends on names and weights only: it is the
 *          same in every process, and a backend whose weight grows takes keys from the others while
 *          none goes the other way.
 * Owns   : a split belongs to its configuration, and so do its weights. A reload hands these on to
 *          the rule that is written the same (split_adopt()).
 * Threads: immutable after the check phase but for the weights, which are atomic: any thread.
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
	unsigned weight;          /* of the file */
	int column;               /* of the word that names it */
	uint64_t seed;            /* of its scores */
};

struct split {
	unsigned count;
	struct split_target *targets;
	uint32_t *weights;        /* in force, by target; atomic */
	const struct expr *key;   /* NULL: by chance */
	uint64_t written;         /* hash of its words, the condition's too */
};

/* Parses what stands before the condition. *text gets it in one piece. NULL: reported. */
struct split *split_parse(struct conf_line *l, const char **text);
/* Chooses a target whose bit is not set in <tried>. EXPR_NONE: none is left that has a weight. */
enum expr_result split_pick(const struct split *sp, struct expr_ctx *ctx, uint32_t tried,
			    unsigned *which);
/* The weight in force of a target. */
static inline unsigned split_weight(const struct split *sp, unsigned i)
{
	return __atomic_load_n(&sp->weights[i], __ATOMIC_RELAXED);
}

/* The next rule of <fe> with a split behind <after>, or the first one; NULL: no more. */
struct switch_rule *split_next(const struct proxy *fe, const struct switch_rule *after);
/* Reads "name:weight". False: it has no weight, or one that is no number up to the largest. */
bool split_read(const char *word, size_t *name_len, unsigned *weight);
/* Gives the rules of <next> the weights in force of those that <prev> has with the same words.
 * Under config_edit_begin(), as all that changes weights.
 */
void split_adopt(struct config *next, const struct proxy *prev);

#endif

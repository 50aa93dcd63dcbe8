/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance_tournament_priv.h - finds the smallest of n numbers that threads change, without a lock
 *
 * A complete binary tree over the entries. Each inner node stores which entry of its two halves has
 * the smaller key; the root has the smallest of all. Changing a key replays the matches from the
 * entry's leaf to the root: O(log n).
 *
 *                 [1: 2]                node = version << 32 | winner
 *            [2: 0]      [3: 2]
 *         [4:0] [5:1]  [6:2] [7:none]   leaf = entry, or none when not in use
 *
 * A match is: read the node, read both halves, compare, swap the node if it is unchanged. If the
 * swap fails it is tried once more; if that fails as well, another thread has replayed the match
 * after our change was visible, so its result includes our change (Jayanti's f-arrays). Versions
 * prevent a stale swap. Equal keys: the entry with the lower index wins. Keys are compared as
 * signed differences: they may wrap.
 */
#ifndef PROXY_BALANCE_TOURNAMENT_PRIV_H
#define PROXY_BALANCE_TOURNAMENT_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#define TOURNAMENT_NONE 0xffffffffu

struct tournament {
	unsigned size;     /* leaves: a power of two */
	unsigned count;    /* entries */
	uint64_t *nodes;   /* atomic: [1, 2 * size) */
	int64_t *keys;     /* atomic: [0, count) */
};

/* Creates a tournament with all keys 0 and no entry in use; one block of memory, freed with free().
 * NULL: out of memory.
 */
struct tournament *tournament_new(unsigned count);

/* Returns the entry with the smallest key in use, or TOURNAMENT_NONE. */
static inline unsigned tournament_best(const struct tournament *t)
{
	return (uint32_t)__atomic_load_n(&t->nodes[1], __ATOMIC_ACQUIRE);
}

static inline int64_t tournament_key(const struct tournament *t, unsigned i)
{
	return __atomic_load_n(&t->keys[i], __ATOMIC_RELAXED);
}

static inline bool tournament_is_used(const struct tournament *t, unsigned i)
{
	return (uint32_t)__atomic_load_n(&t->nodes[t->size + i], __ATOMIC_RELAXED) !=
		TOURNAMENT_NONE;
}

/* Changes the key of <i>. */
void tournament_set(struct tournament *t, unsigned i, int64_t key);
/* Puts <i> in use or out of use. One caller at a time. */
void tournament_use(struct tournament *t, unsigned i, bool used);
/* Returns the entry with the smallest key in use that <fits> accepts. Costs O(k log n) if k better
 * ones do not fit.
 */
unsigned tournament_best_that(const struct tournament *t,
			      bool (*fits)(unsigned i, const void *ctx), const void *ctx);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance_tournament.c - the smallest of n numbers that many threads change, without a lock */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "core/activity.h"
#include "balance_tournament_priv.h"

/* Wraps. */
static bool key_less(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b) < 0;
}

struct tournament *tournament_new(unsigned count)
{
	struct tournament *t;
	unsigned size = 1;
	size_t bytes;

	while (size < count)
		size *= 2;
	bytes = sizeof(*t) + 2 * (size_t)size * sizeof(uint64_t) +
		(size_t)count * sizeof(int64_t);
	bytes = (bytes + 63) & ~(size_t)63;
	t = aligned_alloc(64, bytes);
	if (!t)
		return NULL;
	memset(t, 0, bytes);
	t->size = size;
	t->count = count;
	t->nodes = (uint64_t *)(t + 1);
	t->keys = (int64_t *)(t->nodes + 2 * (size_t)size);
	for (unsigned n = 0; n < 2 * size; n++)
		t->nodes[n] = TOURNAMENT_NONE;
	return t;
}

static unsigned winner_of(const struct tournament *t, unsigned a, unsigned b)
{
	if (a == TOURNAMENT_NONE)
		return b;
	if (b == TOURNAMENT_NONE)
		return a;
	return key_less(__atomic_load_n(&t->keys[b], __ATOMIC_SEQ_CST),
			__atomic_load_n(&t->keys[a], __ATOMIC_SEQ_CST)) ? b : a;
}

/* Replays the match of inner node <n>. */
static void node_replay(struct tournament *t, unsigned n)
{
	for (int turn = 0; turn < 2; turn++) {
		uint64_t old = __atomic_load_n(&t->nodes[n], __ATOMIC_SEQ_CST);
		unsigned left = (uint32_t)__atomic_load_n(&t->nodes[2 * n], __ATOMIC_SEQ_CST);
		unsigned right = (uint32_t)__atomic_load_n(&t->nodes[2 * n + 1], __ATOMIC_SEQ_CST);
		uint64_t result = ((old >> 32) + 1) << 32 | winner_of(t, left, right);

		SHARED_WRITE(group);
		if (__atomic_compare_exchange_n(&t->nodes[n], &old, result, false,
						__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return;
	}
}

static void leaf_replay(struct tournament *t, unsigned i)
{
	for (unsigned n = (t->size + i) / 2; n >= 1; n /= 2)
		node_replay(t, n);
}

void tournament_set(struct tournament *t, unsigned i, int64_t key)
{
	SHARED_WRITE(group);
	__atomic_store_n(&t->keys[i], key, __ATOMIC_SEQ_CST);
	leaf_replay(t, i);
}

void tournament_use(struct tournament *t, unsigned i, bool used)
{
	uint64_t version = __atomic_load_n(&t->nodes[t->size + i], __ATOMIC_SEQ_CST) >> 32;

	__atomic_store_n(&t->nodes[t->size + i],
			 (version + 1) << 32 | (used ? i : TOURNAMENT_NONE), __ATOMIC_SEQ_CST);
	leaf_replay(t, i);
}

/* What a search carries down the tree. */
struct search {
	const struct tournament *tree;
	bool (*fits)(unsigned i, const void *ctx);
	const void *ctx;
	unsigned best;
};

/* A subtree whose winner is not better than what was found need not be entered. */
static void search_node(struct search *s, unsigned n)
{
	const struct tournament *t = s->tree;
	unsigned winner = (uint32_t)__atomic_load_n(&t->nodes[n], __ATOMIC_ACQUIRE);

	if (winner == TOURNAMENT_NONE)
		return;
	if (s->best != TOURNAMENT_NONE &&
	    !key_less(tournament_key(t, winner), tournament_key(t, s->best)))
		return;
	if (s->fits(winner, s->ctx)) {
		s->best = winner;
		return;
	}
	if (n >= t->size)
		return;
	search_node(s, 2 * n);
	search_node(s, 2 * n + 1);
}

unsigned tournament_best_that(const struct tournament *t,
			      bool (*fits)(unsigned i, const void *ctx), const void *ctx)
{
	struct search s = { .tree = t, .fits = fits, .ctx = ctx, .best = TOURNAMENT_NONE };

	search_node(&s, 1);
	return s.best;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance_wheel.c - the order of `roundrobin`: whose turn is next, weights that change included */
#include "wheel_priv.h"
#include <stdlib.h>

/* Above any weight: 256 times the scale. */
#define WEIGHT_TOP (256 * WHEEL_SCALE)
#define RANKS_PER_TURN 256

/* --- the trees: the smallest of each place ---------------------------------------------------- */

static bool entry_is_before(const struct wheel_entry *a, const struct wheel_entry *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank;
	return (int32_t)(a->ticket - b->ticket) < 0;
}

/* Replays the matches of <index> in <tree>, as a member or no longer. */
static void tree_replay(struct wheel *w, unsigned tree, unsigned index, bool member)
{
	uint32_t *nodes = w->nodes[tree];
	unsigned n = w->size + index;

	nodes[n] = member ? index : WHEEL_NONE;
	for (n /= 2; n >= 1; n /= 2) {
		uint32_t a = nodes[2 * n], b = nodes[2 * n + 1];

		if (a == WHEEL_NONE || b == WHEEL_NONE)
			nodes[n] = a == WHEEL_NONE ? b : a;
		else
			nodes[n] = entry_is_before(&w->entries[b], &w->entries[a]) ? b : a;
	}
}

static void entry_leave(struct wheel *w, unsigned index)
{
	struct wheel_entry *e = &w->entries[index];

	if (e->tree != WHEEL_OUT)
		tree_replay(w, e->tree, index, false);
	e->tree = WHEEL_OUT;
}

/* From wherever it is; within its tree one replay is enough. */
static void entry_enter(struct wheel *w, unsigned index, enum wheel_place place, uint64_t rank)
{
	struct wheel_entry *e = &w->entries[index];

	if (e->tree != w->trees[place])
		entry_leave(w, index);
	e->tree = w->trees[place];
	e->rank = rank;
	e->ticket = ++w->ticket;
	tree_replay(w, e->tree, index, true);
}

static unsigned place_first(const struct wheel *w, enum wheel_place place)
{
	return w->nodes[w->trees[place]][1];
}

/* --- dates ------------------------------------------------------------------------------------ */

/* Heavy ones come first among those without a date. */
static uint64_t rank_by_weight(const struct wheel_entry *e)
{
	return WEIGHT_TOP - e->weight;
}

/* Puts an entry where its date belongs. */
static void entry_queue(struct wheel *w, unsigned index)
{
	struct wheel_entry *e = &w->entries[index];

	if (e->date >= 2 * w->round || e->date >= w->round + w->next_round)
		entry_enter(w, index, WHEEL_LATER, rank_by_weight(e));
	else
		entry_enter(w, index, WHEEL_DATED, e->date * RANKS_PER_TURN +
			    (WEIGHT_TOP + e->rest - e->weight) / WHEEL_SCALE);
}

static void round_begin(struct wheel *w)
{
	uint8_t fresh = w->trees[WHEEL_FRESH];

	w->trees[WHEEL_FRESH] = w->trees[WHEEL_LATER];
	w->trees[WHEEL_LATER] = fresh;
	w->round = w->turn = w->next_round;
}

/* The server that is next in this round; WHEEL_NONE: it is over. */
static unsigned round_next(const struct wheel *w)
{
	unsigned dated = place_first(w, WHEEL_DATED), fresh = place_first(w, WHEEL_FRESH);

	if (dated != WHEEL_NONE && (fresh == WHEEL_NONE || w->entries[dated].date <= w->turn))
		return dated;
	return fresh;
}

unsigned wheel_turn(struct wheel *w, struct wheel_undo *undo)
{
	unsigned index = round_next(w);
	struct wheel_entry *e;

	*undo = (struct wheel_undo){ .turn = w->turn, .round = w->round };
	if (index == WHEEL_NONE) {
		if (place_first(w, WHEEL_LATER) == WHEEL_NONE)
			return WHEEL_NONE;
		round_begin(w);
		undo->new_round = true;
		index = round_next(w);
	}
	e = &w->entries[index];
	undo->index = index;
	undo->entry = *e;
	if (e->tree == w->trees[WHEEL_FRESH]) {
		e->date = w->turn;
		e->rest = 0;
	}
	e->date += w->next_round / e->weight;
	e->rest += (uint32_t)(w->next_round % e->weight);
	if (e->rest >= e->weight) {
		e->rest -= e->weight;
		e->date++;
	}
	w->turn++;
	entry_queue(w, index);
	return index;
}

void wheel_undo(struct wheel *w, const struct wheel_undo *undo)
{
	struct wheel_entry *e = &w->entries[undo->index];

	if (e->tree != undo->entry.tree)
		entry_leave(w, undo->index);
	*e = undo->entry;
	tree_replay(w, e->tree, undo->index, true);
	if (undo->new_round)
		round_begin(w); /* the two trees change places again */
	w->turn = undo->turn;
	w->round = undo->round;
	w->ticket--;
}

/* --- weights ---------------------------------------------------------------------------------- */

void wheel_set(struct wheel *w, unsigned index, uint32_t weight)
{
	struct wheel_entry *e = &w->entries[index];
	uint32_t old = e->weight;
	int64_t left;

	if (old == weight)
		return;
	entry_leave(w, index);
	w->next_round += weight;
	w->next_round -= old;
	e->weight = weight;
	if (!weight)
		return;
	left = (int64_t)(w->next_round + w->round - w->turn);
	e->date = w->turn + (uint64_t)(left / (int64_t)weight);
	entry_queue(w, index);
}

void wheel_start(struct wheel *w, unsigned index, uint32_t weight)
{
	struct wheel_entry *e = &w->entries[index];

	if (!weight)
		return;
	*e = (struct wheel_entry){ .weight = weight, .tree = WHEEL_OUT };
	w->next_round += weight;
	w->round = w->turn = w->next_round;
	entry_enter(w, index, WHEEL_FRESH, rank_by_weight(e));
}

struct wheel *wheel_new(unsigned count)
{
	size_t size = 1, bytes, nodes;
	struct wheel *w;
	char *at;

	while (size < count)
		size *= 2;
	nodes = 2 * size * sizeof(uint32_t);
	bytes = sizeof(*w) + count * sizeof(*w->entries) + WHEEL_PLACES * nodes;
	w = calloc(1, bytes);
	if (!w)
		return NULL;
	w->count = count;
	w->size = (unsigned)size;
	w->entries = (struct wheel_entry *)(w + 1);
	at = (char *)(w->entries + count);
	for (unsigned t = 0; t < WHEEL_PLACES; t++, at += nodes) {
		w->trees[t] = (uint8_t)t;
		w->nodes[t] = (uint32_t *)at;
		for (size_t n = 0; n < 2 * size; n++)
			w->nodes[t][n] = WHEEL_NONE;
	}
	for (unsigned i = 0; i < count; i++)
		w->entries[i].tree = WHEEL_OUT;
	return w;
}

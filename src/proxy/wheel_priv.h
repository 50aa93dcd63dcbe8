/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wheel_priv.h - the order of `roundrobin`: whose turn is next, weights that change included
 *
 * Time is counted in turns, a round has as many turns as the sum of the weights in use. A server
 * that had its turn at T is due again at T + sum / weight, the rest of the division carried on to
 * its next turns. At each turn the earliest one that is due goes; of those due at the same time,
 * the heavy ones. Servers that have no date yet in this round ("fresh") fill the turns where no
 * server is due, heavy ones first. A date beyond the round makes a server fresh in the next one.
 *
 *      fresh --turn--> dated --turn--> dated ... --date beyond the round--> later
 *        ^                                                                    |
 *        +------------------------- both others are empty: next round --------+
 *
 * A change of weight gives a server a new date, in the middle of what is left of the round.
 * This is the sequence that users of the reference know, also across changes.
 *
 * Threads: the caller's lock. Owns: one block of memory, freed with free().
 */
#ifndef PROXY_WHEEL_PRIV_H
#define PROXY_WHEEL_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#define WHEEL_NONE 0xffffffffu
/* Weights are given in units of 1/16 of the user's. */
#define WHEEL_SCALE 16

enum wheel_place { WHEEL_DATED, WHEEL_FRESH, WHEEL_LATER, WHEEL_PLACES, WHEEL_OUT = WHEEL_PLACES };

struct wheel_entry {
	uint64_t date;     /* the turn when it is due */
	uint64_t rank;     /* sorts among those of its place */
	uint32_t ticket;   /* then the time of its coming; may wrap */
	uint32_t weight;   /* 0: not in use */
	uint32_t rest;     /* of the division: below <weight>, but for a turn after it shrank */
	uint8_t tree;      /* which of the three trees, or WHEEL_OUT */
};

/* What undoes one turn. */
struct wheel_undo {
	struct wheel_entry entry;
	uint64_t turn, round;
	unsigned index;
	bool new_round;
};

struct wheel {
	uint64_t turn;              /* from <round> up to twice <round> */
	uint64_t round, next_round; /* sums of weights: of this round, and now */
	unsigned count, size;       /* entries; leaves: a power of two */
	uint32_t ticket;
	uint8_t trees[WHEEL_PLACES];/* which tree is the place */
	struct wheel_entry *entries;
	uint32_t *nodes[WHEEL_PLACES]; /* winner of each node, leaves at <size> */
};

/* All weights 0. NULL: no memory. */
struct wheel *wheel_new(unsigned count);
/* Changes a weight (units of 1/WHEEL_SCALE). */
void wheel_set(struct wheel *w, unsigned index, uint32_t weight);
/* Sets all weights while no turn was taken: all entries are fresh. */
void wheel_start(struct wheel *w, unsigned index, uint32_t weight);
/* Whose turn it is, WHEEL_NONE when all weights are 0. What <undo> gets takes the turn back, as
 * long as nothing else was changed since.
 */
unsigned wheel_turn(struct wheel *w, struct wheel_undo *undo);
void wheel_undo(struct wheel *w, const struct wheel_undo *undo);

#endif

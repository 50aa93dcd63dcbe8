/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wheel_priv.h - the order of `roundrobin`, with weights that may change
 *
 * Time is counted in turns; a round has as many turns as the sum of the weights in use. A server
 * that had its turn at T is due again at T + sum / weight; the remainder of the division is carried
 * to its next turns. Each turn goes to the server that was due earliest; among those due at the
 * same time, to the heaviest. Servers without a date in this round ("fresh") fill the turns in
 * which no server is due, heaviest first. A date beyond the round makes a server fresh in the next
 * one.
 *
 *      fresh --turn--> dated --turn--> dated ... --date beyond the round--> later
 *        ^                                                                    |
 *        +------------------------- both others are empty: next round --------+
 *
 * A change of weight gives a server a new date, in the middle of the rest of the round. This is the
 * sequence of the reference, also across changes.
 *
 * Threads: the caller's lock. Owns: one block of memory, freed with free().
 */
#ifndef PROXY_WHEEL_PRIV_H
#define PROXY_WHEEL_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#define WHEEL_NONE 0xffffffffu
/* Weights are in units of 1/16 of the user's. */
#define WHEEL_SCALE 16

enum wheel_place { WHEEL_DATED, WHEEL_FRESH, WHEEL_LATER, WHEEL_PLACES, WHEEL_OUT = WHEEL_PLACES };

struct wheel_entry {
	uint64_t date;     /* the turn in which it is due */
	uint64_t rank;     /* sorts within its place */
	uint32_t ticket;   /* then the time of arrival; may wrap */
	uint32_t weight;   /* 0: not in use */
	/* remainder of the division: below <weight>, except for a turn after it shrank */
	uint32_t rest;
	uint8_t tree;      /* which of the three trees, or WHEEL_OUT */
};

/* Data to undo one turn. */
struct wheel_undo {
	struct wheel_entry entry;
	uint64_t turn, round;
	unsigned index;
	bool new_round;
};

struct wheel {
	uint64_t turn;              /* from <round> up to twice <round> */
	uint64_t round, next_round; /* sums of weights: in this round, and now */
	unsigned count, size;       /* entries; leaves: a power of two */
	uint32_t ticket;
	uint8_t trees[WHEEL_PLACES];/* the tree of each place */
	struct wheel_entry *entries;
	uint32_t *nodes[WHEEL_PLACES]; /* winner of each node; leaves start at <size> */
};

/* Creates a wheel with all weights 0. NULL: out of memory. */
struct wheel *wheel_new(unsigned count);
/* Changes a weight (units of 1/WHEEL_SCALE). */
void wheel_set(struct wheel *w, unsigned index, uint32_t weight);
/* Sets a weight before the first turn: all entries are fresh. */
void wheel_start(struct wheel *w, unsigned index, uint32_t weight);
/* Returns the entry whose turn it is; WHEEL_NONE: all weights are 0. <undo>: takes the turn back,
 * as long as nothing else was changed since.
 */
unsigned wheel_turn(struct wheel *w, struct wheel_undo *undo);
void wheel_undo(struct wheel *w, const struct wheel_undo *undo);

#endif

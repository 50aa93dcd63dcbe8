/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* history.h - recent counts of one object: the last hour by 5 seconds, the last day by minutes
 *
 * Purpose: a sampler that reads the counters of an object every 5 seconds stores their totals here;
 *          code that draws a chart reads points. Each figure has two rings of fixed size, whose
 *          oldest points are overwritten. Time is counted in steps of HISTORY_STEP_S seconds,
 *          numbered by the caller. A step is known when its totals were stored at its end.
 *
 *      step     ... | 719 | 720 | 721 |            a point of the short ring each
 *      minute   ... |       59  |  60 ...          HISTORY_MINUTE steps each
 *
 * Numbers are kept in 16 bits: exact up to 4095, then to 1 part in 2048, rounded down.
 * Owns   : itself: sizeof(struct history) bytes per object, about 13 kB.
 * Threads: one writer, any readers: a point that is being overwritten is seen as either the old or
 *          the new one.
 * Errors : history_new() returns NULL when out of memory.
 */
#ifndef BASE_HISTORY_H
#define BASE_HISTORY_H

#include <stdint.h>

#define HISTORY_STEP_S 5
#define HISTORY_MINUTE 12    /* steps */
#define HISTORY_STEPS 720    /* points of the short ring: an hour */
#define HISTORY_MINUTES 1440 /* points of the long one: a day */

/* Points of the first two, counters, are sums; points of the last one, a gauge, are maxima. */
enum history_figure { HISTORY_DONE, HISTORY_ERRORS, HISTORY_OPEN, HISTORY_FIGURES };
#define HISTORY_COUNTED HISTORY_OPEN

struct history {
	uint64_t step;                     /* atomic: the last known step */
	uint64_t totals[HISTORY_COUNTED];  /* totals at its end */
	uint64_t minute[HISTORY_FIGURES];  /* so far, of the minute that the step lies in */
	uint16_t steps[HISTORY_FIGURES][HISTORY_STEPS]; /* atomic */
	uint16_t minutes[HISTORY_FIGURES][HISTORY_MINUTES];
};

/* Creates a history whose last known step is <step>, with these totals; all earlier points are 0.
 * NULL: out of memory.
 */
struct history *history_new(uint64_t step, const uint64_t totals[HISTORY_COUNTED]);
/* Frees the history and NULLs the pointer; harmless on NULL. */
void history_free(struct history **h);
/* Returns the number of histories in the process. Any thread. */
uint64_t history_count(void);

/* Stores the totals at the end of <step>, and the current gauge. Steps that were skipped since the
 * last call share the difference. Smaller totals than before mean that the counters were cleared:
 * they count from zero. Does nothing for a known step. After more than an hour without a call, all
 * earlier points are forgotten.
 */
void history_add(struct history *h, uint64_t step, const uint64_t values[HISTORY_FIGURES]);

/* Return the point of <f> at <step>, or at minute <minute> (a step divided by HISTORY_MINUTE; the
 * last one may be incomplete). 0: nothing was counted, too old, or not known yet.
 */
uint64_t history_step(const struct history *h, enum history_figure f, uint64_t step);
uint64_t history_minute(const struct history *h, enum history_figure f, uint64_t minute);

/* Convert numbers to and from their 16-bit form. */
uint16_t history_pack(uint64_t value);
uint64_t history_unpack(uint16_t kept);

#endif

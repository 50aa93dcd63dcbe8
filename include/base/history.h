/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* history.h - what was counted of one object lately: an hour by 5 seconds, a day by the minute
 *
 * Purpose: a sampler that reads the counters of an object every 5 seconds tells their totals here;
 *          what draws a line asks for points. Two rings for each figure, of fixed size: what is
 *          older is written over. Time comes in steps of HISTORY_STEP_S seconds, which are the
 *          caller's to number: a step is known when its totals were told at its end.
 *
 *      step     ... | 719 | 720 | 721 |            a point of the short ring each
 *      minute   ... |       59  |  60 ...          HISTORY_MINUTE steps each
 *
 * Numbers are kept in 16 bits: exact up to 4095, then to 1 part in 2048, rounded down.
 * Owns   : itself: sizeof(struct history) bytes for each object, about 13 kB.
 * Threads: one writes, any read meanwhile: a point that is just written over may be seen as
 *          either.
 * Errors : history_new() returns NULL without memory.
 */
#ifndef BASE_HISTORY_H
#define BASE_HISTORY_H

#include <stdint.h>

#define HISTORY_STEP_S 5
#define HISTORY_MINUTE 12    /* steps */
#define HISTORY_STEPS 720    /* points of the short ring: an hour */
#define HISTORY_MINUTES 1440 /* points of the long one: a day */

/* Two are counted, of which points are sums; of the last, a gauge, they are maxima. */
enum history_figure { HISTORY_DONE, HISTORY_ERRORS, HISTORY_OPEN, HISTORY_FIGURES };
#define HISTORY_COUNTED HISTORY_OPEN

struct history {
	uint64_t step;                     /* atomic: the last one that is known */
	uint64_t totals[HISTORY_COUNTED];  /* at its end */
	uint64_t minute[HISTORY_FIGURES];  /* of the minute that it lies in, so far */
	uint16_t steps[HISTORY_FIGURES][HISTORY_STEPS]; /* atomic */
	uint16_t minutes[HISTORY_FIGURES][HISTORY_MINUTES];
};

/* One whose last known step is <step>, with these totals; all before was nothing. */
struct history *history_new(uint64_t step, const uint64_t totals[HISTORY_COUNTED]);
/* Harmless on NULL, which it leaves. */
void history_free(struct history **h);
/* How many there are in the process. Any thread. */
uint64_t history_count(void);

/* The totals at the end of <step>, and the gauge now. Steps that were not told of since the last
 * call share what was counted. Totals that are smaller than before were cleared: they count from
 * zero. Nothing happens for a step that is known. After more than an hour without a call all before
 * is forgotten.
 */
void history_add(struct history *h, uint64_t step, const uint64_t values[HISTORY_FIGURES]);

/* The point of <f> at <step>, or at minute <minute> (a step divided by HISTORY_MINUTE; the last one
 * may be under way). 0: nothing was counted, it is too old, or not known yet.
 */
uint64_t history_step(const struct history *h, enum history_figure f, uint64_t step);
uint64_t history_minute(const struct history *h, enum history_figure f, uint64_t minute);

/* How numbers are kept. */
uint16_t history_pack(uint64_t value);
uint64_t history_unpack(uint16_t kept);

#endif

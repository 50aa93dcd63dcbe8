/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pace.h - an even pace and a burst: the generic cell rate algorithm
 *
 * Purpose: says of each event whether it comes too early. A pace allows one event in each interval
 *          and <burst> events before their time. What is remembered is one date, in ns: when the
 *          next event is due if none is to be early. An event is early by what is between now and
 *          that date; it passes unless it is early by more than <burst> intervals.
 * Owns   : nothing. The date is a cell of an entry of a table: 0 is fresh.
 * Threads: any: the date is atomic, events of several threads are decided one after the other.
 * Units  : ns of the monotonic clock.
 */
#ifndef TABLE_PACE_H
#define TABLE_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct table_pace {
	uint64_t interval_ns; /* between two events */
	uint64_t early_ns;    /* how early an event may be: <burst> intervals */
	uint64_t delay_ns;    /* how much longer it may wait for its time; 0: not at all */
	uint64_t burst;
};

/* The longest time in which a pace may become fresh again: some 24 days. */
#define TABLE_PACE_MAX_NS 2147483647000000ull

/* <events> in <period_ns>, and <burst> at the same time above an even pace. False: more than one
 * event in a nanosecond, none, or a burst that takes longer than TABLE_PACE_MAX_NS.
 */
bool table_pace_make(struct table_pace *p, uint64_t events, uint64_t period_ns, uint64_t burst);

enum table_verdict {
	TABLE_PASS,
	TABLE_WAIT,   /* it passes in <wait_ns>: its time is taken */
	TABLE_REFUSE, /* it would pass in <wait_ns> */
};

struct table_admission {
	enum table_verdict verdict;
	uint64_t wait_ns;
	uint64_t left;       /* how many may come now */
	uint64_t reset_ns;   /* until the whole burst may come */
};

/* Decides on an event. One that is refused changes nothing. */
void table_pace_take(uint64_t *date, const struct table_pace *p, uint64_t now_ns,
		     struct table_admission *out);
/* How long until it is fresh, rounded up; and to set that. */
uint64_t table_pace_left_ms(const uint64_t *date, uint64_t now_ns);
void table_pace_set_ms(uint64_t *date, uint64_t ms, uint64_t now_ns);

#endif

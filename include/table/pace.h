/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pace.h - rate limits with an even pace and a burst: the generic cell rate algorithm (GCRA)
 *
 * Purpose: decides for each event whether it comes too early. A pace allows one event per interval,
 *          and <burst> events ahead of their time. The only state is a date, in ns: when the next
 *          event is due. An event is early by the difference between now and that date; it passes
 *          unless it is early by more than <burst> intervals.
 * Owns   : nothing. The date is a cell of a table entry; 0 is the initial state.
 * Threads: any: the date is atomic, concurrent events are decided one after the other.
 * Units  : ns of the monotonic clock.
 */
#ifndef TABLE_PACE_H
#define TABLE_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct table_pace {
	uint64_t interval_ns; /* between two events */
	uint64_t early_ns;    /* how early an event may be: <burst> intervals */
	uint64_t delay_ns;    /* how long an event may wait in addition; 0: not at all */
	uint64_t burst;
};

/* The maximum time until a pace is back in its initial state: some 24 days. */
#define TABLE_PACE_MAX_NS 2147483647000000ull

/* Allows <events> per <period_ns>, and a burst of <burst> events above the even pace. False: no
 * event, more than one per nanosecond, or a burst that takes longer than TABLE_PACE_MAX_NS.
 */
bool table_pace_make(struct table_pace *p, uint64_t events, uint64_t period_ns, uint64_t burst);

enum table_verdict {
	TABLE_PASS,
	TABLE_WAIT,   /* passes in <wait_ns>: its time is reserved */
	TABLE_REFUSE, /* would pass in <wait_ns> */
};

struct table_admission {
	enum table_verdict verdict;
	uint64_t wait_ns;
	uint64_t left;       /* how many more may pass now */
	uint64_t reset_ns;   /* until the full burst is available */
};

/* Decides about an event. A refused event changes nothing. */
void table_pace_take(uint64_t *date, const struct table_pace *p, uint64_t now_ns,
		     struct table_admission *out);
/* Return the time until the initial state, rounded up; and set it. */
uint64_t table_pace_left_ms(const uint64_t *date, uint64_t now_ns);
void table_pace_set_ms(uint64_t *date, uint64_t ms, uint64_t now_ns);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stats_history.h - the last hour and the last day of frontends, backends and servers
 *
 * Purpose: while a statistics page wants it, a timer of thread 0 reads the counters of objects
 *          every 5 seconds, some dozens of objects per turn, and stores them in rings
 *          (base/history.h). Requests cost nothing.
 * Owns   : nothing: a ring is attached to the state of its object, which survives reloads, and is
 *          freed with it. It is allocated when the object counts something for the first time,
 *          within the limit of `stats history`.
 * Threads: any thread may read; a ring stays as long as the state of its object.
 * Manual : configuration, stats.md.
 */
#ifndef MANAGE_STATS_HISTORY_H
#define MANAGE_STATS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>
#include "base/history.h"
#include "manage/stats.h"

/* Declares that the history is shown, while the configuration is checked; otherwise nothing is
 * kept.
 */
void stats_history_want(struct config *cfg);

/* The steps that are known for all objects: (since, last]. stats_history_span(): false: nothing is
 * kept, or nothing is known yet.
 */
struct history_span {
	uint64_t since, last;
};
bool stats_history_span(struct history_span *out);

/* Returns the ring of a row's object (<srv>: for STATS_SERVER). NULL: nothing was counted, or it is
 * a listener, which has none.
 */
const struct history *stats_history_of(enum stats_kind kind, const struct proxy *px,
				       const struct server *srv);

/* <srv> was removed and cannot be found any more: its ring is freed when no thread can be using it,
 * not only with the generation. Any thread.
 */
void stats_history_forget(struct server *srv);

#endif

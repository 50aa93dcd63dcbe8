/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stats_history.h - the last hour and day of frontends, backends and servers
 *
 * Purpose: while a statistics page wants it, a timer of thread 0 reads what objects have
 *          counted every 5 seconds, some dozens of them in a turn, and keeps it in rings
 *          (base/history.h). Requests cost nothing.
 * Owns   : nothing: a ring hangs on the state of its object, which outlives reloads, and is freed
 *          with it. It is made with the first thing that the object counts, as long as all of them
 *          are within the bound of `stats history`.
 * Threads: reading from any; an object's ring stays as long as its state.
 * Manual : configuration, stats.md.
 */
#ifndef MANAGE_STATS_HISTORY_H
#define MANAGE_STATS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>
#include "base/history.h"
#include "manage/stats.h"

/* What shows it says so while the configuration is checked; nothing is kept without. */
void stats_history_want(struct config *cfg);

/* The steps that are known of all objects: (since, last]. False: nothing is kept, or none is yet.
 */
struct history_span {
	uint64_t since, last;
};
bool stats_history_span(struct history_span *out);

/* The ring of a row's object (<srv>: of STATS_SERVER); NULL: it has none, so nothing was counted;
 * listeners have none.
 */
const struct history *stats_history_of(enum stats_kind kind, const struct proxy *px,
				       const struct server *srv);

/* <srv> was removed, and is found no more: its ring is freed when no thread can be at it, not only
 * with the generation. Any thread.
 */
void stats_history_forget(struct server *srv);

#endif

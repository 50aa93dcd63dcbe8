/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* feed.h - what has changed in a table, for the reader that tells peers of it
 *
 * Purpose: table_changed() notes an entry here, once until the reader has taken it. So the price of
 *          a change does not grow with the number of peers that are told, and what changes a
 *          thousand times between two looks of the reader is told once.
 * Owns   : a feed belongs to its state, from the first table_feed_open() to the end of that.
 *          A noted entry is held until it is taken, then by the reader.
 * Threads: each thread notes in a lane of its own, whose lock only the reader asks for besides. The
 *          reader is one thread at a time.
 * Order  : of one thread's entries. What the reader sees of an entry is at least what it was when
 *          it was noted, and it is noted again if it changes after it was taken.
 * Errors : without memory for a lane an entry is not noted; its next change tries again.
 *
 * The reader numbers what it takes (table_stamp_set()): so a later walk tells what changed since.
 * Numbers are of 31 bits and go round; 0: this process has not changed it, or not since it was
 * made.
 */
#ifndef TABLE_FEED_H
#define TABLE_FEED_H

#include <stdbool.h>
#include <stdint.h>
#include "table/table.h"

#define TABLE_STAMP_MASK 0x7fffffffu

struct table_feed;

/* Has changes noted from now on, for one reader. <wake> is called by the thread that changes, when
 * there is something again; <reader> must live until table_feed_close(), and what <wake> touches
 * for ever. On any thread, while others use the table. False: no memory.
 */
bool table_feed_open(struct table_state *st, void (*wake)(void *reader), void *reader);
/* Nothing is noted any more; what was noted and not taken is dropped. The reader's thread. */
void table_feed_close(struct table_state *st);
/* Gives each noted entry to <each>, which holds it from then on. The reader's thread. */
void table_feed_take(struct table_state *st, void (*each)(void *ctx, struct table_entry *e),
		     void *ctx);

/* Notes an entry that the caller holds, though it was not used here: others do not know it. */
void table_tell(struct table_state *st, struct table_entry *e);
/* Was it noted, and not taken yet? */
static inline bool table_is_noted(const struct table_entry *e)
{
	return __atomic_load_n(&e->stamp, __ATOMIC_RELAXED) & ~TABLE_STAMP_MASK;
}
/* The number of an entry's last change that was taken. */
static inline uint32_t table_stamp(const struct table_entry *e)
{
	return __atomic_load_n(&e->stamp, __ATOMIC_RELAXED) & TABLE_STAMP_MASK;
}
/* By the reader, of an entry that it took, before it reads what is in it. */
void table_stamp_set(struct table_entry *e, uint32_t number);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* feed.h - the changed entries of a table, for the reader that sends them to peers
 *
 * Purpose: table_changed() notes an entry here, once until the reader has taken it. So the cost of
 *          a change does not grow with the number of peers, and an entry that changes a thousand
 *          times between two visits of the reader is sent once.
 * Owns   : a feed belongs to its table_state, from the first table_feed_open() until the end of the
 *          state. A noted entry is held until it is taken, then by the reader.
 * Threads: each thread notes entries in its own lane, whose lock is shared only with the reader.
 *          The reader is one thread at a time.
 * Order  : entries of one thread keep their order. The reader sees an entry at least as new as when
 *          it was noted; if it changes after it was taken, it is noted again.
 * Errors : without memory for a lane, an entry is not noted; its next change tries again.
 *
 * The reader numbers the entries that it takes (table_stamp_set()), so that a later walk finds what
 * has changed since. Numbers have 31 bits and wrap around; 0: this process has not changed the
 * entry, or not since it was created.
 */
#ifndef TABLE_FEED_H
#define TABLE_FEED_H

#include <stdbool.h>
#include <stdint.h>
#include "table/table.h"

#define TABLE_STAMP_MASK 0x7fffffffu

struct table_feed;

/* Starts noting changes, for one reader. <wake> is called by the changing thread when there is
 * something new; <reader> must live until table_feed_close(), and what <wake> uses must live
 * forever. Any thread, while others use the table. False: out of memory.
 */
bool table_feed_open(struct table_state *st, void (*wake)(void *reader), void *reader);
/* Stops noting changes, and drops entries that were not taken. On the reader's thread. */
void table_feed_close(struct table_state *st);
/* Passes each noted entry to <each>, which holds it from then on. On the reader's thread. */
void table_feed_take(struct table_state *st, void (*each)(void *ctx, struct table_entry *e),
		     void *ctx);

/* Notes an entry that the caller holds, although it was not used here: peers do not know it. */
void table_tell(struct table_state *st, struct table_entry *e);
/* Is it noted and not taken yet? */
static inline bool table_is_noted(const struct table_entry *e)
{
	return __atomic_load_n(&e->stamp, __ATOMIC_RELAXED) & ~TABLE_STAMP_MASK;
}
/* Returns the number of the entry's last change that was taken. */
static inline uint32_t table_stamp(const struct table_entry *e)
{
	return __atomic_load_n(&e->stamp, __ATOMIC_RELAXED) & TABLE_STAMP_MASK;
}
/* Numbers an entry that was taken, before its contents are read. For the reader. */
void table_stamp_set(struct table_entry *e, uint32_t number);

#endif

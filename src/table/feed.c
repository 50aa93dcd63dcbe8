/* SPDX-License-Identifier: GPL-2.0-or-later */
/* feed.c - changes of a table, noted by the threads that make them
 *
 * An entry's stamp has a bit for "noted". The thread that changes the entry sets it after the
 * change, the reader clears it before it reads, each in one instruction with full ordering: so
 * either the reader sees the change, or the entry is noted again.
 */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "core/lock.h"
#include "core/thread.h"
#include "table/feed.h"
#include "table_priv.h"

#define NOTED (~TABLE_STAMP_MASK)
#define LANE_FIRST 64

struct feed_lane {
	unsigned lock;
	uint32_t count, room;
	struct table_entry **entries; /* owned */
} __attribute__((aligned(64)));

struct table_feed {
	bool on;                      /* atomic */
	unsigned told;                /* atomic: the reader was woken, and has not looked yet */
	void (*wake)(void *reader);
	void *reader;
	/* what table_feed_take() reads from: of the reader's */
	struct table_entry **spare;
	uint32_t spare_room;
	unsigned lane_count;
	struct feed_lane lanes[];
};

/* --- noting ----------------------------------------------------------------------------------- */

/* Under the lane's lock. False: no memory, or the feed was closed. */
static bool lane_add(const struct table_feed *f, struct feed_lane *lane, struct table_entry *e)
{
	if (!__atomic_load_n(&f->on, __ATOMIC_RELAXED))
		return false;
	if (lane->count == lane->room) {
		uint32_t room = lane->room ? lane->room * 2 : LANE_FIRST;
		struct table_entry **more;

		more = realloc(lane->entries, room * sizeof(struct table_entry *));
		if (!more)
			return false;
		lane->entries = more;
		lane->room = room;
	}
	lane->entries[lane->count++] = e;
	return true;
}

void table_feed_note(struct table_feed *f, struct table_entry *e)
{
	struct feed_lane *lane;
	bool first, good;

	if (!__atomic_load_n(&f->on, __ATOMIC_RELAXED) ||
	    __atomic_fetch_or(&e->stamp, NOTED, __ATOMIC_SEQ_CST) & NOTED)
		return;
	SHARED_LINE(&e->stamp);
	lane = &f->lanes[thread_id % f->lane_count];
	table_hold(e);
	lock_take(&lane->lock);
	first = !lane->count;
	good = lane_add(f, lane, e);
	lock_drop(&lane->lock);
	if (!good) {
		__atomic_fetch_and(&e->stamp, TABLE_STAMP_MASK, __ATOMIC_SEQ_CST);
		table_drop(e);
	} else if (first && !__atomic_exchange_n(&f->told, 1, __ATOMIC_SEQ_CST)) {
		f->wake(f->reader);
	}
}

void table_tell(struct table_state *st, struct table_entry *e)
{
	struct table_feed *f = __atomic_load_n(&st->feed, __ATOMIC_ACQUIRE);

	if (f)
		table_feed_note(f, e);
}

/* --- reading ---------------------------------------------------------------------------------- */

void table_stamp_set(struct table_entry *e, uint32_t number)
{
	number &= TABLE_STAMP_MASK;
	__atomic_exchange_n(&e->stamp, number ? number : 1, __ATOMIC_SEQ_CST);
}

/* The lane gets the spare room, and the reader its entries: how many. */
static uint32_t lane_take(struct table_feed *f, struct feed_lane *lane)
{
	struct table_entry **entries;
	uint32_t count, room;

	lock_take(&lane->lock);
	entries = lane->entries;
	count = lane->count;
	room = lane->room;
	if (count) {
		lane->entries = f->spare;
		lane->room = f->spare_room;
		lane->count = 0;
		f->spare = entries;
		f->spare_room = room;
	}
	lock_drop(&lane->lock);
	return count;
}

void table_feed_take(struct table_state *st, void (*each)(void *ctx, struct table_entry *e),
		     void *ctx)
{
	struct table_feed *f = __atomic_load_n(&st->feed, __ATOMIC_ACQUIRE);

	if (!f || !__atomic_exchange_n(&f->told, 0, __ATOMIC_SEQ_CST))
		return;
	for (unsigned i = 0; i < f->lane_count; i++) {
		uint32_t count = lane_take(f, &f->lanes[i]);

		for (uint32_t n = 0; n < count; n++)
			each(ctx, f->spare[n]);
	}
}

/* --- life ------------------------------------------------------------------------------------- */

bool table_feed_open(struct table_state *st, void (*wake)(void *reader), void *reader)
{
	struct table_feed *f = st->feed;
	unsigned lanes = thread_count();
	void *made = NULL;
	size_t size = sizeof(*f) + lanes * sizeof(struct feed_lane);

	if (f) {
		f->wake = wake;
		f->reader = reader;
		__atomic_store_n(&f->on, true, __ATOMIC_RELEASE);
		return true;
	}
	if (posix_memalign(&made, 64, size) != 0)
		return false;
	f = memset(made, 0, size);
	f->lane_count = lanes;
	f->wake = wake;
	f->reader = reader;
	f->on = true;
	__atomic_store_n(&st->feed, f, __ATOMIC_RELEASE);
	return true;
}

static void forget(void *ctx, struct table_entry *e)
{
	__atomic_fetch_and(&e->stamp, TABLE_STAMP_MASK, __ATOMIC_SEQ_CST);
	table_drop(e);
}

void table_feed_close(struct table_state *st)
{
	struct table_feed *f = st->feed;

	if (!f)
		return;
	__atomic_store_n(&f->on, false, __ATOMIC_SEQ_CST);
	__atomic_store_n(&f->told, 1, __ATOMIC_SEQ_CST);
	table_feed_take(st, forget, NULL);
}

void table_feed_free(struct table_feed *f)
{
	if (!f)
		return;
	for (unsigned i = 0; i < f->lane_count; i++)
		free(f->lanes[i].entries);
	free(f->spare);
	free(f);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_priv.h - declarations shared by the files of this folder */
#ifndef TABLE_PRIV_H
#define TABLE_PRIV_H

#include "base/slot.h"
#include "base/tree.h"
#include "core/counter.h"
#include "table/table.h"

/* The largest difference between the clocks of two threads: one turn of their loops. */
#define TABLE_AHEAD_MS 65536

/* A block of entries of one size. */
struct table_slab {
	uint32_t cells;
	/* the entries follow, SLAB_HEAD bytes after the start */
};

/* One shard of the keys. */
struct table_shard {
	unsigned lock;
	uint32_t used;
	struct list lru;              /* struct table_entry.lru: least recently used first */
	struct table_entry *free;
	struct table_entry **buckets; /* owned; NULL: none yet */
	uint32_t bucket_count;        /* a power of two */
	/* while it grows: the old buckets, of which the first <moved> are empty; or NULL */
	struct table_entry **old;
	uint32_t old_count, moved;
	struct table_slab **slabs;    /* owned */
	uint32_t slab_count, slab_room;
} __attribute__((aligned(64)));

/* A text that entries refer to by its number. */
struct table_text {
	struct tree_node node;        /* by hash */
	uint32_t number;
	uint32_t len;
	char text[];
};

struct table_texts {
	unsigned lock;
	struct tree tree;
	struct table_text **all;      /* owned, and each of them; [number - 1] */
	uint32_t count, room;
	uint32_t bytes;               /* of all texts */
};

struct table_state {
	unsigned refs;                /* atomic */
	char *name;                   /* owned */
	struct table_shape shape;
	/* atomic: struct table_limits */
	uint32_t size, expire_ms, keep, bytes_factor, sums;
	/* atomic: how long an entry keeps its LRU position while used */
	uint32_t grain_ms;
	struct table_parts *parts;    /* owned; atomic; NULL: no peers */
	struct table_feed *feed;      /* owned; atomic; NULL: no reader has opened one yet */
	uint64_t secret[2];           /* of hash_sip13() */
	unsigned shard_bits;
	struct table_texts texts;
	struct counter_set changes;   /* one counter */
	uint32_t used __attribute__((aligned(64))); /* atomic */
	struct table_shard shards[];
};

/* Returns true if <key> is the key of the entry. */
bool table_key_is(const struct table_shape *s, const struct table_entry *e,
		  const struct table_key *key);
/* Copies <key> into an entry whose key is zeroed. */
void table_key_put(const struct table_shape *s, struct table_entry *e,
		   const struct table_key *key);
void table_texts_free(struct table_texts *t);
/* Counts received from peers: follow the table's limits, swept and freed with it. */
struct table_parts;
void table_parts_set_limits(struct table_state *st, const struct table_limits *l);
bool table_parts_sweep(struct table_state *st, unsigned budget);
void table_parts_free(struct table_parts *parts);
/* Notes that an entry, which the caller holds, has changed. */
struct table_feed;
void table_feed_note(struct table_feed *f, struct table_entry *e);
void table_feed_free(struct table_feed *f);

static inline char *table_entry_key(const struct table_shape *s, const struct table_entry *e)
{
	return (char *)(uintptr_t)e + s->key_at;
}

/* Returns the table pointer of a section, to be set. */
struct table **table_section_slot(const struct slot_area *slots);
extern struct slot *const table_slots[];
void tables_check(struct config *cfg, struct diag_list *diags);
bool tables_start(struct config *cfg, struct diag_list *diags);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pattern_index.h - indexes that find patterns without examining each
 *
 * A key table holds byte strings and finds one by its bytes, its prefix, its suffix or a delimited
 * part: a hash table that is probed once per distinct length of its keys. A network table does the
 * same for addresses and prefix lengths. Both return the number of the pattern in its list. Equal
 * patterns form a chain in the order of their numbers; a view tells which of them count.
 *
 * Growing while others read: one writer at a time adds the next pattern. A full array is replaced
 * by a larger copy, published as a whole, and the old one goes to a bin, to be freed when no reader
 * can hold it any more. A number is published after everything it leads to.
 *
 * Owns: its arrays; keys are borrowed.
 * Threads: one writer (by the caller's lock), any number of readers without a lock.
 * Fails: no memory.
 */
#ifndef SRC_PATTERN_INDEX_H
#define SRC_PATTERN_INDEX_H

#include <stdbool.h>
#include <stdint.h>
#include "base/slice.h"

/* Memory to be freed later. While a configuration is read there is no bin: no thread reads the
 * index yet.
 */
struct pattern_bin {
	struct pattern_junk *first;
};

/* Puts <ptr> into the bin; without a bin, frees it now; without memory for the bin, never. */
void pattern_bin_add(struct pattern_bin *bin, void *ptr, void (*release)(void *ptr));
/* Frees the contents once each thread has finished its current turn. */
void pattern_bin_empty(struct pattern_bin *bin);
/* Frees the contents. */
void pattern_bin_free(struct pattern_bin *bin);
/* Returns in *array an array of <used> bytes with room for <size>: the same one, or (with a bin) a
 * copy, zeroed beyond <used>. False: out of memory.
 */
bool pattern_grow(struct pattern_bin *bin, void **array, size_t used, size_t size);

/* Which numbers count: those with version <current>; all, if there are no versions. */
struct pattern_view {
	const uint32_t *versions; /* of numbers below <count> */
	uint32_t count, current;
};

static inline bool pattern_is_seen(const struct pattern_view *view, uint32_t number)
{
	return !view->versions ||
	       (number < view->count &&
		__atomic_load_n(&view->versions[number], __ATOMIC_RELAXED) == view->current);
}

/* A list with its length, replaced as a whole. */
struct index_slots {
	uint32_t mask, used;
	uint32_t at[];       /* number + 1; 0: free */
};

struct index_lengths {
	uint32_t count;
	uint32_t at[];       /* ascending */
};

struct key_table {
	struct slice *keys;  /* by number */
	/* by number: the next one of the chain + 1; NULL: there are no chains */
	uint32_t *next;
	struct index_slots *slots;
	struct index_lengths *lengths; /* distinct lengths of keys */
	uint32_t count, room, next_room;
	bool nocase;
	bool whole;          /* only searched for equal texts: hashed by words */
	bool reverse;        /* hashed from the end: for suffixes */
	bool listed;         /* never searched by hash: no slots */
};

void key_table_fini(struct key_table *t);
/* Adds the key of the next number. Before the first build only with <bin> NULL. */
bool key_table_add(struct key_table *t, struct slice key, struct pattern_bin *bin);
/* Builds the table after the initial keys were added. */
bool key_table_build(struct key_table *t);
int64_t key_table_find(const struct key_table *t, const struct pattern_view *v, struct slice text);
/* Finds the longest key that <text> starts with (or, with <reverse>, ends with). */
int64_t key_table_find_longest(const struct key_table *t, const struct pattern_view *v,
			       struct slice text);
/* As key_table_find_longest(), but finds the first one of the list. */
int64_t key_table_find_first(const struct key_table *t, const struct pattern_view *v,
			     struct slice text);
/* Finds the first key of the list that occurs in <text> between delimiters. */
int64_t key_table_find_part(const struct key_table *t, const struct pattern_view *v,
			    struct slice text, const char *delimiters);

struct net_entry {
	uint8_t ip[16]; /* the first 4 bytes for IPv4; already masked */
	uint8_t bits;
	uint32_t number;
	uint32_t next;  /* entry + 1 of the same network; 0: none */
};

struct net_table {
	struct net_entry *entries;
	struct index_slots *slots;
	uint32_t count, room;
	uint64_t bits_used[3]; /* existing prefix lengths: 0 to 128 */
	unsigned bytes;        /* 4 or 16 */
};

void net_table_fini(struct net_table *t);
bool net_table_add(struct net_table *t, const uint8_t *ip, unsigned bits, uint32_t number,
		   struct pattern_bin *bin);
/* Builds the table after the initial networks were added. */
bool net_table_build(struct net_table *t);
/* Finds the most specific network that contains <ip>; -1: none. */
int64_t net_table_find(const struct net_table *t, const struct pattern_view *v, const uint8_t *ip);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pattern_index.h - tables that find patterns without looking at each
 *
 * A key table holds byte strings and finds one by its bytes, its prefix, its suffix or a delimited
 * part: a hash table probed once per distinct length of its keys. A network table does the same for
 * addresses and prefix lengths. Both give the index of the pattern in its list.
 *
 * Owns: its arrays; keys are borrowed.
 * Threads: built by one, then read by all.
 * Fails: no memory.
 */
#ifndef SRC_PATTERN_INDEX_H
#define SRC_PATTERN_INDEX_H

#include <stdbool.h>
#include <stdint.h>
#include "base/slice.h"

struct key_table {
	struct slice *keys;  /* by index */
	uint32_t *slots;     /* index + 1; 0: free */
	uint32_t *lengths;   /* distinct lengths of keys, ascending */
	uint32_t slot_mask, count, room, length_count;
	bool nocase;
	bool whole;          /* only asked for equal texts: hashed in words */
	bool reverse;        /* hashed from the end: for suffixes */
};

void key_table_fini(struct key_table *t);
/* Adds the key of the next index. */
bool key_table_add(struct key_table *t, struct slice key);
/* Makes the table once all keys are in. Of equal keys the first stays visible. */
bool key_table_build(struct key_table *t);
int64_t key_table_find(const struct key_table *t, struct slice text);
/* The longest key that <text> starts with (or, with <reverse>, ends with). */
int64_t key_table_find_longest(const struct key_table *t, struct slice text);
/* Same, the first of the list. */
int64_t key_table_find_first(const struct key_table *t, struct slice text);
/* The first key of the list that stands in <text> between delimiters. */
int64_t key_table_find_part(const struct key_table *t, struct slice text, const char *delimiters);

struct net_entry {
	uint8_t ip[16]; /* the first 4 bytes for IPv4; already masked */
	uint8_t bits;
	uint32_t index;
};

struct net_table {
	struct net_entry *entries;
	uint32_t *slots;
	uint32_t slot_mask, count, room;
	uint64_t bits_used[3]; /* which prefix lengths exist: 0 to 128 */
	unsigned bytes;        /* 4 or 16 */
};

void net_table_fini(struct net_table *t);
bool net_table_add(struct net_table *t, const uint8_t *ip, unsigned bits, uint32_t index);
bool net_table_build(struct net_table *t);
/* The most specific network that holds <ip>; -1: none. */
int64_t net_table_find(const struct net_table *t, const uint8_t *ip);

#endif

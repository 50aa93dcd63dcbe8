/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tally.h - counters by name: a hash table of URLs, servers, addresses, codes
 *
 * Owns    : copies of the names, in blocks of memory that are never given back: the program
 *           ends.
 * Fails   : without memory it says so and ends the program: statistics of a part of a log are
 *           wrong.
 *
 * Names come from the senders of requests: the hash has a key drawn at random at start, so that
 * no attacker can choose names that meet in one place.
 */
#ifndef HALOG_TALLY_H
#define HALOG_TALLY_H

#include "line.h"

enum tally_column {
	TALLY_REQ, TALLY_ERR, TALLY_TIME, TALLY_OK_TIME, TALLY_BYTES,
	TALLY_CONNECT, TALLY_CONNECTED, TALLY_ANSWERED,
	TALLY_1XX, TALLY_2XX, TALLY_3XX, TALLY_4XX, TALLY_5XX, TALLY_OTHER,
	TALLY_NB
};

struct tally {
	int64_t n[TALLY_NB];
	double rank;       /* set before sorting: the greatest comes first */
	uint64_t hash;
	size_t len;
	char name[];       /* <len> bytes, not terminated */
};

struct tallies {
	struct tally **slots; /* owned; open addressing, a power of two */
	size_t size, used;
	char *block;          /* where the next names go */
	size_t left;
	uint64_t key[2];
};

/* Makes an empty table. */
void tallies_init(struct tallies *tallies);
/* Returns the counters of <name>, all 0 the first time. */
struct tally *tallies_get(struct tallies *tallies, struct text name);
/* Returns the used rows, by falling rank, then by name. The table may no longer be used to
 * look up. */
struct tally **tallies_sort(struct tallies *tallies);

#endif

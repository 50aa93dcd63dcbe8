/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_shared_priv.h - counters that several processes share: shm-stats-file
 *
 * Purpose: what a process has counted is not lost when the next one takes its place, and what both
 *          count meanwhile is one sum. A file that the processes map has an object for each
 *          frontend, listener, backend and server with a guid.
 *
 *	file:  head | object | object | ...       object: kind, guid, users, counters
 *
 *          Each process counts in its own memory, and once a second adds what is new to the
 *          counters of the objects. What is shown of an object is its counter in the file, and what
 *          the process has not added yet. Gauges (sessions that are open) are not shared.
 *          The layout is this program's own, not HAProxy's.
 * Owns   : the mapping, until the process ends. An object is in use as long as a process that lives
 *          uses it; a process lives as long as it holds the lock of its number (fcntl's locks of
 *          open files), so one that was killed keeps its objects for the next one, and one that
 *          stops frees them.
 * Threads: stats_shared_rest() and stats_shared_clear() from any; all else on thread 0.
 * Errors : reported when the configuration starts.
 * Files  : stats_shared.c the keywords and which objects are shared; stats_shared_file.c the file.
 * Manual : configuration 3.1 shm-stats-file, shm-stats-file-max-objects
 */
#ifndef MANAGE_STATS_SHARED_PRIV_H
#define MANAGE_STATS_SHARED_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counter_set;

#define SHARED_GUID_MAX 191
#define SHARED_COUNTERS_MAX 160

enum shared_kind { SHARED_FREE, SHARED_FRONTEND, SHARED_LISTENER, SHARED_BACKEND, SHARED_SERVER };

/* In the file: counters are relaxed atomics, all else changes under the file's lock. */
struct shared_object {
	uint32_t kind;              /* enum shared_kind */
	uint32_t unused;
	uint64_t users;             /* bit n: process n */
	char guid[SHARED_GUID_MAX + 1];
	uint64_t counters[SHARED_COUNTERS_MAX];
};

/* Does counter <i> of frontends and listeners, or of backends and servers, go down too? Such a one
 * is not shared, and not cleared. (stats.c)
 */
bool stats_is_gauge(unsigned i, bool front);
/* What has not been added to the objects of the file by this process, and what others have: to be
 * added to what <set> says of counter <i>. 0: nothing is shared.
 */
int64_t stats_shared_rest(const struct counter_set *set, unsigned i);
/* Counter <i> of <set> begins again: in the file too. */
void stats_shared_clear(const struct counter_set *set, unsigned i);

/* --- stats_shared_file.c */

/* Opens <path>, or makes it, with room for <max> objects. <layout>: a number that tells counters
 * apart. False: <why>. *renamed: there was another file, which has another name now.
 */
bool shared_file_open(const char *path, unsigned max, uint64_t layout, bool *renamed, char *why,
		      size_t size);
bool shared_file_is_open(void);
/* The object of this process, a new one if there was none, or NULL: there is no room. *is_new: all
 * its counters are 0.
 */
struct shared_object *shared_object_take(enum shared_kind kind, const char *guid, bool *is_new);
/* This process does not use it any more; it goes when no other does. */
void shared_object_drop(struct shared_object *o);
void shared_file_close(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_shared_priv.h - counters shared by several processes: shm-stats-file
 *
 * Purpose: the counts of a process are not lost when another one takes its place, and concurrent
 *          processes have common sums. The processes map a file with an object for each frontend,
 *          listener, backend and server that has a guid.
 *
 *	file:  head | object | object | ...       object: kind, guid, users, counters
 *
 *          Each process counts in its own memory, and once a second adds its new counts to the
 *          objects. The value shown for an object is its counter in the file plus the counts that
 *          the process has not added yet. Gauges (open sessions) are not shared.
 *          The layout is this program's own, not HAProxy's.
 * Owns   : the mapping, until the process ends. An object is in use as long as a live process uses
 *          it; a process is live as long as it holds the lock of its number (open file description
 *          locks of fcntl), so that a killed process leaves its objects to the next one, and a
 *          stopping process frees them.
 * Threads: stats_shared_rest() and stats_shared_clear(): any; all others on thread 0.
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

/* In the file: counters are relaxed atomics, everything else changes only with the file locked. */
struct shared_object {
	uint32_t kind;              /* enum shared_kind */
	uint32_t unused;
	uint64_t users;             /* bit n: process n */
	char guid[SHARED_GUID_MAX + 1];
	uint64_t counters[SHARED_COUNTERS_MAX];
};

/* Returns true if counter <i> of frontends and listeners, or of backends and servers, can also
 * decrease. Gauges are neither shared nor cleared. (stats.c)
 */
bool stats_is_gauge(unsigned i, bool front);
/* Returns the difference to add to counter <i> of <set>: counts that this process has not added to
 * the file yet, and those of other processes. 0: nothing is shared.
 */
int64_t stats_shared_rest(const struct counter_set *set, unsigned i);
/* Resets counter <i> of <set> in the file, too. */
void stats_shared_clear(const struct counter_set *set, unsigned i);

/* --- stats_shared_file.c */

/* Opens <path>, or creates it, with room for <max> objects. <layout>: a number that identifies the
 * set of counters. Returns false with the reason in <why>. Sets *renamed if another file was there,
 * which was renamed.
 */
bool shared_file_open(const char *path, unsigned max, uint64_t layout, bool *renamed, char *why,
		      size_t size);
bool shared_file_is_open(void);
/* Returns the object of this process, or a new one, or NULL: no room. *is_new: all its counters are
 * 0.
 */
struct shared_object *shared_object_take(enum shared_kind kind, const char *guid, bool *is_new);
/* Releases the object for this process; it is freed when no other process uses it. */
void shared_object_drop(struct shared_object *o);
void shared_file_close(void);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stats_walk.h - iterates over the rows of statistics of a proxy
 *
 * Code that shows rows in parts (show stat, the page, the exporter) keeps a struct stats_walk and
 * asks for the next row: a part may end anywhere, also among the servers of one backend.
 *
 * Owns   : nothing. The proxy's generation must stay until the walk has ended, as must objects that
 *          are removed meanwhile (proxies_hold()): the walk can then continue from such servers.
 * Threads: any, one at a time.
 */
#ifndef MANAGE_STATS_WALK_H
#define MANAGE_STATS_WALK_H

#include "manage/stats.h"

/* What to show: bits, as in "show stat <proxy> <type> <sid>". */
enum stats_shown {
	STATS_SHOW_FRONTEND = 1, STATS_SHOW_BACKEND = 2, STATS_SHOW_SERVERS = 4,
	STATS_SHOW_LISTENERS = 8, STATS_SHOW_ALL = 15,
};

/* How many rows are looked at, shown or not, before other work of the thread. */
#define STATS_ROWS_A_STEP 128

enum stats_walk_at { WALK_FRONTEND, WALK_LISTENERS, WALK_SERVERS, WALK_BACKEND, WALK_END };

struct stats_walk {
	/* selection: set by the user before the first row */
	unsigned shown;          /* enum stats_shown */
	int id;                  /* of listeners and servers; 0: proxies; negative: all */
	bool no_maint, up;       /* omit servers in maintenance, and servers that are not up */
	/* position */
	const struct proxy *px;
	enum stats_walk_at at;
	const struct listener_conf *listener; /* the last one; NULL: none yet */
	const struct server *server;
};

enum stats_found {
	STATS_ROW,               /* *r is filled */
	STATS_PAUSE,             /* many were omitted: call again after other work of the thread */
	STATS_END,               /* no more rows of this proxy */
};

/* Moves to the position before the first row of <px>. */
void stats_walk_enter(struct stats_walk *w, const struct proxy *px);
/* Returns the next row: the frontend, its listeners, the servers, the backend. Call
 * stats_walk_enter() first.
 */
enum stats_found stats_walk_next(struct stats_walk *w, struct stats_row *r);

/* How long the requests of a row's object took; NULL: of listeners that is not known. */
const struct latency_set *stats_latencies_of(enum stats_kind kind, const struct proxy *px,
					     const struct server *srv);
/* "queue", of enum time_kind. */
const char *stats_phase_name(unsigned kind);
/* Percentiles that are shown, of 1000. */
extern const struct stats_percentile {
	const char *name;
	unsigned permille;
} stats_percentiles[4];

#endif

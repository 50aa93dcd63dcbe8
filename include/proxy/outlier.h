/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* outlier.h - servers that do worse than the others are left out of balancing for a while
 *
 * Purpose: `outlier-ejection`, which HAProxy does not have. What requests show of each server is
 *          counted; once an interval one task per backend compares the servers, takes those out
 *          (ejects) that fail or take longer than the others, and lets them in again later.
 * Counted: each try of a request that has an end of its own. Failed are connections that could not
 *          be made, answers that are invalid or broken off before the end of their head, timeouts,
 *          and statuses 5xx but 501 and 505. In mode tcp: connections. What the client gives up
 *          does not count.
 * Ejected: like a server in drain, it gets no new requests but those that persistence ties to it.
 *          Its checks go on. Never a backup server; never the last active one: when the others go,
 *          it serves again immediately. Going down, maintenance and `state ready` end an ejection.
 * Owns   : settings belong to the proxy; struct outlier_state is a member of the server's state,
 *          which outlives a reload. A task belongs to its thread.
 * Threads: outlier_count() on the request's thread, in counters of its group. Decisions on one
 *          thread of the generation; what they do goes through server_set_ejected(), under the
 *          backend's change lock.
 * Errors : without memory an interval passes without a decision.
 * Config : outlier-ejection       See: doc/configuration/health-checks.md
 */
#ifndef PROXY_OUTLIER_H
#define PROXY_OUTLIER_H

#include <stdbool.h>
#include <stdint.h>
#include "proxy/check.h"

struct config;
struct server;

/* What the line says; all zero: no ejection. */
struct outlier_settings {
	int64_t interval_ms;      /* between decisions; 0: the whole is off */
	int64_t error_percent;    /* failed requests of an outlier; 0: not looked at */
	int64_t latency_percent;  /* of the others' time: 300 is three times; 0: not looked at */
	int64_t latency_floor_ms; /* below that no time is too long */
	int64_t min_requests;     /* with less in an interval a server is not judged */
	int64_t time_ms;          /* of a first ejection; the n-th in a row takes n times that */
	int64_t max_time_ms;
	int64_t max_percent;      /* of the servers at once */
};

/* What is kept of a server. Under the change lock where nothing else is said. */
struct outlier_state {
	unsigned is_out;          /* atomic bool */
	unsigned row;             /* atomic: ejections in a row */
	uint64_t until_ms;        /* atomic: (clock_now_ms()) when it comes back */
	/* of the task: the counters at the last decision */
	uint64_t seen_requests, seen_failed, seen_timed, seen_us;
};

enum outlier_why { OUTLIER_NOT, OUTLIER_ERRORS, OUTLIER_LATENCY };

/* One active server that would serve if it is not ejected, as a decision sees it. */
struct outlier_view {
	/* given */
	struct server *server;    /* whose; not looked at */
	bool is_out;
	uint64_t until_ms;        /* when it comes back, if it is out */
	uint64_t requests, failed; /* in this interval */
	uint64_t timed, us;       /* those that were waited for; how long in all */
	/* found */
	enum outlier_why why;     /* does it stand out? */
	bool eject, bring_back;
	uint64_t others_percent;  /* ERRORS: failed requests of the others */
	uint64_t others_us;       /* LATENCY: median of the others' means */
};

/* Fills what is found of <v>, <count> servers, and sorts them. A server stands out by errors when
 * at least error_percent of its requests failed, and twice the share of all others together; by
 * latency when its mean time is latency_percent of the median of the others' means. The worst are
 * ejected, as many as max_percent allows: one at least, but never all. Those that are out already
 * count; when they are too many (servers were removed), the ones nearest to their end come back.
 * No allocation, no clock.
 */
void outlier_decide(const struct outlier_settings *set, struct outlier_view *v, unsigned count);

/* How long the <row>-th ejection in a row lasts, in ms. */
uint64_t outlier_time_ms(const struct outlier_settings *set, unsigned row);

/* Slow part of outlier_count(). */
void outlier_count_now(struct server *srv, enum check_observation seen, uint64_t ns);

/* One try on <srv> has shown <seen>, after <ns> nanoseconds of waiting for it. */
static inline void outlier_count(struct server *srv, const struct outlier_settings *set,
				 enum check_observation seen, uint64_t ns)
{
	if (__builtin_expect(set->interval_ms != 0, 0))
		outlier_count_now(srv, seen, ns);
}

/* Is <srv> ejected? */
bool outlier_is_out(const struct server *srv);
/* Ends its ejection, if it is ejected, and forgets those before. Any thread. */
void outlier_pardon(struct server *srv);

/* Begins and ends the decisions of a generation that belong to the calling thread; as
 * checks_start_thread() and checks_stop_thread(). False: no memory.
 */
bool outliers_start_thread(struct config *cfg);
void outliers_stop_thread(const struct config *cfg);

#endif

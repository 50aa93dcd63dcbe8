/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* outlier.h - excludes servers that do worse than the others from balancing for a while
 *
 * Purpose: `outlier-ejection`, which HAProxy does not have. The results of requests are counted per
 *          server. Once per interval, one task per backend compares the servers, ejects those that
 *          fail or take longer than the others, and readmits them later.
 * Counted: each try of a request that has a result. Failures are connections that could not be
 *          made, responses that are invalid or cut off before the end of their head, timeouts, and
 *          statuses 5xx except 501 and 505. In mode tcp: connections. What the client aborts does
 *          not count.
 * Ejected: like a server in drain, it gets no new requests except those that persistence ties to
 *          it. Its checks continue. Backup servers are never ejected, nor is the last active one:
 *          when the others go away, an ejected server serves again immediately. Going down,
 *          maintenance and `state ready` end an ejection.
 * Owns   : settings belong to the proxy; struct outlier_state is a member of the server's state,
 *          which survives a reload. A task belongs to its thread.
 * Threads: outlier_count() runs on the request's thread, on counters of its group. Decisions run on
 *          one thread of the generation and take effect through server_set_ejected(), under the
 *          backend's change lock.
 * Errors : out of memory, an interval passes without a decision.
 * Config : outlier-ejection       See: doc/configuration/health-checks.md
 */
#ifndef PROXY_OUTLIER_H
#define PROXY_OUTLIER_H

#include <stdbool.h>
#include <stdint.h>
#include "proxy/check.h"

struct config;
struct server;

/* The settings; all zero: no ejection. */
struct outlier_settings {
	int64_t interval_ms;      /* between decisions; 0: disabled */
	int64_t error_percent;    /* share of failed requests; 0: not considered */
	int64_t latency_percent;  /* of the others' time: 300 is three times; 0: not considered */
	int64_t latency_floor_ms; /* times below this are never too long */
	int64_t min_requests;     /* a server with fewer requests in an interval is not judged */
	int64_t time_ms;          /* of a first ejection; the n-th in a row lasts n times as long */
	int64_t max_time_ms;
	int64_t max_percent;      /* of the servers at a time */
};

/* State of a server. Protected by the change lock unless noted. */
struct outlier_state {
	unsigned is_out;          /* atomic bool */
	unsigned row;             /* atomic: consecutive ejections */
	uint64_t until_ms;        /* atomic: when it returns, on the scale of clock_now_ms() */
	/* for the task: the counters at the last decision */
	uint64_t seen_requests, seen_failed, seen_timed, seen_us;
};

enum outlier_why { OUTLIER_NOT, OUTLIER_ERRORS, OUTLIER_LATENCY };

/* One active server that is usable, or would be if it were not ejected, as a decision sees it. */
struct outlier_view {
	/* input */
	struct server *server;    /* not used by the decision */
	bool is_out;
	uint64_t until_ms;        /* when it returns, if it is out */
	uint64_t requests, failed; /* in this interval */
	uint64_t timed, us;       /* requests that were waited for; the sum of their times */
	/* output */
	enum outlier_why why;     /* is it an outlier? */
	bool eject, bring_back;
	uint64_t others_percent;  /* ERRORS: failed requests of the others */
	uint64_t others_us;       /* LATENCY: median of the others' means */
};

/* Decides about <v>, <count> servers: fills the output members and sorts them. A server is an
 * outlier by errors if at least error_percent of its requests failed, and at least twice the share
 * of all others together; by latency if its mean time reaches latency_percent of the median of the
 * others' means. The worst are ejected, as many as max_percent allows: at least one, but never all.
 * Servers that are already out count; if they are too many (servers were removed), those nearest to
 * their end return. No allocation, no clock.
 */
void outlier_decide(const struct outlier_settings *set, struct outlier_view *v, unsigned count);

/* Returns how long the <row>-th consecutive ejection lasts, in ms. */
uint64_t outlier_time_ms(const struct outlier_settings *set, unsigned row);

/* Slow part of outlier_count(). */
void outlier_count_now(struct server *srv, enum check_observation seen, uint64_t ns);

/* Counts one try on <srv>, which has shown <seen> after a wait of <ns> nanoseconds. */
static inline void outlier_count(struct server *srv, const struct outlier_settings *set,
				 enum check_observation seen, uint64_t ns)
{
	if (__builtin_expect(set->interval_ms != 0, 0))
		outlier_count_now(srv, seen, ns);
}

/* Is <srv> ejected? */
bool outlier_is_out(const struct server *srv);
/* Ends its ejection, if it is ejected, and resets its count of ejections. Any thread. */
void outlier_pardon(struct server *srv);

/* Start and stop the decisions of a generation that belong to the calling thread, like
 * checks_start_thread() and checks_stop_thread(). False: out of memory.
 */
bool outliers_start_thread(struct config *cfg);
void outliers_stop_thread(const struct config *cfg);

#endif

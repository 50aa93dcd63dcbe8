/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* counters.h - the counters of frontends, listeners, backends and servers
 *
 * Purpose: the indexes of each object's counter_set (core/counter.h), and the other kinds of
 *          figures that `show stat` prints: rates with a maximum, gauges with a maximum, and times
 *          averaged over the last 1024 requests. Also histograms of the same times, for proxies
 *          that ask for them.
 * Owns   : the memory of its shards, one per thread group, each on its own cache lines.
 * Threads: adding touches only the shard of the thread's group (a maximum is written once when it
 *          grows); reading sums up the shards. Any thread.
 * Errors : init functions return false when out of memory.
 * Manual : management 9.1 (the CSV columns).
 */
#ifndef PROXY_COUNTERS_H
#define PROXY_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>
#include "core/counter.h"
#include "quic/counts.h"

struct config;

/* Size of a cache line in bytes: counters of different groups share none. */
#define COUNTER_LINE 64

/* Counters that several sides print: X(name, CSV column). "": the column is printed by other code.
 * The first cache line, eight counters, has what each request counts.
 */
#define COUNTERS_COMMON(X) \
	X(SESS_CUR, "scur")         /* gauge: see gauge_add() */ \
	X(SESS_TOT, "stot")         /* sessions (frontend, listener), streams (backend, server) */ \
	X(BYTES_IN, "bin") \
	X(BYTES_OUT, "bout") \
	X(REQ_TOT, "req_tot")       /* HTTP requests */ \
	X(HRSP_1XX, "hrsp_1xx")     /* the six classes stay together: counter_of_status() */ \
	X(HRSP_2XX, "hrsp_2xx") \
	X(HRSP_3XX, "hrsp_3xx") \
	X(HRSP_4XX, "hrsp_4xx") \
	X(HRSP_5XX, "hrsp_5xx") \
	X(HRSP_OTHER, "hrsp_other") \
	X(DENIED_REQ, "dreq") \
	X(DENIED_RESP, "dresp") \
	X(INTERNAL_ERRORS, "eint") \
	X(FAILED_REWRITES, "wrew") \
	X(COMP_IN, "comp_in") \
	X(COMP_OUT, "comp_out") \
	X(COMP_BYPASS, "comp_byp") \
	X(COMP_RESP, "comp_rsp") \
	X(CACHE_LOOKUPS, "cache_lookups") \
	X(CACHE_HITS, "cache_hits") \
	X(TLS_SESS, "")             /* keep these together, in the order of their columns */ \
	X(TLS_REUSED, "") X(TLS_FAILED, "") X(TLS_STAPLED, "")

/* Counters of the HTTP/2 mux, for frontends and backends, in the order of H2_COUNTS. */
#define COUNTERS_H2(X) \
	X(H2_HEADERS, "") X(H2_DATA, "") X(H2_SETTINGS, "") X(H2_RESETS, "") X(H2_GOAWAYS, "") \
	X(H2_CONN_ERRORS, "") X(H2_STREAM_ERRORS, "") X(H2_RESETS_SENT, "") \
	X(H2_GOAWAYS_SENT, "") X(H2_CONNS, "") X(H2_STREAMS, "") X(H2_CONNS_TOTAL, "") \
	X(H2_STREAMS_TOTAL, "")
/* Counters of the HTTP/1 mux, in the order of H1_COUNTS. */
#define COUNTERS_H1(X) \
	X(H1_CONNS, "") X(H1_STREAMS, "") X(H1_CONNS_TOTAL, "") X(H1_STREAMS_TOTAL, "") \
	X(H1_BYTES_IN, "") X(H1_BYTES_OUT, "") X(H1_SPLICED_IN, "") X(H1_SPLICED_OUT, "")

/* Additional counters of frontends and listeners: */
#define COUNTERS_FRONT(X) \
	X(REQ_ERRORS, "ereq") \
	X(CONN_TOT, "conn_tot") \
	X(DENIED_CONN, "dcon") \
	X(DENIED_SESS, "dses") \
	X(INTERCEPTED, "intercepted") \
	X(SESS_OTHER, "sess_other")  /* sessions by protocol */ \
	X(SESS_H1, "h1sess") \
	X(SESS_H2, "h2sess") \
	X(SESS_H3, "h3sess") \
	X(FRONT_REQ_OUT, "reqbout") /* bytes, keep these three together: sent to servers, */ \
	X(FRONT_RES_IN, "resbin")   /* received from servers, sent to clients */ \
	X(FRONT_RES_OUT, "resbout") \
	X(REQ_OTHER, "req_other") \
	X(REQ_H1, "h1req") \
	X(REQ_H2, "h2req") \
	X(REQ_H3, "h3req") \
	COUNTERS_H2(X) \
	COUNTERS_H1(X) \
	QUIC_COUNTS(X)      /* counters of QUIC and HTTP/3 */

/* Additional counters of backends and servers. The first seven, for each request, share a cache
 * line:
 */
#define COUNTERS_BACK(X) \
	X(LB_TOT, "lbtot")          /* how often balancing chose it */ \
	X(CONNECTS, "connect") \
	X(REUSES, "reuse") \
	X(IDLE_CUR, "idle_conn_cur")   /* gauges of servers: idle unsafe, idle safe, in use */ \
	X(SAFE_CUR, "safe_conn_cur") \
	X(USED_CUR, "used_conn_cur") \
	X(SLOTS_FREE, "")           /* gauge: slots taken while there was no limit (queue.c) */ \
	X(BACK_REQ_OUT, "reqbout")  /* bytes, as in frontends */ \
	X(BACK_RES_IN, "resbin") \
	X(BACK_RES_OUT, "resbout") \
	X(QUEUE_CUR, "qcur")        /* gauge */ \
	X(PRIVATE_CUR, "priv_idle_cur") /* gauge of servers: idle, reserved for one session */ \
	X(CONN_ERRORS, "econ") \
	X(RESP_ERRORS, "eresp") \
	X(RETRIES, "wretr") \
	X(REDISPATCHES, "wredis") \
	X(CLIENT_ABORTS, "cli_abrt") \
	X(SERVER_ABORTS, "srv_abrt") \
	X(CHECK_FAILS, "chkfail") \
	X(CHECK_DOWNS, "chkdown") \
	X(CHECK_HANA, "hanafail") \
	X(TRIES, "")                /* of servers, four: see proxy/outlier.h */ \
	X(TRIES_FAILED, "") X(TRIES_TIMED, "") X(TRIES_US, "") \
	X(EJECTIONS, "ejections")

#define X(name, column) CNT_##name,
enum counter_front { COUNTERS_COMMON(X) COUNTERS_FRONT(X) CNT_FRONT_COUNT };
#undef X
/* Common counters have the same index on both sides. */
#define X(name, column) CNT_BACK_COMMON_##name,
enum counter_back_base { COUNTERS_COMMON(X) CNT_BACK_FIRST };
#undef X
#define X(name, column) CNT_AT_##name,
enum counter_back_at { COUNTERS_BACK(X) CNT_BACK_OWN };
#undef X
#define X(name, column) CNT_##name = CNT_BACK_FIRST + CNT_AT_##name,
enum counter_back { COUNTERS_BACK(X) CNT_BACK_COUNT = CNT_BACK_FIRST + CNT_BACK_OWN };
#undef X
_Static_assert(CNT_HRSP_2XX / 8 == 0 && CNT_LB_TOT / 8 == CNT_SLOTS_FREE / 8 &&
	       CNT_BACK_REQ_OUT / 8 == CNT_BACK_RES_OUT / 8 &&
	       CNT_FRONT_REQ_OUT / 8 == CNT_REQ_H2 / 8,
	       "a request counts in three lines of its server, in two of its frontend");
/* Backends, not servers, have these at the end. */
#define X(name, column) CNT_BACK_##name,
enum counter_back_mux {
	CNT_BACK_LAST = CNT_BACK_COUNT - 1,
	COUNTERS_H2(X) COUNTERS_H1(X) QUIC_COUNTS(X)
	CNT_BACKEND_COUNT
};
#undef X

/* Returns the index of a frontend's counter of requests of an HTTP version (9 to 30). */
static inline unsigned counter_of_version(unsigned version)
{
	return version < 20 ? CNT_REQ_H1 : version < 30 ? CNT_REQ_H2 : CNT_REQ_H3;
}

/* Returns the index of the counter of an HTTP status (100..999). */
static inline unsigned counter_of_status(int status)
{
	return status >= 100 && status < 600 ? CNT_HRSP_1XX + (unsigned)status / 100 - 1
					     : CNT_HRSP_OTHER;
}

/* --- rates ---------------------------------------------------------------------------------- */

/* Events per second over a sliding second, and the highest value so far. */
struct rate_set {
	char *shards;         /* one cache line per group */
	uint32_t max;         /* atomic: over completed seconds; see rate_set_max() */
	/* atomic: events of second <cleared_sec> before the maximum was cleared */
	uint32_t spared;
	uint64_t cleared_sec; /* atomic */
};

/* Allocates the shards. False: out of memory. */
bool rate_set_init(struct rate_set *r);
/* Return the size of the shards of a rate_set or a time_set, and build a rate_set on that much
 * zeroed memory, aligned to a cache line. The caller keeps owning it (no rate_set_fini()).
 */
size_t shard_lines_size(void);
void rate_set_place(struct rate_set *r, void *lines);
/* Frees the shards; harmless on a zeroed set. */
void rate_set_fini(struct rate_set *r);
/* Returns the rate of one group. */
static inline struct rate *rate_set_shard(const struct rate_set *r, unsigned group)
{
	return (struct rate *)(void *)(r->shards + group * COUNTER_LINE);
}

/* Counts the first event after a second: closes that second. For rate_set_add(). */
void rate_set_begin(struct rate_set *r, unsigned n);
/* Counts <n> events now, in this thread's group. */
static inline void rate_set_add(struct rate_set *r, unsigned n)
{
	if (STATS_ARE_COUNTED && !rate_add_within(rate_set_shard(r, thread_group), n))
		rate_set_begin(r, n);
}

/* Returns the events of the last second. */
uint32_t rate_set_read(const struct rate_set *r);
/* Returns the highest number of events in one second so far. */
uint32_t rate_set_max(const struct rate_set *r);
/* Resets the maximum: events up to now no longer count for it. Any thread. */
void rate_set_clear_max(struct rate_set *r);
/* Names the rate of all connections of the process, counted by a floor above, so that it is cleared
 * with the others. Before the threads run.
 */
void rate_set_of_process(struct rate_set *r);
void rate_set_clear_process_max(void);
/* Returns how many ms to wait until one more event keeps the rate within <limit> per second; 0:
 * none.
 */
unsigned rate_set_wait_ms(const struct rate_set *r, uint32_t limit);

/* --- gauges with a maximum ------------------------------------------------------------------ */

/* Adds <n> (may be negative) to gauge <i> and raises *<max> if the sum exceeds it. Returns the
 * share of this thread's group.
 */
uint64_t gauge_add(struct counter_set *s, unsigned i, int64_t n, uint64_t *max);

/* --- times ---------------------------------------------------------------------------------- */

/* The four timers of a request, in ms: averages over about the last 1024 requests, and maxima. */
enum time_kind { TIME_QUEUE, TIME_CONNECT, TIME_RESPONSE, TIME_TOTAL, TIME_KINDS };

struct time_set {
	char *shards;   /* one cache line per group */
};

/* Allocates the shards. False: out of memory. */
bool time_set_init(struct time_set *t);
/* As rate_set_place(). */
void time_set_place(struct time_set *t, void *lines);
/* Frees the shards; harmless on a zeroed set. */
void time_set_fini(struct time_set *t);
/* Records the times of one request; 0 for a phase that it did not reach. */
void time_set_add(struct time_set *t, const uint64_t ms[TIME_KINDS]);
/* Returns the average in ms. */
uint32_t time_set_average(const struct time_set *t, enum time_kind kind);
/* Returns the maximum in ms, since the start or the last time_set_clear(). */
uint32_t time_set_max(const struct time_set *t, enum time_kind kind);
/* Reset the maxima, and the averages. */
void time_set_clear(struct time_set *t);
void time_set_clear_averages(struct time_set *t);

/* --- latencies ------------------------------------------------------------------------------ */

/* Are latencies counted? Only if something shows them: such code calls latency_want() while the
 * configuration is read.
 */
void latency_want(struct config *cfg);
bool latency_is_wanted(const struct config *cfg);

/* Histograms of how long the phases of requests took (base/histogram.h, two buckets per power of
 * two): below 64 us, then up to 33.5 s, then the rest. The phases are those of time_set.
 */
#define LATENCY_BITS 1
#define LATENCY_FIRST 11   /* histogram_index(63, LATENCY_BITS): ends at 64 us */
#define LATENCY_BUCKETS 40

/* Allocated when the first request is counted. */
struct latency_set {
	struct counter_set *counters; /* atomic; owned; NULL: not allocated yet */
};

struct latency_view {
	uint64_t counts[TIME_KINDS][LATENCY_BUCKETS], sum_us[TIME_KINDS];
};

/* The phases of one request, computed once and counted for several objects. */
struct latency_sample {
	uint32_t bucket[TIME_KINDS]; /* indexes of counters */
	uint64_t us[TIME_KINDS];
};

#define LATENCY_NONE UINT64_MAX
/* Fills <s> from the phases in us; LATENCY_NONE: not reached. */
void latency_sample_make(struct latency_sample *s, const uint64_t us[TIME_KINDS]);

/* Frees its memory; harmless on a zeroed set. */
void latency_set_fini(struct latency_set *l);
/* Counts a sample; not when out of memory. */
void latency_set_add(struct latency_set *l, const struct latency_sample *s);
/* Reads all buckets. False: nothing was counted since the start. */
bool latency_set_read(const struct latency_set *l, struct latency_view *out);
/* What <permille> of 1000 of these values were at most, in us: where a bucket ends; *above: more
 * than that, as the last bucket has no end. 0: nothing was counted.
 */
uint64_t latency_percentile(const uint64_t counts[LATENCY_BUCKETS], unsigned permille, bool *above);
/* All to zero. */
void latency_set_clear(struct latency_set *l);

#endif

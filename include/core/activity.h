/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* activity.h - counters of what each thread's loop did, for `show activity`
 *
 * Each thread counts for itself; any thread may read (each counter is exact, the set is not a
 * snapshot). Higher floors count their share (accepts, stream calls) with activity_add().
 * Manual: management 9.3 "show activity".
 */
#ifndef CORE_ACTIVITY_H
#define CORE_ACTIVITY_H

#include <stdint.h>

/* X(name): in the reference's order. */
#define ACTIVITY_COUNTERS(X) \
	X(ctxsw)        /* functions called by the loop: tasks and I/O handlers */ \
	X(tasksw)       /* tasks run */ \
	X(empty_rq)     /* turns that found nothing to run */ \
	X(long_rq)      /* turns that left tasks for the next one */ \
	X(curr_rq)      /* tasks waiting now (gauge) */ \
	X(loops)        /* turns */ \
	X(wake_tasks)   /* turns that did not sleep because a task was waiting */ \
	X(wake_signal)  /* turns that did not sleep because of a signal */ \
	X(poll_io)      /* events delivered */ \
	X(poll_exp)     /* polls ended by their timeout */ \
	X(poll_drop_fd) /* events of a closed descriptor */ \
	X(poll_skip_fd) /* events that no handler wanted */ \
	X(conn_dead)    /* connections found dead */ \
	X(stream_calls) /* runs of streams */ \
	X(pool_fail)    /* failed allocations */ \
	X(buf_wait)     /* waits for a buffer */ \
	X(cpust_ms_tot) /* time stolen from this thread: total, last second, 15 s (gauges) */ \
	X(cpust_ms_1s) \
	X(cpust_ms_15s) \
	X(avg_cpu_pct)  /* part of the time not spent waiting, percent (gauge) */ \
	X(avg_loop_us)  /* mean length of a turn (gauge) */ \
	X(accepted)     /* connections accepted */ \
	X(accq_pushed)  /* handed to another thread */ \
	X(accq_full)    /* not handed: its queue was full */ \
	X(accq_ring)    /* received from another thread */ \
	X(fd_takeover)  /* idle connections taken from another thread */ \
	X(check_adopted)/* health checks: moved here, started, alive and running (gauges) */ \
	X(check_started) \
	X(check_active) \
	X(check_running)

/* Debug builds also count writes to memory that threads share, within a group or the whole process,
 * and how many cache lines of stick tables a request writes, however often: see
 * doc/internals/shared-memory.md.
 */
#ifdef DEBUG_STRICT
#define ACTIVITY_DEBUG_COUNTERS(X) X(shared_process) X(shared_group) X(shared_lines)
#define SHARED_WRITE(class) activity_add(ACTIVITY_shared_##class, 1)
#define SHARED_LINE(at) shared_line(at)
#define SHARED_LINES_BEGIN() shared_lines_begin()
#else
#define ACTIVITY_DEBUG_COUNTERS(X)
#define SHARED_WRITE(class) ((void)0)
#define SHARED_LINE(at) ((void)0)
#define SHARED_LINES_BEGIN() ((void)0)
#endif

#define X(name) ACTIVITY_##name,
enum activity_counter { ACTIVITY_COUNTERS(X) ACTIVITY_DEBUG_COUNTERS(X) ACTIVITY_COUNT };
#undef X

struct activity {
	uint64_t counter[ACTIVITY_COUNT]; /* relaxed atomics; written by the owner */
	uint64_t idle_ns;                 /* waited in this period */
	uint64_t period_ns;               /* start of the period */
	uint64_t idle_percent;            /* of the last period */
	uint64_t cpu_ns;                  /* thread CPU time at the period's start */
	uint64_t busy_loops;              /* loops at the period's start */
};

/* The counters of the calling thread. */
extern __thread struct activity *activity_self;

static inline void activity_add(enum activity_counter c, uint64_t n)
{
	uint64_t *p = &activity_self->counter[c];

	__atomic_store_n(p, *p + n, __ATOMIC_RELAXED);
}

static inline void activity_set(enum activity_counter c, uint64_t v)
{
	__atomic_store_n(&activity_self->counter[c], v, __ATOMIC_RELAXED);
}

/* Debug builds: shared_line() notes a write to a line of 64 bytes; shared_lines_begin() starts
 * counting for another request.
 */
void shared_line(const void *at);
void shared_lines_begin(void);
/* Reads a counter of <thread>. Any thread. */
uint64_t activity_read(unsigned thread, enum activity_counter c);
/* Returns the percentage of time that the calling thread spent waiting, over the last half second
 * or more: Idle_pct.
 */
unsigned activity_idle_percent(void);

#endif

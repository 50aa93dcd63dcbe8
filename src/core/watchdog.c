/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watchdog.c - a timer of CPU time per thread */
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "core/task.h"
#include "watchdog_priv.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define STUCK_MS 10000 /* a turn that is long enough to be noticed takes ten times as long there */
#else
#define STUCK_MS 1000
#endif
#define FRAMES_MAX 32

static unsigned warning_ms = 100;
static __thread timer_t watch;
static __thread bool is_watching;
static __thread uint64_t seen_turn;    /* the turn that the last signal interrupted */
static __thread uint64_t seen_cpu_ns;  /* CPU time of this thread when it was first seen */
static __thread bool is_warned;
static __thread unsigned stuck_times;

void watchdog_set_warning_ms(unsigned ms)
{
	warning_ms = ms;
}

/* The signal that it uses: never blocked. */
static int watchdog_signal(void)
{
	return SIGRTMAX - 1;
}

/* In a signal handler of a thread which may hold any lock: only write() and snprintf() of
 * numbers, and backtrace(), which was called once before to load what it needs.
 */
static void watchdog_report(const struct worker *w, uint64_t since_ms, bool deadly)
{
	void *frames[FRAMES_MAX];
	char text[512];
	int len, count;

	len = snprintf(text, sizeof(text), "%s thread %u is %s since %llu ms of CPU time "
		       "(pid %d, turn %llu, task %p):\n",
		       deadly ? "PANIC:" : "WARNING:", w->id + 1,
		       deadly ? "stuck" : "busy with one turn", (unsigned long long)since_ms,
		       (int)getpid(), (unsigned long long)w->activity.counter[ACTIVITY_loops],
		       (void *)w->current);
	if (len > 0 && write(STDERR_FILENO, text, (size_t)len) < 0)
		return;
	count = backtrace(frames, FRAMES_MAX);
	backtrace_symbols_fd(frames, count, STDERR_FILENO);
	for (unsigned i = 0; deadly && i < thread_count(); i++) {
		const struct worker *o = worker_table[i];

		len = snprintf(text, sizeof(text), "%c Thread %u: loops=%llu rq=%u sleeping=%d "
			       "task=%p\n", o == w ? '*' : ' ', o->id + 1,
			       (unsigned long long)o->activity.counter[ACTIVITY_loops],
			       o->queue.length, o->sleeping, (void *)o->current);
		if (len > 0 && write(STDERR_FILENO, text, (size_t)len) < 0)
			return;
	}
}

static void watchdog_handler(int sig, siginfo_t *info, void *context)
{
	struct worker *w = worker_self;
	uint64_t turn = w->activity.counter[ACTIVITY_loops], cpu_ns, since_ms;

	if (!is_watching)
		return;
	cpu_ns = clock_read_thread_cpu_ns();
	if (turn != seen_turn) {
		seen_turn = turn;
		seen_cpu_ns = cpu_ns;
		is_warned = false;
		stuck_times = 0;
		return;
	}
	since_ms = (cpu_ns - seen_cpu_ns) / NS_PER_MS;
	if (since_ms >= STUCK_MS * (stuck_times + 1ull)) {
		if (++stuck_times < 2)
			return;
		watchdog_report(w, since_ms, true);
		abort();
	}
	if (warning_ms && since_ms >= warning_ms && !is_warned) {
		is_warned = true;
		watchdog_report(w, since_ms, false);
	}
}

void watchdog_thread_init(struct worker *w)
{
	struct sigaction sa = { .sa_sigaction = watchdog_handler,
				.sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID };
	struct itimerspec period = { 0 };
	unsigned ms = warning_ms && warning_ms < 500 ? (warning_ms + 1) / 2 : 250;
	void *frame[1];
	sigset_t unblock;

	backtrace(frame, 1); /* loads its library now, not in the handler */
	if (sigaction(watchdog_signal(), &sa, NULL) < 0)
		return;
	event.sigev_signo = watchdog_signal();
	event.sigev_notify_thread_id = gettid();
	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &watch) < 0)
		return;
	is_watching = true;
	seen_turn = UINT64_MAX;
	sigemptyset(&unblock);
	sigaddset(&unblock, watchdog_signal());
	pthread_sigmask(SIG_UNBLOCK, &unblock, NULL);
	period.it_interval.tv_nsec = (long)ms * (long)NS_PER_MS;
	period.it_value = period.it_interval;
	timer_settime(watch, 0, &period, NULL);
}

void watchdog_thread_fini(struct worker *w)
{
	if (!is_watching)
		return;
	is_watching = false;
	timer_delete(watch);
}

/* turns - how long the turns of an event loop are, in CPU time of the thread.
 *
 * Loaded into a proxy (LD_PRELOAD). A turn lasts from where epoll_wait() returns to where it is called again; the time
 * in which the thread was off its CPU does not count, so that a busy machine does not show. When the process gets
 * SIGRTMAX, the next turn begins the count anew; the next one writes a line to the file $TURNS:
 *
 *     turns longest_us over_2_ms
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

static int (*real_wait)(int, struct epoll_event *, int, int);
static atomic_ulong turns, longest_ns, over;
static atomic_bool counts;
static __thread uint64_t woken_ns;
static __thread unsigned seen;
static atomic_uint run;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void on_signal(int sig)
{
	char *path = getenv("TURNS");
	FILE *f;

	(void)sig;
	if (!counts) {
		turns = longest_ns = over = 0;
		run++;
		counts = 1;
		return;
	}
	counts = 0;
	f = path ? fopen(path, "w") : NULL;
	if (!f)
		return;
	fprintf(f, "%lu %lu %lu\n", (unsigned long)turns, (unsigned long)longest_ns / 1000, (unsigned long)over);
	fclose(f);
}

__attribute__((constructor)) static void begin(void)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	real_wait = (int (*)(int, struct epoll_event *, int, int))dlsym(RTLD_NEXT, "epoll_wait");
	sigaction(SIGRTMAX, &sa, NULL);
}

int epoll_wait(int ep, struct epoll_event *events, int max, int timeout)
{
	int r;

	if (counts && woken_ns && seen == run) {
		uint64_t lasted = cpu_ns() - woken_ns, most = longest_ns;

		turns++;
		over += lasted > 2000000;
		while (lasted > most && !atomic_compare_exchange_weak(&longest_ns, &most, lasted))
			;
	}
	r = real_wait(ep, events, max, timeout);
	seen = run;
	woken_ns = cpu_ns();
	return r;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spawn.c - starting threads */
#include "core/spawn.h"
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include "signal_priv.h"

static bool forbidden;
/* While forbidden: a second thread that starts must not find the barrier back. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Only the soft limit, which may be raised again up to the hard one. */
static void set_barrier(bool up)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NPROC, &r) < 0)
		return;
	r.rlim_cur = up ? 0 : r.rlim_max;
	setrlimit(RLIMIT_NPROC, &r);
}

void spawn_forbid_processes(void)
{
	forbidden = true;
	set_barrier(true);
}

static int create(pthread_t *t, void *(*run)(void *arg), void *arg)
{
	pthread_attr_t attr;
	pthread_t detached;
	int ret = pthread_attr_init(&attr);

	if (ret != 0)
		return ret;
	if (!t)
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	ret = pthread_create(t ? t : &detached, &attr, run, arg);
	pthread_attr_destroy(&attr);
	return ret;
}

bool spawn_thread(pthread_t *t, void *(*run)(void *arg), void *arg)
{
	sigset_t all, before;
	int ret;

	signal_blockable_set(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (forbidden) {
		pthread_mutex_lock(&lock);
		set_barrier(false);
	}
	ret = create(t, run, arg);
	if (forbidden) {
		set_barrier(true);
		pthread_mutex_unlock(&lock);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = ret;
	return ret == 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* background.c - work that takes longer than a turn of a loop may take */
#include "core/background.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/block.h"
#include "base/clock.h"
#include "core/mailbox.h"
#include "core/pool.h"
#include "core/spawn.h"
#include "core/thread.h"
#include "worker_priv.h"

struct job {
	struct message message; /* "done", to the asking thread */
	struct job *next;
	struct worker *worker;  /* owned: what the work writes to instead of a loop's */
	pthread_t thread;
	unsigned home;          /* the asking thread */
	void (*work)(void *ctx);
	void (*done)(void *ctx);
	void *ctx;
};

/* Held by the thread that works: one at a time, for all have the same number. */
static pthread_mutex_t work_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t jobs_lock = PTHREAD_MUTEX_INITIALIZER;
static struct job *jobs; /* those that were not joined */

static void job_unlink(struct job *j)
{
	struct job **at = &jobs;

	pthread_mutex_lock(&jobs_lock);
	while (*at && *at != j)
		at = &(*at)->next;
	if (*at)
		*at = j->next;
	pthread_mutex_unlock(&jobs_lock);
}

static void job_free(struct job *j)
{
	free(j->worker);
	free(j);
}

/* On the asking thread. */
static void job_done(struct message *m)
{
	struct job *j = (struct job *)m;
	void (*done)(void *ctx) = j->done;
	void *ctx = j->ctx;

	job_unlink(j);
	pthread_join(j->thread, NULL);
	job_free(j);
	done(ctx);
}

/* Numbers behind those of the loops: nothing of theirs may be taken for this thread's own. */
static void *job_main(void *arg)
{
	struct job *j = arg;

	worker_self = j->worker;
	activity_self = &j->worker->activity;
	thread_id = thread_count() < THREADS_MAX ? thread_count() : THREADS_MAX - 1;
	thread_group_is_single = false;
	clock_refresh();
	pthread_mutex_lock(&work_lock);
	j->work(j->ctx);
	block_queue_trim_thread();
	pool_trim_thread();
	pthread_mutex_unlock(&work_lock);
	mailbox_post(j->home, &j->message);
	return NULL;
}

static struct job *job_new(void)
{
	struct job *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->worker = aligned_alloc(CACHE_LINE, sizeof(*j->worker));
	if (!j->worker) {
		free(j);
		return NULL;
	}
	memset(j->worker, 0, sizeof(*j->worker));
	j->worker->wake_fd = -1;
	list_init(&j->worker->hooks);
	list_init(&j->worker->last_hooks);
	list_init(&j->worker->queue.fifo);
	list_init(&j->worker->wheel.due);
	return j;
}

bool background_run(void (*work)(void *ctx), void (*done)(void *ctx), void *ctx)
{
	struct job *j = job_new();
	bool started;

	if (!j)
		return false;
	j->message.run = job_done;
	j->home = thread_id;
	j->work = work;
	j->done = done;
	j->ctx = ctx;
	/* under the lock, so that the work's end finds it linked and its thread known */
	pthread_mutex_lock(&jobs_lock);
	started = spawn_thread(&j->thread, job_main, j);
	if (started) {
		j->next = jobs;
		jobs = j;
	}
	pthread_mutex_unlock(&jobs_lock);
	if (!started)
		job_free(j);
	return started;
}

void background_fini(void)
{
	while (jobs) {
		struct job *j = jobs;

		pthread_join(j->thread, NULL);
		jobs = j->next;
		job_free(j);
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thread_state.c - the threads' structs and their layout in groups: what all files of core need */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/thread.h"
#include "worker_priv.h"

static struct worker worker_first = {
	.wake_fd = -1,
	.hooks = LIST_HEAD(worker_first.hooks),
	.last_hooks = LIST_HEAD(worker_first.last_hooks),
	.queue.fifo = LIST_HEAD(worker_first.queue.fifo),
	.wheel.due = LIST_HEAD(worker_first.wheel.due),
};

__thread unsigned thread_id;
__thread unsigned thread_group;
__thread bool thread_group_is_single = true;
__thread struct worker *worker_self = &worker_first;
__thread struct activity *activity_self = &worker_first.activity;

#ifdef DEBUG_STRICT
#define LINES_MAX 32
/* Those that this thread's request has written. */
static __thread struct { uintptr_t all[LINES_MAX]; unsigned count; } lines;

void shared_lines_begin(void)
{
	lines.count = 0;
}

void shared_line(const void *at)
{
	uintptr_t line = (uintptr_t)at / 64;

	for (unsigned i = 0; i < lines.count; i++)
		if (lines.all[i] == line)
			return;
	if (lines.count < LINES_MAX)
		lines.all[lines.count++] = line;
	activity_add(ACTIVITY_shared_lines, 1);
}
#endif
struct worker *worker_table[THREADS_MAX] = { &worker_first };

static unsigned count_threads = 1;
static unsigned count_groups = 1;
static unsigned group_first[GROUPS_MAX];
static unsigned group_size[GROUPS_MAX] = { 1 };

/* --- layout ---------------------------------------------------------------------------------- */

unsigned thread_count(void)
{
	return count_threads;
}

unsigned thread_group_count(void)
{
	return count_groups;
}

unsigned thread_group_first(unsigned g)
{
	return group_first[g];
}

unsigned thread_group_size(unsigned g)
{
	return group_size[g];
}

unsigned thread_group_of(unsigned thread)
{
	return worker_table[thread]->group;
}

static struct worker *worker_new(void)
{
	struct worker *w = aligned_alloc(CACHE_LINE, sizeof(*w));

	if (!w)
		return NULL;
	memset(w, 0, sizeof(*w));
	w->wake_fd = -1;
	list_init(&w->hooks);
	list_init(&w->last_hooks);
	list_init(&w->queue.fifo);
	list_init(&w->wheel.due);
	return w;
}

bool thread_layout_sizes(const unsigned *sizes, unsigned groups)
{
	unsigned id = 0;

	if (groups < 1 || groups > GROUPS_MAX)
		return false;
	for (unsigned g = 0; g < groups; g++) {
		if (sizes[g] < 1 || sizes[g] > THREADS_MAX - id)
			return false;
		group_first[g] = id;
		group_size[g] = sizes[g];
		for (unsigned i = 0; i < sizes[g]; i++, id++) {
			if (!worker_table[id])
				worker_table[id] = worker_new();
			if (!worker_table[id])
				return false;
			worker_table[id]->id = id;
			worker_table[id]->group = g;
		}
	}
	count_threads = id;
	count_groups = groups;
	thread_group_is_single = group_size[0] == 1;
	return true;
}

bool thread_layout(unsigned threads, unsigned groups)
{
	unsigned sizes[GROUPS_MAX];

	if (groups < 1 || groups > GROUPS_MAX || threads < groups || threads > THREADS_MAX)
		return false;
	for (unsigned g = 0; g < groups; g++)
		sizes[g] = threads / groups + (g < threads % groups);
	return thread_layout_sizes(sizes, groups);
}

/* --- for all files --------------------------------------------------------------------------- */

void turn_hook_add(struct turn_hook *h)
{
	if (!list_is_linked(&h->link))
		list_append(&worker_self->hooks, &h->link);
}

void turn_hook_add_last(struct turn_hook *h)
{
	if (!list_is_linked(&h->link))
		list_append(&worker_self->last_hooks, &h->link);
}

void worker_wake(struct worker *w)
{
	static const uint64_t one = 1;
	int saved = errno;

	if (w->wake_fd >= 0 && write(w->wake_fd, &one, sizeof(one)) < 0)
		errno = saved; /* EAGAIN: the wake-up is pending since long */
}

/* --- activity -------------------------------------------------------------------------------- */

uint64_t activity_read(unsigned thread, enum activity_counter c)
{
	return __atomic_load_n(&worker_table[thread]->activity.counter[c], __ATOMIC_RELAXED);
}

unsigned activity_idle_percent(void)
{
	return (unsigned)activity_self->idle_percent;
}

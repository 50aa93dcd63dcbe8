/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_fill.c - one request for many: a stream waits for an object that another fetches
 *
 * A fill is in the tree from the first miss until its answer is stored, or is known not to be
 * stored: then it stays for a while, so that requests for such answers do not queue up one after
 * another. A waiter is counted by its stream and by the message that wakes it, which is sent to its
 * thread.
 */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "core/lock.h"
#include "core/mailbox.h"
#include "core/thread.h"
#include "core/timer.h"
#include "stream/wait.h"
#include "cache_priv.h"

/* What is not kept is not waited for so long. */
#define PASS_MS 10000
/* So many of them are remembered. */
#define PASSES_MAX 4096

struct cache_fills {
	unsigned lock;
	struct tree tree;          /* of struct cache_fill, by hash */
	struct list passes;        /* those without waiters, oldest first */
	unsigned pass_count;
};

struct cache_fill {
	struct tree_node node;
	struct cache_fills *all;
	struct list at;            /* among passes */
	uint64_t pass_until_ms;    /* 0: a stream fetches it */
	struct list waiters;
	size_t key_len;
	char key[];
};

struct cache_waiter {
	struct stream_wait wait;
	struct message message;    /* posted once, by the thread that takes it out of the list */
	struct timer timer;
	struct list at;            /* among the fill's, or in no list */
	struct cache_fills *all;
	struct cache_waiter **owner; /* where the stream has it: NULL when that has ended */
	unsigned thread;
	bool is_late;
	/* under the lock: */
	bool is_called;            /* its message is on its way, and frees it if the stream left */
	bool is_left;
};

struct cache_fills *cache_fills_new(void)
{
	struct cache_fills *all = calloc(1, sizeof(*all));

	if (all)
		list_init(&all->passes);
	return all;
}

static struct cache_fill *fill_of(struct tree_node *n)
{
	return container_of(n, struct cache_fill, node);
}

/* Under the lock. */
static void fill_forget(struct cache_fill *f)
{
	tree_remove(&f->all->tree, &f->node);
	if (list_is_linked(&f->at)) {
		list_remove(&f->at);
		f->all->pass_count--;
	}
	free(f);
}

void cache_fills_free(struct cache_fills *all)
{
	while (all && all->tree.root)
		fill_forget(fill_of(tree_first(&all->tree)));
	free(all);
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* The fill is over: on the thread of the waiter. */
static void waiter_called(struct message *m)
{
	struct cache_waiter *w = container_of(m, struct cache_waiter, message);

	if (w->is_left) /* only this thread sets it */
		free(w);
	else
		stream_wake(&w->wait);
}

/* Takes it out of the list, unless its message is on its way. */
static bool waiter_take_out(struct cache_waiter *w)
{
	bool was_in;

	lock_take(&w->all->lock);
	was_in = !w->is_called;
	if (was_in) {
		list_remove(&w->at);
		w->is_called = true; /* it is in no list, and no message will come */
	}
	lock_drop(&w->all->lock);
	return was_in;
}

static void waiter_late(struct timer *t)
{
	struct cache_waiter *w = container_of(t, struct cache_waiter, timer);

	if (!waiter_take_out(w))
		return; /* it comes immediately */
	w->is_late = true;
	stream_wake(&w->wait);
}

/* The stream ends while it waits. */
static void waiter_cancel(struct stream_wait *wait)
{
	struct cache_waiter *w = container_of(wait, struct cache_waiter, wait);

	timer_cancel(&w->timer);
	*w->owner = NULL;
	w->is_left = true;
	if (waiter_take_out(w))
		free(w);
}

static const struct stream_wait_kind waiting = { .name = "cache", .cancel = waiter_cancel };

bool cache_waiter_is_over(const struct cache_waiter *w)
{
	return stream_wait_is_over(&w->wait);
}

bool cache_waiter_is_late(const struct cache_waiter *w)
{
	return w->is_late;
}

void cache_waiter_free(struct cache_waiter *w)
{
	timer_cancel(&w->timer);
	free(w);
}

/* Under the lock. */
static struct cache_waiter *waiter_new(struct cache_fill *f)
{
	struct cache_waiter *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->all = f->all;
	w->thread = thread_id;
	w->message.run = waiter_called;
	timer_init(&w->timer, waiter_late);
	list_append(&f->waiters, &w->at);
	return w;
}

/* --- fills ------------------------------------------------------------------------------------ */

/* Under the lock. One that was not kept lately, and could be now, is forgotten. */
static struct cache_fill *fill_find(struct cache_fills *all, struct slice key, uint64_t hash)
{
	struct tree_node *n = tree_find(&all->tree, hash);
	struct cache_fill *f = NULL;

	for (; n && n->key == hash; n = tree_next(n)) {
		f = fill_of(n);
		if (slice_eq(slice_make(f->key, f->key_len), key))
			break;
		f = NULL;
	}
	if (f && f->pass_until_ms && f->pass_until_ms <= clock_now_ms()) {
		fill_forget(f);
		return NULL;
	}
	return f;
}

/* Under the lock. */
static struct cache_fill *fill_new(struct cache_fills *all, struct slice key, uint64_t hash)
{
	struct cache_fill *f = calloc(1, sizeof(*f) + key.len);

	if (!f)
		return NULL;
	f->all = all;
	f->key_len = key.len;
	memcpy(f->key, key.ptr, key.len);
	list_init(&f->at);
	list_init(&f->waiters);
	tree_insert(&all->tree, &f->node, hash);
	return f;
}

enum cache_join cache_fill_join(struct cache_fills *all, struct stream *s, struct slice key,
				uint64_t hash, int64_t wait_ms, struct cache_fill **fill,
				struct cache_waiter **waiter)
{
	struct cache_fill *f;

	*fill = NULL;
	*waiter = NULL;
	lock_take(&all->lock);
	f = fill_find(all, key, hash);
	if (!f)
		*fill = fill_new(all, key, hash);
	else if (!f->pass_until_ms)
		*waiter = waiter_new(f);
	/* before another thread can call it: messages run on this one, later */
	lock_drop(&all->lock);
	if (*waiter) {
		(*waiter)->owner = waiter;
		stream_wait_begin(s, &(*waiter)->wait, &waiting);
		timer_set(&(*waiter)->timer, clock_now_ms() + (uint64_t)wait_ms);
		return CACHE_JOINED;
	}
	return *fill ? CACHE_LEADS : CACHE_PASSES;
}

/* Under the lock. */
static void fill_pass(struct cache_fill *f)
{
	struct cache_fills *all = f->all;

	f->pass_until_ms = clock_now_ms() + PASS_MS;
	list_append(&all->passes, &f->at);
	if (++all->pass_count > PASSES_MAX)
		fill_forget(list_first(&all->passes, struct cache_fill, at));
}

void cache_fill_end(struct cache_fill *f, enum cache_fill_result r)
{
	struct cache_fills *all = f->all;
	struct list called;

	list_init(&called);
	lock_take(&all->lock);
	while (!list_is_empty(&f->waiters)) {
		struct cache_waiter *w = list_first(&f->waiters, struct cache_waiter, at);

		list_remove(&w->at);
		list_append(&called, &w->at);
		w->is_called = true;
	}
	if (r == CACHE_NOT_KEPT)
		fill_pass(f);
	else
		fill_forget(f);
	lock_drop(&all->lock);
	while (!list_is_empty(&called)) {
		struct cache_waiter *w = list_first(&called, struct cache_waiter, at);

		list_remove(&w->at);
		mailbox_post(w->thread, &w->message); /* from now on it may be gone */
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fd.c - registering descriptors */
#include <errno.h>
#include <stddef.h>
#include <unistd.h>
#include "base/bug.h"
#include "core/activity.h"
#include "core/fd.h"
#include "core/thread.h"
#include "poller_priv.h"
#include "worker_priv.h"

static int fd_total; /* atomic */
static int fd_used;  /* atomic: the highest descriptor so far, and one */

int fd_table_used(void)
{
	return __atomic_load_n(&fd_used, __ATOMIC_ACQUIRE);
}

static void fd_note_used(int fd)
{
	int used = __atomic_load_n(&fd_used, __ATOMIC_RELAXED);

	while (unlikely(fd >= used))
		if (__atomic_compare_exchange_n(&fd_used, &used, fd + 1, true, __ATOMIC_RELEASE,
						__ATOMIC_RELAXED))
			break;
}

/* Is there an entry for <fd>, and a poller for this thread? False: errno. */
static bool fd_is_possible(int fd)
{
	if (unlikely(!fd_table) && !fd_init(0)) {
		errno = ENOMEM;
		return false;
	}
	if (fd < 0 || fd >= fd_table_size) {
		errno = EMFILE;
		return false;
	}
	fd_note_used(fd);
	return likely(worker_self->poll != NULL) || poller_thread_init(worker_self);
}

bool fd_add(int fd, fd_handler_fn *handler, void *owner, unsigned flags)
{
	struct fd_entry *e;

	if (!fd_is_possible(fd))
		return false;
	e = &fd_table[fd];
	/* The previous owner of this number closed it after it had written here. */
	(void)__atomic_load_n(&e->generation, __ATOMIC_ACQUIRE);
	BUG_ON(e->handler != NULL);
	e->owner = owner;
	e->interest = flags & FD_FL_IN_ONLY ? FD_IN : FD_IN | FD_OUT;
	/* dumps look at these from other threads */
	__atomic_store_n(&e->thread, (uint16_t)thread_id, __ATOMIC_RELAXED);
	__atomic_store_n(&e->flags, (uint8_t)flags, __ATOMIC_RELAXED);
	__atomic_store_n(&e->handler, handler, __ATOMIC_RELEASE);
	if (!poller_get()->add(worker_self, fd, false)) {
		__atomic_store_n(&e->handler, NULL, __ATOMIC_RELAXED);
		/* the number may be another thread's next, see above */
		__atomic_store_n(&e->generation, e->generation + 1, __ATOMIC_RELEASE);
		return false;
	}
	SHARED_WRITE(process);
	__atomic_fetch_add(&fd_total, 1, __ATOMIC_RELAXED);
	return true;
}

/* Forgets <fd>: events already fetched will not match the new generation. <thread> stays: a dump
 * that has just seen the handler must not take the descriptor for one of its own thread.
 */
static void fd_forget(struct fd_entry *e)
{
	__atomic_store_n(&e->handler, NULL, __ATOMIC_RELAXED);
	e->owner = NULL;
	__atomic_store_n(&e->generation, e->generation + 1, __ATOMIC_RELEASE);
	SHARED_WRITE(process);
	__atomic_fetch_sub(&fd_total, 1, __ATOMIC_RELAXED);
}

void fd_close(int fd)
{
	struct fd_entry *e = &fd_table[fd];

	BUG_ON(e->handler == NULL || e->thread != thread_id || (e->flags & FD_FL_LISTENER));
	poller_get()->remove(worker_self, fd, true);
	fd_forget(e);
	close(fd);
}

void fd_remove(int fd)
{
	struct fd_entry *e = &fd_table[fd];

	BUG_ON(e->handler == NULL || e->thread != thread_id || (e->flags & FD_FL_LISTENER));
	poller_get()->remove(worker_self, fd, false);
	fd_forget(e);
}

/* One thread may leave a shared descriptor while another one comes: the last to leave and the first
 * to come must not mix their writes. Seldom: at the start, and when sockets are paused.
 */
static unsigned shared_lock;

void fd_shared_lock(void)
{
	while (__atomic_exchange_n(&shared_lock, 1, __ATOMIC_ACQUIRE))
		;
}

void fd_shared_unlock(void)
{
	__atomic_store_n(&shared_lock, 0, __ATOMIC_RELEASE);
}

/* Under the lock; <thread> counts the users. */
static void shared_enter(struct fd_entry *e, fd_handler_fn *handler, void *owner)
{
	/* as in fd_add(): the number may have been another thread's */
	(void)__atomic_load_n(&e->generation, __ATOMIC_ACQUIRE);
	BUG_ON(e->handler && e->handler != handler);
	if (!e->handler) {
		__atomic_store_n(&e->thread, 0, __ATOMIC_RELAXED);
		e->owner = owner;
		__atomic_store_n(&e->flags, FD_FL_LISTENER, __ATOMIC_RELAXED);
		__atomic_store_n(&e->handler, handler, __ATOMIC_RELEASE);
		__atomic_fetch_add(&fd_total, 1, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&e->thread, e->thread + 1, __ATOMIC_RELAXED);
}

static void shared_leave(struct fd_entry *e)
{
	BUG_ON(!(e->flags & FD_FL_LISTENER));
	if (e->thread > 1) {
		__atomic_store_n(&e->thread, e->thread - 1, __ATOMIC_RELAXED);
		return;
	}
	__atomic_store_n(&e->flags, 0, __ATOMIC_RELAXED);
	fd_forget(e);
}

bool fd_add_shared(int fd, fd_handler_fn *handler, void *owner)
{
	bool good;

	if (!fd_is_possible(fd))
		return false;
	fd_shared_lock();
	shared_enter(&fd_table[fd], handler, owner);
	good = poller_get()->add(worker_self, fd, true);
	if (!good)
		shared_leave(&fd_table[fd]);
	fd_shared_unlock();
	return good;
}

void fd_remove_shared(int fd)
{
	fd_shared_lock();
	poller_get()->remove(worker_self, fd, false);
	shared_leave(&fd_table[fd]);
	fd_shared_unlock();
}

int fd_count(void)
{
	return __atomic_load_n(&fd_total, __ATOMIC_RELAXED);
}

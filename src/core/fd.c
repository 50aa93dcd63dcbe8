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
	return likely(worker_self->poll != NULL) || poller_thread_init(worker_self);
}

bool fd_add(int fd, fd_handler_fn *handler, void *owner, unsigned flags)
{
	struct fd_entry *e;

	if (!fd_is_possible(fd))
		return false;
	e = &fd_table[fd];
	/* Who had this number before closed it after he had written here. */
	(void)__atomic_load_n(&e->generation, __ATOMIC_ACQUIRE);
	BUG_ON(e->handler != NULL);
	e->handler = handler;
	e->owner = owner;
	e->thread = (uint16_t)thread_id;
	e->interest = FD_IN | FD_OUT;
	e->flags = (uint8_t)flags;
	if (!poller_get()->add(worker_self, fd, false)) {
		e->handler = NULL;
		e->thread = 0;
		return false;
	}
	SHARED_WRITE(process);
	__atomic_fetch_add(&fd_total, 1, __ATOMIC_RELAXED);
	return true;
}

/* Forgets <fd>: events already fetched will not match the new generation. */
static void fd_forget(struct fd_entry *e)
{
	e->handler = NULL;
	e->owner = NULL;
	e->thread = 0; /* a shared descriptor counts its users there */
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

/* Several threads write the same values; <interest> counts nothing here, <thread> counts users. */
bool fd_add_shared(int fd, fd_handler_fn *handler, void *owner)
{
	struct fd_entry *e;
	fd_handler_fn *none = NULL;

	if (!fd_is_possible(fd))
		return false;
	e = &fd_table[fd];
	if (__atomic_fetch_add(&e->thread, 1, __ATOMIC_ACQ_REL) == 0)
		__atomic_fetch_add(&fd_total, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&e->flags, FD_FL_LISTENER, __ATOMIC_RELAXED);
	__atomic_store_n(&e->owner, owner, __ATOMIC_RELEASE);
	__atomic_compare_exchange_n(&e->handler, &none, handler, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_ACQUIRE);
	BUG_ON(none != NULL && none != handler);
	if (poller_get()->add(worker_self, fd, true))
		return true;
	if (__atomic_sub_fetch(&e->thread, 1, __ATOMIC_ACQ_REL) == 0)
		fd_forget(e);
	return false;
}

void fd_remove_shared(int fd)
{
	struct fd_entry *e = &fd_table[fd];

	BUG_ON(!(__atomic_load_n(&e->flags, __ATOMIC_RELAXED) & FD_FL_LISTENER));
	poller_get()->remove(worker_self, fd, false);
	if (__atomic_sub_fetch(&e->thread, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	__atomic_store_n(&e->flags, 0, __ATOMIC_RELAXED);
	fd_forget(e);
}

int fd_count(void)
{
	return __atomic_load_n(&fd_total, __ATOMIC_RELAXED);
}

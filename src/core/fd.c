/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fd.c - the table of descriptors, and the choice of a poller */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/bug.h"
#include "core/fd.h"
#include "core/thread.h"
#include "poller_priv.h"
#include "profile_priv.h"
#include "worker_priv.h"

#define FD_SIZE_MAX (1 << 26) /* more than any kernel allows by default */

struct fd_entry *fd_table;
int fd_table_size;
int poller_max_events = 200;
unsigned poller_epoll_mask;

static int fd_total; /* atomic */

static const struct poller *const pollers[] = { &poller_epoll, &poller_poll, &poller_select };
static bool poller_is_disabled[ARRAY_LEN(pollers)];
static const struct poller *poller_used;

/* --- the table ------------------------------------------------------------------------------- */

bool fd_init(int size)
{
	struct rlimit limit;
	void *area;

	BUG_ON(fd_table != NULL);
	if (size <= 0) {
		size = 1 << 20;
		if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < (rlim_t)size)
			size = (int)limit.rlim_cur;
	}
	if (size > FD_SIZE_MAX)
		size = FD_SIZE_MAX;
	/* Pages that no descriptor touches cost nothing. */
	area = mmap(NULL, (size_t)size * sizeof(*fd_table), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED)
		return false;
	fd_table = area;
	fd_table_size = size;
	return true;
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
	return likely(worker_self->poll != NULL) || poller_thread_init(worker_self);
}

bool fd_add(int fd, fd_handler_fn *handler, void *owner, unsigned flags)
{
	struct fd_entry *e;

	if (!fd_is_possible(fd))
		return false;
	e = &fd_table[fd];
	BUG_ON(e->handler != NULL);
	e->handler = handler;
	e->owner = owner;
	e->thread = (uint16_t)thread_id;
	e->interest = FD_IN | FD_OUT;
	e->flags = (uint8_t)flags;
	if (!poller_used->add(worker_self, fd, false)) {
		e->handler = NULL;
		return false;
	}
	__atomic_fetch_add(&fd_total, 1, __ATOMIC_RELAXED);
	return true;
}

/* Forgets <fd>: events already fetched will not match the new generation. */
static void fd_forget(struct fd_entry *e)
{
	e->handler = NULL;
	e->owner = NULL;
	__atomic_store_n(&e->generation, e->generation + 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&fd_total, 1, __ATOMIC_RELAXED);
}

void fd_close(int fd)
{
	struct fd_entry *e = &fd_table[fd];

	BUG_ON(e->handler == NULL || e->thread != thread_id || (e->flags & FD_FL_LISTENER));
	poller_used->remove(worker_self, fd, true);
	fd_forget(e);
	close(fd);
}

void fd_remove(int fd)
{
	struct fd_entry *e = &fd_table[fd];

	BUG_ON(e->handler == NULL || e->thread != thread_id || (e->flags & FD_FL_LISTENER));
	poller_used->remove(worker_self, fd, false);
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
	if (poller_used->add(worker_self, fd, true))
		return true;
	if (__atomic_sub_fetch(&e->thread, 1, __ATOMIC_ACQ_REL) == 0)
		fd_forget(e);
	return false;
}

void fd_remove_shared(int fd)
{
	struct fd_entry *e = &fd_table[fd];

	BUG_ON(!(__atomic_load_n(&e->flags, __ATOMIC_RELAXED) & FD_FL_LISTENER));
	poller_used->remove(worker_self, fd, false);
	if (__atomic_sub_fetch(&e->thread, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	__atomic_store_n(&e->flags, 0, __ATOMIC_RELAXED);
	fd_forget(e);
}

int fd_count(void)
{
	return __atomic_load_n(&fd_total, __ATOMIC_RELAXED);
}

void fd_dispatch(int fd, unsigned events)
{
	struct fd_entry *e = &fd_table[fd];
	fd_handler_fn *handler = __atomic_load_n(&e->handler, __ATOMIC_ACQUIRE);

	if (unlikely(!handler)) {
		activity_add(ACTIVITY_poll_drop_fd, 1);
		return;
	}
	if (unlikely(profile_is_on))
		profile_run_fd(fd, events);
	else
		handler(e->owner, fd, events);
}

/* --- the poller ------------------------------------------------------------------------------ */

bool fd_poller_disable(const char *name)
{
	for (unsigned i = 0; i < ARRAY_LEN(pollers); i++) {
		if (strcmp(pollers[i]->name, name) == 0) {
			poller_is_disabled[i] = true;
			return true;
		}
	}
	return false;
}

const struct poller *poller_get(void)
{
	if (poller_used)
		return poller_used;
	for (unsigned i = 0; i < ARRAY_LEN(pollers); i++) {
		if (!poller_is_disabled[i] && pollers[i]->test())
			return poller_used = pollers[i];
	}
	return NULL;
}

const char *fd_poller_name(void)
{
	const struct poller *p = poller_get();

	return p ? p->name : NULL;
}

void fd_poller_dump(FILE *out)
{
	const struct poller *best = NULL;
	int usable = 0;

	fprintf(out, "Available polling systems :\n");
	for (unsigned i = 0; i < ARRAY_LEN(pollers); i++) {
		const struct poller *p = pollers[i];
		bool disabled = poller_is_disabled[i], works = !disabled && p->test();

		fprintf(out, " %10s : pref=%3d,  test result %s\n", p->name,
			disabled ? 0 : p->preference,
			disabled ? "disabled" : works ? "OK" : "FAILED");
		usable += works;
		if (works && !best)
			best = p;
	}
	if (best)
		fprintf(out, "Total: %d (%d usable), will use %s.\n",
			(int)ARRAY_LEN(pollers), usable, best->name);
	else
		fprintf(out, "Total: %d (%d usable), will use none.\n",
			(int)ARRAY_LEN(pollers), usable);
}

void fd_set_max_events(int events)
{
	poller_max_events = events > 0 ? events : 1;
}

void fd_set_epoll_mask(unsigned events)
{
	poller_epoll_mask = events;
}

/* The wake-up arrived. Edge-triggered pollers never need to empty it: each write is an edge. */
static void wake_fd_handler(void *owner, int fd, unsigned events)
{
	uint64_t count;

	if (poller_used->level) {
		while (read(fd, &count, sizeof(count)) > 0)
			;
		fd_cant_recv(fd);
	}
}

bool poller_thread_init(struct worker *w)
{
	if (w->poll)
		return true;
	if (!poller_get()) {
		errno = ENOSYS;
		return false;
	}
	if (!fd_table && !fd_init(0))
		return false;
	if (!poller_used->thread_init(w))
		return false;
	w->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (w->wake_fd >= 0 && fd_add(w->wake_fd, wake_fd_handler, w, 0))
		return true;
	if (w->wake_fd >= 0)
		close(w->wake_fd);
	w->wake_fd = -1;
	poller_used->thread_fini(w);
	return false;
}

void poller_thread_fini(struct worker *w)
{
	if (!w->poll)
		return;
	fd_close(w->wake_fd);
	w->wake_fd = -1;
	poller_used->thread_fini(w);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fd_table.c - the table of descriptors, and the call of their handlers */
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "base/bug.h"
#include "core/fd.h"
#include "poller_priv.h"
#include "profile_priv.h"
#include "worker_priv.h"

#define FD_SIZE_MAX (1 << 26) /* more than any kernel allows by default */

struct fd_entry *fd_table;
int fd_table_size;

static const struct fd_kind *fd_kinds;

void fd_kind_register(struct fd_kind *kind)
{
	kind->next = fd_kinds;
	/* threads that have begun look for theirs meanwhile */
	__atomic_store_n(&fd_kinds, kind, __ATOMIC_RELEASE);
}

const struct fd_kind *fd_kind_find(fd_handler_fn *handler)
{
	const struct fd_kind *k = __atomic_load_n(&fd_kinds, __ATOMIC_ACQUIRE);

	while (k && k->handler != handler)
		k = k->next;
	return k;
}

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

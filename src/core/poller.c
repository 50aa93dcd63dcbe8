/* SPDX-License-Identifier: GPL-2.0-or-later */
/* poller.c - the choice of a polling mechanism, and each thread's own */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "base/bug.h"
#include "core/fd.h"
#include "poller_priv.h"
#include "worker_priv.h"

int poller_max_events = 200;
unsigned poller_epoll_mask;

static const struct poller *const pollers[] = { &poller_epoll, &poller_poll, &poller_select };
static bool poller_is_disabled[ARRAY_LEN(pollers)];
static const struct poller *poller_used;

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

static struct fd_kind wake_fd_kind = {
	.handler = wake_fd_handler, .name = "wake_fd_handler", .letter = 'p',
};

bool poller_thread_init(struct worker *w)
{
	if (w->poll)
		return true;
	if (!fd_kind_find(wake_fd_handler))
		fd_kind_register(&wake_fd_kind); /* by the first thread, alone */
	if (!poller_get()) {
		errno = ENOSYS;
		return false;
	}
	if (!fd_table && !fd_init(0))
		return false;
	if (!poller_used->thread_init(w))
		return false;
	if (w->wake_fd < 0)
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
	/* it stays open: a thread that is no loop (it hashes a password) may be about to wake us */
	fd_remove(w->wake_fd);
	poller_used->thread_fini(w);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* poll_poll.c - poll(): its list is built each turn from the events wanted */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include "core/fd.h"
#include "fdset_priv.h"
#include "poller_priv.h"
#include "worker_priv.h"

#ifndef POLLRDHUP
#define POLLRDHUP 0x2000
#endif

struct poller_state {
	struct fdset set;
	struct pollfd *fds;
	uint32_t *generations; /* of fds[], when the list was made */
	int room, count;
};

static bool poll_test(void)
{
	return poll(NULL, 0, 0) == 0;
}

static bool poll_thread_init(struct worker *w)
{
	w->poll = calloc(1, sizeof(*w->poll));
	return w->poll != NULL;
}

static void poll_thread_fini(struct worker *w)
{
	free(w->poll->set.bits);
	free(w->poll->fds);
	free(w->poll->generations);
	free(w->poll);
	w->poll = NULL;
}

static bool poll_add(struct worker *w, int fd, bool shared)
{
	return fdset_add(&w->poll->set, fd);
}

static void poll_remove(struct worker *w, int fd, bool closing)
{
	fdset_remove(&w->poll->set, fd);
}

/* Room for one more; false: no memory, the rest is not polled this turn. */
static bool poll_grow(struct poller_state *st)
{
	int room = st->room * 2 + 64;
	struct pollfd *fds = realloc(st->fds, (size_t)room * sizeof(*fds));
	uint32_t *generations;

	if (!fds)
		return false;
	st->fds = fds;
	generations = realloc(st->generations, (size_t)room * sizeof(*generations));
	if (!generations)
		return false;
	st->generations = generations;
	st->room = room;
	return true;
}

static int poll_poll_wait(struct worker *w, int timeout_ms)
{
	struct poller_state *st = w->poll;

	st->count = 0;
	for (int fd = fdset_next(&st->set, 0); fd >= 0; fd = fdset_next(&st->set, fd + 1)) {
		unsigned interest = fdset_interest(fd);
		struct pollfd *p;

		if (!interest)
			continue;
		if (st->count == st->room && !poll_grow(st))
			break;
		p = &st->fds[st->count];
		st->generations[st->count++] = fd_table[fd].generation;
		p->fd = fd;
		p->events = (short)((interest & FD_IN ? POLLIN | POLLRDHUP : 0) |
				    (interest & FD_OUT ? POLLOUT : 0));
		p->revents = 0;
	}
	return poll(st->fds, (nfds_t)st->count, timeout_ms);
}

static void poll_dispatch(struct worker *w, int count)
{
	struct poller_state *st = w->poll;

	for (int i = 0; i < st->count && count > 0; i++) {
		struct pollfd *p = &st->fds[i];
		unsigned events = 0;

		if (!p->revents)
			continue;
		count--;
		if (p->revents & POLLIN)
			events |= FD_IN;
		if (p->revents & POLLOUT)
			events |= FD_OUT;
		if (p->revents & POLLRDHUP)
			events |= FD_IN | FD_RDHUP;
		if (p->revents & POLLHUP)
			events |= FD_IN | FD_OUT | FD_HUP;
		if (p->revents & (POLLERR | POLLNVAL))
			events |= FD_IN | FD_OUT | FD_ERR;
		if (fd_table[p->fd].generation != st->generations[i]) {
			activity_add(ACTIVITY_poll_drop_fd, 1);
			continue;
		}
		fdset_report(&st->set, p->fd, events);
	}
}

const struct poller poller_poll = {
	.name = "poll",
	.preference = 200,
	.level = true,
	.test = poll_test,
	.thread_init = poll_thread_init,
	.thread_fini = poll_thread_fini,
	.add = poll_add,
	.remove = poll_remove,
	.wait = poll_poll_wait,
	.dispatch = poll_dispatch,
};

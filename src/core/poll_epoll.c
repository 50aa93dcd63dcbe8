/* SPDX-License-Identifier: GPL-2.0-or-later */
/* poll_epoll.c - epoll: every descriptor is armed once, edge-triggered, for all events */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/place.h"
#include "core/fd.h"
#include "poller_priv.h"
#include "worker_priv.h"

struct poller_state {
	int epoll_fd;
	int at, count;               /* position in the batch that dispatch() works on */
	int room;                    /* of events[] */
	struct epoll_event events[];
};

static bool epoll_test(void)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static bool epoll_thread_init(struct worker *w)
{
	struct poller_state *st;

	st = calloc(1, sizeof(*st) + (size_t)poller_max_events * sizeof(st->events[0]));
	if (!st)
		return false;
	st->room = poller_max_events;
	st->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (st->epoll_fd < 0) {
		free(st);
		return false;
	}
	w->poll = st;
	return true;
}

static void epoll_thread_fini(struct worker *w)
{
	close(w->poll->epoll_fd);
	free(w->poll);
	w->poll = NULL;
}

static uint64_t epoll_cookie(int fd)
{
	uint32_t generation = __atomic_load_n(&fd_table[fd].generation, __ATOMIC_RELAXED);

	return (uint64_t)(uint32_t)fd | ((uint64_t)generation << 32);
}

static bool epoll_add(struct worker *w, int fd, bool shared)
{
	struct epoll_event ev = { .data.u64 = epoll_cookie(fd) };

	if (shared) {
		ev.events = EPOLLIN | EPOLLEXCLUSIVE;
	} else {
		ev.events = EPOLLIN | EPOLLET | (fd_table[fd].flags & FD_FL_IN_ONLY ? 0 : EPOLLOUT);
		if (!(poller_epoll_mask & FD_RDHUP))
			ev.events |= EPOLLRDHUP;
	}
	return epoll_ctl(w->poll->epoll_fd, EPOLL_CTL_ADD, fd, &ev) == 0;
}

static void epoll_remove(struct worker *w, int fd, bool closing)
{
	struct poller_state *st = w->poll;
	struct epoll_event ev;

	if (closing)
		return; /* close() does it: our descriptors are not shared with other processes */
	epoll_ctl(st->epoll_fd, EPOLL_CTL_DEL, fd, &ev);
	/* A shared descriptor keeps its generation: take it out of the batch. */
	for (int i = st->at; i < st->count; i++) {
		if ((int)(uint32_t)st->events[i].data.u64 == fd)
			st->events[i].events = 0;
	}
}

static int epoll_poll_wait(struct worker *w, int timeout_ms)
{
	struct poller_state *st = w->poll;

	return epoll_wait(st->epoll_fd, st->events, st->room, timeout_ms);
}

static void epoll_dispatch(struct worker *w, int count)
{
	struct poller_state *st = w->poll;

	st->count = count;
	for (st->at = 0; st->at < count;) {
		struct epoll_event *ev = &st->events[st->at++];
		uint64_t cookie = ev->data.u64;
		int fd = (int)(uint32_t)cookie;
		uint32_t bits = ev->events;
		unsigned events = 0;

		if (unlikely(!bits || epoll_cookie(fd) != cookie)) {
			activity_add(ACTIVITY_poll_drop_fd, 1);
			PLACE_COUNT(PLACE_CNT, "event of a closed descriptor");
			continue;
		}
		if (bits & EPOLLIN)
			events |= FD_IN;
		if (bits & EPOLLOUT)
			events |= FD_OUT;
		if (unlikely(bits & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))) {
			events |= FD_IN;
			if (bits & EPOLLRDHUP)
				events |= FD_RDHUP;
			if (bits & EPOLLHUP)
				events |= FD_HUP | FD_OUT;
			if (bits & EPOLLERR)
				events |= FD_ERR | FD_OUT;
			events &= ~poller_epoll_mask;
		}
		fd_dispatch(fd, events);
	}
	st->count = 0;
}

const struct poller poller_epoll = {
	.name = "epoll",
	.preference = 300,
	.test = epoll_test,
	.thread_init = epoll_thread_init,
	.thread_fini = epoll_thread_fini,
	.add = epoll_add,
	.remove = epoll_remove,
	.wait = epoll_poll_wait,
	.dispatch = epoll_dispatch,
};

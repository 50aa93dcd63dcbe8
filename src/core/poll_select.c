/* SPDX-License-Identifier: GPL-2.0-or-later */
/* poll_select.c - select(): for descriptors below FD_SETSIZE */
#include <errno.h>
#include <stdlib.h>
#include <sys/select.h>
#include "base/bug.h"
#include "core/fd.h"
#include "fdset_priv.h"
#include "poller_priv.h"
#include "worker_priv.h"

struct poller_state {
	struct fdset set;
	fd_set in, out;
	int end;                          /* highest descriptor polled, plus one */
	uint32_t generations[FD_SETSIZE]; /* when the sets were made */
};

static bool select_test(void)
{
	struct timeval none = { 0, 0 };

	return select(0, NULL, NULL, NULL, &none) == 0;
}

static bool select_thread_init(struct worker *w)
{
	w->poll = calloc(1, sizeof(*w->poll));
	return w->poll != NULL;
}

static void select_thread_fini(struct worker *w)
{
	free(w->poll->set.bits);
	free(w->poll);
	w->poll = NULL;
}

static bool select_add(struct worker *w, int fd, bool shared)
{
	if (fd >= FD_SETSIZE) {
		errno = EMFILE;
		return false;
	}
	return fdset_add(&w->poll->set, fd);
}

static void select_remove(struct worker *w, int fd, bool closing)
{
	fdset_remove(&w->poll->set, fd);
}

static int select_poll_wait(struct worker *w, int timeout_ms)
{
	struct poller_state *st = w->poll;
	struct timeval tv = { timeout_ms / 1000, timeout_ms % 1000 * 1000 };

	FD_ZERO(&st->in);
	FD_ZERO(&st->out);
	st->end = 0;
	for (int fd = fdset_next(&st->set, 0); fd >= 0; fd = fdset_next(&st->set, fd + 1)) {
		unsigned interest = fdset_interest(fd);

		if (!interest)
			continue;
		if (interest & FD_IN)
			FD_SET(fd, &st->in);
		if (interest & FD_OUT)
			FD_SET(fd, &st->out);
		st->generations[fd] = fd_table[fd].generation;
		st->end = fd + 1;
	}
	return select(st->end, &st->in, &st->out, NULL, timeout_ms < 0 ? NULL : &tv);
}

static void select_dispatch(struct worker *w, int count)
{
	struct poller_state *st = w->poll;

	for (int fd = 0; fd < st->end && count > 0; fd++) {
		unsigned events = 0;

		if (FD_ISSET(fd, &st->in))
			events |= FD_IN;
		if (FD_ISSET(fd, &st->out))
			events |= FD_OUT;
		if (!events)
			continue;
		count -= (events & FD_IN ? 1 : 0) + (events & FD_OUT ? 1 : 0);
		if (fd_table[fd].generation != st->generations[fd]) {
			activity_add(ACTIVITY_poll_drop_fd, 1);
			continue;
		}
		fdset_report(&st->set, fd, events);
	}
}

const struct poller poller_select = {
	.name = "select",
	.preference = 150,
	.level = true,
	.test = select_test,
	.thread_init = select_thread_init,
	.thread_fini = select_thread_fini,
	.add = select_add,
	.remove = select_remove,
	.wait = select_poll_wait,
	.dispatch = select_dispatch,
};

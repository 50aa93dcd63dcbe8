/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listener.c - accepting, and spreading connections over threads
 *
 * Each thread has a seat at each listener: whether it polls it, and the message by which others ask
 * it to check again what to do (poll or not, leave). The desired state is in the listener (paused,
 * closed); each thread applies it to its own poller.
 */
#include "net/listener.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/clock.h"
#include "core/activity.h"
#include "core/fd.h"
#include "core/mailbox.h"
#include "core/pool.h"
#include "core/thread.h"
#include "core/timer.h"
#include "net/net_init.h"
#include "net/socket.h"

#define RETRY_MS 100
/* As many as a backlog may hold: clients that come without end do not keep a listener that is to be
 * closed.
 */
#define EMPTY_MAX 65536

struct seat {
	struct message message; /* "look again" */
	struct listener *listener;
	struct timer timer;     /* resumes after a wait */
	unsigned posted;        /* atomic */
	bool polled;            /* this thread polls it */
	unsigned looks;         /* those of the listener that it has done */
	bool waiting;           /* this thread waits for its timer */
	bool started;
	bool left;              /* dropped its reference: the listener is closed */
	uint64_t turn;          /* of the loop, in which it last accepted */
	unsigned burst;         /* how many it tried then; 0: it emptied the backlog */
};

struct listener {
	int fd;
	unsigned max_accept;
	const struct listener_user *user;
	void *owner;
	unsigned paused, closed; /* atomic */
	unsigned looks;          /* atomic: how often it was asked for another look */
	bool drained;            /* empty its backlog before it is closed: set before <closed> */
	unsigned refs;           /* atomic: seats that have not left, messages, the owner */
	unsigned seat_count;
	struct seat seats[];
};

/* A connection on its way to another thread. */
struct handover {
	struct message message;
	struct listener *listener;
	int fd;
	struct addr src;
};

static bool listener_is_paused(const struct listener *l)
{
	return __atomic_load_n(&l->paused, __ATOMIC_RELAXED);
}

static struct pool *handover_pool;
static struct load {
	unsigned connections; /* atomic */
} __attribute__((aligned(64))) loads[THREADS_MAX];

static void listener_event(void *owner, int fd, unsigned events);

static void listener_describe(void *owner, int fd, struct strbuf *out)
{
	const struct listener *l = owner;

	strbuf_printf(out, " l.st=%s fe=%s", listener_is_paused(l) ? "PAU" : "RDY",
		      l->user->name(l->owner));
	socket_describe(fd, false, out);
}

static struct fd_kind listener_kind = {
	.handler = listener_event, .name = "listener_event", .letter = 'l',
	.describe = listener_describe,
};

bool listener_init(void)
{
	fd_kind_register(&listener_kind);
	handover_pool = pool_new("accept_queue", sizeof(struct handover));
	return handover_pool != NULL;
}

void listener_thread_load_add(int n)
{
	/* written by its thread alone, read by others: no need for a locked instruction */
	unsigned now = __atomic_load_n(&loads[thread_id].connections, __ATOMIC_RELAXED);

	__atomic_store_n(&loads[thread_id].connections, now + (unsigned)n, __ATOMIC_RELAXED);
}

static unsigned load_of(unsigned thread)
{
	return __atomic_load_n(&loads[thread].connections, __ATOMIC_RELAXED);
}

static struct addr peer_of(const struct sockaddr_storage *ss);

static unsigned draining; /* atomic: listeners that were not emptied yet */

/* Every thread has left: takes what came meanwhile. */
static void listener_empty(struct listener *l)
{
	unsigned wait_ms = 0, left = EMPTY_MAX;

	while (left-- && l->user->may_accept(l->owner, &wait_ms)) {
		struct sockaddr_storage ss = { .ss_family = AF_UNSPEC };
		socklen_t len = sizeof(ss);
		int fd = accept4(l->fd, (struct sockaddr *)&ss, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
		struct addr src;

		if (fd < 0) {
			l->user->give_back(l->owner);
			return;
		}
		src = peer_of(&ss);
		l->user->accept(l->owner, fd, &src);
	}
}

static void listener_release(struct listener *l)
{
	if (__atomic_sub_fetch(&l->refs, 1, __ATOMIC_ACQ_REL))
		return;
	if (l->drained) {
		if (!l->user->datagrams)
			listener_empty(l);
		__atomic_sub_fetch(&draining, 1, __ATOMIC_RELEASE);
	}
	close(l->fd);
	free(l);
}

unsigned listeners_draining(void)
{
	return __atomic_load_n(&draining, __ATOMIC_ACQUIRE);
}

/* As seat_apply(), for a socket of datagrams, which the user reads. */
static void seat_apply_datagrams(struct seat *s)
{
	struct listener *l = s->listener;
	bool closed = __atomic_load_n(&l->closed, __ATOMIC_ACQUIRE);

	if (s->started && !s->waiting && !s->left)
		l->user->datagrams(l->owner, l->fd, closed ? LISTENER_LEAVE
				   : listener_is_paused(l) ? LISTENER_HOLD : LISTENER_READ);
	if (!closed || s->left)
		return;
	s->left = true;
	listener_release(l);
}

/* Applies the listener's state to this thread's poller; for another look, it is added anew: pollers
 * tell of what waits already.
 */
static void seat_apply(struct seat *s)
{
	struct listener *l = s->listener;
	bool closed = __atomic_load_n(&l->closed, __ATOMIC_ACQUIRE);
	unsigned looks = __atomic_load_n(&l->looks, __ATOMIC_ACQUIRE);
	bool want = s->started && !closed && !s->waiting &&
		    !__atomic_load_n(&l->paused, __ATOMIC_ACQUIRE);

	if (l->user->datagrams) {
		seat_apply_datagrams(s);
		return;
	}
	if (s->polled && (!want || s->looks != looks)) {
		fd_remove_shared(l->fd);
		s->polled = false;
	}
	s->looks = looks;
	if (want && !s->polled)
		s->polled = fd_add_shared(l->fd, listener_event, l);
	if (!closed || s->left)
		return;
	s->left = true;
	timer_cancel(&s->timer);
	listener_release(l);
}

static void seat_message(struct message *m)
{
	struct seat *s = container_of(m, struct seat, message);
	struct listener *l = s->listener;

	/* an exchange, not a store: the state must not be read before */
	__atomic_exchange_n(&s->posted, 0, __ATOMIC_SEQ_CST);
	seat_apply(s);
	listener_release(l);
}

static void seat_timer(struct timer *t)
{
	struct seat *s = container_of(t, struct seat, timer);

	s->waiting = false;
	seat_apply(s);
}

/* Tells every thread to look again. */
static void listener_tell(struct listener *l)
{
	unsigned count = l->seat_count;

	for (unsigned i = 0; i < count; i++) {
		struct seat *s = &l->seats[i];

		if (__atomic_exchange_n(&s->posted, 1, __ATOMIC_SEQ_CST))
			continue;
		__atomic_fetch_add(&l->refs, 1, __ATOMIC_RELAXED); /* the message's */
		mailbox_post(i, &s->message);
	}
}

static void seat_wait(struct seat *s, unsigned ms)
{
	s->waiting = true;
	timer_set(&s->timer, clock_now_ms() + ms);
	seat_apply(s);
}

/* The thread for a new connection: this one, unless another of its group has clearly fewer. */
static unsigned choose_thread(const struct listener *l)
{
	unsigned first = thread_group_first(thread_group), n = thread_group_size(thread_group);
	unsigned best = thread_id;

	if (n == 1)
		return best;
	for (unsigned i = first; i < first + n; i++)
		if (load_of(i) + 1 < load_of(best) && l->user->uses_thread(l->owner, i))
			best = i;
	return best;
}

static void handover_arrives(struct message *m)
{
	struct handover *h = container_of(m, struct handover, message);
	struct listener *l = h->listener;

	l->user->accept(l->owner, h->fd, &h->src);
	pool_free(handover_pool, h);
	listener_release(l);
}

static void deliver(struct listener *l, int fd, const struct addr *src)
{
	unsigned thread = choose_thread(l);
	struct handover *h = thread == thread_id ? NULL : pool_alloc(handover_pool);

	if (!h) {
		l->user->accept(l->owner, fd, src);
		return;
	}
	__atomic_fetch_add(&l->refs, 1, __ATOMIC_RELAXED);
	*h = (struct handover){
		.message.run = handover_arrives, .listener = l, .fd = fd, .src = *src,
	};
	mailbox_post(thread, &h->message);
}

static struct addr peer_of(const struct sockaddr_storage *ss)
{
	struct addr a = { .family = ADDR_UNIX };

	if (ss->ss_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)ss;

		return addr_from_v4(&in->sin_addr, ntohs(in->sin_port));
	}
	if (ss->ss_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)ss;

		a = addr_from_v6(&in6->sin6_addr, ntohs(in6->sin6_port));
		a.scope = in6->sin6_scope_id;
	}
	return a;
}

/* Waits until the owner resumes it. The owner may have done so between its answer and our pause:
 * ask again.
 */
static void listener_wait(struct listener *l)
{
	unsigned wait_ms = 0;

	listener_pause(l);
	if (l->user->may_accept(l->owner, &wait_ms))
		l->user->give_back(l->owner);
	else if (!wait_ms)
		return;
	listener_resume(l);
}

/* How many to accept now. Where connections come one by one a second accept4() would find nothing;
 * twice as many as in the turn before when that left some: the poller says so immediately.
 */
static unsigned seat_burst(struct seat *s)
{
	uint64_t turn = activity_read(thread_id, ACTIVITY_loops);
	unsigned max = s->listener->max_accept;

	if (turn != s->turn + 1 || !s->burst)
		s->burst = 1;
	else
		s->burst = s->burst > max / 2 ? max : 2 * s->burst;
	s->turn = turn;
	return s->burst;
}

static void listener_event(void *owner, int fd, unsigned events)
{
	struct listener *l = owner;
	struct seat *s = &l->seats[thread_id];
	struct sockaddr_storage ss;
	struct addr src;
	unsigned wait_ms;
	socklen_t len;

	for (unsigned burst = seat_burst(s); burst > 0; burst--) {
		int client;

		if (__atomic_load_n(&l->paused, __ATOMIC_RELAXED) ||
		    __atomic_load_n(&l->closed, __ATOMIC_RELAXED)) {
			seat_apply(s);
			return;
		}
		wait_ms = 0;
		if (!l->user->may_accept(l->owner, &wait_ms)) {
			if (wait_ms)
				seat_wait(s, wait_ms);
			else
				listener_wait(l);
			return;
		}
		len = sizeof(ss);
		ss.ss_family = AF_UNSPEC;
		client = accept4(fd, (struct sockaddr *)&ss, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (client < 0) {
			int error = errno;

			l->user->give_back(l->owner);
			s->burst = 0;
			if (error == EMFILE || error == ENFILE || error == ENOBUFS ||
			    error == ENOMEM)
				seat_wait(s, RETRY_MS);
			return;
		}
		src = peer_of(&ss);
		deliver(l, client, &src);
	}
}

struct listener *listener_new(int fd, const struct listener_user *user, void *owner,
			      unsigned max_accept)
{
	unsigned n = thread_count();
	struct listener *l = calloc(1, sizeof(*l) + n * sizeof(l->seats[0]));

	if (!l)
		return NULL;
	/* an inherited one may be blocking: the last accept() of a round would sleep */
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	l->fd = fd;
	l->user = user;
	l->owner = owner;
	l->max_accept = max_accept;
	l->seat_count = n;
	l->refs = n + 1;
	for (unsigned i = 0; i < n; i++) {
		l->seats[i].listener = l;
		l->seats[i].message.run = seat_message;
		timer_init(&l->seats[i].timer, seat_timer);
	}
	return l;
}

void listener_start_thread(struct listener *l)
{
	struct seat *s = &l->seats[thread_id];

	s->started = true;
	s->waiting = !l->user->uses_thread(l->owner, thread_id); /* for ever */
	seat_apply(s);
}

void listener_pause(struct listener *l)
{
	if (!__atomic_exchange_n(&l->paused, 1, __ATOMIC_ACQ_REL))
		listener_tell(l);
}

void listener_resume(struct listener *l)
{
	if (__atomic_exchange_n(&l->paused, 0, __ATOMIC_ACQ_REL))
		listener_tell(l);
}

void listener_look_again(struct listener *l)
{
	__atomic_add_fetch(&l->looks, 1, __ATOMIC_RELEASE);
	listener_tell(l);
}

void listener_close(struct listener **pl)
{
	struct listener *l = *pl;

	*pl = NULL;
	if (!l)
		return;
	__atomic_store_n(&l->closed, 1, __ATOMIC_RELEASE);
	listener_tell(l);
	listener_release(l);
}

void listener_drain(struct listener **pl)
{
	if (*pl) {
		(*pl)->drained = true;
		__atomic_add_fetch(&draining, 1, __ATOMIC_RELAXED);
	}
	listener_close(pl);
}

int listener_fd(const struct listener *l)
{
	return l->fd;
}

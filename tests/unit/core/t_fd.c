/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_fd.c - shared listeners, stale events, errors, handing a descriptor over */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/module.h"
#include "core/fd.h"
#include "core/mailbox.h"
#include "core/task.h"
#include "core/thread.h"
#include "tap.h"

#define THREADS 3
#define CLIENTS 60

static int listener;
static struct sockaddr_un address;
static socklen_t address_len;
static unsigned accepted, closed, stale, given;
static int pairs[2][2];

static void maybe_stop(void)
{
	if (__atomic_load_n(&closed, __ATOMIC_SEQ_CST) == CLIENTS &&
	    __atomic_load_n(&given, __ATOMIC_SEQ_CST))
		thread_stop_all();
}

static void on_client(void *owner, int fd, unsigned events)
{
	char c;
	ssize_t got = recv(fd, &c, 1, 0);

	if (got > 0)
		got = recv(fd, &c, 1, 0);
	if (got < 0 && errno == EAGAIN) {
		fd_cant_recv(fd);
		return;
	}
	fd_close(fd);
	__atomic_fetch_add(&closed, 1, __ATOMIC_SEQ_CST);
	maybe_stop();
}

static void on_listener(void *owner, int fd, unsigned events)
{
	int client;

	while ((client = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		__atomic_fetch_add(&accepted, 1, __ATOMIC_RELAXED);
		if (!fd_add(client, on_client, NULL, 0))
			close(client);
	}
}

/* Both ends are readable at the same time: the handler that comes first closes the other, whose
 * event, which was fetched already, must not be delivered.
 */
static void on_rival(void *owner, int fd, unsigned events)
{
	int *pair = owner;
	int other = fd == pair[0] ? pair[1] : pair[0];

	stale += fd != pair[0] && fd != pair[1];
	if (other < 0 || !(events & FD_IN))
		return;
	fd_close(other);
	if (other == pair[0])
		pair[0] = -1;
	else
		pair[1] = -1;
	if (dup2(fd, other) == other) /* the number is used again immediately */
		close(other);
}

/* Thread 0 gives its end to thread 1, which reads what was written before. */
struct parcel {
	struct message message;
	int fd;
};

static void on_given(void *owner, int fd, unsigned events)
{
	char c;

	if (recv(fd, &c, 1, 0) == 1 && c == 'g' && thread_id == 1) {
		fd_close(fd);
		__atomic_store_n(&given, 1, __ATOMIC_SEQ_CST);
		maybe_stop();
	}
}

static void on_parcel(struct message *m)
{
	struct parcel *p = (struct parcel *)m;

	if (!fd_add(p->fd, on_given, NULL, 0))
		close(p->fd);
	free(p);
}

static void connect_clients(struct task *t, void *ctx, unsigned why)
{
	struct parcel *p = calloc(1, sizeof(*p));

	for (int i = 0; i < CLIENTS; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (connect(fd, (struct sockaddr *)&address, address_len) == 0 &&
		    send(fd, "x", 1, 0) != 1)
			perror("send");
		close(fd);
	}
	fd_add(pairs[1][0], on_given, NULL, 0);
	fd_remove(pairs[1][0]);
	p->message.run = on_parcel;
	p->fd = pairs[1][0];
	mailbox_post(1, &p->message);
	task_free(&t);
}

static bool start_thread(void)
{
	if (thread_id == 0) {
		fd_add(pairs[0][0], on_rival, pairs[0], 0);
		fd_add(pairs[0][1], on_rival, pairs[0], 0);
		task_wake(task_new(connect_clients, NULL), TASK_WOKEN_INIT);
	}
	return fd_add_shared(listener, on_listener, NULL);
}

static void stop_thread(void)
{
	fd_remove_shared(listener);
	for (int i = 0; thread_id == 0 && i < 2; i++) {
		if (pairs[0][i] >= 0)
			fd_close(pairs[0][i]);
	}
}

static const struct module test_module = {
	.name = "test", .thread_init = start_thread, .thread_fini = stop_thread,
};
static const struct module *const modules[] = { &test_module, NULL };

int main(int argc, char **argv)
{
	if (argc > 1)
		fd_poller_disable("epoll");
	if (argc > 1 && strcmp(argv[1], "select") == 0)
		fd_poller_disable("poll");
	ok(!fd_poller_disable("kqueue"), "an unknown poller cannot be disabled");
	clock_refresh();
	thread_layout(THREADS, 1);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	address.sun_family = AF_UNIX;
	address_len = sizeof(address);
	if (bind(listener, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path)) ||
	    getsockname(listener, (struct sockaddr *)&address, &address_len) ||
	    listen(listener, CLIENTS))
		return 1;
	for (int i = 0; i < 2; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pairs[i]))
			return 1;
		if (send(pairs[i][0], "a", 1, 0) != 1 || send(pairs[i][1], "g", 1, 0) != 1)
			return 1;
	}
	ok(fd_init(200), "a small table");
	ok(!fd_add(200, on_given, NULL, 0) && errno == EMFILE, "no descriptor beyond it");
	ok(thread_run_all(modules), "ran");
	is_int(accepted, CLIENTS, "every client was accepted once");
	is_int(closed, CLIENTS, "and its end was seen");
	is_int(stale, 0, "no event came for a closed descriptor");
	is_int(given, 1, "a descriptor was handed to another thread");
	is_int(fd_count(), 0, "none is left");
	close(listener);
	return done_testing();
}

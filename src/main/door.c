/* SPDX-License-Identifier: GPL-2.0-or-later */
/* door.c - the worker's side of the door: it asks while it reads a new configuration */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include "base/door.h"
#include "base/file.h"
#include "net/descriptors.h"
#include "net/handoff.h"
#include "net/socket.h"
#include "door_priv.h"
#include "mode_priv.h"
#include "process_priv.h"

#define LIST_MAX ((size_t)64 << 20)

static struct {
	bool needed;          /* the rights of the start are gone */
	pthread_mutex_t lock; /* one question at a time */
	int fd;               /* to the reader, -1 */
} door = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

/* --- asking ----------------------------------------------------------------------------------- */

static ssize_t receive(struct door_answer *a, int *fd)
{
	struct descriptors_message m = {
		.data = a, .size = sizeof(*a) - 1, .fds = fd, .room = 1,
	};
	ssize_t got;

	do {
		*fd = -1;
		got = descriptors_receive(door.fd, &m, 0);
	} while (got < 0 && errno == EINTR);
	return got;
}

/* Asks with <len> bytes of text. *fd: a descriptor that came, -1. False: errno. */
static bool ask(struct door_question *q, size_t len, struct door_answer *a, int *fd)
{
	ssize_t got = -1;

	q->version = DOOR_VERSION;
	*fd = -1;
	pthread_mutex_lock(&door.lock);
	if (door.fd >= 0 && send(door.fd, q, DOOR_QUESTION_HEAD + len, MSG_NOSIGNAL) > 0)
		got = receive(a, fd);
	pthread_mutex_unlock(&door.lock);
	if (got < (ssize_t)DOOR_ANSWER_HEAD) {
		errno = EPIPE;
		return false;
	}
	((char *)a)[got] = '\0';
	if (a->error)
		errno = a->error;
	return !a->error;
}

/* As ask(), with a name; <q> has the rest of the question. */
static bool ask_by_name(struct door_question *q, const char *name, struct door_answer *a, int *fd)
{
	size_t len = strlen(name) + 1;

	if (len > sizeof(q->text)) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(q->text, name, len);
	return ask(q, len, a, fd);
}

static bool ask_about(enum door_what what, int flags, const char *name, struct door_answer *a,
		      int *fd)
{
	struct door_question q;

	q.what = what;
	q.flags = flags;
	q.mode = 0;
	return ask_by_name(&q, name, a, fd);
}

static int ask_open(const char *path, int flags, mode_t mode)
{
	struct door_answer a;
	int fd;

	return ask_about(DOOR_OPEN, flags, path, &a, &fd) ? fd : -1;
}

static int ask_make(const char *path, mode_t mode)
{
	struct door_question q = { .what = DOOR_MAKE, .mode = mode };
	struct door_answer a;
	int fd;

	return ask_by_name(&q, path, &a, &fd) ? fd : -1;
}

static int ask_kind(const char *path)
{
	struct door_answer a;
	int fd;

	return ask_about(DOOR_KIND, 0, path, &a, &fd) ? a.value : -1;
}

static char *ask_list(const char *path)
{
	struct door_answer a;
	char *names;
	size_t len;
	int fd;

	if (!ask_about(DOOR_LIST, 0, path, &a, &fd))
		return NULL;
	names = file_read_all(fd, LIST_MAX, &len);
	close(fd);
	return names; /* a NUL ends them, behind the last one's own */
}

static char *ask_enter(const char *path)
{
	struct door_answer a;
	int fd;

	return ask_about(path ? DOOR_ENTER : DOOR_HOME, 0, path ? path : "", &a, &fd)
		? strdup(a.text) : NULL;
}

static int ask_user(const char *name, uid_t *uid)
{
	struct door_answer a;
	int fd;

	if (!ask_about(DOOR_USER, 0, name, &a, &fd))
		return -1;
	*uid = (uid_t)a.value;
	return 0;
}

static int ask_group(const char *name, gid_t *gid)
{
	struct door_answer a;
	int fd;

	if (!ask_about(DOOR_GROUP, 0, name, &a, &fd))
		return -1;
	*gid = (gid_t)a.value;
	return 0;
}

static bool ask_host(const char *name, int family, struct sockaddr_storage *out, socklen_t *len)
{
	struct door_answer a;
	int fd;

	if (!ask_about(DOOR_HOST, family, name, &a, &fd) || (size_t)a.value > sizeof(*out))
		return false;
	memset(out, 0, sizeof(*out));
	memcpy(out, a.text, (size_t)a.value);
	*len = (socklen_t)a.value;
	return true;
}

static const struct door door_of_master = {
	.open = ask_open, .make = ask_make, .kind = ask_kind, .list = ask_list, .enter = ask_enter,
	.user = ask_user, .group = ask_group, .host = ask_host,
};

static int ask_listen(const struct sockaddr_storage *addr, socklen_t len,
		      const struct socket_origin *origin, char *error, size_t size)
{
	struct door_socket s = { .len = len };
	struct door_question q = { .what = DOOR_LISTEN };
	struct door_answer a;
	int fd;

	memcpy(&s.address, addr, len);
	snprintf(s.netns, sizeof(s.netns), "%s", origin->netns ? origin->netns : "");
	snprintf(s.interface, sizeof(s.interface), "%s",
		 origin->interface ? origin->interface : "");
	memcpy(q.text, &s, sizeof(s));
	a.text[0] = '\0';
	if (ask(&q, sizeof(s), &a, &fd) && fd >= 0)
		return fd;
	snprintf(error, size, "%.200s", a.text[0] ? a.text : "the master does not answer");
	return -1;
}

/* --- the time of a reload --------------------------------------------------------------------- */

void door_need(void)
{
	door.needed = true;
}

bool door_is_needed(void)
{
	return door.needed;
}

bool door_begin(void)
{
	struct timeval patience = { .tv_sec = DOOR_PATIENCE_S };
	int ends[2];

	if (!door.needed || !worker_has_master())
		return true;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return false;
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (!worker_ask_reader(ends[1])) {
		close(ends[0]);
		return false;
	}
	door.fd = ends[0];
	door_set(&door_of_master);
	socket_set_listener(ask_listen);
	return true;
}

void door_end(void)
{
	door_set(NULL);
	socket_set_listener(NULL);
	pthread_mutex_lock(&door.lock);
	if (door.fd >= 0)
		close(door.fd);
	door.fd = -1;
	pthread_mutex_unlock(&door.lock);
}

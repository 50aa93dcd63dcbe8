/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reader.c - the master's side of the door: a process that reads the configuration with the rights
 * of the master, then gives a worker what this reading has asked for (door_priv.h)
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/diag.h"
#include "base/door.h"
#include "front/listen.h"
#include "net/descriptors.h"
#include "net/handoff.h"
#include "door_priv.h"
#include "generation_priv.h"
#include "mode_priv.h"
#include "options_priv.h"
#include "process_priv.h"
#include "settings_priv.h"

#define LINKS_MAX 40

static struct {
	struct config *config;
	uid_t worker;
	int fd;
} reader;

/* --- opening ---------------------------------------------------------------------------------- */

/* How far open_safely() is. */
struct walk {
	int directory;         /* owned */
	char rest[2 * PATH_MAX];
	unsigned links;
};

static bool walk_to(struct walk *w, int fd)
{
	if (w->directory >= 0)
		close(w->directory);
	w->directory = fd;
	return fd >= 0;
}

/* Goes on at the end of the link <fd>; <rest> is what stands behind its name. */
static bool follow(struct walk *w, int fd, const char *rest)
{
	char target[PATH_MAX], all[sizeof(w->rest)];
	ssize_t len = readlinkat(fd, "", target, sizeof(target) - 1);
	struct stat st;
	int written;

	if (len < 0 || fstat(fd, &st) < 0)
		return false;
	target[len] = '\0';
	if (st.st_uid == reader.worker || ++w->links > LINKS_MAX) {
		errno = ELOOP;
		return false;
	}
	written = snprintf(all, sizeof(all), "%s/%s", target, rest);
	if (written >= (int)sizeof(all)) {
		errno = ENAMETOOLONG;
		return false;
	}
	/* a slash that was not there would want a directory */
	memcpy(w->rest, all, (size_t)written + 1);
	if (!*rest)
		w->rest[written - 1] = '\0';
	return *target != '/' || walk_to(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* One name further on the way. False: errno. */
static bool step(struct walk *w, const char *name, const char *rest)
{
	int fd = openat(w->directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	bool good;

	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	if (!S_ISLNK(st.st_mode)) {
		memmove(w->rest, rest, strlen(rest) + 1);
		return walk_to(w, fd);
	}
	good = follow(w, fd, rest);
	close(fd);
	return good;
}

/* What is done with the last name of a path: opened, or made anew. */
struct wanted {
	int flags;
	mode_t mode;
	bool made;
};

/* ELOOP: it is a link. */
static int open_last(int directory, const char *name, const struct wanted *w)
{
	struct stat st;

	if (!w->made)
		return openat(directory, name, w->flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode)) {
		errno = ELOOP;
		return -1;
	}
	return door_make_at(directory, name, w->mode);
}

/* Opens without links of the worker's user on the way; root, which the worker may not be, has no
 * need for that. Does not wait for the other end of a pipe.
 */
static int open_safely(const char *path, const struct wanted *wanted)
{
	struct walk w = { .directory = -1 };
	char name[NAME_MAX + 1];
	int fd = -1;

	if (!reader.worker)
		return wanted->made ? door_of_kernel.make(path, wanted->mode)
				    : door_of_kernel.open(path, wanted->flags | O_NONBLOCK, 0);
	snprintf(w.rest, sizeof(w.rest), "%s", path);
	walk_to(&w, open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
	while (w.directory >= 0) {
		const char *at = w.rest + strspn(w.rest, "/"), *end = at + strcspn(at, "/");
		bool last = !end[strspn(end, "/")];

		if (end - at > NAME_MAX) {
			errno = ENAMETOOLONG;
			break;
		}
		snprintf(name, sizeof(name), "%.*s", (int)(end - at), at);
		if (last)
			fd = open_last(w.directory, name, wanted);
		if (last && (fd >= 0 || errno != ELOOP))
			break;
		if (!step(&w, name, end + strspn(end, "/")))
			break;
	}
	if (w.directory >= 0) {
		int saved = errno;

		close(w.directory);
		errno = saved;
	}
	return fd;
}

/* No directory leaves: with one, a process gets out of its root folder. */
static int open_file(const char *path, const struct wanted *wanted)
{
	int fd = open_safely(path, wanted);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || S_ISDIR(st.st_mode))) {
		close(fd);
		errno = EISDIR;
		return -1;
	}
	if (fd >= 0)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

/* Names in memory, to be read from the start. */
static int open_list(const char *path)
{
	char *names = door_of_kernel.list(path);
	int fd = names ? memfd_create("names", MFD_CLOEXEC) : -1;
	size_t len = 0;
	bool good = fd >= 0;

	while (names && names[len])
		len += strlen(names + len) + 1;
	good = good && write(fd, names, len) == (ssize_t)len && lseek(fd, 0, SEEK_SET) == 0;
	free(names);
	if (good)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int open_socket(const char *text, struct door_answer *a)
{
	struct door_socket s;
	struct socket_origin origin = { .netns = s.netns, .interface = s.interface };
	int fd;

	memcpy(&s, text, sizeof(s));
	s.netns[sizeof(s.netns) - 1] = s.interface[sizeof(s.interface) - 1] = '\0';
	if (!reader.config || s.len > sizeof(s.address)) {
		errno = EPERM;
		return -1;
	}
	fd = listen_open_named(reader.config, &s.address, s.len, &origin, a->text, 256);
	if (fd < 0 && !a->text[0])
		fd = stats_socket_open_named(reader.config, &s.address, s.len, a->text, 256);
	if (fd < 0 && !a->text[0])
		snprintf(a->text, 256, "the master does not find it in the configuration");
	if (fd < 0)
		errno = EPERM;
	return fd;
}

/* --- answering -------------------------------------------------------------------------------- */

static void send_answer(const struct door_answer *a, size_t text_len, int fd)
{
	if (descriptors_send(reader.fd, a, DOOR_ANSWER_HEAD + text_len, &fd, fd >= 0, 0) < 0)
		_exit(0);
	if (fd >= 0)
		close(fd);
}

/* Where relative names begin from now on. */
static int answer_enter(const char *path, struct door_answer *a)
{
	char *there = door_of_kernel.enter(path);

	noted_directory(there);
	if (there)
		snprintf(a->text, sizeof(a->text), "%s", there);
	free(there);
	return there ? 0 : -1;
}

static int answer_host(const struct door_question *q, struct door_answer *a)
{
	struct sockaddr_storage addr;
	socklen_t len;

	errno = ENOENT;
	if (!door_of_kernel.host(q->text, q->flags, &addr, &len))
		return -1;
	memcpy(a->text, &addr, len);
	a->value = (int32_t)len;
	return 0;
}

/* What is no descriptor. -1: errno. */
static int answer_value(const struct door_question *q, struct door_answer *a)
{
	uid_t uid = 0;
	gid_t gid = 0;
	int got;

	switch ((enum door_what)q->what) {
	case DOOR_KIND:
		a->value = door_of_kernel.kind(q->text);
		return a->value;
	case DOOR_ENTER:
		return answer_enter(q->text, a);
	case DOOR_HOME:
		return answer_enter(NULL, a);
	case DOOR_USER:
		got = door_of_kernel.user(q->text, &uid);
		a->value = (int32_t)uid;
		break;
	case DOOR_GROUP:
		got = door_of_kernel.group(q->text, &gid);
		a->value = (int32_t)gid;
		break;
	case DOOR_HOST:
		return answer_host(q, a);
	default:
		errno = EPERM;
		return -1;
	}
	if (got < 0 && !errno)
		errno = ENOENT;
	return got;
}

static int open_wanted(const struct door_question *q, struct door_answer *a)
{
	struct wanted wanted = {
		.flags = q->flags, .mode = (mode_t)q->mode, .made = q->what == DOOR_MAKE,
	};

	switch ((enum door_what)q->what) {
	case DOOR_OPEN:
	case DOOR_MAKE:
		return open_file(q->text, &wanted);
	case DOOR_LIST:
		return open_list(q->text);
	default:
		return open_socket(q->text, a);
	}
}

static void answer(const struct door_question *q)
{
	static struct door_answer a;
	enum door_what what = (enum door_what)q->what;
	bool is_descriptor = what == DOOR_OPEN || what == DOOR_MAKE || what == DOOR_LIST ||
			     what == DOOR_LISTEN;
	int fd = -1;

	a.error = a.value = 0;
	memset(a.text, 0, sizeof(struct sockaddr_storage));
	if (what != DOOR_LISTEN && what != DOOR_HOME &&
	    !noted_has(what, q->flags, q->mode, q->text)) {
		a.error = EPERM;
	} else if (is_descriptor) {
		fd = open_wanted(q, &a);
		a.error = fd < 0 ? errno : 0;
	} else if (answer_value(q, &a) < 0) {
		a.error = errno ? errno : EIO;
	}
	send_answer(&a, what == DOOR_HOST ? sizeof(struct sockaddr_storage) : strlen(a.text) + 1,
		    fd);
}

/* Until the worker lets go, or says nothing for long. */
static void answer_all(void)
{
	static struct door_question q;
	struct pollfd p = { .fd = reader.fd, .events = POLLIN };

	while (poll(&p, 1, DOOR_PATIENCE_S * 1000) == 1) {
		ssize_t got = recv(reader.fd, &q, sizeof(q), 0);

		if (got <= (ssize_t)DOOR_QUESTION_HEAD || q.version != DOOR_VERSION)
			return;
		if (q.what == DOOR_LISTEN &&
		    got != (ssize_t)(DOOR_QUESTION_HEAD + sizeof(struct door_socket)))
			return;
		if (q.what != DOOR_LISTEN && ((char *)&q)[got - 1] != '\0')
			return;
		answer(&q);
	}
}

/* --- life ------------------------------------------------------------------------------------- */

/* The worker chooses what it sends us. Of a pair such as door_begin() makes, each message is one
 * question, and what we say goes to a process that it already talks with as itself.
 */
static bool is_of_a_pair(int fd)
{
	int domain = 0, type = 0;
	socklen_t len = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET;
}

void reader_run(int fd, uid_t user, const struct main_options *options)
{
	struct main_options o = *options;
	struct diag_list diags;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_NAME, "haproxy-reader", 0, 0, 0);
	reader.fd = fd;
	if (user == (uid_t)-1 || !is_of_a_pair(fd))
		_exit(1);
	/* not SO_PEERCRED: that names the user that made the socket, which may have been root */
	reader.worker = user;
	o.show.lines = false;
	worker_begin(fd, -1, false); /* it reads as a worker does */
	diag_list_init(&diags);
	if (!noted_begin(true))
		_exit(1);
	reader.config = generation_read(&o, &diags);
	noted_end();
	diag_list_fini(&diags); /* the worker will say the same */
	if (reader.config)
		settings_apply(reader.config, &o);
	answer_all();
	_exit(0);
}

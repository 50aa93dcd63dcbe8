/* SPDX-License-Identifier: GPL-2.0-or-later */
/* descriptors.c - bytes and open descriptors that travel together over a UNIX socket */
#include "net/descriptors.h"
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

ssize_t descriptors_send(int socket, const void *data, size_t len, const int *fds, unsigned count,
			 int flags)
{
	struct iovec v = { .iov_base = (void *)(uintptr_t)data, .iov_len = len };
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
	} control;
	struct msghdr msg = { .msg_iov = &v, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (count > DESCRIPTORS_MAX) {
		errno = EINVAL;
		return -1;
	}
	if (count) {
		memset(control.room, 0, CMSG_SPACE(count * sizeof(int)));
		msg.msg_control = control.room;
		msg.msg_controllen = CMSG_SPACE(count * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, count * sizeof(int));
	}
	return sendmsg(socket, &msg, flags | MSG_NOSIGNAL);
}

static void take_descriptors(struct descriptors_message *m, const struct cmsghdr *c)
{
	size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	int fd;

	for (size_t i = 0; i < count; i++) {
		memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
		if (m->count < m->room)
			m->fds[m->count++] = fd;
		else
			close(fd);
	}
}

static void take_sender(struct descriptors_message *m, const struct cmsghdr *c)
{
	struct ucred who;

	if (c->cmsg_len < CMSG_LEN(sizeof(who)))
		return;
	memcpy(&who, CMSG_DATA(c), sizeof(who));
	m->sender = who.uid;
	m->knows_sender = true;
}

ssize_t descriptors_receive(int socket, struct descriptors_message *m, int flags)
{
	struct iovec v = { .iov_base = m->data, .iov_len = m->size };
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int)) +
			  CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct msghdr msg = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control.room,
			      .msg_controllen = sizeof(control.room) };
	ssize_t got = recvmsg(socket, &msg, flags | MSG_CMSG_CLOEXEC);

	m->count = 0;
	m->knows_sender = false;
	if (got < 0)
		return got;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_RIGHTS)
			take_descriptors(m, c);
		else if (c->cmsg_type == SCM_CREDENTIALS)
			take_sender(m, c);
	}
	return got;
}

bool descriptors_tell_sender(int socket)
{
	int yes = 1;

	return setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) == 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* channel.c - between master and worker: a byte, and maybe a descriptor, at a time */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "master_priv.h"

/* Room for one descriptor, aligned as the kernel wants it. */
union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

bool channel_send(int channel, char what, int fd)
{
	struct iovec v = { .iov_base = &what, .iov_len = 1 };
	union control control = { .room = { 0 } };
	struct msghdr msg = { .msg_iov = &v, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (fd >= 0) {
		msg.msg_control = control.room;
		msg.msg_controllen = sizeof(control.room);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	return sendmsg(channel, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

/* One is expected, and there is room for two: others are closed, here or by the kernel. */
static int first_descriptor(const struct cmsghdr *c)
{
	size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	int fd = -1, extra;

	if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || !count)
		return -1;
	memcpy(&fd, CMSG_DATA(c), sizeof(int));
	for (size_t i = 1; i < count; i++) {
		memcpy(&extra, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
		close(extra);
	}
	return fd;
}

int channel_receive(int channel, int *fd)
{
	unsigned char byte = 0;
	struct iovec v = { .iov_base = &byte, .iov_len = 1 };
	union control control;
	struct msghdr msg = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control.room,
			      .msg_controllen = sizeof(control.room) };
	ssize_t got = recvmsg(channel, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = got > 0 ? CMSG_FIRSTHDR(&msg) : NULL;

	*fd = c ? first_descriptor(c) : -1;
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? -1 : 0;
	return got ? byte : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* channel.c - between master and worker: a byte, and maybe a descriptor, at a time */
#include <errno.h>
#include <sys/socket.h>
#include "net/descriptors.h"
#include "master_priv.h"

bool channel_send(int channel, char what, int fd)
{
	return descriptors_send(channel, &what, 1, &fd, fd >= 0, MSG_DONTWAIT) == 1;
}

int channel_receive(int channel, int *fd, uid_t *sender)
{
	unsigned char byte = 0;
	struct descriptors_message m = { .data = &byte, .size = 1, .fds = fd, .room = 1 };
	ssize_t got;

	*fd = -1;
	got = descriptors_receive(channel, &m, MSG_DONTWAIT);
	*sender = m.knows_sender ? m.sender : (uid_t)-1;
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? -1 : 0;
	return got ? byte : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listen_plain.c - sockets of lines that are no frontend's: log-forward, peers */
#include <fcntl.h>
#include <stdio.h>
#include "front/listen.h"
#include "net/socket.h"
#include "proxy/bind.h"

int listen_plain_open(const struct listener_conf *a, int before, bool datagrams, int64_t backlog,
		      char *error, size_t size)
{
	const struct bind_conf *b = a->bind;
	int fd = a->inherited_fd >= 0 ? a->inherited_fd : before;
	struct socket_settings set = {
		.options = (b->options & BIND_V6ONLY ? SOCKET_V6ONLY
			    : b->options & BIND_V4V6 ? SOCKET_V4V6 : 0) |
			   (b->options & BIND_TRANSPARENT ? SOCKET_TRANSPARENT : 0) |
			   SOCKET_REUSEPORT,
		.interface = b->interface, .netns = b->netns, .mode = b->mode, .uid = b->uid,
		.gid = b->gid,
	};

	backlog = b->backlog ? b->backlog : backlog;
	set.backlog = backlog ? (int)backlog : SOCKET_BACKLOG_DEFAULT;
	snprintf(error, size, "out of resources");
	if (fd >= 0)
		return fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return datagrams ? socket_datagram(&a->address, a->address_len, &set, error, size)
		: socket_listen(&a->address, a->address_len, &set, error, size);
}

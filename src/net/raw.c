/* SPDX-License-Identifier: GPL-2.0-or-later */
/* raw.c - the transport of plain sockets */
#include <errno.h>
#include <sys/socket.h>
#include "net/conn.h"

static enum io raw_failed(struct conn *c)
{
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return IO_AGAIN;
	c->error = (uint8_t)errno;
	return IO_ERR;
}

static enum io raw_recv(struct conn *c, struct iovec *v, int count, size_t *got)
{
	struct msghdr m = { .msg_iov = v, .msg_iovlen = (size_t)count };
	ssize_t n;

	do {
		if (count == 1)
			n = recv(c->fd, v->iov_base, v->iov_len, MSG_DONTWAIT);
		else
			n = recvmsg(c->fd, &m, MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return raw_failed(c);
	*got = (size_t)n;
	return n ? IO_OK : IO_EOF;
}

static enum io raw_send(struct conn *c, const struct iovec *v, int count, size_t *sent, bool more)
{
	struct msghdr m = { .msg_iov = (struct iovec *)v, .msg_iovlen = (size_t)count };
	int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (more ? MSG_MORE : 0);
	ssize_t n;

	do {
		if (count == 1)
			n = send(c->fd, v->iov_base, v->iov_len, flags);
		else
			n = sendmsg(c->fd, &m, flags);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return raw_failed(c);
	*sent = (size_t)n;
	return IO_OK;
}

static void raw_shut(struct conn *c)
{
	shutdown(c->fd, SHUT_WR);
}

const struct transport transport_raw = {
	.name = "RAW", .recv = raw_recv, .send = raw_send, .shut = raw_shut, .can_splice = true,
};

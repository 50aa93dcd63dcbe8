/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conn_facts.c - queries and settings of the kernel for a connection, beside its bytes */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include "core/fd.h"
#include "net/conn.h"
#include "net/conn_facts.h"
#include "net/socket.h"

int conn_shown_fd(const struct conn *c)
{
	return c->fd;
}

bool conn_tcp_info(const struct conn *c, struct tcp_info *out)
{
	socklen_t len = sizeof(*out);

	return c->fd >= 0 && getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, out, &len) == 0;
}

bool conn_saved_syn(const struct conn *c, char *out, size_t *len)
{
	socklen_t n = (socklen_t)*len;

	if (c->fd < 0 || getsockopt(c->fd, IPPROTO_TCP, TCP_SAVED_SYN, out, &n) < 0)
		return false;
	*len = n;
	return true;
}

void conn_set_tos(struct conn *c, uint8_t tos)
{
	if (c->fd >= 0)
		socket_set_tos(c->fd, tos);
}

void conn_set_mark(struct conn *c, uint32_t mark)
{
	if (c->fd >= 0)
		socket_set_mark(c->fd, mark);
}

void conn_make_silent(struct conn *c, int ttl)
{
	static const int one = 1;
	int hops = ttl ? ttl : 1;

	c->flags |= CONN_NO_LINGER;
	if (c->fd < 0 ||
	    (!ttl && setsockopt(c->fd, IPPROTO_TCP, TCP_REPAIR, &one, sizeof(one)) == 0))
		return;
	setsockopt(c->fd, IPPROTO_IP, IP_TTL, &hops, sizeof(hops));
	setsockopt(c->fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, &hops, sizeof(hops));
}

ssize_t conn_peek(struct conn *c, char *out, size_t size)
{
	ssize_t n = recv(c->fd, out, size, MSG_PEEK | MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? -1 : 0;
	return n;
}

bool conn_skip(struct conn *c, char *room, size_t len)
{
	return recv(c->fd, room, len, MSG_DONTWAIT) == (ssize_t)len;
}

void conn_wait_recv(struct conn *c)
{
	fd_cant_recv(c->fd);
}

enum io conn_send_bytes(struct conn *c, struct slice bytes, size_t *sent)
{
	struct iovec v = { .iov_base = (char *)(uintptr_t)bytes.ptr, .iov_len = bytes.len };
	enum io r;

	*sent = 0;
	r = c->transport->send(c, &v, 1, sent, false);
	if (r != IO_ERR && *sent < bytes.len) {
		c->flags &= (uint16_t)~CONN_CAN_SEND;
		fd_cant_send(c->fd);
	}
	return r;
}

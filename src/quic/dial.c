/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dial.c - QUIC: connections to servers, each with a socket of its own */
#include <unistd.h>
#include "base/clock.h"
#include "conn_priv.h"
#include "net/conn.h"
#include "udp_priv.h"

static void no_count(struct quic_conn *q)
{
}

/* The handshake is over: the user of the connection is told. */
static void tell(struct quic_conn *q)
{
	struct conn *c = q->conn;

	c->flags &= (uint16_t)~(CONN_CONNECTING | CONN_HANDSHAKE);
	if (!(c->flags & CONN_ERROR))
		c->flags |= CONN_CAN_SEND;
	if (c->ops)
		c->ops->ready(c);
}

static void ready(struct quic_conn *q)
{
	if (q->conn)
		tell(q);
}

/* It was lost before anything took it. */
static void gone(struct quic_conn *q)
{
	ready(q);
}

static const struct quic_host host = {
	.later = quic_later, .not_half_open = no_count, .ready = ready, .gone = gone,
	.forget = quic_detach,
};

static void on_datagram(struct quic_socket *s, const struct quic_datagram *d)
{
	struct quic_datagram from = *d;
	struct quic_conn *q = s->only;

	if (!q)
		return;
	from.peer = q->path.peer;
	quic_conn_input(q, &from);
	quic_conn_settle(q);
}

struct quic_conn *quic_dial(int fd, const struct quic_tunes *t, const struct quic_line *line)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct addr local = { .family = ADDR_NONE }, peer = local;
	struct quic_socket *s;
	struct quic_conn *q;

	if (getsockname(fd, (struct sockaddr *)&ss, &len) == 0)
		local = addr_from_sockaddr(&ss, len);
	len = sizeof(ss);
	if (getpeername(fd, (struct sockaddr *)&ss, &len) == 0)
		peer = addr_from_sockaddr(&ss, len);
	s = quic_socket_new(fd, t->no_gso, on_datagram);
	if (!s)
		return NULL;
	q = quic_conn_new_client(t, line, &host, clock_now_ns());
	if (!q) {
		quic_socket_close(s);
		return NULL;
	}
	q->path.peer = q->path.from = q->path.valid = peer;
	q->local = local;
	s->only = q;
	s->peer = peer;
	quic_attach(q, s);
	return q;
}

bool quic_dial_start(struct quic_conn *q)
{
	uint8_t alert;

	q->flags |= QUIC_FL_LENT;
	if (q->tls->recv(q->conn, QUIC_LEVEL_INITIAL, NULL, 0, &alert) == QUIC_TLS_MORE) {
		quic_later(q);
		return true;
	}
	q->flags &= ~(uint32_t)QUIC_FL_LENT;
	quic_conn_free(q);
	return false;
}

struct quic_conn *quic_conn_of(const struct conn *c)
{
	return conn_quic(c);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* socks4.c - the handshake with a SOCKS4 proxy: a transport until it is done */
#include "net/socks4.h"
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include "net/conn.h"

#define USER "HAProxy"
#define ANSWER_SIZE 8
#define GRANTED 90

struct socks4 {
	const struct transport *next; /* whose turn comes */
	void *next_ctx;
	bool next_shakes;             /* that has a handshake of its own */
	bool next_holds;              /* that has bytes to send before it */
	uint8_t out[8 + sizeof(USER)];
	uint8_t in[ANSWER_SIZE];
	size_t sent, received;
};

const char *socks4_error_text(int error)
{
	switch (error) {
#define X(name, value, text) case SOCKS4_##name: return text;
	SOCKS4_ERRORS(X)
#undef X
	}
	return NULL;
}

bool socks4_can_reach(const struct sockaddr_storage *to)
{
	return to->ss_family == AF_INET;
}

static enum io failed(struct conn *c, enum socks4_error error)
{
	c->error = (uint8_t)error;
	return IO_ERR;
}

static bool is_not_now(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

static enum io ask(struct conn *c, struct socks4 *s)
{
	while (s->sent < sizeof(s->out)) {
		ssize_t n = send(c->fd, s->out + s->sent, sizeof(s->out) - s->sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (is_not_now(n)) {
			c->flags &= (uint16_t)~CONN_CAN_SEND;
			fd_cant_send(c->fd);
			return IO_AGAIN;
		}
		if (n < 0)
			return failed(c, SOCKS4_SEND);
		s->sent += (size_t)n;
	}
	return IO_OK;
}

/* Not a byte more than the answer: what follows is the server's. */
static enum io listen_to(struct conn *c, struct socks4 *s)
{
	while (s->received < sizeof(s->in)) {
		ssize_t n = recv(c->fd, s->in + s->received, sizeof(s->in) - s->received,
				 MSG_DONTWAIT);

		if (is_not_now(n)) {
			c->flags &= (uint16_t)~CONN_CAN_RECV;
			fd_cant_recv(c->fd);
			return IO_AGAIN;
		}
		if (n <= 0)
			return failed(c, s->received ? SOCKS4_ABORT : SOCKS4_RECV);
		s->received += (size_t)n;
	}
	return s->in[1] == GRANTED ? IO_OK : failed(c, SOCKS4_DENY);
}

/* The transport above goes on as if it had been alone. */
static void leave(struct conn *c)
{
	struct socks4 *s = c->transport_ctx;

	c->transport = s->next;
	c->transport_ctx = s->next_ctx;
	if (s->next_holds)
		c->flags |= CONN_TX_HELD;
	free(s);
}

static enum io socks4_handshake(struct conn *c)
{
	struct socks4 *s = c->transport_ctx;
	bool shakes = s->next_shakes;
	enum io r = ask(c, s);

	if (r == IO_OK)
		r = listen_to(c, s);
	if (r != IO_OK)
		return r;
	leave(c);
	if (c->flags & CONN_TX_HELD)
		c->transport->flush(c);
	return shakes ? c->transport->handshake(c) : IO_OK;
}

/* Nobody has anything to send or to read before the handshake is over. */
static enum io socks4_recv(struct conn *c, struct iovec *v, int count, size_t *got)
{
	return IO_AGAIN;
}

static enum io socks4_send(struct conn *c, const struct iovec *v, int count, size_t *sent,
			   bool more)
{
	return IO_AGAIN;
}

static void socks4_shut(struct conn *c)
{
	shutdown(c->fd, SHUT_WR);
}

static void socks4_close(struct conn *c)
{
	leave(c);
	c->flags |= CONN_ERROR; /* a goodbye of the transport above is for nobody */
	if (c->transport->close)
		c->transport->close(c);
}

static const struct transport transport_socks4 = {
	.name = "SOCKS4", .recv = socks4_recv, .send = socks4_send, .shut = socks4_shut,
	.close = socks4_close, .handshake = socks4_handshake,
};

bool socks4_attach(struct conn *c, const struct sockaddr_storage *to)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)to;
	struct socks4 *s;

	if (!socks4_can_reach(to))
		return false;
	s = calloc(1, sizeof(*s));
	if (!s)
		return false;
	s->next = c->transport;
	s->next_ctx = c->transport_ctx;
	s->next_shakes = c->flags & CONN_HANDSHAKE;
	s->next_holds = c->flags & CONN_TX_HELD;
	s->out[0] = 4; /* version */
	s->out[1] = 1; /* connect */
	memcpy(s->out + 2, &in->sin_port, 2);
	memcpy(s->out + 4, &in->sin_addr, 4);
	memcpy(s->out + 8, USER, sizeof(USER));
	c->transport = &transport_socks4;
	c->transport_ctx = s;
	c->flags = (c->flags | CONN_HANDSHAKE) & (uint16_t)~CONN_TX_HELD;
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prelude.c - the transport of a connection until SOCKS4 and the first bytes are done */
#include "prelude_priv.h"
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include "net/conn.h"

#define USER "HAProxy"
#define ASK_SIZE (8 + sizeof(USER))
#define ANSWER_SIZE 8
#define GRANTED 90

struct prelude {
	const struct transport *next; /* whose turn comes */
	void *next_ctx;
	bool next_shakes;             /* that has a handshake of its own */
	bool more;                    /* bytes of the layer above follow immediately */
	uint8_t in[ANSWER_SIZE];
	size_t received;
	size_t ask_len, len, sent;    /* of <out>: the question, all, sent so far */
	char out[];
};

bool prelude_can_reach(const struct sockaddr_storage *to)
{
	return to->ss_family == AF_INET;
}

static bool is_not_now(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

/* Sends on to the first <to> bytes of what there is. */
static enum io send_to(struct conn *c, struct prelude *p, size_t to, bool more)
{
	while (p->sent < to) {
		ssize_t n = send(c->fd, p->out + p->sent, to - p->sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL | (more ? MSG_MORE : 0));

		if (is_not_now(n)) {
			c->flags &= (uint16_t)~CONN_CAN_SEND;
			fd_cant_send(c->fd);
			return IO_AGAIN;
		}
		if (n < 0) {
			c->error = p->ask_len > p->sent ? PRELUDE_SOCKS4_SEND : (uint8_t)errno;
			return IO_ERR;
		}
		p->sent += (size_t)n;
	}
	return IO_OK;
}

static enum io failed(struct conn *c, enum prelude_error error)
{
	c->error = (uint8_t)error;
	return IO_ERR;
}

/* Not a byte more than the answer: what follows is the server's. */
static enum io listen_to(struct conn *c, struct prelude *p)
{
	while (p->received < sizeof(p->in)) {
		ssize_t n = recv(c->fd, p->in + p->received, sizeof(p->in) - p->received,
				 MSG_DONTWAIT);

		if (is_not_now(n)) {
			c->flags &= (uint16_t)~CONN_CAN_RECV;
			fd_cant_recv(c->fd);
			return IO_AGAIN;
		}
		if (n <= 0)
			return failed(c, p->received ? PRELUDE_SOCKS4_ABORT : PRELUDE_SOCKS4_RECV);
		p->received += (size_t)n;
	}
	return p->in[1] == GRANTED ? IO_OK : failed(c, PRELUDE_SOCKS4_DENY);
}

static enum io go_on(struct conn *c, struct prelude *p)
{
	enum io r = send_to(c, p, p->ask_len, false);

	if (r == IO_OK && p->ask_len)
		r = listen_to(c, p);
	return r == IO_OK ? send_to(c, p, p->len, p->more) : r;
}

/* The transport above goes on as if it had been alone. */
static void leave(struct conn *c)
{
	struct prelude *p = c->transport_ctx;

	c->transport = p->next;
	c->transport_ctx = p->next_ctx;
	free(p);
}

static enum io prelude_handshake(struct conn *c)
{
	struct prelude *p = c->transport_ctx;
	bool shakes = p->next_shakes;
	enum io r = go_on(c, p);

	if (r != IO_OK)
		return r;
	leave(c);
	return shakes ? c->transport->handshake(c) : IO_OK;
}

/* The layer above has nothing to send or to read before the handshake is over. */
static enum io prelude_recv(struct conn *c, struct iovec *v, int count, size_t *got)
{
	return IO_AGAIN;
}

static enum io prelude_send(struct conn *c, const struct iovec *v, int count, size_t *sent,
			    bool more)
{
	return IO_AGAIN;
}

static void prelude_shut(struct conn *c)
{
	shutdown(c->fd, SHUT_WR);
}

static void prelude_close(struct conn *c)
{
	leave(c);
	c->flags |= CONN_ERROR; /* a goodbye of the transport above would reach no peer */
	if (c->transport->close)
		c->transport->close(c);
}

static const struct transport transport_prelude = {
	.name = "PRELUDE", .recv = prelude_recv, .send = prelude_send, .shut = prelude_shut,
	.close = prelude_close, .handshake = prelude_handshake,
};

/* The question for <to>, of ASK_SIZE. */
static void make_ask(const struct sockaddr_storage *to, char *out)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)to;

	out[0] = 4; /* version */
	out[1] = 1; /* connect */
	memcpy(out + 2, &in->sin_port, 2);
	memcpy(out + 4, &in->sin_addr, 4);
	memcpy(out + 8, USER, sizeof(USER));
}

bool prelude_attach(struct conn *c, const struct sockaddr_storage *to, struct slice first,
		    bool more)
{
	size_t ask_len = to ? ASK_SIZE : 0;
	struct prelude *p = malloc(sizeof(*p) + ask_len + first.len);

	if (!p)
		return false;
	*p = (struct prelude){ .next = c->transport, .next_ctx = c->transport_ctx, .more = more,
			       .next_shakes = c->flags & CONN_HANDSHAKE, .ask_len = ask_len,
			       .len = ask_len + first.len };
	if (to)
		make_ask(to, p->out);
	if (first.len)
		memcpy(p->out + ask_len, first.ptr, first.len);
	/* (an error comes back at the first event) */
	if (!(c->flags & CONN_CONNECTING) && !to && go_on(c, p) == IO_OK) {
		free(p);
		return true;
	}
	c->transport = &transport_prelude;
	c->transport_ctx = p;
	c->flags |= CONN_HANDSHAKE;
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conn.c - a connection: a descriptor, its transport, and the layer above */
#include "net/conn.h"
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/bug.h"
#include "core/pool.h"
#include "net/net_init.h"
#include "net/socket.h"

#define SEND_VECTORS_MAX 64
/* More than that is worth a system call of its own. */
#define POST_MAX 4096
/* A thread that holds so many blocks reads them one by one again: bulk transfers share its memory.
 */
#define BLOCKS_MANY 4096

static struct pool *conn_pool;

static void conn_event(void *owner, int fd, unsigned events);

static void conn_describe(void *owner, int fd, struct strbuf *out)
{
	const struct conn *c = owner;

	strbuf_printf(out, " back=%d cflg=0x%08x cerr=%u", (c->flags & CONN_BACKEND) != 0, c->flags,
		      c->error);
	socket_describe(fd, true, out);
	if (c->ops && c->ops->describe)
		c->ops->describe(c, out);
	strbuf_printf(out, " xprt=%s", c->transport->name);
}

static struct fd_kind conn_kind = {
	.handler = conn_event, .name = "conn_event", .letter = 'c', .describe = conn_describe,
};

bool conn_init(void)
{
	fd_kind_register(&conn_kind);
	conn_pool = pool_new("connection", sizeof(struct conn));
	return conn_pool != NULL;
}

/* The end of a connect(): tells whether it worked. */
static void conn_connected(struct conn *c)
{
	int err = 0;
	socklen_t len = sizeof(err);

	c->flags &= ~CONN_CONNECTING;
	if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
		err = errno;
	if (err) {
		c->error = (uint8_t)err;
		c->flags |= CONN_ERROR;
	}
}

/* Has the transport something to do before the layer above may look? */
static bool transport_goes_on(struct conn *c)
{
	enum io r;

	if (c->flags & CONN_TX_HELD)
		c->transport->flush(c);
	if (!(c->flags & CONN_HANDSHAKE) || !c->transport->handshake || c->flags & CONN_ERROR)
		return false;
	r = c->transport->handshake(c);
	if (r == IO_AGAIN)
		return true;
	c->flags &= (uint16_t)~CONN_HANDSHAKE;
	if (r != IO_OK)
		c->flags |= CONN_ERROR;
	return false;
}

static void conn_event(void *owner, int fd, unsigned events)
{
	struct conn *c = owner;

	if (events & FD_IN)
		c->flags = (c->flags | CONN_CAN_RECV) & (uint16_t)~CONN_DRY;
	if (events & FD_OUT)
		c->flags |= CONN_CAN_SEND;
	if (events & (FD_RDHUP | FD_HUP | FD_ERR)) {
		c->flags |= CONN_RDHUP | CONN_CAN_RECV | CONN_CAN_SEND;
		c->flags &= (uint16_t)~CONN_DRY;
		if (events & FD_HUP)
			c->flags |= CONN_GONE;
	}
	if (c->flags & CONN_CONNECTING) {
		if (!(events & (FD_OUT | FD_HUP | FD_ERR)))
			return;
		conn_connected(c);
	} else if (unlikely(events & FD_ERR)) {
		c->flags |= CONN_RESET;
	}
	if (unlikely(c->flags & (CONN_HANDSHAKE | CONN_TX_HELD)) && transport_goes_on(c))
		return;
	c->ops->ready(c);
}

struct conn *conn_new(int fd, const struct conn_ops *ops, void *owner, unsigned flags)
{
	struct conn *c = pool_alloc(conn_pool);

	if (!c)
		return NULL;
	*c = (struct conn){ .ops = ops, .owner = owner, .transport = &transport_raw, .fd = fd,
			    .read_blocks = 1, .flags = flags };
	if (fd >= 0 && !fd_add(fd, conn_event, c, flags & CONN_BACKEND ? FD_FL_BACKEND : 0)) {
		pool_free(conn_pool, c);
		return NULL;
	}
	return c;
}

void conn_close(struct conn **pc)
{
	struct conn *c = *pc;

	*pc = NULL;
	if (!c)
		return;
	if (c->transport->close)
		c->transport->close(c);
	if (c->fd >= 0 && c->flags & CONN_NO_LINGER)
		socket_set_reset(c->fd);
	if (c->fd >= 0 && c->flags & CONN_DETACHED)
		close(c->fd);
	else if (c->fd >= 0)
		fd_close(c->fd);
	pool_free(conn_pool, c);
}

int conn_release(struct conn **pc)
{
	struct conn *c = *pc;
	int fd = c->fd;

	*pc = NULL;
	if (c->transport->close)
		c->transport->close(c);
	if (!(c->flags & CONN_DETACHED))
		fd_remove(fd);
	pool_free(conn_pool, c);
	return fd;
}

void conn_detach(struct conn *c)
{
	conn_flush(c);
	fd_remove(c->fd);
	c->flags |= CONN_DETACHED;
}

bool conn_attach(struct conn *c)
{
	if (c->transport->move)
		c->transport->move(c);
	/* a new registration reports what is pending: readiness need not travel */
	if (!fd_add(c->fd, conn_event, c, c->flags & CONN_BACKEND ? FD_FL_BACKEND : 0))
		return false;
	c->flags &= (uint16_t)~CONN_DETACHED;
	return true;
}

/* Keeps the outcome of a receive in the flags. <full>: the kernel may have more. */
static enum io conn_received(struct conn *c, enum io r, bool full)
{
	if (r == IO_OK && !full && !(c->flags & CONN_RDHUP))
		r = IO_AGAIN; /* a short read: an edge will tell when more comes */
	if (r == IO_AGAIN) {
		c->flags &= ~CONN_CAN_RECV;
		fd_cant_recv(c->fd);
	} else if (r == IO_EOF) {
		c->flags = (c->flags | CONN_EOF) & ~CONN_CAN_RECV;
	} else if (r == IO_ERR) {
		c->flags = (c->flags | CONN_ERROR | CONN_EOF) & ~(CONN_CAN_RECV | CONN_CAN_SEND);
	}
	return r;
}

enum io conn_recv_block(struct conn *c, struct block *b, size_t *got)
{
	struct iovec v = { .iov_base = b->data + b->used, .iov_len = block_room(b) };
	enum io r;

	*got = 0;
	r = c->transport->recv(c, &v, 1, got);
	b->used += (uint32_t)*got;
	r = conn_received(c, r, *got == v.iov_len);
	if (*got == b->size && c->read_blocks == 1)
		c->read_blocks = 2; /* a whole block in one read: more is likely to follow */
	return *got ? IO_OK : r;
}

/* Puts what was received into <n> blocks behind <q>; drops the blocks that stayed empty. */
static bool recv_commit(struct block_queue *q, struct block **blocks, int n, size_t got)
{
	bool ok = true;

	for (int i = 0; i < n; i++) {
		size_t len = got < blocks[i]->size ? got : blocks[i]->size;

		blocks[i]->used = (uint32_t)len;
		if (len && !block_queue_add(q, blocks[i], blocks[i]->data, len))
			ok = false;
		block_drop(blocks[i]);
		got -= len;
	}
	return ok;
}

enum io conn_recv(struct conn *c, struct block_queue *q, size_t max, size_t *got)
{
	struct block *blocks[CONN_READ_BLOCKS_MAX];
	struct iovec v[CONN_READ_BLOCKS_MAX];
	int most = block_thread_count() < BLOCKS_MANY ? c->read_blocks : 1;
	size_t want = 0;
	int n = 0;
	enum io r;

	*got = 0;
	do {
		blocks[n] = block_new();
		if (!blocks[n])
			break;
		v[n] = (struct iovec){ blocks[n]->data, blocks[n]->size };
		want += blocks[n]->size;
		n++;
	} while (n < most && want < max);
	if (!n) {
		c->error = ENOMEM;
		return conn_received(c, IO_ERR, false);
	}
	r = c->transport->recv(c, v, n, got);
	r = conn_received(c, r, *got == want);
	if (*got == want && n == c->read_blocks && c->read_blocks < CONN_READ_BLOCKS_MAX)
		c->read_blocks = (uint8_t)(c->read_blocks * 2);
	else if (*got * 4 < want && n == c->read_blocks && n > 1)
		c->read_blocks = (uint8_t)(c->read_blocks / 2);
	if (!recv_commit(q, blocks, n, *got)) {
		c->error = ENOMEM;
		return conn_received(c, IO_ERR, false);
	}
	return *got ? IO_OK : r;
}

enum io conn_send(struct conn *c, struct block_queue *q, bool more)
{
	struct iovec v[SEND_VECTORS_MAX];
	size_t bytes, sent;
	enum io r;

	while (q->len) {
		int n = block_queue_vectors(q, v, SEND_VECTORS_MAX, &bytes);

		sent = 0;
		r = c->transport->send(c, v, n, &sent, more || bytes < q->len);
		block_queue_skip(q, sent);
		if (r == IO_ERR) {
			c->flags = (c->flags | CONN_ERROR) & ~CONN_CAN_SEND;
			return IO_ERR;
		}
		if (r == IO_AGAIN || sent < bytes) {
			c->flags &= ~CONN_CAN_SEND;
			fd_cant_send(c->fd);
			return IO_AGAIN;
		}
	}
	return IO_OK;
}

enum io conn_post(struct conn *c, struct block_queue *q, bool more)
{
	if (!more && q->len && q->len <= POST_MAX && c->transport->post && c->transport->post(c, q))
		return IO_OK;
	return conn_send(c, q, more);
}

bool conn_flush(struct conn *c)
{
	if (c->transport_ctx && c->transport->post && c->flags & CONN_CAN_SEND)
		c->transport->flush(c);
	return !(c->flags & CONN_TX_HELD);
}

bool conn_is_quiet(struct conn *c)
{
	char byte;

	if (c->flags & (CONN_EOF | CONN_ERROR | CONN_RDHUP))
		return false;
	if (!(c->flags & CONN_CAN_RECV))
		return true;
	if (c->transport->quiet)
		return c->transport->quiet(c);
	if (recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 ||
	    (errno != EAGAIN && errno != EWOULDBLOCK))
		return false;
	conn_received(c, IO_AGAIN, false);
	return true;
}

void conn_shut_write(struct conn *c)
{
	if (c->flags & (CONN_SHUT_WRITE | CONN_ERROR))
		return;
	c->flags |= CONN_SHUT_WRITE;
	c->transport->shut(c);
}

struct addr conn_address(const struct conn *c, bool peer)
{
	struct addr none = { .family = ADDR_NONE };
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (c->fd < 0 && c->transport->address) {
		const struct addr *a = c->transport->address(c, peer);

		return a ? *a : none;
	}
	if (c->fd < 0 ||
	    (peer ? getpeername : getsockname)(c->fd, (struct sockaddr *)&ss, &len) < 0)
		return none;
	return addr_from_sockaddr(&ss, len);
}

int conn_take_error(struct conn *c)
{
	int err = c->error;
	socklen_t len = sizeof(err);

	if (!err && getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
		err = errno;
	return err;
}

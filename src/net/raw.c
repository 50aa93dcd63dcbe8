/* SPDX-License-Identifier: GPL-2.0-or-later */
/* raw.c - the transport of plain sockets
 *
 * Posted data waits in a raw_tx, which transport_ctx points to, until the end of the turn; or until
 * there is room, if the socket did not accept all of it (CONN_TX_HELD).
 */
#include <errno.h>
#include <sys/socket.h>
#include "base/bug.h"
#include "core/pool.h"
#include "core/thread.h"
#include "net/conn.h"
#include "net/net_init.h"
#include "net/sent.h"

#define SEND_VECTORS_MAX 16
/* A connection that posts more than that in one turn fills its socket instead. */
#define POSTED_MAX 65536

struct raw_tx {
	struct list link;       /* in the thread's list, until the end of the turn */
	struct conn *conn;
	struct block_queue out;
	bool shut;              /* our end comes behind */
};

static struct pool *raw_tx_pool;
static __thread struct {
	struct list list;       /* of raw_tx */
	struct turn_hook hook;
} posted;

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

static ssize_t send_many(int fd, const struct iovec *v, int count, int flags)
{
	struct msghdr m = { .msg_iov = (struct iovec *)v, .msg_iovlen = (size_t)count };

	return sendmsg(fd, &m, flags);
}

static enum io send_vectors(struct conn *c, const struct iovec *v, int count, size_t *sent,
			    bool more)
{
	int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (more ? MSG_MORE : 0);
	ssize_t n;

	do {
		if (count == 1)
			n = send(c->fd, v->iov_base, v->iov_len, flags);
		else
			n = send_many(c->fd, v, count, flags);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return raw_failed(c);
	*sent = (size_t)n;
	sent_add(*sent);
	return IO_OK;
}

/* --- what was posted ------------------------------------------------------------------------- */

static void raw_tx_free(struct conn *c)
{
	struct raw_tx *t = c->transport_ctx;

	c->transport_ctx = NULL;
	c->flags &= (uint16_t)~CONN_TX_HELD;
	list_remove(&t->link);
	block_queue_clear(&t->out);
	pool_free(raw_tx_pool, t);
}

/* Sends it. IO_AGAIN: the rest waits for room. */
static enum io raw_unload(struct conn *c)
{
	struct raw_tx *t = c->transport_ctx;
	struct iovec v[SEND_VECTORS_MAX];
	size_t bytes, sent;
	enum io r = IO_OK;
	bool shut;

	while (r == IO_OK && t->out.len) {
		int n = block_queue_vectors(&t->out, v, SEND_VECTORS_MAX, &bytes);

		sent = 0;
		r = send_vectors(c, v, n, &sent, bytes < t->out.len);
		block_queue_skip(&t->out, sent);
		if (r == IO_OK && sent < bytes)
			r = IO_AGAIN;
	}
	if (r == IO_AGAIN) {
		list_remove(&t->link);
		c->flags = (c->flags | CONN_TX_HELD) & (uint16_t)~CONN_CAN_SEND;
		fd_cant_send(c->fd);
		return r;
	}
	shut = t->shut;
	raw_tx_free(c);
	if (r == IO_OK && shut)
		shutdown(c->fd, SHUT_WR);
	return r;
}

static void raw_flush(struct conn *c)
{
	if (raw_unload(c) == IO_ERR)
		c->flags = (c->flags | CONN_ERROR) & (uint16_t)~CONN_CAN_SEND;
}

/* The end of the turn. */
static void send_posted(struct turn_hook *hook)
{
	struct list todo;

	(void)hook;
	list_init(&todo);
	list_splice(&todo, &posted.list);
	while (!list_is_empty(&todo)) {
		struct conn *c = list_first(&todo, struct raw_tx, link)->conn;

		if (c->flags & CONN_ERROR) {
			raw_tx_free(c);
			continue;
		}
		raw_flush(c);
		if (unlikely(c->flags & CONN_ERROR))
			c->ops->ready(c);
	}
}

static bool raw_post(struct conn *c, struct block_queue *q)
{
	struct raw_tx *t = c->transport_ctx;

	if (!t) {
		t = pool_alloc(raw_tx_pool);
		if (!t)
			return false;
		*t = (struct raw_tx){ .conn = c };
		list_append(&posted.list, &t->link);
		turn_hook_add_last(&posted.hook);
		c->transport_ctx = t;
	} else if (c->flags & CONN_TX_HELD || t->out.len + q->len > POSTED_MAX) {
		return false;
	}
	block_queue_move(&t->out, q);
	return true;
}

/* --- the transport --------------------------------------------------------------------------- */

static enum io raw_send(struct conn *c, const struct iovec *v, int count, size_t *sent, bool more)
{
	enum io r = c->transport_ctx ? raw_unload(c) : IO_OK;

	return r == IO_OK ? send_vectors(c, v, count, sent, more) : r;
}

static void raw_shut(struct conn *c)
{
	if (c->transport_ctx && raw_unload(c) == IO_AGAIN)
		((struct raw_tx *)c->transport_ctx)->shut = true;
	else
		shutdown(c->fd, SHUT_WR);
}

static void raw_close(struct conn *c)
{
	if (!c->transport_ctx)
		return;
	if (c->flags & CONN_ERROR || raw_unload(c) == IO_AGAIN)
		raw_tx_free(c);
}

const struct transport transport_raw = {
	.name = "RAW", .recv = raw_recv, .send = raw_send, .post = raw_post, .flush = raw_flush,
	.shut = raw_shut, .close = raw_close, .can_splice = true,
};

bool raw_init(void)
{
	raw_tx_pool = pool_new("raw_tx", sizeof(struct raw_tx));
	return raw_tx_pool != NULL;
}

bool raw_thread_init(void)
{
	list_init(&posted.list);
	turn_hook_init(&posted.hook, send_posted);
	return true;
}

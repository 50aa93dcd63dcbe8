/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire.c - between OpenSSL and the socket: one BIO per thread, its input and output
 *
 * The BIO works for the connection passed to tls_enter(). Reading goes from the socket straight
 * into OpenSSL's buffer, as much as fits: several records in one call (read-ahead). OpenSSL's
 * output is gathered in the thread's buffer and sent by one call when the operation ends; output
 * that the socket does not accept is kept by the connection (tls_conn.out).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "base/bug.h"
#include "net/sent.h"
#include "early_priv.h"
#include "gcm_priv.h"
#include "wire_priv.h"

/* So many bytes that are held are copied rather than sent apart. */
#define HELD_FEW 4096
#define TX_SIZE (TLS_WIRE_SOFT + 2 * TLS_RECORD_MAX)
/* More is never held for a peer that reads what it asks for. */
#define HELD_MAX (4 * TX_SIZE)
/* So many bytes without data among them are a flood: handshakes, alerts, updates of keys. OpenSSL
 * would go on with them as long as there are some.
 */
#define FLOOD (1 << 20)

__thread struct tls_wire tls_wire;

static BIO_METHOD *bio_method;

struct conn *tls_now(void)
{
	return tls_wire.conn;
}

/* --- the socket ------------------------------------------------------------------------------- */

static int bio_read(BIO *bio, char *buf, int len)
{
	struct conn *c = tls_wire.conn;
	struct tls_conn *t = c->transport_ctx;
	ssize_t n;

	BIO_clear_retry_flags(bio);
	if (c->flags & CONN_DRY) {
		BIO_set_retry_read(bio);
		return -1;
	}
	do {
		n = recv(c->fd, buf, (size_t)len, MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	if (n > 0)
		tls_wire.rx_len += (size_t)n;
	if (unlikely(tls_wire.rx_len > FLOOD || t->updates == UINT32_MAX)) {
		c->error = EPROTO;
		return -1;
	}
	if (n == 0)
		t->flags |= TLS_FL_EOF;
	if (n >= 0 && (n == len || c->flags & CONN_RDHUP))
		return (int)n;
	if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
		c->error = (uint8_t)errno;
		return -1;
	}
	if (n != 0) {
		c->flags |= CONN_DRY;
		fd_cant_recv(c->fd);
	}
	if (n < 0)
		BIO_set_retry_read(bio);
	return (int)n;
}

/* Sends to the socket; returns how many bytes it took, -1: it failed. */
static ssize_t put(struct conn *c, const unsigned char *p, size_t len, bool more)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = send(c->fd, p + done, len - done,
			 MSG_DONTWAIT | MSG_NOSIGNAL | (more ? MSG_MORE : 0));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
			c->error = (uint8_t)errno;
			return -1;
		}
		if (n < 0)
			break;
		done += (size_t)n;
		sent_add((size_t)n);
		if (done < len && (size_t)n < len)
			break; /* a short write: the socket is full */
	}
	return (ssize_t)done;
}

bool tls_wire_hold(struct conn *c, const unsigned char *p, size_t len)
{
	struct tls_conn *t = c->transport_ctx;
	unsigned char *grown;

	if (t->out_at) {
		memmove(t->out, t->out + t->out_at, t->out_len - t->out_at);
		t->out_len -= t->out_at;
		t->out_at = 0;
	}
	grown = t->out_len + len <= HELD_MAX ? realloc(t->out, t->out_len + len) : NULL;
	if (!grown) {
		c->error = ENOMEM;
		return false;
	}
	memcpy(grown + t->out_len, p, len);
	t->out = grown;
	t->out_len += (uint32_t)len;
	c->flags |= CONN_TX_HELD;
	return true;
}

bool tls_tickets_wait(const struct tls_conn *t)
{
	return (t->flags & (TLS_FL_LATER | TLS_FL_BACK)) == TLS_FL_LATER && !tls_early_goes_on(t);
}

void tls_held_is_gone(struct conn *c)
{
	struct tls_conn *t = c->transport_ctx;

	free(t->out);
	t->out = NULL;
	t->out_len = t->out_at = 0;
	if (!tls_early_goes_on(t))
		c->flags &= (uint16_t)~CONN_TX_HELD;
}

/* Few held bytes go in front of those that were gathered: one call sends both. */
static size_t take_held(struct conn *c, size_t len)
{
	struct tls_conn *t = c->transport_ctx;
	size_t held = t->out_len - t->out_at;

	if (!len || !held || held > HELD_FEW || held + len > TX_SIZE)
		return len;
	memmove(tls_wire.tx + held, tls_wire.tx, len);
	memcpy(tls_wire.tx, t->out + t->out_at, held);
	tls_held_is_gone(c);
	return held + len;
}

enum io tls_wire_flush(struct conn *c, bool more)
{
	struct tls_conn *t = c->transport_ctx;
	size_t len = tls_wire.tx_len;
	ssize_t n = 0;

	tls_wire.tx_len = 0;
	if (tls_tickets_wait(t)) {
		list_remove(&t->later);
		t->flags &= (uint16_t)~TLS_FL_LATER;
	}
	if (c->flags & CONN_CAN_SEND)
		len = take_held(c, len);
	if (t->out_len && c->flags & CONN_CAN_SEND) {
		n = put(c, t->out + t->out_at, t->out_len - t->out_at, more || len);
		if (n < 0)
			return IO_ERR;
		t->out_at += (uint32_t)n;
		if (t->out_at == t->out_len) {
			tls_held_is_gone(c);
		} else {
			c->flags &= (uint16_t)~CONN_CAN_SEND;
			fd_cant_send(c->fd);
		}
	}
	if (!len)
		return t->out_len ? IO_AGAIN : IO_OK;
	n = t->out_len ? 0 : put(c, tls_wire.tx, len, more);
	if (n < 0)
		return IO_ERR;
	if ((size_t)n == len)
		return IO_OK;
	c->flags &= (uint16_t)~CONN_CAN_SEND;
	fd_cant_send(c->fd);
	return tls_wire_hold(c, tls_wire.tx + n, len - (size_t)n) ? IO_AGAIN : IO_ERR;
}

static int bio_write(BIO *bio, const char *buf, int len)
{
	BIO_clear_retry_flags(bio);
	if (tls_wire.tx_len + (size_t)len > TX_SIZE) {
		if (tls_wire_flush(tls_wire.conn, true) == IO_ERR)
			return -1;
		if ((size_t)len > TX_SIZE)
			len = TX_SIZE;
	}
	memcpy(tls_wire.tx + tls_wire.tx_len, buf, (size_t)len);
	tls_wire.tx_len += (size_t)len;
	return len;
}

static long bio_ctrl(BIO *bio, int cmd, long num, void *ptr)
{
	return cmd == BIO_CTRL_FLUSH || cmd == BIO_CTRL_DUP;
}

static int bio_create(BIO *bio)
{
	BIO_set_init(bio, 1);
	return 1;
}

/* --- operations ------------------------------------------------------------------------------- */

SSL *tls_enter(struct conn *c)
{
	tls_wire.conn = c;
	tls_wire.tx_len = 0;
	tls_wire.rx_len = 0;
	return ((struct tls_conn *)c->transport_ctx)->ssl;
}

enum io tls_leave(struct conn *c, bool more)
{
	const struct tls_conn *t = c->transport_ctx;
	bool held = c->flags & CONN_TX_HELD && !tls_tickets_wait(t);
	enum io r = tls_wire.tx_len || held ? tls_wire_flush(c, more) : IO_OK;

	tls_wire.conn = NULL;
	tls_gcm_forget();
	return r;
}

/* --- life ------------------------------------------------------------------------------------- */

void tls_wire_use(SSL *ssl)
{
	BIO_up_ref(tls_wire.bio);
	SSL_set_bio(ssl, tls_wire.bio, tls_wire.bio);
}

bool tls_wire_init(void)
{
	bio_method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "connection");
	return bio_method && BIO_meth_set_read(bio_method, bio_read) &&
	       BIO_meth_set_write(bio_method, bio_write) &&
	       BIO_meth_set_ctrl(bio_method, bio_ctrl) &&
	       BIO_meth_set_create(bio_method, bio_create);
}

bool tls_wire_thread_init(void)
{
	tls_wire.tx = malloc(TX_SIZE);
	tls_wire.bio = BIO_new(bio_method);
	return tls_wire.tx && tls_wire.bio;
}

void tls_wire_thread_fini(void)
{
	BIO_free(tls_wire.bio);
	free(tls_wire.tx);
}

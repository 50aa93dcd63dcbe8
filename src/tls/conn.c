/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conn.c - the transport: handshakes, records in, records out
 *
 * Bytes are received and sent by wire.c. Output that the socket does not accept is kept by the
 * connection (tls_conn.out), and then one byte of the caller's is reported as not sent: so the mux
 * above waits for room, and its next call flushes.
 *
 * OpenSSL allocates and frees its buffers with every record (SSL_MODE_RELEASE_BUFFERS): lib.c keeps
 * some.
 */
#include <errno.h>
#include <openssl/err.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "base/bug.h"
#include "base/clock.h"
#include "conn_priv.h"
#include "core/pool.h"
#include "core/thread.h"
#include "core/timer.h"
#include "early_priv.h"
#include "facts_priv.h"
#include "lib_priv.h"
#include "trace_priv.h"
#include "wire_priv.h"

static __thread struct {
	unsigned char *plain;     /* small pieces gathered for one record */
	struct list later;        /* what tls_flush() is called for at the end of the turn */
	struct turn_hook hook;
	struct list tickets;      /* those that hold nothing but tickets */
	struct timer tickets_timer;
} me;

static struct pool *tls_pool;

/* Why an operation did not go on. IO_AGAIN: bytes or room are missing. */
static enum io tls_failed(struct conn *c, int ret)
{
	struct tls_conn *t = c->transport_ctx;
	unsigned long why;

	switch (SSL_get_error(t->ssl, ret)) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return IO_AGAIN;
	case SSL_ERROR_ZERO_RETURN:
		return IO_EOF;
	}
	why = ERR_peek_error();
	if (!t->error)
		t->error = (uint32_t)why;
	ERR_clear_error();
	if (t->flags & TLS_FL_DONE && t->flags & TLS_FL_EOF)
		return IO_EOF; /* without a close_notify: higher protocols see what is missing */
	t->flags |= TLS_FL_FAILED;
	TLS_TRACE(ERROR, c, ERROR, "%s", ERR_reason_error_string(why) ? : "the socket failed");
	if (!c->error)
		c->error = EPROTO;
	return IO_ERR;
}

/* --- handshake -------------------------------------------------------------------------------- */

/* Has tls_flush() called at the end of the turn if there is a reason for it then. */
static void later(struct tls_conn *t)
{
	t->flags |= TLS_FL_LATER;
	list_append(&me.later, &t->later);
	turn_hook_add(&me.hook);
}

/* The tickets of TLS 1.3 need not be a packet of their own: they leave with the first answer or
 * other bytes of ours, or after a moment.
 */
#define TICKETS_WAIT_MS 5

static void send_later(struct conn *c)
{
	struct tls_conn *t = c->transport_ctx;
	size_t len = tls_wire.tx_len;

	tls_wire.tx_len = 0;
	if (!len || !tls_wire_hold(c, tls_wire.tx, len))
		return;
	t->flags |= TLS_FL_LATER;
	list_append(&me.tickets, &t->later);
	if (!timer_is_set(&me.tickets_timer))
		timer_set(&me.tickets_timer, clock_now_ms() + TICKETS_WAIT_MS);
}

static void tickets_waited(struct timer *timer)
{
	list_splice(&me.later, &me.tickets);
	turn_hook_add(&me.hook);
}

static void tls_flush_out(struct conn *c)
{
	tls_wire.tx_len = 0;
	if (tls_wire_flush(c, false) == IO_ERR)
		c->flags |= CONN_ERROR;
}

void tls_handshake_done(struct conn *c)
{
	struct tls_conn *t = c->transport_ctx;

	t->flags |= TLS_FL_DONE;
	TLS_TRACE(USER, c, HANDSHAKE, "the handshake is done, %s %s", SSL_get_version(t->ssl),
		  SSL_get_cipher(t->ssl));
	tls_count_handshake(t->flags & TLS_FL_BACK, SSL_session_reused(t->ssl));
	if (!(t->flags & TLS_FL_BACK))
		t->bind = NULL; /* the session may go on without its generation */
	tls_exchange_keys_drop(t->ssl);
	if (t->flags & TLS_FL_HAD_EARLY)
		c->flags |= CONN_CAN_SEND; /* what it did not take early */
	ERR_clear_error(); /* those of verification that were let pass */
	/* what came behind the handshake waits in OpenSSL's buffer */
	c->flags |= CONN_CAN_RECV;
}

/* Carries the handshake on, between tls_enter() and tls_leave(). IO_OK: it is over. */
static enum io handshake_go_on(struct conn *c, SSL *ssl)
{
	struct tls_conn *t = c->transport_ctx;
	enum io r = IO_OK;
	int n;

	if ((t->flags & (TLS_FL_EARLY | TLS_FL_EARLY_END | TLS_FL_BACK)) == TLS_FL_EARLY &&
	    !tls_early_read(t))
		r = tls_failed(c, 0);
	n = r == IO_OK ? SSL_do_handshake(ssl) : 1;
	if (n <= 0)
		r = tls_failed(c, n);
	if (r == IO_EOF)
		r = IO_ERR; /* a close_notify in the middle */
	if (r == IO_OK && !(t->flags & TLS_FL_BACK) && SSL_version(ssl) >= TLS1_3_VERSION)
		send_later(c);
	return r;
}

#define LEFT_BYTES 65536 /* behind a handshake that has failed: thrown away unread */

/* Its end is no reset then, which may overtake what the peer is told. */
static enum io handshake_failed(struct conn *c)
{
	struct tls_conn *t = c->transport_ctx;

	if (c->fd >= 0)
		(void)!recv(c->fd, NULL, LEFT_BYTES, MSG_TRUNC | MSG_DONTWAIT);
	t->flags |= TLS_FL_FAILED;
	return IO_ERR;
}

void tls_abort_on_close(struct conn *c)
{
	((struct tls_conn *)c->transport_ctx)->left = true;
}

/* Has the client closed its side in front of what costs most: the answer to its hello, or with TLS
 * 1.2 the exchange of keys? (Where that is left out, as a session is resumed, the client's request
 * may be there, too.) The first look comes before any event that could tell.
 */
static bool has_left(struct conn *c, const struct tls_conn *t)
{
	struct pollfd p = { .fd = c->fd, .events = POLLRDHUP };

	if (SSL_get_state(t->ssl) != TLS_ST_BEFORE)
		return c->flags & CONN_RDHUP && SSL_version(t->ssl) != TLS1_3_VERSION &&
		       !SSL_session_reused(t->ssl);
	if (c->fd >= 0 && !(c->flags & CONN_RDHUP) && poll(&p, 1, 0) == 1 &&
	    p.revents & (POLLRDHUP | POLLHUP))
		c->flags |= CONN_RDHUP;
	return c->flags & CONN_RDHUP;
}

static enum io tls_handshake(struct conn *c)
{
	struct tls_conn *t = c->transport_ctx;
	enum io r;

	if (unlikely(tls_early_begins(t))) {
		c->flags |= CONN_TX_HELD;
		later(t);
		return IO_OK;
	}
	if (t->left && has_left(c, t))
		return handshake_failed(c);
	r = handshake_go_on(c, tls_enter(c));
	if (tls_leave(c, false) == IO_ERR)
		r = IO_ERR;
	if (r == IO_AGAIN && tls_early_goes_on(t)) {
		/* it goes on beside the data: tls_recv(), tls_flush() */
		t->bind = NULL;
		c->flags |= CONN_CAN_RECV | CONN_TX_HELD;
		return IO_OK;
	}
	if (r == IO_OK)
		tls_handshake_done(c);
	return r == IO_ERR ? handshake_failed(c) : r;
}

static void tls_shut(struct conn *c);

/* Goes on with a handshake that is not over although there are data, between tls_enter() and
 * tls_leave().
 */
static void early_go_on(struct conn *c, SSL *ssl)
{
	struct tls_conn *t = c->transport_ctx;
	enum io r = handshake_go_on(c, ssl);

	t->early_room = 0; /* OpenSSL wants no more of it now */
	if (r == IO_AGAIN)
		return;
	if (r == IO_OK && t->flags & TLS_FL_EARLY_SENT && !tls_early_was_taken(t))
		r = IO_ERR;
	if (!t->out_len)
		c->flags &= (uint16_t)~CONN_TX_HELD;
	if (r == IO_OK)
		tls_handshake_done(c);
	else
		t->flags |= TLS_FL_FAILED;
	tls_early_over(t);
}

/* Sends our end if that had to wait for the handshake. */
static void shut_if_late(struct conn *c)
{
	struct tls_conn *t = c->transport_ctx;

	if ((t->flags & (TLS_FL_DONE | TLS_FL_SHUT_LATER)) != (TLS_FL_DONE | TLS_FL_SHUT_LATER))
		return;
	t->flags &= (uint16_t)~TLS_FL_SHUT_LATER;
	tls_shut(c);
}

/* Room, or whatever else: with CONN_TX_HELD. */
static void tls_flush(struct conn *c)
{
	struct tls_conn *t = c->transport_ctx;

	if (tls_early_goes_on(t)) {
		early_go_on(c, tls_enter(c));
		if (tls_leave(c, false) == IO_ERR || t->flags & TLS_FL_FAILED)
			c->flags |= CONN_ERROR;
		shut_if_late(c);
	} else if (!tls_tickets_wait(t)) {
		tls_flush_out(c);
	}
}

/* The mux had time to send something early: this turn, and the end of the next one, when it sends
 * what it has gathered. Without that the handshake begins.
 */
static void early_start(struct conn *c)
{
	struct tls_conn *t = c->transport_ctx;

	if (t->flags & TLS_FL_EARLY_SENT)
		return;
	if (t->flags & TLS_FL_EARLY_END) {
		tls_flush(c);
		return;
	}
	t->flags |= TLS_FL_EARLY_END;
	later(t);
}

/* Another handshake is over, in which nothing could be sent: the layer above goes on. */
static void unblock(struct tls_conn *t)
{
	t->flags &= (uint16_t)~TLS_FL_BLOCKED;
	t->conn->flags |= CONN_CAN_SEND;
	t->conn->ops->ready(t->conn);
}

static void send_all_later(struct turn_hook *hook)
{
	struct list todo;

	list_init(&todo);
	list_splice(&todo, &me.later);
	while (!list_is_empty(&todo)) {
		struct tls_conn *t = list_first(&todo, struct tls_conn, later);

		list_remove(&t->later);
		t->flags &= (uint16_t)~TLS_FL_LATER;
		if (tls_early_goes_on(t) && t->flags & TLS_FL_BACK)
			early_start(t->conn);
		else if (t->flags & TLS_FL_BLOCKED)
			unblock(t);
		else if (t->conn->flags & CONN_TX_HELD)
			tls_flush_out(t->conn);
	}
}

/* --- data ------------------------------------------------------------------------------------- */

static enum io tls_recv_one(struct conn *c, SSL *ssl, struct iovec *v, size_t *got)
{
	struct tls_conn *t = c->transport_ctx;
	size_t room = v->iov_len;
	char *p = v->iov_base;
	int r;

	*got = tls_early_take(t, p, room);
	p += *got;
	room -= *got;
	if (!(t->flags & TLS_FL_DONE))
		return !room ? IO_OK : t->flags & TLS_FL_FAILED ? IO_ERR : IO_AGAIN;
	while (room) {
		r = SSL_read(ssl, p, room > INT32_MAX ? INT32_MAX : (int)room);
		if (r <= 0)
			return tls_failed(c, r);
		tls_wire.rx_len = 0;
		*got += (size_t)r;
		p += r;
		room -= (size_t)r;
		/* nothing is left anywhere: do not ask for a buffer to learn it again */
		if (c->flags & CONN_DRY && !SSL_has_pending(ssl))
			return IO_AGAIN;
	}
	return IO_OK;
}

static enum io tls_recv(struct conn *c, struct iovec *v, int count, size_t *got)
{
	struct tls_conn *t = c->transport_ctx;
	enum io r = IO_OK, sent;
	SSL *ssl;
	size_t n;

	*got = 0;
	if (t->flags & TLS_FL_FAILED)
		return IO_ERR;
	ssl = tls_enter(c);
	if (unlikely(tls_early_goes_on(t)) && !(t->flags & TLS_FL_BACK))
		early_go_on(c, ssl); /* (with servers events do: tls_flush()) */
	for (int i = 0; r == IO_OK && i < count; i++) {
		r = tls_recv_one(c, ssl, &v[i], &n);
		*got += n;
	}
	sent = tls_leave(c, false);
	shut_if_late(c);
	if (unlikely(t->flags & TLS_FL_BLOCKED) && !(t->flags & TLS_FL_LATER) && !SSL_in_init(ssl))
		later(t);
	if (*got) {
		/* an end or an error is found again by the next call */
		if (r == IO_EOF || r == IO_ERR)
			c->flags |= CONN_RDHUP;
		return IO_OK;
	}
	return sent == IO_ERR ? IO_ERR : r;
}

/* What of the vectors is to be encrypted next. */
struct cursor {
	const struct iovec *v;
	int count;
	size_t at; /* in the first vector */
};

static void cursor_skip(struct cursor *k, size_t len)
{
	while (len) {
		size_t left = k->v->iov_len - k->at, n = len < left ? len : left;

		k->at += n;
		len -= n;
		if (k->at < k->v->iov_len)
			return;
		k->v++;
		k->count--;
		k->at = 0;
	}
}

/* The next run of at most <max> bytes: in place when it is long, else small pieces copied to one.
 */
static const void *cursor_next(struct cursor *k, size_t max, size_t *len)
{
	const struct iovec *v = k->v;
	size_t n = v->iov_len - k->at, used = 0;

	if (n >= max || k->count == 1) {
		*len = n < max ? n : max;
		return (const char *)v->iov_base + k->at;
	}
	for (int i = 0; i < k->count && used < max; i++) {
		size_t from = i ? 0 : k->at;

		n = v[i].iov_len - from;
		if (n > max - used)
			n = max - used;
		memcpy(me.plain + used, (const char *)v[i].iov_base + from, n);
		used += n;
	}
	*len = used;
	return me.plain;
}

/* Returns as SSL_write() does. */
static int encrypt(struct tls_conn *t, const void *p, size_t len)
{
	size_t done;

	if (likely(t->flags & TLS_FL_DONE))
		return SSL_write(t->ssl, p, (int)len);
	/* (the client's handshake is not over, but it knows our keys) */
	if (!SSL_write_early_data(t->ssl, p, len, &done))
		return 0;
	if (t->flags & TLS_FL_BACK)
		tls_early_sent(t, done);
	return (int)done;
}

/* Encrypts and sends until all is done or the socket is full. *done: bytes encrypted. */
static enum io tls_send_all(struct conn *c, SSL *ssl, struct cursor *k, size_t *done, bool more)
{
	struct tls_conn *t = c->transport_ctx;
	size_t len;
	const void *p;
	enum io r;
	int n;

	if (t->records.first)
		tls_flow_begins(t);
	while (k->count) {
		if (!k->v->iov_len) {
			k->v++;
			k->count--;
			continue;
		}
		if (unlikely(tls_sends_early(t)) && !tls_early_room(t))
			return IO_AGAIN;
		p = cursor_next(k, tls_record_size(t), &len);
		n = encrypt(t, p, len);
		if (n <= 0)
			return tls_failed(c, n);
		*done += (size_t)n;
		if (t->flowed < TLS_FLOW_IS_BULK)
			t->flowed += (uint32_t)n;
		cursor_skip(k, (size_t)n);
		if (tls_wire.tx_len < TLS_WIRE_SOFT)
			continue;
		r = tls_wire_flush(c, more || k->count);
		if (r != IO_OK)
			return r;
	}
	return IO_OK;
}

static enum io tls_send(struct conn *c, const struct iovec *v, int count, size_t *sent, bool more)
{
	struct tls_conn *t = c->transport_ctx;
	struct cursor k = { v, count, 0 };
	size_t done = 0;
	enum io r, out;
	SSL *ssl;

	*sent = 0;
	if (t->flags & TLS_FL_FAILED)
		return IO_ERR;
	ssl = tls_enter(c);
	if (t->flags & TLS_FL_HELD) {
		/* its first byte is among what is held */
		out = tls_wire_flush(c, false);
		if (out != IO_OK) {
			tls_wire.conn = NULL;
			return out; /* nothing was encrypted */
		}
		t->flags &= (uint16_t)~TLS_FL_HELD;
		done = 1;
		cursor_skip(&k, 1);
	} else if (t->out_len && t->out_len - t->out_at < TLS_RECORD_MAX) {
		/* tickets and their kin leave with the first bytes behind them */
		tls_wire.tx_len = t->out_len - t->out_at;
		memcpy(tls_wire.tx, t->out + t->out_at, tls_wire.tx_len);
		tls_held_is_gone(c);
	}
	r = tls_send_all(c, ssl, &k, &done, more);
	out = tls_leave(c, more);
	if (unlikely(r == IO_AGAIN && t->flags & TLS_FL_DONE && SSL_in_init(ssl)))
		t->flags |= TLS_FL_BLOCKED;
	*sent = done;
	if (r == IO_ERR || r == IO_EOF || out == IO_ERR)
		return IO_ERR;
	if (out == IO_AGAIN && done) {
		t->flags |= TLS_FL_HELD;
		*sent = done - 1;
	}
	return out == IO_AGAIN ? IO_AGAIN : r;
}

/* Our close_notify, once. */
static void say_goodbye(struct conn *c)
{
	struct tls_conn *t = c->transport_ctx;

	if (!(t->flags & TLS_FL_DONE) || t->flags & (TLS_FL_SHUT | TLS_FL_FAILED))
		return;
	t->flags |= TLS_FL_SHUT;
	tls_enter(c);
	if (SSL_shutdown(t->ssl) < 0)
		ERR_clear_error();
	tls_leave(c, false);
}

static void tls_shut(struct conn *c)
{
	struct tls_conn *t = c->transport_ctx;

	if (tls_early_goes_on(t)) {
		t->flags |= TLS_FL_SHUT_LATER;
		return;
	}
	say_goodbye(c);
	shutdown(c->fd, SHUT_WR);
}

static bool tls_quiet(struct conn *c)
{
	struct tls_conn *t = c->transport_ctx;
	enum io r = IO_OK;
	char byte;
	int n;

	if (t->flags & TLS_FL_FAILED)
		return false;
	tls_enter(c);
	n = SSL_peek(t->ssl, &byte, 1);
	if (n <= 0)
		r = tls_failed(c, n);
	if (tls_leave(c, false) == IO_ERR || n > 0 || r != IO_AGAIN)
		return false;
	c->flags &= (uint16_t)~CONN_CAN_RECV;
	fd_cant_recv(c->fd);
	return true;
}

bool tls_handshake_step(struct conn *c)
{
	enum io r = tls_handshake(c);

	if (r == IO_AGAIN)
		return false;
	c->flags &= (uint16_t)~CONN_HANDSHAKE;
	if (r != IO_OK)
		c->flags |= CONN_ERROR;
	return true;
}

/* --- life ------------------------------------------------------------------------------------- */

/* What keylog.c keeps. */
static void secrets_free(char ***secrets)
{
	for (int i = 0; *secrets && i < TLS_SECRETS; i++) {
		char *text = (*secrets)[i];

		if (text)
			OPENSSL_cleanse(text, strlen(text));
		free(text);
	}
	free(*secrets);
	*secrets = NULL;
}

void tls_ssl_free(struct tls_conn *t)
{
	if (!t->ssl)
		return;
	/* a session is good for others even if this connection ended rudely */
	SSL_set_shutdown(t->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(t->ssl);
	t->ssl = NULL;
}

static void tls_close(struct conn *c)
{
	struct tls_conn *t = c->transport_ctx;

	TLS_TRACE(STATE, c, END, "the connection ends");
	if (!(c->flags & (CONN_ERROR | CONN_NO_LINGER | CONN_DETACHED)) &&
	    !(t->flags & TLS_FL_EOF))
		say_goodbye(c);
	if (t->flags & TLS_FL_LATER)
		list_remove(&t->later);
	tls_uncount(t);
	tls_ssl_free(t);
	tls_facts_free(t);
	free(t->capture);
	secrets_free(&t->secrets);
	tls_early_free(t);
	free(t->out);
	pool_free(tls_pool, t);
	c->transport_ctx = NULL;
}

/* Another thread has its own BIO. */
static void tls_move(struct conn *c)
{
	struct tls_conn *t = c->transport_ctx;

	tls_wire_use(t->ssl);
	c->flags &= (uint16_t)~CONN_DRY;
}

const struct transport transport_tls = {
	.is_tls = true, .name = "SSL", .recv = tls_recv, .send = tls_send, .shut = tls_shut,
	.close = tls_close,
	.handshake = tls_handshake, .flush = tls_flush, .quiet = tls_quiet, .move = tls_move,
	.alpn = tls_alpn,
};

bool tls_attach(struct conn *c, SSL *ssl, unsigned flags)
{
	struct tls_conn *t = ssl ? pool_zalloc(tls_pool) : NULL;

	if (!t) {
		SSL_free(ssl);
		return false;
	}
	tls_wire_use(ssl);
	t->ssl = ssl;
	t->conn = c;
	t->flags = (uint16_t)flags;
	c->transport = &transport_tls;
	c->transport_ctx = t;
	c->flags |= CONN_HANDSHAKE;
	TLS_TRACE(STATE, c, NEW, "a connection begins");
	return true;
}

bool tls_conn_init(void)
{
	tls_pool = pool_new("tls_conn", sizeof(struct tls_conn));
	return tls_pool && tls_wire_init();
}

bool tls_conn_thread_init(void)
{
	tls_memory_thread_init();
	list_init(&me.later);
	turn_hook_init(&me.hook, send_all_later);
	list_init(&me.tickets);
	timer_init(&me.tickets_timer, tickets_waited);
	me.plain = malloc(TLS_RECORD_MAX);
	return tls_wire_thread_init() && me.plain;
}

void tls_conn_thread_fini(void)
{
	timer_cancel(&me.tickets_timer);
	tls_wire_thread_fini();
	free(me.plain);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quic.c - TLS inside QUIC: handshakes, and the transport of the connection (RFC 9001 4)
 *
 * How OpenSSL is brought to do without records is the matter of compat.c.
 */
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include "../conn_priv.h"
#include "../early_priv.h"
#include "net/dial.h"
#include "quic_priv.h"
#include "tls/tls.h"

/* Bytes of a handshake, with a server's tickets behind it. */
#define HANDSHAKE_MOST (1024 * 1024)

/* --- handshakes ------------------------------------------------------------------------------- */

static enum quic_tls_status step(struct conn *c, struct tls_conn *t, uint8_t *alert)
{
	struct tls_quic *q = t->quic;
	SSL *ssl = tls_enter(c);
	int n = SSL_do_handshake(ssl), why = SSL_get_error(ssl, n);
	bool good = n == 1 && SSL_version(ssl) == TLS1_3_VERSION && !q->failed;

	if (n != 1 && why != SSL_ERROR_WANT_READ && !t->error)
		t->error = (uint32_t)ERR_peek_error();
	tls_leave(c, false);
	ERR_clear_error();
	if (!q->failed && n != 1 && why == SSL_ERROR_WANT_READ)
		return QUIC_TLS_MORE;
	if (good && !tls_alpn(c).len) {
		q->alert = SSL_AD_NO_APPLICATION_PROTOCOL;
		good = false;
	}
	if (good && q->client && !q->params_seen) {
		q->alert = SSL_AD_MISSING_EXTENSION;
		good = false;
	}
	if (!good) {
		t->flags |= TLS_FL_FAILED;
		*alert = q->params_bad ? 0 : q->alert ? q->alert : SSL_AD_INTERNAL_ERROR;
		return QUIC_TLS_FAILED;
	}
	if (!(t->flags & TLS_FL_DONE))
		tls_handshake_done(c);
	return QUIC_TLS_DONE;
}

/* What a server says behind the handshake. */
static enum quic_tls_status take_tickets(struct conn *c, struct tls_conn *t, uint8_t *alert)
{
	SSL *ssl = tls_enter(c);
	char byte;
	int n = SSL_read(ssl, &byte, 1), why = SSL_get_error(ssl, n);

	tls_leave(c, false);
	ERR_clear_error();
	if (n <= 0 && why == SSL_ERROR_WANT_READ)
		return QUIC_TLS_DONE;
	t->flags |= TLS_FL_FAILED;
	*alert = t->quic->alert ? t->quic->alert : SSL_AD_UNEXPECTED_MESSAGE;
	return QUIC_TLS_FAILED;
}

static enum quic_tls_status quic_recv(struct conn *c, enum quic_level level, const uint8_t *bytes,
				      size_t len, uint8_t *alert)
{
	struct tls_conn *t = c->transport_ctx;
	struct tls_quic *q = t->quic;
	bool done = t->flags & TLS_FL_DONE;

	*alert = SSL_AD_UNEXPECTED_MESSAGE;
	/* of a server tickets may come behind the handshake */
	if (t->flags & TLS_FL_FAILED || done != (level == QUIC_LEVEL_APP) || (done && !q->client))
		return QUIC_TLS_FAILED;
	if ((q->seen += len) > HANDSHAKE_MOST || !tls_quic_feed(q, level, bytes, len))
		return QUIC_TLS_FAILED;
	return done ? take_tickets(c, t, alert) : step(c, t, alert);
}

static void quic_leave(struct conn *c)
{
	struct tls_conn *t = c->transport_ctx;

	t->quic->owner = NULL;
}

const struct quic_tls_ops tls_quic_ops = { .recv = quic_recv, .leave = quic_leave };

/* --- the transport of the connection, which carries nothing ----------------------------------- */

static enum io no_recv(struct conn *c, struct iovec *v, int count, size_t *got)
{
	*got = 0;
	return IO_AGAIN;
}

static enum io no_send(struct conn *c, const struct iovec *v, int count, size_t *sent, bool more)
{
	*sent = 0;
	return IO_ERR;
}

static void no_shut(struct conn *c)
{
}

static void *quic_of(const struct conn *c)
{
	const struct tls_conn *t = c->transport_ctx;

	return t->quic->owner;
}

static const struct addr *quic_address(const struct conn *c, bool peer)
{
	const struct tls_conn *t = c->transport_ctx;
	const struct tls_quic *q = t->quic;

	return q->owner ? q->user->address(q->owner, peer) : NULL;
}

static void quic_close(struct conn *c)
{
	struct tls_conn *t = c->transport_ctx;
	struct tls_quic *q = t->quic;

	if (q->owner)
		q->user->closed(q->owner);
	for (unsigned i = 0; i < QUIC_LEVELS; i++)
		EVP_CIPHER_CTX_free(q->records[i].aead);
	free(q);
	c->flags |= CONN_ERROR; /* the peer is not told goodbye */
	transport_tls.close(c);
}

static const struct transport transport_tls_quic = {
	.is_tls = true, .name = "QUIC", .recv = no_recv, .send = no_send, .shut = no_shut,
	.close = quic_close,
	.alpn = tls_alpn, .quic = quic_of, .address = quic_address,
};

static struct tls_quic *quic_new(const struct tls_quic_start *how)
{
	struct tls_quic *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->user = how->user;
	q->owner = how->owner;
	q->in = BIO_new(BIO_s_mem());
	if (!q->in) {
		free(q);
		return NULL;
	}
	BIO_set_mem_eof_return(q->in, -1);
	return q;
}

static void quic_free(struct tls_quic *q)
{
	if (!q)
		return;
	BIO_free(q->in);
	free(q);
}

/* TLS of <c> reads what <q> is given, and what it writes is thrown away. */
static void quic_put_on(struct conn *c, struct tls_quic *q, BIO *out)
{
	struct tls_conn *t = c->transport_ctx;

	t->quic = q;
	c->transport = &transport_tls_quic;
	SSL_set_bio(t->ssl, q->in, out);
	SSL_set_msg_callback(t->ssl, tls_quic_message);
	SSL_set_min_proto_version(t->ssl, TLS1_3_VERSION);
	SSL_clear_options(t->ssl, SSL_OP_ENABLE_MIDDLEBOX_COMPAT);
	SSL_set_max_early_data(t->ssl, 0);
	SSL_set_recv_max_early_data(t->ssl, 0);
	t->flags &= (uint16_t)~TLS_FL_EARLY;
}

bool tls_quic_accept(struct conn *c, struct slot_area *bind, const struct tls_quic_start *how)
{
	struct tls_quic *q = quic_new(how);
	BIO *out = BIO_new(BIO_s_null());

	if (!q || !out || !tls_accept(c, bind)) {
		BIO_free(out);
		quic_free(q);
		return false;
	}
	quic_put_on(c, q, out);
	c->flags &= (uint16_t)~CONN_HANDSHAKE;
	return true;
}

bool tls_quic_dial(struct conn *c, struct dial_want *w, const struct tls_quic_start *how)
{
	unsigned early = w->flags & DIAL_MAY_BE_EARLY;
	struct tls_quic *q = quic_new(how);
	BIO *out = BIO_new(BIO_s_null());
	bool ok;

	w->flags &= ~early;
	ok = q && out && tls_dial(c, w);
	w->flags |= early;
	if (!ok) {
		BIO_free(out);
		quic_free(q);
		return false;
	}
	q->client = true;
	quic_put_on(c, q, out);
	return true;
}

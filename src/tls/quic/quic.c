/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quic.c - TLS inside QUIC: handshakes, and the transport of the connection (RFC 9001 4)
 *
 * TLS without records is done in native.c, if OpenSSL has an interface for QUIC, or in compat.c;
 * the Makefile chooses one of them.
 */
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include "../conn_priv.h"
#include "../early_priv.h"
#include "../facts_priv.h"
#include "net/dial.h"
#include "quic_priv.h"
#include "tls/tls.h"

/* Bytes of a handshake, with a server's tickets behind it. */
#define HANDSHAKE_MOST (1024 * 1024)

/* --- handshakes ------------------------------------------------------------------------------- */

/* Carries the handshake on: 1, or what SSL_get_error() tells by *why. Where early data may be taken
 * and is not, OpenSSL stops behind what we say, as if they were to be read now, and has to be asked
 * for them: with these it goes on.
 */
static int go_on(SSL *ssl, int *why)
{
	int n = SSL_do_handshake(ssl);
	char byte;

	if (n == 1 && SSL_get_state(ssl) == TLS_ST_EARLY_DATA) {
		n = SSL_read(ssl, &byte, 1);
		*why = n > 0 ? SSL_ERROR_SSL : SSL_get_error(ssl, n);
		return *why == SSL_ERROR_WANT_READ && SSL_get_state(ssl) == TLS_ST_OK ? 1 : -1;
	}
	*why = SSL_get_error(ssl, n);
	return n;
}

/* It goes on beside the client's early data. */
static enum quic_tls_status early_step(struct tls_conn *t)
{
	if (!(t->flags & TLS_FL_HAD_EARLY) && !tls_early_elsewhere(t))
		return QUIC_TLS_FAILED;
	t->bind = NULL; /* the session may go on without its generation */
	return QUIC_TLS_EARLY;
}

/* A client says nothing more to OpenSSL (quic_recv()): what is asked of the connection is kept. */
static void let_go(struct tls_conn *t)
{
	if (!tls_facts_keep(t))
		return;
	tls_ssl_free(t);
	tls_quic_layer_free(t->quic);
}

static enum quic_tls_status step(struct conn *c, struct tls_conn *t, uint8_t *alert)
{
	struct tls_quic *q = t->quic;
	SSL *ssl = tls_enter(c);
	int why, n = go_on(ssl, &why);
	bool good = n == 1 && SSL_version(ssl) == TLS1_3_VERSION && !q->failed;

	if (n != 1 && why != SSL_ERROR_WANT_READ && !t->error)
		t->error = (uint32_t)ERR_peek_error();
	tls_leave(c, false);
	ERR_clear_error();
	if (!q->failed && n != 1 && why == SSL_ERROR_WANT_READ)
		return q->early ? early_step(t) : QUIC_TLS_MORE;
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
		tls_early_free(t);
		*alert = q->params_bad ? 0 : q->alert ? q->alert : SSL_AD_INTERNAL_ERROR;
		return QUIC_TLS_FAILED;
	}
	if (!(t->flags & TLS_FL_DONE))
		tls_handshake_done(c);
	tls_early_free(t);
	if (!q->client)
		let_go(t);
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
	q->owner = NULL;
	c->flags |= CONN_ERROR; /* the peer is not told goodbye */
	transport_tls.close(c);
	tls_quic_layer_free(q);
	free(q);
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
	return q;
}

/* TLS of <c>, on which it was put, is that of QUIC. False: no memory; <q> stays the caller's. */
static bool quic_put_on(struct conn *c, struct tls_quic *q)
{
	struct tls_conn *t = c->transport_ctx;

	SSL_set_min_proto_version(t->ssl, TLS1_3_VERSION);
	/* (what a line says of versions is about TCP) */
	SSL_clear_options(t->ssl, SSL_OP_ENABLE_MIDDLEBOX_COMPAT | SSL_OP_NO_TLSv1_3);
	if (!tls_quic_layer_start(q, t->ssl, t->flags & TLS_FL_EARLY)) {
		ERR_clear_error();
		return false;
	}
	t->flags &= (uint16_t)~TLS_FL_EARLY; /* (that is about records) */
	t->quic = q;
	c->transport = &transport_tls_quic;
	return true;
}

bool tls_quic_accept(struct conn *c, struct slot_area *bind, const struct tls_quic_start *how)
{
	struct tls_quic *q = quic_new(how);

	if (!q || !tls_accept(c, bind) || !quic_put_on(c, q)) {
		free(q);
		return false;
	}
	c->flags &= (uint16_t)~CONN_HANDSHAKE;
	return true;
}

bool tls_quic_dial(struct conn *c, struct dial_want *w, const struct tls_quic_start *how)
{
	unsigned early = w->flags & DIAL_MAY_BE_EARLY;
	struct tls_quic *q = quic_new(how);
	bool ok;

	w->flags &= ~early;
	ok = q && tls_dial(c, w);
	w->flags |= early;
	if (q)
		q->client = true;
	if (ok && quic_put_on(c, q))
		return true;
	free(q);
	return false;
}

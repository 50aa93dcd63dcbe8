/* SPDX-License-Identifier: GPL-2.0-or-later */
/* native.c - TLS inside QUIC, by OpenSSL's interface for stacks of others, from 3.5 on (RFC 9001 4)
 *
 * OpenSSL takes and gives bytes of messages, in the clear and without records, and passes secrets
 * as they are made. The levels at which it reads and writes follow from the last secret of each
 * direction.
 */
#include <openssl/core_dispatch.h>
#include <stdlib.h>
#include <string.h>
#include "../conn_priv.h"
#include "quic_priv.h"
#include "tls/tls.h"

/* --- what OpenSSL calls, with a struct tls_quic ----------------------------------------------- */

static int on_send(SSL *ssl, const unsigned char *bytes, size_t len, size_t *consumed, void *arg)
{
	struct tls_quic *q = arg;

	*consumed = len;
	return q->owner && q->user->send(q->owner, q->tx_level, bytes, len);
}

static int on_recv(SSL *ssl, const unsigned char **bytes, size_t *len, void *arg)
{
	const struct tls_quic *q = arg;

	*bytes = (const unsigned char *)q->rx.ptr;
	*len = q->rx.len;
	return 1;
}

/* It has read so many of them. */
static int on_release(SSL *ssl, size_t len, void *arg)
{
	struct tls_quic *q = arg;

	if (len > q->rx.len)
		return 0;
	q->rx = slice_make(q->rx.ptr + len, q->rx.len - len);
	return 1;
}

static int on_secret(SSL *ssl, uint32_t protection, int direction, const unsigned char *secret,
		     size_t len, void *arg)
{
	static const uint8_t levels[] = {
		[OSSL_RECORD_PROTECTION_LEVEL_EARLY] = QUIC_LEVEL_EARLY,
		[OSSL_RECORD_PROTECTION_LEVEL_HANDSHAKE] = QUIC_LEVEL_HANDSHAKE,
		[OSSL_RECORD_PROTECTION_LEVEL_APPLICATION] = QUIC_LEVEL_APP,
	};
	struct tls_quic *q = arg;
	const SSL_CIPHER *suite = SSL_get_current_cipher(ssl);
	uint8_t level = protection < sizeof(levels) ? levels[protection] : 0;

	if (!q->owner || !level || !suite)
		return 0;
	/* (no messages come or go at that level) */
	if (level == QUIC_LEVEL_EARLY)
		q->early = true;
	else if (direction)
		q->tx_level = level;
	else
		q->rx_level = level;
	return q->user->secret(q->owner, level, direction, SSL_CIPHER_get_protocol_id(suite),
			       secret, len);
}

/* Ours are made when the client's are known: they may depend on these. */
static bool give_params(SSL *ssl, struct tls_quic *q)
{
	size_t len;

	if (!q->params)
		q->params = malloc(QUIC_TLS_PARAMS_ROOM);
	len = q->params && q->owner ? q->user->own_params(q->owner, q->params) : 0;
	return len && SSL_set_quic_tls_transport_params(ssl, q->params, len) == 1;
}

/* Those of a client were read before, by tls_quic_hello(). */
static int on_params(SSL *ssl, const unsigned char *bytes, size_t len, void *arg)
{
	struct tls_quic *q = arg;

	if (!q->client)
		return give_params(ssl, q);
	q->params_seen = true;
	q->params_bad = !q->owner || !q->user->params(q->owner, bytes, len);
	return !q->params_bad;
}

static int on_alert(SSL *ssl, unsigned char alert, void *arg)
{
	struct tls_quic *q = arg;

	q->alert = alert;
	return 1;
}

/* --- the layer -------------------------------------------------------------------------------- */

static const OSSL_DISPATCH calls[] = {
	{ OSSL_FUNC_SSL_QUIC_TLS_CRYPTO_SEND, (void (*)(void))on_send },
	{ OSSL_FUNC_SSL_QUIC_TLS_CRYPTO_RECV_RCD, (void (*)(void))on_recv },
	{ OSSL_FUNC_SSL_QUIC_TLS_CRYPTO_RELEASE_RCD, (void (*)(void))on_release },
	{ OSSL_FUNC_SSL_QUIC_TLS_YIELD_SECRET, (void (*)(void))on_secret },
	{ OSSL_FUNC_SSL_QUIC_TLS_GOT_TRANSPORT_PARAMS, (void (*)(void))on_params },
	{ OSSL_FUNC_SSL_QUIC_TLS_ALERT, (void (*)(void))on_alert },
	OSSL_DISPATCH_END
};

bool tls_quic_is_native(void)
{
	return true;
}

/* A session that we give away remembers what it was told of limits. */
static int on_ticket(SSL *ssl, void *arg)
{
	const struct tls_quic *q = tls_quic_now();
	uint8_t limits[QUIC_TLS_LIMITS_ROOM];
	size_t len = q && q->owner && q->may_be_early ? q->user->limits(q->owner, limits) : 0;

	return !len || SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), limits, len) == 1;
}

/* May early data be taken? The client keeps to the limits that it was told with the session: to
 * those of now, or it is refused (RFC 9000 7.4.1).
 */
static int on_early(SSL *ssl, void *arg)
{
	const struct tls_quic *q = tls_quic_now();
	uint8_t limits[QUIC_TLS_LIMITS_ROOM];
	size_t len = q && q->owner ? q->user->limits(q->owner, limits) : 0, told;
	void *bytes;

	return len && SSL_SESSION_get0_ticket_appdata(SSL_get_session(ssl), &bytes, &told) == 1 &&
	       told == len && memcmp(bytes, limits, len) == 0;
}

bool tls_quic_attach(SSL_CTX *ctx)
{
	SSL_CTX_set_allow_early_data_cb(ctx, on_early, NULL);
	return SSL_CTX_set_session_ticket_cb(ctx, on_ticket, NULL, NULL) == 1;
}

bool tls_quic_layer_start(struct tls_quic *q, SSL *ssl, bool early)
{
	uint32_t max = SSL_get_max_early_data(ssl);

	q->ssl = ssl;
	if (SSL_set_quic_tls_cbs(ssl, calls, q) != 1)
		return false;
	if (early && !q->client) {
		q->may_be_early = true;
		if (SSL_set_quic_tls_early_data_enabled(ssl, 1) != 1)
			return false;
	}
	SSL_set_max_early_data(ssl, q->may_be_early && max ? UINT32_MAX : 0);
	return true;
}

void tls_quic_layer_free(struct tls_quic *q)
{
	free(q->params);
	q->params = NULL;
}

bool tls_quic_feed(struct tls_quic *q, enum quic_level level, const uint8_t *bytes, size_t len)
{
	/* a client begins */
	if (q->client && !len && !give_params(q->ssl, q))
		return false;
	if (q->rx.len || (len && level != q->rx_level))
		return false;
	q->rx = slice_make((const char *)bytes, len);
	return true;
}

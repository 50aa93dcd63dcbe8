/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quic_hello.c - TLS inside QUIC: a client's hello, with the transport parameters in it */
#include "../conn_priv.h"
#include "quic_priv.h"

struct tls_quic *tls_quic_now(void)
{
	const struct conn *c = tls_now();
	const struct tls_conn *t = c ? c->transport_ctx : NULL;

	return t ? t->quic : NULL;
}

bool tls_is_quic(void)
{
	return tls_quic_now() != NULL;
}

bool tls_quic_hello(SSL *ssl, int *alert)
{
	struct tls_quic *q = tls_quic_now();
	const unsigned char *bytes;
	size_t len;

	if (!q)
		return true;
	*alert = SSL_AD_MISSING_EXTENSION;
	if (!SSL_client_hello_get0_ext(ssl, TLS_QUIC_EXT_PARAMS, &bytes, &len))
		return false;
	*alert = SSL_AD_ILLEGAL_PARAMETER;
	q->params_bad = !q->user->params(q->owner, bytes, len);
	return !q->params_bad;
}

uint32_t tls_quic_early_max(uint32_t max)
{
	const struct tls_quic *q = tls_quic_now();

	return !q ? max : max && q->may_be_early ? UINT32_MAX : 0;
}

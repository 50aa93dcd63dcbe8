/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verify.c - what is made of a certificate that does not stand the check */
#include <openssl/err.h>
#include "bind_priv.h"
#include "conn_priv.h"
#include "ctx_priv.h"

/* Is the error among those that the line lets pass? */
static bool is_ignored(const struct tls_bind *b, int error, bool of_ca)
{
	const uint64_t *mask = of_ca ? b->ignore_ca : b->ignore_crt;

	if (of_ca ? b->ignore_ca_all : b->ignore_crt_all)
		return true;
	return error >= 0 && error < 128 && mask[error / 64] >> (error % 64) & 1;
}

int tls_verify_callback(int ok, X509_STORE_CTX *ctx)
{
	int depth = X509_STORE_CTX_get_error_depth(ctx), error = X509_STORE_CTX_get_error(ctx);
	struct tls_conn *t = tls_now() ? tls_now()->transport_ctx : NULL;

	if (ok || !t)
		return ok;
	if (t->flags & TLS_FL_BACK) {
		t->peer_error = (uint8_t)error;
		return ok;
	}
	if (depth > 0) {
		if (!t->ca_error) {
			t->ca_error = (uint8_t)error;
			t->ca_depth = (uint8_t)depth;
		}
	} else if (!t->peer_error) {
		t->peer_error = (uint8_t)error;
	}
	if (!t->bind || !is_ignored(t->bind, error, depth > 0))
		return 0;
	ERR_clear_error();
	return 1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shown.c - what is shown beside a certificate: an answer of its authority about it (RFC 6066 8),
 * and timestamps of the logs that it stands in (RFC 6962 3.3)
 *
 * Both are stored with the leaf itself: a callback of OpenSSL has no other reference to a
 * certificate.
 */
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "shown_priv.h"

struct shown {
	time_t until;
	size_t len;
	unsigned char bytes[];
};

static int places[TLS_SHOWN_PLACES] = { -1, -1, -1 };

static void shown_free(void *parent, void *ptr, CRYPTO_EX_DATA *ad, int index, long argl,
		       void *argp)
{
	free(ptr);
}

bool tls_shown_init(void)
{
	for (int i = 0; i < TLS_SHOWN_PLACES; i++) {
		places[i] = X509_get_ex_new_index(0, NULL, NULL, NULL, shown_free);
		if (places[i] < 0)
			return false;
	}
	return true;
}

/* Answers are replaced while handshakes copy them. */
#define LOCKS 16
static pthread_mutex_t locks[LOCKS] = { [0 ... LOCKS - 1] = PTHREAD_MUTEX_INITIALIZER };

static pthread_mutex_t *lock_of(const X509 *leaf)
{
	return &locks[((uintptr_t)leaf >> 6) % LOCKS];
}

bool tls_shown_set(X509 *leaf, enum tls_shown what, const unsigned char *bytes, size_t len,
		   time_t until)
{
	struct shown *s = malloc(sizeof(*s) + len), *old;
	bool good;

	if (!s)
		return false;
	s->until = until;
	s->len = len;
	memcpy(s->bytes, bytes, len);
	pthread_mutex_lock(lock_of(leaf));
	old = X509_get_ex_data(leaf, places[what]);
	good = X509_set_ex_data(leaf, places[what], s) == 1;
	pthread_mutex_unlock(lock_of(leaf));
	free(good ? old : s);
	return good;
}

void tls_shown_prepare(X509 *leaf)
{
	for (int i = 0; i < TLS_SHOWN_PLACES; i++)
		X509_set_ex_data(leaf, places[i], NULL);
}

static const struct shown *shown_of(X509 *leaf, enum tls_shown what)
{
	return leaf ? X509_get_ex_data(leaf, places[what]) : NULL;
}

struct slice tls_shown_name(X509 *leaf)
{
	const struct shown *s = shown_of(leaf, TLS_SHOWN_NAME);

	return s ? slice_make((const char *)s->bytes, s->len) : slice_none();
}

/* The client asks for an OCSP answer. */
static int status_asked(SSL *ssl, void *arg)
{
	X509 *leaf = SSL_get_certificate(ssl);
	const struct shown *s = shown_of(leaf, TLS_SHOWN_OCSP);
	unsigned char *copy = NULL;
	size_t len = 0;

	if (!s)
		return SSL_TLSEXT_ERR_NOACK;
	pthread_mutex_lock(lock_of(leaf));
	s = shown_of(leaf, TLS_SHOWN_OCSP);
	len = s->len;
	if (time(NULL) < s->until)
		copy = OPENSSL_memdup(s->bytes, len);
	pthread_mutex_unlock(lock_of(leaf));
	if (!copy)
		return SSL_TLSEXT_ERR_NOACK;
	SSL_set_tlsext_status_ocsp_resp(ssl, copy, (long)len);
	return SSL_TLSEXT_ERR_OK;
}

/* The client asks for timestamps. With TLS 1.3 they stand with the leaf, before it in the hello. */
static int timestamps_asked(SSL *ssl, unsigned type, unsigned context, const unsigned char **out,
			    size_t *len, X509 *x, size_t at, int *alert, void *arg)
{
	bool leaf = context & SSL_EXT_TLS1_3_CERTIFICATE ? at == 0 : !SSL_session_reused(ssl);
	const struct shown *s = leaf ? shown_of(SSL_get_certificate(ssl), TLS_SHOWN_SCTL) : NULL;

	if (!s)
		return 0;
	*out = s->bytes;
	*len = s->len;
	return 1;
}

void tls_shown_attach(SSL_CTX *ctx)
{
	SSL_CTX_set_tlsext_status_cb(ctx, status_asked);
	SSL_CTX_add_custom_ext(ctx, TLSEXT_TYPE_signed_certificate_timestamp,
			       SSL_EXT_CLIENT_HELLO | SSL_EXT_TLS1_2_SERVER_HELLO |
			       SSL_EXT_TLS1_3_CERTIFICATE, timestamps_asked, NULL, NULL, NULL,
			       NULL);
}

static size_t be16(const unsigned char *p)
{
	return (size_t)p[0] << 8 | p[1];
}

bool tls_sctl_is_list(const unsigned char *p, size_t len)
{
	size_t at = 2;

	if (len < 4 || be16(p) + 2 != len)
		return false;
	while (at + 2 <= len) {
		size_t n = be16(p + at);

		if (!n)
			return false;
		at += 2 + n;
	}
	return at == len;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compat.c - TLS inside QUIC, with an OpenSSL that knows nothing of QUIC (RFC 9001 4)
 *
 * OpenSSL speaks TLS 1.3 over records, QUIC carries the messages in them and protects packets with
 * the secrets. So records are made from the client's CRYPTO frames: in clear first, and protected
 * as OpenSSL expects it once the secret is known. OpenSSL's output is discarded: its message
 * callback gives the messages in clear, and its key log callback the secrets. The level of an
 * outgoing message follows from its type.
 *
 *      CRYPTO --> [record] --> memory BIO --> SSL --> message callback --> CRYPTO
 *                                              \----> key log --> keys of packets and records
 */
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>
#include "../conn_priv.h"
#include "../hello_priv.h"
#include "quic_priv.h"

#define RECORD_HEAD 5
#define TAG_LEN 16
/* What is put into one record. */
#define PLAIN_MAX 8192

static bool expand(const EVP_MD *md, const uint8_t *secret, size_t secret_len, const char *label,
		   uint8_t *out, size_t len)
{
	uint8_t info[32], digest[EVP_MAX_MD_SIZE];
	size_t n = strlen(label);
	unsigned got;

	info[0] = 0;
	info[1] = (uint8_t)len;
	info[2] = (uint8_t)(6 + n);
	memcpy(info + 3, "tls13 ", 6);
	memcpy(info + 9, label, n);
	info[9 + n] = 0;
	info[10 + n] = 1;
	if (!HMAC(md, secret, (int)secret_len, info, 11 + n, digest, &got))
		return false;
	memcpy(out, digest, len);
	return true;
}

/* The peer protects its records with <secret> from now on. */
static bool protect_records(struct tls_quic_records *r, const SSL *ssl, const uint8_t *secret,
			    size_t len)
{
	const SSL_CIPHER *suite = SSL_get_current_cipher(ssl);
	const EVP_MD *md = suite ? SSL_CIPHER_get_handshake_digest(suite) : NULL;
	const EVP_CIPHER *cipher = suite ? EVP_get_cipherbynid(SSL_CIPHER_get_cipher_nid(suite))
					 : NULL;
	uint8_t key[EVP_MAX_KEY_LENGTH];
	bool ok;

	if (r->aead || !cipher || !md)
		return false;
	r->aead = EVP_CIPHER_CTX_new();
	ok = r->aead &&
	     expand(md, secret, len, "key", key, (size_t)EVP_CIPHER_get_key_length(cipher)) &&
	     expand(md, secret, len, "iv", r->iv, sizeof(r->iv)) &&
	     EVP_EncryptInit_ex(r->aead, cipher, NULL, key, NULL) == 1;
	OPENSSL_cleanse(key, sizeof(key));
	return ok;
}

/* --- records of the peer ---------------------------------------------------------------------- */

/* Puts a record with the bytes of a message, in clear, where OpenSSL reads. */
static bool put_clear(struct tls_quic *q, const uint8_t *bytes, size_t len)
{
	uint8_t head[RECORD_HEAD] = { SSL3_RT_HANDSHAKE, 3, 3, (uint8_t)(len >> 8),
				      (uint8_t)len };

	return BIO_write(q->in, head, sizeof(head)) == sizeof(head) &&
	       BIO_write(q->in, bytes, (int)len) == (int)len;
}

/* As put_clear(), but protected (RFC 8446 5.2). */
static bool put_protected(struct tls_quic *q, struct tls_quic_records *r, const uint8_t *bytes,
			  size_t len)
{
	uint8_t record[RECORD_HEAD + PLAIN_MAX + 1 + TAG_LEN], nonce[12], *at = record;
	size_t sum = len + 1 + TAG_LEN;
	int n;

	*at++ = SSL3_RT_APPLICATION_DATA;
	*at++ = 3;
	*at++ = 3;
	*at++ = (uint8_t)(sum >> 8);
	*at++ = (uint8_t)sum;
	memcpy(at, bytes, len);
	at[len] = SSL3_RT_HANDSHAKE;
	memcpy(nonce, r->iv, sizeof(nonce));
	for (unsigned i = 0; i < 8; i++)
		nonce[11 - i] ^= (uint8_t)(r->seq >> 8 * i);
	r->seq++;
	return EVP_EncryptInit_ex(r->aead, NULL, NULL, NULL, nonce) == 1 &&
	       EVP_EncryptUpdate(r->aead, NULL, &n, record, RECORD_HEAD) == 1 &&
	       EVP_EncryptUpdate(r->aead, at, &n, at, (int)len + 1) == 1 &&
	       EVP_EncryptFinal_ex(r->aead, at + n, &n) == 1 &&
	       EVP_CIPHER_CTX_ctrl(r->aead, EVP_CTRL_AEAD_GET_TAG, TAG_LEN, at + len + 1) == 1 &&
	       BIO_write(q->in, record, (int)(RECORD_HEAD + sum)) == (int)(RECORD_HEAD + sum);
}

bool tls_quic_feed(struct tls_quic *q, enum quic_level level, const uint8_t *bytes, size_t len)
{
	struct tls_quic_records *r = &q->records[level];

	while (len) {
		size_t n = len < PLAIN_MAX ? len : PLAIN_MAX;

		if (level == QUIC_LEVEL_INITIAL ? !put_clear(q, bytes, n)
						: !r->aead || !put_protected(q, r, bytes, n))
			return false;
		bytes += n;
		len -= n;
	}
	return true;
}

/* --- what OpenSSL tells ----------------------------------------------------------------------- */

/* The level of a message of ours. */
static enum quic_level level_of(uint8_t type)
{
	switch (type) {
	case SSL3_MT_CLIENT_HELLO:
	case SSL3_MT_SERVER_HELLO: /* and HelloRetryRequest */
		return QUIC_LEVEL_INITIAL;
	case SSL3_MT_NEWSESSION_TICKET:
		return QUIC_LEVEL_APP;
	default:
		return QUIC_LEVEL_HANDSHAKE;
	}
}

static void on_message(int write_p, int version, int type, const void *buf, size_t len, SSL *ssl,
		       void *arg)
{
	struct tls_quic *q = tls_quic_now();
	const uint8_t *bytes = buf;

	if (q && !write_p && type == SSL3_RT_HANDSHAKE && len && bytes[0] == SSL3_MT_CLIENT_HELLO)
		tls_hello_seen(buf, len);
	if (!q || !write_p || !len)
		return;
	if (type == SSL3_RT_ALERT && len == 2 && bytes[0] == SSL3_AL_FATAL)
		q->alert = bytes[1];
	if (type == SSL3_RT_HANDSHAKE &&
	    !q->user->send(q->owner, level_of(bytes[0]), bytes, len))
		q->failed = true;
}

/* What else wants to see the log; the same for all contexts. */
static void (*other_log)(const SSL *ssl, const char *line);

static const struct {
	const char *label;
	enum quic_level level;
	bool tx;                       /* of a server */
} secrets[] = {
	{ "CLIENT_HANDSHAKE_TRAFFIC_SECRET", QUIC_LEVEL_HANDSHAKE, false },
	{ "SERVER_HANDSHAKE_TRAFFIC_SECRET", QUIC_LEVEL_HANDSHAKE, true },
	{ "CLIENT_TRAFFIC_SECRET_0", QUIC_LEVEL_APP, false },
	{ "SERVER_TRAFFIC_SECRET_0", QUIC_LEVEL_APP, true },
};

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t read_hex(const char *text, uint8_t *out, size_t room)
{
	size_t n = 0;

	for (; n < room && hex_digit(text[0]) >= 0 && hex_digit(text[1]) >= 0; text += 2)
		out[n++] = (uint8_t)(hex_digit(text[0]) << 4 | hex_digit(text[1]));
	return n;
}

static void take_secret(struct tls_quic *q, const SSL *ssl, unsigned which, const char *hex)
{
	const SSL_CIPHER *suite = SSL_get_current_cipher(ssl);
	uint8_t secret[QUIC_SECRET_MAX];
	size_t len = read_hex(hex, secret, sizeof(secret));
	enum quic_level level = secrets[which].level;
	bool tx = secrets[which].tx != q->client;

	if (!suite ||
	    !q->user->secret(q->owner, level, tx, SSL_CIPHER_get_protocol_id(suite), secret, len))
		q->failed = true;
	/* (a client says nothing more once it has finished) */
	if (!tx && (level == QUIC_LEVEL_HANDSHAKE || q->client) &&
	    !protect_records(&q->records[level], ssl, secret, len))
		q->failed = true;
	OPENSSL_cleanse(secret, sizeof(secret));
}

/* "<label> <client random> <secret>" */
static void on_secret(const SSL *ssl, const char *line)
{
	struct tls_quic *q = tls_quic_now();
	const char *hex = strrchr(line, ' ');
	size_t len = strcspn(line, " ");

	for (unsigned i = 0; q && hex && i < sizeof(secrets) / sizeof(*secrets); i++)
		if (strlen(secrets[i].label) == len && memcmp(secrets[i].label, line, len) == 0)
			take_secret(q, ssl, i, hex + 1);
	if (other_log)
		other_log(ssl, line);
}

static int add_params(SSL *ssl, unsigned type, unsigned context, const unsigned char **out,
		      size_t *len, X509 *x, size_t chain, int *alert, void *arg)
{
	const struct tls_quic *q = tls_quic_now();
	uint8_t *room;

	if (!q)
		return 0;
	room = malloc(QUIC_TLS_PARAMS_ROOM);
	if (!room || !q->owner) {
		free(room);
		*alert = SSL_AD_INTERNAL_ERROR;
		return -1;
	}
	*len = q->user->own_params(q->owner, room);
	*out = room;
	return 1;
}

static void free_params(SSL *ssl, unsigned type, unsigned context, const unsigned char *out,
			void *arg)
{
	free((void *)(uintptr_t)out);
}

/* A server's: those of a client are read before, by tls_quic_hello(). */
static int read_params(SSL *ssl, unsigned type, unsigned context, const unsigned char *in,
		       size_t len, X509 *x, size_t chain, int *alert, void *arg)
{
	struct tls_quic *q = tls_quic_now();

	if (!q || !q->client)
		return 1;
	*alert = SSL_AD_ILLEGAL_PARAMETER;
	q->params_seen = true;
	q->params_bad = !q->user->params(q->owner, in, len);
	return !q->params_bad;
}

bool tls_quic_attach(SSL_CTX *ctx)
{
	void (*before)(const SSL *, const char *) = SSL_CTX_get_keylog_callback(ctx);

	if (before)
		other_log = before;
	SSL_CTX_set_keylog_callback(ctx, on_secret);
	return SSL_CTX_add_custom_ext(ctx, TLS_QUIC_EXT_PARAMS, SSL_EXT_CLIENT_HELLO |
				      SSL_EXT_TLS1_3_ENCRYPTED_EXTENSIONS, add_params,
				      free_params, NULL,
				      read_params, NULL) == 1;
}

/* --- the layer -------------------------------------------------------------------------------- */

bool tls_quic_is_native(void)
{
	return false;
}

bool tls_quic_layer_start(struct tls_quic *q, SSL *ssl, bool early)
{
	BIO *out = BIO_new(BIO_s_null());

	q->in = BIO_new(BIO_s_mem());
	if (!q->in || !out) {
		BIO_free(q->in);
		BIO_free(out);
		return false;
	}
	BIO_set_mem_eof_return(q->in, -1);
	SSL_set_bio(ssl, q->in, out);
	SSL_set_msg_callback(ssl, on_message);
	SSL_set_max_early_data(ssl, 0);
	SSL_set_recv_max_early_data(ssl, 0);
	return true;
}

void tls_quic_layer_free(struct tls_quic *q)
{
	for (unsigned i = 0; i < QUIC_LEVELS; i++) {
		EVP_CIPHER_CTX_free(q->records[i].aead);
		q->records[i].aead = NULL;
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quic.c - TLS inside QUIC, with an OpenSSL that knows nothing of QUIC (RFC 9001 4)
 *
 * OpenSSL speaks TLS 1.3 over records, QUIC carries the messages in them and protects packets with
 * the secrets. So records are made of what the client's CRYPTO frames bring: in clear first, and
 * protected as OpenSSL expects it once it has told the secret. What OpenSSL writes is thrown away:
 * its callback for messages shows them in clear, and the one for key logs tells the secrets. Which
 * level a message of ours belongs to is known by its type.
 *
 *      CRYPTO --> [record] --> memory BIO --> SSL --> message callback --> CRYPTO
 *                                              \----> key log --> keys of packets and records
 */
#include <openssl/err.h>
#include <openssl/kdf.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include "net/quic_tls.h"
#include "tls_priv.h"

#define EXT_QUIC_PARAMS 0x39
#define RECORD_HEAD 5
#define TAG_LEN 16
/* What is put into one record. */
#define PLAIN_MAX 8192

struct tls_quic {
	const struct quic_tls_user *user;
	void *owner;
	uint8_t *params;               /* ours; owned */
	size_t params_len;
	EVP_CIPHER_CTX *aead;          /* of the client's records behind its hello; NULL: not yet */
	uint8_t iv[12];
	uint64_t seq;
	BIO *in;                       /* OpenSSL reads it; the SSL owns it */
	uint8_t alert;                 /* that OpenSSL has sent */
	bool failed, params_bad;
};

/* That of the connection OpenSSL works for; NULL: it is none of QUIC. */
static struct tls_quic *quic_now(void)
{
	const struct conn *c = tls_now();
	const struct tls_conn *t = c ? c->transport_ctx : NULL;

	return t ? t->quic : NULL;
}

/* --- records of the client -------------------------------------------------------------------- */

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

/* The client protects its records with <secret> from now on. */
static bool protect_records(struct tls_quic *q, const SSL *ssl, const uint8_t *secret, size_t len)
{
	const SSL_CIPHER *suite = SSL_get_current_cipher(ssl);
	const EVP_MD *md = suite ? SSL_CIPHER_get_handshake_digest(suite) : NULL;
	const EVP_CIPHER *cipher = suite ? EVP_get_cipherbynid(SSL_CIPHER_get_cipher_nid(suite))
					 : NULL;
	uint8_t key[EVP_MAX_KEY_LENGTH];
	bool ok;

	if (q->aead || !cipher || !md)
		return false;
	q->aead = EVP_CIPHER_CTX_new();
	ok = q->aead &&
	     expand(md, secret, len, "key", key, (size_t)EVP_CIPHER_get_key_length(cipher)) &&
	     expand(md, secret, len, "iv", q->iv, sizeof(q->iv)) &&
	     EVP_EncryptInit_ex(q->aead, cipher, NULL, key, NULL) == 1;
	OPENSSL_cleanse(key, sizeof(key));
	return ok;
}

/* Puts a record with the bytes of a message, in clear, where OpenSSL reads. */
static bool put_clear(struct tls_quic *q, const uint8_t *bytes, size_t len)
{
	uint8_t head[RECORD_HEAD] = { SSL3_RT_HANDSHAKE, 3, 3, (uint8_t)(len >> 8),
				      (uint8_t)len };

	return BIO_write(q->in, head, sizeof(head)) == sizeof(head) &&
	       BIO_write(q->in, bytes, (int)len) == (int)len;
}

/* The same, protected (RFC 8446 5.2). */
static bool put_protected(struct tls_quic *q, const uint8_t *bytes, size_t len)
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
	memcpy(nonce, q->iv, sizeof(nonce));
	for (unsigned i = 0; i < 8; i++)
		nonce[11 - i] ^= (uint8_t)(q->seq >> 8 * i);
	q->seq++;
	return EVP_EncryptInit_ex(q->aead, NULL, NULL, NULL, nonce) == 1 &&
	       EVP_EncryptUpdate(q->aead, NULL, &n, record, RECORD_HEAD) == 1 &&
	       EVP_EncryptUpdate(q->aead, at, &n, at, (int)len + 1) == 1 &&
	       EVP_EncryptFinal_ex(q->aead, at + n, &n) == 1 &&
	       EVP_CIPHER_CTX_ctrl(q->aead, EVP_CTRL_AEAD_GET_TAG, TAG_LEN, at + len + 1) == 1 &&
	       BIO_write(q->in, record, (int)(RECORD_HEAD + sum)) == (int)(RECORD_HEAD + sum);
}

static bool put_records(struct tls_quic *q, enum quic_level level, const uint8_t *bytes, size_t len)
{
	while (len) {
		size_t n = len < PLAIN_MAX ? len : PLAIN_MAX;

		if (level == QUIC_LEVEL_INITIAL ? !put_clear(q, bytes, n)
						: !q->aead || !put_protected(q, bytes, n))
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
	struct tls_quic *q = quic_now();
	const uint8_t *bytes = buf;

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
	bool tx;
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

	if (!suite ||
	    !q->user->secret(q->owner, secrets[which].level, secrets[which].tx,
			     SSL_CIPHER_get_protocol_id(suite), secret, len))
		q->failed = true;
	if (which == 0 && !protect_records(q, ssl, secret, len))
		q->failed = true;
	OPENSSL_cleanse(secret, sizeof(secret));
}

/* "<label> <client random> <secret>" */
static void on_secret(const SSL *ssl, const char *line)
{
	struct tls_quic *q = quic_now();
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
	const struct tls_quic *q = quic_now();

	if (!q)
		return 0;
	*out = q->params;
	*len = q->params_len;
	return 1;
}

bool tls_quic_attach(SSL_CTX *ctx)
{
	void (*before)(const SSL *, const char *) = SSL_CTX_get_keylog_callback(ctx);

	if (before)
		other_log = before;
	SSL_CTX_set_keylog_callback(ctx, on_secret);
	return SSL_CTX_add_custom_ext(ctx, EXT_QUIC_PARAMS, SSL_EXT_CLIENT_HELLO |
				      SSL_EXT_TLS1_3_ENCRYPTED_EXTENSIONS, add_params, NULL, NULL,
				      NULL, NULL) == 1;
}

bool tls_quic_hello(SSL *ssl, int *alert)
{
	struct tls_quic *q = quic_now();
	const unsigned char *bytes;
	size_t len;

	if (!q)
		return true;
	*alert = SSL_AD_MISSING_EXTENSION;
	if (!SSL_client_hello_get0_ext(ssl, EXT_QUIC_PARAMS, &bytes, &len))
		return false;
	*alert = SSL_AD_ILLEGAL_PARAMETER;
	q->params_bad = !q->user->params(q->owner, bytes, len);
	return !q->params_bad;
}

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
	if (!good) {
		t->flags |= TLS_FL_FAILED;
		*alert = q->params_bad ? 0 : q->alert ? q->alert : SSL_AD_INTERNAL_ERROR;
		return QUIC_TLS_FAILED;
	}
	if (!(t->flags & TLS_FL_DONE))
		tls_handshake_done(c);
	return QUIC_TLS_DONE;
}

static enum quic_tls_status quic_recv(struct conn *c, enum quic_level level, const uint8_t *bytes,
				      size_t len, uint8_t *alert)
{
	struct tls_conn *t = c->transport_ctx;

	*alert = SSL_AD_UNEXPECTED_MESSAGE;
	if (t->flags & TLS_FL_FAILED || level == QUIC_LEVEL_APP || t->flags & TLS_FL_DONE ||
	    !put_records(t->quic, level, bytes, len))
		return QUIC_TLS_FAILED;
	return step(c, t, alert);
}

const struct quic_tls_ops tls_quic_ops = { .recv = quic_recv };

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

static void quic_close(struct conn *c)
{
	struct tls_conn *t = c->transport_ctx;
	struct tls_quic *q = t->quic;

	EVP_CIPHER_CTX_free(q->aead);
	free(q->params);
	free(q);
	c->flags |= CONN_ERROR; /* nobody is told goodbye */
	transport_tls.close(c);
}

const struct transport transport_tls_quic = {
	.name = "QUIC", .recv = no_recv, .send = no_send, .shut = no_shut, .close = quic_close,
	.alpn = tls_alpn,
};

static struct tls_quic *quic_new(const struct tls_quic_start *how)
{
	struct tls_quic *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->user = how->user;
	q->owner = how->owner;
	q->params = malloc(how->params_len);
	q->params_len = how->params_len;
	q->in = BIO_new(BIO_s_mem());
	if (q->params && q->in) {
		memcpy(q->params, how->params, how->params_len);
		BIO_set_mem_eof_return(q->in, -1);
		return q;
	}
	BIO_free(q->in);
	free(q->params);
	free(q);
	return NULL;
}

bool tls_quic_accept(struct conn *c, struct slot_area *bind, const struct tls_quic_start *how)
{
	struct tls_quic *q = quic_new(how);
	BIO *out = BIO_new(BIO_s_null());
	struct tls_conn *t;

	if (!q || !out || !tls_accept(c, bind)) {
		BIO_free(out);
		if (q) {
			BIO_free(q->in);
			free(q->params);
		}
		free(q);
		return false;
	}
	t = c->transport_ctx;
	t->quic = q;
	c->transport = &transport_tls_quic;
	SSL_set_bio(t->ssl, q->in, out);
	SSL_set_msg_callback(t->ssl, on_message);
	SSL_set_min_proto_version(t->ssl, TLS1_3_VERSION);
	SSL_clear_options(t->ssl, SSL_OP_ENABLE_MIDDLEBOX_COMPAT);
	SSL_set_max_early_data(t->ssl, 0);
	SSL_set_recv_max_early_data(t->ssl, 0);
	t->flags &= (uint16_t)~TLS_FL_EARLY;
	c->flags &= (uint16_t)~CONN_HANDSHAKE;
	return true;
}

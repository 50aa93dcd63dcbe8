/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts.c - what is asked of a connection when its handshake is over, with OpenSSL or without it */
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include "facts_priv.h"

struct tls_facts {
	const SSL_CIPHER *cipher;
	const char *version;
	X509 *cert, *peer;             /* counted; NULL: none */
	STACK_OF(X509) *chain, *verified; /* owned; NULL: none */
	int group, verify_result;
	bool is_resumed, is_stapled;
	uint8_t len[TLS_FACTS];        /* of the texts, which follow each other in <bytes> */
	unsigned char bytes[];
};

/* --- texts and bytes -------------------------------------------------------------------------- */

static struct slice name_of(const SSL *ssl)
{
	const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

	return name ? slice_of(name) : slice_none();
}

static struct slice alpn_of(const SSL *ssl)
{
	const unsigned char *p = NULL;
	unsigned len = 0;

	SSL_get0_alpn_selected(ssl, &p, &len);
	return slice_make((const char *)p, len);
}

static struct slice session_id_of(const SSL_SESSION *s)
{
	unsigned len = 0;
	const unsigned char *p = s ? SSL_SESSION_get_id(s, &len) : NULL;

	return slice_make((const char *)p, len);
}

/* The client's Finished is the first one unless the session is resumed. */
static size_t finished_of(const struct tls_conn *t, unsigned char *room)
{
	bool client_first = !SSL_session_reused(t->ssl);

	if (client_first == !!(t->flags & TLS_FL_BACK))
		return SSL_get_finished(t->ssl, room, TLS_FACT_ROOM);
	return SSL_get_peer_finished(t->ssl, room, TLS_FACT_ROOM);
}

static struct slice ask(const struct tls_conn *t, enum tls_fact which, unsigned char *room)
{
	const SSL_SESSION *s = SSL_get_session(t->ssl);
	size_t len = 0;

	switch (which) {
	case TLS_FACT_ALPN:
		return alpn_of(t->ssl);
	case TLS_FACT_SNI:
		return name_of(t->ssl);
	case TLS_FACT_SESSION_ID:
		return session_id_of(s);
	case TLS_FACT_SESSION_KEY:
		len = s ? SSL_SESSION_get_master_key(s, room, TLS_FACT_ROOM) : 0;
		break;
	case TLS_FACT_CLIENT_RANDOM:
		len = SSL_get_client_random(t->ssl, room, TLS_FACT_ROOM);
		break;
	case TLS_FACT_SERVER_RANDOM:
		len = SSL_get_server_random(t->ssl, room, TLS_FACT_ROOM);
		break;
	default:
		len = finished_of(t, room);
	}
	return slice_make((const char *)room, len);
}

struct slice tls_fact(const struct tls_conn *t, enum tls_fact which, unsigned char *room)
{
	const unsigned char *p;

	if (t->ssl)
		return ask(t, which, room);
	p = t->facts->bytes;
	for (unsigned i = 0; i < which; i++)
		p += t->facts->len[i] + (i == TLS_FACT_SNI);
	return slice_make((const char *)p, t->facts->len[which]);
}

/* --- the rest --------------------------------------------------------------------------------- */

const SSL_CIPHER *tls_conn_cipher(const struct tls_conn *t)
{
	return t->ssl ? SSL_get_current_cipher(t->ssl) : t->facts->cipher;
}

const char *tls_conn_version(const struct tls_conn *t)
{
	return t->ssl ? SSL_get_version(t->ssl) : t->facts->version;
}

bool tls_conn_is_resumed(const struct tls_conn *t)
{
	return t->ssl ? SSL_session_reused(t->ssl) : t->facts->is_resumed;
}

bool tls_conn_is_stapled(const struct tls_conn *t)
{
	const unsigned char *answer;

	if (!t->ssl)
		return t->facts->is_stapled;
	return !SSL_session_reused(t->ssl) &&
	       SSL_get_tlsext_status_ocsp_resp(t->ssl, &answer) > 0;
}

int tls_conn_group(const struct tls_conn *t)
{
	return t->ssl ? (int)SSL_get_negotiated_group(t->ssl) : t->facts->group;
}

long tls_conn_verify_result(const struct tls_conn *t)
{
	return t->ssl ? SSL_get_verify_result(t->ssl) : t->facts->verify_result;
}

X509 *tls_conn_cert(const struct tls_conn *t)
{
	return t->ssl ? SSL_get_certificate(t->ssl) : t->facts->cert;
}

X509 *tls_conn_peer_cert(const struct tls_conn *t)
{
	return t->ssl ? SSL_get0_peer_certificate(t->ssl) : t->facts->peer;
}

STACK_OF(X509) *tls_conn_peer_chain(const struct tls_conn *t)
{
	return t->ssl ? SSL_get_peer_cert_chain(t->ssl) : t->facts->chain;
}

STACK_OF(X509) *tls_conn_verified_chain(const struct tls_conn *t)
{
	return t->ssl ? SSL_get0_verified_chain(t->ssl) : t->facts->verified;
}

/* --- from OpenSSL's to ours ------------------------------------------------------------------- */

static void facts_free(struct tls_facts *f)
{
	size_t len = 1;

	if (!f)
		return;
	for (unsigned i = 0; i < TLS_FACTS; i++)
		len += f->len[i];
	X509_free(f->cert);
	X509_free(f->peer);
	sk_X509_pop_free(f->chain, X509_free);
	sk_X509_pop_free(f->verified, X509_free);
	OPENSSL_cleanse(f->bytes, len);
	free(f);
}

/* The texts alone. NULL: no memory. */
static struct tls_facts *facts_new(const struct tls_conn *t)
{
	unsigned char rooms[TLS_FACTS][TLS_FACT_ROOM];
	struct slice texts[TLS_FACTS];
	struct tls_facts *f;
	unsigned char *p;
	size_t len = 1;

	for (unsigned i = 0; i < TLS_FACTS; i++) {
		texts[i] = ask(t, i, rooms[i]);
		if (texts[i].len > UINT8_MAX)
			return NULL;
		len += texts[i].len;
	}
	f = calloc(1, sizeof(*f) + len);
	p = f ? f->bytes : NULL;
	for (unsigned i = 0; f && i < TLS_FACTS; i++) {
		if (texts[i].len)
			memcpy(p, texts[i].ptr, texts[i].len);
		f->len[i] = (uint8_t)texts[i].len;
		p += texts[i].len + (i == TLS_FACT_SNI);
	}
	OPENSSL_cleanse(rooms, sizeof(rooms));
	return f;
}

static bool take_cert(X509 **to, X509 *cert)
{
	*to = cert && X509_up_ref(cert) ? cert : NULL;
	return *to || !cert;
}

static bool take_chain(STACK_OF(X509) **to, STACK_OF(X509) *chain)
{
	*to = chain ? X509_chain_up_ref(chain) : NULL;
	return *to || !chain;
}

bool tls_facts_keep(struct tls_conn *t)
{
	struct tls_facts *f = t->capture ? NULL : facts_new(t);

	if (!f || !take_cert(&f->cert, tls_conn_cert(t)) ||
	    !take_cert(&f->peer, tls_conn_peer_cert(t)) ||
	    !take_chain(&f->chain, tls_conn_peer_chain(t)) ||
	    !take_chain(&f->verified, tls_conn_verified_chain(t))) {
		facts_free(f);
		return false;
	}
	f->cipher = tls_conn_cipher(t);
	f->version = tls_conn_version(t);
	f->group = tls_conn_group(t);
	f->verify_result = (int)tls_conn_verify_result(t);
	f->is_resumed = tls_conn_is_resumed(t);
	f->is_stapled = tls_conn_is_stapled(t);
	t->facts = f;
	return true;
}

void tls_facts_free(struct tls_conn *t)
{
	facts_free(t->facts);
	t->facts = NULL;
}

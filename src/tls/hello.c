/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hello.c - the client's hello: which certificate, with which settings; what fetches may ask of it
 */
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/hash.h"
#include "bind_priv.h"
#include "cert_priv.h"
#include "codec/tls_hello.h"
#include "conn_priv.h"
#include "ctx_priv.h"
#include "early_priv.h"
#include "global_priv.h"
#include "hello_priv.h"
#include "key_priv.h"
#include "line_priv.h"
#include "names_priv.h"

static unsigned be16(const unsigned char *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* RFC 6066 3: the first host name of the extension. */
static struct slice hello_host(SSL *ssl)
{
	const unsigned char *p;
	size_t len, n;

	if (!SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &p, &len) || len < 5)
		return slice_none();
	if (be16(p) + 2u != len || p[2] != TLSEXT_NAMETYPE_host_name)
		return slice_none();
	n = be16(p + 3);
	if (n + 5 > len)
		return slice_none();
	return slice_make((const char *)p + 5, n);
}

/* --- capture ---------------------------------------------------------------------------------- */

/* Room that is left in the capture. */
struct capture_room {
	struct tls_capture *c;
	size_t used, max;
};

static uint16_t capture_add(struct capture_room *r, const unsigned char *p, size_t len)
{
	if (len > r->max - r->used)
		len = r->max - r->used;
	memcpy(r->c->bytes + r->used, p, len);
	r->used += len;
	return (uint16_t)len;
}

/* The list of a extension which begins with its length in <prefix> bytes. */
static uint16_t capture_list(struct capture_room *r, SSL *ssl, unsigned type, size_t prefix)
{
	const unsigned char *p;
	size_t len;

	if (!SSL_client_hello_get0_ext(ssl, type, &p, &len) || len < prefix)
		return 0;
	return capture_add(r, p + prefix, len - prefix);
}

/* The types of the extensions of the hello that is being read: OpenSSL itself names only those that
 * it knows.
 */
static __thread struct {
	unsigned char bytes[512];
	size_t len;
} types;

void tls_hello_seen(const void *message, size_t len)
{
	struct conn *c = tls_now();
	const struct tls_conn *t = c ? c->transport_ctx : NULL;

	if (t && t->bind && t->bind->capture_size)
		types.len = tls_hello_types(slice_make(message, len), types.bytes,
					    sizeof(types.bytes));
}

static void capture(struct tls_conn *t, SSL *ssl)
{
	size_t max = (size_t)t->bind->capture_size;
	const unsigned char *ciphers;
	struct capture_room r;
	size_t len;

	free(t->capture);
	t->capture = calloc(1, sizeof(*t->capture) + max);
	if (!t->capture)
		return;
	r = (struct capture_room){ t->capture, 0, max };
	len = SSL_client_hello_get0_ciphers(ssl, &ciphers);
	t->capture->cipher_hash = hash_bytes(ciphers, len, 0);
	t->capture->version = (uint16_t)SSL_client_hello_get0_legacy_version(ssl);
	t->capture->cipher_len = capture_add(&r, ciphers, len);
	t->capture->extension_len = capture_add(&r, types.bytes, types.len);
	t->capture->curve_len = capture_list(&r, ssl, TLSEXT_TYPE_supported_groups, 2);
	t->capture->ec_point_count =
		(uint8_t)capture_list(&r, ssl, TLSEXT_TYPE_ec_point_formats, 1);
	t->capture->sigalg_len = capture_list(&r, ssl, TLSEXT_TYPE_signature_algorithms, 2);
	t->capture->versions_len = capture_list(&r, ssl, TLSEXT_TYPE_supported_versions, 1);
	t->capture->alpn_len = (uint8_t)capture_list(
		&r, ssl, TLSEXT_TYPE_application_layer_protocol_negotiation, 2);
}

/* --- choosing --------------------------------------------------------------------------------- */

/* What bind lines say of versions is about TCP; a line of a crt-list may keep QUIC away. */
static bool versions_count(const struct tls_settings *set)
{
	return !tls_is_quic() || set->flags & TLS_SET_OWN_VERSIONS;
}

/* Will it be TLS 1.3: among the client's versions, and among those of <set>? */
static bool is_tls13(SSL *ssl, const struct tls_settings *set)
{
	const unsigned char *p;
	size_t len;

	if ((tls_versions_off(set) & SSL_OP_NO_TLSv1_3 && versions_count(set)) ||
	    !SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_supported_versions, &p, &len))
		return false;
	for (size_t i = 1; i + 1 < len; i += 2)
		if (be16(p + i) == TLS1_3_VERSION)
			return true;
	return false;
}

/* Does the client know ECDSA: among its signatures and among the ciphers of the version that it
 * will be, with <set>?
 */
static bool client_has_ecdsa(SSL *ssl, const struct tls_settings *set)
{
	const unsigned char *p;
	bool found = false, tls13 = is_tls13(ssl, set);
	size_t len;

	if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_signature_algorithms, &p, &len))
		for (size_t i = 2; i + 1 < len; i += 2)
			found |= p[i + 1] == 3 || be16(p + i) == 0x0807 || be16(p + i) == 0x0808;
	if (!found)
		return false;
	len = SSL_client_hello_get0_ciphers(ssl, &p);
	for (size_t i = 0; i + 1 < len; i += 2) {
		const SSL_CIPHER *c = SSL_CIPHER_find(ssl, p + i);

		/* those of TLS 1.3 go with any certificate */
		if (p[i] == 0x13 ? tls13 : (c && SSL_CIPHER_get_auth_nid(c) == NID_auth_ecdsa))
			return true;
	}
	return false;
}

static enum tls_key_type choose_type(SSL *ssl, const struct tls_choice *c)
{
	bool others = c->cert[TLS_KEY_RSA] || c->cert[TLS_KEY_DSA];
	const struct tls_ctx *ctx = c->ctx[TLS_KEY_ECDSA];

	if (c->cert[TLS_KEY_ECDSA] && (!others || client_has_ecdsa(ssl, &ctx->set)))
		return TLS_KEY_ECDSA;
	return c->cert[TLS_KEY_RSA] || !c->cert[TLS_KEY_DSA] ? TLS_KEY_RSA : TLS_KEY_DSA;
}

/* Goes over to the settings of the line of the crt-list. */
static bool use_context(SSL *ssl, SSL_CTX *ctx, const struct tls_settings *set)
{
	if (SSL_get_SSL_CTX(ssl) == ctx)
		return true;
	if (!SSL_set_SSL_CTX(ssl, ctx))
		return false;
	/* (OpenSSL took the curves of the first context when the connection began) */
	if (set->curves && SSL_set1_curves_list(ssl, set->curves) != 1)
		return false;
	SSL_set_verify(ssl, SSL_CTX_get_verify_mode(ctx), tls_verify_callback);
	if (versions_count(set))
		tls_set_versions(ssl, set);
	SSL_clear_options(ssl, TLS_EARLY_OPTIONS);
	SSL_set_options(ssl, SSL_CTX_get_options(ctx) & TLS_EARLY_OPTIONS);
	SSL_set_max_early_data(ssl, tls_quic_early_max(SSL_CTX_get_max_early_data(ctx)));
	SSL_set_recv_max_early_data(ssl, SSL_CTX_get_recv_max_early_data(ctx));
	return true;
}

static bool use_cert(SSL *ssl, const struct tls_bind *b, struct tls_cert *c)
{
	if (!tls_cert_open(c))
		return false;
	if (SSL_get_certificate(ssl) == c->leaf)
		return true;
	if (SSL_use_cert_and_key(ssl, c->leaf, c->key, c->chain, 1) != 1)
		return false;
	tls_dh_use(ssl, tls_global_of(b->cfg), b->defaults->dh_bits, c);
	return true;
}

/* There is no certificate for the name: it is kept for the log, OpenSSL would read it later. */
static int refuse_name(SSL *ssl, struct slice host)
{
	char name[TLSEXT_MAXLEN_host_name + 1];

	if (host.len && host.len < sizeof(name)) {
		memcpy(name, host.ptr, host.len);
		name[host.len] = '\0';
		SSL_set_tlsext_host_name(ssl, name);
	}
	return SSL_CLIENT_HELLO_ERROR;
}

int tls_hello_callback(SSL *ssl, int *alert, void *arg)
{
	struct conn *conn = tls_now();
	struct tls_conn *t = conn->transport_ctx;
	struct tls_bind *b = t->bind;
	const struct tls_names *names = tls_names_get(b);
	struct slice host = hello_host(ssl);
	struct tls_cert *forged = NULL, *cert;
	struct tls_choice choice;
	struct tls_ctx *ctx;
	enum tls_key_type type;
	bool strict = b->set.flags & TLS_SET_STRICT_SNI, good;

	if (b->capture_size)
		capture(t, ssl);
	if (!tls_quic_hello(ssl, alert))
		return SSL_CLIENT_HELLO_ERROR;
	*alert = SSL_AD_UNRECOGNIZED_NAME;
	if (!names || !tls_names_find(names, host, strict && !b->forge, &choice))
		return refuse_name(ssl, host);
	type = choose_type(ssl, &choice);
	if (choice.is_default && b->forge) {
		forged = tls_forge_cert(b->forge, host, choice.cert[type]);
		if (!forged && strict)
			return refuse_name(ssl, host);
	}
	*alert = SSL_AD_INTERNAL_ERROR;
	cert = forged ? forged : choice.cert[type];
	ctx = choice.ctx[type];
	good = cert && use_context(ssl, tls_names_ssl(names, ctx), &ctx->set) &&
	       use_cert(ssl, b, cert) && tls_names_bind_session(names, ctx, ssl, cert);
	tls_cert_drop(&forged);
	if (good)
		return SSL_CLIENT_HELLO_SUCCESS;
	ERR_clear_error();
	return SSL_CLIENT_HELLO_ERROR;
}

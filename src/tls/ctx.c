/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctx.c - from settings to an SSL_CTX */
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include "conn_priv.h"
#include "ctx_priv.h"
#include "early_priv.h"
#include "gcm_priv.h"
#include "global_priv.h"
#include "hello_priv.h"
#include "line_priv.h"
#include "session_priv.h"
#include "shown_priv.h"
#include "store_priv.h"

/* What OpenSSL's buffer takes in one read: two records, so that a stream of them costs half as many
 * system calls, while a connection in the middle of a record holds no more than that.
 */
#define READ_SIZE (2 * (16384 + 256 + 5))

/* --- versions and algorithms ----------------------------------------------------------------- */

static bool set_versions(SSL_CTX *ctx, const struct tls_settings *set, char *why, size_t size)
{
	uint64_t off = tls_versions_off(set);

	if (off == TLS_VERSIONS_OFF) {
		snprintf(why, size, "all SSL/TLS versions are disabled");
		return false;
	}
	SSL_CTX_set_min_proto_version(ctx, TLS1_VERSION);
	SSL_CTX_set_max_proto_version(ctx, 0);
	SSL_CTX_set_options(ctx, off);
	return true;
}

static bool set_algorithms(SSL_CTX *ctx, const struct tls_settings *s, char *why, size_t size)
{
	const char *what = NULL, *value = NULL;

	if (s->ciphers && SSL_CTX_set_cipher_list(ctx, s->ciphers) != 1) {
		what = "SSL cipher list";
		value = s->ciphers;
	} else if (s->ciphersuites && SSL_CTX_set_ciphersuites(ctx, s->ciphersuites) != 1) {
		what = "TLS 1.3 cipher suites";
		value = s->ciphersuites;
	} else if (s->curves && SSL_CTX_set1_curves_list(ctx, s->curves) != 1) {
		what = "SSL curves list";
		value = s->curves;
	} else if (s->sigalgs && SSL_CTX_set1_sigalgs_list(ctx, s->sigalgs) != 1) {
		what = "SSL Signature Algorithm list";
		value = s->sigalgs;
	} else if (s->client_sigalgs &&
		   SSL_CTX_set1_client_sigalgs_list(ctx, s->client_sigalgs) != 1) {
		what = "SSL Signature Algorithm list";
		value = s->client_sigalgs;
	}
	ERR_clear_error();
	if (what)
		snprintf(why, size, "unable to set %s to '%s'", what, value);
	return !what;
}

/* --- authorities that are trusted ------------------------------------------------------------- */

static bool store_add(X509_STORE *store, const struct tls_ca *ca)
{
	for (int i = 0; i < sk_X509_num(ca->certs); i++)
		if (!X509_STORE_add_cert(store, sk_X509_value(ca->certs, i)))
			return false;
	for (int i = 0; i < sk_X509_CRL_num(ca->crls); i++)
		if (!X509_STORE_add_crl(store, sk_X509_CRL_value(ca->crls, i)))
			return false;
	if (sk_X509_CRL_num(ca->crls))
		X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
	return true;
}

static bool send_names(SSL_CTX *ctx, const struct tls_ca *ca)
{
	STACK_OF(X509_NAME) *names = sk_X509_NAME_new_null();

	for (int i = 0; names && i < sk_X509_num(ca->certs); i++) {
		X509_NAME *one = X509_get_subject_name(sk_X509_value(ca->certs, i));
		bool known = false;

		for (int j = 0; j < sk_X509_NAME_num(names); j++)
			known |= X509_NAME_cmp(sk_X509_NAME_value(names, j), one) == 0;
		one = known ? NULL : X509_NAME_dup(one);
		if (one && !sk_X509_NAME_push(names, one))
			X509_NAME_free(one);
	}
	SSL_CTX_set_client_CA_list(ctx, names);
	return names != NULL;
}

static bool add_file(struct config *cfg, X509_STORE *store, const char *path, bool crl,
		     struct tls_ca **found, char *why, size_t size)
{
	*found = path ? tls_store_ca(cfg, path, crl, why, size) : NULL;
	if (!path)
		return true;
	if (*found && store_add(store, *found))
		return true;
	snprintf(why, size, "unable to %s '%s'", crl ? "configure CRL file" : "set CA file", path);
	return false;
}

static bool set_verify(struct config *cfg, SSL_CTX *ctx, const struct tls_settings *set, bool back,
		       char *why, size_t size)
{
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	struct tls_ca *ca, *other;
	int mode = SSL_VERIFY_NONE;

	if (set->verify == TLS_VERIFY_OPTIONAL)
		mode = SSL_VERIFY_PEER;
	if (set->verify == TLS_VERIFY_REQUIRED)
		mode = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
	SSL_CTX_set_verify(ctx, mode, tls_verify_callback);
	if (mode == SSL_VERIFY_NONE)
		return true;
	if (!set->ca_file && !set->ca_verify_file) {
		snprintf(why, size, "verify is enabled but no CA file specified");
		return false;
	}
	if (!add_file(cfg, store, set->ca_file, false, &ca, why, size) ||
	    !add_file(cfg, store, set->ca_verify_file, false, &other, why, size) ||
	    !add_file(cfg, store, set->crl_file, true, &other, why, size))
		return false;
	if (ca && !back && !(set->flags & TLS_SET_NO_CA_NAMES))
		send_names(ctx, ca);
	ERR_clear_error();
	return true;
}

/* --- callbacks -------------------------------------------------------------------------------- */

static int alpn_select(SSL *ssl, const unsigned char **out, unsigned char *out_len,
		       const unsigned char *in, unsigned in_len, void *arg)
{
	static const unsigned char h3[] = "\x02h3";
	const struct tls_settings *set = arg;

	if (tls_of(tls_now())->quic) {
		/* nothing else is spoken there, and a client must say what it speaks */
		return memmem(set->alpn.ptr, set->alpn.len, h3, sizeof(h3) - 1) &&
		       SSL_select_next_proto((unsigned char **)(uintptr_t)out, out_len, h3,
					     sizeof(h3) - 1, in, in_len) == OPENSSL_NPN_NEGOTIATED
			       ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
	}
	if (SSL_select_next_proto((unsigned char **)(uintptr_t)out, out_len,
				  (const unsigned char *)set->alpn.ptr, (unsigned)set->alpn.len, in,
				  in_len) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_NOACK;
	return SSL_TLSEXT_ERR_OK;
}

/* The name was looked at when the hello came; this one only says that it was understood. */
static int name_known(SSL *ssl, int *alert, void *arg)
{
	return SSL_TLSEXT_ERR_OK;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void set_front(struct config *cfg, SSL_CTX *ctx, const struct tls_settings *set)
{
	const struct tls_global *g = tls_global_of(cfg);

	SSL_CTX_set_client_hello_cb(ctx, tls_hello_callback, NULL);
	SSL_CTX_set_tlsext_servername_callback(ctx, name_known);
	tls_shown_attach(ctx);
	if (set->alpn.len)
		SSL_CTX_set_alpn_select_cb(ctx, alpn_select, (void *)(uintptr_t)set);
	if (set->flags & TLS_SET_EARLY_DATA) {
		SSL_CTX_set_max_early_data(ctx, TLS_EARLY_MAX);
		SSL_CTX_set_recv_max_early_data(ctx, TLS_EARLY_MAX);
		SSL_CTX_set_options(ctx, TLS_EARLY_OPTIONS);
	}
	if (!(set->flags & TLS_SET_CLIENT_CIPHERS))
		SSL_CTX_set_options(ctx, SSL_OP_CIPHER_SERVER_PREFERENCE |
				    SSL_OP_PRIORITIZE_CHACHA);
	SSL_CTX_set_timeout(ctx, g->lifetime_s);
	tls_cache_attach(ctx);
}

SSL_CTX *tls_ctx_make(struct config *cfg, const struct tls_settings *set, bool back, char *why,
		      size_t size)
{
	const struct tls_global *g = tls_global_of(cfg);
	SSL_CTX *ctx = SSL_CTX_new_ex(NULL, g->fast_aes ? tls_gcm_properties() : NULL,
				      back ? TLS_client_method() : TLS_server_method());

	if (!ctx) {
		snprintf(why, size, "unable to allocate ssl context");
		return NULL;
	}
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
			 SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_options(ctx, SSL_OP_ALL | SSL_OP_NO_SSLv2 | SSL_OP_NO_SSLv3 |
			    SSL_OP_NO_COMPRESSION |
			    SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION);
	/* (a client's other handshake would cost us more than it costs the client) */
	if (!back || set->flags & TLS_SET_NO_RENEGOTIATE)
		SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION);
	if (g->keyupdate_rate || g->capture_size) {
		SSL_CTX_set_msg_callback(ctx, tls_message_seen);
		SSL_CTX_set_msg_callback_arg(ctx, (void *)(uintptr_t)g->keyupdate_rate);
	}
	if (set->flags & TLS_SET_NO_TICKETS)
		SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
	if (g->no_compression)
		SSL_CTX_set_options(ctx, TLS_NO_COMPRESSION);
	SSL_CTX_set_read_ahead(ctx, 1);
	SSL_CTX_set_default_read_buffer_len(ctx, READ_SIZE);
	if (g->security_level >= 0)
		SSL_CTX_set_security_level(ctx, (int)g->security_level);
	if (g->keylog)
		tls_keylog_attach(ctx);
	if (!back)
		set_front(cfg, ctx, set);
	if (set->flags & TLS_SET_QUIC && !tls_quic_attach(ctx)) {
		snprintf(why, size, "unable to allocate ssl context");
		SSL_CTX_free(ctx);
		return NULL;
	}
	if (set_versions(ctx, set, why, size) && set_verify(cfg, ctx, set, back, why, size) &&
	    set_algorithms(ctx, set, why, size))
		return ctx;
	SSL_CTX_free(ctx);
	return NULL;
}

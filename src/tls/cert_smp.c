/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cert_smp.c - edge file: fetches about certificates: the client's (ssl_c_), ours (ssl_f_), the
 * server's (ssl_s_). Manual: configuration 7.3.4
 */
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include "cert_priv.h"
#include "conn_priv.h"
#include "early_priv.h"
#include "facts_priv.h"
#include "smp_priv.h"

#define FETCH_ARGS struct expr_ctx *ctx, const struct expr_arg *args, struct sample *out

/* Whose certificate: <data> of most fetches. */
enum whose { OF_CLIENT, OF_US, OF_SERVER };
static const enum whose client = OF_CLIENT, us = OF_US, server = OF_SERVER;

/* The peer's; also one that did not stand the check, for the log of the handshake. */
static X509 *peer_of(const struct tls_conn *t)
{
	X509 *x = tls_conn_peer_cert(t);
	STACK_OF(X509) *chain = x || t->flags & TLS_FL_DONE ? NULL
							    : tls_conn_verified_chain(t);

	return chain && sk_X509_num(chain) > 0 ? sk_X509_value(chain, 0) : x;
}

/* Is it known how the check of the peer has ended? */
static bool is_verified(const struct tls_conn *t)
{
	return t->flags & TLS_FL_DONE || tls_early_goes_on(t);
}

static X509 *cert_of(struct expr_ctx *ctx)
{
	enum whose whose = *(const enum whose *)ctx->data;
	struct tls_conn *t = tls_smp_conn(ctx, whose == OF_SERVER ? TLS_BACK : TLS_FRONT);

	if (!t)
		return NULL;
	return whose == OF_US ? tls_conn_cert(t) : peer_of(t);
}

/* What OpenSSL wrote to a memory BIO, copied; closes it. */
static enum expr_result take_bio(struct expr_ctx *ctx, struct sample *out, enum sample_type type,
				 BIO *bio)
{
	enum expr_result r = EXPR_NONE;
	char *p;
	long len;

	if (!bio)
		return EXPR_NONE;
	len = BIO_get_mem_data(bio, &p);
	if (len > 0)
		r = tls_smp_copy(ctx, out, type, p, (size_t)len);
	BIO_free(bio);
	ERR_clear_error();
	return r;
}

static enum expr_result fetch_der(FETCH_ARGS)
{
	X509 *x = cert_of(ctx);
	BIO *bio = x ? BIO_new(BIO_s_mem()) : NULL;

	if (bio)
		i2d_X509_bio(bio, x);
	return take_bio(ctx, out, SMP_BIN, bio);
}

static enum expr_result fetch_chain(FETCH_ARGS)
{
	bool of_server = *(const enum whose *)ctx->data == OF_SERVER;
	struct tls_conn *t = tls_smp_conn(ctx, of_server ? TLS_BACK : TLS_FRONT);
	STACK_OF(X509) *chain = t && !tls_conn_is_resumed(t) ? tls_conn_peer_chain(t)
								 : NULL;
	BIO *bio = sk_X509_num(chain) > 0 ? BIO_new(BIO_s_mem()) : NULL;

	/* with the certificate itself where a server showed it, without it where a client did */
	for (int i = 0; bio && i < sk_X509_num(chain); i++)
		i2d_X509_bio(bio, sk_X509_value(chain, i));
	return take_bio(ctx, out, SMP_BIN, bio);
}

static enum expr_result fetch_serial(FETCH_ARGS)
{
	X509 *x = cert_of(ctx);
	const ASN1_INTEGER *n = x ? X509_get0_serialNumber(x) : NULL;

	return n ? tls_smp_copy(ctx, out, SMP_BIN, n->data, (size_t)n->length) : EXPR_NONE;
}

static enum expr_result fetch_sha1(FETCH_ARGS)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	X509 *x = cert_of(ctx);
	unsigned len = 0;

	if (!x || X509_digest(x, EVP_sha1(), digest, &len) != 1)
		return EXPR_NONE;
	return tls_smp_copy(ctx, out, SMP_BIN, digest, len);
}

static enum expr_result fetch_version(FETCH_ARGS)
{
	X509 *x = cert_of(ctx);

	return x ? smp_give_int(out, X509_get_version(x) + 1) : EXPR_NONE;
}

static enum expr_result give_time(struct expr_ctx *ctx, struct sample *out, const ASN1_TIME *t)
{
	const char *p = (const char *)t->data;
	size_t len = (size_t)t->length;

	/* years with two digits, whatever the encoding */
	if (t->type == V_ASN1_GENERALIZEDTIME && len >= 12) {
		if (memcmp(p, "20", 2) != 0)
			return EXPR_NONE;
		p += 2;
		len -= 2;
	}
	return tls_smp_copy(ctx, out, SMP_STR, p, len);
}

static enum expr_result fetch_not_before(FETCH_ARGS)
{
	X509 *x = cert_of(ctx);

	return x ? give_time(ctx, out, X509_get0_notBefore(x)) : EXPR_NONE;
}

static enum expr_result fetch_not_after(FETCH_ARGS)
{
	X509 *x = cert_of(ctx);

	return x ? give_time(ctx, out, X509_get0_notAfter(x)) : EXPR_NONE;
}

static enum expr_result fetch_signature(FETCH_ARGS)
{
	struct slice name = tls_cert_signature_name(cert_of(ctx));

	return tls_smp_bytes(out, SMP_STR, name.ptr, name.len);
}

static enum expr_result fetch_key(FETCH_ARGS)
{
	X509 *x = cert_of(ctx);
	X509_PUBKEY *key = x ? X509_get_X509_PUBKEY(x) : NULL;
	ASN1_OBJECT *algorithm = NULL;

	if (!key || !X509_PUBKEY_get0_param(&algorithm, NULL, NULL, NULL, key) ||
	    OBJ_obj2nid(algorithm) == NID_undef)
		return EXPR_NONE;
	return tls_smp_text(out, OBJ_nid2sn(OBJ_obj2nid(algorithm)));
}

static enum expr_result fetch_alternative_names(FETCH_ARGS)
{
	X509 *x = cert_of(ctx);
	int at = x ? X509_get_ext_by_NID(x, NID_subject_alt_name, -1) : -1;
	BIO *bio = at >= 0 ? BIO_new(BIO_s_mem()) : NULL;

	if (bio && !X509V3_EXT_print(bio, X509_get_ext(x, at), 0, 0)) {
		BIO_free(bio);
		ERR_clear_error();
		return EXPR_NONE;
	}
	return take_bio(ctx, out, SMP_STR, bio);
}

/* --- distinguished names ---------------------------------------------------------------------- */

/* "CN" of an entry, its value. False: cannot be told. */
static bool entry_parts(X509_NAME_ENTRY *e, const char **name, struct slice *value)
{
	ASN1_OBJECT *object = X509_NAME_ENTRY_get_object(e);
	ASN1_STRING *data = X509_NAME_ENTRY_get_data(e);
	static __thread char number[80];
	int nid = OBJ_obj2nid(object);

	*value = slice_make((const char *)ASN1_STRING_get0_data(data),
			    (size_t)ASN1_STRING_length(data));
	*name = OBJ_nid2sn(nid);
	if (nid == NID_undef) {
		OBJ_obj2txt(number, sizeof(number), object, 1);
		*name = number;
	}
	return !memchr(value->ptr, 0, value->len);
}

/* An empty value is a sample, too. */
static enum expr_result give_value(struct expr_ctx *ctx, struct sample *out, struct slice value)
{
	if (value.len)
		return tls_smp_copy(ctx, out, SMP_STR, value.ptr, value.len);
	*out = (struct sample){ .type = SMP_STR, .flags = SMP_CONST, .text = SLICE("") };
	return EXPR_FOUND;
}

/* The <nth> entry of a name, from 1; negative: from the end. */
static enum expr_result one_entry(struct expr_ctx *ctx, X509_NAME *dn, struct slice want,
				  int64_t nth, struct sample *out)
{
	int count = X509_NAME_entry_count(dn);
	int64_t seen = 0;

	for (int i = 0; i < count; i++) {
		int at = nth < 0 ? count - 1 - i : i;
		struct slice value;
		const char *name;
		bool good = entry_parts(X509_NAME_get_entry(dn, at), &name, &value);

		if (!slice_eq_nocase(slice_of(name), want) || ++seen < (nth < 0 ? -nth : nth))
			continue;
		return good ? give_value(ctx, out, value) : EXPR_NONE;
	}
	return EXPR_NONE;
}

/* "/C=FR/O=example/CN=name" */
static enum expr_result whole_name(struct expr_ctx *ctx, X509_NAME *dn, struct sample *out)
{
	int count = X509_NAME_entry_count(dn);
	BIO *bio = BIO_new(BIO_s_mem());

	for (int i = 0; bio && i < count; i++) {
		struct slice value;
		const char *name;

		if (!entry_parts(X509_NAME_get_entry(dn, i), &name, &value)) {
			BIO_free(bio);
			return EXPR_NONE;
		}
		BIO_printf(bio, "/%s=", name);
		BIO_write(bio, value.ptr, (int)value.len);
	}
	return take_bio(ctx, out, SMP_STR, bio);
}

static enum expr_result give_name(struct expr_ctx *ctx, const struct expr_arg *args, X509_NAME *dn,
				  struct sample *out)
{
	BIO *bio;

	if (!dn)
		return EXPR_NONE;
	if (args[0].type == ARG_STR && args[0].text.len)
		return one_entry(ctx, dn, args[0].text,
				 args[1].type == ARG_INT && args[1].integer ? args[1].integer : 1,
				 out);
	if (args[0].type != ARG_STR || args[1].type != ARG_INT || args[2].type != ARG_STR)
		return whole_name(ctx, dn, out);
	bio = BIO_new(BIO_s_mem());
	if (bio)
		X509_NAME_print_ex(bio, dn, 0, XN_FLAG_RFC2253);
	return take_bio(ctx, out, SMP_STR, bio);
}

static enum expr_result fetch_subject(FETCH_ARGS)
{
	X509 *x = cert_of(ctx);

	return give_name(ctx, args, x ? X509_get_subject_name(x) : NULL, out);
}

static enum expr_result fetch_issuer(FETCH_ARGS)
{
	X509 *x = cert_of(ctx);

	return give_name(ctx, args, x ? X509_get_issuer_name(x) : NULL, out);
}

static enum expr_result fetch_root(FETCH_ARGS)
{
	struct tls_conn *t = tls_smp_conn(ctx, TLS_FRONT);
	STACK_OF(X509) *chain = t ? tls_conn_verified_chain(t) : NULL;
	int n = chain ? sk_X509_num(chain) : 0;

	return give_name(ctx, args, n ? X509_get_subject_name(sk_X509_value(chain, n - 1)) : NULL,
			 out);
}

static bool check_name(struct conf_line *l, struct expr_arg *args, const char **error)
{
	if (args[0].type != ARG_STR || args[1].type != ARG_INT || args[2].type != ARG_STR)
		return true;
	if (slice_eq_nocase(args[2].text, SLICE("rfc2253")))
		return true;
	*error = "only rfc2253 or a blank value are currently supported as the format argument.";
	return args[2].text.len == 0;
}

/* --- verification ----------------------------------------------------------------------------- */

static enum expr_result fetch_used(FETCH_ARGS)
{
	struct tls_conn *t = tls_smp_conn(ctx, TLS_FRONT);

	return t ? smp_give_bool(out, peer_of(t) != NULL) : EXPR_NONE;
}

/* On this very connection, not in the session that it resumes. */
static enum expr_result fetch_has_cert(FETCH_ARGS)
{
	struct tls_conn *t = tls_smp_conn(ctx, TLS_FRONT);

	return t && is_verified(t) ? smp_give_bool(out, tls_conn_peer_cert(t) &&
						   !tls_conn_is_resumed(t)) : EXPR_NONE;
}

static enum expr_result fetch_verify(FETCH_ARGS)
{
	struct tls_conn *t = tls_smp_conn(ctx, TLS_FRONT);

	return t && is_verified(t) ? smp_give_int(out, tls_conn_verify_result(t)) : EXPR_NONE;
}

static enum expr_result fetch_error(FETCH_ARGS)
{
	struct tls_conn *t = tls_smp_conn(ctx, TLS_FRONT);

	return t ? smp_give_int(out, t->peer_error) : EXPR_NONE;
}

static enum expr_result fetch_ca_error(FETCH_ARGS)
{
	struct tls_conn *t = tls_smp_conn(ctx, TLS_FRONT);

	return t ? smp_give_int(out, t->ca_error) : EXPR_NONE;
}

static enum expr_result fetch_ca_depth(FETCH_ARGS)
{
	struct tls_conn *t = tls_smp_conn(ctx, TLS_FRONT);

	return t ? smp_give_int(out, t->ca_depth) : EXPR_NONE;
}

#define L5C EXPR_USE_L5_CLIENT
/* (taken in rules for requests, too, as HAProxy takes them: there is no such certificate yet) */
#define L5S (EXPR_USE_L5_CLIENT | EXPR_USE_L5_SERVER)
#define ONE(n, type, uses, which, function, text) \
	{ .name = n, .out = type, .use = uses, .fetch = function, .data = &which, .help = text }
#define ALL(n, type, function, text) \
	ONE("ssl_c_" n, type, L5C, client, function, text " of the client's certificate"), \
	ONE("ssl_f_" n, type, L5C, us, function, text " of our certificate"), \
	ONE("ssl_s_" n, type, L5S, server, function, text " of the server's certificate")
#define NAME(n, uses, which, function, text) \
	{ .name = n, .args = { ARG_STR, ARG_INT, ARG_STR }, .out = SMP_STR, .use = uses, \
	  .fetch = function, .check = check_name, .data = &which, .help = text, \
	  .syntax = "[<entry>[,<occ>[,<format>]]]" }

static const struct expr_fetch fetches[] = {
	ALL("der", SMP_BIN, fetch_der, "DER form"),
	ALL("key_alg", SMP_STR, fetch_key, "algorithm of the key"),
	ALL("notafter", SMP_STR, fetch_not_after, "last date"),
	ALL("notbefore", SMP_STR, fetch_not_before, "first date"),
	ALL("serial", SMP_BIN, fetch_serial, "serial number"),
	ALL("sha1", SMP_BIN, fetch_sha1, "SHA-1 fingerprint"),
	ALL("sig_alg", SMP_STR, fetch_signature, "algorithm of the signature"),
	ALL("version", SMP_INT, fetch_version, "version"),
	NAME("ssl_c_i_dn", L5C, client, fetch_issuer, "issuer of the client's certificate"),
	NAME("ssl_c_s_dn", L5C, client, fetch_subject, "subject of the client's certificate"),
	NAME("ssl_c_r_dn", L5C, client, fetch_root, "root of the client's certificate"),
	NAME("ssl_f_i_dn", L5C, us, fetch_issuer, "issuer of our certificate"),
	NAME("ssl_f_s_dn", L5C, us, fetch_subject, "subject of our certificate"),
	NAME("ssl_s_i_dn", L5S, server, fetch_issuer, "issuer of the server's certificate"),
	NAME("ssl_s_s_dn", L5S, server, fetch_subject, "subject of the server's certificate"),
	ONE("ssl_c_chain_der", SMP_BIN, L5C, client, fetch_chain, "chain that the client showed"),
	ONE("ssl_s_chain_der", SMP_BIN, L5S, server, fetch_chain, "chain that the server showed"),
	ONE("ssl_c_san", SMP_STR, L5C, client, fetch_alternative_names,
	    "other names of the client's certificate"),
	ONE("ssl_c_used", SMP_BOOL, L5C, client, fetch_used, "has the client a certificate?"),
	ONE("ssl_fc_has_crt", SMP_BOOL, L5C, client, fetch_has_cert,
	    "did the client show a certificate on this connection?"),
	ONE("ssl_c_verify", SMP_INT, L5C, client, fetch_verify, "result of the verification"),
	ONE("ssl_c_err", SMP_INT, L5C, client, fetch_error,
	    "first error of the client's certificate"),
	ONE("ssl_c_ca_err", SMP_INT, L5C, client, fetch_ca_error,
	    "first error of its authorities"),
	ONE("ssl_c_ca_err_depth", SMP_INT, L5C, client, fetch_ca_depth,
	    "where in the chain that error is"),
	{ 0 }
};

const struct module mod_tls_cert_smp = { .name = "tls-certificate-fetches", .fetches = fetches };

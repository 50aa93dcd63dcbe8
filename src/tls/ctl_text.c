/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_text.c - shared by commands about files, and a certificate in their output format */
#include <openssl/err.h>
#include <openssl/ocsp.h>
#include <openssl/x509v3.h>
#include "cert_priv.h"
#include "ctl_priv.h"
#include "store_priv.h"

enum ctl_step tls_ctl_named(struct ctl_request *rq,
			    void (*work)(struct ctl_request *rq, const char *name))
{
	const char *name = rq->words[rq->at];

	if (!name) {
		static const struct { const char *command, *what; } deleted[] = {
			{ "del ssl cert", "certificate name" },
			{ "del ssl ca-file", "CA file name" },
			{ "del ssl crl-file", "CRL file name" },
		};
		const char *what = "filename";

		for (unsigned i = 0; i < sizeof(deleted) / sizeof(*deleted); i++)
			if (strcmp(rq->command->words, deleted[i].command) == 0)
				what = deleted[i].what;
		ctl_error(rq, "'%s' expects a %s", rq->command->words, what);
		return CTL_DONE;
	}
	tls_store_lock();
	work(rq, name);
	tls_store_unlock();
	return CTL_DONE;
}

/* Appends what OpenSSL wrote to <bio>, in one line, and frees it. */
static void put_bio(struct strbuf *out, const char *label, BIO *bio)
{
	char *p;
	long len = bio ? BIO_get_mem_data(bio, &p) : 0;

	strbuf_add_str(out, label);
	if (len > 0)
		strbuf_add(out, slice_make(p, (size_t)len));
	strbuf_add_char(out, '\n');
	BIO_free(bio);
	ERR_clear_error();
}

static BIO *serial_of(X509 *x)
{
	BIO *bio = BIO_new(BIO_s_mem());
	const ASN1_INTEGER *n = X509_get0_serialNumber(x);

	for (int i = 0; bio && i < n->length; i++)
		BIO_printf(bio, "%02X", n->data[i]);
	return bio;
}

static BIO *date_of(const ASN1_TIME *t)
{
	BIO *bio = BIO_new(BIO_s_mem());

	if (bio)
		ASN1_TIME_print(bio, t);
	return bio;
}

static BIO *names_of(X509 *x)
{
	int at = X509_get_ext_by_NID(x, NID_subject_alt_name, -1);
	BIO *bio = at >= 0 ? BIO_new(BIO_s_mem()) : NULL;

	if (bio)
		X509V3_EXT_print(bio, X509_get_ext(x, at), 0, 0);
	return bio;
}

static BIO *digest_of(X509 *x)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	BIO *bio = BIO_new(BIO_s_mem());
	unsigned len = 0;

	if (bio && X509_digest(x, EVP_sha1(), digest, &len) == 1)
		for (unsigned i = 0; i < len; i++)
			BIO_printf(bio, "%02X", digest[i]);
	return bio;
}

static void put_name(struct strbuf *out, const char *label, X509_NAME *name)
{
	char *text = X509_NAME_oneline(name, NULL, 0);

	strbuf_printf(out, "%s%s\n", label, text ? text : "");
	OPENSSL_free(text);
}

void tls_ctl_put_cert(struct strbuf *out, X509 *x, STACK_OF(X509) *chain)
{
	char room[64];
	struct slice key = tls_cert_key_name(x, room, sizeof(room));

	put_bio(out, "Serial: ", serial_of(x));
	put_bio(out, "notBefore: ", date_of(X509_get0_notBefore(x)));
	put_bio(out, "notAfter: ", date_of(X509_get0_notAfter(x)));
	put_bio(out, "Subject Alternative Name: ", names_of(x));
	strbuf_printf(out, "Algorithm: %.*s\n", (int)key.len, key.ptr ? key.ptr : "");
	put_bio(out, "SHA1 FingerPrint: ", digest_of(x));
	put_name(out, "Subject: ", X509_get_subject_name(x));
	put_name(out, "Issuer: ", X509_get_issuer_name(x));
	for (int i = 0; i < sk_X509_num(chain); i++) {
		put_name(out, "Chain Subject: ", X509_get_subject_name(sk_X509_value(chain, i)));
		put_name(out, "Chain Issuer: ", X509_get_issuer_name(sk_X509_value(chain, i)));
	}
}

static void put_revoked(struct strbuf *out, const X509_REVOKED *r)
{
	const ASN1_INTEGER *n = X509_REVOKED_get0_serialNumber(r);

	strbuf_add_str(out, "    Serial Number: ");
	for (int i = 0; i < n->length; i++)
		strbuf_printf(out, "%02X", n->data[i]);
	put_bio(out, "\n        Revocation Date: ", date_of(X509_REVOKED_get0_revocationDate(r)));
}

void tls_ctl_put_crl(struct strbuf *out, X509_CRL *crl)
{
	STACK_OF(X509_REVOKED) *revoked = X509_CRL_get_REVOKED(crl);
	int count = sk_X509_REVOKED_num(revoked), algorithm = X509_CRL_get_signature_nid(crl);
	const ASN1_TIME *next = X509_CRL_get0_nextUpdate(crl);

	strbuf_printf(out, "Version %ld\nSignature Algorithm: %s\n", X509_CRL_get_version(crl) + 1,
		      algorithm == NID_undef ? "" : OBJ_nid2ln(algorithm));
	put_name(out, "Issuer: ", X509_CRL_get_issuer(crl));
	put_bio(out, "Last Update: ", date_of(X509_CRL_get0_lastUpdate(crl)));
	if (next)
		put_bio(out, "Next Update: ", date_of(next));
	else
		strbuf_add_str(out, "Next Update: NONE\n");
	strbuf_add_str(out, count > 0 ? "Revoked Certificates:\n" : "No Revoked Certificates.\n");
	for (int i = 0; i < count; i++)
		put_revoked(out, sk_X509_REVOKED_value(revoked, i));
}

/* An empty line would end the command's answer: a blank stands in it. */
static void put_lines(struct strbuf *out, const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (p[i] == '\n' && i && p[i - 1] == '\n')
			strbuf_add_char(out, ' ');
		strbuf_add_char(out, p[i]);
	}
}

void tls_ctl_put_ocsp(struct strbuf *out, const struct tls_cert *c)
{
	const unsigned char *der = c->ocsp;
	OCSP_RESPONSE *answer = der ? d2i_OCSP_RESPONSE(NULL, &der, (long)c->ocsp_len) : NULL;
	BIO *bio = BIO_new(BIO_s_mem());
	char *p;
	long len;

	if (answer && bio && OCSP_RESPONSE_print(bio, answer, 0)) {
		len = BIO_get_mem_data(bio, &p);
		if (len > 0)
			put_lines(out, p, (size_t)len);
	}
	BIO_free(bio);
	OCSP_RESPONSE_free(answer);
}

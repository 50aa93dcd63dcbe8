/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cert.c - certificates: read from PEM, checked, counted, their names told */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "tls_priv.h"

/* No file of certificates is as large. */
#define FILE_MAX (16 << 20)

struct tls_cert *tls_cert_take(struct tls_cert *c)
{
	__atomic_add_fetch(&c->refs, 1, __ATOMIC_RELAXED);
	return c;
}

void tls_cert_drop(struct tls_cert **pc)
{
	struct tls_cert *c = *pc;

	*pc = NULL;
	if (!c || __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL))
		return;
	X509_free(c->leaf);
	X509_free(c->issuer);
	EVP_PKEY_free(c->key);
	EVP_PKEY_free(c->dh);
	sk_X509_pop_free(c->chain, X509_free);
	free(c->ocsp);
	free(c->sctl);
	free(c);
}

/* Nobody is asked for a pass phrase: a key that needs one is no key. */
static int no_phrase(char *buf, int size, int writing, void *ctx)
{
	return 0;
}

static bool set_key(struct tls_cert *c, EVP_PKEY *key)
{
	if (!key)
		return false;
	EVP_PKEY_free(c->key);
	c->key = key;
	return true;
}

static EVP_PKEY *read_key(const char *text, size_t len)
{
	BIO *bio = BIO_new_mem_buf(text, (int)len);
	EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_phrase, NULL) : NULL;

	BIO_free(bio);
	ERR_clear_error();
	return key;
}

EVP_PKEY *tls_dh_read(const char *text, size_t len)
{
	BIO *bio = memmem(text, len, "DH PARAMETERS", 13) ? BIO_new_mem_buf(text, (int)len) : NULL;
	EVP_PKEY *dh = NULL;

	while (bio && !dh) {
		char *name, *header;
		unsigned char *data;
		const unsigned char *p;
		long size;

		if (!PEM_read_bio(bio, &name, &header, &data, &size))
			break;
		p = data;
		if (strcmp(name, "DH PARAMETERS") == 0)
			dh = d2i_KeyParams(EVP_PKEY_DH, NULL, &p, size);
		OPENSSL_free(name);
		OPENSSL_free(header);
		OPENSSL_clear_free(data, (size_t)size);
	}
	BIO_free(bio);
	ERR_clear_error();
	return dh;
}

/* Leaf and chain. False: the text has no certificate; OpenSSL's queue tells why. */
static bool read_chain(struct tls_cert *c, const char *text, size_t len)
{
	BIO *bio = BIO_new_mem_buf(text, (int)len);
	X509 *x;

	if (!bio)
		return false;
	c->leaf = PEM_read_bio_X509_AUX(bio, NULL, no_phrase, NULL);
	while (c->leaf && (x = PEM_read_bio_X509(bio, NULL, no_phrase, NULL))) {
		if (!c->chain)
			c->chain = sk_X509_new_null();
		if (!c->chain || !sk_X509_push(c->chain, x)) {
			X509_free(x);
			break;
		}
	}
	BIO_free(bio);
	if (c->leaf)
		ERR_clear_error();
	return c->leaf != NULL;
}

static void find_type(struct tls_cert *c)
{
	EVP_PKEY *key = X509_get0_pubkey(c->leaf);

	switch (key ? EVP_PKEY_base_id(key) : EVP_PKEY_NONE) {
	case EVP_PKEY_EC:
	case EVP_PKEY_ED25519:
	case EVP_PKEY_ED448:
		c->type = TLS_KEY_ECDSA;
		break;
	case EVP_PKEY_DSA:
		c->type = TLS_KEY_DSA;
		break;
	default:
		c->type = TLS_KEY_RSA;
	}
}

/* Files of a certificate that may lack. NULL: it does, or cannot be read. */
static char *load_optional(const char *path, size_t *len)
{
	char *text = path ? file_load(path, FILE_MAX, len) : NULL;

	return text;
}

static void load_extras(struct tls_cert *c, const struct tls_cert_files *f)
{
	char *text;
	size_t len;
	BIO *bio;

	c->ocsp = (unsigned char *)load_optional(f->ocsp, &c->ocsp_len);
	c->sctl = (unsigned char *)load_optional(f->sctl, &c->sctl_len);
	text = load_optional(f->issuer, &len);
	bio = text ? BIO_new_mem_buf(text, (int)len) : NULL;
	if (bio)
		c->issuer = PEM_read_bio_X509(bio, NULL, no_phrase, NULL);
	BIO_free(bio);
	free(text);
	ERR_clear_error();
}

/* The private key, of the same text or of its own file. */
static bool load_key(struct tls_cert *c, const char *text, size_t len, const char *path, char *why,
		     size_t size)
{
	char *other;

	if (set_key(c, read_key(text, len)))
		return true;
	other = path ? file_load(path, FILE_MAX, &len) : NULL;
	if (other) {
		set_key(c, read_key(other, len));
		OPENSSL_cleanse(other, len);
		free(other);
	}
	if (!c->key)
		snprintf(why, size, "No Private Key found in '%s'.", path ? path : "");
	return c->key != NULL;
}

static bool key_fits(const struct tls_cert *c, const char *name, char *why, size_t size)
{
	if (X509_check_private_key(c->leaf, c->key) == 1)
		return true;
	ERR_clear_error();
	snprintf(why, size, "inconsistencies between private key and certificate loaded '%s'.",
		 name);
	return false;
}

struct tls_cert *tls_cert_load(const struct tls_global *g, const struct tls_cert_files *f,
			       char *why, size_t size)
{
	struct tls_cert *c = calloc(1, sizeof(*c));
	size_t len = 0;
	char *text = file_load(f->crt, FILE_MAX, &len);
	bool good = false;

	if (!c || !text) {
		snprintf(why, size, "unable to load certificate from file '%s'.", f->crt);
		free(text);
		free(c);
		return NULL;
	}
	c->refs = 1;
	ERR_clear_error();
	if (!read_chain(c, text, len))
		snprintf(why, size, "unable to load certificate from file '%s': %s.", f->crt,
			 tls_reason());
	else
		good = load_key(c, text, len, f->key, why, size) && key_fits(c, f->crt, why, size);
	if (good)
		c->dh = tls_dh_read(text, len);
	OPENSSL_cleanse(text, len);
	free(text);
	if (!good) {
		tls_cert_drop(&c);
		return NULL;
	}
	find_type(c);
	load_extras(c, f);
	return c;
}

struct tls_cert *tls_cert_of_pem(struct slice pem, const char *name, char *why, size_t size)
{
	struct tls_cert *c = calloc(1, sizeof(*c));
	bool good = false;

	if (!c)
		return NULL;
	c->refs = 1;
	ERR_clear_error();
	if (!read_chain(c, pem.ptr, pem.len))
		snprintf(why, size, "unable to load certificate from file '%s': %s.", name,
			 tls_reason());
	else if (!set_key(c, read_key(pem.ptr, pem.len)))
		snprintf(why, size, "No Private Key found in '%s'.", name);
	else
		good = key_fits(c, name, why, size);
	if (!good) {
		tls_cert_drop(&c);
		return NULL;
	}
	find_type(c);
	return c;
}

/* --- names ------------------------------------------------------------------------------------ */

static void tell(void (*name)(void *, struct slice), void *ctx, const ASN1_STRING *s)
{
	const char *p = (const char *)ASN1_STRING_get0_data(s);
	int len = ASN1_STRING_length(s);

	if (len > 0 && !memchr(p, 0, (size_t)len))
		name(ctx, slice_make(p, (size_t)len));
}

void tls_cert_names(const struct tls_cert *c, void (*name)(void *ctx, struct slice name),
		    void *ctx)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(c->leaf, NID_subject_alt_name, NULL, NULL);
	X509_NAME *subject = X509_get_subject_name(c->leaf);
	unsigned char *utf8;
	int at = -1, len;

	for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
		const GENERAL_NAME *n = sk_GENERAL_NAME_value(names, i);

		if (n->type == GEN_DNS)
			tell(name, ctx, n->d.dNSName);
	}
	sk_GENERAL_NAME_pop_free(names, GENERAL_NAME_free);
	while ((at = X509_NAME_get_index_by_NID(subject, NID_commonName, at)) >= 0) {
		X509_NAME_ENTRY *e = X509_NAME_get_entry(subject, at);

		len = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(e));
		if (len > 0 && !memchr(utf8, 0, (size_t)len))
			name(ctx, slice_make((const char *)utf8, (size_t)len));
		if (len >= 0)
			OPENSSL_free(utf8);
	}
}

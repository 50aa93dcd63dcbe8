/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cert.c - certificates: read from PEM, checked, counted, their names told */
#include <openssl/err.h>
#include <pthread.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "cert_priv.h"
#include "der.h"
#include "key_priv.h"
#include "lib_priv.h"
#include "shown_priv.h"

/* No file of certificates is as large. */
#define FILE_MAX (16 << 20)

/* --- closed ones ---------------------------------------------------------------------------- */

/* The PEM text of a certificate that was not used yet. */
struct tls_closed {
	struct der_cert look;        /* of <der> */
	unsigned char *der;          /* the leaf; OpenSSL's memory */
	char *text, *key_text;       /* key_text NULL: in <text>; both owned */
	size_t len, key_len;
};

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;

static void closed_free(struct tls_closed *k)
{
	if (!k)
		return;
	OPENSSL_free(k->der);
	if (k->text)
		OPENSSL_cleanse(k->text, k->len);
	if (k->key_text)
		OPENSSL_cleanse(k->key_text, k->key_len);
	free(k->text);
	free(k->key_text);
	free(k);
}

/* --- counting ------------------------------------------------------------------------------- */

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
	closed_free(c->closed);
	X509_free(c->leaf);
	X509_free(c->issuer);
	if (c->key)
		tls_memory_wipe_stacks();
	EVP_PKEY_free(c->key);
	EVP_PKEY_free(c->dh);
	sk_X509_pop_free(c->chain, X509_free);
	free(c->ocsp);
	free(c->sctl);
	free(c->name);
	free(c);
}

/* There is no prompt for a pass phrase: a key that needs one is no key. */
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
	EVP_PKEY *key;

	tls_memory_wipe(true);
	key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_phrase, NULL) : NULL;
	BIO_free(bio);
	tls_memory_wipe(false);
	ERR_clear_error();
	return key;
}

static bool skip_self_issued;

void tls_cert_skip_self_issued(bool skip)
{
	skip_self_issued = skip;
}

/* Is this a root? A peer that trusts it has it already. */
static bool is_self_issued(X509 *x)
{
	return X509_NAME_cmp(X509_get_subject_name(x), X509_get_issuer_name(x)) == 0;
}

static void attach_name(const struct tls_cert *c)
{
	if (c->leaf && c->name)
		tls_shown_set(c->leaf, TLS_SHOWN_NAME, (const unsigned char *)c->name,
			      strlen(c->name), 0);
}

void tls_cert_set_name(struct tls_cert *c, const char *name)
{
	free(c->name);
	c->name = strdup(name);
	attach_name(c);
}

void tls_cert_digest(struct tls_cert *c)
{
	unsigned char digest[EVP_MAX_MD_SIZE] = { 0 };

	X509_digest(c->leaf, EVP_sha256(), digest, NULL);
	memcpy(c->digest, digest, sizeof(c->digest));
}

/* Leaf and chain. False: the text has no certificate; OpenSSL's queue tells why. */
static bool read_chain(struct tls_cert *c, const char *text, size_t len)
{
	BIO *bio = BIO_new_mem_buf(text, (int)len);
	X509 *x;

	if (!bio)
		return false;
	tls_memory_wipe(true); /* it decodes keys that it passes over too */
	c->leaf = PEM_read_bio_X509_AUX(bio, NULL, no_phrase, NULL);
	while (c->leaf && (x = PEM_read_bio_X509(bio, NULL, no_phrase, NULL))) {
		if (skip_self_issued && is_self_issued(x)) {
			X509_free(x);
			continue;
		}
		if (!c->chain)
			c->chain = sk_X509_new_null();
		if (!c->chain || !sk_X509_push(c->chain, x)) {
			X509_free(x);
			break;
		}
	}
	BIO_free(bio);
	tls_memory_wipe(false);
	if (!c->leaf)
		return false;
	ERR_clear_error();
	tls_shown_prepare(c->leaf);
	tls_cert_digest(c);
	return true;
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

/* The file of a part that may lack, unless a line names it. NULL: it lacks, or cannot be read; then
 * *why says so when it must be there.
 */
static char *load_part(const struct tls_cert_files *f, enum tls_part part, const char *path,
		       size_t *len, char *why, size_t size)
{
	char *text = path ? file_load(path, FILE_MAX, len) : NULL;

	if (!text && f->named >> part & 1)
		snprintf(why, size, "'%s' cannot be read or parsed.", path);
	return text;
}

/* False: <why>. */
static bool load_issuer(struct tls_cert *c, const struct tls_cert_files *f, char *why, size_t size)
{
	size_t len = 0;
	char *text = load_part(f, TLS_PART_ISSUER, f->issuer, &len, why, size);
	BIO *bio = text ? BIO_new_mem_buf(text, (int)len) : NULL;

	if (bio)
		c->issuer = PEM_read_bio_X509(bio, NULL, no_phrase, NULL);
	if (text && !c->issuer && f->named >> TLS_PART_ISSUER & 1)
		snprintf(why, size, "'%s' cannot be read or parsed.", f->issuer);
	BIO_free(bio);
	free(text);
	ERR_clear_error();
	return !*why;
}

/* What lies beside certificate and key. False: <why>. */
static bool load_extras(struct tls_cert *c, const struct tls_cert_files *f, char *why, size_t size)
{
	*why = 0;
	c->ocsp = (unsigned char *)load_part(f, TLS_PART_OCSP, f->ocsp, &c->ocsp_len, why, size);
	c->sctl = (unsigned char *)load_part(f, TLS_PART_SCTL, f->sctl, &c->sctl_len, why, size);
	return !*why && load_issuer(c, f, why, size);
}

static bool key_is_apart(const struct tls_cert_files *f)
{
	return f->named >> TLS_PART_KEY & 1;
}

/* The private key, of the same text or of its own file. */
static bool load_key(struct tls_cert *c, const char *text, size_t len, struct tls_cert_files *f,
		     char *why, size_t size)
{
	char *other;

	*why = 0;
	if (!key_is_apart(f) && set_key(c, tls_phrases_key(f->phrases, f->crt,
							   slice_make(text, len), why, size))) {
		f->key = f->crt;
		return true;
	}
	other = f->key && !*why ? file_load(f->key, FILE_MAX, &len) : NULL;
	if (other) {
		set_key(c, tls_phrases_key(f->phrases, f->key, slice_make(other, len), why, size));
		OPENSSL_cleanse(other, len);
		free(other);
	}
	return c->key != NULL;
}

bool tls_cert_has_key(struct tls_cert *c)
{
	return __atomic_load_n(&c->closed, __ATOMIC_ACQUIRE) || c->key;
}

bool tls_cert_is_usable(struct tls_cert *c, const char *name, char *why, size_t size)
{
	tls_cert_open(c);
	if (!c->leaf || !c->key) {
		snprintf(why, size, "%s not found in '%s'.", c->leaf ? "Private Key" :
			 "Certificate", name);
		return false;
	}
	if (X509_check_private_key(c->leaf, c->key) == 1)
		return true;
	ERR_clear_error();
	snprintf(why, size, "inconsistencies between private key and certificate loaded '%s'.",
		 name);
	return false;
}

/* The first element of this kind ("CERTIFICATE", "* PRIVATE KEY") as DER; NULL: none in clear. */
static unsigned char *pem_part(const char *text, size_t len, bool key, long *size)
{
	BIO *bio = BIO_new_mem_buf(text, (int)len);
	unsigned char *data = NULL;
	char *name, *header;

	tls_memory_wipe(true);
	while (bio && PEM_read_bio(bio, &name, &header, &data, size)) {
		bool good = key ? strstr(name, "PRIVATE KEY") && !strstr(name, "ENCRYPTED") &&
				  !*header
				: strstr(name, "CERTIFICATE") != NULL;

		OPENSSL_free(name);
		OPENSSL_free(header);
		if (good)
			break;
		OPENSSL_clear_free(data, (size_t)*size);
		data = NULL;
	}
	BIO_free(bio);
	tls_memory_wipe(false);
	ERR_clear_error();
	return data;
}

/* Keeps the texts for later if what is seen of them is in order: a leaf that is understood, and a
 * key which has its public part. False: it must be opened to know.
 */
static bool keep_closed(struct tls_cert *c, char *text, size_t len, char *key_text, size_t key_len)
{
	struct tls_closed *k = calloc(1, sizeof(*k));
	long size = 0, key_size = 0;
	unsigned char *key;
	bool good = false;

	if (!k)
		return false;
	k->der = pem_part(text, len, false, &size);
	key = key_text ? pem_part(key_text, key_len, true, &key_size)
		       : pem_part(text, len, true, &key_size);
	if (k->der && key &&
	    der_cert_look(slice_make((char *)k->der, (size_t)size), &k->look))
		good = memmem(key, (size_t)key_size, k->look.public_key.ptr,
			      k->look.public_key.len) != NULL;
	OPENSSL_clear_free(key, (size_t)key_size);
	if (!good) {
		closed_free(k);
		return false;
	}
	k->text = text;
	k->len = len;
	k->key_text = key_text;
	k->key_len = key_len;
	c->type = k->look.type;
	c->closed = k;
	return true;
}

bool tls_cert_open(struct tls_cert *c)
{
	struct tls_closed *k;
	bool good = true;

	if (!__atomic_load_n(&c->closed, __ATOMIC_ACQUIRE))
		return c->leaf && c->key;
	pthread_mutex_lock(&open_lock);
	k = c->closed;
	if (k) {
		good = read_chain(c, k->text, k->len) &&
		       set_key(c, read_key(k->key_text ? k->key_text : k->text,
					   k->key_text ? k->key_len : k->len));
		ERR_clear_error();
		attach_name(c);
		if (good && memmem(k->text, k->len, "DH PARAMETERS", 13))
			c->dh = tls_dh_read(k->text, k->len);
		__atomic_store_n(&c->closed, NULL, __ATOMIC_RELEASE);
		closed_free(k);
	}
	pthread_mutex_unlock(&open_lock);
	return c->leaf && c->key;
}

/* Opens leaf, chain and key immediately. False: <why>. */
static bool open_now(struct tls_cert *c, const char *text, size_t len, struct tls_cert_files *f,
		     char *why, size_t size)
{
	if (!read_chain(c, text, len)) {
		snprintf(why, size, "unable to load certificate from file '%s': %s.", f->crt,
			 tls_reason());
		return false;
	}
	if (!load_key(c, text, len, f, why, size)) {
		find_type(c);
		if (f->may_lack_key && !key_is_apart(f) && !*why)
			return true;
		if (!*why)
			snprintf(why, size, "No Private Key found in '%s'.",
				 f->key ? f->key : f->crt);
		return false;
	}
	if (!tls_cert_is_usable(c, f->crt, why, size))
		return false;
	c->dh = tls_dh_read(text, len);
	find_type(c);
	return true;
}

/* This one may wait. True: it does, and has taken the text over. */
static bool load_closed(struct tls_cert *c, char *text, size_t len, struct tls_cert_files *f)
{
	char *key_text = NULL;
	size_t key_len = 0;

	if (!key_is_apart(f) && keep_closed(c, text, len, NULL, 0)) {
		f->key = f->crt;
		return true;
	}
	key_text = f->key ? file_load(f->key, FILE_MAX, &key_len) : NULL;
	if (key_text && keep_closed(c, text, len, key_text, key_len))
		return true;
	if (key_text)
		OPENSSL_cleanse(key_text, key_len);
	free(key_text);
	return false;
}

/* Has handshakes show the OCSP answer. False: it is not one for this certificate, and forgotten. */
static bool staple(struct tls_cert *c, char *why, size_t size)
{
	time_t expires;
	const char *error = tls_ocsp_check(c, c->ocsp, c->ocsp_len, &expires);

	if (!error && tls_shown_set(c->leaf, TLS_SHOWN_OCSP, c->ocsp, c->ocsp_len, expires))
		return true;
	snprintf(why, size, "%s.", error ? error : "out of memory");
	free(c->ocsp);
	c->ocsp = NULL;
	c->ocsp_len = 0;
	return false;
}

/* Has handshakes show the certificate's timestamps. False: <name> is no list of them. */
static bool show_timestamps(struct tls_cert *c, const char *name, char *why, size_t size)
{
	if (tls_sctl_is_list(c->sctl, c->sctl_len) &&
	    tls_shown_set(c->leaf, TLS_SHOWN_SCTL, c->sctl, c->sctl_len, 0))
		return true;
	snprintf(why, size, "'%s' is no list of certificate timestamps (RFC 6962)", name);
	return false;
}

struct tls_cert *tls_cert_load(struct tls_cert_files *f, bool at_once, char *why, size_t size)
{
	struct tls_cert *c = calloc(1, sizeof(*c));
	size_t len = 0;
	char *text = file_load(f->crt, FILE_MAX, &len);
	bool good;

	if (!c || !text) {
		snprintf(why, size, "unable to load certificate from file '%s'.", f->crt);
		free(text);
		free(c);
		return NULL;
	}
	c->refs = 1;
	ERR_clear_error();
	if (!at_once && load_closed(c, text, len, f)) {
		good = true;
	} else {
		good = open_now(c, text, len, f, why, size);
		OPENSSL_cleanse(text, len);
		free(text);
	}
	if (!good) {
		tls_cert_drop(&c);
		return NULL;
	}
	if (!tls_cert_has_key(c))
		return c; /* it is shown to no client */
	if (!load_extras(c, f, why, size)) {
		tls_cert_drop(&c);
		return NULL;
	}
	if (c->ocsp_len && tls_cert_open(c))
		staple(c, why, size);
	if (c->sctl && (!tls_cert_open(c) || !show_timestamps(c, f->sctl, why, size)))
		tls_cert_drop(&c);
	return c;
}

static unsigned char *copy_bytes(const unsigned char *p, size_t len)
{
	unsigned char *copy = p && len ? malloc(len) : NULL;

	if (copy)
		memcpy(copy, p, len);
	return copy;
}

/* All of <old>; the leaf is another object: what is stapled belongs to it. */
static struct tls_cert *cert_copy(const struct tls_cert *old)
{
	struct tls_cert *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->refs = 1;
	if (!old)
		return c;
	tls_cert_open((struct tls_cert *)(uintptr_t)old);
	c->leaf = old->leaf ? X509_dup(old->leaf) : NULL;
	if (c->leaf) {
		tls_shown_prepare(c->leaf);
		tls_cert_digest(c);
	}
	c->issuer = old->issuer;
	if (c->issuer)
		X509_up_ref(c->issuer);
	c->chain = old->chain ? X509_chain_up_ref(old->chain) : NULL;
	c->chain_file = old->chain_file;
	c->key = old->key;
	if (c->key)
		EVP_PKEY_up_ref(c->key);
	c->dh = old->dh;
	if (c->dh)
		EVP_PKEY_up_ref(c->dh);
	c->type = old->type;
	c->ocsp = copy_bytes(old->ocsp, old->ocsp_len);
	c->ocsp_len = c->ocsp ? old->ocsp_len : 0;
	c->sctl = copy_bytes(old->sctl, old->sctl_len);
	c->sctl_len = c->sctl ? old->sctl_len : 0;
	return c;
}

/* Replaces leaf, chain and, if there is one, the key. */
static bool change_cert(struct tls_cert *c, struct slice pem)
{
	EVP_PKEY *key = read_key(pem.ptr, pem.len);

	X509_free(c->leaf);
	sk_X509_pop_free(c->chain, X509_free);
	c->leaf = NULL;
	c->chain = NULL;
	c->chain_file = NULL;
	if (key)
		set_key(c, key);
	if (!read_chain(c, pem.ptr, pem.len))
		return false;
	EVP_PKEY_free(c->dh);
	c->dh = tls_dh_read(pem.ptr, pem.len);
	find_type(c);
	free(c->ocsp);
	c->ocsp = NULL;
	c->ocsp_len = 0;
	return true;
}

unsigned char *tls_base64_read(struct slice text, size_t *len)
{
	unsigned char *out = malloc(text.len + 4);
	EVP_ENCODE_CTX *e = EVP_ENCODE_CTX_new();
	int n = 0, last = 0;
	bool good = out && e;

	if (good) {
		EVP_DecodeInit(e);
		good = EVP_DecodeUpdate(e, out, &n, (const unsigned char *)text.ptr,
					(int)text.len) >= 0 &&
		       EVP_DecodeFinal(e, out + n, &last) == 1;
	}
	EVP_ENCODE_CTX_free(e);
	*len = (size_t)(n + last);
	if (good && *len)
		return out;
	free(out);
	return NULL;
}

static bool change_part(struct tls_cert *c, enum tls_part part, struct slice text)
{
	unsigned char *bytes;
	size_t len;
	BIO *bio;

	switch (part) {
	case TLS_PART_CERT:
		return change_cert(c, text);
	case TLS_PART_KEY:
		return set_key(c, read_key(text.ptr, text.len));
	case TLS_PART_ISSUER:
		bio = BIO_new_mem_buf(text.ptr, (int)text.len);
		X509_free(c->issuer);
		c->issuer = bio ? PEM_read_bio_X509(bio, NULL, no_phrase, NULL) : NULL;
		BIO_free(bio);
		return c->issuer != NULL;
	default:
		break;
	}
	bytes = tls_base64_read(text, &len);
	if (part == TLS_PART_OCSP) {
		free(c->ocsp);
		c->ocsp = bytes;
		c->ocsp_len = len;
	} else {
		free(c->sctl);
		c->sctl = bytes;
		c->sctl_len = len;
	}
	return bytes != NULL;
}

/* What <part> of <c> says is to be shown with its leaf, which is another object than before. */
static bool show_again(struct tls_cert *c, enum tls_part part, const char *name, char *why,
		       size_t size)
{
	if (!c->leaf)
		return true;
	if (c->ocsp_len && !staple(c, why, size) && part == TLS_PART_OCSP)
		return false;
	return !c->sctl || show_timestamps(c, name, why, size);
}

struct tls_cert *tls_cert_change(const struct tls_cert *old, enum tls_part part, struct slice text,
				 const char *name, char *why, size_t size)
{
	struct tls_cert *c = cert_copy(old);

	if (!c) {
		snprintf(why, size, "out of memory");
		return NULL;
	}
	ERR_clear_error();
	if (change_part(c, part, text)) {
		if (!show_again(c, part, name, why, size))
			tls_cert_drop(&c);
		return c;
	}
	snprintf(why, size, "unable to load %s from file '%s': %s.",
		 part == TLS_PART_KEY ? "private key" : "certificate", name, tls_reason());
	tls_cert_drop(&c);
	return NULL;
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
	GENERAL_NAMES *names;
	X509_NAME *subject;
	unsigned char *utf8;
	int at = -1, len;

	pthread_mutex_lock(&open_lock);
	if (c->closed) {
		der_cert_names(&c->closed->look, name, ctx);
		pthread_mutex_unlock(&open_lock);
		return;
	}
	pthread_mutex_unlock(&open_lock);
	names = X509_get_ext_d2i(c->leaf, NID_subject_alt_name, NULL, NULL);
	subject = X509_get_subject_name(c->leaf);

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

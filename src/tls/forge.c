/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forge.c - certificates made for the names that clients ask for (generate-certificates)
 *
 * Each has the key of the line's default certificate and is signed by the authority of
 * ca-sign-file. The most recently used ones are kept, at most tune.ssl.ssl-ctx-cache-size per line.
 */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/hash.h"
#include "base/list.h"
#include "cert_priv.h"
#include "names_priv.h"
#include "shown_priv.h"

#define BUCKETS 1024
#define DAY_S (24 * 3600L)

struct forged {
	struct list used;            /* the last used first */
	struct forged *next;         /* in its bucket */
	uint64_t hash;
	EVP_PKEY *key;               /* counted: of which it was made */
	struct tls_cert *cert;       /* counted */
	char host[];
};

struct tls_forge {
	X509 *ca;
	EVP_PKEY *key;
	pthread_mutex_t lock;        /* of what follows */
	struct list used;
	struct forged *buckets[BUCKETS];
	unsigned count, max;
};

/* --- what was made ---------------------------------------------------------------------------- */

static struct forged **place_of(struct tls_forge *f, uint64_t hash, const char *host)
{
	struct forged **at = &f->buckets[hash % BUCKETS];

	while (*at && ((*at)->hash != hash || strcmp((*at)->host, host) != 0))
		at = &(*at)->next;
	return at;
}

static void forget(struct tls_forge *f, struct forged *o)
{
	*place_of(f, o->hash, o->host) = o->next;
	list_remove(&o->used);
	tls_cert_drop(&o->cert);
	EVP_PKEY_free(o->key);
	free(o);
	f->count--;
}

static struct tls_cert *find(struct tls_forge *f, uint64_t hash, const char *host,
			     const EVP_PKEY *key)
{
	struct tls_cert *found = NULL;
	struct forged *o;

	pthread_mutex_lock(&f->lock);
	o = *place_of(f, hash, host);
	if (o && o->key != key) {
		forget(f, o); /* the default certificate was replaced */
	} else if (o) {
		list_remove(&o->used);
		list_prepend(&f->used, &o->used);
		found = tls_cert_take(o->cert);
	}
	pthread_mutex_unlock(&f->lock);
	return found;
}

static void keep(struct tls_forge *f, uint64_t hash, const char *host, struct tls_cert *c)
{
	struct forged *o = f->max ? malloc(sizeof(*o) + strlen(host) + 1) : NULL;

	if (!o)
		return;
	o->hash = hash;
	o->cert = tls_cert_take(c);
	o->key = c->key;
	EVP_PKEY_up_ref(o->key);
	o->next = NULL;
	strcpy(o->host, host);
	pthread_mutex_lock(&f->lock);
	if (*place_of(f, hash, host)) /* another thread was faster */
		forget(f, *place_of(f, hash, host));
	if (f->count >= f->max)
		forget(f, list_last(&f->used, struct forged, used));
	*place_of(f, hash, host) = o;
	list_prepend(&f->used, &o->used);
	f->count++;
	pthread_mutex_unlock(&f->lock);
}

/* --- making ----------------------------------------------------------------------------------- */

static bool add_extension(X509 *x, X509 *ca, int nid, const char *value)
{
	X509_EXTENSION *e;
	X509V3_CTX ctx;
	bool good;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, ca, x, NULL, NULL, 0);
	e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	good = e && X509_add_ext(x, e, -1) == 1;
	X509_EXTENSION_free(e);
	return good;
}

static bool set_serial(X509 *x)
{
	BIGNUM *n = BN_new();
	bool good = n && BN_rand(n, 120, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) &&
		    BN_to_ASN1_INTEGER(n, X509_get_serialNumber(x));

	BN_free(n);
	return good;
}

/* The subject is the name as CN, cut as the field's limit wants. */
static bool set_names(X509 *x, X509 *ca, const char *host)
{
	X509_NAME *subject = X509_NAME_new();
	int len = (int)strlen(host);
	bool good;

	good = subject &&
	       X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
					  (const unsigned char *)host, len > 64 ? 64 : len, -1,
					  0) == 1 &&
	       X509_set_subject_name(x, subject) == 1 &&
	       X509_set_issuer_name(x, X509_get_subject_name(ca)) == 1;
	X509_NAME_free(subject);
	return good;
}

static X509 *make_leaf(const struct tls_forge *f, const char *host, EVP_PKEY *key)
{
	X509 *x = X509_new();
	char names[300];
	bool good;

	snprintf(names, sizeof(names), "DNS:%s", host);
	good = x && X509_set_version(x, 2) == 1 && set_serial(x) && set_names(x, f->ca, host) &&
	       X509_gmtime_adj(X509_getm_notBefore(x), -DAY_S) &&
	       X509_gmtime_adj(X509_getm_notAfter(x), 365 * DAY_S) &&
	       X509_set_pubkey(x, key) == 1 &&
	       add_extension(x, f->ca, NID_basic_constraints, "CA:FALSE") &&
	       add_extension(x, f->ca, NID_subject_key_identifier, "hash") &&
	       add_extension(x, f->ca, NID_authority_key_identifier, "keyid:always") &&
	       add_extension(x, f->ca, NID_key_usage, "digitalSignature,keyEncipherment") &&
	       add_extension(x, f->ca, NID_ext_key_usage, "serverAuth") &&
	       add_extension(x, f->ca, NID_subject_alt_name, names) &&
	       X509_sign(x, f->key, EVP_sha256()) > 0;
	if (good)
		return x;
	X509_free(x);
	return NULL;
}

static struct tls_cert *make(struct tls_forge *f, const char *host, const struct tls_cert *like)
{
	struct tls_cert *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->refs = 1;
	c->type = like->type;
	c->leaf = make_leaf(f, host, like->key);
	c->chain = sk_X509_new_null();
	if (c->leaf && c->chain && X509_up_ref(f->ca)) {
		if (sk_X509_push(c->chain, f->ca)) {
			EVP_PKEY_up_ref(like->key);
			c->key = like->key;
			tls_shown_prepare(c->leaf);
			tls_cert_digest(c);
			return c;
		}
		X509_free(f->ca);
	}
	tls_cert_drop(&c);
	return NULL;
}

/* Is it a host name, which can stand in a certificate? */
static bool is_host(struct slice s)
{
	if (!s.len || s.len > 253 || s.ptr[0] == '.' || s.ptr[0] == '-')
		return false;
	for (size_t i = 0; i < s.len; i++) {
		char c = ascii_lower(s.ptr[i]);

		if (!ascii_is_digit(c) && (c < 'a' || c > 'z') && c != '.' && c != '-' && c != '_')
			return false;
	}
	return true;
}

struct tls_cert *tls_forge_cert(struct tls_forge *f, struct slice name, struct tls_cert *like)
{
	struct tls_cert *c;
	char host[256];
	uint64_t hash;

	if (!is_host(name) || !tls_cert_open(like))
		return NULL;
	for (size_t i = 0; i < name.len; i++)
		host[i] = ascii_lower(name.ptr[i]);
	host[name.len] = 0;
	hash = hash_bytes(host, name.len, 0);
	c = find(f, hash, host, like->key);
	if (c)
		return c;
	c = make(f, host, like);
	ERR_clear_error();
	if (c)
		keep(f, hash, host, c);
	return c;
}

/* --- life ------------------------------------------------------------------------------------- */

static int give_phrase(char *buf, int size, int writing, void *phrase)
{
	int len = phrase ? (int)strlen(phrase) : 0;

	if (len > size)
		return 0;
	memcpy(buf, phrase, (size_t)len);
	return len;
}

static bool read_authority(struct tls_forge *f, const char *path, const char *phrase, char *why,
			   size_t size)
{
	size_t len;
	char *text = file_load(path, 1 << 20, &len);
	BIO *bio = text ? BIO_new_mem_buf(text, (int)len) : NULL;

	if (!text) {
		snprintf(why, size, "cannot open the file '%s'", path);
		return false;
	}
	ERR_clear_error();
	f->ca = bio ? PEM_read_bio_X509(bio, NULL, give_phrase, NULL) : NULL;
	if (!f->ca)
		snprintf(why, size, "unable to load certificate from file '%s': %s", path,
			 tls_reason());
	BIO_free(bio);
	bio = f->ca ? BIO_new_mem_buf(text, (int)len) : NULL;
	f->key = bio ? PEM_read_bio_PrivateKey(bio, NULL, give_phrase,
					       (void *)(uintptr_t)phrase) : NULL;
	if (f->ca && !f->key)
		snprintf(why, size, "No Private Key found in '%s'", path);
	else if (f->ca && X509_check_private_key(f->ca, f->key) != 1)
		snprintf(why, size, "inconsistencies between private key and certificate loaded "
			 "'%s'", path);
	BIO_free(bio);
	OPENSSL_cleanse(text, len);
	free(text);
	ERR_clear_error();
	return !*why;
}

struct tls_forge *tls_forge_new(const char *path, const char *phrase, unsigned max, char *why,
				size_t size)
{
	struct tls_forge *f = calloc(1, sizeof(*f));

	*why = 0;
	if (!f) {
		snprintf(why, size, "out of memory");
		return NULL;
	}
	pthread_mutex_init(&f->lock, NULL);
	list_init(&f->used);
	f->max = max;
	if (!read_authority(f, path, phrase, why, size))
		tls_forge_free(&f);
	return f;
}

void tls_forge_free(struct tls_forge **pf)
{
	struct tls_forge *f = *pf;

	*pf = NULL;
	if (!f)
		return;
	while (!list_is_empty(&f->used))
		forget(f, list_first(&f->used, struct forged, used));
	X509_free(f->ca);
	EVP_PKEY_free(f->key);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

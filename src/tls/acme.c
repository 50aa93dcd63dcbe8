/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acme.c - certificates that an authority is asked for: what is known of them, those until then */
#include <openssl/pem.h>
#include <string.h>
#include <time.h>
#include "base/strbuf.h"
#include "cert_priv.h"
#include "store_priv.h"
#include "tls/tls.h"

static int64_t seconds_of(const ASN1_TIME *t)
{
	struct tm tm;

	return t && ASN1_TIME_to_tm(t, &tm) ? (int64_t)timegm(&tm) : 0;
}

void tls_acme_each(struct config *cfg, void (*fn)(void *ctx, const struct tls_acme_cert *c),
		   void *ctx)
{
	tls_store_lock();
	for (struct tls_entry *e = tls_store_first(tls_store_of(cfg)); e; e = tls_store_next(e)) {
		struct tls_acme_cert c = { .name = e->name, .acme = e->acme };

		if (!e->acme)
			continue;
		if (e->cert && tls_cert_open(e->cert) && e->cert->leaf) {
			c.not_before_s = seconds_of(X509_get0_notBefore(e->cert->leaf));
			c.not_after_s = seconds_of(X509_get0_notAfter(e->cert->leaf));
		}
		fn(ctx, &c);
	}
	tls_store_unlock();
}

bool tls_cert_key(struct config *cfg, const char *name, struct strbuf *pem)
{
	BIO *bio = BIO_new(BIO_s_mem());
	struct tls_cert *c;
	bool jwt, good;
	char *text;
	long len;

	c = tls_store_take(cfg, name, &jwt);
	good = bio && c && tls_cert_open(c) && c->key &&
	       PEM_write_bio_PrivateKey(bio, c->key, NULL, NULL, 0, NULL, NULL);
	len = good ? BIO_get_mem_data(bio, &text) : 0;
	good = good && strbuf_add(pem, slice_make(text, (size_t)len));
	BIO_free(bio);
	tls_cert_drop(&c);
	return good;
}

struct tls_entry *tls_acme_temporary(struct config *cfg, const char *name, const char *domain,
				     char *why, size_t size)
{
	struct tls_cert *c = NULL, *whole = NULL;
	struct tls_entry *e = NULL;
	struct strbuf pem;

	strbuf_init(&pem);
	*why = 0;
	if (tls_self_signed(domain, &pem))
		c = tls_cert_change(NULL, TLS_PART_CERT, strbuf_slice(&pem), name, why, size);
	if (c)
		whole = tls_cert_change(c, TLS_PART_KEY, strbuf_slice(&pem), name, why, size);
	if (whole)
		e = tls_store_add(tls_store_of(cfg), name, whole);
	if (!e) {
		tls_cert_drop(&whole);
		if (!*why)
			snprintf(why, size, "cannot make a temporary certificate.");
	}
	tls_cert_drop(&c);
	strbuf_fini(&pem);
	return e;
}

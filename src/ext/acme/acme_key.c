/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acme_key.c - ACME: keys, signed messages (RFC 7515), requests for certificates */
#include <errno.h>
#include <fcntl.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/file.h"
#include "acme_priv.h"

#define FILE_MAX 65536

/* --- texts ----------------------------------------------------------------------------------- */

/* Adds base64url without padding. False: no memory. */
static bool base64url(struct strbuf *out, struct slice bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	const unsigned char *p = (const unsigned char *)bytes.ptr;

	for (size_t i = 0; i < bytes.len; i += 3) {
		size_t left = bytes.len - i;
		uint32_t v = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
			     (left > 2 ? p[i + 2] : 0);

		for (size_t k = 0; k < (left > 2 ? 4 : left + 1); k++)
			if (!strbuf_add_char(out, digits[v >> (18 - 6 * k) & 63]))
				return false;
	}
	return true;
}

/* --- keys ------------------------------------------------------------------------------------ */

/* How a key signs. */
struct algorithm {
	const char *name, *curve; /* in JWS; of elliptic curves */
	const EVP_MD *digest;
	size_t size;              /* of a coordinate; 0: RSA */
};

static bool algorithm_of(const EVP_PKEY *key, struct algorithm *a)
{
	char group[64] = "";
	size_t len;

	if (EVP_PKEY_is_a(key, "RSA")) {
		*a = (struct algorithm){ "RS256", NULL, EVP_sha256(), 0 };
		return true;
	}
	if (!EVP_PKEY_get_group_name(key, group, sizeof(group), &len))
		return false;
	if (strcmp(group, "prime256v1") == 0)
		*a = (struct algorithm){ "ES256", "P-256", EVP_sha256(), 32 };
	else if (strcmp(group, "secp384r1") == 0)
		*a = (struct algorithm){ "ES384", "P-384", EVP_sha384(), 48 };
	else if (strcmp(group, "secp521r1") == 0)
		*a = (struct algorithm){ "ES512", "P-521", EVP_sha512(), 66 };
	else
		return false;
	return true;
}

EVP_PKEY *acme_key_new(const struct acme_section *s)
{
	return s->type == ACME_RSA ? EVP_RSA_gen((unsigned)s->bits) : EVP_EC_gen(s->curves);
}

EVP_PKEY *acme_key_of_pem(struct slice pem)
{
	BIO *bio = BIO_new_mem_buf(pem.ptr, (int)pem.len);
	/* (an encrypted one is none: there is no prompt for its pass phrase) */
	EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, "") : NULL;

	BIO_free(bio);
	return key;
}

bool acme_key_pem(struct strbuf *out, const EVP_PKEY *key)
{
	BIO *bio = BIO_new(BIO_s_mem());
	bool good = bio && PEM_write_bio_PrivateKey(bio, (EVP_PKEY *)(uintptr_t)key, NULL, NULL, 0,
						    NULL, NULL);
	char *text;
	long len = good ? BIO_get_mem_data(bio, &text) : 0;

	good = good && strbuf_add(out, slice_make(text, (size_t)len));
	BIO_free(bio);
	return good;
}

/* Only for us; never over a file that is there. */
static bool write_new(const char *path, struct slice text)
{
	int fd = file_open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	ssize_t n = fd >= 0 ? write(fd, text.ptr, text.len) : -1;
	bool good = n == (ssize_t)text.len && fsync(fd) == 0;
	int error = errno;

	if (fd >= 0)
		close(fd);
	if (fd >= 0 && !good) /* a part of a key would be in the way of the next start */
		unlink(path);
	errno = error;
	return good;
}

static EVP_PKEY *account_make(const struct acme_section *s, char *why, size_t size)
{
	EVP_PKEY *key = acme_key_new(s);
	struct strbuf pem;

	strbuf_init(&pem);
	if (!key || !acme_key_pem(&pem, key))
		snprintf(why, size, "cannot make an account key");
	else if (!write_new(s->account_key, strbuf_slice(&pem)))
		snprintf(why, size, "cannot write the account key '%s' (%s)", s->account_key,
			 strerror(errno));
	strbuf_fini(&pem);
	if (!*why)
		return key;
	EVP_PKEY_free(key);
	return NULL;
}

EVP_PKEY *acme_account_load(const struct acme_section *s, char *why, size_t size)
{
	struct algorithm a;
	EVP_PKEY *key;
	size_t len;
	char *text;

	*why = 0;
	text = file_load(s->account_key, FILE_MAX, &len);
	if (!text && errno == ENOENT)
		return account_make(s, why, size);
	if (!text) {
		snprintf(why, size, "cannot read the account key '%s' (%s)", s->account_key,
			 strerror(errno));
		return NULL;
	}
	key = acme_key_of_pem(slice_make(text, len));
	OPENSSL_cleanse(text, len);
	free(text);
	if (key && algorithm_of(key, &a))
		return key;
	snprintf(why, size, "'%s' has no key of RSA, or of a curve P-256, P-384 or P-521",
		 s->account_key);
	EVP_PKEY_free(key);
	return NULL;
}

/* --- JWK ------------------------------------------------------------------------------------- */

static bool add_number(struct strbuf *out, const EVP_PKEY *key, const char *param)
{
	unsigned char bytes[2048];
	BIGNUM *n = NULL;
	int len = -1;

	if (EVP_PKEY_get_bn_param(key, param, &n) && BN_num_bytes(n) <= (int)sizeof(bytes))
		len = BN_bn2bin(n, bytes);
	BN_free(n);
	return len > 0 && base64url(out, slice_make((char *)bytes, (size_t)len));
}

static bool add_point(struct strbuf *out, const EVP_PKEY *key, const struct algorithm *a)
{
	unsigned char point[1 + 2 * 66];
	size_t len;

	return EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point),
					       &len) &&
	       len == 1 + 2 * a->size && point[0] == 4 &&
	       base64url(out, slice_make((char *)point + 1, a->size)) &&
	       strbuf_add_str(out, "\",\"y\":\"") &&
	       base64url(out, slice_make((char *)point + 1 + a->size, a->size));
}

/* Adds the public key as a JWK, its members in the order of RFC 7638. */
static bool jwk_put(struct strbuf *out, const EVP_PKEY *key)
{
	struct algorithm a;

	if (!algorithm_of(key, &a))
		return false;
	if (!a.size)
		return strbuf_add_str(out, "{\"e\":\"") &&
		       add_number(out, key, OSSL_PKEY_PARAM_RSA_E) &&
		       strbuf_add_str(out, "\",\"kty\":\"RSA\",\"n\":\"") &&
		       add_number(out, key, OSSL_PKEY_PARAM_RSA_N) && strbuf_add_str(out, "\"}");
	return strbuf_printf(out, "{\"crv\":\"%s\",\"kty\":\"EC\",\"x\":\"", a.curve) &&
	       add_point(out, key, &a) && strbuf_add_str(out, "\"}");
}

/* Adds the SHA-256 of a text, in base64url. */
static bool add_digest(struct strbuf *out, struct slice text)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	return EVP_Digest(text.ptr, text.len, digest, &len, EVP_sha256(), NULL) &&
	       base64url(out, slice_make((char *)digest, len));
}

bool acme_thumbprint(struct strbuf *out, const EVP_PKEY *key)
{
	struct strbuf jwk;
	bool good;

	strbuf_init(&jwk);
	good = jwk_put(&jwk, key) && add_digest(out, strbuf_slice(&jwk));
	strbuf_fini(&jwk);
	return good;
}

bool acme_dns_value(struct strbuf *out, const char *token, const char *thumbprint)
{
	struct strbuf text;
	bool good;

	strbuf_init(&text);
	good = strbuf_printf(&text, "%s.%s", token, thumbprint) &&
	       add_digest(out, strbuf_slice(&text));
	strbuf_fini(&text);
	return good;
}

/* --- JWS ------------------------------------------------------------------------------------- */

/* What OpenSSL makes of elliptic curves is DER; here it is both numbers, of fixed length. */
static bool raw_signature(unsigned char *sig, size_t *len, const struct algorithm *a)
{
	const unsigned char *at = sig;
	ECDSA_SIG *s = d2i_ECDSA_SIG(NULL, &at, (long)*len);
	bool good = s && BN_bn2binpad(ECDSA_SIG_get0_r(s), sig, (int)a->size) > 0 &&
		    BN_bn2binpad(ECDSA_SIG_get0_s(s), sig + a->size, (int)a->size) > 0;

	ECDSA_SIG_free(s);
	*len = 2 * a->size;
	return good;
}

static bool add_signature(struct strbuf *out, EVP_PKEY *key, struct slice text)
{
	unsigned char sig[2048];
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	size_t len = sizeof(sig);
	struct algorithm a;
	bool good = ctx && algorithm_of(key, &a) &&
		    EVP_DigestSignInit(ctx, NULL, a.digest, NULL, key) &&
		    EVP_DigestSign(ctx, sig, &len, (const unsigned char *)text.ptr, text.len) &&
		    (!a.size || raw_signature(sig, &len, &a));

	EVP_MD_CTX_free(ctx);
	return good && base64url(out, slice_make((char *)sig, len));
}

/* "<header>.<payload>" in base64url each; *dot is where the dot is. */
static bool put_input(struct strbuf *input, struct slice header, struct slice payload, size_t *dot)
{
	if (!base64url(input, header))
		return false;
	*dot = input->len;
	return strbuf_add_char(input, '.') && base64url(input, payload);
}

static bool put_parts(struct strbuf *out, const struct strbuf *input, size_t dot)
{
	return strbuf_add_str(out, "{\"protected\":\"") &&
	       strbuf_add(out, slice_make(input->ptr, dot)) &&
	       strbuf_add_str(out, "\",\"payload\":\"") &&
	       strbuf_add(out, slice_make(input->ptr + dot + 1, input->len - dot - 1)) &&
	       strbuf_add_str(out, "\",\"signature\":\"");
}

bool acme_sign(struct strbuf *out, EVP_PKEY *key, const char *kid, const char *nonce,
	       const char *url, struct slice payload)
{
	struct strbuf header, input;
	struct algorithm a;
	size_t dot;
	bool good;

	strbuf_init(&header);
	strbuf_init(&input);
	good = algorithm_of(key, &a) && strbuf_printf(&header, "{\"alg\":\"%s\",", a.name);
	if (good && kid)
		good = strbuf_printf(&header, "\"kid\":\"%s\"", kid);
	else
		good = good && strbuf_add_str(&header, "\"jwk\":") && jwk_put(&header, key);
	good = good && strbuf_printf(&header, ",\"nonce\":\"%s\",\"url\":\"%s\"}", nonce, url) &&
	       put_input(&input, strbuf_slice(&header), payload, &dot) &&
	       put_parts(out, &input, dot) &&
	       add_signature(out, key, strbuf_slice(&input)) && strbuf_add_str(out, "\"}");
	strbuf_fini(&header);
	strbuf_fini(&input);
	return good;
}

/* --- external accounts (RFC 8555 7.3.4) ------------------------------------------------------ */

/* A file without the end of its line; NULL: it is empty, or <why>. */
static char *load_line(const char *path, char *why, size_t size)
{
	size_t len;
	char *text = file_load(path, FILE_MAX, &len);

	if (!text) {
		snprintf(why, size, "cannot read '%s' (%s)", path, strerror(errno));
		return NULL;
	}
	if (len && text[len - 1] == '\n')
		len--;
	if (!len) {
		free(text);
		return NULL;
	}
	text[len] = 0;
	return text;
}

/* base64url in place; false: it is not. */
static bool unbase64url(char *text, size_t *len)
{
	uint32_t v = 0;
	size_t n = 0;
	int bits = 0;

	for (char *p = text; *p && *p != '='; p++) {
		int d = *p >= 'A' && *p <= 'Z' ? *p - 'A' : *p >= 'a' && *p <= 'z' ? *p - 'a' + 26
			: *p >= '0' && *p <= '9' ? *p - '0' + 52 : *p == '-' ? 62
			: *p == '_' ? 63 : -1;

		if (d < 0)
			return false;
		v = v << 6 | (uint32_t)d;
		bits += 6;
		if (bits >= 8)
			text[n++] = (char)(v >> (bits -= 8));
	}
	*len = n;
	return n > 0;
}

static bool bind_with(struct strbuf *out, const struct acme_section *s, const char *url,
		      const char *id, struct slice secret)
{
	const EVP_MD *md = s->eab_bits == 512 ? EVP_sha512() : s->eab_bits == 384 ? EVP_sha384()
			   : EVP_sha256();
	struct strbuf header, input, jwk;
	unsigned char mac[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	size_t dot;
	bool good;

	strbuf_init(&header);
	strbuf_init(&input);
	strbuf_init(&jwk);
	good = strbuf_printf(&header, "{\"alg\":\"HS%u\",\"kid\":\"%s\",\"url\":\"%s\"}",
			     s->eab_bits, id, url) &&
	       jwk_put(&jwk, s->account) &&
	       put_input(&input, strbuf_slice(&header), strbuf_slice(&jwk), &dot) &&
	       HMAC(md, secret.ptr, (int)secret.len, (unsigned char *)input.ptr, input.len, mac,
		    &len) &&
	       strbuf_add_str(out, ",\"externalAccountBinding\":") &&
	       put_parts(out, &input, dot) &&
	       base64url(out, slice_make((char *)mac, len)) && strbuf_add_str(out, "\"}");
	strbuf_fini(&header);
	strbuf_fini(&input);
	strbuf_fini(&jwk);
	return good;
}

bool acme_bind(struct strbuf *out, const struct acme_section *s, const char *url, char *why,
	       size_t size)
{
	char *id, *secret = NULL;
	bool good = true;
	size_t len, held = 0;

	*why = 0;
	if (!s->eab_id || !s->eab_key)
		return true;
	id = load_line(s->eab_id, why, size);
	if (id)
		secret = load_line(s->eab_key, why, size);
	if (secret)
		held = strlen(secret);
	if (secret && strpbrk(id, "\"\\"))
		snprintf(why, size, "'%s' is no key identifier", s->eab_id);
	else if (secret && !unbase64url(secret, &len))
		snprintf(why, size, "'%s' is no base64url", s->eab_key);
	else if (secret)
		good = bind_with(out, s, url, id, slice_make(secret, len));
	if (secret)
		OPENSSL_cleanse(secret, held);
	free(id);
	free(secret);
	return good && !*why;
}

/* --- requests for certificates --------------------------------------------------------------- */

/* "DNS:a,DNS:b,IP:1.2.3.4". */
static bool add_names(struct strbuf *out, const char *kind, const char *list)
{
	while (list && *list) {
		size_t len = strcspn(list, ",");

		if (len && !strbuf_printf(out, "%s%s:%.*s", out->len ? "," : "", kind, (int)len,
					  list))
			return false;
		list += len;
		list += *list == ',';
	}
	return true;
}

static bool set_names(X509_REQ *req, const char *domains, const char *ips)
{
	const char *first = domains && *domains ? domains : ips;
	STACK_OF(X509_EXTENSION) *all = sk_X509_EXTENSION_new_null();
	X509_EXTENSION *e = NULL;
	struct strbuf names;
	bool good;

	strbuf_init(&names);
	good = all && add_names(&names, "DNS", domains) && add_names(&names, "IP", ips) &&
	       X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(req), "CN", MBSTRING_ASC,
					  (const unsigned char *)first,
					  (int)strcspn(first, ","), -1, 0);
	if (good)
		e = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, names.ptr);
	good = e && sk_X509_EXTENSION_push(all, e);
	if (!good)
		X509_EXTENSION_free(e);
	good = good && X509_REQ_add_extensions(req, all);
	sk_X509_EXTENSION_pop_free(all, X509_EXTENSION_free);
	strbuf_fini(&names);
	return good;
}

bool acme_csr(struct strbuf *out, EVP_PKEY *key, const char *domains, const char *ips)
{
	X509_REQ *req = X509_REQ_new();
	unsigned char *der = NULL;
	int len = -1;

	if (req && X509_REQ_set_version(req, 0) && set_names(req, domains, ips) &&
	    X509_REQ_set_pubkey(req, key) && X509_REQ_sign(req, key, EVP_sha256()))
		len = i2d_X509_REQ(req, &der);
	X509_REQ_free(req);
	if (len > 0 && !base64url(out, slice_make((char *)der, (size_t)len)))
		len = -1;
	OPENSSL_free(der);
	return len > 0;
}

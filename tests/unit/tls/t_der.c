/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_der.c - what is seen of a certificate's bytes agrees with OpenSSL, and no bytes do harm */
#include <openssl/pem.h>
#include <stdlib.h>
#include "cert_priv.h"
#include "tap.h"
#include "base/file.h"
#include "der.h"

#define CERTS "reg-tests/tls/certs/"

static char names[1024];

static void note(void *ctx, struct slice name)
{
	snprintf(names + strlen(names), sizeof(names) - strlen(names), "%.*s ", (int)name.len,
		 name.ptr);
}

/* The first certificate of a file as DER; OpenSSL's memory. */
static unsigned char *read_der(const char *path, long *len)
{
	FILE *f = fopen(path, "r");
	char *name, *header;
	unsigned char *data = NULL;

	while (f && PEM_read(f, &name, &header, &data, len)) {
		bool cert = strcmp(name, "CERTIFICATE") == 0;

		OPENSSL_free(name);
		OPENSSL_free(header);
		if (cert)
			break;
		OPENSSL_free(data);
		data = NULL;
	}
	if (f)
		fclose(f);
	return data;
}

static void test_file(const char *file, enum tls_key_type type, const char *expected)
{
	struct tls_cert_files files = { 0 };
	struct tls_cert *c;
	struct der_cert look;
	char path[128], why[512] = "", seen[1024];
	unsigned char *der;
	long len = 0;

	snprintf(path, sizeof(path), CERTS "%s", file);
	files.crt = path;
	der = read_der(path, &len);
	if (!ok(der != NULL, "%s is there", path))
		return;
	ok(der_cert_look(slice_make((char *)der, (size_t)len), &look), "%s is understood", file);
	is_int(look.type, type, "its kind of key");
	names[0] = 0;
	der_cert_names(&look, note, NULL);
	is_str(names, expected, "its names");
	snprintf(seen, sizeof(seen), "%s", names);
	names[0] = 0;
	c = tls_cert_load(&files, true, why, sizeof(why));
	if (ok(c && tls_cert_open(c), "OpenSSL reads it: %s", why)) {
		tls_cert_names(c, note, NULL);
		is_str(names, seen, "and finds the same names");
		is_int(c->type, look.type, "and the same kind of key");
		ok(memmem(der, (size_t)len, look.public_key.ptr, look.public_key.len) != NULL,
		   "the public key is there");
	}
	tls_cert_drop(&c);
	OPENSSL_free(der);
}

/* Each byte changed, each length cut: never out of bounds (the sanitizer looks), copies on the
 * heap. */
static void test_damage(void)
{
	long len = 0;
	unsigned char *der = read_der(CERTS "a.pem", &len);
	struct der_cert look;
	int understood = 0;

	for (long i = 0; der && i < len; i++) {
		char *copy = malloc((size_t)len);

		if (!copy)
			abort();
		memcpy(copy, der, (size_t)len);
		copy[i] ^= (char)(1 << (i % 8));
		understood += der_cert_look(slice_make(copy, (size_t)len), &look);
		names[0] = 0;
		der_cert_names(&look, note, NULL);
		free(copy);
	}
	ok(understood > 0 && understood < len, "changed bytes: %d of %ld understood", understood,
	   len);
	understood = 0;
	for (long i = 0; der && i < len; i++) {
		char *copy = malloc((size_t)i + 1);

		if (!copy)
			abort();
		memcpy(copy, der, (size_t)i);
		understood += der_cert_look(slice_make(copy, (size_t)i), &look);
		free(copy);
	}
	is_int(understood, 0, "none that is cut short");
	OPENSSL_free(der);
}

/* Behind the first ones of a set, certificates are not decoded until they are used. */
static void test_closed(void)
{
	struct tls_cert *c;
	struct tls_cert_files files = { .crt = CERTS "b.pem" };
	struct tls_cert_files wrong = { .crt = CERTS "mismatched.pem" };
	char why[512];

	c = tls_cert_load(&files, false, why, sizeof(why));
	ok(c && c->closed && !c->leaf, "one of many waits");
	names[0] = 0;
	if (c)
		tls_cert_names(c, note, NULL);
	is_str(names, "b.example.com b.example.com ", "its names are known");
	ok(c && tls_cert_open(c) && c->leaf && c->key && !c->closed, "it opens");
	tls_cert_drop(&c);
	c = tls_cert_load(&wrong, false, why, sizeof(why));
	ok(!c && strstr(why, "inconsistencies"),
	   "a key of another certificate is seen all the same");
	tls_cert_drop(&c);
}

int main(void)
{
	test_file("a.pem", TLS_KEY_RSA, "a.example.com *.wild.example.com a.example.com ");
	test_file("dual.pem.ecdsa", TLS_KEY_ECDSA, "dual.example.com dual.example.com ");
	test_file("below.pem", TLS_KEY_RSA, "below.example.com below.example.com ");
	test_damage();
	test_closed();
	return done_testing();
}

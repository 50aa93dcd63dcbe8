/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chains.c - issuers-chain-path: chains that certificates of the same issuer share */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/door.h"
#include "base/file.h"
#include "tls_priv.h"

struct tls_chains {
	unsigned count;
	STACK_OF(X509) *chains[256]; /* the first of each is an issuer; owned */
};

void tls_chains_free(struct tls_chains **pc)
{
	struct tls_chains *c = *pc;

	*pc = NULL;
	for (unsigned i = 0; c && i < c->count; i++)
		sk_X509_pop_free(c->chains[i], X509_free);
	free(c);
}

static void read_one(struct tls_chains *c, const char *path)
{
	STACK_OF(X509) *certs = NULL;
	STACK_OF(X509_CRL) *crls = NULL;
	size_t len;
	char *text = file_load(path, 16 << 20, &len);

	if (text && tls_ca_read(slice_make(text, len), &certs, &crls) && sk_X509_num(certs) &&
	    c->count < sizeof(c->chains) / sizeof(*c->chains)) {
		c->chains[c->count++] = certs;
		certs = NULL;
	}
	sk_X509_pop_free(certs, X509_free);
	sk_X509_CRL_pop_free(crls, X509_CRL_free);
	free(text);
}

bool tls_chains_read(struct tls_chains **out, const char *path)
{
	struct tls_chains *c = calloc(1, sizeof(*c));
	char *names = c ? door_list(path) : NULL;
	char name[4096];

	*out = c;
	if (!names)
		return false;
	for (const char *at = names; *at; at += strlen(at) + 1) {
		snprintf(name, sizeof(name), "%s/%s", path, at);
		read_one(c, name);
	}
	free(names);
	return true;
}

void tls_chains_complete(const struct tls_chains *chains, struct tls_cert *c)
{
	if (!tls_cert_open(c))
		return;
	for (unsigned i = 0; sk_X509_num(c->chain) <= 0 && i < chains->count; i++) {
		X509 *first = sk_X509_value(chains->chains[i], 0);

		if (X509_check_issued(first, c->leaf) != X509_V_OK)
			continue;
		sk_X509_free(c->chain);
		c->chain = X509_chain_up_ref(chains->chains[i]);
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chains.c - issuers-chain-path: chains that certificates of the same issuer share */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/door.h"
#include "base/file.h"
#include "cert_priv.h"
#include "store_priv.h"

struct tls_chains {
	unsigned count, room;
	struct chain {
		STACK_OF(X509) *certs;       /* the first is an issuer; owned */
		char *file;                  /* owned */
	} *all;
};

void tls_chains_free(struct tls_chains **pc)
{
	struct tls_chains *c = *pc;

	*pc = NULL;
	for (unsigned i = 0; c && i < c->count; i++) {
		sk_X509_pop_free(c->all[i].certs, X509_free);
		free(c->all[i].file);
	}
	if (c)
		free(c->all);
	free(c);
}

/* Takes <certs> over when it returns true. */
static bool add(struct tls_chains *c, STACK_OF(X509) *certs, const char *file)
{
	unsigned room = c->room ? 2 * c->room : 16;
	struct chain *to, *grown;

	if (c->count == c->room) {
		grown = realloc(c->all, room * sizeof(*grown));
		if (!grown)
			return false;
		c->all = grown;
		c->room = room;
	}
	to = &c->all[c->count];
	to->file = strdup(file);
	if (!to->file)
		return false;
	to->certs = certs;
	c->count++;
	return true;
}

/* A file without certificates is passed over. False: no memory. */
static bool read_one(struct tls_chains *c, const char *path)
{
	STACK_OF(X509) *certs = NULL;
	STACK_OF(X509_CRL) *crls = NULL;
	size_t len;
	char *text = file_load(path, 16 << 20, &len);
	bool good = true;

	if (text && tls_ca_read(slice_make(text, len), &certs, &crls) && sk_X509_num(certs)) {
		good = add(c, certs, path);
		certs = good ? NULL : certs;
	}
	sk_X509_pop_free(certs, X509_free);
	sk_X509_CRL_pop_free(crls, X509_CRL_free);
	free(text);
	return good;
}

bool tls_chains_read(struct tls_chains **out, const char *path)
{
	struct tls_chains *c = calloc(1, sizeof(*c));
	char *names = c ? door_list(path) : NULL;
	bool good = true;
	char name[4096];

	*out = c;
	if (!names)
		return false;
	for (const char *at = names; good && *at; at += strlen(at) + 1) {
		snprintf(name, sizeof(name), "%s/%s", path, at);
		good = read_one(c, name);
	}
	free(names);
	return good;
}

void tls_chains_complete(const struct tls_chains *chains, struct tls_cert *c)
{
	tls_cert_open(c);
	for (unsigned i = 0; c->leaf && sk_X509_num(c->chain) <= 0 && i < chains->count; i++) {
		X509 *first = sk_X509_value(chains->all[i].certs, 0);

		if (X509_check_issued(first, c->leaf) != X509_V_OK)
			continue;
		sk_X509_free(c->chain);
		c->chain = X509_chain_up_ref(chains->all[i].certs);
		c->chain_file = chains->all[i].file;
	}
}

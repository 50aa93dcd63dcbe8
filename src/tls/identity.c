/* SPDX-License-Identifier: GPL-2.0-or-later */
/* identity.c - digests of everything that sessions and connections depend on
 *
 * A session may be resumed, and an idle connection reused, only where a new handshake would
 * request, trust and present the same: neither verifies a certificate again. So both belong to a
 * digest of settings, certificate, authorities and revocation lists; a command or a reload that
 * replaces one of these gives another digest, and sessions and connections of the old one are no
 * longer used.
 */
#include <openssl/evp.h>
#include <string.h>
#include "bind_priv.h"
#include "cert_priv.h"
#include "ctx_priv.h"
#include "identity_priv.h"
#include "line_priv.h"
#include "server_priv.h"
#include "store_priv.h"

/* Each item with its length: no two lists of items look alike. */
static void add(EVP_MD_CTX *m, const void *p, size_t len)
{
	uint64_t n = len;

	EVP_DigestUpdate(m, &n, sizeof(n));
	if (len)
		EVP_DigestUpdate(m, p, len);
}

static void add_text(EVP_MD_CTX *m, const char *text)
{
	add(m, text, text ? strlen(text) : 0);
}

/* What a file says, not its name: it is NULL, or of the store. */
static void add_ca(EVP_MD_CTX *m, const struct config *cfg, const char *path)
{
	const struct tls_ca *ca = path ? tls_store_ca_find(tls_store_of(cfg), path) : NULL;

	add(m, ca ? ca->sum : NULL, ca ? sizeof(ca->sum) : 0);
}

static void add_settings(EVP_MD_CTX *m, const struct config *cfg, const struct tls_settings *s)
{
	uint64_t off = tls_versions_off(s);

	add_text(m, s->ciphers);
	add_text(m, s->ciphersuites);
	add_text(m, s->curves);
	add_text(m, s->sigalgs);
	add_text(m, s->client_sigalgs);
	add(m, &off, sizeof(off));
	add(m, &s->verify, sizeof(s->verify));
	add_ca(m, cfg, s->ca_file);
	add_ca(m, cfg, s->ca_verify_file);
	add_ca(m, cfg, s->crl_file);
}

static EVP_MD_CTX *begin(void)
{
	EVP_MD_CTX *m = EVP_MD_CTX_new();

	if (m && EVP_DigestInit_ex(m, EVP_sha256(), NULL) == 1)
		return m;
	EVP_MD_CTX_free(m);
	return NULL;
}

/* False: no memory. */
static bool end(EVP_MD_CTX *m, unsigned char *out)
{
	bool good = m && EVP_DigestFinal_ex(m, out, NULL) == 1;

	EVP_MD_CTX_free(m);
	return good;
}

bool tls_bind_identity(const struct tls_bind *b, const struct tls_settings *set, unsigned char *out)
{
	EVP_MD_CTX *m = begin();

	if (m) {
		add_settings(m, b->cfg, set);
		add(m, b->ignore_crt, sizeof(b->ignore_crt));
		add(m, b->ignore_ca, sizeof(b->ignore_ca));
		add(m, &b->ignore_crt_all, sizeof(b->ignore_crt_all));
		add(m, &b->ignore_ca_all, sizeof(b->ignore_ca_all));
	}
	return end(m, out);
}

bool tls_server_sum(const struct tls_server *s, uint64_t *out)
{
	const struct tls_cert *c = s->entry ? s->entry->cert : NULL;
	unsigned char one[EVP_MAX_MD_SIZE];
	EVP_MD_CTX *m = begin();

	if (m) {
		add_settings(m, s->cfg, &s->set);
		add(m, s->set.alpn.ptr, s->set.alpn.len);
		add_text(m, s->verify_host);
		add(m, c ? c->digest : NULL, c ? sizeof(c->digest) : 0);
	}
	if (!end(m, one))
		return false;
	memcpy(out, one, sizeof(*out));
	*out |= 1; /* 0 is that of servers in the clear */
	return true;
}

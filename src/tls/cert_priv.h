/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cert_priv.h - immutable refcounted certificates (cert.c, info.c), directory chains (chains.c)
 *
 * Owns   : all its parts.
 * Threads: any. A closed certificate is opened once, by the first thread that needs it.
 * Errors : a text for the administrator in <why>.
 */
#ifndef TLS_CERT_PRIV_H
#define TLS_CERT_PRIV_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/slice.h"

struct tls_closed;
struct tls_phrases;

#define TLS_DIGEST 16 /* bytes: SHA-256, truncated */

enum tls_key_type { TLS_KEY_RSA, TLS_KEY_ECDSA, TLS_KEY_DSA, TLS_KEY_TYPES };

struct tls_cert {
	unsigned refs;               /* atomic */
	unsigned char digest[TLS_DIGEST]; /* of its leaf, once present */
	/* The next three are NULL until tls_cert_open() when the certificate is <closed>. */
	X509 *leaf;
	EVP_PKEY *key;
	STACK_OF(X509) *chain;       /* without the leaf; may be NULL */
	/* from issuers-chain-path; NULL: the chain came with the leaf */
	const char *chain_file;
	struct tls_closed *closed;   /* the source of these; NULL: they are present. Atomic */
	X509 *issuer;                /* from a .issuer file, or NULL */
	enum tls_key_type type;
	unsigned char *ocsp;         /* stapled response, DER; or NULL */
	size_t ocsp_len;
	unsigned char *sctl;
	size_t sctl_len;
	EVP_PKEY *dh;                /* DH parameters in the file, or NULL */
	char *name;                  /* of its entry, owned; NULL: none */
};

/* Chains of issuers-chain-path (chains.c): read the directory; give <c>, if it has no chain, the
 * one that starts with its issuer: the name of the file is borrowed from <chains>.
 */
struct tls_chains;
bool tls_chains_read(struct tls_chains **chains, const char *path);
void tls_chains_free(struct tls_chains **chains);
void tls_chains_complete(const struct tls_chains *chains, struct tls_cert *c);

/* ssl-skip-self-issued-ca: for certificates read from now on. */
void tls_cert_skip_self_issued(bool skip);
struct tls_cert *tls_cert_take(struct tls_cert *c);
/* Sets the name for ssl_fc_crtname, before other threads see it. */
void tls_cert_set_name(struct tls_cert *c, const char *name);
/* Computes c->digest from its leaf. */
void tls_cert_digest(struct tls_cert *c);
void tls_cert_drop(struct tls_cert **c);
/* The parts that are read, and changed by `set ssl cert`, separately. */
enum tls_part { TLS_PART_CERT, TLS_PART_KEY, TLS_PART_OCSP, TLS_PART_ISSUER, TLS_PART_SCTL };
/* Sources of the parts of a certificate; each may be NULL. */
struct tls_cert_files {
	const char *crt, *key, *ocsp, *issuer, *sctl;
	uint8_t named;               /* bit n: a line names the file of enum tls_part n */
	bool may_lack_key;           /* the key may be missing: verifying tokens needs none */
	/* from a crt-list or crt-store: no messages about companion files */
	bool listed;
	struct tls_phrases *phrases; /* borrowed: ssl-passphrase-cmd; NULL: none */
};
/* Loads a certificate from PEM texts and files, complete. NULL: see <why> (<size> bytes).
 * <files>->key is set to the crt file if that has the key. <at_once>: OpenSSL decodes it now;
 * otherwise it may stay closed if der.h finds it in order.
 */
struct tls_cert *tls_cert_load(struct tls_cert_files *files, bool at_once, char *why, size_t size);
/* Decodes base64; the caller frees the result. NULL: not base64. */
unsigned char *tls_base64_read(struct slice text, size_t *len);
/* Creates a certificate from <old>, which may be NULL, with one part replaced by a text (base64 for
 * OCSP and SCTL, else PEM). It need not be consistent: see tls_cert_is_usable(). NULL: see <why>.
 */
struct tls_cert *tls_cert_change(const struct tls_cert *old, enum tls_part part, struct slice text,
				 const char *name, char *why, size_t size);
/* Decodes leaf, key and chain unless done: call before using them. False: out of memory, or OpenSSL
 * refuses it. Any thread.
 */
bool tls_cert_open(struct tls_cert *c);
/* Does its key match its leaf? False: see <why>. */
bool tls_cert_is_usable(struct tls_cert *c, const char *name, char *why, size_t size);
/* Has it a private key? It may be missing with files->may_lack_key. */
bool tls_cert_has_key(struct tls_cert *c);
/* Calls <name> for each host name of a certificate: its alternative names and its common name. */
void tls_cert_names(const struct tls_cert *c, void (*name)(void *ctx, struct slice name),
		    void *ctx);
/* Returns the first reason in OpenSSL's error queue, as text for messages; empties the queue. */
const char *tls_reason(void);

/* Returns "RSA2048", "EC256" (info.c). */
struct slice tls_cert_key_name(X509 *x, char *room, size_t size);
/* Returns "RSA-SHA256"; static. */
struct slice tls_cert_signature_name(X509 *x);

#endif

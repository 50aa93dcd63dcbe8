/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cert_priv.h - certificates: immutable, counted (cert.c, info.c); chains of a directory (chains.c)
 *
 * Owns   : all that it is made of.
 * Threads: any. One that is closed is opened by the first that needs it, once.
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

#define TLS_DIGEST 16 /* bytes: SHA-256, cut */

enum tls_key_type { TLS_KEY_RSA, TLS_KEY_ECDSA, TLS_KEY_DSA, TLS_KEY_TYPES };

struct tls_cert {
	unsigned refs;               /* atomic */
	unsigned char digest[TLS_DIGEST]; /* of its leaf, once that is there */
	/* The next three are NULL until tls_cert_open() when the certificate is <closed>. */
	X509 *leaf;
	EVP_PKEY *key;
	STACK_OF(X509) *chain;       /* without the leaf; may be NULL */
	const char *chain_file;      /* of issuers-chain-path; NULL: the chain came with the leaf */
	struct tls_closed *closed;   /* what they are made of; NULL: they are there. Atomic */
	X509 *issuer;                /* of a .issuer file, or NULL */
	enum tls_key_type type;
	unsigned char *ocsp;         /* stapled response, DER; or NULL */
	size_t ocsp_len;
	unsigned char *sctl;
	size_t sctl_len;
	EVP_PKEY *dh;                /* parameters of the file, or NULL */
	char *name;                  /* of its entry, owned; NULL: it has none */
};

/* Chains of issuers-chain-path (chains.c): reads the directory; gives <c> the one that its issuer
 * begins, if it has none itself: the name of the file is borrowed of <chains>.
 */
struct tls_chains;
bool tls_chains_read(struct tls_chains **chains, const char *path);
void tls_chains_free(struct tls_chains **chains);
void tls_chains_complete(const struct tls_chains *chains, struct tls_cert *c);

/* ssl-skip-self-issued-ca: for what is read from now on. */
void tls_cert_skip_self_issued(bool skip);
struct tls_cert *tls_cert_take(struct tls_cert *c);
/* Gives it the name that ssl_fc_crtname tells, before other threads see it. */
void tls_cert_set_name(struct tls_cert *c, const char *name);
/* Makes c->digest of its leaf. */
void tls_cert_digest(struct tls_cert *c);
void tls_cert_drop(struct tls_cert **c);
/* What is read, and by `set ssl cert` changed, apart. */
enum tls_part { TLS_PART_CERT, TLS_PART_KEY, TLS_PART_OCSP, TLS_PART_ISSUER, TLS_PART_SCTL };
/* What the parts of a certificate come from; each may be NULL. */
struct tls_cert_files {
	const char *crt, *key, *ocsp, *issuer, *sctl;
	uint8_t named;               /* bit n: a line names the file of enum tls_part n */
	bool may_lack_key;           /* tokens are verified without */
	bool listed;                 /* by a crt-list, crt-store: companions are not told */
	struct tls_phrases *phrases; /* borrowed: ssl-passphrase-cmd; NULL: none */
};
/* A certificate of PEM texts and files, complete. NULL: the reason is in <why> (<size> bytes).
 * <files>->key becomes the crt file when that has the key. <at_once>: OpenSSL decodes it now, else
 * it may stay closed if what der.h sees of it is in order.
 */
struct tls_cert *tls_cert_load(struct tls_cert_files *files, bool at_once, char *why, size_t size);
/* What a text in base64 says, to free; NULL: it is not. */
unsigned char *tls_base64_read(struct slice text, size_t *len);
/* Another certificate with a part of it from a text (base64 for OCSP and SCTL, else PEM), and the
 * rest of <old>, which may be NULL. It need not be consistent: tls_cert_is_usable(). NULL: <why>.
 */
struct tls_cert *tls_cert_change(const struct tls_cert *old, enum tls_part part, struct slice text,
				 const char *name, char *why, size_t size);
/* Makes leaf, key and chain if they are not there yet: before they are looked at. False: no memory,
 * or OpenSSL wants nothing of it. Any thread.
 */
bool tls_cert_open(struct tls_cert *c);
/* Does its key go with its leaf? False: <why>. */
bool tls_cert_is_usable(struct tls_cert *c, const char *name, char *why, size_t size);
/* Has it a private key? It may lack where files->may_lack_key. */
bool tls_cert_has_key(struct tls_cert *c);
/* Calls <name> for each host name of a certificate: its alternative names and its common name. */
void tls_cert_names(const struct tls_cert *c, void (*name)(void *ctx, struct slice name),
		    void *ctx);
/* First reason of OpenSSL's error queue, as messages have it; empties the queue. */
const char *tls_reason(void);

/* "RSA2048", "EC256" (info.c). */
struct slice tls_cert_key_name(X509 *x, char *room, size_t size);
/* "RSA-SHA256"; static. */
struct slice tls_cert_signature_name(X509 *x);

#endif

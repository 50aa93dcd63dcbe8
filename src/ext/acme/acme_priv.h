/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acme_priv.h - certificates that an authority gives by ACME (RFC 8555): what the files share
 *
 * Purpose: a certificate of a crt-store that names a section `acme` is asked for when it is about
 *          to expire, or when there is none yet, with the challenge http-01.
 * Owns   : sections are the configuration's. A job is the process's, one for each certificate that
 *          was ever named: it keeps what was issued, so that a reload, which reads files, does not
 *          lose it. Nothing that is issued is written to disk: `dump ssl cert` shows it.
 * Threads: all work is done on thread 0; commands read and mark jobs under a lock.
 * Errors : logged (global targets), and tried again: after one minute, two, ... at most six hours.
 * Files  : acme.c sections, commands and schedule; acme_order.c one order from directory to commit;
 *          acme_key.c keys, signatures (RFC 7515) and requests for certificates.
 * Manual : configuration 12.8, 3 acme.scheduler, 12.7 acme, domains, ips; management acme renew,
 *          acme status
 */
#ifndef EXT_ACME_PRIV_H
#define EXT_ACME_PRIV_H

#include <openssl/evp.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/list.h"
#include "base/slice.h"
#include "base/strbuf.h"

struct config;

enum acme_key_type { ACME_ECDSA, ACME_RSA };

struct acme_section {
	struct list link;
	const char *name, *file;
	int line;
	const char *directory, *account_key, *contact, *map, *profile, *curves;
	const char *eab_id, *eab_key;  /* files, or NULL */
	unsigned eab_bits;             /* of HMAC: 256, 384, 512 */
	enum acme_key_type type;
	int64_t bits;
	bool reuse_key;
	EVP_PKEY *account;             /* owned; NULL before the start */
};

enum acme_state { ACME_STOPPED, ACME_SCHEDULED, ACME_RUNNING };

struct acme_job {
	struct list link;
	char *name;                    /* of the certificate */
	uint64_t due_s;                /* wall clock: when it is asked for; 0: never */
	unsigned failures;             /* in a row */
	uint8_t state;                 /* enum acme_state */
	bool is_wanted;                /* the configuration has the certificate */
	char *issued_crt, *issued_key; /* PEM; NULL: nothing was issued yet */
};

/* --- acme_order.c: on thread 0, one order at a time */

/* What an order is about; copied. */
struct acme_want {
	struct config *config;
	const struct acme_section *section;
	const char *name, *domains, *ips;
	const char *key;               /* PEM, to be used again; NULL: a new one */
};

/* Begins; <done> is told the end, never from within: the PEM texts, borrowed, or NULL and <why>. */
typedef void acme_done_fn(const char *crt, const char *key, const char *why);
bool acme_order_begin(const struct acme_want *w, acme_done_fn *done);
bool acme_order_is_on(void);
/* Gives up, without <done>. */
void acme_order_stop(void);

/* --- acme_key.c */

/* Reads a private key, or makes one and writes the file. NULL: <why> says what is wrong. */
EVP_PKEY *acme_account_load(const struct acme_section *s, char *why, size_t size);
/* A key of the section's kind; it takes a while. NULL: OpenSSL cannot. */
EVP_PKEY *acme_key_new(const struct acme_section *s);
/* Adds the thumbprint of the key. */
bool acme_thumbprint(struct strbuf *out, const EVP_PKEY *key);
/* Adds a signed message: <kid> NULL: the key itself is in its header. */
bool acme_sign(struct strbuf *out, EVP_PKEY *key, const char *kid, const char *nonce,
	       const char *url, struct slice payload);
/* Adds externalAccountBinding, as a member, if the section's files say so. False: <why>. */
bool acme_bind(struct strbuf *out, const struct acme_section *s, const char *url, char *why,
	       size_t size);
/* Adds a request for a certificate for comma-separated names, DER in base64url. */
bool acme_csr(struct strbuf *out, EVP_PKEY *key, const char *domains, const char *ips);
/* Adds the private key as PEM. */
bool acme_key_pem(struct strbuf *out, const EVP_PKEY *key);
EVP_PKEY *acme_key_of_pem(struct slice pem);

#endif

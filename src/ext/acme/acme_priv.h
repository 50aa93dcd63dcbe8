/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acme_priv.h - certificates issued by an authority through ACME (RFC 8555): shared declarations
 *
 * Purpose: requests a certificate for each certificate of a crt-store that names a section `acme`,
 *          when it is about to expire or does not exist yet, with the challenge http-01, dns-01 or
 *          dns-persist-01.
 * Owns   : sections belong to the configuration. A job belongs to the process, one for each
 *          certificate ever named: it keeps the issued certificate, so that a reload, which reads
 *          files, does not lose it. Issued certificates are not written to disk: `dump ssl cert`
 *          shows them.
 * Threads: all work is done on thread 0; commands read and mark jobs while holding a lock.
 * Errors : logged (global targets), then retried: after one minute, two, ... at most six hours.
 * Files  : acme.c sections, commands and schedule; acme_order.c one order from directory to commit;
 *          acme_ask.c one request of an order (ask_priv.h); acme_dns.c waiting for the records of
 *          dns-01 and dns-persist-01; acme_key.c keys, signatures (RFC 7515) and certificate
 *          signing requests.
 * Manual : configuration 12.8, 3 acme.scheduler, 12.7 acme, domains, ips; management acme renew,
 *          acme status, acme challenge_ready
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
enum acme_challenge { ACME_HTTP, ACME_DNS, ACME_PERSIST };
/* The conditions that a DNS challenge waits for: challenge-ready. */
enum acme_ready { ACME_READY_CLI = 1, ACME_READY_DELAY = 2, ACME_READY_DNS = 4 };

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
	enum acme_challenge challenge;
	unsigned ready;                /* mask of enum acme_ready */
	bool ready_is_set;
	int64_t dns_delay_ms, dns_timeout_ms;
	const char *provider, *vars;   /* for the writer of the records, or NULL */
	EVP_PKEY *account;             /* owned; NULL before the start */
};

enum acme_state { ACME_STOPPED, ACME_SCHEDULED, ACME_RUNNING };

struct acme_job {
	struct list link;
	char *name;                    /* of the certificate */
	uint64_t due_s;                /* wall clock: when to request it; 0: never */
	uint64_t rest_s;               /* no request before this, whatever the certificate says */
	unsigned failures;             /* consecutive */
	uint8_t state;                 /* enum acme_state */
	bool is_wanted;                /* the configuration contains the certificate */
	char *issued_crt, *issued_key; /* PEM; NULL: none issued yet */
};

/* --- acme_order.c: on thread 0, one order at a time */

/* The parameters of an order; copied. */
struct acme_want {
	struct config *config;
	const struct acme_section *section;
	const char *name, *domains, *ips;
	const char *key;               /* PEM, to reuse; NULL: make a new one */
};

/* Starts an order; <done> is called at its end, never from within: with the PEM texts, borrowed, or
 * with NULL and the reason in <why>. <pause_s>: how long the authority wants no requests; 0: it has
 * not said.
 */
typedef void acme_done_fn(const char *crt, const char *key, const char *why, int64_t pause_s);
bool acme_order_begin(const struct acme_want *w, acme_done_fn *done);
bool acme_order_is_on(void);
/* Cancels the order without calling <done>. */
void acme_order_stop(void);

/* --- acme_dns.c: one order at a time, on thread 0 but for acme_dns_ready() */

/* Called when the records exist as far as challenge-ready requires it, or with the reason of
 * failure in <why>. May be called before acme_dns_wait() returns.
 */
typedef void acme_dns_done_fn(const char *why);
/* Starts an order; <s> and <cert> must stay until acme_dns_end(). */
void acme_dns_begin(const struct acme_section *s, const char *cert);
/* Adds a record that must exist: _acme-challenge.<domain> with this value, or, without a value,
 * _validation-persist.<domain> with any.
 */
bool acme_dns_add(const char *domain, const char *value);
/* Reports a record to be written, by an event and in the log. */
void acme_dns_announce(const char *domain, const char *value, const char *thumbprint,
		       struct slice authorization);
void acme_dns_wait(acme_dns_done_fn *done);
void acme_dns_end(void);
/* Emits an event to the ring dpapi. */
void acme_dns_tell(struct slice event);

/* Reports that the record of a domain is written. Any thread; after ACME_SAID_NOW, thread 0 must be
 * made to call acme_dns_wake(). Sets *left to the number of domains not reported yet.
 */
enum acme_said { ACME_SAID_NOTHING, ACME_SAID_NOW, ACME_SAID_BEFORE };
enum acme_said acme_dns_ready(const char *cert, const char *domain, unsigned *left);
void acme_dns_wake(void);

/* --- acme_key.c */

/* Reads a private key, or makes one and writes the file. Returns NULL with the reason in <why>. */
EVP_PKEY *acme_account_load(const struct acme_section *s, char *why, size_t size);
/* Makes a key of the section's type; slow. Returns NULL: OpenSSL failed. */
EVP_PKEY *acme_key_new(const struct acme_section *s);
/* Appends the value of the record for dns-01 (RFC 8555 8.4). */
bool acme_dns_value(struct strbuf *out, const char *token, const char *thumbprint);
/* Appends the thumbprint of the key. */
bool acme_thumbprint(struct strbuf *out, const EVP_PKEY *key);
/* Appends a signed message; <kid> NULL: with the key itself in its header. */
bool acme_sign(struct strbuf *out, EVP_PKEY *key, const char *kid, const char *nonce,
	       const char *url, struct slice payload);
/* Appends the member externalAccountBinding if the section has its files. Returns false: <why>. */
bool acme_bind(struct strbuf *out, const struct acme_section *s, const char *url, char *why,
	       size_t size);
/* Appends a certificate signing request for comma-separated names, DER in base64url. */
bool acme_csr(struct strbuf *out, EVP_PKEY *key, const char *domains, const char *ips);
/* Appends the private key as PEM. */
bool acme_key_pem(struct strbuf *out, const EVP_PKEY *key);
EVP_PKEY *acme_key_of_pem(struct slice pem);

#endif

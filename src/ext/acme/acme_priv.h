/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acme_priv.h - certificates that an authority gives by ACME (RFC 8555): what the files share
 *
 * Purpose: a certificate of a crt-store that names a section `acme` is asked for when it is about
 *          to expire, or when there is none yet, with the challenge http-01, dns-01 or
 *          dns-persist-01.
 * Owns   : sections are the configuration's. A job is the process's, one for each certificate that
 *          was ever named: it keeps what was issued, so that a reload, which reads files, does not
 *          lose it. Nothing that is issued is written to disk: `dump ssl cert` shows it.
 * Threads: all work is done on thread 0; commands read and mark jobs under a lock.
 * Errors : logged (global targets), and tried again: after one minute, two, ... at most six hours.
 * Files  : acme.c sections, commands and schedule; acme_order.c one order from directory to commit;
 *          acme_ask.c one question of it (ask_priv.h); acme_dns.c what dns-01 and
 *          dns-persist-01 wait for; acme_key.c keys, signatures (RFC 7515)
 *          and requests for certificates.
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
/* What a challenge of DNS waits for: challenge-ready. */
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
	uint64_t due_s;                /* wall clock: when it is asked for; 0: never */
	uint64_t rest_s;               /* not before, whatever the certificate says */
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

/* Begins; <done> is told the end, never from within: the PEM texts, borrowed, or NULL and <why>.
 * <pause_s>: so long the authority wants not to be asked; 0: it has not said.
 */
typedef void acme_done_fn(const char *crt, const char *key, const char *why, int64_t pause_s);
bool acme_order_begin(const struct acme_want *w, acme_done_fn *done);
bool acme_order_is_on(void);
/* Gives up, without <done>. */
void acme_order_stop(void);

/* --- acme_dns.c: one order at a time, on thread 0 but for acme_dns_ready() */

/* The records are there as far as challenge-ready asks for it, or <why>. It may be told before
 * acme_dns_wait() returns.
 */
typedef void acme_dns_done_fn(const char *why);
/* An order begins; <s> and <cert> stay until acme_dns_end(). */
void acme_dns_begin(const struct acme_section *s, const char *cert);
/* Another record that there has to be: _acme-challenge.<domain> with this value, or, without one,
 * _validation-persist.<domain> with any.
 */
bool acme_dns_add(const char *domain, const char *value);
/* Tells the writer of records, by an event and in the log. */
void acme_dns_announce(const char *domain, const char *value, const char *thumbprint,
		       struct slice authorization);
void acme_dns_wait(acme_dns_done_fn *done);
void acme_dns_end(void);
/* An event of the ring dpapi. */
void acme_dns_tell(struct slice event);

/* Reports that the record of a domain is written. From any thread; if ACME_SAID_NOW, thread 0 must
 * be asked for acme_dns_wake(). *left: of how many domains it was not said yet.
 */
enum acme_said { ACME_SAID_NOTHING, ACME_SAID_NOW, ACME_SAID_BEFORE };
enum acme_said acme_dns_ready(const char *cert, const char *domain, unsigned *left);
void acme_dns_wake(void);

/* --- acme_key.c */

/* Reads a private key, or makes one and writes the file. NULL: <why> says what is wrong. */
EVP_PKEY *acme_account_load(const struct acme_section *s, char *why, size_t size);
/* A key of the section's kind; it takes a while. NULL: OpenSSL cannot. */
EVP_PKEY *acme_key_new(const struct acme_section *s);
/* Adds the value of the record that dns-01 asks for (RFC 8555 8.4). */
bool acme_dns_value(struct strbuf *out, const char *token, const char *thumbprint);
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ocsp_priv.h - OCSP responses: their data, and their updates
 *
 * A certificate that has a response, or should get one, has a struct tls_ocsp. Under the store's
 * lock, except handshakes, which use copies of the responses (shown.c). The updater, ocsp_update.c,
 * fetches one response at a time, on thread 0, for the live generation.
 */
#ifndef TLS_OCSP_PRIV_H
#define TLS_OCSP_PRIV_H

#include "cert_priv.h"
#include "store_priv.h"

/* X(symbol, text): result of the last update; numbered as in the manual. */
#define OCSP_OUTCOMES(X) \
	X(UNKNOWN, "Unknown") \
	X(SUCCESS, "Update successful") \
	X(HTTP, "HTTP error") \
	X(HEADER, "Missing \"ocsp-response\" header") \
	X(CHECK, "OCSP response check failure") \
	X(INSERT, "Error during insertion")

enum ocsp_outcome {
#define X(symbol, text) OCSP_##symbol,
	OCSP_OUTCOMES(X)
#undef X
};

struct tls_ocsp {
	struct list link;            /* in tls_global.ocsps */
	struct tls_entry *entry;
	char *key;                   /* its OCSP identifier in hexadecimal; owned */
	char *uri;                   /* of its responder; owned, NULL: none */
	bool is_updated;             /* updated automatically, not only by command */
	bool asked;                  /* requested by command */
	int64_t next_s, last_s;      /* wall clock; last_s 0: never */
	unsigned successes, failures;
	unsigned failed;             /* consecutive failures */
	enum ocsp_outcome outcome;
};

/* --- ocsp.c: stateless functions -------------------------------------------------------------- */

/* Return the hexadecimal DER of the identifier of <c> (SHA-1, as responders expect), or of the one
 * in a response. The caller frees it; NULL: the issuer is unknown, or it is not a response.
 */
char *tls_ocsp_key(struct tls_cert *c);
char *tls_ocsp_key_of_answer(const unsigned char *der, size_t len);
/* Returns the first responder of <c> with "http:". The caller frees it; NULL: none. */
char *tls_ocsp_uri(struct tls_cert *c);
/* Returns the URL to GET from <uri> for <c> (RFC 6960 A.1). The caller frees it; NULL: out of
 * memory.
 */
char *tls_ocsp_url(struct tls_cert *c, const char *uri);
/* Is the response signed by the issuer of <c>, or by a responder delegated by the issuer? */
bool tls_ocsp_is_signed(struct tls_cert *c, const unsigned char *der, size_t len);
/* Replaces the response of <c>, also for handshakes in progress. False: see <why>. */
bool tls_ocsp_replace(struct tls_cert *c, const unsigned char *der, size_t len, char *why,
		      size_t size);

/* --- ocsp_update.c ---------------------------------------------------------------------------- */

/* Registers <e> if it has a response or must be updated; again after its certificate was replaced.
 * False: out of memory, or it must be updated and its issuer is unknown.
 */
bool tls_ocsp_know(struct config *cfg, struct tls_entry *e);
void tls_ocsp_forget(struct tls_entry *e);
/* Makes the updater check what is due. Any thread, without the lock. */
void tls_ocsp_kick(void);
/* A generation goes live; <prev> NULL: the first. Takes over responses and figures of the same
 * certificates. Thread 0.
 */
void tls_ocsp_start(struct config *cfg, struct config *prev);
void tls_ocsp_stop(void);
const char *tls_ocsp_outcome_text(enum ocsp_outcome o);

#endif

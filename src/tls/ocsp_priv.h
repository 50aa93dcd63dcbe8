/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ocsp_priv.h - OCSP answers: what is known of them, and their updates
 *
 * A certificate which has an answer, or shall get one, has a struct tls_ocsp. Under the store's
 * lock, but for the handshakes, which see copies of the answers (shown.c). The updater, in
 * ocsp_update.c, fetches one answer at a time, on thread 0, for whichever generation is live.
 */
#ifndef TLS_OCSP_PRIV_H
#define TLS_OCSP_PRIV_H

#include "cert_priv.h"
#include "store_priv.h"

/* X(symbol, text): how the last update went; the numbers are those of the manual. */
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
	char *key;                   /* hexadecimal, of its OCSP identifier; owned */
	char *uri;                   /* of its responder; owned, NULL: none is named */
	bool is_updated;             /* by itself, not only by command */
	bool asked;                  /* by command */
	int64_t next_s, last_s;      /* wall clock; last_s 0: never */
	unsigned successes, failures;
	unsigned failed;             /* times in a row */
	enum ocsp_outcome outcome;
};

/* --- ocsp.c: facts, no state ------------------------------------------------------------------ */

/* The hexadecimal DER of the identifier of <c> (SHA-1, as responders expect), or of the one in an
 * answer. To free; NULL: its issuer is not known, or it is no answer.
 */
char *tls_ocsp_key(struct tls_cert *c);
char *tls_ocsp_key_of_answer(const unsigned char *der, size_t len);
/* The first responder that <c> names by "http:". To free; NULL: none. */
char *tls_ocsp_uri(struct tls_cert *c);
/* What to GET from <uri> for <c> (RFC 6960 A.1). To free; NULL: no memory. */
char *tls_ocsp_url(struct tls_cert *c, const char *uri);
/* Is the answer signed by the issuer of <c>, or by a responder that the issuer has charged with
 * it?
 */
bool tls_ocsp_is_signed(struct tls_cert *c, const unsigned char *der, size_t len);
/* Replaces the answer of <c>, also for handshakes that are under way. False: <why>. */
bool tls_ocsp_replace(struct tls_cert *c, const unsigned char *der, size_t len, char *why,
		      size_t size);

/* --- ocsp_update.c ---------------------------------------------------------------------------- */

/* Knows <e> if it has an answer or is to be updated; again after its certificate was replaced.
 * False: no memory, or it is to be updated and its issuer is not known.
 */
bool tls_ocsp_know(struct config *cfg, struct tls_entry *e);
void tls_ocsp_forget(struct tls_entry *e);
/* Has the updater look what is due; from any thread, without the lock. */
void tls_ocsp_kick(void);
/* A generation goes live; <prev> NULL: the first. Answers and figures of the same certificates are
 * taken over. Thread 0.
 */
void tls_ocsp_start(struct config *cfg, struct config *prev);
void tls_ocsp_stop(void);
const char *tls_ocsp_outcome_text(enum ocsp_outcome o);

#endif

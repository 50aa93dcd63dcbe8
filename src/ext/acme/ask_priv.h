/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ask_priv.h - ACME: one request to the authority, and its answer (acme_ask.c)
 *
 * Purpose: sends a request, signed with the account's key and the nonce of the last answer, through
 *          the program's HTTP client, and reads the answer: status, body, nonce, location,
 *          Retry-After. Answers are not trusted: sizes are bounded, and texts used in a message or
 *          a URL are validated first.
 * Owns   : the request and the answer. <account> and <kid> are borrowed from the order.
 * Threads: thread 0.
 */
#ifndef EXT_ACME_ASK_PRIV_H
#define EXT_ACME_ASK_PRIV_H

#include "acme_priv.h"
#include "core/timer.h"

#define ACME_TEXT_MAX 2048         /* of a URL, a token, a nonce */

enum acme_method { ACME_GET, ACME_HEAD, ACME_POST };

struct acme_ask {
	EVP_PKEY *account;
	const char *kid;             /* of the account; NULL: not known yet */
	/* called when the answer is there or the pause is over */
	void (*answered)(struct acme_ask *a);
	struct http_call *call;
	struct timer timer;
	/* the request: kept for a retry */
	char *url;
	struct strbuf payload;
	enum acme_method method;
	/* the answer */
	unsigned status;             /* 0: no answer */
	struct strbuf body;
	bool too_large, whole;
	char nonce[ACME_TEXT_MAX], location[ACME_TEXT_MAX]; /* "": none */
	int64_t retry_ms;            /* Retry-After, at most a day; 0: none */
};

void acme_ask_init(struct acme_ask *a, void (*answered)(struct acme_ask *a));
/* Cancels the request or pause in progress. */
void acme_ask_fini(struct acme_ask *a);
/* Requests <url>; the payload of a POST is in a->payload. answered() is called later, never from
 * within. Returns NULL, or why the request cannot be made.
 */
const char *acme_ask(struct acme_ask *a, const char *url, enum acme_method method);
/* Repeats the request to the same URL, with the latest nonce. */
const char *acme_ask_again(struct acme_ask *a);
/* Calls answered() after a pause; 0: at the end of the turn. */
void acme_ask_pause(struct acme_ask *a, int64_t ms);

/* Returns true for base64url, the form of tokens and nonces (RFC 8555 8.1). */
bool acme_is_token(struct slice s);
/* Returns a copy of the string at <path> of the answer, to be freed; NULL: none. */
char *acme_text_at(const struct acme_ask *a, const char *path);
/* Copies a URL of the answer to *out. Returns false: it is not one. */
bool acme_take_url(const struct acme_ask *a, const char *path, char **out);
bool acme_text_is(const struct acme_ask *a, const char *path, const char *wanted);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ask_priv.h - ACME: one question to the authority, and its answer (acme_ask.c)
 *
 * Purpose: sends a request, signed with the account's key and the nonce of the last answer, by the
 *          program's HTTP client, and takes what comes: status, body, nonce, location, Retry-After.
 *          What the authority says is not trusted: sizes are bounded, and texts that go into a
 *          message or a URL are looked at first.
 * Owns   : the question and the answer. <account> and <kid> are borrowed from the order.
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
	const char *kid;             /* of the account; NULL: it is not known yet */
	void (*answered)(struct acme_ask *a); /* the answer is there, or the pause is over */
	struct http_call *call;
	struct timer timer;
	/* the question: kept for another try */
	char *url;
	struct strbuf payload;
	enum acme_method method;
	/* the answer */
	unsigned status;             /* 0: there is none */
	struct strbuf body;
	bool too_large, whole;
	char nonce[ACME_TEXT_MAX], location[ACME_TEXT_MAX]; /* "": there is none */
	int64_t retry_ms;            /* Retry-After, at most a day; 0: there is none */
};

void acme_ask_init(struct acme_ask *a, void (*answered)(struct acme_ask *a));
/* Gives up what is under way. */
void acme_ask_fini(struct acme_ask *a);
/* Asks <url>; the payload of a POST is in a->payload. answered() is called later, never from
 * within. Returns NULL, or why it cannot.
 */
const char *acme_ask(struct acme_ask *a, const char *url, enum acme_method method);
/* Asks the same URL once more, with the nonce that came meanwhile. */
const char *acme_ask_again(struct acme_ask *a);
/* Calls answered() after a pause; 0: at the end of the turn. */
void acme_ask_pause(struct acme_ask *a, int64_t ms);

/* base64url, as tokens and nonces are (RFC 8555 8.1). */
bool acme_is_token(struct slice s);
/* The string at <path> of the answer, to free; NULL: there is none. */
char *acme_text_at(const struct acme_ask *a, const char *path);
/* A URL of the answer into *out. False: it is none. */
bool acme_take_url(const struct acme_ask *a, const char *path, char **out);
bool acme_text_is(const struct acme_ask *a, const char *path, const char *wanted);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* http_client.h - requests that the program makes by itself, to any URL
 *
 * Purpose: what `httpclient` of the Runtime API, scripts, webhooks and mirrors need: a request to
 *          an address that no server line names. It is a stream (stream/inside.h) through a hidden
 *          backend of each generation, so that timeouts, retries, TLS, ALPN, idle connections and
 *          logs are those of any other request.
 * Owns   : struct http_call is the client's: from http_call_new() until end() returns, or until
 *          http_call_cancel(). It holds its generation.
 * Threads: all of it on the thread that made it.
 * Errors : http_call_new() says what is wrong with the URL. Afterwards end() tells how it went;
 *          a page of the program's own (503: no address, or no connection) is an answer.
 * Limits : redirects are not followed, and no cookie is kept: a caller that wants that does it.
 * Manual : configuration 3 httpclient.*, management 9.3; doc/configuration/http-client.md
 *
 *   http_call_new --> fields of call->request --> http_call_start --> [a name is resolved]
 *      --> [part ...] [head] [data ...] --> end
 */
#ifndef CLIENT_HTTP_CLIENT_H
#define CLIENT_HTTP_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include "http/msg.h"
#include "stream/inside.h"

struct config;
struct http_call;

/* As those of struct inside_kind; any of them may call http_call_cancel(). */
struct http_call_kind {
	const char *name;        /* of the endpoint, in dumps */
	/* Adds some kilobytes of the body that http_call_has_body() announced; it never waits. */
	enum inside_result (*part)(struct http_call *c, struct block_queue *to);
	void (*head)(struct http_call *c, const struct http_msg *m);
	void (*data)(struct http_call *c, struct block_queue *from);
	void (*end)(struct http_call *c, bool whole, enum stream_end why);
};

struct http_call {
	const struct http_call_kind *kind;
	void *ctx;                   /* the caller's */
	struct http_msg *request;    /* to be completed before http_call_start() */
	/* the client's */
	struct inside *inside;
	struct http_lookup *lookup;  /* a name is being resolved; or NULL */
	struct slice host;           /* the URL's, without brackets */
	uint16_t port;
	bool is_tls;
};

/* A request of <method> for <url> ("http://host[:port]/path", https too) through the client of
 * <cfg>; its request has a Host field. NULL: *error says why.
 */
struct http_call *http_call_new(struct config *cfg, const struct http_call_kind *kind, void *ctx,
				struct slice method, struct slice url, const char **error);
/* The request has a body: of <len> bytes, or of UINT64_MAX for an unknown length. False: no memory.
 */
bool http_call_has_body(struct http_call *c, uint64_t len);
/* How long the server may take for its answer, instead of httpclient.timeout.server's; ms. False:
 * no memory.
 */
bool http_call_set_timeout(struct http_call *c, int64_t ms);
/* It goes there, whatever the URL's host and port are. False: no memory. */
bool http_call_to(struct http_call *c, const struct addr *to);
/* It goes to the HTTP proxy at <to>, which is asked for the whole URL. False: no memory. */
bool http_call_via(struct http_call *c, const struct addr *to);
/* It has no log line: what it is for has its own. */
void http_call_be_silent(struct http_call *c);
/* Begins. <request> without User-Agent and Accept gets them. */
void http_call_start(struct http_call *c);
/* There is room for what data() has left. May end it. */
void http_call_read(struct http_call *c);
/* Gives up, at any stage: no callback comes any more, and <c> is not the caller's any more. */
void http_call_cancel(struct http_call *c);

/* While <cfg> is read: something may ask for a URL of https, so certificates of authorities are
 * needed (httpclient.ssl.ca-file). Without, such a URL is refused.
 */
void http_client_want_tls(struct config *cfg);

#endif

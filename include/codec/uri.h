/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* uri.h - request targets and URLs cut into their pieces (RFC 3986, RFC 9112 3.2)
 *
 * Pieces are slices of the input, untouched: nothing is decoded or normalised. A piece that is not
 * there is slice_none(), so an empty query ("/a?") differs from none ("/a").
 * Owns: nothing. Threads: any.
 */
#ifndef CODEC_URI_H
#define CODEC_URI_H

#include <stdbool.h>
#include <stdint.h>
#include "base/slice.h"

enum uri_form {
	URI_ORIGIN,    /* /path?query */
	URI_ABSOLUTE,  /* scheme://authority/path?query */
	URI_AUTHORITY, /* host:port (CONNECT) */
	URI_ASTERISK   /* * */
};

struct uri {
	enum uri_form form;
	struct slice scheme;    /* without "://" */
	struct slice authority; /* all between "//" and the path */
	struct slice user;      /* user information, without '@' */
	struct slice host;      /* brackets of an IPv6 literal included */
	struct slice port_text; /* maybe empty */
	uint16_t port;          /* 0 when absent, empty, or the scheme's default is meant */
	struct slice path;      /* starts with '/'; absent in "http://host" and authority form */
	struct slice query;     /* without '?' */
	struct slice fragment;  /* without '#' */
};

/* Cuts a request target or URL. <authority_form>: the method is CONNECT. False: malformed:
 * empty, no known form, an empty or invalid scheme, a port that is no number up to 65535,
 * unbalanced brackets, or a byte that is a control character or a blank.
 */
bool uri_parse(struct slice text, bool authority_form, struct uri *out);

/* Cuts "host", "host:port", "[v6]:port"; port_text is none without colon. False as above, or no
 * host.
 */
bool uri_parse_host(struct slice text, struct slice *host, struct slice *port_text,
		    uint16_t *port);

/* The default port of a scheme of any case: 80, 443 (http, https, ws, wss), else 0. */
uint16_t uri_default_port(struct slice scheme);

/* Decodes %XX (and '+' to a blank when <form>) from <text> to <out>, room for text.len bytes;
 * they may be the same memory. Returns the length; SIZE_MAX: a malformed escape.
 */
size_t uri_decode(struct slice text, bool form, char *out);

/* The value of parameter <name> in a query "a=1&b=2" (separator '&' usually). False: not there.
 * A name without '=' has slice_none() as its value.
 */
bool uri_query_find(struct slice query, struct slice name, char separator, struct slice *value);
/* Walks parameters: gives the next one, maybe empty, and moves <query> past it; false at the
 * end.
 */
bool uri_query_next(struct slice *query, char separator, struct slice *name,
		    struct slice *value);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* uri.h - splits request targets and URLs into their parts (RFC 3986, RFC 9112 3.2)
 *
 * Parts are slices of the input, unchanged: nothing is decoded or normalised. An absent part is
 * slice_none(), so an empty query ("/a?") differs from none ("/a").
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
	struct slice authority; /* everything between "//" and the path */
	struct slice user;      /* user information, without '@' */
	struct slice host;      /* brackets of an IPv6 literal included */
	struct slice port_text; /* may be empty */
	uint16_t port;          /* 0: absent, empty, or the scheme's default */
	struct slice path;      /* starts with '/'; absent in "http://host" and authority form */
	struct slice query;     /* without '?' */
	struct slice fragment;  /* without '#' */
};

/* Splits a request target or URL. <authority_form>: the method is CONNECT. False: malformed: empty,
 * an unknown form, an empty or invalid scheme, a port that is not a number up to 65535, unbalanced
 * brackets, a control character or a blank.
 */
bool uri_parse(struct slice text, bool authority_form, struct uri *out);

/* Splits "host", "host:port", "[v6]:port"; port_text is slice_none() without a colon. False:
 * malformed as above, or no host.
 */
bool uri_parse_host(struct slice text, struct slice *host, struct slice *port_text,
		    uint16_t *port);

/* Returns the default port of a scheme, in any case: 80 or 443 (http, https, ws, wss), else 0. */
uint16_t uri_default_port(struct slice scheme);

/* Decodes %XX (and '+' to a blank if <form>) from <text> to <out>, with room for text.len bytes;
 * both may be the same memory. Returns the length; SIZE_MAX: a malformed escape.
 */
size_t uri_decode(struct slice text, bool form, char *out);

/* Finds the value of parameter <name> in a query "a=1&b=2" (the separator is usually '&'). False:
 * not found. The value of a name without '=' is slice_none().
 */
bool uri_query_find(struct slice query, struct slice name, char separator, struct slice *value);
/* Iterates over parameters: returns the next one, which may be empty, and moves <query> past it.
 * False at the end.
 */
bool uri_query_next(struct slice *query, char separator, struct slice *name,
		    struct slice *value);

#endif

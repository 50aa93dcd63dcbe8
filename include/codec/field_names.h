/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* field_names.h - the well-known field names, which have a number
 *
 * One table: X(symbol, "name"). A field whose name is in it carries FIELD_<symbol>, so that finding
 * Host or Content-Length compares no strings; other fields carry FIELD_OTHER (0). Names are in
 * lower case, as everywhere in the program. Pure, any thread.
 */
#ifndef CODEC_FIELD_NAMES_H
#define CODEC_FIELD_NAMES_H

#include <stdint.h>
#include "base/slice.h"

/* sorted by length for readers; the lookup does not need it */
#define FIELD_NAMES(X) \
	X(TE, "te") \
	X(AGE, "age") \
	X(VIA, "via") \
	X(DATE, "date") \
	X(ETAG, "etag") \
	X(FROM, "from") \
	X(HOST, "host") \
	X(LINK, "link") \
	X(VARY, "vary") \
	X(ALLOW, "allow") \
	X(RANGE, "range") \
	X(ACCEPT, "accept") \
	X(COOKIE, "cookie") \
	X(EXPECT, "expect") \
	X(ORIGIN, "origin") \
	X(PRAGMA, "pragma") \
	X(SERVER, "server") \
	X(EXPIRES, "expires") \
	X(REFERER, "referer") \
	X(TRAILER, "trailer") \
	X(UPGRADE, "upgrade") \
	X(ALT_SVC, "alt-svc") \
	X(IF_MATCH, "if-match") \
	X(IF_RANGE, "if-range") \
	X(LOCATION, "location") \
	X(FORWARDED, "forwarded") \
	X(CONNECTION, "connection") \
	X(KEEP_ALIVE, "keep-alive") \
	X(SET_COOKIE, "set-cookie") \
	X(USER_AGENT, "user-agent") \
	X(CONTENT_MD5, "content-md5") \
	X(RETRY_AFTER, "retry-after") \
	X(CONTENT_TYPE, "content-type") \
	X(MAX_FORWARDS, "max-forwards") \
	X(ACCEPT_RANGES, "accept-ranges") \
	X(AUTHORIZATION, "authorization") \
	X(CACHE_CONTROL, "cache-control") \
	X(CONTENT_RANGE, "content-range") \
	X(IF_NONE_MATCH, "if-none-match") \
	X(LAST_MODIFIED, "last-modified") \
	X(ACCEPT_CHARSET, "accept-charset") \
	X(CONTENT_LENGTH, "content-length") \
	X(HTTP2_SETTINGS, "http2-settings") \
	X(ACCEPT_ENCODING, "accept-encoding") \
	X(ACCEPT_LANGUAGE, "accept-language") \
	X(X_FORWARDED_FOR, "x-forwarded-for") \
	X(CONTENT_ENCODING, "content-encoding") \
	X(CONTENT_LANGUAGE, "content-language") \
	X(CONTENT_LOCATION, "content-location") \
	X(PROXY_CONNECTION, "proxy-connection") \
	X(WWW_AUTHENTICATE, "www-authenticate") \
	X(IF_MODIFIED_SINCE, "if-modified-since") \
	X(SEC_WEBSOCKET_KEY, "sec-websocket-key") \
	X(TRANSFER_ENCODING, "transfer-encoding") \
	X(X_FORWARDED_PROTO, "x-forwarded-proto") \
	X(PROXY_AUTHENTICATE, "proxy-authenticate") \
	X(CONTENT_DISPOSITION, "content-disposition") \
	X(IF_UNMODIFIED_SINCE, "if-unmodified-since") \
	X(PROXY_AUTHORIZATION, "proxy-authorization") \
	X(SEC_WEBSOCKET_ACCEPT, "sec-websocket-accept") \
	X(STRICT_TRANSPORT_SECURITY, "strict-transport-security")

enum field_id {
	FIELD_OTHER,
#define X(symbol, name) FIELD_##symbol,
	FIELD_NAMES(X)
#undef X
	FIELD_COUNT
};

/* Returns the number of a name in any case; FIELD_OTHER: not in the table. */
uint8_t field_id_of(struct slice name);
/* As field_id_of(), for a name that is already in lower case: for the H1 parser. */
uint8_t field_id_of_lower(const char *name, size_t len);
/* Returns the lower-case name; slice_none() for FIELD_OTHER or a number outside of the table. */
struct slice field_name_of(uint8_t id);

#endif

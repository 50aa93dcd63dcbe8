/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rfc7239.h - parses one element of a Forwarded field: for, by, host, proto
 *
 * Stricter than RFC 7239: one element, no blanks, names in lower case, proto is http or https.
 * Pure, any thread.
 * Manual : configuration 7.3.1 rfc7239_*.
 */
#ifndef CODEC_RFC7239_H
#define CODEC_RFC7239_H

#include <stdbool.h>
#include <stdint.h>
#include "base/slice.h"

enum rfc7239_field { RFC7239_FOR, RFC7239_BY, RFC7239_HOST, RFC7239_PROTO, RFC7239_FIELDS };

struct rfc7239 {
	struct slice fields[RFC7239_FIELDS]; /* without quotes; slice_none(): absent */
};

/* A "for" or "by": an address, an obfuscated name or "unknown". */
struct rfc7239_node {
	enum { RFC7239_IPV4, RFC7239_IPV6, RFC7239_NAME } kind;
	struct slice name;  /* without brackets */
	struct slice port;  /* if obfuscated; slice_none(): see number */
	unsigned number;    /* port number; 0: none */
};

/* Returns the number of "for" etc., or RFC7239_FIELDS. */
enum rfc7239_field rfc7239_field_find(struct slice name);
/* Parses the value of a field. False: it is not exactly one well-formed element. */
bool rfc7239_parse(struct slice value, struct rfc7239 *out);
/* Parses a node at the start of <text>; *used: its length. False: malformed. */
bool rfc7239_parse_node(struct slice text, struct rfc7239_node *out, size_t *used);
/* Is <text> valid after "host=" between quotes: a name or address, with an optional port? */
bool rfc7239_is_host(struct slice text);
/* Can these characters be an obfuscated name (after its '_')? Not empty. */
bool rfc7239_is_obfuscated(struct slice text);

#endif

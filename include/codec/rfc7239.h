/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rfc7239.h - one element of a Forwarded field: for, by, host, proto
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
	struct slice fields[RFC7239_FIELDS]; /* without quotes; slice_none(): not there */
};

/* A "for" or "by": its name is an address, an obfuscated name or "unknown". */
struct rfc7239_node {
	enum { RFC7239_IPV4, RFC7239_IPV6, RFC7239_NAME } kind;
	struct slice name;  /* without brackets */
	struct slice port;  /* of an obfuscated one; slice_none(): see number */
	unsigned number;    /* of the port; 0: none */
};

/* "for" to its number, or RFC7239_FIELDS. */
enum rfc7239_field rfc7239_field_find(struct slice name);
/* False: the value is not one well-formed element. */
bool rfc7239_parse(struct slice value, struct rfc7239 *out);
/* Reads a node at the start of <text>; *used gets how much of it that is. */
bool rfc7239_parse_node(struct slice text, struct rfc7239_node *out, size_t *used);
/* May <text> stand behind "host=" between quotes: a name or address, and maybe a port? */
bool rfc7239_is_host(struct slice text);
/* May these characters make an obfuscated name (behind its '_')? Not empty. */
bool rfc7239_is_obfuscated(struct slice text);

#endif

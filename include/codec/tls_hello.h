/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tls_hello.h - what a TLS ClientHello says before anything is encrypted (RFC 8446 4.1.2)
 *
 * Reads the first record of a connection only: a hello that goes on in a second record is not
 * looked into. All slices are of the input. Pure, any thread.
 * Manual : configuration 7.3.5 req.ssl_*.
 */
#ifndef CODEC_TLS_HELLO_H
#define CODEC_TLS_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/slice.h"

enum tls_hello_status {
	TLS_HELLO_MORE, /* it may be one: bytes are missing */
	TLS_HELLO_DONE,
	TLS_HELLO_NOT,  /* it is something else, or malformed */
};

struct tls_hello {
	uint8_t major, minor;       /* of the hello: 3.3 is TLS 1.2 and later */
	struct slice session_id, ciphers;
	struct slice server_name;   /* the first name; slice_none(): no such extension */
	struct slice alpn;          /* its list, each name behind its length */
	struct slice groups;        /* two bytes each */
	struct slice signatures;    /* two bytes each */
	struct slice key_shares;    /* group, length, key */
	struct slice ticket;        /* slice_none(): no such extension; empty: asked for one */
	bool has_formats;           /* ec_point_formats */
};

/* The handshake type of the first message (1: ClientHello, 2: ServerHello). */
enum tls_hello_status tls_hello_type(struct slice in, uint8_t *type);
/* Reads a ClientHello. */
enum tls_hello_status tls_hello_parse(struct slice in, struct tls_hello *out);
/* The types of the extensions of a ClientHello, two bytes each, in its order; <message> begins with
 * the header of the handshake, without a record. Writes <room> bytes at most; returns how many.
 */
size_t tls_hello_types(struct slice message, unsigned char *out, size_t room);
/* The version of the first message of a client, one of SSLv2 too: major << 16 | minor. */
enum tls_hello_status tls_hello_version(struct slice in, uint32_t *version);

#endif

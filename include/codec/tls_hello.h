/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tls_hello.h - parses a TLS ClientHello, before anything is encrypted (RFC 8446 4.1.2)
 *
 * Reads only the first record of a connection: the part of a hello in a second record is not seen.
 * All slices point into the input. Pure, any thread.
 * Manual : configuration 7.3.5 req.ssl_*.
 */
#ifndef CODEC_TLS_HELLO_H
#define CODEC_TLS_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/slice.h"

enum tls_hello_status {
	TLS_HELLO_MORE, /* valid so far: bytes are missing */
	TLS_HELLO_DONE,
	TLS_HELLO_NOT,  /* something else, or malformed */
};

struct tls_hello {
	uint8_t major, minor;       /* version in the hello: 3.3 is TLS 1.2 and later */
	struct slice session_id, ciphers;
	struct slice server_name;   /* the first name; slice_none(): no such extension */
	struct slice alpn;          /* its list, each name after its length */
	struct slice groups;        /* two bytes each */
	struct slice signatures;    /* two bytes each */
	struct slice key_shares;    /* group, length, key */
	/* slice_none(): no such extension; empty: the client asks for one */
	struct slice ticket;
	bool has_formats;           /* ec_point_formats */
};

/* Reads the handshake type of the first message (1: ClientHello, 2: ServerHello). */
enum tls_hello_status tls_hello_type(struct slice in, uint8_t *type);
/* Reads a ClientHello. */
enum tls_hello_status tls_hello_parse(struct slice in, struct tls_hello *out);
/* Copies the types of the extensions of a ClientHello, two bytes each, in order; <message> begins
 * with the handshake header, without a record. Writes at most <room> bytes; returns their number.
 */
size_t tls_hello_types(struct slice message, unsigned char *out, size_t room);
/* Returns the version in the first message of a client, including SSLv2: major << 16 | minor. */
enum tls_hello_status tls_hello_version(struct slice in, uint32_t *version);

#endif

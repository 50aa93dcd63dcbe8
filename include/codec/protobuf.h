/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* protobuf.h - finds fields of Protocol Buffers messages by number; writes varints
 *
 * A path of field numbers leads into nested messages. Numeric values are returned as signed 64-bit
 * integers. Groups (wire types 3 and 4) are not supported: parsing ends there. Pure, any thread.
 * Manual : configuration 7.3.1 protobuf, ungrpc.
 */
#ifndef CODEC_PROTOBUF_H
#define CODEC_PROTOBUF_H

#include <stdbool.h>
#include <stdint.h>
#include "base/bug.h"
#include "base/slice.h"

enum protobuf_wire {
	PROTOBUF_VARINT = 0,
	PROTOBUF_64BIT = 1,
	PROTOBUF_BYTES = 2,
	PROTOBUF_32BIT = 5,
};

enum protobuf_type {
	PROTOBUF_RAW, /* the bytes as they are */
	PROTOBUF_INT, PROTOBUF_ZIGZAG,
	PROTOBUF_FIXED32, PROTOBUF_SFIXED32, PROTOBUF_FLOAT,
	PROTOBUF_FIXED64, PROTOBUF_DOUBLE,
};

#define PROTOBUF_VARINT_MAX 10 /* bytes */

/* Writes <v>, at most PROTOBUF_VARINT_MAX bytes; returns the end. */
static inline char *protobuf_write_varint(char *to, uint64_t v)
{
	for (; unlikely(v >= 0x80); v >>= 7)
		*to++ = (char)(v | 0x80);
	*to++ = (char)v;
	return to;
}

static inline size_t protobuf_varint_len(uint64_t v)
{
	size_t n = 1;

	for (; unlikely(v >= 0x80); v >>= 7)
		n++;
	return n;
}

/* Finds the type called "sint32", etc. False: unknown, or a type whose values are bytes. */
bool protobuf_type_find(struct slice name, enum protobuf_type *out);
/* Finds the first field with this path; *value: its bytes. False: there is none, or the message is
 * malformed before it.
 */
bool protobuf_find(struct slice message, const uint64_t *path, unsigned depth,
		   enum protobuf_wire *wire, struct slice *value);
/* Converts the bytes of a value to a number. False: its wire type does not match. */
bool protobuf_number(enum protobuf_type type, enum protobuf_wire wire, struct slice value,
		     int64_t *out);
/* Takes the next message off a gRPC body: it follows one byte of flags and four of length. False:
 * incomplete.
 */
bool protobuf_grpc_message(struct slice *body, struct slice *message);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* protobuf.c - see protobuf.h */
#include <string.h>
#include "base/bug.h"
#include "codec/protobuf.h"

#define GRPC_PREFIX 5

static const struct { const char *name; enum protobuf_type type; } types[] = {
	{ "int32", PROTOBUF_INT }, { "uint32", PROTOBUF_INT }, { "sint32", PROTOBUF_ZIGZAG },
	{ "int64", PROTOBUF_INT }, { "uint64", PROTOBUF_INT }, { "sint64", PROTOBUF_ZIGZAG },
	{ "bool", PROTOBUF_INT }, { "enum", PROTOBUF_INT },
	{ "fixed32", PROTOBUF_FIXED32 }, { "sfixed32", PROTOBUF_SFIXED32 },
	{ "float", PROTOBUF_FLOAT },
	{ "fixed64", PROTOBUF_FIXED64 }, { "sfixed64", PROTOBUF_FIXED64 },
	{ "double", PROTOBUF_DOUBLE },
};

bool protobuf_type_find(struct slice name, enum protobuf_type *out)
{
	for (unsigned i = 0; i < ARRAY_LEN(types); i++) {
		if (!slice_eq(name, slice_of(types[i].name)))
			continue;
		*out = types[i].type;
		return true;
	}
	return false;
}

/* At most ten bytes, seven bits each, the lowest first. */
static bool take_varint(struct slice *in, uint64_t *out)
{
	uint64_t v = 0;

	for (size_t i = 0; i < in->len && i < 10; i++) {
		uint8_t c = (uint8_t)in->ptr[i];

		v |= (uint64_t)(c & 0x7f) << (7 * i);
		if (c & 0x80)
			continue;
		*in = slice_make(in->ptr + i + 1, in->len - i - 1);
		*out = v;
		return true;
	}
	return false;
}

static bool take_bytes(struct slice *in, uint64_t len, struct slice *out)
{
	if (len > in->len)
		return false;
	*out = slice_make(in->ptr, (size_t)len);
	*in = slice_make(in->ptr + len, in->len - (size_t)len);
	return true;
}

static bool take_value(struct slice *in, enum protobuf_wire wire, struct slice *out)
{
	const char *start = in->ptr;
	uint64_t v;

	switch (wire) {
	case PROTOBUF_VARINT:
		if (!take_varint(in, &v))
			return false;
		*out = slice_make(start, (size_t)(in->ptr - start));
		return true;
	case PROTOBUF_64BIT:
		return take_bytes(in, 8, out);
	case PROTOBUF_32BIT:
		return take_bytes(in, 4, out);
	case PROTOBUF_BYTES:
		return take_varint(in, &v) && take_bytes(in, v, out);
	default:
		return false;
	}
}

/* The first field of that number. */
static bool find_field(struct slice in, uint64_t number, enum protobuf_wire *wire,
		       struct slice *value)
{
	uint64_t key;

	while (in.len) {
		if (!take_varint(&in, &key))
			return false;
		*wire = (enum protobuf_wire)(key & 7);
		if (!take_value(&in, *wire, value))
			return false;
		if (key >> 3 == number)
			return true;
	}
	return false;
}

bool protobuf_find(struct slice message, const uint64_t *path, unsigned depth,
		   enum protobuf_wire *wire, struct slice *value)
{
	*value = message;
	for (unsigned i = 0; i < depth; i++) {
		if (i && *wire != PROTOBUF_BYTES)
			return false;
		if (!find_field(*value, path[i], wire, value))
			return false;
	}
	return depth > 0;
}

static uint64_t read_le(struct slice value)
{
	uint64_t v = 0;

	for (size_t i = value.len; i > 0; i--)
		v = v << 8 | (uint8_t)value.ptr[i - 1];
	return v;
}

/* A number with a fraction to one without; what does not fit gives the smallest. */
static int64_t truncate_double(double d)
{
	return d > -9223372036854775808.0 && d < 9223372036854775808.0 ? (int64_t)d : INT64_MIN;
}

static int64_t read_float(struct slice value)
{
	uint32_t bits = (uint32_t)read_le(value);
	float f;

	memcpy(&f, &bits, sizeof(f));
	/* those that do not fit are 0 */
	return f > -9.2e18f && f < 9.2e18f ? (int64_t)f : 0;
}

static int64_t read_double(struct slice value)
{
	uint64_t bits = read_le(value);
	double d;

	memcpy(&d, &bits, sizeof(d));
	return truncate_double(d);
}

bool protobuf_number(enum protobuf_type type, enum protobuf_wire wire, struct slice value,
		     int64_t *out)
{
	uint64_t v = 0;

	switch (type) {
	case PROTOBUF_INT:
	case PROTOBUF_ZIGZAG:
		if (wire != PROTOBUF_VARINT || !take_varint(&value, &v))
			return false;
		*out = (int64_t)(type == PROTOBUF_ZIGZAG ? v >> 1 ^ (0 - (v & 1)) : v);
		return true;
	case PROTOBUF_FIXED32:
	case PROTOBUF_SFIXED32:
		v = read_le(value);
		*out = type == PROTOBUF_FIXED32 ? (int64_t)v : (int32_t)v;
		return wire == PROTOBUF_32BIT;
	case PROTOBUF_FLOAT:
		*out = read_float(value);
		return wire == PROTOBUF_32BIT;
	case PROTOBUF_FIXED64:
		*out = (int64_t)read_le(value);
		return wire == PROTOBUF_64BIT;
	case PROTOBUF_DOUBLE:
		*out = read_double(value);
		return wire == PROTOBUF_64BIT;
	default:
		return false;
	}
}

bool protobuf_grpc_message(struct slice *body, struct slice *message)
{
	uint64_t len = 0;

	if (body->len < GRPC_PREFIX)
		return false;
	for (int i = 1; i < GRPC_PREFIX; i++)
		len = len << 8 | (uint8_t)body->ptr[i];
	*body = slice_make(body->ptr + GRPC_PREFIX, body->len - GRPC_PREFIX);
	return take_bytes(body, len, message);
}

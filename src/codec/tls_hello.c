/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tls_hello.c - see tls_hello.h
 *
 *	record     type 22, version (2), length (2)
 *	handshake  type (1), length (3)
 *	hello      version (2), random (32), session id <1>, ciphers <2>, compressions <1>,
 *	           extensions <2>: type (2), data <2>
 *
 * <n> stands for a length of n bytes, followed by that many bytes.
 */
#include <string.h>
#include "codec/tls_hello.h"

#define RECORD_HEADER 5
#define HANDSHAKE_HEADER 4
#define RECORD_HANDSHAKE 22
#define RECORD_MAX 16384
#define CLIENT_HELLO 1
#define RANDOM_LEN 32

enum extension {
	EXT_SERVER_NAME = 0, EXT_GROUPS = 10, EXT_POINT_FORMATS = 11, EXT_SIGNATURES = 13,
	EXT_ALPN = 16, EXT_TICKET = 35, EXT_KEY_SHARE = 51,
};

/* Takes <len> bytes off <in>. */
static bool take(struct slice *in, size_t len, struct slice *out)
{
	if (in->len < len)
		return false;
	*out = slice_make(in->ptr, len);
	*in = slice_make(in->ptr + len, in->len - len);
	return true;
}

static bool take_number(struct slice *in, unsigned bytes, unsigned *out)
{
	struct slice s;

	if (!take(in, bytes, &s))
		return false;
	*out = 0;
	for (unsigned i = 0; i < bytes; i++)
		*out = *out << 8 | (uint8_t)s.ptr[i];
	return true;
}

/* Takes a length of <bytes> bytes and what it counts. */
static bool take_vector(struct slice *in, unsigned bytes, struct slice *out)
{
	unsigned len;

	return take_number(in, bytes, &len) && take(in, len, out);
}

/* The payload of the first record, maybe not all there; *whole gets its length. */
static enum tls_hello_status open_record(struct slice in, struct slice *payload, size_t *whole)
{
	if (in.len && (uint8_t)in.ptr[0] != RECORD_HANDSHAKE)
		return TLS_HELLO_NOT;
	if (in.len > 1 && (uint8_t)in.ptr[1] < 3)
		return TLS_HELLO_NOT;
	if (in.len < RECORD_HEADER)
		return TLS_HELLO_MORE;
	*whole = (size_t)(uint8_t)in.ptr[3] << 8 | (uint8_t)in.ptr[4];
	if (*whole < HANDSHAKE_HEADER || *whole > RECORD_MAX + 256)
		return TLS_HELLO_NOT;
	*payload = slice_sub(in, RECORD_HEADER, RECORD_HEADER + *whole);
	return TLS_HELLO_DONE;
}

enum tls_hello_status tls_hello_type(struct slice in, uint8_t *type)
{
	enum tls_hello_status status;
	struct slice payload;
	size_t whole;

	status = open_record(in, &payload, &whole);
	if (status != TLS_HELLO_DONE)
		return status;
	if (!payload.len)
		return TLS_HELLO_MORE;
	*type = (uint8_t)payload.ptr[0];
	return TLS_HELLO_DONE;
}

/* --- extensions --------------------------------------------------------------------------- */

/* The first name of the list, which must be one of a host. */
static bool read_server_name(struct slice data, struct slice *out)
{
	struct slice list;
	unsigned type;

	return take_vector(&data, 2, &list) && take_number(&list, 1, &type) && type == 0 &&
	       take_vector(&list, 2, out);
}

static bool read_extension(struct tls_hello *h, unsigned type, struct slice data)
{
	switch (type) {
	case EXT_SERVER_NAME:
		return h->server_name.ptr || read_server_name(data, &h->server_name);
	case EXT_GROUPS:
		return take_vector(&data, 2, &h->groups);
	case EXT_POINT_FORMATS:
		h->has_formats = true;
		return true;
	case EXT_SIGNATURES:
		return take_vector(&data, 2, &h->signatures);
	case EXT_ALPN:
		return take_vector(&data, 2, &h->alpn);
	case EXT_TICKET:
		h->ticket = data;
		return true;
	case EXT_KEY_SHARE:
		return take_vector(&data, 2, &h->key_shares);
	default:
		return true;
	}
}

static bool read_extensions(struct tls_hello *h, struct slice list)
{
	struct slice data;
	unsigned type;

	while (list.len)
		if (!take_number(&list, 2, &type) || !take_vector(&list, 2, &data) ||
		    !read_extension(h, type, data))
			return false;
	return true;
}

static bool read_hello(struct tls_hello *h, struct slice in)
{
	struct slice random, compressions, extensions;
	unsigned version;

	if (!take_number(&in, 2, &version) || !take(&in, RANDOM_LEN, &random) ||
	    !take_vector(&in, 1, &h->session_id) || !take_vector(&in, 2, &h->ciphers) ||
	    !take_vector(&in, 1, &compressions))
		return false;
	h->major = (uint8_t)(version >> 8);
	h->minor = (uint8_t)version;
	if (!in.len || version <= 0x300)
		return true; /* extensions may be left out, and SSLv3 has none */
	return take_vector(&in, 2, &extensions) && read_extensions(h, extensions);
}

size_t tls_hello_types(struct slice message, unsigned char *out, size_t room)
{
	struct slice hello, skipped, list = slice_none();
	size_t used = 0;
	unsigned type;

	if (!take_number(&message, 1, &type) || type != CLIENT_HELLO ||
	    !take_vector(&message, 3, &hello) || !take(&hello, 2 + RANDOM_LEN, &skipped) ||
	    !take_vector(&hello, 1, &skipped) || !take_vector(&hello, 2, &skipped) ||
	    !take_vector(&hello, 1, &skipped) || !take_vector(&hello, 2, &list))
		return 0;
	while (room - used >= 2 && take_number(&list, 2, &type) &&
	       take_vector(&list, 2, &skipped)) {
		out[used++] = (unsigned char)(type >> 8);
		out[used++] = (unsigned char)type;
	}
	return used;
}

enum tls_hello_status tls_hello_parse(struct slice in, struct tls_hello *out)
{
	enum tls_hello_status status;
	struct slice payload, hello;
	unsigned type;
	size_t whole;

	memset(out, 0, sizeof(*out));
	status = open_record(in, &payload, &whole);
	if (status != TLS_HELLO_DONE)
		return status;
	if (payload.len && (uint8_t)payload.ptr[0] != CLIENT_HELLO)
		return TLS_HELLO_NOT;
	if (payload.len < whole)
		return TLS_HELLO_MORE;
	if (!take_number(&payload, 1, &type) || !take_vector(&payload, 3, &hello))
		return TLS_HELLO_NOT;
	return read_hello(out, hello) ? TLS_HELLO_DONE : TLS_HELLO_NOT;
}

/* SSLv2: two bytes of length with the highest bit set, type 1, version. */
static enum tls_hello_status version_ssl2(struct slice in, uint32_t *version)
{
	if (in.len && !((uint8_t)in.ptr[0] & 0x80))
		return TLS_HELLO_NOT;
	if (in.len > 2 && in.ptr[2] != CLIENT_HELLO)
		return TLS_HELLO_NOT;
	if (in.len < 5)
		return TLS_HELLO_MORE;
	*version = (uint32_t)(uint8_t)in.ptr[3] << 16 | (uint8_t)in.ptr[4];
	return TLS_HELLO_DONE;
}

enum tls_hello_status tls_hello_version(struct slice in, uint32_t *version)
{
	struct tls_hello h;
	enum tls_hello_status status;

	if (in.len && (uint8_t)in.ptr[0] != RECORD_HANDSHAKE)
		return version_ssl2(in, version);
	status = tls_hello_parse(in, &h);
	*version = (uint32_t)h.major << 16 | h.minor;
	return status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proxyproto.c - parsing of PROXY protocol headers */
#include <arpa/inet.h>
#include "base/bug.h"
#include "base/hash.h"
#include "codec/proxyproto.h"
#include "proxyproto_priv.h"

static enum proxyproto_status proxyproto_fail(struct proxyproto *out, uint8_t error)
{
	out->error = error;
	return PROXYPROTO_ERROR;
}

/* Cuts the next word of a version 1 line at its single blank, or at the end of the line. */
static struct slice v1_word(struct slice *line)
{
	const char *blank = line->len ? memchr(line->ptr, ' ', line->len) : NULL;
	struct slice word = *line;

	if (!blank) {
		*line = slice_none();
		return word;
	}
	word.len = (size_t)(blank - line->ptr);
	line->ptr = blank + 1;
	line->len -= word.len + 1;
	return word;
}

static bool v1_address(struct slice word, bool v6, struct addr *out)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t bytes[16];

	if (word.len >= sizeof(text) || word.len == 0)
		return false;
	memcpy(text, word.ptr, word.len);
	text[word.len] = 0;
	if (strlen(text) != word.len || inet_pton(v6 ? AF_INET6 : AF_INET, text, bytes) != 1)
		return false;
	*out = v6 ? addr_from_v6(bytes, 0) : addr_from_v4(bytes, 0);
	return true;
}

/* Decimal, 0 to 65535, no leading zero. */
static bool v1_port(struct slice word, uint16_t *port)
{
	uint32_t value = 0;

	if (word.len == 0 || word.len > 5 || (word.len > 1 && word.ptr[0] == '0'))
		return false;
	for (size_t i = 0; i < word.len; i++) {
		if (!ascii_is_digit(word.ptr[i]))
			return false;
		value = value * 10 + (uint32_t)(word.ptr[i] - '0');
	}
	if (value > 65535)
		return false;
	*port = (uint16_t)value;
	return true;
}

/* The line without its CRLF and without "PROXY ". */
static enum proxyproto_status v1_fields(struct slice line, struct proxyproto *out)
{
	struct slice protocol = v1_word(&line);
	bool v6 = slice_eq(protocol, SLICE("TCP6"));

	if (slice_eq(protocol, SLICE("UNKNOWN")))
		return PROXYPROTO_DONE; /* the rest of the line must be ignored */
	if (!v6 && !slice_eq(protocol, SLICE("TCP4")))
		return proxyproto_fail(out, PROXYPROTO_ERR_PROTOCOL);
	if (!v1_address(v1_word(&line), v6, &out->source) ||
	    !v1_address(v1_word(&line), v6, &out->destination))
		return proxyproto_fail(out, PROXYPROTO_ERR_ADDRESS);
	if (!v1_port(v1_word(&line), &out->source.port) ||
	    !v1_port(v1_word(&line), &out->destination.port))
		return proxyproto_fail(out, PROXYPROTO_ERR_PORT);
	if (!slice_is_none(line))
		return proxyproto_fail(out, PROXYPROTO_ERR_LINE_END);
	return PROXYPROTO_DONE;
}

static enum proxyproto_status v1_parse(struct slice input, struct proxyproto *out)
{
	size_t look = input.len < PROXYPROTO_V1_MAX ? input.len : PROXYPROTO_V1_MAX;
	const char *lf = memchr(input.ptr, '\n', look);
	struct slice line;

	out->version = 1;
	if (!lf) {
		if (look == PROXYPROTO_V1_MAX)
			return proxyproto_fail(out, PROXYPROTO_ERR_TOO_LONG);
		return PROXYPROTO_MORE;
	}
	out->length = (size_t)(lf + 1 - input.ptr);
	line = slice_make(input.ptr + 6, (size_t)(lf - input.ptr) - 6);
	if (line.len == 0 || lf[-1] != '\r' || memchr(line.ptr, '\r', line.len - 1))
		return proxyproto_fail(out, PROXYPROTO_ERR_LINE_END);
	line.len--;
	return v1_fields(line, out);
}

static inline size_t read_be16(const char *at)
{
	return (size_t)((uint8_t)at[0] << 8 | (uint8_t)at[1]);
}

static inline uint32_t read_be32(const char *at)
{
	return (uint32_t)read_be16(at) << 16 | (uint32_t)read_be16(at + 2);
}

bool proxyproto_tlv_next(struct slice *tlvs, uint8_t *type, struct slice *value)
{
	size_t len;

	if (tlvs->len < 3)
		return false;
	len = read_be16(tlvs->ptr + 1);
	if (len > tlvs->len - 3)
		return false;
	*type = (uint8_t)tlvs->ptr[0];
	*value = slice_make(tlvs->ptr + 3, len);
	tlvs->ptr += 3 + len;
	tlvs->len -= 3 + len;
	return true;
}

struct slice proxyproto_tlv_find(struct slice tlvs, uint8_t type)
{
	struct slice value;
	uint8_t got;

	while (proxyproto_tlv_next(&tlvs, &got, &value))
		if (got == type)
			return value;
	return slice_none();
}

bool proxyproto_ssl_open(struct slice value, uint8_t *client, uint32_t *verify,
			 struct slice *inner)
{
	if (value.len < 5)
		return false;
	*client = (uint8_t)value.ptr[0];
	*verify = read_be32(value.ptr + 1);
	*inner = slice_make(value.ptr + 5, value.len - 5);
	return true;
}

/* Checks the TLVs' form and the checksum if there is one. */
static enum proxyproto_status v2_check_tlvs(struct slice header, struct proxyproto *out)
{
	static const char zeros[4];
	struct slice rest = out->tlvs, value;
	size_t before;
	uint32_t crc;
	uint8_t type;

	while (rest.len) {
		if (!proxyproto_tlv_next(&rest, &type, &value))
			return proxyproto_fail(out, PROXYPROTO_ERR_TLV);
		if (type != PROXYPROTO_TLV_CRC32C)
			continue;
		if (value.len != 4)
			return proxyproto_fail(out, PROXYPROTO_ERR_TLV);
		before = (size_t)(value.ptr - header.ptr);
		crc = hash_crc32c(0, header.ptr, before);
		crc = hash_crc32c(crc, zeros, 4);
		crc = hash_crc32c(crc, value.ptr + 4, out->length - before - 4);
		if (crc != read_be32(value.ptr))
			return proxyproto_fail(out, PROXYPROTO_ERR_CRC);
	}
	return PROXYPROTO_DONE;
}

static struct slice v2_path(const char *at)
{
	return slice_make(at, strnlen(at, V2_UNIX / 2));
}

/* Reads the addresses; returns how many bytes they take, or SIZE_MAX when <len> is too small. */
static size_t v2_addresses(const char *at, size_t len, uint8_t family, struct proxyproto *out)
{
	switch (family) {
	case V2_FAMILY_INET:
		if (len < V2_INET)
			return SIZE_MAX;
		out->source = addr_from_v4(at, (uint16_t)read_be16(at + 8));
		out->destination = addr_from_v4(at + 4, (uint16_t)read_be16(at + 10));
		return V2_INET;
	case V2_FAMILY_INET6:
		if (len < V2_INET6)
			return SIZE_MAX;
		out->source = addr_from_v6(at, (uint16_t)read_be16(at + 32));
		out->destination = addr_from_v6(at + 16, (uint16_t)read_be16(at + 34));
		return V2_INET6;
	case V2_FAMILY_UNIX:
		if (len < V2_UNIX)
			return SIZE_MAX;
		out->source.family = out->destination.family = ADDR_UNIX;
		out->source_path = v2_path(at);
		out->destination_path = v2_path(at + V2_UNIX / 2);
		return V2_UNIX;
	}
	return 0;
}

static enum proxyproto_status v2_parse(struct slice input, struct proxyproto *out)
{
	uint8_t command, family;
	size_t len, used;

	out->version = 2;
	if (input.len < 13)
		return PROXYPROTO_MORE;
	if (((uint8_t)input.ptr[12] >> 4) != 2)
		return proxyproto_fail(out, PROXYPROTO_ERR_VERSION);
	command = (uint8_t)input.ptr[12] & 15;
	if (command > 1)
		return proxyproto_fail(out, PROXYPROTO_ERR_COMMAND);
	if (input.len < PROXYPROTO_V2_FIXED)
		return PROXYPROTO_MORE;
	len = read_be16(input.ptr + 14);
	out->length = PROXYPROTO_V2_FIXED + len;
	if (input.len < out->length)
		return PROXYPROTO_MORE;
	if (command == 0) {
		out->local = true;
		return PROXYPROTO_DONE;
	}
	family = (uint8_t)input.ptr[13] >> 4;
	out->datagram = ((uint8_t)input.ptr[13] & 15) == 2;
	used = v2_addresses(input.ptr + PROXYPROTO_V2_FIXED, len, family, out);
	if (used == SIZE_MAX)
		return proxyproto_fail(out, PROXYPROTO_ERR_LENGTH);
	if (family > V2_FAMILY_UNIX)
		return proxyproto_fail(out, PROXYPROTO_ERR_ADDRESS);
	out->tlvs = slice_make(input.ptr + PROXYPROTO_V2_FIXED + used, len - used);
	return v2_check_tlvs(input, out);
}

/* Do the first bytes agree with <signature> as far as they go? */
static bool starts_like(struct slice input, struct slice signature)
{
	size_t len = input.len < signature.len ? input.len : signature.len;

	return len == 0 || memcmp(input.ptr, signature.ptr, len) == 0;
}

enum proxyproto_status proxyproto_parse(struct slice input, struct proxyproto *out)
{
	*out = (struct proxyproto){ 0 };
	if (starts_like(input, V1_SIGNATURE))
		return input.len < V1_SIGNATURE.len ? PROXYPROTO_MORE : v1_parse(input, out);
	if (starts_like(input, V2_SIGNATURE))
		return v2_parse(input, out);
	return proxyproto_fail(out, PROXYPROTO_ERR_SIGNATURE);
}

static const char *const proxyproto_errors[] = {
#define X(symbol, text) [PROXYPROTO_ERR_##symbol] = text,
	PROXYPROTO_ERRORS(X)
#undef X
};

const char *proxyproto_error_text(uint8_t error)
{
	return error < ARRAY_LEN(proxyproto_errors) ? proxyproto_errors[error] : "unknown error";
}

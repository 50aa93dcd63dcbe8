/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proxyproto_make.c - making of PROXY protocol headers */
#include <arpa/inet.h>
#include <stdio.h>
#include "base/bug.h"
#include "base/hash.h"
#include "codec/proxyproto.h"
#include "proxyproto_priv.h"

/* The address as IPv6, mapped (RFC 4291 2.5.5.2) when it is IPv4. */
static void put_v6(uint8_t *out, const struct addr *a)
{
	if (a->family == ADDR_INET6) {
		memcpy(out, a->v6, 16);
		return;
	}
	memset(out, 0, 10);
	out[10] = out[11] = 0xff;
	memcpy(out + 12, &a->v4, 4);
}

static bool is_inet_pair(const struct addr *source, const struct addr *destination)
{
	return source && destination && addr_is_inet(source) && addr_is_inet(destination);
}

static bool is_v4_pair(const struct addr *source, const struct addr *destination)
{
	return source->family == ADDR_INET && destination->family == ADDR_INET;
}

size_t proxyproto_make_v1(char *out, size_t room, const struct addr *source,
			  const struct addr *destination)
{
	char from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN];
	uint8_t bytes[16];
	bool v4;
	int len;

	if (!is_inet_pair(source, destination)) {
		len = snprintf(out, room, "PROXY UNKNOWN\r\n");
		return (size_t)len < room ? (size_t)len : 0;
	}
	v4 = is_v4_pair(source, destination);
	if (v4) {
		inet_ntop(AF_INET, &source->v4, from, sizeof(from));
		inet_ntop(AF_INET, &destination->v4, to, sizeof(to));
	} else {
		put_v6(bytes, source);
		inet_ntop(AF_INET6, bytes, from, sizeof(from));
		put_v6(bytes, destination);
		inet_ntop(AF_INET6, bytes, to, sizeof(to));
	}
	len = snprintf(out, room, "PROXY TCP%c %s %s %u %u\r\n", v4 ? '4' : '6', from, to,
		       source->port, destination->port);
	return (size_t)len < room ? (size_t)len : 0;
}

/* Room for <len> more bytes, or NULL with overflow set. */
static uint8_t *v2_take(struct proxyproto_writer *w, size_t len)
{
	uint8_t *at = w->out + w->len;

	if (w->overflow || w->room - w->len < len) {
		w->overflow = true;
		return NULL;
	}
	w->len += len;
	return at;
}

static void write_be16(uint8_t *at, size_t v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

static void write_be32(uint8_t *at, uint32_t v)
{
	write_be16(at, v >> 16);
	write_be16(at + 2, v & 0xffff);
}

void proxyproto_v2_begin(struct proxyproto_writer *w, void *out, size_t room,
			 const struct addr *source, const struct addr *destination)
{
	bool inet = is_inet_pair(source, destination);
	bool v4 = inet && is_v4_pair(source, destination);
	uint8_t *at;

	*w = (struct proxyproto_writer){ .out = out, .room = room };
	at = v2_take(w, PROXYPROTO_V2_FIXED);
	if (!at)
		return;
	memcpy(at, V2_SIGNATURE.ptr, 12);
	at[12] = source ? 0x21 : 0x20;
	at[13] = 0;
	if (!inet)
		return;
	at[13] = (uint8_t)((v4 ? V2_FAMILY_INET : V2_FAMILY_INET6) << 4 | V2_STREAM);
	at = v2_take(w, v4 ? V2_INET : V2_INET6);
	if (!at)
		return;
	if (v4) {
		memcpy(at, &source->v4, 4);
		memcpy(at + 4, &destination->v4, 4);
		at += 8;
	} else {
		put_v6(at, source);
		put_v6(at + 16, destination);
		at += 32;
	}
	write_be16(at, source->port);
	write_be16(at + 2, destination->port);
}

void proxyproto_v2_tlv(struct proxyproto_writer *w, uint8_t type, struct slice value)
{
	uint8_t *at;

	if (value.len > UINT16_MAX)
		w->overflow = true;
	at = v2_take(w, 3 + value.len);
	if (!at)
		return;
	at[0] = type;
	write_be16(at + 1, value.len);
	if (value.len)
		memcpy(at + 3, value.ptr, value.len);
}

void proxyproto_v2_ssl_begin(struct proxyproto_writer *w, uint8_t client, uint32_t verify)
{
	uint8_t *at = v2_take(w, 8);

	BUG_ON(w->nested);
	if (!at)
		return;
	w->nested = (size_t)(at - w->out);
	at[0] = PROXYPROTO_TLV_SSL;
	at[3] = client;
	write_be32(at + 4, verify);
}

void proxyproto_v2_ssl_end(struct proxyproto_writer *w)
{
	if (w->overflow)
		return;
	BUG_ON(!w->nested);
	if (w->len - w->nested - 3 > UINT16_MAX)
		w->overflow = true;
	write_be16(w->out + w->nested + 1, w->len - w->nested - 3);
	w->nested = 0;
}

void proxyproto_v2_crc32c(struct proxyproto_writer *w)
{
	static const char zeros[4];

	BUG_ON(w->crc || w->nested);
	proxyproto_v2_tlv(w, PROXYPROTO_TLV_CRC32C, slice_make(zeros, 4));
	if (!w->overflow)
		w->crc = w->len - 4;
}

size_t proxyproto_v2_end(struct proxyproto_writer *w)
{
	if (w->overflow || w->len - PROXYPROTO_V2_FIXED > UINT16_MAX)
		return 0;
	BUG_ON(w->nested);
	write_be16(w->out + 14, w->len - PROXYPROTO_V2_FIXED);
	if (w->crc)
		write_be32(w->out + w->crc, hash_crc32c(0, w->out, w->len));
	return w->len;
}

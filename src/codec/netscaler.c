/* SPDX-License-Identifier: GPL-2.0-or-later */
/* netscaler.c - parsing of NetScaler's client address headers */
#include <netinet/in.h>
#include "codec/netscaler.h"

static uint32_t read_u16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t read_u32(const uint8_t *p)
{
	return read_u16(p) << 16 | read_u16(p + 2);
}

/* The IP header of <room> bytes at <p>, and the ports behind it. */
static enum netscaler_status parse_ip(const uint8_t *p, size_t room, struct netscaler *out)
{
	size_t ip_len = p[0] >> 4 == 4 ? (size_t)(p[0] & 0xf) * 4 : 40;
	bool v6 = p[0] >> 4 == 6;

	if ((!v6 && (p[0] >> 4 != 4 || ip_len < 20)) || room < ip_len + 4)
		return NETSCALER_PROTOCOL;
	if (p[v6 ? 6 : 9] != IPPROTO_TCP)
		return NETSCALER_PROTOCOL;
	if (v6) {
		out->source = addr_from_v6(p + 8, (uint16_t)read_u16(p + ip_len));
		out->destination = addr_from_v6(p + 24, (uint16_t)read_u16(p + ip_len + 2));
	} else {
		out->source = addr_from_v4(p + 12, (uint16_t)read_u16(p + ip_len));
		out->destination = addr_from_v4(p + 16, (uint16_t)read_u16(p + ip_len + 2));
	}
	return NETSCALER_DONE;
}

enum netscaler_status netscaler_parse(struct slice input, uint32_t magic, struct netscaler *out)
{
	const uint8_t *p = (const uint8_t *)input.ptr;
	size_t head = 8, len;

	for (size_t i = 0; i < 4 && i < input.len; i++)
		if (p[i] != (uint8_t)(magic >> (24 - 8 * i)))
			return NETSCALER_MAGIC;
	if (input.len < 9)
		return NETSCALER_MORE;
	len = read_u32(p + 4);
	if (p[8] >> 4 != 4 && p[8] >> 4 != 6) {
		head = 12;
		if (input.len < head)
			return NETSCALER_MORE;
		len = read_u16(p + 10);
	}
	if (len < 24 || len > NETSCALER_MAX - head)
		return NETSCALER_PROTOCOL;
	if (input.len < head + len)
		return NETSCALER_MORE;
	out->length = head + len;
	return parse_ip(p + head, len, out);
}

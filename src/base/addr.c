/* SPDX-License-Identifier: GPL-2.0-or-later */
/* addr.c - internet addresses and the configuration's address syntax */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/un.h>
#include "base/addr.h"
#include "base/bug.h"
#include "base/hash.h"

static size_t addr_size(const struct addr *a)
{
	return a->family == ADDR_INET ? 4 : a->family == ADDR_INET6 ? 16 : 0;
}

bool addr_eq_ip(const struct addr *a, const struct addr *b)
{
	return a->family == b->family && a->scope == b->scope &&
	       memcmp(a->v6, b->v6, addr_size(a)) == 0;
}

bool addr_eq(const struct addr *a, const struct addr *b)
{
	return a->port == b->port && addr_eq_ip(a, b);
}

int addr_cmp(const struct addr *a, const struct addr *b)
{
	int order;

	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	order = memcmp(a->v6, b->v6, addr_size(a));
	if (order)
		return order;
	if (a->scope != b->scope)
		return a->scope < b->scope ? -1 : 1;
	return (a->port > b->port) - (a->port < b->port);
}

uint64_t addr_hash_ip(const struct addr *a, uint64_t seed)
{
	return hash_bytes(a->v6, addr_size(a), seed ^ a->family);
}

bool addr_is_any(const struct addr *a)
{
	static const uint8_t zeros[16];

	return addr_is_inet(a) && memcmp(a->v6, zeros, addr_size(a)) == 0;
}

static const uint8_t mapped_prefix[12] = { [10] = 0xff, [11] = 0xff };

struct addr addr_to_v6(const struct addr *a)
{
	struct addr out = *a;

	if (a->family != ADDR_INET)
		return out;
	out.family = ADDR_INET6;
	memcpy(out.v6, mapped_prefix, 12);
	memcpy(out.v6 + 12, &a->v4, 4);
	return out;
}

struct addr addr_unmapped(const struct addr *a)
{
	if (a->family != ADDR_INET6 || memcmp(a->v6, mapped_prefix, 12) != 0)
		return *a;
	return addr_from_v4(a->v6 + 12, a->port);
}

/* Clears all but the first <bits4> bits of an IPv4 address or <bits6> of an IPv6 one. */
static void addr_mask(struct addr *a, unsigned bits4, unsigned bits6)
{
	unsigned bits = a->family == ADDR_INET ? bits4 : bits6;

	for (size_t i = 0; i < addr_size(a); i++) {
		if (bits < 8)
			a->v6[i] &= (uint8_t)(0xff00 >> bits);
		bits -= bits < 8 ? bits : 8;
	}
}

bool addr_is_in(const struct addr *a, const struct addr *net, unsigned bits)
{
	struct addr masked = *a, low = *net;

	if (a->family != net->family)
		return false;
	addr_mask(&masked, bits, bits);
	addr_mask(&low, bits, bits);
	return memcmp(masked.v6, low.v6, addr_size(a)) == 0;
}

size_t addr_put_ipv4(uint32_t ip, char out[ADDR_IPV4_MAX])
{
	const uint8_t *bytes = (const uint8_t *)&ip;
	char *at = out;

	for (int i = 0; i < 4; i++) {
		unsigned v = bytes[i];

		if (v >= 100)
			*at++ = (char)('0' + v / 100);
		if (v >= 10)
			*at++ = (char)('0' + v / 10 % 10);
		*at++ = (char)('0' + v % 10);
		*at++ = '.';
	}
	*--at = 0;
	return (size_t)(at - out);
}

size_t addr_put_ip(const struct addr *a, char *out, size_t size)
{
	if (size == 0)
		return 0;
	out[0] = 0;
	switch (a->family) {
	case ADDR_INET:
		if (size >= ADDR_IPV4_MAX)
			return addr_put_ipv4(a->v4, out);
		inet_ntop(AF_INET, &a->v4, out, (socklen_t)size);
		break;
	case ADDR_INET6:
		inet_ntop(AF_INET6, a->v6, out, (socklen_t)size);
		break;
	case ADDR_UNIX:
		snprintf(out, size, "unix");
		break;
	}
	return strlen(out);
}

size_t addr_put(const struct addr *a, char *out, size_t size)
{
	char ip[ADDR_IP_MAX];
	int len;

	addr_put_ip(a, ip, sizeof(ip));
	if (!addr_is_inet(a))
		len = snprintf(out, size, "%s", ip);
	else if (a->family == ADDR_INET)
		len = snprintf(out, size, "%s:%u", ip, a->port);
	else
		len = snprintf(out, size, "[%s]:%u", ip, a->port);
	return (size_t)len < size ? (size_t)len : size ? size - 1 : 0;
}

bool addr_parse_ip(struct slice text, uint8_t family, struct addr *out)
{
	char copy[ADDR_IP_MAX];
	uint8_t bytes[16];

	if (text.len == 0 || text.len >= sizeof(copy) || memchr(text.ptr, 0, text.len))
		return false;
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = 0;
	if (family != ADDR_INET6 && inet_pton(AF_INET, copy, bytes) == 1) {
		*out = addr_from_v4(bytes, 0);
		return true;
	}
	if (family != ADDR_INET && inet_pton(AF_INET6, copy, bytes) == 1) {
		*out = addr_from_v6(bytes, 0);
		return true;
	}
	return false;
}

bool addr_parse_short_ip(struct slice text, struct addr *out)
{
	uint8_t octets[4] = { 0 };
	unsigned n = 0, digits = 0, number = 0;

	for (size_t i = 0; i <= text.len; i++) {
		if (i < text.len && ascii_is_digit(text.ptr[i])) {
			if (digits++ && !number)
				return false; /* octal for some */
			number = number * 10 + (unsigned)(text.ptr[i] - '0');
			if (number > 255)
				return false;
			continue;
		}
		if (!digits || n == 4 || (i < text.len && text.ptr[i] != '.'))
			return false;
		octets[n++] = (uint8_t)number;
		digits = number = 0;
	}
	if (n < 4) {
		octets[3] = octets[n - 1];
		octets[n - 1] = 0;
	}
	*out = addr_from_v4(octets, 0);
	return true;
}

/* The number of leading ones of a dotted mask; -1: not contiguous. */
static int mask_bits(uint32_t mask)
{
	uint32_t host = ntohl(mask);

	if (~host & (~host + 1))
		return -1;
	return __builtin_popcount(host);
}

bool addr_parse_network(struct slice text, struct addr *net, unsigned *bits)
{
	const char *slash = text.len ? memchr(text.ptr, '/', text.len) : NULL;
	struct slice mask = slice_none();
	unsigned most, value = 0;
	struct addr dotted;
	int count;

	if (slash) {
		mask = slice_make(slash + 1, text.len - (size_t)(slash + 1 - text.ptr));
		text.len = (size_t)(slash - text.ptr);
	}
	if (!addr_parse_ip(text, ADDR_NONE, net))
		return false;
	most = net->family == ADDR_INET ? 32 : 128;
	*bits = most;
	if (!slash)
		return true;
	if (net->family == ADDR_INET && addr_parse_ip(mask, ADDR_INET, &dotted)) {
		count = mask_bits(dotted.v4);
		if (count < 0)
			return false;
		value = (unsigned)count;
	} else {
		if (mask.len == 0 || mask.len > 3)
			return false;
		for (size_t i = 0; i < mask.len; i++) {
			if (!ascii_is_digit(mask.ptr[i]))
				return false;
			value = value * 10 + (unsigned)(mask.ptr[i] - '0');
		}
	}
	if (value > most)
		return false;
	*bits = value;
	addr_mask(net, value, value);
	return true;
}

socklen_t addr_to_sockaddr(const struct addr *a, struct sockaddr_storage *ss)
{
	struct sockaddr_in *in = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;

	memset(ss, 0, sizeof(*ss));
	switch (a->family) {
	case ADDR_INET:
		in->sin_family = AF_INET;
		in->sin_port = htons(a->port);
		in->sin_addr.s_addr = a->v4;
		return sizeof(*in);
	case ADDR_INET6:
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(a->port);
		in6->sin6_scope_id = a->scope;
		memcpy(&in6->sin6_addr, a->v6, 16);
		return sizeof(*in6);
	}
	return 0;
}

struct addr addr_from_sockaddr(const void *sockaddr, socklen_t len)
{
	const struct sockaddr *sa = sockaddr;
	const struct sockaddr_in *in = sockaddr;
	const struct sockaddr_in6 *in6 = sockaddr;
	struct addr out = { 0 };

	if (len < (socklen_t)sizeof(sa->sa_family))
		return out;
	if (sa->sa_family == AF_INET && len >= (socklen_t)sizeof(*in)) {
		out = addr_from_v4(&in->sin_addr, ntohs(in->sin_port));
	} else if (sa->sa_family == AF_INET6 && len >= (socklen_t)sizeof(*in6)) {
		out = addr_from_v6(&in6->sin6_addr, ntohs(in6->sin6_port));
		out.scope = in6->sin6_scope_id;
	} else if (sa->sa_family == AF_UNIX) {
		out.family = ADDR_UNIX;
	}
	return out;
}

bool addr_spec_to_any(const struct addr_spec *spec, uint16_t port, struct addr_any *out)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&out->ss;
	struct addr ip = spec->addr;
	bool abstract = spec->kind == ADDR_KIND_ABNS || spec->kind == ADDR_KIND_ABNSZ;

	memset(out, 0, sizeof(*out));
	if (spec->kind == ADDR_KIND_IP) {
		ip.port = port;
		out->len = addr_to_sockaddr(&ip, &out->ss);
		return out->len != 0;
	}
	if (!abstract && spec->kind != ADDR_KIND_UNIX)
		return false;
	if (spec->text.len >= sizeof(un->sun_path))
		return false;
	un->sun_family = AF_UNIX;
	if (spec->text.len)
		memcpy(un->sun_path + abstract, spec->text.ptr, spec->text.len);
	out->len = sizeof(*un);
	if (spec->kind == ADDR_KIND_ABNSZ)
		out->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				       spec->text.len);
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample.c - types of samples and the casts between them (manual 7.3) */
#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include "base/addr.h"
#include "base/bug.h"
#include "expr_priv.h"

static const char *const type_names[SMP_TYPES] = {
	[SMP_ANY] = "any", [SMP_BOOL] = "bool", [SMP_INT] = "sint", [SMP_IPV4] = "ipv4",
	[SMP_IPV6] = "ipv6", [SMP_ADDR] = "addr", [SMP_STR] = "str", [SMP_BIN] = "bin",
	[SMP_METH] = "meth",
};

static const char *const method_names[] = {
	"", "OPTIONS", "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "CONNECT", "PATCH",
};

const char *sample_type_name(enum sample_type t)
{
	return t < SMP_TYPES ? type_names[t] : "?";
}

#define T(type) (1u << SMP_##type)
static const unsigned casts[SMP_TYPES] = {
	[SMP_ANY] = ~0u,
	[SMP_BOOL] = T(ANY) | T(BOOL) | T(INT) | T(STR) | T(BIN),
	[SMP_INT] = T(ANY) | T(BOOL) | T(INT) | T(ADDR) | T(IPV4) | T(IPV6) | T(STR) | T(BIN),
	[SMP_ADDR] = T(ANY) | T(ADDR) | T(IPV4) | T(IPV6) | T(STR) | T(BIN),
	[SMP_IPV4] = T(ANY) | T(INT) | T(ADDR) | T(IPV4) | T(IPV6) | T(STR) | T(BIN),
	[SMP_IPV6] = T(ANY) | T(ADDR) | T(IPV4) | T(IPV6) | T(STR) | T(BIN),
	[SMP_STR] = ~0u,
	[SMP_BIN] = T(ANY) | T(STR) | T(BIN) | T(METH),
	[SMP_METH] = T(ANY) | T(STR) | T(BIN) | T(METH),
};
#undef T

bool sample_can_cast(enum sample_type from, enum sample_type to)
{
	return casts[from] >> to & 1;
}

/* Digits after an optional sign, up to the first other character; saturates. */
static int64_t text_to_int(struct slice s)
{
	bool negative = false;
	uint64_t v = 0, limit;
	size_t i = 0;

	if (s.len && (s.ptr[0] == '-' || s.ptr[0] == '+'))
		negative = s.ptr[i++] == '-';
	limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
	for (; i < s.len && ascii_is_digit(s.ptr[i]); i++) {
		unsigned digit = (unsigned)(s.ptr[i] - '0');

		if (v > (limit - digit) / 10) {
			v = limit;
			break;
		}
		v = v * 10 + digit;
	}
	return negative ? (int64_t)(0 - v) : (int64_t)v;
}

/* Four decimal numbers with dots between; what comes behind does not matter unless it is another
 * dot: a proxy in front may add a port, or the next address of a list. Zeros in front are accepted.
 */
static bool text_to_ipv4(struct slice s, uint32_t *ip4)
{
	uint8_t bytes[4];
	size_t at = 0;

	for (unsigned n = 0; n < 4; n++) {
		unsigned number = 0;
		size_t start;

		if (n && (at == s.len || s.ptr[at++] != '.'))
			return false;
		for (start = at; at < s.len && ascii_is_digit(s.ptr[at]); at++) {
			number = number * 10 + (unsigned)(s.ptr[at] - '0');
			if (number > 255)
				return false;
		}
		if (at == start)
			return false;
		bytes[n] = (uint8_t)number;
	}
	if (at < s.len && (s.ptr[at] == '.' || !s.ptr[at]))
		return false;
	memcpy(ip4, bytes, sizeof(bytes));
	return true;
}

static bool text_to_addr(struct slice s, struct sample *out, bool v4, bool v6)
{
	char text[INET6_ADDRSTRLEN + 1];

	if (v4 && text_to_ipv4(s, &out->ipv4)) {
		out->type = SMP_IPV4;
		return true;
	}
	if (!s.len || s.len >= sizeof(text) || memchr(s.ptr, 0, s.len))
		return false;
	slice_copy(s, text, sizeof(text));
	if (v6 && inet_pton(AF_INET6, text, out->ipv6) == 1) {
		out->type = SMP_IPV6;
		return true;
	}
	return false;
}

/* ::ffff:a.b.c.d, ::a.b.c.d and 2002:ab:cd:: hold an IPv4 address. */
static bool ipv6_to_ipv4(const uint8_t ip6[16], uint32_t *ip4)
{
	static const uint8_t zero[12], mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (memcmp(ip6, zero, 12) == 0 || memcmp(ip6, mapped, 12) == 0) {
		memcpy(ip4, ip6 + 12, 4);
		return true;
	}
	if (ip6[0] == 0x20 && ip6[1] == 0x02) {
		memcpy(ip4, ip6 + 2, 4);
		return true;
	}
	return false;
}

static void ipv4_to_ipv6(uint32_t ip4, uint8_t ip6[16])
{
	memset(ip6, 0, 10);
	ip6[10] = ip6[11] = 0xff;
	memcpy(ip6 + 12, &ip4, 4);
}

struct slice sample_method_name(const struct sample *s)
{
	if (s->method > 0 && s->method < (int)ARRAY_LEN(method_names))
		return slice_of(method_names[s->method]);
	return s->text;
}

int sample_method_find(struct slice name)
{
	for (unsigned i = 1; i < ARRAY_LEN(method_names); i++)
		if (slice_eq(name, slice_of(method_names[i])))
			return (int)i;
	return 0;
}

static bool set_text(struct sample *s, enum sample_type type, struct slice text)
{
	s->type = type;
	s->text = text;
	s->flags |= SMP_CONST;
	return text.ptr != NULL;
}

static bool cast_to_text(struct sample *s, struct arena *arena)
{
	char text[INET6_ADDRSTRLEN + 8] = "";
	struct strbuf number;
	const char *nul;

	switch (s->type) {
	case SMP_STR:
		return true;
	case SMP_BIN:
		nul = s->text.len ? memchr(s->text.ptr, 0, s->text.len) : NULL;
		if (nul)
			s->text.len = (size_t)(nul - s->text.ptr);
		s->type = SMP_STR;
		return true;
	case SMP_METH:
		return set_text(s, SMP_STR, sample_method_name(s));
	case SMP_BOOL:
		return set_text(s, SMP_STR, s->boolean ? SLICE("1") : SLICE("0"));
	case SMP_INT:
		strbuf_init_fixed(&number, text, sizeof(text));
		strbuf_add_int(&number, s->integer);
		break;
	case SMP_IPV4:
		addr_put_ipv4(s->ipv4, text);
		break;
	case SMP_IPV6:
		inet_ntop(AF_INET6, s->ipv6, text, sizeof(text));
		break;
	default:
		return false;
	}
	return set_text(s, SMP_STR, arena_copy(arena, slice_of(text)));
}

static bool cast_to_bytes(struct sample *s, struct arena *arena)
{
	uint64_t be;

	switch (s->type) {
	case SMP_STR:
	case SMP_BIN:
		s->type = SMP_BIN;
		return true;
	case SMP_METH:
		return set_text(s, SMP_BIN, sample_method_name(s));
	case SMP_BOOL:
	case SMP_INT:
		be = htobe64((uint64_t)(s->type == SMP_BOOL ? s->boolean : s->integer));
		return set_text(s, SMP_BIN, arena_copy(arena, slice_make((char *)&be, sizeof(be))));
	case SMP_IPV4:
		return set_text(s, SMP_BIN, arena_copy(arena, slice_make((char *)&s->ipv4, 4)));
	case SMP_IPV6:
		return set_text(s, SMP_BIN, arena_copy(arena, slice_make((char *)s->ipv6, 16)));
	default:
		return false;
	}
}

static bool cast_to_int(struct sample *s)
{
	switch (s->type) {
	case SMP_INT:
		return true;
	case SMP_BOOL:
		s->integer = s->boolean;
		break;
	case SMP_IPV4:
		s->integer = ntohl(s->ipv4);
		break;
	case SMP_STR:
		if (!s->text.len)
			return false;
		s->integer = text_to_int(s->text);
		break;
	default:
		return false;
	}
	s->type = SMP_INT;
	return true;
}

static bool cast_to_ipv4(struct sample *s)
{
	uint32_t ip = 0;

	switch (s->type) {
	case SMP_IPV4:
		return true;
	case SMP_INT:
		s->ipv4 = htonl((uint32_t)s->integer);
		break;
	case SMP_IPV6:
		if (!ipv6_to_ipv4(s->ipv6, &ip))
			return false;
		s->ipv4 = ip;
		break;
	case SMP_STR:
		return text_to_addr(s->text, s, true, false);
	default:
		return false;
	}
	s->type = SMP_IPV4;
	return true;
}

static bool cast_to_ipv6(struct sample *s)
{
	uint32_t ip;

	if (s->type == SMP_IPV6)
		return true;
	if (s->type == SMP_STR)
		return text_to_addr(s->text, s, false, true);
	if (s->type != SMP_IPV4 && s->type != SMP_INT)
		return false;
	ip = s->type == SMP_IPV4 ? s->ipv4 : htonl((uint32_t)s->integer);
	ipv4_to_ipv6(ip, s->ipv6);
	s->type = SMP_IPV6;
	return true;
}

static bool cast_to_method(struct sample *s)
{
	if (s->type == SMP_METH)
		return true;
	if (s->type != SMP_STR && s->type != SMP_BIN)
		return false;
	s->method = sample_method_find(s->text);
	s->type = SMP_METH;
	return true;
}

bool sample_cast(struct sample *s, enum sample_type to, struct arena *arena)
{
	switch (to) {
	case SMP_ANY:
		return true;
	case SMP_BOOL:
		if (s->type == SMP_BOOL)
			return true;
		/* the number of an address is none to ask for truth */
		if (s->type == SMP_IPV4 || !cast_to_int(s))
			return false;
		s->type = SMP_BOOL;
		s->boolean = s->integer != 0;
		return true;
	case SMP_INT:
		return cast_to_int(s);
	case SMP_IPV4:
		return cast_to_ipv4(s);
	case SMP_IPV6:
		return cast_to_ipv6(s);
	case SMP_ADDR:
		if (s->type == SMP_IPV4 || s->type == SMP_IPV6)
			return true;
		if (s->type == SMP_STR)
			return text_to_addr(s->text, s, true, true);
		return cast_to_ipv4(s);
	case SMP_STR:
		return cast_to_text(s, arena);
	case SMP_BIN:
		return cast_to_bytes(s, arena);
	case SMP_METH:
		return cast_to_method(s);
	default:
		return false;
	}
}

bool sample_to_addr(struct sample *s, struct arena *arena, struct addr *out)
{
	if (s->type != SMP_IPV4 && s->type != SMP_IPV6 && !sample_cast(s, SMP_ADDR, arena))
		return false;
	if (s->type == SMP_IPV4)
		*out = addr_from_v4(&s->ipv4, 0);
	else if (s->type == SMP_IPV6)
		*out = addr_from_v6(s->ipv6, 0);
	else
		return false;
	return true;
}

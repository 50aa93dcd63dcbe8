/* SPDX-License-Identifier: GPL-2.0-or-later */
/* addr_parse.c - the configuration's address syntax: "[type+]family@address[:port]" (manual 2.9) */
#include <stdarg.h>
#include <stdio.h>
#include <sys/un.h>
#include "base/addr.h"
#include "base/bug.h"

/* What a family prefix decides. */
struct prefix {
	struct slice name;
	uint8_t kind, family;
	enum { TYPE_ANY, TYPE_STREAM, TYPE_DGRAM, TYPE_QUIC, TYPE_REVERSE } type;
	bool mptcp;
};

#define P(text, kind_, family_, type_) \
	{ .name = { text, sizeof(text) - 1 }, .kind = ADDR_KIND_##kind_, .family = family_, \
	  .type = type_ }
#define M(text, family_) \
	{ .name = { text, sizeof(text) - 1 }, .kind = ADDR_KIND_IP, .family = family_, \
	  .type = TYPE_STREAM, .mptcp = true }

static const struct prefix prefixes[] = {
	P("ip@", IP, ADDR_NONE, TYPE_ANY),
	P("ipv4@", IP, ADDR_INET, TYPE_ANY),
	P("ipv6@", IP, ADDR_INET6, TYPE_ANY),
	P("tcp@", IP, ADDR_NONE, TYPE_STREAM),
	P("tcp4@", IP, ADDR_INET, TYPE_STREAM),
	P("tcp6@", IP, ADDR_INET6, TYPE_STREAM),
	P("udp@", IP, ADDR_NONE, TYPE_DGRAM),
	P("udp4@", IP, ADDR_INET, TYPE_DGRAM),
	P("udp6@", IP, ADDR_INET6, TYPE_DGRAM),
	M("mptcp@", ADDR_NONE),
	M("mptcp4@", ADDR_INET),
	M("mptcp6@", ADDR_INET6),
	P("unix@", UNIX, ADDR_UNIX, TYPE_ANY),
	P("uxst@", UNIX, ADDR_UNIX, TYPE_STREAM),
	P("uxdg@", UNIX, ADDR_UNIX, TYPE_DGRAM),
	P("abns@", ABNS, ADDR_UNIX, TYPE_ANY),
	P("abnsz@", ABNSZ, ADDR_UNIX, TYPE_ANY),
	P("fd@", FD, ADDR_NONE, TYPE_ANY),
	P("sockpair@", SOCKPAIR, ADDR_NONE, TYPE_ANY),
	P("quic4@", IP, ADDR_INET, TYPE_QUIC),
	P("quic6@", IP, ADDR_INET6, TYPE_QUIC),
	P("rhttp@", IP, ADDR_NONE, TYPE_REVERSE),
};

/* The state of one parse. */
struct parse {
	struct addr_parse *p;
	struct slice whole; /* for messages */
	struct addr_spec *out;
	bool quic;
};

__attribute__((format(printf, 2, 3)))
static bool refuse(struct parse *x, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(x->p->error, sizeof(x->p->error), fmt, ap);
	va_end(ap);
	return false;
}

static bool take(struct slice *s, struct slice prefix)
{
	if (s->len < prefix.len || memcmp(s->ptr, prefix.ptr, prefix.len) != 0)
		return false;
	s->ptr += prefix.len;
	s->len -= prefix.len;
	return true;
}

/* Up to 6 digits; false: something else. */
static bool read_number(struct slice s, unsigned *value)
{
	if (s.len == 0)
		return false;
	*value = 0;
	for (size_t i = 0; i < s.len; i++) {
		if (!ascii_is_digit(s.ptr[i]))
			return false;
		if (*value < 1000000)
			*value = *value * 10 + (unsigned)(s.ptr[i] - '0');
	}
	return true;
}

static bool parse_fd(struct parse *x, struct slice text)
{
	unsigned fd;

	if (x->out->kind == ADDR_KIND_FD && !(x->p->options & ADDR_OPT_FD))
		return refuse(x, "a file descriptor is not acceptable here in '%.*s'",
			      SLICE_FMT(x->whole));
	if (!read_number(text, &fd))
		return refuse(x, "file descriptor '%.*s' is not a valid integer in '%.*s'",
			      SLICE_FMT(text), SLICE_FMT(x->whole));
	x->out->fd = (int)fd;
	return true;
}

static bool parse_path(struct parse *x, struct slice text)
{
	/* an abstract name starts with a NUL, and a path ends with one */
	size_t most = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;

	if (text.len > most)
		return refuse(x, "socket path '%.*s' too long (max %zu)", SLICE_FMT(text), most);
	if (text.len && memchr(text.ptr, 0, text.len))
		return refuse(x, "NUL byte in socket path");
	x->out->text = text;
	return true;
}

static bool parse_port_offset(struct parse *x, struct slice port)
{
	struct slice digits = slice_sub(port, 1, port.len);
	unsigned value;

	if (!(x->p->options & ADDR_OPT_PORT_OFFSET))
		return refuse(x, "port offset not permitted here in '%.*s'",
			      SLICE_FMT(x->whole));
	if (!read_number(digits, &value) || value > 65535)
		return refuse(x, "invalid port '%.*s'", SLICE_FMT(port));
	x->out->port_form = ADDR_PORT_OFFSET;
	x->out->port_offset = port.ptr[0] == '-' ? -(int)value : (int)value;
	return true;
}

/* "low" or "low-high"; <dash> is where the dash is. */
static bool parse_port_range(struct parse *x, struct slice port, size_t dash)
{
	struct slice low_text = slice_sub(port, 0, dash);
	bool range = dash < port.len;
	unsigned low, high;

	if (range && !(x->p->options & ADDR_OPT_PORT_RANGE))
		return refuse(x, "port range not permitted here in '%.*s'",
			      SLICE_FMT(x->whole));
	if (!read_number(low_text, &low))
		return refuse(x, "invalid port '%.*s'", SLICE_FMT(port));
	high = low;
	if (range && !read_number(slice_sub(port, dash + 1, port.len), &high))
		return refuse(x, "invalid port range '%.*s'", SLICE_FMT(port));
	if (low > 65535 || (low == 0 && (x->p->options & ADDR_OPT_PORT_REQUIRED)))
		return refuse(x, "invalid port '%.*s'", SLICE_FMT(port));
	if (high > 65535 || high < low)
		return refuse(x, "invalid port range '%.*s'", SLICE_FMT(port));
	x->out->port_form = range ? ADDR_PORT_RANGE : ADDR_PORT_FIXED;
	x->out->port = (uint16_t)low;
	x->out->port_high = (uint16_t)high;
	return true;
}

static bool parse_port(struct parse *x, struct slice port)
{
	size_t dash = 0;

	if (port.len == 0) {
		if (x->p->options & ADDR_OPT_PORT_REQUIRED)
			return refuse(x, "missing port specification in '%.*s'",
				      SLICE_FMT(x->whole));
		return true;
	}
	if (!(x->p->options & (ADDR_OPT_PORT | ADDR_OPT_PORT_REQUIRED)))
		return refuse(x, "port specification not permitted here in '%.*s'",
			      SLICE_FMT(x->whole));
	if (port.ptr[0] == '+' || port.ptr[0] == '-')
		return parse_port_offset(x, port);
	while (dash < port.len && ascii_is_digit(port.ptr[dash]))
		dash++;
	if (dash == 0 || (dash < port.len && port.ptr[dash] != '-'))
		return refuse(x, "invalid character '%c' in port number '%.*s' in '%.*s'",
			      port.ptr[dash], SLICE_FMT(port), SLICE_FMT(x->whole));
	return parse_port_range(x, port, dash);
}

static bool parse_host(struct parse *x, struct slice host)
{
	static const uint8_t zeros[16];
	struct addr_spec *out = x->out;
	struct slice literal = host;

	if (host.len == 0 || slice_eq(host, SLICE("*"))) {
		out->addr = out->family == ADDR_INET6 ? addr_from_v6(zeros, 0)
						      : addr_from_v4(zeros, 0);
		return true;
	}
	if (host.len >= 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']') {
		literal = slice_make(host.ptr + 1, host.len - 2);
		if (out->family == ADDR_INET || !addr_parse_ip(literal, ADDR_INET6, &out->addr))
			return refuse(x, "invalid address: '%.*s' in '%.*s'", SLICE_FMT(host),
				      SLICE_FMT(x->whole));
		return true;
	}
	if (addr_parse_ip(literal, out->family, &out->addr))
		return true;
	/* what has a colon or a bracket is a broken literal, never a name */
	if (memchr(host.ptr, ':', host.len) || host.ptr[0] == '[') {
		return refuse(x, "invalid address: '%.*s' in '%.*s'", SLICE_FMT(host),
			      SLICE_FMT(x->whole));
	}
	if (x->p->options & ADDR_OPT_NAME) {
		out->kind = ADDR_KIND_NAME;
		out->text = host;
		return true;
	}
	if (x->p->resolver &&
	    x->p->resolver->run(host, out->family, &out->addr, x->p->resolver->ctx))
		return true;
	return refuse(x, "invalid address: '%.*s' in '%.*s'", SLICE_FMT(host),
		      SLICE_FMT(x->whole));
}

static bool parse_ip(struct parse *x, struct slice text)
{
	struct slice host = text, port = slice_none();

	/* the last colon starts the port, unless the address is bracketed to its end */
	if (text.len && text.ptr[text.len - 1] != ']') {
		for (size_t at = text.len; at-- > 0;) {
			if (text.ptr[at] != ':')
				continue;
			host = slice_make(text.ptr, at);
			port = slice_make(text.ptr + at + 1, text.len - at - 1);
			break;
		}
	}
	if (!parse_port(x, port) || !parse_host(x, host))
		return false;
	x->out->addr.port = x->out->port;
	return true;
}

/* Takes type and family prefixes off <text>. */
static bool parse_prefixes(struct parse *x, struct slice *text)
{
	struct addr_spec *out = x->out;

	out->dgram = x->p->options & ADDR_OPT_DEFAULT_DGRAM;
	if (take(text, SLICE("stream+")))
		out->dgram = false;
	else if (take(text, SLICE("dgram+")))
		out->dgram = true;
	else if (take(text, SLICE("quic+")))
		x->quic = true;
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		const struct prefix *prefix = &prefixes[i];

		if (!take(text, prefix->name))
			continue;
		if (prefix->type == TYPE_REVERSE)
			return refuse(x, "reverse HTTP addresses are not supported in '%.*s'",
				      SLICE_FMT(x->whole));
		if (prefix->type == TYPE_QUIC)
			x->quic = true;
		if (prefix->type == TYPE_DGRAM || prefix->type == TYPE_STREAM)
			out->dgram = prefix->type == TYPE_DGRAM;
		out->kind = prefix->kind;
		out->family = prefix->family;
		out->mptcp = prefix->mptcp;
		return true;
	}
	if (text->len && text->ptr[0] == '/') {
		out->kind = ADDR_KIND_UNIX;
		out->family = ADDR_UNIX;
	}
	return true;
}

bool addr_parse(struct addr_parse *p, struct slice text, struct addr_spec *out)
{
	struct parse x = { .p = p, .whole = text, .out = out };
	bool types = p->options & (ADDR_OPT_STREAM | ADDR_OPT_DGRAM);

	*out = (struct addr_spec){ .fd = -1, .kind = ADDR_KIND_IP };
	p->error[0] = 0;
	if (!parse_prefixes(&x, &text))
		return false;
	if (x.quic)
		return refuse(&x, "QUIC addresses are not supported in '%.*s'",
			      SLICE_FMT(x.whole));
	if (types && !(p->options & (out->dgram ? ADDR_OPT_DGRAM : ADDR_OPT_STREAM)))
		return refuse(&x, "%s-type address not acceptable in '%.*s'",
			      out->dgram ? "dgram" : "stream", SLICE_FMT(x.whole));
	if (out->kind != ADDR_KIND_IP && (p->options & ADDR_OPT_ONLY_IP))
		return refuse(&x, "only an IP address is acceptable in '%.*s'",
			      SLICE_FMT(x.whole));
	switch (out->kind) {
	case ADDR_KIND_FD:
	case ADDR_KIND_SOCKPAIR:
		return parse_fd(&x, text);
	case ADDR_KIND_UNIX:
	case ADDR_KIND_ABNS:
	case ADDR_KIND_ABNSZ:
		return parse_path(&x, text);
	}
	return parse_ip(&x, text);
}

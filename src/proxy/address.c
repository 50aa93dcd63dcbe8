/* SPDX-License-Identifier: GPL-2.0-or-later */
/* address.c - the addresses of bind, server and source lines */
#include "proxy/address.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include "base/addr.h"
#include "base/bug.h"
#include "base/door.h"

enum address_kind { KIND_ANY, KIND_V4, KIND_V6, KIND_UNIX, KIND_ABSTRACT, KIND_ABSTRACT_SHORT,
		    KIND_FD, KIND_SOCKPAIR,
		    KIND_QUIC, KIND_QUIC4, KIND_QUIC6, KIND_REVERSE, KIND_DATAGRAM, KIND_OTHER };

static const struct {
	const char *prefix;
	enum address_kind kind;
} prefixes[] = {
	{ "ip@", KIND_ANY },
	{ "ipv4@", KIND_V4 }, { "tcp4@", KIND_V4 }, { "ipv6@", KIND_V6 }, { "tcp6@", KIND_V6 },
	{ "tcp@", KIND_ANY }, { "unix@", KIND_UNIX }, { "uxst@", KIND_UNIX },
	{ "abns@", KIND_ABSTRACT }, { "fd@", KIND_FD }, { "sockpair@", KIND_SOCKPAIR },
	{ "abnsz@", KIND_ABSTRACT_SHORT }, { "mptcp@", KIND_OTHER }, { "mptcp4@", KIND_OTHER },
	{ "mptcp6@", KIND_OTHER }, { "udp@", KIND_DATAGRAM }, { "udp4@", KIND_DATAGRAM },
	{ "udp6@", KIND_DATAGRAM }, { "uxdg@", KIND_DATAGRAM }, { "dgram+", KIND_DATAGRAM },
	{ "quic+ipv4@", KIND_QUIC4 }, { "quic+ipv6@", KIND_QUIC6 }, { "quic+ip@", KIND_QUIC },
	{ "quic4@", KIND_QUIC4 }, { "quic6@", KIND_QUIC6 }, { "quic+", KIND_QUIC },
	{ "rhttp@", KIND_REVERSE },
};

static bool address_error(struct address *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static bool address_error(struct address *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out->error, sizeof(out->error), fmt, ap);
	va_end(ap);
	return false;
}

/* --- texts ---------------------------------------------------------------------------------- */

int address_port(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return ntohs(((const struct sockaddr_in *)sa)->sin_port);
	if (sa->sa_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)sa)->sin6_port);
	return 0;
}

void address_set_port(struct sockaddr *sa, int port)
{
	if (sa->sa_family == AF_INET)
		((struct sockaddr_in *)sa)->sin_port = htons((uint16_t)port);
	else if (sa->sa_family == AF_INET6)
		((struct sockaddr_in6 *)sa)->sin6_port = htons((uint16_t)port);
}

const char *address_ip_text(const struct sockaddr *sa, char *to, size_t size)
{
	const void *ip = NULL;

	if (sa->sa_family == AF_INET)
		ip = &((const struct sockaddr_in *)sa)->sin_addr;
	else if (sa->sa_family == AF_INET6)
		ip = &((const struct sockaddr_in6 *)sa)->sin6_addr;
	if (!ip || !inet_ntop(sa->sa_family, ip, to, (socklen_t)size))
		snprintf(to, size, "%s", sa->sa_family == AF_UNIX ? "unix" : "-");
	return to;
}

const char *address_text(const struct sockaddr *sa, char *to, size_t size)
{
	char ip[INET6_ADDRSTRLEN];
	bool v6 = sa->sa_family == AF_INET6;

	address_ip_text(sa, ip, sizeof(ip));
	if (v6 || sa->sa_family == AF_INET)
		snprintf(to, size, "%s%s%s:%d", v6 ? "[" : "", ip, v6 ? "]" : "", address_port(sa));
	else
		snprintf(to, size, "%s", ip);
	return to;
}

/* --- parsing -------------------------------------------------------------------------------- */

/* Abstract names are the whole path, padded with zeroes; those of abnsz@ end where they end. */
static bool parse_unix(const char *path, enum address_kind kind, struct address *out)
{
	bool abstract = kind == KIND_ABSTRACT || kind == KIND_ABSTRACT_SHORT;
	struct sockaddr_un *un = (struct sockaddr_un *)&out->addr.sa;
	size_t len = strlen(path);

	if (!abstract && !len)
		return address_error(out, "empty path");
	if (len > sizeof(un->sun_path) - 1)
		return address_error(out, "socket path '%s' too long (max %zu)", path,
				     sizeof(un->sun_path) - 1);
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path + abstract, path, len);
	out->addr.len = sizeof(*un);
	if (kind == KIND_ABSTRACT_SHORT)
		out->addr.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
	return true;
}

static bool parse_fd(const char *text, enum address_kind kind, struct address *out)
{
	char *end;
	long fd = strtol(text, &end, 10);

	if (end == text || *end || fd < 0 || fd > 1 << 20)
		return address_error(out, "file descriptor '%s' is not a number", text);
	out->fd = (int)fd;
	out->is_sockpair = kind == KIND_SOCKPAIR;
	return true;
}

/* One number of a port range, at *p. */
static bool parse_port(const char **p, int *port)
{
	long v = 0;
	const char *start = *p;

	while (**p >= '0' && **p <= '9' && *p - start < 6)
		v = v * 10 + *(*p)++ - '0';
	*port = (int)v;
	return *p != start && v <= 65535;
}

static bool parse_ports(const char *text, unsigned flags, struct address *out)
{
	const char *p = text;
	int sign = 1;

	if (*p == '+' || *p == '-') {
		if (!(flags & ADDRESS_OFFSET))
			return address_error(out, "port offset not allowed here in '%s'", text);
		sign = *p++ == '-' ? -1 : 1;
		out->port_is_offset = true;
	}
	if (!parse_port(&p, &out->port_low))
		return address_error(out, "invalid port '%s'", text);
	out->port_high = out->port_low;
	if (*p == '-' && !out->port_is_offset) {
		if (!(flags & ADDRESS_RANGE))
			return address_error(out, "port range not allowed here in '%s'", text);
		p++;
		if (!parse_port(&p, &out->port_high) || out->port_high < out->port_low)
			return address_error(out, "invalid port range '%s'", text);
	}
	if (*p)
		return address_error(out, "invalid character '%c' in port number '%s'", *p, text);
	out->port_low *= sign;
	out->port_high *= sign;
	return true;
}

static void set_v4(struct address *out, const void *ip)
{
	struct sockaddr_in *sin = (struct sockaddr_in *)&out->addr.sa;

	sin->sin_family = AF_INET;
	memcpy(&sin->sin_addr, ip, 4);
	out->addr.len = sizeof(*sin);
}

static void set_v6(struct address *out, const void *ip)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)&out->addr.sa;

	sin6->sin6_family = AF_INET6;
	memcpy(&sin6->sin6_addr, ip, 16);
	out->addr.len = sizeof(*sin6);
}

bool address_of_name(const char *name, unsigned char family, struct server_addr *out)
{
	int wanted = family == ADDR_INET ? AF_INET : family == ADDR_INET6 ? AF_INET6 : AF_UNSPEC;

	return door_host(name, wanted, &out->sa, &out->len);
}

/* The wildcard stands for a name that is kept. */
static bool resolve(const char *name, unsigned flags, struct address *out)
{
	static const uint8_t any[4];

	snprintf(out->name, sizeof(out->name), "%.255s", name);
	set_v4(out, any);
	return flags & ADDRESS_KEEP_NAMES || address_of_name(name, out->family, &out->addr) ||
	       address_error(out, "could not resolve address '%s'", name);
}

static bool parse_host(const char *host, enum address_kind kind, unsigned flags,
		       struct address *out)
{
	static const uint8_t any[16];
	struct in6_addr v6;
	struct in_addr v4;

	if (!*host || strcmp(host, "*") == 0) {
		if (!(flags & ADDRESS_EMPTY_IS_ANY) && !*host && out->port_low)
			flags |= ADDRESS_EMPTY_IS_ANY;
		if (kind == KIND_V6)
			set_v6(out, any);
		else
			set_v4(out, any);
		return true;
	}
	if (kind != KIND_V6 && inet_pton(AF_INET, host, &v4) == 1)
		set_v4(out, &v4);
	else if (kind != KIND_V4 && inet_pton(AF_INET6, host, &v6) == 1)
		set_v6(out, &v6);
	else if (flags & ADDRESS_NO_NAMES)
		return address_error(out, "invalid address '%s'", host);
	else
		return resolve(host, flags, out);
	return true;
}

/* The colon before the port: the last one, unless it is inside brackets, or the text without it
 * is only a part of an IPv6 address and no port is needed. NULL: none.
 */
static char *find_port(char *text)
{
	char *bracket = strrchr(text, ']');
	char *colon = strrchr(bracket ? bracket : text, ':');
	struct in6_addr v6;

	if (!colon)
		return NULL;
	if (!bracket && strchr(text, ':') != colon) {
		/* "::1:80" is an address and a port; "::" needs no port; "2001:db8::1" is
		 * ambiguous: a port, as the manual says
		 */
		if (!colon[1] && colon > text && colon[-1] == ':' &&
		    inet_pton(AF_INET6, text, &v6) == 1)
			return NULL;
	}
	return colon;
}

static bool parse_inet(char *text, enum address_kind kind, unsigned flags, struct address *out)
{
	char *colon = find_port(text);
	struct in6_addr v6;
	size_t len;

	if ((flags & ADDRESS_PORT_NONE) && inet_pton(AF_INET6, text, &v6) == 1)
		colon = NULL;

	if (colon) {
		*colon = 0;
		if (colon[1] && !parse_ports(colon + 1, flags, out))
			return false;
	}
	if (!out->port_low && (flags & ADDRESS_PORT_MUST) && !out->port_is_offset)
		return address_error(out, "missing port number");
	if (colon && colon[1] && (flags & ADDRESS_PORT_NONE))
		return address_error(out, "port not allowed here");
	len = strlen(text);
	if (text[0] == '[' && len && text[len - 1] == ']') {
		text[len - 1] = 0;
		text++;
		if (strchr(text, ':')) /* "[127.0.0.1]:80" is written too */
			kind = KIND_V6;
	} else if (strcmp(text, ":") == 0) {
		/* ":::80" : what is left of "::" before ":80" */
		text = (char *)"::";
	}
	out->family = kind == KIND_V4 ? ADDR_INET : kind == KIND_V6 ? ADDR_INET6 : ADDR_NONE;
	if (!parse_host(text, kind, flags, out))
		return false;
	if (!out->port_is_offset)
		address_set_port((struct sockaddr *)&out->addr.sa, out->port_low);
	return true;
}

/* QUIC's are addresses of UDP. False: they are not allowed here. */
static bool take_quic(enum address_kind *kind, unsigned flags, struct address *out)
{
	if (*kind < KIND_QUIC || *kind > KIND_QUIC6)
		return true;
	if (!(flags & ADDRESS_QUIC))
		return address_error(out, "QUIC is for 'bind' and 'server' lines only");
	out->is_quic = true;
	*kind = *kind == KIND_QUIC4 ? KIND_V4 : *kind == KIND_QUIC6 ? KIND_V6 : KIND_ANY;
	return true;
}

/* No address of a socket: what follows names a server, or nothing. */
static bool parse_reverse(const char *text, unsigned flags, struct address *out)
{
	if (!(flags & ADDRESS_REVERSE))
		return address_error(out, "'rhttp@' is not allowed here");
	if (strlen(text) >= sizeof(out->name))
		return address_error(out, "name '%.32s...' too long", text);
	strcpy(out->name, text);
	out->is_reverse = true;
	out->addr.len = sizeof(struct sockaddr);
	return true;
}

/* Takes the type of sockets and the family off *text. */
static enum address_kind take_prefix(const char **text)
{
	bool stream = strncmp(*text, "stream+", 7) == 0;

	if (stream)
		*text += 7;
	for (unsigned i = 0; i < ARRAY_LEN(prefixes); i++) {
		enum address_kind kind = prefixes[i].kind;
		size_t len = strlen(prefixes[i].prefix);

		if (strncmp(*text, prefixes[i].prefix, len) != 0)
			continue;
		*text += len;
		return stream && kind >= KIND_QUIC ? KIND_OTHER : kind;
	}
	return KIND_ANY;
}

bool address_parse(const char *text, unsigned flags, struct address *out)
{
	const char *whole = text;
	enum address_kind kind = take_prefix(&text);
	char copy[512];

	memset(out, 0, sizeof(*out));
	out->fd = -1;
	if (!take_quic(&kind, flags, out))
		return false;
	if (kind == KIND_REVERSE)
		return parse_reverse(text, flags, out);
	if (kind == KIND_DATAGRAM)
		return address_error(out, "dgram-type address not acceptable in '%s'", whole);
	if (kind == KIND_OTHER)
		return address_error(out, "this kind of address is not supported yet");
	if (kind == KIND_FD || kind == KIND_SOCKPAIR) {
		if (!(flags & ADDRESS_FD))
			return address_error(out, "'fd@' is not allowed here");
		return parse_fd(text, kind, out);
	}
	if ((kind >= KIND_UNIX && kind <= KIND_ABSTRACT_SHORT) ||
	    (kind == KIND_ANY && *text == '/' && !out->is_quic)) {
		if (!(flags & ADDRESS_UNIX))
			return address_error(out, "UNIX sockets are not allowed here");
		return parse_unix(text, kind, out);
	}
	if (strlen(text) >= sizeof(copy))
		return address_error(out, "address too long");
	strcpy(copy, text);
	return parse_inet(copy, kind, flags, out);
}

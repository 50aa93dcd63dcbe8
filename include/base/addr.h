/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* addr.h - internet addresses and the configuration's address syntax
 *
 * struct addr is small (24 bytes): an IPv4 or IPv6 address with a port, as a connection keeps it of
 * its peers. Addresses are in network order, ports in host order. UNIX socket paths do not fit:
 * struct addr only has ADDR_UNIX for them. Code that needs the path keeps a struct addr_any, which
 * holds any address and is used for configuration.
 * Owns: nothing. Threads: any. No allocation; names are resolved only by a function of the caller.
 */
#ifndef BASE_ADDR_H
#define BASE_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include "base/slice.h"

enum addr_family { ADDR_NONE, ADDR_INET, ADDR_INET6, ADDR_UNIX };

struct addr {
	uint8_t family;  /* enum addr_family */
	uint16_t port;   /* host order, 0: none */
	uint32_t scope;  /* IPv6 scope id, 0: none */
	union {
		uint32_t v4; /* network order */
		uint8_t v6[16];
	};
};

_Static_assert(sizeof(struct addr) == 24, "struct addr is kept in every connection");

/* Size of the longest text of addr_put_ip() and addr_put(), including the NUL. */
#define ADDR_IP_MAX 46
#define ADDR_MAX 56

/* Builds an address from four or sixteen bytes in network order. */
static inline struct addr addr_from_v4(const void *bytes, uint16_t port)
{
	struct addr a = { .family = ADDR_INET, .port = port };

	memcpy(&a.v4, bytes, 4);
	return a;
}

static inline struct addr addr_from_v6(const void *bytes, uint16_t port)
{
	struct addr a = { .family = ADDR_INET6, .port = port };

	memcpy(a.v6, bytes, 16);
	return a;
}

static inline bool addr_is_inet(const struct addr *a)
{
	return a->family == ADDR_INET || a->family == ADDR_INET6;
}

/* Compare family, address and scope; addr_eq() also the port. */
bool addr_eq_ip(const struct addr *a, const struct addr *b);
bool addr_eq(const struct addr *a, const struct addr *b);
/* Orders by family, address and port: <0, 0, >0. */
int addr_cmp(const struct addr *a, const struct addr *b);
/* Hashes the address without its port. */
uint64_t addr_hash_ip(const struct addr *a, uint64_t seed);
/* Is it 0.0.0.0 or :: ? */
bool addr_is_any(const struct addr *a);

/* Returns IPv4 as an IPv4-mapped IPv6 address (RFC 4291 2.5.5.2); others unchanged. */
struct addr addr_to_v6(const struct addr *a);
/* Returns the IPv4 address inside an IPv4-mapped one; others unchanged. */
struct addr addr_unmapped(const struct addr *a);
/* Do the first <bits> bits equal those of <net>, of the same family? */
bool addr_is_in(const struct addr *a, const struct addr *net, unsigned bits);

#define ADDR_IPV4_MAX 16
/* Writes the text of an IPv4 address in network order, at most 15 characters and a NUL; returns its
 * length.
 */
size_t addr_put_ipv4(uint32_t ip, char out[ADDR_IPV4_MAX]);
/* Write the text without port ("1.2.3.4", "::1") or with it ("1.2.3.4:80", "[::1]:80"), at most
 * <size> bytes including the NUL (ADDR_IP_MAX, ADDR_MAX); return the length. ADDR_UNIX gives
 * "unix", ADDR_NONE "".
 */
size_t addr_put_ip(const struct addr *a, char *out, size_t size);
size_t addr_put(const struct addr *a, char *out, size_t size);

/* Parses a literal IPv4 or IPv6 address without port and brackets. <family> 0: either. */
bool addr_parse_ip(struct slice text, uint8_t family, struct addr *out);
/* Parses an IPv4 address in which zeros before the last number may be omitted: "127.1" is
 * 127.0.0.1, "10" is 0.0.0.10. A number with a leading 0 is refused, since some programs read it as
 * octal.
 */
bool addr_parse_short_ip(struct slice text, struct addr *out);
/* Parses "address", "address/bits" or "address/dotted mask". Clears bits beyond the mask. */
bool addr_parse_network(struct slice text, struct addr *net, unsigned *bits);

/* Any socket address, for bind() and connect(). */
struct addr_any {
	socklen_t len;
	struct sockaddr_storage ss;
};

/* Convert to and from the kernel's form. addr_from_sockaddr() returns ADDR_UNIX for AF_UNIX,
 * ADDR_NONE for unknown families.
 */
socklen_t addr_to_sockaddr(const struct addr *a, struct sockaddr_storage *ss);
struct addr addr_from_sockaddr(const void *sockaddr, socklen_t len);

/* The configuration's addresses (manual 2.9). */
enum addr_kind {
	ADDR_KIND_IP,       /* addr, ports */
	ADDR_KIND_NAME,     /* text is a host name that was not resolved; ports */
	ADDR_KIND_UNIX,     /* text is a path */
	ADDR_KIND_ABNS,     /* text is an abstract name, padded with NULs in sockaddr_un */
	ADDR_KIND_ABNSZ,    /* likewise, ended by its length */
	ADDR_KIND_FD,       /* fd, inherited and bound */
	ADDR_KIND_SOCKPAIR  /* fd, one end of a socket pair */
};

/* What a statement of the configuration accepts. */
#define ADDR_OPT_PORT           0x001 /* a port may follow */
#define ADDR_OPT_PORT_REQUIRED  0x002 /* a port must follow, and not be 0 */
#define ADDR_OPT_PORT_RANGE     0x004 /* low-high */
#define ADDR_OPT_PORT_OFFSET    0x008 /* +N, -N */
#define ADDR_OPT_STREAM         0x010 /* stream addresses */
#define ADDR_OPT_DGRAM          0x020 /* datagram addresses */
#define ADDR_OPT_DEFAULT_DGRAM  0x040 /* without a prefix it is a datagram address */
#define ADDR_OPT_FD             0x080 /* fd@ */
#define ADDR_OPT_NAME           0x100 /* names need not be resolved: ADDR_KIND_NAME */
#define ADDR_OPT_ONLY_IP        0x200 /* neither unix, abns, fd nor sockpair */

enum addr_port { ADDR_PORT_NONE, ADDR_PORT_FIXED, ADDR_PORT_RANGE, ADDR_PORT_OFFSET };

struct addr_spec {
	uint8_t kind;         /* enum addr_kind */
	uint8_t family;       /* from a prefix, ADDR_NONE: any */
	bool dgram;           /* socket type */
	bool mptcp;           /* mptcp@ */
	uint8_t port_form;    /* enum addr_port */
	uint16_t port, port_high; /* FIXED: both the same; RANGE */
	int port_offset;      /* OFFSET: added to the incoming port */
	int fd;               /* FD, SOCKPAIR; else -1 */
	struct addr addr;     /* IP, with <port> */
	struct slice text;    /* NAME, UNIX, ABNS, ABNSZ: slice of the input */
};

/* Resolves <name> to an address of <family> (ADDR_NONE: any). False: not possible. */
typedef bool addr_resolve_fn(struct slice name, uint8_t family, struct addr *out, void *ctx);
struct addr_resolver {
	addr_resolve_fn *run;
	void *ctx;
};

/* Input and error text of addr_parse(). */
struct addr_parse {
	unsigned options;               /* ADDR_OPT_* */
	const struct addr_resolver *resolver; /* NULL: names are not resolved */
	char error[256];                /* why it failed, in the reference's words */
};

/* Parses one address of the configuration (not a list; variables already expanded). The path prefix
 * of unix-bind is not added. False: see p->error.
 */
bool addr_parse(struct addr_parse *p, struct slice text, struct addr_spec *out);
/* Builds the kernel's address from a spec of kind IP, UNIX, ABNS or ABNSZ, with port <port> for IP.
 * False: another kind, or the path is too long.
 */
bool addr_spec_to_any(const struct addr_spec *spec, uint16_t port, struct addr_any *out);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* address.h - parses the addresses of bind, server and source lines
 *
 * Purpose: turns "[family@]address[:port[-port]]" into a socket address. Host names are kept, or
 *          resolved with the C library; the latter only while the configuration is read.
 * Owns   : nothing. Errors: texts, static or in the result.
 * Manual : configuration 11.1 (address formats).
 */
#ifndef PROXY_ADDRESS_H
#define PROXY_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>
#include "proxy/server.h"

enum address_flags {
	ADDRESS_PORT_MUST = 1 << 0,   /* a port is required */
	ADDRESS_PORT_NONE = 1 << 1,   /* a port is refused */
	ADDRESS_RANGE = 1 << 2,       /* "80-90" is allowed */
	ADDRESS_OFFSET = 1 << 3,      /* "+80", "-80" are allowed */
	ADDRESS_FD = 1 << 4,          /* fd@ and sockpair@ are allowed */
	ADDRESS_UNIX = 1 << 5,        /* paths are allowed */
	ADDRESS_NO_NAMES = 1 << 6,    /* do not resolve */
	ADDRESS_EMPTY_IS_ANY = 1 << 7,/* "" and "*" are the wildcard */
	ADDRESS_KEEP_NAMES = 1 << 8,  /* a name is kept, for later resolution */
	ADDRESS_QUIC = 1 << 9,        /* QUIC families are allowed */
	ADDRESS_REVERSE = 1 << 10,    /* rhttp@ is allowed */
};

struct address {
	struct server_addr addr;      /* with the low port; AF_UNSPEC for fd@ */
	int port_low, port_high;      /* 0 0: no port written */
	bool port_is_offset;          /* written with a sign: port_low is an offset */
	/* the name that was resolved or kept; <addr> is the wildcard then */
	char name[256];
	unsigned char family;         /* enum addr_family that the prefix asks for */
	int fd;                       /* -1 unless fd@ or sockpair@ */
	bool is_sockpair;
	bool is_quic;
	bool is_reverse;              /* rhttp@: <name> has the rest, there is no address */
	char error[160];
};

/* Parses an address. False: <out>->error tells what is wrong, to be printed after the quoted
 * <text>.
 */
bool address_parse(const char *text, unsigned flags, struct address *out);
/* Resolves a name with the C library; blocks. <family> ADDR_NONE: any. False: no address. */
bool address_of_name(const char *name, unsigned char family, struct server_addr *out);
/* Return the text of the address alone ("127.0.0.1", "::1", "unix"), or with its port
 * ("127.0.0.1:80", "[::1]:80"); it lies in <to>.
 */
const char *address_ip_text(const struct sockaddr *sa, char *to, size_t size);
const char *address_text(const struct sockaddr *sa, char *to, size_t size);
int address_port(const struct sockaddr *sa);
void address_set_port(struct sockaddr *sa, int port);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* addr.h - internet addresses and the configuration's address syntax
 *
 * struct addr is small (24 bytes): an IPv4 or IPv6 address with a port, what a connection keeps
 * of its peers. Addresses are in network order, ports in host order. UNIX socket paths do not fit: a
 * struct addr says only ADDR_UNIX of them, and whoever needs the path keeps a struct addr_any,
 * which can hold anything and is for configuration.
 * Owns: nothing. Threads: any. No allocation; no name is resolved but through a caller's function.
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

/* Longest text of addr_put_ip() and addr_put(), with the NUL. */
#define ADDR_IP_MAX 46
#define ADDR_MAX 56

/* From four or sixteen bytes in network order. */
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

#endif

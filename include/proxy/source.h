/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* source.h - from which address to connect: `source ... usesrc ... interface`
 *
 * Immutable, in the generation's arena, shared by a proxy and its servers.
 * Manual: source (proxy keyword and server option).
 */
#ifndef PROXY_SOURCE_H
#define PROXY_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct conf_line;
struct expr;

enum source_transparency {
	SOURCE_OPAQUE,
	SOURCE_FIXED,     /* usesrc <addr>: bind to <spoof> */
	SOURCE_CLIENT,    /* usesrc client: address and port */
	SOURCE_CLIENT_IP, /* usesrc clientip: address, any port */
	SOURCE_HEADER,    /* usesrc hdr_ip(name[,occurrence]) */
};

struct source {
	struct sockaddr_storage bind;  /* AF_UNSPEC: not given (only an interface) */
	int port_low, port_high;       /* a range, or 0 0; a single port is in <bind> and both */
	uint32_t port_cursor;          /* atomic: next of the range to try */
	enum source_transparency transparency;
	struct sockaddr_storage spoof; /* SOURCE_FIXED */
	const char *header_text;       /* SOURCE_HEADER: as written */
	const struct expr *header;     /* SOURCE_HEADER: the address in that field */
	const char *interface;         /* or NULL */
};

/* Do both connect from the same address? NULL: from any. */
bool source_is_same(const struct source *a, const struct source *b);

/* How a connection to <srv> at <to> is opened, as far as its line says: namespace, timeout, source
 * address, SOCKS4 proxy, TLS. An address of the client's and the PROXY protocol header are left to
 * the caller, which may change anything. <to> is borrowed.
 */
struct server;
struct server_addr;
struct dial_want;
void server_dial(const struct server *srv, const struct server_addr *to, struct dial_want *w);
/* The same for health checks, which come from the address of `source` where clients' connections
 * have another one by `usesrc <addr>`.
 */
void server_dial_check(const struct server *srv, const struct server_addr *to, struct dial_want *w);

/* The value of `namespace`, opened. False: reported. */
struct netns;
bool source_parse_namespace(struct conf_line *l, const struct netns **out);

/* Parses what follows `source`, up to a word that is neither usesrc nor interface. NULL:
 * reported.
 */
struct source *source_parse(struct conf_line *l);

#endif

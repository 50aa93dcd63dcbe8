/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* source.h - the local address of connections: `source ... usesrc ... interface`
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
	int port_low, port_high;       /* a range, or 0 0; a single port is in <bind> and in both */
	uint32_t port_cursor;          /* atomic: next of the range to try */
	enum source_transparency transparency;
	struct sockaddr_storage spoof; /* SOURCE_FIXED */
	const char *header_text;       /* SOURCE_HEADER: as written */
	const struct expr *header;     /* SOURCE_HEADER: reads the address from that field */
	const char *interface;         /* or NULL */
};

/* Do both connect from the same address? NULL: any address. */
bool source_is_same(const struct source *a, const struct source *b);

/* Describes in <w> how to open a connection to <srv> at <to>, as configured on its line: namespace,
 * timeout, source address, SOCKS4 proxy, TLS. The caller adds the client's address and the PROXY
 * protocol header, and may change anything. <to> is borrowed.
 */
struct server;
struct server_addr;
struct dial_want;
void server_dial(const struct server *srv, const struct server_addr *to, struct dial_want *w);
/* As server_dial(), for health checks: they connect from the address of `source`, not from that of
 * `usesrc <addr>`.
 */
void server_dial_check(const struct server *srv, const struct server_addr *to, struct dial_want *w);

/* Opens the namespace that is the value of `namespace`. False: reported. */
struct netns;
bool source_parse_namespace(struct conf_line *l, const struct netns **out);

/* Parses the words after `source`, up to one that is neither usesrc nor interface. NULL: reported.
 */
struct source *source_parse(struct conf_line *l);

#endif

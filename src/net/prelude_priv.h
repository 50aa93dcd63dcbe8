/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prelude_priv.h - the exchange on a connection before its transport begins
 *
 * Purpose: asks a SOCKS4 proxy for a connection to the server, then sends the bytes that precede
 *          all others (a PROXY protocol header). It sits below the connection's transport (plain or
 *          TLS) until this is done, then removes itself; CONN_HANDSHAKE is set meanwhile.
 * Wire   : SOCKS version 4, command 1, port, IPv4 address, the user "HAProxy"; the response has 8
 *          bytes, the second is 90 if the proxy has connected. IPv6 addresses cannot be requested.
 * Owns   : only its state, which the connection frees.
 * Threads: the connection's, which must not change meanwhile.
 * Errors : conn->error is an errno, or one of enum prelude_error.
 */
#ifndef NET_PRELUDE_PRIV_H
#define NET_PRELUDE_PRIV_H

#include <stdbool.h>
#include <sys/socket.h>
#include "base/slice.h"

struct conn;

/* Values of conn->error besides errno. */
enum prelude_error {
	PRELUDE_SOCKS4_SEND = 251,
	PRELUDE_SOCKS4_RECV,
	PRELUDE_SOCKS4_DENY,
	PRELUDE_SOCKS4_ABORT,
};

/* Can a SOCKS4 proxy be asked for this address? */
bool prelude_can_reach(const struct sockaddr_storage *to);
/* Makes <c>, just opened and with its transport, ask the proxy at its other end for <to> (NULL: the
 * peer is the server), then send <first>, copied. <more>: other bytes follow immediately. The
 * connection is usable (ready() is called) when this and the transport's own handshake are done.
 * Sends immediately what it can. False: out of memory.
 */
bool prelude_attach(struct conn *c, const struct sockaddr_storage *to, struct slice first,
		    bool more);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prelude_priv.h - what a connection says before its transport does
 *
 * Purpose: asks a SOCKS4 proxy for the server behind it, then sends the bytes that are to come
 *          before all others (a PROXY protocol header). It stands below the connection's transport
 *          (plain or TLS) until that is done, then takes itself away: CONN_HANDSHAKE is set for as
 *          long.
 * Wire   : SOCKS version 4, command 1, port, IPv4 address, the user "HAProxy"; an answer of 8
 *          bytes whose second is 90 when the proxy has connected. There is no way to name an IPv6
 *          address.
 * Owns   : nothing but its state while it lasts, which the connection frees.
 * Threads: that of the connection, which does not leave it before.
 * Errors : conn->error is an errno, or one of enum prelude_error.
 */
#ifndef NET_PRELUDE_PRIV_H
#define NET_PRELUDE_PRIV_H

#include <stdbool.h>
#include <sys/socket.h>
#include "base/slice.h"

struct conn;

/* What conn->error may be besides an errno. */
enum prelude_error {
	PRELUDE_SOCKS4_SEND = 251,
	PRELUDE_SOCKS4_RECV,
	PRELUDE_SOCKS4_DENY,
	PRELUDE_SOCKS4_ABORT,
};

/* Can a SOCKS4 proxy be asked for this address? */
bool prelude_can_reach(const struct sockaddr_storage *to);
/* Has <c>, just opened and with its transport, ask the proxy at its other end for <to> (NULL: that
 * is the server), then send <first>, copied. <more>: other bytes follow immediately. The connection
 * is usable (ready() is called) when that is done and the transport's own handshake, too. What can
 * be sent immediately is. False: no memory.
 */
bool prelude_attach(struct conn *c, const struct sockaddr_storage *to, struct slice first,
		    bool more);

#endif

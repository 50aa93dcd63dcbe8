/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* socks4.h - connections to servers through a SOCKS4 proxy
 *
 * Purpose: asks the proxy that a connection was opened to for the server behind it, before anything
 *          else is sent. It stands below the connection's transport (plain or TLS) until the proxy
 *          has answered, then takes itself away.
 * Wire   : version 4, command 1, port, IPv4 address, the user "HAProxy"; an answer of 8 bytes whose
 *          second is 90 when the proxy has connected. There is no way to name an IPv6 address.
 * Owns   : nothing but its state while it lasts, which the connection frees.
 * Threads: that of the connection, which does not leave it before.
 * Errors : conn->error is one of enum socks4_error, of which the texts are the reference's.
 * Manual : configuration 5.2 socks4, check-via-socks4.
 */
#ifndef NET_SOCKS4_H
#define NET_SOCKS4_H

#include <stdbool.h>
#include <sys/socket.h>

struct conn;

/* What conn->error may be besides an errno. X(name, value, text) */
#define SOCKS4_ERRORS(X) \
	X(SEND, 251, "SOCKS4 Proxy write error during handshake") \
	X(RECV, 252, "SOCKS4 Proxy read error during handshake") \
	X(DENY, 253, "SOCKS4 Proxy deny the request") \
	X(ABORT, 254, "SOCKS4 Proxy handshake aborted by server")
#define X(name, value, text) SOCKS4_##name = value,
enum socks4_error { SOCKS4_ERRORS(X) };
#undef X

/* The text of an error of the handshake; NULL: it is none of it. */
const char *socks4_error_text(int error);
/* Can the proxy be asked for this address? */
bool socks4_can_reach(const struct sockaddr_storage *to);
/* Has <c>, just opened to a proxy and with its transport, ask it for <to>. The connection stands
 * (ready() is called) once that is done and the transport's own handshake too. False: no memory, or
 * an address that cannot be asked for.
 */
bool socks4_attach(struct conn *c, const struct sockaddr_storage *to);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conn_facts.h - socket options and figures of a connection, apart from its bytes
 *
 * Purpose: code above net, tls and quic never uses the descriptor of a connection, for there may be
 *          none: QUIC connections share their listener's. Such a connection has no TCP figures, and
 *          settings have no effect on it.
 * Threads: the connection's.
 * Errors : what the kernel refuses is not reported.
 */
#ifndef NET_CONN_FACTS_H
#define NET_CONN_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/slice.h"
#include "net/conn.h"

struct tcp_info;

/* Returns the number of its descriptor, for display; -1: it has none of its own. */
int conn_shown_fd(const struct conn *c);
/* Reads tcp(7) TCP_INFO. False: not available. */
bool conn_tcp_info(const struct conn *c, struct tcp_info *out);
/* Copies the headers of the packet that opened the connection. *len: the room in <out>, then their
 * length, 0 if the listener did not keep them. False: not a TCP connection.
 */
bool conn_saved_syn(const struct conn *c, char *out, size_t *len);
/* Set the TOS or traffic class, and the mark, of packets sent from now on: see socket_set_tos(). */
void conn_set_tos(struct conn *c, uint8_t tos);
void conn_set_mark(struct conn *c, uint32_t mark);
/* Hides the close of the connection from the peer: TCP_REPAIR freezes it where this is allowed,
 * otherwise its reset gets a TTL that expires at the first router. <ttl>: use this TTL without
 * trying to freeze; 0: freeze, or else TTL 1.
 */
void conn_make_silent(struct conn *c, int ttl);

/* For code that runs before the first byte is parsed, on a raw connection: copies received bytes
 * without consuming them. Returns how many; 0: an end or a failure; -1: nothing for now.
 */
ssize_t conn_peek(struct conn *c, char *out, size_t size);
/* Consumes exactly <len> bytes that were peeked at, into <room>. False: failed. */
bool conn_skip(struct conn *c, char *room, size_t len);
/* The peeked bytes are not enough: ready() will be called when more come. */
void conn_wait_recv(struct conn *c);
/* Sends bytes from one slice; *sent: how many. If not all, CONN_CAN_SEND is cleared until there is
 * room.
 */
enum io conn_send_bytes(struct conn *c, struct slice bytes, size_t *sent);

#endif

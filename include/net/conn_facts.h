/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conn_facts.h - what the kernel is asked and told of a connection, beside its bytes
 *
 * Purpose: above net, tls and quic no code knows the descriptor of a connection, for there may be
 *          none: those of QUIC share that of their listener. Such a connection has no figures of
 *          TCP, and what is to be set is not.
 * Threads: the connection's.
 * Errors : what the kernel refuses is not told.
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

/* The number of its descriptor, to be shown: -1, it has none of its own. */
int conn_shown_fd(const struct conn *c);
/* tcp(7) TCP_INFO. False: there is none. */
bool conn_tcp_info(const struct conn *c, struct tcp_info *out);
/* The headers of the packet that opened it; *len: room in <out>, then their length, 0 when the
 * listener did not have them kept. False: it is none of TCP.
 */
bool conn_saved_syn(const struct conn *c, char *out, size_t *len);
/* The TOS or traffic class, and the mark, of packets sent from now on: see socket_set_tos(). */
void conn_set_tos(struct conn *c, uint8_t tos);
void conn_set_mark(struct conn *c, uint32_t mark);
/* Makes its close unseen by the peer: it is frozen by TCP_REPAIR where that is allowed, else a
 * reset has a TTL that dies on the first router. <ttl>: which one, without trying to freeze; 0: 1.
 */
void conn_make_silent(struct conn *c, int ttl);

/* For what stands in front of the first byte, on a raw connection: looks at what came without
 * taking it. Returns how many bytes; 0: an end or a failure; -1: nothing for now.
 */
ssize_t conn_peek(struct conn *c, char *out, size_t size);
/* Takes exactly <len> bytes that were looked at; they are read into <room>. */
bool conn_skip(struct conn *c, char *room, size_t len);
/* What was looked at is not enough: ready() is called when more comes. */
void conn_wait_recv(struct conn *c);
/* Sends bytes in one piece; *sent: how many. Less: CONN_CAN_SEND is cleared until there is room. */
enum io conn_send_bytes(struct conn *c, struct slice bytes, size_t *sent);

#endif

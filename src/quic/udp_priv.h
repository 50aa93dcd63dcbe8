/* SPDX-License-Identifier: GPL-2.0-or-later */
/* udp_priv.h - QUIC: sockets of datagrams, and whose connection a datagram is (udp.c)
 *
 * Owns   : each thread its sockets. A socket closes behind its last connection when no listener
 *          uses it.
 * Threads: the calling one's; a datagram of another thread's connection goes there by its mailbox.
 */
#ifndef QUIC_UDP_PRIV_H
#define QUIC_UDP_PRIV_H

#include "base/addr.h"
#include "base/list.h"
#include "core/timer.h"
#include "quic/quic.h"

struct held;
struct quic_cid;

struct quic_socket;

/* Bytes that came, or that are to leave. <local>: our address; ADDR_NONE: the socket's. */
struct quic_datagram {
	struct addr peer, local;
	uint8_t *bytes;                /* borrowed; of one that came, they may be changed */
	size_t len;
	uint8_t mark;                  /* enum quic_ecn_mark */
};

/* A datagram came. */
typedef void quic_input_fn(struct quic_socket *s, const struct quic_datagram *d);

/* A socket of a thread: one for each listening one, whose connections share it, one for each
 * connection to a server, and one for each of a client's that is to have its own.
 */
struct quic_socket {
	int fd;                        /* owned */
	int of;                        /* the listener's; -1: that was closed, there is none */
	uint16_t port;                 /* ours, of a listening one */
	quic_input_fn *input;
	struct quic_conn *only;        /* whose alone it is; NULL: shared, or that is gone */
	struct addr peer;              /* same: the peer that it is connected to */
	int error;                     /* same: what the kernel has heard of it; 0 */
	struct quic_listener listener; /* of a client's own: only <user> */
	bool accepts;
	bool full;                     /* it took no more: <again> tries it */
	bool no_gso;                   /* datagrams are sent one by one */
	struct held *held;             /* owned: what it did not take; NULL */
	uint32_t conns;
	struct list link;
	struct timer again;            /* more is to be read */
	struct list waiting;           /* connections that have something to send */
};

/* Makes one of <fd>, which it takes over. NULL: no memory, no descriptor; <fd> is closed. */
struct quic_socket *quic_socket_new(int fd, bool no_gso, quic_input_fn *input);
void quic_socket_close(struct quic_socket *s);
/* Those of the calling thread: quic_socket.link. */
struct list *quic_sockets(void);
/* Sends what belongs to no connection, if the socket takes it. */
void quic_send_datagram(struct quic_socket *s, const struct quic_datagram *d);
/* A connection is reached by <s> from now on, and found by its ids / no more. The socket closes
 * behind the last one when no listener uses it.
 */
void quic_attach(struct quic_conn *q, struct quic_socket *s);
void quic_detach(struct quic_conn *q);
/* That of an id of ours, or, of Initial packets, of the id that its client has made up. */
struct quic_conn *quic_find(const struct quic_cid *cid, bool initial);
void quic_conn_input(struct quic_conn *q, const struct quic_datagram *d);
/* For struct quic_host. */
void quic_later(struct quic_conn *q);
/* Those of the calling thread, in no order; <fn> must not end any. */
void quic_conns_visit(void (*fn)(void *ctx, struct quic_conn *q), void *ctx);

/* At the start; of each thread. False: no memory, no random bytes. */
bool quic_udp_init(void);
bool quic_udp_thread_init(void);
void quic_udp_thread_fini(void);

#endif

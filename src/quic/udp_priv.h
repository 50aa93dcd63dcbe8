/* SPDX-License-Identifier: GPL-2.0-or-later */
/* udp_priv.h - QUIC: UDP sockets, and finding the connection of a datagram (udp.c)
 *
 * Owns   : each thread owns its sockets. A socket is closed after its last connection when no
 *          listener uses it.
 * Threads: the calling thread's; a datagram of another thread's connection is passed to that
 *          thread's mailbox.
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

/* A received or outgoing datagram. <local>: our address; ADDR_NONE: the socket's. */
struct quic_datagram {
	struct addr peer, local;
	uint8_t *bytes;                /* borrowed; of a received one, they may be changed */
	size_t len;
	uint8_t mark;                  /* enum quic_ecn_mark */
};

/* Called for each received datagram. */
typedef void quic_input_fn(struct quic_socket *s, const struct quic_datagram *d);

/* A socket of a thread: one for each listening socket, shared by its connections, one for each
 * connection to a server, and one for each client connection that has its own.
 */
struct quic_socket {
	int fd;                        /* owned */
	int of;                        /* the listener's; -1: that is closed, or there is none */
	uint16_t port;                 /* ours, of a listening socket */
	quic_input_fn *input;
	struct quic_conn *only;        /* the only connection; NULL: shared, or it is gone */
	struct addr peer;              /* with <only>: the peer it is connected to */
	int error;                     /* with <only>: the error the kernel has reported; 0 */
	struct quic_listener listener; /* of a client's own socket: only <user> */
	bool accepts;
	bool full;                     /* the kernel's buffer was full: <again> retries */
	bool no_gso;                   /* datagrams are sent one by one */
	struct held *held;             /* owned: datagrams it did not accept; NULL */
	uint32_t conns;
	struct list link;
	struct timer again;            /* there is more to read */
	struct list waiting;           /* connections that have something to send */
};

/* Creates one for <fd>, which it owns from now on. Returns NULL: no memory, no descriptor; <fd> is
 * closed.
 */
struct quic_socket *quic_socket_new(int fd, bool no_gso, quic_input_fn *input);
void quic_socket_close(struct quic_socket *s);
/* Returns the calling thread's sockets: quic_socket.link. */
struct list *quic_sockets(void);
/* Sends a datagram that belongs to no connection, unless the socket is full. */
void quic_send_datagram(struct quic_socket *s, const struct quic_datagram *d);
/* quic_attach() makes <q> use <s> and registers its ids; quic_detach() undoes this. The socket is
 * closed after its last connection when no listener uses it.
 */
void quic_attach(struct quic_conn *q, struct quic_socket *s);
void quic_detach(struct quic_conn *q);
/* Returns the connection with this id of ours, or, for Initial packets, with the id that its client
 * chose; NULL: none.
 */
struct quic_conn *quic_find(const struct quic_cid *cid, bool initial);
void quic_conn_input(struct quic_conn *q, const struct quic_datagram *d);
/* For struct quic_host. */
void quic_later(struct quic_conn *q);
/* Calls <fn> for the calling thread's connections, in no order; <fn> must not end any. */
void quic_conns_visit(void (*fn)(void *ctx, struct quic_conn *q), void *ctx);

/* Called at start-up / by each thread. Returns false: no memory, no random bytes. */
bool quic_udp_init(void);
bool quic_udp_thread_init(void);
void quic_udp_thread_fini(void);

#endif

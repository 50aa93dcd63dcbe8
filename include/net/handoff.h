/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* handoff.h - listening sockets that another process opened
 *
 * Purpose: a new process takes over the sockets of the old one (-x, a worker's successor) or of the
 *          service manager (socket activation), so that no connection is lost in between. Each is
 *          offered here; socket_listen() takes the one that has the wanted address.
 * Wire   : the command `_getsocks` of the Runtime API. The answer is the number of sockets (4
 *          bytes, native order), then for each batch of at most 252 one message with their
 *          descriptors and, per socket: one byte with the length of the network namespace's name
 *          and that name, the same for the interface, 4 bytes of options. The receiver confirms
 *          each batch with 4 bytes.
 * Owns   : offered descriptors, until they are taken; sockets_forget() closes the rest.
 * Threads: one thread, before the loops; sockets_send() on the connection's thread.
 */
#ifndef NET_HANDOFF_H
#define NET_HANDOFF_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* What distinguishes sockets with the same address. */
struct socket_origin {
	const char *netns, *interface; /* NULL: none */
};

/* Takes over a listening descriptor; texts are copied. False: out of memory, or it does not listen;
 * it is closed.
 */
bool socket_offer(int fd, const struct socket_origin *origin);
/* The offered socket of this address, now the caller's; -1: there is none, or it is one of a path
 * that has been removed since: bind it anew.
 */
int socket_take_offer(const struct sockaddr_storage *addr, socklen_t len,
		      const struct socket_origin *origin);
/* Writes the offered sockets of this process's own network namespace to <fds>, at most <max>; they
 * remain offered. Returns how many there are.
 */
unsigned sockets_offered(int *fds, unsigned max);
/* Closes the sockets that no listener took. */
void sockets_forget(void);

/* Connects to the Runtime API at UNIX socket <path> and asks for its sockets. False: see <error>.
 */
bool sockets_fetch_from(const char *path, char *error, size_t size);
/* As sockets_fetch_from(), over an open connection (blocking). */
bool sockets_fetch(int fd, char *error, size_t size);
/* Sends <count> sockets over a connection and waits for the receiver, at most a second per batch.
 * False: it did not take them.
 */
bool sockets_send(int fd, const int *sockets, const struct socket_origin *origins, unsigned count);

#endif

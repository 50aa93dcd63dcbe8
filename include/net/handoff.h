/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* handoff.h - listening sockets that another process has opened
 *
 * Purpose: a new process goes on with the sockets of the old one (-x, a worker's successor) or of
 *          the service manager (socket activation), so that no connection is lost in between. Each
 *          is offered here; socket_listen() takes the one that has the wanted address.
 * Wire   : the command `_getsocks` of the Runtime API. Answer: the number of sockets (4 bytes of
 *          this machine), then per batch of at most 252 one message with their descriptors and for
 *          each: a byte and a network namespace's name of that length, the same for an interface, 4
 *          bytes of options. The receiver confirms each batch with 4 bytes.
 * Owns   : offered descriptors until they are taken; sockets_forget() closes the rest.
 * Threads: one, before the loops; sockets_send() on the thread of the connection.
 */
#ifndef NET_HANDOFF_H
#define NET_HANDOFF_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* What is known of a socket besides its address. */
struct socket_origin {
	const char *netns, *interface; /* NULL: none */
};

/* Takes over a listening descriptor; texts are copied. False: no memory, or it does not listen (it
 * is closed).
 */
bool socket_offer(int fd, const struct socket_origin *origin);
/* The offered socket of this address, now the caller's; -1: there is none, or it is one of a path
 * that has been removed since: bind it anew.
 */
int socket_take_offer(const struct sockaddr_storage *addr, socklen_t len,
		      const struct socket_origin *origin);
/* Writes the offered sockets of this process's own network namespace to <fds>, at most <max>; they
 * stay where they are. Returns how many there are.
 */
unsigned sockets_offered(int *fds, unsigned max);
/* Closes those that no listener took. */
void sockets_forget(void);

/* Connects to the Runtime API at UNIX socket <path> and asks for its sockets; false: <error>. */
bool sockets_fetch_from(const char *path, char *error, size_t size);
/* As sockets_fetch_from(), on a connection (blocking). */
bool sockets_fetch(int fd, char *error, size_t size);
/* Sends <count> sockets on a connection and waits for the receiver, at most a second per batch.
 * False: it did not take them.
 */
bool sockets_send(int fd, const int *sockets, const struct socket_origin *origins, unsigned count);

#endif

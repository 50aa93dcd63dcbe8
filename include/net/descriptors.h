/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* descriptors.h - bytes and open descriptors that travel together over a UNIX socket
 *
 * Purpose: a new process gets the listening sockets of the old one, a worker the files and clients
 *          that its master opens. The kernel makes copies: those that are sent stay the sender's.
 * Threads: any. Errors: errno.
 */
#ifndef NET_DESCRIPTORS_H
#define NET_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* As many as the kernel takes in one message. */
#define DESCRIPTORS_MAX 253

/* Sends <len> bytes with <count> descriptors (0: none). <flags>: of sendmsg(); there is no SIGPIPE.
 * Returns like sendmsg().
 */
ssize_t descriptors_send(int socket, const void *data, size_t len, const int *fds, unsigned count,
			 int flags);

/* What came, and where it is put. */
struct descriptors_message {
	void *data;
	size_t size;      /* room of <data> */
	int *fds;         /* room for <room>; NULL: none is wanted */
	unsigned room;
	unsigned count;   /* of <fds>, the receiver's from here on, close-on-exec */
	uid_t sender;     /* real user of the sender, as the kernel tells after */
	bool knows_sender; /*   descriptors_tell_sender() */
};

/* Receives a message. Descriptors that there is no room for are closed. Returns like recvmsg(). */
ssize_t descriptors_receive(int socket, struct descriptors_message *m, int flags);
/* Messages to <socket> carry the credentials of their sender from here on. */
bool descriptors_tell_sender(int socket);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* descriptors.h - sends bytes together with open descriptors over a UNIX socket
 *
 * Purpose: a new process gets the listening sockets of the old one, a worker gets the files and
 *          clients that its master opens. The kernel duplicates descriptors: the sender keeps its
 *          own.
 * Threads: any. Errors: errno.
 */
#ifndef NET_DESCRIPTORS_H
#define NET_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The maximum that the kernel takes in one message. */
#define DESCRIPTORS_MAX 253

/* Sends <len> bytes with <count> descriptors (0: none). <flags>: for sendmsg(); SIGPIPE is
 * suppressed. Returns like sendmsg().
 */
ssize_t descriptors_send(int socket, const void *data, size_t len, const int *fds, unsigned count,
			 int flags);

/* A received message and the room for it. */
struct descriptors_message {
	void *data;
	size_t size;      /* room of <data> */
	int *fds;         /* room for <room> descriptors; NULL: none are wanted */
	unsigned room;
	unsigned count;   /* received descriptors, owned by the receiver, close-on-exec */
	uid_t sender;     /* real user of the sender, as the kernel reports it after */
	bool knows_sender; /*   descriptors_tell_sender() */
};

/* Receives a message. Descriptors without room are closed. Returns like recvmsg(). */
ssize_t descriptors_receive(int socket, struct descriptors_message *m, int flags);
/* Makes the kernel add the sender's credentials to messages received on <socket>. False: failed. */
bool descriptors_tell_sender(int socket);

#endif

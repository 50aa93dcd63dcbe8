/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pipe.h - kernel pipes that move bytes from socket to socket without copying them to user space
 *
 * Owns   : a pipe is taken from the thread's spare ones and given back empty, or closed.
 * Threads: the taker's. Limits: maxpipes of the process; NULL when none is to be had: the caller
 *          copies.
 * Manual : option splice-*, maxpipes, tune.pipesize.
 */
#ifndef NET_PIPE_H
#define NET_PIPE_H

#include <stddef.h>
#include "base/slot.h"
#include "net/conn.h"

struct config;

struct pipe {
	struct pipe *next;
	int fd[2];     /* read end, write end */
	size_t bytes;  /* inside */
};

/* Takes an empty pipe, from this thread's cache or a new one. NULL: none available. */
struct pipe *pipe_take(void);
/* Gives a pipe back; one that still holds bytes is closed. NULLs the pointer; NULL is harmless. */
void pipe_give(struct pipe **p);
/* Closes the spare pipes of the calling thread. */
void pipe_thread_fini(void);
/* Sets the maximum of pipes of the process (0: none), at start-up. */
void pipe_set_limit(unsigned max);
/* Settings of the section `global` for pipes, in the configuration's slot. */
struct pipe_tunes {
	/* wanted capacity of a pipe in bytes: the kernel may round up, or refuse; 0: unset */
	int size;
};
extern struct slot pipe_tune_slot;
/* Applies these settings, at start-up. The two counts are of the process: pipes in use, and spare.
 */
void pipe_apply_tunes(const struct config *cfg);
unsigned pipe_used_count(void);
unsigned pipe_free_count(void);

/* Moves up to <max> bytes from the socket into the pipe. As conn_recv(). */
enum io conn_splice_in(struct conn *c, struct pipe *p, size_t max, size_t *got);
/* Moves the bytes of the pipe to the socket. As conn_send(). */
enum io conn_splice_out(struct conn *c, struct pipe *p, size_t *sent);

#endif

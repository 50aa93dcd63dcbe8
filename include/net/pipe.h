/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pipe.h - kernel pipes through which bytes go from socket to socket without entering user space
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

/* An empty pipe, from this thread's cache or a new one; NULL: none to be had. */
struct pipe *pipe_take(void);
/* Gives it back; a pipe that still holds bytes is closed. NULLs the pointer; NULL is harmless. */
void pipe_give(struct pipe **p);
/* Closes the calling thread's spare ones. */
void pipe_thread_fini(void);
/* Most pipes of the process; at start-up. 0 forbids. */
void pipe_set_limit(unsigned max);
/* What the section `global` says of pipes, in the configuration's slot. */
struct pipe_tunes {
	/* bytes that a pipe shall hold: the kernel may round up, or refuse; 0: unset */
	int size;
};
extern struct slot pipe_tune_slot;
/* Has it be in force; at start-up. */
void pipe_apply_tunes(const struct config *cfg);
unsigned pipe_used_count(void);
unsigned pipe_free_count(void);

/* Moves up to <max> bytes from the socket into the pipe. As conn_recv(). */
enum io conn_splice_in(struct conn *c, struct pipe *p, size_t max, size_t *got);
/* Moves what the pipe holds to the socket. As conn_send(). */
enum io conn_splice_out(struct conn *c, struct pipe *p, size_t *sent);

#endif

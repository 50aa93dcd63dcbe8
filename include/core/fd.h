/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fd.h - descriptors watched by the poller
 *
 * A registered descriptor has one owner thread and one handler. Readiness is edge-triggered for
 * every poller: a handler is called when bytes, room or an end may have appeared since it last
 * reported that there was none (fd_cant_recv / fd_cant_send, after EAGAIN or a short read). With
 * epoll this is EPOLLET, armed once; poll and select emulate it. The request path makes no
 * epoll_ctl. A handler may close any descriptor; events of closed descriptors that were already
 * fetched are dropped.
 */
#ifndef CORE_FD_H
#define CORE_FD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "base/strbuf.h"

enum fd_event {
	FD_IN = 1 << 0,   /* bytes to read, or the end */
	FD_OUT = 1 << 1,  /* room to write, or connect() has ended */
	FD_RDHUP = 1 << 2,/* the peer will send no more */
	FD_HUP = 1 << 3,  /* both directions closed */
	FD_ERR = 1 << 4,  /* error: see getsockopt(SO_ERROR) */
};

typedef void fd_handler_fn(void *owner, int fd, unsigned events);

struct fd_entry {
	fd_handler_fn *handler; /* NULL: not registered */
	void *owner;
	uint32_t generation;    /* to drop stale events */
	uint16_t thread;
	uint8_t interest;       /* FD_IN|FD_OUT wanted, for level-triggered pollers */
	uint8_t flags;          /* enum fd_flags */
};

enum fd_flags {
	FD_FL_LISTENER = 1 << 0, /* level-triggered, shared by threads (fd_add_shared) */
	FD_FL_BACKEND = 1 << 1,  /* for show fd */
	/* FD_OUT is not reported: for datagram sockets it would come and go */
	FD_FL_IN_ONLY = 1 << 2,
};

extern struct fd_entry *fd_table; /* indexed by descriptor; fd_table_size entries */
extern int fd_table_size;
/* Returns the number of entries up to the last one that was ever used, for walks. Any thread. */
int fd_table_used(void);

/* Registers <fd> (non-blocking) with the calling thread's poller. False: see errno; the caller
 * keeps the descriptor.
 */
bool fd_add(int fd, fd_handler_fn *handler, void *owner, unsigned flags);
/* Unregisters and closes <fd>. */
void fd_close(int fd);
/* Unregisters <fd>, which stays open: for handing it to another thread, which calls fd_add(). */
void fd_remove(int fd);

/* Registers and unregisters a listening socket: level-triggered, polled by several threads (each
 * calls it for itself; epoll: EPOLLEXCLUSIVE). The entry is shared; handler and owner must be the
 * same.
 */
bool fd_add_shared(int fd, fd_handler_fn *handler, void *owner);
void fd_remove_shared(int fd);

static inline void fd_cant_recv(int fd)
{
	fd_table[fd].interest |= FD_IN;
}

static inline void fd_cant_send(int fd)
{
	fd_table[fd].interest |= FD_OUT;
}

/* Allocates the table for descriptors below <size>; 0: the process's limit (RLIMIT_NOFILE). Once,
 * before any other call; otherwise fd_add() does it. False: out of memory.
 */
bool fd_init(int size);

/* Returns the number of registered descriptors of the process. */
int fd_count(void);

/* Disables a polling mechanism by name ("epoll", "poll", "select"). Before thread_run_all(). False:
 * unknown.
 */
bool fd_poller_disable(const char *name);
/* For `show fd`: the kind of descriptor that a handler serves, and how to describe it. */
struct fd_kind {
	fd_handler_fn *handler;
	const char *name;  /* of the handler */
	char letter;       /* 'p' pipe, 'l' listener, 'c' connection */
	/* Appends " name=value"s; on the owner's thread (listeners: any). NULL: nothing. */
	void (*describe)(void *owner, int fd, struct strbuf *out);
	const struct fd_kind *next; /* set by fd_kind_register() */
};

/* Registers a kind, at start-up. <kind> must remain valid. */
void fd_kind_register(struct fd_kind *kind);
/* Finds the kind of a handler. NULL: not registered. */
const struct fd_kind *fd_kind_find(fd_handler_fn *handler);

/* Returns the name of the mechanism in use, or the one that would be used. NULL: all are disabled.
 */
const char *fd_poller_name(void);
/* Prints the "Available polling systems" lines of -vv. */
void fd_poller_dump(FILE *out);
/* Sets how many events one poll may return (tune.maxpollevents). Before the threads start. */
void fd_set_max_events(int events);
/* Sets events that epoll must not report (tune.epoll.mask-events): FD_RDHUP|FD_HUP|FD_ERR. */
void fd_set_epoll_mask(unsigned events);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* master_priv.h - the master process: it starts workers, watches them, has a socket of its own
 *
 *	main.c --> master.c --fork--> worker: goes on in main.c as any process does (worker.c)
 *	              |  \
 *	              |   master_cli.c : clients of the master's socket (-S)
 *	              +-- startup_log.c: what master and worker said while they started
 *
 * The master reads nothing of the configuration but a few global keywords, opens no port and
 * carries no traffic: it is one thread in poll(). A reload is an exec() of the program's file, so
 * that a new binary is taken up too; what must survive it (workers, their channels, the listening
 * descriptors of -S, the client that asked) is passed in the environment. The new worker gets the
 * listening sockets from the old one, says that it is ready, and only then the old one is told to
 * leave. A worker has one channel to the master, a pair of sockets: it says "ready" there, and gets
 * clients (descriptors) of its Runtime API. Its end tells the other side's death.
 */
#ifndef MAIN_MASTER_PRIV_H
#define MAIN_MASTER_PRIV_H

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>
#include "base/list.h"
#include "base/strbuf.h"
#include "ctl/ctl.h"
#include "main_priv.h"

/* A worker, current or leaving. */
struct worker_process {
	struct list link;    /* newest first */
	pid_t pid;
	int channel;         /* owned */
	unsigned reloads;    /* since it was started; 0: the current one */
	int64_t since_s;     /* wall clock */
	bool ready;
	char version[32];
};

/* --- master.c */
struct master_status {
	pid_t pid;
	unsigned reloads, failed;
	int64_t since_s;
	bool last_failed;    /* the last reload did not give a worker */
};

const struct master_status *master_status(void);
/* List of struct worker_process, newest first. */
struct list *master_workers(void);
/* A connection to the worker's Runtime API with the rights of <level>; -1: failed. */
int master_connect(const struct worker_process *w, enum ctl_level level);
/* Reloads; <client> is answered and closed at its end (-1: nobody). Returns when it failed only. */
void master_reload(bool hard, int client);

/* --- master_cli.c */
/* The <n>th listening descriptor and its level; -1: there are not that many. */
int master_cli_get(unsigned n, enum ctl_level *level);
/* Adds what it waits for to <fds>; returns how many (at most <max>). */
unsigned master_cli_poll(struct pollfd *fds, unsigned max);
/* Handles what happened to these <count>. */
void master_cli_handle(const struct pollfd *fds, unsigned count);
void master_cli_fini(void);

/* --- startup_log.c */
/* Starts an empty log, shared with processes that are forked later, and keeps all messages of this
 * process there from now on. Without memory there is none.
 */
void startup_log_begin(void);
/* Goes on with the log of descriptor <fd> (from before an exec). */
void startup_log_take(int fd);
/* Its descriptor, for after an exec; -1: none. */
int startup_log_fd(void);
/* This process says no more there: it has started. */
void startup_log_end(void);
/* Appends it to <out>. */
void startup_log_read(struct strbuf *out);

extern const struct module mod_master_ctl;

#endif

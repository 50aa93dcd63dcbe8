/* SPDX-License-Identifier: GPL-2.0-or-later */
/* master_priv.h - the master process: starts and watches workers, has a socket of its own
 *
 *	main.c --> master.c --fork--> worker: continues in main.c as any process does (worker.c)
 *	              |  \
 *	              |   master_cli.c : clients of the master's socket (-S)
 *	              |   reexec.c     : the state that survives the exec() of a reload
 *	              +-- startup_log.c: messages of master and worker during their start
 *
 * The master reads only a few global keywords of the configuration, opens no port and carries no
 * traffic: it is one thread in poll(). A reload is an exec() of the program's file, so that a new
 * binary is used, too; the state that must survive it (workers, their channels, the listening
 * descriptors of -S, the client that requested it) is passed in the environment. The new worker
 * gets the listening sockets from the old one and reports that it is ready; only then is the old
 * one told to leave. A worker has one channel to the master, a socket pair, on which it reports
 * "ready" and receives clients (descriptors) of its Runtime API. End of file on it means that the
 * other side has died.
 */
#ifndef MAIN_MASTER_PRIV_H
#define MAIN_MASTER_PRIV_H

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>
#include "base/list.h"
#include "base/strbuf.h"
#include "ctl/ctl.h"
#include "mode_priv.h"

/* A worker, current or leaving. */
struct worker_process {
	struct list link;    /* newest first */
	pid_t pid;
	int channel;         /* owned */
	unsigned reloads;    /* since it was started; 0: it is the current one */
	int64_t since_s;     /* wall clock */
	pid_t reader;        /* the reader of its configuration; 0: none */
	int next_reader;     /* owned: the worker's end of the next reader's socket, -1 */
	uid_t next_user;     /* the user that requested that reader */
	bool ready;
	bool leaving;        /* it was told to leave: another one has taken over */
	bool silent;         /* its end of the channel is closed */
	char version[32];
};

/* --- master.c */
struct master_status {
	pid_t pid;
	unsigned reloads, failed;
	int64_t since_s;
	bool last_failed;    /* the last reload gave no worker */
};

/* State passed on when the master executes its file again. */
struct master_kept {
	struct master_status status;
	struct list workers;
	int signals;         /* signalfd */
	int home;            /* the directory at start */
	int client;          /* the one that requested the reload in progress, -1 */
	bool hard;           /* this reload ends old workers immediately */
};

const struct master_status *master_status(void);
/* List of struct worker_process, newest first. */
struct list *master_workers(void);
/* Returns the worker that serves, possibly from before a failed or unfinished reload; NULL: none.
 */
struct worker_process *master_serving_worker(void);
/* Connects to the worker's Runtime API with the rights of <level>. Returns -1: failed. */
int master_connect(const struct worker_process *w, enum ctl_level level);
enum master_reload {
	RELOAD_AS_SET,       /* according to `reload-mode` */
	RELOAD_NEW,          /* another program file, another worker */
	RELOAD_HARD,         /* likewise, and the old one ends immediately */
};
/* Reloads. <client> (-1: none) is owned from here on, and is answered and closed at the end.
 * Returns if it failed, if it waits for another reload, or if the worker reloads in its process. Of
 * the reloads requested during another one, only the newest is done; the other clients are answered
 * and closed.
 */
void master_reload(enum master_reload how, int client);
/* Called when the worker has reloaded in its process. */
void master_reloaded(bool success);

/* Returns a worker with process <pid> and channel <channel>, in no list. Returns NULL: no memory;
 * the caller keeps the channel.
 */
struct worker_process *worker_process_new(pid_t pid, int channel);
/* Removes it from its list, closes its descriptors and frees it. */
void worker_process_free(struct worker_process *w);

/* --- master_socket.c */
/* Listens on descriptor <fd>, whose clients have <level>. Returns false: no memory. */
bool master_socket_listen(int fd, enum ctl_level level);
/* Returns the <n>th listening descriptor and its level; -1: there are not that many. */
int master_socket_get(unsigned n, enum ctl_level *level);
/* Closes them all. */
void master_sockets_close(void);

/* --- reexec.c */
/* Writes <k> into the environment and keeps its descriptors open across the exec(). Returns false:
 * no memory.
 */
bool reexec_prepare(const struct master_kept *k);
/* Undoes this after the exec() has failed. */
void reexec_undo(const struct master_kept *k);
/* Fills <k>, whose list is empty, and the sockets of master_cli.c with the state left by the
 * previous program. Returns false: there was none.
 */
bool reexec_read(struct master_kept *k);

/* --- in_place.c: the worker reloads in its process */
/* Makes the worker reload; <client> is taken over. Returns false: it cannot be reached. */
bool in_place_begin(const struct worker_process *w, int client);
bool in_place_goes_on(void);
/* Stops waiting for it: the client is told that the reload failed. */
void in_place_abandon(void);
/* in_place_poll() adds the descriptors it waits for, at most <max>, and returns their number;
 * in_place_handle() then handles their events.
 */
unsigned in_place_poll(struct pollfd *fds, unsigned max);
void in_place_handle(const struct pollfd *fds, unsigned count);
void in_place_fini(void);

/* --- master_cli.c */
/* Adds the descriptors it waits for to <fds>; returns their number (at most <max>). */
unsigned master_cli_poll(struct pollfd *fds, unsigned max);
/* Returns the longest time to wait, ms; -1: unlimited. */
int master_cli_wait_ms(void);
/* Handles the events of these <count> descriptors. */
void master_cli_handle(const struct pollfd *fds, unsigned count);
/* Sends <text> to <fd> (taken over) and closes it; does not wait for a client that does not read.
 */
void master_cli_answer(int fd, struct slice text);
void master_cli_fini(void);

/* --- channel.c: between master and worker, one byte and optionally a descriptor at a time */
enum channel_byte {
	CHANNEL_READY = 'R',  /* to the master: the worker is ready */
	CHANNEL_READER = 'D', /* to the master, with a descriptor: it wants a reader */
	CHANNEL_ENDED = 'E',  /* to a worker: another one has ended */
	CHANNEL_CLIENT = '0', /* to a worker, plus the level: a client of its Runtime API */
};
/* Sends a byte, with a descriptor, which the caller keeps, or -1. */
bool channel_send(int channel, char what, int fd);
/* Receives a byte, the descriptor that came with it (-1: none), and the user of its sender (-1: the
 * kernel was not set to pass it). Returns 0: the other end is closed; -1: nothing received.
 */
int channel_receive(int channel, int *fd, uid_t *sender);

/* --- startup_log.c */
/* Starts an empty log, shared with processes that are forked later, and records all messages of
 * this process in it from now on. Without memory there is no log.
 */
void startup_log_begin(void);
/* Called when this process has started: stops recording, and makes a copy of its own. */
void startup_log_end(void);
/* Called for a reload in the process: <text> replaces the log. */
void startup_log_replace(const char *text, size_t len);
/* Appends the log to <out>. */
void startup_log_read(struct strbuf *out);

extern const struct module mod_master_ctl;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* master_priv.h - the master process: it starts workers, watches them, has a socket of its own
 *
 *	main.c --> master.c --fork--> worker: goes on in main.c as any process does (worker.c)
 *	              |  \
 *	              |   master_cli.c : clients of the master's socket (-S)
 *	              |   reexec.c     : what survives the exec() of a reload
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
#include "mode_priv.h"

/* A worker, current or leaving. */
struct worker_process {
	struct list link;    /* newest first */
	pid_t pid;
	int channel;         /* owned */
	unsigned reloads;    /* since it was started; 0: the current one */
	int64_t since_s;     /* wall clock */
	pid_t reader;        /* reads the configuration for it; 0: none */
	int next_reader;     /* owned: the worker's end of the next one's socket, -1 */
	uid_t next_user;     /* the user that asked for that one */
	bool ready;
	bool leaving;        /* it was told to leave: another one serves */
	bool silent;         /* its end of the channel is closed */
	char version[32];
};

/* --- master.c */
struct master_status {
	pid_t pid;
	unsigned reloads, failed;
	int64_t since_s;
	bool last_failed;    /* the last reload did not give a worker */
};

/* What goes on in the next program when the master executes its file again. */
struct master_kept {
	struct master_status status;
	struct list workers;
	int signals;         /* signalfd */
	int home;            /* folder of the start */
	int client;          /* the one that asked for the reload that goes on, -1 */
	bool hard;           /* that reload ends old workers immediately */
};

const struct master_status *master_status(void);
/* List of struct worker_process, newest first. */
struct list *master_workers(void);
/* The one that serves, from before a reload that failed or goes on maybe; NULL: none does. */
struct worker_process *master_serving_worker(void);
/* A connection to the worker's Runtime API with the rights of <level>; -1: failed. */
int master_connect(const struct worker_process *w, enum ctl_level level);
enum master_reload {
	RELOAD_AS_SET,       /* as `reload-mode` says */
	RELOAD_NEW,          /* another program file, another worker */
	RELOAD_HARD,         /* the same, and the old one ends immediately */
};
/* Reloads; <client> is owned from here on, answered and closed at its end (-1: none). Returns when
 * it failed, waits for another one, or when the worker does it in its process. Of those asked for
 * while one goes on one is done, the newest; the others' clients leave with an answer.
 */
void master_reload(enum master_reload how, int client);
/* The worker has reloaded in its process. */
void master_reloaded(bool success);

/* A worker with process <pid> and channel <channel>, in no list. NULL: no memory; the channel is
 * still the caller's.
 */
struct worker_process *worker_process_new(pid_t pid, int channel);
/* Takes it out of its list and closes what it has. */
void worker_process_free(struct worker_process *w);

/* --- master_socket.c */
/* Listens on descriptor <fd>, whose clients have <level>. False: no memory. */
bool master_socket_listen(int fd, enum ctl_level level);
/* The <n>th listening descriptor and its level; -1: there are not that many. */
int master_socket_get(unsigned n, enum ctl_level *level);
/* Closes them all. */
void master_sockets_close(void);

/* --- reexec.c */
/* Writes <k> into the environment and lets its descriptors stay open over the exec(). False: no
 * memory.
 */
bool reexec_prepare(const struct master_kept *k);
/* The exec() failed: takes that back. */
void reexec_undo(const struct master_kept *k);
/* Fills <k>, whose list is empty, and the sockets of master_cli.c with what the program before has
 * left. False: there was none.
 */
bool reexec_read(struct master_kept *k);

/* --- in_place.c : the worker reloads in its process */
/* Has it reload; <client> is taken over. False: it cannot be reached. */
bool in_place_begin(const struct worker_process *w, int client);
bool in_place_goes_on(void);
/* It is waited for no more: the client that asked is told that it failed. */
void in_place_abandon(void);
/* Adds what it waits for, at most <max>; returns how many. Then handles what happened to them. */
unsigned in_place_poll(struct pollfd *fds, unsigned max);
void in_place_handle(const struct pollfd *fds, unsigned count);
void in_place_fini(void);

/* --- master_cli.c */
/* Adds what it waits for to <fds>; returns how many (at most <max>). */
unsigned master_cli_poll(struct pollfd *fds, unsigned max);
/* How long to wait at most, ms; -1: as long as nothing happens. */
int master_cli_wait_ms(void);
/* Handles what happened to these <count>. */
void master_cli_handle(const struct pollfd *fds, unsigned count);
/* Sends <text> to <fd> (taken over) and closes it, without waiting for a client that does not
 * read.
 */
void master_cli_answer(int fd, struct slice text);
void master_cli_fini(void);

/* --- channel.c : between master and worker, a byte and maybe a descriptor at a time */
enum channel_byte {
	CHANNEL_READY = 'R',  /* to the master: the worker serves */
	CHANNEL_READER = 'D', /* to the master, with a descriptor: it wants a reader */
	CHANNEL_ENDED = 'E',  /* to a worker: another one has ended */
	CHANNEL_CLIENT = '0', /* to a worker, plus the level: a client of its Runtime API */
};
/* The descriptor stays the caller's; -1: none. */
bool channel_send(int channel, char what, int fd);
/* The byte, the descriptor that came with it (-1), and the user of its sender (-1: the kernel was
 * not asked to tell). 0: the other end is closed. -1: nothing.
 */
int channel_receive(int channel, int *fd, uid_t *sender);

/* --- startup_log.c */
/* Starts an empty log, shared with processes that are forked later, and keeps all messages of this
 * process there from now on. Without memory there is none.
 */
void startup_log_begin(void);
/* This process says no more there, and has a copy of its own: it has started. */
void startup_log_end(void);
/* A reload in the process: <text> is what is to be read from now on. */
void startup_log_replace(const char *text, size_t len);
/* Appends it to <out>. */
void startup_log_read(struct strbuf *out);

extern const struct module mod_master_ctl;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mode_priv.h - a master and its workers, as the other files see them */
#ifndef MAIN_MODE_PRIV_H
#define MAIN_MODE_PRIV_H

#include <stdbool.h>
#include <sys/types.h>
#include "base/module.h"

struct main_options;
struct main_settings;

/* --- reexec.c : a master that executes its program file again (master_priv.h) */
/* Before anything else looks at the environment: takes what the master of before has left there. */
void master_recall(void);
/* Is this the master of before? Its workers end with it: what is wrong fails the reload only. */
bool master_is_back(void);

/* --- master.c : the master process (master_priv.h) */
/* Notes the folder of the start, before another one is entered: a reload begins there. */
void master_note_folder(void);
/* This process is no master. */
void master_forget_folder(void);
/* Becomes the master: forks a worker. True in the worker, which goes on; false in the master, at
 * its end, with the status to exit with. <set>: of the early pass.
 */
bool master_run(const struct main_options *o, char **argv, const struct main_settings *set,
		int *status);

/* --- master_socket.c */
/* Listens where -S says ("path,mode,600"). False: said. */
bool master_open_socket(const char *text);

/* --- mode.c */
/* Becomes a master where that is asked for. True: go on, alone or as a worker; false: exit with
 * *status.
 */
bool mode_enter(const struct main_options *o, char **argv, int *status);
/* Is this a master at its end? Its exit status tells of its worker's death: it does not die so. */
bool mode_is_master(void);
/* Gets the listening sockets of an old process (-x), of the worker of before, of the service
 * manager, for socket_listen(). False: said.
 */
bool mode_take_sockets(const struct main_options *o);

/* --- worker.c : a process that a master has started */
/* Takes over the descriptors: the channel to the master, and a connection to the worker of before
 * (-1: none). <first>: it is the first one of this master.
 */
void worker_begin(int channel, int donor, bool first);
bool worker_has_master(void);
bool worker_is_first(void);
/* Gets the listening sockets of the worker of before, for socket_listen(), unless they are not
 * wanted (-x /dev/null).
 */
void worker_take_sockets(bool wanted);
extern const struct module mod_worker, mod_handoff_ctl, mod_master_ctl;

/* Asks the master for a reader, which gets descriptor <fd> (taken over). From any thread. */
bool worker_ask_reader(int fd);

/* --- activation.c : sockets that the service manager has given to this process */
/* Before a master or a worker begins: finds those of the manager's store, and takes them out of the
 * sequence that begins at descriptor 3, which an exec() would leave open.
 */
void activation_begin(void);
/* Offers them all to socket_listen(), and those of the master, where there is one. */
void activation_offer(bool has_master);
/* In a master whose worker serves: closes those of the store. Has the manager a store? */
bool activation_is_stored(void);
/* It has: has it keep the sockets that the worker listens on. <fd>: a connection to the worker's
 * Runtime API, taken over; -1: there is none, errno. Waits for the worker, at most some seconds.
 */
void activation_store(int fd);

/* --- notify.c : the service manager (sd_notify); without $NOTIFY_SOCKET nothing is said */
/* -Ws: it is wanted. */
void notify_enable(void);
/* <main_pid> 0: is not said. */
void notify_ready(const char *status, pid_t main_pid);
void notify_reloading(void);
void notify_stopping(void);
/* How many descriptors the manager keeps for us; 0: it has no store. */
unsigned notify_store_room(void);
/* The manager's store holds copies of these <count> sockets from now on, and nothing of before. */
void notify_store(const int *fds, unsigned count);
/* Is that the name of what notify_store() has given to the manager? */
bool notify_is_stored(const char *name, size_t len);
/* The loop turns: says so when the watchdog wants to hear it. */
void notify_alive(void);
/* How long the loop may wait, ms; -1: for ever. */
int notify_wait_ms(void);
/* This process says nothing: it is a worker. */
void notify_forget(void);

#endif

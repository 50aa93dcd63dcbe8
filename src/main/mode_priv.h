/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mode_priv.h - master and workers, as seen by other files */
#ifndef MAIN_MODE_PRIV_H
#define MAIN_MODE_PRIV_H

#include <stdbool.h>
#include <sys/types.h>
#include "base/module.h"

struct main_options;
struct main_settings;

/* --- reexec.c: a master that executes its program file again (master_priv.h) */
/* Must be called before any other code reads the environment: takes the state left there by the
 * previous master.
 */
void master_recall(void);
/* Returns true if this is a re-executed master. Its workers end with it: errors fail only the
 * reload.
 */
bool master_is_back(void);

/* --- master.c: the master process (master_priv.h) */
/* Stores the directory at start, before another one is entered: reloads start there. */
void master_note_folder(void);
/* Called when this process is not a master. */
void master_forget_folder(void);
/* Becomes the master and forks a worker. Returns true in the worker, which continues; returns false
 * in the master at its end, with the status to exit with. <set>: from the early pass.
 */
bool master_run(const struct main_options *o, char **argv, const struct main_settings *set,
		int *status);

/* --- master_socket.c */
/* Listens on the address of -S ("path,mode,600"). Returns false: reported. */
bool master_open_socket(const char *text);

/* --- mode.c */
/* Becomes a master if requested. Returns true: continue, alone or as a worker; false: exit with
 * *status.
 */
bool mode_enter(const struct main_options *o, char **argv, int *status);
/* Returns true if this is a master at its end. Its exit status describes its worker's death: it
 * must not die the same way.
 */
bool mode_is_master(void);
/* Gets the listening sockets of an old process (-x), of the previous worker, or of the service
 * manager, for socket_listen(). Returns false: reported.
 */
bool mode_take_sockets(const struct main_options *o);

/* --- worker.c: a process started by a master */
/* Takes over the descriptors: the channel to the master, and a connection to the previous worker
 * (-1: none). <first>: it is the first worker of this master.
 */
void worker_begin(int channel, int donor, bool first);
bool worker_has_master(void);
bool worker_is_first(void);
/* Gets the listening sockets of the previous worker for socket_listen(), unless they are not wanted
 * (-x /dev/null).
 */
void worker_take_sockets(bool wanted);
extern const struct module mod_worker, mod_handoff_ctl, mod_master_ctl;

/* Asks the master for a reader, which gets descriptor <fd> (taken over). Any thread. */
bool worker_ask_reader(int fd);

/* --- activation.c: sockets passed by the service manager */
/* Must be called before a master or a worker begins: finds the sockets of the manager's store, and
 * moves them out of the sequence that starts at descriptor 3, which stays open across an exec().
 */
void activation_begin(void);
/* Offers all of them to socket_listen(), and those of the master, if there is one. */
void activation_offer(bool has_master);
/* Called in a master whose worker is ready: closes the sockets of the store. Returns true if the
 * manager has a store.
 */
bool activation_is_stored(void);
/* Called if it has: stores the sockets that the worker listens on. <fd>: a connection to the
 * worker's Runtime API, taken over; -1: none, errno. Blocks until the worker answers, for a few
 * seconds at most.
 */
void activation_store(int fd);

/* --- notify.c: the service manager (sd_notify); does nothing without $NOTIFY_SOCKET */
/* -Ws: enables notification. */
void notify_enable(void);
/* <main_pid> 0: not sent. */
void notify_ready(const char *status, pid_t main_pid);
void notify_reloading(void);
void notify_stopping(void);
/* Returns the number of descriptors that the manager stores for us; 0: it has no store. */
unsigned notify_store_room(void);
/* Stores copies of these <count> sockets in the manager, replacing everything stored before. */
void notify_store(const int *fds, unsigned count);
/* Returns true if it is the name of the descriptors of notify_store(). */
bool notify_is_stored(const char *name, size_t len);
/* Called by the loop: notifies the watchdog when due. */
void notify_alive(void);
/* Returns how long the loop may wait, ms; -1: unlimited. */
int notify_wait_ms(void);
/* Disables notification: this process is a worker. */
void notify_forget(void);

#endif

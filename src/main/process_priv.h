/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_priv.h - the process: its rights, its files, its predecessors, information about it */
#ifndef MAIN_PROCESS_PRIV_H
#define MAIN_PROCESS_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/module.h"
#include "conf/conf.h"

struct main_options;
struct main_settings;

/* --- door.c, reader.c: files and ports for a reload in an unprivileged process (door_priv.h) */
/* Called when the process has dropped rights that a new configuration may need. */
void door_need(void);
bool door_is_needed(void);
/* Until door_end(), requests to the system by name go to the master, if needed and if there is one.
 * Returns false: errno. Any thread, for one reload at a time.
 */
bool door_begin(void);
void door_end(void);
/* In a process forked by the master: reads the configuration, answers on <fd>, then exits. <user>:
 * of the requesting worker, -1: unknown.
 */
void reader_run(int fd, uid_t user, const struct main_options *o) __attribute__((noreturn));

/* --- rights.c */
/* Parses "cap_net_raw,cap_sys_admin" into <caps>, as bits by number. Returns false with *bad set to
 * the invalid word.
 */
bool rights_parse(const char *text, uint64_t *caps, const char **bad, size_t *bad_len);
/* Enters a user namespace of its own, keeping its user and group: there it has all rights, outside
 * none. Must be called before there are threads. Returns false: errno.
 */
bool rights_go_apart(void);
/* Drops all capabilities; rights_restrict() then has none to keep. Returns false: errno. */
bool rights_give_up(void);
/* Without root: enables those of <caps> that the process may have, before sockets are opened. */
void rights_raise(uint64_t caps);
/* Called before the change of user: makes capabilities survive it. Returns false: errno. */
bool rights_keep(uint64_t caps);
/* Called after it: keeps only these, as far as the process may have them. Returns false: errno. */
bool rights_restrict(uint64_t caps);
/* Returns the effective capabilities. */
uint64_t rights_in_force(void);
/* Returns true if they include one of those that conf_needs_net() is about. */
bool rights_reach_net(uint64_t caps);
/* Forbids this thread and those it starts to run programs and to start processes, unless as root,
 * as far as the kernel can: there is no error.
 */
void rights_forbid_programs(void);

/* --- sandbox_conf.c, sandbox_apply.c: `sandbox on` (sandbox.h) */
extern const struct module mod_sandbox;
/* Called if a process without a master will enter a sandbox: records the files that its
 * configuration reads, until sandbox_apply().
 */
void sandbox_prepare(void);
/* Enters the sandbox, if configured; all other rights must be dropped before. Returns false:
 * reported.
 */
bool sandbox_apply(const struct config *cfg, const struct main_options *o);

/* --- process.c */
/* Opens the pid file, before rights are dropped and the directory changes. Returns -1: none, or an
 * error if *failed is set.
 */
int process_open_pid_file(const struct main_settings *set, const struct main_options *o,
			  bool *failed);
/* Writes and closes the pid file; -1: none. */
void process_write_pid(int fd);
/* Forks. The child continues; the parent exits when the child reports that it is ready, or ends.
 * Returns the descriptor to report on; -1: failed, reported.
 */
int process_go_background(const struct main_options *o);
void process_say_ready(int fd);
/* Redirects the standard descriptors to /dev/null, if <wanted>. */
void process_leave_terminal(bool wanted);
/* Handles pid file, root directory, background and rights, then tells the old processes to leave.
 * Returns in the process that stays. Returns false: reported.
 */
bool process_settle(struct config *cfg, const struct main_options *o);

/* --- old_process.c */
/* Signals the processes of -sf and -st, and watches for their end from now on. */
void old_process_tell(const struct main_options *o, int sig);
/* Called when a process that may share listening sockets with this one has ended. Thread 0. */
void old_process_ended(void);
extern const struct module mod_old_process;

/* --- info.c */
extern const struct module mod_info;
extern const struct module mod_process_ctl; /* set rate-limit, show dev, show libs */
extern uint64_t main_start_ns; /* monotonic */
extern uint64_t main_ready_ns;

#endif

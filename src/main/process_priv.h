/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_priv.h - the process: its rights, its files, those before it, what is told of it */
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

/* --- door.c, reader.c : files and ports for a reload in a process without rights (door_priv.h) */
/* The process has given up rights that a new configuration may need. */
void door_need(void);
bool door_is_needed(void);
/* From here to door_end(), what is asked of the system by a name is asked of the master, if that is
 * needed and there is one. False: errno. From any thread, for one reload at a time.
 */
bool door_begin(void);
void door_end(void);
/* In a process that the master has forked: reads the configuration, answers on <fd>, ends. <user>:
 * of the worker that asks, -1 unknown.
 */
void reader_run(int fd, uid_t user, const struct main_options *o) __attribute__((noreturn));

/* --- rights.c */
/* Reads "cap_net_raw,cap_sys_admin" into <caps>, bits by their numbers. False: *bad is none. */
bool rights_parse(const char *text, uint64_t *caps, const char **bad, size_t *bad_len);
/* Into a name space of users of its own, as the user and group that it has: there it has all
 * rights, and none outside. Before there are threads. False: errno.
 */
bool rights_go_apart(void);
/* No capability is left; rights_restrict() then has none to look for. False: errno. */
bool rights_give_up(void);
/* Without root's rights: those of these that the process may have are in force from here on, before
 * sockets are opened.
 */
void rights_raise(uint64_t caps);
/* Before the change of user: they shall survive it. False: errno. */
bool rights_keep(uint64_t caps);
/* After it: these, as far as the process may have them, and no others. False: errno. */
bool rights_restrict(uint64_t caps);
/* Those that are in force. */
uint64_t rights_in_force(void);
/* Is one of these among them that conf_needs_net() is about? */
bool rights_reach_net(uint64_t caps);
/* No program is run from here on by this thread and those it starts, and no process started,
 * unless as root. As far as the kernel can: there is no error.
 */
void rights_forbid_programs(void);

/* --- sandbox_conf.c, sandbox_apply.c : `sandbox on` (sandbox.h) */
extern const struct module mod_sandbox;
/* A process without a master will be in one: what its configuration reads is noted from here on,
 * until sandbox_apply().
 */
void sandbox_prepare(void);
/* Enters it, if that is asked for; the last of all rights to go. False: said. */
bool sandbox_apply(const struct config *cfg, const struct main_options *o);

/* --- process.c */
/* Opens the pid file, before rights are dropped and the folder changes. -1: none, or *failed. */
int process_open_pid_file(const struct main_settings *set, const struct main_options *o,
			  bool *failed);
/* Writes and closes it; -1: none. */
void process_write_pid(int fd);
/* The child goes on; the parent leaves when the child says that it is ready, or ends. Returns the
 * descriptor to say it to; -1: failed, said.
 */
int process_go_background(const struct main_options *o);
void process_say_ready(int fd);
/* Standard descriptors lead nowhere, if <wanted>. */
void process_leave_terminal(bool wanted);
/* Pid file, root folder, background, rights; then the old processes are told to go. Returns in the
 * process that stays. False: said.
 */
bool process_settle(struct config *cfg, const struct main_options *o);

/* --- old_process.c */
/* Signals the processes of -sf and -st; their end is noticed from now on. */
void old_process_tell(const struct main_options *o, int sig);
/* A process that may have listening sockets in common with this one has ended. Thread 0. */
void old_process_ended(void);
extern const struct module mod_old_process;

/* --- info.c */
extern const struct module mod_info;
extern const struct module mod_process_ctl; /* set rate-limit, show dev, show libs */
extern uint64_t main_start_ns; /* monotonic */
extern uint64_t main_ready_ns;

#endif

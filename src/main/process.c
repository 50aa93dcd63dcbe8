/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process.c - sets up the process: pid file, background, root directory, user and group */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/diag.h"
#include "base/file.h"
#include "check/run.h"
#include "proxy/check.h"
#include "ext/peers.h"
#include "mode_priv.h"
#include "options_priv.h"
#include "process_priv.h"
#include "settings_priv.h"

/* --- pid file -------------------------------------------------------------------------------- */

int process_open_pid_file(const struct main_settings *set, const struct main_options *o,
			  bool *failed)
{
	const char *path = o->pidfile ? o->pidfile : set->pidfile;
	int flags = O_CREAT | O_WRONLY | O_TRUNC | O_NOFOLLOW, fd;

	if (!path)
		return -1;
	/* a link that another process puts there meanwhile leads us nowhere */
	if (unlink(path) == 0 || errno == ENOENT)
		flags |= O_EXCL;
	fd = file_open(path, flags, 0644);
	if (fd < 0) {
		diag_say(DIAG_ALERT, "[%s.main()] Cannot create pidfile %s", o->program, path);
		*failed = true;
	}
	return fd;
}

void process_write_pid(int fd)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%d\n", (int)getpid());

	if (fd < 0)
		return;
	if (write(fd, text, (size_t)len) != len)
		diag_say(DIAG_WARNING, "Cannot write the pid file: %s.", strerror(errno));
	close(fd);
}

/* --- background ------------------------------------------------------------------------------ */

/* In the parent: leaves with the status that the child's start deserves. */
static void wait_for_child(int fd)
{
	char ready;
	ssize_t got;

	do {
		got = read(fd, &ready, 1);
	} while (got < 0 && errno == EINTR);
	_exit(got == 1 ? 0 : 1);
}

int process_go_background(const struct main_options *o)
{
	int ends[2];
	pid_t pid = pipe2(ends, O_CLOEXEC) < 0 ? -1 : fork();

	if (pid < 0) {
		diag_say(DIAG_ALERT, "[%s.main()] Cannot fork.", o->program);
		return -1;
	}
	if (pid > 0) {
		close(ends[1]);
		wait_for_child(ends[0]);
	}
	close(ends[0]);
	setsid();
	return ends[1];
}

void process_say_ready(int fd)
{
	if (fd < 0)
		return;
	if (write(fd, "", 1) < 0)
		diag_say(DIAG_WARNING, "The process that started this one is gone.");
	close(fd);
}

/* Standard descriptors lead nowhere: to <fd>, opened before the root folder changed. */
static void leave_terminal(int fd)
{
	if (fd < 0)
		return;
	fflush(NULL);
	for (int i = 0; i <= 2; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
}

void process_leave_terminal(bool wanted)
{
	if (wanted)
		leave_terminal(open("/dev/null", O_RDWR | O_CLOEXEC));
}

/* --- rights ---------------------------------------------------------------------------------- */

/* An empty folder that has no name any more: nothing can be made in it. */
static bool enter_nameless_folder(void)
{
	char path[] = "/tmp/haproxy.XXXXXX";
	int fd = mkdtemp(path) ? open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	bool good = fd >= 0 && rmdir(path) == 0 && fchdir(fd) == 0 && chroot(".") == 0;

	if (fd >= 0)
		close(fd);
	return good;
}

static bool enter_root(const char *dir)
{
	if (strcmp(dir, "auto") == 0)
		return enter_nameless_folder();
	return chroot(dir) == 0 && chdir("/") == 0;
}

/* One that started without root's rights has them in a name space of users of its own. What it was
 * given counts there no more, and the rest would be ways out of that folder: it gives all up.
 */
static bool enter_root_apart(const struct main_settings *set, const struct main_options *o)
{
	if (!rights_go_apart()) {
		diag_say(DIAG_NOTICE, "[%s.main()] No name space of users can be made for 'chroot' "
			 "(%s).", o->program, strerror(errno));
		return false;
	}
	if (set->rights.caps)
		diag_say(DIAG_WARNING, "[%s.main()] 'setcap' has no effect: 'chroot' takes a name "
			 "space of users, as the process lacks the capability cap_sys_chroot.",
			 o->program);
	return enter_root(set->rights.chroot_dir) && rights_give_up();
}

static bool change_root(const struct main_settings *set, const struct main_options *o)
{
	const char *dir = set->rights.chroot_dir;

	if (!dir || enter_root(dir) ||
	    (errno == EPERM && geteuid() != 0 && enter_root_apart(set, o)))
		return true;
	diag_say(DIAG_ALERT, "[%s.main()] Cannot chroot(%s).", o->program, dir);
	return false;
}

/* Of what a process that was started as root keeps without saying so. */
static void warn_of_rights(const struct main_settings *set, const struct main_options *o)
{
	if (geteuid() != 0)
		return;
	if (!set->rights.chroot_dir)
		diag_say(DIAG_WARNING, "[%s.main()] HAProxy was started as root without 'chroot', "
			 "so an intruder would see the whole file system. Put 'chroot auto' into "
			 "the global section, or 'chroot /' if that is meant.", o->program);
	if (set->rights.uid < 0)
		diag_say(DIAG_WARNING, "[%s.main()] HAProxy was started as root and keeps root's "
			 "rights. Put 'user' or 'uid' into the global section to drop them, or "
			 "'user root' if that is meant.", o->program);
}

/* Does the change of user take away what the configuration needs? */
static bool may_change_user(const struct config *cfg, const struct main_options *o)
{
	const struct main_settings *set = settings_of(cfg);

	if (!cfg->needs_net || set->rights.uid <= 0 || geteuid() != 0 ||
	    rights_reach_net(set->rights.caps))
		return true;
	diag_say(DIAG_ALERT, "[%s.main()] %s takes root's rights, or the capability cap_net_raw or "
		 "cap_net_admin, which 'uid' and 'user' give up. Put 'setcap cap_net_raw' into the "
		 "global section.", o->program, cfg->needs_net);
	return false;
}

static void warn_of_lacking_rights(const struct config *cfg, const struct main_options *o)
{
	if (cfg->needs_net && !rights_reach_net(rights_in_force()))
		diag_say(DIAG_WARNING, "[%s.main()] %s takes root's rights, or the capability "
			 "cap_net_raw or cap_net_admin, which the process has not: it will not "
			 "work.",
			 o->program, cfg->needs_net);
}

static bool change_ids(const struct config *cfg, const struct main_options *o)
{
	const struct main_settings *set = settings_of(cfg);

	if (!may_change_user(cfg, o))
		return false;
	if (set->rights.gid) {
		if (getgroups(0, NULL) > 0 && setgroups(0, NULL) < 0)
			diag_say(DIAG_WARNING, "[%s.main()] Failed to drop supplementary groups. "
				 "Using 'gid'/'group' without 'uid'/'user' is generally useless.",
				 o->program);
		if (setgid((gid_t)set->rights.gid) < 0) {
			diag_say(DIAG_ALERT, "[%s.main()] Cannot set gid %d.", o->program,
				 set->rights.gid);
			return false;
		}
	}
	if (!rights_keep(set->rights.caps))
		diag_say(DIAG_ALERT, "[%s.main()] Cannot keep capabilities (%s).", o->program,
			 strerror(errno));
	if (set->rights.uid > 0 && setuid((uid_t)set->rights.uid) < 0) {
		diag_say(DIAG_ALERT, "[%s.main()] Cannot set uid %d.", o->program, set->rights.uid);
		return false;
	}
	if (!rights_restrict(set->rights.caps)) {
		diag_say(DIAG_ALERT, "[%s.main()] Cannot keep the capabilities of 'setcap' (%s).",
			 o->program, strerror(errno));
		return false;
	}
	if (set->rights.uid > 0 && !set->rights.gid && getgid() == 0)
		diag_say(DIAG_WARNING, "[%s.main()] The process keeps the rights of group 0: set "
			 "'gid' or 'group' beside 'uid' or 'user'.", o->program);
	warn_of_lacking_rights(cfg, o);
	return true;
}

static void set_process_flags(const struct config *cfg, const struct main_options *o)
{
	const struct main_settings *set = settings_of(cfg);

	if (set->rights.set_dumpable)
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	if (!set->rights.insecure_setuid)
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!checks_may_fork(cfg) && !o->may_fork && !set->sandbox)
		rights_forbid_programs();
	if (set->rights.chroot_dir || set->rights.uid > 0 || set->rights.gid || set->sandbox)
		door_need();
}

/* The part of it that is a lonely process's: under a master, that one has done it. */
static bool settle_alone(const struct config *cfg, const struct main_options *o)
{
	const struct main_settings *set = settings_of(cfg);
	bool failed = false, background = (o->daemon || set->daemon) && !o->foreground;
	int pid_fd = process_open_pid_file(set, o, &failed);
	int null_fd = background ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
	int parent = -1;

	if (failed || !change_root(set, o))
		return false;
	if (background) {
		parent = process_go_background(o);
		if (parent < 0)
			return false;
	}
	process_write_pid(pid_fd);
	/* the last moment at which processes of another user can be signalled */
	old_process_tell(o, o->old.signal);
	if (!change_ids(cfg, o))
		return false;
	set_process_flags(cfg, o);
	leave_terminal(null_fd);
	if (!sandbox_apply(cfg, o))
		return false;
	process_say_ready(parent);
	return true;
}

bool process_settle(struct config *cfg, const struct main_options *o)
{
	const struct main_settings *set = settings_of(cfg);

	tzset(); /* its file may be out of reach soon */
	warn_of_rights(set, o);
	if ((o->old.pid_count && o->old.signal == SIGUSR1) ||
	    (worker_has_master() && !worker_is_first()))
		peers_await_old_process();
	if (!worker_has_master())
		return settle_alone(cfg, o);
	if (!change_root(set, o))
		return false;
	if (worker_is_first())
		old_process_tell(o, o->old.signal);
	if (!change_ids(cfg, o))
		return false;
	set_process_flags(cfg, o);
	return sandbox_apply(cfg, o);
}

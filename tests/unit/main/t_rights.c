/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_rights - what rights_forbid_programs() takes, and what it leaves
 *
 * Each is tried by a child of its own, which tells by its exit status.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/spawn.h"
#include "process_priv.h"
#include "../tap.h"

#define NOBODY 65534

static char folder[] = "/tmp/t_rights.XXXXXX";

/* --- what is tried: 0 when it worked, else errno ---------------------------------------------- */

static int try_program(void)
{
	char *const args[] = { (char *)(uintptr_t)"true", NULL };

	execv("/bin/true", args);
	return errno;
}

static int try_process(void)
{
	pid_t pid;

	if (geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return ENOTSUP;
	pid = fork();
	if (pid < 0)
		return errno;
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return 0;
}

static void *run(void *arg)
{
	return arg;
}

static int try_threads(void)
{
	pthread_t t;
	void *got = NULL;

	if (geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return ENOTSUP;
	for (int i = 0; i < 3; i++)
		if (!spawn_thread(&t, run, folder) || pthread_join(t, &got) != 0 || got != folder)
			return errno ? errno : EINVAL;
	return spawn_thread(NULL, run, folder) ? 0 : errno;
}

/* From a folder to another one. */
static int try_move(void)
{
	char from[100], to[100];
	int fd;

	snprintf(from, sizeof(from), "%s/file", folder);
	snprintf(to, sizeof(to), "%s/sub/file", folder);
	fd = open(from, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	close(fd);
	if (rename(from, to) < 0)
		return errno;
	return unlink(to) < 0 ? errno : 0;
}

static int in_child(int (*what)(void), bool forbid)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		/* (as the program does; without it, only root may set a filter) */
		if (forbid && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
			rights_forbid_programs();
		_exit(what());
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ?
	       -1 : WEXITSTATUS(status);
}

extern void __lsan_do_leak_check(void) __attribute__((weak));

int main(void)
{
	char sub[100];
	int got;

	if (!mkdtemp(folder))
		return 1;
	snprintf(sub, sizeof(sub), "%s/sub", folder);
	mkdir(sub, 0700);
	ok(in_child(try_program, false) == 0, "programs can be run");
	ok(in_child(try_process, false) == 0, "processes can be started");
	ok(in_child(try_threads, true) == 0, "threads start");
	ok(in_child(try_move, true) == 0, "files move");
	if (!__lsan_do_leak_check) {
		got = in_child(try_program, true);
		ok(got == EACCES || got == EPERM, "programs are refused");
		ok(in_child(try_process, true) == EAGAIN, "and processes");
	}
	rmdir(sub);
	rmdir(folder);
	return done_testing();
}

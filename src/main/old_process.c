/* SPDX-License-Identifier: GPL-2.0-or-later */
/* old_process.c - the processes of -sf and -st: they are asked to leave, and their end is noticed
 *
 * They may share listening sockets with this one. The kernel wakes one poller for each new client;
 * if that poller is in a process which then ends, the client waits until the next one comes. So
 * when such a process ends, all threads check the sockets again.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/fd.h"
#include "core/thread.h"
#include "front/listen.h"
#include "generation_priv.h"
#include "options_priv.h"
#include "process_priv.h"

static struct {
	int *fds; /* owned: one for each process, -1: it is not watched */
	int count;
} watched;

void old_process_ended(void)
{
	listen_look_again_all(generation_current());
	stats_sockets_look_again(generation_current());
}

static void end_event(void *owner, int fd, unsigned events)
{
	fd_close(fd);
	old_process_ended();
}

/* Before they are told to leave: their ids are still theirs. */
static void watch(const struct main_options *o)
{
	if (watched.fds || !o->old.pid_count)
		return;
	watched.fds = calloc((size_t)o->old.pid_count, sizeof(*watched.fds));
	for (int i = 0; watched.fds && i < o->old.pid_count; i++)
		watched.fds[watched.count++] = (int)syscall(SYS_pidfd_open, o->old.pids[i], 0);
}

void old_process_tell(const struct main_options *o, int sig)
{
	watch(o);
	for (int i = 0; i < o->old.pid_count; i++)
		kill(o->old.pids[i], sig);
}

/* On thread 0, when its loop begins. One that has ended already is told immediately. */
static bool thread_init(void)
{
	static struct fd_kind kind = { .handler = end_event, .name = "old_process_event" };

	if (thread_id)
		return true;
	if (watched.count)
		fd_kind_register(&kind);
	for (int i = 0; i < watched.count; i++)
		if (watched.fds[i] >= 0 && !fd_add(watched.fds[i], end_event, NULL, 0))
			close(watched.fds[i]);
	free(watched.fds);
	watched.fds = NULL;
	watched.count = 0;
	return true;
}

const struct module mod_old_process = { .name = "old-process", .thread_init = thread_init };

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile.c - time spent per function called by the loop */
#include "core/fd.h"
#include "core/task.h"
#include "profile_priv.h"

__thread bool profile_is_on;

void profile_run_task(struct task *t, unsigned why)
{
	t->run(t, t->ctx, why);
}

void profile_run_fd(int fd, unsigned events)
{
	fd_table[fd].handler(fd_table[fd].owner, fd, events);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* worker_process.c - a master's record of a worker: created and freed */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "base/list.h"
#include "net/descriptors.h"
#include "dump_priv.h"
#include "master_priv.h"

struct worker_process *worker_process_new(pid_t pid, int channel)
{
	struct worker_process *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->pid = pid;
	w->channel = channel;
	descriptors_tell_sender(channel);
	w->next_reader = -1;
	w->since_s = (int64_t)time(NULL);
	snprintf(w->version, sizeof(w->version), "%s", version_text());
	list_init(&w->link);
	return w;
}

void worker_process_free(struct worker_process *w)
{
	list_remove(&w->link);
	close(w->channel);
	if (w->next_reader >= 0)
		close(w->next_reader);
	free(w);
}

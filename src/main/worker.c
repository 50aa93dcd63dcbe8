/* SPDX-License-Identifier: GPL-2.0-or-later */
/* worker.c - what a process does that a master has started: it says when it is ready, takes clients
 * of its Runtime API from the master, and leaves when the master is gone
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/diag.h"
#include "core/fd.h"
#include "core/thread.h"
#include "ctl/ctl.h"
#include "front/listen.h"
#include "net/ctl_socket.h"
#include "net/handoff.h"
#include "master_priv.h"
#include "mode_priv.h"
#include "process_priv.h"

static struct {
	int channel;   /* -1: there is no master */
	int donor;     /* connection to the Runtime API of the worker before, -1 */
	bool first;    /* the first that this master starts */
} worker = { .channel = -1, .donor = -1 };

void worker_begin(int channel, int donor, bool first)
{
	worker.channel = channel;
	worker.donor = donor;
	worker.first = first;
}

bool worker_has_master(void)
{
	return worker.channel >= 0;
}

bool worker_is_first(void)
{
	return worker.first;
}

void worker_take_sockets(bool wanted)
{
	char error[256];

	if (worker.donor < 0)
		return;
	fcntl(worker.donor, F_SETFL, fcntl(worker.donor, F_GETFL) & ~O_NONBLOCK);
	if (wanted && sockets_fetch(worker.donor, error, sizeof(error)))
		listen_set_taken();
	else if (wanted)
		diag_say(DIAG_WARNING, "Failed to get the sockets from the old process: %s.",
			 error);
	close(worker.donor);
	worker.donor = -1;
}

bool worker_ask_reader(int fd)
{
	bool sent = channel_send(worker.channel, CHANNEL_READER, fd);

	close(fd);
	return sent;
}

/* A client of the Runtime API comes with its level. Returns like channel_receive(). */
static int receive(void)
{
	uid_t sender;
	int fd, byte = channel_receive(worker.channel, &fd, &sender);

	if (byte == CHANNEL_ENDED)
		old_process_ended();
	else if (fd >= 0)
		ctl_connection_new(fd, byte == CHANNEL_CLIENT ? CTL_USER
				       : byte == CHANNEL_CLIENT + 1 ? CTL_OPERATOR : CTL_ADMIN);
	return byte;
}

static void channel_event(void *owner, int fd, unsigned events)
{
	int got;

	do
		got = receive();
	while (got > 0);
	if (got < 0) {
		fd_cant_recv(fd);
		return;
	}
	/* no master watches this process any more, and none could stop it */
	fd_close(fd);
	worker.channel = -1;
	raise(SIGTERM);
}

/* On thread 0, when its loop begins. */
static bool worker_thread_init(void)
{
	static struct fd_kind kind = { .handler = channel_event, .name = "channel_event" };

	if (thread_id)
		return true;
	startup_log_end();
	if (worker.channel < 0)
		return true;
	fd_kind_register(&kind);
	fcntl(worker.channel, F_SETFL, O_NONBLOCK);
	if (!fd_add(worker.channel, channel_event, NULL, 0))
		return false;
	diag_set_banner(NULL, NULL); /* it belongs to the start */
	return channel_send(worker.channel, CHANNEL_READY, -1);
}

const struct module mod_worker = { .name = "worker", .thread_init = worker_thread_init };

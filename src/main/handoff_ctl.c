/* SPDX-License-Identifier: GPL-2.0-or-later */
/* handoff_ctl.c - edge file: _getsocks, by which a new process gets our listening sockets */
#include <stdlib.h>
#include "base/diag.h"
#include "ctl/ctl.h"
#include "front/listen.h"
#include "net/handoff.h"
#include "generation_priv.h"
#include "mode_priv.h"

static enum ctl_step get_sockets(struct ctl_request *rq)
{
	struct config *cfg = generation_current();
	unsigned max = listen_collect(cfg, NULL, NULL, 0) +
		       stats_sockets_collect(cfg, NULL, NULL, 0), count;
	struct socket_origin *origins = calloc(max + 1, sizeof(*origins));
	int *sockets = calloc(max + 1, sizeof(*sockets));
	int fd = ctl_exposed_fd(rq);

	if (fd < 0) {
		ctl_error(rq, "Permission denied");
	} else if (origins && sockets) {
		count = listen_collect(cfg, sockets, origins, max);
		count += stats_sockets_collect(cfg, sockets + count, origins + count, max - count);
		/* their receiver may listen on after us: their ports are not released any more */
		listen_set_handed_out();
		if (!sockets_send(fd, sockets, origins, count))
			diag_say(DIAG_WARNING, "Unexpected error while transferring sockets");
	}
	free(origins);
	free(sockets);
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "_getsocks", .level = CTL_ADMIN, .flags = CTL_HIDDEN, .run = get_sockets,
	  .help = "send the listening sockets to a new process" },
	{ 0 }
};

const struct module mod_handoff_ctl = { .name = "handoff", .commands = commands };

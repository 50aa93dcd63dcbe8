/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settings.c - the global settings that main applies, and pushes down to the floors that
 * need them
 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include "base/block.h"
#include "core/fd.h"
#include "ctl/ctl.h"
#include "net/pipe.h"
#include "stream/listen.h"
#include "main_priv.h"

static bool settings_init(void *data)
{
	struct main_settings *set = data;

	set->maxpipes = -1;
	set->strict_limits = true;
	set->stats_timeout_ms = 10000;
	set->stats_maxconn = 10;
	set->bufsize = 16384;
	set->maxrewrite = 1024;
	set->fields_max = 101;
	set->log_uri_max = 1024;
	set->renice_runtime = RENICE_UNSET;
	set->idle_low_percent = 20;
	set->idle_high_percent = 25;
	return true;
}

struct slot settings_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct main_settings), .init = settings_init,
};

struct main_settings *settings_of(const struct config *cfg)
{
	return slot_of(&settings_slot, config_slots(cfg));
}

static void push_stream_tunes(const struct main_settings *set)
{
	struct stream_tunes t = set->stream;

	t.fields_max = (unsigned)set->fields_max;
	t.maxrewrite = (unsigned)set->maxrewrite;
	t.log_uri_max = (unsigned)set->log_uri_max;
	stream_set_tunes(&t);
}

void settings_apply(const struct config *cfg, const struct main_options *o)
{
	const struct main_settings *set = settings_of(cfg);

	if (o->no_epoll)
		fd_poller_disable("epoll");
	if (o->no_poll)
		fd_poller_disable("poll");
	block_set_size(set->bufsize);
	ctl_set_input_max(set->bufsize);
	ctl_set_timeout_ms(set->stats_timeout_ms);
	push_stream_tunes(set);
	if (set->pipe_size)
		pipe_set_size((unsigned)set->pipe_size);
	if (set->renice_runtime != RENICE_UNSET &&
	    setpriority(PRIO_PROCESS, 0, set->renice_runtime) < 0)
		diag_say(DIAG_WARNING, "[%s.main()] 'tune.renice.runtime %d' : %s.", o->program,
			 set->renice_runtime, strerror(errno));
	stream_set_idle_sharing(!set->idle_apart);
	if (o->no_reuseport || set->no_reuseport)
		listen_forbid_reuseport();
}

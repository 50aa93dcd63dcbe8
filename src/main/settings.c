/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settings.c - the global settings that main applies, and pushes down to the floors that
 * need them
 */
#include <string.h>
#include "base/block.h"
#include "core/fd.h"
#include "ctl/ctl.h"
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
	return true;
}

struct slot settings_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct main_settings), .init = settings_init,
};

struct main_settings *settings_of(const struct config *cfg)
{
	return slot_of(&settings_slot, config_slots(cfg));
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
	stream_set_tunes((unsigned)set->fields_max, (unsigned)set->maxrewrite);
	stream_set_idle_sharing(!set->idle_apart);
	if (o->no_reuseport || set->no_reuseport)
		listen_forbid_reuseport();
}

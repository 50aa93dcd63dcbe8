/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mode.c - the kind of this process (alone, a master, a worker), and the sockets it takes over */
#include <string.h>
#include "base/diag.h"
#include "conf/conf.h"
#include "front/listen.h"
#include "net/handoff.h"
#include "master_priv.h"
#include "mode_priv.h"
#include "options_priv.h"
#include "process_priv.h"
#include "settings_priv.h"

/* --- sockets of others ------------------------------------------------------------------------ */

bool mode_take_sockets(const struct main_options *o)
{
	bool none = o->old.donor && strcmp(o->old.donor, "/dev/null") == 0;
	char error[256];

	activation_offer(worker_has_master());
	worker_take_sockets(!none);
	if (!o->old.donor || none || (worker_has_master() && !worker_is_first()))
		return true;
	if (sockets_fetch_from(o->old.donor, error, sizeof(error))) {
		listen_set_taken();
		return true;
	}
	diag_say(DIAG_WARNING, "Failed to connect to the old process socket '%s' : %s",
		 o->old.donor, error);
	diag_say(DIAG_ALERT, "Failed to get the sockets from the old process!");
	return false;
}

static bool is_master;

bool mode_is_master(void)
{
	return is_master;
}

/* --- which mode ------------------------------------------------------------------------------- */

bool mode_enter(const struct main_options *o, char **argv, int *status)
{
	struct config *cfg;
	struct main_settings *set;
	bool goes_on = true;

	cfg = config_new();
	if (!cfg) {
		diag_say(DIAG_ALERT, "out of memory for the configuration.");
		*status = 1;
		return false;
	}
	activation_begin();
	conf_read_early(cfg, o->sources, o->source_count);
	set = settings_of(cfg);
	if (o->master.wanted || set->master_worker || master_is_back()) {
		if (o->master.notifies)
			notify_enable();
		goes_on = master_run(o, argv, set, status);
		is_master = !goes_on;
	} else {
		master_forget_folder();
		startup_log_begin();
		if (set->sandbox)
			sandbox_prepare();
	}
	config_drop(&cfg);
	return goes_on;
}

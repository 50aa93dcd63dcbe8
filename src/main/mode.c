/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mode.c - which kind of process this is (alone, a master, a worker), and whose sockets it takes */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/diag.h"
#include "base/strbuf.h"
#include "conf/conf.h"
#include "front/listen.h"
#include "net/handoff.h"
#include "master_priv.h"
#include "mode_priv.h"
#include "options_priv.h"
#include "process_priv.h"
#include "settings_priv.h"

#define FIRST_ACTIVATED 3 /* where the service manager puts its sockets */

/* --- sockets of others ------------------------------------------------------------------------ */

static void offer_activated(void)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	static const struct socket_origin none;
	long owner = pid ? strtol(pid, NULL, 10) : 0, n = count ? strtol(count, NULL, 10) : 0;

	if (owner != getpid() && !(worker_has_master() && owner == getppid()))
		return;
	for (int fd = FIRST_ACTIVATED; fd < FIRST_ACTIVATED + n; fd++) {
		int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0); /* `bind fd@3` may want it as well */

		if (copy >= 0)
			socket_offer(copy, &none);
	}
}

bool mode_take_sockets(const struct main_options *o)
{
	char error[256];

	offer_activated();
	worker_take_sockets();
	if (!o->old.donor || (worker_has_master() && !worker_is_first()))
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

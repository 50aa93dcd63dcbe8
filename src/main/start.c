/* SPDX-License-Identifier: GPL-2.0-or-later */
/* start.c - from files to a live generation
 *
 *	read -> check -> limits -> sockets -> publish
 *
 * A reload (reload.c) goes the same way beside the running generation.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/diag.h"
#include "base/list.h"
#include "conf/conf.h"
#include "conf/kept.h"
#include "core/thread.h"
#include "ctl/ctl.h"
#include "dns/resolvers.h"
#include "ext/log_forward.h"
#include "ext/peers.h"
#include "front/listen.h"
#include "proxy/bind.h"
#include "proxy/proxy.h"
#include "tls/tls.h"
#include "dump_priv.h"
#include "generation_priv.h"
#include "mode_priv.h"
#include "options_priv.h"
#include "process_priv.h"
#include "settings_priv.h"

/* How long to wait for old processes to leave their sockets. */
#define TAKE_OVER_TRIES 200
#define TAKE_OVER_PAUSE_MS 10

struct config *generation_current(void)
{
	return proxies_current();
}

unsigned generation_count_listeners(const struct config *cfg)
{
	unsigned count = log_forward_count_inputs(cfg) + peers_count_listeners(cfg);

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		struct bind_conf *b;
		struct listener_conf *l;

		if (px->disabled)
			continue;
		list_for_each(b, &px->binds, link)
			list_for_each(l, &b->listeners, link)
				count++;
	}
	return count;
}

static const struct diag_place bare = { .form = DIAG_BARE };

/* Warnings that -dW or zero-warning turn into a refusal. */
static bool has_forbidden_warnings(const struct config *cfg, const struct main_options *o,
				   struct diag_list *diags)
{
	if (!diags->warnings || (!o->zero_warning && !settings_of(cfg)->zero_warning))
		return false;
	diag_add(diags, DIAG_ALERT, &bare, NULL,
		 "Some warnings were found and 'zero-warning' is set. Aborting.");
	return true;
}

struct config *generation_read(const struct main_options *o, struct diag_list *diags)
{
	const struct conf_show show = { .out = stdout, .numbered = o->show.numbers,
					.key = o->show.key, .hide = ctl_hide,
					.hide_ip = ctl_hide_ip };
	struct config *cfg = config_new();
	struct compat *compat;
	bool good;

	if (!cfg) {
		diag_add(diags, DIAG_ALERT, &bare, NULL, "out of memory for the configuration.");
		return NULL;
	}
	if (o->show.lines)
		conf_show_lines(cfg, &show);
	if (worker_has_master())
		conf_setenv(cfg, "HAPROXY_MWORKER", "1", true);
	if (o->may_lack_addresses)
		proxies_allow_unresolved(cfg);
	if (o->only_ipv4)
		resolvers_only_ipv4(cfg);
	if (o->no_verify)
		tls_servers_trust_all(cfg);
	if (o->show_cpus && !worker_has_master())
		thread_report_cpus();
	compat = compat_begin(cfg, o);
	conf_keep_lines(cfg);
	good = conf_read(cfg, o->sources, o->source_count, diags);
	conf_show_lines(cfg, NULL);
	good = good && conf_check(cfg, diags);
	compat_end(compat, cfg, o, diags);
	environment_forget(cfg);
	if (!good)
		diag_add(diags, DIAG_ALERT, NULL, NULL, "Fatal errors found in configuration.");
	else if (has_forbidden_warnings(cfg, o, diags))
		good = false;
	if (!generation_current()) /* it is not a reload's: loops run, and nothing is printed */
		diag_set_quiet((o->quiet || settings_of(cfg)->quiet) && !o->verbose);
	if (!good)
		config_drop(&cfg);
	return cfg;
}

bool generation_read_files(struct config *cfg, const struct main_options *o,
			   struct diag_list *diags)
{
	for (int i = 0; i < o->source_count; i++) {
		if (strcmp(o->sources[i].path, "-") == 0) {
			diag_add(diags, DIAG_ALERT, &bare, NULL, "The configuration came from the "
				 "standard input: there is no file to compare it with.");
			return false;
		}
	}
	if (worker_has_master())
		conf_setenv(cfg, "HAPROXY_MWORKER", "1", true);
	return conf_read_kept(cfg, o->sources, o->source_count, diags);
}

struct config *generation_load(const struct main_options *o, bool *warned)
{
	struct diag_list diags;
	struct config *cfg;

	diag_list_init(&diags);
	cfg = generation_read(o, &diags);
	diag_print(&diags, o->diagnostics ? DIAG_DIAG : DIAG_DEBUG, stderr);
	if (o->json_diagnostics)
		diag_print_json(&diags, DIAG_NOTICE, stdout);
	*warned = diags.warnings > 0;
	diag_list_fini(&diags);
	return cfg;
}

bool generation_start_modules(const struct module *const *modules, struct config *cfg,
			      struct diag_list *diags)
{
	for (const struct module *const *m = modules; *m; m++)
		if ((*m)->start && !(*m)->start(cfg, diags))
			return false;
	return true;
}

bool generation_open_sockets(struct config *cfg, const struct config *prev,
			     struct diag_list *diags)
{
	bool frontends = listen_open_all(cfg, prev, diags);

	return stats_sockets_open(cfg, prev, diags) && frontends;
}

/* Where sockets are taken, the old processes are asked to leave them: they go on serving until
 * then, and take them back if we fail.
 */
static bool take_over_sockets(struct config *cfg, const struct main_options *o,
			      struct diag_list *diags)
{
	const struct timespec pause = { .tv_nsec = TAKE_OVER_PAUSE_MS * 1000000L };

	old_process_tell(o, SIGTTOU);
	for (int i = 0; i < TAKE_OVER_TRIES; i++) {
		diag_list_fini(diags);
		nanosleep(&pause, NULL);
		if (generation_open_sockets(cfg, NULL, diags))
			return true;
	}
	/* ours release their ports first, or the old processes find them in the way; not those that
	 * are theirs
	 */
	if (!listen_is_taken()) {
		listen_pause_all(cfg);
		stats_sockets_pause(cfg, true);
	}
	old_process_tell(o, SIGTTIN);
	return false;
}

/* Gives up a generation that is not served, or no longer. */
static void give_up(struct config **pcfg)
{
	listen_abandon_all(*pcfg);
	stats_sockets_close(*pcfg, false);
	config_drop(pcfg);
}

bool generation_start(const struct module *const *modules, struct config *cfg,
		      const struct main_options *o)
{
	struct diag_list diags;
	bool good;

	diag_list_init(&diags);
	good = generation_start_modules(modules, cfg, &diags);
	if (good)
		good = generation_open_sockets(cfg, NULL, &diags) ||
		       (o->old.pid_count && take_over_sockets(cfg, o, &diags));
	diag_print(&diags, DIAG_NOTICE, stderr);
	diag_list_fini(&diags);
	if (good) {
		proxies_publish(cfg);
		return true;
	}
	give_up(&cfg);
	return false;
}

void generation_end(void)
{
	struct config *cfg = generation_current();

	proxies_publish(NULL);
	if (cfg)
		give_up(&cfg);
}

static bool start_thread_init(void)
{
	stats_sockets_start_thread(generation_current());
	listen_start_thread(generation_current());
	return true;
}

const struct module mod_start = { .name = "start", .thread_init = start_thread_init };

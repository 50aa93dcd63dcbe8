/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settings.c - the global settings that main applies, and pushes down to the floors that
 * need them
 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include "base/block.h"
#include "base/diag.h"
#include "conf/conf.h"
#include "core/fd.h"
#include "ctl/ctl.h"
#include "front/listen.h"
#include "net/ctl_socket.h"
#include "net/pipe.h"
#include "stream/process.h"
#include "options_priv.h"
#include "settings_priv.h"

static bool settings_init(void *data)
{
	struct main_settings *set = data;

	set->maxpipes = -1;
	set->strict_limits = true;
	set->stats_timeout_ms = 10000;
	set->stats_maxconn = 10;
	set->bufsize = 16384;
	set->payload_max = 131072;
	set->maxrewrite = 1024;
	set->fields_max = 101;
	set->log_uri_max = 1024;
	set->stream.cookie_max = 63;
	set->renice_runtime = RENICE_UNSET;
	set->idle.low_percent = 20;
	set->idle.high_percent = 25;
	return true;
}

struct slot settings_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct main_settings), .init = settings_init,
};

struct main_settings *settings_of(const struct config *cfg)
{
	return slot_of(&settings_slot, config_slots(cfg));
}

/* What the process had, once tune.renice.startup has changed it. */
static int priority_before = RENICE_UNSET;
static bool priority_is_final;

void settings_change_priority(int value)
{
	int before;

	errno = 0;
	before = getpriority(PRIO_PROCESS, 0);
	if (!priority_is_final && priority_before == RENICE_UNSET && !errno &&
	    setpriority(PRIO_PROCESS, 0, value) == 0)
		priority_before = before;
}

static void restore_priority(void)
{
	if (priority_before != RENICE_UNSET)
		setpriority(PRIO_PROCESS, 0, priority_before);
	priority_before = RENICE_UNSET;
	priority_is_final = true;
}

static void push_stream_tunes(const struct main_settings *set)
{
	struct stream_tunes t = set->stream;

	t.fields_max = (unsigned)set->fields_max;
	t.maxrewrite = (unsigned)set->maxrewrite;
	t.log_uri_max = (unsigned)set->log_uri_max;
	stream_set_tunes(&t);
	listen_set_tunes(&set->listen);
}

void settings_apply(const struct config *cfg, const struct main_options *o)
{
	const struct main_settings *set = settings_of(cfg);

	if (o->without.epoll)
		fd_poller_disable("epoll");
	if (o->without.poll)
		fd_poller_disable("poll");
	block_set_size(set->bufsize);
	ctl_set_input_max((size_t)set->bufsize, (size_t)set->payload_max);
	ctl_set_anon_key((uint32_t)set->anon_key);
	ctl_set_timeout_ms(set->stats_timeout_ms);
	ctl_socket_set_max((unsigned)set->stats_maxconn);
	listen_reject_privileged(set->reject_privileged);
	push_stream_tunes(set);
	if (set->pipe_size)
		pipe_set_size((unsigned)set->pipe_size);
	restore_priority();
	if (set->renice_runtime != RENICE_UNSET &&
	    setpriority(PRIO_PROCESS, 0, set->renice_runtime) < 0)
		diag_say(DIAG_WARNING, "[%s.main()] 'tune.renice.runtime %d' : %s.", o->program,
			 set->renice_runtime, strerror(errno));
	stream_set_idle_sharing(!set->idle.apart);
	if (o->without.reuseport || set->no_reuseport)
		listen_forbid_reuseport();
}

/* --- what a reload can change --------------------------------------------------------------- */

/* Those that are looked at while the process runs, or that settings_apply_again() applies. */
static bool is_live(const struct conf_keyword *k)
{
	static const char *const names[] = {
		"quiet", "zero-warning", "node", "maxconn", "maxconnrate", "maxsessrate",
		"hard-stop-after", "grace", "anonkey", "tune.cli.max-payload-size",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(k->words, names[i]) == 0)
			return true;
	return false;
}

static bool is_equal(const struct conf_keyword *k, const char *a, const char *b)
{
	const char *x, *y;

	switch (k->type) {
	case CONF_FLAG:
		return *a == *b;
	case CONF_TIME_MS:
		return memcmp(a, b, sizeof(int64_t)) == 0;
	case CONF_STRING:
		x = *(const char *const *)a;
		y = *(const char *const *)b;
		return x == y || (x && y && strcmp(x, y) == 0);
	default: /* CONF_INT, and sizes */
		return memcmp(a, b, sizeof(int)) == 0;
	}
}

static void warn_changed(struct diag_list *diags, const char *what)
{
	diag_add(diags, DIAG_WARNING, NULL, NULL, "'%s' was changed: it keeps its value until the "
		 "process is restarted.", what);
}

void settings_compare(const struct config *next, const struct config *prev,
		      struct diag_list *diags)
{
	const char *a = (const char *)settings_of(next), *b = (const char *)settings_of(prev);

	for (const struct conf_keyword *k = mod_settings.keywords; k->words; k++) {
		if (k->slot != &settings_slot || k->flags & (CONF_IGNORED | CONF_REFUSED))
			continue;
		if (!is_live(k) && !is_equal(k, a + k->offset, b + k->offset))
			warn_changed(diags, k->words);
	}
	if (settings_of(next)->rights.caps != settings_of(prev)->rights.caps)
		warn_changed(diags, "setcap");
	if (settings_of(next)->sandbox != settings_of(prev)->sandbox)
		warn_changed(diags, "sandbox");
}

void settings_apply_again(const struct config *next, const struct config *prev)
{
	const struct main_settings *set = settings_of(next), *was = settings_of(prev);

	if (set->anon_key != was->anon_key)
		ctl_set_anon_key((uint32_t)set->anon_key);
	ctl_set_input_max((size_t)was->bufsize, (size_t)set->payload_max);
	ctl_set_timeout_ms(set->stats_timeout_ms);
	ctl_socket_set_max((unsigned)set->stats_maxconn);
	listen_reject_privileged(set->reject_privileged);
	if (set->maxconnrate != was->maxconnrate || set->maxsessrate != was->maxsessrate)
		listen_set_rates((unsigned)set->maxconnrate, (unsigned)set->maxsessrate);
}

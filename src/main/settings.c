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
	set->rights.uid = -1;
	set->stats_maxconn = 10;
	set->bufsize = 16384;
	set->payload_max = 131072;
	set->renice_runtime = RENICE_UNSET;
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
	listen_apply_tunes(cfg, !o->without.reuseport);
	stream_apply_tunes(cfg);
	pipe_apply_tunes(cfg);
	restore_priority();
	if (set->renice_runtime != RENICE_UNSET &&
	    setpriority(PRIO_PROCESS, 0, set->renice_runtime) < 0)
		diag_say(DIAG_WARNING, "[%s.main()] 'tune.renice.runtime %d' : %s.", o->program,
			 set->renice_runtime, strerror(errno));
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

/* The words of one module, those that fill a slot. */
static void compare_words(const struct module *m, const struct config *next,
			  const struct config *prev, struct diag_list *diags)
{
	for (const struct conf_keyword *k = m->keywords; k->words; k++) {
		const char *a, *b;

		if (!k->slot || k->slot->of != SLOT_CONFIG || !(k->where & CONF_GLOBAL) ||
		    k->flags & (CONF_IGNORED | CONF_REFUSED) || is_live(k))
			continue;
		a = slot_of(k->slot, config_slots(next));
		b = slot_of(k->slot, config_slots(prev));
		if (!is_equal(k, a + k->offset, b + k->offset))
			warn_changed(diags, k->words);
	}
}

void settings_compare(const struct config *next, const struct config *prev,
		      struct diag_list *diags)
{
	static const struct module *const at_start[] = {
		&mod_settings, &mod_net, &mod_listen, &mod_stream,
	};

	for (size_t i = 0; i < sizeof(at_start) / sizeof(*at_start); i++)
		compare_words(at_start[i], next, prev, diags);
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
	listen_apply_tunes_again(next);
	if (set->maxconnrate != was->maxconnrate || set->maxsessrate != was->maxsessrate)
		listen_set_rates((unsigned)set->maxconnrate, (unsigned)set->maxsessrate);
}

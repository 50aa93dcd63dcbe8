/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settings_conf.c - edge file: the global keywords of this floor */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/diag.h"
#include "base/door.h"
#include "check/run.h"
#include "conf/rows.h"
#include "proxy/check.h"
#include "ext/peers.h"
#include "options_priv.h"
#include "process_priv.h"
#include "settings_priv.h"

static bool parse_user(struct conf_line *l)
{
	const char *name;
	uid_t uid;

	if (!conf_take_string(l, &name))
		return false;
	if (door_user(name, &uid) < 0)
		return conf_error(l, l->at - 1, NULL, "cannot find user id for '%s' (%s)", name,
				  errno ? strerror(errno) : "not found");
	settings_of(l->cfg)->rights.uid = (int)uid;
	return true;
}

static bool parse_group(struct conf_line *l)
{
	const char *name;
	gid_t gid;

	if (!conf_take_string(l, &name))
		return false;
	if (door_group(name, &gid) < 0)
		return conf_error(l, l->at - 1, NULL, "cannot find group id for '%s' (%s)", name,
				  errno ? strerror(errno) : "not found");
	settings_of(l->cfg)->rights.gid = (int)gid;
	return true;
}

/* Texts made of all words of the line. */
static bool parse_description(struct conf_line *l)
{
	char text[1024] = "";
	size_t len = 0;
	const char *word;

	while ((word = conf_next(l)) != NULL) {
		int more = snprintf(text + len, sizeof(text) - len, "%s%s", len ? " " : "", word);

		if (more < 0 || (size_t)more >= sizeof(text) - len)
			return conf_error(l, l->at - 1, NULL, "description is too long");
		len += (size_t)more;
	}
	settings_of(l->cfg)->description = conf_strdup(l->cfg, text);
	return settings_of(l->cfg)->description != NULL;
}

static bool parse_set_dumpable(struct conf_line *l)
{
	const char *word = conf_next(l);

	if (word && strcmp(word, "on") != 0 && strcmp(word, "off") != 0 &&
	    strcmp(word, "libs") != 0)
		return conf_error(l, l->at - 1, NULL, "'%s' expects 'on', 'off', 'libs' or nothing",
				  l->words[0]);
	settings_of(l->cfg)->rights.set_dumpable = !l->no && !(word && strcmp(word, "off") == 0);
	return true;
}

static bool parse_chroot(struct conf_line *l)
{
	const char **dir = &settings_of(l->cfg)->rights.chroot_dir, *word = conf_next(l);

	if (*dir)
		conf_warn(l, 0, NULL, "'%s' is already specified. Continuing.", l->words[0]);
	else
		*dir = conf_strdup(l->cfg, word);
	return true;
}

static bool parse_setcap(struct conf_line *l)
{
	const char *bad;
	size_t len;

	if (rights_parse(conf_next(l), &settings_of(l->cfg)->rights.caps, &bad, &len))
		return true;
	return conf_error(l, l->at - 1, NULL, "'%s' : unsupported capability '%.*s'.  Supported "
			  "ones are: cap_net_raw, cap_net_admin, cap_net_bind_service and "
			  "cap_sys_admin.", l->words[0], (int)len, bad);
}

static bool parse_spread(struct conf_line *l)
{
	int64_t *ms = &settings_of(l->cfg)->close_spread_ms;

	if (strcmp(conf_peek(l), "infinite") != 0)
		return conf_take_time_ms(l, ms);
	conf_next(l);
	*ms = -1;
	return true;
}

static bool parse_master_worker(struct conf_line *l)
{
	const char *word = conf_next(l);

	if (word && strcmp(word, "no-exit-on-failure") != 0)
		return conf_error(l, l->at - 1, NULL, "'%s' only supports 'no-exit-on-failure' "
				  "option", l->words[0]);
	if (!word && !l->early && !conf_deprecated(l->cfg))
		diag_add(l->diags, DIAG_WARNING, NULL, NULL,
			 "The 'master-worker' keyword is deprecated in 3.3 and will be removed in "
			 "3.5. Use -W or -Ws in the startup script instead.");
	settings_of(l->cfg)->master_worker = true;
	settings_of(l->cfg)->no_exit_on_failure = word != NULL;
	return true;
}

static bool parse_reload_mode(struct conf_line *l)
{
	const char *word = conf_next(l);

	if (strcmp(word, "in-process") != 0 && strcmp(word, "new-process") != 0)
		return conf_error(l, l->at - 1, NULL, "'%s' expects 'in-process' or 'new-process' "
				  "but got '%s'.", l->words[0], word);
	settings_of(l->cfg)->reload_in_process = strcmp(word, "in-process") == 0;
	return true;
}

/* In the first pass, which comes before all other lines. */
static bool parse_renice_startup(struct conf_line *l)
{
	int64_t value;

	if (!conf_take_int(l, -20, 19, &value))
		return false;
	if (l->early)
		settings_change_priority((int)value);
	return true;
}

/* For tests of what waits for a start. */
static bool parse_pause(struct conf_line *l)
{
	int64_t ms;

	if (!conf_take_time_ms(l, &ms))
		return false;
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
	return true;
}

/* Seen by the lines that follow as $HAPROXY_LOCALPEER. */
static bool parse_node(struct conf_line *l)
{
	const char *name = l->words[1];

	if (!*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789-_.")])
		return conf_error(l, 1, NULL, "'node' requires a name: letters, digits, '.', '-' "
				  "and '_'.");
	return conf_take_string(l, &settings_of(l->cfg)->node);
}

static bool parse_localpeer(struct conf_line *l)
{
	const char *name;

	if (!conf_take_string(l, &name))
		return false;
	if (environment_names_peer() || peers_are_declared(l->cfg)) {
		conf_warn(l, 0, NULL, environment_names_peer()
			  ? "'localpeer' ignored since it is already set by using the '-L' command "
			    "line argument."
			  : "'localpeer' ignored since it stands behind a 'peers' section.");
		return true;
	}
	return conf_setenv(l->cfg, "HAPROXY_LOCALPEER", name, true) ||
	       conf_error(l, 0, NULL, "out of memory.");
}

#define AT(member) .slot = &settings_slot, .offset = offsetof(struct main_settings, member)
#define NO_SWITCH(name, member, text) \
	{ GLOBAL(name), .flags = CONF_CAN_NO, .type = CONF_FLAG, AT(member), .help = text }
#define TEXT(name, member, what, text) \
	{ GLOBAL(name), .min_args = 1, .max_args = 1, .type = CONF_STRING, AT(member), \
	  .syntax = what, .help = text }
#define TIME(name, member, text) \
	{ GLOBAL(name), .min_args = 1, .max_args = 1, .type = CONF_TIME_MS, AT(member), \
	  .syntax = "<time>", .help = text }
static const struct conf_keyword keywords[] = {
	{ GLOBAL("daemon"), .flags = CONF_EARLY, .type = CONF_FLAG, AT(daemon),
	  .help = "go to the background" },
	{ GLOBAL("master-worker"), .flags = CONF_EARLY, .max_args = 1, .parse = parse_master_worker,
	  .syntax = "[ no-exit-on-failure ]", .help = "a master process and its worker" },
	{ GLOBAL("mworker-max-reloads"), .flags = CONF_EARLY, .min_args = 1, .max_args = 1,
	  .type = CONF_INT, AT(max_reloads), .min = 0, .max = INT32_MAX, .syntax = "<number>",
	  .help = "reloads that a worker may outlive" },
	{ GLOBAL("reload-mode"), .flags = CONF_EARLY, .min_args = 1, .max_args = 1,
	  .parse = parse_reload_mode, .syntax = "{ in-process | new-process }",
	  .help = "what SIGUSR2 does (an extension)" },
	SWITCH("quiet", quiet, "say nothing after the start"),
	SWITCH("zero-warning", zero_warning, "refuse to start after a warning"),
	SWITCH("quick-exit", quick_exit, "end without releasing memory"),
	SWITCH("prealloc-fd", prealloc_fd, "make the kernel's table of descriptors at the start"),
	{ GLOBAL("set-dumpable"), .flags = CONF_CAN_NO, .max_args = 1, .parse = parse_set_dumpable,
	  .syntax = "[ on | off | libs ]",
	  .help = "allow core dumps although rights were dropped" },
	NO_SWITCH("insecure-setuid-wanted", rights.insecure_setuid,
		  "allow programs to gain rights"),
	{ GLOBAL("setcap"), .min_args = 1, .max_args = 1, .parse = parse_setcap,
	  .syntax = "<name>[,<name>...]", .help = "capabilities to keep without being root" },
	{ GLOBAL("close-spread-time"), .min_args = 1, .max_args = 1, .parse = parse_spread,
	  .syntax = "{ <time> | infinite }", .help = "close connections one by one when stopping" },
	NO_SWITCH("strict-limits", strict_limits, "refuse to start when limits cannot be had"),
	SWITCH("nosplice", no_splice, "never use pipes between sockets"),
	{ GLOBAL("pidfile"), .flags = CONF_EARLY, .min_args = 1, .max_args = 1, .type = CONF_STRING,
	  AT(pidfile), .syntax = "<file>", .help = "file for the process's id" },
	{ GLOBAL("chroot"), .min_args = 1, .max_args = 1, .parse = parse_chroot,
	  .syntax = "{ <dir> | auto }", .help = "root folder once started" },
	{ GLOBAL("node"), .min_args = 1, .max_args = 1, .parse = parse_node, .syntax = "<name>",
	  .help = "name of this node" },
	{ GLOBAL("description"), .min_args = 1, .max_args = -1, .parse = parse_description,
	  .syntax = "<text>", .help = "what this node is for" },
	{ GLOBAL("localpeer"), .min_args = 1, .max_args = 1, .parse = parse_localpeer,
	  .syntax = "<name>", .help = "name of this node among peers" },
	{ GLOBAL("anonkey"), .type = CONF_UINT64, AT(anon_key), .max = UINT32_MAX,
	  .syntax = "<key>", .help = "the key that hides names on the Runtime API" },
	NUMBER("uid", rights.uid, 0, INT32_MAX, "user id to run as"),
	NUMBER("gid", rights.gid, 0, INT32_MAX, "group id to run as"),
	{ GLOBAL("user"), .min_args = 1, .max_args = 1, .parse = parse_user, .syntax = "<name>",
	  .help = "user to run as" },
	{ GLOBAL("group"), .min_args = 1, .max_args = 1, .parse = parse_group, .syntax = "<name>",
	  .help = "group to run as" },
	NUMBER("maxconn", maxconn, 0, INT32_MAX / 4, "most connections of clients"),
	NUMBER("maxconnrate", maxconnrate, 0, INT32_MAX, "most connections per second"),
	NUMBER("maxsessrate", maxsessrate, 0, INT32_MAX, "most sessions per second"),
	NUMBER("maxpipes", maxpipes, 0, INT32_MAX / 4, "most pipes for splicing"),
	NUMBER("ulimit-n", descriptors, 0, INT32_MAX, "descriptors of the process"),
	NUMBER("fd-hard-limit", descriptors_max, 0, INT32_MAX, "most descriptors, by default"),
	{ GLOBAL("force-cfg-parser-pause"), .flags = CONF_EXPERIMENTAL, .min_args = 1,
	  .max_args = 1, .parse = parse_pause, .syntax = "<time>",
	  .help = "wait here while reading, for tests" },
	TIME("hard-stop-after", hard_stop_ms, "longest soft stop"),
	TIME("grace", grace_ms, "time between the signal and the closing of sockets"),

	SIZE("tune.bufsize", bufsize, 1024, 1 << 24, "bytes of a buffer"),
	SIZE("tune.cli.max-payload-size", payload_max, 1, INT32_MAX / 2,
	     "bytes of the payload of a command"),
	{ GLOBAL("tune.renice.startup"), .flags = CONF_EARLY, .min_args = 1, .max_args = 1,
	  .parse = parse_renice_startup, .syntax = "<number>",
	  .help = "priority while the configuration is read" },
	NUMBER("tune.renice.runtime", renice_runtime, -20, 19, "priority once started"),
	{ 0 }
};

static struct slot *const slots[] = { &settings_slot, NULL };

static void settings_check(struct config *cfg, struct diag_list *diags)
{
	checks_set_node(cfg, settings_of(cfg)->node);
}

const struct module mod_settings = { .name = "settings", .keywords = keywords, .slots = slots,
				     .check = settings_check };

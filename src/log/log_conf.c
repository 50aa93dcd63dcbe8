/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log_conf.c - keywords: log, log-tag, log-send-hostname. Exports the module descriptor. */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/num.h"
#include "log_priv.h"

/* --- keywords ----------------------------------------------------------------------------- */

static struct log_settings *log_settings_of(struct conf_line *l)
{
	return slot_of(l->where == CONF_GLOBAL ? &log_config_slot : &log_proxy_slot, l->slots);
}

static bool parse_log_tag(struct conf_line *l)
{
	struct log_settings *s = log_settings_of(l);

	if (!conf_peek(l) || !*conf_peek(l))
		return conf_error(l, l->at, NULL, "'log-tag' expects a tag for use in syslog.");
	return conf_take_string(l, &s->tag) && conf_take_end(l);
}

static bool parse_send_hostname(struct conf_line *l)
{
	struct log_settings *s = log_settings_of(l);

	s->send_hostname = true;
	if (conf_peek(l) && !conf_take_string(l, &s->hostname))
		return false;
	return conf_take_end(l);
}

static void log_check(struct config *cfg, struct diag_list *diags)
{
	struct log_settings *s = slot_of(&log_config_slot, config_slots(cfg));
	char name[256] = "";

	log_outlets_resolve(cfg, diags);
	if (!s->send_hostname || s->hostname)
		return;
	if (gethostname(name, sizeof(name) - 1) == 0 && *name)
		s->hostname = conf_strdup(cfg, name);
}

static bool log_thread_init(void)
{
	return datagram_thread_init() && log_files_thread_init();
}

static const struct conf_keyword keywords[] = {
	{ .words = "log", .where = CONF_GLOBAL | CONF_PROXY, .flags = CONF_CAN_NO, .min_args = 0,
	  .max_args = -1, .parse = log_line_parse,
	  .syntax = "{global | <target> [len <length>] [format <format>] [sample <ranges>:<size>] "
		    "[profile <name>] [rotate <size or period>] [keep <files>] <facility> "
		    "[<level> [<minimum level>]]}",
	  .help = "sends logs to a server, a socket, a descriptor, a file (file@<path>, an "
		  "extension) or the journal (journal, same); may be repeated" },
	{ .words = "log-tag", .where = CONF_GLOBAL | CONF_PROXY, .min_args = 0, .max_args = -1,
	  .parse = parse_log_tag, .syntax = "<text>", .help = "the program's name in log headers" },
	{ .words = "log-send-hostname", .where = CONF_GLOBAL, .min_args = 0, .max_args = 1,
	  .parse = parse_send_hostname, .syntax = "[<name>]",
	  .help = "puts the host's name, or this one, in log headers" },
	{ 0 }
};

static struct slot *const slots[] = { &log_config_slot, &log_proxy_slot, &log_outlet_slot,
				    &log_files_slot, NULL };

const struct module mod_log = {
	.name = "log",
	.keywords = keywords,
	.slots = slots,
	.check = log_check,
	.start = log_outlets_start,
	.thread_init = log_thread_init,
	.thread_fini = log_thread_fini,
	.fini = log_files_fini,
};

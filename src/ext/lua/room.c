/* SPDX-License-Identifier: GPL-2.0-or-later */
/* room.c - edge file: keywords lua-* and tune.lua.*; scripts begin and end with a configuration */
#include <stdlib.h>
#include "beside_priv.h"
#include "class_priv.h"
#include "core/mailbox.h"
#include "ext/lua.h"
#include "proxy/proxy.h"
#include "room_priv.h"
#include "row_priv.h"
#include "state_priv.h"

static struct slot *const slots[] = { &script_room_slot, &script_kept_slot, NULL };

static bool is_loaded(const struct script_room *room)
{
	return room->shared || room->boxes;
}

static bool path_parse(struct conf_line *l)
{
	struct script_room *room = script_room_of(l->cfg);
	struct script_path *p = arena_zalloc(&l->cfg->arena, sizeof(*p)), **last;

	if (!p)
		return conf_error(l, 0, NULL, "out of memory.");
	p->text = conf_next(l);
	p->type = conf_peek(l) ? conf_next(l) : "path";
	if (!p->text)
		return conf_error(l, 0, NULL, "'lua-prepend-path' expects to receive a <path> as "
				  "argument.");
	if (strcmp(p->type, "path") != 0 && strcmp(p->type, "cpath") != 0)
		return conf_error(l, 2, NULL, "'lua-prepend-path' expects <type> to either be "
				  "'path' or 'cpath'.");
	for (last = &room->paths; *last; last = &(*last)->next)
		;
	*last = p;
	if (room->shared)
		script_prepend_path(room->shared->L, p);
	if (room->boxes && room->boxes[0])
		script_prepend_path(room->boxes[0]->L, p);
	return true;
}

static bool libs_parse(struct conf_line *l)
{
	struct script_room *room = script_room_of(l->cfg);
	const char *word = conf_peek(l) ? conf_next(l) : "";

	if (is_loaded(room) || room->paths)
		return conf_error(l, 0, NULL, "'tune.lua.openlibs' must be set before any "
				  "\"lua-load\", \"lua-load-per-thread\" or \"lua-prepend-path\" "
				  "directive.");
	if (!*word || !script_libs_parse(word, &room->libs))
		return conf_error(l, 1, NULL, "'tune.lua.openlibs' expects 'all', 'none' or names "
				  "among table, io, os, string, math, utf8, package, debug.");
	return true;
}

static bool bool_parse(struct conf_line *l)
{
	struct script_room *room = script_room_of(l->cfg);
	const char *word = conf_peek(l) ? conf_next(l) : "";

	if (strcmp(word, "normal") != 0 && strcmp(word, "pre-3.1-bug") != 0)
		return conf_error(l, 1, NULL, "'tune.lua.bool-sample-conversion' expects either "
				  "'normal' or 'pre-3.1-bug' but got '%s'.", word);
	if (is_loaded(room))
		return true;
	room->bool_is_said = true;
	room->bool_is_bool = *word == 'n';
	return true;
}

static bool loggers_parse(struct conf_line *l)
{
	const char *word = conf_peek(l) ? conf_next(l) : "";

	if (strcmp(word, "on") != 0 && strcmp(word, "off") != 0)
		return conf_error(l, 1, NULL, "'tune.lua.log.loggers' expects either 'on' or 'off' "
				  "but got '%s'.", word);
	script_room_of(l->cfg)->log_loggers = word[1] == 'n' ? SCRIPT_ON : SCRIPT_OFF;
	return true;
}

static bool stderr_parse(struct conf_line *l)
{
	const char *word = conf_peek(l) ? conf_next(l) : "";
	struct script_room *room = script_room_of(l->cfg);

	if (strcmp(word, "on") == 0)
		room->log_stderr = SCRIPT_ON;
	else if (strcmp(word, "off") == 0)
		room->log_stderr = SCRIPT_OFF;
	else if (strcmp(word, "auto") == 0)
		room->log_stderr = SCRIPT_AUTO;
	else
		return conf_error(l, 1, NULL, "'tune.lua.log.stderr' expects either 'on', 'auto', "
				  "or 'off' but got '%s'.", word);
	return true;
}

#define TIMEOUT(name, member, text) \
	{ .words = "tune.lua." name "-timeout", .where = CONF_GLOBAL, .type = CONF_TIME_MS, \
	  .slot = &script_room_slot, .offset = offsetof(struct script_room, member), \
	  .max = INT32_MAX, .syntax = "<timeout>", .help = text }

static const struct conf_keyword keywords[] = {
	{ .words = "lua-load", .where = CONF_GLOBAL, .max_args = -1, .parse = script_load_line,
	  .syntax = "<file> [<arg>]*", .help = "load a script that all threads share" },
	{ .words = "lua-load-per-thread", .where = CONF_GLOBAL, .max_args = -1,
	  .parse = script_load_per_thread_line, .syntax = "<file> [<arg>]*",
	  .help = "load a script once for each thread" },
	{ .words = "lua-prepend-path", .where = CONF_GLOBAL, .max_args = 2, .parse = path_parse,
	  .syntax = "<path> [path|cpath]", .help = "where scripts look for modules first" },
	{ .words = "tune.lua.bool-sample-conversion", .where = CONF_GLOBAL, .max_args = 1,
	  .parse = bool_parse, .syntax = "{normal|pre-3.1-bug}",
	  .help = "are booleans given to scripts as such, or as numbers?" },
	TIMEOUT("burst", burst_ms, "how long a script may run without a wait"),
	TIMEOUT("service", service_ms, "how long a service may run, its waits left out"),
	TIMEOUT("session", session_ms, "how long an action, fetch or converter may run"),
	TIMEOUT("task", task_ms, "how long a task may run, its waits left out"),
	{ .words = "tune.lua.forced-yield", .where = CONF_GLOBAL, .type = CONF_INT,
	  .slot = &script_room_slot, .offset = offsetof(struct script_room, forced_yield),
	  .min = 1, .max = INT32_MAX, .syntax = "<number>",
	  .help = "instructions after which a script gives its thread back" },
	{ .words = "tune.lua.log.loggers", .where = CONF_GLOBAL, .max_args = 1,
	  .parse = loggers_parse, .syntax = "{on|off}",
	  .help = "does what scripts log go to the log targets?" },
	{ .words = "tune.lua.log.stderr", .where = CONF_GLOBAL, .max_args = 1,
	  .parse = stderr_parse, .syntax = "{on|auto|off}",
	  .help = "does what scripts log go to stderr?" },
	{ .words = "tune.lua.maxmem", .where = CONF_GLOBAL, .type = CONF_UINT64,
	  .slot = &script_room_slot, .offset = offsetof(struct script_room, maxmem_mb),
	  .max = UINT32_MAX, .syntax = "<megabytes>",
	  .help = "memory of all scripts; 0: no limit" },
	{ .words = "tune.lua.shared-size", .where = CONF_GLOBAL, .type = CONF_UINT64,
	  .slot = &script_room_slot, .offset = offsetof(struct script_room, shared_mb),
	  .max = 1 << 20, .syntax = "<megabytes>",
	  .help = "how much core.shared may hold (an extension); 0: nothing" },
	{ .words = "tune.lua.openlibs", .where = CONF_GLOBAL, .max_args = 1, .parse = libs_parse,
	  .syntax = "{all|none|<lib>[,<lib>]*}", .help = "which libraries of Lua scripts have" },
	{ 0 }
};

/* The sockets of <prev> that no run waits for are closed on each thread. */
static void close_sockets(void *ctx)
{
	script_sockets_retire(ctx);
}

static void sockets_closed(void *ctx)
{
	struct config *prev = ctx;

	config_drop(&prev);
}

static void room_retire(struct config *prev)
{
	struct script_room *room = script_room_of(prev);

	if (!is_loaded(room))
		return;
	__atomic_store_n(&room->is_retired, true, __ATOMIC_RELAXED);
	script_tasks_retire(prev);
	script_events_retire(prev);
	if (!thread_call_all(close_sockets, sockets_closed, config_take(prev)))
		config_drop(&prev);
}

static bool room_start(struct config *cfg, struct diag_list *diags)
{
	struct server *tls = script_room_of(cfg)->tls;

	if (tls) /* all modules below know it: it is hidden from users from now on */
		proxy_hide(tls->proxy, "<LUA>");
	return script_start(cfg, diags);
}

/* What a new state knows besides the libraries of Lua. */
static int classes_open(lua_State *L)
{
	script_core_open(L);
	script_txn_open(L);
	script_http_open(L);
	script_smp_open(L);
	script_reply_open(L);
	script_service_open(L);
	script_http_client_open(L);
	script_socket_open(L);
	script_applet_tcp_open(L);
	script_channel_open(L);
	script_filter_open(L);
	script_map_open(L);
	script_proxies_open(L);
	script_servers_open(L);
	script_regex_open(L);
	script_network_open(L);
	script_dates_open(L);
	script_process_open(L);
	script_queue_open(L);
	script_sticktable_open(L);
	script_certcache_open(L);
	script_mailers_open(L);
	script_patref_open(L);
	script_events_open(L);
	script_shared_open(L);
	return 0;
}

static void thread_fini(void)
{
	script_tasks_end();
	script_events_end();
}

static bool lua_init(void)
{
	script_events_init();
	script_shared_init();
	script_set_classes(classes_open);
	expr_set_scripts(&script_exprs);
	rules_set_scripts(script_action_find);
	services_set_scripts(script_service_find);
	ctl_set_more(script_command_next);
	filters_set_scripts(script_filter_find);
	return true;
}

void lua_print_build(FILE *out)
{
	fprintf(out, "Built with Lua version : %s\n", LUA_RELEASE);
}

const struct module mod_lua = {
	.name = "lua", .keywords = keywords, .slots = slots, .init = lua_init,
	.start = room_start, .retire = room_retire, .thread_fini = thread_fini,
	.fini = script_shared_fini, .commands = script_commands,
};

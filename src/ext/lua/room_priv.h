/* SPDX-License-Identifier: GPL-2.0-or-later */
/* room_priv.h - what a configuration has of scripts: settings, files (room.c, load.c), the
 * functions that they register (register.c), and what these have cost (usage.c); see ext/lua.h
 *
 * Owns   : its states of Lua and all rows; freed with the configuration.
 * Threads: filled at start-up by one; then read only, but for what is called atomic and figures.
 */
#ifndef SCRIPT_ROOM_PRIV_H
#define SCRIPT_ROOM_PRIV_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/slot.h"
#include "conf/conf.h"
#include "ctl/ctl.h"
#include "expr/script.h"
#include "stream/action.h"
#include "stream/filter.h"
#include "stream/service.h"

struct script_box;
struct script_file;
struct script_function;
struct script_path;
struct script_run;

enum script_switch { SCRIPT_OFF, SCRIPT_ON, SCRIPT_AUTO };

enum script_kind {
	SCRIPT_ACTION, SCRIPT_FETCH, SCRIPT_CONVERTER, SCRIPT_SERVICE, SCRIPT_INIT, SCRIPT_TASK,
	SCRIPT_CLI, SCRIPT_FILTER, SCRIPT_EVENT,
};

/* tune.lua.*, and what was loaded. Of a configuration. */
struct script_room {
	struct config *cfg;           /* NULL: nothing was loaded */
	struct script_box *shared;
	struct script_box **boxes;    /* per thread; NULL: none */
	unsigned box_count;
	struct script_file *files;    /* lua-load-per-thread, in their order */
	struct script_path *paths;
	struct script_function *functions;
	uint64_t memory;              /* bytes in use; atomic */
	uint64_t maxmem_mb, shared_mb;
	int forced_yield;             /* 0: not said */
	int64_t session_ms, task_ms, service_ms, burst_ms;
	int log_loggers, log_stderr;  /* enum script_switch */
	unsigned libs;                /* a bit for each of the list in state.c, inverted */
	bool bool_is_said, bool_is_bool;
	struct script_function *tasks;/* what tasks are called in messages */
	struct script_function *handlers; /* and functions of events */
	bool is_open;                 /* start-up is over: nothing more is registered */
	bool is_retired;              /* atomic: another generation is live */
	struct server *tls;           /* whose TLS connect_ssl() has; NULL: there is none */
};

struct script_path {
	struct script_path *next;
	const char *text, *type;
};

/* lua-load-per-thread: what is loaded for the other threads. */
struct script_file {
	struct script_file *next;
	const char *path;
	char **args;
	int arg_count;
	const char *conf_file;
	int conf_line;
};

/* What a function has cost in one state; a cache line, so that threads do not share one. */
struct script_usage {
	uint64_t calls, errors;
	uint64_t ns, longest_ns;      /* of pieces, their waits left out; of one piece */
	uint64_t allocated;           /* bytes, freed ones too */
	uint64_t unused[3];
};

/* What a script has registered. Its rows are what the rule and expression engines look at. */
struct script_function {
	struct script_function *next;
	struct script_room *room;
	enum script_kind kind;
	const char *name;             /* "lua.NAME"; NULL: init and tasks */
	const char *own_name;         /* NAME, in messages */
	struct script_box *shared;    /* where it is, or NULL: in each thread's */
	int *refs;                    /* in the registry of the shared state, or of each thread's */
	unsigned ref_count;
	struct script_usage *usage;   /* beside refs; NULL: it is not counted */
	int arg_count;                /* actions: words that follow */
	unsigned sets;                /* actions: what they were registered for */
	struct rule_action action;
	struct expr_fetch fetch;
	struct expr_converter converter;
	struct service_kind service;
	struct ctl_command command;
	struct filter_kind filter;
	const char *said;             /* in messages; NULL: own_name */
};

extern struct slot script_room_slot;
static inline struct script_room *script_room_of(const struct config *cfg)
{
	return slot_of(&script_room_slot, config_slots(cfg));
}
bool script_load_line(struct conf_line *l);
bool script_load_per_thread_line(struct conf_line *l);
/* The states of the threads but the first, and init functions. */
bool script_start(struct config *cfg, struct diag_list *diags);

/* The function that the configuration knows by this name, or a new one, whose code is that at
 * <index> for this state. <name> NULL: it has none. Raises an error outside of a script's body.
 */
struct script_function *script_function_take(lua_State *L, enum script_kind kind, const char *name,
					     int index);
int script_register_cli(lua_State *L);

/* A piece of <run> has run for <ns>. Under the lock of its state. */
void script_usage_count(const struct script_run *run, bool is_first, bool failed, uint64_t ns,
			uint64_t allocated);
extern const struct ctl_command script_commands[];

#endif

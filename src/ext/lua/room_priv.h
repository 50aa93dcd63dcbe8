/* SPDX-License-Identifier: GPL-2.0-or-later */
/* room_priv.h - the Lua part of a configuration: settings, files (room.c, load.c), registered
 * functions (register.c) and their cost (usage.c); see ext/lua.h
 *
 * Owns   : its Lua states and all rows; freed with the configuration.
 * Threads: filled at start-up by one thread; read only afterwards, apart from atomic members and
 *          counters.
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

/* tune.lua.* and the loaded files of a configuration. */
struct script_room {
	struct config *cfg;           /* NULL: nothing was loaded */
	struct script_box *shared;
	struct script_box **boxes;    /* per thread; NULL: none */
	unsigned box_count;
	struct script_file *files;    /* lua-load-per-thread, in order */
	struct script_path *paths;
	struct script_function *functions;
	uint64_t memory;              /* bytes in use; atomic */
	uint64_t maxmem_mb, shared_mb;
	int forced_yield;             /* 0: not set */
	int64_t session_ms, task_ms, service_ms, burst_ms;
	int log_loggers, log_stderr;  /* enum script_switch */
	unsigned libs;                /* a bit for each library in the list of state.c, inverted */
	bool bool_is_said, bool_is_bool;
	struct script_function *tasks;/* names of tasks in messages */
	struct script_function *handlers; /* and of event functions */
	bool is_open;                 /* start-up is over: nothing more can be registered */
	bool is_retired;              /* atomic: another generation is live */
	struct server *tls;           /* the one whose TLS connect_ssl() uses; NULL: none */
};

struct script_path {
	struct script_path *next;
	const char *text, *type;
};

/* lua-load-per-thread: a file to load for the other threads. */
struct script_file {
	struct script_file *next;
	const char *path;
	char **args;
	int arg_count;
	const char *conf_file;
	int conf_line;
};

/* The cost of a function in one state; a cache line, so that threads do not share one. */
struct script_usage {
	uint64_t calls, errors;
	uint64_t ns, longest_ns;      /* of all pieces without waits; of the longest piece */
	uint64_t allocated;           /* bytes, including those freed again */
	uint64_t unused[3];
};

/* A function registered by a script, with the rows that the rule and expression engines use. */
struct script_function {
	struct script_function *next;
	struct script_room *room;
	enum script_kind kind;
	const char *name;             /* "lua.NAME"; NULL for init and tasks */
	const char *own_name;         /* NAME, in messages */
	struct script_box *shared;    /* the box that has it; NULL: each thread's has */
	int *refs;                    /* in the registry of the shared state, or of each thread's */
	unsigned ref_count;
	struct script_usage *usage;   /* parallel to refs; NULL: not counted */
	int arg_count;                /* actions: number of arguments */
	unsigned sets;                /* actions: the rule sets they were registered for */
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
/* Creates the states of the threads except the first, runs init functions, starts tasks and events.
 * Returns false: failed.
 */
bool script_start(struct config *cfg, struct diag_list *diags);

/* Returns the function with this name in the configuration, or a new one, and sets its code for
 * this state to the function at <index>. <name> NULL: it has none. Raises an error outside of a
 * script's body.
 */
struct script_function *script_function_take(lua_State *L, enum script_kind kind, const char *name,
					     int index);
int script_register_cli(lua_State *L);

/* Counts a piece of <run> that took <ns>. Must hold the lock of its state. */
void script_usage_count(const struct script_run *run, bool is_first, bool failed, uint64_t ns,
			uint64_t allocated);
extern const struct ctl_command script_commands[];

#endif

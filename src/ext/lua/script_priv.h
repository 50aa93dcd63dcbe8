/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script_priv.h - what the files of scripts share; see ext/lua.h
 *
 * A function that takes a lua_State may raise an error of Lua, which jumps over C frames: nothing
 * is held there that would leak. Everything else is called from outside and protects itself.
 */
#ifndef SCRIPT_PRIV_H
#define SCRIPT_PRIV_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include "base/list.h"
#include "base/strbuf.h"
#include "conf/conf.h"
#include "ctl/ctl.h"
#include "expr/script.h"
#include "log/log.h"
#include "stream/action.h"
#include "stream/filter.h"
#include "stream/service.h"
#include "stream/wait.h"

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

/* A coroutine whose call is over, for the next one. */
struct script_spare {
	lua_State *co;
	int ref, handle_ref;          /* in the registry */
};

#define SCRIPT_SPARES 33 /* small blocks of memory: up to 512 bytes, in steps of 16 */
#define SCRIPT_SPARE_CALLS 16

/* One state of Lua. */
struct script_box {
	lua_State *L;
	struct script_room *room;
	pthread_mutex_t lock;         /* recursive: a script may evaluate what calls another */
	unsigned thread;              /* core.thread; 0: the shared one */
	struct script_run *running;   /* under the lock */
	struct expr_runtime *exprs;
	int method_ref;               /* in the registry: what callbacks of filters are called by */
	bool is_loading;
	bool is_done;                 /* core.done() without a run: start-up goes on */
	size_t credit;                /* bytes taken of tune.lua.maxmem, not in use */
	size_t spare_bytes;
	uint64_t allocated;           /* bytes in all, freed ones too */
	void *spares[SCRIPT_SPARES];  /* free blocks of each size: a list */
	struct script_spare spare_calls[SCRIPT_SPARE_CALLS];
	unsigned spare_call_count;
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

/* What objects of scripts hold instead of a pointer to the run. */
struct script_handle {
	struct script_run *run;       /* NULL: it is over */
};

/* What a run holds while it waits; part of it. */
struct script_held {
	struct script_held *next;
	struct script_run *run;
	void (*drop)(struct script_held *h);
};

/* The bytes of one side that a run may work on, as long as a piece of it runs. */
struct script_way {
	struct block_queue *in;       /* what has come; NULL: nothing can be done with bytes now */
	struct block_queue *out;      /* where it goes on to; NULL: it cannot */
	bool is_ended;                /* no more comes */
};

/* A call of a function: one coroutine. */
struct script_run {
	struct script_box *box;
	const struct script_function *fn;
	lua_State *co;
	int ref, handle_ref;
	struct script_handle *handle;
	struct expr_ctx *ctx;         /* of the piece that runs; NULL: neither stream nor session */
	const struct proxy *proxy;    /* for logs; or NULL */
	bool may_wait;
	bool has_begun;               /* a piece has run */
	bool is_clean;                /* its coroutine has returned: another call may have it */
	bool is_done;                 /* txn:done() */
	bool has_data;                /* core.done(): its value is the result */
	bool has_reply;               /* it has made s->res */
	const char *failure;          /* why it was ended by us; or NULL */
	int arg_count;                /* on the stack of <co>, before the next piece */
	uint64_t used_ns, piece_began_ns;
	int64_t limit_ms;             /* of all pieces; 0: none */
	uint64_t wake_ms;             /* after a piece that waits */
	int result_count;             /* after the last one, on the stack of <co> */
	void (*wake)(struct script_run *run); /* see script_wake(); or NULL */
	struct script_held *held;
	int64_t again_ms;             /* act.wake_time(); 0: not called */
	bool waits_for_alarm, was_alarmed; /* core.wait(), queue:alarm() */
	struct script_way ways[FILTER_SIDES];
};

/* Bytes that wait to be taken, above which an AppletTCP's send() waits for a turn. */
#define SCRIPT_APPLET_SOFT 16384
/* What an AppletTCP talks to. */
struct script_applet {
	struct strbuf out;            /* sent by the script, not yet taken */
	struct block_queue *in;       /* what has come; NULL: nothing ever does */
	const bool *is_whole;         /* no more comes; with <in> */
	void (*taken)(struct script_applet *a); /* some of <in> was taken; with <in> */
	bool wants;                   /* the script waits for more of <in> */
};

enum script_step { SCRIPT_DONE, SCRIPT_WAITS, SCRIPT_FAILED };

/* --- load.c */

extern struct slot script_room_slot;
static inline struct script_room *script_room_of(const struct config *cfg)
{
	return slot_of(&script_room_slot, config_slots(cfg));
}
bool script_load_line(struct conf_line *l);
bool script_load_per_thread_line(struct conf_line *l);
/* The states of the threads but the first, and init functions. */
bool script_start(struct config *cfg, struct diag_list *diags);

/* --- state.c */

/* What opens the classes of a new state. Once, before any is made. */
void script_set_classes(lua_CFunction open);
struct script_box *script_box_new(struct script_room *room, unsigned thread);
/* NULLs the pointer; harmless when it is. */
void script_box_free(struct script_box **at);
struct script_box *script_box_of(lua_State *L);
/* The box where <fn> is for this thread, and its reference. NULL: there is none. */
struct script_box *script_box_for(const struct script_function *fn, int *ref);
bool script_libs_parse(const char *word, unsigned *missing);
void script_prepend_path(lua_State *L, const struct script_path *p);
/* A class: a table of methods that objects of this name have. */
void script_class_new(lua_State *L, const char *name, const luaL_Reg *methods);
/* Gives it a field of its metatable (`__index` or the like): a function whose upvalue is the
 * table of methods. `__index` last.
 */
void script_class_set_meta(lua_State *L, const char *name, const char *field, lua_CFunction call);
/* One more method of a class. */
void script_class_add(lua_State *L, const char *name, const char *method, lua_CFunction call);
/* Fields of objects of calls that are made when a script reads them first. */
struct script_field {
	const char *name;             /* NULL ends the list */
	void (*push)(lua_State *L, struct script_run *run);
};
/* What `__index` of a class does whose upvalue is the table of methods: a method, or a field. */
int script_index(lua_State *L, const char *class, const struct script_field *fields);
/* Makes the table on the stack one. */
void script_class_set(lua_State *L, const char *name);
/* Pushes an object that outlives calls: a table whose [0] are <size> bytes, zeroed. Returns them;
 * they live as long as the object.
 */
void *script_object_new(lua_State *L, const char *name, size_t size);
/* The bytes of the object at <index>; raises an error when it is none of this class. */
void *script_object(lua_State *L, int index, const char *name);
/* Raises an error unless the call has so many arguments, its object being one. */
void script_check_args(lua_State *L, int count, const char *name);
/* The run behind the object at <index>; raises an error when it is over. */
struct script_run *script_self(lua_State *L, int index, const char *name);

/* --- run.c */

/* Begins a call; <push> pushes the arguments and returns how many. False: no memory, or what
 * <push> raised, logged.
 */
typedef int script_push_fn(lua_State *L, struct script_run *run, void *data);
bool script_begin(struct script_run *run, const struct script_function *fn, struct expr_ctx *ctx,
		  script_push_fn *push, void *data);
/* The same for a function <ref> of a box. */
bool script_begin_in(struct script_run *run, const struct script_function *fn,
		     struct script_box *box, int ref, struct expr_ctx *ctx, script_push_fn *push,
		     void *data);
/* Runs the next piece; results are for <take>, called under the lock, or NULL. */
typedef void script_take_fn(lua_State *L, struct script_run *run, void *data);
enum script_step script_go(struct script_run *run, script_take_fn *take, void *data);
/* Harmless when it is over. */
void script_end(struct script_run *run);
/* Pushes the handle of <run> as [0] of the table on the stack. */
void script_push_handle(lua_State *L, struct script_run *run);
/* Waits in a script until <at_ms>: what a C function returns. */
int script_yield(lua_State *L, uint64_t at_ms);
/* The same; <k> goes on there with <ctx>. TIMER_NEVER: script_wake() resumes it, or its owner. */
int script_yield_to(lua_State *L, uint64_t at_ms, lua_KContext ctx, lua_KFunction k);
/* What <run> waits for has come: it goes on in a later turn. On its thread. */
void script_wake(struct script_run *run);
/* <run> holds something from now on: when it ends first, <h> is dropped. */
void script_hold(struct script_run *run, struct script_held *h,
		 void (*drop)(struct script_held *h));
/* Drops it now. */
void script_let_go(struct script_held *h);

/* --- say.c */

void script_log(const struct script_room *room, const struct proxy *px, enum log_level level,
		struct slice text);
/* An error of a script: as an alert, too. */
void script_error(const struct script_room *room, const struct proxy *px, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* --- value.c */

/* The argument at <index>, which must be a text, or an error is raised. Lives as long as that. */
struct slice script_text(lua_State *L, int index);
/* Set a field of the table on top. slice_none() is the empty text; <text> NULL is nil. */
void script_set_text(lua_State *L, const char *name, struct slice text);
void script_set_string(lua_State *L, const char *name, const char *text);
void script_set_integer(lua_State *L, const char *name, lua_Integer number);

/* Pushes a sample; nil if it cannot be. <text>: as a string. */
void script_push_sample(lua_State *L, struct sample *s, struct arena *arena, bool text);
/* The value at <index> as a sample; texts are copied to <arena>. */
void script_to_sample(lua_State *L, int index, struct arena *arena, struct sample *s);

/* --- the classes */

void script_core_open(lua_State *L);     /* core.c */
void script_register_open(lua_State *L); /* register.c: core.register_*; the table is on top */
void script_txn_open(lua_State *L);
void script_http_open(lua_State *L);
void script_smp_open(lua_State *L);      /* Fetches, Converters */
void script_reply_open(lua_State *L);
void script_http_client_open(lua_State *L); /* HTTPClient, core.httpclient */
void script_socket_open(lua_State *L);      /* Socket, core.tcp */
void script_map_open(lua_State *L);      /* Map, core.add_acl and its kin */
void script_proxies_open(lua_State *L);  /* Proxy, Listener, core.proxies and its kin */
void script_servers_open(lua_State *L);  /* Server */
void script_regex_open(lua_State *L);    /* Regex */
void script_network_open(lua_State *L);  /* core.parse_addr, core.match_addr */
void script_dates_open(lua_State *L);    /* core.http_date and its kin */
void script_process_open(lua_State *L);  /* core.get_info, get_var, set_nice, done */
/* Push an object of class Proxy, Server, or the list of a proxy's servers. Each returns 1. */
int script_push_proxy(lua_State *L, struct proxy *px);
int script_push_server(lua_State *L, struct server *srv);
int script_push_servers(lua_State *L, const struct proxy *px);
/* The server of the object at 1; NULL: it was removed. Raises an error when it is no object. */
struct server *script_server(lua_State *L);
/* Pushes the columns of a row as a table. */
struct stats_row;
void script_push_stats(lua_State *L, const struct stats_row *row);
void script_queue_open(lua_State *L);    /* Queue, core.wait */
void script_sticktable_open(lua_State *L); /* StickTable */
/* Pushes the table of a proxy; nil: it has none. Returns 1. */
int script_push_table(lua_State *L, const struct proxy *px);
int script_push_txn(lua_State *L, struct script_run *run);
extern struct slot script_kept_slot;     /* what TXN.set_priv() keeps */
/* Fields f, sf, c, sc: objects Fetches and Converters. */
#define SCRIPT_SMP_FIELDS \
	{ "f", script_push_f }, { "sf", script_push_sf }, \
	{ "c", script_push_c }, { "sc", script_push_sc }
void script_push_f(lua_State *L, struct script_run *run);
void script_push_sf(lua_State *L, struct script_run *run);
void script_push_c(lua_State *L, struct script_run *run);
void script_push_sc(lua_State *L, struct script_run *run);
int script_new_reply(lua_State *L);
void script_push_headers(lua_State *L, const struct http_fields *f);
/* Builds s->res of the Reply at <index>. */
bool script_reply_make(lua_State *L, int index, struct stream *s);
int script_get_var(lua_State *L, struct script_run *run);
int script_set_var(lua_State *L, struct script_run *run);
int script_unset_var(lua_State *L, struct script_run *run);

void script_mailers_open(lua_State *L);  /* core.use_native_mailers_config */
/* Pushes the table of a proxy's mailers; nil: it sends no alerts. Returns 1. */
int script_push_mailers(lua_State *L, const struct proxy *px);
void script_certcache_open(lua_State *L); /* CertCache */
void script_patref_open(lua_State *L);   /* Patref, core.get_patref */

/* --- events.c */

enum script_events { SCRIPT_EVENTS_SERVER, SCRIPT_EVENTS_PATTERN };
void script_events_open(lua_State *L);   /* EventSub, core.event_sub */
/* Once, at the start of the program. */
void script_events_init(void);
/* Subscribes the function behind the table of names at <index> to events of <target>, a struct
 * server or pattern_ref (NULL: any server). Pushes the subscription and returns 1.
 */
int script_subscribe(lua_State *L, enum script_events family, const void *target, int index);
/* Those of start-up begin, on the calling thread. False: no memory. */
bool script_events_start(const struct config *cfg);
/* Those of a configuration that never began. */
void script_events_forget(const struct config *cfg);
/* Those of a configuration that was replaced end; those of the calling thread are freed. */
void script_events_retire(const struct config *cfg);
void script_events_end(void);

/* --- service.c, task.c */

void script_service_open(lua_State *L);
void script_service_row(struct script_function *fn);
void script_service_tcp_row(struct script_function *fn); /* service_tcp.c */
const struct service_kind *script_service_find(const struct config *cfg, const char *name);
/* Begins a task on the calling thread, of a function of a box. False: no memory. */
bool script_task_new(const struct script_function *fn, struct script_box *box, int fn_ref,
		     int args_ref);
void script_tasks_retire(const struct config *cfg);
void script_tasks_end(void);

/* --- register.c, cli.c, applet_tcp.c */

/* The function that the configuration knows by this name, or a new one, whose code is that at
 * <index> for this state. <name> NULL: it has none. Raises an error outside of a script's body.
 */
struct script_function *script_function_take(lua_State *L, enum script_kind kind, const char *name,
					     int index);
int script_register_cli(lua_State *L);
const struct ctl_command *script_command_next(const struct ctl_command *c);
void script_applet_tcp_open(lua_State *L);
void script_push_applet(lua_State *L, struct script_run *run, struct script_applet *a);

/* --- shared.c, usage.c, usage_ctl.c: extensions */

void script_shared_open(lua_State *L);       /* core.shared */
/* At the start of the program, and at its end. */
void script_shared_init(void);
void script_shared_fini(void);
/* A piece of <run> has run for <ns>. Under the lock of its state. */
void script_usage_count(const struct script_run *run, bool is_first, bool failed, uint64_t ns,
			uint64_t allocated);
extern const struct ctl_command script_commands[];

/* --- channel.c, filter.c */

void script_channel_open(lua_State *L);      /* Channel, HTTPMessage */
void script_push_channel(lua_State *L, struct script_run *run, enum filter_side side);
void script_push_message(lua_State *L, struct script_run *run, enum filter_side side);
/* The run behind an object of such a class at 1, and the side that it is of. */
struct script_run *script_way_at(lua_State *L, const char *name, unsigned *side);
void script_filter_open(lua_State *L);       /* filter; core.register_filter */
const struct filter_kind *script_filter_find(const struct config *cfg, const char *name);
/* Adds methods about the head, of HTTPMessage, to the table on top. */
void script_add_head_methods(lua_State *L);  /* http.c */

/* --- socket.c */

/* A thread begins, and ends. */
void script_sockets_begin(void);
void script_sockets_end(void);
/* Closes those of the calling thread that nobody waits for. */
void script_sockets_retire(const struct config *cfg);

/* Rows of what scripts bring: expr.c, action.c. */
void script_fetch_row(struct script_function *fn);
void script_converter_row(struct script_function *fn);
/* The action <fn> is for what its <sets> say, where one of the same name was for that before. */
void script_action_row(struct script_function *fn);
extern const struct expr_scripts script_exprs;
const struct rule_action *script_action_find(const struct config *cfg, const char *name,
					     unsigned sets);

#endif

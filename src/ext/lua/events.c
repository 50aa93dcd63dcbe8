/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events.c - subscriptions of scripts to events of servers and of pattern references
 *
 * An event is reported by the thread that made a change. It is copied to each matching
 * subscription, whose task, on the subscribing thread, calls the script's function for one event
 * after another. A subscription made at start-up gets its task when start-up ends.
 * Owns   : a subscription belongs to its task, and is freed by it; it holds its configuration.
 * Locks  : <lock>, for the list and the queued events. No Lua state is locked while holding it.
 * Limits : a subscription queues up to EVENTS_MAX; then events are lost until the queue is empty.
 */
#include <stdlib.h>
#include "base/clock.h"
#include "beside_priv.h"
#include "class_priv.h"
#include "core/lock.h"
#include "core/task.h"
#include "core/thread.h"
#include "expr/pattern.h"
#include "proxy/proxy.h"
#include "proxy/server_event.h"
#include "room_priv.h"
#include "run_priv.h"
#include "state_priv.h"
#include "value_priv.h"

#define EVENTS_MAX 1000

static const char *const server_names[] = {
	[SERVER_EVENT_ADD] = "SERVER_ADD", [SERVER_EVENT_DEL] = "SERVER_DEL",
	[SERVER_EVENT_UP] = "SERVER_UP", [SERVER_EVENT_DOWN] = "SERVER_DOWN",
	[SERVER_EVENT_STATE] = "SERVER_STATE", [SERVER_EVENT_ADMIN] = "SERVER_ADMIN",
	[SERVER_EVENT_CHECK] = "SERVER_CHECK", [SERVER_EVENT_ADDRESS] = "SERVER_INETADDR",
};

static const char *const pattern_names[] = {
	[PATTERN_EVENT_ADD] = "PAT_REF_ADD", [PATTERN_EVENT_DEL] = "PAT_REF_DEL",
	[PATTERN_EVENT_SET] = "PAT_REF_SET", [PATTERN_EVENT_CLEAR] = "PAT_REF_CLEAR",
	[PATTERN_EVENT_COMMIT] = "PAT_REF_COMMIT",
};

/* Of each family its name, and those of its events. */
static const struct {
	const char *name;
	const char *const *events;
	unsigned count;
} families[] = {
	[SCRIPT_EVENTS_SERVER] = { "SERVER", server_names, SERVER_EVENTS },
	[SCRIPT_EVENTS_PATTERN] = { "PAT_REF", pattern_names, PATTERN_EVENT_COMMIT + 1 },
};

/* What is known of a check. */
struct check_copy {
	bool agent;
	enum check_status status;
	enum check_outcome outcome;
	int code, health, rise, fall;
	int64_t duration_ms;
};

/* Of a server, at the time of the event; texts follow. */
struct server_copy {
	char *name, *proxy_name, *cause;
	int id, proxy_id;
	unsigned revision, old, now, requeued;
	bool by_admin, has_check;
	struct check_copy check;
};

struct script_event {
	struct list link;
	unsigned kind;
	int64_t when_s;
	struct server_copy server;    /* of SCRIPT_EVENTS_SERVER */
	char texts[];
};

struct script_sub {
	struct list link;             /* of all, under <lock> */
	uint64_t id;
	enum script_events family;
	unsigned mask;                /* bits of the family's events */
	const void *target;           /* struct server or pattern_ref; NULL: any server */
	struct script_box *box;
	struct config *cfg;           /* counted once <task> is there */
	int fn_ref;
	struct list events;           /* under <lock> */
	unsigned count;
	bool is_full, has_lost;       /* until <count> is 0 */
	bool is_ended;                /* atomic */
	struct task *task;            /* NULL: start-up is not over */
	unsigned thread;
	struct script_run run;        /* of <current>; or NULL */
	struct script_event *current;
};

static struct list subs = LIST_HEAD(subs);
static unsigned lock;
static uint64_t last_id;

/* --- telling ---------------------------------------------------------------------------------- */

static void copy_check(struct check_copy *to, const struct server *srv, bool agent)
{
	const struct check_state *cs = check_state_of(srv, agent);

	to->agent = agent;
	to->status = (enum check_status)__atomic_load_n(&cs->status, __ATOMIC_RELAXED);
	to->outcome = (enum check_outcome)__atomic_load_n(&cs->outcome, __ATOMIC_RELAXED);
	to->code = __atomic_load_n(&cs->code, __ATOMIC_RELAXED);
	to->duration_ms = __atomic_load_n(&cs->duration_ms, __ATOMIC_RELAXED);
	to->health = check_health_of(cs);
	to->rise = check_rise_of(cs);
	to->fall = check_fall_of(cs);
}

static char *put_text(char **at, const char *text)
{
	char *begin = *at;

	strcpy(begin, text);
	*at += strlen(text) + 1;
	return begin;
}

static struct script_event *server_event_copy(const struct server_event *e)
{
	const struct server *srv = e->srv;
	const char *cause = e->cause ? e->cause : "";
	struct script_event *copy = calloc(1, sizeof(*copy) + strlen(srv->name) +
					   strlen(srv->proxy->name) + strlen(cause) + 3);
	struct server_copy *to;
	char *at;

	if (!copy)
		return NULL;
	to = &copy->server;
	at = copy->texts;
	to->name = put_text(&at, srv->name);
	to->proxy_name = put_text(&at, srv->proxy->name);
	to->cause = put_text(&at, cause);
	to->id = srv->id;
	to->proxy_id = srv->proxy->id;
	to->revision = srv->life.revision;
	to->old = e->old;
	to->now = e->now;
	to->requeued = e->requeued;
	to->by_admin = e->by_admin;
	to->has_check = e->by_check || e->kind == SERVER_EVENT_CHECK;
	if (to->has_check)
		copy_check(&to->check, srv, e->by_agent);
	return copy;
}

/* Under the lock. The event is lost when it cannot be kept. */
static void sub_give(struct script_sub *s, unsigned kind, const struct server_event *server)
{
	struct script_event *e;

	if (__atomic_load_n(&s->is_ended, __ATOMIC_RELAXED))
		return;
	if (s->is_full) {
		s->has_lost = true;
		return;
	}
	e = server ? server_event_copy(server) : calloc(1, sizeof(*e));
	if (!e)
		return;
	e->kind = kind;
	e->when_s = (int64_t)(clock_read_wall_us() / 1000000);
	list_append(&s->events, &e->link);
	s->is_full = ++s->count == EVENTS_MAX;
	if (s->task)
		task_wake(s->task, TASK_WOKEN_OTHER);
}

/* Of another generation, the server is the same when it shares its state. */
static bool is_target(const struct script_sub *s, const void *target)
{
	const struct server *own = s->target, *srv = target;

	if (!s->target || s->target == target)
		return true;
	return s->family == SCRIPT_EVENTS_SERVER && own->state == srv->state;
}

static void tell_all(enum script_events family, unsigned kind, const void *target,
		     const struct server_event *server)
{
	struct script_sub *s;

	lock_take(&lock);
	list_for_each(s, &subs, link)
		if (s->family == family && s->mask >> kind & 1 && is_target(s, target))
			sub_give(s, kind, server);
	lock_drop(&lock);
}

static bool has_subs(void)
{
	return __atomic_load_n(&last_id, __ATOMIC_RELAXED) != 0;
}

static void server_told(const struct server_event *e)
{
	if (has_subs())
		tell_all(SCRIPT_EVENTS_SERVER, e->kind, e->srv, e);
}

static void pattern_told(const struct pattern_ref *ref, enum pattern_event event)
{
	if (has_subs())
		tell_all(SCRIPT_EVENTS_PATTERN, event, ref, NULL);
}

void script_events_init(void)
{
	server_set_event_hook(server_told);
	pattern_set_event_hook(pattern_told);
}

/* --- the event as values of Lua --------------------------------------------------------------- */

static void set_boolean(lua_State *L, const char *name, bool is)
{
	lua_pushboolean(L, is);
	lua_setfield(L, -2, name);
}

/* A field `check` of the table on the stack. */
static void set_check(lua_State *L, const struct check_copy *c)
{
	static const char *const outcomes[] = {
		[CHECK_RES_UNKNOWN] = "UNKNOWN", [CHECK_RES_NEUTRAL] = "NEUTRAL",
		[CHECK_RES_FAILED] = "FAILED", [CHECK_RES_PASSED] = "PASSED",
		[CHECK_RES_CONDPASS] = "CONDPASS",
	};

	lua_newtable(L);
	script_set_string(L, "result", outcomes[c->outcome]);
	set_boolean(L, "agent", c->agent);
	script_set_integer(L, "duration", c->duration_ms);
	lua_newtable(L);
	script_set_string(L, "short", check_status_code(c->status));
	script_set_string(L, "desc", check_status_text(c->status));
	if (check_status_has_code(c->status))
		script_set_integer(L, "code", c->code);
	lua_setfield(L, -2, "reason");
	lua_newtable(L);
	script_set_integer(L, "cur", c->health);
	script_set_integer(L, "rise", c->rise);
	script_set_integer(L, "fall", c->fall);
	lua_setfield(L, -2, "health");
	lua_setfield(L, -2, "check");
}

static void set_state(lua_State *L, const struct server_copy *s)
{
	static const char *const states[] = {
		[SERVER_STOPPED] = "STOPPED", [SERVER_STARTING] = "STARTING",
		[SERVER_RUNNING] = "RUNNING", [SERVER_STOPPING] = "STOPPING",
	};

	lua_newtable(L);
	set_boolean(L, "admin", s->by_admin);
	script_set_string(L, "cause", s->cause);
	script_set_string(L, "old_state", states[s->old]);
	script_set_string(L, "new_state", states[s->now]);
	script_set_integer(L, "requeued", s->requeued);
	if (s->has_check)
		set_check(L, &s->check);
	lua_setfield(L, -2, "state");
}

static void set_flags(lua_State *L, const char *name, unsigned flags)
{
	static const struct { const char *name; unsigned flags; } rows[] = {
		{ "MAINT", SERVER_MAINT }, { "FMAINT", SERVER_FMAINT },
		{ "IMAINT", SERVER_IMAINT }, { "RMAINT", SERVER_RMAINT },
		{ "CMAINT", SERVER_CMAINT }, { "DRAIN", SERVER_DRAIN },
		{ "FDRAIN", SERVER_FDRAIN }, { "IDRAIN", SERVER_IDRAIN },
	};

	lua_newtable(L);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		set_boolean(L, rows[i].name, flags & rows[i].flags);
	lua_setfield(L, -2, name);
}

static void set_admin(lua_State *L, const struct server_copy *s)
{
	lua_newtable(L);
	script_set_string(L, "cause", s->cause);
	set_flags(L, "old_admin", s->old);
	set_flags(L, "new_admin", s->now);
	script_set_integer(L, "requeued", s->requeued);
	lua_setfield(L, -2, "admin");
}

/* The server of the event, as the configuration of the script has it; none that was removed. */
static void set_reference(lua_State *L, const struct server_copy *s)
{
	const struct proxy *be = proxy_find(script_box_of(L)->room->cfg, s->proxy_name, PROXY_BE);
	struct server *srv = be ? server_find(be, s->name) : NULL;

	if (!srv || srv->life.revision != s->revision)
		return;
	script_push_server(L, srv);
	lua_setfield(L, -2, "reference");
}

static void push_server_event(lua_State *L, const struct script_event *e)
{
	const struct server_copy *s = &e->server;

	lua_newtable(L);
	script_set_string(L, "name", s->name);
	script_set_integer(L, "puid", s->id);
	script_set_integer(L, "rid", s->revision);
	script_set_string(L, "proxy_name", s->proxy_name);
	script_set_integer(L, "proxy_uuid", s->proxy_id);
	if (e->kind != SERVER_EVENT_DEL)
		set_reference(L, s);
	if (e->kind == SERVER_EVENT_STATE)
		set_state(L, s);
	else if (e->kind == SERVER_EVENT_ADMIN)
		set_admin(L, s);
	else if (e->kind == SERVER_EVENT_CHECK)
		set_check(L, &s->check);
}

static void push_sub(lua_State *L, const struct script_sub *s)
{
	uint64_t *id = script_object_new(L, "EventSub", sizeof(*id));

	*id = s->id;
}

/* function(event, data, sub, when) */
static int push_event(lua_State *L, struct script_run *run, void *data)
{
	const struct script_sub *s = data;
	const struct script_event *e = s->current;

	lua_pushstring(L, families[s->family].events[e->kind]);
	if (s->family == SCRIPT_EVENTS_SERVER)
		push_server_event(L, e);
	else
		lua_pushnil(L);
	push_sub(L, s);
	lua_pushinteger(L, e->when_s);
	return 4;
}

/* --- the task of a subscription --------------------------------------------------------------- */

static struct script_event *take_event(struct script_sub *s)
{
	struct script_event *e = NULL;
	bool has_lost;

	lock_take(&lock);
	if (!list_is_empty(&s->events)) {
		e = list_entry(s->events.next, struct script_event, link);
		list_remove(&e->link);
		s->count--;
	}
	has_lost = !s->count && s->has_lost;
	if (!s->count)
		s->is_full = s->has_lost = false;
	lock_drop(&lock);
	if (has_lost)
		script_error(s->box->room, NULL, "Lua event_sub: %d events of one subscription "
			     "waited: others were lost. Its function takes too long.", EVENTS_MAX);
	return e;
}

/* Frees it; its task, if it has one, is the one that runs or none. */
static void sub_free(struct script_sub *s)
{
	struct script_box *box = s->box;

	lock_take(&lock);
	list_remove(&s->link);
	lock_drop(&lock);
	script_end(&s->run);
	free(s->current);
	while (!list_is_empty(&s->events)) {
		struct script_event *e = list_entry(s->events.next, struct script_event, link);

		list_remove(&e->link);
		free(e);
	}
	script_box_lock(box);
	luaL_unref(box->L, LUA_REGISTRYINDEX, s->fn_ref);
	script_box_unlock(box);
	if (s->task)
		task_free(&s->task);
	if (s->cfg)
		config_drop(&s->cfg);
	free(s);
}

static void sub_waken(struct script_run *run)
{
	task_wake(container_of(run, struct script_sub, run)->task, TASK_WOKEN_OTHER);
}

/* The call for the next event begins. False: there is none, or it cannot. */
static bool sub_begin(struct script_sub *s)
{
	s->current = take_event(s);
	if (!s->current)
		return false;
	s->run = (struct script_run){ .may_wait = true, .wake = sub_waken,
				      .limit_ms = s->box->room->task_ms };
	if (script_begin_in(&s->run, s->box->room->handlers, s->box, s->fn_ref, NULL, push_event,
			    s))
		return true;
	free(s->current);
	s->current = NULL;
	return false;
}

/* One event a turn. */
static void sub_run(struct task *task, void *ctx, unsigned why)
{
	struct script_sub *s = ctx;
	bool more;

	if (__atomic_load_n(&s->is_ended, __ATOMIC_ACQUIRE)) {
		sub_free(s);
		return;
	}
	if (!s->current && !sub_begin(s))
		return;
	if (script_go(&s->run, NULL, NULL) == SCRIPT_WAITS) {
		task_schedule(task, s->run.wake_ms);
		if (s->run.wake_ms <= clock_now_ms())
			task_wake(task, TASK_WOKEN_OTHER);
		return;
	}
	script_end(&s->run);
	free(s->current);
	s->current = NULL;
	lock_take(&lock);
	more = s->count > 0 || s->is_ended;
	lock_drop(&lock);
	if (more)
		task_wake(task, TASK_WOKEN_OTHER);
}

/* Gives it a task of the calling thread. False: no memory. */
static bool sub_start(struct script_sub *s)
{
	struct task *task = task_new(sub_run, s);

	if (!task)
		return false;
	lock_take(&lock);
	s->thread = thread_id;
	s->cfg = config_take(s->box->room->cfg);
	s->task = task;
	lock_drop(&lock);
	task_wake(task, TASK_WOKEN_INIT);
	return true;
}

/* The first of the calling thread, or (<cfg>) of a configuration that has no task yet. */
static struct script_sub *find_first(const struct config *cfg)
{
	struct script_sub *s, *found = NULL;

	lock_take(&lock);
	list_for_each(s, &subs, link)
		if (!found && (cfg ? !s->task && s->box->room->cfg == cfg
			       : s->task && s->thread == thread_id))
			found = s;
	lock_drop(&lock);
	return found;
}

bool script_events_start(const struct config *cfg)
{
	struct script_sub *s;

	while ((s = find_first(cfg)) != NULL)
		if (!sub_start(s))
			return false;
	return true;
}

void script_events_forget(const struct config *cfg)
{
	struct script_sub *s;

	while ((s = find_first(cfg)) != NULL)
		sub_free(s);
}

void script_events_retire(const struct config *cfg)
{
	struct script_sub *s;

	lock_take(&lock);
	list_for_each(s, &subs, link) {
		if (s->cfg != cfg)
			continue;
		__atomic_store_n(&s->is_ended, true, __ATOMIC_RELEASE);
		task_wake(s->task, TASK_WOKEN_OTHER);
	}
	lock_drop(&lock);
}

void script_events_end(void)
{
	struct script_sub *s;

	while ((s = find_first(NULL)) != NULL)
		sub_free(s);
}

/* --- subscribing ------------------------------------------------------------------------------ */

/* The events that the table at <index> names. Raises an error. */
static unsigned mask_at(lua_State *L, int index, enum script_events family)
{
	unsigned mask = 0;

	if (!lua_istable(L, index))
		luaL_argerror(L, index, lua_pushfstring(L, "table of strings expected, got %s",
							luaL_typename(L, index)));
	for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
		const char *name = lua_isstring(L, -1) ? lua_tostring(L, -1) : "";
		unsigned found = 0;

		if (strcmp(name, families[family].name) == 0)
			found = (1u << families[family].count) - 1;
		for (unsigned i = 0; i < families[family].count; i++)
			if (strcmp(name, families[family].events[i]) == 0)
				found = 1u << i;
		if (!found)
			luaL_argerror(L, index, lua_pushfstring(L, "'%s' event type is unknown",
								name));
		mask |= found;
	}
	if (!mask)
		luaL_error(L, "event_sub: no valid event types were provided");
	return mask;
}

int script_subscribe(lua_State *L, enum script_events family, const void *target, int index)
{
	struct script_box *box = script_box_of(L);
	struct script_sub *s;
	unsigned mask;

	if (lua_gettop(L) != index + 1)
		return luaL_error(L, "'event_sub' needs %d arguments", index + 1);
	mask = mask_at(L, index, family);
	luaL_checktype(L, index + 1, LUA_TFUNCTION);
	s = calloc(1, sizeof(*s));
	if (!s)
		return luaL_error(L, "out of memory");
	s->family = family;
	s->mask = mask;
	s->target = target;
	s->box = box;
	list_init(&s->events);
	s->fn_ref = LUA_NOREF;
	lock_take(&lock);
	s->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	list_append(&subs, &s->link);
	lock_drop(&lock);
	lua_pushvalue(L, index + 1); /* an error of memory ends it with the configuration */
	s->fn_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	if (box->room->is_open && !sub_start(s))
		return luaL_error(L, "out of memory");
	push_sub(L, s);
	return 1;
}

/* core.event_sub(types, function) */
static int core_event_sub(lua_State *L)
{
	return script_subscribe(L, SCRIPT_EVENTS_SERVER, NULL, 1);
}

/* server:event_sub(types, function); nil: it was removed */
static int server_event_sub(lua_State *L)
{
	struct server *srv = script_server(L);

	if (srv)
		return script_subscribe(L, SCRIPT_EVENTS_SERVER, srv, 2);
	lua_pushnil(L);
	return 1;
}

/* sub:unsub(): once more is harmless. */
static int sub_unsub(lua_State *L)
{
	const uint64_t *id = script_object(L, 1, "EventSub");
	struct script_sub *s;

	lock_take(&lock);
	list_for_each(s, &subs, link) {
		if (s->id != *id)
			continue;
		__atomic_store_n(&s->is_ended, true, __ATOMIC_RELEASE);
		if (s->task)
			task_wake(s->task, TASK_WOKEN_OTHER);
	}
	lock_drop(&lock);
	return 0;
}

void script_events_open(lua_State *L)
{
	static const luaL_Reg methods[] = { { "unsub", sub_unsub }, { NULL, NULL } };

	script_class_new(L, "EventSub", methods);
	script_class_add(L, "Server", "event_sub", server_event_sub);
	lua_getglobal(L, "core");
	lua_pushcfunction(L, core_event_sub);
	lua_setfield(L, -2, "event_sub");
	lua_pop(L, 1);
}

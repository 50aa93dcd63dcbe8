/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_state.c - the state of a server's checks: initial values, texts, and tasks to wake */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/lock.h"
#include "core/task.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "check_state_priv.h"

/* --- statuses ------------------------------------------------------------------------------- */

static const struct {
	const char *code, *meaning;
	enum check_outcome outcome;
} statuses[] = {
#define X(name, code, meaning, result) { code, meaning, CHECK_RES_##result },
	CHECK_STATUSES(X)
#undef X
};

const char *check_status_code(enum check_status status)
{
	return statuses[status].code;
}

const char *check_status_text(enum check_status status)
{
	return statuses[status].meaning;
}

enum check_outcome check_status_outcome(enum check_status status)
{
	return statuses[status].outcome;
}

/* --- settings and the first state ----------------------------------------------------------- */

void server_checks_set_defaults(struct server_checks *c)
{
	*c = (struct server_checks){ .error_limit = 10 };
	c->health.inter_ms = c->agent.inter_ms = 2000;
	c->health.rise = 2;
	c->health.fall = 3;
	c->agent.rise = c->agent.fall = 1;
}

bool check_starts_down(const struct server *srv)
{
	return srv->checks.init == CHECK_INIT_DOWN || srv->checks.init == CHECK_INIT_FULLY_DOWN;
}

/* The health of a server that was not checked yet. */
static int first_health(const struct server *srv)
{
	const struct check_conf *h = &srv->checks.health;

	switch (srv->checks.init) {
	case CHECK_INIT_FULLY_UP:
		return h->rise + h->fall - 1;
	case CHECK_INIT_DOWN:
		return h->rise - 1;
	case CHECK_INIT_FULLY_DOWN:
		return 0;
	default:
		return h->rise;
	}
}

static void state_init(struct check_state *cs, const struct check_conf *conf, unsigned flags)
{
	cs->status = CHECK_INI;
	cs->outcome = CHECK_RES_UNKNOWN;
	cs->rise = conf->rise;
	cs->fall = conf->fall;
	cs->flags = conf->on ? flags | CHECK_CONFIGURED | CHECK_ENABLED : 0;
}

void check_states_init(const struct server *srv, struct server_state *st)
{
	state_init(&st->check, &srv->checks.health, 0);
	state_init(&st->agent, &srv->checks.agent, CHECK_AGENT);
	st->check.health = first_health(srv);
	st->agent.health = srv->checks.agent.rise;
	if (st->admin & SERVER_MAINT) {
		st->check.flags |= CHECK_PAUSED;
		st->check.health = 0;
	} else if (check_starts_down(srv)) {
		st->oper = SERVER_STOPPED;
	}
}

/* The settings of one check have changed: it keeps its health as far as that has the same meaning.
 * Returns whether it says that the server is up.
 */
static bool adopt_one(struct check_state *cs, const struct check_conf *to,
		      const struct check_conf *from, unsigned flags)
{
	bool up = check_health_of(cs) >= check_rise_of(cs) || !from->on;

	if (to->on != from->on) {
		flags |= to->on ? CHECK_CONFIGURED | CHECK_ENABLED : 0;
		flags |= check_flags_of(cs) & CHECK_PAUSED;
		__atomic_store_n(&cs->flags, flags, __ATOMIC_RELAXED);
		__atomic_store_n(&cs->status, CHECK_INI, __ATOMIC_RELAXED);
		free(cs->text);
		cs->text = NULL;
		up = true;
		__atomic_store_n(&cs->health, to->rise, __ATOMIC_RELAXED);
	} else if (to->rise != check_rise_of(cs) || to->fall != check_fall_of(cs)) {
		__atomic_store_n(&cs->health, up ? to->rise + to->fall - 1 : 0, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&cs->rise, to->rise, __ATOMIC_RELAXED);
	__atomic_store_n(&cs->fall, to->fall, __ATOMIC_RELAXED);
	return up;
}

/* Is no check left that could bring the server up again, though it was down by one, or by an
 * init-state that the file does not have any longer?
 */
static bool is_left_down(const struct server *to, const struct server *from)
{
	unsigned left = to->checks.health.on + to->checks.agent.on;
	unsigned before = from->checks.health.on + from->checks.agent.on;

	return left < before || (!left && check_starts_down(from) && !check_starts_down(to));
}

void check_adopt(const struct server *to, const struct server *from)
{
	struct server_state *st = from->state;
	bool up;

	lock_take(&from->proxy->state->change_lock);
	up = adopt_one(&st->check, &to->checks.health, &from->checks.health, 0);
	up = adopt_one(&st->agent, &to->checks.agent, &from->checks.agent, CHECK_AGENT) && up;
	if (up && !(st->admin & SERVER_MAINT) && st->oper == SERVER_STOPPED &&
	    is_left_down(to, from))
		__atomic_store_n(&st->oper, SERVER_RUNNING, __ATOMIC_RELAXED);
	lock_drop(&from->proxy->state->change_lock);
}

void check_state_fini(struct check_state *cs)
{
	free(cs->send);
	free(cs->text);
	free(cs->past);
	cs->send = cs->text = NULL;
	cs->past = NULL;
}

void check_pause(struct server *srv, bool on, bool was_up)
{
	struct check_state *cs = &srv->state->check;
	unsigned flags = check_flags_of(cs);

	if (on) {
		if (flags & CHECK_ENABLED)
			__atomic_or_fetch(&cs->flags, CHECK_PAUSED, __ATOMIC_RELAXED);
		/* one without a check that was down already, by its agent, keeps it */
		if (was_up || flags & CHECK_ENABLED)
			__atomic_store_n(&cs->health, 0, __ATOMIC_RELAXED);
		return;
	}
	if (flags & CHECK_CONFIGURED)
		__atomic_and_fetch(&cs->flags, ~(unsigned)CHECK_PAUSED, __ATOMIC_RELAXED);
	/* without a check there is nothing that counts */
	if (flags & CHECK_ENABLED && !srv->checks.track)
		__atomic_store_n(&cs->health, first_health(srv), __ATOMIC_RELAXED);
}

void check_suspend(struct server *srv)
{
	check_pause(srv, true, true);
}

void check_resume(struct server *srv)
{
	check_pause(srv, false, false);
}

void check_restore_health(struct server *srv, unsigned oper, const struct check_memory *m)
{
	struct check_state *cs = &srv->state->check;

	cs->status = m->status;
	cs->outcome = m->outcome;
	switch (oper) {
	case SERVER_STOPPED:
		cs->health = 0;
		break;
	case SERVER_STARTING:
		cs->health = cs->rise - 1;
		break;
	case SERVER_STOPPING:
		cs->health = m->health >= cs->rise && m->health < cs->rise + cs->fall - 1
			? m->health : cs->rise;
		break;
	default:
		cs->health = cs->rise + cs->fall - 1;
	}
}

static void restore_enabled(struct check_state *cs, unsigned flags)
{
	if (!(cs->flags & flags & CHECK_CONFIGURED))
		return;
	cs->flags = (cs->flags & ~(unsigned)CHECK_ENABLED) | (flags & CHECK_ENABLED);
}

void check_restore_flags(struct server *srv, const struct check_memory *m)
{
	restore_enabled(&srv->state->check, m->flags);
	restore_enabled(&srv->state->agent, m->agent_flags);
}

const struct server *check_decider(const struct server *srv)
{
	while (srv->checks.track)
		srv = srv->checks.track;
	return srv;
}

struct check_state *check_state_of(const struct server *srv, bool agent)
{
	return agent ? &srv->state->agent : &srv->state->check;
}

/* --- texts ---------------------------------------------------------------------------------- */

void check_text(const struct server *srv, bool agent, char *out, size_t size)
{
	struct check_state *cs = check_state_of(srv, agent);

	lock_take(&srv->proxy->state->change_lock);
	snprintf(out, size, "%s", cs->text ? cs->text : "");
	lock_drop(&srv->proxy->state->change_lock);
}

unsigned check_past(const struct server *srv, bool agent, struct check_past out[CHECK_PAST_MAX])
{
	struct check_state *cs = check_state_of(srv, agent);
	unsigned n;

	lock_take(&srv->proxy->state->change_lock);
	n = cs->past_count < CHECK_PAST_MAX ? cs->past_count : CHECK_PAST_MAX;
	for (unsigned i = 0; i < n; i++)
		out[i] = cs->past[(cs->past_count - 1 - i) % CHECK_PAST_MAX];
	lock_drop(&srv->proxy->state->change_lock);
	return n;
}

void check_reason_text(const struct server *srv, bool agent, char *out, size_t size)
{
	const struct check_state *cs = check_state_of(srv, agent);
	enum check_status status = __atomic_load_n(&cs->status, __ATOMIC_RELAXED);
	char text[CHECK_TEXT_MAX], code[32] = "", info[CHECK_TEXT_MAX + 16] = "";
	char duration[64] = "";

	check_text(srv, agent, text, sizeof(text));
	if (check_status_has_code(status))
		snprintf(code, sizeof(code), ", code: %d",
			 __atomic_load_n(&cs->code, __ATOMIC_RELAXED));
	if (*text)
		snprintf(info, sizeof(info), ", info: \"%s\"", text);
	/* what traffic has shown took no time */
	if (status != CHECK_HANA)
		snprintf(duration, sizeof(duration), ", check duration: %lldms",
			 (long long)__atomic_load_n(&cs->duration_ms, __ATOMIC_RELAXED));
	snprintf(out, size, ", reason: %s%s%s%s", check_status_text(status), code, info, duration);
}

/* --- waking --------------------------------------------------------------------------------- */

/* The lock keeps the owner from freeing the task meanwhile. */
static void wake_task(struct server *srv, struct task **place)
{
	lock_take(&srv->proxy->state->change_lock);
	if (*place)
		task_wake(*place, TASK_WOKEN_OTHER);
	lock_drop(&srv->proxy->state->change_lock);
}

void check_warm_wake(struct server *srv)
{
	wake_task(srv, &srv->state->warm_task);
}

void check_hurry(struct server *srv)
{
	__atomic_store_n(&srv->state->check.force_fast, 1, __ATOMIC_RELAXED);
	wake_task(srv, &srv->state->check_task);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_health.c - the consequences of a check's result
 *
 *   health:   0  1 ... rise-1 | rise ... rise+fall-1
 *             down, going up  |  up, going down at the left end
 *
 * A success moves it one to the right, and from <rise> on to the right end; a failure one to the
 * left, and from <rise> on to 0. Crossing the bar turns the server, provided that the other check
 * (health, agent) agrees.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "core/lock.h"
#include "proxy/address.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "proxy/server_event.h"
#include "check_state_priv.h"
#include "proxy_priv.h"

static bool is_enabled(const struct check_state *cs)
{
	return check_flags_of(cs) & CHECK_ENABLED;
}

static bool is_healthy(const struct check_state *cs)
{
	return check_health_of(cs) >= check_rise_of(cs);
}

static void health_set(struct check_state *cs, int health)
{
	__atomic_store_n(&cs->health, health, __ATOMIC_RELAXED);
}

/* --- what is said --------------------------------------------------------------------------- */

/* option log-health-checks */
static void log_result(const struct server *srv, bool agent)
{
	static const char *const words[] = {
		[CHECK_RES_UNKNOWN] = "", [CHECK_RES_NEUTRAL] = "",
		[CHECK_RES_FAILED] = "failed", [CHECK_RES_PASSED] = "succeeded",
		[CHECK_RES_CONDPASS] = "conditionally succeeded",
	};
	const struct check_state *cs = check_state_of(srv, agent);
	char why[CHECK_TEXT_MAX + 200];
	int health = check_health_of(cs);
	bool up = health >= check_rise_of(cs);

	check_reason_text(srv, agent, why, sizeof(why));
	proxy_tell(srv->proxy, PROXY_EVENT_CHECK, "%s check for %sserver %s/%s %s%s, status: "
		   "%d/%d %s.", agent ? "Agent" : "Health", srv->backup ? "backup " : "",
		   srv->proxy->name, srv->name, words[cs->outcome], why,
		   up ? health - check_rise_of(cs) + 1 : health,
		   up ? check_fall_of(cs) : check_rise_of(cs),
		   !up ? "DOWN" : server_weight(srv) ? "UP" : "DRAIN");
}

/* Control characters would break lines of logs and commands. */
static void put_info(char *out, size_t size, const char *text)
{
	size_t n = 0;

	for (; *text && n + 1 < size; text++)
		if ((unsigned char)*text >= ' ' && *text != 0x7f)
			out[n++] = *text;
	out[n] = 0;
}

/* --- counting ------------------------------------------------------------------------------- */

/* One failure. True: the health has changed. Under the lock. */
static bool health_fail(struct server *srv, struct check_state *cs, bool agent)
{
	int health = check_health_of(cs);

	/* an agent that cannot be reached says nothing */
	if (agent && cs->status < CHECK_L57DATA)
		return false;
	if (!health)
		return false;
	if (!agent) {
		counter_add(&srv->state->counters, CNT_CHECK_FAILS, 1);
		counter_add(&srv->proxy->state->be, CNT_CHECK_FAILS, 1);
	}
	health--;
	health_set(cs, health < check_rise_of(cs) ? 0 : health);
	return true;
}

static bool health_pass(struct check_state *cs)
{
	int health = check_health_of(cs), full = check_rise_of(cs) + check_fall_of(cs) - 1;

	if (health >= full)
		return false;
	health++;
	if (health >= check_rise_of(cs))
		health = full;
	health_set(cs, health);
	return true;
}

/* Under the lock. */
static void past_add(struct check_state *cs, const struct check_result *r)
{
	uint64_t now_ms = clock_now_ms();
	struct check_past *p;

	if (!cs->past)
		cs->past = calloc(CHECK_PAST_MAX, sizeof(*cs->past));
	if (!cs->past)
		return;
	p = &cs->past[(cs->past_count - 1) % CHECK_PAST_MAX];
	if (!cs->past_count || p->status != r->status || p->code != r->code) {
		p = &cs->past[cs->past_count++ % CHECK_PAST_MAX];
		*p = (struct check_past){ .first_ms = now_ms, .status = (uint16_t)r->status,
					  .code = r->code };
	}
	p->last_ms = now_ms;
	p->count++;
	if (r->duration_ms > p->longest_ms)
		p->longest_ms = r->duration_ms;
}

/* Keeps <r>, counts. True: there is something to log. Under the lock. */
static bool state_update(struct server *srv, bool agent, const struct check_result *r)
{
	struct check_state *cs = check_state_of(srv, agent);
	enum check_outcome outcome = check_status_outcome(r->status);
	bool changed = cs->status != r->status;

	__atomic_store_n(&cs->status, r->status, __ATOMIC_RELAXED);
	__atomic_store_n(&cs->outcome, outcome, __ATOMIC_RELAXED);
	__atomic_store_n(&cs->duration_ms, r->duration_ms, __ATOMIC_RELAXED);
	__atomic_store_n(&cs->code, r->code, __ATOMIC_RELAXED);
	__atomic_store_n(&cs->is_tested, true, __ATOMIC_RELAXED);
	if (!cs->text)
		cs->text = calloc(1, CHECK_TEXT_MAX);
	if (cs->text)
		put_info(cs->text, CHECK_TEXT_MAX, r->text ? r->text : "");
	past_add(cs, r);
	switch (outcome) {
	case CHECK_RES_FAILED:
		return health_fail(srv, cs, agent) || changed;
	case CHECK_RES_PASSED:
	case CHECK_RES_CONDPASS:
		return health_pass(cs) || changed;
	default:
		return false;
	}
}

/* Turns the server as the health says, if the other check agrees. One that is stopping (by its
 * checks, or a command) is not brought back by its agent, whose "up" is about one that is down.
 */
static void follow_health(struct server *srv, bool agent, enum check_outcome outcome)
{
	struct check_state *cs = check_state_of(srv, agent), *other = check_state_of(srv, !agent);
	enum server_cause cause = agent ? SERVER_BY_AGENT : SERVER_BY_CHECK;

	if (agent && outcome == CHECK_RES_PASSED &&
	    __atomic_load_n(&srv->state->oper, __ATOMIC_RELAXED) == SERVER_STOPPING)
		return;
	if (outcome == CHECK_RES_FAILED && !is_healthy(cs))
		server_set_oper(srv, SERVER_STOPPED, cause);
	else if (outcome == CHECK_RES_PASSED && is_healthy(cs) &&
		 (!is_enabled(other) || is_healthy(other)))
		server_set_oper(srv, SERVER_RUNNING, cause);
	else if (outcome == CHECK_RES_CONDPASS && is_healthy(cs) &&
		 (!is_enabled(other) || is_healthy(other)))
		server_set_oper(srv, SERVER_STOPPING, cause);
}

void check_report(struct server *srv, bool agent, const struct check_result *r)
{
	struct check_state *cs = check_state_of(srv, agent);
	bool worth_telling, ignored;

	lock_take(&srv->proxy->state->change_lock);
	/* switched off or in maintenance meanwhile: too late */
	ignored = !is_enabled(cs) || check_flags_of(cs) & CHECK_PAUSED;
	worth_telling = !ignored && state_update(srv, agent, r);
	lock_drop(&srv->proxy->state->change_lock);
	if (ignored)
		return;
	if (worth_telling && srv->proxy->options & PROXY_OPT_LOG_HEALTH_CHECKS)
		log_result(srv, agent);
	if (worth_telling)
		server_event_tell(&(struct server_event){ .kind = SERVER_EVENT_CHECK, .srv = srv,
							  .by_agent = agent });
	follow_health(srv, agent, check_status_outcome(r->status));
}

int64_t check_interval_ms(const struct server *srv, bool agent)
{
	const struct check_conf *conf = agent ? &srv->checks.agent : &srv->checks.health;
	const struct check_state *cs = check_state_of(srv, agent);
	bool tested = __atomic_load_n(&cs->is_tested, __ATOMIC_RELAXED);
	int health = check_health_of(cs);

	if (tested && health >= check_rise_of(cs) + check_fall_of(cs) - 1)
		return conf->inter_ms;
	if (tested && !health && conf->downinter_ms)
		return conf->downinter_ms;
	if ((!tested || health) && conf->fastinter_ms)
		return conf->fastinter_ms;
	return conf->inter_ms;
}

/* --- traffic (observe) ---------------------------------------------------------------------- */

static const struct {
	unsigned char layers, is_error;
	const char *text;
} observations[] = {
#define X(name, layers, error, text) { layers, error, text },
	OBSERVATIONS(X)
#undef X
};

/* Brings the health to where one more failure has the effect of on-error. */
static void prepare_failure(struct server *srv)
{
	struct check_state *cs = &srv->state->check;
	int health = check_health_of(cs);

	if (srv->checks.on_error == ON_ERROR_SUDDEN_DEATH && health > check_rise_of(cs))
		health = check_rise_of(cs) + 1;
	else if (srv->checks.on_error == ON_ERROR_MARK_DOWN && health > check_rise_of(cs))
		health = check_rise_of(cs);
	health_set(cs, health);
}

void check_observe_now(struct server *srv, enum check_observation seen)
{
	struct check_result r = { .status = CHECK_HANA };
	struct server_state *st = srv->state;
	char text[128];
	unsigned n;

	if (!is_enabled(&st->check) ||
	    !(observations[seen].layers & (srv->checks.observe == OBSERVE_LAYER7 ? 2 : 1)))
		return;
	if (!observations[seen].is_error) {
		if (__atomic_load_n(&st->errors_in_row, __ATOMIC_RELAXED))
			__atomic_store_n(&st->errors_in_row, 0, __ATOMIC_RELAXED);
		return;
	}
	n = __atomic_add_fetch(&st->errors_in_row, 1, __ATOMIC_RELAXED);
	if (n < (unsigned)srv->checks.error_limit)
		return;
	__atomic_store_n(&st->errors_in_row, 0, __ATOMIC_RELAXED);
	counter_add(&st->counters, CNT_CHECK_HANA, 1);
	counter_add(&srv->proxy->state->be, CNT_CHECK_HANA, 1);
	if (srv->checks.on_error != ON_ERROR_FASTINTER) {
		snprintf(text, sizeof(text), "Detected %u consecutive errors, last one was: %s", n,
			 observations[seen].text);
		r.text = text;
		prepare_failure(srv);
		check_report(srv, false, &r);
	}
	check_hurry(srv);
}

/* --- run-time changes ----------------------------------------------------------------------- */

bool check_enable(struct server *srv, bool agent, bool on)
{
	struct check_state *cs = check_state_of(srv, agent);

	if (!on) {
		__atomic_and_fetch(&cs->flags, ~(unsigned)CHECK_ENABLED, __ATOMIC_RELAXED);
		return true;
	}
	if (!(check_flags_of(cs) & CHECK_CONFIGURED))
		return false;
	__atomic_or_fetch(&cs->flags, CHECK_ENABLED, __ATOMIC_RELAXED);
	return true;
}

void check_force_health(struct server *srv, int how, int by)
{
	static const enum server_oper opers[] = { SERVER_RUNNING, SERVER_STOPPING,
						  SERVER_STOPPED };
	struct check_state *cs = &srv->state->check;

	health_set(cs, how == 2 ? 0 : check_rise_of(cs) + check_fall_of(cs) - 1);
	server_set_oper(srv, opers[how], (enum server_cause)by);
}

void check_force_agent(struct server *srv, bool up, int by)
{
	struct check_state *cs = &srv->state->agent;

	health_set(cs, up ? check_rise_of(cs) + check_fall_of(cs) - 1 : 0);
	server_set_oper(srv, up ? SERVER_RUNNING : SERVER_STOPPED, (enum server_cause)by);
}

/* --- addresses ------------------------------------------------------------------------------ */

bool check_address(const struct server *srv, bool agent, struct server_addr *out)
{
	const struct check_conf *conf = agent ? &srv->checks.agent : &srv->checks.health;
	struct check_state *cs = check_state_of(srv, agent);
	int port = __atomic_load_n(&cs->port, __ATOMIC_RELAXED), own;

	server_address(srv, out);
	own = address_port((struct sockaddr *)&out->sa);
	lock_take(&srv->proxy->state->change_lock);
	if (cs->addr.sin6_family != AF_UNSPEC) {
		memset(&out->sa, 0, sizeof(out->sa));
		memcpy(&out->sa, &cs->addr, sizeof(cs->addr));
		out->len = cs->addr.sin6_family == AF_INET ? sizeof(struct sockaddr_in)
			: sizeof(struct sockaddr_in6);
	} else if (conf->addr) {
		memset(&out->sa, 0, sizeof(out->sa));
		memcpy(&out->sa, conf->addr, conf->addr_len);
		out->len = conf->addr_len;
	}
	lock_drop(&srv->proxy->state->change_lock);
	if (out->sa.ss_family == AF_UNIX)
		return true;
	if (!port)
		port = conf->port ? conf->port : address_port((struct sockaddr *)&out->sa);
	if (!port)
		port = own;
	address_set_port((struct sockaddr *)&out->sa, port);
	return port != 0;
}

bool check_set_address(struct server *srv, bool agent, const char *addr, const char *port,
		       char *message, size_t size)
{
	struct check_state *cs = check_state_of(srv, agent);
	struct address a = { .fd = -1 };
	long number = 0;
	char *end;

	if (addr && !address_parse(addr, ADDRESS_NO_NAMES | ADDRESS_PORT_NONE, &a)) {
		snprintf(message, size, "invalid addr '%s'", addr);
		return false;
	}
	if (port) {
		number = strtol(port, &end, 10);
		if (!*port || *end) {
			snprintf(message, size, "provided port is not an integer");
			return false;
		}
		if (number < 0 || number > 65535) {
			snprintf(message, size, "provided port is invalid");
			return false;
		}
	}
	lock_take(&srv->proxy->state->change_lock);
	if (addr)
		memcpy(&cs->addr, &a.addr.sa, sizeof(cs->addr));
	lock_drop(&srv->proxy->state->change_lock);
	if (port)
		__atomic_store_n(&cs->port, (int)number, __ATOMIC_RELAXED);
	return true;
}

bool check_set_send(struct server *srv, const char *text)
{
	struct check_state *cs = &srv->state->agent;
	char *copy = strdup(text), *old;

	if (!copy)
		return false;
	lock_take(&srv->proxy->state->change_lock);
	old = cs->send;
	cs->send = copy;
	lock_drop(&srv->proxy->state->change_lock);
	free(old);
	return true;
}

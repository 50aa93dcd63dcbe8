/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_change.c - changes of a server's state: up, down, soft stop, drain and maintenance
 *
 *             rise checks passed, leaving maintenance
 *       +------------------------------------------------------+
 *       |                                                      v
 *    STOPPED --(slowstart)--> STARTING --(full weight)--> RUNNING <--> STOPPING
 *       ^                         |                          |             |
 *       +-------------------------+--------------------------+-------------+
 *             fall checks failed, maintenance
 *
 * The operational state is written in oper_set() only, which knows the legal moves. Maintenance
 * and drain are flags beside it. Servers that track another one follow each of its changes, and
 * their followers in turn.
 */
#include <stdio.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "core/lock.h"
#include "proxy/balance.h"
#include "proxy/check.h"
#include "proxy/proxy.h"
#include "proxy/queue.h"
#include "proxy/server.h"
#include "proxy/server_event.h"
#include "check_state_priv.h"
#include "proxy_priv.h"
#include "server_priv.h"

#define BIT(oper) (1u << SERVER_##oper)

/* Which states may follow. */
static const unsigned oper_next[] = {
	[SERVER_STOPPED] = BIT(STARTING) | BIT(RUNNING) | BIT(STOPPING),
	[SERVER_STARTING] = BIT(STOPPED) | BIT(RUNNING) | BIT(STOPPING),
	[SERVER_RUNNING] = BIT(STOPPED) | BIT(STOPPING) | BIT(STARTING) /* behind an ejection */,
	[SERVER_STOPPING] = BIT(STOPPED) | BIT(RUNNING),
};

static server_shutdown_fn *shutdown_hook;
static server_maint_fn *maint_hook;

void server_set_maint_hook(server_maint_fn *fn)
{
	maint_hook = fn;
}

void server_set_shutdown_hook(server_shutdown_fn *fn)
{
	shutdown_hook = fn;
}

static enum server_oper oper_of(const struct server_state *st)
{
	return (enum server_oper)__atomic_load_n(&st->oper, __ATOMIC_RELAXED);
}

static unsigned admin_of(const struct server_state *st)
{
	return __atomic_load_n(&st->admin, __ATOMIC_RELAXED);
}

/* --- figures -------------------------------------------------------------------------------- */

/* Keeps account of the time down, and of when the state changed. Under the lock. */
static void note_change(struct server_state *st, bool was_down)
{
	uint64_t now = clock_read_wall_us();

	if (was_down && now > st->changed_us)
		__atomic_store_n(&st->down_ms, st->down_ms + (now - st->changed_us) / 1000,
				 __ATOMIC_RELAXED);
	__atomic_store_n(&st->changed_us, now, __ATOMIC_RELAXED);
}

/* Moves the operational state, under the lock. False: it was there. */
static bool oper_set(struct server *srv, enum server_oper to)
{
	struct server_state *st = srv->state;
	enum server_oper from = oper_of(st);
	bool up = to == SERVER_RUNNING;

	if (from == to || (up && from == SERVER_STARTING))
		return false;
	if (up && from == SERVER_STOPPED && srv->checks.slowstart_ms)
		to = SERVER_STARTING;
	BUG_ON(!(oper_next[from] & (1u << to)));
	note_change(st, from == SERVER_STOPPED);
	__atomic_store_n(&st->warm, to == SERVER_STARTING ? 1 : SERVER_WARM, __ATOMIC_RELAXED);
	__atomic_store_n(&st->oper, to, __ATOMIC_RELAXED);
	/* a server that is down is not ejected any more */
	if (to == SERVER_STOPPED)
		__atomic_store_n(&st->outlier.is_out, 0, __ATOMIC_RELAXED);
	return true;
}

bool server_warm_up(struct server *srv)
{
	struct server_state *st = srv->state;
	int64_t whole = (srv->checks.slowstart_ms + 999) / 1000, passed;
	bool warm = false;
	unsigned part;

	lock_take(&srv->proxy->state->change_lock);
	if (oper_of(st) == SERVER_STARTING) {
		/* (in whole seconds, which a timer may end some ms before) */
		passed = (int64_t)((clock_read_wall_us() - st->changed_us + 500000) / 1000000);
		warm = passed < whole;
		part = warm ? (unsigned)((SERVER_WARM * passed + whole) / whole) : SERVER_WARM;
		__atomic_store_n(&st->warm, part, __ATOMIC_RELAXED);
		if (!warm)
			__atomic_store_n(&st->oper, SERVER_RUNNING, __ATOMIC_RELAXED);
	}
	lock_drop(&srv->proxy->state->change_lock);
	server_publish(srv);
	return warm;
}

/* A caller that found <be> just before a reload may change a state that is the next generation's
 * already.
 */
static void balance_update_live(struct proxy *be)
{
	struct config *live;
	struct proxy *heir;

	balance_update(be);
	live = proxies_current();
	heir = live && live != be->config ? proxy_heir(live, be) : NULL;
	if (heir)
		balance_update(heir);
}

/* The last active server that was not ejected is gone: the others come back. */
static void ejections_lift(struct proxy *be)
{
	struct server *srv;

	for (srv = server_first(be); srv; srv = server_next(srv))
		if (!srv->backup && server_is_usable(srv))
			return;
	for (srv = server_first(be); srv; srv = server_next(srv))
		server_bring_back(srv);
}

bool server_publish(struct server *srv)
{
	struct proxy *be = srv->proxy;
	struct proxy_state *st = be->state;
	bool up, down = false;

	balance_update_live(be);
	lock_take(&st->change_lock);
	up = balance_has_usable(be);
	if (st->was_up != (unsigned)up) {
		uint64_t now = clock_read_wall_us();

		if (up)
			__atomic_store_n(&st->down_ms, st->down_ms + (now - st->changed_us) / 1000,
					 __ATOMIC_RELAXED);
		else
			counter_add(&st->be, CNT_CHECK_DOWNS, 1);
		down = !up;
		__atomic_store_n(&st->changed_us, now, __ATOMIC_RELAXED);
		__atomic_store_n(&st->was_up, up, __ATOMIC_RELAXED);
	}
	lock_drop(&st->change_lock);
	queue_wake(be, NULL);
	if (be->outlier.interval_ms)
		ejections_lift(be);
	return down;
}

/* --- what is said --------------------------------------------------------------------------- */

void server_none_left_tell(const struct proxy *be)
{
	proxy_tell(be, PROXY_EVENT_NO_SERVER, "%s '%s' has no server available!",
		   proxy_kind_name(be), be->name);
}

/* "Backup Server b/s", in front of each message. */
#define SERVER_FMT "%sServer %s/%s "
#define SERVER_ARGS(srv) (srv)->backup ? "Backup " : "", (srv)->proxy->name, (srv)->name

/* " via b/s" when the change comes from a tracked server. */
static const char *via_text(const struct server *srv, bool tracked, char *out, size_t size)
{
	out[0] = 0;
	if (tracked && srv->checks.track)
		snprintf(out, size, " via %s/%s", srv->checks.track->proxy->name,
			 srv->checks.track->name);
	return out;
}

static void cause_text(const struct server *srv, enum server_cause cause, char *out, size_t size)
{
	out[0] = 0;
	if (cause == SERVER_BY_CLI)
		snprintf(out, size, ", changed from CLI");
	else if (cause == SERVER_BY_SCRIPT)
		snprintf(out, size, ", changed from Lua script");
	else if (cause == SERVER_BY_TRACK)
		via_text(srv, true, out, size);
	else if ((cause == SERVER_BY_CHECK || cause == SERVER_BY_AGENT) &&
		 !(srv->proxy->options & PROXY_OPT_LOG_HEALTH_CHECKS))
		check_reason_text(srv, cause == SERVER_BY_AGENT, out, size);
}

/* "2 active and 0 backup servers left. Running on backup." */
static void left_text(const struct proxy *be, const char *word, char *out, size_t size)
{
	unsigned active = balance_active_count(be), backup = balance_backup_count(be);

	snprintf(out, size, "%u active and %u backup servers %s.%s", active, backup, word,
		 backup && !active ? " Running on backup." : "");
}

static void oper_tell(const struct server *srv, enum server_oper old, enum server_cause cause,
		      unsigned requeued)
{
	const struct proxy *be = srv->proxy;
	enum server_oper now = oper_of(srv->state);
	unsigned waiting = queue_length_backend(be);
	char why[CHECK_TEXT_MAX + 200], left[100];

	cause_text(srv, cause, why, sizeof(why));
	left_text(be, now == SERVER_STOPPED ? "left" : "online", left, sizeof(left));
	if (now == SERVER_STOPPED)
		proxy_tell(be, old == SERVER_STOPPING ? PROXY_EVENT_NOTICE : PROXY_EVENT_DOWN,
			   SERVER_FMT "is DOWN%s. %s %lld sessions active, %u requeued, %u "
			   "remaining in queue.", SERVER_ARGS(srv), why, left,
			   (long long)counter_read(&srv->state->counters, CNT_SESS_CUR), requeued,
			   waiting);
	else
		proxy_tell(be, PROXY_EVENT_NOTICE, SERVER_FMT "is %s%s. %s %u sessions requeued, "
			   "%u total in queue.", SERVER_ARGS(srv),
			   now == SERVER_STOPPING ? "stopping" : "UP", why, left, requeued,
			   waiting);
}

/* Its state has changed, for the reasons that <e> tells. */
static void oper_event(const struct server *srv, unsigned old, const struct server_event *why)
{
	struct server_event e = *why;

	e.srv = srv;
	e.old = old;
	e.now = oper_of(srv->state);
	if (e.old == e.now)
		return;
	if (e.old == SERVER_STOPPED || e.now == SERVER_STOPPED) {
		e.kind = e.now == SERVER_STOPPED ? SERVER_EVENT_DOWN : SERVER_EVENT_UP;
		server_event_tell(&e);
	}
	e.kind = SERVER_EVENT_STATE;
	server_event_tell(&e);
}

/* --- operational changes -------------------------------------------------------------------- */

/* Followers come and go at run time. */
static struct server *follower_first(const struct server *srv)
{
	return __atomic_load_n(&srv->checks.trackers, __ATOMIC_ACQUIRE);
}

static struct server *follower_next(const struct server *f)
{
	return __atomic_load_n(&f->checks.next_tracker, __ATOMIC_ACQUIRE);
}

static void followers_set_oper(struct server *srv, enum server_oper oper)
{
	for (struct server *f = follower_first(srv); f; f = follower_next(f))
		server_set_oper(f, oper, SERVER_BY_TRACK);
}

static void shut_down_streams(struct server *srv)
{
	bool down = oper_of(srv->state) == SERVER_STOPPED;

	if (!shutdown_hook)
		return;
	if (down && srv->on_marked.down == SERVER_ON_SHUTDOWN_SESSIONS)
		shutdown_hook(srv, false);
	else if (!down && srv->on_marked.up == SERVER_ON_SHUTDOWN_SESSIONS && !srv->backup &&
		 server_is_usable(srv))
		shutdown_hook(srv, true);
}

void server_set_oper(struct server *srv, enum server_oper oper, enum server_cause cause)
{
	struct server_state *st = srv->state;
	struct server_event event = { .by_agent = cause == SERVER_BY_AGENT };
	enum server_oper old;
	bool changed, last;

	lock_take(&srv->proxy->state->change_lock);
	old = oper_of(st);
	changed = !(admin_of(st) & SERVER_MAINT) && oper_set(srv, oper);
	lock_drop(&srv->proxy->state->change_lock);
	if (!changed)
		return;
	if (oper == SERVER_STOPPED)
		counter_add(&st->counters, CNT_CHECK_DOWNS, 1);
	last = server_publish(srv);
	event.requeued = server_is_usable(srv) ? 0 : queue_redistribute(srv);
	event.by_check = event.by_agent || cause == SERVER_BY_CHECK;
	event.cause = cause == SERVER_BY_CLI ? "changed from CLI"
		: cause == SERVER_BY_SCRIPT ? "changed from Lua script" : "";
	oper_tell(srv, old, cause, event.requeued);
	oper_event(srv, old, &event);
	if (last)
		server_none_left_tell(srv->proxy);
	shut_down_streams(srv);
	if (oper_of(st) == SERVER_STARTING)
		check_warm_wake(srv);
	followers_set_oper(srv, oper);
}

/* --- outliers ------------------------------------------------------------------------------- */

/* Under the lock. False: nothing has changed. */
static bool ejected_set(struct server *srv, bool out, uint64_t until_ms)
{
	struct server_state *st = srv->state;

	if (out ? !server_is_usable(srv) || srv->backup : !outlier_is_out(srv))
		return false;
	__atomic_store_n(&st->outlier.until_ms, until_ms, __ATOMIC_RELAXED);
	__atomic_store_n(&st->outlier.is_out, out, __ATOMIC_RELAXED);
	if (out || oper_of(st) != SERVER_RUNNING || !srv->checks.slowstart_ms ||
	    !oper_set(srv, SERVER_STARTING))
		note_change(st, false);
	return true;
}

void server_eject(struct server *srv, uint64_t until_ms, uint64_t ms, const char *why)
{
	unsigned requeued;
	char left[100];
	bool changed;

	lock_take(&srv->proxy->state->change_lock);
	changed = ejected_set(srv, true, until_ms);
	lock_drop(&srv->proxy->state->change_lock);
	if (!changed)
		return;
	counter_add(&srv->state->counters, CNT_EJECTIONS, 1);
	balance_update_live(srv->proxy);
	requeued = queue_redistribute(srv);
	left_text(srv->proxy, "online", left, sizeof(left));
	proxy_tell(srv->proxy, PROXY_EVENT_WARNING, SERVER_FMT "is ejected for %gs: %s. %s %u "
		   "sessions requeued, %u total in queue.", SERVER_ARGS(srv), (double)ms / 1000,
		   why, left, requeued, queue_length_backend(srv->proxy));
	server_publish(srv);
}

void server_bring_back(struct server *srv)
{
	char left[100];
	bool changed;

	lock_take(&srv->proxy->state->change_lock);
	changed = ejected_set(srv, false, 0);
	lock_drop(&srv->proxy->state->change_lock);
	if (!changed)
		return;
	server_publish(srv);
	left_text(srv->proxy, "online", left, sizeof(left));
	proxy_tell(srv->proxy, PROXY_EVENT_NOTICE, SERVER_FMT "is back from its ejection. %s",
		   SERVER_ARGS(srv), left);
	if (oper_of(srv->state) == SERVER_STARTING)
		check_warm_wake(srv);
}

/* --- administrative changes ----------------------------------------------------------------- */

/* The state in which a server leaves maintenance: that of the one it tracks, or by init-state. */
static enum server_oper oper_after_maintenance(const struct server *srv)
{
	if (srv->checks.track)
		return oper_of(srv->checks.track->state) == SERVER_STARTING
			? SERVER_RUNNING : oper_of(srv->checks.track->state);
	if (check_flags_of(&srv->state->agent) & CHECK_ENABLED &&
	    !check_health_of(&srv->state->agent))
		return SERVER_STOPPED;
	return check_starts_down(srv) ? SERVER_STOPPED : SERVER_RUNNING;
}

/* Applies new flags, under the lock. */
static void admin_apply(struct server *srv, unsigned old, unsigned new)
{
	struct server_state *st = srv->state;

	__atomic_store_n(&st->admin, new, __ATOMIC_RELAXED);
	if (!(old & SERVER_MAINT) && (new & SERVER_MAINT)) {
		bool was_up = oper_set(srv, SERVER_STOPPED);

		if (was_up)
			counter_add(&st->counters, CNT_CHECK_DOWNS, 1);
		check_pause(srv, true, was_up);
	} else if ((old & SERVER_MAINT) && !(new & SERVER_MAINT)) {
		check_pause(srv, false, false);
		oper_set(srv, oper_after_maintenance(srv));
	}
}

/* One change of administrative flags. */
struct admin_move {
	unsigned old, new;
	unsigned old_oper;
	const char *why;      /* the name has no address: why; or NULL */
};

static void maint_enter_tell(const struct server *srv, const struct admin_move *m,
			     unsigned requeued)
{
	char left[100], via[200], why[100] = "";

	if (m->why)
		snprintf(why, sizeof(why), " (%s)", m->why);
	via_text(srv, !(m->new & (SERVER_FMAINT | SERVER_RMAINT)), via, sizeof(via));
	if (m->old_oper == SERVER_STOPPED) {
		proxy_tell(srv->proxy, PROXY_EVENT_NOTICE, SERVER_FMT "was DOWN and now enters "
			   "maintenance%s%s.", SERVER_ARGS(srv), why, via);
		return;
	}
	left_text(srv->proxy, "left", left, sizeof(left));
	proxy_tell(srv->proxy, PROXY_EVENT_DOWN, SERVER_FMT "is going DOWN for maintenance%s%s. %s "
		   "%lld sessions active, %u requeued, %u remaining in queue.", SERVER_ARGS(srv),
		   why, via, left,
		   (long long)counter_read(&srv->state->counters, CNT_SESS_CUR), requeued,
		   queue_length_backend(srv->proxy));
}

/* It is in drain, for one reason or both. */
static void drain_remain_tell(const struct server *srv, unsigned now)
{
	char via[200];

	proxy_tell(srv->proxy, PROXY_EVENT_NOTICE, SERVER_FMT "remains in %sdrain mode%s.",
		   SERVER_ARGS(srv), now & SERVER_FDRAIN ? "forced " : "",
		   via_text(srv, !(now & SERVER_FDRAIN), via, sizeof(via)));
}

static void maint_leave_tell(const struct server *srv, const struct admin_move *m)
{
	proxy_tell(srv->proxy, PROXY_EVENT_NOTICE, SERVER_FMT "is %s/%s (leaving %smaintenance).",
		   SERVER_ARGS(srv), oper_of(srv->state) == SERVER_STOPPED ? "DOWN" : "UP",
		   m->new & SERVER_DRAIN ? "DRAIN" : "READY",
		   m->old & SERVER_FMAINT ? "forced " : "");
	if (m->new & SERVER_DRAIN)
		drain_remain_tell(srv, m->new);
}

/* One of two reasons for maintenance is gone. */
static void maint_remain_tell(const struct server *srv, const struct admin_move *m)
{
	char via[200];

	if (m->old & SERVER_FMAINT && !(m->new & SERVER_FMAINT) && m->new & SERVER_IMAINT)
		proxy_tell(srv->proxy, PROXY_EVENT_NOTICE, SERVER_FMT "is leaving forced "
			   "maintenance but remains in maintenance%s.", SERVER_ARGS(srv),
			   via_text(srv, true, via, sizeof(via)));
	else if (m->old & SERVER_IMAINT && m->new & SERVER_FMAINT && !(m->new & SERVER_IMAINT))
		proxy_tell(srv->proxy, PROXY_EVENT_NOTICE, SERVER_FMT "remains in forced "
			   "maintenance.", SERVER_ARGS(srv));
}

/* Its name has an address again. */
static void resolved_tell(const struct server *srv, const struct admin_move *m)
{
	char name[256];

	resolve_name(srv, name, sizeof(name));
	if (m->new & SERVER_MAINT)
		proxy_tell(srv->proxy, PROXY_EVENT_NOTICE, SERVER_FMT "('%s') resolves again but "
			   "remains in maintenance.", SERVER_ARGS(srv), name);
	else
		proxy_tell(srv->proxy, PROXY_EVENT_NOTICE, SERVER_FMT "('%s') is %s/%s (resolves "
			   "again).", SERVER_ARGS(srv), name,
			   oper_of(srv->state) == SERVER_STOPPED ? "DOWN" : "UP",
			   m->new & SERVER_DRAIN ? "DRAIN" : "READY");
	proxy_tell(srv->proxy, PROXY_EVENT_NOTICE, SERVER_FMT "administratively READY thanks to "
		   "valid DNS answer.", SERVER_ARGS(srv));
}

static void drain_tell(const struct server *srv, unsigned old, unsigned new, unsigned requeued)
{
	char left[100], via[200];

	if (new & SERVER_DRAIN && oper_of(srv->state) == SERVER_STOPPED) {
		left_text(srv->proxy, "left", left, sizeof(left));
		proxy_tell(srv->proxy, PROXY_EVENT_NOTICE, SERVER_FMT "enters drain state%s. %s "
			   "%lld sessions active, %u requeued, %u remaining in queue.",
			   SERVER_ARGS(srv),
			   via_text(srv, !(new & SERVER_FDRAIN), via, sizeof(via)), left,
			   (long long)counter_read(&srv->state->counters, CNT_SESS_CUR), requeued,
			   queue_length_backend(srv->proxy));
		return;
	}
	if (new & SERVER_DRAIN) {
		left_text(srv->proxy, "online", left, sizeof(left));
		proxy_tell(srv->proxy, PROXY_EVENT_NOTICE, SERVER_FMT "enters drain state%s. %s "
			   "%u sessions requeued, %u total in queue.", SERVER_ARGS(srv),
			   via_text(srv, !(new & SERVER_FDRAIN), via, sizeof(via)), left, requeued,
			   queue_length_backend(srv->proxy));
		return;
	}
	proxy_tell(srv->proxy, PROXY_EVENT_NOTICE, SERVER_FMT "is %s (leaving %sdrain)%s.",
		   SERVER_ARGS(srv), oper_of(srv->state) == SERVER_STOPPED ? "DOWN" : "UP",
		   old & SERVER_FDRAIN ? "forced " : "",
		   via_text(srv, !(old & SERVER_FDRAIN), via, sizeof(via)));
}

static void admin_tell(const struct server *srv, const struct admin_move *m, unsigned requeued)
{
	bool was = m->old & SERVER_MAINT, is = m->new & SERVER_MAINT;

	if (m->why && m->old & SERVER_RMAINT && !(m->new & SERVER_RMAINT))
		resolved_tell(srv, m);
	else if (!was && is)
		maint_enter_tell(srv, m, requeued);
	else if (was && !is)
		maint_leave_tell(srv, m);
	else if (was)
		maint_remain_tell(srv, m);
	else if (!is && !(m->old & SERVER_DRAIN) != !(m->new & SERVER_DRAIN))
		drain_tell(srv, m->old, m->new, requeued);
	else if (!is && (m->old ^ m->new) & SERVER_DRAIN)
		drain_remain_tell(srv, m->new);
}

/* Those that track <srv> are in maintenance and drain as long as it is. */
static void follow(struct server *f, unsigned admin, const char *why);

/* What follows new flags. */
static void admin_follow(struct server *srv, const struct admin_move *m)
{
	struct server_event e = { .kind = SERVER_EVENT_ADMIN, .srv = srv, .by_admin = true };
	bool last = server_publish(srv);

	e.requeued = server_is_usable(srv) ? 0 : queue_redistribute(srv);
	e.cause = m->why ? m->why : "";
	e.old = m->old;
	e.now = m->new;
	admin_tell(srv, m, e.requeued);
	if (maint_hook && !(m->old & SERVER_MAINT) && m->new & SERVER_MAINT)
		maint_hook(srv);
	server_event_tell(&e);
	oper_event(srv, m->old_oper, &e);
	if (last)
		server_none_left_tell(srv->proxy);
	/* into maintenance it goes down; out of it, it comes up unless its checks say otherwise */
	if (m->new & SERVER_MAINT ? !(m->old & SERVER_MAINT)
	    : m->old & SERVER_MAINT && oper_of(srv->state) != SERVER_STOPPED)
		shut_down_streams(srv);
	if (oper_of(srv->state) == SERVER_STARTING)
		check_warm_wake(srv);
	for (struct server *f = follower_first(srv); f; f = follower_next(f))
		follow(f, m->new, m->why);
}

static void admin_change(struct server *srv, unsigned set, unsigned clear, const char *why)
{
	struct server_state *st = srv->state;
	struct admin_move m = { .why = why };

	lock_take(&srv->proxy->state->change_lock);
	m.old = admin_of(st);
	m.new = (m.old & ~clear) | set;
	m.old_oper = oper_of(st);
	admin_apply(srv, m.old, m.new);
	lock_drop(&srv->proxy->state->change_lock);
	if (m.old != m.new)
		admin_follow(srv, &m);
}

static void follow(struct server *f, unsigned admin, const char *why)
{
	unsigned set = (admin & SERVER_MAINT ? SERVER_IMAINT : 0) |
		(admin & SERVER_DRAIN ? SERVER_IDRAIN : 0);

	admin_change(f, set, (SERVER_IMAINT | SERVER_IDRAIN) & ~set, why);
}

void server_follow(struct server *f, unsigned admin)
{
	follow(f, admin, NULL);
}

void server_set_admin(struct server *srv, unsigned set, unsigned clear)
{
	admin_change(srv, set, clear, NULL);
}

void server_set_resolved(struct server *srv, bool resolved, const char *why)
{
	if (resolved)
		admin_change(srv, 0, SERVER_RMAINT, why);
	else
		admin_change(srv, SERVER_RMAINT, 0, why);
}

/* --- the status column ---------------------------------------------------------------------- */

/* The part of the status that maintenance decides; false: it is not in maintenance. */
static bool status_maint(const struct server *srv, unsigned admin, char *out, size_t size)
{
	const struct server *track = srv->checks.track;

	if (admin & SERVER_RMAINT)
		snprintf(out, size, "MAINT (resolution)");
	else if ((admin & SERVER_IMAINT) && track)
		snprintf(out, size, "MAINT (via %s/%s)", track->proxy->name, track->name);
	else if (admin & SERVER_MAINT)
		snprintf(out, size, "MAINT");
	return admin & SERVER_MAINT;
}

static void status_down(const struct server_state *decider, char *out, size_t size)
{
	const struct check_state *cs = &decider->check;
	int health = check_health_of(cs);

	if (check_flags_of(&decider->agent) & CHECK_ENABLED && !check_health_of(&decider->agent))
		snprintf(out, size, "DOWN (agent)");
	else if (health && health < check_rise_of(cs) &&
		 (check_flags_of(cs) | check_flags_of(&decider->agent)) & CHECK_ENABLED)
		snprintf(out, size, "DOWN %d/%d", health, check_rise_of(cs));
	else
		snprintf(out, size, "DOWN");
}

void server_status(const struct server *srv, char *out, size_t size)
{
	const struct server_state *decider = check_decider(srv)->state;
	const struct check_state *cs = &decider->check;
	unsigned admin = admin_of(srv->state);
	enum server_oper oper = oper_of(srv->state);
	const char *word = "UP";
	int health = check_health_of(cs);

	if (status_maint(srv, admin, out, size))
		return;
	if (oper == SERVER_STOPPED) {
		status_down(decider, out, size);
		return;
	}
	if (admin & SERVER_DRAIN)
		word = check_flags_of(&decider->agent) & CHECK_ENABLED ? "DRAIN (agent)" : "DRAIN";
	else if (oper == SERVER_STOPPING)
		word = "NOLB";
	else if (outlier_is_out(srv))
		word = "NOLB (ejected)";
	else if (!(check_flags_of(cs) & CHECK_ENABLED))
		word = "no check";
	/* of a server that was up before its check was enabled, this may be less than 1 */
	if (check_flags_of(cs) & CHECK_ENABLED &&
	    health < check_rise_of(cs) + check_fall_of(cs) - 1)
		snprintf(out, size, "%s %d/%d", word, health - check_rise_of(cs) + 1,
			 check_fall_of(cs));
	else
		snprintf(out, size, "%s", word);
}

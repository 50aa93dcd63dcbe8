/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proxy_ctl.c - edge file: the Runtime API's commands about frontends and backends */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "conf/conf.h"
#include "ctl/ctl.h"
#include "proxy/bind.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "proxy/walk.h"
#include "tls/tls.h"
#include "stats_shared_priv.h"

/* The frontend that the next word names, moving behind it; NULL: reported. */
static struct proxy *take_frontend(struct ctl_request *rq)
{
	struct proxy *px;

	if (rq->at >= rq->count) {
		ctl_error(rq, "A frontend name is expected.");
		return NULL;
	}
	px = proxy_find(proxies_current(), rq->words[rq->at], PROXY_FE);
	if (!px)
		ctl_error(rq, "No such frontend.");
	else
		rq->at++;
	return px;
}

static enum ctl_step set_maxconn_frontend(struct ctl_request *rq)
{
	struct proxy *px = take_frontend(rq);
	const char *word;
	char *end;
	long v;

	if (!px)
		return CTL_DONE;
	word = rq->at < rq->count ? rq->words[rq->at] : NULL;
	v = word ? strtol(word, &end, 10) : 0;
	if (!word || end == word || *end)
		ctl_error(rq, "Integer value expected.");
	else if (v < 0)
		ctl_error(rq, "Value out of range.");
	else {
		__atomic_store_n(&px->state->maxconn, v, __ATOMIC_RELAXED);
		proxy_limit_change(px);
	}
	return CTL_DONE;
}

static enum ctl_step disable_frontend(struct ctl_request *rq)
{
	struct proxy *px = take_frontend(rq);
	enum proxy_switched done = px ? proxy_pause(px) : PROXY_SWITCHED;

	if (done == PROXY_IS_STOPPED)
		ctl_error(rq, "Frontend was previously shut down, cannot disable.");
	else if (done == PROXY_IS_SO)
		ctl_tell(rq, CTL_NOTICE, "All sockets are already disabled.");
	else if (done == PROXY_FAILED)
		ctl_error(rq, "Failed to pause frontend, check logs for precise cause.");
	return CTL_DONE;
}

static enum ctl_step enable_frontend(struct ctl_request *rq)
{
	struct proxy *px = take_frontend(rq);
	enum proxy_switched done = px ? proxy_resume(px) : PROXY_SWITCHED;

	if (done == PROXY_IS_STOPPED)
		ctl_error(rq, "Frontend was previously shut down, cannot enable.");
	else if (done == PROXY_IS_SO)
		ctl_tell(rq, CTL_NOTICE, "All sockets are already enabled.");
	else if (done == PROXY_FAILED)
		ctl_error(rq, "Failed to resume frontend, check logs for precise cause (port "
			  "conflict?).");
	return CTL_DONE;
}

static enum ctl_step shutdown_frontend(struct ctl_request *rq)
{
	struct proxy *px = take_frontend(rq);

	if (px && proxy_stop(px) == PROXY_IS_STOPPED)
		ctl_error(rq, "Frontend was already shut down.");
	return CTL_DONE;
}

static enum ctl_step change_published(struct ctl_request *rq, bool on)
{
	const char *name = rq->at < rq->count ? rq->words[rq->at] : "";
	struct proxy *px = proxy_find(proxies_current(), name, PROXY_BE);

	if (!px) {
		ctl_error(rq, "No such backend.");
		return CTL_DONE;
	}
	if (px->disabled) {
		ctl_error(rq, "No effect on a disabled backend.");
		return CTL_DONE;
	}
	__atomic_store_n(&px->state->unpublished, !on, __ATOMIC_RELAXED);
	ctl_tell(rq, CTL_INFO, "Backend %s.", on ? "published" : "unpublished");
	return CTL_DONE;
}

static enum ctl_step publish_backend(struct ctl_request *rq)
{
	return change_published(rq, true);
}

static enum ctl_step unpublish_backend(struct ctl_request *rq)
{
	return change_published(rq, false);
}

static enum ctl_step show_backend(struct ctl_request *rq)
{
	strbuf_add_str(rq->out, "# name\n");
	for (struct proxy *px = proxies_first(proxies_current()); px; px = proxy_next(px))
		if (px->caps & PROXY_BE)
			strbuf_printf(rq->out, "%s\n", px->name);
	return CTL_DONE;
}

/* --- clear counters ------------------------------------------------------------------------- */

static void clear_range(struct counter_set *set, unsigned from, unsigned to, bool front)
{
	for (unsigned i = from; i < to && i < set->count; i++)
		if (!stats_is_gauge(i, front)) {
			counter_clear(set, i);
			stats_shared_clear(set, i);
		}
}

/* Those of protocols, as with `show stat`'s last columns; the others too with <all>. */
static void clear_set(struct counter_set *set, bool front, bool all)
{
	if (all) {
		clear_range(set, 0, set->count, front);
		return;
	}
	clear_range(set, CNT_TLS_SESS, CNT_TLS_STAPLED + 1, front);
	if (front)
		clear_range(set, CNT_H2_HEADERS, CNT_FRONT_COUNT, front);
	else
		clear_range(set, CNT_BACK_COUNT, CNT_BACKEND_COUNT, front);
}

static void clear_max(void *max, size_t size)
{
	if (size == sizeof(uint64_t))
		__atomic_store_n((uint64_t *)max, 0, __ATOMIC_RELAXED);
	else
		__atomic_store_n((uint32_t *)max, 0, __ATOMIC_RELAXED);
}

#define CLEAR(member) clear_max(&(member), sizeof(member))

/* What the last requests took, and when the last one came. */
static void clear_lately(struct time_set *times, struct latency_set *latency, int64_t *last_s)
{
	time_set_clear_averages(times);
	latency_set_clear(latency);
	__atomic_store_n(last_s, 0, __ATOMIC_RELAXED);
}

static void clear_server(struct server_state *st, bool all)
{
	CLEAR(st->session_max);
	CLEAR(st->queue_max);
	rate_set_clear_max(&st->session_rate);
	time_set_clear(&st->times);
	if (all)
		clear_lately(&st->times, &st->latency, &st->last_session_s);
	clear_set(&st->counters, false, all);
}

static void clear_listeners(struct proxy *px, bool all)
{
	struct listener_conf *lc;
	struct bind_conf *b;

	list_for_each(b, &px->binds, link)
		list_for_each(lc, &b->listeners, link) {
			CLEAR(lc->state->session_max);
			clear_set(&lc->state->counters, true, all);
		}
}

/* Keeps what `show info` goes on counting. */
static void keep_totals(struct proxy_state *st)
{
	__atomic_add_fetch(&st->cleared.connections, counter_read(&st->fe, CNT_CONN_TOT),
			   __ATOMIC_RELAXED);
	__atomic_add_fetch(&st->cleared.sessions, counter_read(&st->fe, CNT_SESS_TOT),
			   __ATOMIC_RELAXED);
	__atomic_add_fetch(&st->cleared.requests, counter_read(&st->fe, CNT_REQ_TOT),
			   __ATOMIC_RELAXED);
}

/* All but the servers. */
static void clear_proxy(struct proxy *px, bool all)
{
	struct proxy_state *st = px->state;

	if (px->caps & PROXY_FE) {
		CLEAR(st->fe_session_max);
		rate_set_clear_max(&st->fe_session_rate);
		rate_set_clear_max(&st->fe_conn_rate);
		rate_set_clear_max(&st->fe_request_rate);
		clear_listeners(px, all);
		if (all) {
			keep_totals(st);
			latency_set_clear(&st->fe_latency);
		}
		clear_set(&st->fe, true, all);
	}
	if (px->caps & PROXY_BE) {
		CLEAR(st->be_session_max);
		CLEAR(st->be_queue_max);
		rate_set_clear_max(&st->be_session_rate);
		time_set_clear(&st->times);
		if (all)
			clear_lately(&st->times, &st->be_latency, &st->last_session_s);
		clear_set(&st->be, false, all);
	}
}

/* Where `clear counters` stands. */
struct clearing {
	struct proxy_walk proxies;
	const struct server *last; /* done, of proxies.at; NULL: none */
	bool all, is_inside;       /* proxies.at is done but for servers */
};

/* False: others shall have their turn. */
static bool clear_servers(struct ctl_request *rq, struct clearing *c)
{
	const struct server *srv;

	while ((srv = c->last ? server_next(c->last) : server_first(c->proxies.at)) != NULL) {
		if (ctl_is_due(rq))
			return false;
		clear_server(srv->state, c->all);
		c->last = srv;
	}
	c->last = NULL;
	return true;
}

static enum ctl_step clear_counters(struct ctl_request *rq)
{
	bool all = rq->at < rq->count && strcmp(rq->words[rq->at], "all") == 0;
	struct clearing *c = rq->state;

	if (!c && !ctl_require(rq, all ? CTL_ADMIN : CTL_OPERATOR))
		return CTL_DONE;
	if (!c) {
		rate_set_clear_process_max();
		tls_clear_max();
		c = proxy_walk_begin(rq, sizeof(*c));
	}
	if (!c)
		return CTL_DONE;
	c->all = all;
	for (; c->proxies.at; c->proxies.at = proxy_next(c->proxies.at)) {
		if (!c->is_inside)
			clear_proxy(c->proxies.at, all);
		c->is_inside = true;
		if ((c->proxies.at->caps & PROXY_BE) && !clear_servers(rq, c))
			return CTL_MORE;
		c->is_inside = false;
	}
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "set maxconn frontend", .level = CTL_ADMIN, .syntax = "<frontend> <value>",
	  .help = "change a frontend's maxconn setting", .run = set_maxconn_frontend },
	{ .words = "enable frontend", .level = CTL_ADMIN, .syntax = "<frontend>",
	  .help = "re-enable specific frontend", .run = enable_frontend },
	{ .words = "disable frontend", .level = CTL_ADMIN, .syntax = "<frontend>",
	  .help = "temporarily disable specific frontend", .run = disable_frontend },
	{ .words = "shutdown frontend", .level = CTL_ADMIN, .syntax = "<frontend>",
	  .help = "stop a specific frontend", .run = shutdown_frontend },
	{ .words = "publish backend", .level = CTL_ADMIN, .syntax = "<backend>",
	  .help = "allow frontends to choose a backend", .run = publish_backend },
	{ .words = "unpublish backend", .level = CTL_ADMIN, .syntax = "<backend>",
	  .help = "no longer let frontends choose a backend; its checks continue",
	  .run = unpublish_backend },
	{ .words = "show backend", .level = CTL_USER, .syntax = "",
	  .help = "list backends in the current running config", .run = show_backend },
	{ .words = "clear counters", .level = CTL_USER, .syntax = "[all]",
	  .help = "clear max statistics counters, or all of them", .run = clear_counters,
	  .release = proxy_walk_release },
	{ 0 }
};

const struct module mod_proxy_ctl = {
	.name = "proxy_ctl",
	.commands = commands,
};

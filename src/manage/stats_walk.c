/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_walk.c - see proxy/stats_walk.h */
#include "base/bug.h"
#include "manage/stats_walk.h"
#include "proxy/bind.h"
#include "proxy/counters.h"
#include "proxy/proxy.h"
#include "proxy/server.h"

void stats_walk_enter(struct stats_walk *w, const struct proxy *px)
{
	w->px = px;
	w->at = WALK_FRONTEND;
	w->listener = NULL;
	w->server = NULL;
}

static bool is_wanted(const struct stats_walk *w, enum stats_shown kind, int id)
{
	return (w->shown & kind) && (w->id < 0 || w->id == id);
}

/* The first listener of <b>, or of the next socket line that has one. */
static const struct listener_conf *listener_from(const struct proxy *px, const struct list *at)
{
	for (; at != &px->binds; at = at->next) {
		const struct bind_conf *b = container_of(at, struct bind_conf, link);

		if (!list_is_empty(&b->listeners))
			return list_first(&b->listeners, struct listener_conf, link);
	}
	return NULL;
}

static const struct listener_conf *take_listener(struct stats_walk *w)
{
	const struct listener_conf *last = w->listener;

	if (!last)
		w->listener = listener_from(w->px, w->px->binds.next);
	else if (last->link.next != &last->bind->listeners)
		w->listener = container_of(last->link.next, struct listener_conf, link);
	else
		w->listener = listener_from(w->px, last->bind->link.next);
	return w->listener;
}

static bool next_listener(struct stats_walk *w, struct stats_row *r)
{
	const struct listener_conf *lc;

	if (!(w->shown & STATS_SHOW_LISTENERS) || !(w->px->caps & PROXY_FE) ||
	    !(w->px->options & PROXY_OPT_SOCKET_STATS))
		return false;
	while ((lc = take_listener(w)) != NULL) {
		if (!is_wanted(w, STATS_SHOW_LISTENERS, lc->id))
			continue;
		stats_fill_listener(r, lc);
		return true;
	}
	return false;
}

static bool server_is_shown(const struct stats_walk *w, const struct server *srv)
{
	unsigned admin = __atomic_load_n(&srv->state->admin, __ATOMIC_RELAXED);

	if (!is_wanted(w, STATS_SHOW_SERVERS, srv->id))
		return false;
	if (w->no_maint && (admin & SERVER_MAINT))
		return false;
	return !w->up || server_is_willing(srv);
}

static enum stats_found next_server(struct stats_walk *w, struct stats_row *r)
{
	if (!(w->shown & STATS_SHOW_SERVERS) || !(w->px->caps & PROXY_BE))
		return STATS_END;
	for (unsigned n = 0; n < STATS_ROWS_A_STEP; n++) {
		const struct server *srv = w->server ? server_next(w->server)
						     : server_first(w->px);

		if (!srv)
			return STATS_END;
		w->server = srv;
		if (!server_is_shown(w, srv))
			continue;
		stats_fill_server(r, srv);
		return STATS_ROW;
	}
	return STATS_PAUSE;
}

enum stats_found stats_walk_next(struct stats_walk *w, struct stats_row *r)
{
	enum stats_found found;

	switch (w->at) {
	case WALK_FRONTEND:
		w->at = WALK_LISTENERS;
		if ((w->px->caps & PROXY_FE) && is_wanted(w, STATS_SHOW_FRONTEND, 0)) {
			stats_fill_frontend(r, w->px);
			return STATS_ROW;
		}
		/* fall through */
	case WALK_LISTENERS:
		if (next_listener(w, r))
			return STATS_ROW;
		w->at = WALK_SERVERS;
		/* fall through */
	case WALK_SERVERS:
		found = next_server(w, r);
		if (found != STATS_END)
			return found;
		w->at = WALK_BACKEND;
		/* fall through */
	case WALK_BACKEND:
		w->at = WALK_END;
		if ((w->px->caps & PROXY_BE) && is_wanted(w, STATS_SHOW_BACKEND, 0)) {
			stats_fill_backend(r, w->px, w->no_maint || w->up);
			return STATS_ROW;
		}
		/* fall through */
	case WALK_END:
		break;
	}
	return STATS_END;
}

/* --- latencies ------------------------------------------------------------------------------- */

const struct stats_percentile stats_percentiles[4] = {
	{ "p50", 500 }, { "p90", 900 }, { "p99", 990 }, { "p99.9", 999 },
};

static const char *const phases[TIME_KINDS] = {
	[TIME_QUEUE] = "queue", [TIME_CONNECT] = "connect", [TIME_RESPONSE] = "response",
	[TIME_TOTAL] = "total",
};

const struct latency_set *stats_latencies_of(enum stats_kind kind, const struct proxy *px,
					     const struct server *srv)
{
	switch (kind) {
	case STATS_FRONTEND:
		return &px->state->fe_latency;
	case STATS_BACKEND:
		return &px->state->be_latency;
	case STATS_SERVER:
		return srv ? &srv->state->latency : NULL;
	default:
		return NULL;
	}
}

const char *stats_phase_name(unsigned kind)
{
	return phases[kind];
}

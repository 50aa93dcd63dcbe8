/* SPDX-License-Identifier: GPL-2.0-or-later */
/* follow.c - moves a client's connection to the next generation
 *
 * A session holds the generation that accepted it. When another one is published, the session moves
 * to it, HTTP/1 when it has no stream, HTTP/2 immediately, keeping the former one for its streams:
 * to the frontend and the listener that have adopted the states of its own, so that gauges and
 * limits stay correct. Its mux, its variables and the server connections that only it may use move
 * along. Without a successor it is asked to leave: its next answer, if a request is in progress, is
 * its last.
 */
#include <stdlib.h>
#include "base/bug.h"
#include "conf/conf.h"
#include "proxy/bind.h"

#include "server_conn.h"
#include "session_priv.h"
#include "stream_conf_priv.h"

/* The listener of <fe> that has adopted the state of <was>; NULL: none. */
static struct listener_conf *listener_heir(const struct proxy *fe, const struct listener_conf *was)
{
	struct listener_conf *l;
	struct bind_conf *b;

	list_for_each(b, &fe->binds, link)
		list_for_each(l, &b->listeners, link)
			if (l->state == was->state)
				return l;
	return NULL;
}

/* Gauges of the listener are counted under an option of the frontend, which may have changed. */
static void count_listener(const struct session *s, int change)
{
	struct listener_state *st = s->listener->state;

	if (s->fe->options & PROXY_OPT_SOCKET_STATS)
		gauge_add(&st->counters, CNT_SESS_CUR, change, &st->session_max);
}

/* Without memory it has no variables. */
static void vars_move(struct session *s, const struct config *next)
{
	if (s->vars)
		vars_follow(s->vars, next);
	else if (vars_are_used(next, VAR_SESS))
		s->vars = calloc(1, sizeof(*s->vars));
}

void session_follow(struct session *s)
{
	struct config *next = proxies_current(), *prev = session_config(s);
	struct proxy *fe = proxy_heir(next, s->fe);
	struct listener_conf *l = fe ? listener_heir(fe, s->listener) : NULL;

	BUG_ON(!session_is_http(s));
	if (!l || fe->mode != s->fe->mode) {
		s->mux->kind->front_stop(s->mux); /* may free <s> when it is idle */
		return;
	}
	/* the only stream of a connection has all but ended, or is not begun yet */
	if (s->open_streams &&
	    (!(s->mux->kind->traits & MUX_MULTIPLEX) || !session_past_enter(s)))
		return;
	count_listener(s, -1);
	config_take(next);
	s->fe = fe;
	s->listener = l;
	count_listener(s, 1);
	s->mux->kind->set_settings(s->mux, &stream_proxy(fe)->front, l->bind->idle_ping_ms);
	vars_move(s, next);
	server_conns_follow_session(s);
	config_drop(&prev);
}

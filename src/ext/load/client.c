/* SPDX-License-Identifier: GPL-2.0-or-later */
/* client.c - the connections of the load generator */
#include <stdlib.h>
#include "base/strbuf.h"
#include "load_priv.h"
#include "net/conn.h"
#include "net/dial.h"
#include "proxy/server.h"
#include "proxy/source.h"

/* --- what the muxes tell ---------------------------------------------------------------------- */

static void unpark(struct client *c)
{
	while (!list_is_empty(&c->parked)) {
		struct flow *f = list_first(&c->parked, struct flow, link);

		list_remove(&f->link);
		flow_ready(f);
	}
}

static void forget(struct client *c)
{
	if (c->mux)
		load_count(&c->thread->figures.conns, (uint64_t)-1);
	c->mux = NULL;
	c->begun = 0;
	unpark(c);
}

static bool is_used_up(const struct client *c)
{
	return load.plan->per_conn && c->begun >= load.plan->per_conn;
}

static void begun(void *owner, struct mux *m)
{
	((struct client *)owner)->mux = m;
}

static void room_changed(void *owner)
{
	const struct client *c = owner;

	if (c->mux && c->mux->kind->back_room(c->mux))
		unpark(owner);
}

static bool stream_left(void *owner, bool last)
{
	room_changed(owner);
	return !is_used_up(owner);
}

static void closed(void *owner)
{
	forget(owner);
}

static void describe(const void *owner, struct strbuf *out)
{
	strbuf_add_str(out, " sv=" LOAD_BACKEND "/target");
}

static const struct back_user client_user = {
	.begun = begun, .room_changed = room_changed, .stream_left = stream_left, .closed = closed,
	.describe = describe,
};

/* --- connections ------------------------------------------------------------------------------ */

static bool open_conn(struct client *c, struct flow *f)
{
	struct back_owner owner = { &client_user, c, &load.settings, 0 };
	struct dial_want want;
	struct server_addr to;
	struct conn *conn;

	server_address(load.server, &to);
	server_dial(load.server, &to, &want);
	want.sni = load.sni;
	want.alpn = load.mux->alpn;
	if (dial_open(&want, NULL, NULL, &conn) != DIAL_DONE)
		return false;
	if (!mux_back_begin(conn, &f->ep, load.mux, &owner)) {
		conn_close(&conn);
		return false;
	}
	if (conn_is_usable(conn))
		f->ep.flags |= EP_CONNECTED;
	load_count(&c->thread->figures.conns, 1);
	load_count(&c->thread->figures.tot_conn, 1);
	return true;
}

bool client_must_wait(struct client *c, struct flow *f)
{
	if (!c->mux || (c->mux->kind->back_room(c->mux) && !is_used_up(c)))
		return false;
	list_append(&c->parked, &f->link);
	return true;
}

bool client_attach(struct client *c, struct flow *f)
{
	bool good = c->mux ? c->mux->kind->back_attach(c->mux, &f->ep) : open_conn(c, f);

	if (good)
		c->begun++;
	if (is_used_up(c) && !(load.mux->traits & MUX_MULTIPLEX))
		f->ep.flags |= EP_CLOSE;
	return good;
}

bool client_init(struct client *c, struct load_thread *t)
{
	unsigned n = load.plan->streams;

	c->thread = t;
	list_init(&c->parked);
	c->flows = calloc(n, sizeof(*c->flows));
	if (!c->flows)
		return false;
	for (unsigned i = 0; i < n; i++)
		flow_init(&c->flows[i], c);
	return true;
}

void client_fini(struct client *c)
{
	for (unsigned i = 0; c->flows && i < load.plan->streams; i++)
		flow_fini(&c->flows[i]);
	if (c->mux)
		c->mux->kind->back_close(c->mux);
	free(c->flows);
}

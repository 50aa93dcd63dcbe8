/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_room.c - places for connections to servers with strict-maxconn */
#include "server_room.h"
#include <stdlib.h>
#include "base/bug.h"
#include "base/clock.h"
#include "conf/conf.h"
#include "core/mailbox.h"
#include "core/thread.h"
#include "proxy/walk.h"
#include "stream/wait.h"
#include "server_conn_priv.h"
#include "session_priv.h"

#define ASK_MS 10       /* for which another thread's answer is waited for */
#define PATIENCE_MS 5000 /* where there is no `timeout connect` */

/* Asks a thread to close an idle connection. */
struct room_ask {
	struct message message;  /* the question, then the answer */
	struct stream_wait wait; /* over: the stream gave up. Of the asking thread alone */
	struct server *server;
	struct config *config;   /* counted: keeps the server */
	unsigned from;
};

static bool take(struct server *srv)
{
	struct server_state *st = srv->state;
	int64_t max = __atomic_load_n(&st->maxconn, __ATOMIC_RELAXED);

	if (__atomic_add_fetch(&st->strict_open, 1, __ATOMIC_ACQ_REL) <= max || !max)
		return true;
	server_room_leave(srv);
	return false;
}

void server_room_force(struct server *srv)
{
	__atomic_add_fetch(&srv->state->strict_open, 1, __ATOMIC_RELAXED);
}

void server_room_leave(struct server *srv)
{
	__atomic_sub_fetch(&srv->state->strict_open, 1, __ATOMIC_RELEASE);
}

/* The longest unused one of the calling thread; false: it has none. */
static bool close_shared(struct server *srv)
{
	struct idle_list *l = idle_list_get(srv, false);
	struct server_conn *sc;

	if (!l || list_is_empty(&l->conns))
		return false;
	sc = list_last(&l->conns, struct server_conn, link);
	idle_leave(sc);
	idle_close(sc);
	return true;
}

/* One that is kept for this client, of another name or address. */
static bool close_private(struct stream *s)
{
	struct session_rare *rare = s->sess->rare;
	struct server_conn *sc;

	if (!rare)
		return false;
	list_for_each(sc, &rare->server_conns, link)
		if (sc->server == s->server) {
			idle_leave(sc);
			idle_close(sc);
			return true;
		}
	return false;
}

/* --- other threads ---------------------------------------------------------------------------- */

/* The message is on its way: the answer finds that no stream waits any more. */
static void ask_cancel(struct stream_wait *w)
{
}

static const struct stream_wait_kind room_kind = { .name = "strict-maxconn", .cancel = ask_cancel };

static void answer_arrives(struct message *m)
{
	struct room_ask *a = container_of(m, struct room_ask, message);

	if (!stream_wait_is_over(&a->wait))
		stream_wake(&a->wait);
	server_unpin(a->server);
	config_drop(&a->config);
	free(a);
}

static void ask_arrives(struct message *m)
{
	struct room_ask *a = container_of(m, struct room_ask, message);

	close_shared(a->server);
	a->message.run = answer_arrives;
	mailbox_post(a->from, &a->message);
}

/* The next thread, in turn, that has an idle connection; <thread_id>: none. */
static unsigned rich_thread(const struct server *srv)
{
	unsigned n = thread_count(), t = thread_id;

	for (unsigned i = 1; i < n; i++) {
		t = (thread_id + i) % n;
		if (idle_count_of(srv, t))
			return t;
	}
	return thread_id;
}

/* False: there is no such thread, or no memory. */
static bool ask(struct stream *s)
{
	unsigned thread = rich_thread(s->server);
	struct room_ask *a = thread != thread_id ? calloc(1, sizeof(*a)) : NULL;

	if (!a)
		return false;
	*a = (struct room_ask){ .message.run = ask_arrives, .server = s->server,
				.config = config_take(s->config), .from = thread_id };
	server_pin(s->server);
	stream_wait_begin(s, &a->wait, &room_kind);
	stream_wait_ms(s, ASK_MS);
	s->flags |= STRM_ASKED; /* what comes back is room, not a connection */
	mailbox_post(thread, &a->message);
	return true;
}

/* Has it tried for as long as a connection may take? Others may be faster each time. */
static bool is_over(const struct stream *s)
{
	int64_t ms = s->be->timeout.connect ? s->be->timeout.connect : PATIENCE_MS;

	return clock_now_ns() > s->t.queued + (uint64_t)ms * 1000000;
}

enum server_room server_room_take(struct stream *s)
{
	struct stream_wait *wait = s->waits ? stream_wait_find(s, &room_kind) : NULL;

	if (wait && !stream_is_late(s))
		return SERVER_ROOM_SOON;
	if (wait)
		stream_wait_cancel(wait);
	do {
		if (take(s->server))
			return SERVER_ROOM_TAKEN;
	} while (close_shared(s->server) || close_private(s));
	return !is_over(s) && ask(s) ? SERVER_ROOM_SOON : SERVER_ROOM_NONE;
}

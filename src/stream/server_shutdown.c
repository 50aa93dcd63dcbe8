/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_shutdown.c - on-marked-down shutdown-sessions, on-marked-up shutdown-backup-sessions, and
 * other commands that end the streams of a server
 *
 * A server's change is reported by any thread; each thread then ends its own streams. Before a
 * removed server is freed, each thread also marks the servers that its streams still use.
 */
#include <stdlib.h>
#include "core/mailbox.h"
#include "proxy/server.h"
#include "proxy/walk.h"
#include "stream/persist.h"
#include "stream/stream.h"
#include "start_priv.h"

/* Whose streams end. */
struct shutdown {
	struct server_state *server; /* counted; NULL: the backup servers of <backend> */
	struct proxy_state *backend; /* counted; or NULL */
	enum stream_end why;
};

static bool is_concerned(const struct shutdown *d, const struct stream *s)
{
	if (!s->server)
		return false;
	if (!d->backend)
		return s->server->state == d->server;
	return s->server->backup && s->server->proxy->state == d->backend;
}

static void end_streams(void *ctx)
{
	const struct shutdown *d = ctx;
	struct list *at, *next;

	/* a stream that is killed takes no other one with it: <next> stays */
	for (at = stream_list_of_thread.next; at != &stream_list_of_thread; at = next) {
		struct stream *s = list_entry(at, struct stream, thread_link);

		next = at->next;
		if (is_concerned(d, s))
			stream_kill(s, d->why);
	}
}

static void forget(void *ctx)
{
	struct shutdown *d = ctx;

	if (d->server)
		server_state_drop(&d->server);
	if (d->backend)
		proxy_state_drop(&d->backend);
	free(d);
}

/* Of <srv>; or, when it is NULL, of the backup servers of <be>. */
static bool begin(struct server *srv, struct proxy *be, enum stream_end why)
{
	struct shutdown *d = calloc(1, sizeof(*d));

	if (!d)
		return false;
	d->why = why;
	if (srv)
		d->server = server_state_take(srv->state);
	else
		d->backend = proxy_state_take(be->state);
	if (thread_call_all(end_streams, forget, d))
		return true;
	forget(d);
	return false;
}

/* Without memory they go on: as without the option. */
static void shut_down(struct server *srv, bool is_up)
{
	if (is_up)
		begin(NULL, srv->proxy, END_SERVER_UP);
	else
		begin(srv, NULL, END_SERVER_DOWN);
}

bool streams_shutdown_server(struct server *srv)
{
	return begin(srv, NULL, END_KILLED);
}

bool streams_shutdown_backups(struct proxy *be)
{
	return begin(NULL, be, END_KILLED);
}

static void see_servers(void)
{
	struct stream *s;

	list_for_each(s, &stream_list_of_thread, thread_link) {
		server_see(s->server);
		persist_see(s);
		if (s->queue.task) {
			server_see(s->queue.waiter.server);
			server_see(__atomic_load_n(&s->queue.waiter.granted,
						   __ATOMIC_RELAXED));
		}
	}
}

void server_shutdown_init(void)
{
	proxies_set_look_hook(see_servers);
	server_set_shutdown_hook(shut_down);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_flush.c - closes the idle connections to a server on all threads: when it is removed, when
 * it enters maintenance, and when its certificate or the authorities that it is checked by were
 * replaced
 */
#include <stdlib.h>
#include "conf/conf.h"
#include "core/mailbox.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "proxy/walk.h"
#include "tls/tls.h"
#include "server_conn.h"

struct flush {
	struct server *server;
	struct config *config; /* counted: keeps the server */
	void (*done)(void *ctx);
	void *ctx;
};

static void flush_here(void *ctx)
{
	server_conn_close_idle(((struct flush *)ctx)->server);
}

static void flush_done(void *ctx)
{
	struct flush *f = ctx;

	f->done(f->ctx);
	server_unpin(f->server);
	proxy_unpin(f->server->proxy);
	config_drop(&f->config);
	free(f);
}

static bool flush(struct server *srv, void (*done)(void *ctx), void *ctx)
{
	struct flush *f = calloc(1, sizeof(*f));

	if (!f)
		return false;
	f->server = srv;
	f->config = config_take(srv->proxy->config);
	proxy_pin(srv->proxy);
	server_pin(srv);
	f->done = done;
	f->ctx = ctx;
	if (thread_call_all(flush_here, flush_done, f))
		return true;
	server_unpin(srv);
	proxy_unpin(srv->proxy);
	config_drop(&f->config);
	free(f);
	return false;
}

static void nothing(void *ctx)
{
}

/* Those that the threads have not closed yet fit no request: server_conn_key(). */
static void renewed(struct slot_area *slots)
{
	flush(server_of_slots(slots), nothing, NULL);
}

/* Those that cannot be closed for want of memory end by pool-purge-delay. */
static void rested(struct server *srv)
{
	flush(srv, nothing, NULL);
}

void server_flush_init(void)
{
	server_set_maint_hook(rested);
	server_set_flush_hook(flush);
	tls_set_renewed(renewed);
}

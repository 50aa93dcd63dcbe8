/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scene.h - a client made of a few functions, a configuration and a session, for tests that drive
 * whole streams through their stages
 *
 * The test defines a `struct module mod_fake` with what is its own, calls scene_init() once, then
 * scene_load() and scene_stream() for each stream.
 */
#ifndef TESTS_STREAM_SCENE_H
#define TESTS_STREAM_SCENE_H

#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "core/pool.h"
#include "expr/modules.h"
#include "http/error_page.h"
#include "log/log.h"
#include "proxy/bind.h"
#include "proxy/modules.h"
#include "stream/route.h"
#include "stream/service.h"
#include "tls/tls.h"
#include "account_priv.h"
#include "filter/filter_priv.h"
#include "session_priv.h"
#include "stream_conf_priv.h"
#include "../../../src/core/worker_priv.h"

/* --- a client --------------------------------------------------------------------------------- */

static struct {
	char got[8192];        /* what it was sent behind the head */
	unsigned status, heads;
	bool whole, left;
	unsigned resumed;
	enum http_body body;
	uint64_t length;
	unsigned trailers;
	enum stream_end end;   /* once it has left */
} client;

static void client_send(struct endpoint *ep)
{
	size_t at = strlen(client.got);

	if (ep->flags & EP_TX_HEAD) {
		client.heads++;
		client.status = ep->tx_head->status;
		client.body = ep->tx_head->body;
		client.length = ep->tx_head->content_length;
		ep->flags &= ~EP_TX_HEAD;
	}
	at += block_queue_peek(&ep->tx, 0, client.got + at, sizeof(client.got) - at - 1);
	client.got[at] = '\0';
	block_queue_clear(&ep->tx);
	if (ep->flags & EP_TX_END) {
		ep->flags |= EP_TX_DONE;
		client.whole = true;
		client.trailers = ep->tx_head->trailers.count;
	}
}

static void client_resume(struct endpoint *ep)
{
	client.resumed++;
}

static void client_detach(struct endpoint *ep)
{
	client.left = true;
	client.end = (enum stream_end)stream_of_front(ep)->end;
	ep->ops = NULL;
}

static struct conn *client_conn(struct endpoint *ep)
{
	return NULL;
}

static const struct endpoint_ops client_ops = {
	.name = "fake", .send = client_send, .resume = client_resume, .detach = client_detach,
	.conn = client_conn,
};

/* --- a configuration, a session, a stream ----------------------------------------------------- */

extern const struct module mod_fake; /* the test's */
extern const struct module mod_stream, mod_stream_log, mod_stream_unique_id, mod_http_conf,
	mod_sniff, mod_upgrade, mod_persist;

static const struct module *const modules[] = {
	&mod_conf, EXPR_MODULE_LIST &mod_http_error_page, &mod_proxy, &mod_proxy_options, &mod_bind,
	&mod_server, &mod_balance, &mod_direct, &mod_rule, &mod_route, &mod_capture,
	&mod_http_conf,
	&mod_sniff, &mod_upgrade, &mod_persist, &mod_log, &mod_stream_log, &mod_stream_unique_id,
	&mod_tls_server, &mod_filter, &mod_stream, &mod_fake, NULL
};

static struct diag_list diags;
static struct config *cfg;
static struct session session;
static struct stream *stream;

/* <lines>: of the frontend `f`, and what comes behind it. */
static void scene_load(const char *lines)
{
	char text[1024];

	if (cfg)
		config_drop(&cfg);
	cfg = config_new();
	snprintf(text, sizeof(text), "defaults\n mode http\n timeout client 1s\n"
		 " timeout server 1s\n timeout connect 1s\nfrontend f\n bind 127.0.0.1:1\n"
		 "%s\n", lines);
	if (!conf_read_text(cfg, "t.cfg", slice_of(text), &diags) || !conf_check(cfg, &diags)) {
		diag_print(&diags, DIAG_WARNING, stderr);
		abort();
	}
	proxies_set_process_maxconn(cfg, 100);
	stream_fill_settings(cfg);
}

static void scene_session(void)
{
	struct proxy *fe = proxy_find(cfg, "f", PROXY_FE);
	struct bind_conf *b = list_first(&fe->binds, struct bind_conf, link);

	memset(&session, 0, sizeof(session));
	session.fe = fe;
	session.listener = list_first(&b->listeners, struct listener_conf, link);
}

/* A stream of the client: POST with a body of no announced length, whose head is there. */
static void scene_stream(void)
{
	memset(&client, 0, sizeof(client));
	scene_session();
	stream = stream_new(&session, true);
	stream->front.ops = &client_ops;
	stream->front.flags = EP_RX_HEAD;
	stream->req.method = HTTP_METH_POST;
	stream->req.method_text = SLICE("POST");
	stream->req.uri = SLICE("/");
	stream->req.version_text = SLICE("HTTP/1.1");
	stream->req.version = 11;
	stream->req.body = HTTP_BODY_CHUNKED;
}

static bool is_over(void)
{
	return client.left;
}

static void run(void)
{
	if (!is_over())
		stream_run(stream);
}

/* More of the request's body; NULL: that was all. */
static void give(const char *bytes)
{
	if (is_over())
		return;
	if (bytes)
		block_queue_add_copy(&stream->front.rx, slice_of(bytes));
	else
		stream->front.flags |= EP_RX_END;
	run();
}

/* Once. */
static void scene_init(void)
{
	clock_refresh();
	diag_list_init(&diags);
	for (unsigned i = 0; modules[i]; i++)
		for (struct slot *const *s = modules[i]->slots; s && *s; s++)
			slot_register(*s);
	if (!conf_register(modules) || !expr_register(modules) || !rules_register(modules) ||
	    !services_register(modules) || !filters_register(modules))
		abort();
	stream_set_stages(stream_stages, filter_stages, filters_instead);
	list_init(&stream_list_of_thread);
	if (!stream_init())
		abort();
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log_backend.c - edge file: log backends: lines are given to one server of a backend each
 *
 * Manual: mode log
 *
 * Servers get datagrams, or have a ring and a forwarder of their own (ring_priv.h).
 */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/block.h"
#include "base/bug.h"
#include "expr/expr.h"
#include "log/log.h"
#include "proxy/balance.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "ring_priv.h"

#define HASH_ARENA 1024

/* Of a server: where its lines go when they do not go as datagrams. */
struct log_outlet {
	struct sink *sink; /* counted */
};

static void outlet_fini(void *data)
{
	sink_drop(&((struct log_outlet *)data)->sink);
}

static struct slot outlet_slot = {
	.of = SLOT_SERVER, .size = sizeof(struct log_outlet), .fini = outlet_fini,
};

/* The forwarders of a generation. */
struct log_backends {
	struct ring_conf *rings;
};

static struct slot backends_slot = { .of = SLOT_CONFIG, .size = sizeof(struct log_backends) };
static struct slot *const slots[] = { &outlet_slot, &backends_slot, NULL };

static struct sink *outlet_of(const struct server *srv)
{
	return ((struct log_outlet *)slot_of(&outlet_slot, server_slots(srv)))->sink;
}

/* --- lines ----------------------------------------------------------------------------------- */

/* The hash of what the converters leave of the line; 0: they leave nothing. */
static uint32_t line_hash(const struct proxy *px, struct slice text)
{
	char room[HASH_ARENA] __attribute__((aligned(16)));
	struct expr_check look = { .body = text };
	struct arena arena;
	struct expr_ctx ctx = { .check = &look, .arena = &arena,
				.flags = EXPR_DIR_RESPONSE | EXPR_FINAL };
	struct slice out;
	uint32_t hash = 0;

	arena_init_in(&arena, room, sizeof(room), 0);
	if (expr_eval_string(px->balancing.log_hash, &ctx, &out) == EXPR_FOUND)
		hash = hash_of_text(&px->balancing.hash, out);
	arena_fini(&arena);
	return hash;
}

/* Active servers, or else the backup ones. */
static struct server *pick_by_hash(struct proxy *px, uint32_t hash)
{
	for (int backup = 0; backup < 2; backup++) {
		unsigned usable = 0, n;
		struct server *srv;

		list_for_each(srv, &px->servers, link)
			usable += srv->backup == backup && server_is_usable(srv);
		if (!usable)
			continue;
		n = hash % usable;
		list_for_each(srv, &px->servers, link)
			if (srv->backup == backup && server_is_usable(srv) && !n--)
				return srv;
	}
	return NULL;
}

static bool backend_send(void *backend, const struct syslog_header *h, struct slice text,
			 size_t max)
{
	static const struct balance_pick_args any = { 0 };
	struct proxy *px = backend;
	struct server *srv = px->balancing.log_hash ? pick_by_hash(px, line_hash(px, text))
					  : balance_pick(px, &any);
	struct server_addr address;
	struct addr_any to;
	bool sent;

	if (!srv)
		return false;
	if (srv->datagrams) {
		server_address(srv, &address);
		to.ss = address.sa;
		to.len = address.len;
		sent = log_send_datagram(&to, h, text, max);
	} else {
		sent = sink_write(outlet_of(srv), h, text, max - 1);
	}
	counter_add(&srv->state->counters, CNT_LB_TOT, 1);
	return sent;
}

static void *backend_find(const struct config *cfg, const char *name, const char **problem)
{
	struct proxy *px = proxy_find(cfg, name, PROXY_BE);

	if (!px || px->mode == PROXY_MODE_LOG)
		return px;
	*problem = "incompatible log backend";
	return NULL;
}

static const struct log_backend_ops ops = { .find = backend_find, .send = backend_send };

/* --- module ---------------------------------------------------------------------------------- */

static void say(struct diag_list *diags, const char *text, const struct proxy *px)
{
	static const struct diag_place bare = { .form = DIAG_BARE };

	diag_add(diags, DIAG_ALERT, &bare, NULL, text, px->name);
}

/* A ring for a server over a stream. False: no memory. */
static bool make_outlet(struct config *cfg, struct proxy *px, struct server *srv)
{
	struct log_backends *all = slot_of(&backends_slot, config_slots(cfg));
	struct log_outlet *outlet = slot_of(&outlet_slot, server_slots(srv));
	struct ring_conf *r = arena_zalloc(&cfg->arena, sizeof(*r));
	size_t bytes = srv->log_size ? (size_t)srv->log_size : block_size();
	char *name = arena_printf(&cfg->arena, "%s/%s", px->name, srv->name);
	struct ring *ring = r && name ? ring_new(bytes) : NULL;

	if (ring)
		outlet->sink = sink_new(name, "log server", -1, ring);
	if (!outlet->sink)
		return false;
	*r = (struct ring_conf){ .next = all->rings, .proxy = px, .only = srv, .name = name,
				 .sink = outlet->sink, .connect_ms = px->timeout.connect,
				 .server_ms = px->timeout.server };
	all->rings = r;
	return true;
}

static void check_backend(struct config *cfg, struct proxy *px, struct diag_list *diags)
{
	struct server *srv;

	if (!px->balancing.algorithm->for_logs)
		say(diags, "in backend '%s': \"balance\" only supports 'roundrobin', 'random', "
		    "'sticky' and 'log-hash'.", px);
	if (px->balancing.log_hash && px->balancing.hash.method == HASH_CONSISTENT)
		say(diags, "log backend '%s': failed to initialize: unsupported hash method (from "
		    "\"hash-type\").", px);
	list_for_each(srv, &px->servers, link) {
		server_sends_no_header(srv, diags);
		if (!srv->datagrams && !make_outlet(cfg, px, srv))
			say(diags, "log backend '%s': out of memory.", px);
	}
}

static void backends_check(struct config *cfg, struct diag_list *diags)
{
	static const struct diag_place bare = { .form = DIAG_BARE };
	struct server *srv;

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		if (px->mode == PROXY_MODE_LOG && px->caps & PROXY_BE) {
			check_backend(cfg, px, diags);
			continue;
		}
		list_for_each(srv, &px->servers, link)
			if (srv->datagrams)
				diag_add(diags, DIAG_ALERT, &bare, NULL, "[%s:%d] : unsupported "
					 "transport for server address in '%s' backend.",
					 srv->place.file, srv->place.line,
					 proxy_mode_name(px->mode));
	}
}

static bool backends_start(struct config *cfg, struct diag_list *diags)
{
	struct log_backends *all = slot_of(&backends_slot, config_slots(cfg));

	return ring_forward_start(cfg, all->rings, diags);
}

static bool backends_init(void)
{
	log_set_backends(&ops);
	return true;
}

const struct module mod_log_backend = {
	.name = "log-backend", .slots = slots, .init = backends_init, .check = backends_check,
	.start = backends_start,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proxy_smp.c - edge file: fetches about proxies and servers in general, and their names as
 * arguments
 *
 * Manual: configuration 7.3.2.
 */
#include "stream/sample.h"

#include <stdio.h>
#include "base/diag.h"
#include "proxy/queue.h"
#include "proxy/server.h"
#include "table/table.h"

/* --- arguments that name proxies and servers ---------------------------------------------- */

static void pending_fail(const struct expr_pending *p, const char *kind, struct diag_list *diags)
{
	struct diag_place place = { .file = p->file, .line = p->line };

	diag_add(diags, DIAG_ALERT, &place, NULL,
		 "unable to find %s '%s' referenced in arg %d of %s '%s'.", kind, p->arg->name.ptr,
		 p->position, p->what, p->keyword);
}

/* A proxy argument. Without a name it is the one where it was written; in a defaults section it
 * stays unresolved: the one that is being evaluated.
 */
static void pending_resolve_proxy(struct config *cfg, const struct expr_pending *p, unsigned caps,
				  struct diag_list *diags)
{
	struct proxy *px = p->object;

	if (p->arg->name.len)
		px = proxy_find_kept(cfg, p->arg->name.ptr, caps);
	else if (px && (px->caps & PROXY_DEFAULTS))
		return;
	if (px && caps && !(px->caps & caps))
		px = NULL;
	p->arg->object = px;
	if (!px)
		pending_fail(p, caps == PROXY_FE ? "frontend" : "backend", diags);
}

/* "server" or "backend/server" */
static void pending_resolve_server(struct config *cfg, const struct expr_pending *p,
				   struct diag_list *diags)
{
	struct slice name = p->arg->name;
	size_t slash = slice_find_char(name, 0, '/');
	struct proxy *px = p->object;
	char backend[256];

	if (slash != SIZE_MAX) {
		slice_copy(slice_sub(name, 0, slash), backend, sizeof(backend));
		px = proxy_find_kept(cfg, backend, PROXY_BE);
		name = slice_sub(name, slash + 1, name.len);
	}
	p->arg->object = px && name.len ? server_find(px, name.ptr) : NULL;
	if (!p->arg->object)
		pending_fail(p, "server", diags);
}

/* A table argument. Without a name it is that of the section where it was written, which is none in
 * a defaults section.
 */
static void pending_resolve_table(struct config *cfg, const struct expr_pending *p,
				  struct diag_list *diags)
{
	struct diag_place place = { .form = DIAG_BARE };
	const struct proxy *px = p->object;
	const char *name = p->arg->name.len ? p->arg->name.ptr : px ? px->name : "";

	if (!p->arg->name.len && px && (px->caps & PROXY_DEFAULTS)) {
		diag_add(diags, DIAG_ALERT, &place, NULL, "parsing [%s:%d]: table name must be set "
			 "in arg %d of %s '%s' in proxy '%s'.", p->file, p->line, p->position,
			 p->what, p->keyword, px->name);
		return;
	}
	p->arg->object = table_lookup(cfg, name);
	if (p->arg->object)
		return;
	diag_add(diags, DIAG_ALERT, &place, NULL, "parsing [%s:%d]: unable to find table '%s' "
		 "referenced in arg %d of %s '%s' in proxy '%s'.", p->file, p->line, name,
		 p->position, p->what, p->keyword, px ? px->name : "");
}

/* The arguments of <of>, by the names of <cfg>: where it is the same, those stay. */
static void pending_resolve(struct config *of, struct config *cfg, struct diag_list *diags)
{
	struct expr_pending *p;

	for (p = expr_pending_first(of); p; p = p->next) {
		switch (p->arg->type) {
		case ARG_FRONTEND:
			pending_resolve_proxy(cfg, p, PROXY_FE, diags);
			break;
		case ARG_BACKEND:
			pending_resolve_proxy(cfg, p, PROXY_BE, diags);
			break;
		case ARG_PROXY:
			pending_resolve_proxy(cfg, p, 0, diags);
			break;
		case ARG_SERVER:
			pending_resolve_server(cfg, p, diags);
			if (of == cfg && p->arg->object)
				((struct server *)p->arg->object)->life.is_referenced = true;
			break;
		case ARG_TABLE:
			pending_resolve_table(cfg, p, diags);
			break;
		default:
			break;
		}
	}
}

static void pending_check(struct config *cfg, struct diag_list *diags)
{
	pending_resolve(cfg, cfg, diags);
}

static bool proxy_smp_init(void)
{
	expr_set_resolver(pending_resolve);
	return true;
}

/* The proxy that an argument stands for. */
static const struct proxy *arg_proxy(const struct expr_ctx *ctx, const struct expr_arg *args)
{
	return args[0].object ? args[0].object : ctx->proxy;
}

/* --- backends ----------------------------------------------------------------------------- */

/* Active servers that are usable, or backup ones when there are none. */
static unsigned usable_servers(const struct proxy *be)
{
	const struct server *srv;
	unsigned active = 0, backup = 0;

	for (srv = server_first(be); srv; srv = server_next(srv)) {
		if (server_is_usable(srv))
			*(srv->backup ? &backup : &active) += 1;
	}
	if (active || !backup)
		return active;
	return be->options & PROXY_OPT_ALLBACKUPS ? backup : 1;
}

static enum expr_result fetch_nbsrv(struct expr_ctx *ctx, const struct expr_arg *args,
				    struct sample *out)
{
	return smp_give_int(out, usable_servers(arg_proxy(ctx, args)));
}

static enum expr_result fetch_be_conn(struct expr_ctx *ctx, const struct expr_arg *args,
				      struct sample *out)
{
	return smp_give_int(out, proxy_be_sessions(arg_proxy(ctx, args)));
}

static unsigned backend_queue(const struct proxy *be)
{
	const struct server *srv;
	unsigned length = queue_length_backend(be);

	for (srv = server_first(be); srv; srv = server_next(srv))
		length += queue_length_server(srv);
	return length;
}

static enum expr_result fetch_queue(struct expr_ctx *ctx, const struct expr_arg *args,
				    struct sample *out)
{
	return smp_give_int(out, backend_queue(arg_proxy(ctx, args)));
}

static enum expr_result fetch_average_queue(struct expr_ctx *ctx, const struct expr_arg *args,
					    struct sample *out)
{
	const struct proxy *be = arg_proxy(ctx, args);
	unsigned servers = usable_servers(be), length = backend_queue(be);

	return smp_give_int(out, servers ? (length + servers - 1) / servers : length * 2);
}

static int64_t server_sessions(const struct server *srv)
{
	return counter_read(&srv->state->counters, CNT_SESS_CUR);
}

/* Connections that usable servers still take (with <queues>, and their queues); -1: no limit. */
static int64_t backend_room(const struct proxy *be, bool queues)
{
	bool has_active = false;
	const struct server *srv;
	int64_t room = 0, limit;

	for (srv = server_first(be); srv; srv = server_next(srv))
		has_active = has_active || (!srv->backup && server_is_usable(srv));
	for (srv = server_first(be); srv; srv = server_next(srv)) {
		if (!server_is_usable(srv) || (!queues && has_active && srv->backup))
			continue;
		limit = __atomic_load_n(&srv->state->maxconn, __ATOMIC_RELAXED);
		if (!limit || (queues && !srv->limits.maxqueue))
			return -1;
		room += limit - server_sessions(srv);
		if (queues)
			room += srv->limits.maxqueue - queue_length_server(srv);
	}
	return room < 0 ? 0 : room;
}

static enum expr_result fetch_connslots(struct expr_ctx *ctx, const struct expr_arg *args,
					struct sample *out)
{
	return smp_give_int(out, backend_room(arg_proxy(ctx, args), true));
}

static enum expr_result fetch_be_conn_free(struct expr_ctx *ctx, const struct expr_arg *args,
					   struct sample *out)
{
	return smp_give_int(out, backend_room(arg_proxy(ctx, args), false));
}

static enum expr_result fetch_be_rate(struct expr_ctx *ctx, const struct expr_arg *args,
				      struct sample *out)
{
	return smp_give_int(out, rate_set_read(&arg_proxy(ctx, args)->state->be_session_rate));
}

/* --- frontends ---------------------------------------------------------------------------- */

static enum expr_result fetch_fe_conn(struct expr_ctx *ctx, const struct expr_arg *args,
				      struct sample *out)
{
	return smp_give_int(out, proxy_fe_sessions(arg_proxy(ctx, args)));
}

static enum expr_result fetch_fe_session_rate(struct expr_ctx *ctx, const struct expr_arg *args,
					      struct sample *out)
{
	return smp_give_int(out, rate_set_read(&arg_proxy(ctx, args)->state->fe_session_rate));
}

static enum expr_result fetch_fe_request_rate(struct expr_ctx *ctx, const struct expr_arg *args,
					      struct sample *out)
{
	return smp_give_int(out, rate_set_read(&arg_proxy(ctx, args)->state->fe_request_rate));
}

/* --- servers ------------------------------------------------------------------------------ */

static enum expr_result fetch_srv_conn(struct expr_ctx *ctx, const struct expr_arg *args,
				       struct sample *out)
{
	return smp_give_int(out, server_sessions(args[0].object));
}

static enum expr_result fetch_srv_conn_free(struct expr_ctx *ctx, const struct expr_arg *args,
					    struct sample *out)
{
	const struct server *srv = args[0].object;
	int64_t limit = __atomic_load_n(&srv->state->maxconn, __ATOMIC_RELAXED);
	int64_t room = limit - server_sessions(srv);

	return smp_give_int(out, !limit ? -1 : room < 0 ? 0 : room);
}

static enum expr_result fetch_srv_is_up(struct expr_ctx *ctx, const struct expr_arg *args,
					struct sample *out)
{
	const struct server *srv = args[0].object;

	return smp_give_bool(out, server_is_willing(srv));
}

static enum expr_result fetch_srv_queue(struct expr_ctx *ctx, const struct expr_arg *args,
					struct sample *out)
{
	return smp_give_int(out, queue_length_server(args[0].object));
}

static enum expr_result fetch_srv_rate(struct expr_ctx *ctx, const struct expr_arg *args,
				       struct sample *out)
{
	const struct server *srv = args[0].object;

	return smp_give_int(out, rate_set_read(&srv->state->session_rate));
}

static enum expr_result fetch_srv_weight(struct expr_ctx *ctx, const struct expr_arg *args,
					 struct sample *out)
{
	return smp_give_int(out, server_weight(args[0].object));
}

static enum expr_result fetch_srv_initial(struct expr_ctx *ctx, const struct expr_arg *args,
					  struct sample *out)
{
	const struct server *srv = args[0].object;

	return smp_give_int(out, srv->uweight);
}

/* --- converters: names that requests bring ------------------------------------------------- */

/* The server "backend/server" of the configuration in use; NULL: there is none. */
static const struct server *named_server(const struct expr_ctx *ctx, struct slice name)
{
	struct config *cfg = ctx->session ? session_config(ctx->session) : NULL;
	size_t slash = slice_find_char(name, 0, '/');
	char backend[256], server[256];
	const struct proxy *px;

	if (!cfg || slash == SIZE_MAX || slash >= sizeof(backend) ||
	    name.len - slash > sizeof(server))
		return NULL;
	slice_copy(slice_sub(name, 0, slash), backend, sizeof(backend));
	slice_copy(slice_sub(name, slash + 1, name.len), server, sizeof(server));
	px = proxy_find(cfg, backend, PROXY_BE);
	return px ? server_find(px, server) : NULL;
}

static bool convert_srv_is_up(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	const struct server *srv = named_server(ctx, s->text);

	return srv && smp_give_bool(s, server_is_usable(srv)) == EXPR_FOUND;
}

static bool convert_srv_queue(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	const struct server *srv = named_server(ctx, s->text);

	return srv && smp_give_int(s, queue_length_server(srv)) == EXPR_FOUND;
}

static bool convert_nbsrv(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	struct config *cfg = ctx->session ? session_config(ctx->session) : NULL;
	const struct proxy *px;
	char name[256];

	if (!cfg || s->text.len >= sizeof(name))
		return false;
	slice_copy(s->text, name, sizeof(name));
	px = proxy_find(cfg, name, PROXY_BE);
	return px && smp_give_int(s, usable_servers(px)) == EXPR_FOUND;
}

static bool convert_fe_exists(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	struct config *cfg = ctx->session ? session_config(ctx->session) : NULL;
	char name[256];

	if (!cfg)
		return false;
	slice_copy(s->text, name, sizeof(name));
	return smp_give_bool(s, slice_eq(s->text, slice_of(name)) &&
			     proxy_find(cfg, name, PROXY_FE)) == EXPR_FOUND;
}

static const struct expr_converter converters[] = {
	{ .name = "fe_exists", .in = SMP_STR, .out = SMP_BOOL, .context = true,
	  .convert = convert_fe_exists, .help = "is there a frontend of that name?" },
	{ .name = "nbsrv", .in = SMP_STR, .out = SMP_INT, .context = true,
	  .convert = convert_nbsrv, .help = "usable servers of the backend of that name" },
	{ .name = "srv_is_up", .in = SMP_STR, .out = SMP_BOOL, .context = true,
	  .convert = convert_srv_is_up, .help = "is the server <backend>/<server> up?" },
	{ .name = "srv_queue", .in = SMP_STR, .out = SMP_INT, .context = true,
	  .convert = convert_srv_queue, .help = "requests queued on the server" },
	{ 0 }
};

#define OF(n, kind, type, function, words, text) \
	{ .name = n, .args_min = 1, .args = { kind }, .out = type, .use = EXPR_USE_INTERNAL, \
	  .fetch = function, .syntax = words, .help = text }
#define BACKEND(n, function, text) OF(n, ARG_BACKEND, SMP_INT, function, "[<backend>]", text)
#define FRONTEND(n, function, text) OF(n, ARG_FRONTEND, SMP_INT, function, "[<frontend>]", text)
#define SERVER(n, type, function, text) \
	OF(n, ARG_SERVER, type, function, "[<backend>/]<server>", text)

static const struct expr_fetch fetches[] = {
	BACKEND("avg_queue", fetch_average_queue, "requests queued per usable server"),
	BACKEND("be_conn", fetch_be_conn, "streams of the backend"),
	BACKEND("be_conn_free", fetch_be_conn_free, "streams that its servers still take"),
	BACKEND("be_sess_rate", fetch_be_rate, "new streams per second of the backend"),
	BACKEND("connslots", fetch_connslots, "streams that servers and their queues still take"),
	FRONTEND("fe_conn", fetch_fe_conn, "sessions of the frontend"),
	FRONTEND("fe_req_rate", fetch_fe_request_rate, "HTTP requests per second of the frontend"),
	FRONTEND("fe_sess_rate", fetch_fe_session_rate, "new sessions per second of the frontend"),
	BACKEND("nbsrv", fetch_nbsrv, "usable servers of the backend"),
	BACKEND("queue", fetch_queue, "requests queued on the backend and its servers"),
	SERVER("srv_conn", SMP_INT, fetch_srv_conn, "streams on the server"),
	SERVER("srv_conn_free", SMP_INT, fetch_srv_conn_free,
	       "streams that the server still takes"),
	SERVER("srv_is_up", SMP_BOOL, fetch_srv_is_up, "is the server up?"),
	SERVER("srv_iweight", SMP_INT, fetch_srv_initial, "the server's initial weight"),
	SERVER("srv_queue", SMP_INT, fetch_srv_queue, "requests queued on the server"),
	SERVER("srv_sess_rate", SMP_INT, fetch_srv_rate, "new streams per second of the server"),
	SERVER("srv_uweight", SMP_INT, fetch_srv_weight, "the server's weight as set"),
	SERVER("srv_weight", SMP_INT, fetch_srv_weight, "the server's weight in force"),
	{ 0 }
};

const struct module mod_proxy_smp = {
	.name = "proxy-fetches", .fetches = fetches, .converters = converters,
	.init = proxy_smp_init, .check = pending_check,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verify.c - what is done once all sections are read: names are resolved, what is missing is
 * warned about, numbers are given, states are made
 */
#include <string.h>
#include "base/bug.h"
#include "conf/conf.h"
#include "core/thread.h"
#include "mux/mux.h"
#include "proxy/balance.h"
#include "proxy/bind.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "proxy/source.h"
#include "quic/quic.h"
#include "proxy_priv.h"
#include "server_priv.h"
#include "tls/tls.h"

static const struct diag_place nowhere = { .form = DIAG_BARE };

#define say_alert(d, ...) diag_add(d, DIAG_ALERT, &nowhere, NULL, __VA_ARGS__)
#define say_warning(d, ...) diag_add(d, DIAG_WARNING, &nowhere, NULL, __VA_ARGS__)

/* --- one proxy ------------------------------------------------------------------------------ */

static void check_default_backend(struct proxy *px, struct diag_list *d)
{
	struct proxy *be;

	if (!(px->caps & PROXY_FE) || !px->switching.backend_name)
		return;
	be = proxy_find_kept(px->config, px->switching.backend_name, PROXY_BE);
	if (!be) {
		diag_add(d, DIAG_ALERT, &nowhere,
			 proxy_hint(px->config, px->switching.backend_name, PROXY_BE),
			 "Proxy '%s': unable to find required default_backend: '%s'.", px->name,
			 px->switching.backend_name);
		return;
	}
	if (be == px) {
		say_alert(d, "Proxy '%s': loop detected for default_backend: '%s'.", px->name,
			  be->name);
		return;
	}
	if (px->mode != be->mode && !(px->mode == PROXY_MODE_TCP && be->mode == PROXY_MODE_HTTP)) {
		say_alert(d, "%s %s '%s' (%s:%d) tries to use incompatible %s %s '%s' (%s:%d) as "
			  "its default backend (see 'mode').", proxy_mode_name(px->mode),
			  proxy_kind_name(px), px->name, px->file, px->line,
			  proxy_mode_name(be->mode), proxy_kind_name(be), be->name, be->file,
			  be->line);
		return;
	}
	px->switching.to_http |= px->mode != be->mode;
	px->switching.backend = be;
	if (!list_is_empty(&px->servers))
		say_warning(d, "In proxy '%s', the 'default_backend' rule always has precedence "
			    "over the servers, which will never be used.", px->name);
}

static void check_timeouts(const struct proxy *px, struct diag_list *d)
{
	const struct proxy_timeouts *t = &px->timeout;
	bool front = (px->caps & PROXY_FE) && !t->client;
	bool back = (px->caps & PROXY_BE) && !list_is_empty(&px->servers) &&
		(!t->connect || (!t->server && (px->mode == PROXY_MODE_HTTP || !t->tunnel)));

	if (front || back)
		say_warning(d, "missing timeouts for %s '%s'.\n"
			    "   | While not properly invalid, you will certainly encounter various "
			    "problems\n"
			    "   | with such a configuration. To fix this, please ensure that all "
			    "following\n"
			    "   | timeouts are set to a non-zero value: 'client', 'connect', "
			    "'server'.", proxy_kind_name(px), px->name);
}

/* The options of mode http, and where they have an effect. */
static const struct http_option {
	const char *name;
	uint64_t bit;
	unsigned sides, modes;
} option_modes[] = {
#define X(name, words, sides, modes) { words, PROXY_OPT_##name, sides, modes },
	PROXY_OPTIONS(X)
#undef X
};

static void needs_http(const struct proxy *px, struct diag_list *d, const char *what)
{
	say_warning(d, "'%s' ignored for %s '%s' as it requires HTTP mode.", what,
		    proxy_kind_name(px), px->name);
}

/* `usesrc hdr_ip()` of the backend or of a server, where there are no fields. */
static void check_source_header(const struct proxy *px, struct diag_list *d)
{
	struct server *srv;

	if (!(px->caps & PROXY_BE))
		return;
	if (px->source && px->source->header &&
	    !(px->defaults && px->source == px->defaults->source))
		say_warning(d, "%s '%s' : ignoring use of header %s as source IP in non-HTTP mode.",
			    proxy_kind_name(px), px->name, px->source->header_text);
	list_for_each(srv, &px->servers, link)
		if (srv->source && srv->source->header)
			say_warning(d, "%s '%s' : server %s cannot use header %s as source IP in "
				    "non-HTTP mode.", proxy_kind_name(px), px->name, srv->name,
				    srv->source->header_text);
}

static void drop_http_options(struct proxy *px, struct diag_list *d)
{
	for (unsigned i = 0; i < ARRAY_LEN(option_modes); i++) {
		const struct http_option *o = &option_modes[i];

		if (o->modes != 2 || !(px->caps & o->sides) || !(px->options & o->bit))
			continue;
		say_warning(d, "'option %s' ignored for %s '%s' as it requires HTTP mode.",
			    o->name, proxy_kind_name(px), px->name);
		px->options &= ~o->bit;
	}
}

/* What makes sense in mode http only: dropped with a warning. */
static void check_mode(struct proxy *px, struct diag_list *d)
{
	if (px->mode == PROXY_MODE_HTTP)
		return;
	if (px->mode == PROXY_MODE_LOG && !(px->caps & PROXY_BE))
		say_alert(d, "%s '%s' cannot be in 'mode log', which its defaults give it: that is "
			  "for backends. Say 'mode tcp' or 'mode http' there.",
			  proxy_kind_name(px), px->name);
	if (px->log_option.kind >= PROXY_LOG_HTTP && (px->caps & PROXY_FE)) {
		say_warning(d, "parsing [%s:%d] : 'option %s' not usable with %s '%s' (needs 'mode "
			    "http'). Falling back to 'option tcplog'.", px->log_option.file,
			    px->log_option.line,
			    px->log_option.kind >= PROXY_LOG_HTTPS ? "httpslog" : "httplog",
			    proxy_kind_name(px), px->name);
		px->log_option.kind = PROXY_LOG_TCP;
	}
	drop_http_options(px, d);
	check_source_header(px, d);
	if (px->http.forward_for.enabled) {
		needs_http(px, d, "option forwardfor");
		px->http.forward_for.enabled = false;
	}
	if (px->http.original_to.enabled) {
		needs_http(px, d, "option originalto");
		px->http.original_to.enabled = false;
	}
	if (px->http.forwarded) {
		if (px->caps & PROXY_BE)
			needs_http(px, d, "option forwarded");
		px->http.forwarded = NULL;
	}
}

static void check_servers(struct proxy *px, struct diag_list *d)
{
	const unsigned retried = PROXY_RETRY_CONN_FAILURE | PROXY_RETRY_EMPTY_RESPONSE |
		PROXY_RETRY_RESPONSE_TIMEOUT;
	struct server *srv;

	list_for_each(srv, &px->servers, link) {
		server_complete(srv);
		if (srv->redir && px->mode != PROXY_MODE_HTTP)
			say_alert(d, "%s '%s' : server '%s' cannot have a redirect prefix in "
				  "non-HTTP mode.", proxy_kind_name(px), px->name, srv->name);
		if (srv->socket.tfo && (px->retry.on & retried) != retried)
			say_warning(d, "[%s:%d] : 'server %s/%s' : server has tfo activated, the "
				    "backend should be configured with at least 'conn-failure', "
				    "'empty-response' and 'response-timeout' or we wouldn't be "
				    "able to retry the connection on failure.", srv->place.file,
				    srv->place.line, px->name, srv->name);
	}
}

static enum mux_mode mode_of(const struct proxy *px)
{
	if (px->mode == PROXY_MODE_SPOP)
		return MUX_SPOP;
	return px->mode == PROXY_MODE_HTTP ? MUX_HTTP : MUX_TCP;
}

bool server_proto_fits(const struct server *srv)
{
	const struct mux_kind *k = srv->mux.forced;

	if (srv->mux.is_spop)
		return mode_of(srv->proxy) == MUX_SPOP;
	return !k || (mux_fits(k, MUX_BACK, mode_of(srv->proxy)) &&
		      !!(k->traits & MUX_FRAMED) == srv->is_quic);
}

const char *server_proto_name(const struct server *srv)
{
	return srv->mux.forced ? srv->mux.forced->name : "spop";
}

static void check_server_protos(struct proxy *px, struct diag_list *d)
{
	struct server *srv;

	list_for_each(srv, &px->servers, link) {
		if (server_proto_fits(srv))
			continue;
		say_alert(d, "proxy '%s' : MUX protocol '%s' is not usable for server '%s' "
			  "at [%s:%d].",
			  px->name, server_proto_name(srv), srv->name, srv->place.file,
			  srv->place.line);
	}
}

/* Numbers the servers that have no id of their own, around those that have: by place, if that
 * number is free, else by the next one.
 */
static void number_servers(struct proxy *px)
{
	struct server *srv, *other;
	bool any = false;
	int next = 1;

	list_for_each(srv, &px->servers, link)
		any |= srv->id_forced;
	list_for_each(srv, &px->servers, link) {
		bool taken = !srv->id_forced;

		while (taken) {
			taken = false;
			if (any)
				list_for_each(other, &px->servers, link)
					taken |= other->id_forced && other->id == next;
			next += taken;
		}
		if (!srv->id_forced)
			srv->id = next;
		next++;
	}
}

static bool listener_id_is_taken(const struct proxy *px, int id)
{
	struct listener_conf *lc;
	struct bind_conf *b;

	list_for_each(b, &px->binds, link)
		list_for_each(lc, &b->listeners, link)
			if (lc->id == id)
				return true;
	return false;
}

/* Numbers the listeners of a frontend, each from the one before it on, and names those without a
 * name.
 */
static void check_listeners(struct proxy *px)
{
	struct listener_conf *lc;
	struct bind_conf *b;
	int last = 0;

	list_for_each(b, &px->binds, link)
		list_for_each(lc, &b->listeners, link) {
			if (!lc->id) {
				while (listener_id_is_taken(px, last + 1))
					last++;
				lc->id = last + 1;
			}
			last = lc->id;
			if (!lc->name)
				lc->name = arena_printf(&px->config->arena, "sock-%d", lc->id);
			if (!lc->name)
				lc->name = "sock";
		}
}

static bool has_threads(const struct thread_mask *m)
{
	for (unsigned g = 0; g < thread_group_count(); g++)
		for (unsigned t = 0; t < thread_group_size(g); t++)
			if (thread_mask_has(m, g, t))
				return true;
	return false;
}

/* At least one thread must accept, and UNIX sockets cannot share their name. */
static void check_bind_threads(const struct proxy *px, struct diag_list *d)
{
	const struct listener_conf *lc;
	const struct bind_conf *b;

	list_for_each(b, &px->binds, link) {
		bool is_unix = false;

		list_for_each(lc, &b->listeners, link)
			is_unix |= lc->address.ss_family == AF_UNIX;
		if (b->threads.restricted && !has_threads(&b->threads))
			say_alert(d, "%s '%s': 'thread' directive only references non-existing "
				  "threads in 'bind %s' at [%s:%d].", proxy_kind_name(px),
				  px->name, b->text, b->file, b->line);
		if (is_unix && b->shards > 1)
			say_warning(d, "[%s:%d]: Disabling sharding for listener in %s '%s': UNIX "
				    "sockets cannot share an address.", b->file, b->line,
				    proxy_kind_name(px), px->name);
	}
}

/* A protocol that is forced on connections must fit the mode. */
static void check_protos(const struct proxy *px, struct diag_list *d)
{
	const struct bind_conf *b;

	list_for_each(b, &px->binds, link) {
		bool framed = b->proto && b->proto->traits & MUX_FRAMED;

		if (!b->proto || (mux_fits(b->proto, MUX_FRONT, mode_of(px)) &&
				  framed == bind_has_quic(b)))
			continue;
		say_alert(d, "%s '%s' : MUX protocol '%s' is not usable for 'bind %s' at [%s:%d].",
			  proxy_kind_name(px), px->name, b->proto->name, b->text, b->file, b->line);
	}
}

void server_check_tls(struct server *srv, struct diag_list *d)
{
	const struct proxy *px = srv->proxy;
	struct tls_place where = {
		px->name, srv->name, srv->place.file, srv->place.line, slice_none(),
	};

	if (tls_server_may_switch(server_slots(srv)))
		tls_server_check(px->config, server_slots(srv), &where, d);
}

/* What QUIC needs of its line, and of the library. */
static void check_quic(const struct proxy *px, const struct bind_conf *b, struct diag_list *d)
{
	if (b->options & (BIND_ACCEPT_PROXY | BIND_ACCEPT_CIP))
		say_alert(d, "Binding [%s:%d] for %s %s: QUIC protocol does not support PROXY "
			  "protocol yet. 'accept-proxy' option cannot be used with a QUIC "
			  "listener.", b->file, b->line, proxy_kind_name(px), px->name);
	if (!tls_library_name())
		say_alert(d, "Binding [%s:%d] for %s %s: QUIC needs OpenSSL, which this program is "
			  "built without.", b->file, b->line, proxy_kind_name(px), px->name);
	else if (!quic_tunes_of(px->config)->limited && !tls_quic_is_native())
		say_alert(d, "Binding [%s:%d] for %s %s: the SSL library was not made for QUIC; "
			  "add 'limited-quic' to the global section to use it all the same, "
			  "without 0-RTT.", b->file, b->line, proxy_kind_name(px), px->name);
}

/* What stands before TLS has no place in QUIC. */
static void check_quic_server(const struct server *srv, struct diag_list *d)
{
	const char *what = srv->send_proxy ? "the PROXY protocol" : srv->socks4 ? "SOCKS4" : NULL;

	if (what)
		say_alert(d, "[%s:%d] : 'server %s/%s' : %s cannot be used with QUIC.",
			  srv->place.file, srv->place.line, srv->proxy->name, srv->name, what);
	if (!quic_tunes_of(srv->proxy->config)->limited && !tls_quic_is_native())
		say_alert(d, "[%s:%d] : 'server %s/%s' : the SSL library was not made for QUIC; "
			  "add 'limited-quic' to the global section to use it all the same, "
			  "without 0-RTT.", srv->place.file, srv->place.line, srv->proxy->name,
			  srv->name);
}

static void check_tls(struct proxy *px, struct diag_list *d)
{
	struct bind_conf *b;
	struct server *srv;

	list_for_each(b, &px->binds, link) {
		struct tls_place where = { px->name, b->text, b->file, b->line,
					   px->mode == PROXY_MODE_HTTP ? mux_alpn_list(MUX_FRONT)
								       : slice_none() };

		if (bind_has_quic(b)) {
			where.alpn = b->proto ? b->proto->alpn : slice_none();
			check_quic(px, b, d);
		}
		if (tls_bind_is_on(bind_slots(b)))
			tls_bind_check(px->config, bind_slots(b), &where, d);
	}
	list_for_each(srv, &px->servers, link) {
		if (srv->is_quic)
			check_quic_server(srv, d);
		server_check_tls(srv, d);
	}
}

/* A name gets its first address, before there is a state. */
static void check_names(struct proxy *px, struct diag_list *d)
{
	struct server *srv;

	list_for_each(srv, &px->servers, link)
		if (srv->at.hostname || srv->resolve.service || srv->resolve.resolvers_name)
			resolve_init_address(srv, d);
}

static void check_one(struct proxy *px, struct diag_list *d)
{
	if (!(px->caps & PROXY_BE))
		px->balancing.algorithm = NULL;
	if (px->mode == PROXY_MODE_HTTP && !px->http.abort_is_said)
		px->options |= PROXY_OPT_ABORTONCLOSE;
	check_default_backend(px, d);
	check_mode(px, d);
	direct_check(px, d);
	check_names(px, d);
	check_servers(px, d);
	check_server_protos(px, d);
	number_servers(px);
	check_listeners(px);
	check_bind_threads(px, d);
	check_protos(px, d);
	if (!px->disabled) {
		if ((px->caps & PROXY_FE) && list_is_empty(&px->binds))
			say_warning(d, "%s '%s' has no 'bind' directive. Please declare it as a "
				    "backend if this was intended.", proxy_kind_name(px), px->name);
		else
			if (px->mode != PROXY_MODE_LOG)
				check_timeouts(px, d);
	}
	check_tls(px, d);
	if (!proxy_make_states(px))
		say_alert(d, "out of memory for %s '%s'.", proxy_kind_name(px), px->name);
}

/* --- all of them ---------------------------------------------------------------------------- */

/* Number 1 may be the statistics' own frontend: proxies_reserve_first_id(). */
static void number_proxies(struct config *cfg)
{
	bool any = false;
	int next = proxies_of(cfg)->first_id_is_taken ? 2 : 1;

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		any |= px->id_forced;
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		bool taken = !px->id_forced;

		while (taken) {
			taken = false;
			for (struct proxy *it = any ? proxies_first(cfg) : NULL; it;
			     it = proxy_next(it))
				taken |= it->id_forced && it->id == next;
			next += taken;
		}
		if (!px->id_forced)
			px->id = next++;
	}
}

void proxies_reserve_first_id(struct config *cfg)
{
	proxies_of(cfg)->first_id_is_taken = true;
}

void proxies_allow_unresolved(struct config *cfg)
{
	proxies_of(cfg)->may_lack_addresses = true;
}

void proxies_check(struct config *cfg, struct diag_list *diags)
{
	number_proxies(cfg);
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		check_one(px, diags);
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		reverse_check(px, diags);
}

void proxies_check_added(struct proxy *be, struct diag_list *diags)
{
	int *last = &proxies_of(be->config)->last_id;

	for (struct proxy *px = proxies_first(be->config); px; px = proxy_next(px))
		if (px->id > *last)
			*last = px->id;
	be->id = ++*last;
	/* what frontends of the file send to it is not known: none is there */
	check_one(be, diags);
}

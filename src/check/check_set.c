/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_set.c - the check phase: from rules as written to rules as run; which server tracks which
 *
 * The configuration may omit the connection, the request and the expected answer. Here each backend
 * gets one complete list:
 *
 *	[variables] connect ... send ... expect ...
 */
#include <string.h>
#include "base/bug.h"
#include "conf/conf.h"
#include "mux/mux.h"
#include "proxy/address.h"
#include "proxy/balance.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "tls/tls.h"
#include "check_priv.h"
#include "check_settings.h"

static const struct diag_place nowhere = { .form = DIAG_BARE };

#define say_alert(d, ...) diag_add(d, DIAG_ALERT, &nowhere, NULL, __VA_ARGS__)
#define say_warning(d, ...) diag_add(d, DIAG_WARNING, &nowhere, NULL, __VA_ARGS__)
#define server_alert(d, srv, fmt, ...) \
	say_alert(d, "[%s:%d] : 'server %s/%s' : " fmt, (srv)->place.file, (srv)->place.line, \
		  (srv)->proxy->name, (srv)->name, ##__VA_ARGS__)

/* --- lists ---------------------------------------------------------------------------------- */

/* A copy of <from> behind <to>: lists of `defaults` serve several proxies. False: no memory. */
static bool copy_rule(struct arena *a, struct check_rules *to, const struct check_rule *from)
{
	struct check_rule *rule = check_rule_add(a, to, from->type);

	if (!rule)
		return false;
	*rule = *from;
	rule->next = NULL;
	to->last = &rule->next;
	return true;
}

static struct check_rule *add_implicit(struct arena *a, struct check_rules *to,
				       enum check_rule_type type)
{
	struct check_rule *rule = check_rule_add(a, to, type);

	if (!rule)
		return NULL;
	rule->step = 0;
	if (type == CHECK_CONNECT)
		rule->connect.implicit = true;
	return rule;
}

static bool talks(const struct check_rule *rule)
{
	return rule->type < CHECK_SET_VAR;
}

static const struct check_rule *first_talking(const struct check_rule *rule)
{
	while (rule && !talks(rule))
		rule = rule->next;
	return rule;
}

/* Copies <from>, with a connection in front if it does not begin with one. */
static bool with_connection(struct arena *a, struct check_rules *to, const struct check_rule *from)
{
	const struct check_rule *first = first_talking(from);
	bool lacks = !first || first->type != CHECK_CONNECT;

	for (; from && !talks(from); from = from->next)
		if (!copy_rule(a, to, from))
			return false;
	if (lacks && !add_implicit(a, to, CHECK_CONNECT))
		return false;
	for (; from; from = from->next)
		if (!copy_rule(a, to, from))
			return false;
	return true;
}

/* --- HTTP ----------------------------------------------------------------------------------- */

static const struct check_rule *last_of(const struct check_rule *rule, enum check_rule_type type)
{
	const struct check_rule *last = NULL;

	for (; rule; rule = rule->next)
		if (rule->type == type)
			last = rule;
	return last;
}

static bool has_host(const struct check_http_send *h)
{
	for (const struct check_field *f = h->fields; f; f = f->next)
		if (strcmp(f->name, "host") == 0)
			return true;
	return false;
}

/* The first request has what `option httpchk` says where its own rule does not. */
static void merge_request(struct check_http_send *own, const struct check_http_send *common)
{
	if (!common)
		return;
	if (!own->method)
		own->method = common->method;
	if (!own->version)
		own->version = common->version;
	if (!own->uri.text.ptr && !own->uri.format)
		own->uri = common->uri;
	/* its only field is Host */
	if (common->fields && !has_host(own)) {
		*common->last_field = own->fields;
		own->fields = common->fields;
	}
}

/* Where the rules have no request: behind the first connection. */
static bool insert_request(struct arena *a, struct check_rules *rules)
{
	struct check_rule *at = rules->first, *send = arena_zalloc(a, sizeof(*send));

	if (!send)
		return false;
	while (at->type != CHECK_CONNECT)
		at = at->next;
	send->type = CHECK_HTTP_SEND;
	send->next = at->next;
	at->next = send;
	if (!send->next)
		rules->last = &send->next;
	return true;
}

/* A response of 2xx or 3xx, when nothing is expected of the last one. */
static bool add_expectation(struct arena *a, struct check_rules *rules)
{
	static struct status_range fine = { 200, 399 };
	struct check_rule *rule = add_implicit(a, rules, CHECK_EXPECT);

	if (!rule)
		return false;
	rule->expect = (struct check_expect){ .match = EXPECT_STATUS, .implicit = true,
					      .min_recv = -1, .ranges = &fine, .range_count = 1 };
	return true;
}

static bool is_behind(const struct check_rule *a, const struct check_rule *b)
{
	for (; b; b = b->next)
		if (b == a)
			return true;
	return false;
}

static bool make_http(struct arena *a, struct check_proxy *cp, struct check_rules *to)
{
	const struct check_rule *send, *expect;
	struct check_rule *first;

	if (!with_connection(a, to, cp->http.first))
		return false;
	if (!last_of(to->first, CHECK_HTTP_SEND) && !insert_request(a, to))
		return false;
	for (first = to->first; first->type != CHECK_HTTP_SEND;)
		first = first->next;
	merge_request(&first->http, cp->httpchk);
	send = last_of(to->first, CHECK_HTTP_SEND);
	expect = last_of(to->first, CHECK_EXPECT);
	return (expect && is_behind(expect, send)) || add_expectation(a, to);
}

/* --- a backend ------------------------------------------------------------------------------ */

static bool make_rules(struct arena *a, struct check_proxy *cp)
{
	struct check_rules to = { 0 };
	bool good;

	switch (cp->kind) {
	case CHECK_KIND_TCPCHK:
		good = with_connection(a, &to, cp->tcp.first);
		break;
	case CHECK_KIND_HTTP:
		good = make_http(a, cp, &to);
		break;
	case CHECK_KIND_PROTO:
	case CHECK_KIND_GRPC:
		good = with_connection(a, &to, cp->proto);
		break;
	default:
		good = with_connection(a, &to, NULL);
		break;
	}
	cp->run = to.first;
	return good;
}

static void check_external(const struct proxy *px, struct check_proxy *cp, struct diag_list *d)
{
	const struct check_settings *set = check_settings_of(px->config);

	if (!set->external)
		say_alert(d, "Proxy '%s' : 'option external-check' unable to find required "
			  "'global.external-check'.", px->name);
	if (!cp->command)
		say_alert(d, "Proxy '%s' : 'option external-check' unable to find required "
			  "'external-check command'.", px->name);
	if (!set->may_fork)
		say_warning(d, "Proxy '%s' : 'insecure-fork-wanted' not enabled in the global "
			    "section, 'option external-check' will likely fail.", px->name);
}

static void warn_unused(const struct proxy *px, const struct check_proxy *cp, struct diag_list *d)
{
	if (cp->http_is_own && cp->http.first && cp->kind != CHECK_KIND_HTTP)
		say_warning(d, "backend '%s' uses http-check rules without 'option httpchk', so "
			    "the rules are ignored.", px->name);
	if (cp->command && cp->kind != CHECK_KIND_EXTERNAL)
		say_warning(d, "'external-check command' will be ignored for backend '%s' (requires"
			    " 'option external-check').", px->name);
	if (cp->path && cp->kind != CHECK_KIND_EXTERNAL)
		say_warning(d, "'external-check path' will be ignored for backend '%s' (requires "
			    "'option external-check').", px->name);
	if (cp->tcp_is_own && cp->tcp.first && cp->kind != CHECK_KIND_TCPCHK)
		say_warning(d, "backend '%s' uses tcp-check rules without 'option tcp-check', so "
			    "the rules are ignored.", px->name);
}

/* Is there a port to connect to? A server without an address may get one later: its check fails
 * until then.
 */
static bool has_port(const struct server *srv, const struct check_proxy *cp)
{
	const struct check_rule *first = first_talking(cp->run);

	if (srv->at.is_any && !srv->checks.health.addr)
		return true;
	if (srv->checks.health.port || srv->at.sa->sa_family == AF_UNIX ||
	    address_port(srv->at.sa) || cp->kind == CHECK_KIND_EXTERNAL ||
	    srv->resolve.service)
		return true;
	if (srv->checks.health.addr && (srv->checks.health.addr->sa_family == AF_UNIX ||
					address_port(srv->checks.health.addr)))
		return true;
	return first && first->type == CHECK_CONNECT &&
		(first->connect.port || first->connect.port_expr);
}

/* Do any of its rules ask for TLS? */
static bool rules_use_tls(const struct check_proxy *cp)
{
	for (const struct check_rule *r = cp->run; r; r = r->next)
		if (r->type == CHECK_CONNECT && r->connect.ssl)
			return true;
	return false;
}

/* Checks with TLS of a server whose traffic has none need its settings too. */
static void prepare_tls(struct server *srv, const struct check_proxy *cp, struct diag_list *d)
{
	struct slot_area *slots = server_slots(srv);
	struct tls_place where = { srv->proxy->name, srv->name, srv->place.file, srv->place.line,
				   slice_none() };

	if (!srv->checks.health.on || tls_server_is_given(slots) ||
	    (srv->checks.ssl <= 0 && !rules_use_tls(cp)))
		return;
	if (!tls_server_want(slots))
		diag_add(d, DIAG_ALERT, NULL, NULL, "out of memory.");
	else
		tls_server_check(srv->proxy->config, slots, &where, d);
}

/* --- tracking ------------------------------------------------------------------------------- */

/* "backend/server", or "server" of the same backend. NULL: reported. */
static struct server *find_tracked(struct server *srv, struct diag_list *d)
{
	const char *name = srv->checks.track_name, *slash = strchr(name, '/');
	struct proxy *be = srv->proxy;
	struct server *to;
	char backend[256];

	if (slash) {
		snprintf(backend, sizeof(backend), "%.*s", (int)(slash - name), name);
		be = proxy_find(srv->proxy->config, backend, PROXY_BE);
		if (!be) {
			server_alert(d, srv, "unable to find required proxy '%s' for tracking.",
				     backend);
			return NULL;
		}
		name = slash + 1;
	}
	to = server_find(be, name);
	if (!to)
		server_alert(d, srv, "unable to find required server '%s' for tracking.", name);
	return to;
}

static bool is_loop(struct server *srv, struct server *to)
{
	for (; to; to = to->checks.track)
		if (to == srv)
			return true;
	return false;
}

static void resolve_track(struct server *srv, struct diag_list *d)
{
	struct server *to = find_tracked(srv, d);

	if (!to)
		return;
	if (is_loop(srv, to)) {
		server_alert(d, srv, "unable to track %s/%s as it belongs to a tracking chain "
			     "looping back to %s/%s.", to->proxy->name, to->name,
			     srv->proxy->name, srv->name);
		return;
	}
	if (to->life.is_dynamic) {
		server_alert(d, srv, "unable to use %s/%s for tracking as it is a dynamic server.",
			     to->proxy->name, to->name);
		return;
	}
	if (!to->checks.track_name && !to->checks.health.on && !to->checks.agent.on) {
		server_alert(d, srv, "unable to use %s/%s for tracking as it does not have any "
			     "check nor agent enabled.", to->proxy->name, to->name);
		return;
	}
	if (srv->proxy != to->proxy && check_proxy_of(srv->proxy)->disable_on_404 !=
	    check_proxy_of_server(to)->disable_on_404) {
		server_alert(d, srv, "unable to use %s/%s for tracking: disable-on-404 option "
			     "inconsistency.", to->proxy->name, to->name);
		return;
	}
	srv->checks.track = to;
}

void check_track_join(struct server *srv)
{
	struct server *to = srv->checks.track;

	srv->checks.next_tracker = to->checks.trackers;
	__atomic_store_n(&to->checks.trackers, srv, __ATOMIC_RELEASE);
}

/* Its own pointer stays, for readers that are at this server. */
void check_track_leave(struct server *srv)
{
	struct server **at = &srv->checks.track->checks.trackers;

	while (*at && *at != srv)
		at = &(*at)->checks.next_tracker;
	if (*at)
		__atomic_store_n(at, srv->checks.next_tracker, __ATOMIC_RELEASE);
}

/* A follower starts as the server at the end of its chain does. */
static void follow(struct server *srv)
{
	const struct server_state *decider = check_decider(srv)->state;

	if (decider->admin & SERVER_MAINT)
		srv->state->admin |= SERVER_IMAINT;
	if (decider->admin & SERVER_DRAIN)
		srv->state->admin |= SERVER_IDRAIN;
	if (decider->oper == SERVER_STOPPED)
		srv->state->oper = SERVER_STOPPED;
}

/* --- all of them ---------------------------------------------------------------------------- */

/* The section that `healthcheck` names. */
static void find_own(struct server *srv, struct diag_list *d)
{
	const char *name = srv->checks.own_name;

	srv->checks.own = name ? check_section_find(srv->proxy->config, name) : NULL;
	if (name && !srv->checks.own)
		server_alert(d, srv, "healthcheck section '%s' not found for server '%s'.", name,
			     srv->name);
}

void check_server(struct server *srv, struct diag_list *d)
{
	struct proxy *px = srv->proxy;
	const struct check_proxy *cp;
	bool http;

	find_own(srv, d);
	cp = check_proxy_of_server(srv);
	http = cp->kind == CHECK_KIND_HTTP || cp->kind == CHECK_KIND_GRPC;

	if (srv->checks.health.on && srv->checks.proto &&
	    !mux_fits(srv->checks.proto, MUX_BACK, http ? MUX_HTTP : MUX_TCP))
		say_alert(d, "config: backend '%s': server '%s' uses an incompatible MUX protocol "
			  "for the selected check type", px->name, srv->name);
	if (srv->checks.track_name)
		resolve_track(srv, d);
	if (srv->checks.health.on && srv->is_reverse && !has_port(srv, cp) &&
	    !check_mux_shares_all(srv, cp))
		say_alert(d, "config: backend '%s': server '%s' opens its connections itself: only "
			  "'option httpchk' without settings of the connection can use them; other "
			  "checks need 'addr' and 'port'.", px->name, srv->name);
	else if (srv->checks.health.on && !srv->is_reverse && !has_port(srv, cp))
		say_alert(d, "config: backend '%s': server '%s' has neither service port nor check "
			  "port nor tcp_check rule 'connect' with port information.", px->name,
			  srv->name);
	prepare_tls(srv, cp, d);
}

void checks_check_backend(struct proxy *px, struct diag_list *d)
{
	struct check_proxy *cp = check_proxy_of(px);
	struct server *srv;

	if (!make_rules(proxy_arena(px), cp)) {
		say_alert(d, "out of memory for the checks of '%s'.", px->name);
		return;
	}
	if (px->defaults && ((!cp->tcp_is_own && cp->tcp.first) ||
			     (!cp->http_is_own && cp->http.first)))
		px->defaults->run.is_referenced = true;
	if (cp->kind == CHECK_KIND_EXTERNAL)
		check_external(px, cp, d);
	warn_unused(px, cp, d);
	list_for_each(srv, &px->servers, link) {
		check_server(srv, d);
		if (srv->checks.track)
			check_track_join(srv);
	}
}

/* Which thread does what is said here, once: servers come and go while threads begin with it. */
static void deal_turns(struct config *cfg)
{
	struct check_settings *settings = check_settings_of(cfg);
	struct server *srv;

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		list_for_each(srv, &px->servers, link) {
			srv->checks.turn = settings->count;
			if (!px->disabled)
				settings->count += srv->checks.health.on + srv->checks.agent.on;
		}
}

void checks_check(struct config *cfg, struct diag_list *diags)
{
	struct check_proxy *own = NULL;
	struct server *srv;
	struct proxy *px;

	check_settings_of(cfg)->agent_rules = check_rules_agent(&cfg->arena);
	if (!check_settings_of(cfg)->agent_rules)
		say_alert(diags, "out of memory for agent checks.");
	while ((own = check_section_next(cfg, own)))
		if (!make_rules(&cfg->arena, own))
			say_alert(diags, "out of memory for the checks of a healthcheck section.");
	for (px = proxies_first(cfg); px; px = proxy_next(px))
		if (px->caps & PROXY_BE)
			checks_check_backend(px, diags);
	deal_turns(cfg);
	for (px = proxies_first(cfg); px; px = proxy_next(px)) {
		bool followed = false;

		if (!(px->caps & PROXY_BE) || !px->state)
			continue;
		list_for_each(srv, &px->servers, link)
			if (srv->checks.track && srv->state) {
				follow(srv);
				followed = true;
			}
		if (!followed)
			continue;
		balance_update(px);
		px->state->was_up = balance_has_usable(px);
	}
}

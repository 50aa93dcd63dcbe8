/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_ctl.c - edge file: the Runtime API's commands about servers */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "conf/conf.h"
#include "ctl/ctl.h"
#include "proxy/address.h"
#include "proxy/balance.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "proxy/walk.h"
#include "tls/tls.h"

/* The server that the next word names ("backend/server"), moving behind it; NULL: reported. */
static struct server *take_server(struct ctl_request *rq)
{
	const char *error = NULL;
	struct server *srv;

	srv = server_find_path(proxies_current(), rq->words[rq->at], &error);
	if (!srv)
		ctl_error(rq, "%s", error);
	else
		rq->at++;
	return srv;
}

static const char *next_word(struct ctl_request *rq)
{
	return rq->at < rq->count ? rq->words[rq->at++] : NULL;
}

/* --- weights and limits --------------------------------------------------------------------- */

static enum ctl_step get_weight(struct ctl_request *rq)
{
	struct server *srv = take_server(rq);

	if (srv)
		strbuf_printf(rq->out, "%u (initial %u)\n", server_weight(srv), srv->uweight);
	return CTL_DONE;
}

static void set_server_weight(struct ctl_request *rq, struct server *srv)
{
	const char *word = next_word(rq), *error;

	if (!word)
		ctl_error(rq, "Require <weight> or <weight%%>.");
	else if (!server_set_weight(srv, word, &error))
		ctl_error(rq, "%s", error);
}

static enum ctl_step set_weight(struct ctl_request *rq)
{
	struct server *srv = take_server(rq);

	if (srv)
		set_server_weight(rq, srv);
	return CTL_DONE;
}

static enum ctl_step set_maxconn_server(struct ctl_request *rq)
{
	struct server *srv = take_server(rq);
	const char *word, *error;

	if (!srv)
		return CTL_DONE;
	word = next_word(rq);
	if (!word)
		ctl_error(rq, "Require <maxconn>.");
	else if (!server_set_maxconn(srv, word, &error))
		ctl_error(rq, "%s", error);
	return CTL_DONE;
}

/* --- set server ----------------------------------------------------------------------------- */

static void set_state(struct ctl_request *rq, struct server *srv)
{
	const char *word = next_word(rq);

	if (word && strcmp(word, "ready") == 0) {
		server_set_admin(srv, 0, SERVER_FMAINT | SERVER_FDRAIN);
		outlier_pardon(srv);
	} else if (word && strcmp(word, "drain") == 0)
		server_set_admin(srv, SERVER_FDRAIN, SERVER_FMAINT);
	else if (word && strcmp(word, "maint") == 0)
		server_set_admin(srv, SERVER_FMAINT, SERVER_FDRAIN);
	else
		ctl_error(rq, "'set server <srv> state' expects 'ready', 'drain' and 'maint'.");
}

static void set_addr(struct ctl_request *rq, struct server *srv)
{
	const char *address = next_word(rq), *port = NULL, *word;
	char message[320];

	if (!address) {
		ctl_error(rq, "set server <b>/<s> addr requires an address and optionally a port.");
		return;
	}
	word = next_word(rq);
	if (word && strcmp(word, "port") == 0) {
		port = next_word(rq);
		if (!port)
			port = "";
	}
	if (server_set_address(srv, address, port, "stats socket command", message,
			       sizeof(message)))
		ctl_tell(rq, CTL_WARNING, "%s", message);
	else
		ctl_error(rq, "%s", message);
}

static void set_fqdn(struct ctl_request *rq, struct server *srv)
{
	const char *name = next_word(rq);
	char message[600];

	if (!name)
		ctl_error(rq, "set server <b>/<s> fqdn requires a FQDN.");
	else if (resolve_set_name(srv, name, message, sizeof(message)))
		ctl_say(rq, "%s", message);
	else
		ctl_error(rq, "%s", message);
}

/* --- checks and agents ---------------------------------------------------------------------- */

/* Configured, and not disabled by a command. */
static bool has_check(const struct server *srv, bool agent)
{
	return check_flags_of(agent ? &srv->state->agent : &srv->state->check) & CHECK_ENABLED;
}

/* A script that sets the address of each server's check meets servers without one: no error. */
static bool needs_check(struct ctl_request *rq, const struct server *srv, bool agent)
{
	if (has_check(srv, agent))
		return true;
	ctl_tell(rq, CTL_WARNING, "%s checks are not enabled on this server",
		 agent ? "agent" : "health");
	return false;
}

static void set_agent(struct ctl_request *rq, struct server *srv)
{
	const char *word = next_word(rq);

	if (!has_check(srv, true))
		ctl_error(rq, "agent checks are not enabled on this server.");
	else if (word && strcmp(word, "up") == 0)
		check_force_agent(srv, true, SERVER_BY_CLI);
	else if (word && strcmp(word, "down") == 0)
		check_force_agent(srv, false, SERVER_BY_CLI);
	else
		ctl_error(rq, "'set server <srv> agent' expects 'up' or 'down'.");
}

static void set_agent_send(struct ctl_request *rq, struct server *srv)
{
	const char *word = next_word(rq);

	if (!has_check(srv, true))
		ctl_error(rq, "agent checks are not enabled on this server.");
	else if (!check_set_send(srv, word ? word : ""))
		ctl_error(rq, "cannot allocate memory for new string.");
}

/* "check-addr" and "agent-addr": <addr> [port <port>] */
static void set_check_addr(struct ctl_request *rq, struct server *srv)
{
	bool agent = rq->words[rq->at - 1][0] == 'a';
	const char *what = rq->words[rq->at - 1], *addr = next_word(rq), *port = NULL, *word;
	char message[160];

	if (!addr) {
		ctl_error(rq, "set server <b>/<s> %s requires an address and optionally a port.",
			  what);
		return;
	}
	if (!needs_check(rq, srv, agent))
		return;
	word = next_word(rq);
	if (word && strcmp(word, "port") == 0) {
		port = next_word(rq);
		if (!port)
			port = "";
	}
	if (!check_set_address(srv, agent, addr, port, message, sizeof(message)))
		ctl_error(rq, "%s", message);
}

static void set_check_port(struct ctl_request *rq, struct server *srv)
{
	bool agent = rq->words[rq->at - 1][0] == 'a';
	const char *what = rq->words[rq->at - 1], *port = next_word(rq);
	char message[160];

	if (!port)
		ctl_error(rq, "set server <b>/<s> %s requires a port.", what);
	else if (needs_check(rq, srv, agent) &&
		 !check_set_address(srv, agent, NULL, port, message, sizeof(message)))
		ctl_error(rq, "%s", message);
}

static void set_health(struct ctl_request *rq, struct server *srv)
{
	static const char *const words[] = { "up", "stopping", "down" };
	const char *word = next_word(rq);

	if (srv->checks.track) {
		ctl_error(rq, "cannot change health on a tracking server.");
		return;
	}
	for (int i = 0; word && i < 3; i++)
		if (strcmp(word, words[i]) == 0) {
			check_force_health(srv, i, SERVER_BY_CLI);
			return;
		}
	ctl_error(rq, "'set server <srv> health' expects 'up', 'stopping', or 'down'.");
}

static void set_ssl(struct ctl_request *rq, struct server *srv)
{
	const char *word = next_word(rq);

	if (srv->life.is_dynamic)
		ctl_error(rq, "'set server <srv> ssl' not supported on dynamic servers");
	else if (!tls_server_may_switch(server_slots(srv)))
		ctl_error(rq, "'set server <srv> ssl' cannot be set.  default-server should define "
			  "ssl settings");
	else if (!word || (strcmp(word, "on") != 0 && strcmp(word, "off") != 0))
		ctl_error(rq, "'set server <srv> ssl' expects 'on' or 'off'.");
	else if (tls_server_switch(server_slots(srv), strcmp(word, "on") == 0))
		ctl_tell(rq, CTL_NOTICE, "server ssl setting updated.");
}

static enum ctl_step set_server(struct ctl_request *rq)
{
	static const struct {
		const char *word;
		void (*run)(struct ctl_request *rq, struct server *srv);
	} actions[] = {
		{ "state", set_state }, { "weight", set_server_weight }, { "addr", set_addr },
		{ "fqdn", set_fqdn }, { "agent", set_agent }, { "agent-addr", set_check_addr },
		{ "agent-port", set_check_port }, { "agent-send", set_agent_send },
		{ "health", set_health }, { "check-addr", set_check_addr },
		{ "check-port", set_check_port }, { "ssl", set_ssl },
	};
	struct server *srv = take_server(rq);
	const char *word;

	if (!srv)
		return CTL_DONE;
	word = next_word(rq);
	for (unsigned i = 0; word && i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strcmp(word, actions[i].word) == 0) {
			actions[i].run(rq, srv);
			return CTL_DONE;
		}
	ctl_error(rq, "usage: set server <backend>/<server> addr | agent | agent-addr | "
		  "agent-port | agent-send | check-addr | check-port | fqdn | health | ssl | "
		  "state | weight");
	return CTL_DONE;
}

static enum ctl_step enable_server(struct ctl_request *rq)
{
	struct server *srv = take_server(rq);

	if (srv) {
		server_set_admin(srv, 0, SERVER_FMAINT | SERVER_FDRAIN);
		outlier_pardon(srv);
	}
	return CTL_DONE;
}

static enum ctl_step disable_server(struct ctl_request *rq)
{
	struct server *srv = take_server(rq);

	if (srv)
		server_set_admin(srv, SERVER_FMAINT, SERVER_FDRAIN);
	return CTL_DONE;
}

/* enable|disable health|agent */
static enum ctl_step server_switch_check(struct ctl_request *rq)
{
	bool on = rq->words[0][0] == 'e', agent = rq->words[1][0] == 'a';
	struct server *srv = take_server(rq);

	if (srv && !check_enable(srv, agent, on))
		ctl_error(rq, "%s was not configured on this server, cannot enable.",
			  agent ? "Agent" : "Health check");
	return CTL_DONE;
}

/* --- show servers --------------------------------------------------------------------------- */

/* Where a dump stands: among the proxies, and among the servers of one of them. */
struct servers_dump {
	struct proxy_walk proxies;
	const struct server *last;  /* of proxies.at; NULL: none yet */
};

/* False: reported. */
static bool begin_dump(struct ctl_request *rq)
{
	const char *name = next_word(rq);
	struct servers_dump *d = proxy_walk_begin(rq, sizeof(*d));

	if (!d || !name)
		return d != NULL;
	d->proxies.at = proxy_find(d->proxies.config, name, PROXY_BE);
	d->proxies.only = d->proxies.at;
	if (!d->proxies.at)
		ctl_error(rq, "Can't find backend.");
	return d->proxies.at != NULL;
}

static int server_port(const struct server_addr *addr)
{
	return address_port((const struct sockaddr *)&addr->sa);
}

/* The address and port of a check that differ from the server's: "-" and 0 when they do not. */
static int check_port_of(const struct check_conf *conf, const struct check_state *cs)
{
	int port = __atomic_load_n(&cs->port, __ATOMIC_RELAXED);

	return port ? port : conf->port;
}

static const char *check_addr_text(const struct check_conf *conf, const struct check_state *cs,
				   char *ip, size_t size)
{
	if (cs->addr.sin6_family != AF_UNSPEC)
		return address_ip_text((const struct sockaddr *)&cs->addr, ip, size);
	return conf->addr ? address_ip_text(conf->addr, ip, size) : "-";
}

static void print_checks(struct strbuf *out, const struct server *srv, int port, uint32_t anon)
{
	const struct check_state *check = &srv->state->check, *agent = &srv->state->agent;
	const struct server_checks *conf = &srv->checks;
	char ip[64], agent_ip[64], hidden[CTL_HIDE_MAX], agent_hidden[CTL_HIDE_MAX];
	char service[CTL_HIDE_MAX];
	const char *addr = check_addr_text(&conf->health, check, ip, sizeof(ip));
	const char *agent_addr = check_addr_text(&conf->agent, agent, agent_ip, sizeof(agent_ip));

	strbuf_printf(out, "%d %s %d %d %s %s %d\n", port,
		      srv->resolve.service ? ctl_hide(anon, srv->resolve.service, service) : "-",
		      tls_server_is_on(server_slots(srv)),
		      check_port_of(&conf->health, check), ctl_hide_ip(anon, addr, hidden),
		      ctl_hide_ip(anon, agent_addr, agent_hidden),
		      check_port_of(&conf->agent, agent));
}

/* It is checked, a state file has told what checks had found, or, as HAProxy has it, it was made
 * after a `default-server`.
 */
static bool has_health(const struct server *srv)
{
	return srv->checks.health.on || srv->proxy->dflt.server ||
	       __atomic_load_n(&srv->state->check.outcome, __ATOMIC_RELAXED) != CHECK_RES_UNKNOWN;
}

/* The columns of version 1. */
static void print_state(struct strbuf *out, const struct server *srv, uint32_t anon)
{
	const struct proxy *be = srv->proxy;
	struct server_state *st = srv->state;
	uint64_t changed = __atomic_load_n(&st->changed_us, __ATOMIC_RELAXED);
	uint64_t now = clock_read_wall_us();
	unsigned admin = __atomic_load_n(&st->admin, __ATOMIC_RELAXED);
	struct server_addr addr;
	char ip[64], name[256], hidden[4][CTL_HIDE_MAX];
	const char *text;
	bool no_port;

	server_address(srv, &addr);
	resolve_name(srv, name, sizeof(name));
	no_port = addr.sa.ss_family == AF_UNIX ||
		  (srv->resolve.service && strcmp(name, "-") == 0);
	text = addr.sa.ss_family == AF_UNIX || admin & SERVER_RMAINT
	       ? "-" : address_ip_text((struct sockaddr *)&addr.sa, ip, sizeof(ip));
	strbuf_printf(out, "%d %s %d %s %s %u %u %u %u %llu %u %u %d %u %u %d %d %s ",
		      be->id, ctl_hide(anon, be->name, hidden[0]), srv->id,
		      ctl_hide(anon, srv->name, hidden[1]), ctl_hide_ip(anon, text, hidden[2]),
		      __atomic_load_n(&st->oper, __ATOMIC_RELAXED), admin, server_weight(srv),
		      srv->uweight,
		      (unsigned long long)(now > changed ? (now - changed) / 1000000 : 0),
		      __atomic_load_n(&st->check.status, __ATOMIC_RELAXED),
		      __atomic_load_n(&st->check.outcome, __ATOMIC_RELAXED),
		      has_health(srv) ? check_health_of(&st->check) : 0,
		      check_flags_of(&st->check),
		      check_flags_of(&st->agent), be->id_forced, srv->id_forced,
		      strcmp(name, "-") == 0 ? name : ctl_hide(anon, name, hidden[3]));
	print_checks(out, srv, no_port ? 0 : server_port(&addr), anon);
}

static void print_conn(struct strbuf *out, const struct server *srv, uint32_t anon)
{
	struct server_conn_figures f;
	const struct counter_set *set = &srv->state->counters;
	unsigned threads = thread_count(), admin;
	struct server_addr addr;
	char ip[64], hidden[3][CTL_HIDE_MAX];
	const char *text;

	server_address(srv, &addr);
	admin = __atomic_load_n(&srv->state->admin, __ATOMIC_RELAXED);
	text = addr.sa.ss_family == AF_UNIX || admin & SERVER_RMAINT
	       ? "-" : address_ip_text((struct sockaddr *)&addr.sa, ip, sizeof(ip));
	server_conn_figures(srv, 0, &f);
	strbuf_printf(out, "%s/%s %d/%d %s %d - %lld %llu %llu %u %u %llu %llu %llu %lld %llu",
		      ctl_hide(anon, srv->proxy->name, hidden[0]),
		      ctl_hide(anon, srv->name, hidden[1]), srv->proxy->id, srv->id,
		      ctl_hide_ip(anon, text, hidden[2]),
		      server_port(&addr), (long long)srv->idle.purge_delay_ms,
		      (unsigned long long)counter_read(set, CNT_SESS_CUR),
		      (unsigned long long)counter_read(set, CNT_USED_CUR), f.most_used, f.needed,
		      (unsigned long long)counter_read(set, CNT_PRIVATE_CUR),
		      (unsigned long long)counter_read(set, CNT_IDLE_CUR),
		      (unsigned long long)counter_read(set, CNT_SAFE_CUR),
		      (long long)srv->pool.max_conn,
		      (unsigned long long)(counter_read(set, CNT_IDLE_CUR) +
					   counter_read(set, CNT_SAFE_CUR)));
	for (unsigned t = 0; t < threads; t++) {
		server_conn_figures(srv, t, &f);
		strbuf_printf(out, " %u", f.idle);
	}
	strbuf_add_char(out, '\n');
}

static enum ctl_step dump_servers(struct ctl_request *rq,
				  void (*print)(struct strbuf *out, const struct server *srv,
						uint32_t anon))
{
	struct servers_dump *d = rq->state;

	for (; d->proxies.at; d->proxies.at = d->proxies.only ? NULL : proxy_next(d->proxies.at)) {
		const struct server *srv;

		if (!(d->proxies.at->caps & PROXY_BE))
			continue;
		while ((srv = d->last ? server_next(d->last) : server_first(d->proxies.at))) {
			if (ctl_is_due(rq))
				return CTL_MORE;
			print(rq->out, srv, ctl_anon_key(rq));
			d->last = srv;
		}
		d->last = NULL;
	}
	return CTL_DONE;
}

static enum ctl_step show_servers_state(struct ctl_request *rq)
{
	if (!rq->state) {
		if (!begin_dump(rq))
			return CTL_DONE;
		strbuf_add_str(rq->out, "1\n# be_id be_name srv_id srv_name srv_addr srv_op_state "
			"srv_admin_state srv_uweight srv_iweight srv_time_since_last_change "
			"srv_check_status srv_check_result srv_check_health srv_check_state "
			"srv_agent_state bk_f_forced_id srv_f_forced_id srv_fqdn srv_port "
			"srvrecord srv_use_ssl srv_check_port srv_check_addr srv_agent_addr "
			"srv_agent_port\n");
	}
	return dump_servers(rq, print_state);
}

static enum ctl_step show_servers_conn(struct ctl_request *rq)
{
	if (!rq->state) {
		if (!begin_dump(rq))
			return CTL_DONE;
		strbuf_printf(rq->out, "# bkname/svname bkid/svid addr port - purge_delay served "
			      "used_cur used_max need_est idle_sess unsafe_nb safe_nb idle_lim "
			      "idle_cur idle_per_thr[%u]\n", thread_count());
	}
	return dump_servers(rq, print_conn);
}

static const struct ctl_command commands[] = {
	{ .words = "get weight", .level = CTL_USER, .syntax = "<bk>/<srv>",
	  .help = "report a server's current weight", .run = get_weight },
	{ .words = "set weight", .level = CTL_ADMIN, .syntax = "<bk>/<srv>",
	  .help = "change a server's weight", .run = set_weight },
	{ .words = "set maxconn server", .level = CTL_ADMIN, .syntax = "<bk>/<srv>",
	  .help = "change a server's maxconn setting", .run = set_maxconn_server },
	{ .words = "set server", .level = CTL_ADMIN, .syntax = "<bk>/<srv> [opts]",
	  .help = "change a server's state, weight, address", .run = set_server },
	{ .words = "enable server", .level = CTL_ADMIN, .syntax = "<bk>/<srv>",
	  .help = "enable a disabled server", .run = enable_server },
	{ .words = "disable server", .level = CTL_ADMIN, .syntax = "<bk>/<srv>",
	  .help = "disable a server for maintenance", .run = disable_server },
	{ .words = "enable health", .level = CTL_ADMIN, .syntax = "<bk>/<srv>",
	  .help = "enable health checks", .run = server_switch_check },
	{ .words = "disable health", .level = CTL_ADMIN, .syntax = "<bk>/<srv>",
	  .help = "disable health checks", .run = server_switch_check },
	{ .words = "enable agent", .level = CTL_ADMIN, .syntax = "<bk>/<srv>",
	  .help = "enable agent checks", .run = server_switch_check },
	{ .words = "disable agent", .level = CTL_ADMIN, .syntax = "<bk>/<srv>",
	  .help = "disable agent checks", .run = server_switch_check },
	{ .words = "show servers state", .syntax = "[<backend>]",
	  .help = "dump volatile server information", .run = show_servers_state,
	  .release = proxy_walk_release },
	{ .words = "show servers conn", .syntax = "[<backend>]",
	  .help = "dump server connections status", .run = show_servers_conn,
	  .release = proxy_walk_release },
	{ 0 }
};

const struct module mod_server_ctl = {
	.name = "server_ctl",
	.commands = commands,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peers_conf.c - edge file: sections peers
 *
 * Manual: configuration 11.2, 5.2 shard, 3.2 tune.peers.max-updates-at-once
 */
#include <stdlib.h>
#include <string.h>
#include "dns/resolvers.h"
#include "ext/peers.h"
#include "log/log.h"
#include "proxy/modules.h"
#include "tls/tls.h"
#include "peers_priv.h"

/* --- the section ------------------------------------------------------------------------------ */

static struct peers_conf *section_named(const struct config *cfg, const char *name)
{
	struct peers_conf *c = peers_config_of(cfg)->first;

	while (c && strcmp(c->proxy->name, name) != 0)
		c = c->next;
	return c;
}

static struct peers_conf *section_of(const struct conf_line *l)
{
	struct peers_conf *c = peers_config_of(l->cfg)->first;

	while (c && c->proxy != l->object)
		c = c->next;
	return c;
}

static bool name_is_good(struct conf_line *l, const char *name)
{
	char bad = conf_name_bad_char(name);

	return !bad || conf_error(l, 1, NULL, "character '%c' is not permitted in '%s' name "
					"'%s'.", bad, l->words[0], name);
}

static bool section_open(struct conf_line *l)
{
	const char *name = conf_next(l);
	struct peers_conf *c;

	if (!name || !*name)
		return conf_error(l, 0, NULL, "missing name for peers section.");
	if (!name_is_good(l, name))
		return false;
	c = section_named(l->cfg, name);
	if (c)
		return conf_error(l, 1, NULL, "peers section '%s' has the same name as another "
				  "peers section declared at %s:%d.", name, c->proxy->file,
				  c->proxy->line);
	c = arena_zalloc(&l->cfg->arena, sizeof(*c));
	if (c)
		c->proxy = proxy_new(l->cfg, name, PROXY_FE | PROXY_BE, NULL);
	if (!c || !c->proxy)
		return conf_error(l, 0, NULL, "out of memory.");
	c->config = l->cfg;
	c->proxy->file = conf_strdup(l->cfg, l->place.file ? l->place.file : "");
	c->proxy->line = l->place.line;
	c->proxy->mode = PROXY_MODE_TCP;
	c->local = conf_getenv(l->cfg, "HAPROXY_LOCALPEER");
	c->local = conf_strdup(l->cfg, c->local ? c->local : "localhost");
	if (!c->proxy->file || !c->local)
		return conf_error(l, 0, NULL, "out of memory.");
	c->next = peers_config_of(l->cfg)->first;
	peers_config_of(l->cfg)->first = c;
	l->object = c->proxy;
	l->slots = proxy_slots(c->proxy);
	return conf_take_end(l);
}

/* --- where we are met ------------------------------------------------------------------------- */

/* The section's one bind line. NULL: reported. */
static struct bind_conf *bind_of(struct conf_line *l, struct peers_conf *c)
{
	if (c->bind)
		return c->bind;
	c->bind = bind_conf_new(l->cfg);
	if (!c->bind) {
		conf_error(l, 0, NULL, "out of memory.");
		return NULL;
	}
	c->bind->proxy = c->proxy;
	list_append(&c->proxy->binds, &c->bind->link);
	return c->bind;
}

/* `bind`, or the address of the local peer's line. */
static bool add_listener(struct conf_line *l, struct peers_conf *c)
{
	struct bind_conf *b = bind_of(l, c);

	if (!b)
		return false;
	if (c->bind_word && strcmp(c->bind_word, l->words[0]) != 0)
		return conf_error(l, 0, "all in 'peer' lines, or 'bind' and 'server' lines",
				  "mixing \"peer\" and \"bind\" line is forbidden");
	if (!list_is_empty(&b->listeners))
		return conf_error(l, 0, NULL, "One listener per \"peers\" section is authorized "
				  "but another is already configured at [%s:%d].", b->file,
				  b->line);
	c->bind_word = l->words[0];
	if (!bind_conf_parse(l, b))
		return false;
	if (b->options & (BIND_ACCEPT_PROXY | BIND_ACCEPT_CIP))
		return conf_error(l, 0, NULL, "PROXY and NetScaler headers are not supported in "
				  "peers sections.");
	return b->listeners.next == b->listeners.prev ||
	       conf_error(l, 1, NULL, "Only one listener per \"peers\" section is authorized. "
			  "Multiple listening addresses or port range are not supported.");
}

static bool parse_bind(struct conf_line *l)
{
	return conf_peek(l) ? add_listener(l, section_of(l))
		: conf_error(l, 0, NULL, "'bind' expects an address: <address>:<port>.");
}

static bool parse_default_bind(struct conf_line *l)
{
	struct bind_conf *b = bind_of(l, section_of(l));

	return b && conf_take_options(l, CONF_BIND, b, bind_slots(b));
}

/* --- peers ------------------------------------------------------------------------------------ */

/* Parses the line as the keyword <word> of a backend. */
static bool parse_as_server(struct conf_line *l, const char *word)
{
	const struct conf_keyword *k = mod_server.keywords;

	while (strcmp(k->words, word) != 0 || !(k->where & CONF_BE))
		k++;
	return k->parse(l);
}

/* As a server's line with another <word> before the <at>th. NULL: reported. */
static struct server *parse_with_word(struct conf_line *l, struct peers_conf *c, int at,
				      const char *word)
{
	char **words = arena_alloc(&l->cfg->arena, (size_t)(l->count + 2) * sizeof(char *));
	int *columns = arena_alloc(&l->cfg->arena, (size_t)(l->count + 2) * sizeof(int));
	struct conf_line line = *l;

	if (!words || !columns) {
		conf_error(l, 0, NULL, "out of memory.");
		return NULL;
	}
	for (int i = 0, to = 0; i <= l->count; i++, to++) {
		if (i == at) {
			words[to] = (char *)(uintptr_t)word;
			columns[to++] = l->columns[1];
		}
		words[to] = l->words[i];
		columns[to] = i < l->count ? l->columns[i] : 0;
	}
	line.words = words;
	line.columns = columns;
	line.count = l->count + 1;
	l->at = l->count;
	return parse_as_server(&line, "server")
		? list_entry(c->proxy->servers.prev, struct server, link) : NULL;
}

/* "server <local name> [options]": as if it had an address, which stands on the bind line. */
static bool add_addressless(struct conf_line *l, struct peers_conf *c)
{
	struct server *srv = parse_with_word(l, c, 2, "127.0.0.1:1");

	if (!srv)
		return false;
	srv->at.sa = NULL;
	srv->at.len = 0;
	return true;
}

/* "peer <local name> <address>": that is where we listen. */
static bool add_local(struct conf_line *l, struct peers_conf *c)
{
	struct conf_line line = *l;
	bool is_peer = strcmp(l->words[0], "peer") == 0;

	if (c->has_local)
		return conf_error(l, 1, NULL, "'%s %s' : local peer name already referenced at "
				  "%s:%d.", l->words[0], c->local, c->proxy->file, c->local_line);
	c->has_local = true;
	c->local_line = l->place.line;
	if (!is_peer && l->count > 2 && strpbrk(l->words[2], ":/"))
		return conf_error(l, 2, "the address of this process stands on a 'bind' line",
				  "'server %s/%s' : no address was expected for this server.",
				  c->proxy->name, c->local);
	if (!is_peer)
		return add_addressless(l, c);
	line.at = 2;
	line.count = 3;
	return add_listener(&line, c) && parse_as_server(l, "server");
}

static bool parse_peer(struct conf_line *l)
{
	struct peers_conf *c = section_of(l);
	const char *name = conf_peek(l);
	const struct server *srv;

	if (!name)
		return conf_error(l, 0, NULL, "'%s' expects a name.", l->words[0]);
	if (l->count < 3 && (strcmp(l->words[0], "peer") == 0 || strcmp(name, c->local) != 0)) {
		l->at = l->count;
		conf_warn(l, 1, NULL, "'%s %s' : ignoring invalid peer definition (missing "
			  "address:port)", l->words[0], name);
		return true;
	}
	if (strcmp(name, c->local) == 0)
		return add_local(l, c);
	if (!parse_as_server(l, "server"))
		return false;
	srv = list_entry(c->proxy->servers.prev, struct server, link);
	if (srv->checks.health.on || srv->checks.agent.on || srv->resolve.resolvers_name ||
	    srv->resolve.method_count)
		conf_warn(l, 1, NULL, "'%s %s' : init_addr, resolvers, check and agent are "
			  "ignored for peers.", l->words[0], name);
	return true;
}

/* Adds the process itself: its successor finds it at the address of the bind line. */
static bool add_self(struct conf_line *l, struct peers_conf *c)
{
	char *words[] = { (char *)(uintptr_t)"server", (char *)(uintptr_t)c->local, NULL };
	struct conf_line line = *l;

	if (c->has_local)
		return true;
	c->has_local = true;
	c->local_line = l->place.line;
	line.words = words;
	line.count = 2;
	return add_addressless(&line, c);
}

/* "peer-template <name>:<port> resolvers <section> [options]": as if it were called so. */
static bool parse_template(struct conf_line *l)
{
	struct peers_conf *c = section_of(l);
	const char *name = conf_peek(l);
	struct server *srv;

	if (!name)
		return conf_error(l, 0, NULL, "'%s' expects a name and a port: <name>:<port>.",
				  l->words[0]);
	if (c->template)
		return conf_error(l, 0, NULL, "'%s' : another one is already there (%s:%d).",
				  l->words[0], c->template->place.file, c->template->place.line);
	srv = parse_with_word(l, c, 1, name);
	if (!srv)
		return false;
	c->template = srv;
	if (!add_self(l, c))
		return false;
	if (!srv->at.hostname)
		return conf_error(l, 1, srv->resolve.service
				  ? "ask for addresses: services (SRV) are not supported here"
				  : "for a known address, write a 'peer' line",
				  "'%s' expects a name, but got '%s'.", l->words[0], name);
	if (srv->port_is_mapped)
		return conf_error(l, 1, NULL, "'%s %s' : missing port.", l->words[0], name);
	return srv->resolve.resolvers_name ||
	       conf_error(l, 1, "add 'resolvers <section>'", "'%s %s' : no resolvers section for "
			  "the name.", l->words[0], name);
}

static bool parse_default_server(struct conf_line *l)
{
	return parse_as_server(l, "default-server");
}

/* --- other lines ------------------------------------------------------------------------------ */

/* keyword->min: disabled */
static bool parse_switch(struct conf_line *l)
{
	section_of(l)->disabled = l->keyword->min;
	return conf_take_end(l);
}

static bool parse_shards(struct conf_line *l)
{
	int64_t n;

	if (!conf_take_int(l, 1, INT32_MAX, &n))
		return false;
	section_of(l)->shards = (unsigned)n;
	return conf_take_end(l);
}

static bool parse_shard(struct conf_line *l)
{
	int64_t n;

	if (!conf_take_int(l, 0, INT32_MAX, &n))
		return false;
	*(int *)slot_of(&peers_server_slot, l->slots) = (int)n;
	return true;
}

/* --- check ------------------------------------------------------------------------------------ */

static const struct diag_place nowhere = { .form = DIAG_BARE };

static bool is_whole(const struct peers_conf *c)
{
	return c->has_local;
}

/* The section that a table names, if it works. */
static struct peers_conf *section_of_table(struct config *cfg, const struct table *t,
					   struct diag_list *diags)
{
	struct peers_conf *c = section_named(cfg, t->peers);

	if (!c)
		diag_add(diags, DIAG_ALERT, &nowhere, NULL, "Proxy '%s': unable to find sync peers "
			 "'%s'.", t->owner_name, t->peers);
	else if (!is_whole(c) && list_is_empty(&c->proxy->servers))
		diag_add(diags, DIAG_ALERT, &nowhere, NULL, "Proxy '%s': unable to find local peer "
			 "'%s' in peers section '%s'.", t->owner_name, c->local, t->peers);
	return c && is_whole(c) && !c->disabled ? c : NULL;
}

static void check_tables(struct config *cfg, struct diag_list *diags)
{
	for (struct table *t = tables_first(cfg); t; t = t->next) {
		struct peers_conf *c = t->peers ? section_of_table(cfg, t, diags) : NULL;

		if (!c) {
			t->peers = NULL;
			continue;
		}
		t->shards = c->shards;
	}
}

static void check_shard(const struct peers_conf *c, const struct server *srv,
			struct diag_list *diags)
{
	int shard = *(int *)slot_of(&peers_server_slot, server_slots(srv));
	struct diag_place place = { .file = srv->place.file, .line = srv->place.line };

	if (shard && peers_is_local(c, srv))
		diag_add(diags, DIAG_WARNING, &place, NULL, "Peers section '%s': shard ignored for "
			 "'%s' local peer", c->proxy->name, srv->name);
	else if (shard && (unsigned)shard > c->shards)
		diag_add(diags, DIAG_WARNING, &place, NULL, "Peers section '%s': shard %d of '%s' "
			 "is greater than the number of shards (%u): it gets all keys.",
			 c->proxy->name, shard, srv->name, c->shards);
}

/* A process that takes over from this one is reached at our own address. */
static void complete_local(struct peers_conf *c, struct server *srv)
{
	const struct listener_conf *a;

	if (srv->at.sa || !c->bind || list_is_empty(&c->bind->listeners))
		return;
	a = list_first(&c->bind->listeners, struct listener_conf, link);
	if (a->inherited_fd < 0)
		server_set_line_address(srv, (const struct sockaddr *)&a->address,
					a->address_len);
}

static void check_template(struct config *cfg, struct peers_conf *c, struct diag_list *diags)
{
	struct server *srv = c->template;
	struct diag_place place = { .file = srv->place.file, .line = srv->place.line };

	srv->resolve.resolvers = resolvers_find(cfg, srv->resolve.resolvers_name);
	if (!srv->resolve.resolvers)
		diag_add(diags, DIAG_ALERT, &place, NULL, "Peers section '%s': there is no section "
			 "'resolvers %s'.", c->proxy->name, srv->resolve.resolvers_name);
	if (!peers_listens_at(c))
		diag_add(diags, DIAG_ALERT, &place, "add 'bind :<port>'", "Peers section '%s': "
			 "'peer-template' needs a 'bind' line, for all members are met at the same "
			 "port.", c->proxy->name);
}

static void check_peer(struct config *cfg, struct peers_conf *c, struct server *srv,
			 struct diag_list *diags)
{
	struct tls_place where = {
		c->proxy->name, srv->name, srv->place.file, srv->place.line, slice_none(),
	};
	struct diag_place place = { .file = srv->place.file, .line = srv->place.line };
	bool is_secure = tls_server_is_on(server_slots(srv));

	if (is_secure)
		tls_server_check(cfg, server_slots(srv), &where, diags);
	if (srv == c->template)
		check_template(cfg, c, diags);
	else if (srv->at.hostname || srv->resolve.service)
		server_resolve_once(cfg, srv, diags);
	check_shard(c, srv, diags);
	server_sends_no_header(srv, diags);
	if (!peers_is_local(c, srv))
		return;
	complete_local(c, srv);
	if (is_secure && c->bind && !tls_bind_is_on(bind_slots(c->bind)))
		diag_add(diags, DIAG_WARNING, &place, NULL, "Peers section '%s': the line of the "
			 "local peer has 'ssl', but it listens without: its successor cannot be "
			 "taught.", c->proxy->name);
}

static void check_section(struct config *cfg, struct peers_conf *c, struct diag_list *diags)
{
	struct server *srv;

	if (c->bind && tls_bind_is_on(bind_slots(c->bind)) && !list_is_empty(&c->bind->listeners)) {
		struct tls_place where = { c->proxy->name, c->bind->text, c->bind->file,
					   c->bind->line, slice_none() };

		tls_bind_check(cfg, bind_slots(c->bind), &where, diags);
	}
	list_for_each(srv, &c->proxy->servers, link)
		check_peer(cfg, c, srv, diags);
	if (!is_whole(c) && !list_is_empty(&c->proxy->servers))
		diag_add(diags, DIAG_WARNING, &nowhere, NULL, "Removing incomplete section 'peers "
			 "%s' (no peer named '%s').", c->proxy->name, c->local);
	c->is_used = is_whole(c) && !c->disabled;
}

static void sections_check(struct config *cfg, struct diag_list *diags)
{
	for (struct peers_conf *c = peers_config_of(cfg)->first; c; c = c->next)
		check_section(cfg, c, diags);
	check_tables(cfg, diags);
}

/* --- life ------------------------------------------------------------------------------------- */

static bool sections_start(struct config *cfg, struct diag_list *diags)
{
	for (struct peers_conf *c = peers_config_of(cfg)->first; c; c = c->next) {
		c->run = c->is_used ? peers_run_of(c->proxy->name) : NULL;
		if (c->run || !c->is_used)
			continue;
		diag_add(diags, DIAG_ALERT, NULL, NULL, "out of memory for peers section '%s'.",
			 c->proxy->name);
		return false;
	}
	return peers_listen_open(cfg, proxies_current(), diags);
}

static void sections_adopt(struct config *next, struct config *prev)
{
	if (!resolvers_begin(next, prev))
		diag_say(DIAG_WARNING, "out of memory: peers are not looked for by their name.");
	for (struct peers *p = peers_next(NULL); p; p = peers_next(p)) {
		struct peers_conf *c = section_named(next, p->name);

		if (c && !c->run)
			c = NULL;
		if (!peers_follow_names(p, c) ||
		    !peers_order(p, c, c ? config_take(next) : NULL, false))
			diag_say(DIAG_WARNING, "out of memory: peers section '%s' goes on as "
				 "before.", p->name);
	}
}

static void sections_retire(struct config *prev)
{
	for (struct peers_conf *c = peers_config_of(prev)->first; c; c = c->next)
		peers_listen_close(c);
}

#define PEERS .where = CONF_OTHER, .section = "peers", .max_args = -1

static const struct conf_keyword keywords[] = {
	{ .words = "peer", PEERS, .parse = parse_peer,
	  .syntax = "<name> <address>:<port> [<options>]",
	  .help = "a process of the group; this one listens at its address" },
	{ .words = "server", PEERS, .parse = parse_peer,
	  .syntax = "<name> [<address>:<port>] [<options>]",
	  .help = "the same; this process listens where 'bind' says" },
	{ .words = "peer-template", PEERS, .parse = parse_template,
	  .syntax = "<name>:<port> resolvers <section> [<options>]",
	  .help = "all processes that a name stands for (an extension)" },
	{ .words = "default-server", PEERS, .parse = parse_default_server,
	  .syntax = "[<options>]", .help = "options of the lines that follow" },
	{ .words = "bind", PEERS, .parse = parse_bind, .syntax = "<address>:<port> [<options>]",
	  .help = "where this process is met" },
	{ .words = "default-bind", PEERS, .parse = parse_default_bind, .syntax = "[<options>]",
	  .help = "options of that" },
	{ .words = "disabled", PEERS, .parse = parse_switch, .min = 1,
	  .help = "nothing is shared, but tables are kept" },
	{ .words = "enabled", PEERS, .parse = parse_switch,
	  .help = "takes 'disabled' back" },
	{ .words = "log", PEERS, .flags = CONF_CAN_NO, .parse = log_line_parse,
	  .syntax = "{global | <target> [len <length>] [format <format>] [sample <ranges>:<size>] "
		    "<facility> [<level> [<minimum level>]]}",
	  .help = "where peers that come, go or fail are logged" },
	{ .words = "shards", PEERS, .parse = parse_shards, .syntax = "<number>",
	  .help = "parts of the keys, each for the peers of its 'shard'" },
	{ .words = "shard", .where = CONF_SERVER, .min_args = 1, .max_args = 1,
	  .parse = parse_shard, .syntax = "<number>",
	  .help = "of a peer: which part of the keys it gets" },
	{ .words = "tune.peers.max-updates-at-once", .where = CONF_GLOBAL, .min_args = 1,
	  .max_args = 1, .type = CONF_INT, .slot = &peers_config_slot,
	  .offset = offsetof(struct peers_config, max_updates), .min = 1, .max = INT32_MAX,
	  .syntax = "<number>", .help = "entries that are made into messages between two sends" },
	{ 0 }
};

static const struct conf_section sections[] = {
	{ .name = "peers", .where = CONF_OTHER, .open = section_open, .syntax = "<name>",
	  .help = "processes that share stick tables" },
	{ 0 }
};

static struct slot *const slots[] = { &peers_config_slot, &peers_server_slot, NULL };

const struct module mod_peers = {
	.name = "peers", .sections = sections, .keywords = keywords, .slots = slots,
	.init = peers_init, .check = sections_check, .start = sections_start,
	.adopt = sections_adopt, .retire = sections_retire, .thread_init = peers_thread_init,
	.thread_fini = peers_thread_fini,
};

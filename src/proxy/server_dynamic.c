/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_dynamic.c - servers that are added and removed at run time
 *
 * The list of a backend's servers is read by every thread without a lock, forwards only. So a new
 * member is complete before the last pointer leads to it, and a removed one keeps its own pointers:
 * who stands on it finds the way on. What is removed is freed with its generation: streams that
 * have ended with it may still count and log.
 */
#include "server_dynamic_priv.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "address_priv.h"
#include "base/bug.h"
#include "conf/conf.h"
#include "lock_priv.h"
#include "proxy/balance.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "proxy/queue.h"
#include "proxy/server.h"
#include "tls/tls.h"

/* One change of a list at a time, in the whole process. */
static unsigned changing;

/* Options that a server made at run time may have: name, how many words follow. */
static const struct {
	const char *name;
	int values;
} accepted[] = {
	{ "addr", 1 }, { "agent-addr", 1 }, { "agent-check", 0 }, { "agent-inter", 1 },
	{ "agent-port", 1 }, { "agent-send", 1 }, { "backup", 0 }, { "check", 0 },
	{ "check-send-proxy", 0 }, { "cookie", 1 }, { "disabled", 0 }, { "downinter", 1 },
	{ "error-limit", 1 }, { "fall", 1 }, { "fastinter", 1 }, { "guid", 1 },
	{ "hash-key", 1 }, { "id", 1 }, { "init-state", 1 }, { "inter", 1 }, { "max-reuse", 1 },
	{ "maxconn", 1 }, { "maxqueue", 1 }, { "minconn", 1 }, { "no-agent-check", 0 },
	{ "no-backup", 0 }, { "no-check", 0 }, { "no-send-proxy", 0 }, { "no-send-proxy-v2", 0 },
	{ "no-tfo", 0 }, { "observe", 1 }, { "on-error", 1 }, { "on-marked-down", 1 },
	{ "on-marked-up", 1 }, { "pool-low-conn", 1 }, { "pool-max-conn", 1 },
	{ "pool-purge-delay", 1 }, { "port", 1 }, { "proto", 1 }, { "proxy-v2-options", 1 },
	{ "rise", 1 }, { "send-proxy", 0 }, { "send-proxy-v2", 0 }, { "slowstart", 1 },
	{ "source", 1 }, { "tcp-ut", 1 }, { "tfo", 0 }, { "weight", 1 },
};

const char *server_dynamic_option(unsigned i)
{
	return i < ARRAY_LEN(accepted) ? accepted[i].name : NULL;
}

static const struct conf_keyword *server_keyword(const char *word, unsigned where)
{
	static const struct module *const modules[] = { &mod_server, &mod_check, &mod_tls_server };

	for (unsigned i = 0; i < ARRAY_LEN(modules); i++)
		for (const struct conf_keyword *k = modules[i]->keywords; k && k->words; k++)
			if (strcmp(k->words, word) == 0 && k->where & where)
				return k;
	return NULL;
}

/* False: an option that is known, but not for such servers; *which is it. */
static bool options_are_accepted(char **words, int count, const char **which)
{
	for (int i = 3; i < count; i++) {
		unsigned a = 0;

		while (a < ARRAY_LEN(accepted) && strcmp(accepted[a].name, words[i]) != 0)
			a++;
		*which = words[i];
		if (a == ARRAY_LEN(accepted))
			return false;
		i += accepted[a].values;
	}
	return true;
}

/* What the parser said first, without the server's name that stands before it. */
static void first_message(const struct diag_list *diags, char *out, size_t size)
{
	const struct diag *d;
	const char *text;

	snprintf(out, size, "invalid server");
	list_for_each(d, &diags->diags, link) {
		text = strncmp(d->message, "'server ", 8) == 0 ? strstr(d->message, "' : ") : NULL;
		snprintf(out, size, "%s", text ? text + 4 : d->message);
		return;
	}
}

/* Parses words as a line `server`; NULL: *error was told. */
static struct server *line_parse(struct proxy *be, char **words, int count, char *error,
				 size_t size)
{
	struct diag_list diags;
	struct server *srv = NULL;
	int *columns = calloc((size_t)count + 1, sizeof(*columns));
	struct conf_line l = {
		.cfg = be->config, .diags = &diags, .words = words, .columns = columns,
		.count = count, .at = 1, .where = CONF_BACKEND, .object = be,
		.slots = proxy_slots(be), .keyword = server_keyword("server", CONF_BE),
		.section_name = be->name,
	};
	bool valid;

	if (!columns) {
		snprintf(error, size, "Out of memory.");
		return NULL;
	}
	diag_list_init(&diags);
	server_set_capture(&srv);
	valid = l.keyword->parse(&l);
	server_set_capture(NULL);
	if (!valid || !srv) {
		first_message(&diags, error, size);
		srv = NULL;
	}
	diag_list_fini(&diags);
	free(columns);
	return srv;
}

static bool id_is_free(const struct proxy *be, const struct server *self, int id)
{
	const struct server *it;

	list_for_each(it, &be->servers, link)
		if (it != self && it->id == id)
			return false;
	return true;
}

/* Behind the others, complete before anybody sees it. */
static void list_publish(struct proxy *be, struct server *srv)
{
	struct list *last = be->servers.prev;

	srv->link.next = &be->servers;
	srv->link.prev = last;
	be->servers.prev = &srv->link;
	__atomic_store_n(&last->next, &srv->link, __ATOMIC_RELEASE);
	__atomic_store_n(&be->server_count, be->server_count + 1, __ATOMIC_RELAXED);
}

/* Its own pointers stay, for those who stand on it. */
static void list_withdraw(struct proxy *be, struct server *srv)
{
	srv->link.next->prev = srv->link.prev;
	__atomic_store_n(&srv->link.prev->next, srv->link.next, __ATOMIC_RELEASE);
	__atomic_store_n(&be->server_count, be->server_count - 1, __ATOMIC_RELAXED);
}

/* It is freed with its generation. */
static void put_aside(struct proxy *be, struct server *srv)
{
	srv->removed_next = be->removed;
	be->removed = srv;
}

/* Gives a parsed server its number and its state: in maintenance. False: told. */
static bool server_begin(struct proxy *be, struct server *srv, char *error, size_t size)
{
	srv->is_dynamic = true;
	server_complete(srv);
	for (int id = 1; !srv->id_forced && !srv->id; id++)
		srv->id = id_is_free(be, srv, id) ? id : 0;
	srv->state = server_state_new(srv);
	if (!srv->state) {
		snprintf(error, size, "Out of memory.");
		return false;
	}
	srv->state->admin |= SERVER_FMAINT;
	srv->state->oper = SERVER_STOPPED;
	/* checks wait for `enable health` and `enable agent` */
	srv->state->check.flags &= ~(unsigned)(CHECK_ENABLED | CHECK_PAUSED);
	srv->state->agent.flags &= CHECK_CONFIGURED | CHECK_AGENT;
	srv->state->check.health = 0;
	return true;
}

/* With the lock held. */
static bool server_add_locked(struct proxy *be, char **words, int count, char *error, size_t size)
{
	const char *which;
	struct server *srv;
	struct address a;

	if (server_find(be, words[1])) {
		snprintf(error, size, "Already exists a server with the same name in backend.");
		return false;
	}
	if (!options_are_accepted(words, count, &which) && server_keyword(which, CONF_SERVER)) {
		snprintf(error, size, "'%s' option is not accepted for dynamic server", which);
		return false;
	}
	if (count > 2 && !address_parse(words[2], ADDRESS_UNIX | ADDRESS_OFFSET | ADDRESS_NO_NAMES,
					&a)) {
		/* asking for a name would stop this thread */
		snprintf(error, size, "invalid address '%s' (names are not resolved at run time "
			 "yet)", words[2]);
		return false;
	}
	srv = line_parse(be, words, count, error, size);
	if (!srv)
		return false;
	if (!server_begin(be, srv, error, size)) {
		server_close(srv);
		return false;
	}
	if (!balance_add(srv)) {
		snprintf(error, size, "Out of memory.");
		server_close(srv);
		return false;
	}
	if (!checks_add_server(srv)) {
		snprintf(error, size, "Out of memory.");
		balance_remove(srv);
		put_aside(be, srv);
		return false;
	}
	list_publish(be, srv);
	return true;
}

bool server_add(struct proxy *be, char **words, int count, char *error, size_t size)
{
	bool added;

	if (!balance_has_dynamic_weights(be)) {
		snprintf(error, size, "Backend must use a dynamic load balancing to support "
			 "dynamic servers.");
		return false;
	}
	lock_take(&changing);
	added = server_add_locked(be, words, count, error, size);
	lock_drop(&changing);
	return added;
}

enum server_removal server_removal_state(const struct server *srv, const char **why)
{
	const struct counter_set *set = &srv->state->counters;

	*why = "This server cannot be removed at runtime due to other configuration elements "
		"pointing to it.";
	if (srv->is_referenced)
		return SERVER_REMOVAL_NEVER;
	*why = "Only servers in maintenance mode can be deleted.";
	if (!(__atomic_load_n(&srv->state->admin, __ATOMIC_RELAXED) & SERVER_MAINT))
		return SERVER_REMOVAL_NEVER;
	*why = "Server still has connections attached to it, cannot remove it.";
	if (counter_read(set, CNT_SESS_CUR) || counter_read(set, CNT_USED_CUR) ||
	    counter_read(set, CNT_IDLE_CUR) || counter_read(set, CNT_SAFE_CUR) ||
	    queue_length_server(srv))
		return SERVER_REMOVAL_LATER;
	return SERVER_REMOVAL_NOW;
}

static server_flush_fn *flush_hook;

void server_set_flush_hook(server_flush_fn *fn)
{
	flush_hook = fn;
}

bool server_flush(struct server *srv, void (*done)(void *ctx), void *ctx)
{
	const struct counter_set *set = &srv->state->counters;
	bool any = counter_read(set, CNT_IDLE_CUR) || counter_read(set, CNT_SAFE_CUR);

	return any && flush_hook && flush_hook(srv, done, ctx);
}

bool server_remove(struct server *srv, const char **error)
{
	struct proxy *be = srv->proxy;
	bool removed = false;

	lock_take(&changing);
	*error = "No such server.";
	if (server_find(be, srv->name) == srv &&
	    server_removal_state(srv, error) == SERVER_REMOVAL_NOW) {
		list_withdraw(be, srv);
		balance_remove(srv);
		checks_remove_server(srv);
		put_aside(be, srv);
		removed = true;
	}
	lock_drop(&changing);
	return removed;
}

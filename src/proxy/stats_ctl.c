/* SPDX-License-Identifier: GPL-2.0-or-later */
/* edge file: `show stat` */
#include <stdlib.h>
#include <string.h>
#include "ctl/ctl.h"
#include "dns/resolvers.h"
#include "proxy/bind.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "proxy/stats.h"
#include "conf/conf.h"

enum stats_form { FORM_CSV, FORM_TYPED, FORM_JSON };

/* Where a dump stands. Proxies are found again by number: a reload may pass between two turns. */
struct stats_dump {
	enum stats_form form;
	bool desc, no_maint, up, started;
	const char *proxy_name; /* NULL: by number */
	int proxy_id, type, sid; /* -1: all */
	struct config *cfg;     /* counted */
	struct proxy *at;       /* of cfg */
	unsigned rows;
	struct stats_row row;
};

static void print_row(struct ctl_request *rq, struct stats_dump *d)
{
	if (d->form == FORM_CSV)
		stats_print_csv(rq->out, &d->row);
	else if (d->form == FORM_TYPED)
		stats_print_typed(rq->out, &d->row, d->desc);
	else {
		if (d->rows)
			strbuf_add_char(rq->out, ',');
		stats_print_json(rq->out, &d->row);
	}
	d->rows++;
}

/* --- which rows ----------------------------------------------------------------------------- */

static bool wants(const struct stats_dump *d, int bit, int sid)
{
	return (d->type & bit) && (d->sid < 0 || d->sid == sid);
}

static bool server_is_shown(const struct stats_dump *d, const struct server *srv)
{
	unsigned admin = __atomic_load_n(&srv->state->admin, __ATOMIC_RELAXED);

	if (d->no_maint && (admin & SERVER_MAINT))
		return false;
	return !d->up || server_is_willing(srv);
}

static void dump_proxy(struct ctl_request *rq, struct stats_dump *d, const struct proxy *px)
{
	struct listener_conf *lc;
	struct bind_conf *b;
	struct server *srv;

	if ((px->caps & PROXY_FE) && wants(d, 1, 0)) {
		stats_fill_frontend(&d->row, px);
		print_row(rq, d);
	}
	if ((px->caps & PROXY_FE) && (px->options & PROXY_OPT_SOCKET_STATS))
		list_for_each(b, &px->binds, link)
			list_for_each(lc, &b->listeners, link)
				if (wants(d, 8, lc->id)) {
					stats_fill_listener(&d->row, lc);
					print_row(rq, d);
				}
	if (!(px->caps & PROXY_BE))
		return;
	for (srv = server_first(px); srv; srv = server_next(srv))
		if (wants(d, 4, srv->id) && server_is_shown(d, srv)) {
			stats_fill_server(&d->row, srv);
			print_row(rq, d);
		}
	if (wants(d, 2, 0)) {
		stats_fill_backend(&d->row, px, d->no_maint || d->up);
		print_row(rq, d);
	}
}

/* --- the command ---------------------------------------------------------------------------- */

/* "[<iid|name> <type> <sid>] [typed|json|desc|no-maint|up]*"; false: reported. */
static bool parse_words(struct ctl_request *rq, struct stats_dump *d)
{
	int at = rq->at;

	d->type = -1;
	d->sid = -1;
	d->proxy_id = -1;
	if (rq->count - at >= 3) {
		char *end;

		d->proxy_id = (int)strtol(rq->words[at], &end, 10);
		if (*end) {
			const struct proxy *px = proxy_find(d->cfg, rq->words[at], 0);

			if (!px) {
				ctl_error(rq, "No such proxy.");
				return false;
			}
			d->proxy_id = px->id;
		}
		d->type = atoi(rq->words[at + 1]);
		d->sid = atoi(rq->words[at + 2]);
		at += 3;
	}
	for (; at < rq->count; at++) {
		if (strcmp(rq->words[at], "typed") == 0)
			d->form = FORM_TYPED;
		else if (strcmp(rq->words[at], "json") == 0)
			d->form = FORM_JSON;
		else if (strcmp(rq->words[at], "desc") == 0)
			d->desc = true;
		else if (strcmp(rq->words[at], "no-maint") == 0)
			d->no_maint = true;
		else if (strcmp(rq->words[at], "up") == 0)
			d->up = true;
	}
	return true;
}

static void release_dump(struct ctl_request *rq)
{
	struct stats_dump *d = rq->state;

	if (!d)
		return;
	config_drop(&d->cfg);
	free(d);
	rq->state = NULL;
}

static bool begin_dump(struct ctl_request *rq)
{
	struct stats_dump *d = calloc(1, sizeof(*d));

	if (!d) {
		ctl_error(rq, "Out of memory.");
		return false;
	}
	rq->state = d;
	d->cfg = config_take(proxies_current());
	if (!parse_words(rq, d))
		return false;
	d->at = proxies_first(d->cfg);
	if (d->form == FORM_CSV)
		stats_print_csv_header(rq->out);
	else if (d->form == FORM_JSON)
		strbuf_add_char(rq->out, '[');
	return true;
}

static void show_resolvers(struct ctl_request *rq)
{
	enum resolvers_form form = RESOLVERS_CSV;
	bool desc = false;

	for (int at = rq->at; at < rq->count; at++) {
		if (strcmp(rq->words[at], "typed") == 0)
			form = RESOLVERS_TYPED;
		else if (strcmp(rq->words[at], "json") == 0)
			form = RESOLVERS_JSON;
		desc |= strcmp(rq->words[at], "desc") == 0;
	}
	if (form == RESOLVERS_TYPED && desc)
		form = RESOLVERS_DESC;
	resolvers_put_stat(proxies_current(), form, rq->out);
}

/* "domain <name>" in front of the rest. True: it was answered. */
static bool other_domain(struct ctl_request *rq)
{
	const char *name;

	if (rq->at >= rq->count || strcmp(rq->words[rq->at], "domain") != 0)
		return false;
	name = ++rq->at < rq->count ? rq->words[rq->at++] : "";
	if (strcmp(name, "proxy") == 0)
		return false;
	if (strcmp(name, "resolvers") == 0)
		show_resolvers(rq);
	else
		ctl_error(rq, "Invalid statistics domain.");
	return true;
}

static enum ctl_step show_stat(struct ctl_request *rq)
{
	struct stats_dump *d;

	if (!rq->state && other_domain(rq))
		return CTL_DONE;
	if (!rq->state && !begin_dump(rq))
		return CTL_DONE;
	d = rq->state;
	for (; d->at; d->at = proxy_next(d->at)) {
		if (d->at->disabled || (d->proxy_id >= 0 && d->at->id != d->proxy_id))
			continue;
		if (rq->out->len > CTL_OUT_SOFT)
			return CTL_MORE;
		dump_proxy(rq, d, d->at);
	}
	if (d->form == FORM_JSON)
		strbuf_add_str(rq->out, "]\n");
	return CTL_DONE;
}

static enum ctl_step show_schema(struct ctl_request *rq)
{
	stats_print_schema(rq->out);
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "show schema json", .level = CTL_USER,
	  .help = "the schema of show stat json and show info json", .run = show_schema },
	{ .words = "show stat", .level = CTL_USER, .syntax = "[desc|json|no-maint|typed|up]*",
	  .help = "report counters for each proxy and server", .run = show_stat,
	  .release = release_dump },
	{ 0 }
};

const struct module mod_stats_ctl = {
	.name = "stats",
	.commands = commands,
};

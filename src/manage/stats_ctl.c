/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_ctl.c - edge file: `show stat` */
#include <stdlib.h>
#include <string.h>
#include "base/num.h"
#include "ctl/ctl.h"
#include "dns/resolvers.h"
#include "manage/stats_walk.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "proxy/walk.h"

enum stats_form { FORM_CSV, FORM_TYPED, FORM_JSON };

/* Where a dump stands: among the proxies, and among the rows of one of them. */
struct stats_dump {
	struct proxy_walk proxies;
	struct stats_walk rows;
	enum stats_form form;
	bool desc, has_rows, is_inside; /* of proxies.at */
	int proxy_id;                   /* negative: all */
	struct stats_row row;
};

static void print_row(struct ctl_request *rq, struct stats_dump *d)
{
	if (d->form == FORM_CSV)
		stats_print_csv(rq->out, &d->row);
	else if (d->form == FORM_TYPED)
		stats_print_typed(rq->out, &d->row, d->desc);
	else {
		if (d->has_rows)
			strbuf_add_char(rq->out, ',');
		stats_print_json(rq->out, &d->row);
	}
	d->has_rows = true;
}

/* --- the command ---------------------------------------------------------------------------- */

/* "[<iid|name> <type> <sid>] [typed|json|desc|no-maint|up]*"; false: reported. */
static bool parse_words(struct ctl_request *rq, struct stats_dump *d)
{
	int at = rq->at;

	d->rows.shown = STATS_SHOW_ALL;
	d->rows.id = -1;
	d->proxy_id = -1;
	if (rq->count - at >= 3) {
		const char *end;

		d->proxy_id = num_prefix_int(rq->words[at], &end);
		if (*end) {
			const struct proxy *px = proxy_find(d->proxies.config,
							    rq->words[at], 0);

			if (!px) {
				ctl_error(rq, "No such proxy.");
				return false;
			}
			d->proxy_id = px->id;
		}
		d->rows.shown = (unsigned)num_prefix_int(rq->words[at + 1], NULL);
		d->rows.id = num_prefix_int(rq->words[at + 2], NULL);
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
			d->rows.no_maint = true;
		else if (strcmp(rq->words[at], "up") == 0)
			d->rows.up = true;
	}
	return true;
}

static bool begin_dump(struct ctl_request *rq)
{
	struct stats_dump *d = proxy_walk_begin(rq, sizeof(*d));

	if (!d || !parse_words(rq, d))
		return false;
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

/* The rows of the proxy that is next. CTL_DONE: all of them. */
static enum ctl_step dump_proxy(struct ctl_request *rq, struct stats_dump *d)
{
	enum stats_found found = STATS_ROW;

	if (!d->is_inside)
		stats_walk_enter(&d->rows, d->proxies.at);
	d->is_inside = true;
	while (found == STATS_ROW) {
		if (ctl_is_due(rq))
			return CTL_MORE;
		found = stats_walk_next(&d->rows, &d->row);
		if (found == STATS_ROW)
			print_row(rq, d);
	}
	if (found == STATS_PAUSE)
		return CTL_MORE;
	d->is_inside = false;
	return CTL_DONE;
}

static enum ctl_step show_stat(struct ctl_request *rq)
{
	struct stats_dump *d;

	if (!rq->state && other_domain(rq))
		return CTL_DONE;
	if (!rq->state && !begin_dump(rq))
		return CTL_DONE;
	d = rq->state;
	for (; d->proxies.at; d->proxies.at = proxy_next(d->proxies.at)) {
		const struct proxy *px = d->proxies.at;

		if (px->disabled || (d->proxy_id >= 0 && px->id != d->proxy_id))
			continue;
		if (dump_proxy(rq, d) == CTL_MORE)
			return CTL_MORE;
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
	  .release = proxy_walk_release },
	{ 0 }
};

const struct module mod_stats_ctl = {
	.name = "stats",
	.commands = commands,
};

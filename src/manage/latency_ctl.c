/* SPDX-License-Identifier: GPL-2.0-or-later */
/* latency_ctl.c - edge file: `show latencies`, how long the phases of requests took */
#include <string.h>
#include "base/bug.h"
#include "ctl/ctl.h"
#include "manage/modules.h"
#include "manage/stats_walk.h"
#include "proxy/counters.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "proxy/walk.h"

struct latency_dump {
	struct proxy_walk proxies;
	const struct server *last; /* done, of proxies.at; NULL: none */
	bool is_inside;            /* proxies.at is done but for servers */
};

/* ">33554.432": above the last bucket that has an end; "-": nothing was counted. */
static void put_percentile(struct strbuf *out, const uint64_t *counts, unsigned permille)
{
	bool above;
	uint64_t us = latency_percentile(counts, permille, &above);

	strbuf_add_char(out, ' ');
	if (us)
		strbuf_printf(out, "%s%.3f", above ? ">" : "", (double)us / 1000);
	else
		strbuf_add_char(out, '-');
}

static void dump_set(struct strbuf *out, const struct latency_set *set, const struct proxy *px,
		     const char *name)
{
	struct latency_view view;

	if (!latency_set_read(set, &view))
		return;
	for (unsigned k = 0; k < TIME_KINDS; k++) {
		uint64_t count = 0;

		for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
			count += view.counts[k][i];
		if (!count)
			continue;
		strbuf_printf(out, "%s/%s %s %llu %.3f", px->name, name, stats_phase_name(k),
			      (unsigned long long)count,
			      (double)view.sum_us[k] / (double)count / 1000);
		for (unsigned i = 0; i < ARRAY_LEN(stats_percentiles); i++)
			put_percentile(out, view.counts[k], stats_percentiles[i].permille);
		strbuf_add_char(out, '\n');
	}
}

static void dump_proxy(struct strbuf *out, const struct proxy *px)
{
	if (px->caps & PROXY_FE)
		dump_set(out, &px->state->fe_latency, px, "FRONTEND");
	if (px->caps & PROXY_BE)
		dump_set(out, &px->state->be_latency, px, "BACKEND");
}

/* False: others shall have their turn. */
static bool dump_servers(struct ctl_request *rq, struct latency_dump *d)
{
	const struct server *srv;

	while ((srv = d->last ? server_next(d->last) : server_first(d->proxies.at)) != NULL) {
		if (ctl_is_due(rq))
			return false;
		dump_set(rq->out, &srv->state->latency, d->proxies.at, srv->name);
		d->last = srv;
	}
	d->last = NULL;
	return true;
}

static struct latency_dump *begin_show(struct ctl_request *rq)
{
	const char *name = rq->at < rq->count ? rq->words[rq->at] : NULL;
	const struct proxy *only = NULL;
	struct latency_dump *d;

	if (!latency_is_wanted(proxies_current())) {
		ctl_error(rq, "Latencies are not measured: a statistics page with 'stats "
			  "show-latencies' or an exporter of Prometheus' has them measured.");
		return NULL;
	}
	if (name) {
		only = proxy_find(proxies_current(), name, PROXY_FE);
		only = only ? only : proxy_find(proxies_current(), name, PROXY_BE);
	}
	if (name && !only) {
		ctl_error(rq, "No such proxy.");
		return NULL;
	}
	d = proxy_walk_begin(rq, sizeof(*d));
	if (!d)
		return NULL;
	d->proxies.only = only;
	strbuf_add_str(rq->out, "# proxy/object phase requests average p50 p90 p99 p99.9 (ms)\n");
	return d;
}

static bool is_wanted(const struct latency_dump *d)
{
	const struct proxy *only = d->proxies.only;

	return !only || strcmp(only->name, d->proxies.at->name) == 0;
}

static enum ctl_step show_latencies(struct ctl_request *rq)
{
	struct latency_dump *d = rq->state ? rq->state : begin_show(rq);

	for (; d && d->proxies.at; d->proxies.at = proxy_next(d->proxies.at)) {
		if (!is_wanted(d))
			continue;
		if (!d->is_inside && ctl_is_due(rq))
			return CTL_MORE;
		if (!d->is_inside)
			dump_proxy(rq->out, d->proxies.at);
		d->is_inside = true;
		if (d->proxies.at->caps & PROXY_BE && !dump_servers(rq, d))
			return CTL_MORE;
		d->is_inside = false;
	}
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "show latencies", .level = CTL_USER, .syntax = "[<proxy>]",
	  .help = "how long the phases of requests took: percentiles of each proxy and server",
	  .run = show_latencies, .release = proxy_walk_release },
	{ 0 }
};

const struct module mod_latency_ctl = {
	.name = "latency_ctl",
	.commands = commands,
};

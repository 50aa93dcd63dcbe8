/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_page_sum.c - the summary line of the statistics page
 *
 * Servers are counted before the page begins, some hundreds in a part.
 */
#include "base/bug.h"
#include "proxy/counters.h"
#include "proxy/server.h"
#include "stats_page_priv.h"

#define SERVERS_A_PART 2048

/* --- counting --------------------------------------------------------------------------------- */

static void count_server(struct stats_sum *sum, const struct server *srv)
{
	unsigned admin = __atomic_load_n(&srv->state->admin, __ATOMIC_RELAXED);

	if (admin & SERVER_MAINT)
		sum->maint++;
	else if (__atomic_load_n(&srv->state->oper, __ATOMIC_RELAXED) == SERVER_STOPPED)
		sum->down++;
	else if (admin & SERVER_DRAIN || !server_weight(srv))
		sum->drain++;
	else
		sum->up++;
}

static void add_last_step(struct stats_sum *sum, const struct history *h, uint64_t step)
{
	if (h)
		sum->errors += history_step(h, HISTORY_ERRORS, step);
}

/* Requests of frontends; what went wrong there, and where backends alone know it. */
static void count_proxy(struct stats_sum *sum, const struct proxy *px)
{
	const struct proxy_state *st = px->state;
	struct latency_view view;
	struct history_span span;
	bool http = px->mode == PROXY_MODE_HTTP, known = stats_history_span(&span);

	if (px->caps & PROXY_FE) {
		sum->rate += rate_set_read(http ? &st->fe_request_rate : &st->fe_session_rate);
		if (known)
			add_last_step(sum, stats_history_of(STATS_FRONTEND, px, NULL), span.last);
		if (latency_set_read(&st->fe_latency, &view))
			for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
				sum->latency[i] += view.counts[TIME_TOTAL][i];
	}
	if (px->caps & PROXY_BE && !http && known)
		add_last_step(sum, stats_history_of(STATS_BACKEND, px, NULL), span.last);
}

bool stats_sum_step(struct stats_call *sc)
{
	struct stats_sum *sum = &sc->sum;
	unsigned left = SERVERS_A_PART;

	if (!sum->px && !sum->begun)
		sum->px = proxies_first(sc->of->config);
	sum->begun = true;
	for (; sum->px; sum->px = proxy_next(sum->px), sum->srv = NULL) {
		if (!stats_proxy_is_shown(sc, sum->px))
			continue;
		if (!sum->srv)
			count_proxy(sum, sum->px);
		if (!(sum->px->caps & PROXY_BE))
			continue;
		for (;;) {
			const struct server *srv = sum->srv ? server_next(sum->srv)
							    : server_first(sum->px);

			if (!srv)
				break;
			sum->srv = srv;
			count_server(sum, srv);
			if (!--left)
				return false;
		}
	}
	return true;
}

/* --- showing ---------------------------------------------------------------------------------- */

static void put_item(struct strbuf *out, const char *kind, const char *name, uint64_t value)
{
	strbuf_printf(out, "<div class=\"%s\"><dt>%s</dt><dd>%llu</dd></div>\n",
		      value ? kind : "none", name, (unsigned long long)value);
}

void stats_put_ms(struct strbuf *out, uint64_t us)
{
	double ms = (double)us / 1000;

	strbuf_printf(out, us < 1000000 ? "%.3g" : "%.0f", ms);
}

static void put_percentile(struct strbuf *out, const struct stats_sum *sum, const char *name,
			   unsigned permille)
{
	bool above;
	uint64_t us = latency_percentile(sum->latency, permille, &above);

	if (!us)
		return;
	strbuf_printf(out, "<div class=\"none\"><dt>%s</dt><dd>%s", name,
		      above ? "&gt; " : "&lt; ");
	stats_put_ms(out, us);
	strbuf_add_str(out, " ms</dd></div>\n");
}

void stats_put_sum(struct strbuf *out, const struct stats_call *sc)
{
	const struct stats_sum *sum = &sc->sum;

	strbuf_add_str(out, "<dl class=\"sum\">\n");
	put_item(out, "up", "servers up", sum->up);
	put_item(out, "drain", "draining", sum->drain);
	put_item(out, "down", "down", sum->down);
	put_item(out, "maint", "maintenance", sum->maint);
	put_item(out, "none", "requests a second", sum->rate);
	if (sc->has_span)
		strbuf_printf(out, "<div class=\"%s\"><dt>errors a second</dt>"
			      "<dd>%.*f</dd></div>\n", sum->errors ? "down" : "none",
			      sum->errors % HISTORY_STEP_S ? 1 : 0,
			      (double)sum->errors / HISTORY_STEP_S);
	put_percentile(out, sum, "p50", 500);
	put_percentile(out, sum, "p99", 990);
	strbuf_add_str(out, "</dl>\n");
}

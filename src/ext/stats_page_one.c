/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_page_one.c - the statistics page of one frontend, backend or server
 *
 * Its last hour and day as charts, why it is down, and every column of `show stat` by name.
 */
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "proxy/counters.h"
#include "proxy/server.h"
#include "stats_page_priv.h"

static void put_value(struct strbuf *out, const struct stats_value *v)
{
	if (v->type == STATS_STR)
		stats_put_string(out, v->text);
	else
		strbuf_add_int(out, v->number);
}

static void put_columns(struct strbuf *out, const struct stats_call *sc)
{
	strbuf_add_str(out, "<table class=\"one\"><caption>All columns</caption>\n<thead><tr>"
		       "<th scope=\"col\">Column</th><th scope=\"col\">Value</th>"
		       "<th scope=\"col\">Meaning</th></tr></thead>\n<tbody>\n");
	for (unsigned f = 0; f < STATS_COUNT; f++) {
		const struct stats_value *v = &sc->row.values[f];

		if (v->type == STATS_EMPTY || (f >= STATS_BASE_COUNT && !v->number))
			continue;
		strbuf_printf(out, "<tr><th scope=\"row\">%s</th><td>", stats_field_name(f));
		put_value(out, v);
		strbuf_printf(out, "</td><td class=\"text\">%s</td></tr>\n", stats_field_help(f));
	}
	strbuf_add_str(out, "</tbody></table>\n");
}

static void put_state(struct strbuf *out, const struct stats_call *sc)
{
	const struct stats_value *since = &sc->row.values[STATS_LASTCHG];

	strbuf_add_str(out, "<p class=\"state\"><b>");
	stats_put_string(out, sc->row.values[STATS_STATUS].text);
	strbuf_add_str(out, "</b>");
	if (since->type != STATS_EMPTY) {
		strbuf_add_str(out, " for ");
		stats_put_seconds(out, since->number);
	}
	if (sc->row.values[STATS_CHECK_STATUS].type == STATS_STR ||
	    sc->row.values[STATS_AGENT_STATUS].type == STATS_STR) {
		strbuf_add_str(out, ", last check ");
		stats_put_check(out, &sc->row);
	}
	strbuf_add_str(out, "</p>\n");
}

static void put_history(struct strbuf *out, const struct stats_call *sc, const struct proxy *px,
			const struct history *ring)
{
	struct stats_chart rate = { HISTORY_DONE, px->mode == PROXY_MODE_HTTP
				    ? "Requests a second" : "Sessions a second" };
	struct stats_chart open = { HISTORY_OPEN, "Open sessions" };

	if (!sc->has_span)
		return;
	strbuf_add_str(out, "<div class=\"charts\">\n");
	stats_put_charts(out, ring, &sc->span, &rate);
	stats_put_charts(out, ring, &sc->span, &open);
	strbuf_add_str(out, "</div>\n");
}

static void put_latencies(struct strbuf *out, const struct latency_view *v)
{
	strbuf_add_str(out, "<table class=\"one\" id=\"latencies\"><caption>What requests took at "
		       "most, in ms</caption>\n<thead><tr><th scope=\"col\">Phase</th>");
	for (unsigned i = 0; i < ARRAY_LEN(stats_percentiles); i++)
		strbuf_printf(out, "<th scope=\"col\">%s</th>", stats_percentiles[i].name);
	strbuf_add_str(out, "</tr></thead>\n<tbody>\n");
	for (unsigned k = 0; k < TIME_KINDS; k++) {
		strbuf_printf(out, "<tr><th scope=\"row\">%s</th>", stats_phase_name(k));
		for (unsigned i = 0; i < ARRAY_LEN(stats_percentiles); i++) {
			bool above;
			unsigned permille = stats_percentiles[i].permille;
			uint64_t us = latency_percentile(v->counts[k], permille, &above);

			strbuf_add_str(out, above ? "<td>&gt; " : "<td>");
			if (us)
				stats_put_ms(out, us);
			strbuf_add_str(out, "</td>");
		}
		strbuf_add_str(out, "</tr>\n");
	}
	strbuf_add_str(out, "</tbody></table>\n");
}

/* What a server's checks or its agent found lately: results that were the same are one line. */
static void put_past(struct strbuf *out, const struct server *srv, bool agent)
{
	struct check_past past[CHECK_PAST_MAX];
	unsigned n = check_past(srv, agent, past);
	uint64_t now_ms = clock_now_ms();

	if (!n)
		return;
	strbuf_printf(out, "<table class=\"one\" id=\"%s\"><caption>%s</caption>\n<thead><tr>"
		      "<th scope=\"col\">Result</th><th scope=\"col\">Times</th>"
		      "<th scope=\"col\">First, ago</th><th scope=\"col\">Last, ago</th>"
		      "<th scope=\"col\">Longest</th><th scope=\"col\">Meaning</th></tr></thead>\n"
		      "<tbody>\n", agent ? "agent" : "checks",
		      agent ? "What the agent said" : "Health checks");
	for (unsigned i = 0; i < n; i++) {
		const struct check_past *p = &past[i];
		enum check_status status = (enum check_status)p->status;

		strbuf_printf(out, "<tr><th scope=\"row\">%s", check_status_code(status));
		if (check_status_has_code(status))
			strbuf_printf(out, " %d", p->code);
		strbuf_printf(out, "</th><td>%u</td><td>", p->count);
		stats_put_seconds(out, (int64_t)((now_ms - p->first_ms) / 1000));
		strbuf_add_str(out, "</td><td>");
		stats_put_seconds(out, (int64_t)((now_ms - p->last_ms) / 1000));
		strbuf_printf(out, "</td><td>%lldms</td><td class=\"text\">%s</td></tr>\n",
			      (long long)p->longest_ms, check_status_text(status));
	}
	strbuf_add_str(out, "</tbody></table>\n");
}

void stats_html_one(struct strbuf *out, struct stats_call *sc)
{
	const struct history *ring = NULL;
	const struct proxy *px = stats_find_one(sc, &ring);
	const struct latency_set *set = px ? stats_latencies_of(sc->row.kind, px, sc->srv) : NULL;
	struct latency_view view;
	struct strbuf target;

	stats_html_open(out, sc);
	strbuf_init(&target);
	stats_put_target(&target, sc, !sc->no_refresh);
	strbuf_add_str(out, "<body>\n<header><nav class=\"dim\"><a href=\"");
	stats_put_text(out, strbuf_slice(&target));
	strbuf_add_str(out, "\">all proxies</a></nav>\n<h1>");
	strbuf_fini(&target);
	stats_put_text(out, sc->one[0]);
	strbuf_add_str(out, " / ");
	stats_put_text(out, sc->one[1]);
	strbuf_add_str(out, "</h1>\n<div id=\"tools\" hidden></div></header>\n<main>\n");
	if (px) {
		put_state(out, sc);
		put_history(out, sc, px, ring);
		if (set && latency_set_read(set, &view))
			put_latencies(out, &view);
		if (sc->srv) {
			put_past(out, sc->srv, false);
			put_past(out, sc->srv, true);
		}
		put_columns(out, sc);
	} else {
		strbuf_add_str(out, "<p class=\"note bad\">There is no such frontend, backend or "
			       "server here.</p>\n");
	}
	stats_html_close(out);
}

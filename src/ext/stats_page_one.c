/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_page_one.c - the statistics page of one frontend, backend or server
 *
 * Its last hour and day as charts, why it is down, and every column of `show stat` by name.
 */
#include <string.h>
#include "base/bug.h"
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

void stats_html_one(struct strbuf *out, struct stats_call *sc)
{
	const struct history *ring = NULL;
	const struct proxy *px = stats_find_one(sc, &ring);
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
		put_columns(out, sc);
	} else {
		strbuf_add_str(out, "<p class=\"note bad\">There is no such frontend, backend or "
			       "server here.</p>\n");
	}
	stats_html_close(out);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_page_html.c - the statistics page as HTML
 *
 * Nothing is loaded from other sites. The page is complete without JavaScript; stats_page.js adds
 * search, sort, history and further rows. Colours follow the browser's preference for dark or
 * light. All texts from the configuration and from servers are escaped.
 */
#include <string.h>
#include "base/bug.h"
#include "stats_page_assets.h"
#include "stats_page_priv.h"

/* --- pieces ----------------------------------------------------------------------------------- */

static void put_link(struct strbuf *out, const struct stats_call *sc, const char *more,
		     const char *name)
{
	struct strbuf target;

	strbuf_init(&target);
	stats_put_target(&target, sc, !sc->no_refresh);
	strbuf_add_str(&target, more);
	strbuf_add_str(out, " <a href=\"");
	stats_put_text(out, strbuf_slice(&target));
	strbuf_printf(out, "\">%s</a>", name);
	strbuf_fini(&target);
}

/* --- the top of the page ---------------------------------------------------------------------- */

struct process_print {
	struct strbuf *out;
	const struct stats_call *sc;
	const char *node, *desc;
};

static void find_name(void *ctx, const struct stats_process_field *f)
{
	struct process_print *p = ctx;

	if (strcmp(f->name, "node") == 0 && !p->node)
		p->node = f->text;
	else if (strcmp(f->name, "description") == 0 && !p->desc)
		p->desc = f->text;
}

static void put_process_field(void *ctx, const struct stats_process_field *f)
{
	static const char *const shown[][2] = {
		{ "Version", "version" }, { "Pid", "pid" }, { "Nbthread", "threads" },
		{ "Uptime", "uptime" }, { "Maxconn", "maxconn" }, { "Maxsock", "maxsock" },
		{ "CurrConns", "current connections" }, { "ConnRate", "connections a second" },
		{ "Tasks", "tasks" }, { "Run_queue", "running" }, { "Idle_pct", "idle %" },
	};
	struct process_print *p = ctx;

	if (!p->sc->conf->show_version && strcmp(f->name, "Version") == 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
		if (strcmp(f->name, shown[i][0]) != 0)
			continue;
		strbuf_printf(p->out, "<span class=\"dim\">%s</span> ", shown[i][1]);
		if (f->text)
			stats_put_string(p->out, f->text);
		else
			strbuf_printf(p->out, "%.15g", f->number);
		strbuf_add_str(p->out, " &nbsp; ");
	}
}

static void put_title(struct strbuf *out, const struct stats_call *sc)
{
	struct process_print p = { out, sc, sc->conf->node, sc->conf->desc };
	const struct config *cfg = sc->of->config;

	stats_each_process_field(cfg, find_name, &p);
	strbuf_add_str(out, "<h1>Statistics");
	if (sc->conf->show_node && p.node) {
		strbuf_add_str(out, " of ");
		stats_put_string(out, p.node);
	}
	if (sc->conf->show_desc && p.desc) {
		strbuf_add_str(out, " <span class=\"dim\">");
		stats_put_string(out, p.desc);
		strbuf_add_str(out, "</span>");
	}
	strbuf_add_str(out, "</h1>\n<p>");
	stats_each_process_field(cfg, put_process_field, &p);
	strbuf_add_str(out, "</p>\n");
}

static void put_result(struct strbuf *out, struct slice code)
{
	static const struct {
		const char *code, *text;
		bool bad;
	} results[] = {
		{ "DONE", "The action was carried out.", false },
		{ "NONE", "Nothing was changed.", false },
		{ "PART", "The action was carried out in part: a server is not known.", true },
		{ "ERRP", "Nothing was changed: the form is not right.", true },
		{ "EXCD", "Nothing was changed: too long a form. Choose fewer servers.", true },
		{ "DENY", "Nothing was changed: it is not allowed.", true },
	};

	for (size_t i = 0; i < ARRAY_LEN(results); i++)
		if (slice_eq(code, slice_of(results[i].code)))
			strbuf_printf(out, "<p class=\"note%s\">%s</p>\n",
				      results[i].bad ? " bad" : "", results[i].text);
}

/* Where the script asks for figures. */
static void put_body(struct strbuf *out, const struct stats_call *sc)
{
	struct strbuf target;

	strbuf_init(&target);
	stats_put_target(&target, sc, false);
	strbuf_add_str(out, "<body data-uri=\"");
	stats_put_text(out, strbuf_slice(&target));
	strbuf_add_str(out, "\">\n");
	strbuf_fini(&target);
}

void stats_html_open(struct strbuf *out, const struct stats_call *sc)
{
	strbuf_add_str(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
		       "<meta charset=\"utf-8\">\n"
		       "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
		       "<title>Statistics Report for HAProxy</title>\n"
		       "<link rel=\"icon\" href=\"data:,\">\n");
	strbuf_add_str(out, "<style>\n");
	strbuf_add_str(out, stats_page_css);
	stats_put_widths(out, sc);
	strbuf_add_str(out, "</style>\n</head>\n");
}

static void put_links(struct strbuf *out, struct stats_call *sc)
{
	strbuf_add_str(out, "<nav class=\"dim\">");
	put_link(out, sc, "", "reload");
	if (sc->conf->refresh_ms && !sc->no_refresh)
		put_link(out, sc, ";norefresh", "stop reloading");
	if (!sc->rows.up)
		put_link(out, sc, ";up", "hide servers that are down");
	if (!sc->all_columns)
		put_link(out, sc, ";all", "all columns");
	sc->all_columns = !sc->all_columns;
	if (!sc->all_columns)
		put_link(out, sc, "", "fewer columns");
	sc->all_columns = !sc->all_columns;
	put_link(out, sc, ";csv", "CSV");
	put_link(out, sc, ";json", "JSON");
	strbuf_add_str(out, "</nav>\n");
}

void stats_html_head(struct strbuf *out, struct stats_call *sc)
{
	stats_html_open(out, sc);
	put_body(out, sc);
	strbuf_add_str(out, "<header>\n");
	put_title(out, sc);
	stats_put_sum(out, sc);
	put_links(out, sc);
	if (sc->has_span)
		strbuf_printf(out, "<p class=\"dim\">Lines: requests or sessions a second in "
			      "the last %s, errors in red.</p>\n", stats_line_time(&sc->span));
	put_result(out, sc->status);
	strbuf_add_str(out, "<div id=\"tools\" hidden></div>\n</header>\n<main>\n");
}

void stats_html_close(struct strbuf *out)
{
	strbuf_add_str(out, "</main>\n<script>\n");
	strbuf_add_str(out, stats_page_js);
	strbuf_add_str(out, "</script>\n</body>\n</html>\n");
}

void stats_html_end(struct strbuf *out, struct stats_call *sc)
{
	stats_close_table(out, sc);
	stats_html_close(out);
}

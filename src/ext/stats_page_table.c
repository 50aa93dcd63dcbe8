/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_page_table.c - the tables of the statistics page: columns, rows, forms
 *
 * The ends of cells and rows are left out, as HTML allows.
 */
#include <string.h>
#include "base/bug.h"
#include "proxy/counters.h"
#include "proxy/server.h"
#include "stats_page_priv.h"

#define TABLE_HEAD_PX 52
#define TABLE_ROW_PX 27
#define ROWS_TOGETHER 15 /* of a part of a table */
#define ROWS_AT_ONCE 30  /* of the page: parts behind them are late */
#define NAME_WIDTH_MAX 32

/* --- columns ---------------------------------------------------------------------------------- */

enum form { NUMBER, SECONDS, TEXT, CHECK, LATENCY };

/* Neighbours of one group stand below one title. Columns have a width of their own: browsers need
 * not look at all rows to lay out the first of them. Those that are not chosen are shown by ";all".
 * Percentiles are no fields of `show stat`: <field> is how many of 1000.
 */
static const struct column {
	const char *group, *title;
	unsigned field;
	enum form form;
	unsigned width;   /* digits */
	bool is_chosen;
} columns[] = {
	{ "Status", "state", STATS_STATUS, TEXT, 12, true },
	{ "Status", "for", STATS_LASTCHG, SECONDS, 8, true },
	{ "Check", "last", STATS_CHECK_STATUS, CHECK, 20, true },
	{ "Sessions", "now", STATS_SCUR, NUMBER, 6, true },
	{ "Sessions", "max", STATS_SMAX, NUMBER, 6, false },
	{ "Sessions", "limit", STATS_SLIM, NUMBER, 7, false },
	{ "Sessions", "total", STATS_STOT, NUMBER, 10, true },
	{ "Rate/s", "now", STATS_RATE, NUMBER, 7, true },
	{ "Rate/s", "max", STATS_RATE_MAX, NUMBER, 6, false },
	{ "Queue", "now", STATS_QCUR, NUMBER, 7, true },
	{ "Queue", "max", STATS_QMAX, NUMBER, 6, false },
	{ "Requests", "total", STATS_REQ_TOT, NUMBER, 10, true },
	{ "Bytes", "in", STATS_BIN, NUMBER, 14, false },
	{ "Bytes", "out", STATS_BOUT, NUMBER, 14, false },
	{ "Answers", "2xx", STATS_HRSP_2XX, NUMBER, 11, false },
	{ "Answers", "3xx", STATS_HRSP_3XX, NUMBER, 8, false },
	{ "Answers", "4xx", STATS_HRSP_4XX, NUMBER, 7, true },
	{ "Answers", "5xx", STATS_HRSP_5XX, NUMBER, 7, true },
	{ "Denied", "req", STATS_DREQ, NUMBER, 6, false },
	{ "Denied", "resp", STATS_DRESP, NUMBER, 6, false },
	{ "Errors", "req", STATS_EREQ, NUMBER, 6, false },
	{ "Errors", "conn", STATS_ECON, NUMBER, 6, true },
	{ "Errors", "resp", STATS_ERESP, NUMBER, 6, true },
	{ "Retries", "retry", STATS_WRETR, NUMBER, 7, false },
	{ "Retries", "other", STATS_WREDIS, NUMBER, 7, false },
	{ "Avg. ms", "connect", STATS_CTIME, NUMBER, 9, false },
	{ "Avg. ms", "answer", STATS_RTIME, NUMBER, 8, true },
	{ "At most ms", "p50", 500, LATENCY, 8, true },
	{ "At most ms", "p99", 990, LATENCY, 8, true },
	{ "Servers", "weight", STATS_WEIGHT, NUMBER, 7, true },
	{ "Servers", "act", STATS_ACT, NUMBER, 6, false },
	{ "Servers", "bck", STATS_BCK, NUMBER, 5, true },
	{ "Checks", "failed", STATS_CHKFAIL, NUMBER, 8, false },
	{ "Checks", "downs", STATS_CHKDOWN, NUMBER, 7, false },
	{ "Checks", "down", STATS_DOWNTIME, SECONDS, 8, false },
};

static bool is_shown(const struct stats_call *sc, size_t column)
{
	if (columns[column].form == LATENCY && !latency_is_wanted(sc->of->config))
		return false;
	return sc->all_columns || columns[column].is_chosen;
}

void stats_put_widths(struct strbuf *out, const struct stats_call *sc)
{
	unsigned sum = 0;

	strbuf_add_str(out, ":root{--cols:");
	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		if (!is_shown(sc, i))
			continue;
		strbuf_printf(out, " %uch", columns[i].width);
		sum += columns[i].width;
	}
	strbuf_printf(out, ";--sum:%uch}\n", sum);
}

/* --- tables ----------------------------------------------------------------------------------- */

static void put_head_cells(struct strbuf *out, const struct stats_call *sc)
{
	size_t n, shown;

	strbuf_add_str(out, "<thead><tr><th rowspan=\"2\">Name</th>");
	for (size_t i = 0; i < ARRAY_LEN(columns); i += n) {
		shown = 0;
		for (n = 0; i + n < ARRAY_LEN(columns) &&
		     strcmp(columns[i].group, columns[i + n].group) == 0; n++)
			shown += is_shown(sc, i + n);
		if (shown)
			strbuf_printf(out, "<th colspan=\"%zu\" style=\"grid-column:span %zu\">"
				      "%s</th>", shown, shown, columns[i].group);
	}
	strbuf_add_str(out, "</tr>\n<tr>");
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		if (is_shown(sc, i))
			strbuf_printf(out, "<th data-f=\"%s\">%s</th>",
				      columns[i].form == LATENCY ? columns[i].title :
				      stats_field_name(columns[i].field), columns[i].title);
	strbuf_add_str(out, "</tr></thead>\n");
}

static bool has_form(const struct stats_call *sc, const struct proxy *px)
{
	return sc->admin && px->caps & PROXY_BE;
}

/* What the column of names needs; longer ones are broken. */
static unsigned name_width(const struct proxy *px)
{
	size_t most = 10;

	for (const struct server *srv = server_first(px); srv; srv = server_next(srv)) {
		size_t len = strlen(srv->name);

		if (len > most)
			most = len;
	}
	return most < NAME_WIDTH_MAX ? (unsigned)most : NAME_WIDTH_MAX;
}

static void close_part(struct strbuf *out, struct stats_call *sc)
{
	if (sc->printed_rows)
		strbuf_add_str(out, sc->is_late ? "</table></noscript>\n" : "</table>\n");
}

/* A table comes in parts, which browsers lay out when they come into sight; until then this is
 * their height. Those behind the first of the page are late: mere text to a browser that runs
 * scripts, and stats_page.js makes rows of it when the user scrolls near, or needs all.
 */
static void open_part(struct strbuf *out, struct stats_call *sc)
{
	unsigned left = sc->table_rows > sc->printed_rows ? sc->table_rows - sc->printed_rows : 1;
	unsigned height = (left < ROWS_TOGETHER ? left : ROWS_TOGETHER) * TABLE_ROW_PX;

	close_part(out, sc);
	if (!sc->printed_rows)
		height += TABLE_HEAD_PX;
	sc->is_late = sc->page_rows >= ROWS_AT_ONCE;
	if (sc->is_late)
		strbuf_printf(out, "<noscript data-h=\"%u\">", height);
	strbuf_printf(out, "<table style=\"contain-intrinsic-size:auto %upx\">\n", height);
	if (!sc->printed_rows)
		put_head_cells(out, sc);
	strbuf_add_str(out, "<tbody>\n");
}

static void open_table(struct strbuf *out, struct stats_call *sc, const struct proxy *px)
{
	sc->table = px;
	sc->table_rows = 2 + __atomic_load_n(&px->server_count, __ATOMIC_RELAXED);
	sc->printed_rows = 0;
	strbuf_add_str(out, "<section><h2>");
	stats_put_string(out, px->name);
	if (sc->conf->show_legends)
		strbuf_printf(out, " <span class=\"dim\">%s, mode %s, id %d</span>",
			      proxy_kind_name(px), proxy_mode_name(px->mode), px->id);
	if (px->description) {
		strbuf_add_str(out, " <span class=\"dim\">");
		stats_put_string(out, px->description);
		strbuf_add_str(out, "</span>");
	}
	strbuf_add_str(out, "</h2>\n");
	if (has_form(sc, px)) {
		struct strbuf target;

		strbuf_init(&target);
		stats_put_target(&target, sc, !sc->no_refresh);
		strbuf_add_str(out, "<form method=\"post\" action=\"");
		stats_put_text(out, strbuf_slice(&target));
		strbuf_add_str(out, "\"><input type=\"hidden\" name=\"b\" value=\"");
		stats_put_string(out, px->name);
		strbuf_add_str(out, "\">\n");
		strbuf_fini(&target);
	}
	strbuf_printf(out, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
		      "aria-label=\"%s\" style=\"--name:%uch;contain-intrinsic-size:"
		      "auto %upx\">\n", px->name, name_width(px),
		      TABLE_HEAD_PX + sc->table_rows * TABLE_ROW_PX);
}

static void put_actions(struct strbuf *out)
{
	static const struct {
		const char *word, *text;
	} choices[] = {
		{ "", "" }, { "ready", "set state to READY" }, { "drain", "set state to DRAIN" },
		{ "maint", "set state to MAINT" }, { "dhlth", "health: disable checks" },
		{ "ehlth", "health: enable checks" }, { "hrunn", "health: force UP" },
		{ "hnolb", "health: force NOLB" }, { "hdown", "health: force DOWN" },
		{ "dagent", "agent: disable checks" }, { "eagent", "agent: enable checks" },
		{ "arunn", "agent: force UP" }, { "adown", "agent: force DOWN" },
		{ "shutdown", "shut down sessions" },
	};

	strbuf_add_str(out, "<fieldset><label>Checked servers: <select name=\"action\">");
	for (size_t i = 0; i < ARRAY_LEN(choices); i++)
		strbuf_printf(out, "<option value=\"%s\">%s</option>", choices[i].word,
			      choices[i].text);
	strbuf_add_str(out, "</select></label> <button>Apply</button></fieldset></form>\n");
}

void stats_close_table(struct strbuf *out, struct stats_call *sc)
{
	if (!sc->table)
		return;
	close_part(out, sc);
	strbuf_add_str(out, "</div>\n");
	if (has_form(sc, sc->table))
		put_actions(out);
	strbuf_add_str(out, "</section>\n");
	sc->table = NULL;
}

/* What the row's colour tells. */
static const char *row_class(const struct stats_row *r)
{
	const char *status = r->values[STATS_STATUS].type == STATS_STR
			   ? r->values[STATS_STATUS].text : "";

	if (r->kind == STATS_FRONTEND || r->kind == STATS_LISTENER)
		return strcmp(status, "OPEN") == 0 ? "plain" : "maint";
	if (strncmp(status, "UP", 2) == 0)
		return r->kind == STATS_SERVER ? "up" : "plain";
	if (strncmp(status, "MAINT", 5) == 0)
		return "maint";
	if (strncmp(status, "DRAIN", 5) == 0 || strncmp(status, "NOLB", 4) == 0)
		return "drain";
	return strncmp(status, "DOWN", 4) == 0 ? "down" : "none";
}

/* What a pointer that rests on the name shows. */
static void put_legend(struct strbuf *out, const struct stats_call *sc)
{
	const struct stats_row *r = &sc->row;

	strbuf_add_str(out, " title=\"");
	if (sc->conf->show_legends) {
		strbuf_printf(out, "id %u ", r->id);
		if (r->values[STATS_ADDR].type == STATS_STR)
			stats_put_string(out, r->values[STATS_ADDR].text);
		if (r->values[STATS_COOKIE].type == STATS_STR) {
			strbuf_add_str(out, " cookie ");
			stats_put_string(out, r->values[STATS_COOKIE].text);
		}
	}
	for (unsigned f = STATS_BASE_COUNT; sc->conf->show_modules && f < STATS_COUNT; f++)
		if (r->values[f].type != STATS_EMPTY && r->values[f].number)
			strbuf_printf(out, "%s %lld\n", stats_field_name(f),
				      (long long)r->values[f].number);
	strbuf_add_char(out, '"');
}

/* The page of one object; its names have no letter that would need an escape in a target. */
static void put_way_to_one(struct strbuf *out, const struct stats_call *sc, const struct proxy *px,
			   const char *name)
{
	const struct server *srv = sc->row.kind == STATS_SERVER ? sc->rows.server : NULL;
	const struct history *h = sc->has_span ? stats_history_of(sc->row.kind, px, srv) : NULL;
	size_t before;

	if (sc->row.kind == STATS_LISTENER)
		return;
	strbuf_add_str(out, "<a href=\"");
	stats_put_text(out, sc->conf->uri);
	strbuf_add_str(out, ";px=");
	stats_put_string(out, px->name);
	strbuf_add_str(out, ";sv=");
	stats_put_string(out, name);
	strbuf_add_str(out, sc->no_refresh ? ";norefresh\" aria-label=\"details of "
			    : "\" aria-label=\"details of ");
	stats_put_string(out, name);
	strbuf_add_str(out, "\">");
	before = out->len;
	if (h)
		stats_put_line(out, h, &sc->span);
	strbuf_add_str(out, out->len == before ? "&hellip;</a>" : "</a>");
}

static void put_name(struct strbuf *out, const struct stats_call *sc, const struct proxy *px)
{
	const char *name = sc->row.values[STATS_SVNAME].text;

	strbuf_add_str(out, "<th scope=\"row\"");
	if (sc->conf->show_legends || sc->conf->show_modules)
		put_legend(out, sc);
	strbuf_add_char(out, '>');
	if (sc->row.kind == STATS_SERVER && has_form(sc, px)) {
		strbuf_add_str(out, "<label><input type=\"checkbox\" name=\"s\" value=\"");
		stats_put_string(out, name);
		strbuf_add_str(out, "\"> ");
		stats_put_string(out, name);
		strbuf_add_str(out, "</label>");
	} else {
		stats_put_string(out, name);
	}
	put_way_to_one(out, sc, px, name);
}

static void put_cell(struct strbuf *out, const struct stats_row *r, const struct column *c)
{
	const struct stats_value *v = &r->values[c->field];

	if (c->form == TEXT || c->form == CHECK)
		strbuf_add_str(out, "<td class=\"text\">");
	else if (c->form == SECONDS && v->type != STATS_EMPTY)
		strbuf_printf(out, "<td data-v=\"%lld\">", (long long)v->number);
	else
		strbuf_add_str(out, c->form == SECONDS ? "<td data-v=\"\">" : "<td>");
	if (c->form == CHECK)
		stats_put_check(out, r);
	else if (v->type == STATS_STR)
		stats_put_string(out, v->text);
	else if (v->type != STATS_EMPTY && c->form == SECONDS)
		stats_put_seconds(out, v->number);
	else if (v->type != STATS_EMPTY)
		strbuf_add_int(out, v->number);
}

static void put_percentile(struct strbuf *out, const struct latency_view *v,
			   const struct column *c)
{
	bool above = false;
	uint64_t us = v ? latency_percentile(v->counts[TIME_TOTAL], c->field, &above) : 0;

	if (!us) {
		strbuf_add_str(out, "<td data-v=\"\">");
		return;
	}
	strbuf_printf(out, "<td data-v=\"%llu\">%s", (unsigned long long)us,
		      above ? "&gt; " : "");
	stats_put_ms(out, us);
}

void stats_html_row(struct strbuf *out, struct stats_call *sc, const struct proxy *px)
{
	const struct latency_set *set = stats_latencies_of(sc->row.kind, px, sc->rows.server);
	struct latency_view view;
	bool known = set && latency_set_read(set, &view);

	if (sc->table != px) {
		stats_close_table(out, sc);
		open_table(out, sc, px);
	}
	if (sc->printed_rows % ROWS_TOGETHER == 0)
		open_part(out, sc);
	sc->printed_rows++;
	sc->page_rows++;
	strbuf_printf(out, "<tr class=\"%s\" data-t=\"%c\" data-k=\"", row_class(&sc->row),
		      "fbsl"[sc->row.kind]);
	stats_put_string(out, px->name);
	strbuf_add_char(out, '/');
	stats_put_string(out, sc->row.values[STATS_SVNAME].text);
	strbuf_add_str(out, "\">");
	put_name(out, sc, px);
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		if (is_shown(sc, i) && columns[i].form == LATENCY)
			put_percentile(out, known ? &view : NULL, &columns[i]);
		else if (is_shown(sc, i))
			put_cell(out, &sc->row, &columns[i]);
	strbuf_add_char(out, '\n');
}

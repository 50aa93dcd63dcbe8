/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_page_html.c - the statistics page as HTML
 *
 * Nothing is fetched from elsewhere. The page is complete without JavaScript; where it runs,
 * stats_page.js adds search, sort, history and reading on. Colours follow the browser's preference
 * of dark or light. Whatever comes from the configuration or from servers is escaped. The ends of
 * cells and rows are left out, as HTML allows.
 */
#include <string.h>
#include "base/bug.h"
#include "proxy/server.h"
#include "stats_page_assets.h"
#include "stats_page_priv.h"

#define TABLE_HEAD_PX 52
#define TABLE_ROW_PX 27
#define ROWS_TOGETHER 15 /* of a part of a table */
#define ROWS_AT_ONCE 30  /* of the page: parts behind them are late */
#define NAME_WIDTH_MAX 32

/* --- pieces ----------------------------------------------------------------------------------- */

static void put_text(struct strbuf *out, struct slice text)
{
	for (size_t i = 0; i < text.len; i++) {
		switch (text.ptr[i]) {
		case '&':
			strbuf_add_str(out, "&amp;");
			break;
		case '<':
			strbuf_add_str(out, "&lt;");
			break;
		case '>':
			strbuf_add_str(out, "&gt;");
			break;
		case '"':
			strbuf_add_str(out, "&quot;");
			break;
		case '\'':
			strbuf_add_str(out, "&#39;");
			break;
		default:
			strbuf_add_char(out, text.ptr[i]);
		}
	}
}

static void put_string(struct strbuf *out, const char *text)
{
	put_text(out, slice_of(text));
}

/* "2d3h", "5m12s" */
static void put_seconds(struct strbuf *out, int64_t s)
{
	if (s >= 86400)
		strbuf_printf(out, "%lldd%lldh", (long long)s / 86400, (long long)s / 3600 % 24);
	else if (s >= 3600)
		strbuf_printf(out, "%lldh%lldm", (long long)s / 3600, (long long)s / 60 % 60);
	else if (s >= 60)
		strbuf_printf(out, "%lldm%llds", (long long)s / 60, (long long)s % 60);
	else
		strbuf_printf(out, "%llds", (long long)(s < 0 ? 0 : s));
}

static void put_link(struct strbuf *out, const struct stats_call *sc, const char *more,
		     const char *name)
{
	struct strbuf target;

	strbuf_init(&target);
	stats_put_target(&target, sc, !sc->no_refresh);
	strbuf_add_str(&target, more);
	strbuf_add_str(out, " <a href=\"");
	put_text(out, strbuf_slice(&target));
	strbuf_printf(out, "\">%s</a>", name);
	strbuf_fini(&target);
}

/* --- columns ---------------------------------------------------------------------------------- */

enum form { NUMBER, SECONDS, TEXT };

/* Neighbours of one group stand below one title. Columns have a width of their own: browsers need
 * not look at all rows to lay out the first of them.
 */
static const struct column {
	const char *group, *title;
	unsigned field;
	enum form form;
	unsigned width;   /* digits */
} columns[] = {
	{ "Status", "", STATS_STATUS, TEXT, 13 }, { "Status", "for", STATS_LASTCHG, SECONDS, 9 },
	{ "Sessions", "now", STATS_SCUR, NUMBER, 6 },
	{ "Sessions", "max", STATS_SMAX, NUMBER, 6 },
	{ "Sessions", "limit", STATS_SLIM, NUMBER, 7 },
	{ "Sessions", "total", STATS_STOT, NUMBER, 11 },
	{ "A second", "now", STATS_RATE, NUMBER, 6 },
	{ "A second", "max", STATS_RATE_MAX, NUMBER, 6 },
	{ "Queue", "now", STATS_QCUR, NUMBER, 6 }, { "Queue", "max", STATS_QMAX, NUMBER, 6 },
	{ "Requests", "", STATS_REQ_TOT, NUMBER, 11 }, { "Bytes", "in", STATS_BIN, NUMBER, 14 },
	{ "Bytes", "out", STATS_BOUT, NUMBER, 14 },
	{ "Answers", "2xx", STATS_HRSP_2XX, NUMBER, 11 },
	{ "Answers", "3xx", STATS_HRSP_3XX, NUMBER, 8 },
	{ "Answers", "4xx", STATS_HRSP_4XX, NUMBER, 8 },
	{ "Answers", "5xx", STATS_HRSP_5XX, NUMBER, 8 },
	{ "Denied", "req", STATS_DREQ, NUMBER, 6 }, { "Denied", "resp", STATS_DRESP, NUMBER, 6 },
	{ "Errors", "req", STATS_EREQ, NUMBER, 6 }, { "Errors", "conn", STATS_ECON, NUMBER, 6 },
	{ "Errors", "resp", STATS_ERESP, NUMBER, 6 }, { "Again", "retr", STATS_WRETR, NUMBER, 6 },
	{ "Again", "redis", STATS_WREDIS, NUMBER, 7 },
	{ "Average ms", "connect", STATS_CTIME, NUMBER, 9 },
	{ "Average ms", "answer", STATS_RTIME, NUMBER, 9 },
	{ "Servers", "weight", STATS_WEIGHT, NUMBER, 8 },
	{ "Servers", "act", STATS_ACT, NUMBER, 6 }, { "Servers", "bck", STATS_BCK, NUMBER, 6 },
	{ "Check", "last", STATS_CHECK_STATUS, TEXT, 11 },
	{ "Check", "failed", STATS_CHKFAIL, NUMBER, 8 },
	{ "Check", "downs", STATS_CHKDOWN, NUMBER, 7 },
	{ "Check", "down", STATS_DOWNTIME, SECONDS, 8 },
};

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
			put_string(p->out, f->text);
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
		put_string(out, p.node);
	}
	if (sc->conf->show_desc && p.desc) {
		strbuf_add_str(out, " <span class=\"dim\">");
		put_string(out, p.desc);
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
	put_text(out, strbuf_slice(&target));
	strbuf_add_str(out, "\">\n");
	strbuf_fini(&target);
}

static void put_widths(struct strbuf *out)
{
	unsigned sum = 0;

	strbuf_add_str(out, ":root{--cols:");
	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		strbuf_printf(out, " %uch", columns[i].width);
		sum += columns[i].width;
	}
	strbuf_printf(out, ";--sum:%uch}\n", sum);
}

void stats_html_head(struct strbuf *out, const struct stats_call *sc)
{
	strbuf_add_str(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
		       "<meta charset=\"utf-8\">\n"
		       "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
		       "<title>Statistics Report for HAProxy</title>\n"
		       "<link rel=\"icon\" href=\"data:,\">\n");
	strbuf_add_str(out, "<style>\n");
	strbuf_add_str(out, stats_page_css);
	put_widths(out);
	strbuf_add_str(out, "</style>\n</head>\n");
	put_body(out, sc);
	put_title(out, sc);
	strbuf_add_str(out, "<p class=\"dim\">");
	put_link(out, sc, "", "reload");
	if (sc->conf->refresh_ms && !sc->no_refresh)
		put_link(out, sc, ";norefresh", "stop reloading");
	if (!sc->rows.up)
		put_link(out, sc, ";up", "hide servers that are down");
	put_link(out, sc, ";csv", "CSV");
	put_link(out, sc, ";json", "JSON");
	strbuf_add_str(out, "</p>\n");
	put_result(out, sc->status);
	strbuf_add_str(out, "<div id=\"tools\" hidden></div>\n");
}

/* --- tables ----------------------------------------------------------------------------------- */

static void put_head_cells(struct strbuf *out)
{
	size_t n;

	strbuf_add_str(out, "<thead><tr><th rowspan=\"2\">Name</th>");
	for (size_t i = 0; i < ARRAY_LEN(columns); i += n) {
		for (n = 1; i + n < ARRAY_LEN(columns); n++)
			if (strcmp(columns[i].group, columns[i + n].group) != 0)
				break;
		strbuf_printf(out, "<th colspan=\"%zu\" style=\"grid-column:span %zu\">%s</th>",
			      n, n, columns[i].group);
	}
	strbuf_add_str(out, "</tr>\n<tr>");
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		strbuf_printf(out, "<th data-f=\"%s\">%s</th>",
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
		put_head_cells(out);
	strbuf_add_str(out, "<tbody>\n");
}

static void open_table(struct strbuf *out, struct stats_call *sc, const struct proxy *px)
{
	sc->table = px;
	sc->table_rows = 2 + __atomic_load_n(&px->server_count, __ATOMIC_RELAXED);
	sc->printed_rows = 0;
	strbuf_add_str(out, "<section><h2>");
	put_string(out, px->name);
	if (sc->conf->show_legends)
		strbuf_printf(out, " <span class=\"dim\">%s, mode %s, id %d</span>",
			      proxy_kind_name(px), proxy_mode_name(px->mode), px->id);
	if (px->description) {
		strbuf_add_str(out, " <span class=\"dim\">");
		put_string(out, px->description);
		strbuf_add_str(out, "</span>");
	}
	strbuf_add_str(out, "</h2>\n");
	if (has_form(sc, px)) {
		struct strbuf target;

		strbuf_init(&target);
		stats_put_target(&target, sc, !sc->no_refresh);
		strbuf_add_str(out, "<form method=\"post\" action=\"");
		put_text(out, strbuf_slice(&target));
		strbuf_add_str(out, "\"><input type=\"hidden\" name=\"b\" value=\"");
		put_string(out, px->name);
		strbuf_add_str(out, "\">\n");
		strbuf_fini(&target);
	}
	strbuf_printf(out, "<div class=\"scroll\" style=\"--name:%uch;contain-intrinsic-size:"
		      "auto %upx\">\n", name_width(px),
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

static void close_table(struct strbuf *out, struct stats_call *sc)
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
			put_string(out, r->values[STATS_ADDR].text);
		if (r->values[STATS_COOKIE].type == STATS_STR) {
			strbuf_add_str(out, " cookie ");
			put_string(out, r->values[STATS_COOKIE].text);
		}
	}
	for (unsigned f = STATS_BASE_COUNT; sc->conf->show_modules && f < STATS_COUNT; f++)
		if (r->values[f].type != STATS_EMPTY && r->values[f].number)
			strbuf_printf(out, "%s %lld\n", stats_field_name(f),
				      (long long)r->values[f].number);
	strbuf_add_char(out, '"');
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
		put_string(out, name);
		strbuf_add_str(out, "\"> ");
		put_string(out, name);
		strbuf_add_str(out, "</label>");
		return;
	}
	put_string(out, name);
}

static void put_cell(struct strbuf *out, const struct stats_value *v, enum form form)
{
	if (form == TEXT)
		strbuf_add_str(out, "<td class=\"text\">");
	else if (form == SECONDS && v->type != STATS_EMPTY)
		strbuf_printf(out, "<td data-v=\"%lld\">", (long long)v->number);
	else
		strbuf_add_str(out, form == SECONDS ? "<td data-v=\"\">" : "<td>");
	if (v->type == STATS_STR)
		put_string(out, v->text);
	else if (v->type != STATS_EMPTY && form == SECONDS)
		put_seconds(out, v->number);
	else if (v->type != STATS_EMPTY)
		strbuf_add_int(out, v->number);
}

void stats_html_row(struct strbuf *out, struct stats_call *sc, const struct proxy *px)
{
	if (sc->table != px) {
		close_table(out, sc);
		open_table(out, sc, px);
	}
	if (sc->printed_rows % ROWS_TOGETHER == 0)
		open_part(out, sc);
	sc->printed_rows++;
	sc->page_rows++;
	strbuf_printf(out, "<tr class=\"%s\" data-t=\"%c\" data-k=\"", row_class(&sc->row),
		      "fbsl"[sc->row.kind]);
	put_string(out, px->name);
	strbuf_add_char(out, '/');
	put_string(out, sc->row.values[STATS_SVNAME].text);
	strbuf_add_str(out, "\">");
	put_name(out, sc, px);
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		put_cell(out, &sc->row.values[columns[i].field], columns[i].form);
	strbuf_add_char(out, '\n');
}

void stats_html_end(struct strbuf *out, struct stats_call *sc)
{
	close_table(out, sc);
	strbuf_add_str(out, "<script>\n");
	strbuf_add_str(out, stats_page_js);
	strbuf_add_str(out, "</script>\n</body>\n</html>\n");
}

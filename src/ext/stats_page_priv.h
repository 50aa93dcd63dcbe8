/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations shared by the files of the statistics page. */
#ifndef EXT_STATS_PAGE_PRIV_H
#define EXT_STATS_PAGE_PRIV_H

#include "base/slot.h"
#include "base/strbuf.h"
#include "ext/stats_page.h"
#include "manage/stats_history.h"
#include "manage/stats_walk.h"
#include "proxy/counters.h"
#include "proxy/proxy.h"
#include "proxy/walk.h"
#include "stream/service.h"

/* A scope (text), or an account. */
struct stats_name {
	struct stats_name *next;
	struct slice text, password;
};

enum stats_verdict { STATS_ALLOW, STATS_DENY, STATS_AUTH };

/* `stats http-request` and `stats admin`, in the order of the file. */
struct stats_rule {
	struct stats_rule *next;
	enum stats_verdict verdict;
	struct slice realm;
	const struct condition *condition;
};

struct stats_conf {
	struct slice uri, realm;
	bool realm_is_set;
	struct stats_name *users, *scopes;
	struct stats_rule *rules, *admins;
	int64_t refresh_ms;       /* 0: none */
	bool no_history;
	bool show_version, show_legends, show_modules, show_node, show_desc;
	const char *node, *desc;  /* NULL: the `global` values */
	const char *file;         /* of its first line */
	int line;
};

/* Settings of a proxy. A section with any `stats` line inherits none from its defaults. */
struct stats_proxy {
	struct stats_conf *conf;  /* NULL: no page */
	bool own;
};

extern struct slot stats_proxy_slot;
extern const struct service_kind stats_services[];

static inline const struct stats_conf *stats_conf_of(const struct proxy *px)
{
	const struct stats_proxy *sp = slot_of(&stats_proxy_slot, proxy_slots(px));

	return sp->conf;
}

enum stats_form { STATS_HTML, STATS_CSV, STATS_JSON, STATS_TYPED, STATS_SCHEMA };

/* Totals of everything shown, for the summary. */
struct stats_sum {
	bool begun;
	const struct proxy *px;    /* the current position */
	const struct server *srv;
	uint64_t up, drain, down, maint;
	uint64_t rate, errors;     /* per second; in the last step of the history */
	uint64_t latency[LATENCY_BUCKETS];
};

/* An answer in progress. */
struct stats_call {
	const struct stats_conf *conf;
	const struct proxy *of;    /* the proxy that serves the page */
	enum stats_form form;
	bool no_refresh, admin, started, closed;
	struct slice filter;       /* scope=: part of the names; none: all */
	struct slice status;       /* st= */
	struct slice one[2];       /* px=, sv=: the page of one object */
	const struct server *srv;  /* this object, if it is a server; else NULL */
	bool all_columns;
	bool has_span;
	struct history_span span;  /* of the sparklines */
	struct stats_sum sum;
	/* the current position */
	struct proxy_hold hold;
	const struct proxy *px;
	struct stats_walk rows;    /* of px */
	unsigned count;            /* rows of JSON so far */
	const struct proxy *table; /* the proxy whose table is open */
	unsigned table_rows, printed_rows; /* of it; the first is approximate */
	unsigned page_rows;        /* printed so far */
	bool is_late;              /* the open table is in a <noscript> part */
	struct stats_row row;
};

/* Handles a form. Returns a result of four letters: "DONE". */
const char *stats_admin_run(struct service_call *c);
/* --- stats_page_parts.c */
/* Returns true if this page may show and change <px>. */
bool stats_in_scope(const struct stats_conf *conf, const struct proxy *of, const struct proxy *px);
/* Returns true if <px> is on the requested page. */
bool stats_proxy_is_shown(const struct stats_call *sc, const struct proxy *px);
/* Fills sc->row with the object named by px= and sv=. Returns NULL: no such object, or not allowed.
 */
const struct proxy *stats_find_one(struct stats_call *sc, const struct history **ring);
/* Removes addresses and similar data, which only pages with the option show. */
void stats_hide_legends(struct stats_call *sc);
/* Appends the target of links and forms: the page with its current options. Returns false: no
 * memory.
 */
bool stats_put_target(struct strbuf *out, const struct stats_call *sc, bool with_refresh);
/* Append a text, escaped. */
void stats_put_text(struct strbuf *out, struct slice text);
void stats_put_string(struct strbuf *out, const char *text);
/* Appends "2d3h", "5m12s". */
void stats_put_seconds(struct strbuf *out, int64_t s);
/* Appends the result of a server's last check, with its reason. */
void stats_put_check(struct strbuf *out, const struct stats_row *r);

/* --- stats_page_html.c */
/* Append the parts before and after the body of any page. */
void stats_html_open(struct strbuf *out, const struct stats_call *sc);
void stats_html_close(struct strbuf *out);
void stats_html_head(struct strbuf *out, struct stats_call *sc);
void stats_html_end(struct strbuf *out, struct stats_call *sc);

/* --- stats_page_table.c */
/* Appends a row, after ending the previous table if needed. */
void stats_html_row(struct strbuf *out, struct stats_call *sc, const struct proxy *px);
/* Ends the open table, if any. */
void stats_close_table(struct strbuf *out, struct stats_call *sc);
/* Appends the style with the widths of the columns. */
void stats_put_widths(struct strbuf *out, const struct stats_call *sc);


/* --- stats_page_one.c */
/* Appends the whole page of one object. */
void stats_html_one(struct strbuf *out, struct stats_call *sc);

/* --- stats_page_sum.c */
/* Continues to count. Returns true when everything is counted. */
bool stats_sum_step(struct stats_call *sc);
/* Writes <us> in ms: three digits, or all in front of the point. */
void stats_put_ms(struct strbuf *out, uint64_t us);
void stats_put_sum(struct strbuf *out, const struct stats_call *sc);

/* --- stats_page_lines.c */
/* Appends the sparkline of a row; nothing for one without a history. */
void stats_put_line(struct strbuf *out, const struct history *h, const struct history_span *span);
/* Returns the time that sparklines span: "hour". */
const char *stats_line_time(const struct history_span *span);
/* Two charts: the last hour, the last day. */
struct stats_chart {
	enum history_figure figure;
	const char *title;
};
void stats_put_charts(struct strbuf *out, const struct history *h, const struct history_span *span,
		      const struct stats_chart *c);

#endif

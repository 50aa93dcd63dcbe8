/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the statistics page share. */
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
	const char *node, *desc;  /* NULL: those of `global` */
	const char *file;         /* of its first line */
	int line;
};

/* Of a proxy. A section that says anything of `stats` gets nothing of its defaults. */
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

/* What the summary tells of all that is shown. */
struct stats_sum {
	bool begun;
	const struct proxy *px;    /* where counting is */
	const struct server *srv;
	uint64_t up, drain, down, maint;
	uint64_t rate, errors;     /* a second; in the last step of the history */
	uint64_t latency[LATENCY_BUCKETS];
};

/* One answer. */
struct stats_call {
	const struct stats_conf *conf;
	const struct proxy *of;    /* whose page it is */
	enum stats_form form;
	bool no_refresh, admin, started, closed;
	struct slice filter;       /* scope=: a part of names; none: all */
	struct slice status;       /* st= */
	struct slice one[2];       /* px=, sv=: the page of one object */
	const struct server *srv;  /* that is this object; NULL: it is none */
	bool all_columns;
	bool has_span;
	struct history_span span;  /* of the lines */
	struct stats_sum sum;
	/* where it is */
	struct proxy_hold hold;
	const struct proxy *px;
	struct stats_walk rows;    /* of px */
	unsigned count;            /* rows of JSON */
	const struct proxy *table; /* whose is open */
	unsigned table_rows, printed_rows; /* of it; the first is about right */
	unsigned page_rows;        /* printed */
	bool is_late;              /* the part of the table that is open */
	struct stats_row row;
};

/* Carries out a form; a four-letter result: "DONE". */
const char *stats_admin_run(struct service_call *c);
/* --- stats_page_parts.c */
/* May this page show and change <px>? */
bool stats_in_scope(const struct stats_conf *conf, const struct proxy *of, const struct proxy *px);
/* Is it on the page that was asked for? */
bool stats_proxy_is_shown(const struct stats_call *sc, const struct proxy *px);
/* Fills sc->row with the object that px= and sv= name. NULL: there is none that may be shown. */
const struct proxy *stats_find_one(struct stats_call *sc, const struct history **ring);
/* Addresses and the like are only for pages that ask for them. */
void stats_hide_legends(struct stats_call *sc);
/* The target of links and forms: the page with the options that it has. False: no memory. */
bool stats_put_target(struct strbuf *out, const struct stats_call *sc, bool with_refresh);
/* Escaped. */
void stats_put_text(struct strbuf *out, struct slice text);
void stats_put_string(struct strbuf *out, const char *text);
/* "2d3h", "5m12s" */
void stats_put_seconds(struct strbuf *out, int64_t s);
/* What the last check said, and why: of servers. */
void stats_put_check(struct strbuf *out, const struct stats_row *r);

/* --- stats_page_html.c */
/* What stands before the body of any page, and behind what it has. */
void stats_html_open(struct strbuf *out, const struct stats_call *sc);
void stats_html_close(struct strbuf *out);
void stats_html_head(struct strbuf *out, struct stats_call *sc);
void stats_html_end(struct strbuf *out, struct stats_call *sc);

/* --- stats_page_table.c */
/* A row, and what ends the table before it. */
void stats_html_row(struct strbuf *out, struct stats_call *sc, const struct proxy *px);
/* Ends the one that is open, if one is. */
void stats_close_table(struct strbuf *out, struct stats_call *sc);
/* The style that knows how wide columns are. */
void stats_put_widths(struct strbuf *out, const struct stats_call *sc);


/* --- stats_page_one.c */
/* The whole page of one object. */
void stats_html_one(struct strbuf *out, struct stats_call *sc);

/* --- stats_page_sum.c */
/* Counts on; true: all is counted. */
bool stats_sum_step(struct stats_call *sc);
void stats_put_sum(struct strbuf *out, const struct stats_call *sc);

/* --- stats_page_lines.c */
/* The line of a row; nothing for one without a history. */
void stats_put_line(struct strbuf *out, const struct history *h, const struct history_span *span);
/* Which time lines show: "hour". */
const char *stats_line_time(const struct history_span *span);
/* Two charts: the last hour, the last day. */
struct stats_chart {
	enum history_figure figure;
	const char *title;
};
void stats_put_charts(struct strbuf *out, const struct history *h, const struct history_span *span,
		      const struct stats_chart *c);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the statistics page share. */
#ifndef EXT_STATS_PAGE_PRIV_H
#define EXT_STATS_PAGE_PRIV_H

#include "base/slot.h"
#include "base/strbuf.h"
#include "ext/stats_page.h"
#include "manage/stats_walk.h"
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

/* One answer. */
struct stats_call {
	const struct stats_conf *conf;
	const struct proxy *of;    /* whose page it is */
	enum stats_form form;
	bool no_refresh, admin, started, closed;
	struct slice filter;       /* scope=: a part of names; none: all */
	struct slice status;       /* st= */
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

/* May this page show and change <px>? */
bool stats_in_scope(const struct stats_conf *conf, const struct proxy *of, const struct proxy *px);
/* Carries out a form; a four-letter result: "DONE". */
const char *stats_admin_run(struct service_call *c);
/* The target of links and forms: the page with the options that it has. False: no memory. */
bool stats_put_target(struct strbuf *out, const struct stats_call *sc, bool with_refresh);

/* --- stats_page_html.c */
/* Escaped. */
void stats_put_text(struct strbuf *out, struct slice text);
void stats_put_string(struct strbuf *out, const char *text);
void stats_html_head(struct strbuf *out, const struct stats_call *sc);
void stats_html_end(struct strbuf *out, struct stats_call *sc);

/* --- stats_page_table.c */
/* A row, and what ends the table before it. */
void stats_html_row(struct strbuf *out, struct stats_call *sc, const struct proxy *px);
/* Ends the one that is open, if one is. */
void stats_close_table(struct strbuf *out, struct stats_call *sc);
/* The style that knows how wide columns are. */
void stats_put_widths(struct strbuf *out);

#endif

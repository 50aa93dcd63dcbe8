/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_file.c - edge file: dump stats-file, and counters which a process before this one has left
 *
 *	#fe guid,stot,bin,...
 *	<guid of a frontend, or of a listener: prefix-position>,<number>,...
 *	#be guid,stot,...
 *	<guid of a backend or a server>,<number>,...
 *
 * Objects without a guid are not in it. Columns are identified by name, and only counters are
 * restored: rates and ages are dumped as the reference does. Manual: management 9.5.
 */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/file.h"
#include "base/num.h"
#include "conf/conf.h"
#include "ctl/ctl.h"
#include "manage/stats_walk.h"
#include "proxy/bind.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "proxy/walk.h"

#define FILE_BYTES_MAX (256u << 20)
#define COLUMNS_MAX 128
#define NO_COUNTER UINT32_MAX

/* A column of the file and the counter that it is. */
struct file_column {
	enum stats_field field;
	unsigned counter;
};

#define F(name) { STATS_##name, NO_COUNTER }
#define C(name, counter) { STATS_##name, CNT_##counter }
#define CODES C(HRSP_1XX, HRSP_1XX), C(HRSP_2XX, HRSP_2XX), C(HRSP_3XX, HRSP_3XX), \
	C(HRSP_4XX, HRSP_4XX), C(HRSP_5XX, HRSP_5XX), C(HRSP_OTHER, HRSP_OTHER)
#define COMPRESSION C(COMP_IN, COMP_IN), C(COMP_OUT, COMP_OUT), C(COMP_BYP, COMP_BYPASS), \
	C(COMP_RSP, COMP_RESP)

/* reqbin is the same counter as bin, which is added from that column only */
static const struct file_column front_columns[] = {
	C(STOT, SESS_TOT), C(BIN, BYTES_IN), C(BOUT, BYTES_OUT), C(DREQ, DENIED_REQ),
	C(DRESP, DENIED_RESP), C(EREQ, REQ_ERRORS), F(RATE), CODES, F(REQ_RATE),
	C(REQ_TOT, REQ_TOT), COMPRESSION, F(CONN_RATE), C(CONN_TOT, CONN_TOT),
	C(INTERCEPTED, INTERCEPTED), C(DCON, DENIED_CONN), C(DSES, DENIED_SESS),
	C(WREW, FAILED_REWRITES), C(CACHE_LOOKUPS, CACHE_LOOKUPS), C(CACHE_HITS, CACHE_HITS),
	C(EINT, INTERNAL_ERRORS), C(H1SESS, SESS_H1), C(H2SESS, SESS_H2), C(H3SESS, SESS_H3),
	C(REQ_OTHER, REQ_OTHER), C(H1REQ, REQ_H1), C(H2REQ, REQ_H2), C(H3REQ, REQ_H3),
	F(REQBIN), C(REQBOUT, FRONT_REQ_OUT), C(RESBIN, FRONT_RES_IN),
	C(RESBOUT, FRONT_RES_OUT),
};
static const struct file_column back_columns[] = {
	C(STOT, SESS_TOT), C(BIN, BYTES_IN), C(BOUT, BYTES_OUT), C(DREQ, DENIED_REQ),
	C(DRESP, DENIED_RESP), C(ECON, CONN_ERRORS), C(ERESP, RESP_ERRORS), C(WRETR, RETRIES),
	C(WREDIS, REDISPATCHES), C(CHKFAIL, CHECK_FAILS), C(CHKDOWN, CHECK_DOWNS), F(LASTCHG),
	C(LBTOT, LB_TOT), F(RATE), CODES, F(HANAFAIL), C(REQ_TOT, REQ_TOT),
	C(CLI_ABRT, CLIENT_ABORTS), C(SRV_ABRT, SERVER_ABORTS), COMPRESSION, F(LASTSESS),
	C(WREW, FAILED_REWRITES), C(CONNECT, CONNECTS), C(REUSE, REUSES),
	C(CACHE_LOOKUPS, CACHE_LOOKUPS), C(CACHE_HITS, CACHE_HITS), C(EINT, INTERNAL_ERRORS),
	F(REQBIN), C(REQBOUT, BACK_REQ_OUT), C(RESBIN, BACK_RES_IN), C(RESBOUT, BACK_RES_OUT),
};

static const struct file_side {
	const char *head;          /* what its first line begins with */
	unsigned shown;
	const struct file_column *columns;
	unsigned count;
} sides[] = {
	{ "#fe guid,", STATS_SHOW_FRONTEND | STATS_SHOW_LISTENERS, front_columns,
	  ARRAY_LEN(front_columns) },
	{ "#be guid,", STATS_SHOW_BACKEND | STATS_SHOW_SERVERS, back_columns,
	  ARRAY_LEN(back_columns) },
};

/* --- dump stats-file ------------------------------------------------------------------------- */

struct file_dump {
	struct proxy_walk proxies;
	struct stats_walk rows;
	unsigned side;
	bool inside, headed;
	struct stats_row row;
};

/* The name of the row's object; its room is <text>. NULL: it has none. */
static const char *guid_of(const struct stats_walk *w, enum stats_kind kind, char *text,
			   size_t size)
{
	const struct listener_conf *at, *lc = w->listener;
	unsigned position = 0;

	if (kind == STATS_SERVER)
		return w->server->guid;
	if (kind != STATS_LISTENER)
		return w->px->guid;
	if (!lc->bind->guid_prefix)
		return NULL;
	list_for_each(at, &lc->bind->listeners, link) {
		if (at == lc)
			break;
		position++;
	}
	snprintf(text, size, "%s-%u", lc->bind->guid_prefix, position);
	return text;
}

static void put_head(struct strbuf *out, const struct file_side *side)
{
	strbuf_add_str(out, side->head);
	for (unsigned i = 0; i < side->count; i++) {
		strbuf_add_str(out, stats_field_name(side->columns[i].field));
		strbuf_add_char(out, ',');
	}
	strbuf_add_char(out, '\n');
}

static void put_object(struct strbuf *out, struct file_dump *d)
{
	const struct file_side *side = &sides[d->side];
	char text[160];
	const char *guid = guid_of(&d->rows, d->row.kind, text, sizeof(text));

	if (!guid)
		return;
	strbuf_add_str(out, guid);
	strbuf_add_char(out, ',');
	for (unsigned i = 0; i < side->count; i++) {
		const struct stats_value *v = &d->row.values[side->columns[i].field];

		strbuf_add_int(out, v->type == STATS_EMPTY || v->number < 0 ? 0 : v->number);
		strbuf_add_char(out, ',');
	}
	strbuf_add_char(out, '\n');
}

/* The rows of a proxy. False: others shall have their turn. */
static bool dump_proxy(struct ctl_request *rq, struct file_dump *d)
{
	enum stats_found found = STATS_ROW;

	if (!d->inside)
		stats_walk_enter(&d->rows, d->proxies.at);
	d->inside = true;
	while (found == STATS_ROW) {
		if (ctl_is_due(rq))
			return false;
		found = stats_walk_next(&d->rows, &d->row);
		if (found == STATS_ROW)
			put_object(rq->out, d);
	}
	d->inside = found == STATS_PAUSE;
	return !d->inside;
}

static enum ctl_step dump_stats_file(struct ctl_request *rq)
{
	struct file_dump *d = rq->state ? rq->state : proxy_walk_begin(rq, sizeof(*d));

	if (!d)
		return CTL_DONE;
	for (; d->side < ARRAY_LEN(sides); d->side++, d->headed = false) {
		if (!d->headed) {
			put_head(rq->out, &sides[d->side]);
			d->proxies.at = proxies_first(d->proxies.config);
			d->rows.shown = sides[d->side].shown;
			d->rows.id = -1;
		}
		d->headed = true;
		for (; d->proxies.at; d->proxies.at = proxy_next(d->proxies.at))
			if (!d->proxies.at->disabled && !dump_proxy(rq, d))
				return CTL_MORE;
		if (d->side + 1 < ARRAY_LEN(sides))
			strbuf_add_char(rq->out, '\n');
	}
	return CTL_DONE;
}

/* --- stats-file ------------------------------------------------------------------------------ */

static struct slot path_slot = { .of = SLOT_CONFIG, .size = sizeof(const char *) };

/* The counters that a line is for; NULL: no object has this name. */
static struct counter_set *counters_of(const struct config *cfg, bool back, const char *guid)
{
	struct listener_conf *lc;
	struct bind_conf *b;
	struct server *srv;

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		if (!px->state)
			continue;
		if (px->guid && strcmp(px->guid, guid) == 0 &&
		    px->caps & (back ? PROXY_BE : PROXY_FE))
			return back ? &px->state->be : &px->state->fe;
		for (srv = back ? server_first(px) : NULL; srv; srv = server_next(srv))
			if (srv->guid && strcmp(srv->guid, guid) == 0)
				return srv->state ? &srv->state->counters : NULL;
		if (back)
			continue;
		list_for_each(b, &px->binds, link) {
			size_t len = b->guid_prefix ? strlen(b->guid_prefix) : 0;
			unsigned long position = 0;

			if (!len || strncmp(guid, b->guid_prefix, len) != 0 || guid[len] != '-')
				continue;
			list_for_each(lc, &b->listeners, link)
				if (position++ == strtoul(guid + len + 1, NULL, 10))
					return lc->state ? &lc->state->counters : NULL;
		}
	}
	return NULL;
}

/* What each column of the file is: a counter, or NO_COUNTER. */
struct file_layout {
	const struct file_side *side; /* NULL: no head was read */
	unsigned counters[COLUMNS_MAX];
	unsigned count;
};

/* False: too many columns. */
static bool take_head(struct file_layout *lay, const struct file_side *side, char *rest)
{
	char *name;

	lay->side = side;
	lay->count = 0;
	while ((name = strsep(&rest, ",")) != NULL && *name) {
		if (lay->count == COLUMNS_MAX)
			return false;
		lay->counters[lay->count] = NO_COUNTER;
		for (unsigned i = 0; i < side->count; i++)
			if (strcmp(stats_field_name(side->columns[i].field), name) == 0)
				lay->counters[lay->count] = side->columns[i].counter;
		lay->count++;
	}
	return true;
}

/* A line of numbers; with <set> NULL it is only looked at. False: it is wrong. */
static bool take_numbers(const struct file_layout *lay, char *rest, struct counter_set *set)
{
	unsigned at = 0;
	char *word;

	while ((word = strsep(&rest, ",")) != NULL && *word) {
		int64_t n;

		if (at == lay->count || !num_parse_range(slice_of(word), 0, INT64_MAX, &n))
			return false;
		if (set && lay->counters[at] < set->count)
			counter_add(set, lay->counters[at], n);
		at++;
	}
	return at == lay->count;
}

/* Goes through a file, which is cut into pieces; <apply> false: only looks whether it is right. */
static bool take_lines(const struct config *cfg, char *text, bool apply)
{
	struct file_layout lay = { 0 };
	char *rest = text, *line, *guid;

	while ((line = strsep(&rest, "\n")) != NULL) {
		struct counter_set *set = NULL;
		bool head = false;

		for (unsigned i = 0; i < ARRAY_LEN(sides) && !head; i++) {
			head = strncmp(line, sides[i].head, strlen(sides[i].head)) == 0;
			if (head && !take_head(&lay, &sides[i], line + strlen(sides[i].head)))
				return false;
		}
		if (head || !*line)
			continue;
		if (!lay.side)
			return false;
		guid = strsep(&line, ",");
		if (apply)
			set = counters_of(cfg, lay.side == &sides[1], guid);
		if (!line || !take_numbers(&lay, line, set))
			return false;
	}
	return true;
}

/* In a reload these counters are replaced by those that live on. */
static void stats_file_apply(struct config *cfg, struct diag_list *diags)
{
	static const struct diag_place bare = { .form = DIAG_BARE };
	const char *path = *(const char **)slot_of(&path_slot, config_slots(cfg));
	char *text, *copy;
	size_t len;

	if (!path)
		return;
	text = file_load(path, FILE_BYTES_MAX, &len);
	copy = text ? strdup(text) : NULL;
	if (!text)
		diag_add(diags, DIAG_WARNING, &bare, NULL, "config: Can't load stats-file '%s': "
			 "cannot open file.", path);
	else if (!copy || !take_lines(cfg, copy, false))
		diag_add(diags, DIAG_WARNING, &bare, NULL, "config: Invalid stats-file format in "
			 "file '%s'.", path);
	else
		take_lines(cfg, text, true);
	free(copy);
	free(text);
}

static bool parse_path(struct conf_line *l)
{
	const char **path = slot_of(&path_slot, l->slots);

	*path = conf_path(l->cfg, conf_next(l));
	return *path || conf_error(l, 0, NULL, "out of memory.");
}

static const struct conf_keyword keywords[] = {
	{ .words = "stats-file", .where = CONF_GLOBAL, .min_args = 1, .max_args = 1,
	  .parse = parse_path, .syntax = "<path>",
	  .help = "counters to begin with, from dump stats-file" },
	{ 0 }
};

static const struct ctl_command commands[] = {
	{ .words = "dump stats-file", .level = CTL_USER,
	  .help = "print the counters of all objects with a guid, for stats-file",
	  .run = dump_stats_file, .release = proxy_walk_release },
	{ 0 }
};

static struct slot *const slots[] = { &path_slot, NULL };

const struct module mod_stats_file = {
	.name = "stats_file", .keywords = keywords, .commands = commands, .slots = slots,
	.check = stats_file_apply,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prometheus.c - the service prometheus-exporter
 *
 * The text format groups by metric, but values are read by object. So the objects of one scope are
 * read once, some per part, into rows of numbers; then metric after metric is printed from these:
 *
 *    for each scope asked for:   COLLECT object by object  ->  PRINT metric by metric
 *
 * Reading is the expensive half: its cost does not grow with the number of metrics.
 */
#include "ext/prometheus.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/module.h"
#include "codec/uri.h"
#include "dns/resolvers.h"
#include "manage/stats_walk.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "proxy/walk.h"
#include "stream/service.h"
#include "stream/stream.h"
#include "stream/tracing.h"
#include "table/table.h"
#include "prometheus_metrics.h"
#include "prometheus_priv.h"

/* How many objects are read, and about how many bytes are printed, in one part. */
#define OBJECTS_A_PART 64
#define BYTES_A_PART 8192

enum form { FORM_NUMBER, FORM_SECONDS, FORM_STATUS, FORM_CHECK, FORM_CODES, FORM_SERVERS,
	    FORM_CHECKS, FORM_TEXT };

/* In the order of the answer; bits of the query. */
enum scope { SCOPE_PROCESS, SCOPE_FRONTEND, SCOPE_LISTENER, SCOPE_BACKEND, SCOPE_SERVER,
	     SCOPE_TABLE, SCOPE_RESOLVER, SCOPE_COUNT };

static const struct {
	const char *name, *query;
	char letter;
} scopes[SCOPE_COUNT] = {
	{ "process", "global", 'P' }, { "frontend", "frontend", 'F' },
	{ "listener", "listener", 'L' }, { "backend", "backend", 'B' },
	{ "server", "server", 'S' }, { "sticktable", "sticktable", 'T' },
	{ "resolver", "resolver", 'R' },
};

struct metric {
	unsigned field;
	const char *name, *counter_in, *gauge_in;
	enum form form;
	bool http_only;
};

static const struct metric metrics[] = {
#define X(field, name, counter, gauge, form, http) \
	{ STATS_##field, name, counter, gauge, FORM_##form, http },
	METRICS(X)
#undef X
#define X(name, sides, nature) \
	{ STATS_BASE_COUNT + STATS_EXTRA_##name, #name, nature[0] == 'C' ? sides : "", \
	  nature[0] == 'G' ? sides : "", FORM_NUMBER, false },
	STATS_EXTRA(X)
#undef X
#define X(id, name, sides, nature, what) \
	{ STATS_##id, nature[0] == 'C' ? name "_total" : name, nature[0] == 'C' ? sides : "", \
	  nature[0] == 'G' ? sides : "", FORM_NUMBER, false },
	STATS_OWN(X)
#undef X
};

#define METRIC_COUNT (sizeof(metrics) / sizeof(*metrics))

/* A counter of a module, which is shown when asked for. */
static bool is_extra(const struct metric *m)
{
	return m->field >= STATS_BASE_COUNT && m->field < STATS_CSV_COUNT;
}

/* One that the reference has not: shown where there is a figure. */
static bool is_own(const struct metric *m)
{
	return m->field >= STATS_CSV_COUNT;
}

enum process_type { GAUGE, COUNTER };

static const struct {
	const char *field, *name;
	enum process_type type;
	enum form form;
} process_metrics[] = {
#define X(field, name, type, form) { field, name, type, FORM_##form },
	PROCESS_METRICS(X)
#undef X
};

static const char *const codes[] = { "1xx", "2xx", "3xx", "4xx", "5xx", "other" };
static const char *const frontend_states[] = { "DOWN", "UP" };
static const char *const listener_states[] = { "WAITING", "OPEN", "FULL" };
static const char *const server_states[] = { "DOWN", "UP", "MAINT", "DRAIN", "NOLB" };
static const char *const check_states[] = {
	"HANA", "SOCKERR", "L4OK", "L4TOUT", "L4CON", "L6OK", "L6TOUT", "L6RSP", "L7TOUT", "L7RSP",
	"L7OK", "L7OKC", "L7STS", "PROCERR", "PROCTOUT", "PROCOK",
};

/* A figure that is not there. */
#define NOTHING INT64_MIN

/* One object: what names it, and its figures of the scope's metrics in their order. */
struct row {
	struct row *next;
	const struct proxy *px;
	const char *name;       /* of the listener or server */
	bool is_http;
	struct latency_view *latency; /* owned; NULL: not asked for, or nothing counted */
	int64_t codes[ARRAY_LEN(codes)];
	int64_t servers[ARRAY_LEN(server_states)], checks[ARRAY_LEN(check_states)];
	int64_t values[];
};

struct scrape {
	/* what was asked for */
	unsigned scopes;                 /* bits */
	struct slice names[32];          /* metrics=: decoded, in the arena */
	bool excluded[32];
	unsigned name_count;
	bool only_named;                 /* one at least is not an exclusion */
	bool no_maint, extra, histograms;
	/* where it is */
	struct proxy_hold hold;
	enum scope scope;
	bool entered, printing;
	unsigned short wanted[METRIC_COUNT]; /* of this scope: numbers of metrics */
	size_t wanted_count;
	size_t metric;                   /* among these; then the histograms */
	struct stats_walk walk;          /* collecting */
	int64_t servers[ARRAY_LEN(server_states)], checks[ARRAY_LEN(check_states)];
	struct row *rows, **last, *at;
};

/* --- the query -------------------------------------------------------------------------------- */

static bool take_scope(struct scrape *sc, struct slice value, bool first)
{
	if (first)
		sc->scopes = 0;
	if (slice_eq(value, SLICE("*"))) {
		sc->scopes = (1u << SCOPE_COUNT) - 1;
		return true;
	}
	if (!value.len)
		return true;
	for (unsigned i = 0; i < SCOPE_COUNT; i++)
		if (slice_eq(value, slice_of(scopes[i].query))) {
			sc->scopes |= 1u << i;
			return true;
		}
	return false;
}

static void take_metrics(struct scrape *sc, struct slice value)
{
	while (value.len && sc->name_count < ARRAY_LEN(sc->names)) {
		const char *comma = memchr(value.ptr, ',', value.len);
		struct slice name = value;

		if (comma)
			name.len = (size_t)(comma - value.ptr);
		value.ptr += name.len + (comma != NULL);
		value.len -= name.len + (comma != NULL);
		sc->excluded[sc->name_count] = name.len && name.ptr[0] == '-';
		if (name.len && (name.ptr[0] == '-' || name.ptr[0] == '+')) {
			name.ptr++;
			name.len--;
		}
		if (!sc->excluded[sc->name_count])
			sc->only_named = true;
		sc->names[sc->name_count++] = name;
	}
}

/* False: the query is refused. */
static bool read_query(struct scrape *sc, struct stream *s)
{
	struct slice query = http_msg_query(&s->req), name, value;
	bool first = true;

	sc->scopes = (1u << SCOPE_COUNT) - 1;
	while (uri_query_next(&query, '&', &name, &value)) {
		char *text = arena_alloc(&s->arena, value.len + 1);

		if (!text)
			return false;
		value = slice_make(text, uri_decode(value, true, text));
		if (slice_eq(name, SLICE("scope"))) {
			if (!take_scope(sc, value, first))
				return false;
			first = false;
		} else if (slice_eq(name, SLICE("metrics"))) {
			take_metrics(sc, value);
		} else if (slice_eq(name, SLICE("no-maint"))) {
			sc->no_maint = true;
		} else if (slice_eq(name, SLICE("extra-counters"))) {
			sc->extra = true;
		} else if (slice_eq(name, SLICE("histograms"))) {
			sc->histograms = true;
		}
	}
	return true;
}

/* Is this metric wanted in this scope? */
static bool is_wanted(const struct scrape *sc, enum scope scope, const char *name)
{
	char text[128];
	struct slice full;

	if (!sc->name_count)
		return true;
	full = slice_make(text, (size_t)snprintf(text, sizeof(text), "haproxy_%s_%s",
						 scopes[scope].name, name));
	for (unsigned i = 0; i < sc->name_count; i++)
		if (slice_eq(sc->names[i], full))
			return !sc->excluded[i];
	return !sc->only_named;
}

static bool metric_is_of(const struct scrape *sc, size_t i, enum scope scope)
{
	const struct metric *m = &metrics[i];
	char letter = scopes[scope].letter;

	return (!is_extra(m) || sc->extra) &&
	       (strchr(m->counter_in, letter) || strchr(m->gauge_in, letter)) &&
	       is_wanted(sc, scope, m->name);
}

/* --- reading an object ------------------------------------------------------------------------ */

static int64_t index_of(const char *const *list, size_t count, const char *text, size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(list[i]) == len && memcmp(list[i], text, len) == 0)
			return (int64_t)i;
	return NOTHING;
}

/* The state, by the first word of the status column. */
static int64_t state_of(enum scope scope, const struct stats_row *r)
{
	const char *text = r->values[STATS_STATUS].text;
	size_t len = strcspn(text, " ");
	int64_t i;

	if (scope == SCOPE_LISTENER)
		return index_of(listener_states, ARRAY_LEN(listener_states), text, len);
	if (scope != SCOPE_SERVER)
		return strncmp(text, "STOP", 4) != 0 && strncmp(text, "DOWN", 4) != 0;
	i = index_of(server_states, ARRAY_LEN(server_states), text, len);
	return i == NOTHING ? 1 : i; /* "no check" is up */
}

static int64_t check_of(const struct stats_row *r)
{
	const struct stats_value *v = &r->values[STATS_CHECK_STATUS];
	const char *text = v->type == STATS_STR && v->text ? v->text : NULL;

	if (!text)
		return NOTHING;
	if (strncmp(text, "* ", 2) == 0)
		text += 2;
	return index_of(check_states, ARRAY_LEN(check_states), text, strlen(text));
}

static int64_t value_of(enum scope scope, const struct metric *m, const struct stats_row *r)
{
	const struct stats_value *v = &r->values[m->field];

	if (m->form == FORM_STATUS)
		return state_of(scope, r);
	if (m->form == FORM_CHECK)
		return check_of(r);
	return v->type == STATS_EMPTY || v->type == STATS_STR ? NOTHING : v->number;
}

static struct row *add_row(struct scrape *sc, const struct stats_row *r)
{
	const struct proxy *px = sc->walk.px;
	struct row *row = calloc(1, sizeof(*row) + sc->wanted_count * sizeof(row->values[0]));

	if (!row)
		return NULL;
	row->px = px;
	if (r->kind == STATS_SERVER || r->kind == STATS_LISTENER)
		row->name = r->values[STATS_SVNAME].text;
	row->is_http = px->mode == PROXY_MODE_HTTP;
	for (size_t i = 0; i < sc->wanted_count; i++)
		row->values[i] = value_of(sc->scope, &metrics[sc->wanted[i]], r);
	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		row->codes[i] = r->values[STATS_HRSP_1XX + i].number;
	*sc->last = row;
	sc->last = &row->next;
	return row;
}

/* The histograms of the object that <row> is of. False: no memory. */
static bool add_latency(const struct scrape *sc, struct row *row, const struct latency_set *from)
{
	struct latency_view view;

	if (!row || !sc->histograms || !latency_set_read(from, &view))
		return row != NULL;
	row->latency = malloc(sizeof(view));
	if (row->latency)
		*row->latency = view;
	return row->latency != NULL;
}

/* A backend tells how many of its servers, which come before it, are in each state. */
static void count_server(struct scrape *sc, const struct stats_row *r)
{
	int64_t check = check_of(r);

	sc->servers[state_of(SCOPE_SERVER, r)]++;
	if (check != NOTHING)
		sc->checks[check]++;
}

static struct row *add_backend(struct scrape *sc, const struct stats_row *r)
{
	struct row *row = add_row(sc, r);

	if (row) {
		memcpy(row->servers, sc->servers, sizeof(row->servers));
		memcpy(row->checks, sc->checks, sizeof(row->checks));
	}
	memset(sc->servers, 0, sizeof(sc->servers));
	memset(sc->checks, 0, sizeof(sc->checks));
	return row;
}

/* Keeps what is asked for of a row. False: no memory. */
static bool collect_row(struct scrape *sc, const struct stats_row *r)
{
	const struct proxy_state *state = sc->walk.px->state;

	switch (r->kind) {
	case STATS_FRONTEND:
		return add_latency(sc, add_row(sc, r), &state->fe_latency);
	case STATS_BACKEND:
		return add_latency(sc, add_backend(sc, r), &state->be_latency);
	case STATS_SERVER:
		if (sc->scope == SCOPE_SERVER)
			return add_latency(sc, add_row(sc, r), &sc->walk.server->state->latency);
		count_server(sc, r);
		return true;
	case STATS_LISTENER:
		break;
	}
	return add_row(sc, r) != NULL;
}

/* --- printing --------------------------------------------------------------------------------- */

void prometheus_put_name(struct strbuf *out, const char *scope, const char *name)
{
	strbuf_add_str(out, "haproxy_");
	strbuf_add_str(out, scope);
	strbuf_add_char(out, '_');
	strbuf_add_str(out, name);
}

static void put_help(struct strbuf *out, enum scope scope, const char *name, const char *help,
		     bool counter)
{
	strbuf_add_str(out, "# HELP ");
	prometheus_put_name(out, scopes[scope].name, name);
	strbuf_add_char(out, ' ');
	strbuf_add_str(out, help);
	strbuf_add_str(out, "\n# TYPE ");
	prometheus_put_name(out, scopes[scope].name, name);
	strbuf_add_str(out, counter ? " counter\n" : " gauge\n");
}

void prometheus_put_micro(struct strbuf *out, uint64_t micro)
{
	char digits[7];

	for (int i = 5, rest = (int)(micro % 1000000); i >= 0; i--, rest /= 10)
		digits[i] = (char)('0' + rest % 10);
	strbuf_add_int(out, (int64_t)(micro / 1000000));
	strbuf_add_char(out, '.');
	strbuf_add(out, slice_make(digits, 6));
}

void prometheus_put_label(struct strbuf *out, const char *name, const char *text, char before)
{
	strbuf_add_char(out, before);
	strbuf_add_str(out, name);
	strbuf_add_str(out, "=\"");
	while (*text) {
		size_t plain = strcspn(text, "\"\\\n");

		strbuf_add(out, slice_make(text, plain));
		text += plain;
		if (!*text)
			break;
		strbuf_add_char(out, '\\');
		strbuf_add_char(out, *text == '\n' ? 'n' : *text);
		text++;
	}
	strbuf_add_char(out, '"');
}

/* Whose counter it is: what stands before the first underscore. */
static void put_module(struct strbuf *out, const char *name)
{
	char module[8];
	bool packs;

	snprintf(module, sizeof(module), "%.*s", (int)strcspn(name, "_"), name);
	packs = strcmp(module, "pack") == 0 || strcmp(module, "qpack") == 0;
	prometheus_put_label(out, "mod", packs ? "h3" : module, ',');
}

static void put_name(struct strbuf *out, enum scope scope, const struct metric *m,
		     const struct row *row)
{
	prometheus_put_name(out, scopes[scope].name, m->name);
	prometheus_put_label(out, "proxy", row->px->name, '{');
	if (row->name)
		prometheus_put_label(out, scopes[scope].name, row->name, ',');
	if (is_extra(m))
		put_module(out, m->name);
}

static void put_set(struct strbuf *out, enum scope scope, const struct metric *m,
		    const struct row *row, int64_t value)
{
	const char *const *labels = codes;
	const int64_t *counts = row->codes;
	size_t count = ARRAY_LEN(codes);

	if (m->form == FORM_CHECK || m->form == FORM_CHECKS) {
		labels = check_states;
		count = ARRAY_LEN(check_states);
		counts = row->checks;
	} else if (m->form == FORM_SERVERS || scope == SCOPE_SERVER) {
		if (m->form != FORM_CODES) {
			labels = server_states;
			count = ARRAY_LEN(server_states);
			counts = row->servers;
		}
	} else if (m->form == FORM_STATUS) {
		labels = scope == SCOPE_LISTENER ? listener_states : frontend_states;
		count = scope == SCOPE_LISTENER ? ARRAY_LEN(listener_states)
						: ARRAY_LEN(frontend_states);
	}
	for (size_t i = 0; i < count; i++) {
		bool one_of = m->form == FORM_STATUS || m->form == FORM_CHECK;

		put_name(out, scope, m, row);
		prometheus_put_label(out, m->form == FORM_CODES ? "code" : "state", labels[i], ',');
		strbuf_add_str(out, "} ");
		strbuf_add_int(out, one_of ? value == (int64_t)i : counts[i]);
		strbuf_add_char(out, '\n');
	}
}

static bool is_hidden(const struct metric *m, const struct row *row, int64_t value)
{
	if (m->http_only && !row->is_http)
		return true;
	return value == NOTHING && (m->form == FORM_CHECK || m->field == STATS_CHECK_CODE ||
				    m->field == STATS_CHECK_DURATION || is_own(m));
}

static void put_row(struct strbuf *out, enum scope scope, const struct metric *m,
		    const struct row *row, int64_t value)
{
	if (is_hidden(m, row, value))
		return;
	if (m->form != FORM_NUMBER && m->form != FORM_SECONDS) {
		put_set(out, scope, m, row, value);
		return;
	}
	put_name(out, scope, m, row);
	strbuf_add_str(out, "} ");
	if (value == NOTHING)
		strbuf_add_str(out, "NaN");
	else if (m->form != FORM_SECONDS)
		strbuf_add_int(out, value);
	else if (value < 0)
		strbuf_printf(out, "%f", (double)value / 1000);
	else
		prometheus_put_micro(out, (uint64_t)value * 1000);
	strbuf_add_char(out, '\n');
}

/* --- one scope after the other ---------------------------------------------------------------- */

static void drop_rows(struct scrape *sc)
{
	while (sc->rows) {
		struct row *next = sc->rows->next;

		free(sc->rows->latency);
		free(sc->rows);
		sc->rows = next;
	}
	sc->last = &sc->rows;
}

/* What is to be read and printed of the scope that begins. */
static void enter_scope(struct scrape *sc, const struct proxy *first)
{
	static const unsigned shown[SCOPE_COUNT] = {
		[SCOPE_FRONTEND] = STATS_SHOW_FRONTEND, [SCOPE_LISTENER] = STATS_SHOW_LISTENERS,
		[SCOPE_BACKEND] = STATS_SHOW_BACKEND | STATS_SHOW_SERVERS,
		[SCOPE_SERVER] = STATS_SHOW_SERVERS,
	};

	sc->wanted_count = 0;
	for (size_t i = 0; i < METRIC_COUNT; i++)
		if (metric_is_of(sc, i, sc->scope))
			sc->wanted[sc->wanted_count++] = (unsigned short)i;
	sc->walk.shown = shown[sc->scope];
	sc->walk.id = -1;
	sc->walk.no_maint = sc->no_maint;
	sc->entered = true;
	stats_walk_enter(&sc->walk, first);
}

/* Reads some more objects; false: no memory. */
static bool collect_some(struct scrape *sc)
{
	struct stats_row r;

	for (unsigned n = 0; sc->walk.px && n < OBJECTS_A_PART; n++) {
		enum stats_found found = stats_walk_next(&sc->walk, &r);

		if (found == STATS_PAUSE)
			return true;
		if (found == STATS_END)
			stats_walk_enter(&sc->walk, proxy_next(sc->walk.px));
		else if (!collect_row(sc, &r))
			return false;
	}
	if (!sc->walk.px) {
		sc->printing = true;
		sc->metric = 0;
		sc->at = NULL;
	}
	return true;
}

/* Is there a row that shows this metric? Its help is not printed otherwise. */
static bool is_shown_at_all(const struct scrape *sc, const struct metric *m, size_t place)
{
	for (const struct row *row = sc->rows; row; row = row->next)
		if (!is_hidden(m, row, row->values[place]))
			return true;
	return false;
}

/* Prints the metric that is next, from the row where the last part ended. */
static void print_metric(struct scrape *sc, struct strbuf *out)
{
	size_t place = sc->metric;
	const struct metric *m = &metrics[sc->wanted[place]];

	if (!sc->at) {
		if (!is_shown_at_all(sc, m, place)) {
			sc->metric++;
			return;
		}
		put_help(out, sc->scope, m->name, stats_field_help(m->field),
			 strchr(m->counter_in, scopes[sc->scope].letter));
		sc->at = sc->rows;
	}
	for (; sc->at && out->len < BYTES_A_PART; sc->at = sc->at->next)
		put_row(out, sc->scope, m, sc->at, sc->at->values[place]);
	if (!sc->at)
		sc->metric++;
}

/* The next histogram, from the row where the last part ended. */
static void print_histogram(struct scrape *sc, struct strbuf *out)
{
	enum time_kind kind = (enum time_kind)(sc->metric - sc->wanted_count);
	const char *scope = scopes[sc->scope].name;

	if (!sc->at && is_wanted(sc, sc->scope, prometheus_histogram_name(kind))) {
		for (sc->at = sc->rows; sc->at && !sc->at->latency;)
			sc->at = sc->at->next;
		if (sc->at)
			prometheus_put_histogram_help(out, scope, kind);
	}
	for (; sc->at && out->len < BYTES_A_PART; sc->at = sc->at->next)
		if (sc->at->latency)
			prometheus_put_histogram(out, scope, kind, sc->at->px, sc->at->name,
						 sc->at->latency);
	if (!sc->at)
		sc->metric++;
}

static void print_some(struct scrape *sc, struct strbuf *out)
{
	size_t last = sc->wanted_count + (sc->histograms ? TIME_KINDS : 0);

	while (sc->metric < last && out->len < BYTES_A_PART) {
		if (sc->metric >= sc->wanted_count)
			print_histogram(sc, out);
		else
			print_metric(sc, out);
	}
	if (sc->metric < last)
		return;
	drop_rows(sc);
	sc->printing = false;
	sc->scope++;
	sc->entered = false;
}

struct process_print {
	const struct scrape *sc;
	struct strbuf *out;
};

static void print_process_field(void *ctx, const struct stats_process_field *f)
{
	struct process_print *p = ctx;

	for (size_t i = 0; i < ARRAY_LEN(process_metrics); i++) {
		const char *name = process_metrics[i].name;

		if (strcmp(process_metrics[i].field, f->name) != 0 ||
		    !is_wanted(p->sc, SCOPE_PROCESS, name))
			continue;
		put_help(p->out, SCOPE_PROCESS, name, f->help, process_metrics[i].type == COUNTER);
		prometheus_put_name(p->out, "process", name);
		if (process_metrics[i].form == FORM_TEXT) {
			const char *label = strcmp(f->name, "node") ? "version" : "node";

			prometheus_put_label(p->out, label, f->text, '{');
			strbuf_add_str(p->out, "} 1\n");
		} else if (f->number == (double)(int64_t)f->number) {
			strbuf_add_char(p->out, ' ');
			strbuf_add_int(p->out, (int64_t)f->number);
			strbuf_add_char(p->out, '\n');
		} else {
			strbuf_printf(p->out, " %.15g\n", f->number);
		}
	}
}

struct resolver_print {
	struct strbuf *out;
	enum resolve_counter which;
};

static void print_resolver(void *ctx, const struct resolvers_figures *f)
{
	struct resolver_print *p = ctx;

	prometheus_put_name(p->out, "resolver", resolvers_column(p->which));
	prometheus_put_label(p->out, "resolver", f->section, '{');
	prometheus_put_label(p->out, "nameserver", f->nameserver, ',');
	strbuf_printf(p->out, "} %llu\n", (unsigned long long)f->value[p->which]);
}

static void print_resolvers(const struct scrape *sc, const struct config *cfg, struct strbuf *out)
{
	struct resolver_print p = { .out = out };

	for (unsigned i = 0; i < RESOLVE_CNT_COUNT && resolvers_any(cfg); i++) {
		p.which = (enum resolve_counter)i;
		if (!is_wanted(sc, SCOPE_RESOLVER, resolvers_column(p.which)))
			continue;
		put_help(out, SCOPE_RESOLVER, resolvers_column(p.which),
			 resolvers_column_help(p.which), false);
		resolvers_each(cfg, print_resolver, &p);
	}
}

enum table_metric { TABLE_SIZE, TABLE_USED, TABLE_UPDATES, TABLE_METRICS };

static uint64_t table_figure(const struct table *t, enum table_metric which)
{
	switch (which) {
	case TABLE_SIZE: return table_state_limits(t->state).size;
	case TABLE_USED: return table_state_used(t->state);
	default: return table_state_changes(t->state);
	}
}

static void print_tables(const struct scrape *sc, const struct config *cfg, struct strbuf *out)
{
	static const struct { const char *name, *help; } rows[TABLE_METRICS] = {
		[TABLE_SIZE] = { "size", "Most entries that the stick table may have." },
		[TABLE_USED] = { "used", "Entries of the stick table." },
		[TABLE_UPDATES] = { "local_updates", "Changes of entries by this process, modulo "
				    "4294967296." },
	};

	for (unsigned i = 0; i < TABLE_METRICS && tables_first(cfg); i++) {
		if (!is_wanted(sc, SCOPE_TABLE, rows[i].name))
			continue;
		put_help(out, SCOPE_TABLE, rows[i].name, rows[i].help, false);
		for (const struct table *t = tables_first(cfg); t; t = t->next) {
			prometheus_put_name(out, scopes[SCOPE_TABLE].name, rows[i].name);
			prometheus_put_label(out, "name", t->name, '{');
			prometheus_put_label(out, "type",
					     table_type_name((enum table_type)t->shape.type), ',');
			strbuf_printf(out, "} %llu\n",
				      (unsigned long long)table_figure(t, (enum table_metric)i));
		}
	}
}

/* --- the service ------------------------------------------------------------------------------ */

static bool prometheus_start(struct service_call *c)
{
	struct scrape *sc = c->state;

	sc->last = &sc->rows;
	proxies_hold(&sc->hold);
	if (!read_query(sc, c->stream)) {
		c->status = 400;
		return false;
	}
	return http_msg_add_field(c->head, SLICE("cache-control"), SLICE("no-cache")) &&
	       http_msg_add_field(c->head, SLICE("content-type"),
				  SLICE("text/plain; version=0.0.4"));
}

static enum service_result prometheus_part(struct service_call *c, struct strbuf *out)
{
	struct scrape *sc = c->state;

	while (sc->scope < SCOPE_COUNT && !(sc->scopes & 1u << sc->scope))
		sc->scope++;
	if (sc->scope == SCOPE_COUNT)
		return SERVICE_DONE;
	if (sc->scope == SCOPE_PROCESS) {
		struct process_print p = { sc, out };

		stats_each_process_field(c->proxy->config, print_process_field, &p);
		if (!sc->name_count)
			stream_tracing_figures(out);
		sc->scope++;
		return SERVICE_MORE;
	}
	if (sc->scope == SCOPE_TABLE || sc->scope == SCOPE_RESOLVER) {
		if (sc->scope == SCOPE_TABLE)
			print_tables(sc, c->proxy->config, out);
		else
			print_resolvers(sc, c->proxy->config, out);
		sc->scope++;
		return SERVICE_MORE;
	}
	if (!sc->printing) {
		if (!sc->entered)
			enter_scope(sc, proxies_first(c->proxy->config));
		return collect_some(sc) ? SERVICE_MORE : SERVICE_ERROR;
	}
	print_some(sc, out);
	return SERVICE_MORE;
}

static void prometheus_end(struct service_call *c)
{
	struct scrape *sc = c->state;

	drop_rows(sc);
	proxies_release(&sc->hold);
}

static bool prometheus_parse(struct conf_line *l, const void **arg)
{
	latency_want(l->cfg);
	return true;
}

static const struct service_kind services[] = {
	{ .name = "prometheus-exporter", .shown = "<PROMEX>", .state_size = sizeof(struct scrape),
	  .parse = prometheus_parse,
	  .start = prometheus_start, .part = prometheus_part, .end = prometheus_end,
	  .help = "counters as text for Prometheus" },
	{ 0 }
};

const struct module mod_prometheus = { .name = "prometheus", .services = services };

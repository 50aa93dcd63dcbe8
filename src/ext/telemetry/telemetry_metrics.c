/* SPDX-License-Identifier: GPL-2.0-or-later */
/* telemetry_metrics.c - the figures of the exporter for Prometheus, as metrics of OTLP
 *
 * The program queries its own exporter, as a client would: with a request to a hidden backend,
 * whose service answers in parts that let other work continue. Each line of the answer becomes a
 * point, each family (# HELP, # TYPE, its lines) a metric. So names, labels and values are those of
 * the exporter.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/block.h"
#include "base/clock.h"
#include "base/diag.h"
#include "conf/conf.h"
#include "proxy/proxy.h"
#include "stream/inside.h"
#include "telemetry_priv.h"

#define BACKEND "-telemetry-"
#define LINE_MAX_BYTES 65536
#define BOUNDS_MAX 256
#define LABELS_MAX 16

/* --- the backend ------------------------------------------------------------------------------ */

bool telemetry_metrics_make(struct config *cfg, struct diag_list *diags)
{
	static const char text[] =
		"defaults " BACKEND "defaults\n"
		"	mode http\n"
		"	timeout connect 5s\n"
		"	timeout server 1m\n"
		"backend " BACKEND " from " BACKEND "defaults\n"
		"	http-request use-service prometheus-exporter\n";

	return conf_read_text(cfg, "<telemetry>", slice_of(text), diags);
}

struct proxy *telemetry_metrics_backend(const struct config *cfg)
{
	return proxy_find(cfg, BACKEND, PROXY_BE);
}

/* --- a round ---------------------------------------------------------------------------------- */

/* A series of a histogram, as its lines come. */
struct series {
	double bounds[BOUNDS_MAX], sum;
	uint64_t counts[BOUNDS_MAX + 1]; /* as they come: of all up to the bound */
	unsigned count;
};

struct telemetry_round {
	struct telemetry_round **at; /* where the owner keeps it: NULL once it is over */
	const struct telemetry *conf;
	struct inside *inside;
	uint64_t start_ns, now_ns;   /* since 1970 */
	struct strbuf line;          /* what came of one */
	struct strbuf name, help;    /* of the family */
	struct strbuf out;           /* its metric */
	struct otlp o;
	enum otlp_metric_kind kind;
	unsigned points;
	bool is_open;
	struct series series;
};

static void close_family(struct telemetry_round *r)
{
	if (!r->is_open)
		return;
	r->is_open = false;
	otlp_metric_close(&r->o, r->kind);
	if (r->points)
		telemetry_record(r->conf, OTLP_METRICS,
				 r->out.overflow ? slice_none() : strbuf_slice(&r->out),
				 r->points);
	strbuf_reset(&r->out);
	r->points = 0;
}

static void open_family(struct telemetry_round *r, struct slice type)
{
	r->kind = slice_eq(type, SLICE("counter")) ? OTLP_SUM :
		  slice_eq(type, SLICE("histogram")) ? OTLP_HISTOGRAM : OTLP_GAUGE;
	r->o = otlp_begin(&r->out, OTLP_METRICS, r->conf->json);
	otlp_metric_open(&r->o, r->kind, strbuf_slice(&r->name), strbuf_slice(&r->help));
	r->series.count = 0;
	r->is_open = true;
}

/* The text up to the next blank; *rest goes behind it. */
static struct slice take_word(struct slice *rest)
{
	const char *blank = rest->len ? memchr(rest->ptr, ' ', rest->len) : NULL;
	size_t len = blank ? (size_t)(blank - rest->ptr) : rest->len;
	struct slice word = slice_make(rest->ptr, len);

	*rest = slice_sub(*rest, len + (blank != NULL), rest->len);
	return word;
}

/* "# HELP name text" or "# TYPE name type", behind the '#'. */
static void take_comment(struct telemetry_round *r, struct slice rest)
{
	struct slice what = take_word(&rest), name = take_word(&rest);

	if (slice_eq(what, SLICE("HELP"))) {
		close_family(r);
		strbuf_reset(&r->name);
		strbuf_reset(&r->help);
		strbuf_add(&r->name, name);
		strbuf_add(&r->help, rest);
	} else if (slice_eq(what, SLICE("TYPE"))) {
		open_family(r, rest);
	}
}

/* A line of a series: what stands before and behind the labels. */
struct sample_line {
	struct slice name, value;
	struct slice keys[LABELS_MAX], texts[LABELS_MAX]; /* texts without escapes */
	unsigned labels;
};

/* The text in quotes at <at>, in its place without the escapes. Returns its end; NULL: none. */
static char *unquote(char *at, const char *end, struct slice *out)
{
	char *to = at;

	if (at == end || *at++ != '"')
		return NULL;
	*out = slice_make(to, 0);
	for (; at < end && *at != '"'; at++) {
		if (*at == '\\' && at + 1 < end)
			*to++ = *++at == 'n' ? '\n' : *at;
		else
			*to++ = *at;
	}
	out->len = (size_t)(to - out->ptr);
	*to = 0; /* the text went one to the left: this is no byte of what follows */
	return at < end ? at + 1 : NULL;
}

/* Cuts the line, which is changed. False: it is none. */
static bool cut_line(char *at, char *end, struct sample_line *l)
{
	char *p = at;

	l->labels = 0;
	while (p < end && *p != '{' && *p != ' ')
		p++;
	l->name = slice_make(at, (size_t)(p - at));
	if (p < end && *p == '{') {
		do {
			char *key = ++p;

			while (p < end && *p != '=')
				p++;
			if (p == end || l->labels == LABELS_MAX)
				return false;
			l->keys[l->labels] = slice_make(key, (size_t)(p - key));
			p = unquote(p + 1, end, &l->texts[l->labels++]);
		} while (p && p < end && *p == ',');
		if (!p || p == end || *p++ != '}')
			return false;
	}
	if (p == end || *p != ' ')
		return false;
	l->value = slice_make(p + 1, (size_t)(end - p - 1));
	return l->value.len > 0;
}

static void put_labels(struct telemetry_round *r, const struct sample_line *l)
{
	for (unsigned i = 0; i < l->labels; i++)
		otlp_attr_text(&r->o, l->keys[i], l->texts[i]);
}

static bool ends_with(struct slice text, struct slice end)
{
	return text.len >= end.len && slice_eq(slice_sub(text, text.len - end.len, text.len), end);
}

/* A line of a histogram: buckets in their order, the last of which is without a bound, the sum, and
 * the count, which ends the series.
 */
static void take_histogram(struct telemetry_round *r, const struct sample_line *l, double value)
{
	struct series *s = &r->series;
	struct otlp_histogram h = { .bounds = s->bounds, .counts = s->counts, .sum = s->sum };

	if (ends_with(l->name, SLICE("_bucket")) && l->labels) {
		if (s->count < BOUNDS_MAX)
			s->bounds[s->count] = strtod(l->texts[l->labels - 1].ptr, NULL);
		if (s->count <= BOUNDS_MAX)
			s->counts[s->count++] = (uint64_t)value;
		return;
	}
	if (ends_with(l->name, SLICE("_sum"))) {
		s->sum = value;
		return;
	}
	if (s->count) {
		for (unsigned i = s->count - 1; i > 0; i--)
			s->counts[i] -= s->counts[i - 1];
		h.bound_count = s->count - 1;
		h.count = (uint64_t)value;
		otlp_point_open(&r->o, OTLP_HISTOGRAM);
		put_labels(r, l);
		otlp_point_close_histogram(&r->o, r->start_ns, r->now_ns, &h);
		r->points++;
	}
	s->count = 0;
}

static void take_line(struct telemetry_round *r)
{
	struct sample_line l;
	double value;

	if (!r->line.len || r->line.overflow)
		return;
	if (r->line.len > 2 && r->line.ptr[0] == '#') {
		take_comment(r, slice_make(r->line.ptr + 2, r->line.len - 2));
		return;
	}
	if (!r->is_open || !cut_line(r->line.ptr, r->line.ptr + r->line.len, &l))
		return;
	value = strtod(l.value.ptr, NULL);
	if (isnan(value))
		return;
	if (r->kind == OTLP_HISTOGRAM) {
		take_histogram(r, &l, value);
		return;
	}
	otlp_point_open(&r->o, r->kind);
	put_labels(r, &l);
	otlp_point_close(&r->o, r->start_ns, r->now_ns, value);
	r->points++;
}

/* --- what comes ------------------------------------------------------------------------------- */

static void take_bytes(struct telemetry_round *r, struct slice bytes)
{
	while (bytes.len) {
		const char *end = memchr(bytes.ptr, '\n', bytes.len);
		size_t len = end ? (size_t)(end - bytes.ptr) : bytes.len;

		if (r->line.len + len < LINE_MAX_BYTES)
			strbuf_add(&r->line, slice_make(bytes.ptr, len));
		bytes = slice_sub(bytes, len + (end != NULL), bytes.len);
		if (!end)
			return;
		take_line(r);
		strbuf_reset(&r->line);
	}
}

static void round_data(struct inside *x, struct block_queue *from)
{
	struct telemetry_round *r = x->ctx;

	for (const struct piece *p = from->first; p; p = p->next)
		take_bytes(r, slice_make(p->ptr, p->len));
	block_queue_clear(from);
}

static void round_free(struct telemetry_round *r)
{
	*r->at = NULL;
	strbuf_fini(&r->line);
	strbuf_fini(&r->name);
	strbuf_fini(&r->help);
	strbuf_fini(&r->out);
	free(r);
}

static void round_end(struct inside *x, bool whole, enum stream_end why)
{
	close_family(x->ctx);
	round_free(x->ctx);
}

static const struct inside_kind round_kind = {
	.name = "TELEMETRY", .data = round_data, .end = round_end,
};

void telemetry_round_begin(struct telemetry_round **at, const struct telemetry *t,
			   uint64_t start_ns)
{
	struct telemetry_round *r = *at || !t->metrics ? NULL : calloc(1, sizeof(*r));

	if (!r)
		return;
	r->at = at;
	r->conf = t;
	r->start_ns = start_ns;
	r->now_ns = clock_wall_us() * 1000;
	strbuf_init(&r->line);
	strbuf_init(&r->name);
	strbuf_init(&r->help);
	strbuf_init(&r->out);
	r->inside = inside_new(t->metrics, &round_kind, r, SLICE("GET"),
			       SLICE("/metrics?histograms"));
	if (!r->inside) {
		round_free(r);
		return;
	}
	*at = r;
	r->inside->request->body = HTTP_BODY_NONE;
	if (!http_msg_add_field(r->inside->request, SLICE("host"), SLICE("localhost"))) {
		telemetry_round_cancel(at);
		return;
	}
	inside_start(r->inside);
}

void telemetry_round_cancel(struct telemetry_round **at)
{
	if (!*at)
		return;
	inside_cancel((*at)->inside);
	round_free(*at);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* telemetry.c - edge file: sections telemetry, use-telemetry, set-trace-sampling, trace.*, command
 *
 * An extension, see ext/telemetry.h.
 */
#include "ext/telemetry.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/diag.h"
#include "base/num.h"
#include "client/http_client.h"
#include "codec/uri.h"
#include "ctl/ctl.h"
#include "manage/stats.h"
#include "proxy/proxy.h"
#include "stream/action.h"
#include "stream/sample.h"
#include "telemetry_priv.h"

#define INTERVAL_MS 1000
#define TIMEOUT_MS 10000
#define QUEUE_BYTES (8 * 1024 * 1024)
#define QUEUE_MIN (256 * 1024)

struct telemetry_sections {
	struct telemetry *first, **last;
};

static bool sections_init(void *data)
{
	struct telemetry_sections *all = data;

	all->last = &all->first;
	return true;
}

static void sections_fini(void *data)
{
	for (struct telemetry *t = ((struct telemetry_sections *)data)->first; t; t = t->next)
		telemetry_exporter_drop(&t->exporter);
}

static struct slot sections_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct telemetry_sections), .init = sections_init,
	.fini = sections_fini,
};

/* use-telemetry of a proxy. */
struct use {
	const char *name, *file;     /* NULL: none */
	int line;
};

static struct slot use_slot = { .of = SLOT_PROXY, .size = sizeof(struct use) };

static struct telemetry_sections *sections_of(const struct config *cfg)
{
	return slot_of(&sections_slot, config_slots(cfg));
}

static struct telemetry *section_find(const struct config *cfg, const char *name)
{
	struct telemetry *t = sections_of(cfg)->first;

	while (t && strcmp(t->name, name) != 0)
		t = t->next;
	return t;
}

/* --- sections --------------------------------------------------------------------------------- */

static bool section_open(struct conf_line *l)
{
	struct telemetry_sections *all = sections_of(l->cfg);
	const char *name = conf_next(l);
	struct telemetry *t;

	if (!name || !*name)
		return conf_error(l, 0, "as in 'telemetry otel'", "'telemetry' expects a name.");
	if (section_find(l->cfg, name))
		return conf_error(l, 1, NULL, "there is another section 'telemetry %s'.", name);
	t = arena_zalloc(&l->cfg->arena, sizeof(*t));
	if (!t)
		return conf_error(l, 0, NULL, "out of memory.");
	*t = (struct telemetry){
		.name = conf_strdup(l->cfg, name), .config = l->cfg,
		.file = conf_strdup(l->cfg, l->place.file ? l->place.file : ""),
		.line = l->place.line, .accept = TELEMETRY_W3C | TELEMETRY_B3,
		.propagate = TELEMETRY_W3C, .threshold = 0, .interval_ms = INTERVAL_MS,
		.timeout_ms = TIMEOUT_MS, .queue = QUEUE_BYTES,
	};
	*all->last = t;
	all->last = &t->next;
	l->object = t;
	l->slots = config_slots(l->cfg);
	return conf_take_end(l);
}

static void check_section(const struct telemetry *t, struct diag_list *diags)
{
	if (!t->url)
		diag_add(diags, DIAG_ALERT,
			 &(struct diag_place){ .file = t->file, .line = t->line },
			 "add the collector's address, as in 'otlp http://127.0.0.1:4318'",
			 "section 'telemetry %s' has no line 'otlp'.", t->name);
}

static bool parse_otlp(struct conf_line *l)
{
	struct telemetry *t = l->object;
	const char *url = conf_next(l);
	size_t len = strlen(url);
	struct uri u;
	char *copy;

	if (!uri_parse(slice_of(url), false, &u) || u.form != URI_ABSOLUTE || !u.host.len ||
	    u.query.ptr || u.fragment.ptr ||
	    (!slice_eq_nocase(u.scheme, SLICE("http")) &&
	     !slice_eq_nocase(u.scheme, SLICE("https"))))
		return conf_error(l, 1, "give the address that '/v1/traces' is added to, as in "
				  "'otlp http://127.0.0.1:4318'",
				  "'otlp' : '%s' is no URL of http or https.", url);
	if (slice_eq_nocase(u.scheme, SLICE("https")))
		http_client_want_tls(l->cfg);
	copy = conf_strdup(l->cfg, url);
	if (!copy)
		return conf_error(l, 0, NULL, "out of memory.");
	if (url[len - 1] == '/')
		copy[len - 1] = 0;
	t->url = copy;
	return true;
}

/* One of two words: *out is whether it was the second one. */
static bool take_choice(struct conf_line *l, const char *first, const char *second, bool *out)
{
	const char *word = conf_next(l);

	*out = strcmp(word, second) == 0;
	return *out || strcmp(word, first) == 0 ||
	       conf_error(l, 1, NULL, "'%s' : expects '%s' or '%s', not '%s'.", l->words[0], first,
			  second, word);
}

static bool parse_encoding(struct conf_line *l)
{
	return take_choice(l, "protobuf", "json", &((struct telemetry *)l->object)->json);
}

static bool parse_parent(struct conf_line *l)
{
	return take_choice(l, "follow", "ignore",
			   &((struct telemetry *)l->object)->ignores_parent);
}

static bool parse_errors(struct conf_line *l)
{
	return take_choice(l, "export", "ignore",
			   &((struct telemetry *)l->object)->ignores_errors);
}

static bool parse_logs(struct conf_line *l)
{
	return take_choice(l, "ignore", "export", &((struct telemetry *)l->object)->has_logs);
}

static bool parse_unsampled(struct conf_line *l)
{
	return take_choice(l, "tell", "silent", &((struct telemetry *)l->object)->is_silent);
}

/* "2.5%", "100". */
static bool read_percent(const char *word, double *out)
{
	char *end;

	*out = strtod(word, &end);
	return end != word && (!*end || strcmp(end, "%") == 0) && *out >= 0 && *out <= 100;
}

static bool parse_sample(struct conf_line *l)
{
	struct telemetry *t = l->object;
	const char *word = conf_next(l);
	double percent;

	if (!read_percent(word, &percent))
		return conf_error(l, 1, "0 is none, 100% are all",
				  "'sample' : '%s' is no part of 100, as in 'sample 2.5%%'.", word);
	t->threshold = telemetry_threshold(percent);
	return true;
}

static bool take_formats(struct conf_line *l, unsigned *out)
{
	static const struct {
		const char *name;
		unsigned bits;
	} formats[] = {
		{ "w3c", TELEMETRY_W3C }, { "b3", TELEMETRY_B3 },
		{ "b3multi", TELEMETRY_B3_MULTI }, { "none", 0 },
	};

	*out = 0;
	while (conf_peek(l)) {
		const char *word = conf_next(l);
		size_t i = 0;

		while (i < ARRAY_LEN(formats) && strcmp(word, formats[i].name) != 0)
			i++;
		if (i == ARRAY_LEN(formats))
			return conf_error(l, l->at - 1, NULL, "'%s' : expects w3c, b3, b3multi or "
					  "none, not '%s'.", l->words[0], word);
		*out |= formats[i].bits;
	}
	return true;
}

static bool parse_accept(struct conf_line *l)
{
	struct telemetry *t = l->object;

	if (!take_formats(l, &t->accept))
		return false;
	/* both forms of B3 are read alike */
	if (t->accept & TELEMETRY_B3_MULTI)
		t->accept |= TELEMETRY_B3;
	return true;
}

static bool parse_propagate(struct conf_line *l)
{
	return take_formats(l, &((struct telemetry *)l->object)->propagate);
}

static bool add_pair(struct conf_line *l, struct telemetry_pair **list)
{
	struct telemetry_pair *p = arena_zalloc(&l->cfg->arena, sizeof(*p));

	if (!p)
		return conf_error(l, 0, NULL, "out of memory.");
	p->key = slice_of(conf_next(l));
	p->value = slice_of(conf_next(l));
	while (*list)
		list = &(*list)->next;
	*list = p;
	return true;
}

/* May it be sent as a field? */
static bool is_field(struct slice name, struct slice value)
{
	for (size_t i = 0; i < name.len; i++)
		if ((unsigned char)name.ptr[i] <= ' ' || (unsigned char)name.ptr[i] >= 0x7f ||
		    strchr("()<>@,;:\\\"/[]?={}", name.ptr[i]))
			return false;
	for (size_t i = 0; i < value.len; i++)
		if ((unsigned char)value.ptr[i] < ' ' && value.ptr[i] != '\t')
			return false;
	return name.len > 0;
}

static bool parse_header(struct conf_line *l)
{
	static const char *const ours[] = {
		"connection", "content-encoding", "content-length", "content-type", "host",
		"transfer-encoding",
	};
	struct telemetry *t = l->object;

	if (!is_field(slice_of(l->words[1]), slice_of(l->words[2])))
		return conf_error(l, 1, "as in 'header authorization \"Bearer 1234\"'",
				  "'header' : '%s' is no field that could be sent.", l->words[1]);
	for (unsigned i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (slice_eq_nocase(slice_of(l->words[1]), slice_of(ours[i])))
			return conf_error(l, 1, NULL, "'header' : '%s' is what the program says "
					  "itself.", ours[i]);
	return add_pair(l, &t->headers);
}

static bool parse_resource(struct conf_line *l)
{
	return add_pair(l, &((struct telemetry *)l->object)->resource);
}

static bool take_ms(struct conf_line *l, int64_t least_ms, int64_t *out)
{
	if (!conf_take_time_ms(l, out))
		return false;
	return *out >= least_ms || conf_error(l, 1, NULL, "'%s' : %lld ms at least.", l->words[0],
					      (long long)least_ms);
}

static bool parse_interval(struct conf_line *l)
{
	return take_ms(l, 10, &((struct telemetry *)l->object)->interval_ms);
}

static bool parse_metrics(struct conf_line *l)
{
	return take_ms(l, 100, &((struct telemetry *)l->object)->metrics_ms);
}

static bool parse_timeout(struct conf_line *l)
{
	return take_ms(l, 1, &((struct telemetry *)l->object)->timeout_ms);
}

static bool parse_queue(struct conf_line *l)
{
	struct telemetry *t = l->object;

	if (!conf_take_size(l, &t->queue))
		return false;
	return t->queue >= QUEUE_MIN || conf_error(l, 1, NULL, "'queue' : %d bytes at least.",
						   QUEUE_MIN);
}

static bool parse_use(struct conf_line *l)
{
	struct use *u = slot_of(&use_slot, l->slots);

	if (l->no) {
		u->name = NULL;
		return true;
	}
	if (!conf_peek(l))
		return conf_error(l, 0, "as in 'use-telemetry otel'",
				  "'use-telemetry' expects the name of a section 'telemetry'.");
	*u = (struct use){ .name = conf_next(l), .file = conf_strdup(l->cfg, l->place.file),
			   .line = l->place.line };
	return conf_take_end(l);
}

#define SECTION .where = CONF_OTHER, .section = "telemetry"
#define ONE SECTION, .min_args = 1, .max_args = 1

static const struct conf_keyword keywords[] = {
	{ .words = "otlp", ONE, .parse = parse_otlp, .syntax = "<url>",
	  .help = "the collector, to which '/v1/traces' is added" },
	{ .words = "encoding", ONE, .parse = parse_encoding, .syntax = "<protobuf|json>",
	  .help = "how exports are written, protobuf by default" },
	{ .words = "header", SECTION, .min_args = 2, .max_args = 2, .parse = parse_header,
	  .syntax = "<name> <value>", .help = "a field of each export" },
	{ .words = "resource", SECTION, .min_args = 2, .max_args = 2, .parse = parse_resource,
	  .syntax = "<key> <value>", .help = "an attribute of this program" },
	{ .words = "sample", ONE, .parse = parse_sample, .syntax = "<percent>",
	  .help = "the part of the traces that is exported, all by default" },
	{ .words = "parent", ONE, .parse = parse_parent, .syntax = "<follow|ignore>",
	  .help = "whether requests belong to the traces that their senders name" },
	{ .words = "errors", ONE, .parse = parse_errors, .syntax = "<export|ignore>",
	  .help = "whether requests that fail are exported in any case" },
	{ .words = "accept", SECTION, .min_args = 1, .max_args = -1, .parse = parse_accept,
	  .syntax = "<w3c|b3|b3multi|none>...",
	  .help = "contexts that are read, w3c b3 by default" },
	{ .words = "propagate", SECTION, .min_args = 1, .max_args = -1, .parse = parse_propagate,
	  .syntax = "<w3c|b3|b3multi|none>...",
	  .help = "contexts that servers are sent, w3c by default" },
	{ .words = "unsampled", ONE, .parse = parse_unsampled, .syntax = "<tell|silent>",
	  .help = "whether servers are told of traces that are not sampled" },
	{ .words = "queue", ONE, .parse = parse_queue, .syntax = "<size>",
	  .help = "bytes that wait for the collector at most, 8m by default" },
	{ .words = "interval", ONE, .parse = parse_interval, .syntax = "<time>",
	  .help = "the pause between exports, 1s by default" },
	{ .words = "timeout", ONE, .parse = parse_timeout, .syntax = "<time>",
	  .help = "how long the collector may take for an answer, 10s by default" },
	{ .words = "logs", ONE, .parse = parse_logs, .syntax = "<export|ignore>",
	  .help = "whether log lines of the frontends that use the section are exported" },
	{ .words = "metrics", ONE, .parse = parse_metrics, .syntax = "<time>",
	  .help = "export the figures of prometheus-exporter so often" },
	{ .words = "use-telemetry", .where = CONF_DEF_FE, .max_args = 1, .flags = CONF_CAN_NO,
	  .parse = parse_use, .syntax = "<name>",
	  .help = "trace the requests by this section telemetry" },
	{ 0 }
};

static const struct conf_section sections[] = {
	{ .name = "telemetry", .where = CONF_OTHER, .open = section_open, .syntax = "<name>",
	  .help = "where traces, metrics and logs are exported to (an extension)" },
	{ 0 }
};

/* --- generations ------------------------------------------------------------------------------ */

static const struct telemetry *used_by(const struct proxy *px)
{
	const struct use *u = slot_of(&use_slot, proxy_slots(px));

	return u->name && px->caps & PROXY_FE ? section_find(px->config, u->name) : NULL;
}

/* Before the modules that check proxies: the format of lines depends on it. */
static void check_early(struct config *cfg, struct diag_list *diags)
{
	const struct telemetry *t = sections_of(cfg)->first;

	for (struct proxy *px = t ? proxies_first(cfg) : NULL; px; px = proxy_next(px)) {
		const struct telemetry *used = used_by(px);

		if (used && used->has_logs)
			stream_trace_lines(px);
	}
	while (t && !t->metrics_ms)
		t = t->next;
	if (t)
		telemetry_metrics_make(cfg, diags);
}

static void check(struct config *cfg, struct diag_list *diags)
{
	for (struct telemetry *t = sections_of(cfg)->first; t; t = t->next) {
		check_section(t, diags);
		telemetry_trace_prepare(t);
	}
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		const struct use *u = slot_of(&use_slot, proxy_slots(px));
		const struct telemetry *t = used_by(px);

		if (t)
			stream_trace_frontend(px, t);
		if (u->name && !section_find(cfg, u->name))
			diag_add(diags, DIAG_ALERT,
				 &(struct diag_place){ .file = u->file, .line = u->line },
				 "a section 'telemetry' with this name is missing",
				 "'use-telemetry' in proxy '%s': there is no section "
				 "'telemetry %s'.", px->name, u->name);
	}
}

static void go_live(const struct config *cfg)
{
	for (const struct telemetry *t = sections_of(cfg)->first; t; t = t->next)
		telemetry_exporter_use(t->exporter, t);
}

static bool start(struct config *cfg, struct diag_list *diags)
{
	static bool begun;
	struct proxy *metrics = telemetry_metrics_backend(cfg);

	if (metrics)
		proxy_hide(metrics, "<TELEMETRY>");
	for (struct telemetry *t = sections_of(cfg)->first; t; t = t->next) {
		t->metrics = metrics;
		t->exporter = telemetry_exporter_take(t->name);
		if (t->exporter)
			continue;
		diag_add(diags, DIAG_ALERT, NULL, NULL, "out of memory for telemetry.");
		return false;
	}
	if (!begun)
		go_live(cfg);
	begun = true;
	return true;
}

static void adopt(struct config *next, struct config *prev)
{
	go_live(next);
	telemetry_exporters_retire(next);
}

/* --- the action ------------------------------------------------------------------------------- */

struct sampling_rule {
	const struct expr *expr;     /* NULL: <threshold> */
	uint64_t threshold;
};

static bool action_parse(struct conf_line *l, struct rule *r)
{
	struct sampling_rule *sr = arena_zalloc(&l->cfg->arena, sizeof(*sr));
	double percent;

	if (!sr)
		return rule_no_memory(l, r);
	r->data = sr;
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "'set-trace-sampling' expects a part of 100, as in "
				  "'5%%', or an expression");
	if (read_percent(conf_peek(l), &percent)) {
		sr->threshold = telemetry_threshold(percent);
		l->at++;
		return true;
	}
	if (ascii_is_digit(*conf_peek(l)) || *conf_peek(l) == '-')
		return rule_error(l, r, l->at, "'%s' is no part of 100, as in '2.5%%'",
				  conf_peek(l));
	sr->expr = expr_take(l, rule_phases(r->proxy, r->set));
	return sr->expr != NULL;
}

static enum rule_result action_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct sampling_rule *sr = r->data;
	struct telemetry_trace *t = telemetry_trace(ctx->stream);
	struct sample smp;

	if (!t)
		return RULE_CONTINUE;
	if (!sr->expr)
		telemetry_decide(t, ctx->stream, sr->threshold);
	else if (expr_eval(sr->expr, ctx, &smp) == EXPR_FOUND &&
		 sample_cast(&smp, SMP_INT, ctx->arena))
		telemetry_decide(t, ctx->stream, telemetry_threshold((double)smp.integer));
	return RULE_CONTINUE;
}

static const struct rule_action actions[] = {
	{ .words = "set-trace-sampling", .rulesets = RULES_BIT(RULES_HTTP_REQUEST),
	  .parse = action_parse, .run = action_run, .syntax = "<percent>|<expr>",
	  .help = "decide anew whether the request's trace is exported (an extension)" },
	{ 0 }
};

/* --- fetches ---------------------------------------------------------------------------------- */

static const struct telemetry_trace *trace_of(const struct expr_ctx *ctx)
{
	return ctx->stream ? telemetry_trace(ctx->stream) : NULL;
}

static enum expr_result give_copy(struct expr_ctx *ctx, struct sample *out, const char *text,
				  size_t len)
{
	return smp_give_text(out, arena_copy(ctx->arena, slice_make(text, len)));
}

static enum expr_result fetch_id(struct expr_ctx *ctx, const struct expr_arg *args,
				 struct sample *out)
{
	const struct telemetry_trace *t = trace_of(ctx);
	char text[TRACE_ID_HEX];

	if (!t)
		return EXPR_NONE;
	trace_id_write(text, t->ours.id);
	return give_copy(ctx, out, text, sizeof(text));
}

static enum expr_result give_span(struct expr_ctx *ctx, struct sample *out, uint64_t span)
{
	char text[SPAN_ID_HEX];

	if (!span)
		return EXPR_NONE;
	span_id_write(text, span);
	return give_copy(ctx, out, text, sizeof(text));
}

static enum expr_result fetch_span(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	const struct telemetry_trace *t = trace_of(ctx);

	return t ? give_span(ctx, out, t->ours.span) : EXPR_NONE;
}

static enum expr_result fetch_parent(struct expr_ctx *ctx, const struct expr_arg *args,
				     struct sample *out)
{
	const struct telemetry_trace *t = trace_of(ctx);

	return t ? give_span(ctx, out, t->parent) : EXPR_NONE;
}

static enum expr_result fetch_sampled(struct expr_ctx *ctx, const struct expr_arg *args,
				      struct sample *out)
{
	const struct telemetry_trace *t = trace_of(ctx);

	return t ? smp_give_bool(out, t->ours.decision == TRACE_SAMPLED) : EXPR_NONE;
}

static const struct expr_fetch fetches[] = {
	{ .name = "trace.id", .out = SMP_STR, .use = EXPR_USE_INTERNAL, .fetch = fetch_id,
	  .help = "the trace that the request belongs to (an extension)" },
	{ .name = "trace.span_id", .out = SMP_STR, .use = EXPR_USE_INTERNAL, .fetch = fetch_span,
	  .help = "the request's span (an extension)" },
	{ .name = "trace.parent_id", .out = SMP_STR, .use = EXPR_USE_INTERNAL,
	  .fetch = fetch_parent, .help = "the span of the request's sender (an extension)" },
	{ .name = "trace.sampled", .out = SMP_BOOL, .use = EXPR_USE_INTERNAL,
	  .fetch = fetch_sampled, .help = "whether the trace is exported (an extension)" },
	{ 0 }
};

/* --- the command ------------------------------------------------------------------------------ */

static const char *const signals[OTLP_SIGNALS] = { "traces", "metrics", "logs" };

static bool exports(const struct telemetry *t, unsigned signal)
{
	return signal == OTLP_METRICS ? t->metrics_ms != 0
	       : signal == OTLP_LOGS  ? t->has_logs
				      : true;
}

static enum ctl_step show(struct ctl_request *rq)
{
	strbuf_add_str(rq->out, "# section signal");
#define X(name, column) strbuf_add_str(rq->out, " " column);
	TELEMETRY_COUNTS(X)
#undef X
	strbuf_add_str(rq->out, " bytes status");
	for (const struct telemetry *t = sections_of(proxies_current())->first; t; t = t->next)
		for (unsigned k = 0; k < OTLP_SIGNALS; k++) {
			if (!exports(t, k))
				continue;
			strbuf_printf(rq->out, "\n%s %s", t->name, signals[k]);
			for (unsigned i = 0; i < TELEMETRY_COUNT; i++)
				strbuf_printf(rq->out, " %llu", (unsigned long long)
					      telemetry_figure(t->exporter, (enum otlp_signal)k,
							       (enum telemetry_count)i));
			strbuf_printf(rq->out, " %llu %u",
				      (unsigned long long)telemetry_waiting(t->exporter),
				      telemetry_last_status(t->exporter));
		}
	strbuf_add_char(rq->out, '\n');
	return CTL_DONE;
}

static void put_series(struct strbuf *out, const struct telemetry *t, unsigned signal,
		       enum telemetry_count which, const char *state)
{
	strbuf_printf(out, "haproxy_telemetry_elements_total{section=\"");
	for (const char *c = t->name; *c; c++) {
		if (*c == '"' || *c == '\\')
			strbuf_add_char(out, '\\');
		strbuf_add_char(out, *c);
	}
	strbuf_printf(out, "\",signal=\"%s\",state=\"%s\"} %llu\n", signals[signal], state,
		      (unsigned long long)telemetry_figure(t->exporter, (enum otlp_signal)signal,
							   which));
}

/* What `show telemetry` counts; nothing without sections. Any thread. */
static void put_prometheus(struct strbuf *out)
{
	const struct telemetry *first = sections_of(proxies_current())->first;

	if (!first)
		return;
	strbuf_add_str(out, "# HELP haproxy_telemetry_elements_total Spans, points and lines by "
		       "what became of them, and requests.\n"
		       "# TYPE haproxy_telemetry_elements_total counter\n");
	for (const struct telemetry *t = first; t; t = t->next)
		for (unsigned k = 0; k < OTLP_SIGNALS; k++) {
			if (!exports(t, k))
				continue;
#define X(name, column) put_series(out, t, k, TELEMETRY_##name, column);
			TELEMETRY_COUNTS(X)
#undef X
		}
}

static const struct ctl_command commands[] = {
	{ .words = "show telemetry", .run = show,
	  .help = "show what telemetry sections have recorded, exported and dropped" },
	{ 0 }
};

static bool init(void)
{
	stream_set_tracer(&telemetry_tracer, put_prometheus);
	return true;
}

static void thread_end(void)
{
	telemetry_export_stop();
	telemetry_text_fini();
}

static struct slot *const slots[] = { &sections_slot, &use_slot, NULL };

/* Ahead of the modules that check proxies: see telemetry_metrics_make(). */
const struct module mod_telemetry_early = { .name = "telemetry-early", .check = check_early };

const struct module mod_telemetry = {
	.name = "telemetry", .sections = sections, .keywords = keywords, .commands = commands,
	.fetches = fetches, .actions = actions, .slots = slots, .init = init, .check = check,
	.start = start, .adopt = adopt, .thread_fini = thread_end, .fini = telemetry_export_fini,
};

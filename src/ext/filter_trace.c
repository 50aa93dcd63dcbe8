/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filter_trace.c - filter trace: reports the calls of filters on standard error
 *
 * With random-forwarding it passes a few bytes at a time. This tests all code that handles bytes:
 * nothing that a client or a server sees may change.
 * The lines are those of HAProxy, with its names of callbacks and of steps. In place of its two
 * words of analysers stand the flags and the stage of the stream.
 * Manual: configuration 9.1.
 */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/strbuf.h"
#include "core/thread.h"
#include "proxy/proxy.h"
#include "stream/filter.h"

#define HEX_COLUMNS 16

/* A line `filter trace`. */
struct trace {
	const char *name;
	bool quiet, random, hexdump;
	uint64_t max_forward;        /* at a time; 0: no limit */
};

/* Of one stream. */
struct trace_state {
	bool has_backend;            /* it was told which one */
	size_t head[FILTER_SIDES];   /* bytes of a head that was shown and not sent yet */
};

static __thread struct strbuf line;

static const struct trace *settings(const struct filter *f)
{
	return f->conf->data;
}

/* --- lines ------------------------------------------------------------------------------------ */

static void line_begin(const struct filter_conf *conf)
{
	const struct trace *t = conf->data;
	uint64_t now_us = clock_wall_us();
	char who[64];

	snprintf(who, sizeof(who), "%s/%s", t->name, conf->proxy->name);
	strbuf_reset(&line);
	strbuf_printf(&line, "%llu.%06llu [%-20s] ", (unsigned long long)(now_us / 1000000),
		      (unsigned long long)(now_us % 1000000), who);
}

static void line_end(void)
{
	strbuf_add_char(&line, '\n');
	fwrite(line.ptr, line.len, 1, stderr);
}

static void line_begin_stream(const struct filter *f)
{
	const struct stream *s = f->stream;

	line_begin(f->conf);
	strbuf_printf(&line, "[strm %p(%x) 0x%08x 0x%08x] ", (const void *)s, s->id.in_session,
		      s->flags, s->stage);
}

/* A callback that tells nothing else. */
static void tell(const struct filter *f, const char *callback)
{
	if (settings(f)->quiet)
		return;
	line_begin_stream(f);
	strbuf_printf(&line, "%-25s", callback);
	line_end();
}

static void __attribute__((format(printf, 3, 4)))
tell_more(const struct filter *f, const char *callback, const char *fmt, ...)
{
	va_list ap;

	if (settings(f)->quiet)
		return;
	line_begin_stream(f);
	strbuf_printf(&line, "%-25s: ", callback);
	va_start(ap, fmt);
	strbuf_vprintf(&line, fmt, ap);
	va_end(ap);
	line_end();
}

static const char *side_name(enum filter_side side)
{
	return side == FILTER_REQUEST ? "REQUEST" : "RESPONSE";
}

static const char *mode_name(const struct filter *f)
{
	const struct trace_state *st = f->state;
	const struct stream *s = f->stream;

	return (st->has_backend ? s->be : s->fe)->mode == PROXY_MODE_HTTP ? "HTTP" : "TCP";
}

/* What all lines about a side have in common: of which message, in which mode, on whose way. */
#define SIDE_FORMAT "channel=%-10s - mode=%-5s (%s)"
#define SIDE_ARGS(f, side) side_name(side), mode_name(f), \
	((const struct trace_state *)(f)->state)->has_backend ? "backend" : "frontend"

static void tell_side(const struct filter *f, const char *callback, enum filter_side side)
{
	tell_more(f, callback, SIDE_FORMAT, SIDE_ARGS(f, side));
}

/* --- a stream's life -------------------------------------------------------------------------- */

static bool trace_attach(struct filter *f)
{
	tell_more(f, "trace_attach", "filter-type=%s", f->is_backend ? "backend" : "frontend");
	return true;
}

static void trace_detach(struct filter *f)
{
	tell_more(f, "trace_detach", "filter-type=%s", f->is_backend ? "backend" : "frontend");
}

static void trace_stream_start(struct filter *f)
{
	tell(f, "trace_stream_start");
}

static void trace_stream_stop(struct filter *f)
{
	tell(f, "trace_stream_stop");
}

static void trace_backend(struct filter *f)
{
	struct trace_state *st = f->state;

	st->has_backend = true;
	tell_more(f, "trace_stream_set_backend", "backend=%s", f->stream->be->name);
}

static void trace_timeout(struct filter *f)
{
	tell(f, "trace_check_timeouts");
}

/* --- steps ------------------------------------------------------------------------------------ */

static enum filter_result trace_begin(struct filter *f, enum filter_side side)
{
	filter_watch(f, side);
	tell_side(f, "trace_chn_start_analyze", side);
	/* (as HAProxy does, where the frontend has filters as well) */
	if (side == FILTER_RESPONSE && f->is_backend && filter_confs(f->stream->fe))
		tell_side(f, "trace_chn_start_analyze", side);
	return FILTER_NEXT;
}

static void trace_finish(struct filter *f, enum filter_side side)
{
	tell_side(f, "trace_chn_end_analyze", side);
}

static void tell_point(const struct filter *f, enum filter_point point, const char *step)
{
	static const char *const analysers[FILTER_POINT_COUNT] = {
		[FILTER_POINT_TCP_REQUEST_FE] = "AN_REQ_INSPECT_FE",
		[FILTER_POINT_REQUEST_HEAD] = "AN_REQ_WAIT_HTTP",
		[FILTER_POINT_REQUEST_BODY] = "AN_REQ_HTTP_BODY",
		[FILTER_POINT_HTTP_REQUEST_FE] = "AN_REQ_HTTP_PROCESS_FE",
		[FILTER_POINT_SWITCH] = "AN_REQ_SWITCHING_RULES",
		[FILTER_POINT_TCP_REQUEST_BE] = "AN_REQ_INSPECT_BE",
		[FILTER_POINT_HTTP_REQUEST_BE] = "AN_REQ_HTTP_PROCESS_BE",
		[FILTER_POINT_TARPIT] = "AN_REQ_HTTP_TARPIT",
		[FILTER_POINT_USE_SERVER] = "AN_REQ_SRV_RULES",
		[FILTER_POINT_PREPARE] = "AN_REQ_HTTP_INNER",
		[FILTER_POINT_RDP_COOKIE] = "AN_REQ_PRST_RDP_COOKIE",
		[FILTER_POINT_TCP_RESPONSE] = "AN_RES_INSPECT",
		[FILTER_POINT_RESPONSE_HEAD] = "AN_RES_WAIT_HTTP",
		[FILTER_POINT_HTTP_RESPONSE] = "AN_RES_HTTP_PROCESS_FE/BE",
	};

	tell_more(f, "trace_chn_analyze", SIDE_FORMAT " - analyzer=%s - step=%s",
		  SIDE_ARGS(f, filter_point_side(point)), analysers[point], step);
}

static enum filter_result trace_before(struct filter *f, enum filter_point point)
{
	tell_point(f, point, "PRE");
	return FILTER_NEXT;
}

static void trace_after(struct filter *f, enum filter_point point)
{
	tell_point(f, point, "POST");
}

/* --- messages --------------------------------------------------------------------------------- */

static void put_start_line(const struct http_msg *m)
{
	if (m->flags & HTTP_MSG_RESPONSE)
		strbuf_printf(&line, "\tHTTP/%u.%u %u %.*s", m->version / 10, m->version % 10,
			      m->status, SLICE_FMT(m->reason));
	else
		strbuf_printf(&line, "\t%.*s %.*s %.*s", SLICE_FMT(m->method_text),
			      SLICE_FMT(m->uri), SLICE_FMT(m->version_text));
}

static void tell_head(const struct filter *f, enum filter_side side, const struct http_msg *m)
{
	line_begin_stream(f);
	strbuf_printf(&line, "%-25s: " SIDE_FORMAT, "trace_http_headers", SIDE_ARGS(f, side));
	put_start_line(m);
	line_end();
	for (unsigned i = 0; i < m->fields.count; i++) {
		const struct h1_field *field = &m->fields.list[i];

		if (!field->name.ptr)
			continue;
		line_begin_stream(f);
		strbuf_printf(&line, "\t%.*s: %.*s", SLICE_FMT(field->name),
			      SLICE_FMT(field->value));
		line_end();
	}
}

static enum filter_result trace_head(struct filter *f, enum filter_side side, struct http_msg *m)
{
	struct trace_state *st = f->state;

	st->head[side] = http_msg_size(m);
	if (!settings(f)->quiet)
		tell_head(f, side, m);
	return FILTER_NEXT;
}

/* How much of <len> bytes passes this time. */
static size_t choose_length(const struct trace *t, size_t len)
{
	size_t n = t->random && len ? (size_t)random() % (len + 1) : len;

	return t->max_forward && n > t->max_forward ? (size_t)t->max_forward : n;
}

/* One line of a dump: numbers in two groups of eight, then characters. */
static void tell_bytes(unsigned at, const unsigned char *bytes, size_t len)
{
	strbuf_reset(&line);
	strbuf_printf(&line, "\t0x%06x: ", at);
	for (size_t i = 0; i < HEX_COLUMNS; i++) {
		if (i < len)
			strbuf_printf(&line, "%02x ", bytes[i]);
		else
			strbuf_add(&line, SLICE("   "));
		if (i % 8 == 7)
			strbuf_add(&line, SLICE("  "));
	}
	strbuf_add_char(&line, '|');
	for (size_t i = 0; i < len; i++)
		strbuf_add_char(&line, bytes[i] >= 32 && bytes[i] < 127 ? (char)bytes[i] : '.');
	strbuf_add_char(&line, '|');
	line_end();
}

static void dump(const struct block_queue *q, size_t len)
{
	unsigned char bytes[HEX_COLUMNS];

	for (size_t at = 0; at < len; at += HEX_COLUMNS) {
		size_t n = len - at < HEX_COLUMNS ? len - at : HEX_COLUMNS;

		tell_bytes((unsigned)at, bytes, block_queue_peek(q, at, (char *)bytes, n));
	}
}

/* Trailers, and what ends chunks, count as bytes of the body. */
static size_t end_size(const struct filter *f, enum filter_side side)
{
	const struct http_msg *m = side == FILTER_REQUEST ? &f->stream->req : &f->stream->res;

	if (!filter_sees_http(f) || m->body != HTTP_BODY_CHUNKED)
		return 0;
	return m->version < 20 || m->trailers.count ? http_trailers_size(m) : 0;
}

static enum filter_result trace_data(struct filter *f, enum filter_side side,
				     struct block_queue *in, struct block_queue *out, bool end)
{
	const struct trace *t = settings(f);
	struct trace_state *st = f->state;
	size_t len = in->len, n = choose_length(t, len), more = end ? end_size(f, side) : 0;

	tell_more(f, filter_sees_http(f) ? "trace_http_payload" : "trace_tcp_payload",
		  SIDE_FORMAT " - offset=%zu - len=%zu - forward=%zu", SIDE_ARGS(f, side),
		  st->head[side], len + more, n == len ? n + more : n);
	st->head[side] = 0;
	if (t->hexdump && !t->quiet)
		dump(in, n);
	if (!block_queue_move_len(out, in, n))
		return FILTER_ERROR;
	if (n < len)
		filter_wake(f);
	return FILTER_NEXT;
}

static enum filter_result trace_end(struct filter *f, enum filter_side side)
{
	tell_side(f, "trace_http_end", side);
	return FILTER_NEXT;
}

static void trace_reset(struct filter *f, enum filter_side side)
{
	tell_side(f, "trace_http_reset", side);
}

/* --- configuration ---------------------------------------------------------------------------- */

/* The value of the option before it. NULL: reported. */
static const char *take_value(struct conf_line *l, const char *option, bool is_again)
{
	const char *value = conf_next(l);

	if (value && *value && !is_again)
		return value;
	conf_error(l, l->at - 1, NULL, "'filter' : 'trace' : '%s' option %s", option,
		   is_again ? "already defined" : "without value");
	return NULL;
}

static bool take_option(struct conf_line *l, struct trace *t, const char *word)
{
	const char *value;
	char *end;

	if (strcmp(word, "name") == 0) {
		value = take_value(l, word, t->name != NULL);
		t->name = value;
		return value != NULL;
	}
	if (strcmp(word, "max-fwd") == 0) {
		value = take_value(l, word, t->max_forward != 0);
		if (!value)
			return false;
		t->max_forward = strtoull(value, &end, 10);
		if (*end || *value == '-' || t->max_forward > UINT32_MAX)
			return conf_error(l, l->at - 1, NULL, "'filter' : 'trace' : 'max-fwd' "
					  "expect unsigned integer (0 to 4294967295 expected)");
		return true;
	}
	return conf_error(l, l->at - 1, NULL, "'filter trace' : unknown keyword '%s'.", word);
}

static bool trace_parse(struct conf_line *l, struct filter_conf *conf)
{
	struct trace *t = arena_zalloc(&l->cfg->arena, sizeof(*t));
	const char *word;

	if (!t)
		return conf_error(l, 0, NULL, "out of memory.");
	while ((word = conf_next(l)) != NULL) {
		if (strcmp(word, "quiet") == 0)
			t->quiet = true;
		else if (strcmp(word, "random-forwarding") == 0)
			t->random = true;
		else if (strcmp(word, "hexdump") == 0)
			t->hexdump = true;
		else if (!take_option(l, t, word))
			return false;
	}
	conf->name = t->name;
	if (!t->name)
		t->name = "TRACE";
	conf->data = t;
	return true;
}

static const struct filter_kind kinds[] = {
	{ .name = "trace", .group = "TRACE", .id = "trace filter",
	  .state_size = sizeof(struct trace_state),
	  .parse = trace_parse,
	  .attach = trace_attach, .detach = trace_detach, .stream_start = trace_stream_start,
	  .stream_stop = trace_stream_stop, .backend = trace_backend, .timeout = trace_timeout,
	  .begin = trace_begin, .finish = trace_finish, .before = trace_before,
	  .after = trace_after, .head = trace_head, .data = trace_data, .end = trace_end,
	  .reset = trace_reset,
	  .syntax = "[name <name>] [quiet] [random-forwarding] [max-fwd <max>] [hexdump]",
	  .help = "say on standard error what filters are called for" },
	{ 0 }
};

/* --- start ------------------------------------------------------------------------------------ */

/* Calls <say> for each line `filter trace` that is not quiet. */
static void each_trace(const struct config *cfg, void (*say)(const struct trace *t))
{
	const struct filter_conf *c;

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		for (c = filter_confs(px); c; c = c->next) {
			const struct trace *t = c->data;

			if (c->kind != kinds || t->quiet)
				continue;
			line_begin(c);
			say(t);
			line_end();
		}
	}
}

static const char *yes(bool b)
{
	return b ? "true" : "false";
}

static void say_settings(const struct trace *t)
{
	strbuf_printf(&line, "filter initialized [quiet=%s - fwd random=%s - hexdump=%s - "
		      "max fwd=%llu]", yes(t->quiet), yes(t->random), yes(t->hexdump),
		      (unsigned long long)t->max_forward);
}

static void say_thread(const struct trace *t)
{
	strbuf_printf(&line, "filter initialized for thread tid %u", thread_id);
}

static bool trace_start(struct config *cfg, struct diag_list *diags)
{
	each_trace(cfg, say_settings);
	return true;
}

static bool trace_thread_init(void)
{
	if (proxies_current())
		each_trace(proxies_current(), say_thread);
	return true;
}

static void trace_thread_fini(void)
{
	strbuf_fini(&line);
}

const struct module mod_filter_trace = {
	.name = "filter trace", .filters = kinds, .start = trace_start,
	.thread_init = trace_thread_init, .thread_fini = trace_thread_fini,
};

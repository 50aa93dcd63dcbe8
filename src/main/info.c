/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info.c - edge file: show info, show version
 *
 * info_collect() fills one value per field of info_fields.h; the printers walk that table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/strbuf.h"
#include "codec/compress.h"
#include "core/activity.h"
#include "core/counter.h"
#include "core/pool.h"
#include "core/task.h"
#include "core/thread.h"
#include "ctl/ctl.h"
#include "expr/pattern.h"
#include "ext/compression.h"
#include "ext/peers.h"
#include "front/listen.h"
#include "log/log.h"
#include "manage/stats.h"
#include "net/ctl_socket.h"
#include "net/pipe.h"
#include "net/sent.h"
#include "proxy/proxy.h"
#include "stream/process.h"
#include "tls/tls.h"
#include "info_fields.h"
#include "dump_priv.h"
#include "generation_priv.h"
#include "process_priv.h"
#include "settings_priv.h"

enum info_type { INFO_U32, INFO_U64, INFO_STR };

#define X(name, pos, text, tags, type, help) INFO_##name,
enum info_field { INFO_FIELDS(X) INFO_COUNT };
#undef X

struct info_description {
	int position;
	const char *name, *tags;
	enum info_type type;
	const char *help;
};

#define X(name, pos, text, tags, type, help) { pos, text, tags, type, help },
static const struct info_description fields[] = { INFO_FIELDS(X) };
#undef X

struct info_value {
	uint64_t number;
	double real;
	bool is_real;
	const char *text;
};

/* --- values ---------------------------------------------------------------------------------- */

/* Sums over the frontends. */
struct traffic {
	uint64_t connections, requests, streams, current;
	uint64_t session_rate, session_rate_max;
};

/* A counter since the start, whatever was cleared meanwhile. */
static uint64_t total(const struct counter_set *set, unsigned counter, const uint64_t *cleared)
{
	return counter_read(set, counter) + __atomic_load_n(cleared, __ATOMIC_RELAXED);
}

static void traffic_add(struct traffic *t, const struct proxy *fe)
{
	const struct proxy_state *st = fe->state;
	uint64_t requests = total(&st->fe, CNT_REQ_TOT, &st->cleared.requests);
	uint64_t sessions = total(&st->fe, CNT_SESS_TOT, &st->cleared.sessions);

	t->connections += total(&st->fe, CNT_CONN_TOT, &st->cleared.connections);
	t->requests += fe->mode == PROXY_MODE_HTTP ? requests : sessions;
	t->session_rate += rate_set_read(&st->fe_session_rate);
	/* the best known bound from below: the busiest frontend's */
	if (rate_set_max(&st->fe_session_rate) > t->session_rate_max)
		t->session_rate_max = rate_set_max(&st->fe_session_rate);
}

/* Of all threads: each is a connection, as CumConns sees it. */
static uint64_t checks_started(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < thread_count(); i++)
		sum += activity_read(i, ACTIVITY_check_started);
	return sum;
}

static void collect_traffic(struct info_value *v, const struct config *cfg)
{
	struct traffic t = { 0 };
	struct listen_figures figures;

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		if (px->caps & PROXY_FE)
			traffic_add(&t, px);
		if (px->caps & PROXY_BE)
			t.current += proxy_be_sessions(px);
	}
	v[INFO_CURRCONNS].number = sessions_count();
	v[INFO_CUMCONNS].number = t.connections + ctl_connections_total() + checks_started();
	v[INFO_CUMREQ].number = t.requests + ctl_connections_total();
	listen_get_figures(&figures);
	v[INFO_MAXCONNREACHED].number = figures.maxconn_reached;
	v[INFO_CONNRATE].number = figures.conn_rate;
	v[INFO_CONNRATELIMIT].number = figures.conn_rate_limit;
	v[INFO_MAXCONNRATE].number = figures.conn_rate_max;
	v[INFO_SESSRATE].number = t.session_rate;
	v[INFO_SESSRATELIMIT].number = figures.session_rate_limit;
	v[INFO_MAXSESSRATE].number = t.session_rate_max;
	v[INFO_TOTALBYTESOUT].number = sent_total();
	v[INFO_TOTALSPLICEDBYTESOUT].number = sent_total_spliced();
	v[INFO_BYTESOUTRATE].number = sent_rate();
	v[INFO_CURRSTREAMS].number = t.current + ctl_connections_count();
	v[INFO_CUMSTREAMS].number = t.requests + ctl_connections_total();
}

static void collect_memory(struct info_value *v)
{
	uint64_t allocated, used, failures, limit = (uint64_t)main_limits.memory_mb;

	pool_get_totals(&allocated, &used, &failures);
	v[INFO_MEMMAX_MB].number = limit;
	v[INFO_MEMMAX_BYTES].number = limit << 20;
	v[INFO_POOLALLOC_MB].number = allocated >> 20;
	v[INFO_POOLUSED_MB].number = used >> 20;
	v[INFO_POOLALLOC_BYTES].number = allocated;
	v[INFO_POOLUSED_BYTES].number = used;
	v[INFO_POOLFAILED].number = failures;
}

static void collect_limits(struct info_value *v, const struct config *cfg)
{
	unsigned listeners = stop_is_stopping() ? 0 : listen_count(cfg) + stats_sockets_count(cfg);

	v[INFO_ULIMIT_N].number = (uint64_t)main_limits.told;
	v[INFO_MAXSOCK].number = (uint64_t)main_limits.maxsock;
	v[INFO_MAXCONN].number = (uint64_t)
		__atomic_load_n(&main_limits.maxconn, __ATOMIC_RELAXED);
	v[INFO_HARD_MAXCONN].number = (uint64_t)main_limits.hard_maxconn;
	v[INFO_MAXPIPES].number = (uint64_t)main_limits.maxpipes;
	v[INFO_PIPESUSED].number = pipe_used_count();
	v[INFO_PIPESFREE].number = pipe_free_count();
	v[INFO_LISTENERS].number = listeners;
	/* the process itself is one */
	v[INFO_JOBS].number = 1 + listeners + sessions_count() + ctl_connections_count();
	v[INFO_STOPPING].number = stop_is_stopping();
}

static void collect_tls(struct info_value *v)
{
	struct tls_figures t;

	tls_get_figures(&t);
	v[INFO_MAXSSLCONNS].number = t.max_connections;
	v[INFO_CURRSSLCONNS].number = t.front_open + t.back_open;
	v[INFO_CUMSSLCONNS].number = t.front_total + t.back_total;
	v[INFO_SSLRATE].number = t.rate;
	v[INFO_SSLRATELIMIT].number = t.rate_limit;
	v[INFO_MAXSSLRATE].number = t.rate_max;
	v[INFO_SSLFRONTENDKEYRATE].number = t.front_key_rate;
	v[INFO_SSLFRONTENDMAXKEYRATE].number = t.front_key_rate_max;
	v[INFO_SSLFRONTENDSESSIONREUSE_PCT].number = t.reuse_percent;
	v[INFO_SSLBACKENDKEYRATE].number = t.back_key_rate;
	v[INFO_SSLBACKENDMAXKEYRATE].number = t.back_key_rate_max;
	v[INFO_SSLCACHELOOKUPS].number = t.cache_lookups;
	v[INFO_SSLCACHEMISSES].number = t.cache_misses;
}

static void set_real(struct info_value *v, double value)
{
	v->number = (uint64_t)value;
	v->real = value;
	v->is_real = true;
}

/* <text> is for the uptime in words. */
static void collect_process(struct info_value *v, char *text, size_t size)
{
	uint64_t up_ns = ctl_uptime_ns(), up = up_ns / NS_PER_SEC;

	snprintf(text, size, "%ud %uh%02um%02us", (unsigned)(up / 86400),
		 (unsigned)(up / 3600 % 24), (unsigned)(up / 60 % 60), (unsigned)(up % 60));
	v[INFO_NAME].text = "HAProxy";
	v[INFO_VERSION].text = version_text();
	v[INFO_BUILD_INFO].text = version_text();
	v[INFO_RELEASE_DATE].text = version_date();
	v[INFO_TAINTED].text = "0";
	v[INFO_TOTALWARNINGS].number = diag_warnings_total();
	v[INFO_UPTIME].text = text;
	set_real(&v[INFO_UPTIME_SEC], (double)up_ns / 1e9);
	v[INFO_NBTHREADGROUPS].number = thread_group_count();
	pattern_get_totals(&v[INFO_PATTERNSADDED].number, &v[INFO_PATTERNSFREED].number);
	v[INFO_NBTHREAD].number = thread_count();
	v[INFO_NBPROC].number = 1;
	v[INFO_BUSYPOLLING].number = thread_is_busy_polling();
	v[INFO_PROCESS_NUM].number = 1;
	v[INFO_PID].number = (uint64_t)getpid();
	v[INFO_START_TIME_SEC].number = (clock_wall_us() - up_ns / 1000) / 1000000;
	v[INFO_BOOTTIME_MS].number = (main_ready_ns - main_start_ns) / NS_PER_MS;
	v[INFO_TASKS].number = task_count();
	v[INFO_RUN_QUEUE].number = task_queued_count();
	v[INFO_COMPRESSBPSIN].number = compression_rate_in();
	v[INFO_COMPRESSBPSOUT].number = compression_rate_out();
	v[INFO_COMPRESSBPSRATELIM].number = compression_rate_limit();
	v[INFO_ZLIBMEMUSAGE].number = compress_memory();
	v[INFO_MAXZLIBMEMUSAGE].number = compress_memory_max();
	v[INFO_IDLE_PCT].number = activity_idle_percent();
	v[INFO_DROPPEDLOGS].number = log_dropped();
	v[INFO_ACTIVEPEERS].number = peers_active();
	v[INFO_CONNECTEDPEERS].number = peers_connected();
}

static void info_collect(struct info_value *v, const struct config *cfg, char *text, size_t size)
{
	static char host[256];
	const struct main_settings *set = settings_of(cfg);

	memset(v, 0, sizeof(*v) * INFO_COUNT);
	collect_process(v, text, size);
	collect_memory(v);
	collect_tls(v);
	collect_limits(v, cfg);
	collect_traffic(v, cfg);
	if (!host[0])
		gethostname(host, sizeof(host) - 1);
	v[INFO_NODE].text = set->node ? set->node : host;
	v[INFO_DESCRIPTION].text = set->description; /* not shown when unset */
}

/* --- printing -------------------------------------------------------------------------------- */

struct info_format {
	bool typed, json, desc, real;
};

static bool is_shown(unsigned i, const struct info_value *v)
{
	if (i == INFO_ZLIBMEMUSAGE || i == INFO_MAXZLIBMEMUSAGE)
		return compress_can(COMPRESS_GZIP);
	return fields[i].type != INFO_STR || v->text;
}

/* In quotes where it would be taken for several values. */
static void put_plain_text(struct strbuf *out, const char *text)
{
	bool quoted = strpbrk(text, ",\"\r\n") != NULL;

	if (quoted)
		strbuf_add_char(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			strbuf_add_char(out, '"');
		strbuf_add_char(out, *text);
	}
	if (quoted)
		strbuf_add_char(out, '"');
}

static void put_value(struct strbuf *out, unsigned i, const struct info_value *v, bool real)
{
	if (fields[i].type == INFO_STR)
		put_plain_text(out, v->text);
	else if (real && v->is_real)
		strbuf_printf(out, "%.6f", v->real);
	else
		strbuf_printf(out, "%llu", (unsigned long long)v->number);
}

static const char *type_name(unsigned i, const struct info_value *v, bool real)
{
	static const char *const names[] = { "u32", "u64", "str" };

	return real && v->is_real ? "flt" : names[fields[i].type];
}

static void put_line(struct strbuf *out, unsigned i, const struct info_value *v,
		     const struct info_format *f)
{
	if (f->typed)
		strbuf_printf(out, "%d.%s.1:%sV:%s:", fields[i].position, fields[i].name,
			      fields[i].tags, type_name(i, v, f->real));
	else
		strbuf_printf(out, "%s: ", fields[i].name);
	put_value(out, i, v, f->real);
	if (f->desc)
		strbuf_printf(out, ":\"%s\"", fields[i].help);
	strbuf_add_char(out, '\n');
}

/* "POS" in words, as JSON has it. */
static const char *tag_word(char letter, const char *const *words)
{
	for (; *words; words++)
		if ((*words)[0] == letter)
			return *words;
	return "";
}

static void put_json_text(struct strbuf *out, const char *text)
{
	strbuf_add_char(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			strbuf_printf(out, "\\%c", *text);
		else if ((unsigned char)*text < ' ')
			strbuf_printf(out, "\\u%04x", (unsigned char)*text);
		else
			strbuf_add_char(out, *text);
	}
	strbuf_add_char(out, '"');
}

static void put_json(struct strbuf *out, unsigned i, const struct info_value *v,
		     const struct info_format *f)
{
	static const char *const origins[] = { "Product", "Config", "Key", "Status", "Metric",
					       NULL };
	static const char *const natures[] = { "Output", "Gauge", "Limit", "Counter", "Rate", "Max",
					       "Duration", "Age", NULL };
	static const char *const scopes[] = { "Service", "Process", NULL };
	const char *tags = fields[i].tags;

	strbuf_printf(out, "{\"field\":{\"pos\":%d,\"name\":\"%s\"},\"processNum\":1,\"tags\":{"
		      "\"origin\":\"%s\",\"nature\":\"%s\",\"scope\":\"%s\"},\"value\":{\"type\":"
		      "\"%s\",\"value\":", fields[i].position, fields[i].name,
		      tag_word(tags[0], origins),
		      tags[1] == 'a' ? "Avg" : tag_word(tags[1], natures),
		      tag_word(tags[2], scopes), type_name(i, v, f->real));
	if (fields[i].type == INFO_STR)
		put_json_text(out, v->text);
	else
		put_value(out, i, v, f->real);
	strbuf_add_str(out, "}}");
}

static void read_format(const struct ctl_request *rq, struct info_format *f)
{
	for (int i = rq->at; i < rq->count; i++) {
		f->typed |= strcmp(rq->words[i], "typed") == 0;
		f->json |= strcmp(rq->words[i], "json") == 0;
		f->desc |= strcmp(rq->words[i], "desc") == 0;
		f->real |= strcmp(rq->words[i], "float") == 0;
	}
}

static enum ctl_step show_info(struct ctl_request *rq)
{
	struct info_value values[INFO_COUNT];
	struct info_format f = { 0 };
	char uptime[48];
	bool first = true;

	read_format(rq, &f);
	info_collect(values, generation_current(), uptime, sizeof(uptime));
	if (f.json)
		strbuf_add_char(rq->out, '[');
	for (unsigned i = 0; i < INFO_COUNT; i++) {
		if (!is_shown(i, &values[i]))
			continue;
		if (!f.json) {
			put_line(rq->out, i, &values[i], &f);
			continue;
		}
		if (!first)
			strbuf_add_char(rq->out, ',');
		first = false;
		put_json(rq->out, i, &values[i], &f);
	}
	if (f.json)
		strbuf_add_str(rq->out, "]\n");
	return CTL_DONE;
}

/* For metrics: each field once. */
static void info_emit(const struct config *cfg, stats_process_emit_fn *emit, void *ctx)
{
	struct info_value values[INFO_COUNT];
	char uptime[48];

	info_collect(values, cfg, uptime, sizeof(uptime));
	for (unsigned i = 0; i < INFO_COUNT; i++)
		if (is_shown(i, &values[i]))
			emit(ctx, &(struct stats_process_field){
				fields[i].name, fields[i].help, (double)values[i].number,
				values[i].text });
}

static bool info_init(void)
{
	stats_set_process(info_emit);
	return true;
}

static enum ctl_step show_version(struct ctl_request *rq)
{
	ctl_say(rq, "%s", version_text());
	return CTL_DONE;
}

/* set maxconn global: up to what the start found possible. */
static enum ctl_step set_maxconn(struct ctl_request *rq)
{
	const char *word = rq->at < rq->count ? rq->words[rq->at] : NULL;
	char *end;
	long value;

	if (!word) {
		ctl_error(rq, "Expects an integer value.");
		return CTL_DONE;
	}
	value = strtol(word, &end, 10);
	if (*end || value < 0 || value > main_limits.hard_maxconn) {
		ctl_error(rq, "Value out of range.");
		return CTL_DONE;
	}
	if (!value)
		value = (long)main_limits.hard_maxconn;
	__atomic_store_n(&main_limits.maxconn, value, __ATOMIC_RELAXED);
	listen_set_maxconn((unsigned)value);
	listen_retry_all(generation_current());
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "show info", .syntax = "[desc|json|typed|float]*", .run = show_info,
	  .help = "report information about the running process" },
	{ .words = "set maxconn global", .syntax = "<number>", .level = CTL_ADMIN,
	  .run = set_maxconn, .help = "change the connection limit of the process" },
	{ .words = "show version", .flags = CTL_ANYWHERE, .run = show_version,
	  .help = "show the version of the program" },
	{ 0 }
};

const struct module mod_info = { .name = "info", .commands = commands, .init = info_init };

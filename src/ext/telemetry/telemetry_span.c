/* SPDX-License-Identifier: GPL-2.0-or-later */
/* telemetry_span.c - the spans of a finished stream
 *
 * Names of attributes: OpenTelemetry's semantic conventions for HTTP (stable), and haproxy.* for
 * further data that the log has.
 */
#include <string.h>
#include "base/clock.h"
#include "base/num.h"
#include "codec/uri.h"
#include "net/conn.h"
#include "stream/log.h"
#include "stream/persist.h"
#include "stream/timing.h"
#include "tls/tls.h"
#include "telemetry_priv.h"

#define URL_MAX 1024 /* longer ones are cut */
#define TEXT(key, value) otlp_attr_text_quick(o, SLICE(key), value)
#define INT(key, value) otlp_attr_int_quick(o, SLICE(key), value)
/* A timer of the log: -1, which is "not reached", is left out. */
#define TIMER(key, value) put_timer(o, SLICE(key), value)

static inline void put_timer(struct otlp *o, struct slice key, int64_t ms)
{
	if (ms >= 0)
		otlp_attr_int_quick(o, key, ms);
}

/* Nanoseconds since 1970 of a moment of the monotonic clock. */
static uint64_t wall_ns(uint64_t ns)
{
	static __thread uint64_t base;
	uint64_t now = clock_wall_us() * 1000 - clock_now_ns();

	/* both clocks are read once a turn: a microsecond of rounding must not move spans */
	if (now > base + 1000 || now < base)
		base = now;
	return base + ns;
}

/* --- the request ------------------------------------------------------------------------------ */

static struct slice method_of(const struct stream *s)
{
	return s->req.method == HTTP_METH_OTHER ? SLICE("HTTP") : s->req.method_text;
}

static void put_method(struct otlp *o, const struct stream *s)
{
	if (s->req.method != HTTP_METH_OTHER) {
		TEXT("http.request.method", s->req.method_text);
		return;
	}
	TEXT("http.request.method", SLICE("_OTHER"));
	if (s->log.method.len)
		TEXT("http.request.method_original", s->log.method);
}

void telemetry_put_addr(struct otlp *o, struct slice key, struct slice port_key,
			const struct addr *a)
{
	char text[ADDR_IP_MAX];

	if (!addr_is_inet(a))
		return;
	otlp_attr_text(o, key, slice_make(text, addr_put_ip(a, text, sizeof(text))));
	if (port_key.len)
		otlp_attr_int(o, port_key, a->port);
}

static void put_version(struct otlp *o, unsigned version)
{
	const char text[3] = { (char)('0' + version / 10), '.', (char)('0' + version % 10) };

	TEXT("network.protocol.version", slice_make(text, version >= 20 ? 1 : 3));
}

/* The host that the client asked for. */
static void put_host(struct otlp *o, const struct stream *s, const struct uri *u)
{
	const struct h1_field *f = http_field_find(&s->req.fields, FIELD_HOST, slice_none());
	struct slice host = u->host, port_text;
	uint16_t port = u->port;

	if (!host.len && (!f || !uri_parse_host(f->value, &host, &port_text, &port)))
		return;
	TEXT("server.address", host);
	if (port)
		INT("server.port", port);
}

static bool client_has_tls(const struct stream *s)
{
	const struct conn *c = s->sess->conn;

	return c && tls_is_on(c);
}

void telemetry_put_request(struct otlp *o, struct stream *s)
{
	const struct h1_field *agent = http_field_find(&s->req.fields, FIELD_USER_AGENT,
						       slice_none());
	struct uri u = { .form = URI_ORIGIN };

	if (!uri_parse(s->log.uri, s->req.method == HTTP_METH_CONNECT, &u))
		memset(&u, 0, sizeof(u));
	put_method(o, s);
	if (u.path.len)
		TEXT("url.path", u.path);
	if (u.query.len)
		TEXT("url.query", u.query);
	TEXT("url.scheme", client_has_tls(s) ? SLICE("https") : SLICE("http"));
	put_host(o, s, &u);
	telemetry_put_addr(o, SLICE("client.address"), SLICE("client.port"), stream_src(s));
	if (!addr_eq(session_conn_src(s->sess), stream_src(s)))
		telemetry_put_addr(o, SLICE("network.peer.address"), SLICE("network.peer.port"),
			 session_conn_src(s->sess));
	put_version(o, s->req.version);
	if (agent)
		TEXT("user_agent.original", agent->value);
}

/* --- how it went ------------------------------------------------------------------------------ */

static bool is_failure(enum stream_end end)
{
	enum stream_cause cause = (enum stream_cause)stream_ends[end].cause;

	return cause != CAUSE_NONE && cause != CAUSE_LOCAL;
}

/* The name of the end, or the status of an answer that is an error: from <worst> on. */
static void put_error(struct otlp *o, enum stream_end end, unsigned status, unsigned worst)
{
	char text[NUM_U64_MAX];

	if (is_failure(end))
		TEXT("error.type", slice_of(stream_ends[end].name));
	else if (status >= worst)
		TEXT("error.type", slice_make(text, num_put_u64(text, status)));
}

static void put_timers(struct otlp *o, const struct stream *s)
{
	TIMER("haproxy.time.handshake_ms", timing_handshake(s));
	TIMER("haproxy.time.idle_ms", timing_idle(s));
	TIMER("haproxy.time.request_ms", timing_request(s));
	TIMER("haproxy.time.queue_ms", timing_queue(s));
	TIMER("haproxy.time.connect_ms", timing_connect(s));
	TIMER("haproxy.time.response_ms", timing_response(s));
	TIMER("haproxy.time.data_ms", timing_data(s));
	TIMER("haproxy.time.active_ms", timing_active(s));
}

static struct slice decider_name(const struct telemetry_trace *t)
{
	static const struct slice names[] = {
		[BY_RATIO] = SLICE("ratio"), [BY_PARENT] = SLICE("parent"),
		[BY_RULE] = SLICE("rule"),
	};

	return t->ours.decision == TRACE_SAMPLED ? names[t->decider] : SLICE("error");
}

void telemetry_put_end(struct otlp *o, struct stream *s)
{
	char letters[4];
	struct slice id = stream_unique_id(s);

	if (s->answer.status)
		INT("http.response.status_code", s->answer.status);
	put_error(o, (enum stream_end)s->end, s->answer.status, 500);
	TEXT("haproxy.frontend.name", slice_of(s->fe->name));
	if (s->be != s->fe || s->fe->caps & PROXY_BE)
		TEXT("haproxy.backend.name", slice_of(s->be->name));
	if (stream_server(s))
		TEXT("haproxy.server.name", slice_of(s->server->name));
	stream_end_letters(s, letters);
	persist_letters(s, letters + 2);
	TEXT("haproxy.termination_state", slice_make(letters, sizeof(letters)));
	if (s->end != END_NONE) {
		TEXT("haproxy.end", slice_of(stream_ends[s->end].name));
		TEXT("haproxy.end.text", slice_of(stream_ends[s->end].text));
	}
	if (s->retry.count)
		INT("haproxy.retries", s->retry.count);
	if (s->retry.is_moved)
		otlp_attr_bool(o, SLICE("haproxy.redispatched"), true);
	INT("haproxy.bytes.received", (int64_t)s->front.rx_bytes);
	INT("haproxy.bytes.sent", (int64_t)stream_bytes_out(s));
	put_timers(o, s);
	if (id.len)
		TEXT("haproxy.unique_id", id);
}

/* --- tries ------------------------------------------------------------------------------------ */

static bool server_has_tls(const struct stream *s)
{
	struct conn *c = s->back.ops ? s->back.ops->conn((struct endpoint *)&s->back) : NULL;

	return c && tls_is_on(c);
}

static void put_url(struct otlp *o, const struct stream *s, struct slice host, uint16_t port)
{
	bool v6 = host.len && memchr(host.ptr, ':', host.len);
	char text[URL_MAX];
	struct strbuf url;

	strbuf_init_fixed(&url, text, sizeof(text));
	strbuf_add(&url, server_has_tls(s) ? SLICE("https://") : SLICE("http://"));
	if (v6)
		strbuf_add_char(&url, '[');
	strbuf_add(&url, host);
	if (v6)
		strbuf_add_char(&url, ']');
	strbuf_add_char(&url, ':');
	strbuf_add_uint(&url, port);
	strbuf_add(&url, http_msg_pathq(&s->req));
	TEXT("url.full", strbuf_slice(&url));
}

static void put_server(struct otlp *o, const struct stream *s, const struct telemetry_try *y)
{
	char ip[ADDR_IP_MAX] = "";
	struct slice host = slice_of(y->host);

	if (addr_is_inet(&y->to))
		addr_put_ip(&y->to, ip, sizeof(ip));
	if (!host.len)
		host = *ip ? slice_of(ip) : y->server;
	TEXT("server.address", host);
	if (y->to.port)
		INT("server.port", y->to.port);
	if (y->host)
		telemetry_put_addr(o, SLICE("network.peer.address"), SLICE("network.peer.port"),
				   &y->to);
	put_url(o, s, host, y->to.port);
}

static void put_try_attributes(struct otlp *o, const struct stream *s,
			       const struct telemetry_try *y, unsigned number)
{
	put_method(o, s);
	put_server(o, s, y);
	if (number)
		INT("http.request.resend_count", number);
	if (y->status)
		INT("http.response.status_code", y->status);
	put_error(o, (enum stream_end)y->why, y->status, 400);
	TEXT("haproxy.backend.name", slice_of(s->be->name));
	TEXT("haproxy.server.name", y->server);
	INT("haproxy.try", number + 1);
	otlp_attr_bool_quick(o, SLICE("haproxy.connection.reused"), y->is_reused);
	if (y->connected_ns)
		INT("haproxy.time.connect_ms", timing_span(y->begin_ns, y->connected_ns));
	if (y->answer_ns)
		INT("haproxy.time.response_ms", timing_span(y->connected_ns, y->answer_ns));
	if (y->error)
		TEXT("haproxy.connection.error", slice_of(strerror(y->error)));
	if (y->why != END_NONE)
		TEXT("haproxy.end", slice_of(stream_ends[y->why].name));
}

static void put_try(struct strbuf *out, const struct stream *s, const struct telemetry_trace *t,
		    const struct telemetry_try *y, unsigned number)
{
	struct otlp o = otlp_begin(out, OTLP_TRACES, t->conf->json);
	bool failed = is_failure((enum stream_end)y->why) || y->status >= 400;
	struct otlp_span span = {
		.trace = { t->ours.id[0], t->ours.id[1] }, .span = y->span, .parent = t->ours.span,
		.kind = OTLP_CLIENT, .name = method_of(s),
		.start_ns = wall_ns(y->begin_ns), .end_ns = wall_ns(y->end_ns),
		.flags = t->ours.decision == TRACE_SAMPLED, .failed = failed,
	};

	if (is_failure((enum stream_end)y->why))
		span.message = slice_of(stream_ends[y->why].text);
	otlp_span_open(&o, &span);
	put_try_attributes(&o, s, y, number);
	otlp_span_close(&o, &span);
}

/* The one that the stream ended with. */
static bool describe_last(struct stream *s, const struct telemetry_trace *t,
			  struct telemetry_try *out)
{
	uint8_t stage = s->end == END_NONE ? (uint8_t)STAGE_FORWARD : s->trail.stage;

	if (!telemetry_is_trying(s, stage))
		return false;
	telemetry_describe_try(s, t, out);
	out->end_ns = s->t.close;
	out->why = s->end;
	out->status = s->answer.server;
	if (s->end != END_CONNECT_FAILED)
		out->error = 0;
	return true;
}

/* --- all of it -------------------------------------------------------------------------------- */

static struct slice state_of(const struct stream *s, const struct telemetry_trace *t)
{
	const struct h1_field *f;

	if (!t->has_state)
		return slice_none();
	f = http_field_find(&s->req.fields, 0, SLICE("tracestate"));
	return f ? f->value : slice_none();
}

static void put_request_span(struct strbuf *out, struct stream *s, const struct telemetry_trace *t)
{
	struct otlp o = otlp_begin(out, OTLP_TRACES, t->conf->json);
	struct otlp_span span = {
		.trace = { t->ours.id[0], t->ours.id[1] }, .span = t->ours.span,
		.parent = t->parent, .kind = OTLP_SERVER, .name = method_of(s),
		.state = state_of(s, t),
		.start_ns = wall_ns(s->t.begin), .end_ns = wall_ns(s->t.close),
		.flags = t->ours.decision == TRACE_SAMPLED,
		.failed = s->answer.status >= 500 ||
			  (is_failure((enum stream_end)s->end) && s->answer.status < 400),
	};

	if (span.failed && s->end != END_NONE)
		span.message = slice_of(stream_ends[s->end].text);
	otlp_span_open(&o, &span);
	telemetry_put_request(&o, s);
	telemetry_put_end(&o, s);
	otlp_attr_text(&o, SLICE("haproxy.sampled_by"), decider_name(t));
	otlp_span_close(&o, &span);
}

unsigned telemetry_put_spans(struct stream *s, struct telemetry_trace *t, struct strbuf *out)
{
	struct telemetry_try last;
	unsigned number = 0;

	put_request_span(out, s, t);
	for (const struct telemetry_try *y = t->first; y; y = y->next)
		put_try(out, s, t, y, number++);
	if (describe_last(s, t, &last))
		put_try(out, s, t, &last, number++);
	return 1 + number;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log_alias.c - the %aliases of log formats about a stream (manual 8.2.6) */
#include <netinet/in.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/module.h"
#include "expr/logformat.h"
#include "front/listen.h"
#include "net/conn.h"
#include "proxy/bind.h"
#include "stream/log.h"
#include "stream/persist.h"
#include "stream/process.h"
#include "stream/service.h"
#include "stream/stream.h"
#include "stream/timing.h"
#include "stream/trail.h"
#include "tls/tls.h"

#define ALIAS_ARGS struct expr_ctx *ctx, const struct logformat_item *item, struct strbuf *out

static bool put_addr(const struct logformat_item *item, struct strbuf *out, const struct addr *a)
{
	if (a->family == ADDR_INET)
		return logformat_put_ipv4(item, out, a->v4);
	if (a->family == ADDR_INET6)
		return logformat_put_ipv6(item, out, a->v6);
	return logformat_put_word(item, out, a->family == ADDR_UNIX ? SLICE("unix") : SLICE("-"));
}

static bool put_port(const struct logformat_item *item, struct strbuf *out, const struct addr *a,
		     const struct listener_conf *l)
{
	/* UNIX sockets have no port: the number of the listener stands for it */
	return logformat_put_port(item, out,
				  a->family == ADDR_UNIX && l ? (unsigned)l->id : a->port);
}

/* --- addresses -------------------------------------------------------------------------------- */

static bool alias_ci(ALIAS_ARGS)
{
	return put_addr(item, out, context_src(ctx));
}

static bool alias_cp(ALIAS_ARGS)
{
	return put_port(item, out, context_src(ctx), ctx->session->listener);
}

static bool alias_fi(ALIAS_ARGS)
{
	return put_addr(item, out, context_dst(ctx));
}

static bool alias_fp(ALIAS_ARGS)
{
	return put_port(item, out, context_dst(ctx), ctx->session->listener);
}

/* Our own address towards the server, or the server's. */
static struct addr back_address(const struct stream *s, bool ours)
{
	struct addr none = { .family = ADDR_NONE };
	struct server_addr to;

	if (ours) {
		const struct conn *c = s->back.ops ?
			s->back.ops->conn((struct endpoint *)&s->back) : NULL;

		return c ? conn_address(c, false) : s->answer.left ? s->answer.left->source : none;
	}
	if (!s->server)
		return none;
	return server_target((struct stream *)s, &to) ? addr_from_sockaddr(&to.sa, to.len) : none;
}

static bool alias_bi(ALIAS_ARGS)
{
	struct addr a = back_address(ctx->stream, true);

	return put_addr(item, out, &a);
}

static bool alias_bp(ALIAS_ARGS)
{
	struct addr a = back_address(ctx->stream, true);

	return a.family == ADDR_NONE ? logformat_put_word(item, out, SLICE("-"))
				     : put_port(item, out, &a, NULL);
}

static bool alias_si(ALIAS_ARGS)
{
	struct addr a = back_address(ctx->stream, false);

	return put_addr(item, out, &a);
}

static bool alias_sp(ALIAS_ARGS)
{
	struct addr a = back_address(ctx->stream, false);

	return a.family == ADDR_NONE ? logformat_put_word(item, out, SLICE("-"))
				     : put_port(item, out, &a, NULL);
}

/* Does a number go on growing after a line that was written early? */
static bool is_incomplete(const struct stream *s)
{
	return !s->t.close && s->fe->options & PROXY_OPT_LOGASAP;
}

/* --- names ------------------------------------------------------------------------------------ */

static bool alias_f(ALIAS_ARGS)
{
	return logformat_put_text(item, out, slice_of(ctx->session->fe->name));
}

static bool alias_ft(ALIAS_ARGS)
{
	struct session *s = ctx->session;

	if (!alias_f(ctx, item, out))
		return false;
	if (tls_bind_is_on(bind_slots(s->listener->bind)))
		strbuf_add_char(out, '~');
	return true;
}

static bool put_or_dash(const struct logformat_item *item, struct strbuf *out, const char *text)
{
	return logformat_put_word(item, out, text ? slice_of(text) : SLICE("-"));
}

static bool alias_sslc(ALIAS_ARGS)
{
	return put_or_dash(item, out, tls_cipher_name(ctx->session->conn));
}

static bool alias_sslv(ALIAS_ARGS)
{
	return put_or_dash(item, out, tls_version_name(ctx->session->conn));
}

static bool alias_b(ALIAS_ARGS)
{
	const struct proxy *px = ctx->stream ? ctx->stream->be : ctx->proxy;

	return logformat_put_text(item, out, px ? slice_of(px->name) : slice_none());
}

static bool alias_s(ALIAS_ARGS)
{
	const struct stream *s = ctx->stream;

	return logformat_put_text(item, out,
				  stream_server(s) ? slice_of(s->server->name) :
				  s->service ? slice_of(s->service->shown) : SLICE("<NOSRV>"));
}

static bool alias_pid(ALIAS_ARGS)
{
	uint32_t pid = (uint32_t)getpid();

	return logformat_put_hex(item, out, pid, pid > 0xfffff ? 6 : pid > 0xffff ? 5 : 4);
}

static bool alias_hostname(ALIAS_ARGS)
{
	char name[256] = "";

	gethostname(name, sizeof(name) - 1);
	return logformat_put_text(item, out, slice_of(name));
}

/* --- dates ------------------------------------------------------------------------------------ */

static bool alias_t(ALIAS_ARGS)
{
	return logformat_put_date(item, out, LOGFORMAT_DATE_LOCAL_MS,
				  timing_accept_wall_us(ctx->session, ctx->stream));
}

static bool alias_T(ALIAS_ARGS)
{
	return logformat_put_date(item, out, LOGFORMAT_DATE_GMT,
				  timing_accept_wall_us(ctx->session, ctx->stream));
}

static bool alias_Tl(ALIAS_ARGS)
{
	return logformat_put_date(item, out, LOGFORMAT_DATE_LOCAL,
				  timing_accept_wall_us(ctx->session, ctx->stream));
}

static bool alias_Ts(ALIAS_ARGS)
{
	return logformat_put_hex(item, out,
				 (uint32_t)(timing_accept_wall_us(ctx->session, ctx->stream) /
					    1000000), 8);
}

static bool alias_ms(ALIAS_ARGS)
{
	char text[4];
	uint64_t us = timing_accept_wall_us(ctx->session, ctx->stream);
	unsigned ms = (unsigned)(us / 1000 % 1000);

	if (item->options & LOGFORMAT_HEX)
		return logformat_put_hex(item, out, ms, ms > 0xff ? 3 : 2);
	text[0] = (char)('0' + ms / 100);
	text[1] = (char)('0' + ms / 10 % 10);
	text[2] = (char)('0' + ms % 10);
	return strbuf_add(out, slice_make(text, 3));
}

static bool alias_date_tr(ALIAS_ARGS)
{
	return logformat_put_date(item, out, LOGFORMAT_DATE_LOCAL_MS, ctx->stream->t.wall_us);
}

static bool alias_trg(ALIAS_ARGS)
{
	return logformat_put_date(item, out, LOGFORMAT_DATE_GMT, ctx->stream->t.wall_us);
}

static bool alias_trl(ALIAS_ARGS)
{
	return logformat_put_date(item, out, LOGFORMAT_DATE_LOCAL, ctx->stream->t.wall_us);
}

/* --- timers ----------------------------------------------------------------------------------- */

/* A timer that grows until the end: '+' when the line was written before it (logasap). */
static bool put_total(ALIAS_ARGS, int64_t ms)
{
	return logformat_put_int(item, out, ms, is_incomplete(ctx->stream));
}

#define ALIAS_TIMER(name, what) \
	static bool alias_##name(ALIAS_ARGS) \
	{ \
		return logformat_put_int(item, out, timing_##what(ctx->stream), false); \
	}
#define ALIAS_TOTAL(name, what) \
	static bool alias_##name(ALIAS_ARGS) \
	{ \
		return put_total(ctx, item, out, timing_##what(ctx->stream)); \
	}
ALIAS_TIMER(th, handshake)
ALIAS_TIMER(ti, idle)
ALIAS_TIMER(tr_req, request)
ALIAS_TIMER(tq, query)
ALIAS_TIMER(tw, queue)
ALIAS_TIMER(tc, connect)
ALIAS_TIMER(tr, response)
ALIAS_TIMER(td, data)
ALIAS_TOTAL(ta, active)
ALIAS_TOTAL(tt, total)
ALIAS_TOTAL(tu, user)

#undef ALIAS_TIMER
#undef ALIAS_TOTAL

/* --- figures ---------------------------------------------------------------------------------- */

static bool alias_B(ALIAS_ARGS)
{
	return logformat_put_int(item, out, (int64_t)stream_bytes_out(ctx->stream),
				 is_incomplete(ctx->stream));
}

static bool alias_U(ALIAS_ARGS)
{
	return logformat_put_int(item, out, (int64_t)ctx->stream->front.rx_bytes, false);
}

static bool alias_ST(ALIAS_ARGS)
{
	const struct stream *s = ctx->stream;
	int64_t status = s->answer.status ? s->answer.status : s->res.status;

	/* a request without an answer; 0 is for what never was one, whatever page it would get */
	if (!(s->flags & STRM_HTTP))
		status = 0;
	else if (!status && !slice_is_none(s->log.uri))
		status = -1;
	return logformat_put_int(item, out, status, false);
}

static bool alias_ac(ALIAS_ARGS)
{
	return logformat_put_int(item, out, sessions_count(), false);
}

static bool alias_fc(ALIAS_ARGS)
{
	return logformat_put_int(item, out, (int64_t)proxy_fe_sessions(ctx->session->fe), false);
}

static bool alias_bc(ALIAS_ARGS)
{
	const struct stream *s = ctx->stream;
	int64_t n = 0;

	if (s->flags & STRM_BE_COUNTED)
		n = (int64_t)proxy_be_sessions(s->be) + s->log.be_conn;
	return logformat_put_int(item, out, n, false);
}

static bool alias_sc(ALIAS_ARGS)
{
	const struct stream *s = ctx->stream;
	int64_t n = 0;

	if (stream_server(s))
		n = (int64_t)counter_read(&s->server->state->counters, CNT_SESS_CUR);
	/* one that has ended counts no longer, though it still holds its slot */
	if (n > 0 && s->t.close && s->flags & STRM_SLOT)
		n--;
	return logformat_put_int(item, out, n, false);
}

static bool alias_rc(ALIAS_ARGS)
{
	return logformat_put_int(item, out, ctx->stream->retry.count,
				 ctx->stream->retry.is_moved);
}

static bool alias_sq(ALIAS_ARGS)
{
	return logformat_put_int(item, out, ctx->stream->queue.ahead, false);
}

static bool alias_bq(ALIAS_ARGS)
{
	return logformat_put_int(item, out, ctx->stream->queue.be_ahead, false);
}

static bool alias_rt(ALIAS_ARGS)
{
	return logformat_put_hex(item, out, ctx->stream->id.in_process, 4);
}

static bool alias_lc(ALIAS_ARGS)
{
	struct stream *s = ctx->stream;

	/* one number for all threads: only for formats that show it */
	if (!s->log.number) {
		SHARED_WRITE(process);
		s->log.number = __atomic_add_fetch(&s->fe->state->log_lines, 1,
						   __ATOMIC_RELAXED);
	}
	return logformat_put_hex(item, out, s->log.number - 1, 4);
}

/* --- the request ------------------------------------------------------------------------------ */

/* A part of a target may hold "#" (accept-unsafe-violations-in-http-request): a reader of the line
 * must be able to tell it from the code of another byte.
 */
static bool put_said(const struct logformat_item *item, struct strbuf *out, struct slice text)
{
	struct logformat_item said = *item;

	said.options |= LOGFORMAT_SAID;
	return logformat_put_text(&said, out, text);
}

static bool alias_r(ALIAS_ARGS)
{
	const struct stream *s = ctx->stream;
	char text[2048];
	struct strbuf b;

	if (slice_is_none(s->log.uri))
		return logformat_put_text(item, out, SLICE("<BADREQ>"));
	strbuf_init_fixed(&b, text, sizeof(text));
	strbuf_add(&b, s->log.method);
	strbuf_add_char(&b, ' ');
	strbuf_add(&b, slice_sub(s->log.uri, 0, stream_tunes()->log_uri_max));
	strbuf_add_char(&b, ' ');
	strbuf_add(&b, s->log.version);
	return put_said(item, out, strbuf_slice(&b));
}

static bool put_part(ALIAS_ARGS, struct slice part)
{
	if (slice_is_none(ctx->stream->log.uri))
		part = SLICE("<BADREQ>");
	return put_said(item, out, part);
}

static bool alias_HM(ALIAS_ARGS)
{
	return put_part(ctx, item, out, ctx->stream->log.method);
}

static bool alias_HU(ALIAS_ARGS)
{
	return put_part(ctx, item, out, ctx->stream->log.uri);
}

static bool alias_HV(ALIAS_ARGS)
{
	return put_part(ctx, item, out, ctx->stream->log.version);
}

static bool alias_HP(ALIAS_ARGS)
{
	struct slice uri = ctx->stream->log.uri;

	return put_part(ctx, item, out, slice_sub(uri, 0, slice_find_char(uri, 0, '?')));
}

/* What the target does not have is empty, not '-'. */
static bool put_part_or_nothing(ALIAS_ARGS, struct slice part)
{
	if (!part.len && !slice_is_none(ctx->stream->log.uri))
		return !(item->options & LOGFORMAT_QUOTE) || strbuf_add(out, SLICE("\"\""));
	return put_part(ctx, item, out, part);
}

static bool alias_HPO(ALIAS_ARGS)
{
	struct http_msg m = { .uri = ctx->stream->log.uri };

	return put_part_or_nothing(ctx, item, out, http_msg_path(&m));
}

static bool alias_HQ(ALIAS_ARGS)
{
	struct slice uri = ctx->stream->log.uri;
	size_t at = slice_find_char(uri, 0, '?');

	return put_part_or_nothing(ctx, item, out, at == SIZE_MAX ? SLICE("")
				   : slice_sub(uri, at, uri.len));
}

/* --- how it ended ----------------------------------------------------------------------------- */

static bool alias_ts(ALIAS_ARGS)
{
	char text[2];

	stream_end_letters(ctx->stream, text);

	return strbuf_add(out, slice_make(text, 2));
}

static bool alias_tsc(ALIAS_ARGS)
{
	char text[4];

	stream_end_letters(ctx->stream, text);
	persist_letters(ctx->stream, text + 2);

	return strbuf_add(out, slice_make(text, 4));
}

static bool alias_ID(ALIAS_ARGS)
{
	return logformat_put_text(item, out, ctx->stream ? stream_unique_id(ctx->stream)
							 : slice_none());
}

static bool alias_OG(ALIAS_ARGS)
{
	const struct stream *s = ctx->stream;

	return logformat_put_word(item, out, slice_of(log_step_origin(s ? s->log.step
								      : LOG_STEP_UNSPEC)));
}

static bool alias_endreason(ALIAS_ARGS)
{
	const struct stream *s = ctx->stream;

	return logformat_put_word(item, out, slice_of(stream_ends[s ? s->end : END_NONE].name));
}

static bool alias_trail(ALIAS_ARGS)
{
	char text[TRAIL_LINE_MAX];
	struct strbuf b;

	strbuf_init_fixed(&b, text, sizeof(text));
	if (ctx->stream)
		trail_put_line(ctx->stream, &b);
	return logformat_put_text(item, out, strbuf_slice(&b));
}

static const struct expr_alias aliases[] = {
	{ .name = "B", .print = alias_B, .needs = STREAM_NEEDS_END, .flags = ALIAS_NUMBER,
	  .absent = "0", .help = "bytes sent to the client" },
	{ .name = "H", .print = alias_hostname, .help = "host name of the machine" },
	{ .name = "HM", .print = alias_HM, .flags = ALIAS_PIECES | ALIAS_HTTP,
	  .absent = "<BADREQ>", .help = "method" },
	{ .name = "HP", .print = alias_HP, .flags = ALIAS_PIECES | ALIAS_HTTP,
	  .absent = "<BADREQ>", .help = "target without query" },
	{ .name = "HPO", .print = alias_HPO, .flags = ALIAS_PIECES | ALIAS_HTTP,
	  .absent = "<BADREQ>", .help = "path only" },
	{ .name = "HQ", .print = alias_HQ, .flags = ALIAS_PIECES | ALIAS_HTTP,
	  .absent = "<BADREQ>", .help = "query with its '?'" },
	{ .name = "HU", .print = alias_HU, .flags = ALIAS_PIECES | ALIAS_HTTP,
	  .absent = "<BADREQ>", .help = "target as received" },
	{ .name = "HV", .print = alias_HV, .flags = ALIAS_PIECES | ALIAS_HTTP,
	  .absent = "<BADREQ>", .help = "version" },
	{ .name = "ID", .print = alias_ID, .needs = STREAM_NEEDS_END, .help = "unique id" },
	{ .name = "OG", .print = alias_OG, .help = "when the line was written" },
	{ .name = "ST", .print = alias_ST, .flags = ALIAS_NUMBER, .absent = "0",
	  .help = "status of the answer" },
	{ .name = "T", .print = alias_T, .flags = ALIAS_SESSION, .help = "accept date, UTC" },
	{ .name = "TR", .print = alias_tr_req, .needs = STREAM_NEEDS_END,
	  .flags = ALIAS_NUMBER | ALIAS_HTTP, .absent = "-1", .help = "time to get the head" },
	{ .name = "Ta", .print = alias_ta, .needs = STREAM_NEEDS_END,
	  .flags = ALIAS_NUMBER | ALIAS_HTTP, .absent = "0", .help = "active time" },
	{ .name = "Tc", .print = alias_tc, .needs = STREAM_NEEDS_END, .flags = ALIAS_NUMBER,
	  .absent = "-1", .help = "time to connect" },
	{ .name = "Td", .print = alias_td, .needs = STREAM_NEEDS_END, .flags = ALIAS_NUMBER,
	  .absent = "-1", .help = "time to transfer the answer" },
	{ .name = "Th", .print = alias_th, .needs = STREAM_NEEDS_END, .flags = ALIAS_NUMBER,
	  .absent = "-1", .help = "time of handshakes" },
	{ .name = "Ti", .print = alias_ti, .needs = STREAM_NEEDS_END,
	  .flags = ALIAS_NUMBER | ALIAS_HTTP, .absent = "0",
	  .help = "idle time before the request" },
	{ .name = "Tl", .print = alias_Tl, .flags = ALIAS_SESSION,
	  .help = "accept date, local time" },
	{ .name = "Tq", .print = alias_tq, .needs = STREAM_NEEDS_END,
	  .flags = ALIAS_NUMBER | ALIAS_HTTP, .absent = "-1", .help = "Th + Ti + TR" },
	{ .name = "Tr", .print = alias_tr, .needs = STREAM_NEEDS_END,
	  .flags = ALIAS_NUMBER | ALIAS_HTTP, .absent = "-1",
	  .help = "time to the answer's head" },
	{ .name = "Ts", .print = alias_Ts, .flags = ALIAS_NUMBER | ALIAS_HEX | ALIAS_SESSION,
	  .help = "accept date in seconds" },
	{ .name = "Tt", .print = alias_tt, .needs = STREAM_NEEDS_END, .flags = ALIAS_NUMBER,
	  .absent = "0", .help = "total time" },
	{ .name = "Tu", .print = alias_tu, .needs = STREAM_NEEDS_END, .flags = ALIAS_NUMBER,
	  .absent = "0", .help = "time as the client sees it" },
	{ .name = "Tw", .print = alias_tw, .needs = STREAM_NEEDS_END, .flags = ALIAS_NUMBER,
	  .absent = "-1", .help = "time in queues" },
	{ .name = "U", .print = alias_U, .needs = STREAM_NEEDS_END, .flags = ALIAS_NUMBER,
	  .absent = "0", .help = "bytes received of the client" },
	{ .name = "ac", .print = alias_ac, .needs = STREAM_NEEDS_END, .flags = ALIAS_NUMBER,
	  .help = "sessions of the process" },
	{ .name = "b", .print = alias_b, .help = "name of the backend" },
	{ .name = "bc", .print = alias_bc, .needs = STREAM_NEEDS_END, .flags = ALIAS_NUMBER,
	  .absent = "0", .help = "streams of the backend" },
	{ .name = "bi", .print = alias_bi, .needs = STREAM_NEEDS_SOURCE, .absent = "",
	  .help = "our address towards the server" },
	{ .name = "bp", .print = alias_bp, .needs = STREAM_NEEDS_SOURCE,
	  .flags = ALIAS_NUMBER | ALIAS_HEX, .absent = "", .help = "our port towards the server" },
	{ .name = "bq", .print = alias_bq, .needs = STREAM_NEEDS_END, .flags = ALIAS_NUMBER,
	  .absent = "0", .help = "waiters ahead in the backend's queue" },
	{ .name = "ci", .print = alias_ci, .flags = ALIAS_SESSION, .help = "client's address" },
	{ .name = "cp", .print = alias_cp, .flags = ALIAS_NUMBER | ALIAS_HEX | ALIAS_SESSION,
	  .help = "client's port" },
	{ .name = "f", .print = alias_f, .flags = ALIAS_SESSION,
	  .help = "name of the frontend" },
	{ .name = "fc", .print = alias_fc, .needs = STREAM_NEEDS_END,
	  .flags = ALIAS_NUMBER | ALIAS_SESSION, .help = "sessions of the frontend" },
	{ .name = "fi", .print = alias_fi, .flags = ALIAS_SESSION,
	  .help = "address the client connected to" },
	{ .name = "fp", .print = alias_fp, .flags = ALIAS_NUMBER | ALIAS_HEX | ALIAS_SESSION,
	  .help = "port the client connected to" },
	{ .name = "ft", .print = alias_ft, .flags = ALIAS_PIECES | ALIAS_SESSION,
	  .help = "name of the frontend, '~' after it with TLS" },
	{ .name = "lc", .print = alias_lc, .flags = ALIAS_NUMBER | ALIAS_HEX, .absent = "0",
	  .help = "number of the line of the frontend" },
	{ .name = "ms", .print = alias_ms, .flags = ALIAS_NUMBER | ALIAS_HEX | ALIAS_SESSION,
	  .help = "milliseconds of the accept date" },
	{ .name = "pid", .print = alias_pid, .flags = ALIAS_NUMBER | ALIAS_HEX,
	  .help = "process number" },
	{ .name = "r", .print = alias_r, .flags = ALIAS_PIECES | ALIAS_HTTP,
	  .absent = "<BADREQ>", .help = "request line" },
	{ .name = "rc", .print = alias_rc, .needs = STREAM_NEEDS_END, .flags = ALIAS_NUMBER,
	  .absent = "0", .help = "retries" },
	{ .name = "rt", .print = alias_rt, .flags = ALIAS_NUMBER | ALIAS_HEX, .absent = "1",
	  .help = "number of the request" },
	{ .name = "s", .print = alias_s, .absent = "<NOSRV>", .help = "name of the server" },
	{ .name = "sc", .print = alias_sc, .needs = STREAM_NEEDS_END, .flags = ALIAS_NUMBER,
	  .absent = "0", .help = "requests of the server" },
	{ .name = "si", .print = alias_si, .absent = "", .help = "server's address" },
	{ .name = "sp", .print = alias_sp, .flags = ALIAS_NUMBER | ALIAS_HEX, .absent = "",
	  .help = "server's port" },
	{ .name = "sq", .print = alias_sq, .needs = STREAM_NEEDS_END, .flags = ALIAS_NUMBER,
	  .absent = "0", .help = "waiters ahead in the server's queue" },
	{ .name = "sslc", .print = alias_sslc, .flags = ALIAS_SESSION,
	  .help = "TLS cipher of the client" },
	{ .name = "sslv", .print = alias_sslv, .flags = ALIAS_SESSION,
	  .help = "TLS version of the client" },
	{ .name = "t", .print = alias_t, .flags = ALIAS_SESSION,
	  .help = "accept date, local, with milliseconds" },
	{ .name = "tr", .print = alias_date_tr, .flags = ALIAS_HTTP, .absent = "",
	  .help = "date of the request" },
	{ .name = "trg", .print = alias_trg, .flags = ALIAS_HTTP, .absent = "",
	  .help = "date of the request, UTC" },
	{ .name = "trl", .print = alias_trl, .flags = ALIAS_HTTP, .absent = "",
	  .help = "date of the request, local" },
	{ .name = "endreason", .print = alias_endreason, .needs = STREAM_NEEDS_END,
	  .help = "name of why it ended, such as QUEUE_FULL" },
	{ .name = "trail", .print = alias_trail, .needs = STREAM_NEEDS_END, .absent = "",
	  .help = "the rules that applied, the server and those tried before it" },
	{ .name = "ts", .print = alias_ts, .needs = STREAM_NEEDS_END, .absent = "PR",
	  .help = "how it ended" },
	{ .name = "tsc", .print = alias_tsc, .flags = ALIAS_HTTP, .absent = "PR--",
	  .help = "how it ended, cookie status" },
	{ 0 }
};

const struct module mod_stream_alias = { .name = "log-alias", .aliases = aliases };

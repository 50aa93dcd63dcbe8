/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream_smp.c - edge file: fetches of the stream itself: dates, timers, counters, how it ends
 *
 * Manual: configuration 7.3.2, 7.3.3, 7.3.6 txn.*, *.timer.*.
 */
#include "stream/filter.h"
#include "stream/sample.h"

#include "front/listen.h"
#include "proxy/bind.h"
#include "stream/log.h"
#include "stream/rule.h"
#include "stream/stream.h"
#include "stream/timing.h"
#include "stream/trail.h"

/* --- dates -------------------------------------------------------------------------------- */

/* [<unit>]: becomes how many microseconds one is. */
static bool check_unit(struct conf_line *l, struct expr_arg *args, const char **error)
{
	const char *unit = args[0].type == ARG_STR ? args[0].name.ptr : "s";

	args[0].type = ARG_INT;
	args[0].integer = strcmp(unit, "s") == 0 ? 1000000 : strcmp(unit, "ms") == 0 ? 1000 :
			  strcmp(unit, "us") == 0 ? 1 : 0;
	if (!args[0].integer)
		*error = arena_printf(&l->cfg->arena, "expects 's', 'ms' or 'us', got '%s'", unit);
	return args[0].integer != 0;
}

static enum expr_result fetch_accept_date(struct expr_ctx *ctx, const struct expr_arg *args,
					  struct sample *out)
{
	if (!ctx->session)
		return EXPR_NONE;
	return smp_give_int(out, (int64_t)timing_accept_wall_us(ctx->session, ctx->stream) /
				 args[0].integer);
}

static enum expr_result fetch_request_date(struct expr_ctx *ctx, const struct expr_arg *args,
					   struct sample *out)
{
	if (!ctx->stream)
		return EXPR_NONE;
	return smp_give_int(out, (int64_t)ctx->stream->t.wall_us / args[0].integer);
}

/* --- numbers of the stream: <data> is the function ---------------------------------------- */

struct number {
	int64_t (*get)(const struct stream *s);
};

static enum expr_result fetch_number(struct expr_ctx *ctx, const struct expr_arg *args,
				     struct sample *out)
{
	const struct number *n = ctx->data;

	return ctx->stream ? smp_give_int(out, n->get(ctx->stream)) : EXPR_NONE;
}

static int64_t bytes_in(const struct stream *s)
{
	return (int64_t)s->front.rx_bytes;
}

static int64_t bytes_in_sent(const struct stream *s)
{
	return (int64_t)s->back.tx_bytes;
}

static int64_t bytes_out(const struct stream *s)
{
	return (int64_t)s->back.rx_bytes;
}

static int64_t bytes_out_sent(const struct stream *s)
{
	return (int64_t)s->front.tx_bytes;
}

static int64_t backend_queue(const struct stream *s)
{
	return s->queue.be_ahead;
}

static int64_t server_queue(const struct stream *s)
{
	return s->queue.ahead;
}

static int64_t calls(const struct stream *s)
{
	return s->run.count;
}

static int64_t cpu_total(const struct stream *s)
{
	return (int64_t)stream_cpu_ns(s);
}

static int64_t cpu_average(const struct stream *s)
{
	return s->run.count ? cpu_total(s) / s->run.count : 0;
}

static int64_t latency_total(const struct stream *s)
{
	return (int64_t)s->run.latency_ns;
}

static int64_t latency_average(const struct stream *s)
{
	return s->run.count ? latency_total(s) / s->run.count : 0;
}

static int64_t retries(const struct stream *s)
{
	return s->retry.count;
}

static int64_t identity(const struct stream *s)
{
	return (int64_t)(uint32_t)(s->id.in_process + 1);
}

static int64_t priority_class(const struct stream *s)
{
	return s->queue.priority_class;
}

static int64_t priority_offset(const struct stream *s)
{
	return s->queue.priority_offset_ms;
}

/* --- how it goes -------------------------------------------------------------------------- */

static enum expr_result fetch_redispatched(struct expr_ctx *ctx, const struct expr_arg *args,
					   struct sample *out)
{
	const struct stream *s = ctx->stream;

	return s ? smp_give_bool(out, s->retry.is_moved) : EXPR_NONE;
}

static enum expr_result fetch_is_http(struct expr_ctx *ctx, const struct expr_arg *args,
				      struct sample *out)
{
	return ctx->stream ? smp_give_bool(out, ctx->stream->flags & STRM_HTTP) : EXPR_NONE;
}

/* The status that the server sent, whatever rules make of it. */
static enum expr_result fetch_server_status(struct expr_ctx *ctx, const struct expr_arg *args,
					    struct sample *out)
{
	const struct stream *s = ctx->stream;

	return s && s->answer.server ? smp_give_int(out, s->answer.server) : EXPR_NONE;
}

static enum expr_result fetch_term_state(struct expr_ctx *ctx, const struct expr_arg *args,
					 struct sample *out)
{
	char text[2];

	if (!ctx->stream)
		return EXPR_NONE;
	stream_end_letters(ctx->stream, text);
	return smp_give_text(out, arena_copy(ctx->arena, slice_make(text, sizeof(text))));
}

static enum expr_result fetch_end(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *out)
{
	if (!ctx->stream)
		return EXPR_NONE;
	return smp_give_text(out, slice_of(stream_ends[ctx->stream->end].name));
}

static enum expr_result fetch_end_text(struct expr_ctx *ctx, const struct expr_arg *args,
				       struct sample *out)
{
	if (!ctx->stream)
		return EXPR_NONE;
	return smp_give_text(out, slice_of(stream_ends[ctx->stream->end].text));
}

static enum expr_result fetch_trail(struct expr_ctx *ctx, const struct expr_arg *args,
				    struct sample *out)
{
	char text[TRAIL_LINE_MAX];
	struct strbuf b;

	if (!ctx->stream)
		return EXPR_NONE;
	strbuf_init_fixed(&b, text, sizeof(text));
	trail_put_line(ctx->stream, &b);
	return smp_give_text(out, arena_copy(ctx->arena, strbuf_slice(&b)));
}

/* The rule that decided. NULL: none did. */
static const struct rule *last_rule(const struct expr_ctx *ctx)
{
	return ctx->stream ? ctx->stream->last_rule : NULL;
}

static enum expr_result fetch_rule_file(struct expr_ctx *ctx, const struct expr_arg *args,
					struct sample *out)
{
	const struct rule *r = last_rule(ctx);

	return r && r->file ? smp_give_text(out, slice_of(r->file)) : EXPR_NONE;
}

static enum expr_result fetch_rule_line(struct expr_ctx *ctx, const struct expr_arg *args,
					struct sample *out)
{
	const struct rule *r = last_rule(ctx);

	return r ? smp_give_int(out, r->line) : EXPR_NONE;
}

static enum expr_result give_rule(struct expr_ctx *ctx, const struct rule *r, struct sample *out)
{
	if (!r || !r->file)
		return EXPR_NONE;
	return smp_give_text(out, slice_of(arena_printf(ctx->arena, "%s:%d", r->file, r->line)));
}

static enum expr_result fetch_last_entity(struct expr_ctx *ctx, const struct expr_arg *args,
					  struct sample *out)
{
	const char *filter = ctx->stream ? filter_that_ended(ctx->stream) : NULL;

	if (unlikely(filter != NULL))
		return smp_give_text(out, slice_of(filter));
	return give_rule(ctx, last_rule(ctx), out);
}

static enum expr_result fetch_waiting(struct expr_ctx *ctx, const struct expr_arg *args,
				      struct sample *out)
{
	const char *filter = ctx->stream ? filter_waiting(ctx->stream) : NULL;

	if (unlikely(filter != NULL))
		return smp_give_text(out, slice_of(filter));
	return ctx->stream ? give_rule(ctx, ctx->stream->rule.rule, out) : EXPR_NONE;
}

/* --- timeouts in force -------------------------------------------------------------------- */

static int64_t client_timeout(const struct stream *s)
{
	return stream_timeout_ms(s, STREAM_TIMEOUT_CLIENT);
}

/* Those of backends: a stream that has none yet has only what its frontend may say, too. */
static int64_t back_timeout(const struct stream *s, enum stream_timeout which)
{
	if (s->be->caps & PROXY_BE)
		return stream_timeout_ms(s, which);
	return which == STREAM_TIMEOUT_TARPIT ? s->be->timeout.tarpit : 0;
}

static int64_t connect_timeout(const struct stream *s)
{
	return back_timeout(s, STREAM_TIMEOUT_CONNECT);
}

static int64_t queue_timeout(const struct stream *s)
{
	return back_timeout(s, STREAM_TIMEOUT_QUEUE);
}

static int64_t server_timeout(const struct stream *s)
{
	return back_timeout(s, STREAM_TIMEOUT_SERVER);
}

static int64_t tarpit_timeout(const struct stream *s)
{
	return back_timeout(s, STREAM_TIMEOUT_TARPIT);
}

static int64_t tunnel_timeout(const struct stream *s)
{
	return back_timeout(s, STREAM_TIMEOUT_TUNNEL);
}

/* --- sessions ----------------------------------------------------------------------------- */

static enum expr_result fetch_act_conn(struct expr_ctx *ctx, const struct expr_arg *args,
				       struct sample *out)
{
	return smp_give_int(out, sessions_count());
}

static enum expr_result fetch_dst_conn(struct expr_ctx *ctx, const struct expr_arg *args,
				       struct sample *out)
{
	const struct listener_conf *l = ctx->session ? ctx->session->listener : NULL;

	if (!l)
		return EXPR_NONE;
	return smp_give_int(out, __atomic_load_n(&l->state->open_sessions, __ATOMIC_RELAXED));
}

#define STREAM EXPR_USE_INTERNAL
#define REQUEST EXPR_USE_TRANSACTION
#define FETCH(n, type, uses, function, text) \
	{ .name = n, .out = type, .use = uses, .fetch = function, .help = text }
#define NUMBER(n, uses, function, text) \
	{ .name = n, .out = SMP_INT, .use = uses, .fetch = fetch_number, \
	  .data = &(const struct number){ function }, .help = text }
#define DATE(n, uses, function, text) \
	{ .name = n, .args = { ARG_STR }, .out = SMP_INT, .use = uses, .fetch = function, \
	  .check = check_unit, .syntax = "[s|ms|us]", .help = text }

static const struct expr_fetch fetches[] = {
	DATE("accept_date", EXPR_USE_L4_CLIENT, fetch_accept_date,
	     "when the connection was accepted"),
	FETCH("act_conn", SMP_INT, EXPR_USE_CONST, fetch_act_conn, "sessions of the process"),
	NUMBER("bc.timer.connect", EXPR_USE_L4_SERVER, timing_connect, "as %Tc, in ms"),
	NUMBER("bc_be_queue", EXPR_USE_L4_SERVER, backend_queue, "as %bq"),
	NUMBER("bc_srv_queue", EXPR_USE_L4_SERVER, server_queue, "as %sq"),
	NUMBER("bytes_in", EXPR_USE_TRANSACTION, bytes_in, "bytes received from the client"),
	NUMBER("bytes_out", EXPR_USE_TRANSACTION_RESPONSE, bytes_out,
	       "bytes received from the server"),
	NUMBER("cpu_calls", STREAM, calls, "how often the stream was run"),
	NUMBER("cpu_ns_avg", STREAM, cpu_average, "cpu_ns_tot per call"),
	NUMBER("cpu_ns_tot", STREAM, cpu_total,
	       "time spent in the stream, in ns, while tasks are profiled"),
	NUMBER("cur_client_timeout", EXPR_USE_FRONTEND, client_timeout,
	      "the client's timeout in force, in ms"),
	NUMBER("cur_connect_timeout", EXPR_USE_BACKEND, connect_timeout,
	      "the timeout of connections to servers in force, in ms"),
	NUMBER("cur_queue_timeout", EXPR_USE_BACKEND, queue_timeout,
	      "the timeout of queues in force, in ms"),
	NUMBER("cur_server_timeout", EXPR_USE_BACKEND, server_timeout,
	      "the server's timeout in force, in ms"),
	NUMBER("cur_tarpit_timeout", EXPR_USE_FRONTEND | EXPR_USE_BACKEND, tarpit_timeout,
	      "the timeout of tarpits in force, in ms"),
	NUMBER("cur_tunnel_timeout", EXPR_USE_BACKEND, tunnel_timeout,
	      "the tunnel's timeout in force, in ms"),
	FETCH("dst_conn", SMP_INT, EXPR_USE_FRONTEND, fetch_dst_conn,
	      "sessions of the listening socket"),
	NUMBER("fc.timer.handshake", EXPR_USE_L4_CLIENT, timing_handshake, "as %Th, in ms"),
	NUMBER("fc.timer.total", EXPR_USE_FRONTEND, timing_total, "as %Tt, in ms"),
	FETCH("internal.strm.is_htx", SMP_BOOL, STREAM, fetch_is_http, "is it an HTTP stream?"),
	FETCH("last_entity", SMP_STR, STREAM, fetch_last_entity,
	      "where the rule that decided stands, or the filter that did"),
	FETCH("last_rule_file", SMP_STR, STREAM, fetch_rule_file,
	      "the file of the rule that decided"),
	FETCH("last_rule_line", SMP_INT, STREAM, fetch_rule_line,
	      "the line of the rule that decided"),
	NUMBER("lat_ns_avg", STREAM, latency_average, "lat_ns_tot per call"),
	NUMBER("lat_ns_tot", STREAM, latency_total,
	       "time between events and the stream's calls, in ns, while tasks are profiled"),
	NUMBER("prio_class", STREAM, priority_class, "the priority class in queues"),
	NUMBER("prio_offset", STREAM, priority_offset, "the priority offset in queues, in ms"),
	NUMBER("req.bytes_in", EXPR_USE_TRANSACTION, bytes_in, "bytes received from the client"),
	NUMBER("req.bytes_out", EXPR_USE_TRANSACTION, bytes_in_sent, "bytes sent to the server"),
	NUMBER("req.timer.hdr", EXPR_USE_HTTP_REQUEST_VOLATILE, timing_request, "as %TR, in ms"),
	NUMBER("req.timer.idle", EXPR_USE_HTTP_REQUEST_VOLATILE, timing_idle, "as %Ti, in ms"),
	NUMBER("req.timer.queue", EXPR_USE_L4_SERVER, timing_queue, "as %Tw, in ms"),
	NUMBER("req.timer.tq", EXPR_USE_HTTP_REQUEST_VOLATILE, timing_query, "as %Tq, in ms"),
	DATE("request_date", REQUEST, fetch_request_date, "when the request began"),
	NUMBER("res.bytes_in", EXPR_USE_TRANSACTION_RESPONSE, bytes_out,
	       "bytes received from the server"),
	NUMBER("res.bytes_out", EXPR_USE_TRANSACTION_RESPONSE, bytes_out_sent,
	       "bytes sent to the client"),
	NUMBER("res.timer.data", EXPR_USE_TRANSACTION_RESPONSE, timing_data, "as %Td, in ms"),
	NUMBER("res.timer.hdr", EXPR_USE_HTTP_RESPONSE_VOLATILE, timing_response,
	       "as %Tr, in ms"),
	FETCH("server_status", SMP_INT, EXPR_USE_HTTP_RESPONSE, fetch_server_status,
	      "the status that the server sent"),
	FETCH("stream_end", SMP_STR, STREAM, fetch_end,
	      "the name of the stream's end, such as QUEUE_FULL; NONE: nothing broke it off"),
	FETCH("stream_end_text", SMP_STR, STREAM, fetch_end_text,
	      "the same as a sentence for people"),
	FETCH("stream_trail", SMP_STR, STREAM, fetch_trail,
	      "the rules that applied, the server and those tried before it, as %trail"),
	NUMBER("txn.conn_retries", EXPR_USE_L4_SERVER, retries, "tries to connect after the first"),
	NUMBER("txn.id32", STREAM, identity, "a number of the request"),
	FETCH("txn.redispatched", SMP_BOOL, EXPR_USE_L4_SERVER, fetch_redispatched,
	      "did it go to another server than the first?"),
	FETCH("txn.sess_term_state", SMP_STR, STREAM, fetch_term_state,
	      "the two letters of the log that tell the end"),
	NUMBER("txn.timer.total", REQUEST, timing_active, "as %Ta, in ms"),
	NUMBER("txn.timer.user", REQUEST, timing_user, "as %Tu, in ms"),
	FETCH("waiting_entity", SMP_STR, STREAM, fetch_waiting,
	      "where the rule that waits stands, or the filter that does"),
	{ 0 }
};

const struct module mod_stream_smp = { .name = "stream-fetches", .fetches = fetches };

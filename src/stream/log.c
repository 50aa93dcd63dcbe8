/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log.c - when a stream is logged, and with which format */
#include "base/clock.h"
#include "expr/logformat.h"
#include "log/log.h"
#include "proxy/bind.h"
#include "stream/conn_error.h"
#include "stream/timing.h"
#include "stream/tracing.h"
#include "stream/trail.h"
#include "engine_priv.h"
#include "log_priv.h"
#include "stream_conf_priv.h"

static __thread struct strbuf line, structured;

void stream_log_thread_fini(void)
{
	strbuf_fini(&line);
	strbuf_fini(&structured);
}

static const struct log_settings *log_settings_of(const struct proxy *px)
{
	return slot_of(&log_proxy_slot, proxy_slots(px));
}

static const char cause_chars[] = {
#define X(name, c, text) c,
	STREAM_CAUSES(X)
#undef X
};

void stream_end_letters(const struct stream *s, char letters[2])
{
	enum stream_cause cause = stream_cause(s);

	letters[0] = cause_chars[cause];
	letters[1] = cause == CAUSE_NONE || !s->end_phase ? '-' : (char)s->end_phase;
}

bool stream_is_normal(const struct stream *s)
{
	enum stream_cause cause = stream_cause(s);

	return (cause == CAUSE_NONE || cause == CAUSE_LOCAL) && s->answer.status < 500 &&
	       !s->retry.count && !s->retry.is_moved;
}

static enum log_level error_level(const struct proxy *fe)
{
	return fe->options & PROXY_OPT_LOG_SEPARATE_ERRORS ? LOG_LVL_ERR : LOG_LVL_INFO;
}

static enum log_level level_of(const struct stream *s)
{
	if (s->log.level < LOG_LEVELS)
		return s->log.level;
	return stream_is_normal(s) ? LOG_LVL_INFO : error_level(s->fe);
}

/* For targets that have a format of their own. */
static bool build_text(void *ctx, const struct logformat *f, struct strbuf *out)
{
	return logformat_build(f, ctx, out);
}

/* Builds and sends one line of a format, with the structured data of the frontend, by a profile or
 * by those of the targets.
 */
static void send_line_by(struct stream *s, const struct logformat *f, enum log_level level,
			 enum log_step step, const struct log_profile *p)
{
	const struct stream_proxy *px = stream_proxy(s->fe);
	struct expr_ctx *ctx = &s->expr, before = s->expr;
	struct log_message m = { .level = level, .build = build_text, .ctx = ctx, .step = step,
				 .is_traffic = true, .profile = p };

	/* the variables of the message stay: rules may go on after this */
	if (step == LOG_STEP_CLOSE || step == LOG_STEP_UNSPEC)
		stream_expr(s, EXPR_DIR_RESPONSE | EXPR_FINAL);
	s->log.step = (uint8_t)step;
	ctx->session = s->sess;
	ctx->stream = s;
	ctx->arena = &s->arena;
	ctx->flags = EXPR_DIR_RESPONSE | EXPR_FINAL;
	ctx->proxy = s->fe;
	strbuf_reset(&line);
	logformat_build(f, ctx, &line);
	m.text = strbuf_slice(&line);
	strbuf_reset(&structured);
	if (px->log_format_sd && logformat_build(px->log_format_sd, ctx, &structured))
		m.structured_data = strbuf_slice(&structured);
	log_send(s->config, log_settings_of(s->fe), &m);
	if (unlikely(px->lines_traced))
		stream_tracing_line(s->sess, s, level, m.text);
	if (step != LOG_STEP_CLOSE && step != LOG_STEP_UNSPEC)
		s->expr = before;
}

static void send_line(struct stream *s, const struct logformat *f, enum log_level level,
		      enum log_step step)
{
	send_line_by(s, f, level, step, NULL);
}

/* Are lines of this frontend wanted by any target? */
static inline bool lines_are_wanted(const struct config *cfg, const struct proxy *fe)
{
	return log_is_wanted(cfg, log_settings_of(fe)) || stream_proxy(fe)->lines_traced;
}

/* Does any target want a line of this stream? */
static inline bool is_wanted(const struct stream *s)
{
	return !(s->flags & STRM_LOGGED) && s->log.level != LOG_LEVEL_SILENT &&
	       lines_are_wanted(s->config, s->fe);
}

/* option log-slow: is it neither slow nor failed? */
static bool is_passed_over(const struct stream *s)
{
	int64_t slow_ms = stream_proxy(s->fe)->log_slow_ms;

	if (likely(!slow_ms) || !stream_is_normal(s))
		return false;
	return (s->flags & STRM_HTTP ? timing_active(s) : timing_total(s)) < slow_ms;
}

static void log_once(struct stream *s, enum log_step step)
{
	const struct logformat *f = stream_proxy(s->fe)->log_format;

	unsigned steps = stream_proxy(s->fe)->log_steps;

	if (!f || !is_wanted(s) || (steps && !(steps & 1u << LOG_STEP_CLOSE)))
		return;
	if (s->fe->options & PROXY_OPT_DONTLOG_NORMAL && stream_is_normal(s))
		return;
	if (is_passed_over(s))
		return;
	if (s->fe->options & PROXY_OPT_DONTLOGNULL && !(s->flags & STRM_HTTP) &&
	    !s->front.rx_bytes && !stream_bytes_out(s))
		return;
	s->flags |= STRM_LOGGED;
	send_line(s, f, level_of(s), step);
}

void stream_log(struct stream *s)
{
	log_once(s, LOG_STEP_CLOSE);
}

void stream_log_step(struct stream *s, enum log_step step)
{
	const struct stream_proxy *px = stream_proxy(s->fe);

	if (px->log_steps & 1u << step && px->log_format && !px->log_slow_ms &&
	    is_wanted(s))
		send_line(s, px->log_format, level_of(s), step);
}

void stream_log_early(struct stream *s)
{
	const struct stream_proxy *px = stream_proxy(s->fe);
	bool early = s->fe->options & PROXY_OPT_LOGASAP ||
		     (px->log_early && !(s->flags & STRM_LOCAL_REPLY));

	if (early && !px->log_slow_ms && !px->log_steps && !(s->flags & STRM_LOGGED))
		log_once(s, s->flags & STRM_HTTP ? LOG_STEP_RESPONSE : LOG_STEP_CONNECT);
}

/* "127.0.0.1:8080", or the path's family with the number of the listener. */
static void put_end(const struct addr *a, const struct listener_conf *l, struct strbuf *out)
{
	char text[ADDR_IP_MAX];

	if (addr_is_inet(a)) {
		strbuf_add(out, slice_make(text, addr_put_ip(a, text, sizeof(text))));
		strbuf_add_char(out, ':');
		strbuf_add_uint(out, a->port);
	} else {
		strbuf_add(out, SLICE("unix:"));
		strbuf_add_uint(out, (unsigned)l->id);
	}
}

void stream_log_begin(struct stream *s)
{
	struct session *sess = s->sess;
	struct log_message m = { .level = LOG_LVL_INFO };

	if (stream_proxy(s->fe)->log_format || !is_wanted(s))
		return;
	s->flags |= STRM_LOGGED;
	strbuf_reset(&line);
	strbuf_add(&line, SLICE("Connect "));
	if (addr_is_inet(session_src(sess))) {
		strbuf_add(&line, SLICE("from "));
		put_end(session_src(sess), sess->listener, &line);
		strbuf_add_char(&line, ' ');
	}
	strbuf_add(&line, SLICE("to "));
	put_end(session_dst(sess), sess->listener, &line);
	strbuf_add(&line, SLICE(" ("));
	strbuf_add(&line, slice_of(s->fe->name));
	strbuf_add(&line, s->flags & STRM_HTTP ? SLICE("/HTTP)") : SLICE("/TCP)"));
	m.text = strbuf_slice(&line);
	log_send(session_config(sess), log_settings_of(s->fe), &m);
}

/* --- connections that never became a stream --------------------------------------------------- */

/* With a format of the configuration's: a stream that is nothing but the subject of its line. */
static void log_error_in_format(struct session *sess, const struct logformat *f)
{
	struct stream *s = stream_new(sess, sess->fe->mode == PROXY_MODE_HTTP);

	if (!s)
		return;
	s->t.begin = s->t.idle_from = sess->accept_ns;
	s->t.wall_us = session_accept_wall_us(sess);
	s->t.close = clock_now_ns();
	stream_set_end(s, END_PROXY_HEADER);
	send_line(s, f, error_level(sess->fe), LOG_STEP_KILLED);
	stream_abandon(s);
}

/* Manual 8.2.5: "address [date] frontend/listener: what happened". */
void session_log_error(struct session *sess, const char *what)
{
	static const struct logformat_item plain;
	const struct stream_proxy *px = stream_proxy(sess->fe);
	const char *name = sess->listener->bind->name;
	struct log_message m = { .level = error_level(sess->fe) };

	sess->error = conn_error_id(what);
	if (!lines_are_wanted(session_config(sess), sess->fe))
		return;
	if (px->error_format) {
		log_error_in_format(sess, px->error_format);
		return;
	}
	strbuf_reset(&line);
	put_end(session_src(sess), sess->listener, &line);
	strbuf_add(&line, SLICE(" ["));
	logformat_put_date(&plain, &line, LOGFORMAT_DATE_LOCAL_MS, session_accept_wall_us(sess));
	strbuf_add(&line, SLICE("] "));
	strbuf_add(&line, slice_of(sess->fe->name));
	strbuf_add_char(&line, '/');
	if (name)
		strbuf_add(&line, slice_of(name));
	else
		strbuf_add_uint(&line, (unsigned)sess->listener->id);
	strbuf_add(&line, SLICE(": "));
	strbuf_add(&line, slice_of(what));
	m.text = strbuf_slice(&line);
	log_send(session_config(sess), log_settings_of(sess->fe), &m);
	if (px->lines_traced)
		stream_tracing_line(sess, NULL, m.level, m.text);
}

/* A request that is not valid: by the format for errors, if the frontend has one, at whatever steps
 * the frontend logs.
 */
static void stream_log_bad(struct stream *s)
{
	const struct stream_proxy *px = stream_proxy(s->fe);
	const struct logformat *f = px->error_format ? px->error_format : px->log_format;

	if (f && is_wanted(s) &&
	    !(s->fe->options & PROXY_OPT_DONTLOG_NORMAL && stream_is_normal(s)))
		send_line(s, f, level_of(s), LOG_STEP_ERROR);
}

void session_log_bad(struct session *sess, int status, uint64_t since_ns, enum stream_end why)
{
	struct stream *s = stream_new(sess, true);

	/* a stream that is nothing but the subject of its line */
	if (!s)
		return;
	s->t.idle_from = session_idle_from_ns(sess);
	s->t.begin = since_ns ? since_ns : s->t.idle_from;
	s->t.wall_us = clock_wall_of(s->t.begin);
	s->t.close = clock_now_ns();
	s->answer.status = (uint16_t)status;
	stream_set_end(s, why);
	stream_log_bad(s);
	failure_keep(s);
	stream_abandon(s);
}

void stream_log_now(struct session *sess, struct stream *s, enum log_step step,
		    const struct log_profile *p)
{
	const struct logformat *f = stream_proxy(sess->fe)->log_format;
	struct stream *subject = s;

	if (!f || !lines_are_wanted(session_config(sess), sess->fe))
		return;
	if (s && s->log.level == LOG_LEVEL_SILENT)
		return;
	if (!subject)
		subject = stream_new(sess, false);
	if (!subject)
		return;
	if (!s) {
		subject->t.begin = subject->t.idle_from = sess->accept_ns;
		subject->t.wall_us = session_accept_wall_us(sess);
	}
	send_line_by(subject, f, s && s->log.level < LOG_LEVELS ? s->log.level : LOG_LVL_INFO, step,
		     p);
	if (!s)
		stream_abandon(subject);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log.c - when a stream is logged, and with which format */
#include "base/clock.h"
#include "expr/logformat.h"
#include "log/log.h"
#include "stream_priv.h"

#define LOG_TEXT_MAX 65536

static __thread struct strbuf line;

static const struct log_settings *settings_of(const struct proxy *px)
{
	return slot_of(&log_proxy_slot, proxy_slots(px));
}

/* An end that nobody needs to look at: no error, no local answer, no retry. */
static bool is_normal(const struct stream *s)
{
	return s->cause == CAUSE_NONE && s->status < 500 && !s->retries &&
	       !(s->flags & STRM_REDISPATCHED);
}

static enum log_level level_of(const struct stream *s)
{
	if (s->log_level < LOG_LEVELS)
		return s->log_level;
	if (!is_normal(s) && s->cause != CAUSE_LOCAL && s->fe->options & PROXY_OPT_LOG_SEPARATE_ERRORS)
		return LOG_LVL_ERR;
	return LOG_LVL_INFO;
}

/* Builds and sends one line of a format. */
static void send_line(struct stream *s, const struct logformat *f, enum log_level level)
{
	struct log_message m = { .level = level };
	struct expr_ctx *ctx = stream_expr(s, EXPR_DIR_RESPONSE | EXPR_FINAL);

	ctx->proxy = s->fe;
	strbuf_reset(&line);
	logformat_build(f, ctx, &line);
	m.text = strbuf_slice(&line);
	log_send(s->sess->config, settings_of(s->fe), &m);
}

void stream_log(struct stream *s)
{
	const struct stream_proxy *px = stream_proxy(s->fe);
	const struct logformat *f = px->log_format;

	if (s->flags & STRM_LOGGED || !f || s->log_level == 254)
		return;
	if (!log_is_wanted(s->sess->config, settings_of(s->fe)))
		return;
	if (s->fe->options & PROXY_OPT_DONTLOG_NORMAL && is_normal(s))
		return;
	if (s->fe->options & PROXY_OPT_DONTLOGNULL && !(s->flags & STRM_HTTP) &&
	    !s->front.rx_bytes && !s->front.tx_bytes)
		return;
	s->flags |= STRM_LOGGED;
	if (px->error_format && !is_normal(s) && s->cause != CAUSE_LOCAL)
		f = px->error_format;
	send_line(s, f, level_of(s));
}

void session_log_bad(struct session *sess, const struct h1_bad *bad, enum stream_cause cause,
		     char phase)
{
	struct stream *s = stream_new(sess, true);

	/* a stream that is nothing but the subject of its line */
	if (!s)
		return;
	s->t.begin = bad->since_ns ? bad->since_ns : sess->accept_ns;
	s->t.idle_from = sess->idle_from_ns ? sess->idle_from_ns : sess->accept_ns;
	s->t.wall_us = s->unique ? clock_wall_us() : session_accept_wall_us(sess);
	s->t.close = clock_now_ns();
	s->status = (uint16_t)bad->status;
	stream_set_cause(s, cause, phase);
	stream_log(s);
	stream_abandon(s);
}

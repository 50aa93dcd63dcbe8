/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session_addr.c - the client's address, and the one that it connected to */
#include "base/clock.h"
#include "log/log.h"
#include "net/conn.h"
#include "tls/tls.h"
#include "session_priv.h"

const struct addr *session_src(struct session *s)
{
	return &s->src;
}

const struct addr *session_dst(struct session *s)
{
	if (s->flags & SESS_HAS_DST || !s->conn)
		return &s->dst;
	s->flags |= SESS_HAS_DST;
	s->dst = conn_address(s->conn, false);
	return &s->dst;
}

const struct addr *session_conn_src(struct session *s)
{
	if (s->rare && s->rare->conn_src.family != ADDR_NONE)
		return &s->rare->conn_src;
	return session_src(s);
}

const struct addr *session_conn_dst(struct session *s)
{
	if (s->rare && s->rare->conn_dst.family != ADDR_NONE)
		return &s->rare->conn_dst;
	return session_dst(s);
}

bool session_keep_conn_addr(struct session *s, bool dst)
{
	const struct addr *now = dst ? session_conn_dst(s) : session_conn_src(s);
	struct session_rare *rare = session_rare_get(s);

	if (!rare)
		return false;
	*(dst ? &rare->conn_dst : &rare->conn_src) = *now;
	return true;
}

uint64_t session_accept_wall_us(const struct session *s)
{
	return clock_wall_of(s->accept_ns);
}

/* --- the connections that fetches of lower floors ask of ------------------------------------- */

static struct conn *front_conn(const struct expr_ctx *ctx)
{
	return ctx->session ? ctx->session->conn : NULL;
}

static struct conn *back_conn(const struct expr_ctx *ctx)
{
	struct stream *s = ctx->stream;

	if (ctx->check)
		return ctx->check->conn ? *ctx->check->conn : NULL;
	return s && s->back.ops ? s->back.ops->conn(&s->back) : NULL;
}

static bool back_failed(const struct expr_ctx *ctx, uint32_t *error)
{
	/* (the connection of another try, if there is one, is what counts) */
	if (!ctx->stream || !ctx->stream->answer.handshake || back_conn(ctx))
		return false;
	*error = ctx->stream->answer.tls_error;
	return true;
}

/* What TLS tells of itself goes to the global log. */
static void tls_notice(struct config *cfg, const char *text)
{
	log_printf(cfg, NULL, LOG_LVL_NOTICE, "%s", text);
}

void session_addr_init(void)
{
	static const struct tls_locator locator = { .front = front_conn, .back = back_conn,
						    .back_failed = back_failed };
	static const struct tls_event_log events = { .notice = tls_notice };

	tls_set_locator(&locator);
	tls_set_event_log(&events);
}

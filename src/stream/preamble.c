/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preamble.c - headers that precede a client's first byte */
#include "base/bug.h"
#include "base/clock.h"
#include "codec/netscaler.h"
#include "codec/proxyproto.h"
#include "core/pool.h"
#include "core/timer.h"
#include "net/conn_facts.h"
#include "proxy/bind.h"
#include "stream/proxy_tlv.h"
#include "handshake_priv.h"
#include "log_priv.h"
#include "preamble_priv.h"
#include "session_priv.h"

/* A connection whose header has not come yet. */
struct preamble {
	struct timer timer;
	struct session *session;
	enum preamble_kind kind;
	bool seen; /* bytes came */
};

/* What came of the bytes that are there. */
enum preamble_result { PREAMBLE_MORE, PREAMBLE_DONE, PREAMBLE_ERROR };

static const char *const names[] = {
	[PREAMBLE_PROXY] = "PROXY protocol", [PREAMBLE_CIP] = "NetScaler Client IP",
};

static struct pool *preamble_pool;

bool preamble_init(void)
{
	preamble_pool = pool_new("preamble", sizeof(struct preamble));
	return preamble_pool;
}

/* What the log says when the header did not come: nothing at all when silence was asked for. */
static void preamble_log(struct session *s, const struct preamble *p, bool late)
{
	char text[96];

	if (p->seen)
		snprintf(text, sizeof(text), "Truncated %s header received", names[p->kind]);
	else if (!(s->fe->options & PROXY_OPT_DONTLOGNULL))
		snprintf(text, sizeof(text), "%s while waiting for %s%s header",
			 late ? "Timeout" : "Connection closed",
			 late && p->kind == PREAMBLE_CIP ? "a " : "", names[p->kind]);
	else
		return;
	session_log_error(s, text);
}

static void preamble_end(struct preamble *p, bool ok)
{
	struct session *s = p->session;

	if (ok && p->kind == PREAMBLE_PROXY && s->flags & SESS_EXPECT_CIP) {
		p->kind = PREAMBLE_CIP;
		p->seen = false;
		s->conn->ops->ready(s->conn);
		return;
	}
	timer_cancel(&p->timer);
	pool_free(preamble_pool, p);
	s->handshake_ms = (uint32_t)((clock_now_ns() - s->accept_ns) / NS_PER_MS);
	s->flags &= ~SESS_EMBRYONIC;
	if (ok) {
		s->conn->flags &= ~CONN_HANDSHAKE;
		session_secure(s, true);
		return;
	}
	session_abort(s);
}

static void preamble_timeout(struct timer *t)
{
	struct preamble *p = container_of(t, struct preamble, timer);

	preamble_log(p->session, p, true);
	preamble_end(p, false);
}

static void set_addresses(struct session *s, const struct addr *src, const struct addr *dst)
{
	s->src = *src;
	s->dst = *dst;
	s->flags |= SESS_HAS_DST | SESS_PROXY_SRC;
}

static const char *proxy_failure(enum proxyproto_error error)
{
	switch (error) {
	case PROXYPROTO_ERR_SIGNATURE:
	case PROXYPROTO_ERR_VERSION:
		return "Received something which does not look like a PROXY protocol header";
	case PROXYPROTO_ERR_PROTOCOL:
		return "Received an unhandled protocol in the PROXY protocol header";
	default:
		return "Received an invalid PROXY protocol header";
	}
}

/* Each reads its header; *len: its bytes, with DONE. */
static enum preamble_result read_proxy(struct session *s, struct slice bytes, size_t *len)
{
	struct proxyproto pp;

	switch (proxyproto_parse(bytes, &pp)) {
	case PROXYPROTO_MORE:
		return PREAMBLE_MORE;
	case PROXYPROTO_ERROR:
		session_log_error(s, proxy_failure(pp.error));
		return PREAMBLE_ERROR;
	case PROXYPROTO_DONE:
		break;
	}
	*len = pp.length;
	if (!pp.local && !proxy_tlv_keep(s, pp.tlvs)) {
		session_log_error(s, proxy_failure(PROXYPROTO_ERR_TLV));
		return PREAMBLE_ERROR;
	}
	if (!pp.local && addr_is_inet(&pp.source))
		set_addresses(s, &pp.source, &pp.destination);
	return PREAMBLE_DONE;
}

static enum preamble_result read_cip(struct session *s, struct slice bytes, size_t *len)
{
	struct netscaler n;

	switch (netscaler_parse(bytes, s->listener->bind->cip_magic, &n)) {
	case NETSCALER_MORE:
		return PREAMBLE_MORE;
	case NETSCALER_MAGIC:
		session_log_error(s, "Received an invalid NetScaler Client IP magic number");
		return PREAMBLE_ERROR;
	case NETSCALER_PROTOCOL:
		session_log_error(s, "Received an unhandled protocol in the NetScaler Client IP "
				     "header");
		return PREAMBLE_ERROR;
	case NETSCALER_DONE:
		break;
	}
	*len = n.length;
	set_addresses(s, &n.source, &n.destination);
	return PREAMBLE_DONE;
}

/* Looks at the first bytes without taking them, then takes exactly the header. */
static void preamble_ready(struct conn *c)
{
	static enum preamble_result (*const readers[])(struct session *, struct slice, size_t *) = {
		[PREAMBLE_PROXY] = read_proxy, [PREAMBLE_CIP] = read_cip,
	};
	struct preamble *p = c->owner;
	struct session *s = p->session;
	enum preamble_result result;
	char bytes[2048];
	size_t len = 0;
	ssize_t n = conn_peek(c, bytes, sizeof(bytes));

	if (n < 0 && !(c->flags & CONN_RDHUP)) {
		conn_wait_recv(c);
		return;
	}
	p->seen = n > 0;
	result = n > 0 ? readers[p->kind](s, slice_make(bytes, (size_t)n), &len) : PREAMBLE_MORE;
	if (result == PREAMBLE_MORE) {
		if (n > 0 && !(c->flags & CONN_RDHUP) && n < (ssize_t)sizeof(bytes)) {
			conn_wait_recv(c);
			return;
		}
		preamble_log(s, p, false);
	}
	preamble_end(p, result == PREAMBLE_DONE && conn_skip(c, bytes, len));
}

static void preamble_describe(const struct conn *c, struct strbuf *out)
{
	session_describe(((const struct preamble *)c->owner)->session, out);
}

const struct conn_ops preamble_ops = {
	.name = "PROXY-preamble", .ready = preamble_ready, .describe = preamble_describe,
};

bool preamble_wait(struct session *s)
{
	int64_t ms = s->fe->timeout.client_hs ? s->fe->timeout.client_hs : s->fe->timeout.client;
	struct preamble *p;

	if (s->listener->bind->options & BIND_ACCEPT_PROXY)
		s->flags |= SESS_EXPECT_PROXY;
	if (s->listener->bind->options & BIND_ACCEPT_CIP)
		s->flags |= SESS_EXPECT_CIP;
	if (!(s->flags & (SESS_EXPECT_PROXY | SESS_EXPECT_CIP)))
		return false;
	p = pool_zalloc(preamble_pool);
	if (!p) {
		session_abort(s);
		return true;
	}
	p->session = s;
	p->kind = s->flags & SESS_EXPECT_PROXY ? PREAMBLE_PROXY : PREAMBLE_CIP;
	timer_init(&p->timer, preamble_timeout);
	if (ms)
		timer_set(&p->timer, clock_now_ms() + (uint64_t)ms);
	s->flags |= SESS_EMBRYONIC;
	s->conn->ops = &preamble_ops;
	s->conn->owner = p;
	s->conn->flags |= CONN_HANDSHAKE;
	return true;
}

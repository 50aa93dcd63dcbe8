/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sess_dump.c - the output of `show sess` for a stream
 *
 * The short form has the columns of the reference. Where it shows the flags of a structure, we show
 * those of the endpoint with the same role: rq and scf of the front one, rp and scb of the back
 * one.
 */
#include <inttypes.h>
#include <time.h>
#include "base/clock.h"
#include "core/thread.h"
#include "core/timer.h"
#include "mux/endpoint.h"
#include "net/conn_facts.h"
#include "net/ctl_socket.h"
#include "proxy/bind.h"
#include "proxy/proxy.h"
#include "stream/sess_dump.h"
#include "stream/session.h"
#include "stream/stream.h"
#include "sess_priv.h"

/* --- words ------------------------------------------------------------------------------------ */

void sess_put_date(struct strbuf *out, uint64_t wall_us, int digits)
{
	time_t seconds = (time_t)(wall_us / 1000000);
	unsigned part = (unsigned)(wall_us % 1000000);
	struct tm tm;
	char text[40];

	localtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%d/%b/%Y:%H:%M:%S", &tm);
	if (digits == 3)
		part /= 1000;
	strbuf_printf(out, "[%s.%0*u]", text, digits, part);
}

void sess_put_age(struct strbuf *out, uint64_t since_ns)
{
	uint64_t now = clock_now_ns();

	strbuf_add_span(out, now > since_ns ? (now - since_ns) / NS_PER_MS : 0);
}

const char *sess_family_name(const struct addr *a)
{
	return a->family == ADDR_INET ? "tcpv4" : a->family == ADDR_INET6 ? "tcpv6" : "unix_stream";
}

/* "127.0.0.1:80"; a UNIX socket has the number of its listener. */
void sess_put_address(const struct sess_view *view, const struct addr *a, unsigned listener)
{
	struct strbuf *out = view->out;
	char ip[ADDR_IP_MAX], hidden[CTL_HIDE_MAX];

	if (!addr_is_inet(a)) {
		strbuf_printf(out, "unix:%u", listener);
		return;
	}
	addr_put_ip(a, ip, sizeof(ip));
	strbuf_printf(out, "%s:%u", ctl_hide(view->anon, ip, hidden), a->port);
}

/* The request line, with what could disturb a terminal made visible. */
void sess_put_uri(struct strbuf *out, const struct stream *s)
{
	if (slice_is_none(s->log.uri))
		return;
	strbuf_add_str(out, " uri=\"");
	strbuf_add(out, s->log.method);
	strbuf_add_char(out, ' ');
	for (size_t i = 0; i < s->log.uri.len; i++) {
		unsigned char c = (unsigned char)s->log.uri.ptr[i];

		if (c > ' ' && c < 0x7f && c != '"' && c != '\\')
			strbuf_add_char(out, (char)c);
		else
			strbuf_printf(out, "\\x%02X", c);
	}
	strbuf_add_char(out, ' ');
	strbuf_add(out, s->log.version);
	strbuf_add_char(out, '"');
}

/* --- facts ------------------------------------------------------------------------------------ */

const struct conn *sess_conn_of(struct endpoint *ep)
{
	return ep->ops ? ep->ops->conn(ep) : NULL;
}

static int fd_of(struct endpoint *ep)
{
	const struct conn *c = sess_conn_of(ep);

	return c ? conn_shown_fd(c) : -1;
}

struct addr sess_address_of(const struct conn *c, bool peer)
{
	struct addr none = { .family = ADDR_NONE };

	return c ? conn_address(c, peer) : none;
}

bool sess_has_backend(const struct stream *s)
{
	return s->be->caps & PROXY_BE && (s->be != s->fe || s->stage > STAGE_SWITCH);
}

/* The state of the server's side, in the reference's numbers and words. */
const char *sess_back_state(const struct stream *s, int *number)
{
	static const struct { int number; const char *name; } states[] = {
		{ 0, "INI" }, { 1, "REQ" }, { 2, "QUE" }, { 3, "TAR" }, { 5, "CON" }, { 8, "EST" },
		{ 10, "CLO" },
	};
	unsigned i = 5;

	if (s->stage < STAGE_ASSIGN)
		i = 0;
	else if (s->stage == STAGE_ASSIGN || s->stage == STAGE_CONNECT)
		i = 1;
	else if (s->stage == STAGE_QUEUE)
		i = 2;
	else if (s->stage == STAGE_TURN_AROUND)
		i = 3;
	else if (s->stage == STAGE_CONNECTING)
		i = 4;
	else if (!s->back.ops)
		i = 6;
	*number = states[i].number;
	return states[i].name;
}

uint64_t sess_connect_deadline(const struct stream *s)
{
	return s->stage >= STAGE_CONNECT && s->stage <= STAGE_TURN_AROUND ? s->due.stage_ms
									  : TIMER_NEVER;
}

/* --- short ------------------------------------------------------------------------------------ */

void sess_dump_line(struct stream *s, const struct sess_view *view)
{
	struct strbuf *out = view->out;
	char fe[CTL_HIDE_MAX], be[CTL_HIDE_MAX], server[CTL_HIDE_MAX];
	const struct addr *src = session_src(s->sess);
	int state;

	sess_back_state(s, &state);
	strbuf_printf(out, "%p: proto=%s src=", (void *)s, sess_family_name(src));
	sess_put_address(view, src, (unsigned)s->listener->id);
	strbuf_printf(out, " fe=%s be=%s srv=%s ts=%02x epoch=0 age=",
		      ctl_hide(view->anon, s->fe->name, fe),
		      sess_has_backend(s) ? ctl_hide(view->anon, s->be->name, be) : "<NONE>",
		      s->server ? ctl_hide(view->anon, s->server->name, server) : "<none>",
		      s->flags & STRM_RUNNING ? 1 : 0);
	sess_put_age(out, s->t.begin);
	strbuf_printf(out, " calls=%u rate=0 cpu=%" PRIu64 " lat=%" PRIu64 " rq[f=%xh,i=%u,"
		      "an=%02xh,ax=] rp[f=%xh,i=%u,an=%02xh,ax=] scf=[8,%xh,fd=%d,rex=",
		      s->run.count, s->run.cpu_ns, s->run.latency_ns, s->front.flags,
		      s->front.rx.len,
		      s->stage < STAGE_SEND ? s->stage : 0,
		      s->back.flags, s->back.rx.len, s->stage >= STAGE_SEND ? s->stage : 0,
		      s->front.flags & 0xffff, fd_of(&s->front));
	timer_put_left(out, s->due.client_ms, "");
	strbuf_printf(out, ",wex=] scb=[%d,%xh,fd=%d,rex=", state, s->back.flags & 0xffff,
		      fd_of(&s->back));
	timer_put_left(out, s->due.server_ms, "");
	strbuf_add_str(out, ",wex=] exp=");
	timer_put_left(out, s->timer.expire_ms, "");
	strbuf_printf(out, " rc=%u c_exp=", s->retry.count);
	timer_put_left(out, sess_connect_deadline(s), "");
	if (view->uri)
		sess_put_uri(out, s);
	strbuf_add_char(out, '\n');
}

void sess_dump_ctl(const struct ctl_connection_info *info, const struct sess_view *view, bool full)
{
	struct strbuf *out = view->out;
	struct addr a = sess_address_of(info->conn, true);

	if (full) {
		sess_dump_ctl_full(info, view);
		return;
	}
	strbuf_printf(out, "%p: ", info->id);
	strbuf_printf(out, "proto=%s src=", sess_family_name(&a));
	sess_put_address(view, &a, 1);
	strbuf_add_str(out, " fe=GLOBAL be=<NONE> srv=<none> ts=00 epoch=0 age=");
	sess_put_age(out, info->since_ns);
	strbuf_printf(out, " calls=%u rate=0 cpu=0 lat=0 rq[f=0h,i=0,an=00h,ax=] "
		      "rp[f=0h,i=0,an=00h,ax=] scf=[8,%xh,fd=%d,rex=", info->runs,
		      info->conn->flags, conn_shown_fd(info->conn));
	timer_put_left(out, info->expire_ms, "");
	strbuf_add_str(out, ",wex=] scb=[8,1h,fd=-1,rex=,wex=] exp=");
	timer_put_left(out, info->expire_ms, "");
	strbuf_add_str(out, " rc=0 c_exp=\n");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sess_dump.c - how streams look in `show sess`
 *
 * The short form has the columns of the reference. Where it tells the flags of a structure, ours
 * tells those of the endpoint that has the same part: rq and scf of the front one, rp and scb of
 * the back one.
 */
#include <inttypes.h>
#include <sys/socket.h>
#include <time.h>
#include "base/clock.h"
#include "core/thread.h"
#include "net/conn.h"
#include "net/ctl_socket.h"
#include "sess_priv.h"
#include "stream_priv.h"

/* Not those of stages.c: a dump shall not need the stages. */
static const char *const stage_names[STAGE_COUNT] = {
#define X(name, fn, c) #name,
	STREAM_STAGES(X)
#undef X
};

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

static void put_age(struct strbuf *out, uint64_t since_ns)
{
	uint64_t now = clock_now_ns();

	strbuf_add_span(out, now > since_ns ? (now - since_ns) / NS_PER_MS : 0);
}

static const char *family_name(const struct addr *a)
{
	return a->family == ADDR_INET ? "tcpv4" : a->family == ADDR_INET6 ? "tcpv6" : "unix_stream";
}

/* "127.0.0.1:80"; a UNIX socket has the number of its listener. */
static void put_address(const struct sess_view *view, const struct addr *a, unsigned listener)
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
static void put_uri(struct strbuf *out, const struct stream *s)
{
	if (slice_is_none(s->log_uri))
		return;
	strbuf_add_str(out, " uri=\"");
	strbuf_add(out, s->log_method);
	strbuf_add_char(out, ' ');
	for (size_t i = 0; i < s->log_uri.len; i++) {
		unsigned char c = (unsigned char)s->log_uri.ptr[i];

		if (c > ' ' && c < 0x7f && c != '"' && c != '\\')
			strbuf_add_char(out, (char)c);
		else
			strbuf_printf(out, "\\x%02X", c);
	}
	strbuf_add_char(out, ' ');
	strbuf_add(out, s->log_version);
	strbuf_add_char(out, '"');
}

/* --- facts ------------------------------------------------------------------------------------ */

static const struct conn *conn_of(struct endpoint *ep)
{
	return ep->ops ? ep->ops->conn(ep) : NULL;
}

static int fd_of(struct endpoint *ep)
{
	const struct conn *c = conn_of(ep);

	return c ? c->fd : -1;
}

static struct addr address_of(const struct conn *c, bool peer)
{
	struct addr none = { .family = ADDR_NONE };
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (!c || (peer ? getpeername(c->fd, (struct sockaddr *)&ss, &len)
			: getsockname(c->fd, (struct sockaddr *)&ss, &len)) < 0)
		return none;
	return addr_from_sockaddr(&ss, len);
}

static bool has_backend(const struct stream *s)
{
	return s->be->caps & PROXY_BE && (s->be != s->fe || s->stage > STAGE_SWITCH);
}

/* The state of the server's side, in the reference's numbers and words. */
static const char *back_state(const struct stream *s, int *number)
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

static uint64_t connect_deadline(const struct stream *s)
{
	return s->stage >= STAGE_CONNECT && s->stage <= STAGE_TURN_AROUND ? s->wait_until_ms
									  : TIMER_NEVER;
}

/* --- short ------------------------------------------------------------------------------------ */

void sess_dump_line(struct stream *s, const struct sess_view *view)
{
	struct strbuf *out = view->out;
	char fe[CTL_HIDE_MAX], be[CTL_HIDE_MAX], server[CTL_HIDE_MAX];
	const struct addr *src = session_src(s->sess);
	int state;

	back_state(s, &state);
	strbuf_printf(out, "%p: proto=%s src=", (void *)s, family_name(src));
	put_address(view, src, (unsigned)s->listener->id);
	strbuf_printf(out, " fe=%s be=%s srv=%s ts=%02x epoch=0 age=",
		      ctl_hide(view->anon, s->fe->name, fe),
		      has_backend(s) ? ctl_hide(view->anon, s->be->name, be) : "<NONE>",
		      s->server ? ctl_hide(view->anon, s->server->name, server) : "<none>",
		      s->flags & STRM_RUNNING ? 1 : 0);
	put_age(out, s->t.begin);
	strbuf_printf(out, " calls=%u rate=0 cpu=%" PRIu64 " lat=%" PRIu64 " rq[f=%xh,i=%u,"
		      "an=%02xh,ax=] rp[f=%xh,i=%u,an=%02xh,ax=] scf=[8,%xh,fd=%d,rex=", s->runs,
		      s->cpu_ns, s->latency_ns, s->front.flags, s->front.rx.len,
		      s->stage < STAGE_RESPONSE ? s->stage : 0,
		      s->back.flags, s->back.rx.len, s->stage >= STAGE_RESPONSE ? s->stage : 0,
		      s->front.flags & 0xffff, fd_of(&s->front));
	timer_put_left(out, s->client_at_ms, "");
	strbuf_printf(out, ",wex=] scb=[%d,%xh,fd=%d,rex=", state, s->back.flags & 0xffff,
		      fd_of(&s->back));
	timer_put_left(out, s->server_at_ms, "");
	strbuf_add_str(out, ",wex=] exp=");
	timer_put_left(out, s->timer.expire_ms, "");
	strbuf_printf(out, " rc=%u c_exp=", s->retries);
	timer_put_left(out, connect_deadline(s), "");
	if (view->uri)
		put_uri(out, s);
	strbuf_add_char(out, '\n');
}

void sess_dump_ctl(const struct ctl_connection_info *info, const struct sess_view *view, bool full)
{
	struct strbuf *out = view->out;
	struct addr a = address_of(info->conn, true);

	strbuf_printf(out, "%p: ", info->id);
	if (full) {
		sess_put_date(out, info->wall_us, 6);
		strbuf_printf(out, " id=0 proto=%s source=", family_name(&a));
		put_address(view, &a, 1);
		strbuf_printf(out, "\n  frontend=GLOBAL (id=0 mode=tcp), listener=? (id=1)\n"
			      "  backend=<NONE> (id=-1 mode=-)\n  server=<NONE> (id=-1)\n"
			      "  task (calls=%u exp=", info->runs);
		timer_put_left(out, info->expire_ms, "<NEVER>");
		strbuf_printf(out, " tid=%u(%u/%u) age=", thread_id, thread_group + 1,
			      thread_id - thread_group_first(thread_group));
		put_age(out, info->since_ns);
		strbuf_printf(out, ")\n  co0=%p fd=%d applet=<CLI>\n", (const void *)info->conn,
			      info->conn->fd);
		return;
	}
	strbuf_printf(out, "proto=%s src=", family_name(&a));
	put_address(view, &a, 1);
	strbuf_add_str(out, " fe=GLOBAL be=<NONE> srv=<none> ts=00 epoch=0 age=");
	put_age(out, info->since_ns);
	strbuf_printf(out, " calls=%u rate=0 cpu=0 lat=0 rq[f=0h,i=0,an=00h,ax=] "
		      "rp[f=0h,i=0,an=00h,ax=] scf=[8,%xh,fd=%d,rex=", info->runs,
		      info->conn->flags, info->conn->fd);
	timer_put_left(out, info->expire_ms, "");
	strbuf_add_str(out, ",wex=] scb=[8,1h,fd=-1,rex=,wex=] exp=");
	timer_put_left(out, info->expire_ms, "");
	strbuf_add_str(out, " rc=0 c_exp=\n");
}

/* --- full ------------------------------------------------------------------------------------- */

static void dump_places(struct stream *s, const struct sess_view *view)
{
	struct strbuf *out = view->out;
	char hidden[CTL_HIDE_MAX];
	const struct listener_conf *l = s->listener;
	struct addr ours = address_of(conn_of(&s->back), false);

	strbuf_printf(out, "  frontend=%s (id=%d mode=%s), listener=%s (id=%d) addr=",
		      ctl_hide(view->anon, s->fe->name, hidden), s->fe->id,
		      proxy_mode_name(s->fe->mode),
		      l->bind->name ? l->bind->name : "?", l->id);
	put_address(view, session_dst(s->sess), (unsigned)l->id);
	if (has_backend(s))
		strbuf_printf(out, "\n  backend=%s (id=%d mode=%s)",
			      ctl_hide(view->anon, s->be->name, hidden), s->be->id,
			      proxy_mode_name(s->be->mode));
	else
		strbuf_add_str(out, "\n  backend=<NONE> (id=-1 mode=-)");
	if (ours.family != ADDR_NONE) {
		strbuf_add_str(out, " addr=");
		put_address(view, &ours, 1);
	}
	if (!s->server) {
		strbuf_add_str(out, "\n  server=<NONE> (id=-1)\n");
		return;
	}
	strbuf_printf(out, "\n  server=%s (id=%d)",
		      ctl_hide(view->anon, s->server->name, hidden), s->server->id);
	ours = address_of(conn_of(&s->back), true);
	if (ours.family != ADDR_NONE) {
		strbuf_add_str(out, " addr=");
		put_address(view, &ours, 1);
	}
	strbuf_add_char(out, '\n');
}

/* One side: the endpoint, its mux, its connection, what is queued. */
static void dump_side(struct strbuf *out, struct endpoint *ep, bool back, const char *state,
		      uint64_t deadline_ms)
{
	const struct conn *c = conn_of(ep);

	strbuf_printf(out, "  sc%c=%p flags=0x%08x state=%s mux=%s ctx=%p exp=", back ? 'b' : 'f',
		      (void *)ep, ep->flags, state, ep->ops ? ep->ops->name : "NONE", ep->mux);
	timer_put_left(out, deadline_ms, "<NEVER>");
	strbuf_printf(out, "\n    rx=%u tx=%u rx_total=%" PRIu64 " tx_total=%" PRIu64
		      " pipe_in=%d pipe_out=%d status=%u\n", ep->rx.len, ep->tx.len, ep->rx_bytes,
		      ep->tx_bytes, ep->rx_pipe != NULL, ep->tx_pipe != NULL, ep->status);
	if (c)
		strbuf_printf(out, "      co%d=%p xprt=%s flags=0x%08x fd=%d err=%u\n", back,
			      (const void *)c, c->transport->name, c->flags, c->fd, c->error);
	if (ep->ops && ep->ops->describe)
		ep->ops->describe(ep, out);
}

void sess_dump_full(struct stream *s, const struct sess_view *view)
{
	struct strbuf *out = view->out;
	const struct addr *src = session_src(s->sess);
	const char *state;
	int number;

	state = back_state(s, &number);
	strbuf_printf(out, "%p: ", (void *)s);
	sess_put_date(out, s->t.wall_us, 6);
	strbuf_printf(out, " id=%" PRIu64 " proto=%s source=", s->serial, family_name(src));
	put_address(view, src, (unsigned)s->listener->id);
	strbuf_printf(out, "\n  flags=0x%x, conn_retries=%u, conn_exp=", s->flags, s->retries);
	timer_put_left(out, connect_deadline(s), "<NEVER>");
	strbuf_printf(out, " srv_conn=%p, pend_pos=%p waiting=%d\n", (void *)s->server,
		      s->stage == STAGE_QUEUE ? (void *)&s->waiter : NULL,
		      s->stage == STAGE_QUEUE);
	strbuf_printf(out, "  stage=%s", stage_names[s->stage]);
	if (s->rule.rule)
		strbuf_printf(out, " rule=%s:%d", s->rule.rule->file, s->rule.rule->line);
	strbuf_add_char(out, '\n');
	dump_places(s, view);
	strbuf_printf(out, "  task (calls=%u exp=", s->runs);
	timer_put_left(out, s->timer.expire_ms, "<NEVER>");
	strbuf_printf(out, " tid=%u(%u/%u) age=", thread_id, thread_group + 1,
		      thread_id - thread_group_first(thread_group));
	put_age(out, s->t.begin);
	strbuf_add_str(out, ")\n");
	if (s->flags & STRM_HTTP) {
		strbuf_printf(out, "  txn meth=%u status=%d req.f=0x%x rsp.f=0x%x", s->req.method,
			      s->status ? s->status : -1, s->req.flags, s->res.flags);
		if (view->uri)
			put_uri(out, s);
		strbuf_add_char(out, '\n');
	}
	dump_side(out, &s->front, false, s->front.ops ? "EST" : "CLO", s->client_at_ms);
	dump_side(out, &s->back, true, state, s->server_at_ms);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sess_full.c - the output of `show sess all` for a stream
 *
 * The lines and fields of the reference, in its order, except those for its scheduler's state:
 * passes (p_con...), events (.evts) and tasklets (.subs) have no counterpart. Epochs are 0, "task"
 * is the stream's timer, "htx" the message's head. The stage is an addition.
 */
#include <inttypes.h>
#include "core/thread.h"
#include "net/conn_facts.h"
#include "net/ctl_socket.h"
#include "net/pipe.h"
#include "proxy/bind.h"
#include "stream/sess_dump.h"
#include "stream/trail.h"
#include "engine_priv.h"
#include "sess_priv.h"

/* --- one side --------------------------------------------------------------------------------- */

struct side {
	struct endpoint *ep;      /* NULL: the connection has no endpoint */
	const struct conn *conn;  /* NULL: none */
	const char *state;        /* of the connection: "EST" */
	int64_t timeout_ms;       /* 0: none */
	uint64_t deadline_ms;
	const char *kind;         /* "CONN", "NONE" */
	const void *at;           /* the mux's */
	const void *target;       /* a listener or a server */
	bool back;
};

static void put_timeout(struct strbuf *out, int64_t ms)
{
	strbuf_add_span(out, ms > 0 ? (uint64_t)ms : 0);
}

static void put_deadline(struct strbuf *out, const char *name, uint64_t at_ms)
{
	strbuf_add_str(out, name);
	timer_put_left(out, at_ms, "<NEVER>");
}

static void put_conn(struct strbuf *out, const struct side *side, const char *mux)
{
	const struct conn *c = side->conn;
	struct addr a = sess_address_of(c, true);

	strbuf_printf(out, "      co%d=%p ctrl=%s xprt=%s mux=%s target=%s:%p\n",
		      side->back, (const void *)c, sess_family_name(&a), c->transport->name, mux,
		      side->back ? "SERVER" : "LISTENER", side->target);
	strbuf_printf(out, "      flags=0x%08x fd=%d fd.state=%02x updt=0 fd.tmask=0x%lx",
		      c->flags, conn_shown_fd(c), c->flags & (CONN_CAN_RECV | CONN_CAN_SEND),
		      1ul << (thread_id - thread_group_first(thread_group)));
	if (c->error)
		strbuf_printf(out, " err=%u", c->error);
	strbuf_add_char(out, '\n');
}

static void put_side(struct strbuf *out, const struct side *side)
{
	const struct endpoint *ep = side->ep;
	const char *mux = ep && ep->ops ? ep->ops->name : "NONE";
	uint32_t flags = ep ? ep->flags : 0;

	strbuf_printf(out, "  sc%c=%p flags=0x%08x ioto=", side->back ? 'b' : 'f',
		      (const void *)ep, flags & 0xffff);
	put_timeout(out, side->timeout_ms);
	strbuf_printf(out, " state=%s endp=%s,%p,0x%08x sub=%d in=%" PRIu64 " out=%" PRIu64,
		      side->state, side->kind, side->at, flags, side->conn != NULL,
		      ep ? ep->rx_bytes : 0, ep ? ep->tx_bytes : 0);
	put_deadline(out, " rex=", flags & EP_RX_END ? TIMER_NEVER : side->deadline_ms);
	put_deadline(out, " wex=", ep && ep->tx.len ? side->deadline_ms : TIMER_NEVER);
	put_deadline(out, " rto=", side->deadline_ms);
	put_deadline(out, " wto=", ep && ep->tx.len ? side->deadline_ms : TIMER_NEVER);
	strbuf_printf(out, "\n    iobuf.flags=0x00000000 .pipe=%zu .buf=%u@%p+%u/%u\n",
		      ep && ep->rx_pipe ? (size_t)ep->rx_pipe->bytes : 0, ep ? ep->rx.len : 0,
		      ep ? (const void *)ep->rx.first : NULL, ep ? ep->rx.count : 0,
		      ep ? ep->rx.len : 0);
	if (ep && ep->ops && ep->ops->describe)
		ep->ops->describe(ep, out);
	if (side->conn)
		put_conn(out, side, ep ? mux : "CTL");
}

/* What goes one way: received by <from>, not yet taken by <to>. */
static void put_channel(struct strbuf *out, const char *name, const struct endpoint *from,
			const struct endpoint *to, const struct http_msg *m, unsigned stage)
{
	uint32_t in = from ? from->rx.len : 0, unsent = to ? to->tx.len : 0;

	strbuf_printf(out, "  %s=%p (f=0x%x an=0x%x tofwd=%d)\n", name, (const void *)from,
		      from ? from->flags : 0, stage, from && from->flags & EP_TUNNEL ? -1 : 0);
	strbuf_printf(out, "      an_exp=<NEVER> buf=%p data=%p o=%u p=%u i=%u size=%u\n",
		      from ? (const void *)&from->rx : NULL,
		      from ? (const void *)from->rx.first : NULL, unsent, unsent, in, in + unsent);
	if (m)
		strbuf_printf(out, "      htx=%p flags=0x%x size=%zu data=%zu used=%u wrap=NO\n",
			      (const void *)m, m->flags, http_msg_size(m), http_msg_size(m),
			      m->fields.count);
}

/* --- a stream --------------------------------------------------------------------------------- */

static void dump_places(struct stream *s, const struct sess_view *view)
{
	struct strbuf *out = view->out;
	char hidden[CTL_HIDE_MAX];
	const struct listener_conf *l = s->listener;
	struct addr ours = sess_address_of(sess_conn_of(&s->back), false);

	strbuf_printf(out, "  frontend=%s (id=%d mode=%s), listener=%s (id=%d) addr=",
		      ctl_hide(view->anon, s->fe->name, hidden), s->fe->id,
		      proxy_mode_name(s->fe->mode), l->bind->name ? l->bind->name : "?", l->id);
	sess_put_address(view, session_dst(s->sess), (unsigned)l->id);
	if (sess_has_backend(s))
		strbuf_printf(out, "\n  backend=%s (id=%d mode=%s)",
			      ctl_hide(view->anon, s->be->name, hidden), s->be->id,
			      proxy_mode_name(s->be->mode));
	else
		strbuf_add_str(out, "\n  backend=<NONE> (id=-1 mode=-)");
	if (ours.family != ADDR_NONE) {
		strbuf_add_str(out, " addr=");
		sess_put_address(view, &ours, 1);
	}
	if (!s->server) {
		strbuf_add_str(out, sess_has_backend(s) ? "\n  server=<none> (id=0)\n"
							: "\n  server=<NONE> (id=-1)\n");
		return;
	}
	strbuf_printf(out, "\n  server=%s (id=%d)",
		      ctl_hide(view->anon, s->server->name, hidden), s->server->id);
	ours = sess_address_of(sess_conn_of(&s->back), true);
	if (ours.family != ADDR_NONE) {
		strbuf_add_str(out, " addr=");
		sess_put_address(view, &ours, 1);
	}
	strbuf_add_char(out, '\n');
}

/* The number that the reference has for it. */
static unsigned method_number(const struct http_msg *m)
{
	return m->method == HTTP_METH_OTHER || m->method > HTTP_METH_CONNECT
	       ? 8 : m->method - HTTP_METH_OPTIONS;
}

static const char *request_state(const struct stream *s)
{
	if (s->stage == STAGE_BEGIN)
		return "MSG_RQBEFORE";
	if (s->front.flags & EP_TUNNEL)
		return "MSG_TUNNEL";
	if (s->front.flags & EP_RX_END)
		return "MSG_DONE";
	return s->stage < STAGE_PREPARE ? "MSG_BODY" : "MSG_DATA";
}

static const char *response_state(const struct stream *s)
{
	if (s->stage <= STAGE_RESPONSE)
		return "MSG_RPBEFORE";
	if (s->back.flags & EP_TUNNEL)
		return "MSG_TUNNEL";
	return s->back.flags & EP_RX_END ? "MSG_DONE" : "MSG_DATA";
}

static void dump_http(struct stream *s, const struct sess_view *view)
{
	struct strbuf *out = view->out;

	strbuf_printf(out, "  txn=%p flags=0x%x meth=%u status=%d req.st=%s rsp.st=%s req.f=0x%02x "
		      "rsp.f=0x%02x", (void *)&s->req, s->flags, method_number(&s->req),
		      s->answer.status ? s->answer.status : -1, request_state(s), response_state(s),
		      s->req.flags, s->res.flags);
	if (view->uri)
		sess_put_uri(out, s);
	strbuf_add_char(out, '\n');
}

static void dump_sides(struct stream *s, struct strbuf *out)
{
	const struct http_msg *req = s->flags & STRM_HTTP ? &s->req : NULL;
	const struct http_msg *res = s->flags & STRM_HTTP ? &s->res : NULL;
	struct side front = {
		.ep = &s->front, .conn = sess_conn_of(&s->front), .kind = "CONN",
		.state = s->front.ops ? "EST" : "CLO", .timeout_ms = s->fe->timeout.client,
		.deadline_ms = s->due.client_ms, .at = s->front.mux, .target = s->listener,
	};
	struct side back = {
		.ep = &s->back, .conn = sess_conn_of(&s->back), .deadline_ms = s->due.server_ms,
		.kind = !s->back.ops ? "NONE" : sess_conn_of(&s->back) ? "CONN" : "APPCTX",
		.at = s->back.mux, .target = s->server, .back = true,
	};
	int number;

	back.state = sess_back_state(s, &number);
	if (back.conn)
		back.timeout_ms = s->be->timeout.server;
	put_side(out, &front);
	put_side(out, &back);
	put_channel(out, "req", &s->front, &s->back, req,
		    s->stage < STAGE_SEND ? s->stage : 0);
	put_channel(out, "res", &s->back, &s->front, res,
		    s->stage >= STAGE_SEND ? s->stage : 0);
}

void sess_dump_full(struct stream *s, const struct sess_view *view)
{
	struct strbuf *out = view->out;
	const struct addr *src = session_src(s->sess);
	bool waits = s->stage == STAGE_QUEUE;

	strbuf_printf(out, "%p: ", (void *)s);
	sess_put_date(out, s->t.wall_us, 6);
	strbuf_printf(out, " id=%" PRIu64 " proto=%s source=", s->id.on_thread,
		      sess_family_name(src));
	sess_put_address(view, src, (unsigned)s->listener->id);
	strbuf_printf(out, "\n  flags=0x%x, conn_retries=%u, conn_exp=", s->flags, s->retry.count);
	timer_put_left(out, sess_connect_deadline(s), "<NEVER>");
	strbuf_printf(out, " conn_et=0x%03x srv_conn=%p, pend_pos=%p waiting=%d epoch=0\n",
		      s->back.flags & EP_ERROR, (void *)s->server,
		      waits ? (void *)&s->queue.waiter : NULL, waits);
	strbuf_printf(out, "  stage=%s", stream_stage_names[s->stage]);
	if (s->end != END_NONE)
		strbuf_printf(out, " end=%s", stream_ends[s->end].name);
	for (const struct stream_wait *w = s->waits; w; w = w->next)
		strbuf_printf(out, " waits=%s", w->kind->name);
	strbuf_add_char(out, '\n');
	dump_places(s, view);
	strbuf_printf(out, "  task=%p (state=0x%02x nice=0 calls=%u rate=0 exp=", (void *)&s->timer,
		      s->flags & STRM_RUNNING ? 1 : 0, s->run.count);
	timer_put_left(out, s->timer.expire_ms, "<NEVER>");
	strbuf_printf(out, " tid=%u(%u/%u) age=", thread_id, thread_group + 1,
		      thread_id - thread_group_first(thread_group));
	sess_put_age(out, s->t.begin);
	strbuf_add_str(out, ")\n");
	if (s->flags & STRM_HTTP)
		dump_http(s, view);
	dump_sides(s, out);
	if (s->rule.rule)
		strbuf_printf(out, "  current_rule=\"%s\" [%s:%d] (YIELDING)\n",
			      s->rule.rule->action->words, s->rule.rule->file, s->rule.rule->line);
}

/* --- a connection of the Runtime API ---------------------------------------------------------- */

void sess_dump_ctl_full(const struct ctl_connection_info *info, const struct sess_view *view)
{
	struct strbuf *out = view->out;
	struct addr a = sess_address_of(info->conn, true);
	struct side front = {
		.conn = info->conn, .kind = "CONN", .state = "EST", .timeout_ms = info->timeout_ms,
		.deadline_ms = info->expire_ms, .at = info->id,
	};
	struct side back = { .kind = "APPCTX", .state = "EST", .at = info->id,
			     .deadline_ms = TIMER_NEVER, .back = true };

	strbuf_printf(out, "%p: ", info->id);
	sess_put_date(out, info->wall_us, 6);
	strbuf_printf(out, " id=0 proto=%s source=", sess_family_name(&a));
	sess_put_address(view, &a, 1);
	strbuf_add_str(out, "\n  flags=0x0, conn_retries=0, conn_exp=<NEVER> conn_et=0x000 "
		       "srv_conn=(nil), pend_pos=(nil) waiting=0 epoch=0\n"
		       "  frontend=GLOBAL (id=0 mode=tcp), listener=? (id=1) addr=");
	sess_put_address(view, &a, 1);
	strbuf_add_str(out, "\n  backend=<NONE> (id=-1 mode=-)\n  server=<NONE> (id=-1)\n");
	strbuf_printf(out, "  task=%p (state=0x00 nice=0 calls=%u rate=0 exp=", info->id,
		      info->runs);
	timer_put_left(out, info->expire_ms, "<NEVER>");
	strbuf_printf(out, " tid=%u(%u/%u) age=", thread_id, thread_group + 1,
		      thread_id - thread_group_first(thread_group));
	sess_put_age(out, info->since_ns);
	strbuf_add_str(out, ")\n");
	put_side(out, &front);
	put_side(out, &back);
	strbuf_printf(out, "      app1=%p st0=0 st1=0 applet=<CLI> tid=%u nice=0 calls=%u rate=0\n",
		      info->id, thread_id, info->runs);
	put_channel(out, "req", NULL, NULL, NULL, 0);
	put_channel(out, "res", NULL, NULL, NULL, 0);
}

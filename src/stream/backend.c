/* SPDX-License-Identifier: GPL-2.0-or-later */
/* backend.c - the stages that find a server and a connection to it
 *
 *   ASSIGN --> QUEUE --> CONNECT --> CONNECTING --> RESPONSE
 *      ^                    ^            |
 *      |  another server    | same one   v  failed
 *      +--------------------+------ TURN_AROUND
 */
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "core/symbol.h"
#include "core/task.h"
#include "net/conn.h"
#include "net/socket.h"
#include "proxy/balance.h"
#include "proxy/bind.h"
#include "stream/conn_error.h"
#include "stream/persist.h"
#include "stream/tracing.h"
#include "stream/trail.h"
#include "tls/tls.h"
#include "table/table.h"
#include "account_priv.h"
#include "engine_priv.h"
#include "filter/filter_priv.h"
#include "http_proxy.h"
#include "log_priv.h"
#include "server_conn.h"
#include "server_room.h"
#include "stream_conf_priv.h"
#include "trace_priv.h"

/* How often a lost race for a server's last slot is tried again before queueing. */
#define PICKS_MAX 4
#define TURN_AROUND_MS 1000
#define HALF_CLOSED_PAUSE_MS 1 /* for a connection, once the client sends no more */
#define ATTACHED_PAUSE_MS 10 /* between looks for a connection of a server of rhttp@ */
#define NO_ROOM_MS 10 /* between tries with strict-maxconn */

/* --- letting go ------------------------------------------------------------------------------ */

/* What is asked of the connection to the server when it is over. */
static void keep_error(struct stream *s, const struct conn *c)
{
	static const uint8_t errors[] = {
		[TLS_REFUSED] = CONN_ERROR_HANDSHAKE, [TLS_REFUSED_HOST] = CONN_ERROR_HOST,
		[TLS_REFUSED_NAME] = CONN_ERROR_NAME,
	};

	s->answer.connection = 1 + c->error;
	s->answer.handshake = 0;
	if (c->error)
		s->answer.handshake = errors[tls_refusal(c, &s->answer.tls_error)];
}

/* For the log, if it shows our address towards the server, or asks about the connection. */
static void keep_facts(struct stream *s, const struct conn *c)
{
	const struct logformat *f = stream_proxy(s->fe)->log_format;

	if (!f || !(logformat_needs(f) & STREAM_NEEDS_SOURCE ||
		    logformat_uses(f) & (EXPR_USE_L4_SERVER | EXPR_USE_L5_SERVER)))
		return;
	if (!s->answer.left)
		s->answer.left = arena_alloc(&s->arena, sizeof(*s->answer.left));
	if (!s->answer.left)
		return;
	s->answer.left->source = conn_address(c, false);
	stream_mux_facts(s, &s->back, &s->answer.left->facts);
}

void stream_drop_back(struct stream *s)
{
	struct endpoint *ep = &s->back;
	const struct conn *c = ep->ops ? ep->ops->conn(ep) : NULL;

	server_conn_forget_ask(s);
	if (c && (c->error || s->t.connected))
		keep_error(s, c);
	if (c && s->stage != STAGE_END)
		keep_facts(s, c);
	if (ep->ops)
		ep->ops->detach(ep);
	s->answer.from = NULL;
	block_queue_clear(&ep->rx);
	block_queue_clear(&ep->tx);
	if (s->pipes.req)
		s->front.rx_pipe = NULL;
	if (s->pipes.res)
		s->front.tx_pipe = NULL;
	pipe_give(&s->pipes.req);
	pipe_give(&s->pipes.res);
	s->front.flags &= ~EP_RX_SPLICE;
	ep->rx_pipe = ep->tx_pipe = NULL;
	ep->flags = 0;
	ep->status = 0;
}

/* Leaves the queue; the places it left from are added up for the log. */
static enum queue_state leave_queue(struct stream *s)
{
	enum queue_state state = queue_leave(&s->queue.waiter);

	if (s->queue.waiter.server)
		s->queue.ahead += s->queue.waiter.position;
	else
		s->queue.be_ahead += s->queue.waiter.position;
	return state;
}

void stream_drop_slot(struct stream *s)
{
	if (s->queue.waiter.state != QUEUE_OUT && leave_queue(s) == QUEUE_SLOT_GRANTED)
		server_slot_release(s->queue.waiter.granted);
	if (!(s->flags & STRM_SLOT))
		return;
	s->flags &= ~STRM_SLOT;
	server_slot_release(s->server);
}

/* The stream now holds a slot of <srv>. */
static void got_slot(struct stream *s, struct server *srv)
{
	s->server = srv;
	s->flags |= STRM_SLOT;
	s->t.queued = clock_now_ns();
	s->due.stage_ms = TIMER_NEVER;
	STREAM_TRACE(USER, s, SERVER, "server %s is chosen", srv->name);
}

static void count_both(const struct stream *s, const struct server *srv, unsigned which)
{
	counter_add(&s->be->state->be, which, 1);
	counter_add(&srv->state->counters, which, 1);
}

/* The next try is <srv>'s (NULL: that of the server that a queue gives): one that failed to connect
 * was a retry if it is the same server's again.
 */
static void count_next_try(struct stream *s, const struct server *before, const struct server *srv)
{
	if (before && s->flags & STRM_REDISPATCHED && before != srv) {
		count_both(s, before, CNT_REDISPATCHES);
		s->retry.is_moved = true;
		persist_moved(s);
	} else if (before && s->flags & STRM_LEFT_SERVER) {
		count_both(s, before, CNT_RETRIES);
	}
	s->flags &= ~STRM_LEFT_SERVER;
}

/* --- choosing -------------------------------------------------------------------------------- */

static void queue_task(struct task *t, void *ctx, unsigned why)
{
	stream_run(ctx);
}

bool backend_init(void)
{
	static const struct symbol names[] = { { queue_task, "queue_task" }, { 0 } };

	return symbol_register(names);
}

/* Without memory the next try may be a server's that has failed before. */
static void note_tried(struct stream *s)
{
	if (!s->retry.tried)
		s->retry.tried = arena_zalloc(&s->arena, sizeof(*s->retry.tried));
	if (s->retry.tried)
		balance_avoid_add(s->retry.tried, s->server);
}

/* The next try is another server's. */
static void leave_server(struct stream *s)
{
	note_tried(s);
	stream_drop_slot(s);
	persist_left(s);
	STREAM_TRACE(USER, s, SERVER, "leaves its server: the next try is another's");
	s->flags |= STRM_REDISPATCHED;
	s->flags &= ~STRM_FORCED_SERVER;
}

/* maxqueue: does a request that may not wait for its server <srv> go to another one? */
static bool may_leave_queue(const struct stream *s, const struct server *srv)
{
	return srv && s->be->retry.redispatch_after && !persist_is_forced(s) &&
	       __atomic_load_n(&s->be->server_count, __ATOMIC_RELAXED) > 1;
}

/* Waits for a slot: of <srv>, or of any server (NULL). */
static enum step enter_queue(struct stream *s, struct server *srv)
{
	int64_t ms = stream_timeout_ms(s, STREAM_TIMEOUT_QUEUE);

	if (!s->queue.task) {
		s->queue.task = task_new(queue_task, s);
		if (!s->queue.task)
			return stream_fail(s, END_QUEUE_NO_MEMORY);
		s->queue.task->nice = (short)s->listener->bind->nice;
		queue_waiter_init(&s->queue.waiter, s->queue.task);
	}
	switch (queue_enter(&s->queue.waiter, s->be, srv, s->queue.priority_class,
			    s->queue.priority_offset_ms)) {
	case QUEUE_GRANTED:
		queue_leave(&s->queue.waiter);
		got_slot(s, s->queue.waiter.granted);
		return stream_goto(s, STAGE_CONNECT);
	case QUEUE_REFUSED:
		if (!may_leave_queue(s, srv))
			return stream_fail(s, END_QUEUE_FULL);
		trail_note_try(s, END_QUEUE_FULL);
		leave_server(s);
		return stream_goto(s, STAGE_ASSIGN);
	case QUEUE_WAITING:
		break;
	}
	STREAM_TRACE(USER, s, QUEUE, "waits in the queue of %s", srv ? srv->name : "the backend");
	stream_wait_ms(s, ms);
	return stream_goto(s, STAGE_QUEUE);
}

/* The server that this client's connection already has one to: with option prefer-last-server,
 * unless too many wait for it (max-keep-alive-queue), and in any case where the client has
 * authenticated on it, or is about to. Returns true when the choice was made, with *step.
 */
static bool assign_last(struct stream *s, enum step *step)
{
	int64_t queue_max = s->be->http.max_keep_alive_queue;
	struct server *srv;
	bool knows_client;

	if (s->flags & STRM_REDISPATCHED)
		return false;
	srv = server_conn_last_server(s->sess, s->be, &knows_client);
	if (!srv || !server_is_usable(srv) ||
	    !(knows_client || s->be->options & PROXY_OPT_PREFER_LAST_SERVER))
		return false;
	if (server_slot_take(srv)) {
		got_slot(s, srv);
		*step = stream_goto(s, STAGE_CONNECT);
		return true;
	}
	if (!knows_client && queue_max >= 0 && queue_length_server(srv) >= queue_max)
		return false;
	s->server = srv;
	*step = enter_queue(s, srv);
	return true;
}

/* A server wanted by a rule or by a cookie. Returns true when the choice was made, with *step. */
static bool assign_wanted(struct stream *s, enum step *step)
{
	struct server *srv;

	if (s->flags & STRM_REDISPATCHED)
		return false;
	srv = persist_server(s);
	if (!srv)
		return false;
	s->flags |= STRM_FORCED_SERVER;
	if (server_slot_take(srv)) {
		got_slot(s, srv);
		*step = stream_goto(s, STAGE_CONNECT);
	} else {
		s->server = srv;
		*step = enter_queue(s, srv);
	}
	return true;
}

/* `dispatch` and `option transparent`: a stream without a server goes there. */
static enum step assign_direct(struct stream *s)
{
	struct server *srv = s->be->direct;

	server_slot_take(srv); /* it has no limit */
	count_next_try(s, s->server, srv);
	got_slot(s, srv);
	return stream_goto(s, STAGE_CONNECT);
}

static enum step has_no_server(struct stream *s)
{
	s->server = NULL;
	counter_add(&s->be->state->be, CNT_CONN_ERRORS, 1);
	return stream_fail(s, END_NO_SERVER);
}

enum step stage_assign(struct stream *s)
{
	struct server *before = s->server, *srv;
	struct balance_pick_args args = {
		.avoid = s->flags & STRM_REDISPATCHED ? s->retry.tried : NULL,
	};
	enum step step;

	if (s->flags & STRM_SLOT)
		return stream_goto(s, STAGE_CONNECT);
	/* (one that has only said that it sends no more may yet be answered in time) */
	if (s->flags & STRM_HTTP && s->front.flags & (EP_ERROR | EP_RX_ABORT)) {
		stream_count_back(s, CNT_CLIENT_ABORTS);
		return stream_fail(s, END_ASSIGN_CLIENT_LEFT);
	}
	if (assign_wanted(s, &step))
		return step;
	if (assign_last(s, &step))
		return step;
	if (s->be->direct)
		return assign_direct(s);
	if (s->be->disabled) /* force-be-switch */
		return has_no_server(s);
	args.expr = stream_expr(s, EXPR_DIR_REQUEST | EXPR_FINAL);
	for (int i = 0; i < PICKS_MAX; i++) {
		srv = balance_pick(s->be, &args);
		if (!srv)
			break;
		if (!server_slot_take(srv)) {
			if (!s->be->balancing.algorithm->hashes)
				continue;
			s->server = srv;
			if (srv != before)
				count_both(s, srv, CNT_LB_TOT);
			count_next_try(s, before, srv);
			return enter_queue(s, srv);
		}
		got_slot(s, srv);
		if (srv != before)
			count_both(s, srv, CNT_LB_TOT);
		count_next_try(s, before, srv);
		return stream_goto(s, STAGE_CONNECT);
	}
	if (!balance_has_usable(s->be))
		return has_no_server(s);
	s->server = NULL;
	count_next_try(s, before, NULL);
	return enter_queue(s, NULL);
}

/* Out of the queue without a slot: the wait is over all the same. */
static void gave_up_queueing(struct stream *s)
{
	stream_drop_slot(s);
	s->t.queued = clock_now_ns();
}

enum step stage_queue(struct stream *s)
{
	switch (queue_waiter_state(&s->queue.waiter)) {
	case QUEUE_SLOT_GRANTED:
		leave_queue(s);
		got_slot(s, s->queue.waiter.granted);
		STREAM_TRACE(USER, s, QUEUE, "leaves the queue with a slot");
		return stream_goto(s, STAGE_CONNECT);
	case QUEUE_RETURNED:
		STREAM_TRACE(USER, s, QUEUE, "was sent back: it is to choose again");
		leave_queue(s);
		s->server = NULL;
		return stream_goto(s, STAGE_ASSIGN);
	default:
		break;
	}
	stream_hold_front(s);
	if (stream_client_left(s)) {
		counter_add(&s->be->state->be, CNT_CLIENT_ABORTS, 1);
		gave_up_queueing(s);
		return stream_fail(s, END_QUEUE_CLIENT_LEFT);
	}
	if (!stream_is_late(s))
		return STEP_WAIT;
	gave_up_queueing(s);
	counter_add(&s->be->state->be, CNT_CONN_ERRORS, 1);
	/* the log and the counters tell whose queue it was */
	if (s->server)
		counter_add(&s->server->state->counters, CNT_CONN_ERRORS, 1);
	return stream_fail(s, END_QUEUE_TIMEOUT);
}

/* --- connecting ------------------------------------------------------------------------------ */

/* Keeps references on a small whole body, so that the request can be sent again. */
static void keep_for_replay(struct stream *s)
{
	const struct piece *p;

	s->flags &= ~STRM_REQ_WHOLE;
	if (!stream_has_whole_request(s))
		return;
	block_queue_clear(&s->replay);
	for (p = s->front.rx.first; p; p = p->next)
		if (!block_queue_add(&s->replay, p->block, p->ptr, p->len))
			return;
	s->flags |= STRM_REQ_WHOLE;
}

static void ready_to_send(struct stream *s)
{
	uint32_t was = s->back.flags;

	http_proxy_name_server(s);
	s->back.flags = was & (EP_CONNECTED | EP_REUSED);
	if (s->flags & STRM_HTTP)
		s->back.flags |= EP_TX_HEAD;
	if (s->flags & STRM_SERVER_CLOSE)
		s->back.flags |= EP_CLOSE;
	keep_for_replay(s);
}

/* Each try is a session of the server. */
static void count_session(const struct server *srv)
{
	struct server_state *st = srv->state;

	counter_add(&st->counters, CNT_SESS_TOT, 1);
	rate_set_add(&st->session_rate, 1);
	stream_note_session(&st->last_session_s);
}

/* How the handshake with the server went. */
static void count_tls(struct stream *s, bool ok)
{
	struct conn *c = s->back.ops ? s->back.ops->conn(&s->back) : NULL;
	struct counter_set *sets[] = { &s->be->state->be, &s->server->state->counters };

	if (!tls_is_on(c) || (!ok && !tls_failure(c)))
		return;
	for (int i = 0; i < 2; i++)
		counter_add(sets[i], !ok ? CNT_TLS_FAILED :
			    tls_is_resumed(c) ? CNT_TLS_REUSED : CNT_TLS_SESS, 1);
}

static enum step stream_connect_failed(struct stream *s, bool at_once);
static enum step no_room(struct stream *s);

/* What a connection does that was kept, for a stream that no server is told of. */
static void connected_more(struct stream *s)
{
	if (!(s->flags & STRM_REUSED_CONN)) {
		count_tls(s, true);
		check_observe(s->server, &s->server->checks, SEEN_CONNECTED);
		if (!(s->flags & STRM_HTTP))
			outlier_count(s->server, &s->be->outlier, SEEN_CONNECTED,
				      s->t.connected - s->t.queued);
	}
	if (s->flags & STRM_TOLD)
		stream_tracing_connected(s);
}

/* The stream's request may be sent now. */
static enum step connected(struct stream *s)
{
	s->t.connected = clock_now_ns();
	if ((s->flags & (STRM_REUSED_CONN | STRM_TOLD)) != STRM_REUSED_CONN)
		connected_more(s);
	s->due.stage_ms = TIMER_NEVER;
	stream_log_step(s, LOG_STEP_CONNECT);
	return stream_goto_busy(s, STAGE_TCP_RESPONSE);
}

/* A socket could not even be made: our fault or a full system. */
static enum step connect_refused_here(struct stream *s, enum dial_result r)
{
	STREAM_TRACE(ERROR, s, SERVER, "no connection is opened: %s", dial_text(r));
	if (!dial_is_ours(r))
		return stream_connect_failed(s, true);
	counter_add(&s->be->state->be, CNT_CONN_ERRORS, 1);
	counter_add(&s->server->state->counters, CNT_CONN_ERRORS, 1);
	return stream_fail(s, END_CONNECT_NO_RESOURCE);
}

/* `redir` of a server: what it would be asked, the client shall ask it itself. */
static enum step redirect_to_server(struct stream *s)
{
	struct slice path = http_msg_pathq(&s->req), prefix = slice_of(s->server->redir);
	char *text = arena_alloc(&s->arena, prefix.len + path.len + 1);

	if (!text)
		return stream_fail(s, END_SERVER_REDIRECT_NO_MEMORY);
	memcpy(text, prefix.ptr, prefix.len);
	memcpy(text + prefix.len, path.ptr, path.len);
	stream_reply_begin(s, 302, slice_none());
	if (!http_msg_put_field(&s->res, FIELD_CACHE_CONTROL, SLICE("cache-control"),
				SLICE("no-cache")) ||
	    !stream_reply_body(s, SLICE(""), false) ||
	    !http_msg_put_field(&s->res, FIELD_LOCATION, SLICE("location"),
				slice_make(text, prefix.len + path.len)))
		return stream_fail(s, END_SERVER_REDIRECT_NO_MEMORY);
	count_session(s->server);
	stream_set_end(s, END_SERVER_REDIRECT);
	return stream_reply(s);
}

static bool is_redirected(const struct stream *s)
{
	return s->server->redir && s->flags & STRM_HTTP &&
	       (s->req.method == HTTP_METH_GET || s->req.method == HTTP_METH_HEAD) &&
	       http_msg_path(&s->req).ptr;
}

/* rhttp@: no connection can be opened. With one that is in use, on another thread maybe, another
 * try is worth its while: there is room in it, or it becomes idle. (With names nothing tells
 * whether there is one of this name.)
 */
static enum step no_attached(struct stream *s)
{
	uint64_t ms = (clock_now_ns() - s->t.queued) / NS_PER_MS;

	if (stream_client_left(s)) {
		counter_add(&s->be->state->be, CNT_CLIENT_ABORTS, 1);
		counter_add(&s->server->state->counters, CNT_CLIENT_ABORTS, 1);
		return stream_fail(s, END_CONNECT_CLIENT_LEFT);
	}
	if (server_conn_attached(s->server) && !server_conn_is_named(s->server) &&
	    ms < (uint64_t)stream_timeout_ms(s, STREAM_TIMEOUT_CONNECT)) {
		server_conn_forget_ask(s);
		stream_wait_ms(s, ATTACHED_PAUSE_MS);
		stream_hold_front(s);
		return STEP_WAIT;
	}
	STREAM_TRACE(ERROR, s, SERVER, "no connection is attached to the server");
	count_session(s->server);
	count_both(s, s->server, CNT_CONN_ERRORS);
	stream_drop_slot(s);
	return stream_fail(s, END_CONNECT_FAILED);
}

enum step stage_connect(struct stream *s)
{
	enum server_room room = SERVER_ROOM_TAKEN;
	enum dial_result r;
	bool reused;

	if (unlikely(is_redirected(s)))
		return redirect_to_server(s);
	reused = server_conn_take_idle(s);

	if (!reused && server_conn_ask_others(s)) {
		stream_hold_front(s);
		return STEP_WAIT;
	}
	if (!reused && unlikely(s->server->is_reverse))
		return no_attached(s);
	if (!reused && unlikely(s->server->strict_maxconn)) {
		room = server_room_take(s);
		if (room == SERVER_ROOM_SOON) {
			stream_hold_front(s);
			return STEP_WAIT;
		}
	}
	server_conn_forget_ask(s);
	if (room == SERVER_ROOM_NONE)
		return no_room(s);
	if (reused) {
		s->flags &= ~STRM_SENT_EARLY;
		ready_to_send(s);
		count_session(s->server);
		count_both(s, s->server, CNT_REUSES);
		s->flags |= STRM_REUSED_CONN;
		return connected(s);
	}
	s->flags &= ~(STRM_REUSED_CONN | STRM_SENT_EARLY);
	s->flags |= STRM_CONN_TRIED;
	count_session(s->server);
	r = server_conn_open(s);
	if (r != DIAL_DONE) {
		if (s->server->strict_maxconn)
			server_room_leave(s->server);
		return connect_refused_here(s, r);
	}
	ready_to_send(s);
	count_both(s, s->server, CNT_CONNECTS);
	if (s->back.flags & EP_CONNECTED)
		return connected(s);
	stream_wait_ms(s, stream_timeout_ms(s, STREAM_TIMEOUT_CONNECT));
	return STEP_NEXT;
}

/* A server that other tries may do without: goes back to ASSIGN for another one. Where any server
 * is as good as another that is done at each try, else as often as the option says.
 */
static bool may_redispatch(const struct stream *s)
{
	int after = s->be->retry.redispatch_after;
	unsigned count = __atomic_load_n(&s->be->server_count, __ATOMIC_RELAXED);

	if (!after || count + (s->be->direct != NULL) < 2 || s->server->is_direct ||
	    persist_is_forced(s))
		return false;
	if (!(s->flags & STRM_FORCED_SERVER) && !s->be->balancing.algorithm->hashes &&
	    balance_active_count(s->be) > 1)
		return true;
	if (after < 0)
		return s->retry.left == -after - 1;
	return s->retry.count % (unsigned)after == 0;
}

/* Another try, if there is one left. <pause_ms>: before it, with the same server; 0: none. */
static enum step retry_connect(struct stream *s, bool at_once, int64_t pause_ms)
{
	enum stream_end why = at_once ? END_CONNECT_FAILED : END_CONNECT_TIMEOUT;

	if (!(s->be->retry.on & PROXY_RETRY_CONN_FAILURE) || !retry_take(s, why)) {
		count_both(s, s->server, CNT_CONN_ERRORS);
		stream_drop_slot(s);
		return stream_fail(s, why);
	}
	if (may_redispatch(s)) {
		leave_server(s);
		s->flags |= STRM_LEFT_SERVER;
		return retry_go(s);
	}
	count_both(s, s->server, CNT_RETRIES);
	if (s->be->retry.delay_ms)
		return retry_go(s);
	if (!pause_ms)
		return stream_goto(s, STAGE_CONNECT);
	stream_wait_ms(s, pause_ms);
	return stream_goto(s, STAGE_TURN_AROUND);
}

static enum step stream_connect_failed(struct stream *s, bool at_once)
{
	int64_t pause = stream_timeout_ms(s, STREAM_TIMEOUT_CONNECT);

	stream_drop_back(s);
	check_observe(s->server, &s->server->checks, SEEN_CONNECT_FAILED);
	outlier_count(s->server, &s->be->outlier, SEEN_CONNECT_FAILED, 0);
	if (!pause || pause > TURN_AROUND_MS)
		pause = TURN_AROUND_MS;
	/* it refused: give it time */
	return retry_connect(s, at_once, at_once ? pause : 0);
}

/* strict-maxconn: no connection may be opened, none is idle. One may be about to close. */
static enum step no_room(struct stream *s)
{
	STREAM_TRACE(USER, s, SERVER, "no connection is opened: strict-maxconn");
	return retry_connect(s, true, NO_ROOM_MS);
}

/* The server's certificate is another one's than the name that was asked for, mostly the client's
 * own: no try will mend that, nor may a client cost more than one. It logs as if all had been used.
 */
static void give_up_on_name(struct stream *s)
{
	struct conn *c = s->back.ops ? s->back.ops->conn(&s->back) : NULL;
	uint32_t error;

	if (!c || tls_refusal(c, &error) != TLS_REFUSED_NAME)
		return;
	s->retry.count = (uint16_t)(s->retry.count + s->retry.left);
	s->retry.left = 0;
}

/* A client that has only said that it sends no more is not waited for; but a connection that stands
 * in a moment brings it its answer.
 */
static bool may_be_in_time(struct stream *s)
{
	if (!stream_client_left(s) || s->front.flags & (EP_ERROR | EP_RX_ABORT) ||
	    stream_is_late(s))
		return false;
	if (s->due.stage_ms > clock_now_ms() + HALF_CLOSED_PAUSE_MS)
		stream_wait_ms(s, HALF_CLOSED_PAUSE_MS);
	return true;
}

enum step stage_connecting(struct stream *s)
{
	if (s->back.flags & EP_ERROR) {
		count_tls(s, false);
		give_up_on_name(s);
		return stream_connect_failed(s, true);
	}
	if (s->back.flags & EP_CONNECTED)
		return connected(s);
	stream_hold_front(s);
	if (may_be_in_time(s))
		return STEP_WAIT;
	if (stream_client_left(s)) {
		counter_add(&s->be->state->be, CNT_CLIENT_ABORTS, 1);
		counter_add(&s->server->state->counters, CNT_CLIENT_ABORTS, 1);
		return stream_fail(s, END_CONNECT_CLIENT_LEFT);
	}
	return stream_is_late(s) ? stream_connect_failed(s, false) : STEP_WAIT;
}

enum step stage_turn_around(struct stream *s)
{
	if (stream_client_left(s))
		return stream_fail(s, END_RETRY_CLIENT_LEFT);
	if (!stream_is_late(s))
		return STEP_WAIT;
	s->due.stage_ms = TIMER_NEVER;
	if (!s->server->is_direct)
		s->t.queued = clock_now_ns(); /* %Tw counts the pause */
	return stream_goto(s, STAGE_ASSIGN);
}

/* --- sending again ---------------------------------------------------------------------------- */

static bool method_is_safe(const struct stream *s)
{
	switch (s->req.method) {
	case HTTP_METH_GET:
	case HTTP_METH_HEAD:
	case HTTP_METH_OPTIONS:
	case HTTP_METH_PUT:
	case HTTP_METH_DELETE:
	case HTTP_METH_TRACE:
		return true;
	}
	return false;
}

/* A kept connection that the server closed under the request: it has not been seen by it. */
static bool closed_under_request(const struct stream *s)
{
	return s->flags & STRM_REUSED_CONN && !(s->back.flags & EP_RX_ANY) &&
	       (method_is_safe(s) || !s->back.tx_bytes);
}

/* The server says that it has not looked at the request: once, this costs no retry. */
static bool was_refused(const struct stream *s)
{
	return s->back.flags & EP_RX_REFUSED && !(s->flags & STRM_NO_REUSE);
}

/* What the failure would be as the end of the stream; END_NONE: its answer has a status that is
 * tried again.
 */
static enum stream_end end_of_event(unsigned event)
{
	switch (event) {
	case PROXY_RETRY_EMPTY_RESPONSE: return END_RESPONSE_CUT;
	case PROXY_RETRY_JUNK_RESPONSE: return END_RESPONSE_BAD;
	case PROXY_RETRY_RESPONSE_TIMEOUT: return END_RESPONSE_TIMEOUT;
	case PROXY_RETRY_0RTT_REJECTED: return END_EARLY_REFUSED;
	default: return END_NONE;
	}
}

/* One more try behind an answer that was none. It counts as a retry by itself, besides what it is
 * when the next server is known; and a broken answer counts even if that was the last try.
 */
static bool take_replay(struct stream *s, unsigned event)
{
	if (!(s->be->retry.on & event))
		return false;
	if (event == PROXY_RETRY_EMPTY_RESPONSE || event == PROXY_RETRY_JUNK_RESPONSE)
		count_both(s, s->server, CNT_RESP_ERRORS);
	if (!retry_take(s, end_of_event(event)))
		return false;
	count_both(s, s->server, CNT_RETRIES);
	return true;
}

bool stream_retry(struct stream *s, unsigned event)
{
	bool stale = event == PROXY_RETRY_EMPTY_RESPONSE &&
		     (closed_under_request(s) || was_refused(s));

	if (!(s->flags & STRM_HTTP) || !(s->flags & STRM_REQ_WHOLE) ||
	    s->flags & STRM_HEAD_SENT || s->service)
		return false;
	if (!stale && s->flags & STRM_NO_L7_RETRY)
		return false;
	if (!stale && !take_replay(s, event))
		return false;
	stream_drop_back(s);
	stream_forget_answer(s);
	http_msg_fini(&s->res);
	http_msg_init(&s->res, &s->arena);
	block_queue_clear(&s->front.rx); /* what was not sent yet is in the copy too */
	block_queue_move(&s->front.rx, &s->replay);
	if (s->flags & STRM_FILTERED)
		filters_replay(s);
	s->due.server_ms = TIMER_NEVER;
	s->flags |= stale ? STRM_NO_REUSE : 0;
	if (s->early_field && !tls_is_early(s->sess->conn)) {
		http_msg_del_field(&s->req, SLICE("early-data"));
		s->early_field = false;
	}
	if (!stale && may_redispatch(s)) {
		leave_server(s);
		s->flags |= STRM_LEFT_SERVER;
	} else if (!stale) {
		count_both(s, s->server, CNT_RETRIES);
	}
	return true;
}

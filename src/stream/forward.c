/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forward.c - bodies and tunnels: moving pieces from one endpoint to the other
 *
 *    front.rx --> back.tx      request        back.rx --> front.tx      response
 *
 * A direction is held (EP_RX_BLOCKED at its source) while its destination has too much unsent, and
 * let go again when that has drained. With splicing the bytes stay in a kernel pipe that both
 * endpoints know.
 */
#include "base/clock.h"
#include "core/timer.h"
#include "net/conn.h"
#include "net/pipe.h"
#include "stream/tracing.h"
#include "stream/trail.h"
#include "account_priv.h"
#include "engine_priv.h"
#include "filter/filter_priv.h"
#include "log_priv.h"

void stream_hold_front(struct stream *s)
{
	size_t most = block_size(), pieces = 64;

	if (unlikely(s->overrides) && s->overrides->hold_bytes) {
		most = s->overrides->hold_bytes;
		pieces = most / 256;
	}
	if (s->front.rx.len >= most || s->front.rx.count > pieces)
		s->front.flags |= EP_RX_BLOCKED;
}

/* May this direction use a pipe: both ends plain sockets, framing without inserted bytes. Not
 * before the destination has sent the head: only then it is known whether a body follows it there
 * (none does in an answer to HEAD, whatever request a rule made of it for the server).
 */
static bool can_splice(const struct stream *s, const struct endpoint *from,
		       const struct endpoint *to)
{
	const struct http_msg *m = from->rx_head;
	struct conn *a, *b;

	if (!from->ops || !to->ops || from->ops->framed || to->ops->framed)
		return false;
	if (to->flags & (EP_TX_HEAD | EP_TX_BODYLESS))
		return false;
	if (s->flags & STRM_FILTERED && filters_see(s, from == &s->back))
		return false;
	if (s->flags & STRM_HTTP && !(s->flags & STRM_TUNNEL) && m->body != HTTP_BODY_LENGTH)
		return false;
	a = from->ops->conn((struct endpoint *)from);
	b = to->ops->conn((struct endpoint *)to);
	return a && b && a->transport->can_splice && b->transport->can_splice;
}

/* Gives a pipe to a direction that is to be spliced and can be. */
static void splice_begin(struct stream *s, struct endpoint *from, struct endpoint *to,
			 struct pipe **pipe)
{
	bool response = from == &s->back;
	uint64_t opts = s->fe->options | s->be->options;
	uint64_t want = response ? PROXY_OPT_SPLICE_RESPONSE : PROXY_OPT_SPLICE_REQUEST;
	bool automatic = opts & PROXY_OPT_SPLICE_AUTO && !(opts & want);

	if (!(opts & (want | PROXY_OPT_SPLICE_AUTO)) || *pipe || !can_splice(s, from, to))
		return;
	/* not worth a pipe: the rest is small, or not known to be large */
	if (s->flags & STRM_HTTP && !(s->flags & STRM_TUNNEL) &&
	    from->rx_head->content_length < 2 * block_size())
		return;
	if (automatic && from->rx_bytes < 4 * block_size())
		return;
	*pipe = pipe_take();
	if (!*pipe)
		return;
	from->rx_pipe = to->tx_pipe = *pipe;
	from->flags |= EP_RX_SPLICE;
}

/* Takes the pipe from a direction that has ended. */
static void splice_end(struct endpoint *from, struct endpoint *to, struct pipe **pipe)
{
	from->flags &= ~EP_RX_SPLICE;
	from->rx_pipe = to->tx_pipe = NULL;
	pipe_give(pipe);
}

/* Does this side take no bytes any more? The rest is read away by the mux or cut. */
static inline bool is_deaf(const struct endpoint *to)
{
	return !to->ops || to->flags & (EP_ERROR | EP_TX_DONE);
}

/* Sends what came to <to>: bytes if <moved>, the end. Returns whether anything was new. */
static inline bool deliver(struct endpoint *from, struct endpoint *to, struct pipe **pipe,
			   bool moved, bool end)
{
	if (end && !(to->flags & EP_TX_END)) {
		to->flags |= EP_TX_END;
		moved = true;
	}
	if (moved || to->flags & EP_TX_HEAD)
		to->ops->send(to);
	if (*pipe && from->flags & EP_RX_END && !(*pipe)->bytes)
		splice_end(from, to, pipe);
	return moved;
}

/* One direction: moves what there is, and the end. Returns whether anything moved. */
static inline bool move(struct endpoint *from, struct endpoint *to, struct pipe **pipe)
{
	bool moved = from->rx.len || (*pipe && (*pipe)->bytes);

	if (is_deaf(to)) {
		block_queue_clear(&from->rx);
		return false;
	}
	if (from->rx.len)
		block_queue_move(&to->tx, &from->rx);
	return deliver(from, to, pipe, moved, from->flags & EP_RX_END);
}

/* Stops or restarts the source of a direction, filters of which hold <held> bytes. */
static inline void regulate(struct endpoint *from, struct endpoint *to,
			    const struct pipe *pipe, size_t held)
{
	bool full = to->ops &&
		    (to->flags & EP_TX_FULL || to->tx.len + held > endpoint_tx_high(to));

	to->tx_high = from->rx_high;
	if (pipe && pipe->bytes)
		full = true;
	if (full) {
		from->flags |= EP_RX_BLOCKED;
	} else if (from->flags & EP_RX_BLOCKED) {
		from->flags &= ~EP_RX_BLOCKED;
		if (from->ops)
			from->ops->resume(from);
	}
}

/* The same direction through filters. */
static __attribute__((noinline)) bool forward_filtered(struct stream *s, struct endpoint *from,
						       struct endpoint *to, struct pipe **pipe)
{
	enum filter_side side = from == &s->front ? FILTER_REQUEST : FILTER_RESPONSE;
	bool moved = from->rx.len || (*pipe && (*pipe)->bytes), end = from->flags & EP_RX_END;

	if (is_deaf(to)) {
		block_queue_clear(&from->rx);
		filters_drop(s, side);
		moved = false;
	} else {
		moved |= filters_flow(s, side, &from->rx, &to->tx, &end);
		moved = deliver(from, to, pipe, moved, end);
	}
	regulate(from, to, *pipe, filters_weight(s, side));
	return moved;
}

/* One direction: what there is goes on, its source is stopped or not. Returns whether anything
 * moved.
 */
static inline bool forward(struct stream *s, struct endpoint *from, struct endpoint *to,
			   struct pipe **pipe)
{
	bool moved;

	if (unlikely(s->flags & STRM_FILTERED) && !filters_stand_aside(s, from == &s->back))
		return forward_filtered(s, from, to, pipe);
	moved = move(from, to, pipe);
	regulate(from, to, *pipe, 0);
	return moved;
}

static uint64_t deadline(int64_t ms)
{
	return ms > 0 ? clock_now_ms() + (uint64_t)ms : TIMER_NEVER;
}

/* Is it the server's turn? Not while a client has not sent all of its request. */
static bool server_must_talk(const struct stream *s)
{
	return !(s->flags & STRM_HTTP) || s->flags & (STRM_TUNNEL | STRM_HEAD_SENT) ||
	       s->front.flags & EP_RX_END;
}

/* Moves the deadline of one side: to <ms> from now when something happened that counts for it, or
 * when it begins to be waited for.
 */
static void renew(uint64_t *at_ms, int64_t ms, bool awaited, bool active)
{
	if (!awaited)
		*at_ms = TIMER_NEVER;
	else if (active || *at_ms == TIMER_NEVER)
		*at_ms = deadline(ms);
}

/* Does what happened count as activity of a side? Anything does, but with `option
 * independent-streams` only what it sent, or took when it was slow to.
 */
static bool is_active(const struct proxy *px, const struct endpoint *ep, bool received)
{
	return received || !(px->options & PROXY_OPT_INDEPENDENT_STREAMS) ||
	       ep->flags & EP_TX_FULL;
}

/* What stands in the place of both limits where bytes go both ways. */
static void tunnel_limits(const struct stream *s, int64_t *client, int64_t *server)
{
	const struct proxy_timeouts *fe = &s->fe->timeout, *be = &s->be->timeout;
	int64_t tunnel = stream_timeout_ms(s, STREAM_TIMEOUT_TUNNEL);

	if (tunnel && s->back.flags & EP_CONNECTED)
		*client = *server = tunnel;
	/* half closed: the side that was closed towards has its own limit */
	if (s->front.flags & EP_TX_DONE && fe->client_fin)
		*client = fe->client_fin;
	if (s->back.flags & EP_TX_DONE && be->server_fin)
		*server = be->server_fin;
}

/* The inactivity limits of both sides for the state they are in, after bytes of the request or of
 * the response were moved.
 */
static void set_deadlines(struct stream *s, bool request, bool response)
{
	int64_t client = s->fe->timeout.client, server = s->be->timeout.server;

	if (unlikely(s->overrides != NULL)) {
		client = stream_timeout_ms(s, STREAM_TIMEOUT_CLIENT);
		server = stream_timeout_ms(s, STREAM_TIMEOUT_SERVER);
	}
	if (s->flags & STRM_TUNNEL || !(s->flags & STRM_HTTP))
		tunnel_limits(s, &client, &server);
	/* the side waited for; once the answer is here as a whole, a local one too: the client */
	renew(&s->due.client_ms, client,
	      !(s->front.flags & (EP_RX_END | EP_RX_BLOCKED)) || s->front.flags & EP_TX_FULL ||
	      (s->flags & STRM_HEAD_SENT && !(s->front.flags & EP_TX_DONE) &&
	       (s->back.flags & EP_RX_END || !s->back.ops)),
	      is_active(s->fe, &s->front, request));
	renew(&s->due.server_ms, server,
	      s->back.ops && ((server_must_talk(s) &&
			       !(s->back.flags & (EP_RX_END | EP_RX_BLOCKED))) ||
			      s->back.flags & EP_TX_FULL),
	      is_active(s->be, &s->back, response));
}

void stream_forward(struct stream *s)
{
	bool tunnel = s->flags & STRM_TUNNEL || !(s->flags & STRM_HTTP);
	bool splice = (s->fe->options | s->be->options) & PROXY_OPT_SPLICE_ANY;
	bool request, response = false;

	if (splice && s->back.ops && s->back.flags & EP_CONNECTED)
		splice_begin(s, &s->front, &s->back, &s->pipes.req);
	request = forward(s, &s->front, &s->back, &s->pipes.req);
	if ((s->flags & STRM_HEAD_SENT || tunnel) && s->stage != STAGE_TCP_RESPONSE) {
		if (splice)
			splice_begin(s, &s->back, &s->front, &s->pipes.res);
		response = forward(s, &s->back, &s->front, &s->pipes.res);
	} else if (s->back.rx.len > ENDPOINT_TX_HIGH) {
		s->back.flags |= EP_RX_BLOCKED;
	}
	if (request || response || !(s->flags & STRM_TIMED_OUT))
		set_deadlines(s, request, response);
}

/* Bytes both ways, each ending by itself. */
static bool is_tunnel(const struct stream *s)
{
	return s->flags & STRM_TUNNEL || !(s->flags & STRM_HTTP);
}

/* The request's body cannot go on: what does that mean for the stream? STEP_NEXT: nothing. */
static void count_client_abort(struct stream *s)
{
	if (stream_cause(s) == CAUSE_NONE)
		stream_count_back(s, CNT_CLIENT_ABORTS);
}

static enum step check_client(struct stream *s)
{
	uint32_t f = s->front.flags;

	if (f & EP_ERROR) {
		/* a reset while our last bytes were on the way is the client's affair */
		count_client_abort(s);
		return stream_fail(s, END_DATA_CLIENT_GONE);
	}
	if (s->flags & STRM_HEAD_SENT && s->back.flags & EP_RX_END)
		return STEP_NEXT;
	if (f & EP_RX_BAD)
		return stream_fail(s, END_DATA_BAD);
	if (f & EP_RX_ABORT) {
		count_client_abort(s);
		return stream_fail(s, END_DATA_CUT);
	}
	return STEP_NEXT;
}

static enum step forward_check_server(struct stream *s)
{
	uint32_t f = s->back.flags;

	if (s->flags & STRM_LOCAL_REPLY || !s->back.ops)
		return STEP_NEXT;
	/* all was received: only a tunnel still has to send, and its client gets the rest first */
	if (f & EP_RX_END && !(is_tunnel(s) && f & EP_ERROR && s->front.flags & EP_TX_DONE))
		return STEP_NEXT;
	/* what came before goes to the client first */
	if (unlikely(s->flags & STRM_FILTERED) && filters_held(s, FILTER_RESPONSE))
		return STEP_NEXT;
	if (f & (EP_RX_BAD | EP_RX_ABORT | EP_ERROR)) {
		stream_count_back(s, CNT_SERVER_ABORTS);
		if (!(s->flags & STRM_HTTP) || !is_tunnel(s))
			stream_count_back(s, CNT_RESP_ERRORS);
		if (s->back.tx.len)
			block_queue_clear(&s->back.tx);
		return stream_fail(s, f & EP_RX_BAD ? END_RESPONSE_DATA_BAD
						    : END_RESPONSE_DATA_CUT);
	}
	return STEP_NEXT;
}

/* Has the server said all, so that only the client's reading is waited for? */
static bool last_data(const struct stream *s)
{
	return s->flags & STRM_HTTP && !(s->flags & STRM_TUNNEL) && s->back.flags & EP_RX_END;
}

static enum step check_timers(struct stream *s)
{
	uint64_t now = clock_now_ms();

	if (!(s->flags & STRM_TIMED_OUT))
		return STEP_NEXT;
	if (now >= s->due.client_ms) {
		count_client_abort(s);
		return stream_fail(s, last_data(s) ? END_LAST_DATA_TIMEOUT : END_DATA_TIMEOUT);
	}
	if (now >= s->due.server_ms) {
		stream_count_back(s, CNT_SERVER_ABORTS);
		return stream_fail(s, END_RESPONSE_DATA_TIMEOUT);
	}
	return STEP_NEXT;
}

/* Is all done that was to be done? */
static bool is_over(const struct stream *s)
{
	if (!(s->front.flags & EP_TX_DONE))
		return false;
	if (s->flags & STRM_LOCAL_REPLY)
		return true;
	if (s->flags & STRM_HTTP && !(s->flags & STRM_TUNNEL))
		return s->back.flags & EP_RX_END;
	return s->back.flags & EP_TX_DONE;
}

enum step stage_forward(struct stream *s)
{
	enum step step;

	stream_forward(s);
	stream_log_early(s);
	stream_count_continuously(s);
	if (is_over(s))
		return stream_goto(s, STAGE_END);
	step = check_client(s);
	if (step == STEP_NEXT)
		step = forward_check_server(s);
	if (step == STEP_NEXT)
		step = check_timers(s);
	return step == STEP_NEXT ? STEP_WAIT : step;
}

/* It has failed, or it is recorded however it ends. */
static void end_noted(struct stream *s)
{
	if (s->flags & STRM_TRACED)
		stream_tracing_end(s);
	if (s->end != END_NONE || s->answer.status >= 500)
		failure_keep(s);
}

/* What a stream owes to the counters, the log, its server and its session. */
enum step stage_end(struct stream *s)
{
	stream_count_end(s);
	stream_log(s);
	if (unlikely(s->end != END_NONE || s->answer.status >= 500 || s->flags & STRM_RECORDED))
		end_noted(s);
	stream_drop_back(s);
	stream_drop_slot(s);
	retry_end(s);
	s->sess->idle_from_ns = s->t.close;
	return STEP_END;
}

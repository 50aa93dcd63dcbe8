/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1.c - the HTTP/1 mux: life of a connection, reading
 *
 *             bytes            head complete          body complete       stream detached
 *     IDLE ---------> HEAD ----------------> LENGTH  ----------------> DONE ------------> IDLE
 *                                            CHUNKED > TRAILERS                           or closed
 *                                            CLOSE, TUNNEL ------------> END
 *
 * One function receives (h1_read): it loops as long as the kernel may have bytes, they are wanted
 * and the turn's budget lasts. Any call to upper layers may end the connection: the BUSY flag keeps
 * the memory until the outermost frame has returned.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/bug.h"
#include "base/clock.h"
#include "core/pool.h"
#include "core/thread.h"
#include "h1_priv.h"
#include "mux/mux_init.h"
#include "net/pipe.h"

/* After an early answer, for how long nothing may come of the rest, which is thrown away. */
#define DRAIN_MS 2000
/* What one splice may move. */
#define SPLICE_MAX (1 << 20)

static struct pool *h1_pool;
static __thread struct turn_list resume;

bool h1_init(unsigned fields_max)
{
	if (h1_pool)
		return true; /* another generation goes live */
	h1_pool = pool_new("h1c", sizeof(struct h1_conn));
	return h1_pool && h1_head_init(fields_max);
}

/* Goes on with a connection that waited for it. */
static void resume_one(struct list *link)
{
	h1_serve(list_entry(link, struct h1_conn, resume), true);
}

bool h1_thread_init(void)
{
	turn_list_init(&resume, resume_one);
	resume.limit_ns = WIRE_TURN_NS;
	return h1_head_thread_init();
}

void h1_resume_later(struct h1_conn *h)
{
	if (!(h->flags & H1C_FL_DEAD))
		turn_list_add(&resume, &h->resume);
}

/* --- life ------------------------------------------------------------------------------------ */

struct h1_conn *h1_new(struct conn *c, void *owner, const struct mux_settings *settings)
{
	struct h1_conn *h = pool_zalloc(h1_pool);

	if (!h)
		return NULL;
	h->conn = c;
	h->owner = owner;
	h->settings = settings;
	list_init(&h->resume);
	c->owner = h;
	h1_count_conn(h);
	return h;
}

void h1_free(struct h1_conn *h)
{
	H1_TRACE(STATE, h, H1_EV(END), "the connection ends");
	h1_count_end(h);
	timer_cancel(&h->timer);
	if (list_is_linked(&h->resume))
		list_remove(&h->resume);
	if (h->flags & H1C_FL_BACK)
		h->user.back->closed(h->owner);
	else if (!(h->flags & H1C_FL_GIVEN))
		h->user.front->closed(h->owner);
	if (h->conn)
		conn_close(&h->conn);
	wire_in_clear(&h->in);
	h1_drop_partial(h);
	block_queue_clear(&h->out);
	pool_free(h1_pool, h);
}

/* The end of the connection; the memory goes when no frame of ours needs it any more. */
void h1_destroy(struct h1_conn *h)
{
	BUG_ON(h->ep);
	if (h->flags & H1C_FL_BUSY)
		h->flags |= H1C_FL_DEAD;
	else
		h1_free(h);
}

/* Wakes the stream, if there is one. */
static void h1_wake(struct h1_conn *h)
{
	if (!h->ep)
		return;
	H1_TRACE(DEVELOPER, h, H1_EV(STREAM_WAKE), "waking the stream");
	h->ep->user->wake(h->ep);
}

/* Closes a client's connection after what is unsent; what may still come in is read away first,
 * else the kernel would answer it with a reset that destroys our last bytes.
 */
void h1_front_finish(struct h1_conn *h)
{
	/* (with CONN_TX_HELD the end of a TLS handshake may still come) */
	bool unread = !conn_flush(h->conn) || h->in.block || h->rx_state != H1_RX_DONE ||
		      h->conn->flags & CONN_CAN_RECV;

	h1_count_stream_end(h);
	if (h->conn->flags & (CONN_ERROR | CONN_EOF | CONN_NO_LINGER) ||
	    (!h->out.len && !unread)) {
		h1_destroy(h);
		return;
	}
	h->flags |= H1C_FL_SHUT_AFTER | H1C_FL_CLOSE;
	wire_in_clear(&h->in);
	h1_set_rx(h, H1_RX_DRAIN);
	if (!h->out.len)
		conn_shut_write(h->conn);
	timer_set(&h->timer, clock_now_ms() + DRAIN_MS);
	if (h->conn->flags & CONN_CAN_RECV && !(h->flags & H1C_FL_BUSY))
		h1_resume_later(h);
}

void h1_front_last_call(struct h1_conn *h, uint64_t since_ms)
{
	uint64_t end_ms = since_ms + H1_LAST_CALL_MS;

	if (h->settings->options & MUX_OPT_IDLE_CLOSE)
		return;
	if (!timer_is_set(&h->timer) || h->timer.expire_ms > end_ms)
		timer_set(&h->timer, end_ms);
}

void h1_front_next(struct h1_conn *h)
{
	h1_front_idle(h);
	if (unlikely(h->flags & H1C_FL_STOP))
		h1_front_last_call(h, clock_now_ms());
}

/* The peer's bytes are thrown away until it closes, or sends none for a while: one that is slow
 * shall see our answer behind all that it wants to send.
 */
static void h1_drain(struct h1_conn *h)
{
	enum io r = wire_drain(h->conn);

	timer_set(&h->timer, clock_now_ms() + DRAIN_MS);
	if (r == IO_OK)
		h1_resume_later(h);
	else if (r != IO_AGAIN)
		h1_destroy(h);
}

/* --- reading --------------------------------------------------------------------------------- */

/* Receives to <in>. */
static enum io h1_fill(struct h1_conn *h)
{
	size_t before = wire_in_len(&h->in);
	enum io r = wire_in_recv(&h->in, h->conn, true);

	h1_count_bytes(h, wire_in_len(&h->in) - before, 0);
	return r;
}

/* <got> body bytes went to the stream, one way or another. */
static void h1_count_body(struct h1_conn *h, size_t got)
{
	h->ep->rx_bytes += got;
	h->flags &= ~(unsigned)H1C_FL_EXPECTS;
	if (h->rx_state == H1_RX_LENGTH) {
		h->rx.left -= got;
		if (!h->rx.left)
			h1_body_end(h);
	}
}

/* Receives body bytes straight into the stream's queue, several blocks in one call when the flow is
 * fast. What lies behind the announced length stays with us, in <in>. Large reads count as several.
 */
static enum io h1_recv_body(struct h1_conn *h, int *budget)
{
	struct endpoint *ep = h->ep;
	size_t max = SIZE_MAX, got;
	struct block_queue q;
	struct piece *last;
	size_t extra;
	enum io r;

	/* one byte more than announced: a complete body is then a short read, the socket is dry */
	if (h->rx_state == H1_RX_LENGTH && h->rx.left < SIZE_MAX)
		max = (size_t)h->rx.left + 1;
	block_queue_init(&q);
	r = conn_recv(h->conn, &q, max, &got);
	if (!got)
		return r;
	*budget -= (int)(got / WIRE_READ_UNIT);
	h1_count_bytes(h, got, 0);
	if (h->rx_state == H1_RX_LENGTH && got > h->rx.left) {
		extra = got - (size_t)h->rx.left;
		last = q.last;
		h->in.block = block_take(last->block);
		h->in.at = (uint32_t)(last->ptr + last->len - extra - h->in.block->data);
		got -= extra;
		if (!block_queue_move_len(&ep->rx, &q, got))
			r = IO_ERR;
		block_queue_clear(&q);
	} else {
		block_queue_move(&ep->rx, &q);
	}
	h1_count_body(h, got);
	return r;
}

/* Moves body bytes from the socket into the stream's pipe. */
static enum io h1_recv_pipe(struct h1_conn *h, int *budget)
{
	struct endpoint *ep = h->ep;
	size_t max = SPLICE_MAX, got;
	enum io r;

	if (h->rx_state == H1_RX_LENGTH && h->rx.left < max)
		max = (size_t)h->rx.left;
	r = conn_splice_in(h->conn, ep->rx_pipe, max, &got);
	*budget -= (int)(got / WIRE_READ_UNIT);
	h1_count_spliced(h, got, 0);
	h1_count_body(h, got);
	return r;
}

/* A kept server connection without a stream said something, or ended. */
static void h1_back_idle_event(struct h1_conn *h)
{
	if (!(h->flags & H1C_FL_IDLE))
		return;
	h->flags &= ~H1C_FL_IDLE;
	h1_destroy(h);
}

/* No more bytes will come. */
static void h1_eof(struct h1_conn *h, bool error)
{
	struct front_bad bad = { .kind = error ? FRONT_BAD_ERROR : FRONT_BAD_ABORT, .status = 400,
			      .text = "connection closed" };

	h->flags |= H1C_FL_CLOSE;
	if (error && h->ep)
		h->ep->flags |= EP_ERROR;
	switch (h->rx_state) {
	case H1_RX_IDLE:
		if (h->flags & H1C_FL_BACK)
			h1_back_idle_event(h);
		else if (h->flags & H1C_FL_FIRST)
			h1_front_bad(h, &bad);
		else
			h1_destroy(h);
		return;
	case H1_RX_HEAD:
		if (!(h->flags & H1C_FL_BACK)) {
			h1_front_bad(h, &bad);
			return;
		}
		/* half a head is a bad answer, nothing at all is a failed server */
		h1_back_bad(h, wire_in_has(&h->in) ? EP_RX_BAD | EP_RX_ABORT : EP_RX_ABORT,
			    "connection closed");
		break;
	case H1_RX_CLOSE:
		if (error)
			h1_back_bad(h, EP_RX_ABORT, "connection reset");
		else
			h->ep->flags |= EP_RX_END;
		h1_set_rx(h, H1_RX_END);
		break;
	case H1_RX_TUNNEL:
		h->ep->flags |= EP_RX_END;
		h1_set_rx(h, H1_RX_END);
		break;
	case H1_RX_DONE:
		if (h->ep)
			h->ep->flags |= EP_PEER_SHUT;
		break;
	case H1_RX_SKIP_LENGTH:
	case H1_RX_SKIP_CHUNKED:
	case H1_RX_SKIP_TRAILERS:
	case H1_RX_DRAIN:
		h1_destroy(h);
		return;
	default:
		h1_back_bad(h, EP_RX_ABORT, "connection closed");
	}
	h1_wake(h);
}

/* Are bytes wanted in this state? */
static bool h1_wants_bytes(const struct h1_conn *h)
{
	switch (h->rx_state) {
	case H1_RX_IDLE:
	case H1_RX_SKIP_LENGTH:
	case H1_RX_SKIP_CHUNKED:
	case H1_RX_SKIP_TRAILERS:
		return true;
	case H1_RX_HEAD:
		/* a response's interim head must be taken before the next one */
		return !h->ep || !(h->ep->flags & EP_RX_HEAD);
	case H1_RX_LENGTH:
	case H1_RX_CHUNKED:
	case H1_RX_TRAILERS:
	case H1_RX_CLOSE:
	case H1_RX_TUNNEL:
		return h->ep && !(h->ep->flags & EP_RX_BLOCKED);
	}
	return false;
}

uint8_t h1_front_options(const struct mux_settings *settings)
{
	uint8_t options = settings->options & MUX_OPT_UNSAFE ? H1_OPT_UNSAFE : 0;

	if (settings->options & MUX_OPT_ANY_PAYLOAD)
		options |= H1_OPT_ANY_PAYLOAD;
	return options;
}

/* First bytes of a request on a client's connection. */
static void h1_request_begins(struct h1_conn *h)
{
	h1_count_stream(h);
	h1_set_rx(h, H1_RX_HEAD);
	h1_parser_init(&h->parser, h1_front_options(h->settings));
	h->since_ns = clock_now_ns();
	if (h->flags & H1C_FL_FIRST)
		return;
	if (mux_request_ms(h->settings))
		timer_set(&h->timer, clock_now_ms() + (uint64_t)mux_request_ms(h->settings));
	else
		timer_cancel(&h->timer); /* that of the time between requests */
}

/* Behind the rest of a request that was answered early comes the next one, if it is valid. */
static bool h1_go_on_skipping(struct h1_conn *h)
{
	struct chunk_trailers t = { .fields = h1_scratch_fields,
				    .capacity = (uint16_t)h1_scratch_count };
	enum h1_skipped r = h1_skip(h, &t);

	if (r == H1_SKIPPED_ALL)
		h1_front_next(h);
	else if (r == H1_SKIPPED_BAD)
		h1_front_finish(h);
	return r != H1_SKIPPED_NONE;
}

/* Parses what is there: a head, with the body bytes that came behind it, or body bytes. */
static bool h1_parse_any(struct h1_conn *h)
{
	if (unlikely(h1_skips(h)))
		return h1_go_on_skipping(h);
	if (h->rx_state != H1_RX_HEAD)
		return h1_parse_body(h);
	if (!h1_parse(h))
		return false;
	/* head and body go to the stream together, so that they leave together */
	while (!(h->flags & H1C_FL_DEAD) && h->ep && wire_in_has(&h->in) && h1_parse_body(h))
		;
	return true;
}

/* Does a client's connection begin as another protocol's? Then its owner gives it to that mux.
 * IO_OK: go on here; IO_AGAIN: more bytes will tell; IO_ERR: this mux is over, or nothing more came
 * yet.
 */
static enum io h1_look_for_preface(struct h1_conn *h)
{
	struct slice bytes = wire_in_bytes(&h->in);
	const struct mux_kind *kind;
	struct block_queue q;
	bool more;

	kind = mux_of_preface(bytes, &more);
	if (more) {
		if (!h->since_ns)
			h->since_ns = clock_now_ns();
		return wire_in_may_grow(&h->in, h->conn) ? IO_AGAIN : IO_ERR;
	}
	if (!kind)
		return IO_OK;
	block_queue_init(&q);
	if (!block_queue_add(&q, h->in.block, bytes.ptr, bytes.len) ||
	    !h->user.front->preface(h->owner, kind, h->conn, &q)) {
		block_queue_clear(&q);
		return IO_OK;
	}
	h->flags |= H1C_FL_GIVEN;
	h->conn = NULL;
	h1_destroy(h);
	return IO_ERR;
}

/* One pass: uses the bytes there are, or gets some. IO_OK: go on. */
static enum io h1_read_step(struct h1_conn *h, int *budget)
{
	bool own = !h->ep || h->rx_state == H1_RX_HEAD || h->rx_state == H1_RX_CHUNKED ||
		   h->rx_state == H1_RX_TRAILERS;
	enum io r;

	if (!wire_in_has(&h->in)) {
		if (!(h->conn->flags & CONN_CAN_RECV))
			return IO_AGAIN;
		if (h->rx_state == H1_RX_IDLE && h->flags & H1C_FL_BACK) {
			/* (what came may be the transport's own) */
			if (!conn_is_quiet(h->conn))
				h1_back_idle_event(h);
			return IO_AGAIN;
		}
		if (own)
			r = h1_fill(h);
		else if (h->ep->rx_pipe && h->ep->flags & EP_RX_SPLICE && !h->ep->rx.len)
			r = h1_recv_pipe(h, budget);
		else
			return h1_recv_body(h, budget);
		if (r != IO_OK || !wire_in_has(&h->in))
			return r;
	}
	if (h->rx_state == H1_RX_IDLE &&
	    (h->flags & (H1C_FL_FIRST | H1C_FL_NO_PREFACE)) == H1C_FL_FIRST) {
		r = h1_look_for_preface(h);
		if (r != IO_OK)
			return r == IO_ERR ? IO_AGAIN : h1_fill(h);
	}
	if (h->rx_state == H1_RX_IDLE)
		h1_request_begins(h);
	if (h1_parse_any(h))
		return IO_OK;
	/* incomplete: more bytes behind those that are there */
	if (!wire_in_may_grow(&h->in, h->conn))
		return IO_AGAIN;
	r = h1_fill(h);
	if (r != IO_OK)
		return r;
	if (h1_parse_any(h))
		return IO_OK;
	return wire_in_may_grow(&h->in, h->conn) ? IO_OK : IO_AGAIN;
}

static const char *io_name(enum io r)
{
	return r == IO_OK ? "bytes" : r == IO_AGAIN ? "all for now" : r == IO_EOF ? "end" : "error";
}

static void h1_read(struct h1_conn *h)
{
	struct endpoint *ep;
	enum io r = IO_OK;

	for (int budget = WIRE_READ_BUDGET; !(h->flags & H1C_FL_DEAD) && h1_wants_bytes(h);
	     budget--) {
		if (budget <= 0) {
			h1_resume_later(h);
			return;
		}
		r = h1_read_step(h, &budget);
		if (h->flags & H1C_FL_DEAD)
			return;
		H1_TRACE(DATA, h, H1_EV(RECV), "read: %s", io_name(r));
		if (r == IO_EOF || (r == IO_ERR)) {
			h1_eof(h, r == IO_ERR);
			return;
		}
		ep = h->ep;
		if (ep && (ep->flags & (EP_RX_HEAD | EP_RX_END | EP_RX_BAD | EP_RX_ABORT |
					EP_ERROR) ||
			   ep->rx.len || (ep->rx_pipe && ep->rx_pipe->bytes)))
			h1_wake(h);
		if (r == IO_AGAIN)
			return;
	}
	if (h->rx_state == H1_RX_DRAIN && h->conn->flags & CONN_CAN_RECV)
		h1_drain(h);
}

/* A client that sends its end, or is gone, while nothing is expected of it. */
static void h1_notice_shut(struct h1_conn *h)
{
	struct endpoint *ep = h->ep;

	if (!ep || h1_wants_bytes(h))
		return;
	if (ep->flags & EP_PEER_SHUT && (!(h->conn->flags & CONN_RESET) || ep->flags & EP_ERROR))
		return;
	if (h->conn->flags & CONN_ERROR ||
	    (h->conn->flags & CONN_RESET && !(h->flags & H1C_FL_BACK)))
		ep->flags |= EP_ERROR;
	ep->flags |= EP_PEER_SHUT;
	h1_wake(h);
}

void h1_serve(struct h1_conn *h, bool may_read)
{
	bool outer = h1_enter(h);
	struct conn *c = h->conn;
	uint32_t was;

	H1_TRACE(DEVELOPER, h, H1_EV(WAKE), "an event of the connection");
	if (h->ep && h->flags & H1C_FL_BACK && !(h->ep->flags & EP_CONNECTED) &&
	    !(c->flags & (CONN_CONNECTING | CONN_HANDSHAKE))) {
		h->ep->flags |= c->flags & CONN_ERROR ? EP_ERROR : EP_CONNECTED;
		h1_wake(h);
	}
	if (!(h->flags & H1C_FL_DEAD) && c->flags & CONN_CAN_SEND &&
	    !(c->flags & (CONN_CONNECTING | CONN_HANDSHAKE))) {
		if (h->ep && (h->out.len || (h->ep->tx_pipe && h->ep->tx_pipe->bytes))) {
			was = h->ep->flags;
			h1_send_pending(h);
			if (h->ep->flags != was || !h->out.len)
				h1_wake(h);
		} else if (!h->ep && h->out.len) {
			if (!h1_flush(h))
				block_queue_clear(&h->out);
			if (!h->out.len && h->flags & H1C_FL_SHUT_AFTER)
				conn_shut_write(c);
		}
	}
	if (!(h->flags & H1C_FL_DEAD) && c->flags & CONN_ERROR)
		h1_eof(h, true);
	else if (!(h->flags & H1C_FL_DEAD) && !(c->flags & CONN_CONNECTING) && may_read)
		h1_read(h);
	if (!(h->flags & H1C_FL_DEAD) && c->flags & (CONN_RDHUP | CONN_ERROR))
		h1_notice_shut(h);
	h1_leave(h, outer);
}

void h1_ready(struct conn *c)
{
	struct h1_conn *h = c->owner;

	/* the end of an idle one is noticed before a stream takes it */
	h1_serve(h, h->flags & H1C_FL_IDLE || !turn_list_defers(&resume, &h->resume, c));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1.c - the HTTP/1 mux: life of a connection, receiving half
 *
 *             bytes            head complete          body complete       stream detached
 *     IDLE ---------> HEAD ----------------> LENGTH  ----------------> DONE ------------> IDLE
 *                                            CHUNKED > TRAILERS                           or closed
 *                                            CLOSE, TUNNEL ------------> END
 *
 * One function receives (h1_read): it goes round as long as the kernel may have bytes, somebody wants
 * them and the turn's budget lasts. Whatever calls up may bring the connection to its end: the
 * BUSY flag keeps the memory until the lowest frame has returned.
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

/* Reads that one event may cause before other connections get their turn. */
#define READ_BUDGET 8
/* After an early answer, how long and how much of the rest is read and thrown away. */
#define DRAIN_MS 2000
#define SPLICE_MAX (1 << 20)

static struct pool *h1_pool, *partial_pool;
static unsigned partial_fields;
static __thread struct h1_field *scratch_fields;
static __thread unsigned scratch_count;
static __thread struct list resume_list;
static __thread struct turn_hook resume_hook;

static void h1_ready(struct conn *c);
static void h1_read(struct h1_conn *h);
static const struct conn_ops h1_front_conn_ops = { .name = "h1-front", .ready = h1_ready };
static const struct conn_ops h1_back_conn_ops = { .name = "h1-back", .ready = h1_ready };

bool h1_init(unsigned fields_max)
{
	partial_fields = fields_max;
	h1_pool = pool_new("h1c", sizeof(struct h1_conn));
	partial_pool = pool_new("h1_partial", sizeof(struct h1_partial) +
						      fields_max * sizeof(struct h1_field));
	return h1_pool && partial_pool;
}

/* Goes on with the connections that wait for it, once each. */
static void resume_all(struct turn_hook *hook)
{
	struct list todo;

	list_init(&todo);
	list_splice(&todo, &resume_list);
	while (!list_is_empty(&todo)) {
		struct h1_conn *h = list_first(&todo, struct h1_conn, resume);

		list_remove(&h->resume);
		h->flags &= ~H1C_FL_RESUME;
		h1_ready(h->conn);
	}
}

bool h1_thread_init(void)
{
	list_init(&resume_list);
	turn_hook_init(&resume_hook, resume_all);
	scratch_count = partial_fields;
	scratch_fields = malloc(scratch_count * sizeof(*scratch_fields));
	return scratch_fields != NULL;
}

void h1_thread_fini(void)
{
	free(scratch_fields);
	scratch_fields = NULL;
}

void h1_resume_later(struct h1_conn *h)
{
	if (h->flags & (H1C_FL_RESUME | H1C_FL_DEAD))
		return;
	h->flags |= H1C_FL_RESUME;
	list_append(&resume_list, &h->resume);
	turn_hook_add(&resume_hook);
}

void h1_set_rx(struct h1_conn *h, enum h1_rx_state to)
{
	h->rx_state = to;
}

/* --- life ------------------------------------------------------------------------------------ */

static struct h1_conn *h1_new(struct conn *c, void *owner, const struct h1_settings *settings)
{
	struct h1_conn *h = pool_zalloc(h1_pool);

	if (!h)
		return NULL;
	h->conn = c;
	h->owner = owner;
	h->settings = settings;
	list_init(&h->resume);
	c->owner = h;
	return h;
}

/* Done with <in>: the next received block takes its place. */
static void h1_drop_in(struct h1_conn *h)
{
	struct piece *p = h->in_more.first;

	block_drop(h->in);
	h->in = NULL;
	h->in_at = 0;
	if (!p)
		return;
	h->in = block_take(p->block);
	block_queue_skip(&h->in_more, p->len);
}

/* Forgets all that was received and not used. */
static void h1_clear_in(struct h1_conn *h)
{
	block_queue_clear(&h->in_more);
	h1_drop_in(h);
}

static void h1_drop_partial(struct h1_conn *h)
{
	pool_free(partial_pool, h->partial);
	h->partial = NULL;
}

static void h1_free(struct h1_conn *h)
{
	timer_cancel(&h->timer);
	if (list_is_linked(&h->resume))
		list_remove(&h->resume);
	if (h->flags & H1C_FL_BACK)
		h->user.back->closed(h->owner, h);
	else
		h->user.front->closed(h->owner);
	conn_close(&h->conn);
	h1_clear_in(h);
	h1_drop_partial(h);
	block_queue_clear(&h->out);
	pool_free(h1_pool, h);
}

/* The end of the connection; the memory goes when no frame of ours needs it any more. */
static void h1_destroy(struct h1_conn *h)
{
	BUG_ON(h->ep);
	if (h->flags & H1C_FL_BUSY)
		h->flags |= H1C_FL_DEAD;
	else
		h1_free(h);
}

/* Brackets a function that may call up. Returns what h1_leave() needs. */
static bool h1_enter(struct h1_conn *h)
{
	bool outer = !(h->flags & H1C_FL_BUSY);

	h->flags |= H1C_FL_BUSY;
	return outer;
}

static void h1_leave(struct h1_conn *h, bool outer)
{
	if (!outer)
		return;
	h->flags &= ~H1C_FL_BUSY;
	if (h->flags & H1C_FL_DEAD)
		h1_free(h);
}

void h1_wake(struct h1_conn *h)
{
	if (h->ep)
		h->ep->user->wake(h->ep);
}

/* Closes a client's connection after what is unsent; what may still come in is read away first, else
 * the kernel would answer it with a reset that destroys our last bytes.
 */
static void h1_front_finish(struct h1_conn *h)
{
	bool unread = h->in || h->rx_state != H1_RX_DONE || h->conn->flags & CONN_CAN_RECV;

	if (h->conn->flags & (CONN_ERROR | CONN_EOF | CONN_NO_LINGER) ||
	    (!h->out.len && !unread)) {
		h1_destroy(h);
		return;
	}
	h->flags |= H1C_FL_SHUT_AFTER | H1C_FL_CLOSE;
	h1_clear_in(h);
	h1_set_rx(h, H1_RX_DRAIN);
	if (!h->out.len)
		conn_shut_write(h->conn);
	timer_set(&h->timer, clock_now_ms() + DRAIN_MS);
	if (h->conn->flags & CONN_CAN_RECV && !(h->flags & H1C_FL_BUSY))
		h1_resume_later(h);
}

/* The peer's bytes are thrown away until it closes. */
static void h1_drain(struct h1_conn *h)
{
	struct block *b = block_new();
	size_t got;
	enum io r = b ? IO_OK : IO_ERR;

	for (int i = 0; r == IO_OK && i < READ_BUDGET; i++) {
		b->used = 0;
		if (!(h->conn->flags & CONN_CAN_RECV))
			r = IO_AGAIN;
		else
			r = conn_recv_block(h->conn, b, &got);
	}
	block_drop(b);
	if (r == IO_OK)
		h1_resume_later(h);
	else if (r != IO_AGAIN)
		h1_destroy(h);
}

static bool h1_has_in(const struct h1_conn *h)
{
	return h->in && h->in_at < h->in->used;
}

/* --- heads ----------------------------------------------------------------------------------- */

/* Fills a head of the message model from what the parser found. False: no memory. */
static bool h1_fill_head(struct h1_conn *h, struct http_msg *m, const struct h1_head *head)
{
	static const uint8_t bodies[] = {
		[H1_BODY_NONE] = HTTP_BODY_NONE, [H1_BODY_LENGTH] = HTTP_BODY_LENGTH,
		[H1_BODY_CHUNKED] = HTTP_BODY_CHUNKED, [H1_BODY_CLOSE] = HTTP_BODY_CLOSE,
		[H1_BODY_TUNNEL] = HTTP_BODY_TUNNEL,
	};
	struct h1_field *list;

	m->fields.room = head->field_count + 8u;
	list = arena_alloc(m->arena, m->fields.room * sizeof(*list));
	if (!list || !http_msg_hold(m, h->in))
		return false;
	memcpy(list, head->fields, head->field_count * sizeof(*list));
	m->fields.list = list;
	m->fields.count = head->field_count;
	m->version = (uint8_t)(head->version.len ? head->major * 10 + (head->minor > 1 ? 1 : head->minor)
						 : 9);
	m->method_text = head->method;
	m->uri = head->uri;
	m->version_text = head->version;
	m->reason = head->reason;
	m->status = head->status;
	m->body = bodies[head->body];
	m->content_length = head->content_length;
	m->flags = 0;
	if (head->flags & H1_FL_UPGRADE)
		m->flags |= HTTP_MSG_UPGRADE;
	if (head->flags & H1_FL_EXPECT_CONTINUE)
		m->flags |= HTTP_MSG_EXPECT_CONTINUE;
	if (head->flags & H1_FL_CONN_CLOSE)
		m->flags |= HTTP_MSG_CONN_CLOSE;
	if (head->flags & H1_FL_CONN_KEEP_ALIVE)
		m->flags |= HTTP_MSG_CONN_KEEPALIVE;
	if (head->target == H1_TARGET_ABSOLUTE)
		m->flags |= HTTP_MSG_ABSOLUTE;
	if (h->flags & H1C_FL_BACK) {
		m->flags |= HTTP_MSG_RESPONSE;
		if (!m->reason.len)
			m->reason = http_reason(head->status);
		if (head->status < 200 && head->status != 101)
			m->flags |= HTTP_MSG_INTERIM;
	} else {
		m->method = (uint8_t)http_method_of(head->method);
	}
	return true;
}

/* Where reception goes after a head. */
static void h1_enter_body(struct h1_conn *h, const struct h1_head *head)
{
	switch (head->body) {
	case H1_BODY_LENGTH:
		h->rx.left = head->content_length;
		h1_set_rx(h, H1_RX_LENGTH);
		break;
	case H1_BODY_CHUNKED:
		chunk_decoder_init(&h->rx.chunk);
		h1_set_rx(h, H1_RX_CHUNKED);
		break;
	case H1_BODY_CLOSE:
		h1_set_rx(h, H1_RX_CLOSE);
		break;
	case H1_BODY_TUNNEL:
		h1_set_rx(h, H1_RX_TUNNEL);
		break;
	default:
		h1_set_rx(h, H1_RX_DONE);
		h->ep->flags |= EP_RX_END;
	}
}

/* What is wrong with the bytes that are there, <at> their end at most. */
static void h1_describe_bad(const struct h1_conn *h, size_t at, struct endpoint_bad *bad)
{
	static const char *const states[] = {
#define X(s) [H1_RX_##s] = "MSG_" #s,
		H1_RX_STATES(X)
#undef X
	};

	bad->bytes = h->in ? slice_make(h->in->data + h->in_at, h->in->used - h->in_at)
			   : slice_none();
	bad->at = at < bad->bytes.len ? at : bad->bytes.len;
	bad->state = states[h->rx_state];
	bad->state_number = h->rx_state;
	bad->conn_flags = h->flags;
}

/* A response that is not valid, or breaks off: told to the stream. */
static void h1_back_bad(struct h1_conn *h, unsigned flag, const char *text)
{
	struct endpoint_bad bad;

	h1_describe_bad(h, h->rx_state == H1_RX_HEAD ? h->parser.error_offset : 0, &bad);
	h->flags |= H1C_FL_CLOSE;
	h1_set_rx(h, H1_RX_END);
	if (!h->ep)
		return;
	h->ep->flags |= flag;
	h->ep->rx_error = text;
	h->ep->rx_bad_at = h->parser.error_offset;
	if (flag == EP_RX_BAD && h->ep->user->bad && bad.bytes.len)
		h->ep->user->bad(h->ep, &bad);
}

/* A response head was received. */
static bool h1_response_head(struct h1_conn *h, const struct h1_head *head)
{
	struct endpoint *ep = h->ep;

	if (head->status == 101 && !(h->flags & H1C_FL_UPGRADE_REQ)) {
		h1_back_bad(h, EP_RX_BAD, "101 without a request for it");
		return true;
	}
	if (!h1_fill_head(h, ep->rx_head, head))
		return false;
	ep->rx_head_len = (uint32_t)head->length;
	ep->rx_bytes += head->length;
	ep->flags |= EP_RX_HEAD | EP_RX_ANY;
	if (ep->rx_head->flags & HTTP_MSG_INTERIM) {
		/* another head follows; the stream takes this one first */
		h1_parser_init(&h->parser, h->parser.options);
		return true;
	}
	h->flags &= ~H1C_FL_KEEP_RX;
	if (head->flags & H1_FL_KEEP_ALIVE && !(head->flags & H1_FL_INSECURE_TE))
		h->flags |= H1C_FL_KEEP_RX;
	h1_enter_body(h, head);
	return true;
}

/* Does the client mean to keep the connection ? A client of a proxy may say so in a field of its
 * own, see option http-use-proxy-header.
 */
static bool request_is_kept(const struct h1_conn *h, const struct h1_head *head)
{
	bool keep = head->flags & H1_FL_KEEP_ALIVE;

	if (!(h->flags & H1C_FL_PROXY_NAME))
		return keep;
	for (unsigned i = 0; i < head->field_count; i++) {
		struct slice list = head->fields[i].value, element;

		if (head->fields[i].id != FIELD_PROXY_CONNECTION)
			continue;
		while (h1_list_next(&list, &element)) {
			if (slice_eq_nocase(element, SLICE("close")))
				return false;
			if (slice_eq_nocase(element, SLICE("keep-alive")))
				keep = !(head->flags & H1_FL_CONN_CLOSE);
		}
	}
	return keep;
}

/* A request head was received: a stream is born. */
static bool h1_request_head(struct h1_conn *h, const struct h1_head *head)
{
	struct endpoint *ep = h->user.front->stream_new(h->owner, h->since_ns);

	if (!ep)
		return false;
	ep->ops = &h1_front_endpoint;
	ep->mux = h;
	h->ep = ep;
	timer_set(&h->timer, TIMER_NEVER);
	h->flags &= ~(H1C_FL_HEAD_REQ | H1C_FL_CLIENT_1_0 | H1C_FL_KEEP_RX | H1C_FL_FIRST |
		      H1C_FL_HEAD_SENT | H1C_FL_PROXY_NAME);
	h1_set_tx(h, H1_TX_HEAD);
	if (!h1_fill_head(h, ep->rx_head, head)) {
		ep->flags |= EP_ERROR;
		return true;
	}
	if (ep->rx_head->version < 11)
		h->flags |= H1C_FL_CLIENT_1_0;
	if (ep->rx_head->method == HTTP_METH_HEAD)
		h->flags |= H1C_FL_HEAD_REQ;
	if (h->settings->options & H1_CONN_PROXY_HEADER && head->target != H1_TARGET_ORIGIN &&
	    head->target != H1_TARGET_ASTERISK)
		h->flags |= H1C_FL_PROXY_NAME;
	if (request_is_kept(h, head) && !(head->flags & H1_FL_INSECURE_TE))
		h->flags |= H1C_FL_KEEP_RX;
	ep->rx_head_len = (uint32_t)head->length;
	ep->rx_bytes += head->length;
	ep->flags |= EP_RX_HEAD;
	h1_enter_body(h, head);
	return true;
}

/* Reports bytes that are no request and answers them; the connection then ends. */
static void h1_front_bad(struct h1_conn *h, struct h1_bad *bad)
{
	struct endpoint_bad details;
	struct slice page;

	h1_describe_bad(h, bad->kind == H1_BAD_TOO_LARGE ? SIZE_MAX : bad->offset, &details);
	bad->bytes = details.bytes;
	bad->details = &details;
	bad->since_ns = h->since_ns;
	page = h->user.front->bad_request(h->owner, bad);
	h->flags |= H1C_FL_CLOSE;
	h1_drop_partial(h);
	if (page.len && block_queue_add_copy(&h->out, page))
		h1_flush(h);
	h1_front_finish(h);
}

/* The head is refused. */
static void h1_head_error(struct h1_conn *h)
{
	struct h1_bad bad = { .kind = H1_BAD_SYNTAX, .status = h1_error_status(h->parser.error),
			      .text = h1_error_text(h->parser.error),
			      .offset = h->parser.error_offset };

	if (h->flags & H1C_FL_BACK)
		h1_back_bad(h, EP_RX_BAD, bad.text);
	else
		h1_front_bad(h, &bad);
}

/* Too long a head: no room is left for it. */
static void h1_head_too_large(struct h1_conn *h)
{
	struct h1_bad bad = { .kind = H1_BAD_TOO_LARGE, .status = 400, .text = "head too large" };

	if (h->flags & H1C_FL_BACK) {
		h1_back_bad(h, EP_RX_BAD, bad.text);
		return;
	}
	bad.status = h1_parser_in_start_line(&h->parser) ? 414 : 431;
	h1_front_bad(h, &bad);
}

/* Keeps an unfinished head's results beyond this call: the scratch fields are everybody's. */
static bool h1_save_partial(struct h1_conn *h, const struct h1_head *head)
{
	struct h1_partial *p = pool_alloc(partial_pool);

	if (!p)
		return false;
	p->head = *head;
	p->head.fields = p->fields;
	memcpy(p->fields, head->fields, head->field_capacity * sizeof(p->fields[0]));
	h->partial = p;
	return true;
}

/* A head cannot be kept. */
static void h1_no_memory(struct h1_conn *h)
{
	if (h->flags & H1C_FL_BACK)
		h1_back_bad(h, EP_RX_BAD, "out of memory");
	else
		h1_destroy(h);
}

/* Parses what is in <in>. True: a head was taken (or an end came); false: more bytes are needed. */
static bool h1_parse(struct h1_conn *h)
{
	struct slice bytes = slice_make(h->in->data + h->in_at, h->in->used - h->in_at);
	struct h1_head first, *head = h->partial ? &h->partial->head : &first;
	enum h1_status r;
	bool ok;

	if (!h->partial) {
		first.fields = scratch_fields;
		first.field_capacity = (uint16_t)scratch_count;
	}
	r = h1_parse_head(&h->parser, bytes, head);
	if (r == H1_MORE) {
		/* parsing again from the start is no way out: the bytes were edited in place */
		if (!h->partial && !h1_save_partial(h, head)) {
			h1_no_memory(h);
			return true;
		}
		if (bytes.len >= h->settings->head_max) {
			h1_head_too_large(h);
			return true;
		}
		return false;
	}
	if (r == H1_ERROR) {
		h1_head_error(h);
		return true;
	}
	if (h->flags & H1C_FL_BACK)
		ok = h1_response_head(h, head);
	else
		ok = h1_request_head(h, head);
	h->in_at += (uint32_t)head->length;
	h1_drop_partial(h);
	if (h->in_at == h->in->used)
		h1_drop_in(h);
	if (!ok)
		h1_no_memory(h);
	return true;
}

/* --- bodies ---------------------------------------------------------------------------------- */

static void h1_body_end(struct h1_conn *h)
{
	h1_set_rx(h, H1_RX_DONE);
	h->ep->flags |= EP_RX_END;
}

/* The trailer section must be contiguous: it is parsed when its end is in <in>. */
static bool h1_trailers(struct h1_conn *h)
{
	struct chunk_trailers t = { .fields = scratch_fields, .capacity = (uint16_t)scratch_count };
	struct http_msg *m = h->ep->rx_head;
	struct slice bytes;
	enum h1_status r;

	if (!h->in)
		return false;
	bytes = slice_make(h->in->data + h->in_at, h->in->used - h->in_at);
	r = chunk_parse_trailers(bytes, &t);
	if (r == H1_MORE && bytes.len < h->settings->head_max)
		return false;
	if (r != H1_DONE) {
		h1_back_bad(h, EP_RX_BAD, h1_error_text(r == H1_ERROR ? t.error : H1_ERR_TRAILER));
		h->ep->status = 400;
		return true;
	}
	if (t.count) {
		m->trailers.list = arena_alloc(m->arena, t.count * sizeof(*t.fields));
		if (m->trailers.list && http_msg_hold(m, h->in)) {
			memcpy(m->trailers.list, t.fields, t.count * sizeof(*t.fields));
			m->trailers.count = m->trailers.room = t.count;
		}
	}
	h->in_at += (uint32_t)t.used;
	h->ep->rx_bytes += t.used;
	h1_body_end(h);
	return true;
}

/* Takes payload runs out of chunked bytes in <in>. True: some were used, or the state moved. */
static bool h1_chunks(struct h1_conn *h)
{
	struct endpoint *ep = h->ep;
	bool used = false;

	while (h->in && h->in_at < h->in->used) {
		struct slice bytes = slice_make(h->in->data + h->in_at, h->in->used - h->in_at);
		struct chunk_step step;
		enum h1_status r = chunk_decode(&h->rx.chunk, bytes, &step);

		if (r == H1_ERROR) {
			h1_back_bad(h, EP_RX_BAD, h1_error_text(h->rx.chunk.error));
			ep->status = 400;
			return true;
		}
		if (step.payload &&
		    !block_queue_add(&ep->rx, h->in, bytes.ptr + step.used - step.payload,
				     step.payload)) {
			h1_back_bad(h, EP_RX_BAD, "out of memory");
			ep->status = 500;
			return true;
		}
		h->in_at += (uint32_t)step.used;
		ep->rx_bytes += step.used;
		used = true;
		if (r == H1_DONE) {
			h1_set_rx(h, H1_RX_TRAILERS);
			return true;
		}
	}
	return used;
}

/* Gives the first <max> bytes of <in> to the stream. */
static void h1_take_in(struct h1_conn *h, uint64_t max)
{
	size_t n = h->in->used - h->in_at;

	if (n > max)
		n = (size_t)max;
	if (!block_queue_add(&h->ep->rx, h->in, h->in->data + h->in_at, n)) {
		h1_back_bad(h, EP_RX_BAD, "out of memory");
		h->ep->status = 500;
		return;
	}
	h->in_at += (uint32_t)n;
	h->ep->rx_bytes += n;
	if (h->rx_state == H1_RX_LENGTH) {
		h->rx.left -= n;
		if (!h->rx.left)
			h1_body_end(h);
	}
}

/* Works on the bytes in <in>. True: something was used or moved. */
static bool h1_parse_body(struct h1_conn *h)
{
	bool moved = false;

	switch (h->rx_state) {
	default:
		return false;
	case H1_RX_LENGTH:
		h1_take_in(h, h->rx.left);
		moved = true;
		break;
	case H1_RX_CHUNKED:
		moved = h1_chunks(h);
		if (h->rx_state == H1_RX_TRAILERS)
			moved = h1_trailers(h) || moved;
		break;
	case H1_RX_TRAILERS:
		moved = h1_trailers(h);
		break;
	case H1_RX_CLOSE:
	case H1_RX_TUNNEL:
		h1_take_in(h, UINT64_MAX);
		moved = true;
		break;
	}
	if (h->in && h->in_at == h->in->used)
		h1_drop_in(h);
	return moved;
}

/* --- reading --------------------------------------------------------------------------------- */

/* Room for more bytes behind those in <in>, contiguous; a full block is copied to a new one. */
static bool h1_make_room(struct h1_conn *h)
{
	struct block *b;
	size_t n;

	if (!h->in) {
		h->in = block_new();
		h->in_at = 0;
		return h->in != NULL;
	}
	if (block_room(h->in))
		return true;
	n = h->in->used - h->in_at;
	b = block_new();
	if (!b)
		return false;
	if (n >= b->size) {
		block_drop(b);
		return false;
	}
	memcpy(b->data, h->in->data + h->in_at, n);
	b->used = (uint32_t)n;
	block_drop(h->in);
	h->in = b;
	h->in_at = 0;
	return true;
}

/* Copies received bytes that follow <in> to the room behind it: what is parsed is contiguous. */
static void h1_append_more(struct h1_conn *h)
{
	const struct piece *p = h->in_more.first;
	size_t n = block_room(h->in) < p->len ? block_room(h->in) : p->len;

	memcpy(h->in->data + h->in->used, p->ptr, n);
	h->in->used += (uint32_t)n;
	block_queue_skip(&h->in_more, n);
}

/* Receives into <in>, and behind it when the flow is fast: heads and chunked bodies. */
static enum io h1_recv_in(struct h1_conn *h)
{
	size_t got;
	enum io r;

	if (!h->in && h->conn->read_blocks > 1) {
		r = conn_recv(h->conn, &h->in_more, SIZE_MAX, &got);
		if (got)
			h1_drop_in(h);
		return r;
	}
	if (!h1_make_room(h))
		return IO_ERR;
	if (h->in_more.len) {
		h1_append_more(h);
		return IO_OK;
	}
	r = conn_recv_block(h->conn, h->in, &got);
	if (!got && h->in->used == h->in_at)
		h1_drop_in(h);
	return r;
}

/* Receives body bytes straight into the stream's queue, several blocks at once when the flow is
 * fast. What lies behind the announced length stays with us, in <in>.
 */
static enum io h1_recv_body(struct h1_conn *h)
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
	if (h->rx_state == H1_RX_LENGTH && got > h->rx.left) {
		extra = got - (size_t)h->rx.left;
		last = q.last;
		h->in = block_take(last->block);
		h->in_at = (uint32_t)(last->ptr + last->len - extra - h->in->data);
		got -= extra;
		if (!block_queue_move_len(&ep->rx, &q, got))
			r = IO_ERR;
		block_queue_clear(&q);
	} else {
		block_queue_move(&ep->rx, &q);
	}
	ep->rx_bytes += got;
	if (h->rx_state == H1_RX_LENGTH) {
		h->rx.left -= got;
		if (!h->rx.left)
			h1_body_end(h);
	}
	return r;
}

/* Moves body bytes from the socket into the stream's pipe. */
static enum io h1_recv_pipe(struct h1_conn *h)
{
	struct endpoint *ep = h->ep;
	size_t max = SPLICE_MAX, got;
	enum io r;

	if (h->rx_state == H1_RX_LENGTH && h->rx.left < max)
		max = (size_t)h->rx.left;
	r = conn_splice_in(h->conn, ep->rx_pipe, max, &got);
	ep->rx_bytes += got;
	if (h->rx_state == H1_RX_LENGTH) {
		h->rx.left -= got;
		if (!h->rx.left)
			h1_body_end(h);
	}
	return r;
}

/* A kept server connection without a stream said something, or ended. */
static void h1_back_idle_event(struct h1_conn *h)
{
	if (!(h->flags & H1C_FL_IDLE))
		return;
	h->flags &= ~H1C_FL_IDLE;
	h->user.back->idle_closed(h->owner, h);
	h1_destroy(h);
}

/* No more bytes will come. */
static void h1_eof(struct h1_conn *h, bool error)
{
	struct h1_bad bad = { .kind = error ? H1_BAD_ERROR : H1_BAD_ABORT, .status = 400,
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
		h1_back_bad(h, h1_has_in(h) ? EP_RX_BAD | EP_RX_ABORT : EP_RX_ABORT,
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
	case H1_RX_DRAIN:
		h1_destroy(h);
		return;
	default:
		h1_back_bad(h, EP_RX_ABORT, "connection closed");
	}
	h1_wake(h);
}

/* Is somebody there who wants bytes in this state ? */
static bool h1_wants_bytes(const struct h1_conn *h)
{
	switch (h->rx_state) {
	case H1_RX_IDLE:
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

/* First bytes of a request on a client's connection. */
static void h1_request_begins(struct h1_conn *h)
{
	uint8_t options = h->settings->options & H1_CONN_UNSAFE ? H1_OPT_UNSAFE : 0;

	h1_set_rx(h, H1_RX_HEAD);
	h1_parser_init(&h->parser, options);
	h->since_ns = clock_now_ns();
	if (h->settings->request_ms && !(h->flags & H1C_FL_FIRST))
		timer_set(&h->timer, clock_now_ms() + (uint64_t)h->settings->request_ms);
}

/* Parses what is there: a head, with the body bytes that came behind it, or body bytes. */
static bool h1_parse_any(struct h1_conn *h)
{
	if (h->rx_state != H1_RX_HEAD)
		return h1_parse_body(h);
	if (!h1_parse(h))
		return false;
	/* head and body go to the stream together, so that they leave together */
	while (!(h->flags & H1C_FL_DEAD) && h->ep && h1_has_in(h) && h1_parse_body(h))
		;
	return true;
}

/* May bytes follow those in <in>: received already, or in the socket? */
static bool h1_may_have_more(const struct h1_conn *h)
{
	return h->in_more.len || h->conn->flags & CONN_CAN_RECV;
}

/* One pass: uses the bytes there are, or gets some. IO_OK: go on. */
static enum io h1_read_step(struct h1_conn *h)
{
	bool head = h->rx_state == H1_RX_HEAD || h->rx_state == H1_RX_IDLE;
	enum io r;

	if (!h1_has_in(h)) {
		if (!(h->conn->flags & CONN_CAN_RECV))
			return IO_AGAIN;
		if (h->rx_state == H1_RX_IDLE && h->flags & H1C_FL_BACK) {
			h1_back_idle_event(h);
			return IO_AGAIN;
		}
		if (head || h->rx_state == H1_RX_CHUNKED || h->rx_state == H1_RX_TRAILERS)
			r = h1_recv_in(h);
		else if (h->ep->rx_pipe && h->ep->flags & EP_RX_SPLICE && !h->ep->rx.len)
			r = h1_recv_pipe(h);
		else
			return h1_recv_body(h);
		if (r != IO_OK || !h1_has_in(h))
			return r;
	}
	if (h->rx_state == H1_RX_IDLE)
		h1_request_begins(h);
	if (h1_parse_any(h))
		return IO_OK;
	/* incomplete: more bytes behind those that are there */
	if (!h1_may_have_more(h))
		return IO_AGAIN;
	r = h1_recv_in(h);
	if (r != IO_OK)
		return r;
	if (h1_parse_any(h))
		return IO_OK;
	return h1_may_have_more(h) ? IO_OK : IO_AGAIN;
}

static void h1_read(struct h1_conn *h)
{
	struct endpoint *ep;
	enum io r = IO_OK;

	for (int budget = READ_BUDGET; h1_wants_bytes(h) && !(h->flags & H1C_FL_DEAD); budget--) {
		if (!budget) {
			h1_resume_later(h);
			return;
		}
		r = h1_read_step(h);
		if (h->flags & H1C_FL_DEAD)
			return;
		if (r == IO_EOF || (r == IO_ERR)) {
			h1_eof(h, r == IO_ERR);
			return;
		}
		ep = h->ep;
		if (ep && (ep->flags & (EP_RX_HEAD | EP_RX_END | EP_RX_BAD | EP_RX_ABORT | EP_ERROR) ||
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

	if (!ep || ep->flags & EP_PEER_SHUT || h1_wants_bytes(h))
		return;
	if (h->conn->flags & CONN_ERROR)
		ep->flags |= EP_ERROR;
	ep->flags |= EP_PEER_SHUT;
	h1_wake(h);
}

/* Bytes, room, an end or an error: the one entry from below. */
static void h1_ready(struct conn *c)
{
	struct h1_conn *h = c->owner;
	bool outer = h1_enter(h);
	uint32_t was;

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
	else if (!(h->flags & H1C_FL_DEAD) && !(c->flags & CONN_CONNECTING))
		h1_read(h);
	if (!(h->flags & H1C_FL_DEAD) && c->flags & (CONN_RDHUP | CONN_ERROR))
		h1_notice_shut(h);
	h1_leave(h, outer);
}

/* --- endpoint -------------------------------------------------------------------------------- */

static void h1_ep_send(struct endpoint *ep)
{
	struct h1_conn *h = ep->mux;
	bool outer = h1_enter(h);

	h1_send_pending(h);
	h1_leave(h, outer);
}

static void h1_ep_resume(struct endpoint *ep)
{
	struct h1_conn *h = ep->mux;

	/* from inside our own wake the read loop goes on by itself */
	if (!(h->flags & H1C_FL_BUSY) && (h->conn->flags & CONN_CAN_RECV || h1_has_in(h)))
		h1_resume_later(h);
}

static struct conn *h1_ep_conn(struct endpoint *ep)
{
	return ((struct h1_conn *)ep->mux)->conn;
}

static bool h1_ep_preamble(struct endpoint *ep, struct slice bytes)
{
	return block_queue_add_copy(&((struct h1_conn *)ep->mux)->out, bytes);
}

/* Forgets the stream. */
static void h1_unlink_ep(struct h1_conn *h)
{
	h->ep->ops = NULL;
	h->ep->mux = NULL;
	h->ep = NULL;
}

static void h1_front_detach(struct endpoint *ep)
{
	struct h1_conn *h = ep->mux;
	bool whole = ep->flags & EP_TX_DONE && h->rx_state == H1_RX_DONE;
	uint64_t now = clock_now_ms();

	h1_unlink_ep(h);
	if (!whole || h->flags & (H1C_FL_CLOSE | H1C_FL_STOP) || h->conn->flags & CONN_ERROR) {
		if (!whole && !h->out.len && !(ep->flags & EP_TX_DONE) &&
		    h->tx_state != H1_TX_HEAD && h->tx_state != H1_TX_DONE)
			h->out.len ? (void)0 : h1_destroy(h); /* cut short: a plain close says so */
		else
			h1_front_finish(h);
		return;
	}
	h1_set_rx(h, H1_RX_IDLE);
	h1_set_tx(h, H1_TX_HEAD);
	h->since_ns = 0;
	if (h->settings->keep_alive_ms)
		timer_set(&h->timer, now + (uint64_t)h->settings->keep_alive_ms);
	if (h1_has_in(h) || h->conn->flags & CONN_CAN_RECV) {
		if (!(h->flags & H1C_FL_BUSY))
			h1_resume_later(h);
	}
}

static void h1_back_detach(struct endpoint *ep)
{
	struct h1_conn *h = ep->mux;
	bool keep = ep->flags & EP_TX_DONE && h->rx_state == H1_RX_DONE && !h1_has_in(h) &&
		    h->flags & H1C_FL_KEEP_RX && !(h->flags & H1C_FL_CLOSE) &&
		    !(h->conn->flags & (CONN_EOF | CONN_ERROR | CONN_RDHUP));

	h1_unlink_ep(h);
	if (keep) {
		h1_set_rx(h, H1_RX_IDLE);
		h1_set_tx(h, H1_TX_HEAD);
		h->conn->flags |= CONN_REUSED;
		h->flags |= H1C_FL_IDLE;
		if (h->user.back->idle_ready(h->owner, h))
			return;
		h->flags &= ~H1C_FL_IDLE;
	}
	h1_destroy(h);
}

const struct endpoint_ops h1_front_endpoint = {
	.name = "H1", .send = h1_ep_send, .resume = h1_ep_resume,
	.detach = h1_front_detach, .conn = h1_ep_conn,
	.preamble = h1_ep_preamble,
};

const struct endpoint_ops h1_back_endpoint = {
	.name = "H1", .send = h1_ep_send, .resume = h1_ep_resume,
	.detach = h1_back_detach, .conn = h1_ep_conn,
	.preamble = h1_ep_preamble,
};

/* --- front ----------------------------------------------------------------------------------- */

/* A head, a request or the rest of a refused one did not come in time. */
static void h1_front_timeout(struct timer *t)
{
	struct h1_conn *h = container_of(t, struct h1_conn, timer);
	struct h1_bad bad = { .kind = H1_BAD_TIMEOUT, .status = 408, .text = "request timeout" };
	bool outer = h1_enter(h);

	if (h->rx_state == H1_RX_HEAD || (h->rx_state == H1_RX_IDLE && h->flags & H1C_FL_FIRST)) {
		h1_front_bad(h, &bad);
	} else if (h->rx_state == H1_RX_IDLE || h->rx_state == H1_RX_DRAIN) {
		h1_destroy(h);
	}
	h1_leave(h, outer);
}

struct h1_conn *h1_front_new(struct conn *c, const struct h1_front_user *user, void *owner,
			     const struct h1_settings *settings)
{
	struct h1_conn *h = h1_new(c, owner, settings);
	int64_t wait = settings->request_ms ? settings->request_ms : settings->client_ms;

	if (!h)
		return NULL;
	h->user.front = user;
	h->flags = H1C_FL_FIRST;
	c->ops = &h1_front_conn_ops;
	timer_init(&h->timer, h1_front_timeout);
	if (wait)
		timer_set(&h->timer, clock_now_ms() + (uint64_t)wait);
	return h;
}

void h1_front_start(struct h1_conn *h)
{
	h1_ready(h->conn);
}

bool h1_front_is_idle(const struct h1_conn *h)
{
	return !h->ep && h->rx_state == H1_RX_IDLE && !h->out.len;
}

void h1_front_stop(struct h1_conn *h)
{
	h->flags |= H1C_FL_STOP;
	if (h1_front_is_idle(h) &&
	    !(h->flags & H1C_FL_FIRST || h->settings->options & H1_CONN_IDLE_CLOSE))
		h1_destroy(h);
}

/* --- back ------------------------------------------------------------------------------------ */

/* Gets ready for the answer to the request that <ep> will send. */
static void h1_back_begin(struct h1_conn *h, struct endpoint *ep)
{
	uint8_t options = H1_OPT_RESPONSE;

	if (h->settings->options & H1_CONN_UNSAFE)
		options |= H1_OPT_UNSAFE;
	if (ep->tx_head->method == HTTP_METH_HEAD)
		options |= H1_OPT_TO_HEAD;
	if (ep->tx_head->method == HTTP_METH_CONNECT)
		options |= H1_OPT_TO_CONNECT;
	ep->ops = &h1_back_endpoint;
	ep->mux = h;
	h->ep = ep;
	h->flags &= ~(H1C_FL_IDLE | H1C_FL_HEAD_SENT | H1C_FL_KEEP_RX);
	h1_set_rx(h, H1_RX_HEAD);
	h1_set_tx(h, H1_TX_HEAD);
	h1_parser_init(&h->parser, options);
	h->conn->flags &= ~CONN_SENT;
}

static void h1_back_timeout(struct timer *t)
{
}

struct h1_conn *h1_back_new(struct conn *c, struct endpoint *ep, const struct h1_back_user *user,
			    void *owner, const struct h1_settings *settings)
{
	struct h1_conn *h = h1_new(c, owner, settings);

	if (!h)
		return NULL;
	h->user.back = user;
	h->flags = H1C_FL_BACK;
	c->ops = &h1_back_conn_ops;
	timer_init(&h->timer, h1_back_timeout);
	h1_back_begin(h, ep);
	return h;
}

void h1_back_attach(struct h1_conn *h, struct endpoint *ep)
{
	h1_back_begin(h, ep);
	ep->flags |= EP_CONNECTED | EP_REUSED;
}

void h1_back_close(struct h1_conn *h)
{
	h->flags &= ~H1C_FL_IDLE;
	h1_destroy(h);
}

struct conn *h1_conn_conn(struct h1_conn *h)
{
	return h->conn;
}

void *h1_conn_owner(struct h1_conn *h)
{
	return h->owner;
}

bool h1_back_detach_thread(struct h1_conn *h)
{
	BUG_ON(h->ep);
	if (list_is_linked(&h->resume) || h->flags & H1C_FL_BUSY)
		return false;
	timer_cancel(&h->timer);
	conn_detach(h->conn);
	return true;
}

bool h1_back_attach_thread(struct h1_conn *h)
{
	return conn_attach(h->conn);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_head.c - the HTTP/1 mux: received heads, and their errors
 *
 * The parser's fields are in an array of the thread, for all connections; those of a head that
 * arrives in pieces are kept with the connection until the rest is there.
 */
#include <stdlib.h>
#include "codec/websocket.h"
#include "core/activity.h"
#include "core/pool.h"
#include "h1_priv.h"
#include "mux/h2.h"

/* Two kinds of length: other proxies on the way may not all understand them alike. */
static bool h1_framing_is_insecure(const struct h1_conn *h, const struct h1_head *head)
{
	bool lax = h->settings->options & MUX_OPT_LAX_FRAMING &&
		(head->major > 1 || head->minor >= 1);

	return head->flags & H1_FL_INSECURE_TE && !lax;
}

static struct pool *partial_pool;
static unsigned partial_fields;
__thread struct h1_field *h1_scratch_fields;
__thread unsigned h1_scratch_count;

bool h1_head_init(unsigned fields_max)
{
	partial_fields = fields_max;
	partial_pool = pool_new("h1_partial", sizeof(struct h1_partial) +
						      fields_max * sizeof(struct h1_field));
	return partial_pool != NULL;
}

bool h1_head_thread_init(void)
{
	h1_scratch_count = partial_fields;
	h1_scratch_fields = malloc(h1_scratch_count * sizeof(*h1_scratch_fields));
	return h1_scratch_fields != NULL;
}

void h1_thread_fini(void)
{
	free(h1_scratch_fields);
	h1_scratch_fields = NULL;
}

void h1_drop_partial(struct h1_conn *h)
{
	pool_free(partial_pool, h->partial);
	h->partial = NULL;
}


/* The lines of a tidy head can be sent as they are when what they say of the length is what will be
 * said of it: a response's is always told, a request's if it has a body.
 */
static void h1_note_lines(struct http_msg *m, const struct h1_head *head)
{
	const struct h1_field *last = &head->fields[head->field_count - 1];
	bool told = head->flags & H1_FL_CONTENT_LENGTH || !(m->flags & HTTP_MSG_RESPONSE);
	bool true_length = m->body == HTTP_BODY_LENGTH ||
			   (m->body == HTTP_BODY_NONE && !head->content_length);

	if (head->flags & H1_FL_UNTIDY || !head->field_count || !told || !true_length)
		return;
	m->lines.ptr = head->fields[0].name.ptr;
	m->lines.len = (size_t)(last->value.ptr + last->value.len - m->lines.ptr);
	m->line_count = head->field_count;
	m->flags |= HTTP_MSG_LINES;
}

_Static_assert((int)H1_METHOD_PATCH == (int)HTTP_METH_PATCH, "methods have the same numbers");

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
	if (!list || !http_msg_hold(m, h->in.block))
		return false;
	memcpy(list, head->fields, head->field_count * sizeof(*list));
	m->fields.list = list;
	m->fields.count = head->field_count;
	m->version = 9;
	if (head->version.len)
		m->version = (uint8_t)(head->major * 10 + (head->minor > 1 ? 1 : head->minor));
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
		m->method = head->method_id;
	}
	h1_note_lines(m, head);
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

/* --- oddities --------------------------------------------------------------------------------- */

/* Counts an oddity of the peer. */
static void h1_glitch(struct h1_conn *h)
{
	if (h->glitches < UINT16_MAX)
		h->glitches++;
	if (!(h->flags & H1C_FL_BACK) && h->user.front->glitch)
		h->user.front->glitch(h->owner);
}

/* Behind a head that is odd: are there as many oddities as so many quarters of the limit? */
static bool h1_is_odd(const struct h1_conn *h, const struct h1_head *head, unsigned quarters)
{
	const struct h2_tunes *t = h->settings->h2;
	uint64_t limit;

	if (likely(!(head->flags & H1_FL_VIOLATION)) || !t)
		return false;
	limit = (uint64_t)(h->flags & H1C_FL_BACK ? t->h1_be_glitches : t->h1_fe_glitches);
	return limit && h->glitches >= limit * quarters / 4 &&
	       100 - activity_idle_percent() >= (unsigned)t->kill_cpu_percent;
}

/* --- what is no message ----------------------------------------------------------------------- */

/* What is wrong with the bytes that are there, <at> their end at most. */
static void h1_describe_bad(const struct h1_conn *h, size_t at, struct endpoint_bad *bad)
{
	static const char *const states[] = {
#define X(s) [H1_RX_##s] = "MSG_" #s,
		H1_RX_STATES(X)
#undef X
	};

	bad->bytes = wire_in_bytes(&h->in);
	bad->at = at < bad->bytes.len ? at : bad->bytes.len;
	bad->state = states[h->rx_state];
	bad->state_number = h->rx_state;
	bad->conn_flags = h->flags;
}

/* What was accepted is told to the stream all the same: it is kept for `show errors`. */
static void h1_keep_violation(struct h1_conn *h, const struct h1_head *head)
{
	struct slice bytes = slice_sub(wire_in_bytes(&h->in), 0, head->length);
	struct endpoint_bad bad;

	h1_describe_bad(h, h1_violation_at(bytes, h->flags & H1C_FL_BACK), &bad);
	if (h->ep->user->bad)
		h->ep->user->bad(h->ep, &bad);
}

/* A response that is not valid, or breaks off: told to the stream. */
void h1_back_bad(struct h1_conn *h, unsigned flag, const char *text)
{
	H1_TRACE(ERROR, h, H1_EV(RX_DATA) | H1_EV(MSG_ERROR), "no valid response: %s", text);
	uint32_t at = h->rx_state == H1_RX_HEAD ? h->parser.error_offset : 0;
	struct endpoint_bad bad;

	h1_describe_bad(h, at, &bad);
	if (flag & EP_RX_BAD)
		h1_glitch(h);
	h->flags |= H1C_FL_CLOSE;
	h1_set_rx(h, H1_RX_END);
	if (!h->ep)
		return;
	h->ep->flags |= flag;
	h->ep->rx_error = text;
	h->ep->rx_bad_at = at;
	if (flag == EP_RX_BAD && h->ep->user->bad && bad.bytes.len)
		h->ep->user->bad(h->ep, &bad);
}

/* Does the answer prove that the server understood a handshake that we made for an HTTP/2 client?
 * Others are checked by their makers.
 */
static bool h1_accept_is_right(const struct h1_conn *h, const struct h1_head *head)
{
	const struct http_msg *m = h->ep->tx_head;
	const struct h1_field *key;
	char accept[WEBSOCKET_ACCEPT_LEN];

	if (m->version < 20 || !slice_eq_nocase(http_msg_upgrade(m), SLICE("websocket")))
		return true;
	key = http_field_find(&m->fields, FIELD_SEC_WEBSOCKET_KEY, SLICE("sec-websocket-key"));
	if (!key)
		return true;
	websocket_accept(key->value, accept);
	for (unsigned i = 0; i < head->field_count; i++)
		if (head->fields[i].id == FIELD_SEC_WEBSOCKET_ACCEPT)
			return slice_eq(head->fields[i].value,
					slice_make(accept, sizeof(accept)));
	return false;
}

/* A response head was received. */
static bool h1_response_head(struct h1_conn *h, const struct h1_head *head)
{
	struct endpoint *ep = h->ep;

	if (head->status == 101 && !(h->flags & H1C_FL_UPGRADE_REQ)) {
		h1_back_bad(h, EP_RX_BAD, "101 without a request for it");
		return true;
	}
	if (head->status == 101 && !(head->flags & H1_FL_UPGRADE)) {
		h1_back_bad(h, EP_RX_BAD, "101 without Connection: upgrade and Upgrade");
		return true;
	}
	if (head->status == 101 && !h1_accept_is_right(h, head)) {
		h1_back_bad(h, EP_RX_BAD, "101 with a wrong Sec-WebSocket-Accept");
		return true;
	}
	if (!h1_fill_head(h, ep->rx_head, head))
		return false;
	ep->rx_head_len = (uint32_t)head->length;
	ep->rx_bytes += http_msg_size(ep->rx_head);
	ep->flags |= EP_RX_HEAD | EP_RX_ANY;
	H1_TRACE(USER, h, H1_EV(RX_DATA) | H1_EV(RX_HEAD), "received a response, %u",
		 head->status);
	if (ep->rx_head->flags & HTTP_MSG_INTERIM) {
		/* another head follows; the stream takes this one first */
		h1_parser_init(&h->parser, h->parser.options);
		return true;
	}
	h->flags &= ~H1C_FL_KEEP_RX;
	/* a server that answers before it has the whole request may answer once more when it has,
	 * or take its rest for a request: no other stream gets this connection
	 */
	if (head->flags & H1_FL_KEEP_ALIVE && !h1_framing_is_insecure(h, head) &&
	    ep->flags & EP_TX_DONE && !h1_is_odd(h, head, 3))
		h->flags |= H1C_FL_KEEP_RX;
	h1_enter_body(h, head);
	return true;
}

/* Does the client mean to keep the connection? A client of a proxy may say so in a field of its
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

/* Does the client expect something before it sends the body, in whatever words? What is not ours to
 * understand may still keep it from sending.
 */
static bool request_expects(const struct h1_head *head)
{
	if (!(head->flags & H1_FL_UNTIDY) || head->body == H1_BODY_NONE)
		return false;
	for (unsigned i = 0; i < head->field_count; i++)
		if (head->fields[i].id == FIELD_EXPECT)
			return true;
	return false;
}

/* A request head was received: a stream is born. */
static bool h1_request_head(struct h1_conn *h, const struct h1_head *head)
{
	struct endpoint *ep = h->user.front->stream_new(h->owner, h->since_ns);

	if (!ep)
		return false;
	ep->ops = h->mux.kind->front_ops;
	ep->mux = h;
	h->ep = ep;
	timer_set(&h->timer, TIMER_NEVER);
	h->flags &= ~(H1C_FL_HEAD_REQ | H1C_FL_CLIENT_1_0 | H1C_FL_KEEP_RX | H1C_FL_FIRST |
		      H1C_FL_HEAD_SENT | H1C_FL_PROXY_NAME | H1C_FL_EXPECTS);
	h1_set_tx(h, H1_TX_HEAD);
	if (!h1_fill_head(h, ep->rx_head, head)) {
		ep->flags |= EP_ERROR;
		return true;
	}
	if (ep->rx_head->version < 11)
		h->flags |= H1C_FL_CLIENT_1_0;
	if (ep->rx_head->method == HTTP_METH_HEAD)
		h->flags |= H1C_FL_HEAD_REQ;
	if (h->settings->options & MUX_OPT_PROXY_HEADER && head->target != H1_TARGET_ORIGIN &&
	    head->target != H1_TARGET_ASTERISK)
		h->flags |= H1C_FL_PROXY_NAME;
	if (request_is_kept(h, head) && !h1_framing_is_insecure(h, head) && !h1_is_odd(h, head, 3))
		h->flags |= H1C_FL_KEEP_RX;
	if (request_expects(head))
		h->flags |= H1C_FL_EXPECTS;
	ep->rx_head_len = (uint32_t)head->length;
	ep->rx_bytes += http_msg_size(ep->rx_head);
	ep->flags |= EP_RX_HEAD;
	H1_TRACE(USER, h, H1_EV(RX_DATA) | H1_EV(RX_HEAD) | H1_EV(STREAM_NEW) | H1_EV(MSG_NEW),
		 "received a request");
	h1_enter_body(h, head);
	return true;
}

/* Reports bytes that are no request and answers them; the connection then ends. */
void h1_front_bad(struct h1_conn *h, struct front_bad *bad)
{
	if (bad->status)
		H1_TRACE(ERROR, h, H1_EV(RX_DATA) | H1_EV(MSG_ERROR), "no valid request: %s",
			 bad->text ? bad->text : "");
	struct slice page;

	h1_describe_bad(h, bad->kind == FRONT_BAD_TOO_LARGE ? SIZE_MAX : bad->details.at,
			&bad->details);
	bad->since_ns = h->since_ns;
	bad->version = 11;
	if (bad->kind == FRONT_BAD_SYNTAX || bad->kind == FRONT_BAD_TOO_LARGE)
		h1_glitch(h);
	page = h->user.front->bad_request(h->owner, bad);
	h->flags |= H1C_FL_CLOSE;
	h1_drop_partial(h);
	if (page.len && block_queue_add_copy(&h->out, page))
		h1_flush(h);
	h1_front_finish(h);
}

/* The head is refused. The preface of HTTP/2, where its owner does not take it, is a method that is
 * not allowed here, as HAProxy 3.4 has it.
 */
static void h1_head_error(struct h1_conn *h)
{
	bool preface = h1_match_preface(wire_in_bytes(&h->in)) == H1_DONE;
	struct front_bad bad = { .kind = FRONT_BAD_SYNTAX,
				 .status = preface ? 405 : h1_error_status(h->parser.error),
			      .text = h1_error_text(h->parser.error),
			      .details.at = h->parser.error_offset };

	if (h->flags & H1C_FL_BACK)
		h1_back_bad(h, EP_RX_BAD, bad.text);
	else
		h1_front_bad(h, &bad);
}

/* Too long a head: no room is left for it. */
static void h1_head_too_large(struct h1_conn *h)
{
	struct front_bad bad = { .kind = FRONT_BAD_TOO_LARGE, .status = 400,
				 .text = "head too large" };

	if (h->flags & H1C_FL_BACK) {
		h1_back_bad(h, EP_RX_BAD, bad.text);
		return;
	}
	bad.status = h1_parser_in_start_line(&h->parser) ? 414 : 431;
	h1_front_bad(h, &bad);
}

/* Keeps an unfinished head's results beyond this call: all connections share the scratch fields. */
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

/* Sends the answer of the owner, which needed no stream. Returns true. */
static bool h1_send_answer(struct h1_conn *h)
{
	if (!h1_flush(h)) {
		block_queue_clear(&h->out);
		h1_resume_later(h); /* to its end */
	}
	return true;
}

/* One glitch too many: the client's connection ends without an answer. True. */
static bool h1_front_kill(struct h1_conn *h)
{
	H1_TRACE(ERROR, h, H1_EV(RX_DATA) | H1_EV(MSG_ERROR), "too many glitches: %u", h->glitches);
	h->flags |= H1C_FL_CLOSE;
	h1_drop_partial(h);
	h1_front_finish(h);
	return true;
}

/* Parses what is in <in>. True: a head was taken (or an end came); false: more bytes are needed. */
bool h1_parse(struct h1_conn *h)
{
	struct slice bytes = wire_in_bytes(&h->in);
	struct h1_head first, *head = h->partial ? &h->partial->head : &first;
	bool answers = h->settings->options & MUX_OPT_ANSWERS, ok;
	enum h1_status r;

	if (unlikely(answers) && h1_answer_again(h, bytes))
		return h1_send_answer(h);
	if (!h->partial) {
		first.fields = h1_scratch_fields;
		first.field_capacity = (uint16_t)h1_scratch_count;
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
	/* also where it came in one piece */
	if (head->length > h->settings->head_max) {
		h1_head_too_large(h);
		return true;
	}
	if (unlikely(head->flags & H1_FL_VIOLATION))
		h1_glitch(h);
	if (h->flags & H1C_FL_BACK)
		ok = h1_response_head(h, head);
	else if (unlikely(h1_is_odd(h, head, 4)))
		return h1_front_kill(h);
	else if (unlikely(answers) && h1_answer(h, head))
		ok = h1_send_answer(h);
	else
		ok = h1_request_head(h, head);
	if (unlikely(head->flags & H1_FL_VIOLATION) && h->ep)
		h1_keep_violation(h, head);
	h->in.at += (uint32_t)head->length;
	h1_drop_partial(h);
	if (h->in.at == h->in.block->used)
		wire_in_drop(&h->in);
	if (!ok)
		h1_no_memory(h);
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reply_build.c - makes an answer of our own in a stream; sends nothing and knows no stage */
#include "stream/stream.h"
#include "http_proxy.h"

/* Forgets a response that was received: ours replaces it. */
static void reply_reset(struct stream *s)
{
	http_msg_fini(&s->res);
	http_msg_init(&s->res, &s->arena);
	s->res.flags = HTTP_MSG_RESPONSE;
	s->res.version = 11;
	s->res.version_text = SLICE("HTTP/1.1");
	s->res.body = HTTP_BODY_LENGTH;
	s->res.content_length = 0;
	block_queue_clear(&s->local.body);
	s->flags |= STRM_LOCAL_REPLY;
}

void stream_reply_begin(struct stream *s, unsigned status, struct slice reason)
{
	reply_reset(s);
	s->res.status = (uint16_t)status;
	s->res.reason = slice_is_none(reason) ? http_reason(status) : reason;
}

bool stream_reply_body(struct stream *s, struct slice body, bool copy)
{
	char digits[24];
	struct strbuf b;

	strbuf_init_fixed(&b, digits, sizeof(digits));
	strbuf_add_uint(&b, body.len);
	s->res.content_length = body.len;
	if (!http_msg_set_field(&s->res, SLICE("content-length"), strbuf_slice(&b)))
		return false;
	if (copy)
		return block_queue_add_copy(&s->local.body, body);
	return block_queue_add_static(&s->local.body, body);
}

/* An answer that `http-error` gives, made anew each time: the backend's, else the frontend's,
 * unless the backend has a page. False: there is none.
 */
static bool reply_made(struct stream *s, unsigned status, bool *sent)
{
	const struct reply *reply = http_proxy_reply(s->be, status);

	if (!reply && (s->be == s->fe || !http_page_custom(proxy_slots(s->be), status)))
		reply = http_proxy_reply(s->fe, status);
	if (!reply)
		return false;
	switch (reply_make(reply, s, stream_expr(s, EXPR_DIR_REQUEST | EXPR_FINAL))) {
	case REPLY_DONE:
		*sent = true;
		return true;
	case REPLY_SILENT:
		*sent = false;
		return true;
	default:
		return false;
	}
}

bool stream_reply_page(struct stream *s, unsigned status)
{
	const struct http_page *page;
	struct slice body;
	bool sent;

	if (reply_made(s, status, &sent))
		return sent;
	page = http_page_find(proxy_slots(s->be), proxy_slots(s->fe), status);
	reply_reset(s);
	if (!http_page_fill(page, &s->res, &body))
		return false;
	if (s->res.status != status)
		s->answer.asked = (uint16_t)status;
	return block_queue_add_static(&s->local.body, body);
}

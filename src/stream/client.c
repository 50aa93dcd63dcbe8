/* SPDX-License-Identifier: GPL-2.0-or-later */
/* client.c - the client of a stream: has it left, and answers before the final one */
#include "stream/filter.h"
#include "engine_priv.h"

/* A client that is gone, or will send no more and asked not to be waited for. */
bool stream_client_left(struct stream *s)
{
	if (s->front.flags & EP_ERROR)
		return true;
	if (!(s->flags & STRM_HTTP))
		return s->be->options & PROXY_OPT_ABORTONCLOSE && s->front.flags & EP_RX_END &&
		       !s->front.rx.len && !filters_held(s, FILTER_REQUEST);
	if (s->front.flags & EP_RX_ABORT)
		return true;
	return s->be->options & PROXY_OPT_ABORTONCLOSE && s->front.flags & EP_PEER_SHUT;
}

void stream_send_interim(struct stream *s, struct http_msg *m)
{
	s->front.tx_head = m;
	s->front.flags |= EP_TX_HEAD;
	s->front.ops->send(&s->front);
	s->front.flags &= ~EP_TX_HEAD;
	s->front.tx_head = &s->res;
}

/* Our permission for a client that waits with its body, instead of the server's. */
void stream_send_continue(struct stream *s)
{
	struct http_msg interim;

	if (!(s->req.flags & HTTP_MSG_EXPECT_CONTINUE) || s->req.body == HTTP_BODY_NONE ||
	    (s->req.body == HTTP_BODY_LENGTH && !s->req.content_length))
		return;
	s->req.flags &= ~HTTP_MSG_EXPECT_CONTINUE;
	http_msg_del_field(&s->req, SLICE("expect"));
	http_msg_init(&interim, &s->arena);
	interim.flags = HTTP_MSG_RESPONSE | HTTP_MSG_INTERIM;
	interim.status = 100;
	interim.reason = SLICE("Continue");
	stream_send_interim(s, &interim);
	http_msg_fini(&interim);
}

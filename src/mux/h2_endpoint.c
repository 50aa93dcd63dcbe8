/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_endpoint.c - the HTTP/2 mux: operations for streams */
#include "base/clock.h"
#include "h2_conn_priv.h"
#include "h2_out_priv.h"
#include "h2_side_priv.h"
#include "h2_stream_priv.h"
#include "trace_priv.h"

void h2_ep_send(struct endpoint *ep)
{
	struct h2_stream *s = ep->mux;
	struct h2_conn *h = s->conn;
	bool outer = h2_enter(h);

	H2S_TRACE(DEVELOPER, s, H2_EV(USER_SEND) | H2_EV(STREAM_SEND), "the stream sends");
	h2s_send(s);
	h2_leave(h, outer);
}

void h2_ep_resume(struct endpoint *ep)
{
	h2s_grant(ep->mux, false);
}

struct conn *h2_ep_conn(struct endpoint *ep)
{
	return ((struct h2_stream *)ep->mux)->conn->conn;
}

/* What tells the peer that its stream ends before it was whole. NO_ERROR with an answer that was
 * complete: the rest of the request is not wanted (RFC 9113 8.1).
 */
static enum h2_error reset_code(const struct h2_stream *s, uint32_t flags)
{
	if (flags & EP_TX_DONE)
		return H2_ERR_NO_ERROR;
	if (flags & EP_KILL)
		return H2_ERR_ENHANCE_YOUR_CALM;
	return s->flags & H2S_FL_HEAD_SENT ? H2_ERR_CANCEL : H2_ERR_REFUSED_STREAM;
}

static void h2_front_detach(struct endpoint *ep)
{
	struct h2_stream *s = ep->mux;
	struct h2_conn *h = s->conn;
	bool outer = h2_enter(h), kill = ep->flags & EP_KILL;

	H2S_TRACE(STATE, s, H2_EV(USER_END), "the stream leaves");
	ep->ops = NULL;
	ep->mux = NULL;
	if (h2s_is_cut_short(s))
		h2s_cut(s, reset_code(s, ep->flags));
	h2s_free(s);
	if (kill)
		h2c_kill(h);
	if (!h->stream_count) {
		h->idle.since_ms = clock_now_ms();
		h2c_arm(h);
	}
	h2c_check_end(h);
	h2_leave(h, outer);
}

static void h2_front_facts(const struct endpoint *ep, struct endpoint_facts *out)
{
	const struct h2_stream *s = ep->mux;
	const struct h2_conn *h = s->conn;

	*out = (struct endpoint_facts){
		.streams = h->stream_count - (s->state == H2S_CLOSED),
		.streams_limit = h->most.streams, .glitches = h->glitches,
		.id = s->id, .major = 2,
		.reset_code = s->flags & H2S_FL_PEER_RESET ? (int64_t)s->reset_code : -1,
	};
}

const struct endpoint_ops h2_front_endpoint = {
	.name = "H2", .send = h2_ep_send, .resume = h2_ep_resume, .detach = h2_front_detach,
	.conn = h2_ep_conn, .framed = true, .facts = h2_front_facts,
	.describe = h2_ep_describe,
};

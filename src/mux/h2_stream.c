/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_stream.c - the HTTP/2 mux: the streams of a connection, their states and windows
 *
 *              HEADERS              END_STREAM received
 *      IDLE ------------> OPEN -------------------------> HALF_REMOTE
 *                          |                                   |
 *                          | END_STREAM sent                   | END_STREAM sent
 *                          v                                   v
 *                      HALF_LOCAL ---- END_STREAM received --> CLOSED <-- RST_STREAM, anywhere
 *
 * A stream exists here as long as its endpoint is attached. What still arrives for a number that
 * is no more is told from mischief by a short memory of what we reset ourselves.
 */
#include "core/pool.h"
#include "h2_priv.h"
#include "trace_priv.h"

/* What a frame may have besides content: a client that pads needs a window for it. */
#define PADDING_MAX 256

static struct pool *stream_pool;

bool h2_stream_init(void)
{
	if (stream_pool)
		return true; /* another generation goes live */
	stream_pool = pool_new("h2s", sizeof(struct h2_stream));
	return stream_pool != NULL;
}

void h2s_set_state(struct h2_stream *s, enum h2s_state to)
{
	static const unsigned next[] = {
		[H2S_IDLE] = 1 << H2S_OPEN | 1 << H2S_HALF_REMOTE,
		[H2S_OPEN] = 1 << H2S_HALF_LOCAL | 1 << H2S_HALF_REMOTE | 1 << H2S_CLOSED,
		[H2S_HALF_LOCAL] = 1 << H2S_CLOSED,
		[H2S_HALF_REMOTE] = 1 << H2S_CLOSED,
		[H2S_CLOSED] = 1 << H2S_CLOSED,
	};

	BUG_ON(!(next[s->state] & 1u << to));
	H2S_TRACE(STATE, s, H2_EV(STREAM_WAKE), "the stream goes to state %u", (unsigned)to);
	s->state = (uint8_t)to;
	if (s->flags & H2S_FL_RECEIVING && to != H2S_OPEN && to != H2S_HALF_LOCAL) {
		s->flags &= (uint16_t)~H2S_FL_RECEIVING;
		s->conn->receiving--;
	}
}

struct h2_stream *h2s_new(struct h2_conn *h, uint32_t id)
{
	struct h2_stream *s = pool_zalloc(stream_pool);

	if (!s)
		return NULL;
	s->conn = h;
	s->id = id;
	s->left = UINT64_MAX;
	s->tx_window = h->peer_window;
	s->rx_window = h->settings_window;
	list_init(&s->sender);
	list_init(&s->late);
	if (id)
		tree_insert(&h->streams, &s->node, id);
	h->stream_count++;
	h->streams_total++;
	h2_count(h, FRONT_COUNT_STREAMS);
	h2_count(h, FRONT_COUNT_STREAMS_TOTAL);
	return s;
}

struct h2_stream *h2s_find(struct h2_conn *h, uint32_t id)
{
	struct tree_node *n = tree_find(&h->streams, id);

	return n ? list_entry(n, struct h2_stream, node) : NULL;
}

void h2s_free(struct h2_stream *s)
{
	struct h2_conn *h = s->conn;

	if (s->flags & H2S_FL_RECEIVING)
		h->receiving--;
	list_remove(&s->late);
	if (h->data == s)
		h->data = NULL;
	list_remove(&s->sender);
	if (s->id)
		tree_remove(&h->streams, &s->node);
	block_queue_clear(&s->early);
	h->stream_count--;
	h->counts[FRONT_COUNT_STREAMS]--;
	pool_free(stream_pool, s);
}

void h2s_ended_remote(struct h2_stream *s)
{
	h2s_set_state(s, s->state == H2S_OPEN ? H2S_HALF_REMOTE : H2S_CLOSED);
	if (s->flags & H2S_FL_EARLY)
		s->flags |= H2S_FL_EARLY_END;
	else
		s->ep->flags |= EP_RX_END;
}

void h2s_ended_local(struct h2_stream *s)
{
	h2s_set_state(s, s->state == H2S_OPEN ? H2S_HALF_LOCAL : H2S_CLOSED);
}

bool h2c_was_reset(const struct h2_conn *h, uint32_t id)
{
	for (unsigned i = 0; i < 4; i++)
		if (h->reset[i] == id)
			return true;
	return false;
}

void h2c_forget_reset(struct h2_conn *h, uint32_t id)
{
	for (unsigned i = 0; i < 4; i++)
		if (h->reset[i] == id)
			h->reset[i] = 0;
}

void h2c_reset(struct h2_conn *h, uint32_t id, enum h2_error code)
{
	char frame[H2_RST_STREAM_LEN];

	h2_put_rst_stream(frame, id, code);
	h2_count(h, FRONT_COUNT_RESETS_SENT);
	h2_out_control(h, frame, sizeof(frame));
	h->reset[h->reset_at++ % 4] = id;
}

void h2s_error(struct h2_stream *s, enum h2_error code, const char *text)
{
	struct h2_conn *h = s->conn;
	uint32_t id = s->id;

	if (s->flags & H2S_FL_RESET)
		return;
	H2S_TRACE(ERROR, s, H2_EV(STREAM_ERROR) | H2_EV(TX_RESET), "the stream fails, %s: %s",
		  h2_error_name(code), text ? text : "");
	s->flags |= H2S_FL_RESET;
	s->reset_code = code;
	h2_count(h, FRONT_COUNT_STREAM_ERRORS);
	h2c_reset(h, id, code);
	h2s_set_state(s, H2S_CLOSED);
	s->ep->rx_error = text;
	s->ep->flags |= EP_ERROR | EP_RX_ABORT;
	h2c_glitch(h, text);
	/* a glitch too many has told all streams, and may have ended this one */
	s = h2s_find(h, id);
	if (s)
		h2s_wake(s);
}

/* --- windows ---------------------------------------------------------------------------------- */

/* What a stream's window should be: the announced one, and its share of the common room. */
static int64_t window_target(const struct h2_conn *h)
{
	int64_t size = (int64_t)block_size();
	int64_t blocks = ((int64_t)h->limits->rxbuf + size - 1) / size - h->stream_count;
	int64_t share = 0;

	if (blocks > 0)
		share = blocks * 7 / 8 / (h->receiving ? h->receiving : 1) * size;
	share += h->settings_window;
	return share < H2_WINDOW_MAX ? share : H2_WINDOW_MAX;
}

void h2s_grant(struct h2_stream *s, bool now)
{
	struct h2_conn *h = s->conn;
	int64_t target = window_target(h);
	char frame[H2_WINDOW_UPDATE_LEN];

	if (!(s->flags & H2S_FL_RECEIVING) || s->flags & H2S_FL_EARLY ||
	    s->ep->flags & EP_RX_BLOCKED)
		return;
	/* all that is announced may come already, with padding */
	if (s->left != UINT64_MAX && s->rx_window >= 0 &&
	    (uint64_t)s->rx_window >= s->left + PADDING_MAX)
		return;
	if (s->rx_window >= (now ? target : target / 2))
		return;
	h2_put_window_update(frame, s->id, (uint32_t)(target - s->rx_window));
	s->rx_window = target;
	h2_out_control(h, frame, sizeof(frame));
}

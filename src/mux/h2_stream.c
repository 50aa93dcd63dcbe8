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
 * A stream exists here as long as its endpoint is attached. Frames that still arrive for a closed
 * number are handled by h2_cut.c.
 */
#include "core/pool.h"
#include "h2_conn_priv.h"
#include "h2_in_priv.h"
#include "h2_out_priv.h"
#include "h2_stream_priv.h"
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

void h2s_receiving(struct h2_stream *s)
{
	s->flags |= H2S_FL_RECEIVING;
	s->conn->receiving++;
}

/* Its part of the common room is for others. */
static void receives_no_more(struct h2_stream *s)
{
	if (!(s->flags & H2S_FL_RECEIVING))
		return;
	s->flags &= (uint16_t)~H2S_FL_RECEIVING;
	s->conn->receiving--;
	s->conn->room_given -= s->room;
	s->room = 0;
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
	if (to != H2S_OPEN && to != H2S_HALF_LOCAL)
		receives_no_more(s);
}

struct h2_stream *h2s_new(struct h2_conn *h, uint32_t id)
{
	struct h2_stream *s = pool_zalloc(stream_pool);

	if (!s)
		return NULL;
	s->conn = h;
	s->id = id;
	s->left = UINT64_MAX;
	s->tx_window = h->peer.window;
	s->rx_window = h->stream_window;
	list_init(&s->sender);
	list_init(&s->late);
	if (id)
		tree_insert(&h->streams, &s->node, id);
	h->stream_count++;
	h->streams_total++;
	h2_count(h, H2_CNT_STREAMS);
	h2_count(h, H2_CNT_STREAMS_TOTAL);
	H2S_TRACE(STATE, s, H2_EV(STREAM_NEW), "a stream begins");
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

	H2S_TRACE(STATE, s, H2_EV(STREAM_END), "the stream ends");
	receives_no_more(s);
	list_remove(&s->late);
	if (h->rx.stream == s)
		h->rx.stream = NULL;
	list_remove(&s->sender);
	if (s->id)
		tree_remove(&h->streams, &s->node);
	block_queue_clear(&s->early);
	h->stream_count--;
	h2_uncount(h, H2_CNT_STREAMS);
	pool_free(stream_pool, s);
}

void h2s_wake(struct h2_stream *s)
{
	H2S_TRACE(DEVELOPER, s, H2_EV(USER_WAKE), "waking the stream");
	list_remove(&s->late);
	s->ep->user->wake(s->ep);
}

void h2s_ended_remote(struct h2_stream *s)
{
	H2S_TRACE(PROTO, s, H2_EV(RX_EOI), "the peer's message is complete");
	h2s_set_state(s, s->state == H2S_OPEN ? H2S_HALF_REMOTE : H2S_CLOSED);
	if (s->flags & H2S_FL_EARLY)
		s->flags |= H2S_FL_EARLY_END;
	else
		s->ep->flags |= EP_RX_END;
}

void h2s_ended_local(struct h2_stream *s)
{
	H2S_TRACE(PROTO, s, H2_EV(TX_EOI), "our message is complete");
	h2s_set_state(s, s->state == H2S_OPEN ? H2S_HALF_LOCAL : H2S_CLOSED);
}

void h2c_cancel(struct h2_conn *h, uint32_t id, enum h2_error code)
{
	char frame[H2_RST_STREAM_LEN];

	H2C_TRACE(PROTO, h, H2_EV(TX_FRAME) | H2_EV(TX_RESET) | H2_EV(TX_EOI),
		  "sending RST_STREAM %s on stream %u", h2_error_name(code), id);
	h2_put_rst_stream(frame, id, code);
	h2_out_control(h, frame, sizeof(frame));
	h2c_note_cut(h, id);
}

void h2c_reset(struct h2_conn *h, uint32_t id, enum h2_error code)
{
	h2_count(h, H2_CNT_RESETS_SENT);
	h2c_cancel(h, id, code);
}

bool h2s_is_cut_short(const struct h2_stream *s)
{
	if (!s->id || s->state == H2S_CLOSED || s->flags & H2S_FL_RESET ||
	    s->conn->flags & H2C_FL_BROKEN)
		return false;
	H2S_TRACE(STATE, s, H2_EV(USER_SHUT), "the stream leaves before its end");
	return true;
}

void h2s_fail(struct h2_stream *s, enum h2_error code, const char *text)
{
	struct h2_conn *h = s->conn;
	uint32_t id = s->id;

	if (s->flags & H2S_FL_RESET)
		return;
	H2S_TRACE(ERROR, s, H2_EV(STREAM_ERROR) | H2_EV(USER_ERROR), "the stream fails, %s: %s",
		  h2_error_name(code), text ? text : "");
	s->flags |= H2S_FL_RESET;
	s->reset_code = code;
	h2_count(h, H2_CNT_STREAM_ERRORS);
	h2c_reset(h, id, code);
	h2s_set_state(s, H2S_CLOSED);
	s->ep->rx_error = text;
	s->ep->flags |= EP_ERROR | EP_RX_ABORT;
	h2c_note_glitch(h, text);
	/* a glitch too many has told all streams, and may have ended this one */
	s = h2s_find(h, id);
	if (!s)
		return;
	h2_turn_work(h, H2_WORK_WAKE);
	h2s_wake(s);
}

/* --- windows ---------------------------------------------------------------------------------- */

void h2c_open_window(struct h2_conn *h)
{
	char frame[H2_WINDOW_UPDATE_LEN];

	if (h->flags & H2C_FL_WINDOW_OPENED && h->window.rx > H2_WINDOW_MAX / 2)
		return;
	h->flags |= H2C_FL_WINDOW_OPENED;
	H2C_TRACE(PROTO, h, H2_EV(TX_FRAME) | H2_EV(TX_WINDOW), "opening the connection's window");
	h2_put_window_update(frame, 0, (uint32_t)(H2_WINDOW_MAX - h->window.rx));
	h->window.rx = H2_WINDOW_MAX;
	h2_out_control(h, frame, sizeof(frame));
}

/* The common room: what of <rxbuf> is not reserved, a block for each stream. */
static int64_t room_of(const struct h2_conn *h)
{
	int64_t size = (int64_t)block_size();
	int64_t blocks = ((int64_t)h->limits->rxbuf + size - 1) / size - h->stream_count;
	int64_t room = blocks > 0 ? blocks * 7 / 8 * size : 0;

	return room < H2_WINDOW_MAX ? room : H2_WINDOW_MAX;
}

/* The equal part of it, in whole blocks. */
static int64_t room_share(const struct h2_conn *h)
{
	int64_t size = (int64_t)block_size();

	return room_of(h) / size / (h->receiving ? h->receiving : 1) * size;
}

/* What a stream has besides the common room. */
static int64_t window_least(const struct h2_conn *h)
{
	return h->stream_window > block_size() ? h->stream_window : (int64_t)block_size();
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The part of the common room that a stream gets next, at most an equal share of it. Where a body
 * <begins> it gets half of what others have left, an eighth if its length is not known: it may be
 * one that stays open for hours. Besides, the window grows fourfold each time that half of it was
 * taken.
 */
static int64_t next_room(const struct h2_stream *s, bool begins)
{
	const struct h2_conn *h = s->conn;
	int64_t least = window_least(h), left = room_of(h) - (int64_t)h->room_given + s->room;
	int64_t room = smaller((least + s->room) * 4 - least, left);

	if (begins)
		room = left / (s->left == UINT64_MAX ? 8 : 2);
	room = smaller(room, room_share(h));
	if (room < 0)
		return 0;
	return smaller(room, H2_WINDOW_MAX - least);
}

static void set_room(struct h2_stream *s, int64_t room)
{
	s->conn->room_given = s->conn->room_given - s->room + (uint32_t)room;
	s->room = (uint32_t)room;
	s->used = 0;
}

/* Is it time to grant again the <used> bytes of a window? A burst as large as the window must not
 * be followed by a silence: what is left to grant then is what the peer may send in a round trip.
 * And some peers wait until a whole frame may go.
 */
static bool is_worth_a_frame(const struct h2_stream *s, int64_t window, int64_t used)
{
	int64_t few = window / 8, block = (int64_t)block_size();

	return used > 0 && (used >= (few > block ? few : block) ||
			    s->rx_window < s->conn->tunes->frame_size);
}

void h2s_limit(struct h2_stream *s)
{
	int64_t share = room_share(s->conn);

	if (s->flags & H2S_FL_RECEIVING)
		s->ep->rx_high = (uint32_t)(share ? share : (int64_t)block_size());
}

void h2s_expect_body(struct h2_stream *s)
{
	if (!(s->flags & H2S_FL_CONNECT) &&
	    (s->left > INT64_MAX || (int64_t)s->left > s->rx_window))
		s->flags |= H2S_FL_BODY_DUE;
}

void h2s_grant(struct h2_stream *s, bool now)
{
	struct h2_conn *h = s->conn;
	int64_t window = window_least(h) + s->room, used = window - s->rx_window, more;
	char frame[H2_WINDOW_UPDATE_LEN];

	if (!(s->flags & H2S_FL_RECEIVING) || s->flags & H2S_FL_EARLY)
		return;
	if (s->ep->flags & EP_RX_BLOCKED) {
		H2S_TRACE(DEVELOPER, s, H2_EV(USER_FULL), "no window: the stream takes no more");
		return;
	}
	/* all that is announced may come already, with padding */
	if (s->left != UINT64_MAX && s->rx_window >= 0 &&
	    (uint64_t)s->rx_window >= s->left + PADDING_MAX)
		return;
	if (!now && !is_worth_a_frame(s, window, used))
		return;
	s->used += (uint32_t)used;
	if (now || s->used >= window / 2)
		set_room(s, next_room(s, now));
	more = window_least(h) + s->room - s->rx_window;
	if (more <= 0)
		return;
	if (now)
		h2c_open_window(h);
	H2S_TRACE(PROTO, s, H2_EV(TX_FRAME) | H2_EV(TX_WINDOW), "giving %u bytes of window",
		  (unsigned)more);
	h2_put_window_update(frame, s->id, (uint32_t)more);
	s->rx_window += more;
	h2_out_control(h, frame, sizeof(frame));
}

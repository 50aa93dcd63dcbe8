/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streams of HTTP/2 connections: windows that are given, states, what was reset lately. */
#include <string.h>
#include "h2_conn_priv.h"
#include "h2_in_priv.h"
#include "h2_out_priv.h"
#include "h2_side_priv.h"
#include "h2_stream_priv.h"
#include "tap.h"

#define BLOCK 16384

static struct h2_tunes tunes;
static struct mux_settings settings;
static struct endpoint endpoints[4];
static const struct h2_side side = { .is_back = false };

static void no_flush(struct list *link)
{
}

static void wake(struct endpoint *ep)
{
}

static const struct front_user front = { .glitch = NULL };
static const struct endpoint_user user = { .wake = wake };

static void setup(struct h2_conn *h, int window, uint64_t room)
{
	memset(h, 0, sizeof(*h));
	tunes.fe.window = window;
	tunes.frame_size = BLOCK;
	tunes.fe.rxbuf = room;
	h->tunes = &tunes;
	h->limits = &tunes.fe;
	h->settings = &settings;
	h->side = &side;
	h->user.front = &front;
	h->state = H2C_OPEN;
	h->stream_window = (uint32_t)window;
	h->peer.window = H2_WINDOW_DEFAULT;
	list_init(&h->senders);
	list_init(&h->late);
	list_init(&h->flush);
	list_init(&h->turn);
}

/* Takes it off the thread's lists. */
static void teardown(struct h2_conn *h)
{
	list_remove(&h->flush);
	list_remove(&h->turn);
	block_queue_clear(&h->out);
}

/* A stream whose body may come. */
static struct h2_stream *receiver(struct h2_conn *h, uint32_t id)
{
	struct h2_stream *s = h2s_new(h, id);

	s->ep = &endpoints[id / 2];
	memset(s->ep, 0, sizeof(*s->ep));
	s->ep->user = &user;
	h2s_set_state(s, H2S_OPEN);
	h2s_receiving(s);
	return s;
}

/* The last WINDOW_UPDATE in the queue: its increment, 0: none. Empties the queue. */
static uint32_t granted(struct h2_conn *h)
{
	char frame[H2_WINDOW_UPDATE_LEN];
	uint32_t n = 0;

	if (h->out.len >= sizeof(frame)) {
		block_queue_peek(&h->out, h->out.len - sizeof(frame), frame, sizeof(frame));
		if (h2_frame_parse(frame).type == H2_FT_WINDOW_UPDATE)
			n = h2_get_u31(frame + H2_FRAME_HEADER_LEN);
	}
	block_queue_clear(&h->out);
	return n;
}

/* The peer sends all that it may, and <s> takes it. Returns what it is granted. */
static uint32_t use_up(struct h2_stream *s)
{
	s->rx_window = 0;
	h2s_grant(s, false);
	return granted(s->conn);
}

/* The windows of one stream of a connection. */
static void one_window(struct h2_conn *h, struct h2_stream *a)
{
	h2s_grant(a, false);
	is_int(granted(h), 0, "an unused window is large enough");
	a->rx_window -= BLOCK / 4;
	h2s_grant(a, false);
	is_int(granted(h), BLOCK / 4, "there is always room for the largest frame");
	a->rx_window -= BLOCK / 4;
	h2s_grant(a, false);
	is_int(granted(h), 3 * BLOCK + BLOCK / 4, "who took half of it gets four times as much");
	a->rx_window -= BLOCK - 1;
	h2s_grant(a, false);
	is_int(granted(h), 0, "less than a block is not worth a frame then");
	a->rx_window--;
	h2s_grant(a, false);
	is_int(granted(h), BLOCK, "a block is worth a frame");
	a->rx_window -= BLOCK;
	h2s_grant(a, false);
	is_int(granted(h), 13 * BLOCK, "the second is half of the window");
	a->rx_window -= BLOCK;
	h2s_grant(a, false);
	is_int(granted(h), 0, "an eighth of a large one is");
	is_int(use_up(a), 57 * BLOCK, "until the common room is used");
	is_int(h->room_given, 56 * BLOCK, "which is counted");
	is_int(use_up(a), 57 * BLOCK, "not beyond");

	a->rx_window = 0;
	a->ep->flags |= EP_RX_BLOCKED;
	h2s_grant(a, false);
	is_int(granted(h), 0, "nothing for who does not take it");
	a->ep->flags = 0;
	a->left = 100;
	a->rx_window = 1000;
	h2s_grant(a, false);
	is_int(granted(h), 0, "nothing beyond what is announced");
	a->rx_window = 101;
	h2s_grant(a, false);
	ok(granted(h) > 0, "but room for its padding");
}

/* A second stream shares the room of the first. */
static void shared_windows(struct h2_conn *h, struct h2_stream *a)
{
	struct h2_stream *b;

	b = receiver(h, 3);
	b->left = 1000 * BLOCK;
	h2s_grant(b, true);
	is_int(b->rx_window, BLOCK, "what another was given cannot be given again");
	is_int(use_up(a), 28 * BLOCK, "two share: 7/8 of 63 blocks, in equal parts");
	is_int(h->room_given, 27 * BLOCK, "the rest is free");
	h2s_grant(b, true);
	is_int(b->rx_window, BLOCK + 14 * BLOCK, "the other gets half of it when it may use it");
	granted(h);
	use_up(b);
	is_int(h->room_given, 54 * BLOCK, "and all of its part when it did");
	h2s_limit(b);
	is_int(b->ep->rx_high, 27 * BLOCK, "as much may be unsent");
	h2s_ended_remote(a);
	is_int(h->receiving, 1, "a body that has ended shares no longer");
	is_int(h->room_given, 27 * BLOCK, "and gives its part back");
	h2s_free(a);
	h2s_free(b);
	is_int(h->stream_count + h->receiving + h->room_given, 0, "none is left");
}

static void windows(void)
{
	struct h2_stream *a;
	struct h2_conn h;

	setup(&h, BLOCK, 65 * BLOCK); /* a stream has one for itself, 7/8 of the rest is common */
	a = receiver(&h, 1);
	one_window(&h, a);
	shared_windows(&h, a);
	a = receiver(&h, 1);
	h2s_expect_body(a);
	ok(a->flags & H2S_FL_BODY_DUE, "a body of unknown length gets a window before it comes");
	h2s_grant(a, true);
	is_int(a->rx_window, BLOCK + 7 * BLOCK, "an eighth of what is left");
	granted(&h);
	h2s_free(a);
	a = receiver(&h, 1);
	a->left = BLOCK;
	h2s_expect_body(a);
	ok(!(a->flags & H2S_FL_BODY_DUE), "none is needed for one that fits");
	h2s_free(a);
	teardown(&h); /* setup() would clear a link that the thread's list still holds */

	setup(&h, 0, 0);
	a = receiver(&h, 1);
	h2s_grant(a, true);
	is_int(a->rx_window, BLOCK, "a block is for each stream, whatever is announced");
	granted(&h);
	h2s_limit(a);
	is_int(a->ep->rx_high, BLOCK, "and may be unsent");
	h2s_free(a);
	teardown(&h);
}

/* Of <n> DATA frames of 16000 bytes, how many are taken? */
static unsigned taken(struct h2_stream *s, unsigned n)
{
	struct h2_conn *h = s->conn;

	h->window.rx = H2_WINDOW_MAX;
	for (unsigned i = 0; i < n; i++) {
		h->rx.frame = (struct h2_frame){ .length = 16000, .type = H2_FT_DATA,
						 .stream = s->id };
		h2_data_begin(h);
		h->rx.stream = NULL;
		if (s->flags & H2S_FL_RESET)
			return i;
	}
	return n;
}

/* The announced window counts from the acknowledgement on. */
static void unknown_window(void)
{
	struct h2_stream *s;
	struct h2_conn h;

	setup(&h, BLOCK, 0);
	h.last_stream = 5;
	s = receiver(&h, 1);
	is_int(taken(s, 6), 4, "before it 65535 bytes may come");
	h2s_free(s);
	s = receiver(&h, 3);
	is_int(taken(s, 2), 2, "some of them came");
	h.flags |= H2C_FL_ACKED;
	is_int(taken(s, 2), 0, "behind it the window is below zero");
	h2s_free(s);
	s = receiver(&h, 5);
	is_int(taken(s, 2), 1, "and a new stream has the announced one");
	h2s_free(s);
	teardown(&h);

	setup(&h, 70000, 0);
	h.last_stream = 1;
	s = receiver(&h, 1);
	is_int(taken(s, 6), 4, "a larger one counts at all times");
	h2s_free(s);
	teardown(&h);
}

static void states(void)
{
	struct h2_stream *s;
	struct h2_conn h;

	setup(&h, BLOCK, 0);
	s = receiver(&h, 1);
	h2s_ended_local(s);
	is_int(s->state, H2S_HALF_LOCAL, "our end first");
	h2s_ended_remote(s);
	is_int(s->state, H2S_CLOSED, "then the peer's");
	ok(s->ep->flags & EP_RX_END, "the user is told");
	ok(h2s_find(&h, 1) == s && !h2s_find(&h, 3), "found by its number");
	h2s_free(s);

	s = receiver(&h, 5);
	s->flags |= H2S_FL_EARLY;
	h2s_ended_remote(s);
	ok(!(s->ep->flags & EP_RX_END) && s->flags & H2S_FL_EARLY_END,
	   "an end before the tunnel stands waits");
	h2s_free(s);
	for (uint32_t id = 11; id < 21; id += 2)
		h2c_reset(&h, id, H2_ERR_CANCEL);
	ok(h2c_was_cut(&h, 19) && h2c_was_cut(&h, 13), "the last four resets are known");
	ok(!h2c_was_cut(&h, 11), "older ones are not");
	is_int(h.control.bytes, 5 * H2_RST_STREAM_LEN, "answers are counted");
	teardown(&h);
}

/* What is left of a request whose answer was complete: how many resets does it bring? */
static unsigned cut(uint64_t announced, enum h2_error code, size_t first, size_t second, bool end)
{
	struct h2_conn h;
	struct h2_stream *s;
	unsigned before;

	setup(&h, BLOCK, 0);
	s = receiver(&h, 1);
	s->left = announced;
	h2s_cut(s, code);
	h2s_free(s);
	before = h.control.bytes;
	h2c_cut_data(&h, 1, first, false);
	h2c_cut_data(&h, 1, second, end);
	before = (h.control.bytes - before) / H2_RST_STREAM_LEN;
	teardown(&h);
	return before;
}

static void cuts(void)
{
	struct h2_conn h;
	struct h2_stream *s;

	is_int(cut(10, H2_ERR_NO_ERROR, 4, 6, true), 0, "as announced");
	is_int(cut(10, H2_ERR_NO_ERROR, 4, 7, false), 1, "more than announced");
	is_int(cut(10, H2_ERR_NO_ERROR, 11, 11, true), 1, "once is enough");
	is_int(cut(10, H2_ERR_NO_ERROR, 4, 5, true), 1, "less than announced");
	is_int(cut(UINT64_MAX, H2_ERR_NO_ERROR, 4, 5, true), 0, "nothing announced");
	is_int(cut(1ull << 40, H2_ERR_NO_ERROR, 4, 5, true), 0, "too much to be counted");
	is_int(cut(10, H2_ERR_CANCEL, 40, 5, true), 0, "a stream that was broken off");

	setup(&h, BLOCK, 0);
	for (uint32_t id = 1; id < 7; id += 2) {
		s = receiver(&h, id);
		s->left = id == 3 ? 1 : UINT64_MAX;
		h2s_cut(s, H2_ERR_NO_ERROR);
		h2s_free(s);
	}
	h2c_cut_trailers(&h, 1, true);
	is_int(h.control.bytes, 3 * H2_RST_STREAM_LEN, "trailers are fine");
	ok(!h2c_was_cut(&h, 1), "nothing follows them");
	h2c_cut_trailers(&h, 3, true);
	h2c_cut_trailers(&h, 5, false);
	is_int(h.control.bytes, 5 * H2_RST_STREAM_LEN, "but not amid a body, nor bad ones");
	h2c_forget_cut(&h, 5);
	ok(!h2c_was_cut(&h, 5) && h2c_was_cut(&h, 3), "reset by the peer, too");
	teardown(&h);
}

int main(void)
{
	if (!h2_stream_init() || !h2_out_thread_init(no_flush))
		return 1;
	windows();
	unknown_window();
	states();
	cuts();
	h2_out_thread_fini();
	return done_testing();
}

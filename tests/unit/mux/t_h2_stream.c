/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streams of HTTP/2 connections: windows that are given, states, what was reset lately. */
#include <string.h>
#include "h2_priv.h"
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

static const struct endpoint_user user = { .wake = wake };

static void setup(struct h2_conn *h, int window, uint64_t room)
{
	memset(h, 0, sizeof(*h));
	tunes.fe.window = window;
	tunes.fe.rxbuf = room;
	h->tunes = &tunes;
	h->limits = &tunes.fe;
	h->settings = &settings;
	h->side = &side;
	h->state = H2C_OPEN;
	h->settings_window = (uint32_t)window;
	h->peer_window = H2_WINDOW_DEFAULT;
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
	s->flags |= H2S_FL_RECEIVING;
	h->receiving++;
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

static void windows(void)
{
	struct h2_stream *a, *b;
	struct h2_conn h;
	int64_t target;

	setup(&h, BLOCK, 17 * BLOCK);
	a = receiver(&h, 1);
	target = BLOCK + 14 * BLOCK; /* 7/8 of the 16 blocks that no stream has for itself */
	h2s_grant(a, true);
	is_int(a->rx_window, target, "one stream has the common room");
	is_int(granted(&h), 14 * BLOCK, "and the peer is told");
	a->rx_window = target / 2;
	h2s_grant(a, false);
	is_int(granted(&h), 0, "half of it is enough");
	a->rx_window--;
	h2s_grant(a, false);
	is_int(granted(&h), target - target / 2 + 1, "less is filled up");

	a->rx_window = 0;
	a->ep->flags |= EP_RX_BLOCKED;
	h2s_grant(a, false);
	is_int(granted(&h), 0, "nothing for who does not take it");
	a->ep->flags = 0;
	a->left = 100;
	a->rx_window = 1000;
	h2s_grant(a, false);
	is_int(granted(&h), 0, "nothing beyond what is announced");
	a->rx_window = 101;
	h2s_grant(a, false);
	ok(granted(&h) > 0, "but room for its padding");

	b = receiver(&h, 3);
	h2s_grant(b, true);
	is_int(b->rx_window, BLOCK + 6 * BLOCK, "two share");
	granted(&h);
	h2s_ended_remote(a);
	is_int(h.receiving, 1, "a body that has ended shares no longer");
	h2s_free(a);
	h2s_free(b);
	is_int(h.stream_count + h.receiving, 0, "none is left");
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
	ok(h2c_was_reset(&h, 19) && h2c_was_reset(&h, 13), "the last four resets are known");
	ok(!h2c_was_reset(&h, 11), "older ones are not");
	is_int(h.control_bytes, 5 * H2_RST_STREAM_LEN, "answers are counted");
	teardown(&h);
}

int main(void)
{
	if (!h2_stream_init() || !h2_out_thread_init(no_flush))
		return 1;
	windows();
	states();
	h2_out_thread_fini();
	return done_testing();
}

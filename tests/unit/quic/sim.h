/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sim.h - a connection over a simulated network and clock, for the tests of this folder
 *
 * TLS is played (played.h), the client is made of the floor's own buffers. Included once by a test.
 */
#ifndef QUIC_SIM_H
#define QUIC_SIM_H

#include "base/clock.h"
#include "../tap.h"
#include "buffers_priv.h"
#include "conn_priv.h"
#include "keys_priv.h"
#include "played.h"
#include "recovery_priv.h"
#include "stream_priv.h"
#include "token_priv.h"

#define MS UINT64_C(1000000)
#define TOTAL 200000
#define FLYING 4096
#define DELAY_MS 20

/* --- TLS that is played ----------------------------------------------------------------------- */

static enum quic_tls_status play(struct conn *c, enum quic_level level, const uint8_t *bytes,
				 size_t len, uint8_t *alert)
{
	struct quic_conn *q = (struct quic_conn *)(void *)c;
	static const uint8_t params[] = {
		0x0f, 4, 1, 2, 3, 4, 0x04, 4, 0x80, 0x40, 0, 0, 0x05, 4, 0x80, 0x40, 0, 0,
		0x09, 1, 3,
	};

	if (level != QUIC_LEVEL_INITIAL || !played_secrets_are_told(q, params, sizeof(params)))
		return QUIC_TLS_FAILED;
	return QUIC_TLS_DONE;
}

static void leave(struct conn *c)
{
}

static const struct quic_tls_ops tls = { .recv = play, .leave = leave };

/* --- the user: an echo ------------------------------------------------------------------------ */

static void stream_event(struct quic_stream *s, unsigned events)
{
	struct block_queue *rx = quic_stream_rx(s);
	size_t room, n;

	if (events & QUIC_EV_ABORT) {
		quic_stream_leave(s);
		return;
	}
	if (quic_id_is_uni(quic_stream_id(s))) {
		if (quic_stream_rx_ended(s))
			quic_stream_leave(s);
		return;
	}
	room = quic_stream_room(s);
	n = rx->len < room ? rx->len : room;
	if (n && quic_stream_send(s, rx, n))
		quic_stream_taken(s, n);
	if (rx->len || !quic_stream_rx_ended(s))
		return;
	quic_stream_end(s);
	quic_stream_leave(s);
}

static const struct quic_events played_events = {
	.stream_new = played_stream_new, .stream_event = stream_event, .closed = played_closed,
};

/* --- the network and the client --------------------------------------------------------------- */

struct datagram {
	uint64_t at_ms;
	size_t len;
	bool up;
	uint8_t mark;                  /* enum quic_ecn_mark */
	uint8_t bytes[QUIC_DATAGRAM_MAX];
};

/* What a packet of the client's carried. */
struct carried {
	uint64_t from;
	size_t len;
	bool fin, out;
};

struct sim {
	struct quic_conn *q;
	struct played_client sends;
	struct quic_keys rx;
	struct quic_sendbuf up;
	struct quic_recvbuf down;
	struct datagram *net[FLYING];
	unsigned flying;
	struct carried carried[65536];
	uint64_t now_ms, size, heard_ms, last_ms;
	uint64_t window;               /* that the server allows on the stream */
	unsigned loss;                 /* of a thousand */
	bool silent, ended;
	unsigned wrong;
	size_t down_bytes;             /* of all datagrams that the server sent */
	bool in_order;                 /* nothing overtakes */
	bool tells_marks;              /* the client does, in its acknowledgements */
	uint64_t marks[QUIC_ECN_COUNTS]; /* of packets that it received */
	uint64_t told[QUIC_ECN_COUNTS]; /* by the server */
	uint8_t mark;                  /* of the client's datagrams */
	uint8_t becomes;               /* what the path makes of the server's marks */
};

static void fly(struct sim *s, bool up, const uint8_t *bytes, size_t len)
{
	struct datagram *d;

	if ((unsigned)random() % 1000 < s->loss || s->flying == FLYING)
		return;
	d = malloc(sizeof(*d));
	d->at_ms = s->now_ms + DELAY_MS + (s->loss ? (unsigned)random() % 10 : 0);
	d->len = len;
	d->up = up;
	d->mark = up ? s->mark : s->q->path.ecn.tx ? s->becomes : QUIC_ECN_NONE;
	memcpy(d->bytes, bytes, len);
	s->net[s->flying++] = d;
}

static void client_packet(struct sim *s, const uint8_t *frames, size_t len)
{
	uint8_t p[PLAYED_ROOM(QUIC_DATAGRAM_MAX)], padded[4] = { QUIC_FT_PADDING };

	if (len < sizeof(padded)) {
		memcpy(padded, frames, len);
		frames = padded;
		len = sizeof(padded);
	}
	fly(s, true, p, played_packet(&s->sends, s->q, QUIC_LEVEL_APP, frames, len, p));
}

static void client_sends(struct sim *s)
{
	uint8_t frames[1100], *at;
	struct carried c = { .out = true };

	for (unsigned i = 0; i < 20; i++) {
		if (s->up.sent - s->up.base > 60000 ||
		    !quic_sendbuf_next(&s->up, s->window, 1000, &c.from, &c.len, &c.fin))
			return;
		at = frames;
		*at++ = QUIC_FT_STREAM | QUIC_STREAM_OFF | QUIC_STREAM_LEN | c.fin;
		*at++ = 0;
		at = quic_put_varint(at, c.from);
		at = quic_put_varint(at, c.len);
		block_queue_peek(&s->up.data, c.from - s->up.base, (char *)at, c.len);
		quic_sendbuf_sent(&s->up, c.from, c.len, c.fin);
		s->carried[s->sends.pn[QUIC_LEVEL_APP]] = c;
		client_packet(s, frames, (size_t)(at - frames) + c.len);
	}
}

/* Everything that is not acknowledged goes once more. */
static void client_repeats(struct sim *s)
{
	for (uint64_t i = 0; i < s->sends.pn[QUIC_LEVEL_APP]; i++) {
		struct carried *c = &s->carried[i];

		if (c->out)
			quic_sendbuf_lost(&s->up, c->from, c->len, c->fin);
		c->out = false;
	}
	s->last_ms = s->now_ms;
}

static void client_acked(struct sim *s, struct quic_frame *f)
{
	uint64_t low = f->largest - f->first, high = f->largest;

	do {
		for (uint64_t i = low; i <= high; i++) {
			struct carried *c = &s->carried[i];

			s->wrong += i >= s->sends.pn[QUIC_LEVEL_APP];
			if (c->len || c->fin)
				quic_sendbuf_acked(&s->up, c->from, c->len, c->fin);
			c->out = false;
		}
	} while (quic_ack_next(f, &low, &high));
	s->last_ms = s->now_ms;
}

static void client_frame(struct sim *s, struct quic_frame *f)
{
	uint8_t answer[9];

	switch (f->type) {
	case QUIC_FT_ACK_ECN:
		memcpy(s->told, f->ecn, sizeof(s->told));
		client_acked(s, f);
		break;
	case QUIC_FT_ACK:
		client_acked(s, f);
		break;
	case QUIC_FT_STREAM:
		s->wrong += !quic_recvbuf_add(&s->down, f->offset, f->data, f->len);
		if (f->fin)
			s->size = f->offset + f->len;
		break;
	case QUIC_FT_MAX_STREAM_DATA:
		s->window = f->value > s->window ? f->value : s->window;
		break;
	case QUIC_FT_PATH_CHALLENGE:
		answer[0] = QUIC_FT_PATH_RESPONSE;
		memcpy(answer + 1, f->data, 8);
		client_packet(s, answer, sizeof(answer));
		break;
	case QUIC_FT_CLOSE:
	case QUIC_FT_CLOSE_APP:
		s->ended = true;
		break;
	default:
		break;
	}
}

static void client_receives(struct sim *s, uint8_t *p, size_t len, uint8_t mark)
{
	uint8_t mask[5], frames[64], *at;
	struct quic_packet head;
	struct quic_reader r;
	struct quic_frame f;
	uint64_t pn;

	/* packets of the handshake may come before it */
	while (quic_packet_read(p, len, 4, &head) && head.type != QUIC_PACKET_SHORT) {
		p += head.size;
		len -= head.size;
	}
	if (!len || s->silent)
		return;
	at = p + 5;
	s->wrong += !quic_header_mask(&s->rx, at + 4, mask);
	p[0] ^= mask[0] & 0x1f;
	s->wrong += (p[0] & 3) != 1;
	pn = (uint64_t)(at[0] ^= mask[1]) << 8;
	pn |= at[1] ^= mask[2];
	if (!quic_open(&s->rx, pn, p, 7, at + 2, len - 7)) {
		s->wrong++;
		return;
	}
	r = (struct quic_reader){ at + 2, p + len - QUIC_TAG_LEN };
	while (r.at < r.end) {
		if (quic_frame_read(&r, &f)) {
			s->wrong++;
			return;
		}
		client_frame(s, &f);
	}
	if (mark)
		s->marks[mark == QUIC_ECN_CE ? QUIC_COUNT_CE : mark == QUIC_ECN_ECT1
					     ? QUIC_COUNT_ECT1 : QUIC_COUNT_ECT0]++;
	at = frames;
	*at++ = s->tells_marks ? QUIC_FT_ACK_ECN : QUIC_FT_ACK;
	at = quic_put_varint(at, pn);
	memset(at, 0, 3);
	at += 3;
	for (unsigned i = 0; s->tells_marks && i < QUIC_ECN_COUNTS; i++)
		at = quic_put_varint(at, s->marks[i]);
	client_packet(s, frames, (size_t)(at - frames));
}

/* One millisecond of everything. */
static void step(struct sim *s)
{
	uint8_t room[QUIC_DATAGRAM_MAX];
	size_t n;

	s->now_ms++;
	clock_thread_now_ns = s->now_ms * MS;
	for (unsigned i = 0; i < s->flying; ) {
		struct datagram *d = s->net[i];

		if (d->at_ms > s->now_ms) {
			i++;
			continue;
		}
		s->flying--;
		if (s->in_order)
			memmove(&s->net[i], &s->net[i + 1], (s->flying - i) * sizeof(*s->net));
		else
			s->net[i] = s->net[s->flying];
		if (!d->up)
			client_receives(s, d->bytes, d->len, d->mark);
		else if (!played_freed && (s->q->path.ecn.rx = d->mark, true))
			quic_conn_recv(s->q, d->bytes, d->len, s->now_ms * MS);
		free(d);
		if (!played_freed)
			quic_conn_settle(s->q);
	}
	if (!played_freed && quic_conn_deadline(s->q) <= s->now_ms * MS) {
		quic_conn_timeout(s->q, s->now_ms * MS);
		quic_conn_settle(s->q);
	}
	while (!played_freed && (n = quic_conn_send(s->q, room, s->now_ms * MS))) {
		s->down_bytes += n;
		fly(s, false, room, n);
		quic_conn_settle(s->q);
	}
	if (s->silent)
		return;
	if (s->now_ms - s->last_ms > 200)
		client_repeats(s);
	client_sends(s);
}

static struct quic_tunes tunes = {
	.idle_ms = 5000, .streams = 10, .rxbuf = 65536, .data_ratio = 50, .window_max = 100000,
};

static struct sim *begin(unsigned loss, enum quic_cc_algo algo)
{
	struct sim *s = calloc(1, sizeof(*s));
	struct quic_line line = { .algo = (uint8_t)algo };
	struct quic_listener l = { .tunes = &tunes, .line = &line };
	uint8_t p[PLAYED_ROOM(sizeof(played_hello))];
	size_t n;

	s->q = played_begin(&l, &tls, &s->sends, MS);
	played_keys(&s->rx, 3, false);
	n = played_packet(&s->sends, s->q, QUIC_LEVEL_INITIAL, played_hello, sizeof(played_hello),
			  p);
	s->now_ms = 1;
	quic_conn_recv(s->q, p, n, MS);
	quic_conn_settle(s->q);
	quic_recvbuf_init(&s->down);
	s->loss = loss;
	s->size = UINT64_MAX;
	/* (this client says nothing in the handshake) */
	s->q->flags |= QUIC_FL_VALID;
	s->window = quic_stream_window(&tunes);
	return s;
}

static void finish(struct sim *s)
{
	while (s->flying)
		free(s->net[--s->flying]);
	if (!played_freed) {
		s->q->conn = NULL;
		s->q->events = NULL;
		quic_conn_free(s->q);
	}
	played_end(&s->sends);
	quic_keys_free(&s->rx);
	quic_sendbuf_free(&s->up);
	quic_recvbuf_free(&s->down);
	free(s);
}

static uint8_t byte_at(uint64_t i)
{
	return (uint8_t)(i * 13 + i / 257);
}

static void put_upload(struct sim *s)
{
	for (uint64_t i = 0; i < TOTAL; i++) {
		char c = (char)byte_at(i);

		block_queue_add_copy(&s->up.data, slice_make(&c, 1));
	}
	s->up.fin = true;
}

static bool sim_init(void)
{
	srandom(3);
	return quic_secret_set("x", 1) && quic_recovery_init() && quic_stream_init() &&
	       quic_conn_init();
}

#endif

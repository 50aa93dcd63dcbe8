/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes a connection of QUIC behind its protection: the input is what a client says, in pieces
 * that become packets with the right keys. TLS is played: its first bytes bring all secrets. Time
 * passes between packets; all that the connection wants to send is taken.
 */
#include "../unit/quic/played.h"

#define SECOND UINT64_C(1000000000)
#define ROOM 2048

static enum quic_tls_status play(struct conn *c, enum quic_level level, const uint8_t *bytes,
				 size_t len, uint8_t *alert)
{
	struct quic_conn *q = (struct quic_conn *)(void *)c;
	static const uint8_t params[] = {
		0x0f, 4, 1, 2, 3, 4, 0x04, 4, 0x80, 1, 0, 0, 0x05, 4, 0x80, 0, 0x80, 0,
		0x07, 4, 0x80, 0, 0x80, 0, 0x09, 1, 3, 0x01, 2, 0x67, 0x10,
	};
	const struct quic_tls_user *u = &quic_conn_tls_user;

	if (q->spaces[QUIC_LEVEL_APP]->rx.aead)
		return QUIC_TLS_DONE;
	if (!played_secrets_are_told(q, params, sizeof(params)))
		abort();
	u->send(q, QUIC_LEVEL_INITIAL, (const uint8_t *)"hello", 5);
	u->send(q, QUIC_LEVEL_HANDSHAKE, (const uint8_t *)"finished", 8);
	return QUIC_TLS_DONE;
}

static void leave(struct conn *c)
{
}

static const struct quic_tls_ops tls = { .recv = play, .leave = leave };

/* --- the user: takes all, answers a little ---------------------------------------------------- */

static void stream_event(struct quic_stream *s, unsigned events)
{
	struct block_queue *rx = quic_stream_rx(s);
	size_t n = rx->len;

	if (events & QUIC_EV_ABORT) {
		quic_stream_leave(s);
		return;
	}
	block_queue_skip(rx, n);
	quic_stream_taken(s, n);
	if (!quic_id_is_uni(quic_stream_id(s)) && quic_stream_room(s))
		quic_stream_send_copy(s, "answer", 6);
	if (!quic_stream_rx_ended(s) && !(events & (QUIC_EV_RESET | QUIC_EV_STOPPED)))
		return;
	if (!quic_id_is_uni(quic_stream_id(s)))
		quic_stream_end(s);
	quic_stream_leave(s);
}

static const struct quic_events played_events = {
	.stream_new = played_stream_new, .stream_event = stream_event, .closed = played_closed,
};

/* --- the client ------------------------------------------------------------------------------- */

struct client {
	struct quic_conn *q;
	struct played_client sends;
	uint64_t now;
};

/* Sends frames as one packet of a level. */
static void send_packet(struct client *c, unsigned level, const uint8_t *frames, size_t len)
{
	uint8_t p[PLAYED_ROOM(ROOM)];
	size_t size = played_packet(&c->sends, c->q, level, frames, len, p);

	if (!size)
		abort();
	quic_conn_recv(c->q, p, size, c->now);
}

/* What happens at the end of a turn, and then <ns> later. */
static void pass(struct client *c, uint64_t ns)
{
	uint8_t room[QUIC_DATAGRAM_MAX];

	quic_conn_settle(c->q);
	for (unsigned i = 0; !played_freed && i < 50 && quic_conn_send(c->q, room, c->now); i++)
		;
	if (!played_freed)
		quic_conn_settle(c->q);
	c->now += ns;
	if (!played_freed && quic_conn_deadline(c->q) <= c->now) {
		quic_conn_timeout(c->q, c->now);
		quic_conn_settle(c->q);
	}
}

static void play_input(struct client *c, const uint8_t *data, size_t size)
{
	uint8_t frames[ROOM];

	while (size > 2 && !played_freed) {
		size_t len = (size_t)data[1] * 4 + 4;
		unsigned level = data[0] & 0x40 ? QUIC_LEVEL_HANDSHAKE : QUIC_LEVEL_APP;
		uint64_t ns = (data[0] & 15) * (data[0] & 0x20 ? SECOND / 10 : SECOND / 1000);

		data += 2;
		size -= 2;
		len = len < size ? len : size;
		memset(frames, 0, 4);
		memcpy(frames, data, len);
		send_packet(c, level, frames, len < 4 ? 4 : len);
		pass(c, ns);
		data += len;
		size -= len;
	}
	while (!played_freed)
		pass(c, 40 * SECOND);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct quic_tunes tunes = {
		.idle_ms = 30000, .streams = 10, .rxbuf = 65536, .data_ratio = 50,
		.window_max = 65536,
	};
	struct quic_listener l = { .tunes = &tunes };
	struct client c = { .now = SECOND };

	if (!quic_recovery_init() || !quic_stream_init() || !quic_conn_init())
		return 0;
	c.q = played_begin(&l, &tls, &c.sends, c.now);
	if (!c.q)
		abort();
	send_packet(&c, QUIC_LEVEL_INITIAL, played_hello, sizeof(played_hello));
	pass(&c, SECOND / 1000);
	play_input(&c, data, size);
	played_end(&c.sends);
	return 0;
}

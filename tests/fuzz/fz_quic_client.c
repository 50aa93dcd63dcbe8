/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes a connection of QUIC to a server: the input is what the server says, datagrams as they are
 * (a Retry, other versions, resets, noise) and pieces that become packets with the right keys. TLS
 * is played: the server's first bytes bring all secrets. We ask for streams whenever there is room;
 * time passes between packets; all that the connection wants to send is taken.
 */
#include "../unit/quic/played.h"

#define SECOND UINT64_C(1000000000)
#define ROOM 2048

/* The server's transport parameters: some, and the ids that it must know. */
static bool server_params(struct quic_conn *q)
{
	uint8_t params[96] = {
		0x0f, 4, 1, 2, 3, 4, 0x04, 4, 0x80, 1, 0, 0, 0x06, 4, 0x80, 0, 0x80, 0,
		0x07, 4, 0x80, 0, 0x80, 0, 0x08, 1, 5, 0x09, 1, 3, 0x01, 2, 0x67, 0x10,
	}, *at = params + 34;

	*at++ = 0x00;
	*at++ = q->ids.original.len;
	memcpy(at, q->ids.original.bytes, q->ids.original.len);
	at += q->ids.original.len;
	if (q->flags & QUIC_FL_RETRIED) {
		*at++ = 0x10;
		*at++ = q->ids.retry.len;
		memcpy(at, q->ids.retry.bytes, q->ids.retry.len);
		at += q->ids.retry.len;
	}
	*at++ = 0x02;
	*at++ = 16;
	memset(at, 7, 16);
	at += 16;
	return quic_conn_tls_user.params(q, params, (size_t)(at - params));
}

static enum quic_tls_status play(struct conn *c, enum quic_level level, const uint8_t *bytes,
				 size_t len, uint8_t *alert)
{
	struct quic_conn *q = (struct quic_conn *)(void *)c;
	const struct quic_tls_user *u = &quic_conn_tls_user;

	*alert = 80;
	if (!len) {
		u->send(q, QUIC_LEVEL_INITIAL, (const uint8_t *)"hello", 5);
		return QUIC_TLS_MORE;
	}
	if (q->spaces[QUIC_LEVEL_APP]->rx.aead)
		return QUIC_TLS_DONE;
	if (!server_params(q))
		return QUIC_TLS_FAILED;
	for (unsigned i = 0; i < 4; i++)
		if (!u->secret(q, i / 2 ? QUIC_LEVEL_APP : QUIC_LEVEL_HANDSHAKE, !(i % 2),
			       QUIC_AES_128_GCM, played_secrets[i], 32))
			abort();
	u->send(q, QUIC_LEVEL_HANDSHAKE, (const uint8_t *)"finished", 8);
	return QUIC_TLS_DONE;
}

static void leave(struct conn *c)
{
}

static const struct quic_tls_ops tls = { .recv = play, .leave = leave };

/* --- the user: asks, takes all ---------------------------------------------------------------- */

static void stream_event(struct quic_stream *s, unsigned events)
{
	struct block_queue *rx = quic_stream_rx(s);
	size_t n = rx->len;

	if (!(events & QUIC_EV_ABORT)) {
		block_queue_skip(rx, n);
		quic_stream_taken(s, n);
		if (!quic_stream_rx_ended(s) && !(events & (QUIC_EV_RESET | QUIC_EV_STOPPED)))
			return;
	}
	quic_stream_leave(s);
}

static const struct quic_events played_events = {
	.stream_new = played_stream_new, .stream_event = stream_event, .closed = played_closed,
};

static void ask(struct quic_conn *q)
{
	struct quic_stream *s;

	while (q->events && (s = quic_stream_open(q))) {
		quic_stream_set_owner(s, q);
		quic_stream_send_copy(s, "request", 7);
		quic_stream_end(s);
	}
}

/* --- the server ------------------------------------------------------------------------------- */

struct server {
	struct quic_conn *q;
	struct played_client sends;
	uint64_t now;
};

/* What happens at the end of a turn, and then <ns> later. */
static void pass(struct server *c, uint64_t ns)
{
	uint8_t room[QUIC_DATAGRAM_MAX];

	quic_conn_settle(c->q);
	if (!played_freed)
		ask(c->q);
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

/* A datagram as it is, but that it names us where there is room for that. */
static void send_raw(struct server *c, uint8_t *bytes, size_t len)
{
	const struct quic_cid *ours = &c->q->ids.ours;

	if (len > 6u + ours->len && bytes[0] & 0x80) {
		bytes[5] = ours->len;
		memcpy(bytes + 6, ours->bytes, ours->len);
	}
	quic_conn_recv(c->q, bytes, len, c->now);
}

static void send_packet(struct server *c, unsigned level, const uint8_t *frames, size_t len)
{
	uint8_t p[PLAYED_ROOM(ROOM)];
	size_t size = played_packet(&c->sends, c->q, level, frames, len, p);

	if (!size)
		abort();
	quic_conn_recv(c->q, p, size, c->now);
}

static void play_input(struct server *c, const uint8_t *data, size_t size)
{
	uint8_t bytes[ROOM];

	while (size > 2 && !played_freed) {
		size_t len = (size_t)data[1] * 4 + 4;
		unsigned kind = data[0] >> 6;
		uint64_t ns = (data[0] & 15) * (data[0] & 0x20 ? SECOND / 10 : SECOND / 1000);

		data += 2;
		size -= 2;
		len = len < size ? len : size;
		memset(bytes, 0, 4);
		memcpy(bytes, data, len);
		if (kind == 3)
			send_raw(c, bytes, len);
		else
			send_packet(c, kind, bytes, len < 4 ? 4 : len);
		pass(c, ns);
		data += len;
		size -= len;
	}
	while (!played_freed)
		pass(c, 40 * SECOND);
}

static bool begin(struct server *c, const struct quic_tunes *tunes)
{
	for (unsigned i = 0; i < 4; i++)
		memset(played_secrets[i], (int)i + 1, 32);
	played_freed = false;
	c->q = quic_conn_new_client(tunes, NULL, &played_host, c->now);
	if (!c->q)
		return false;
	for (unsigned i = 1; i < QUIC_LEVELS; i++)
		if (!played_keys(&c->sends.keys[i], 2 * i - 1, true))
			return false;
	quic_conn_secure(c->q, (struct conn *)(void *)c->q, &tls);
	c->q->flags |= QUIC_FL_LENT;
	return quic_keys_initial(&c->sends.keys[0], QUIC_VERSION_1, &c->q->ids.original, false,
				 true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct quic_tunes tunes = {
		.idle_ms = 30000, .streams = 10, .rxbuf = 65536, .data_ratio = 50,
		.window_max = 65536,
	};
	struct server c = { .now = SECOND };
	uint8_t alert;

	if (!quic_recovery_init() || !quic_stream_init() || !quic_conn_init())
		return 0;
	if (!begin(&c, &tunes))
		abort();
	play((struct conn *)(void *)c.q, QUIC_LEVEL_INITIAL, NULL, 0, &alert);
	pass(&c, SECOND / 1000);
	play_input(&c, data, size);
	played_end(&c.sends);
	return 0;
}

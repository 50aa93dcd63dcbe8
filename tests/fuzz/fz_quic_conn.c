/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes a connection of QUIC behind its protection: the input is what a client says, in pieces
 * that become packets with the right keys. TLS is played: its first bytes bring all secrets. Time
 * passes between packets; all that the connection wants to send is taken.
 */
#include <stdlib.h>
#include <string.h>
#include "../../src/quic/quic_priv.h"

#define SECOND UINT64_C(1000000000)
#define ROOM 2048

static uint8_t secrets[4][32];
static bool freed;

static enum quic_tls_status play(struct conn *c, enum quic_level level, const uint8_t *bytes,
				 size_t len, uint8_t *alert)
{
	struct quic_conn *q = (struct quic_conn *)(void *)c;
	static const uint8_t params[] = {
		0x0f, 4, 1, 2, 3, 4, 0x04, 4, 0x80, 1, 0, 0, 0x05, 4, 0x80, 0, 0x80, 0,
		0x07, 4, 0x80, 0, 0x80, 0, 0x09, 1, 3, 0x01, 2, 0x67, 0x10,
	};
	const struct quic_tls_user *u = &quic_conn_tls_user;

	if (q->spaces[QUIC_LEVEL_APP].rx.aead)
		return QUIC_TLS_DONE;
	if (!u->params(q, params, sizeof(params)))
		abort();
	for (unsigned i = 0; i < 4; i++)
		if (!u->secret(q, i / 2 ? QUIC_LEVEL_APP : QUIC_LEVEL_HANDSHAKE, i % 2,
			       QUIC_AES_128_GCM, secrets[i], 32))
			abort();
	u->send(q, QUIC_LEVEL_INITIAL, (const uint8_t *)"hello", 5);
	u->send(q, QUIC_LEVEL_HANDSHAKE, (const uint8_t *)"finished", 8);
	return QUIC_TLS_DONE;
}

static const struct quic_tls_ops tls = { .recv = play };

/* --- the user: takes all, answers a little ---------------------------------------------------- */

static void stream_new(void *owner, struct quic_stream *s)
{
	quic_stream_set_owner(s, owner);
}

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

static void closed(void *owner)
{
}

static const struct quic_events events = {
	.stream_new = stream_new, .stream_event = stream_event, .closed = closed,
};

/* --- the host --------------------------------------------------------------------------------- */

static void nothing(struct quic_conn *q)
{
}

static void forget(struct quic_conn *q)
{
	freed = true;
}

static void ready(struct quic_conn *q)
{
	q->conn = NULL;
	quic_conn_take(q, &events, q);
}

static void gone(struct quic_conn *q)
{
	q->conn = NULL;
}

static const struct quic_host host = {
	.later = nothing, .not_half_open = nothing, .ready = ready, .gone = gone, .forget = forget,
};

/* --- the client ------------------------------------------------------------------------------- */

struct client {
	struct quic_conn *q;
	struct quic_keys keys[QUIC_LEVELS];
	uint64_t pn[QUIC_LEVELS], now;
};

/* Sends frames as one packet of a level. */
static void send_packet(struct client *c, unsigned level, const uint8_t *frames, size_t len)
{
	static const uint8_t types[] = { 0xc1, 0xe1, 0x41 };
	const struct quic_cid *to = &c->q->ids.ours;
	uint8_t p[ROOM + 128], mask[5], *at = p, *pn;

	*at++ = types[level];
	if (level != QUIC_LEVEL_APP) {
		memcpy(at, "\0\0\0\1", 4);
		at += 4;
		*at++ = to->len;
	}
	memcpy(at, to->bytes, to->len);
	at += to->len;
	if (level != QUIC_LEVEL_APP) {
		memcpy(at, "\4\1\2\3\4", 5);
		at += 5;
		if (level == QUIC_LEVEL_INITIAL)
			*at++ = 0;
		*at++ = (uint8_t)(0x40 | (len + 2 + QUIC_TAG_LEN) >> 8);
		*at++ = (uint8_t)(len + 2 + QUIC_TAG_LEN);
	}
	pn = at;
	*at++ = (uint8_t)(c->pn[level] >> 8);
	*at++ = (uint8_t)c->pn[level];
	memcpy(at, frames, len);
	if (!quic_seal(&c->keys[level], c->pn[level]++, p, (size_t)(at - p), at, len) ||
	    !quic_header_mask(&c->keys[level], pn + 4, mask))
		abort();
	p[0] ^= mask[0] & (level == QUIC_LEVEL_APP ? 0x1f : 0x0f);
	pn[0] ^= mask[1];
	pn[1] ^= mask[2];
	quic_conn_recv(c->q, p, (size_t)(at - p) + len + QUIC_TAG_LEN, c->now);
}

/* What happens at the end of a turn, and then <ns> later. */
static void pass(struct client *c, uint64_t ns)
{
	uint8_t room[QUIC_DATAGRAM_MAX];

	quic_conn_settle(c->q);
	for (unsigned i = 0; !freed && i < 50 && quic_conn_send(c->q, room, c->now); i++)
		;
	if (!freed)
		quic_conn_settle(c->q);
	c->now += ns;
	if (!freed && quic_conn_deadline(c->q) <= c->now) {
		quic_conn_timeout(c->q, c->now);
		quic_conn_settle(c->q);
	}
}

static void play_input(struct client *c, const uint8_t *data, size_t size)
{
	uint8_t frames[ROOM];

	while (size > 2 && !freed) {
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
	while (!freed)
		pass(c, 40 * SECOND);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct quic_tunes tunes = {
		.idle_ms = 30000, .streams = 10, .rxbuf = 65536, .data_ratio = 50,
		.window_max = 65536,
	};
	static const uint8_t hello[1162] = { QUIC_FT_CRYPTO, 0, 5, 'h', 'e', 'l', 'l', 'o' };
	struct quic_listener l = { .tunes = &tunes };
	struct quic_packet first = {
		.dcid = { 8, { 1, 2, 3, 4, 5, 6, 7, 8 } }, .scid = { 4, { 1, 2, 3, 4 } },
	};
	struct client c = { .now = SECOND };

	for (unsigned i = 0; i < 4; i++)
		memset(secrets[i], (int)i + 1, 32);
	if (!quic_recovery_init() || !quic_stream_init() || !quic_conn_init())
		return 0;
	freed = false;
	c.q = quic_conn_new(&l, &host, &first, NULL, c.now);
	if (!c.q || !quic_keys_initial(&c.keys[0], &first.dcid, true, true) ||
	    !quic_keys_make(&c.keys[1], QUIC_AES_128_GCM, secrets[0], 32, true, true) ||
	    !quic_keys_make(&c.keys[2], QUIC_AES_128_GCM, secrets[2], 32, true, true))
		abort();
	quic_conn_secure(c.q, (struct conn *)(void *)c.q, &tls);
	send_packet(&c, QUIC_LEVEL_INITIAL, hello, sizeof(hello));
	pass(&c, SECOND / 1000);
	play_input(&c, data, size);
	for (unsigned i = 0; i < QUIC_LEVELS; i++)
		quic_keys_free(&c.keys[i]);
	return 0;
}

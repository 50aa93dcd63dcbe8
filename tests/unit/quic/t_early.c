/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Early data (0-RTT): a connection that is used while its handshake goes on. TLS is played. */
#include "base/clock.h"
#include "../tap.h"
#include "conn_priv.h"
#include "played.h"
#include "recovery_priv.h"
#include "stream_priv.h"
#include "token_priv.h"

#define MS UINT64_C(1000000)
/* The client's keys for early data are those of this secret. */
#define EARLY_SECRET 1

static bool takes_early;
static unsigned readies, streams, proofs;
static size_t heard;

static enum quic_tls_status play(struct conn *c, enum quic_level level, const uint8_t *bytes,
				 size_t len, uint8_t *alert)
{
	struct quic_conn *q = (struct quic_conn *)(void *)c;
	static const uint8_t params[] = { 0x0f, 4, 1, 2, 3, 4, 0x04, 2, 0x7f, 0xff, 0x05, 2, 0x7f,
					  0xff, 0x09, 1, 3 };
	const struct quic_tls_user *u = &quic_conn_tls_user;

	if (level == QUIC_LEVEL_HANDSHAKE)
		return u->secret(q, QUIC_LEVEL_APP, false, QUIC_AES_128_GCM, played_secrets[2], 32)
			       ? QUIC_TLS_DONE : QUIC_TLS_FAILED;
	if (!u->params(q, params, sizeof(params)) ||
	    (takes_early && !u->secret(q, QUIC_LEVEL_EARLY, false, QUIC_AES_128_GCM,
				       played_secrets[EARLY_SECRET], 32)))
		return QUIC_TLS_FAILED;
	for (unsigned i = 0; i < 3; i++)
		if (!u->secret(q, i < 2 ? QUIC_LEVEL_HANDSHAKE : QUIC_LEVEL_APP, i > 0,
			       QUIC_AES_128_GCM, played_secrets[i < 2 ? i : 3], 32))
			return QUIC_TLS_FAILED;
	return takes_early ? QUIC_TLS_EARLY : QUIC_TLS_MORE;
}

static void leave(struct conn *c)
{
}

static const struct quic_tls_ops tls = { .recv = play, .leave = leave };

static void stream_new(void *owner, struct quic_stream *s)
{
	streams++;
	played_stream_new(owner, s);
}

/* Answers what it gets, at once. */
static void stream_event(struct quic_stream *s, unsigned events)
{
	size_t n = quic_stream_rx(s)->len;

	if (events & QUIC_EV_ABORT) {
		quic_stream_leave(s);
		return;
	}
	heard += n;
	block_queue_skip(quic_stream_rx(s), n);
	quic_stream_taken(s, n);
	quic_stream_send_copy(s, "answer", 6);
}

static const struct quic_events played_events = {
	.stream_new = stream_new, .stream_event = stream_event, .closed = played_closed,
};

static void ready(struct quic_conn *q)
{
	readies++;
	quic_conn_take(q, &played_events, q);
}

static void proved(struct quic_conn *q)
{
	proofs++;
}

static const struct quic_host host = {
	.later = played_nothing, .not_half_open = played_nothing, .ready = ready,
	.proved = proved, .gone = played_gone, .forget = played_forget,
};

/* --- the client ------------------------------------------------------------------------------- */

static struct played_client client;
static struct quic_keys early;
static struct quic_conn *q;
static uint64_t now = MS;

static void say(unsigned level, const uint8_t *frames, size_t len)
{
	uint8_t p[PLAYED_ROOM(1200)];
	size_t n = played_packet(&client, q, level, frames, len, p);

	now += MS;
	quic_conn_recv(q, p, n, now);
	quic_conn_settle(q);
}

/* A 0-RTT packet, number <pn>, to the id of the first one. */
static void say_early(uint64_t pn, const uint8_t *frames, size_t len)
{
	uint8_t p[PLAYED_ROOM(1200)], mask[5], *at = p, *head;

	*at++ = 0xd1;
	memcpy(at, "\0\0\0\1\10\1\2\3\4\5\6\7\10\4\1\2\3\4", 18);
	at += 18;
	*at++ = (uint8_t)(0x40 | (len + 2 + QUIC_TAG_LEN) >> 8);
	*at++ = (uint8_t)(len + 2 + QUIC_TAG_LEN);
	head = at;
	*at++ = (uint8_t)(pn >> 8);
	*at++ = (uint8_t)pn;
	memcpy(at, frames, len);
	quic_seal(&early, pn, p, (size_t)(at - p), at, len);
	quic_header_mask(&early, head + 4, mask);
	p[0] ^= mask[0] & 0x0f;
	head[0] ^= mask[1];
	head[1] ^= mask[2];
	now += MS;
	quic_conn_recv(q, p, (size_t)(at - p) + len + QUIC_TAG_LEN, now);
	quic_conn_settle(q);
}

static void begin(bool taken)
{
	static struct quic_tunes tunes = { .idle_ms = 30000, .streams = 10, .data_ratio = 90,
					   .window_max = 480 * 1024, .cubic_losses = 1,
					   .frame_losses = 10, .reorder_ratio = 50 };
	struct quic_listener l = { .tunes = &tunes, .app_limits = 7 };

	takes_early = taken;
	readies = streams = proofs = 0;
	heard = 0;
	q = played_begin(&l, &tls, &client, now);
	q->host = &host;
	q->flags |= QUIC_FL_LENT;
	played_keys(&early, EARLY_SECRET, true);
	say(QUIC_LEVEL_INITIAL, played_hello, sizeof(played_hello));
}

static void finish(void)
{
	if (!played_freed) {
		q->events = NULL;
		quic_conn_free(q);
	}
	played_end(&client);
	quic_keys_free(&early);
}

/* Takes what is sent; returns how many packets of the level APP that were. */
static uint64_t sent(void)
{
	uint64_t before = q->spaces[QUIC_LEVEL_APP]->next_pn;
	uint8_t room[QUIC_DATAGRAM_MAX];

	while (quic_conn_send(q, room, now))
		;
	return q->spaces[QUIC_LEVEL_APP]->next_pn - before;
}

static const uint8_t request[] = { QUIC_FT_STREAM | 3, 0, 5, 'h', 'e', 'l', 'l', 'o' };
static const uint8_t more[] = { QUIC_FT_STREAM | 3, 4, 5, 'a', 'g', 'a', 'i', 'n' };
static const uint8_t finished[] = { QUIC_FT_CRYPTO, 0, 3, 'f', 'i', 'n' };
static const uint8_t ping[] = { QUIC_FT_PING, 0, 0, 0 };

static void test_taken(void)
{
	begin(true);
	is_int(readies, 1, "with early data it is told of before the handshake is over");
	is_int(q->state, QUIC_HANDSHAKE, "which goes on");
	is_int(proofs, 0, "and nothing is proved");
	say_early(0, request, sizeof(request));
	is_int(streams, 1, "an early request comes");
	is_int(heard, 5, "with its bytes");
	ok(sent() > 0, "and is answered at once");
	ok(q->sent <= 3 * q->received, "as far as three times what came");
	say_early(0, request, sizeof(request));
	is_int(heard, 5, "a packet that comes twice counts once");
	say(QUIC_LEVEL_APP, more, sizeof(more));
	is_int(streams, 1, "what was protected with later keys waits for the handshake");
	say(QUIC_LEVEL_HANDSHAKE, finished, sizeof(finished));
	is_int(q->state, QUIC_OPEN, "the handshake is over");
	is_int(readies, 1, "which is not told again");
	is_int(proofs, 1, "but that its address is proved");
	say_early(7, more, sizeof(more));
	is_int(streams, 2, "early data that come late are taken");
	client.pn[QUIC_LEVEL_APP] = 20;
	say(QUIC_LEVEL_APP, ping, sizeof(ping));
	ok(!q->phase.rx_early, "until a packet with the keys behind them comes");
	say_early(8, request, sizeof(request));
	is_int(streams, 2, "and not any more then");
	finish();
}

static void test_not_taken(void)
{
	begin(false);
	is_int(readies, 0, "without early data it is not told of");
	say_early(0, request, sizeof(request));
	is_int(streams, 0, "nor are they looked at");
	is_int(sent(), 0, "nor is anything said with later keys");
	say(QUIC_LEVEL_HANDSHAKE, finished, sizeof(finished));
	is_int(readies, 1, "it is when the handshake is over");
	is_int(proofs, 1, "and proved");
	finish();
}

static void test_frames(void)
{
	static const struct {
		const char *name;
		uint8_t bytes[12], len;
	} bad[] = {
		{ "ACK", { QUIC_FT_ACK, 0, 0, 0, 0 }, 5 },
		{ "CRYPTO", { QUIC_FT_CRYPTO, 0, 1, 'x' }, 4 },
		{ "HANDSHAKE_DONE", { QUIC_FT_HANDSHAKE_DONE, 0, 0, 0 }, 4 },
		{ "NEW_TOKEN", { QUIC_FT_NEW_TOKEN, 1, 'x', 0 }, 4 },
		{ "PATH_RESPONSE", { QUIC_FT_PATH_RESPONSE, 1, 2, 3, 4, 5, 6, 7, 8 }, 9 },
		{ "RETIRE_CONNECTION_ID", { QUIC_FT_RETIRE_CONNECTION_ID, 1, 0, 0 }, 4 },
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		begin(true);
		say_early(0, bad[i].bytes, bad[i].len);
		is_int(q->end.error, QUIC_PROTOCOL_VIOLATION, "%s among early data", bad[i].name);
		finish();
	}
}

static void test_limits(void)
{
	uint8_t before[QUIC_TLS_LIMITS_ROOM], after[QUIC_TLS_LIMITS_ROOM];
	const struct quic_tls_user *u = &quic_conn_tls_user;
	size_t len;

	begin(true);
	len = u->limits(q, before);
	ok(len, "limits are told");
	ok(u->limits(q, after) == len && memcmp(before, after, len) == 0, "the same each time");
	q->streams.bidi_max--;
	ok(u->limits(q, after) == len && memcmp(before, after, len) != 0, "fewer streams differ");
	q->streams.bidi_max++;
	q->streams.app_limits++;
	ok(u->limits(q, after) == len && memcmp(before, after, len) != 0,
	   "so do limits of the floor above");
	finish();
}

int main(void)
{
	if (!quic_secret_set(NULL, 0) || !quic_recovery_init() || !quic_stream_init() ||
	    !quic_conn_init())
		return 1;
	test_taken();
	test_not_taken();
	test_frames();
	test_limits();
	return done_testing();
}

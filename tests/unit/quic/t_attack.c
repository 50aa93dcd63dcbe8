/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clients that mean ill, over a simulated network (sim.h): what they cost is bounded. */
#include "conn_priv.h"
#include "ranges_priv.h"
#include "recovery_priv.h"
#include "sim.h"
#include "token_priv.h"

static uint8_t frames[1100];

static uint64_t error_of(const struct sim *s)
{
	return played_freed || quic_is_open(s->q) ? QUIC_NO_ERROR : s->q->end.error;
}

static void run(struct sim *s, unsigned ms)
{
	while (ms-- && !played_freed)
		step(s);
}

/* One datagram for the server, of the whole of <frames>[0..len). */
static void say(struct sim *s, const uint8_t *end)
{
	client_packet(s, frames, (size_t)(end - frames));
}

/* --- acknowledgements ------------------------------------------------------------------------- */

/* ACKs of as many ranges as fit, of every second packet: what they name is taken, at any order. */
static void test_ack_ranges(void)
{
	struct sim *s = begin(0, QUIC_CC_NONE);
	struct quic_space *space = &s->q->spaces[QUIC_LEVEL_APP];
	uint8_t *at = frames;
	struct quic_sent *p;
	unsigned n = 0, even = 0;
	struct quic_range had[] = { { 0, 0 } };

	put_upload(s);
	run(s, 60);
	s->silent = true;
	list_for_each(p, &space->sent, link)
		n++;
	ok(n > 10, "%u packets are in flight", n);
	had[0].to = space->next_pn;
	*at++ = QUIC_FT_ACK;
	at = quic_put_varint(at, had[0].to - 1);
	at = quic_put_varint(at, 0);
	at = quic_put_varint(at, (had[0].to - 1) / 2);
	at = quic_put_varint(at, 0);
	for (uint64_t i = 0; i < (had[0].to - 1) / 2; i++) {
		at = quic_put_varint(at, 0);
		at = quic_put_varint(at, 0);
	}
	s->silent = false;
	say(s, at);
	s->silent = true;
	run(s, DELAY_MS + 1);
	list_for_each(p, &space->sent, link)
		even += p->pn % 2 == (had[0].to - 1) % 2 && p->pn < had[0].to;
	is_int(even, 0, "every second one is acknowledged");
	is_int(error_of(s), QUIC_NO_ERROR, "many ranges are no fault");
	finish(s);

	s = begin(0, QUIC_CC_NONE);
	at = frames;
	*at++ = QUIC_FT_ACK;
	at = quic_put_varint(at, 100000);
	at = quic_put_varint(at, 0);
	at = quic_put_varint(at, 0);
	at = quic_put_varint(at, 0);
	say(s, at);
	run(s, 60);
	is_int(error_of(s), QUIC_PROTOCOL_VIOLATION, "an ACK of what was never sent ends it");
	finish(s);
}

/* --- holes ------------------------------------------------------------------------------------ */

static uint8_t *put_byte(uint8_t *at, uint64_t id, uint64_t offset)
{
	*at++ = QUIC_FT_STREAM | QUIC_STREAM_OFF | QUIC_STREAM_LEN;
	at = quic_put_varint(at, id);
	at = quic_put_varint(at, offset);
	*at++ = 1;
	*at++ = 'x';
	return at;
}

/* One byte in each frame, every second one: pieces are counted, not only bytes. */
static void test_stream_holes(void)
{
	struct sim *s = begin(0, QUIC_CC_CUBIC);
	uint64_t offset = 32000;
	uint32_t most = 0;

	for (unsigned n = 0; n < 400 && !error_of(s); n++) {
		uint8_t *at = frames;

		while (at < frames + sizeof(frames) - 20 && offset > 2) {
			at = put_byte(at, n & 3 ? 0 : 4, offset);
			offset -= 2;
		}
		say(s, at);
		run(s, DELAY_MS + 1);
		if (!played_freed && s->q->streams.early > most)
			most = s->q->streams.early;
		if (offset <= 2)
			offset = 32001;
	}
	ok(most > 1000 && most < 9000, "pieces out of order are bounded: %u", most);
	is_int(error_of(s), QUIC_INTERNAL_ERROR, "who sends more of them is let go");
	finish(s);
}

/* --- limits ----------------------------------------------------------------------------------- */

static void expect(uint64_t code, const uint8_t *end, const char *what)
{
	struct sim *s = begin(0, QUIC_CC_CUBIC);

	say(s, end);
	run(s, 3 * DELAY_MS);
	is_int(error_of(s), code, "%s", what);
	ok(code == QUIC_NO_ERROR || s->ended, "and the client is told");
	finish(s);
}

static void test_limits(void)
{
	uint8_t *at;

	expect(QUIC_STREAM_LIMIT_ERROR, put_byte(frames, 4 * 10, 0), "a stream beyond the limit");
	expect(QUIC_STREAM_LIMIT_ERROR, put_byte(frames, QUIC_VARINT_MAX & ~UINT64_C(3), 0),
	       "the last stream of all");
	expect(QUIC_STREAM_STATE_ERROR, put_byte(frames, 1, 0), "a stream that is ours to open");
	expect(QUIC_STREAM_STATE_ERROR, put_byte(frames, 3, 0), "one that only we send on");
	expect(QUIC_FLOW_CONTROL_ERROR, put_byte(frames, 0, 60000), "a byte behind the window");
	at = quic_put_varint(frames, QUIC_FT_RESET_STREAM);
	at = quic_put_varint(at, 0);
	at = quic_put_varint(at, 0);
	expect(QUIC_FLOW_CONTROL_ERROR, quic_put_varint(at, UINT64_C(1) << 60),
	       "a reset at an offset behind the window");
	at = quic_put_varint(frames, QUIC_FT_STOP_SENDING);
	at = quic_put_varint(at, 4 * 10);
	expect(QUIC_STREAM_LIMIT_ERROR, quic_put_varint(at, 0), "STOP_SENDING of such a stream");
	at = quic_put_varint(frames, QUIC_FT_CRYPTO);
	at = quic_put_varint(at, 0);
	at = quic_put_varint(at, 1);
	*at++ = 'x';
	expect(QUIC_CRYPTO_ERROR + 10, at, "CRYPTO when the handshake is over");
	at = quic_put_varint(frames, QUIC_FT_RETIRE_CONNECTION_ID);
	expect(QUIC_PROTOCOL_VIOLATION, quic_put_varint(at, 0), "the only id is retired");
}

static uint8_t *put_cid(uint8_t *at, uint64_t seq, uint64_t prior)
{
	*at++ = QUIC_FT_NEW_CONNECTION_ID;
	at = quic_put_varint(at, seq);
	at = quic_put_varint(at, prior);
	*at++ = 4;
	for (unsigned i = 0; i < 4 + QUIC_RESET_TOKEN_LEN; i++)
		*at++ = (uint8_t)(seq + i);
	return at;
}

static void test_ids(void)
{
	uint8_t *at = frames;

	for (uint64_t i = 1; i < QUIC_PEER_CIDS; i++)
		at = put_cid(at, i, 0);
	expect(QUIC_NO_ERROR, at, "as many ids as we take");
	expect(QUIC_CONNECTION_ID_LIMIT_ERROR, put_cid(at, QUIC_PEER_CIDS, 0), "one more");
	at = frames;
	for (uint64_t i = 1; i < 30; i++)
		at = put_cid(at, i, i);
	expect(QUIC_CONNECTION_ID_LIMIT_ERROR, at, "each retires the one before: too many at once");
}

/* --- floods ----------------------------------------------------------------------------------- */

/* Streams that are opened and broken off at once, and asked to stop. */
static void test_resets(void)
{
	struct sim *s = begin(0, QUIC_CC_CUBIC);
	unsigned opened = 0;

	for (unsigned n = 0; n < 200 && !error_of(s); n++) {
		uint8_t *at = frames;

		while (at < frames + sizeof(frames) - 40 && opened < s->q->streams.bidi_max) {
			at = put_byte(at, 4 * opened, 0);
			at = quic_put_varint(at, QUIC_FT_RESET_STREAM);
			at = quic_put_varint(at, 4 * opened);
			at = quic_put_varint(at, 1);
			at = quic_put_varint(at, 1);
			at = quic_put_varint(at, QUIC_FT_STOP_SENDING);
			at = quic_put_varint(at, 4 * opened++);
			at = quic_put_varint(at, 1);
		}
		if (at > frames)
			say(s, at);
		run(s, 2 * DELAY_MS + 30);
	}
	is_int(error_of(s), QUIC_NO_ERROR, "%u streams that are broken off", opened);
	ok(opened > 100, "the limit follows those that have ended");
	ok(!tree_first(&s->q->streams.all), "nothing is left of them");
	ok(s->q->in_flight < 5000, "nor in flight");
	finish(s);
}

/* Each challenge wants an answer; only the last one of a turn gets one. */
static void test_challenges(void)
{
	struct sim *s = begin(0, QUIC_CC_CUBIC);
	size_t before, sent = 0;

	run(s, 100);
	before = s->down_bytes;
	for (unsigned n = 0; n < 50; n++) {
		uint8_t *at = frames;

		while (at < frames + 1000) {
			*at++ = QUIC_FT_PATH_CHALLENGE;
			for (unsigned i = 0; i < 8; i++)
				*at++ = (uint8_t)n;
		}
		sent += (size_t)(at - frames);
		say(s, at);
		run(s, 5);
	}
	run(s, 200);
	is_int(error_of(s), QUIC_NO_ERROR, "5,000 challenges of paths");
	ok(s->down_bytes - before < 2 * sent, "are answered by %zu bytes for %zu",
	   s->down_bytes - before, sent);
	finish(s);
}

/* --- addresses -------------------------------------------------------------------------------- */

/* A client that has asked for much says that it is elsewhere: there nobody answers. */
static void test_amplification(unsigned size)
{
	struct sim *s = begin(0, QUIC_CC_CUBIC);
	uint8_t room[QUIC_DATAGRAM_MAX], *at = frames;
	size_t sent = 0, n;
	unsigned datagrams = 0;

	put_upload(s);
	run(s, 300);
	s->silent = true;
	while (s->flying)
		free(s->net[--s->flying]);
	*at++ = QUIC_FT_PING;
	while (at < frames + size)
		*at++ = QUIC_FT_PADDING;
	s->q->path.from = addr_from_v4("\x0a\0\0\1", 4433);
	say(s, at);
	is_int(s->flying, 1, "one datagram from another's address");
	n = s->net[0]->len;
	quic_conn_recv(s->q, s->net[0]->bytes, n, s->now_ms * MS);
	quic_conn_settle(s->q);
	ok(s->q->flags & QUIC_FL_MOVED, "is believed for now");
	for (unsigned i = 0; i < 20000 && !played_freed && s->q->flags & QUIC_FL_MOVED; i++) {
		size_t k;

		s->now_ms++;
		if (quic_conn_deadline(s->q) <= s->now_ms * MS)
			quic_conn_timeout(s->q, s->now_ms * MS);
		while (!played_freed && addr_eq(&s->q->path.peer, &s->q->path.from) &&
		       (k = quic_conn_send(s->q, room, s->now_ms * MS))) {
			sent += k;
			datagrams++;
		}
	}
	ok(sent <= 3 * n, "%zu bytes go there for %zu", sent, n);
	ok(datagrams > (size > 100), "in %u datagrams", datagrams);
	ok(!played_freed && !(s->q->flags & QUIC_FL_MOVED) && s->q->flags & QUIC_FL_VALID,
	   "then it is believed no more");
	finish(s);
}

/* --- first packets ---------------------------------------------------------------------------- */

/* Anybody can make the keys of Initial packets; but not everybody does. */
static void test_first(void)
{
	struct quic_listener l = { .tunes = &tunes };
	struct quic_packet head;
	uint8_t p[1200] = { 0xc1, 0, 0, 0, 1, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0x44, 0x9e };
	struct quic_conn *q;

	for (unsigned i = 18; i < sizeof(p); i++)
		p[i] = (uint8_t)random();
	ok(quic_packet_read(p, sizeof(p), QUIC_OUR_CID_LEN, &head) &&
	   head.type == QUIC_PACKET_INITIAL, "the head of an Initial packet, and noise");
	q = quic_conn_new(&l, &played_host, &head, NULL, MS);
	ok(q && !quic_conn_is_first(q, &head, p), "begins nothing");
	quic_conn_free(q);
}

int main(void)
{
	if (!sim_init())
		return 1;
	test_ack_ranges();
	test_stream_holes();
	test_limits();
	test_ids();
	test_resets();
	test_challenges();
	test_amplification(1);
	test_amplification(1000);
	test_first();
	return done_testing();
}

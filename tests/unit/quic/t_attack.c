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
	struct quic_space *space = s->q->spaces[QUIC_LEVEL_APP];
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

/* A packet full of ACKs that bring nothing: the walks over what is under way are few. */
static void test_ack_flood(void)
{
	struct sim *s = begin(0, QUIC_CC_NONE);
	struct quic_space *space = s->q->spaces[QUIC_LEVEL_APP];
	uint64_t first, last;
	uint8_t *at = frames;

	put_upload(s);
	run(s, 60);
	s->silent = true;
	run(s, DELAY_MS + 2);
	first = list_first(&space->sent, struct quic_sent, link)->pn;
	last = space->next_pn - 1;
	ok(last > first + 10, "packets %llu to %llu are in flight", (unsigned long long)first,
	   (unsigned long long)last);
	for (uint64_t pn = first; pn <= last && pn < first + 10; pn++) {
		*at++ = QUIC_FT_ACK;
		at = quic_put_varint(at, pn);
		memset(at, 0, 3);
		at += 3;
	}
	s->silent = false;
	say(s, at);
	s->silent = true;
	run(s, DELAY_MS + 1);
	is_int(error_of(s), QUIC_NO_ERROR, "ten ACKs in a packet are no fault");
	is_int(space->largest_acked, first + 3, "but only some of them are looked at");
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

/* Streams that are opened and broken off immediately, and asked to stop. */
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

/* A client that updates its keys with each packet: new ones cost more than the packet. */
static void test_key_updates(unsigned pause_ms, uint64_t code, const char *what)
{
	struct sim *s = begin(0, QUIC_CC_CUBIC);
	struct quic_keys next, *keys = &s->sends.keys[QUIC_LEVEL_APP];
	uint8_t *at = frames;

	*at++ = QUIC_FT_PING;
	while (at < frames + 10)
		*at++ = QUIC_FT_PADDING;
	run(s, 100);
	s->silent = true; /* (this client cannot read what comes with other keys) */
	for (unsigned n = 0; n < 3; n++) {
		if (!quic_keys_next(&next, keys))
			return;
		next.hp = keys->hp;
		keys->hp = NULL;
		quic_keys_free(keys);
		*keys = next;
		s->sends.phase = !s->sends.phase;
		say(s, at);
		if (pause_ms)
			run(s, pause_ms);
	}
	run(s, 2 * DELAY_MS);
	is_int(error_of(s), code, "%s", what);
	finish(s);
}

/* --- addresses -------------------------------------------------------------------------------- */

/* A client that has asked for much says that it is elsewhere: there no client answers. */
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

/* While a new address is on trial, what comes from others does not let more go there. */
static void test_other_addresses(void)
{
	struct sim *s = begin(0, QUIC_CC_CUBIC);
	uint8_t *at = frames, room[PLAYED_ROOM(64)], noise[1000] = { 0x41 };
	size_t n;

	run(s, 100);
	s->silent = true;
	while (s->flying)
		free(s->net[--s->flying]);
	*at++ = QUIC_FT_PING;
	memset(at, 0, 10);
	n = played_packet(&s->sends, s->q, QUIC_LEVEL_APP, frames, 11, room);
	s->q->path.from = addr_from_v4("\x0a\0\0\1", 4433);
	quic_conn_recv(s->q, room, n, s->now_ms * MS);
	ok(s->q->flags & QUIC_FL_MOVED, "a client at another address");
	is_int(s->q->received, n, "may be sent thrice what came from there");
	memcpy(noise + 1, s->q->ids.ours.bytes, QUIC_OUR_CID_LEN);
	s->q->path.from = addr_from_v4("\x0a\0\0\2", 4433);
	quic_conn_recv(s->q, noise, sizeof(noise), s->now_ms * MS);
	is_int(s->q->received, n, "noise from a third one does not change that");
	finish(s);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* A client that makes round trips long, has much under way and then breaks a rule. */
static void test_end(void)
{
	struct sim *s = begin(0, QUIC_CC_NONE);
	struct quic_space *space = s->q->spaces[QUIC_LEVEL_APP];
	uint8_t *at = put_byte(frames, 1, 0);
	uint64_t end_ms;

	s->q->params.ack_delay_ms = 16383;
	put_upload(s);
	run(s, 60);
	ok(!list_is_empty(&space->sent), "something is under way");
	say(s, at);
	s->silent = true;
	run(s, DELAY_MS + 2);
	ok(!played_freed && s->q->state == QUIC_CLOSING, "a fault ends the connection");
	ok(list_is_empty(&space->sent) && !space->rx.aead && !space->received.list,
	   "what was under way is not kept");
	is_int(s->q->in_flight, 0, "nor counted");
	end_ms = s->now_ms;
	run(s, 60000);
	ok(played_freed && s->now_ms - end_ms < 6000, "it is gone after %llu ms",
	   (unsigned long long)(s->now_ms - end_ms));
	finish(s);
}

/* The end of a stream that is not wanted: its user is told, or it would stay for ever. */
static void test_end_of_stopped(void)
{
	struct sim *s = begin(0, QUIC_CC_CUBIC);
	struct tree_node *n;
	uint8_t *at = frames;

	say(s, put_byte(at, 2, 0));
	run(s, 2 * DELAY_MS);
	n = tree_first(&s->q->streams.all);
	ok(n, "a stream is there, and is stopped");
	quic_stream_stop(list_entry(n, struct quic_stream, node), 1);
	at = put_byte(frames, 2, 1);
	frames[0] |= QUIC_STREAM_FIN;
	say(s, at);
	run(s, 2 * DELAY_MS);
	ok(!tree_first(&s->q->streams.all), "its end comes: it is gone");
	finish(s);
}

/* --- first packets ---------------------------------------------------------------------------- */

/* Any sender can make the keys of Initial packets; but not every sender does. */
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

/* Initial packets of a connection that has begun have their price, too (RFC 9000 14.1). */
static void test_small_first(void)
{
	struct quic_listener l = { .tunes = &tunes };
	uint8_t p[PLAYED_ROOM(sizeof(played_hello))];
	struct played_client c;
	struct quic_conn *q = played_begin(&l, &tls, &c, MS);
	size_t n = played_packet(&c, q, QUIC_LEVEL_INITIAL, played_hello, 1000, p);

	quic_conn_recv(q, p, n, MS);
	ok(!q->spaces[QUIC_LEVEL_INITIAL]->received.count, "a small datagram is not looked at");
	n = played_packet(&c, q, QUIC_LEVEL_INITIAL, played_hello, sizeof(played_hello), p);
	quic_conn_recv(q, p, n, MS);
	ok(q->spaces[QUIC_LEVEL_INITIAL]->received.count, "one of the right size is");
	q->conn = NULL;
	quic_conn_free(q);
	played_end(&c);
}

int main(void)
{
	if (!sim_init())
		return 1;
	test_ack_ranges();
	test_ack_flood();
	test_stream_holes();
	test_limits();
	test_ids();
	test_resets();
	test_challenges();
	test_key_updates(0, QUIC_KEY_UPDATE_ERROR, "updates of keys in each packet");
	test_key_updates(100, QUIC_NO_ERROR, "updates of keys that we have followed");
	test_amplification(1);
	test_amplification(1000);
	test_other_addresses();
	test_end();
	test_end_of_stopped();
	test_first();
	test_small_first();
	return done_testing();
}

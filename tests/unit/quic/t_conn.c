/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connection over a simulated network and clock (sim.h): bytes that go up and come back through
 * losses and delays; what happens when the client falls silent, says goodbye or moves.
 */
#include "conn_priv.h"
#include "sim.h"

/* Takes what came back, and compares. */
static uint64_t take(struct sim *s, uint64_t at)
{
	char bytes[512];

	while (s->down.ready.len) {
		size_t n = block_queue_peek(&s->down.ready, 0, bytes, sizeof(bytes));

		for (size_t i = 0; i < n; i++)
			s->wrong += (uint8_t)bytes[i] != byte_at(at + i);
		block_queue_skip(&s->down.ready, n);
		at += n;
	}
	return at;
}

static void test_echo(unsigned loss, enum quic_cc_algo algo, bool moves)
{
	struct sim *s = begin(loss, algo);
	uint64_t got = 0;

	put_upload(s);
	for (unsigned i = 0; i < 120000 && got < s->size && !played_freed; i++) {
		if (moves && i % 300 == 150)
			s->q->path.from = addr_from_v4("\x0a\0\0\1", (uint16_t)i);
		step(s);
		got = take(s, got);
	}
	is_int(got, TOTAL, "an echo through %u losses of 1000, algorithm %d%s", loss, (int)algo,
	       moves ? ", at changing addresses" : "");
	is_int(s->wrong, 0, "nothing of it was wrong");
	ok(!played_freed && s->q->state == QUIC_OPEN, "the connection is open");
	for (unsigned i = 0; i < 2000; i++)
		step(s);
	ok(!played_freed && !s->q->in_flight && !s->q->spaces[QUIC_LEVEL_APP]->eliciting_in_flight,
	   "in the end nothing is in flight");
	ok(!tree_first(&s->q->streams.all), "and no stream is left");
	finish(s);
}

static void test_silence(void)
{
	struct sim *s = begin(0, QUIC_CC_CUBIC);
	uint64_t fell_ms;

	put_upload(s);
	for (unsigned i = 0; i < 300; i++)
		step(s);
	s->silent = true;
	fell_ms = s->now_ms;
	while (!played_freed && s->now_ms < fell_ms + 60000)
		step(s);
	ok(played_freed && s->now_ms - fell_ms >= 4900 && s->now_ms - fell_ms < 12000,
	   "a client that falls silent is forgotten after max-idle-timeout");
	finish(s);
}

static void test_goodbye(void)
{
	static const uint8_t bye[] = { QUIC_FT_CLOSE_APP, 0x41, 0, 0 };
	static const uint8_t bad[] = { 0x21, 0, 0, 0 };
	struct sim *s = begin(0, QUIC_CC_CUBIC);

	client_packet(s, bye, sizeof(bye));
	for (unsigned i = 0; i < 50; i++)
		step(s);
	ok(!played_freed && s->q->state == QUIC_DRAINING, "the client says goodbye");
	for (unsigned i = 0; i < 5000 && !played_freed; i++)
		step(s);
	ok(played_freed, "and is forgotten");
	finish(s);
	s = begin(0, QUIC_CC_CUBIC);
	client_packet(s, bad, sizeof(bad));
	for (unsigned i = 0; i < 100; i++)
		step(s);
	ok(!played_freed && s->q->state == QUIC_CLOSING && s->ended, "an unknown frame ends it");
	for (unsigned i = 0; i < 5000 && !played_freed; i++)
		step(s);
	ok(played_freed, "then it is forgotten");
	finish(s);
}

/* What becomes of a client's first packets, of version 1, whose hello lists versions. */
static struct quic_conn *begin_with(const uint8_t *versions, size_t len, struct played_client *c)
{
	static const uint8_t scid[] = { 0x0f, 4, 1, 2, 3, 4, 0x11 };
	static const struct quic_tls_ops silent = { .recv = play, .leave = leave };
	struct quic_listener l = { .tunes = &tunes };
	struct quic_conn *q = played_begin(&l, &silent, c, MS);
	uint8_t params[64];

	memcpy(params, scid, sizeof(scid));
	params[sizeof(scid)] = (uint8_t)len;
	memcpy(params + sizeof(scid) + 1, versions, len);
	quic_conn_tls_user.params(q, params, sizeof(scid) + 1 + len);
	return q;
}

static void end_of(struct quic_conn *q, struct played_client *c)
{
	q->conn = NULL;
	quic_conn_free(q);
	played_end(c);
}

/* RFC 9368 4, RFC 9369 4.1 */
static void test_versions(void)
{
	static const uint8_t second[] = { 0, 0, 0, 1, 0x6b, 0x33, 0x43, 0xcf, 0, 0, 0, 1 };
	static const uint8_t forged[] = {
		0x6b, 0x33, 0x43, 0xcf, 0x6b, 0x33, 0x43, 0xcf, 0, 0, 0, 1,
	};
	uint8_t p[PLAYED_ROOM(sizeof(played_hello))], params[QUIC_PARAMS_ROOM];
	struct quic_params read;
	struct played_client c;
	struct quic_conn *q = begin_with(second, sizeof(second), &c);
	size_t n;

	ok(quic_is_open(q) && q->version.id == QUIC_VERSION_2, "a client prefers version 2");
	ok(quic_params_read_server(params, quic_conn_tls_user.own_params(q, params), &read) &&
	   read.version == QUIC_VERSION_2, "it is told so");
	n = played_packet(&c, q, QUIC_LEVEL_INITIAL, played_hello, sizeof(played_hello), p);
	quic_conn_recv(q, p, n, MS);
	is_int(q->spaces[QUIC_LEVEL_INITIAL]->largest_rx, 0, "its packets of version 1 are read");
	end_of(q, &c);
	q = begin_with(forged, sizeof(forged), &c);
	is_int(q->end.error, QUIC_VERSION_NEGOTIATION_ERROR,
	       "a client that has chosen another version than its packets have");
	end_of(q, &c);
}

int main(void)
{
	if (!sim_init())
		return 1;
	test_echo(0, QUIC_CC_CUBIC, false);
	test_echo(30, QUIC_CC_CUBIC, false);
	test_echo(150, QUIC_CC_CUBIC, false);
	test_echo(30, QUIC_CC_NEWRENO, false);
	test_echo(30, QUIC_CC_NONE, false);
	test_echo(20, QUIC_CC_CUBIC, true);
	test_silence();
	test_goodbye();
	test_versions();
	return done_testing();
}

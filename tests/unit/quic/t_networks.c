/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two of our connections, a client's and a server's side, over random networks with a virtual
 * clock: what is lost, late, doubled, out of order, broken or from another address must not change
 * a byte of what arrives, and must not keep it from arriving; bytes in flight and timers agree with
 * what RFC 9002 says of the packets that are under way. TLS is played. QUIC_NETWORKS: how
 * many networks, from seed QUIC_SEED on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "../tap.h"
#include "congestion_priv.h"
#include "conn_priv.h"
#include "recovery_priv.h"
#include "stream_priv.h"
#include "token_priv.h"

#define MS UINT64_C(1000000)
#define FLYING 2048
#define NETWORKS 150
/* Turns that a moment may have. */
#define STILL_MOST 10000
/* A client that moves, and whose first packet from there is so small that not even its
 * acknowledgement may be sent.
 */
#define SMALL_MOVE 237
/* The server's first handshake bytes are lost twice, while its window is full of what the client
 * cannot read without them.
 */
#define LOST_HELLO 802
#define LONGEST_MS 3600000

/* What a network does, in thousandths, and how long it takes. */
struct network {
	unsigned loss, twice, broken, late;
	unsigned delay_ms, jitter_ms, late_ms;
	unsigned moves;                /* how often the client gets another address */
	unsigned burst_every_ms, burst_ms; /* nothing passes for a while; 0: never */
	unsigned rate, queue_ms;       /* bytes a ms, each way; how much may wait; 0: any */
};

struct datagram {
	uint64_t at_ns;
	size_t len;
	bool up;
	struct addr from;
	uint8_t bytes[QUIC_DATAGRAM_MAX];
};

/* One stream of the client's: <up> bytes to the server, <down> bytes back, of known content. */
struct transfer {
	struct quic_stream *client, *server;
	uint64_t up, down, up_sent, down_sent, up_got, down_got;
	bool up_done, down_done;
};
#define TRANSFERS 4

static struct {
	struct quic_conn *ends[2];     /* the client's, the server's; NULL: gone */
	struct datagram *net[FLYING];
	unsigned flying;
	uint64_t now_ns;
	struct network n;
	struct addr client;
	struct transfer transfers[TRANSFERS];
	unsigned opened, wrong, wrong_books;
	uint64_t random;
	bool lost;                     /* a connection ended before its time */
	uint64_t most_in_flight;       /* bytes, of the client */
	uint32_t losses;               /* packets, of both */
	uint64_t busy_ns[2];           /* until when each way of the link is */
} me;

static const struct quic_tunes plain = {
	.idle_ms = 600000, .streams = 10, .rxbuf = 100000, .data_ratio = 90,
	.window_max = 480 * 1024, .cubic_losses = 1,
};
static struct quic_tunes tunes;    /* of both sides */
static struct quic_line line;

static unsigned dice(unsigned below)
{
	me.random = me.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(me.random >> 33) % (below ? below : 1);
}

static uint8_t byte_at(unsigned transfer, uint64_t at, bool up)
{
	return (uint8_t)(at * 31 + (at >> 8) * 7 + transfer * 13 + up);
}

/* --- TLS that is played ----------------------------------------------------------------------- */

#define FLIGHT 3000 /* bytes of a server's handshake */

static uint8_t secrets[4][32];
static size_t heard[2][QUIC_LEVELS];

static bool tell(struct quic_conn *q, enum quic_level level, bool client)
{
	const struct quic_tls_user *u = &quic_conn_tls_user;
	const uint8_t *of_client = secrets[level == QUIC_LEVEL_APP ? 2 : 0],
		      *of_server = secrets[level == QUIC_LEVEL_APP ? 3 : 1];

	return u->secret(q, level, true, QUIC_AES_128_GCM, client ? of_client : of_server, 32) &&
	       u->secret(q, level, false, QUIC_AES_128_GCM, client ? of_server : of_client, 32);
}

static bool exchange_params(struct quic_conn *to, const struct quic_conn *of)
{
	uint8_t room[QUIC_PARAMS_ROOM];

	return quic_conn_tls_user.params(to, room, quic_conn_tls_user.own_params(of, room));
}

static enum quic_tls_status play_server(struct quic_conn *q, enum quic_level level, size_t len)
{
	static const uint8_t flight[FLIGHT];
	const struct quic_tls_user *u = &quic_conn_tls_user;
	size_t before = heard[1][level];

	heard[1][level] += len;
	if (level == QUIC_LEVEL_INITIAL && before < 300 && heard[1][level] >= 300) {
		if (!exchange_params(q, me.ends[0]) || !tell(q, QUIC_LEVEL_HANDSHAKE, false))
			return QUIC_TLS_FAILED;
		u->send(q, QUIC_LEVEL_INITIAL, flight, 90);
		u->send(q, QUIC_LEVEL_HANDSHAKE, flight, FLIGHT);
		if (!tell(q, QUIC_LEVEL_APP, false))
			return QUIC_TLS_FAILED;
	}
	if (level != QUIC_LEVEL_HANDSHAKE || heard[1][level] < 36)
		return QUIC_TLS_MORE;
	return QUIC_TLS_DONE;
}

static enum quic_tls_status play_client(struct quic_conn *q, enum quic_level level, size_t len)
{
	static const uint8_t hello[300];
	const struct quic_tls_user *u = &quic_conn_tls_user;
	size_t before = heard[0][level];

	heard[0][level] += len;
	if (!len) {
		u->send(q, QUIC_LEVEL_INITIAL, hello, sizeof(hello));
		return QUIC_TLS_MORE;
	}
	if (level == QUIC_LEVEL_INITIAL) {
		if (before < 90 && heard[0][level] >= 90 && !tell(q, QUIC_LEVEL_HANDSHAKE, true))
			return QUIC_TLS_FAILED;
		return QUIC_TLS_MORE;
	}
	if (heard[0][level] < FLIGHT)
		return QUIC_TLS_MORE;
	if (before < FLIGHT) {
		if (!exchange_params(q, me.ends[1]) || !tell(q, QUIC_LEVEL_APP, true))
			return QUIC_TLS_FAILED;
		u->send(q, QUIC_LEVEL_HANDSHAKE, hello, 36);
	}
	return QUIC_TLS_DONE;
}

static enum quic_tls_status play(struct conn *c, enum quic_level level, const uint8_t *bytes,
				 size_t len, uint8_t *alert)
{
	struct quic_conn *q = (struct quic_conn *)(void *)c;

	return q->flags & QUIC_FL_CLIENT ? play_client(q, level, len) : play_server(q, level, len);
}

static void leave(struct conn *c)
{
}

static const struct quic_tls_ops tls = { .recv = play, .leave = leave };

/* --- users ------------------------------------------------------------------------------------ */

/* Gives a stream what it takes of a side's bytes. */
static void feed(struct quic_stream *s, unsigned which, uint64_t size, uint64_t *sent, bool up)
{
	uint8_t bytes[4096];

	if (!s || *sent > size)
		return;
	for (size_t room; *sent < size && (room = quic_stream_room(s)); ) {
		size_t n = room < sizeof(bytes) ? room : sizeof(bytes);

		if (n > size - *sent)
			n = (size_t)(size - *sent);
		for (size_t i = 0; i < n; i++)
			bytes[i] = byte_at(which, *sent + i, up);
		quic_stream_send_copy(s, bytes, n);
		*sent += n;
	}
	if (*sent == size) {
		++*sent; /* once */
		quic_stream_end(s);
	}
}

static void drain(struct quic_stream *s, unsigned which, uint64_t *got, bool up)
{
	struct block_queue *rx = quic_stream_rx(s);
	uint8_t bytes[4096];

	while (rx->len) {
		size_t n = block_queue_peek(rx, 0, (char *)bytes, sizeof(bytes));

		for (size_t i = 0; i < n; i++)
			me.wrong += bytes[i] != byte_at(which, *got + i, up);
		*got += n;
		block_queue_skip(rx, n);
		quic_stream_taken(s, n);
	}
}

static void stream_event(struct quic_stream *s, unsigned events)
{
	struct transfer *t = quic_stream_owner(s);
	unsigned which = (unsigned)(t - me.transfers);
	bool server = s == t->server;

	if (events & QUIC_EV_ABORT) {
		*(server ? &t->server : &t->client) = NULL;
		me.lost = true;
		quic_stream_leave(s);
		return;
	}
	drain(s, which, server ? &t->up_got : &t->down_got, server);
	if (quic_stream_rx_ended(s))
		*(server ? &t->up_done : &t->down_done) = true;
	if (server)
		feed(s, which, t->down, &t->down_sent, false);
	else
		feed(s, which, t->up, &t->up_sent, true);
}

static void stream_new(void *owner, struct quic_stream *s)
{
	struct transfer *t = &me.transfers[quic_stream_id(s) >> 2];

	quic_stream_set_owner(s, t);
	t->server = s;
	feed(s, (unsigned)(t - me.transfers), t->down, &t->down_sent, false);
}

static void closed(void *owner)
{
	me.lost = true;
}

static const struct quic_events events = {
	.stream_new = stream_new, .stream_event = stream_event, .closed = closed,
};

static void nothing(struct quic_conn *q)
{
}

static void begin_transfers(struct quic_conn *q)
{
	for (struct quic_stream *s; me.opened < TRANSFERS && (s = quic_stream_open(q)); ) {
		struct transfer *t = &me.transfers[me.opened];

		quic_stream_set_owner(s, t);
		t->client = s;
		feed(s, me.opened++, t->up, &t->up_sent, true);
	}
}

static void ready(struct quic_conn *q)
{
	quic_conn_take(q, &events, q);
	if (q->flags & QUIC_FL_CLIENT)
		begin_transfers(q);
}

static void gone(struct quic_conn *q)
{
	me.lost = true;
}

static void forget(struct quic_conn *q)
{
	me.ends[!(q->flags & QUIC_FL_CLIENT)] = NULL;
}

static const struct quic_host host = {
	.later = nothing, .not_half_open = nothing, .ready = ready, .gone = gone,
	.forget = forget,
};

/* --- the network ------------------------------------------------------------------------------ */

static bool is_blocked(void)
{
	uint64_t ms = me.now_ns / MS;

	return me.n.burst_every_ms && ms % me.n.burst_every_ms < me.n.burst_ms;
}

/* How long a datagram waits for the link, ns; UINT64_MAX: there is no place for it. */
static uint64_t queued(bool up, size_t len)
{
	uint64_t *busy = &me.busy_ns[up], from = *busy > me.now_ns ? *busy : me.now_ns;

	if (!me.n.rate)
		return 0;
	if (from - me.now_ns > me.n.queue_ms * MS)
		return UINT64_MAX;
	*busy = from + len * MS / me.n.rate;
	return *busy - me.now_ns;
}

static void fly(bool up, const uint8_t *bytes, size_t len)
{
	unsigned copies = dice(1000) < me.n.twice ? 2 : 1;

	uint64_t wait = queued(up, len);

	if (dice(1000) < me.n.loss || is_blocked() || wait == UINT64_MAX)
		return;
	while (copies-- && me.flying < FLYING) {
		struct datagram *d = malloc(sizeof(*d));
		unsigned ms = me.n.delay_ms + dice(me.n.jitter_ms + 1);

		if (dice(1000) < me.n.late)
			ms += me.n.late_ms;
		*d = (struct datagram){ .at_ns = me.now_ns + ms * MS + wait +
						 (me.n.rate ? 0 : dice(1000000)), .len = len,
					.up = up, .from = me.client };
		memcpy(d->bytes, bytes, len);
		if (dice(1000) < me.n.broken)
			d->bytes[dice((unsigned)len)] ^= (uint8_t)(1 << dice(8));
		me.net[me.flying++] = d;
	}
}

static struct addr address(uint16_t port)
{
	struct addr a = { .family = ADDR_INET, .port = port };

	a.v4 = 0x0100007f;
	return a;
}

/* The server's side begins with the first datagram that is whole. */
static void begin_server(struct datagram *d)
{
	static const struct quic_listener l = {
		.tunes = &tunes, .line = &line, .handshake_ms = 600000,
	};
	struct quic_packet head;
	struct quic_conn *q;

	if (!quic_packet_read(d->bytes, d->len, QUIC_OUR_CID_LEN, &head) ||
	    head.type != QUIC_PACKET_INITIAL || d->len < QUIC_INITIAL_MIN)
		return;
	q = quic_conn_new(&l, &host, &head, NULL, me.now_ns);
	if (!q)
		return;
	me.ends[1] = q;
	if (!quic_conn_is_first(q, &head, d->bytes)) {
		quic_conn_free(q);
		return;
	}
	q->path.peer = q->path.from = d->from;
	quic_conn_secure(q, (struct conn *)(void *)q, &tls);
	q->flags |= QUIC_FL_LENT;
}

static void arrive(struct datagram *d)
{
	struct quic_conn *q;

	if (d->up && !me.ends[1])
		begin_server(d);
	q = me.ends[d->up];
	if (!q)
		return;
	q->path.from = d->up ? d->from : q->path.peer;
	quic_conn_recv(q, d->bytes, d->len, me.now_ns);
}

/* --- books ------------------------------------------------------------------------------------ */

/* When a connection is to ask for what is under way (RFC 9002 6.2.1); UINT64_MAX: never. */
static uint64_t model_deadline(const struct quic_conn *q)
{
	uint64_t srtt = q->rtt.known ? q->rtt.smoothed : 333 * MS, at = UINT64_MAX;
	uint64_t var = q->rtt.known ? q->rtt.var : 333 * MS / 2, pto;

	for (unsigned i = 0; i < QUIC_LEVELS; i++) {
		const struct quic_space *s = q->spaces[i];
		bool app = i == QUIC_LEVEL_APP;

		if (s->done || !s->eliciting_in_flight || (app && q->state == QUIC_HANDSHAKE))
			continue;
		if (app && q->flags & QUIC_FL_CLIENT && !(q->flags & QUIC_FL_CONFIRMED))
			continue;
		pto = srtt + (4 * var > MS ? 4 * var : MS) +
		      (app ? q->params.ack_delay_ms * MS : 0);
		for (unsigned n = 0; n < q->pto_count && n < 16; n++)
			pto *= 2;
		if (s->last_eliciting_ns + pto < at)
			at = s->last_eliciting_ns + pto;
	}
	return at;
}

/* Bytes and packets in flight are those that are kept to be acknowledged, and timers follow. */
static void check_books(const struct quic_conn *q)
{
	bool early = false, may_ask = q->flags & QUIC_FL_CLIENT &&
				      !(q->flags & QUIC_FL_CONFIRMED);
	uint64_t bytes = 0, at;

	for (unsigned i = 0; i < QUIC_LEVELS; i++) {
		const struct quic_space *s = q->spaces[i];
		uint64_t before = 0, eliciting = 0;
		struct quic_sent *p;

		if (s->done)
			continue;
		list_for_each(p, &s->sent, link) {
			bytes += p->size;
			eliciting += p->eliciting;
			me.wrong_books += p->pn < before || p->pn >= s->next_pn;
			before = p->pn + 1;
		}
		me.wrong_books += eliciting != s->eliciting_in_flight;
		early |= s->loss_ns != 0;
	}
	me.wrong_books += bytes != q->in_flight;
	if (early || may_ask || !(q->flags & QUIC_FL_VALID))
		return;
	at = model_deadline(q);
	me.wrong_books += at != quic_loss_deadline(q) || quic_conn_deadline(q) > at;
}

/* One end: what is due, what it sends. */
static void turn(unsigned end)
{
	uint8_t room[QUIC_DATAGRAM_MAX];
	size_t len;

	if (me.ends[end] && quic_conn_deadline(me.ends[end]) <= me.now_ns)
		quic_conn_timeout(me.ends[end], me.now_ns);
	for (unsigned i = 0; i < 200 && me.ends[end]; i++) {
		quic_conn_settle(me.ends[end]);
		if (end == 0 && me.ends[0] && me.ends[0]->state == QUIC_OPEN)
			begin_transfers(me.ends[0]);
		len = me.ends[end] ? quic_conn_send(me.ends[end], room, me.now_ns) : 0;
		if (!len)
			break;
		fly(end == 0, room, len);
		if (!end && me.ends[0] && me.ends[0]->in_flight > me.most_in_flight)
			me.most_in_flight = me.ends[0]->in_flight;
	}
	if (me.ends[end] && quic_is_open(me.ends[end]))
		check_books(me.ends[end]);
}

static uint64_t next_ns(void)
{
	uint64_t at = UINT64_MAX, n;

	for (unsigned i = 0; i < me.flying; i++)
		if (me.net[i]->at_ns < at)
			at = me.net[i]->at_ns;
	for (unsigned i = 0; i < 2; i++) {
		n = me.ends[i] ? quic_conn_deadline(me.ends[i]) : UINT64_MAX;
		if (n < at)
			at = n;
	}
	return at;
}

static bool is_done(void)
{
	for (unsigned i = 0; i < TRANSFERS; i++)
		if (!me.transfers[i].up_done || !me.transfers[i].down_done)
			return false;
	return true;
}

static void deliver(void)
{
	for (unsigned i = 0; i < me.flying; ) {
		struct datagram *d = me.net[i];

		if (d->at_ns > me.now_ns) {
			i++;
			continue;
		}
		me.net[i] = me.net[--me.flying];
		arrive(d);
		free(d);
	}
}

/* --- runs ------------------------------------------------------------------------------------- */

static void choose_network(void)
{
	struct network *n = &me.n;

	*n = (struct network){ .delay_ms = dice(3) ? dice(60) : dice(400),
			       .jitter_ms = dice(2) ? dice(30) : 0 };
	n->loss = dice(3) ? dice(60) : dice(2) ? 0 : dice(250);
	n->twice = dice(2) ? dice(100) : 0;
	n->broken = dice(2) ? dice(40) : 0;
	n->late = dice(2) ? dice(100) : 0;
	n->late_ms = dice(300);
	n->moves = dice(3) ? 0 : 1 + dice(3);
	if (!dice(3)) {
		n->rate = 50 + dice(2000);
		n->queue_ms = 20 + dice(200);
	}
	if (!dice(4)) {
		n->burst_every_ms = 2000 + dice(4000);
		n->burst_ms = dice(900);
	}
}

static void choose_transfers(void)
{
	for (unsigned i = 0; i < TRANSFERS; i++)
		me.transfers[i] = (struct transfer){
			.up = dice(4) ? dice(3000) : dice(150000),
			.down = dice(3) ? dice(20000) : dice(300000),
		};
}

static void begin(uint64_t seed)
{
	memset(&me, 0, sizeof(me));
	memset(heard, 0, sizeof(heard));
	me.random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	me.now_ns = 1000 * MS;
	me.client = address(1000);
	choose_network();
	choose_transfers();
	line.algo = (uint8_t)(dice(2) ? QUIC_CC_CUBIC : dice(2) ? QUIC_CC_NEWRENO : QUIC_CC_BBR);
	me.ends[0] = quic_conn_new_client(&tunes, &line, &host, me.now_ns);
	me.ends[0]->path.peer = me.ends[0]->path.from = address(443);
	quic_conn_secure(me.ends[0], (struct conn *)(void *)me.ends[0], &tls);
	me.ends[0]->flags |= QUIC_FL_LENT;
	play_client(me.ends[0], QUIC_LEVEL_INITIAL, 0);
}

static void finish(void)
{
	for (unsigned i = 0; i < 2; i++)
		if (me.ends[i]) {
			me.losses += me.ends[i]->counts.lost;
			quic_conn_free(me.ends[i]);
		}
	while (me.flying)
		free(me.net[--me.flying]);
}

/* Carries on until all has arrived, a connection is lost, or <ms> are over. */
static void carry_on(uint64_t ms)
{
	uint64_t until = me.now_ns + ms * MS, moved = 0, at;
	unsigned still = 0;

	while (!is_done() && !me.lost && me.now_ns < until) {
		turn(0);
		turn(1);
		if (me.n.moves && me.ends[1] && me.ends[1]->state == QUIC_OPEN &&
		    me.now_ns > moved + 3000 * MS) {
			moved = me.now_ns;
			me.client.port++;
			me.n.moves--;
		}
		at = next_ns();
		if (at == UINT64_MAX)
			break;
		still = at > me.now_ns ? 0 : still + 1;
		if (still > STILL_MOST) {
			me.wrong_books++; /* a deadline that nothing comes of */
			break;
		}
		if (at > me.now_ns)
			me.now_ns = at;
		deliver();
	}
}

/* Everything has arrived, and nothing else. */
static bool is_equal(void)
{
	bool good = is_done() && !me.wrong && !me.wrong_books;

	for (unsigned i = 0; i < TRANSFERS; i++)
		good &= me.transfers[i].up_got == me.transfers[i].up &&
			me.transfers[i].down_got == me.transfers[i].down;
	return good;
}

static bool run(uint64_t seed)
{
	bool good;

	begin(seed);
	carry_on(LONGEST_MS);
	good = is_equal();
	if (!good)
		printf("# seed %llu: done %d, wrong %u, books %u, lost %d, %llu ms, loss %u "
		       "delay %u+%u late %u/%u broken %u moves %u burst %u/%u\n",
		       (unsigned long long)seed, is_done(), me.wrong, me.wrong_books, me.lost,
		       (unsigned long long)(me.now_ns / MS), me.n.loss, me.n.delay_ms,
		       me.n.jitter_ms, me.n.late, me.n.late_ms, me.n.broken, me.n.moves,
		       me.n.burst_ms, me.n.burst_every_ms);
	finish();
	return good;
}

/* --- settings --------------------------------------------------------------------------------- */

/* Much is lost: the same bytes are, again and again. */
static bool is_given_up(int frame_losses)
{
	bool lost;

	tunes = plain;
	tunes.frame_losses = frame_losses;
	begin(1);
	me.n = (struct network){ .delay_ms = 10, .loss = 250 };
	me.transfers[0].up = 100000;
	carry_on(LONGEST_MS);
	lost = me.lost;
	finish();
	return lost;
}

static uint32_t losses_of(int reorder_ratio)
{
	tunes = plain;
	tunes.reorder_ratio = reorder_ratio;
	begin(2);
	me.n = (struct network){ .delay_ms = 100, .late = 150, .late_ms = 9 };
	me.transfers[0].up = me.transfers[0].down = 400000;
	carry_on(LONGEST_MS);
	ok(is_equal(), "reorder-ratio %d: all arrives", reorder_ratio);
	finish();
	return me.losses;
}

static uint64_t most_in_flight(uint64_t tx_max)
{
	tunes = plain;
	tunes.rxbuf = 1000000;
	tunes.reorder_ratio = 100;
	tunes.tx_max = tx_max;
	begin(3);
	me.n = (struct network){ .delay_ms = 50 };
	me.transfers[0].up = 900000;
	carry_on(LONGEST_MS);
	ok(is_equal(), "tx-max %llu: all arrives", (unsigned long long)tx_max);

	finish();
	return me.most_in_flight;
}

/* --- controllers ------------------------------------------------------------------------------ */

/* Percent of a link of 2 MB/s and 100 ms that an upload of 20 MB gets. */
static unsigned share_of(enum quic_cc_algo algo, unsigned loss)
{
	uint64_t began;
	unsigned share;

	tunes = plain;
	tunes.rxbuf = 4000000;
	tunes.window_max = 4000000;
	begin(4);
	line.algo = (uint8_t)algo;
	quic_cc_init(&me.ends[0]->cc, algo, me.ends[0]->mtu, tunes.window_max);
	me.n = (struct network){ .delay_ms = 50, .loss = loss, .rate = 2000, .queue_ms = 60 };
	me.transfers[0].up = 20000000;
	began = me.now_ns;
	carry_on(LONGEST_MS);
	ok(is_equal(), "controller %d, %u of 1000 lost: all arrives", algo, loss);
	share = (unsigned)(me.transfers[0].up * 100 / ((me.now_ns - began) / MS * me.n.rate));
	finish();
	return share;
}

/* Milliseconds that 5 MB take on a path without delay, behind much that is small. */
static uint64_t time_nearby(enum quic_cc_algo algo)
{
	tunes = plain;
	tunes.rxbuf = 4000000;
	begin(5);
	line.algo = (uint8_t)algo;
	quic_cc_init(&me.ends[0]->cc, algo, me.ends[0]->mtu, tunes.window_max);
	me.n = (struct network){ 0 };
	for (unsigned i = 0; i < TRANSFERS; i++)
		me.transfers[i] = (struct transfer){ .up = i ? 10 : 5000000, .down = 10 };
	carry_on(LONGEST_MS);
	ok(is_equal(), "controller %d, nearby: all arrives", algo);
	finish();
	return me.now_ns / MS - 1000;
}

static void test_controllers(void)
{
	uint64_t cubic_ms = time_nearby(QUIC_CC_CUBIC), bbr_ms = time_nearby(QUIC_CC_BBR);

	unsigned bbr = share_of(QUIC_CC_BBR, 0), bad = share_of(QUIC_CC_BBR, 10),
		 cubic = share_of(QUIC_CC_CUBIC, 0), worse = share_of(QUIC_CC_CUBIC, 10);

	ok(bbr_ms < 4000 && cubic_ms < 4000, "nearby: CUBIC %llu ms, BBR %llu ms",
	   (unsigned long long)cubic_ms, (unsigned long long)bbr_ms);
	ok(bbr > 80, "BBR fills a link: %u %%", bbr);
	ok(cubic > 60, "so does CUBIC: %u %%", cubic);
	ok(bad > 70 && bad > worse, "BBR does so where packets are lost: %u, CUBIC %u %%", bad,
	   worse);
}

static void test_settings(void)
{
	uint32_t many = losses_of(0), few = losses_of(100);
	uint64_t free_ = most_in_flight(0), bound = most_in_flight(20000);

	ok(is_given_up(1), "max-frame-loss: a connection that gets nowhere ends");
	ok(!is_given_up(0), "without it, it goes on trying");
	ok(few < many, "reorder-ratio: fewer count as lost, %u and %u", few, many);
	ok(free_ > 30000 && bound <= 20000 + QUIC_DATAGRAM_MAX, "tx-max: %llu and %llu under way",
	   (unsigned long long)free_, (unsigned long long)bound);
}

int main(void)
{
	const char *count = getenv("QUIC_NETWORKS"), *first = getenv("QUIC_SEED");
	uint64_t n = count ? strtoull(count, NULL, 10) : NETWORKS,
		 seed = first ? strtoull(first, NULL, 10) : 1, bad = 0;

	for (unsigned i = 0; i < 4; i++)
		memset(secrets[i], (int)i + 1, 32);
	ok(quic_recovery_init() && quic_stream_init() && quic_conn_init(), "pools");
	test_settings();
	test_controllers();
	tunes = plain;
	for (uint64_t i = 0; i < n; i++)
		bad += !run(seed + i);
	ok(!bad, "all transfers are complete and equal");
	ok(run(SMALL_MOVE), "what must not be sent yet does not keep the connection busy");
	ok(run(LOST_HELLO), "lost handshake bytes do not wait for ever behind a full window");
	return done_testing();
}

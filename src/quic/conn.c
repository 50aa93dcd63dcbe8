/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conn.c - QUIC: a connection's life: its states, its timers, TLS, its end
 *
 *      HANDSHAKE --> OPEN --> CLOSING ---> DEAD      we end it: the client is told, thrice a PTO
 *          |           |--> DRAINING -------^        the client ends it
 *          '-----------'--------------------'        nothing came for too long
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "base/bug.h"
#include "base/clock.h"
#include "buffers_priv.h"
#include "congestion_priv.h"
#include "conn_priv.h"
#include "core/pool.h"
#include "core/thread.h"
#include "keys_priv.h"
#include "net/conn.h"
#include "quic_trace.h"
#include "recovery_priv.h"
#include "stream_priv.h"
#include "token_priv.h"

/* How long the handshake may take, unless it is configured. */
#define HANDSHAKE_NS (10 * NS_PER_SEC)
/* A probe timeout of a path of which nothing is known (RFC 9000 8.2.4). */
#define PATH_NS NS_PER_SEC
/* Bytes of the id that a server is called by at first (RFC 9000 7.2: 8 at least). */
#define FIRST_DCID_LEN 8
/* Datagrams that fit on any path (RFC 9000 14). */
#define MTU 1232
/* The longest that a connection stays behind its end: the peer makes round trips as long as it
 * likes.
 */
#define END_NS (5 * NS_PER_SEC)

static struct pool *pool;

bool quic_conn_init(void)
{
	if (!pool)
		pool = pool_new("quic_conn", sizeof(struct quic_conn));
	return pool != NULL;
}

uint64_t quic_conn_window(const struct quic_tunes *t)
{
	return t->rxbuf ? (uint64_t)t->rxbuf : (uint64_t)t->streams * block_size();
}

uint64_t quic_stream_window(const struct quic_tunes *t)
{
	uint64_t n = quic_conn_window(t) / 100 * (uint64_t)t->data_ratio, size = block_size();

	n = (n + size - 1) / size * size;
	return !n ? size : n < UINT32_MAX ? n : UINT32_MAX;
}

/* --- birth ------------------------------------------------------------------------------------ */

static void init_streams(struct quic_conn *q)
{
	struct quic_streams *s = &q->streams;

	list_init(&s->dirty);
	list_init(&s->woken);
	s->uni_max = QUIC_UNI_STREAMS;
	q->rx.max = quic_conn_window(q->tunes);
	if (q->flags & QUIC_FL_CLIENT)
		return; /* (servers open none of both directions) */
	s->bidi_max = (uint64_t)q->tunes->streams;
	s->total_max = (uint64_t)q->tunes->streams_total;
	if (s->total_max && s->bidi_max > s->total_max)
		s->bidi_max = s->total_max;
}

static bool init_spaces(struct quic_conn *q, const struct quic_cid *dcid)
{
	return quic_spaces_make(q) && quic_initial_keys(q, dcid);
}

static void init_cc(struct quic_conn *q, enum quic_cc_algo algo, uint64_t window_max)
{
	quic_cc_init(&q->cc, algo, q->mtu, window_max);
	q->cc.losses_least = (uint32_t)q->tunes->cubic_losses;
	q->cc.hystart.on = q->tunes->hystart;
}

bool quic_initial_keys(struct quic_conn *q, const struct quic_cid *dcid)
{
	struct quic_space *s = q->spaces[QUIC_LEVEL_INITIAL];
	bool client = q->flags & QUIC_FL_CLIENT;

	quic_keys_free(&s->rx);
	quic_keys_free(&s->tx);
	return quic_keys_initial(&s->rx, q->version.id, dcid, !client, false) &&
	       quic_keys_initial(&s->tx, q->version.id, dcid, client, true);
}

/* What both sides have. NULL: no memory. */
static struct quic_conn *conn_make(const struct quic_tunes *t, const struct quic_line *line,
				   const struct quic_host *host, uint32_t flags, uint64_t now_ns)
{
	uint64_t window = t->window_max;
	struct quic_conn *q = pool_zalloc(pool);

	if (!q)
		return NULL;
	q->own_tunes = *t; /* the generation may go before the connection does */
	q->tunes = &q->own_tunes;
	q->host = host;
	q->since_ns = now_ns;
	q->mtu = MTU;
	q->flags = flags;
	q->version.id = QUIC_VERSION_1;
	list_init(&q->flush);
	quic_params_init(&q->params);
	init_streams(q);
	if (line && line->window_max)
		window = line->window_max;
	init_cc(q, line ? line->algo : QUIC_CC_CUBIC, window);
	QUIC_TRACE(STATE, q, NEW, "a connection begins");
	return q;
}

struct quic_conn *quic_conn_new(const struct quic_listener *l, const struct quic_host *host,
				const struct quic_packet *first, const struct quic_cid *retried,
				uint64_t now_ns)
{
	struct quic_conn *q = conn_make(l->tunes, l->line, host, 0, now_ns);

	if (!q)
		return NULL;
	q->counts.tally = l->tally;
	q->version.id = first->version;
	q->streams.app_limits = l->app_limits;
	q->ids.peer[0] = (struct quic_peer_cid){ .cid = first->scid, .used = true };
	q->ids.original = retried ? *retried : first->dcid;
	q->ids.retry = first->dcid;
	if (retried)
		q->flags |= QUIC_FL_VALID | QUIC_FL_RETRIED;
	q->idle_ns = now_ns + (l->handshake_ms ? l->handshake_ms * NS_PER_MS : HANDSHAKE_NS);
	if (!quic_cid_new(&q->ids.ours, thread_id) || !init_spaces(q, &first->dcid)) {
		quic_conn_free(q);
		return NULL;
	}
	return q;
}

struct quic_conn *quic_conn_new_client(const struct quic_tunes *t, const struct quic_line *line,
				       const struct quic_host *host, uint64_t now_ns)
{
	struct quic_conn *q = conn_make(t, line, host, QUIC_FL_CLIENT | QUIC_FL_VALID, now_ns);
	struct quic_ids *ids;

	if (!q)
		return NULL;
	ids = &q->ids;
	ids->original.len = FIRST_DCID_LEN;
	q->idle_ns = now_ns + (t->idle_ms ? (uint64_t)t->idle_ms * NS_PER_MS : HANDSHAKE_NS);
	if (getrandom(ids->original.bytes, FIRST_DCID_LEN, 0) != FIRST_DCID_LEN ||
	    !quic_cid_new(&ids->ours, thread_id) || !init_spaces(q, &ids->original)) {
		quic_conn_free(q);
		return NULL;
	}
	ids->retry = ids->original;
	ids->peer[0] = (struct quic_peer_cid){ .cid = ids->original, .used = true };
	return q;
}

/* The struct conn goes, or stays behind with its user. */
static void part_with_conn(struct quic_conn *q)
{
	struct conn *c = q->conn;

	q->conn = NULL;
	if (c)
		q->tls->leave(c);
	if (!(q->flags & QUIC_FL_LENT))
		conn_close(&c);
}

void quic_conn_free(struct quic_conn *q)
{
	QUIC_TRACE(STATE, q, FREED, "the connection is freed");
	q->host->forget(q);
	quic_streams_free(q);
	for (unsigned i = 0; i < QUIC_LEVELS; i++)
		if (q->spaces[i]) /* (random bytes came first, and were not to be had) */
			quic_space_discard(q, i);
	if (q->spaces[0])
		quic_spaces_shed(q);
	quic_keys_free(&q->phase.rx_next);
	quic_keys_free(&q->phase.rx_prev);
	quic_early_over(q);
	free(q->ids.token);
	part_with_conn(q);
	pool_free(pool, q);
}

void quic_conn_secure(struct quic_conn *q, struct conn *c, const struct quic_tls_ops *tls)
{
	q->conn = c;
	q->tls = tls;
}

/* --- what TLS tells --------------------------------------------------------------------------- */

void quic_early_over(struct quic_conn *q)
{
	if (!q->phase.rx_early)
		return;
	quic_keys_free(q->phase.rx_early);
	free(q->phase.rx_early);
	q->phase.rx_early = NULL;
}

static bool early_keys(struct quic_conn *q, const struct quic_secret *made_of)
{
	struct quic_keys *k = q->phase.rx_early ? NULL : calloc(1, sizeof(*k));

	if (!k || !quic_keys_make(k, made_of, false, true)) {
		free(k);
		return false;
	}
	q->phase.rx_early = k;
	QUIC_TRACE(STATE, q, READ_SECRET, "keys to read early data");
	return true;
}

static bool tls_secret(void *owner, enum quic_level level, bool tx, unsigned suite,
		       const uint8_t *secret, size_t len)
{
	struct quic_conn *q = owner;
	const struct quic_secret made_of = { secret, len, suite, q->version.id };
	struct quic_space *s;
	struct quic_keys *k;

	if (level == QUIC_LEVEL_EARLY)
		return !tx && early_keys(q, &made_of);
	s = q->spaces[level];
	k = tx ? &s->tx : &s->rx;
	if (k->aead || s->done)
		return false;
	if (!quic_keys_make(k, &made_of, tx, true))
		return false;
	if (tx)
		QUIC_TRACE(STATE, q, WRITE_SECRET, "keys to write, level %d", level);
	else
		QUIC_TRACE(STATE, q, READ_SECRET, "keys to read, level %d", level);
	return true;
}

static bool tls_send(void *owner, enum quic_level level, const uint8_t *bytes, size_t len)
{
	struct quic_space *s = ((struct quic_conn *)owner)->spaces[level];

	return !s->done && quic_sendbuf_add(&s->crypto_tx, bytes, len);
}

/* Does the server name the ids that we know of (RFC 9000 7.3)? */
static bool knows_ids(const struct quic_conn *q, const struct quic_params *p)
{
	if (!p->has_odcid || !quic_cid_is(&p->odcid, &q->ids.original) ||
	    p->has_retry != !!(q->flags & QUIC_FL_RETRIED))
		return false;
	return !p->has_retry || quic_cid_is(&p->retry, &q->ids.retry);
}

static bool read_params(struct quic_conn *q, const uint8_t *bytes, size_t len)
{
	struct quic_params *p = &q->params;

	if (!(q->flags & QUIC_FL_CLIENT))
		return quic_params_read(bytes, len, p);
	if (!quic_params_read_server(bytes, len, p) || !knows_ids(q, p))
		return false;
	q->ids.peer[0].has_token = p->has_token;
	memcpy(q->ids.peer[0].token, p->token, sizeof(p->token));
	return true;
}

/* Goes over to the version that the client prefers to that of its packets. False: no memory. */
static bool switch_version(struct quic_conn *q, uint32_t version)
{
	struct quic_space *s = q->spaces[QUIC_LEVEL_INITIAL];

	q->version.rx_first = malloc(sizeof(*q->version.rx_first));
	if (!q->version.rx_first)
		return false;
	*q->version.rx_first = s->rx;
	s->rx = (struct quic_keys){ 0 };
	q->version.id = version;
	return quic_initial_keys(q, &q->ids.retry);
}

/* Is the version the one that the peer means, not one that an attacker has chosen (RFC 9368 4)? A
 * client may prefer another one.
 */
static bool agree_on_version(struct quic_conn *q)
{
	const struct quic_params *p = &q->params;

	if (p->has_versions && p->version != q->version.id &&
	    !(q->version.rx_first && quic_version_is_known(p->version))) {
		quic_conn_fail(q, QUIC_VERSION_NEGOTIATION_ERROR, 0);
		return false;
	}
	/* (a hello that is said again does not change it back) */
	if (q->flags & QUIC_FL_CLIENT || !p->version_preferred || q->version.rx_first ||
	    p->version_preferred == q->version.id)
		return true;
	return switch_version(q, p->version_preferred);
}

/* RFC 9000 7.3, 7.4 */
static bool tls_params(void *owner, const uint8_t *bytes, size_t len)
{
	struct quic_conn *q = owner;
	struct quic_params *p = &q->params;
	uint64_t idle = (uint64_t)q->tunes->idle_ms;

	if (!read_params(q, bytes, len) || !quic_cid_is(&p->scid, &q->ids.peer[0].cid) ||
	    !agree_on_version(q))
		return false;
	QUIC_TRACE(PROTO, q, PARAMS, "transport parameters came");
	if (p->idle_ms && (!idle || p->idle_ms < idle))
		idle = p->idle_ms;
	q->idle_after_ns = idle * NS_PER_MS;
	if (p->udp_payload_max < q->mtu)
		q->mtu = (uint32_t)p->udp_payload_max;
	q->tx.max = p->data_max;
	q->streams.own_uni_max = p->streams_uni;
	q->streams.own_bidi_max = p->streams_bidi;
	return true;
}

_Static_assert(QUIC_TLS_PARAMS_ROOM == QUIC_PARAMS_ROOM, "both are for our parameters");

static size_t tls_own_params(const void *owner, uint8_t *room)
{
	const struct quic_conn *q = owner;
	bool server = !(q->flags & QUIC_FL_CLIENT);
	struct quic_params p = {
		.idle_ms = (uint64_t)q->tunes->idle_ms, .udp_payload_max = QUIC_UDP_PAYLOAD_MAX,
		.data_max = q->rx.max, .stream_local = quic_stream_window(q->tunes),
		.stream_remote = quic_stream_window(q->tunes), .stream_uni = QUIC_UNI_WINDOW,
		.streams_bidi = q->streams.bidi_max, .streams_uni = q->streams.uni_max,
		.ack_exponent = 3, .ack_delay_ms = QUIC_ACK_DELAY_MS, .cid_limit = QUIC_PEER_CIDS,
		.no_migration = true, .has_scid = true, .scid = q->ids.ours, .has_odcid = server,
		.odcid = q->ids.original, .has_retry = server && q->flags & QUIC_FL_RETRIED,
		.retry = q->ids.retry, .has_versions = true, .version = q->version.id,
		.version_preferred = server ? QUIC_VERSION_1 : 0,
	};

	p.has_token = server && quic_reset_token(&q->ids.ours, p.token);
	return quic_params_put(&p, room);
}

/* The parameters of RFC 9000 7.4.1, as they are sent. A client that changes the version has sent
 * what is early with the keys of the former one: it is not taken.
 */
static size_t tls_limits(const void *owner, uint8_t *room)
{
	const struct quic_conn *q = owner;
	const uint64_t limits[] = {
		q->version.id, q->rx.max, quic_stream_window(q->tunes), QUIC_UNI_WINDOW,
		q->streams.bidi_max, q->streams.uni_max, QUIC_PEER_CIDS, q->streams.app_limits,
	};

	_Static_assert(sizeof(limits) <= QUIC_TLS_LIMITS_ROOM, "they have room");
	if (q->version.rx_first)
		return 0;
	memcpy(room, limits, sizeof(limits));
	return sizeof(limits);
}

static void tls_closed(void *owner)
{
	struct quic_conn *q = owner;

	q->conn = NULL;
	/* a connection to a server that no mux has taken is given up */
	if (q->flags & QUIC_FL_CLIENT && !q->events)
		quic_conn_fail(q, QUIC_NO_ERROR, 0);
}

static const struct addr *tls_address(void *owner, bool peer)
{
	const struct quic_conn *q = owner;

	return peer ? &q->path.peer : &q->local;
}

const struct quic_tls_user quic_conn_tls_user = {
	.secret = tls_secret, .send = tls_send, .params = tls_params, .closed = tls_closed,
	.address = tls_address, .own_params = tls_own_params,
	.limits = tls_limits,
};

/* --- another address -------------------------------------------------------------------------- */

void quic_conn_moved(struct quic_conn *q, size_t len, uint64_t now_ns)
{
	struct quic_path *p = &q->path;

	if (getrandom(p->challenge, sizeof(p->challenge), 0) != (ssize_t)sizeof(p->challenge))
		return;
	if (q->flags & QUIC_FL_VALID)
		p->valid = p->peer;
	/* another address is another network, another port mostly is not (RFC 9000 9.4) */
	if (!addr_eq_ip(&p->peer, &p->from)) {
		init_cc(q, q->cc.algo, q->cc.window_max);
		q->rtt.known = false;
		quic_ecn_restart(q);
	}
	p->peer = p->from;
	p->pause_ns = quic_pto_ns(q, true);
	p->again_ns = now_ns + p->pause_ns;
	p->until_ns = now_ns + 3 * (p->pause_ns > PATH_NS ? p->pause_ns : PATH_NS);
	q->received = len;
	q->sent = 0;
	q->flags &= ~(uint32_t)QUIC_FL_VALID;
	q->flags |= QUIC_FL_MOVED | QUIC_FL_CHALLENGE_DUE;
}

/* Asks again, or, when no answer has come for long, goes back: that address was none of the
 * client's. The challenge or its answer may have been lost.
 */
static void check_path(struct quic_conn *q, uint64_t now_ns)
{
	struct quic_path *p = &q->path;

	if (!(q->flags & QUIC_FL_MOVED) || p->again_ns > now_ns)
		return;
	if (p->until_ns > now_ns) {
		q->flags |= QUIC_FL_CHALLENGE_DUE;
		p->pause_ns *= 2;
		p->again_ns += p->pause_ns;
		return;
	}
	p->peer = p->valid;
	q->flags &= ~(uint32_t)(QUIC_FL_MOVED | QUIC_FL_CHALLENGE_DUE);
	q->flags |= QUIC_FL_VALID;
}

/* --- time ------------------------------------------------------------------------------------- */

void quic_conn_active(struct quic_conn *q, uint64_t now_ns)
{
	uint64_t least = 3 * quic_pto_ns(q, true);

	if (q->state == QUIC_HANDSHAKE)
		return;
	q->idle_ns = !q->idle_max_ns ? UINT64_MAX
		     : now_ns + (q->idle_max_ns > least ? q->idle_max_ns : least);
}

uint64_t quic_conn_deadline(const struct quic_conn *q)
{
	uint64_t at = q->idle_ns, n;

	if (q->state >= QUIC_CLOSING)
		return q->end.until_ns;
	n = quic_loss_deadline(q);
	if (n < at)
		at = n;
	if (q->paced_ns && q->paced_ns < at)
		at = q->paced_ns;
	if (q->flags & QUIC_FL_MOVED && q->path.again_ns < at)
		at = q->path.again_ns;
	for (unsigned i = 0; i < QUIC_LEVELS && quic_may_ack(q); i++) {
		n = q->spaces[i]->ack_ns;
		if (n && n < at && q->spaces[i]->tx.aead)
			at = n;
	}
	return at;
}

void quic_conn_timeout(struct quic_conn *q, uint64_t now_ns)
{
	if (q->state >= QUIC_CLOSING) {
		if (now_ns >= q->end.until_ns)
			q->state = QUIC_DEAD;
		return;
	}
	if (now_ns >= q->idle_ns) {
		/* silently (RFC 9000 10.1) */
		QUIC_TRACE(USER, q, IDLE, "nothing came for too long");
		q->end.system = ETIMEDOUT;
		q->state = QUIC_DEAD;
		return;
	}
	check_path(q, now_ns);
	if (quic_loss_deadline(q) <= now_ns)
		quic_on_loss_timer(q, now_ns);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void begin_end(struct quic_conn *q, enum quic_state state, uint64_t now_ns)
{
	uint64_t ns = 3 * quic_pto_ns(q, true);

	q->state = (uint8_t)state;
	q->end.until_ns = now_ns + (ns < END_NS ? ns : END_NS);
	quic_flush_later(q);
}

void quic_conn_fail(struct quic_conn *q, uint64_t error, uint64_t frame)
{
	if (!quic_is_open(q))
		return;
	QUIC_TRACE(USER, q, CLOSE, "the connection is closed, error 0x%llx",
		   (unsigned long long)error);
	q->end.error = error;
	q->end.frame = frame;
	q->flags |= QUIC_FL_CLOSE_DUE;
	begin_end(q, QUIC_CLOSING, clock_now_ns());
}

void quic_conn_drain(struct quic_conn *q, uint64_t now_ns)
{
	if (q->state >= QUIC_DRAINING)
		return;
	begin_end(q, QUIC_DRAINING, now_ns);
}

/* Why a connection to a server did not come to be, or broke. */
static int system_error(const struct quic_conn *q)
{
	if (q->end.system)
		return q->end.system;
	if (q->end.error >= QUIC_CRYPTO_ERROR && q->end.error < QUIC_CRYPTO_ERROR + 256)
		return EPROTO;
	return q->end.error == QUIC_CONNECTION_REFUSED ? ECONNREFUSED : ECONNRESET;
}

void quic_conn_lose(struct quic_conn *q, int error)
{
	if (!quic_is_open(q))
		return;
	q->end.system = error;
	q->state = QUIC_DEAD;
	quic_flush_later(q);
}

/* What stays of it is little: keys to say the end again. */
static void shed(struct quic_conn *q)
{
	for (unsigned i = 0; i < QUIC_LEVELS; i++) {
		if (q->state == QUIC_CLOSING)
			quic_space_strip(q, q->spaces[i]);
		else
			quic_space_discard(q, i);
	}
	quic_keys_free(&q->phase.rx_next);
	quic_keys_free(&q->phase.rx_prev);
	quic_early_over(q);
}

/* It has no user, whose counters would live as long. */
static void count_nowhere(struct quic_conn *q)
{
	quic_conn_tally(q, &(struct quic_tally){ 0 });
}

/* Tells the layers above that it has ended: none knows of it any more; TLS is of no use. */
static void part(struct quic_conn *q)
{
	const struct quic_events *events = q->events;

	q->host->not_half_open(q);
	if (!(q->flags & (QUIC_FL_CLIENT | QUIC_FL_TOLD)))
		quic_count(q, COUNT_QUIC_HANDSHAKE_FAILED);
	if (q->flags & QUIC_FL_CLIENT && q->conn) {
		q->conn->error = (uint8_t)system_error(q);
		q->conn->flags |= CONN_ERROR;
	}
	if (events) {
		quic_streams_abort(q);
		if (!q->events)
			return;
		q->events = NULL;
		events->closed(q->owner);
	} else {
		q->host->gone(q);
	}
	q->counts.tally.set = NULL;
	quic_streams_free(q);
	part_with_conn(q);
	shed(q);
}

/* Tells that it can be used: once. */
static void tell_ready(struct quic_conn *q)
{
	q->flags &= ~(uint32_t)QUIC_FL_READY;
	if (q->state == QUIC_OPEN && q->host->proved)
		q->host->proved(q);
	if (q->flags & QUIC_FL_TOLD)
		return;
	q->flags |= QUIC_FL_TOLD;
	if (!q->events)
		count_nowhere(q); /* (the one that takes it has counters of its own) */
	q->host->ready(q);
	if (!q->events)
		quic_conn_fail(q, QUIC_CONNECTION_REFUSED, 0);
}

void quic_conn_settle(struct quic_conn *q)
{
	if (q->flags & QUIC_FL_BUSY)
		return;
	q->flags |= QUIC_FL_BUSY;
	if (q->flags & QUIC_FL_READY && quic_is_used(q))
		tell_ready(q);
	if (q->events)
		quic_streams_tell(q);
	if (!quic_is_open(q) && (q->conn || q->events))
		part(q);
	q->flags &= ~(uint32_t)QUIC_FL_BUSY;
	quic_spaces_shed(q);
	if (q->state == QUIC_DEAD)
		quic_conn_free(q);
}

void quic_conn_take(struct quic_conn *q, const struct quic_events *events, void *owner)
{
	q->events = events;
	q->owner = owner;
}

void quic_conn_close(struct quic_conn *q, uint64_t error)
{
	q->events = NULL;
	count_nowhere(q);
	if (quic_is_open(q)) {
		q->flags |= QUIC_FL_CLOSE_APP;
		quic_conn_fail(q, error, 0);
	}
	quic_streams_free(q);
	part_with_conn(q);
	shed(q);
	quic_flush_later(q);
}

void quic_conn_drop(struct quic_conn *q)
{
	quic_conn_drain(q, clock_now_ns());
	quic_conn_close(q, 0);
}

/* A handshake that goes on is counted there, too: with early data it is not over yet. */
void quic_conn_tally(struct quic_conn *q, const struct quic_tally *t)
{
	bool is_half_open = q->flags & QUIC_FL_HALF_OPEN;

	if (is_half_open)
		quic_tally_add(&q->counts.tally, COUNT_QUIC_HALF_OPEN, -1);
	q->counts.tally = *t;
	if (is_half_open)
		quic_tally_add(t, COUNT_QUIC_HALF_OPEN, 1);
}

bool quic_conn_closed_by_app(const struct quic_conn *q, uint64_t *error)
{
	*error = q->end.error;
	return q->flags & QUIC_FL_APP_ERROR;
}

struct conn *quic_conn_release(struct quic_conn *q)
{
	q->flags |= QUIC_FL_LENT;
	return q->conn;
}

const struct addr *quic_conn_peer(const struct quic_conn *q)
{
	return &q->path.peer;
}

const struct addr *quic_conn_local(const struct quic_conn *q)
{
	return &q->local;
}

uint64_t quic_conn_since_ns(const struct quic_conn *q)
{
	return q->since_ns;
}

unsigned quic_conn_glitches_max(const struct quic_conn *q)
{
	return (unsigned)q->tunes->glitches;
}

bool quic_conn_is_used_up(const struct quic_conn *q)
{
	return q->streams.total_max && q->streams.bidi_next >= q->streams.total_max;
}

bool quic_conn_figures(const struct conn *c, struct quic_figures *out)
{
	const struct quic_conn *q = conn_quic(c);

	if (!q)
		return false;
	*out = (struct quic_figures){
		.rtt_us = q->rtt.smoothed / 1000, .rttvar_us = q->rtt.var / 1000,
		.lost = q->counts.lost, .reordered = q->counts.reordered,
	};
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tx.c - QUIC: builds datagrams (RFC 9000 12 to 14, 17) */
#include "base/bug.h"
#include "base/clock.h"
#include "buffers_priv.h"
#include "congestion_priv.h"
#include "conn_priv.h"
#include "keys_priv.h"
#include "quic_trace.h"
#include "ranges_priv.h"
#include "recovery_priv.h"
#include "stream_priv.h"

/* Bytes of a length that is filled in afterwards: a varint of two. */
#define LEN_BYTES 2
/* A frame of data is not begun for less. */
#define DATA_LEAST 32
/* Ranges in an acknowledgement. */
#define ACK_RANGES 24
/* The most that one range, or the head of a frame, takes. */
#define RANGE_MAX 16
#define HEAD_MAX 25
#define ECN_MAX 24
/* Bytes for small challenges, behind a large one. */
#define PATHS_LEAST 512
/* Packets that keys of AES-GCM protect (RFC 9001 6.6), and when the next keys are due. */
#define SEALED_MAX (UINT64_C(1) << 23)
#define SEALED_MANY (UINT64_C(1) << 22)
/* Packets that may leave together, beside those of a tick of the timers. */
#define PACE_BURST 10
#define PACE_TICK_NS (2 * NS_PER_MS)

/* A packet that is being made. */
struct outgoing {
	struct quic_conn *q;
	struct quic_space *s;
	enum quic_level level;
	uint8_t *start;                /* of the packet; NULL: there is none */
	uint8_t *len_at;               /* long headers: where the length goes; NULL */
	uint8_t *pn_at, *payload, *at;
	uint8_t *end;                  /* of the room, before the tag */
	struct quic_sent *sent;
	bool eliciting;
	bool pad;                      /* the datagram is to have QUIC_INITIAL_MIN bytes */
	uint64_t now_ns;
};

static size_t room(const struct outgoing *o)
{
	return o->at < o->end ? (size_t)(o->end - o->at) : 0;
}

/* --- frames ----------------------------------------------------------------------------------- */

static bool has_place(const struct outgoing *o)
{
	return o->sent->count < QUIC_SENT_FRAMES && room(o) >= HEAD_MAX;
}

/* A frame was written that has to arrive. */
static void note(struct outgoing *o, struct quic_sent_frame f)
{
	BUG_ON(o->sent->count == QUIC_SENT_FRAMES);
	o->sent->frames[o->sent->count++] = f;
	if (f.type != QUIC_FT_ACK)
		o->eliciting = true;
}

static void put_ack(struct outgoing *o)
{
	const struct quic_ranges *r = &o->s->received;
	bool marks = quic_ecn_has_counts(o->s) && room(o) >= HEAD_MAX + ECN_MAX;
	uint32_t i = r->count - 1, n = 0;
	uint32_t most = (uint32_t)((room(o) - HEAD_MAX - (marks ? ECN_MAX : 0)) / RANGE_MAX);
	uint64_t delay = (o->now_ns - o->s->largest_rx_ns) / 1000 >> 3;
	uint8_t *at = o->at;

	if (most > ACK_RANGES)
		most = ACK_RANGES;
	n = i < most ? i : most;
	*at++ = marks ? QUIC_FT_ACK_ECN : QUIC_FT_ACK;
	at = quic_put_varint(at, r->list[i].to - 1);
	at = quic_put_varint(at, delay);
	at = quic_put_varint(at, n);
	at = quic_put_varint(at, r->list[i].to - 1 - r->list[i].from);
	for (; n; n--, i--) {
		at = quic_put_varint(at, r->list[i].from - r->list[i - 1].to - 1);
		at = quic_put_varint(at, r->list[i - 1].to - 1 - r->list[i - 1].from);
	}
	for (unsigned k = 0; marks && k < QUIC_ECN_COUNTS; k++)
		at = quic_put_varint(at, o->s->marks.received[k]);
	o->at = at;
	note(o, (struct quic_sent_frame){ .type = QUIC_FT_ACK,
					  .offset = r->list[r->count - 1].to });
	o->s->unacked = 0;
	o->s->ack_ns = 0;
}

static void put_number(struct outgoing *o, uint8_t type, uint64_t value)
{
	*o->at++ = type;
	o->at = quic_put_varint(o->at, value);
	note(o, (struct quic_sent_frame){ .type = type, .id = value });
}

/* Copies bytes of a buffer behind what was written, after a length of two bytes. */
static void put_data(struct outgoing *o, const struct quic_sendbuf *b, uint64_t from, size_t len)
{
	*o->at++ = (uint8_t)(0x40 | len >> 8);
	*o->at++ = (uint8_t)len;
	block_queue_peek(&b->data, (size_t)(from - b->base), (char *)o->at, len);
	o->at += len;
}

static void put_crypto(struct outgoing *o)
{
	struct quic_sendbuf *b = &o->s->crypto_tx;
	uint64_t from;
	size_t len;
	bool fin;

	while (has_place(o) && room(o) > HEAD_MAX + 1 &&
	       quic_sendbuf_next(b, UINT64_MAX, room(o) - HEAD_MAX, &from, &len, &fin)) {
		*o->at++ = QUIC_FT_CRYPTO;
		o->at = quic_put_varint(o->at, from);
		put_data(o, b, from, len);
		note(o, (struct quic_sent_frame){ .type = QUIC_FT_CRYPTO, .offset = from,
						  .len = (uint16_t)len });
		if (!quic_sendbuf_sent(b, from, len, false))
			quic_conn_fail(o->q, QUIC_INTERNAL_ERROR, 0);
	}
}

/* Takes a flag: is it to be sent, and does it fit? */
static bool is_due(struct outgoing *o, uint32_t flag)
{
	if (!(o->q->flags & flag) || !has_place(o))
		return false;
	o->q->flags &= ~flag;
	return true;
}

/* Such frames try out whether large datagrams get through, too (RFC 9000 8.2.1), if there is enough
 * left to ask again.
 */
static void put_path(struct outgoing *o, uint8_t type, const uint8_t *bytes)
{
	const struct quic_conn *q = o->q;

	*o->at++ = type;
	for (unsigned i = 0; i < 8; i++)
		*o->at++ = bytes[i];
	o->eliciting = true;
	if (q->flags & QUIC_FL_VALID ||
	    q->sent + QUIC_INITIAL_MIN + PATHS_LEAST <= 3 * q->received)
		o->pad = true;
}

/* They do not wait for a window: it may be full of what went to an address without a peer. */
static void put_paths(struct outgoing *o)
{
	if (is_due(o, QUIC_FL_CHALLENGE_DUE))
		put_path(o, QUIC_FT_PATH_CHALLENGE, o->q->path.challenge);
	if (is_due(o, QUIC_FL_RESPONSE_DUE))
		put_path(o, QUIC_FT_PATH_RESPONSE, o->q->path.response);
}

static void put_control(struct outgoing *o)
{
	struct quic_conn *q = o->q;

	if (is_due(o, QUIC_FL_DONE_DUE)) {
		*o->at++ = QUIC_FT_HANDSHAKE_DONE;
		note(o, (struct quic_sent_frame){ .type = QUIC_FT_HANDSHAKE_DONE });
	}
	if (is_due(o, QUIC_FL_MAX_DATA_DUE))
		put_number(o, QUIC_FT_MAX_DATA, q->rx.max);
	if (is_due(o, QUIC_FL_MAX_BIDI_DUE))
		put_number(o, QUIC_FT_MAX_STREAMS_BIDI, q->streams.bidi_max);
	if (is_due(o, QUIC_FL_MAX_UNI_DUE))
		put_number(o, QUIC_FT_MAX_STREAMS_UNI, q->streams.uni_max);
	while (q->ids.retired_count && has_place(o))
		put_number(o, QUIC_FT_RETIRE_CONNECTION_ID,
			   q->ids.retired[--q->ids.retired_count]);
}

static void put_stream_control(struct outgoing *o, struct quic_stream *s)
{
	if (s->flags & QUIC_SFL_STOP_DUE && has_place(o)) {
		s->flags &= (uint16_t)~QUIC_SFL_STOP_DUE;
		*o->at++ = QUIC_FT_STOP_SENDING;
		o->at = quic_put_varint(o->at, s->id);
		o->at = quic_put_varint(o->at, s->stop_error);
		note(o, (struct quic_sent_frame){ .type = QUIC_FT_STOP_SENDING, .id = s->id });
	}
	if (s->flags & QUIC_SFL_RESET_DUE && has_place(o)) {
		s->flags &= (uint16_t)~QUIC_SFL_RESET_DUE;
		*o->at++ = QUIC_FT_RESET_STREAM;
		o->at = quic_put_varint(o->at, s->id);
		o->at = quic_put_varint(o->at, s->tx_error);
		o->at = quic_put_varint(o->at, s->tx_size);
		note(o, (struct quic_sent_frame){ .type = QUIC_FT_RESET_STREAM, .id = s->id });
	}
	if (s->flags & QUIC_SFL_MAX_DUE && has_place(o)) {
		s->flags &= (uint16_t)~QUIC_SFL_MAX_DUE;
		*o->at++ = QUIC_FT_MAX_STREAM_DATA;
		o->at = quic_put_varint(o->at, s->id);
		o->at = quic_put_varint(o->at, s->rx_max);
		note(o, (struct quic_sent_frame){ .type = QUIC_FT_MAX_STREAM_DATA, .id = s->id });
	}
}

/* Up to which offset the windows let a stream send. */
static uint64_t send_limit(const struct quic_stream *s)
{
	const struct quic_conn *q = s->conn;
	uint64_t by_conn = s->tx.sent + (q->tx.max - q->tx.used);

	return s->tx_max < by_conn ? s->tx_max : by_conn;
}

static void put_stream_data(struct outgoing *o, struct quic_stream *s)
{
	uint64_t from, before = s->tx.sent;
	size_t len;
	bool fin;

	if (s->flags & QUIC_SFL_TX_RESET || !has_place(o) || room(o) < HEAD_MAX + DATA_LEAST ||
	    !quic_sendbuf_next(&s->tx, send_limit(s), room(o) - HEAD_MAX, &from, &len, &fin))
		return;
	*o->at++ = QUIC_FT_STREAM | QUIC_STREAM_OFF | QUIC_STREAM_LEN | (fin ? QUIC_STREAM_FIN : 0);
	o->at = quic_put_varint(o->at, s->id);
	o->at = quic_put_varint(o->at, from);
	put_data(o, &s->tx, from, len);
	note(o, (struct quic_sent_frame){ .type = QUIC_FT_STREAM, .id = s->id, .offset = from,
					  .len = (uint16_t)len, .fin = fin });
	if (!quic_sendbuf_sent(&s->tx, from, len, fin))
		quic_conn_fail(o->q, QUIC_INTERNAL_ERROR, 0);
	s->conn->tx.used += s->tx.sent - before;
	quic_stream_check_room(s);
}

static bool stream_is_due(const struct quic_stream *s)
{
	if (s->flags & (QUIC_SFL_STOP_DUE | QUIC_SFL_RESET_DUE | QUIC_SFL_MAX_DUE))
		return true;
	return !(s->flags & QUIC_SFL_TX_RESET) && s->flags & QUIC_SFL_TX &&
	       quic_sendbuf_is_due(&s->tx, send_limit(s));
}

/* The streams in turn, a packet's worth each. */
static void put_streams(struct outgoing *o)
{
	struct list *dirty = &o->q->streams.dirty;

	while (!list_is_empty(dirty) && has_place(o) && room(o) >= HEAD_MAX + DATA_LEAST) {
		struct quic_stream *s = list_first(dirty, struct quic_stream, dirty);
		const uint8_t *before = o->at;

		put_stream_control(o, s);
		put_stream_data(o, s);
		list_remove(&s->dirty);
		if (!stream_is_due(s))
			continue;
		list_append(dirty, &s->dirty);
		if (o->at == before)
			break;
	}
}

/* --- packets ---------------------------------------------------------------------------------- */

static const struct quic_cid *peer_cid(const struct quic_conn *q)
{
	return &q->ids.peer[q->ids.active].cid;
}

static uint8_t *put_cid(uint8_t *at, const struct quic_cid *cid, bool with_len)
{
	if (with_len)
		*at++ = cid->len;
	for (unsigned i = 0; i < cid->len; i++)
		*at++ = cid->bytes[i];
	return at;
}

/* That of a server's Retry; none, as servers have. */
static uint8_t *put_token(uint8_t *at, const struct quic_ids *ids)
{
	at = quic_put_varint(at, ids->token_len);
	for (unsigned i = 0; i < ids->token_len; i++)
		*at++ = ids->token[i];
	return at;
}

/* Packet numbers are sent with as few bytes as the peer can tell them by (RFC 9000 17.1). */
static unsigned pn_len(const struct quic_space *s)
{
	uint64_t unknown = s->next_pn - (s->largest_acked == UINT64_MAX ? 0 : s->largest_acked);

	return unknown < 0x3fff ? 2 : 4;
}

/* Begins a packet at <at>, in the room before <end>. False: too little of it, or no memory. */
static bool packet_begin(struct outgoing *o, enum quic_level level, uint8_t *at, uint8_t *end)
{
	struct quic_conn *q = o->q;
	struct quic_space *s = q->spaces[level];
	unsigned n = pn_len(s);

	if (end - at < QUIC_PACKET_LEAST + (level == QUIC_LEVEL_APP ? 0 : QUIC_CID_MAX) +
		       (level == QUIC_LEVEL_INITIAL ? q->ids.token_len : 0))
		return false;
	o->sent = quic_sent_new();
	if (!o->sent)
		return false;
	o->s = s;
	o->level = level;
	o->start = at;
	o->len_at = NULL;
	o->eliciting = false;
	if (level == QUIC_LEVEL_APP) {
		*at++ = (uint8_t)(0x40 | (q->flags & QUIC_FL_PHASE ? 4 : 0) | (n - 1));
		at = put_cid(at, peer_cid(q), false);
	} else {
		at = quic_put_long(at, level == QUIC_LEVEL_HANDSHAKE ? QUIC_PACKET_HANDSHAKE
								     : QUIC_PACKET_INITIAL,
				   q->version.id, (uint8_t)(n - 1));
		at = put_cid(at, peer_cid(q), true);
		at = put_cid(at, &q->ids.ours, true);
		if (level == QUIC_LEVEL_INITIAL)
			at = put_token(at, &q->ids);
		o->len_at = at;
		at += LEN_BYTES;
	}
	o->pn_at = at;
	for (unsigned i = n; i--; )
		*at++ = (uint8_t)(s->next_pn >> 8 * i);
	o->payload = o->at = at;
	o->end = end - QUIC_TAG_LEN;
	return true;
}

/* Protects it. Returns its end. */
static uint8_t *packet_end(struct outgoing *o)
{
	size_t len, sum;
	uint8_t mask[5];

	/* there must be enough for a sample */
	while (o->at < o->pn_at + 4)
		*o->at++ = QUIC_FT_PADDING;
	len = (size_t)(o->at - o->payload);
	if (o->len_at) {
		sum = (size_t)(o->at - o->pn_at) + QUIC_TAG_LEN;
		o->len_at[0] = (uint8_t)(0x40 | sum >> 8);
		o->len_at[1] = (uint8_t)sum;
	}
	if (!quic_seal(&o->s->tx, o->s->next_pn, o->start, (size_t)(o->payload - o->start),
		       o->payload, len) ||
	    !quic_header_mask(&o->s->tx, o->pn_at + 4, mask)) {
		quic_conn_fail(o->q, QUIC_INTERNAL_ERROR, 0);
		o->q->state = QUIC_DEAD;
	} else {
		for (unsigned i = 0; o->pn_at + i < o->payload; i++)
			o->pn_at[i] ^= mask[1 + i];
		o->start[0] ^= mask[0] & (o->len_at ? 0x0f : 0x1f);
	}
	o->at += QUIC_TAG_LEN;
	return o->at;
}

/* It leaves. */
static void packet_sent(struct outgoing *o, bool padded)
{
	struct quic_conn *q = o->q;
	struct quic_sent *p = o->sent;

	p->pn = o->s->next_pn++;
	p->sent_ns = o->now_ns;
	p->eliciting = o->eliciting;
	p->in_flight = o->eliciting || padded;
	p->size = (uint16_t)(o->at - o->start);
	p->marked = quic_ecn_sent(q, o->s);
	q->counts.packets++;
	QUIC_TRACE(PROTO, q, TX_PACKET, "packet %llu of level %d leaves, %u bytes",
		   (unsigned long long)p->pn, o->level, p->size);
	q->counts.bytes += p->size;
	if (o->level == QUIC_LEVEL_APP)
		q->phase.sealed++;
	if (o->eliciting && !(q->flags & QUIC_FL_IDLE_SENT)) {
		q->flags |= QUIC_FL_IDLE_SENT;
		quic_conn_active(q, o->now_ns);
	}
	if (o->eliciting && o->s->probes)
		o->s->probes--;
	if (o->eliciting)
		q->credit -= p->size;
	quic_on_sent(q, o->s, p);
}

/* --- what is to be sent ----------------------------------------------------------------------- */

/* --- pacing (RFC 9002 7.7) -------------------------------------------------------------------- */

/* Bytes that may leave in <ns>: somewhat more than a window in a round trip. */
static double paced_bytes(const struct quic_conn *q, uint64_t ns)
{
	double window = (double)q->cc.window * (q->cc.window < q->cc.threshold ? 2 : 1.25);

	if (q->cc.algo == QUIC_CC_BBR && q->cc.bbr.pace > 0)
		return q->cc.bbr.pace * (double)ns;
	return window * (double)ns / (double)(q->rtt.smoothed ? q->rtt.smoothed : 1);
}

static bool is_paced(const struct quic_conn *q)
{
	return !q->tunes->unpaced && q->rtt.known && q->state == QUIC_OPEN;
}

/* What has become due since the last time; together not more than a burst. */
static void count_credit(struct quic_conn *q, uint64_t now_ns)
{
	uint64_t ns = now_ns - q->pace_ns;
	double most, more;

	if (now_ns <= q->pace_ns || !is_paced(q))
		return;
	q->pace_ns = now_ns;
	most = (double)PACE_BURST * q->mtu + paced_bytes(q, PACE_TICK_NS);
	more = q->credit + paced_bytes(q, ns < NS_PER_SEC ? ns : NS_PER_SEC);
	q->credit = more < most ? more : most;
}

static bool is_held_back(const struct quic_conn *q)
{
	return is_paced(q) && q->credit < (double)q->mtu;
}

static bool window_is_open(const struct quic_conn *q)
{
	if (quic_tx_is_full(q->tunes)) /* (each may send something) */
		return q->in_flight + q->mtu <= 2ull * q->mtu;
	return q->in_flight + q->mtu <= q->cc.window;
}

static bool may_send_data(const struct quic_conn *q, const struct quic_space *s)
{
	return quic_may_send_there(q) && (s->probes || (window_is_open(q) && !is_held_back(q)));
}

static bool has_data(const struct quic_conn *q, enum quic_level level)
{
	const struct quic_space *s = q->spaces[level];

	if (quic_sendbuf_is_due(&s->crypto_tx, UINT64_MAX) || s->probes)
		return true;
	return level == QUIC_LEVEL_APP && quic_is_used(q) &&
	       (q->flags & QUIC_FL_CONTROL_DUE || q->ids.retired_count ||
		!list_is_empty(&q->streams.dirty));
}

static bool is_wanted(const struct quic_conn *q, enum quic_level level, uint64_t now_ns)
{
	const struct quic_space *s = q->spaces[level];

	if (s->done || !s->tx.aead)
		return false;
	if (s->ack_ns && s->ack_ns <= now_ns)
		return true;
	if (level == QUIC_LEVEL_APP && q->state == QUIC_OPEN && q->flags & QUIC_FL_PATH_DUE)
		return true;
	return has_data(q, level) && may_send_data(q, s);
}

static void fill(struct outgoing *o)
{
	struct quic_conn *q = o->q;
	struct quic_space *s = o->s;
	bool data = may_send_data(q, s);

	if (s->ack_ns && s->received.count)
		put_ack(o);
	if (o->level == QUIC_LEVEL_APP && q->state == QUIC_OPEN)
		put_paths(o);
	if (!data)
		return;
	put_crypto(o);
	if (o->level == QUIC_LEVEL_APP && quic_is_used(q)) {
		put_control(o);
		put_streams(o);
	}
	if (s->probes && !o->eliciting && room(o)) {
		*o->at++ = QUIC_FT_PING;
		o->eliciting = true;
	}
}

/* When pacing lets more leave; 0: it is not in the way. */
static uint64_t pace_deadline(const struct quic_conn *q)
{
	if (!is_held_back(q) || !has_data(q, QUIC_LEVEL_APP) || !window_is_open(q) ||
	    !quic_may_send_there(q))
		return 0;
	return q->pace_ns + (uint64_t)(((double)q->mtu - q->credit) *
				       (double)NS_PER_MS / (paced_bytes(q, NS_PER_MS) + 1)) + 1;
}

/* Goes on to new keys before those in use have protected too much. */
static void check_keys(struct quic_conn *q)
{
	if (q->phase.sealed >= SEALED_MANY && q->flags & QUIC_FL_PHASE_ACKED)
		quic_phase_next(q, UINT64_MAX);
	if (q->phase.sealed >= SEALED_MAX)
		quic_conn_fail(q, QUIC_AEAD_LIMIT_REACHED, 0);
}

/* CONNECTION_CLOSE at every level that the client may understand. */
static size_t send_close(struct quic_conn *q, uint8_t *bytes, uint64_t now_ns)
{
	struct outgoing o = { .q = q, .now_ns = now_ns };
	uint8_t *at = bytes, *end = bytes + quic_allowed(q);

	q->flags &= ~(uint32_t)QUIC_FL_CLOSE_DUE;
	for (unsigned i = 0; i < QUIC_LEVELS; i++) {
		struct quic_space *s = q->spaces[i];
		bool app = q->flags & QUIC_FL_CLOSE_APP;

		if (s->done || !s->tx.aead || !packet_begin(&o, i, at, end))
			continue;
		if (app && i == QUIC_LEVEL_APP) {
			*o.at++ = QUIC_FT_CLOSE_APP;
			o.at = quic_put_varint(o.at, q->end.error);
		} else {
			*o.at++ = QUIC_FT_CLOSE;
			o.at = quic_put_varint(o.at, app ? QUIC_APPLICATION_ERROR : q->end.error);
			o.at = quic_put_varint(o.at, q->end.frame);
		}
		*o.at++ = 0; /* no reason in words */
		at = packet_end(&o);
		packet_sent(&o, false);
	}
	return (size_t)(at - bytes);
}

size_t quic_conn_send(struct quic_conn *q, uint8_t *bytes, uint64_t now_ns)
{
	struct outgoing o = { .q = q, .now_ns = now_ns };
	uint8_t *at = bytes, *end = bytes + quic_allowed(q);
	bool handshake = false;
	size_t n;

	q->paced_ns = 0;
	if (q->state >= QUIC_DRAINING || end == bytes)
		return 0;
	if (q->state == QUIC_CLOSING)
		return q->flags & QUIC_FL_CLOSE_DUE ? send_close(q, bytes, now_ns) : 0;
	check_keys(q);
	count_credit(q, now_ns);
	for (unsigned i = 0; i < QUIC_LEVELS && q->state < QUIC_DRAINING; i++) {
		if (!is_wanted(q, i, now_ns))
			continue;
		if (o.start) {
			at = packet_end(&o);
			packet_sent(&o, false);
			o.start = NULL;
		}
		if (!packet_begin(&o, i, at, end))
			break;
		fill(&o);
		handshake |= i == QUIC_LEVEL_HANDSHAKE && o.at != o.payload;
		if (o.at == o.payload) { /* (only windows of streams were in the way) */
			quic_sent_free(o.sent);
			o.start = NULL;
			continue;
		}
		o.pad = o.pad || (i == QUIC_LEVEL_INITIAL &&
				  (o.eliciting || q->flags & QUIC_FL_CLIENT));
	}
	if (o.start) {
		while (o.pad && o.at < o.end && o.at + QUIC_TAG_LEN < bytes + QUIC_INITIAL_MIN)
			*o.at++ = QUIC_FT_PADDING;
		at = packet_end(&o);
		packet_sent(&o, o.pad);
	}
	n = (size_t)(at - bytes);
	if (handshake && q->flags & QUIC_FL_CLIENT) /* RFC 9001 4.9.1 */
		quic_space_discard(q, QUIC_LEVEL_INITIAL);
	q->sent += n;
	q->paced_ns = pace_deadline(q);
	if (!n && q->cc.algo == QUIC_CC_BBR && window_is_open(q) &&
	    !has_data(q, QUIC_LEVEL_APP))
		quic_bbr_app_limited(&q->cc, q->in_flight);
	return q->state == QUIC_DEAD ? 0 : n;
}

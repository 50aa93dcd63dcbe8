/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rx.c - QUIC: packets received: protection off, then frame by frame (RFC 9000 12, 13, RFC 9001) */
#include <string.h>
#include "base/clock.h"
#include "buffers_priv.h"
#include "conn_priv.h"
#include "keys_priv.h"
#include "quic_trace.h"
#include "ranges_priv.h"
#include "recovery_priv.h"
#include "stream_priv.h"
#include "token_priv.h"

/* Packets that are not authentic, with the key of one connection (RFC 9001 6.6: 2^36 at least). */
#define FORGED_MAX (UINT64_C(1) << 36)
/* Bytes of CRYPTO that may wait for those before them (RFC 9000 7.5: 4096 at least). */
#define CRYPTO_EARLY_MAX 65536
/* Ranges of packet numbers that we remember. */
#define RANGES_MAX 64
/* Acknowledge at the latest every second packet (RFC 9000 13.2.2). */
#define ACK_EVERY 2
/* ACKs of one packet that are looked at: each is a walk over all that is under way, and one says
 * all that there is to say.
 */
#define ACKS_MOST 4

/* One packet on its way through. */
struct incoming {
	struct quic_conn *q;
	struct quic_space *s;
	enum quic_level level;
	uint64_t pn, now_ns;
	size_t datagram;               /* bytes of the datagram */
	struct quic_reader frames;
	unsigned acks;                 /* ACK frames so far */
	bool early;                    /* it is a 0-RTT packet */
	bool eliciting;
	bool uses_path;                /* it does more than to try out a path (RFC 9000 9.1) */
};

/* --- frames ----------------------------------------------------------------------------------- */

static void handshake_done(struct quic_conn *q, uint64_t now_ns)
{
	if (q->state != QUIC_HANDSHAKE)
		return;
	q->state = QUIC_OPEN;
	q->flags |= QUIC_FL_READY;
	if (!(q->flags & QUIC_FL_CLIENT))
		q->flags |= QUIC_FL_DONE_DUE;
	q->idle_max_ns = q->idle_after_ns;
	quic_conn_active(q, now_ns);
	q->host->not_half_open(q);
}

/* Early data of the client are taken: it is used while the handshake goes on. */
static void early_begins(struct quic_conn *q)
{
	if (q->flags & QUIC_FL_EARLY || q->state != QUIC_HANDSHAKE)
		return;
	q->flags |= QUIC_FL_EARLY | QUIC_FL_READY;
}

/* The server has our Finished: what only handshakes need is of no use any more. */
static void handshake_confirmed(struct quic_conn *q)
{
	q->flags |= QUIC_FL_CONFIRMED;
	quic_space_discard(q, QUIC_LEVEL_INITIAL);
	quic_space_discard(q, QUIC_LEVEL_HANDSHAKE);
}

/* Gives TLS what came in order. */
static enum quic_error crypto_forward(struct incoming *in)
{
	struct quic_conn *q = in->q;
	struct block_queue *ready = &in->s->crypto_rx.ready;
	uint8_t alert = 0;

	while (ready->len && q->conn) {
		const struct piece *p = ready->first;
		enum quic_tls_status r = q->tls->recv(q->conn, in->level, (const uint8_t *)p->ptr,
						      p->len, &alert);

		if (r == QUIC_TLS_FAILED)
			return (enum quic_error)(alert ? QUIC_CRYPTO_ERROR + alert
						       : QUIC_TRANSPORT_PARAMETER_ERROR);
		block_queue_skip(ready, p->len);
		if (r == QUIC_TLS_EARLY)
			early_begins(q);
		if (r == QUIC_TLS_DONE)
			handshake_done(q, in->now_ns);
	}
	return QUIC_NO_ERROR;
}

static enum quic_error on_crypto(struct incoming *in, const struct quic_frame *f)
{
	struct quic_recvbuf *b = &in->s->crypto_rx;

	/* a client has nothing to say once the handshake is over: 10 is unexpected_message */
	if (in->level == QUIC_LEVEL_APP && !(in->q->flags & QUIC_FL_CLIENT))
		return (enum quic_error)(QUIC_CRYPTO_ERROR + 10);
	if (f->offset + f->len > b->at + CRYPTO_EARLY_MAX)
		return QUIC_CRYPTO_BUFFER_EXCEEDED;
	if (!quic_recvbuf_add(b, f->offset, f->data, f->len))
		return QUIC_INTERNAL_ERROR;
	return crypto_forward(in);
}

/* Frames that say that the peer would send more. */
static void count_blocked(const struct quic_conn *q, uint64_t type)
{
	if (type >= QUIC_FT_DATA_BLOCKED && type <= QUIC_FT_STREAMS_BLOCKED_UNI)
		quic_count(q, COUNT_QUIC_DATA_BLOCKED + (unsigned)(type - QUIC_FT_DATA_BLOCKED));
}

static enum quic_error on_stream_frame(struct incoming *in, const struct quic_frame *f)
{
	bool sends = f->type == QUIC_FT_STREAM || f->type == QUIC_FT_RESET_STREAM ||
		     f->type == QUIC_FT_STREAM_DATA_BLOCKED;
	enum quic_error e;
	struct quic_stream *s = quic_stream_of_frame(in->q, f->id, sends, &e);

	if (!s)
		return e;
	switch (f->type) {
	case QUIC_FT_STREAM:
		return quic_stream_data(s, f);
	case QUIC_FT_RESET_STREAM:
		return quic_stream_reset_got(s, f);
	case QUIC_FT_STOP_SENDING:
		quic_stream_stop_got(s, f->value);
		break;
	case QUIC_FT_MAX_STREAM_DATA:
		if (f->value > s->tx_max) {
			s->tx_max = f->value;
			quic_stream_dirty(s);
		}
		break;
	default:
		break;
	}
	return QUIC_NO_ERROR;
}

static enum quic_error retire(struct quic_conn *q, struct quic_peer_cid *c)
{
	if (q->ids.retired_count == QUIC_RETIRED_MAX)
		return QUIC_CONNECTION_ID_LIMIT_ERROR;
	q->ids.retired[q->ids.retired_count++] = c->seq;
	c->used = false;
	return QUIC_NO_ERROR;
}

/* RFC 9000 19.15 */
static enum quic_error on_new_cid(struct quic_conn *q, const struct quic_frame *f)
{
	struct quic_ids *ids = &q->ids;
	struct quic_peer_cid *place = NULL, late = { .seq = f->id };
	enum quic_error e = QUIC_NO_ERROR;

	if (!ids->peer[ids->active].cid.len)
		return QUIC_PROTOCOL_VIOLATION;
	for (unsigned i = 0; i < QUIC_PEER_CIDS; i++)
		if (ids->peer[i].used && ids->peer[i].seq == f->id)
			return quic_cid_is(&ids->peer[i].cid, &f->cid) ? QUIC_NO_ERROR
								      : QUIC_PROTOCOL_VIOLATION;
	if (f->value > ids->retire_prior)
		ids->retire_prior = f->value;
	for (unsigned i = 0; !e && i < QUIC_PEER_CIDS; i++)
		if (ids->peer[i].used && ids->peer[i].seq < ids->retire_prior)
			e = retire(q, &ids->peer[i]);
	if (e || f->id < ids->retire_prior)
		return e ? e : retire(q, &late);
	for (unsigned i = 0; i < QUIC_PEER_CIDS && !place; i++)
		if (!ids->peer[i].used)
			place = &ids->peer[i];
	if (!place)
		return QUIC_CONNECTION_ID_LIMIT_ERROR;
	*place = (struct quic_peer_cid){ .seq = f->id, .cid = f->cid, .used = true,
					 .has_token = true };
	memcpy(place->token, f->reset_token, sizeof(place->token));
	for (unsigned i = 0; i < QUIC_PEER_CIDS && !ids->peer[ids->active].used; i++)
		if (ids->peer[i].used)
			ids->active = (uint8_t)i;
	return QUIC_NO_ERROR;
}

/* May a frame of this type come with early data (RFC 9000 12.5)? */
static bool is_allowed_early(uint64_t type)
{
	switch (type) {
	case QUIC_FT_ACK:
	case QUIC_FT_ACK_ECN:
	case QUIC_FT_CRYPTO:
	case QUIC_FT_HANDSHAKE_DONE:
	case QUIC_FT_NEW_TOKEN:
	case QUIC_FT_PATH_RESPONSE:
	case QUIC_FT_RETIRE_CONNECTION_ID:
		return false;
	default:
		return true;
	}
}

/* May a frame of this type come at this level (RFC 9000 12.4)? And from a client at all? */
static bool is_allowed(const struct quic_conn *q, uint64_t type, enum quic_level level)
{
	if ((type == QUIC_FT_HANDSHAKE_DONE || type == QUIC_FT_NEW_TOKEN) &&
	    !(q->flags & QUIC_FL_CLIENT))
		return false;
	if (level == QUIC_LEVEL_APP)
		return true;
	return type <= QUIC_FT_ACK_ECN || type == QUIC_FT_CRYPTO || type == QUIC_FT_CLOSE;
}

static enum quic_error on_app_frame(struct incoming *in, struct quic_frame *f)
{
	struct quic_conn *q = in->q;

	count_blocked(q, f->type);
	switch (f->type) {
	case QUIC_FT_RESET_STREAM:
	case QUIC_FT_STOP_SENDING:
	case QUIC_FT_STREAM:
	case QUIC_FT_MAX_STREAM_DATA:
	case QUIC_FT_STREAM_DATA_BLOCKED:
		return on_stream_frame(in, f);
	case QUIC_FT_MAX_DATA:
		if (f->value > q->tx.max) {
			bool closed = q->tx.used == q->tx.max;

			q->tx.max = f->value;
			if (closed)
				quic_streams_go_on(q);
		}
		break;
	case QUIC_FT_MAX_STREAMS_BIDI:
		quic_streams_allowed(q, f->value);
		break;
	case QUIC_FT_HANDSHAKE_DONE:
		handshake_confirmed(q);
		break;
	case QUIC_FT_MAX_STREAMS_UNI:
		if (f->value > q->streams.own_uni_max)
			q->streams.own_uni_max = f->value;
		break;
	case QUIC_FT_NEW_CONNECTION_ID:
		return on_new_cid(q, f);
	case QUIC_FT_RETIRE_CONNECTION_ID:
		/* the only one that we gave is the one in use */
		return QUIC_PROTOCOL_VIOLATION;
	case QUIC_FT_PATH_CHALLENGE:
		memcpy(q->path.response, f->data, sizeof(q->path.response));
		q->flags |= QUIC_FL_RESPONSE_DUE;
		break;
	case QUIC_FT_PATH_RESPONSE:
		if (q->flags & QUIC_FL_MOVED &&
		    memcmp(q->path.challenge, f->data, sizeof(q->path.challenge)) == 0) {
			q->flags &= ~(uint32_t)(QUIC_FL_MOVED | QUIC_FL_CHALLENGE_DUE);
			q->flags |= QUIC_FL_VALID;
			quic_count(q, COUNT_QUIC_MOVED);
		}
		break;
	default:
		break;
	}
	return QUIC_NO_ERROR;
}

/* The peer has closed the connection. */
static void on_close(struct quic_conn *q, const struct quic_frame *f, uint64_t now_ns)
{
	uint64_t e = f->value;

	q->end.error = e;
	if (f->type == QUIC_FT_CLOSE_APP)
		q->flags |= QUIC_FL_APP_ERROR;
	else
		quic_count(q, e <= QUIC_NO_VIABLE_PATH ? COUNT_QUIC_ERR_NONE + (unsigned)e
			      : e >= QUIC_CRYPTO_ERROR && e < QUIC_CRYPTO_ERROR + 256
			      ? COUNT_QUIC_ERR_CRYPTO : COUNT_QUIC_ERR_UNKNOWN);
	quic_conn_drain(q, now_ns);
}

static enum quic_error on_frame(struct incoming *in, struct quic_frame *f)
{
	struct quic_conn *q = in->q;

	QUIC_TRACE(DATA, q, FRAME, "a frame of type 0x%llx came", (unsigned long long)f->type);
	if (!is_allowed(q, f->type, in->level) || (in->early && !is_allowed_early(f->type)))
		return QUIC_PROTOCOL_VIOLATION;
	if (f->type != QUIC_FT_PADDING && f->type != QUIC_FT_ACK && f->type != QUIC_FT_ACK_ECN &&
	    f->type != QUIC_FT_CLOSE && f->type != QUIC_FT_CLOSE_APP)
		in->eliciting = true;
	if (f->type != QUIC_FT_PADDING && f->type != QUIC_FT_PATH_CHALLENGE &&
	    f->type != QUIC_FT_PATH_RESPONSE && f->type != QUIC_FT_NEW_CONNECTION_ID)
		in->uses_path = true;
	switch (f->type) {
	case QUIC_FT_PADDING:
	case QUIC_FT_PING:
		return QUIC_NO_ERROR;
	case QUIC_FT_ACK:
	case QUIC_FT_ACK_ECN:
		return ++in->acks > ACKS_MOST ? QUIC_NO_ERROR
					      : quic_on_ack(q, in->s, f, in->now_ns);
	case QUIC_FT_CRYPTO:
		return on_crypto(in, f);
	case QUIC_FT_CLOSE:
	case QUIC_FT_CLOSE_APP:
		on_close(q, f, in->now_ns);
		return QUIC_NO_ERROR;
	default:
		return on_app_frame(in, f);
	}
}

/* Is a packet with such a fault one that cannot be read? Windows are a matter of streams. */
static bool is_malformed(enum quic_error e)
{
	return e != QUIC_INTERNAL_ERROR && e != QUIC_FLOW_CONTROL_ERROR &&
	       e != QUIC_FINAL_SIZE_ERROR && e < QUIC_CRYPTO_ERROR;
}

static void on_frames(struct incoming *in)
{
	struct quic_frame f;
	enum quic_error e;

	if (in->frames.at == in->frames.end) {
		quic_count(in->q, COUNT_QUIC_DROPPED_PARSING);
		quic_conn_fail(in->q, QUIC_PROTOCOL_VIOLATION, 0);
		return;
	}
	while (in->frames.at < in->frames.end && quic_is_open(in->q)) {
		e = quic_frame_read(&in->frames, &f);
		if (!e)
			e = on_frame(in, &f);
		if (e) {
			if (is_malformed(e))
				quic_count(in->q, COUNT_QUIC_DROPPED_PARSING);
			quic_conn_fail(in->q, e, f.type);
			return;
		}
		/* TLS may have gone on to the next level: the rest of this one does not count */
		if (in->s->done)
			return;
	}
}

/* --- packets ---------------------------------------------------------------------------------- */

/* Has this packet been seen, or may it have been? */
static bool is_known(const struct quic_space *s, uint64_t pn)
{
	return pn < s->received_floor || quic_ranges_has(&s->received, pn);
}

static void note_received(struct incoming *in)
{
	struct quic_space *s = in->s;
	uint64_t delay = in->level == QUIC_LEVEL_APP ? QUIC_ACK_DELAY_MS * NS_PER_MS : 0;
	bool in_order = s->largest_rx == UINT64_MAX || in->pn == s->largest_rx + 1;

	if (!quic_ranges_add(&s->received, in->pn, in->pn + 1)) {
		quic_conn_fail(in->q, QUIC_INTERNAL_ERROR, 0);
		return;
	}
	if (s->received.count > RANGES_MAX)
		quic_received_forget(s, s->received.list[s->received.count - RANGES_MAX].from);
	if (s->largest_rx == UINT64_MAX || in->pn > s->largest_rx) {
		s->largest_rx = in->pn;
		s->largest_rx_ns = in->now_ns;
	}
	quic_ecn_received(in->q, s);
	if (!in->eliciting)
		return;
	s->unacked++;
	if (!in_order || in->q->path.ecn.rx == QUIC_ECN_CE || s->unacked >= ACK_EVERY || !delay)
		s->ack_ns = in->now_ns;
	else if (!s->ack_ns)
		s->ack_ns = in->now_ns + delay;
}

/* Makes the keys of the next phase: connections that stay in the first one need none. False: no
 * memory.
 */
static bool next_phase_keys(struct quic_conn *q)
{
	return q->phase.rx_next.aead ||
	       quic_keys_next(&q->phase.rx_next, &q->spaces[QUIC_LEVEL_APP]->rx);
}

/* The keys for a short packet of the other phase: of the next one, or of the one before. */
static const struct quic_keys *other_phase(struct quic_conn *q, uint64_t pn)
{
	if (q->phase.rx_prev.aead && pn < q->phase.rx_pn)
		return &q->phase.rx_prev;
	next_phase_keys(q);
	return &q->phase.rx_next;
}

bool quic_phase_next(struct quic_conn *q, uint64_t pn)
{
	struct quic_space *s = q->spaces[QUIC_LEVEL_APP];
	struct quic_keys tx;

	if (!next_phase_keys(q) || !quic_keys_next(&tx, &s->tx))
		return false;
	/* the keys for headers stay the same */
	tx.hp = s->tx.hp;
	s->tx.hp = NULL;
	quic_keys_free(&s->tx);
	s->tx = tx;
	quic_keys_free(&q->phase.rx_prev);
	q->phase.rx_next.hp = s->rx.hp;
	s->rx.hp = NULL;
	q->phase.rx_prev = s->rx;
	s->rx = q->phase.rx_next;
	q->phase.rx_next = (struct quic_keys){ 0 };
	q->phase.rx_pn = pn;
	q->phase.tx_pn = s->next_pn;
	q->phase.sealed = 0;
	q->flags ^= QUIC_FL_PHASE;
	q->flags &= ~(uint32_t)(QUIC_FL_PHASE_ACKED | QUIC_FL_PHASE_NEW);
	return true;
}

/* The peer has gone on to the next keys with packet <pn>. It may not do so again before we have
 * answered with those (RFC 9001 6.2): making keys costs more than opening packets.
 */
static bool follow_phase(struct quic_conn *q, uint64_t pn)
{
	if (q->flags & QUIC_FL_PHASE_NEW && !q->phase.sealed)
		quic_conn_fail(q, QUIC_KEY_UPDATE_ERROR, 0);
	else if (!quic_phase_next(q, pn))
		quic_conn_fail(q, QUIC_INTERNAL_ERROR, 0);
	else
		q->flags |= QUIC_FL_PHASE_NEW;
	return quic_is_open(q);
}

/* Takes the protection off. <p>: the packet, whose header is read already. False: it is no packet
 * of the client's.
 */
static bool open_packet(struct incoming *in, const struct quic_packet *head, uint8_t *p)
{
	struct quic_conn *q = in->q;
	bool is_short = head->type == QUIC_PACKET_SHORT, other;
	bool is_current = is_short || head->version == q->version.id;
	const struct quic_keys *keys = in->early ? q->phase.rx_early
				       : is_current ? &in->s->rx : q->version.rx_first;
	uint64_t truncated = 0;
	size_t at = head->pn_at;
	unsigned pn_len;
	uint8_t mask[5];

	if (head->size < at + 4 + QUIC_SAMPLE_LEN || !quic_header_mask(keys, p + at + 4, mask))
		return false;
	p[0] ^= mask[0] & (is_short ? 0x1f : 0x0f);
	pn_len = (p[0] & 3) + 1u;
	for (unsigned i = 0; i < pn_len; i++) {
		p[at + i] ^= mask[1 + i];
		truncated = truncated << 8 | p[at + i];
	}
	in->pn = quic_pn_decode(in->s->largest_rx, truncated, 8 * pn_len);
	at += pn_len;
	other = is_short && !(p[0] & 4) != !(q->flags & QUIC_FL_PHASE);
	if (other)
		keys = other_phase(q, in->pn);
	if (!keys->aead || !quic_open(keys, in->pn, p, at, p + at, head->size - at)) {
		if (++q->phase.forged >= FORGED_MAX)
			quic_conn_fail(q, QUIC_AEAD_LIMIT_REACHED, 0);
		return false;
	}
	in->frames = (struct quic_reader){ p + at, p + head->size - QUIC_TAG_LEN };
	if (p[0] & (is_short ? 0x18 : 0x0c)) {
		quic_conn_fail(q, QUIC_PROTOCOL_VIOLATION, 0);
		return false;
	}
	if (is_short && !other && q->phase.rx_pn == UINT64_MAX)
		q->phase.rx_pn = in->pn; /* the client has followed us */
	return !other || keys != &q->phase.rx_next || follow_phase(q, in->pn);
}

bool quic_conn_is_first(struct quic_conn *q, const struct quic_packet *head, const uint8_t *bytes)
{
	struct incoming in = { .q = q, .s = q->spaces[QUIC_LEVEL_INITIAL] };
	uint8_t copy[QUIC_UDP_PAYLOAD_MAX];

	if (head->size > sizeof(copy))
		return false;
	memcpy(copy, bytes, head->size);
	return open_packet(&in, head, copy);
}

static bool level_of(const struct quic_packet *head, enum quic_level *level)
{
	switch (head->type) {
	case QUIC_PACKET_INITIAL:
		*level = QUIC_LEVEL_INITIAL;
		return true;
	case QUIC_PACKET_HANDSHAKE:
		*level = QUIC_LEVEL_HANDSHAKE;
		return true;
	case QUIC_PACKET_EARLY:
	case QUIC_PACKET_SHORT:
		*level = QUIC_LEVEL_APP;
		return true;
	}
	return false;
}

/* The server's first packet tells how to call it; others that call it otherwise are not its own
 * (RFC 9000 7.2).
 */
static bool is_of_server(struct quic_conn *q, const struct quic_packet *head)
{
	if (head->type == QUIC_PACKET_SHORT)
		return true;
	if (head->token_len)
		return false;
	if (!(q->flags & QUIC_FL_PEER_CID)) {
		q->flags |= QUIC_FL_PEER_CID;
		q->ids.peer[0].cid = head->scid;
	}
	return quic_cid_is(&head->scid, &q->ids.peer[0].cid);
}

static bool is_before_handshake_ends(const struct quic_conn *q, enum quic_level level)
{
	return level == QUIC_LEVEL_APP && q->state == QUIC_HANDSHAKE;
}

/* What a client has shown, or a server. */
static void level_reached(struct quic_conn *q, enum quic_level level)
{
	if (level != QUIC_LEVEL_HANDSHAKE || q->flags & QUIC_FL_CLIENT)
		return; /* (a client is done with Initial packets once it has sent another) */
	q->flags |= QUIC_FL_VALID;
	quic_space_discard(q, QUIC_LEVEL_INITIAL);
}

/* Are there keys for a packet, and is it time for it? */
static bool is_readable(const struct incoming *in)
{
	const struct quic_conn *q = in->q;

	if (in->early)
		return q->phase.rx_early && !in->s->done;
	/* of the application nothing is looked at before the handshake is over (RFC 9001 5.7) */
	return in->s->rx.aead && !in->s->done && !is_before_handshake_ends(q, in->level);
}

static void on_packet(struct quic_conn *q, const struct quic_packet *head, uint8_t *p,
		      size_t datagram, uint64_t now_ns)
{
	struct incoming in = { .q = q, .now_ns = now_ns, .datagram = datagram };
	bool client = q->flags & QUIC_FL_CLIENT;

	if (!level_of(head, &in.level))
		return;
	in.s = q->spaces[in.level];
	in.early = head->type == QUIC_PACKET_EARLY;
	if (!is_readable(&in) || !open_packet(&in, head, p)) {
		quic_count(q, COUNT_QUIC_DROPPED);
		return;
	}
	if (is_known(in.s, in.pn))
		return;
	if (client && !is_of_server(q, head))
		return;
	QUIC_TRACE(PROTO, q, RX_PACKET, "packet %llu of level %d came", (unsigned long long)in.pn,
		   in.level);
	quic_conn_active(q, now_ns);
	q->flags &= ~(uint32_t)QUIC_FL_IDLE_SENT;
	level_reached(q, in.level);
	on_frames(&in);
	if (!client && in.uses_path && q->state == QUIC_OPEN &&
	    !addr_eq(&q->path.from, &q->path.peer) && in.pn > in.s->largest_rx)
		quic_conn_moved(q, in.datagram, now_ns);
	if (!in.s->done && quic_is_open(q))
		note_received(&in);
	if (q->state == QUIC_OPEN && !client)
		quic_space_discard(q, QUIC_LEVEL_HANDSHAKE);
	if (head->type == QUIC_PACKET_SHORT) /* RFC 9001 4.9.3 */
		quic_early_over(q);
}

/* Has it a version that the connection has, or had when it began? */
static bool is_of_version(const struct quic_conn *q, const struct quic_packet *head)
{
	if (head->type == QUIC_PACKET_SHORT || head->version == q->version.id)
		return true;
	return head->type == QUIC_PACKET_INITIAL && q->version.rx_first &&
	       quic_version_is_known(head->version);
}

/* Is the packet for us? */
static bool is_ours(const struct quic_conn *q, const struct quic_packet *head)
{
	if (quic_cid_is(&head->dcid, &q->ids.ours))
		return true;
	return !(q->flags & QUIC_FL_CLIENT) &&
	       (head->type == QUIC_PACKET_INITIAL || head->type == QUIC_PACKET_EARLY) &&
	       (quic_cid_is(&head->dcid, &q->ids.original) ||
		quic_cid_is(&head->dcid, &q->ids.retry));
}

/* Clients fill up what brings Initial packets: spoofed ones have their price (RFC 9000 14.1). */
static bool is_too_small(const struct quic_conn *q, const struct quic_packet *head, size_t datagram)
{
	return !(q->flags & QUIC_FL_CLIENT) && head->type == QUIC_PACKET_INITIAL &&
	       datagram < QUIC_INITIAL_MIN;
}

/* Packets of servers that have no keys of ours. True: it was one. */
static bool on_unprotected(struct quic_conn *q, const struct quic_packet *head, const uint8_t *p,
			   size_t len)
{
	if (head->type == QUIC_PACKET_OTHER && !head->version)
		quic_on_versions(q, head, p, len);
	else if (head->type == QUIC_PACKET_RETRY)
		quic_on_retry(q, head, p, len);
	else
		return false;
	return true;
}

static void on_datagram(struct quic_conn *q, uint8_t *bytes, size_t len, uint64_t now_ns)
{
	struct quic_packet head;
	size_t datagram = len;

	while (len && quic_is_open(q)) {
		if (!quic_packet_read(bytes, len, QUIC_OUR_CID_LEN, &head))
			break;
		if (q->flags & QUIC_FL_CLIENT && on_unprotected(q, &head, bytes, len))
			break;
		if (!is_of_version(q, &head))
			break;
		if (is_ours(q, &head) && !is_too_small(q, &head, datagram))
			on_packet(q, &head, bytes, datagram, now_ns);
		bytes += head.size;
		len -= head.size;
	}
}

void quic_conn_recv(struct quic_conn *q, uint8_t *bytes, size_t len, uint64_t now_ns)
{
	bool there = q->flags & QUIC_FL_VALID || addr_eq(&q->path.from, &q->path.peer);

	/* before the handshake is over no client may move (RFC 9000 9) */
	if (q->state == QUIC_HANDSHAKE && !addr_eq(&q->path.from, &q->path.peer))
		return;
	/* (what comes from elsewhere allows nothing to be sent there) */
	if (there)
		q->received += len;
	if (q->state == QUIC_CLOSING) {
		/* says it again, to the first, second, fourth... */
		q->end.received++;
		if (!(q->end.received & (q->end.received - 1))) {
			q->flags |= QUIC_FL_CLOSE_DUE;
			quic_flush_later(q);
		}
		return;
	}
	/* (looked at before packets are opened in place) */
	if (q->flags & QUIC_FL_CLIENT && quic_is_reset(q, bytes, len))
		quic_conn_drain(q, now_ns);
	else
		on_datagram(q, bytes, len, now_ns);
	quic_flush_later(q);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream.c - QUIC: streams, and how much may be sent on them (RFC 9000 2 to 4) */
#include "buffers_priv.h"
#include "conn_priv.h"
#include "core/pool.h"
#include "recovery_priv.h"
#include "stream_priv.h"

/* Bytes that a stream holds unsent before its user waits; many streams share. */
#define UNSENT_TOTAL (1024 * 1024)
#define UNSENT_LEAST 16384
#define UNSENT_MOST (128 * 1024)
/* Pieces of them. */
#define PIECES_MOST 192

/* Pieces out of order that all streams of a connection may hold: few bytes each cost more than a
 * window says.
 */
#define EARLY_MOST 8192

static struct pool *pool;

bool quic_stream_init(void)
{
	if (!pool)
		pool = pool_new("quic_stream", sizeof(struct quic_stream));
	return pool != NULL;
}

/* --- life ------------------------------------------------------------------------------------- */

/* Servers open the odd ones. */
static bool is_ours(const struct quic_conn *q, uint64_t id)
{
	return (id & 1) == !(q->flags & QUIC_FL_CLIENT);
}

static bool is_uni(uint64_t id)
{
	return id & 2;
}

static struct quic_stream *find(struct quic_conn *q, uint64_t id)
{
	struct tree_node *n = tree_find(&q->streams.all, id);

	return n ? list_entry(n, struct quic_stream, node) : NULL;
}

static uint32_t window_of(const struct quic_conn *q)
{
	return (uint32_t)quic_stream_window(q->tunes);
}

static struct quic_stream *begin(struct quic_conn *q, uint64_t id)
{
	struct quic_stream *s = pool_zalloc(pool);

	if (!s)
		return NULL;
	s->conn = q;
	s->id = id;
	s->window = is_uni(id) ? QUIC_UNI_WINDOW : window_of(q);
	if (!is_uni(id) || !is_ours(q, id))
		s->flags |= QUIC_SFL_RX;
	if (!is_uni(id) || is_ours(q, id))
		s->flags |= QUIC_SFL_TX;
	s->rx_max = s->flags & QUIC_SFL_RX ? s->window : 0;
	if (s->flags & QUIC_SFL_TX)
		s->tx_max = is_uni(id) ? q->params.stream_uni
			    : is_ours(q, id) ? q->params.stream_remote : q->params.stream_local;
	quic_recvbuf_init(&s->rx);
	list_init(&s->dirty);
	list_init(&s->woken);
	tree_insert(&q->streams.all, &s->node, id);
	return s;
}

static void stream_free(struct quic_stream *s)
{
	s->conn->streams.early -= s->rx.early_count;
	if (list_is_linked(&s->dirty))
		list_remove(&s->dirty);
	if (list_is_linked(&s->woken))
		list_remove(&s->woken);
	tree_remove(&s->conn->streams.all, &s->node);
	quic_sendbuf_free(&s->tx);
	quic_recvbuf_free(&s->rx);
	pool_free(pool, s);
}

/* The client may open another one for each that ended. */
static void give_credit(struct quic_conn *q, uint64_t id)
{
	struct quic_streams *all = &q->streams;
	uint64_t *closed = is_uni(id) ? &all->uni_closed : &all->bidi_closed;
	uint64_t *max = is_uni(id) ? &all->uni_max : &all->bidi_max;
	uint64_t at_once = is_uni(id) ? QUIC_UNI_STREAMS : (uint64_t)q->tunes->streams, limit;

	limit = ++*closed + at_once;
	if (!is_uni(id) && all->total_max && limit > all->total_max)
		limit = all->total_max;
	/* not for each of them */
	if (limit < *max + (at_once + 3) / 4)
		return;
	*max = limit;
	q->flags |= is_uni(id) ? QUIC_FL_MAX_UNI_DUE : QUIC_FL_MAX_BIDI_DUE;
	quic_flush_later(q);
}

static void tell_room(struct quic_conn *q)
{
	if (q->events && q->events->room)
		q->events->room(q->owner);
}

/* One of ours, of both directions: there may be room for another. */
static void own_ended(struct quic_conn *q)
{
	q->streams.own_bidi_open--;
	tell_room(q);
}

void quic_streams_allowed(struct quic_conn *q, uint64_t max)
{
	if (max <= q->streams.own_bidi_max)
		return;
	q->streams.own_bidi_max = max;
	tell_room(q);
}

static bool tx_is_over(const struct quic_stream *s)
{
	if (!(s->flags & QUIC_SFL_TX) || s->flags & QUIC_SFL_RESET_ACKED)
		return true;
	return s->tx.fin_acked && !s->tx.data.len;
}

static bool rx_is_over(const struct quic_stream *s)
{
	return !(s->flags & QUIC_SFL_RX) || s->flags & QUIC_SFL_RX_END;
}

/* Frees it when neither side, nor its user, has anything more to say. */
static void check_end(struct quic_stream *s)
{
	struct quic_conn *q = s->conn;
	uint64_t id = s->id;

	if (!(s->flags & QUIC_SFL_LEFT) || !tx_is_over(s) || !rx_is_over(s))
		return;
	stream_free(s);
	if (!is_ours(q, id))
		give_credit(q, id);
	else if (!is_uni(id))
		own_ended(q);
}

void quic_stream_dirty(struct quic_stream *s)
{
	if (!list_is_linked(&s->dirty))
		list_append(&s->conn->streams.dirty, &s->dirty);
	quic_flush_later(s->conn);
}

static void wake(struct quic_stream *s, unsigned events)
{
	if (s->flags & QUIC_SFL_LEFT)
		return;
	s->events |= (uint8_t)events;
	if (!list_is_linked(&s->woken))
		list_append(&s->conn->streams.woken, &s->woken);
}

/* --- what the client says --------------------------------------------------------------------- */

/* Streams begin in the order of their numbers: those below begin with it (RFC 9000 3.2). */
static struct quic_stream *open_until(struct quic_conn *q, uint64_t id, enum quic_error *error)
{
	uint64_t *next = is_uni(id) ? &q->streams.uni_next : &q->streams.bidi_next;
	uint64_t max = is_uni(id) ? q->streams.uni_max : q->streams.bidi_max, number = id >> 2;
	struct quic_stream *s = NULL;

	*error = QUIC_STREAM_LIMIT_ERROR;
	if (number >= max)
		return NULL;
	*error = QUIC_INTERNAL_ERROR;
	while (*next <= number) {
		s = begin(q, *next << 2 | (id & 3));
		if (!s)
			return NULL;
		++*next;
		wake(s, QUIC_EV_NEW);
	}
	*error = QUIC_NO_ERROR;
	return s;
}

struct quic_stream *quic_stream_of_frame(struct quic_conn *q, uint64_t id, bool sends,
					 enum quic_error *error)
{
	uint64_t next = is_uni(id) ? q->streams.uni_next : q->streams.bidi_next;

	*error = QUIC_STREAM_STATE_ERROR;
	if (is_uni(id) && is_ours(q, id) == sends)
		return NULL;
	if (is_ours(q, id)) {
		if (id >> 2 >= (is_uni(id) ? q->streams.own_uni_next : q->streams.own_bidi_next))
			return NULL;
	} else if (id >> 2 >= next) {
		return open_until(q, id, error);
	}
	*error = QUIC_NO_ERROR;
	return find(q, id);
}

/* Up to this offset it has used its windows now. */
static enum quic_error use_windows(struct quic_stream *s, uint64_t to)
{
	struct quic_conn *q = s->conn;

	if (to <= s->rx_high)
		return QUIC_NO_ERROR;
	if (to > s->rx_max || q->rx.used + (to - s->rx_high) > q->rx.max)
		return QUIC_FLOW_CONTROL_ERROR;
	q->rx.used += to - s->rx_high;
	s->rx_high = to;
	return QUIC_NO_ERROR;
}

static enum quic_error set_size(struct quic_stream *s, uint64_t size)
{
	if (s->flags & QUIC_SFL_RX_SIZE ? size != s->rx_size : size < s->rx_high)
		return QUIC_FINAL_SIZE_ERROR;
	s->flags |= QUIC_SFL_RX_SIZE;
	s->rx_size = size;
	return QUIC_NO_ERROR;
}

/* Is more of the connection's window to be given? */
static void check_conn_window(struct quic_conn *q)
{
	uint64_t window = (uint64_t)quic_conn_window(q->tunes);

	if (q->rx.max - q->rx_taken > window / 2)
		return;
	q->rx.max = q->rx_taken + window;
	q->flags |= QUIC_FL_MAX_DATA_DUE;
	quic_flush_later(q);
}

/* <n> bytes are out of the way. */
static void taken(struct quic_stream *s, uint64_t n)
{
	struct quic_conn *q = s->conn;

	s->rx_taken += n;
	q->rx_taken += n;
	check_conn_window(q);
	if (s->flags & (QUIC_SFL_RX_SIZE | QUIC_SFL_STOPPED) ||
	    s->rx_max - s->rx_taken > s->window / 2)
		return;
	s->rx_max = s->rx_taken + s->window;
	s->flags |= QUIC_SFL_MAX_DUE;
	quic_stream_dirty(s);
}

/* What came will not be looked at. */
static void skip_received(struct quic_stream *s)
{
	s->conn->streams.early -= s->rx.early_count;
	quic_recvbuf_free(&s->rx);
	quic_recvbuf_init(&s->rx);
	taken(s, s->rx_high - s->rx_taken);
}

enum quic_error quic_stream_data(struct quic_stream *s, const struct quic_frame *f)
{
	uint64_t to = f->offset + f->len;
	enum quic_error e;
	bool ok;

	if (s->flags & QUIC_SFL_RX_SIZE && to > s->rx_size)
		return QUIC_FINAL_SIZE_ERROR;
	e = use_windows(s, to);
	if (!e && f->fin)
		e = set_size(s, to);
	if (e || s->flags & QUIC_SFL_RX_END)
		return e;
	if (s->flags & QUIC_SFL_STOPPED) {
		taken(s, s->rx_high - s->rx_taken);
		if (!(s->flags & QUIC_SFL_RX_SIZE))
			return QUIC_NO_ERROR;
		s->flags |= QUIC_SFL_RX_END;
		wake(s, QUIC_EV_READABLE); /* its user may have waited for the end alone */
		check_end(s);
		return QUIC_NO_ERROR;
	}
	s->conn->streams.early -= s->rx.early_count;
	ok = quic_recvbuf_add(&s->rx, f->offset, f->data, f->len);
	s->conn->streams.early += s->rx.early_count;
	if (!ok || s->conn->streams.early > EARLY_MOST) {
		quic_count(s->conn, COUNT_QUIC_GAP_LIMIT);
		return QUIC_INTERNAL_ERROR;
	}
	if (s->flags & QUIC_SFL_RX_SIZE && s->rx.at == s->rx_size)
		s->flags |= QUIC_SFL_RX_END;
	if (s->rx.ready.len || s->flags & QUIC_SFL_RX_END)
		wake(s, QUIC_EV_READABLE);
	return QUIC_NO_ERROR;
}

enum quic_error quic_stream_reset_got(struct quic_stream *s, const struct quic_frame *f)
{
	enum quic_error e = use_windows(s, f->offset);

	if (!e)
		e = set_size(s, f->offset);
	if (e || s->flags & QUIC_SFL_RX_END)
		return e;
	s->flags |= QUIC_SFL_RX_END;
	s->error = f->value;
	skip_received(s);
	wake(s, QUIC_EV_RESET);
	check_end(s);
	return QUIC_NO_ERROR;
}

void quic_stream_stop_got(struct quic_stream *s, uint64_t code)
{
	if (tx_is_over(s) || s->flags & QUIC_SFL_TX_RESET)
		return;
	s->error = code;
	quic_stream_reset(s, code);
	wake(s, QUIC_EV_STOPPED);
}

struct quic_sendbuf *quic_stream_sendbuf(struct quic_conn *q, uint64_t id)
{
	struct quic_stream *s = find(q, id);

	return s ? &s->tx : NULL;
}

/* --- what became of what was sent ------------------------------------------------------------- */

void quic_stream_frame_acked(struct quic_conn *q, const struct quic_sent_frame *f)
{
	struct quic_stream *s;

	if (f->type != QUIC_FT_STREAM && f->type != QUIC_FT_RESET_STREAM)
		return;
	s = find(q, f->id);
	if (!s)
		return;
	if (f->type == QUIC_FT_RESET_STREAM)
		s->flags |= QUIC_SFL_RESET_ACKED;
	else if (!quic_sendbuf_acked(&s->tx, f->offset, f->len, f->fin))
		quic_conn_fail(q, QUIC_INTERNAL_ERROR, 0);
	check_end(s);
}

void quic_stream_frame_lost(struct quic_conn *q, const struct quic_sent_frame *f)
{
	struct quic_stream *s = find(q, f->id);

	if (!s)
		return;
	switch (f->type) {
	case QUIC_FT_STREAM:
		if (s->flags & QUIC_SFL_TX_RESET)
			return;
		if (!quic_sendbuf_lost(&s->tx, f->offset, f->len, f->fin))
			quic_conn_fail(q, QUIC_INTERNAL_ERROR, 0);
		break;
	case QUIC_FT_RESET_STREAM:
		s->flags |= QUIC_SFL_RESET_DUE;
		break;
	case QUIC_FT_STOP_SENDING:
		if (s->flags & QUIC_SFL_RX_END)
			return;
		s->flags |= QUIC_SFL_STOP_DUE;
		break;
	case QUIC_FT_MAX_STREAM_DATA:
		s->flags |= QUIC_SFL_MAX_DUE;
		break;
	default:
		return;
	}
	quic_stream_dirty(s);
}

void quic_streams_go_on(struct quic_conn *q)
{
	for (struct tree_node *n = tree_first(&q->streams.all); n; n = tree_next(n)) {
		struct quic_stream *s = list_entry(n, struct quic_stream, node);

		if (quic_sendbuf_end(&s->tx) > s->tx.sent)
			quic_stream_dirty(s);
	}
}

/* --- the user --------------------------------------------------------------------------------- */

void quic_streams_tell(struct quic_conn *q)
{
	while (quic_is_open(q) && q->events && !list_is_empty(&q->streams.woken)) {
		struct quic_stream *s = list_first(&q->streams.woken, struct quic_stream, woken);
		unsigned events = s->events;

		if (events & QUIC_EV_NEW && !(s->flags & QUIC_SFL_LEFT)) {
			s->events &= (uint8_t)~QUIC_EV_NEW;
			if (!s->events)
				list_remove(&s->woken);
			q->events->stream_new(q->owner, s);
			continue;
		}
		list_remove(&s->woken);
		s->events = 0;
		if (s->flags & QUIC_SFL_LEFT)
			check_end(s);
		else if (s->owner)
			q->events->stream_event(s, events);
	}
}

void quic_streams_abort(struct quic_conn *q)
{
	struct tree_node *n;
	uint64_t id;

	while ((n = tree_first(&q->streams.all))) {
		struct quic_stream *s = list_entry(n, struct quic_stream, node);

		if (s->flags & QUIC_SFL_LEFT || !s->owner) {
			stream_free(s);
			continue;
		}
		id = s->id;
		q->events->stream_event(s, QUIC_EV_ABORT);
		/* (its user has left now) */
		s = find(q, id);
		if (s)
			stream_free(s);
	}
}

void quic_streams_free(struct quic_conn *q)
{
	struct tree_node *n;

	while ((n = tree_first(&q->streams.all)))
		stream_free(list_entry(n, struct quic_stream, node));
}

uint64_t quic_stream_id(const struct quic_stream *s)
{
	return s->id;
}

void *quic_stream_owner(const struct quic_stream *s)
{
	return s->owner;
}

void quic_stream_set_owner(struct quic_stream *s, void *owner)
{
	s->owner = owner;
}

uint64_t quic_stream_error(const struct quic_stream *s)
{
	return s->error;
}

struct block_queue *quic_stream_rx(struct quic_stream *s)
{
	return &s->rx.ready;
}

void quic_stream_taken(struct quic_stream *s, size_t n)
{
	taken(s, n);
}

void quic_stream_ask(struct quic_stream *s)
{
	wake(s, QUIC_EV_READABLE);
	quic_flush_later(s->conn);
}

bool quic_stream_rx_ended(const struct quic_stream *s)
{
	return s->flags & QUIC_SFL_RX_END;
}

struct quic_stream *quic_stream_open_uni(struct quic_conn *q)
{
	struct quic_stream *s;

	if (q->streams.own_uni_next >= q->streams.own_uni_max)
		return NULL;
	s = begin(q, q->streams.own_uni_next << 2 | 2 | !(q->flags & QUIC_FL_CLIENT));
	if (s)
		q->streams.own_uni_next++;
	return s;
}

unsigned quic_conn_room(const struct quic_conn *q)
{
	uint64_t allowed = q->streams.own_bidi_max - q->streams.own_bidi_next;
	uint32_t open = q->streams.own_bidi_open, most = (uint32_t)q->tunes->streams;

	if (q->state != QUIC_OPEN || open >= most)
		return 0;
	return allowed < most - open ? (unsigned)allowed : most - open;
}

struct quic_stream *quic_stream_open(struct quic_conn *q)
{
	struct quic_stream *s;

	if (!quic_conn_room(q))
		return NULL;
	s = begin(q, q->streams.own_bidi_next << 2 | !(q->flags & QUIC_FL_CLIENT));
	if (!s)
		return NULL;
	q->streams.own_bidi_next++;
	q->streams.own_bidi_open++;
	return s;
}

size_t quic_stream_room(struct quic_stream *s)
{
	const struct quic_streams *all = &s->conn->streams;
	uint64_t used = all->bidi_next - all->bidi_closed + all->own_bidi_open + 1;
	uint64_t share = UNSENT_TOTAL / used, unsent = quic_sendbuf_end(&s->tx) - s->tx.sent;

	if (s->flags & QUIC_SFL_TX_RESET)
		return 0;
	if (quic_tx_is_full(s->conn->tunes))
		share = UNSENT_LEAST;
	share = share < UNSENT_LEAST ? UNSENT_LEAST : share > UNSENT_MOST ? UNSENT_MOST : share;
	if (unsent + share / 4 >= share || s->tx.data.count >= PIECES_MOST) {
		s->flags |= QUIC_SFL_BLOCKED;
		return 0;
	}
	return (size_t)(share - unsent);
}

void quic_stream_check_room(struct quic_stream *s)
{
	if (!(s->flags & QUIC_SFL_BLOCKED))
		return;
	s->flags &= (uint16_t)~QUIC_SFL_BLOCKED;
	if (quic_stream_room(s))
		wake(s, QUIC_EV_WRITABLE);
}

bool quic_stream_send(struct quic_stream *s, struct block_queue *from, size_t n)
{
	if (!block_queue_move_len(&s->tx.data, from, n))
		return false;
	quic_stream_dirty(s);
	return true;
}

bool quic_stream_send_copy(struct quic_stream *s, const void *bytes, size_t len)
{
	if (!block_queue_add_copy(&s->tx.data, slice_make(bytes, len)))
		return false;
	quic_stream_dirty(s);
	return true;
}

void quic_stream_end(struct quic_stream *s)
{
	s->tx.fin = true;
	quic_stream_dirty(s);
}

void quic_stream_reset(struct quic_stream *s, uint64_t code)
{
	if (!(s->flags & QUIC_SFL_TX) || tx_is_over(s) || s->flags & QUIC_SFL_TX_RESET)
		return;
	s->flags |= QUIC_SFL_TX_RESET | QUIC_SFL_RESET_DUE;
	s->tx_error = code;
	s->tx_size = s->tx.sent;
	quic_sendbuf_free(&s->tx);
	s->tx.base = s->tx.sent;
	quic_stream_dirty(s);
}

void quic_stream_stop(struct quic_stream *s, uint64_t code)
{
	if (rx_is_over(s) || s->flags & QUIC_SFL_STOPPED)
		return;
	s->flags |= QUIC_SFL_STOPPED | QUIC_SFL_STOP_DUE;
	s->stop_error = code;
	skip_received(s);
	if (s->flags & QUIC_SFL_RX_SIZE)
		s->flags |= QUIC_SFL_RX_END;
	quic_stream_dirty(s);
}

void quic_stream_leave(struct quic_stream *s)
{
	s->flags |= QUIC_SFL_LEFT;
	s->owner = NULL;
	s->events = 0;
	/* what was received and not taken opens the connection's window */
	if (s->flags & QUIC_SFL_RX && s->rx_taken < s->rx_high)
		skip_received(s);
	/* it is freed when no function on the stack looks at it */
	if (!list_is_linked(&s->woken))
		list_append(&s->conn->streams.woken, &s->woken);
	quic_flush_later(s->conn);
}

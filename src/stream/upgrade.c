/* SPDX-License-Identifier: GPL-2.0-or-later */
/* upgrade.c - a TCP stream becomes HTTP
 *
 * A rule (switch-mode) or a backend of mode http wants it. The stream keeps its mux until the
 * first request's head is there, so that whatever may happen meanwhile happens to a TCP stream:
 *
 *     bytes ----> no complete head ----> wait: timeout http-request
 *             |
 *             +-> a head ----> HTTP/1 mux, whose first stream is this one: it goes on with the
 *             |                HTTP stages of its frontend, whatever it had been through is kept
 *             +-> another preface -----> that mux (HTTP/2), which makes streams of its own; this
 *             |                          one ends unseen
 *             +-> no request, too much, too late ----> HTTP/1 mux, which says so; same end
 *
 * Manual: configuration 4 (upgrades), tcp-request content switch-mode.
 */
#include "base/bug.h"
#include "codec/h1.h"
#include "mux/h1.h"
#include "mux/pass.h"
#include "net/conn.h"
#include "stream/tracing.h"
#include "account_priv.h"
#include "engine_priv.h"
#include "session_priv.h"
#include "stream_conf_priv.h"

/* Received pieces that may wait for a head. */
#define PIECES_MAX 16

/* What is known of a head that is not complete. */
struct upgrade {
	struct h1_parser parser;
	struct h1_head head;
	size_t len;     /* bytes copied; the parser may write into what it reads */
	char *copy;     /* head_max bytes */
};

static struct slot upgrade_slot = { .of = SLOT_STREAM, .size = sizeof(struct upgrade *) };
static struct slot *const slots[] = { &upgrade_slot, NULL };

const struct module mod_upgrade = { .name = "upgrades", .slots = slots };

/* --- is there a request? ---------------------------------------------------------------------- */

enum outcome { NOT_YET, REQUEST, PREFACE, NO_REQUEST, TOO_LATE, CLIENT_GONE };

/* What was found, and the mux that the connection goes to then. */
struct finding {
	enum outcome outcome;
	const struct mux_kind *mux;
};

static const struct mux_settings *upgrade_settings_of(const struct stream *s)
{
	return &stream_proxy(s->fe)->front;
}

/* NULL: no memory. */
static struct upgrade *upgrade_get(struct stream *s)
{
	struct upgrade **at = slot_of(&upgrade_slot, stream_slots(s)), *u = *at;
	const struct mux_settings *set = upgrade_settings_of(s);

	if (u)
		return u;
	u = arena_zalloc(&s->arena, sizeof(*u));
	if (!u)
		return NULL;
	u->copy = arena_alloc(&s->arena, set->head_max);
	u->head.fields = arena_alloc(&s->arena, set->fields_max * sizeof(*u->head.fields));
	u->head.field_capacity = (uint16_t)(set->fields_max - 1); /* as the mux takes them */
	if (!u->copy || !u->head.fields)
		return NULL;
	h1_parser_init(&u->parser, h1_front_options(set));
	return *at = u;
}

/* The head, as the HTTP/1 mux will find it; or a preface, whose mux is *mux then. */
static enum outcome parse(struct stream *s, const struct mux_kind **mux)
{
	struct upgrade *u = upgrade_get(s);
	size_t max = upgrade_settings_of(s)->head_max;
	const struct mux_kind *other;
	enum h1_status r;
	bool more;

	if (!u)
		return CLIENT_GONE;
	u->len += block_queue_peek(&s->front.rx, u->len, u->copy + u->len, max - u->len);
	if (session_may_change(s->sess)) {
		other = mux_of_preface(slice_make(u->copy, u->len), &more);
		if (other)
			*mux = other;
		if (other || more)
			return other ? PREFACE : NOT_YET;
	}
	r = u->len ? h1_parse_head(&u->parser, slice_make(u->copy, u->len), &u->head) : H1_MORE;
	if (r == H1_MORE && u->len < max)
		return NOT_YET;
	return r == H1_DONE ? REQUEST : NO_REQUEST;
}

static struct finding look(struct stream *s)
{
	const struct mux_kind *only = mux_of_number(s->sess->only);
	struct finding f = { .mux = mux_default(MUX_HTTP) };

	if (only && only != f.mux)
		return (struct finding){ PREFACE, only };
	f.outcome = parse(s, &f.mux);
	/* a mux whose connection has failed reads no request */
	if (s->front.flags & EP_ERROR && (f.outcome == NOT_YET || f.outcome == REQUEST))
		f.outcome = CLIENT_GONE;
	else if (f.outcome == NOT_YET && s->front.flags & EP_RX_END)
		f.outcome = NO_REQUEST;
	else if (f.outcome == NOT_YET && stream_is_late(s))
		f.outcome = TOO_LATE;
	return f;
}

/* --- changing the mux ------------------------------------------------------------------------- */

/* The first bytes in one block, as the mux wants them. False: no memory. */
static bool compact(struct stream *s)
{
	struct block_queue *rx = &s->front.rx, q;
	struct block *b;
	bool ok;

	if (rx->count < 2)
		return true;
	b = block_new();
	if (!b)
		return false;
	b->used = (uint32_t)block_queue_peek(rx, 0, b->data, b->size);
	block_queue_skip(rx, b->used);
	block_queue_init(&q);
	ok = block_queue_add(&q, b, b->data, b->used);
	block_drop(b);
	block_queue_move(&q, rx);
	block_queue_move(rx, &q);
	return ok;
}

/* The mux that a client's bytes go to now takes the connection, with what was received. */
static bool take(struct stream *s, const struct mux_kind *kind)
{
	const struct mux_kind *first = mux_default(MUX_HTTP);
	struct session *sess = s->sess;

	if (!compact(s) || !session_take(sess, kind))
		return false;
	pass_give(&s->front);
	sess->flags |= SESS_UPGRADED;
	/* a client of which nothing was known was taken for one of the default first */
	if (kind != first && !sess->only)
		counter_add(&sess->fe->state->fe, CNT_SESS_OTHER + first->major, 1);
	kind->front_give(sess->mux, &s->front.rx);
	return true;
}

/* What the client sent is another mux's business: logs and counters must not show that this stream
 * was there.
 */
static enum step end_unseen(struct stream *s)
{
	s->flags |= STRM_LOGGED;
	s->counted.in = s->front.rx_bytes;
	stream_count_upgrade(s);
	stream_count_end(s);
	s->sess->requests--;
	return STEP_END;
}

/* The mux reads the request immediately, and finds this stream for it. */
static enum step go_on(struct stream *s)
{
	s->flags |= STRM_HTTP;
	s->due.stage_ms = TIMER_NEVER;
	s->front.flags = 0;
	s->front.rx_bytes = 0;
	session_start_with(s->sess, s);
	BUG_ON(!s->front.ops);
	stream_count_upgrade(s);
	stream_begin_request(s);
	if (s->front.flags & EP_ERROR)
		return stream_fail(s, END_REQUEST_NO_MEMORY);
	stream_tracing_begin(s);
	return stream_goto(s, STAGE_MONITOR);
}

/* Not yet: its time runs, and many small pieces shall not hold a block each. */
static enum step wait(struct stream *s)
{
	if (s->due.stage_ms == TIMER_NEVER)
		stream_wait_ms(s, mux_request_ms(upgrade_settings_of(s)));
	if (s->front.rx.count >= PIECES_MAX && !compact(s))
		return stream_fail(s, END_UPGRADE_NO_MEMORY);
	if (s->front.flags & EP_RX_BLOCKED) {
		s->front.flags &= ~EP_RX_BLOCKED;
		s->front.ops->resume(&s->front);
	}
	return STEP_WAIT;
}

enum step stage_upgrade(struct stream *s)
{
	struct finding found = look(s);

	if (found.outcome == NOT_YET)
		return wait(s);
	if (found.outcome == CLIENT_GONE)
		return stream_fail(s, END_UPGRADE_CLIENT_LEFT);
	if (!take(s, found.mux))
		return stream_fail(s, END_UPGRADE_NO_MEMORY);
	if (found.outcome == REQUEST)
		return go_on(s);
	if (found.outcome == TOO_LATE)
		found.mux->front_expire(s->sess->mux);
	return end_unseen(s);
}

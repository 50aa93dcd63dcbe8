/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_conn.c - the HTTP/2 mux: a connection's states, its faults, its end
 *
 *    PREFACE --> SETTINGS --> OPEN --> CLOSING --> DRAIN
 *                               |         ^ no more frames are read; streams end, <out> is sent
 *                               +---------+
 *
 * No code here reads or formats frames; code that finds that the connection must end reports it
 * here.
 */
#include <string.h>
#include "base/clock.h"
#include "core/activity.h"
#include "core/counter.h"
#include "core/pool.h"
#include "h2_conn_priv.h"
#include "h2_in_priv.h"
#include "h2_out_priv.h"
#include "h2_side_priv.h"
#include "h2_stream_priv.h"
#include "h2_tune_priv.h"
#include "trace_priv.h"

/* After the last byte was sent, how long the rest is read and thrown away. */
#define DRAIN_MS 2000
/* When the process stops: how long an idle client has for requests that are on their way. */
#define LEAVE_MS 1000

static struct pool *conn_pool;

bool h2_conn_init(void)
{
	if (conn_pool)
		return true; /* another generation goes live */
	conn_pool = pool_new("h2c", sizeof(struct h2_conn));
	return conn_pool != NULL;
}

void h2c_set_state(struct h2_conn *h, enum h2c_state to)
{
	static const unsigned next[] = {
		[H2C_PREFACE] = 1 << H2C_SETTINGS | 1 << H2C_CLOSING,
		[H2C_SETTINGS] = 1 << H2C_OPEN | 1 << H2C_CLOSING,
		[H2C_OPEN] = 1 << H2C_CLOSING,
		[H2C_CLOSING] = 1 << H2C_DRAIN,
		[H2C_DRAIN] = 0,
	};

	BUG_ON(!(next[h->state] & 1u << to));
	H2C_TRACE(STATE, h, H2_EV(WAKE), "the connection goes to state %u", (unsigned)to);
	h->state = (uint8_t)to;
}

/* --- life ------------------------------------------------------------------------------------ */

struct h2_conn *h2_new(struct conn *c, const struct h2_side *side, void *owner,
		       const struct mux_settings *settings)
{
	struct h2_conn *h = pool_zalloc(conn_pool);

	if (!h)
		return NULL;
	h->conn = c;
	h->owner = owner;
	h->side = side;
	h2_use_settings(h, settings);
	if (!side->is_back) {
		h->most.streams = h2_elastic_take(h->tunes);
		h->most.is_elastic = h->tunes->elasticity && h->most.streams;
	}
	hpack_decoder_init(&h->decoder, (uint32_t)h->tunes->table_size);
	hpack_encoder_init(&h->encoder, 0);
	h->idle.since_ms = clock_now_ms();
	h->peer.window = h->stream_window = H2_WINDOW_DEFAULT;
	h->peer.frame_max = H2_FRAME_SIZE_MIN;
	h->peer.table = HPACK_TABLE_SIZE;
	h->peer.streams = UINT32_MAX;
	h->window.tx = h->window.rx = H2_WINDOW_DEFAULT;
	list_init(&h->turn);
	list_init(&h->flush);
	list_init(&h->senders);
	list_init(&h->late);
	list_init(&h->pending);
	c->owner = h;
	h2_count(h, H2_CNT_CONNS);
	h2_count(h, H2_CNT_CONNS_TOTAL);
	return h;
}

void h2c_tell_counts(struct h2_conn *h)
{
	struct counter_set *set = h->settings->counters;

	if (!h->tally.any)
		return;
	for (unsigned i = 0; set && i < H2_CNT_COUNT; i++)
		if (h->tally.counts[i])
			counter_add(set, h->settings->h2_counts + i, h->tally.counts[i]);
	memset(h->tally.counts, 0, sizeof(h->tally.counts));
	h->tally.any = false;
}

void h2_free(struct h2_conn *h)
{
	BUG_ON(h->stream_count);
	H2C_TRACE(STATE, h, H2_EV(END), "the connection ends");
	timer_cancel(&h->timer);
	list_remove(&h->turn);
	list_remove(&h->flush);
	if (h->most.is_elastic)
		h2_elastic_give(h->most.streams);
	h2_uncount(h, H2_CNT_CONNS);
	h2c_tell_counts(h);
	h->side->closed(h);
	conn_close(&h->conn);
	wire_in_clear(&h->in);
	block_drop(h->gathered.block);
	block_queue_clear(&h->out);
	hpack_decoder_fini(&h->decoder);
	hpack_encoder_fini(&h->encoder);
	pool_free(conn_pool, h);
}

void h2_abandon(struct h2_conn *h)
{
	timer_cancel(&h->timer);
	list_remove(&h->turn);
	list_remove(&h->flush);
	block_queue_clear(&h->out);
	hpack_decoder_fini(&h->decoder);
	hpack_encoder_fini(&h->encoder);
	pool_free(conn_pool, h);
}

/* The end of the connection; the memory goes when no frame of ours needs it any more. */
void h2_destroy(struct h2_conn *h)
{
	BUG_ON(h->stream_count);
	if (h->flags & H2C_FL_BUSY)
		h->flags |= H2C_FL_DEAD;
	else
		h2_free(h);
}

void h2c_close(struct h2_conn *h)
{
	if (h->state < H2C_CLOSING)
		h2c_set_state(h, H2C_CLOSING);
	h2c_check_end(h);
}

void h2c_check_end(struct h2_conn *h)
{
	if (h->stream_count || h->flags & H2C_FL_DEAD)
		return;
	if ((h->state == H2C_OPEN || h->state == H2C_SETTINGS) && h->flags & H2C_FL_STOP)
		h2c_set_state(h, H2C_CLOSING);
	if (h->state != H2C_CLOSING)
		return;
	if (h->flags & H2C_FL_BROKEN || h->conn->flags & (CONN_ERROR | CONN_NO_LINGER) ||
	    (!h->out.len && (h->flags & H2C_FL_EOF || h->side->is_back))) {
		h2_destroy(h);
		return;
	}
	if (h->out.len) {
		h2c_arm(h);
		return;
	}
	/* closing with unread bytes would make the kernel send a reset, which destroys our last
	 * frames on their way
	 */
	conn_shut_write(h->conn);
	h2c_set_state(h, H2C_DRAIN);
	wire_in_clear(&h->in);
	timer_set(&h->timer, clock_now_ms() + DRAIN_MS);
	if (h->conn->flags & CONN_CAN_RECV)
		h2_resume_later(h);
}

void h2c_goaway(struct h2_conn *h, enum h2_error code, uint32_t last)
{
	char frame[H2_GOAWAY_LEN];

	if (h->flags & H2C_FL_GOAWAY_SENT && h->goaway.error == code && h->goaway.last == last)
		return;
	H2C_TRACE(PROTO, h, H2_EV(TX_FRAME) | H2_EV(TX_GOAWAY), "sending GOAWAY %s",
		  h2_error_name(code));
	h->flags |= H2C_FL_GOAWAY_SENT;
	h->goaway.error = (uint8_t)code;
	h->goaway.last = last;
	h->goaway.since_ms = clock_now_ms();
	/* servers begin no streams */
	h2_put_goaway(frame, h->side->is_back ? 0 : last, code);
	h2_out_control(h, frame, sizeof(frame));
}

void h2c_report(struct h2_conn *h, enum front_bad_kind kind, const char *text)
{
	h->side->bad(h, kind, text);
}

/* A client's head that is no request. */
static void tell_refused(struct h2_conn *h)
{
	if (!h->side->is_back && h->user.front->refused)
		h->user.front->refused(h->owner);
}

static void tell_glitch(struct h2_conn *h)
{
	h->glitches++;
	if (!h->side->is_back && h->user.front->glitch)
		h->user.front->glitch(h->owner);
}

void h2c_note_refused(struct h2_conn *h, enum front_bad_kind kind, const char *text)
{
	h2_count(h, H2_CNT_STREAM_ERRORS);
	if (h->tunes->log_errors == H2_LOG_STREAM)
		h2c_report(h, kind, text);
	tell_refused(h);
	h2c_note_glitch(h, text);
}

/* GOAWAY, and the end of all streams. */
static void give_up(struct h2_conn *h, enum h2_error code)
{
	h2c_goaway(h, code, h->last_stream);
	h2c_set_state(h, H2C_CLOSING);
	/* nothing is answered any more: the windows may be wrong, or the peer an enemy */
	h->flags |= H2C_FL_STOP;
	if (h->side->fail_pending)
		h->side->fail_pending(h);
	for (struct tree_node *n = tree_first(&h->streams); n; n = tree_next(n)) {
		struct h2_stream *s = list_entry(n, struct h2_stream, node);

		s->flags |= H2S_FL_RESET;
		s->ep->flags |= EP_ERROR | EP_RX_ABORT;
		h2s_wake_soon(s);
	}
	h2_resume_later(h); /* they are told from there */
	h2c_check_end(h);
}

static void fail(struct h2_conn *h, enum h2_error code, const char *text)
{
	H2C_TRACE(ERROR, h, H2_EV(ERROR) | H2_EV(PROTO_ERROR), "the connection fails, %s: %s",
		  h2_error_name(code), text ? text : "");
	h2_count(h, H2_CNT_CONN_ERRORS);
	h2_count(h, H2_CNT_GOAWAYS_SENT);
	if (text && h->tunes->log_errors != H2_LOG_NONE)
		h2c_report(h, FRONT_BAD_SYNTAX, text);
	give_up(h, code);
}

void h2c_fail(struct h2_conn *h, enum h2_error code, const char *text)
{
	if (h->state >= H2C_CLOSING)
		return;
	tell_glitch(h);
	if (h->state == H2C_OPEN && (h->rx.frame.type == H2_FT_HEADERS ||
				     h->rx.frame.type == H2_FT_CONTINUATION))
		tell_refused(h);
	fail(h, code, text);
}

void h2c_kill(struct h2_conn *h)
{
	if (h->conn->flags & CONN_NO_LINGER) {
		h->flags |= H2C_FL_BROKEN;
		block_queue_clear(&h->out);
	}
	if (h->state < H2C_CLOSING)
		give_up(h, H2_ERR_ENHANCE_YOUR_CALM);
}

/* At three quarters of the limit a client learns that it had better begin another connection: as
 * many streams as it may have at once are still served here.
 */
static void say_goodbye(struct h2_conn *h)
{
	uint64_t last = h->last_stream + 2 * (uint64_t)h->most.streams;

	if (h->side->is_back || h->most.number || h->state != H2C_OPEN)
		return;
	h->most.number = h->most.streams && last < H2_STREAM_MAX ? (uint32_t)last : H2_STREAM_MAX;
	h2c_goaway(h, H2_ERR_NO_ERROR, h->most.number);
}

void h2c_note_glitch(struct h2_conn *h, const char *text)
{
	uint64_t limit = (uint64_t)h->limits->glitches;

	tell_glitch(h);
	if (!limit || h->state >= H2C_CLOSING ||
	    100 - activity_idle_percent() < (unsigned)h->tunes->kill_cpu_percent)
		return;
	if (h->glitches >= limit)
		fail(h, H2_ERR_ENHANCE_YOUR_CALM, text);
	else if (h->glitches >= limit * 3 / 4)
		say_goodbye(h);
}

/* When the idle time of a client is over. That for a request begins with idleness, whatever frames
 * come meanwhile; that for inactivity begins again with each.
 */
static uint64_t idle_end(const struct h2_conn *h, uint64_t now)
{
	const struct mux_settings *set = h->settings;
	int64_t ms = h->last_stream ? set->keep_alive_ms : set->request_ms;
	uint64_t at = TIMER_NEVER;

	if (h->side->is_back)
		return at;
	if (ms)
		at = h->idle.since_ms + (uint64_t)ms;
	else if (set->client_ms)
		at = now + (uint64_t)set->client_ms;
	if (h->flags & H2C_FL_LEAVING && at > h->idle.since_ms + LEAVE_MS)
		at = h->idle.since_ms + LEAVE_MS;
	return at;
}

/* Without a stream: the time for the next request, or for a PING. With unsent bytes: for the peer
 * to read.
 */
void h2c_arm(struct h2_conn *h)
{
	uint64_t now = clock_now_ms(), at = TIMER_NEVER;

	if (h->state == H2C_DRAIN)
		return;
	if (h->idle.ping == H2_PING_DUE)
		h->idle.ping = H2_PING_NONE;
	if (h->out.len && !(h->conn->flags & CONN_CAN_SEND)) {
		if (h->settings->client_ms)
			at = now + (uint64_t)h->settings->client_ms;
	} else if (!h->stream_count) {
		at = idle_end(h, now);
		if (h->idle.ping_ms && h->state > H2C_PREFACE && h->state < H2C_CLOSING &&
		    now + h->idle.ping_ms < at) {
			at = now + h->idle.ping_ms;
			if (h->idle.ping == H2_PING_NONE)
				h->idle.ping = H2_PING_DUE;
		}
	}
	timer_set(&h->timer, at);
}

void h2_use_settings(struct h2_conn *h, const struct mux_settings *settings)
{
	h->settings = settings;
	h->tunes = settings->h2;
	h->limits = h->side->is_back ? &h->tunes->be : &h->tunes->fe;
}

void h2_set_idle_ping(struct h2_conn *h, int64_t ms)
{
	h->idle.ping_ms = (uint32_t)ms;
	if (!h->stream_count && h->state < H2C_CLOSING)
		h2c_arm(h);
}

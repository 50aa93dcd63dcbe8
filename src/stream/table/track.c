/* SPDX-License-Identifier: GPL-2.0-or-later */
/* track.c - sticky counters: keys tracked by connections and streams, and their counts */
#include <stdlib.h>
#include "base/bug.h"
#include "conf/conf.h"
#include "expr/expr.h"
#include "stream/stream.h"
#include "track_priv.h"

/* Those of one connection or stream. */
struct trackers {
	struct tracked *list; /* of a connection: owned; of a stream: in its arena. NULL: none */
	uint16_t count;
	bool has_request;     /* of a stream: its request was counted */
	bool counts_bytes;    /* a table of theirs has data that bytes are added to */
	bool has_end;         /* of a stream: what its end says of client and server was counted */
};

static void tracked_end(struct tracked *t)
{
	if (!t->table)
		return;
	table_take_one(table_state_shape(t->table), t->entry, TABLE_CONN_CUR);
	table_changed(t->table, t->entry);
	table_drop(t->entry);
	t->table = NULL;
}

static void trackers_end(struct trackers *all)
{
	for (unsigned i = 0; i < all->count; i++)
		tracked_end(&all->list[i]);
}

static void session_fini(void *data)
{
	struct trackers *all = data;

	for (unsigned i = 0; i < all->count; i++) {
		struct table_state *st = all->list[i].table;

		tracked_end(&all->list[i]);
		table_state_drop(&st);
	}
	free(all->list);
}

static void stream_fini(void *data)
{
	trackers_end(data);
}

static struct slot session_slot = {
	.of = SLOT_SESSION, .size = sizeof(struct trackers), .fini = session_fini,
};
static struct slot stream_slot = {
	.of = SLOT_STREAM, .size = sizeof(struct trackers), .fini = stream_fini,
};

struct slot *const track_slots[] = { &session_slot, &stream_slot, &track_config_slot, NULL };

/* NULL: the connection tracks nothing. */
static struct trackers *session_trackers(struct session *s)
{
	struct slot_area *area = s->rare ? session_slots(s, false) : NULL;

	return area ? slot_of(&session_slot, area) : NULL;
}

static struct trackers *stream_trackers(struct stream *s)
{
	return slot_of(&stream_slot, stream_slots(s));
}

static struct tracked *tracked_in(const struct trackers *all, unsigned i)
{
	return all && i < all->count && all->list[i].table ? &all->list[i] : NULL;
}

const struct tracked *tracked_at(const struct expr_ctx *ctx, unsigned i)
{
	const struct tracked *t = NULL;

	if (ctx->stream)
		t = tracked_in(stream_trackers(ctx->stream), i);
	return !t && ctx->session ? tracked_in(session_trackers(ctx->session), i) : t;
}

/* --- beginning -------------------------------------------------------------------------------- */

static void add(const struct tracked *t, enum table_data d, uint64_t n)
{
	table_add(table_state_shape(t->table), t->entry, d, 0, n);
}

static void add_both(const struct tracked *t, enum table_data count, enum table_data rate,
		     uint64_t n)
{
	add(t, count, n);
	add(t, rate, n);
}

/* What came to pass before http-response rules tracked something counts there, too. */
static void catch_up(const struct tracked *t, const struct stream *s, bool has_request)
{
	const struct track_config *tc = track_config_of(s->config);
	unsigned status = s->answer.server; /* 0: there is no answer yet */

	if (has_request)
		add_both(t, TABLE_HTTP_REQ_CNT, TABLE_HTTP_REQ_RATE, 1);
	if (status && status_is_in(&tc->errors, status))
		add_both(t, TABLE_HTTP_ERR_CNT, TABLE_HTTP_ERR_RATE, 1);
	if (status && status_is_in(&tc->failures, status))
		add_both(t, TABLE_HTTP_FAIL_CNT, TABLE_HTTP_FAIL_RATE, 1);
}

/* Those that counter <i> is one of; NULL without memory, or when there is no such counter. */
static struct trackers *stream_place(struct stream *s, unsigned i)
{
	struct trackers *all = stream_trackers(s);

	if (!all->list) {
		unsigned count = track_count(s->config);

		all->list = arena_zalloc(&s->arena, sizeof(struct tracked) * count);
		all->count = (uint16_t)(all->list ? count : 0);
	}
	return i < all->count ? all : NULL;
}

static struct trackers *session_place(struct session *s, unsigned i)
{
	struct slot_area *area = session_slots(s, true);
	struct trackers *all = area ? slot_of(&session_slot, area) : NULL;

	if (all && !all->list) {
		all->list = calloc(track_count(session_config(s)), sizeof(struct tracked));
		all->count = (uint16_t)(all->list ? track_count(session_config(s)) : 0);
	}
	return all && i < all->count ? all : NULL;
}

static bool shape_counts_bytes(const struct table_shape *shape)
{
	return shape->count[TABLE_BYTES_IN_CNT] || shape->count[TABLE_BYTES_IN_RATE] ||
	       shape->count[TABLE_BYTES_OUT_CNT] || shape->count[TABLE_BYTES_OUT_RATE];
}

bool track_begin(struct expr_ctx *ctx, unsigned i, struct table_state *st,
		 struct table_entry *entry)
{
	struct trackers *all = ctx->stream ? stream_place(ctx->stream, i)
					   : session_place(ctx->session, i);
	struct tracked *t = all ? &all->list[i] : NULL;

	if (!t || t->table) {
		table_drop(entry);
		return false;
	}
	t->table = ctx->stream ? st : table_state_take(st);
	t->entry = entry;
	all->counts_bytes |= shape_counts_bytes(table_state_shape(t->table));
	add_both(t, TABLE_CONN_CNT, TABLE_CONN_RATE, 1);
	add(t, TABLE_CONN_CUR, 1);
	if (ctx->stream)
		catch_up(t, ctx->stream, all->has_request);
	table_changed(t->table, t->entry);
	return true;
}

/* --- counting --------------------------------------------------------------------------------- */

/* Adds <n> to both data of each. */
static void count_in(struct trackers *all, enum table_data count, enum table_data rate, uint64_t n)
{
	for (unsigned i = 0; i < all->count; i++) {
		struct tracked *t = &all->list[i];

		if (!t->table)
			continue;
		add_both(t, count, rate, n);
		table_changed(t->table, t->entry);
	}
}

static void count_session(struct session *s, enum table_data count, enum table_data rate)
{
	struct trackers *all = session_trackers(s);

	if (all)
		count_in(all, count, rate, 1);
}

static void count_stream(struct stream *s, enum table_data count, enum table_data rate)
{
	count_in(stream_trackers(s), count, rate, 1);
	count_session(s->sess, count, rate);
}

void track_session(struct session *s)
{
	count_session(s, TABLE_SESS_CNT, TABLE_SESS_RATE);
}

void track_glitch(struct session *s)
{
	count_session(s, TABLE_GLITCH_CNT, TABLE_GLITCH_RATE);
}

void track_request(struct stream *s)
{
	struct trackers *all = stream_trackers(s);

	if (all->has_request)
		return;
	all->has_request = true;
	count_stream(s, TABLE_HTTP_REQ_CNT, TABLE_HTTP_REQ_RATE);
}

void track_refused(struct stream *s)
{
	count_stream(s, TABLE_HTTP_ERR_CNT, TABLE_HTTP_ERR_RATE);
}

void track_answer(struct stream *s, unsigned status)
{
	const struct track_config *tc = track_config_of(s->config);

	if (status_is_in(&tc->errors, status))
		count_stream(s, TABLE_HTTP_ERR_CNT, TABLE_HTTP_ERR_RATE);
	if (status_is_in(&tc->failures, status))
		count_stream(s, TABLE_HTTP_FAIL_CNT, TABLE_HTTP_FAIL_RATE);
}

static void add_bytes(struct trackers *all, uint64_t n, enum table_data count, enum table_data rate)
{
	for (unsigned i = 0; i < all->count; i++) {
		struct tracked *t = &all->list[i];
		const struct table_shape *shape;
		uint32_t factor;

		if (!t->table)
			continue;
		shape = table_state_shape(t->table);
		if (!shape->count[count] && !shape->count[rate])
			continue; /* nothing changes */
		if (shape->count[count])
			add(t, count, n);
		if (shape->count[rate]) {
			factor = table_state_limits(t->table).bytes_factor;
			add(t, rate, (n + factor - 1) / factor);
		}
		table_changed(t->table, t->entry);
	}
}

void track_bytes(struct stream *s, uint64_t in, uint64_t out)
{
	struct trackers *both[2] = { stream_trackers(s), session_trackers(s->sess) };

	for (unsigned i = 0; i < 2; i++) {
		if (!both[i] || !both[i]->counts_bytes)
			continue; /* most tables have neither */
		if (in)
			add_bytes(both[i], in, TABLE_BYTES_IN_CNT, TABLE_BYTES_IN_RATE);
		if (out)
			add_bytes(both[i], out, TABLE_BYTES_OUT_CNT, TABLE_BYTES_OUT_RATE);
	}
}

void track_request_without_stream(struct session *s, bool failed, uint64_t in)
{
	struct trackers *all = session_trackers(s);

	if (!all)
		return;
	count_in(all, TABLE_HTTP_REQ_CNT, TABLE_HTTP_REQ_RATE, 1);
	if (failed)
		count_in(all, TABLE_HTTP_ERR_CNT, TABLE_HTTP_ERR_RATE, 1);
	if (in)
		add_bytes(all, in, TABLE_BYTES_IN_CNT, TABLE_BYTES_IN_RATE);
}

/* Was it the client's fault? */
static bool end_is_error(const struct stream *s)
{
	switch ((enum stream_end)s->end) {
	case END_RULE_DENY:
	case END_RULE_TARPIT:
	case END_RULE_BAD_REQUEST:
	case END_FIELD_NAME_REFUSED:
	case END_BODY_BAD:
	case END_UPLOAD_BAD:
	case END_DATA_BAD:
		return true;
	default:
		return false;
	}
}

/* Was it the server's? */
static bool end_is_failure(const struct stream *s)
{
	switch ((enum stream_end)s->end) {
	case END_RESPONSE_BAD:
	case END_RESPONSE_CUT:
	case END_RESPONSE_TIMEOUT:
	case END_RESPONSE_DATA_BAD:
	case END_RESPONSE_DATA_CUT:
	case END_RESPONSE_DATA_TIMEOUT:
		return true;
	default:
		return false;
	}
}

void track_end(struct stream *s)
{
	struct trackers *all = stream_trackers(s);

	if (!(s->flags & STRM_HTTP) || s->end == END_NONE || all->has_end)
		return;
	all->has_end = true;
	if (end_is_error(s))
		count_stream(s, TABLE_HTTP_ERR_CNT, TABLE_HTTP_ERR_RATE);
	if (end_is_failure(s))
		count_stream(s, TABLE_HTTP_FAIL_CNT, TABLE_HTTP_FAIL_RATE);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filter_flow.c - the chain of filters: bytes and ends
 *
 *     rx ---> in of the 1st ---> in of the 2nd ---> ... ---> tx
 *
 * Each filter moves pieces from its queue to the next one's, or leaves them. A filter that does not
 * watch the side lets everything pass. Requests go through before there is a server: the bytes that
 * have passed then wait at the front of front.rx, where all code that examines the bytes of a
 * request finds them.
 */
#include "filter_priv.h"

static bool sees_http(const struct stream *s)
{
	return (s->flags & (STRM_HTTP | STRM_TUNNEL)) == STRM_HTTP;
}

static enum filter_result call_end(struct filter *f, unsigned side)
{
	if (!(f->watches & FILTER_SIDE_BIT(side)) || !f->kind->end || !sees_http(f->stream))
		return FILTER_NEXT;
	return f->kind->end(f, (enum filter_side)side);
}

enum filter_result filters_pass_end(struct filters *fs, enum filter_side side)
{
	struct filter_way *way = &fs->ways[side];
	enum filter_result r = FILTER_NEXT;

	if (way->ended)
		return FILTER_NEXT;
	if (fs->watched & FILTER_SIDE_BIT(side))
		r = filters_call(fs, &way->resume, call_end, side);
	way->ended = r == FILTER_NEXT;
	/* the bytes of a tunnel, or of mode tcp, end one side at a time */
	if (way->ended && !sees_http(fs->stream))
		filters_finish(fs, side);
	return r;
}

/* One filter of the chain. *end: is the end behind its bytes? Then: has it passed? */
static enum filter_result pass(struct filter *f, enum filter_side side, struct block_queue *out,
			       bool *end)
{
	struct block_queue *in = &f->in[side];
	uint8_t bit = FILTER_SIDE_BIT(side);
	enum filter_result r;

	if (f->has_ended & bit)
		return FILTER_NEXT;
	if (!(f->watches & bit) || !f->kind->data) {
		block_queue_move(out, in);
		return FILTER_NEXT;
	}
	if (!in->len && !*end && f->has_begun_data & bit)
		return FILTER_NEXT;
	f->has_begun_data |= bit;
	r = f->kind->data(f, side, in, out, *end);
	*end = *end && r == FILTER_NEXT && !in->len;
	if (*end)
		f->has_ended |= bit;
	return r;
}

/* All of the chain. *end as above. What is no FILTER_NEXT is a verdict. */
static enum filter_result chain_run(struct filters *fs, enum filter_side side,
				    struct block_queue *rx, struct block_queue *tx, bool *end)
{
	struct filter *f = fs->watched & FILTER_SIDE_BIT(side) ? fs->first : NULL;
	enum filter_result r;

	block_queue_move(f ? &f->in[side] : tx, rx);
	for (; f; f = f->next) {
		r = pass(f, side, f->next ? &f->next->in[side] : tx, end);
		if (r == FILTER_NEXT || r == FILTER_WAIT)
			continue;
		fs->ended_by = f;
		return r;
	}
	return FILTER_NEXT;
}

/* Bytes, then the end. */
static enum filter_result flow(struct filters *fs, enum filter_side side, struct block_queue *rx,
			       struct block_queue *tx, bool *end)
{
	struct filter_way *way = &fs->ways[side];
	enum filter_result r;

	if (way->passed && !block_queue_move_len(tx, rx, way->passed))
		return FILTER_ERROR;
	way->passed = 0;
	if (!way->drained) {
		r = chain_run(fs, side, rx, tx, end);
		if (r != FILTER_NEXT)
			return r;
		way->drained = *end;
	}
	r = way->drained ? filters_pass_end(fs, side) : FILTER_NEXT;
	*end = way->ended;
	return r == FILTER_WAIT ? FILTER_NEXT : r;
}

bool filters_flow(struct stream *s, enum filter_side side, struct block_queue *rx,
		  struct block_queue *tx, bool *end)
{
	struct filters *fs = s->filters;
	uint32_t before = tx->len;
	enum filter_result r = (enum filter_result)fs->verdict;

	if (r == FILTER_NEXT)
		r = flow(fs, side, rx, tx, end);
	if (r == FILTER_NEXT)
		return tx->len > before;
	fs->verdict = (uint8_t)r;
	fs->verdict_side = (uint8_t)side;
	*end = false;
	return false;
}

void filters_flow_ahead(struct stream *s)
{
	bool end = s->front.flags & EP_RX_END;
	struct block_queue passed;

	if (filters_have_passed(s))
		return;
	block_queue_init(&passed);
	filters_flow(s, FILTER_REQUEST, &s->front.rx, &passed, &end);
	/* (nothing is left in rx, or the stream ends) */
	block_queue_move(&s->front.rx, &passed);
	s->filters->ways[FILTER_REQUEST].passed = s->front.rx.len;
}

void filters_drop(struct stream *s, enum filter_side side)
{
	struct filter *f;

	for (f = s->filters->first; f; f = f->next)
		block_queue_clear(&f->in[side]);
	s->filters->ways[side].passed = 0;
}

bool filters_have_passed(const struct stream *s)
{
	const struct filter_way *way = &s->filters->ways[FILTER_REQUEST];

	return way->ended && way->passed == s->front.rx.len;
}

void filters_replay(struct stream *s)
{
	s->filters->ways[FILTER_REQUEST].passed = s->front.rx.len;
}

void filters_open_tunnel(struct stream *s)
{
	struct filters *fs = s->filters;

	for (struct filter *f = fs->first; f; f = f->next)
		f->has_ended = f->has_begun_data = 0;
	for (int side = 0; side < FILTER_SIDES; side++)
		fs->ways[side].ended = fs->ways[side].drained = false;
}

bool filters_see(const struct stream *s, enum filter_side side)
{
	const struct filter *f;

	for (f = s->filters->first; f && s->filters->watched & FILTER_SIDE_BIT(side); f = f->next)
		if (f->watches & FILTER_SIDE_BIT(side) || f->in[side].len)
			return true;
	return s->filters->ways[side].passed;
}

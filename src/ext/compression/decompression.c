/* SPDX-License-Identifier: GPL-2.0-or-later */
/* decompression.c - filter decompression: bodies are made plain */
#include <string.h>
#include "base/bug.h"
#include "base/num.h"
#include "conf/conf.h"
#include "compression_priv.h"

/* Any ratio may be that of a small body. */
#define RATIO_MATTERS (1024 * 1024)
#define RATIO_DEFAULT 100
/* Blocks that are added before others run. */
#define BLOCKS_A_TURN 16
/* What a request may have waiting for its server, or a filter for what is behind it. */
#define AHEAD_MAX (64 * 1024)

struct decomp {
	bool directions[FILTER_SIDES];
	uint64_t max_size;  /* 0: any */
	int64_t max_ratio;
};

struct decomp_state {
	struct {
		struct decompressor *d; /* NULL: nothing to do */
		enum compress_format format;
		bool is_on;
		bool owes;              /* the first byte held is used: more comes of it */
		uint64_t in, out;       /* bytes so far */
	} side[FILTER_SIDES];
};

/* --- heads ------------------------------------------------------------------------------------ */

/* The one coding that a message has. False: none, several, or one that is not read here. */
static bool coding_of(const struct http_msg *m, enum compress_format *format)
{
	static const struct { struct slice name; enum compress_format format; } names[] = {
		{ { "gzip", 4 }, COMPRESS_GZIP }, { { "x-gzip", 6 }, COMPRESS_GZIP },
		{ { "deflate", 7 }, COMPRESS_ZLIB }, { { "br", 2 }, COMPRESS_BR },
		{ { "zstd", 4 }, COMPRESS_ZSTD },
	};
	struct slice value, name = SLICE("content-encoding"), rest = slice_none();
	bool found = false;
	int at = -1;

	while (http_value_next(&m->fields, &at, &rest, FIELD_CONTENT_ENCODING, name, &value)) {
		size_t i = 0;

		while (i < ARRAY_LEN(names) && !slice_eq_nocase(value, names[i].name))
			i++;
		if (found || i == ARRAY_LEN(names) || !compress_can(names[i].format))
			return false;
		*format = names[i].format;
		found = true;
	}
	return found;
}

static bool fits(const struct filter *f, enum filter_side side, const struct http_msg *m)
{
	const struct decomp *conf = f->conf->data;

	if (!conf->directions[side] || m->body == HTTP_BODY_NONE || !comp_may_be_transformed(m))
		return false;
	return side == FILTER_REQUEST ||
	       (m->status != 206 && f->stream->req.method != HTTP_METH_HEAD);
}

static enum filter_result decomp_head(struct filter *f, enum filter_side side, struct http_msg *m)
{
	struct decomp_state *st = f->state;

	st->side[side].is_on = fits(f, side, m) && coding_of(m, &st->side[side].format);
	if (!st->side[side].is_on)
		return FILTER_NEXT;
	st->side[side].d = decompressor_new(st->side[side].format);
	if (!st->side[side].d)
		return FILTER_ERROR;
	http_msg_del_field_of(m, FIELD_CONTENT_ENCODING, SLICE("content-encoding"));
	if (!comp_edit_etag(m) || (m->body != HTTP_BODY_CHUNKED && !filter_set_chunked(m)))
		return FILTER_ERROR;
	filter_watch(f, side);
	return FILTER_NEXT;
}

static void side_end(struct decomp_state *st, enum filter_side side)
{
	decompressor_free(st->side[side].d);
	memset(&st->side[side], 0, sizeof(st->side[side]));
}

/* Another try: its answer begins anew. */
static enum filter_result decomp_begin(struct filter *f, enum filter_side side)
{
	if (side == FILTER_RESPONSE)
		side_end(f->state, side);
	return FILTER_NEXT;
}

/* --- bytes ------------------------------------------------------------------------------------ */

/* Has the next receiver enough for now? */
static bool is_full(const struct filter *f, enum filter_side side, const struct block_queue *out)
{
	const struct stream *s = f->stream;

	if (f->next)
		return out->len > AHEAD_MAX;
	if (side == FILTER_RESPONSE)
		return s->front.flags & EP_TX_FULL;
	if (s->back.ops && s->back.flags & EP_CONNECTED)
		return s->back.flags & EP_TX_FULL;
	return out->len + s->front.rx.len > AHEAD_MAX;
}

static bool is_bomb(const struct filter *f, enum filter_side side)
{
	const struct decomp *conf = f->conf->data;
	const struct decomp_state *st = f->state;
	uint64_t in = st->side[side].in, out = st->side[side].out;

	return (conf->max_size && out > conf->max_size) ||
	       (out > RATIO_MATTERS && out / (uint64_t)conf->max_ratio > in);
}

static enum filter_result too_large(struct filter *f, enum filter_side side)
{
	if (side == FILTER_RESPONSE || f->stream->flags & STRM_HEAD_SENT)
		return FILTER_ERROR;
	stream_reply_begin(f->stream, 413, slice_none());
	return stream_reply_body(f->stream, SLICE(""), false) ? FILTER_REPLY : FILTER_ERROR;
}

/* A step: bytes of the first piece become a block at most. The last byte that is used stays in <in>
 * as long as there is more to come of it, for the filter is not called without bytes.
 */
static enum decompress_result step(struct decomp_state *st, enum filter_side side,
				   struct block_queue *in, struct block_queue *out)
{
	struct piece *p = in->first;
	bool owed = st->side[side].owes;
	struct slice bytes = slice_make(p->ptr + owed, p->len - owed);
	size_t before = out->len, had = bytes.len, used;
	enum decompress_result r = decompressor_step(st->side[side].d, &bytes, out);

	used = had - bytes.len;
	st->side[side].in += used;
	st->side[side].out += out->len - before;
	st->side[side].owes = r == DECOMPRESS_ROOM && used + owed;
	block_queue_skip(in, used + owed - st->side[side].owes);
	/* (never: a library that neither takes nor gives would be asked for ever) */
	return r == DECOMPRESS_MORE && bytes.len ? DECOMPRESS_BAD : r;
}

/* The body is whole: is it? */
static enum filter_result finish(struct filter *f, enum filter_side side)
{
	struct decomp_state *st = f->state;
	bool whole = !st->side[side].in || decompressor_is_whole(st->side[side].d);

	side_end(st, side);
	filter_unwatch(f, side);
	return whole ? FILTER_NEXT : FILTER_ERROR;
}

static enum filter_result decomp_data(struct filter *f, enum filter_side side,
				      struct block_queue *in, struct block_queue *out, bool end)
{
	struct decomp_state *st = f->state;
	enum decompress_result r;

	if (!st->side[side].d) {
		block_queue_move(out, in);
		return FILTER_NEXT;
	}
	for (unsigned i = 0; in->len; i++) {
		if (is_full(f, side, out))
			return FILTER_WAIT;
		if (i == BLOCKS_A_TURN) {
			filter_wake(f);
			return FILTER_WAIT;
		}
		r = step(st, side, in, out);
		if (r != DECOMPRESS_MORE && r != DECOMPRESS_ROOM)
			return FILTER_ERROR;
		if (is_bomb(f, side))
			return too_large(f, side);
	}
	return end ? finish(f, side) : FILTER_NEXT;
}

static void decomp_detach(struct filter *f)
{
	for (int side = 0; side < FILTER_SIDES; side++)
		side_end(f->state, (enum filter_side)side);
}

/* --- the line --------------------------------------------------------------------------------- */

static bool take_direction(struct conf_line *l, struct decomp *conf)
{
	const char *word = conf_next(l);
	bool both = word && strcmp(word, "both") == 0;

	conf->directions[FILTER_REQUEST] = both || (word && strcmp(word, "request") == 0);
	conf->directions[FILTER_RESPONSE] = both || (word && strcmp(word, "response") == 0);
	return conf->directions[FILTER_REQUEST] || conf->directions[FILTER_RESPONSE] ||
	       conf_error(l, word ? l->at - 1 : l->at, NULL, "'filter decompression' : "
			  "'direction' expects 'request', 'response' or 'both'.");
}

static bool take_size(struct conf_line *l, struct decomp *conf)
{
	const char *word = conf_next(l);
	size_t at = 0;

	return (word && num_parse_size(slice_of(word), &conf->max_size, &at) == NUM_OK &&
		conf->max_size) ||
	       conf_error(l, word ? l->at - 1 : l->at, NULL, "'filter decompression' : 'max-size' "
			  "expects a size.");
}

static bool decomp_parse(struct conf_line *l, struct filter_conf *fc)
{
	struct decomp *conf = arena_zalloc(&l->cfg->arena, sizeof(*conf));
	const char *word;
	bool good = true;

	if (!conf)
		return conf_error(l, 0, NULL, "out of memory.");
	fc->data = conf;
	conf->directions[FILTER_RESPONSE] = true;
	conf->max_ratio = RATIO_DEFAULT;
	while (good && (word = conf_next(l)) != NULL) {
		if (strcmp(word, "direction") == 0)
			good = take_direction(l, conf);
		else if (strcmp(word, "max-ratio") == 0)
			good = conf_take_int(l, 1, INT32_MAX, &conf->max_ratio);
		else if (strcmp(word, "max-size") == 0)
			good = take_size(l, conf);
		else
			good = conf_error(l, l->at - 1, "direction, max-ratio, max-size",
					  "'filter decompression' : unknown word '%s'.", word);
	}
	return good;
}

static const struct filter_kind kinds[] = {
	{ .name = "decompression", .group = "COMP", .id = "decompression filter",
	  .state_size = sizeof(struct decomp_state), .parse = decomp_parse,
	  .detach = decomp_detach, .begin = decomp_begin, .head = decomp_head,
	  .data = decomp_data,
	  .syntax = "[direction {request|response|both}] [max-ratio <n>] [max-size <size>]",
	  .help = "make bodies plain that are compressed (an extension)" },
	{ 0 }
};

const struct module mod_decompression = { .name = "decompression", .filters = kinds };

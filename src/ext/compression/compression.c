/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compression.c - filter comp-req, comp-res, compression: heads and bytes
 *
 * Bytes received in a turn are sent in the same turn: each run of bytes is flushed, so that an
 * event or a part of a page does not wait for later bytes.
 */
#include "core/activity.h"
#include "expr/expr.h"
#include "expr/give.h"
#include "stream/sample.h"
#include "compression_priv.h"

static struct rate_set in_rate, out_rate;
static uint64_t rate_limit;      /* atomic; bytes a second, 0: none */
static int cpu_limit;            /* atomic; percent, 100: none */

uint64_t compression_rate_in(void)
{
	return in_rate.shards ? rate_set_read(&in_rate) : 0;
}

uint64_t compression_rate_out(void)
{
	return out_rate.shards ? rate_set_read(&out_rate) : 0;
}

uint64_t compression_rate_limit(void)
{
	return __atomic_load_n(&rate_limit, __ATOMIC_RELAXED);
}

void compression_set_rate_limit(uint64_t bytes)
{
	__atomic_store_n(&rate_limit, bytes, __ATOMIC_RELAXED);
}

static void print_library(FILE *out, enum compress_format format)
{
	const char *name = compress_library(format), *version = compress_version(format);

	fprintf(out, "Built with %s version : %s\nRunning on %s version : %s\n", name, version,
		name, version);
}

void compression_print(FILE *out)
{
	if (compress_can(COMPRESS_GZIP))
		print_library(out, COMPRESS_GZIP);
	else
		fprintf(out, "Built without compression support (neither USE_ZLIB nor USE_SLZ are "
			"set).\n");
	if (*compress_fast_library())
		fprintf(out, "Built with %s version : %s (gzip and deflate at level 1, unless "
			"tune.comp.isal is off)\n", compress_fast_library(),
			compress_fast_version());
	if (compress_can(COMPRESS_BR))
		print_library(out, COMPRESS_BR);
	if (compress_can(COMPRESS_ZSTD))
		print_library(out, COMPRESS_ZSTD);
	fprintf(out, "Compression algorithms supported :");
	for (const struct comp_algo *a = comp_algos; a->name; a++)
		if (a->is_identity || compress_can(a->format))
			fprintf(out, "%s %s(\"%.*s\")", a == comp_algos ? "" : ",", a->name,
				SLICE_FMT(a->token));
	fputc('\n', out);
}

/* --- limits ----------------------------------------------------------------------------------- */

/* Is more compressed than there may be, or is the thread too busy? */
static bool is_limited(void)
{
	uint64_t limit = compression_rate_limit();
	int cpu = __atomic_load_n(&cpu_limit, __ATOMIC_RELAXED);

	return (limit && compression_rate_in() > limit) ||
	       (cpu < 100 && activity_idle_percent() < (unsigned)(100 - cpu));
}

/* What goes on while it is so does less with each run of bytes, and more again later. */
static bool adapt_level(struct filter *f, enum filter_side side, struct block_queue *out)
{
	struct comp_state *st = f->state;
	int max = comp_config_of(f->stream)->level, level = st->level[side];

	if (is_limited())
		level -= level > 0;
	else
		level += level < max;
	st->level[side] = (uint8_t)level;
	return compressor_set_level(st->compressor[side], level, out);
}

/* --- counting --------------------------------------------------------------------------------- */

/* Answers are counted, by both proxies; requests are not. */
static void count(const struct stream *s, unsigned which, uint64_t n)
{
	counter_add(&s->fe->state->fe, which, (int64_t)n);
	if (s->flags & STRM_BE_COUNTED)
		counter_add(&s->be->state->be, which, (int64_t)n);
}

static void count_run(const struct filter *f, enum filter_side side, uint64_t in, uint64_t out)
{
	const struct comp_state *st = f->state;

	if (side == FILTER_REQUEST)
		return;
	if (st->algo[side]->is_identity) {
		count(f->stream, CNT_COMP_BYPASS, in);
		return;
	}
	count(f->stream, CNT_COMP_IN, in);
	count(f->stream, CNT_COMP_OUT, out);
	rate_set_add(&in_rate, (unsigned)in);
	rate_set_add(&out_rate, (unsigned)out);
}

/* --- the filter ------------------------------------------------------------------------------- */

static bool has_side(const struct filter *f, enum filter_side side)
{
	return f->kind != &comp_kinds[side == FILTER_REQUEST ? COMP_KIND_RES : COMP_KIND_REQ];
}

/* The first of the stream's that compresses this side; NULL: none. */
static const struct comp_state *find_on(const struct stream *s, enum filter_side side)
{
	for (const struct filter *f = filters_of_stream(s); f; f = f->next) {
		const struct comp_state *st = f->state;

		if (f->kind->parse == comp_parse && st->is_on[side])
			return st;
	}
	return NULL;
}

/* Gets ready and edits the head. False: no memory for the head. */
static bool turn_on(struct filter *f, enum filter_side side, struct http_msg *m)
{
	const struct comp_config *cc = comp_config_of(f->stream);
	struct comp_state *st = f->state;
	const struct comp_algo *algo = st->algo[side];

	st->is_on[side] = true;
	st->level[side] = (uint8_t)cc->level;
	if (!algo->is_identity) {
		st->compressor[side] = compressor_new(algo->format, cc->level, &cc->params);
		st->is_on[side] = st->compressor[side] != NULL;
	}
	if (!st->is_on[side])
		return true; /* it passes as it is */
	filter_watch(f, side);
	return comp_edit_head(m, algo);
}

static enum filter_result head_request(struct filter *f, struct http_msg *m)
{
	struct comp_state *st = f->state;
	struct stream *s = f->stream;

	if (has_side(f, FILTER_RESPONSE)) {
		st->algo[FILTER_RESPONSE] = comp_choose(s);
		if (st->algo[FILTER_RESPONSE] && comp_offloads(s))
			http_msg_del_field_of(m, FIELD_ACCEPT_ENCODING, SLICE("accept-encoding"));
		if (!comp_has_use(s))
			st->algo[FILTER_RESPONSE] = NULL;
	}
	if (!has_side(f, FILTER_REQUEST) || find_on(s, FILTER_REQUEST) || is_limited())
		return FILTER_NEXT;
	st->algo[FILTER_REQUEST] = comp_choose_request(s);
	if (st->algo[FILTER_REQUEST] && !turn_on(f, FILTER_REQUEST, m))
		return FILTER_ERROR;
	return FILTER_NEXT;
}

static enum filter_result comp_head(struct filter *f, enum filter_side side, struct http_msg *m)
{
	struct comp_state *st = f->state;

	if (side == FILTER_REQUEST)
		return head_request(f, m);
	if (!st->is_on[side])
		return FILTER_NEXT;
	/* a rule that says what the body is encoded by knows better */
	if (http_field_find(&m->fields, FIELD_CONTENT_ENCODING, SLICE("content-encoding"))) {
		st->is_on[side] = false;
		return FILTER_NEXT;
	}
	return turn_on(f, side, m) ? FILTER_NEXT : FILTER_ERROR;
}

/* Another try: its answer is decided on again. */
static enum filter_result comp_begin(struct filter *f, enum filter_side side)
{
	struct comp_state *st = f->state;

	if (side == FILTER_RESPONSE)
		st->is_on[side] = false;
	return FILTER_NEXT;
}

static void comp_after(struct filter *f, enum filter_point point)
{
	struct comp_state *st = f->state;
	struct stream *s = f->stream;

	if (point != FILTER_POINT_RESPONSE_HEAD || !st->algo[FILTER_RESPONSE] ||
	    find_on(s, FILTER_RESPONSE))
		return;
	st->is_on[FILTER_RESPONSE] = comp_answer_fits(s) && !is_limited();
}

/* All of <in> goes through zlib. */
static bool compress_run(struct filter *f, enum filter_side side, struct block_queue *in,
			struct block_queue *out, bool end)
{
	struct comp_state *st = f->state;
	struct compressor *d = st->compressor[side];
	uint32_t before = out->len, len = in->len;
	enum compress_flush last = end ? COMPRESS_END : COMPRESS_FLUSH;
	const struct piece *p;

	if (!len && !end)
		return true;
	if (!adapt_level(f, side, out))
		return false;
	for (p = in->first; p; p = p->next)
		if (!compressor_put(d, slice_make(p->ptr, p->len), p->next ? COMPRESS_MORE : last,
				  out))
			return false;
	if (!len && !compressor_put(d, slice_none(), last, out))
		return false;
	block_queue_clear(in);
	count_run(f, side, len, out->len - before);
	return true;
}

/* The body is whole. */
static void turn_off(struct filter *f, enum filter_side side)
{
	struct comp_state *st = f->state;

	compressor_free(st->compressor[side]);
	st->compressor[side] = NULL;
	filter_unwatch(f, side);
	if (side == FILTER_RESPONSE)
		count(f->stream, CNT_COMP_RESP, 1);
}

static enum filter_result comp_data(struct filter *f, enum filter_side side,
				    struct block_queue *in, struct block_queue *out, bool end)
{
	struct comp_state *st = f->state;

	if (st->compressor[side]) {
		if (!compress_run(f, side, in, out, end))
			return FILTER_ERROR;
	} else {
		count_run(f, side, in->len, in->len);
		block_queue_move(out, in);
	}
	if (end)
		turn_off(f, side);
	return FILTER_NEXT;
}

static void comp_detach(struct filter *f)
{
	struct comp_state *st = f->state;

	for (int side = 0; side < FILTER_SIDES; side++)
		compressor_free(st->compressor[side]);
}

#define KIND(text, about) { \
	.name = text, .group = "COMP", .id = text " filter", \
	.state_size = sizeof(struct comp_state), .parse = comp_parse, .detach = comp_detach, \
	.begin = comp_begin, .after = comp_after, .head = comp_head, .data = comp_data, \
	.help = about }

const struct filter_kind comp_kinds[] = {
	[COMP_KIND_REQ] = KIND("comp-req", "compress requests as the lines `compression` say"),
	[COMP_KIND_RES] = KIND("comp-res", "compress answers as the lines `compression` say"),
	[COMP_KIND_BOTH] = KIND("compression", "comp-req and comp-res; the old name"),
	{ 0 }
};

/* --- fetches ---------------------------------------------------------------------------------- */

static enum expr_result fetch_comp(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	return ctx->stream ? smp_give_bool(out, find_on(ctx->stream, FILTER_RESPONSE) != NULL)
			   : EXPR_NONE;
}

static enum expr_result fetch_comp_algo(struct expr_ctx *ctx, const struct expr_arg *args,
					struct sample *out)
{
	const struct comp_state *st = ctx->stream ? find_on(ctx->stream, FILTER_RESPONSE) : NULL;

	return st ? smp_give_text(out, slice_of(st->algo[FILTER_RESPONSE]->name)) : EXPR_NONE;
}

static const struct expr_fetch fetches[] = {
	{ .name = "res.comp", .out = SMP_BOOL, .use = EXPR_USE_HTTP_RESPONSE, .fetch = fetch_comp,
	  .help = "is the answer compressed by this program?" },
	{ .name = "res.comp_algo", .out = SMP_STR, .use = EXPR_USE_HTTP_RESPONSE,
	  .fetch = fetch_comp_algo, .help = "the algorithm that compresses the answer" },
	{ 0 }
};

/* --- the module ------------------------------------------------------------------------------- */

static bool comp_start(struct config *cfg, struct diag_list *diags)
{
	const struct comp_config *cc = slot_of(&comp_config_slot, config_slots(cfg));

	compression_set_rate_limit((uint64_t)cc->rate_kb << 10);
	__atomic_store_n(&cpu_limit, (int)cc->cpu_percent, __ATOMIC_RELAXED);
	compress_set_memory_max((size_t)cc->memory_mb << 20);
	return (in_rate.shards || rate_set_init(&in_rate)) &&
	       (out_rate.shards || rate_set_init(&out_rate));
}

static void comp_fini(void)
{
	rate_set_fini(&in_rate);
	rate_set_fini(&out_rate);
}

static struct slot *const slots[] = { &comp_proxy_slot, &comp_config_slot, NULL };

const struct module mod_compression = {
	.name = "compression", .keywords = comp_keywords, .fetches = fetches,
	.filters = comp_kinds, .slots = slots, .check = comp_check,
	.check_backend = comp_check_proxy, .start = comp_start,
	.thread_fini = compress_trim_thread, .fini = comp_fini,
};

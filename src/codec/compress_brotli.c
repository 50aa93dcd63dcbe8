/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compress_brotli.c - Brotli (RFC 7932) by its library */
#include <brotli/decode.h>
#include <brotli/encode.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "compress_priv.h"

/* 256 kB behind, which an answer seldom has; the library's own 4 MB would be a stream's. */
#define WINDOW_BITS 18
/* What a state takes at the first levels, about. */
#define STATE_SIZE (300 * 1024)

struct brotli_state {
	BrotliEncoderState *encoder;
	BrotliDecoderState *decoder;
	size_t size; /* of all that it has taken */
	int level;
	bool is_fresh;
};

/* --- memory: each piece has its size in front ------------------------------------------------- */

#define HEAD 16

static void *take(void *opaque, size_t size)
{
	struct brotli_state *s = opaque;
	char *p = size <= SIZE_MAX - HEAD ? malloc(size + HEAD) : NULL;

	if (!p)
		return NULL;
	*(size_t *)(void *)p = size;
	s->size += size;
	return p + HEAD;
}

static void give(void *opaque, void *address)
{
	struct brotli_state *s = opaque;
	char *p = address;

	if (!p)
		return;
	p -= HEAD;
	s->size -= *(size_t *)(void *)p;
	free(p);
}

/* --- writing ---------------------------------------------------------------------------------- */

static const char *brotli_version(void)
{
	static char text[24]; /* every thread writes the same text */
	uint32_t v = BrotliEncoderVersion();

	snprintf(text, sizeof(text), "%u.%u.%u", v >> 24, v >> 12 & 0xfff, v & 0xfff);
	return text;
}

static size_t brotli_estimate(enum compress_format format, const struct compress_params *p)
{
	return STATE_SIZE;
}

static bool begin(struct brotli_state *s, int level)
{
	s->encoder = BrotliEncoderCreateInstance(take, give, s);
	if (!s->encoder)
		return false;
	BrotliEncoderSetParameter(s->encoder, BROTLI_PARAM_QUALITY, (uint32_t)level);
	BrotliEncoderSetParameter(s->encoder, BROTLI_PARAM_LGWIN, WINDOW_BITS);
	s->level = level;
	s->is_fresh = true;
	return true;
}

static void brotli_free(void *state)
{
	struct brotli_state *s = state;

	if (s->encoder)
		BrotliEncoderDestroyInstance(s->encoder);
	if (s->decoder)
		BrotliDecoderDestroyInstance(s->decoder);
	free(s);
}

static void *brotli_make(enum compress_format format, int level, const struct compress_params *p)
{
	struct brotli_state *s = calloc(1, sizeof(*s));

	if (s && begin(s, level))
		return s;
	free(s);
	return NULL;
}

/* The library cannot: a used one is of no use. */
static bool brotli_reset(void *state, int level)
{
	const struct brotli_state *s = state;

	return s->is_fresh && s->level == level;
}

static size_t brotli_size(const void *state)
{
	return sizeof(struct brotli_state) + ((const struct brotli_state *)state)->size;
}

static enum compress_step brotli_put(void *state, struct slice *in, enum compress_flush flush,
				     struct compress_room *room)
{
	static const BrotliEncoderOperation how[] = {
		[COMPRESS_MORE] = BROTLI_OPERATION_PROCESS,
		[COMPRESS_FLUSH] = BROTLI_OPERATION_FLUSH,
		[COMPRESS_END] = BROTLI_OPERATION_FINISH,
	};
	struct brotli_state *s = state;
	const uint8_t *next_in = (const uint8_t *)in->ptr;
	uint8_t *next_out = (uint8_t *)room->ptr;
	size_t left = in->len;
	bool good;

	s->is_fresh = false;
	good = BrotliEncoderCompressStream(s->encoder, how[flush], &left, &next_in, &room->len,
					   &next_out, NULL);
	*in = slice_sub(*in, in->len - left, in->len);
	room->ptr = (char *)next_out;
	if (!good)
		return COMPRESS_WRONG;
	if (left || BrotliEncoderHasMoreOutput(s->encoder))
		return COMPRESS_FULL;
	return flush != COMPRESS_END || BrotliEncoderIsFinished(s->encoder) ? COMPRESS_DONE
									   : COMPRESS_FULL;
}

/* --- reading ---------------------------------------------------------------------------------- */

static void *brotli_read_make(enum compress_format format)
{
	struct brotli_state *s = calloc(1, sizeof(*s));

	if (s)
		s->decoder = BrotliDecoderCreateInstance(take, give, s);
	if (s && s->decoder)
		return s;
	free(s);
	return NULL;
}

static enum compress_step brotli_read(void *state, struct slice *in, struct compress_room *room)
{
	struct brotli_state *s = state;
	const uint8_t *next_in = (const uint8_t *)in->ptr;
	uint8_t *next_out = (uint8_t *)room->ptr;
	size_t left = in->len;
	BrotliDecoderResult r;

	r = BrotliDecoderDecompressStream(s->decoder, &left, &next_in, &room->len, &next_out,
					  NULL);
	*in = slice_sub(*in, in->len - left, in->len);
	room->ptr = (char *)next_out;
	switch (r) {
	case BROTLI_DECODER_RESULT_SUCCESS: return COMPRESS_OVER;
	case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: /* it may hold what found no room */
		return BrotliDecoderHasMoreOutput(s->decoder) ? COMPRESS_FULL : COMPRESS_DONE;
	case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: return COMPRESS_FULL;
	default: return COMPRESS_WRONG;
	}
}

const struct compress_engine compress_brotli = {
	.library = "Brotli", .version = brotli_version, .make = brotli_make, .free = brotli_free,
	.reset = brotli_reset, .size = brotli_size, .estimate = brotli_estimate,
	.put = brotli_put, .read_make = brotli_read_make, .read_free = brotli_free,
	.read_size = brotli_size, .read = brotli_read,
};

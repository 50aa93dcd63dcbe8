/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compress_zlib.c - deflate, with and without heads of its own, by zlib */
#include <stdlib.h>
#include <zlib.h>
#include "compress_priv.h"

struct zlib_state {
	z_stream z;
	size_t size;
	int level;
	bool may_be_raw; /* reading: its first bytes may be no head of zlib */
};

/* zlib's own smallest window is 9; it takes 8 with a header only. */
static int window_of(enum compress_format format, int bits)
{
	if (bits < 9)
		bits = 9;
	return format == COMPRESS_RAW ? -bits : format == COMPRESS_GZIP ? bits + 16 : bits;
}

/* What zlib takes for a state, as its manual says. */
static size_t zlib_estimate(enum compress_format format, const struct compress_params *p)
{
	return ((size_t)1 << (p->window_bits + 2)) + ((size_t)1 << (p->mem_level + 9)) +
	       sizeof(struct zlib_state);
}

static void *zlib_make(enum compress_format format, int level, const struct compress_params *p)
{
	struct zlib_state *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->size = zlib_estimate(format, p);
	s->level = level;
	if (deflateInit2(&s->z, level, Z_DEFLATED, window_of(format, p->window_bits),
			 p->mem_level, Z_DEFAULT_STRATEGY) == Z_OK)
		return s;
	free(s);
	return NULL;
}

static void zlib_free(void *state)
{
	struct zlib_state *s = state;

	deflateEnd(&s->z);
	free(s);
}

static bool zlib_reset(void *state, int level)
{
	struct zlib_state *s = state;

	if (deflateReset(&s->z) != Z_OK ||
	    (level != s->level && deflateParams(&s->z, level, Z_DEFAULT_STRATEGY) != Z_OK))
		return false;
	s->level = level;
	return true;
}

static size_t zlib_size(const void *state)
{
	return ((const struct zlib_state *)state)->size;
}

static void room_to(z_stream *z, const struct compress_room *room)
{
	z->next_out = (Bytef *)room->ptr;
	z->avail_out = (uInt)room->len;
}

static void room_from(const z_stream *z, struct compress_room *room)
{
	room->ptr = (char *)z->next_out;
	room->len = z->avail_out;
}

static enum compress_step zlib_set_level(void *state, int level, struct compress_room *room)
{
	struct zlib_state *s = state;
	int r;

	s->z.avail_in = 0;
	room_to(&s->z, room);
	r = deflateParams(&s->z, level, Z_DEFAULT_STRATEGY);
	room_from(&s->z, room);
	if (r == Z_BUF_ERROR && !room->len)
		return COMPRESS_FULL;
	if (r == Z_OK)
		s->level = level;
	return r == Z_STREAM_ERROR ? COMPRESS_WRONG : COMPRESS_DONE;
}

static enum compress_step zlib_put(void *state, struct slice *in, enum compress_flush flush,
				   struct compress_room *room)
{
	static const int how[] = {
		[COMPRESS_MORE] = Z_NO_FLUSH, [COMPRESS_FLUSH] = Z_SYNC_FLUSH,
		[COMPRESS_END] = Z_FINISH,
	};
	z_stream *z = &((struct zlib_state *)state)->z;
	int r;

	z->next_in = (Bytef *)(uintptr_t)in->ptr;
	z->avail_in = (uInt)in->len;
	room_to(z, room);
	r = deflate(z, how[flush]);
	room_from(z, room);
	*in = slice_sub(*in, in->len - z->avail_in, in->len);
	if (r == Z_STREAM_ERROR)
		return COMPRESS_WRONG;
	if (!room->len && r != Z_STREAM_END)
		return COMPRESS_FULL;
	return flush != COMPRESS_END || r == Z_STREAM_END ? COMPRESS_DONE : COMPRESS_WRONG;
}

/* --- reading ---------------------------------------------------------------------------------- */

static void *zlib_read_make(enum compress_format format)
{
	struct zlib_state *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->size = sizeof(*s) + 44 * 1024;
	s->may_be_raw = format == COMPRESS_ZLIB;
	if (inflateInit2(&s->z, window_of(format, MAX_WBITS)) == Z_OK)
		return s;
	free(s);
	return NULL;
}

static void zlib_read_free(void *state)
{
	struct zlib_state *s = state;

	inflateEnd(&s->z);
	free(s);
}

/* A head of zlib says method 8, a window of at most 32 kB, and is a multiple of 31: raw bytes that
 * begin like that would begin with a stored block of an odd kind. A single byte tells enough.
 */
static bool is_raw(struct slice in)
{
	return ((unsigned char)in.ptr[0] & 0x0f) != 8 || (unsigned char)in.ptr[0] >> 4 > 7;
}

static enum compress_step zlib_read(void *state, struct slice *in, struct compress_room *room)
{
	struct zlib_state *s = state;
	z_stream *z = &s->z;
	int r;

	if (s->may_be_raw && in->len) {
		s->may_be_raw = false;
		if (is_raw(*in) && inflateReset2(z, -MAX_WBITS) != Z_OK)
			return COMPRESS_WRONG;
	}
	z->next_in = (Bytef *)(uintptr_t)in->ptr;
	z->avail_in = (uInt)in->len;
	room_to(z, room);
	r = inflate(z, Z_NO_FLUSH);
	room_from(z, room);
	*in = slice_sub(*in, in->len - z->avail_in, in->len);
	if (r == Z_STREAM_END)
		return COMPRESS_OVER;
	if (r == Z_MEM_ERROR)
		return COMPRESS_SHORT;
	if (r != Z_OK && r != Z_BUF_ERROR)
		return COMPRESS_WRONG;
	return room->len ? COMPRESS_DONE : COMPRESS_FULL;
}

const struct compress_engine compress_zlib = {
	.library = "zlib", .version = zlibVersion, .make = zlib_make, .free = zlib_free,
	.reset = zlib_reset, .size = zlib_size, .estimate = zlib_estimate,
	.set_level = zlib_set_level, .put = zlib_put, .read_make = zlib_read_make,
	.read_free = zlib_read_free, .read_size = zlib_size, .read = zlib_read, .joins = true,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compress_zstd.c - Zstandard (RFC 8878) by its library */
#include <zstd.h>
#include "compress_priv.h"

/* 256 kB behind: memory of a stream is bounded so. */
#define WINDOW_BITS 18
/* 8 MB: every decoder of "zstd" on the web must be able to read that, and no encoder may need more
 * (RFC 9659).
 */
#define READ_WINDOW_BITS 23
/* What a state takes at level 1, about. */
#define STATE_SIZE (700 * 1024)

static size_t zstd_estimate(enum compress_format format, const struct compress_params *p)
{
	return STATE_SIZE;
}

/* (its level 0 would be its default, 3) */
static bool set_up(ZSTD_CCtx *c, int level)
{
	level += !level;
	return !ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level)) &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, WINDOW_BITS));
}

static void zstd_free(void *state)
{
	ZSTD_freeCCtx(state);
}

static void *zstd_make(enum compress_format format, int level, const struct compress_params *p)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();

	if (c && set_up(c, level))
		return c;
	ZSTD_freeCCtx(c);
	return NULL;
}

static bool zstd_reset(void *state, int level)
{
	return !ZSTD_isError(ZSTD_CCtx_reset(state, ZSTD_reset_session_only)) &&
	       set_up(state, level);
}

static size_t zstd_size(const void *state)
{
	return ZSTD_sizeof_CCtx(state);
}

static enum compress_step zstd_put(void *state, struct slice *in, enum compress_flush flush,
				   struct compress_room *room)
{
	static const ZSTD_EndDirective how[] = {
		[COMPRESS_MORE] = ZSTD_e_continue, [COMPRESS_FLUSH] = ZSTD_e_flush,
		[COMPRESS_END] = ZSTD_e_end,
	};
	ZSTD_outBuffer to = { .dst = room->ptr, .size = room->len };
	ZSTD_inBuffer from = { .src = in->ptr, .size = in->len };
	size_t left = ZSTD_compressStream2(state, &to, &from, how[flush]);

	room->ptr += to.pos;
	room->len -= to.pos;
	*in = slice_sub(*in, from.pos, in->len);
	if (ZSTD_isError(left))
		return COMPRESS_WRONG;
	return in->len || (flush != COMPRESS_MORE && left) ? COMPRESS_FULL : COMPRESS_DONE;
}

/* --- reading ---------------------------------------------------------------------------------- */

static void *zstd_read_make(enum compress_format format)
{
	ZSTD_DCtx *d = ZSTD_createDCtx();

	if (d && !ZSTD_isError(ZSTD_DCtx_setParameter(d, ZSTD_d_windowLogMax, READ_WINDOW_BITS)))
		return d;
	ZSTD_freeDCtx(d);
	return NULL;
}

static void zstd_read_free(void *state)
{
	ZSTD_freeDCtx(state);
}

static size_t zstd_read_size(const void *state)
{
	return ZSTD_sizeof_DCtx(state);
}

static enum compress_step zstd_read(void *state, struct slice *in, struct compress_room *room)
{
	ZSTD_outBuffer to = { .dst = room->ptr, .size = room->len };
	ZSTD_inBuffer from = { .src = in->ptr, .size = in->len };
	size_t left = ZSTD_decompressStream(state, &to, &from);

	room->ptr += to.pos;
	room->len -= to.pos;
	*in = slice_sub(*in, from.pos, in->len);
	if (ZSTD_isError(left))
		return COMPRESS_WRONG;
	if (!left)
		return COMPRESS_OVER;
	return room->len ? COMPRESS_DONE : COMPRESS_FULL;
}

const struct compress_engine compress_zstd = {
	.library = "Zstandard", .version = ZSTD_versionString, .make = zstd_make,
	.free = zstd_free, .reset = zstd_reset, .size = zstd_size, .estimate = zstd_estimate,
	.put = zstd_put, .read_make = zstd_read_make, .read_free = zstd_read_free,
	.read_size = zstd_read_size, .read = zstd_read, .joins = true,
};

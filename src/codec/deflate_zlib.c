/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deflate_zlib.c - compression by zlib */
#include <stdlib.h>
#include <zlib.h>
#include "codec/deflate.h"

struct deflater {
	z_stream z;
	struct deflater *next;  /* spare */
	struct block *block;    /* what is written to; or NULL */
	size_t size;            /* of its state, as counted */
	int level;
	enum deflate_format format;
	struct deflate_params params;
};

static size_t memory, memory_max; /* atomic */

static _Thread_local struct deflater *spares;
static _Thread_local unsigned spare_count;

bool deflate_is_built_in(void)
{
	return true;
}

const char *deflate_library(void)
{
	return "zlib";
}

const char *deflate_version(void)
{
	return zlibVersion();
}

size_t deflate_memory(void)
{
	return __atomic_load_n(&memory, __ATOMIC_RELAXED);
}

void deflate_set_memory_max(size_t bytes)
{
	__atomic_store_n(&memory_max, bytes, __ATOMIC_RELAXED);
}

/* --- states ----------------------------------------------------------------------------------- */

/* What zlib takes for a state, as its manual says. */
static size_t state_size(const struct deflate_params *p)
{
	return ((size_t)1 << (p->window_bits + 2)) + ((size_t)1 << (p->mem_level + 9)) +
	       sizeof(struct deflater);
}

static bool memory_take(size_t n)
{
	size_t max = __atomic_load_n(&memory_max, __ATOMIC_RELAXED);

	if (__atomic_add_fetch(&memory, n, __ATOMIC_RELAXED) <= max || !max)
		return true;
	__atomic_sub_fetch(&memory, n, __ATOMIC_RELAXED);
	return false;
}

static int zlib_window(enum deflate_format format, int bits)
{
	/* zlib's own smallest is 9; it takes 8 with a header only */
	if (bits < 9)
		bits = 9;
	return format == DEFLATE_RAW ? -bits : format == DEFLATE_GZIP ? bits + 16 : bits;
}

static struct deflater *spare_take(enum deflate_format format, const struct deflate_params *p)
{
	for (struct deflater **at = &spares; *at; at = &(*at)->next) {
		struct deflater *d = *at;

		if (d->format != format || d->params.mem_level != p->mem_level ||
		    d->params.window_bits != p->window_bits)
			continue;
		*at = d->next;
		spare_count--;
		return d;
	}
	return NULL;
}

static void zlib_state_free(struct deflater *d)
{
	deflateEnd(&d->z);
	__atomic_sub_fetch(&memory, d->size, __ATOMIC_RELAXED);
	free(d);
}

static struct deflater *zlib_state_new(enum deflate_format format, int level,
				       const struct deflate_params *p)
{
	size_t size = state_size(p);
	struct deflater *d;

	if (!memory_take(size))
		return NULL;
	d = calloc(1, sizeof(*d));
	if (d && deflateInit2(&d->z, level, Z_DEFLATED, zlib_window(format, p->window_bits),
			      p->mem_level, Z_DEFAULT_STRATEGY) == Z_OK) {
		d->size = size;
		d->level = level;
		d->format = format;
		d->params = *p;
		return d;
	}
	free(d);
	__atomic_sub_fetch(&memory, size, __ATOMIC_RELAXED);
	return NULL;
}

struct deflater *deflater_new(enum deflate_format format, int level,
			      const struct deflate_params *p)
{
	struct deflater *d = spare_take(format, p);

	if (!d)
		return zlib_state_new(format, level, p);
	if (d->level != level && deflateParams(&d->z, level, Z_DEFAULT_STRATEGY) != Z_OK) {
		zlib_state_free(d);
		return zlib_state_new(format, level, p);
	}
	d->level = level;
	return d;
}

void deflater_free(struct deflater *d)
{
	if (!d)
		return;
	block_drop(d->block);
	d->block = NULL;
	if (spare_count >= DEFLATE_SPARES || deflateReset(&d->z) != Z_OK) {
		zlib_state_free(d);
		return;
	}
	d->next = spares;
	spares = d;
	spare_count++;
}

void deflate_trim_thread(void)
{
	while (spares) {
		struct deflater *d = spares;

		spares = d->next;
		zlib_state_free(d);
	}
	spare_count = 0;
}

/* --- bytes ------------------------------------------------------------------------------------ */

/* Points zlib at some room. False: no memory. */
static bool room_make(struct deflater *d)
{
	if (d->block && d->block->refs == 1)
		d->block->used = 0; /* all of it has been sent */
	if (!d->block || !block_room(d->block)) {
		block_drop(d->block);
		d->block = block_new();
		if (!d->block)
			return false;
	}
	d->z.next_out = (Bytef *)d->block->data + d->block->used;
	d->z.avail_out = (uInt)block_room(d->block);
	return true;
}

/* What zlib has written goes to the queue. False: no memory. */
static bool room_use(struct deflater *d, struct block_queue *out)
{
	struct block *b = d->block;
	const char *from = b->data + b->used;
	size_t n = block_room(b) - d->z.avail_out;

	if (!n)
		return true;
	b->used += (uint32_t)n;
	return block_queue_add(out, b, from, n);
}

bool deflater_set_level(struct deflater *d, int level, struct block_queue *out)
{
	int r;

	if (level == d->level)
		return true;
	d->z.avail_in = 0;
	do {
		if (!room_make(d))
			return false;
		r = deflateParams(&d->z, level, Z_DEFAULT_STRATEGY);
		if (!room_use(d, out))
			return false;
	} while (r == Z_BUF_ERROR && !d->z.avail_out);
	if (r == Z_OK)
		d->level = level;
	return r != Z_STREAM_ERROR;
}

bool deflater_put(struct deflater *d, struct slice in, enum deflate_flush flush,
		  struct block_queue *out)
{
	static const int how[] = {
		[DEFLATE_MORE] = Z_NO_FLUSH, [DEFLATE_FLUSH] = Z_SYNC_FLUSH,
		[DEFLATE_END] = Z_FINISH,
	};
	int r;

	d->z.next_in = (Bytef *)(uintptr_t)in.ptr;
	d->z.avail_in = (uInt)in.len;
	do {
		if (!room_make(d))
			return false;
		r = deflate(&d->z, how[flush]);
		if (r == Z_STREAM_ERROR || !room_use(d, out))
			return false;
	} while (!d->z.avail_out && r != Z_STREAM_END);
	return flush != DEFLATE_END || r == Z_STREAM_END;
}

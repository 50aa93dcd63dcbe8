/* SPDX-License-Identifier: GPL-2.0-or-later */
/* decompress.c - decompression: states, memory, streams in a row */
#include <stdlib.h>
#include "compress_priv.h"

struct decompressor {
	const struct compress_engine *engine;
	void *state;         /* the engine's; NULL: none since the last stream ended */
	struct block *block; /* what is written to; or NULL */
	size_t size;         /* of its state, as counted */
	enum compress_format format;
	bool is_whole;       /* nothing of a stream came that has not ended */
};

static bool state_make(struct decompressor *d)
{
	d->state = d->engine->read_make(d->format);
	return d->state != NULL;
}

static void state_end(struct decompressor *d)
{
	if (d->state)
		d->engine->read_free(d->state);
	d->state = NULL;
	compress_memory_set(&d->size, 0);
}

struct decompressor *decompressor_new(enum compress_format format)
{
	const struct compress_engine *engine = compress_engine_of(format);
	struct decompressor *d;

	if (!compress_can(format) || !compress_memory_take(0))
		return NULL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->engine = engine;
	d->format = format;
	if (state_make(d))
		return d;
	free(d);
	return NULL;
}

void decompressor_free(struct decompressor *d)
{
	if (!d)
		return;
	state_end(d);
	block_drop(d->block);
	free(d);
}

/* Behind the end of a stream: is it a new one that begins? */
static enum decompress_result begin_again(struct decompressor *d, struct slice in)
{
	if (!in.len)
		return DECOMPRESS_MORE;
	if (d->is_whole && !d->engine->joins)
		return DECOMPRESS_END;
	return d->state || state_make(d) ? DECOMPRESS_ROOM : DECOMPRESS_NO_MEMORY;
}

enum decompress_result decompressor_step(struct decompressor *d, struct slice *in,
					 struct block_queue *out)
{
	enum decompress_result before = begin_again(d, *in);
	struct compress_room room;
	enum compress_step r;

	/* (what is left of bytes that came earlier needs no others) */
	if (before != DECOMPRESS_ROOM && !(before == DECOMPRESS_MORE && d->state))
		return before;
	if (!compress_room_make(&d->block, &room))
		return DECOMPRESS_NO_MEMORY;
	if (in->len)
		d->is_whole = false;
	r = d->engine->read(d->state, in, &room);
	if (!compress_room_use(d->block, &room, out))
		return DECOMPRESS_NO_MEMORY;
	if (r == COMPRESS_OVER) {
		d->is_whole = true;
		state_end(d);
		return in->len ? DECOMPRESS_ROOM : DECOMPRESS_MORE;
	}
	compress_memory_set(&d->size, d->engine->read_size(d->state));
	return r == COMPRESS_DONE ? DECOMPRESS_MORE : r == COMPRESS_FULL ? DECOMPRESS_ROOM
	     : r == COMPRESS_SHORT ? DECOMPRESS_NO_MEMORY : DECOMPRESS_BAD;
}

bool decompressor_is_whole(const struct decompressor *d)
{
	return d->is_whole;
}

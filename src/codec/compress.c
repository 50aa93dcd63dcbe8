/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compress.c - compression: states, spares, memory, rooms */
#include <stdlib.h>
#include "compress_priv.h"

struct compressor {
	const struct compress_engine *engine;
	void *state;            /* the engine's */
	struct compressor *next;/* spare */
	struct block *block;    /* what is written to; or NULL */
	size_t size;            /* of its state, as counted */
	int level;
	enum compress_format format;
	struct compress_params params;
};

static size_t memory, memory_max; /* atomic */

static _Thread_local struct compressor *spares;
static _Thread_local unsigned spare_count;

const struct compress_engine *compress_engine_of(enum compress_format format)
{
	return format == COMPRESS_BR ? &compress_brotli
	     : format == COMPRESS_ZSTD ? &compress_zstd : &compress_zlib;
}

/* What is to write it: ISA-L knows deflate at its first level, and does it better than zlib. */
static const struct compress_engine *maker_of(enum compress_format format, int level,
					      const struct compress_params *p)
{
	return format <= COMPRESS_GZIP && level <= 1 && !p->no_isal && compress_isal.make
		? &compress_isal : compress_engine_of(format);
}

const char *compress_fast_library(void)
{
	return compress_isal.library;
}

const char *compress_fast_version(void)
{
	return compress_isal.make ? compress_isal.version() : "";
}

bool compress_can(enum compress_format format)
{
	return compress_engine_of(format)->make != NULL;
}

const char *compress_library(enum compress_format format)
{
	return compress_engine_of(format)->library;
}

const char *compress_version(enum compress_format format)
{
	return compress_can(format) ? compress_engine_of(format)->version() : "";
}

/* --- memory ----------------------------------------------------------------------------------- */

size_t compress_memory(void)
{
	return __atomic_load_n(&memory, __ATOMIC_RELAXED);
}

size_t compress_memory_max(void)
{
	return __atomic_load_n(&memory_max, __ATOMIC_RELAXED);
}

void compress_set_memory_max(size_t bytes)
{
	__atomic_store_n(&memory_max, bytes, __ATOMIC_RELAXED);
}

bool compress_memory_take(size_t n)
{
	size_t max = compress_memory_max();

	if (__atomic_add_fetch(&memory, n, __ATOMIC_RELAXED) <= max || !max)
		return true;
	__atomic_sub_fetch(&memory, n, __ATOMIC_RELAXED);
	return false;
}

void compress_memory_set(size_t *counted, size_t now)
{
	if (now == *counted)
		return;
	__atomic_add_fetch(&memory, now - *counted, __ATOMIC_RELAXED);
	*counted = now;
}

/* --- rooms ------------------------------------------------------------------------------------ */

bool compress_room_make(struct block **block, struct compress_room *room)
{
	struct block *b = *block;

	if (b && b->refs == 1)
		b->used = 0; /* all of it has been sent */
	if (!b || !block_room(b)) {
		block_drop(b);
		b = *block = block_new();
		if (!b)
			return false;
	}
	room->ptr = b->data + b->used;
	room->len = block_room(b);
	return true;
}

bool compress_room_use(struct block *b, const struct compress_room *room, struct block_queue *out)
{
	const char *from = b->data + b->used;
	size_t n = (size_t)(room->ptr - from);

	if (!n)
		return true;
	b->used += (uint32_t)n;
	return block_queue_add(out, b, from, n);
}

/* --- states ----------------------------------------------------------------------------------- */

static struct compressor *spare_take(const struct compress_engine *engine,
				     enum compress_format format, const struct compress_params *p)
{
	for (struct compressor **at = &spares; *at; at = &(*at)->next) {
		struct compressor *c = *at;

		if (c->engine != engine || c->format != format ||
		    c->params.mem_level != p->mem_level ||
		    c->params.window_bits != p->window_bits)
			continue;
		*at = c->next;
		spare_count--;
		return c;
	}
	return NULL;
}

static void maker_free(struct compressor *c)
{
	c->engine->free(c->state);
	compress_memory_set(&c->size, 0);
	free(c);
}

static struct compressor *maker_new(enum compress_format format, int level,
				    const struct compress_params *p)
{
	const struct compress_engine *engine = maker_of(format, level, p);
	struct compressor *c;
	size_t size;

	if (!compress_can(format))
		return NULL;
	size = engine->estimate(format, p) + sizeof(*c);
	if (!compress_memory_take(size))
		return NULL;
	c = calloc(1, sizeof(*c));
	if (c)
		c->state = engine->make(format, level, p);
	if (!c || !c->state) {
		compress_memory_set(&size, 0);
		free(c);
		return NULL;
	}
	c->engine = engine;
	c->size = size;
	c->level = level;
	c->format = format;
	c->params = *p;
	return c;
}

struct compressor *compressor_new(enum compress_format format, int level,
				  const struct compress_params *p)
{
	struct compressor *c = spare_take(maker_of(format, level, p), format, p);

	if (!c)
		return maker_new(format, level, p);
	/* it became one ready for its level */
	if (level != c->level && !c->engine->reset(c->state, level)) {
		maker_free(c);
		return maker_new(format, level, p);
	}
	c->level = level;
	return c;
}

void compressor_free(struct compressor *c)
{
	if (!c)
		return;
	block_drop(c->block);
	c->block = NULL;
	if (spare_count >= COMPRESS_SPARES || !c->engine->reset(c->state, c->level)) {
		maker_free(c);
		return;
	}
	c->next = spares;
	spares = c;
	spare_count++;
}

void compress_trim_thread(void)
{
	while (spares) {
		struct compressor *c = spares;

		spares = c->next;
		maker_free(c);
	}
	spare_count = 0;
}

/* --- bytes ------------------------------------------------------------------------------------ */

bool compressor_set_level(struct compressor *c, int level, struct block_queue *out)
{
	struct compress_room room;
	enum compress_step r;

	if (level == c->level || !c->engine->set_level)
		return true;
	do {
		if (!compress_room_make(&c->block, &room))
			return false;
		r = c->engine->set_level(c->state, level, &room);
		if (!compress_room_use(c->block, &room, out))
			return false;
	} while (r == COMPRESS_FULL);
	if (r == COMPRESS_DONE)
		c->level = level;
	return r == COMPRESS_DONE;
}

bool compressor_put(struct compressor *c, struct slice in, enum compress_flush flush,
		    struct block_queue *out)
{
	struct compress_room room;
	enum compress_step r;

	do {
		if (!compress_room_make(&c->block, &room))
			return false;
		r = c->engine->put(c->state, &in, flush, &room);
		if (!compress_room_use(c->block, &room, out))
			return false;
	} while (r == COMPRESS_FULL);
	compress_memory_set(&c->size, c->engine->size(c->state) + sizeof(*c));
	return r == COMPRESS_DONE;
}

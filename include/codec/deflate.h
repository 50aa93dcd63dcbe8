/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* deflate.h - compression of a stream of bytes (RFC 1950, 1951, 1952), by zlib where it is built in
 *
 *     struct deflater *d = deflater_new(DEFLATE_GZIP, 1, &params);
 *     deflater_put(d, bytes, DEFLATE_FLUSH, out);     each time that bytes come
 *     deflater_put(d, slice_none(), DEFLATE_END, out);
 *     deflater_free(d);
 *
 * Owns   : a deflater has one block of its own, whose free room it fills across calls; the pieces
 *          that it adds to queues hold references on it. Freed deflaters are kept by their thread,
 *          at most DEFLATE_SPARES, for making one costs more than a small answer.
 * Memory : 268 kB with the default parameters, counted for the process: deflate_memory().
 * Threads: a deflater belongs to one thread. Any thread.
 */
#ifndef CODEC_DEFLATE_H
#define CODEC_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/block.h"
#include "base/slice.h"

#define DEFLATE_SPARES 8

enum deflate_format { DEFLATE_RAW, DEFLATE_ZLIB, DEFLATE_GZIP };

/* What is wanted of the bytes put so far. */
enum deflate_flush {
	DEFLATE_MORE,  /* nothing: they may wait for others */
	DEFLATE_FLUSH, /* whoever decompresses can have them all */
	DEFLATE_END,   /* none come behind them */
};

/* What makes the state of one larger and better. */
struct deflate_params {
	int mem_level;   /* 1..9 */
	int window_bits; /* 8..15 */
};

struct deflater;

/* Can anything be compressed? And by what: "zlib", "1.2.13"; "" and "" if not. */
bool deflate_is_built_in(void);
const char *deflate_library(void);
const char *deflate_version(void);

/* Bytes of all states of the process, spares included; and the most of them, 0: no limit. */
size_t deflate_memory(void);
void deflate_set_memory_max(size_t bytes);

/* <level>: 0 (no compression) to 9. NULL: no memory, the limit is reached, or not built in. */
struct deflater *deflater_new(enum deflate_format format, int level,
			      const struct deflate_params *params);
/* Nothing when NULL. */
void deflater_free(struct deflater *d);
/* For the bytes to come. May add to <out> what came before. */
bool deflater_set_level(struct deflater *d, int level, struct block_queue *out);
/* Compresses <in>, adds to <out> what is ready. False: no memory, the stream cannot go on. */
bool deflater_put(struct deflater *d, struct slice in, enum deflate_flush flush,
		  struct block_queue *out);
/* Frees the spares of the calling thread (it ends, or memory is short). */
void deflate_trim_thread(void);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* compress.h - compression and decompression of streams of bytes: deflate (RFC 1950, 1951, 1952),
 * Brotli (RFC 7932), Zstandard (RFC 8878), each by its library where that is built in
 *
 *     struct compressor *c = compressor_new(COMPRESS_GZIP, 1, &params);
 *     compressor_put(c, bytes, COMPRESS_FLUSH, out);     each time that bytes come
 *     compressor_put(c, slice_none(), COMPRESS_END, out);
 *     compressor_free(c);
 *
 *     struct decompressor *d = decompressor_new(COMPRESS_GZIP);
 *     while (decompressor_step(d, &bytes, out) == DECOMPRESS_ROOM)
 *             ;                                          each step adds a block at most
 *     decompressor_free(d);
 *
 * Owns   : each has one block of its own, whose free room it fills across calls; the pieces
 *          that it adds to queues hold references on it. Freed compressors are kept by their
 *          thread, at most COMPRESS_SPARES, for making one costs more than a small answer.
 * Memory : of a compressor about 268 kB (deflate, with the default parameters; 234 kB by ISA-L),
 *          300 kB to some MB
 *          (Brotli, by level), 600 kB and more (Zstandard); of a decompressor the window that the
 *          sender has chosen, at most 8 MB (RFC 9659; Brotli: 16 MB). Counted for the process.
 * Threads: one thread each. Any thread.
 */
#ifndef CODEC_COMPRESS_H
#define CODEC_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/block.h"
#include "base/slice.h"

#define COMPRESS_SPARES 8

enum compress_format {
	COMPRESS_RAW, COMPRESS_ZLIB, COMPRESS_GZIP, COMPRESS_BR, COMPRESS_ZSTD, COMPRESS_FORMATS
};

/* What is wanted of the bytes put so far. */
enum compress_flush {
	COMPRESS_MORE,  /* nothing: they may wait for others */
	COMPRESS_FLUSH, /* the receiver can decompress all of them */
	COMPRESS_END,   /* none come behind them */
};

/* What makes the state of zlib larger and better. */
struct compress_params {
	int mem_level;   /* 1..9 */
	int window_bits; /* 8..15 */
	bool no_isal;    /* level 1 is zlib's too */
};

/* Can bytes of the format be made and read? And by what: "zlib", "1.2.13"; "" and "" if not. */
bool compress_can(enum compress_format format);
const char *compress_library(enum compress_format format);
const char *compress_version(enum compress_format format);
/* What deflates at level 1, unless that is forbidden: "ISA-L", "2.30.0"; "" and "": zlib. */
const char *compress_fast_library(void);
const char *compress_fast_version(void);

/* Bytes of all states of the process, spares included; and the most of them, 0: no limit. */
size_t compress_memory(void);
size_t compress_memory_max(void);
void compress_set_memory_max(size_t bytes);

/* --- compression ------------------------------------------------------------------------------ */

struct compressor;

/* <level>: 0 (no compression, or the fastest) to 9. NULL: no memory, the limit is reached, or not
 * built in.
 */
struct compressor *compressor_new(enum compress_format format, int level,
				  const struct compress_params *params);
/* Nothing when NULL. */
void compressor_free(struct compressor *c);
/* For the bytes to come, where the library can (ISA-L, Brotli and Zstandard keep theirs). May add
 * to <out> what came before. False: as compressor_put().
 */
bool compressor_set_level(struct compressor *c, int level, struct block_queue *out);
/* Compresses <in>, adds to <out> what is ready. False: no memory, the stream cannot go on. */
bool compressor_put(struct compressor *c, struct slice in, enum compress_flush flush,
		    struct block_queue *out);
/* Frees the spares of the calling thread (it ends, or memory is short). */
void compress_trim_thread(void);

/* --- decompression ---------------------------------------------------------------------------- */

struct decompressor;

enum decompress_result {
	DECOMPRESS_MORE, /* all of the bytes are used */
	DECOMPRESS_ROOM, /* a block is full: call again */
	DECOMPRESS_END,  /* that is all; behind it are bytes that do not belong to it, or none */
	DECOMPRESS_BAD,  /* no such format, or a window that is too large */
	DECOMPRESS_NO_MEMORY,
};

/* COMPRESS_ZLIB reads COMPRESS_RAW as well: many servers mean that by "deflate". NULL: as above. */
struct decompressor *decompressor_new(enum compress_format format);
/* Nothing when NULL. */
void decompressor_free(struct decompressor *d);
/* Takes bytes of <in> from its front, adds at most a block to <out>. Several members of gzip, and
 * frames of Zstandard, in a row are one stream.
 */
enum decompress_result decompressor_step(struct decompressor *d, struct slice *in,
					 struct block_queue *out);
/* Has it all of a stream? Else it was cut off. */
bool decompressor_is_whole(const struct decompressor *d);

#endif

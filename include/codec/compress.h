/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* compress.h - compression and decompression of byte streams: deflate (RFC 1950, 1951, 1952),
 * Brotli (RFC 7932), Zstandard (RFC 8878), each by its library if built in
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
 * Owns   : each has one block of its own and fills its free room across calls; the pieces that it
 *          adds to queues hold references on the block. Threads keep freed compressors, at most
 *          COMPRESS_SPARES, since creating one costs more than a small response.
 * Memory : a compressor takes about 268 kB (deflate, with the default parameters; 234 kB with
 *          ISA-L), 300 kB to some MB (Brotli, by level), 600 kB and more (Zstandard); a
 *          decompressor takes the window that the sender has chosen, at most 8 MB (RFC 9659;
 *          Brotli: 16 MB). Counted for the process.
 * Threads: any; each object is used by one thread at a time.
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

/* What to do with the bytes put so far. */
enum compress_flush {
	COMPRESS_MORE,  /* nothing: they may wait for more */
	COMPRESS_FLUSH, /* make all of them available to the receiver */
	COMPRESS_END,   /* they are the last ones */
};

/* Parameters of zlib that trade memory for compression. */
struct compress_params {
	int mem_level;   /* 1..9 */
	int window_bits; /* 8..15 */
	bool no_isal;    /* use zlib for level 1, too */
};

/* Is the format supported, both ways? And by which library: "zlib", "1.2.13"; "" and "" if not. */
bool compress_can(enum compress_format format);
const char *compress_library(enum compress_format format);
const char *compress_version(enum compress_format format);
/* Return the library for deflate at level 1, unless forbidden: "ISA-L", "2.30.0"; "" and "": zlib.
 */
const char *compress_fast_library(void);
const char *compress_fast_version(void);

/* Return the bytes of all states of the process, spares included, and their limit; 0: no limit. */
size_t compress_memory(void);
size_t compress_memory_max(void);
void compress_set_memory_max(size_t bytes);

/* --- compression ------------------------------------------------------------------------------ */

struct compressor;

/* Creates a compressor. <level>: 0 (no compression, or the fastest) to 9. NULL: out of memory, the
 * limit is reached, or not built in.
 */
struct compressor *compressor_new(enum compress_format format, int level,
				  const struct compress_params *params);
/* Frees it. NULL is harmless. */
void compressor_free(struct compressor *c);
/* Changes the level for the following bytes, if the library can (ISA-L, Brotli and Zstandard keep
 * theirs). May add output for the bytes before to <out>. False: as compressor_put().
 */
bool compressor_set_level(struct compressor *c, int level, struct block_queue *out);
/* Compresses <in> and adds the available output to <out>. False: out of memory; the stream cannot
 * continue.
 */
bool compressor_put(struct compressor *c, struct slice in, enum compress_flush flush,
		    struct block_queue *out);
/* Frees the spares of the calling thread, at its end or when memory is short. */
void compress_trim_thread(void);

/* --- decompression ---------------------------------------------------------------------------- */

struct decompressor;

enum decompress_result {
	DECOMPRESS_MORE, /* all bytes are used */
	DECOMPRESS_ROOM, /* a block is full: call again */
	DECOMPRESS_END,  /* the stream is complete; bytes that follow do not belong to it */
	DECOMPRESS_BAD,  /* not this format, or its window is too large */
	DECOMPRESS_NO_MEMORY,
};

/* Creates a decompressor. COMPRESS_ZLIB accepts COMPRESS_RAW as well: many servers mean that by
 * "deflate". NULL: as for compressor_new().
 */
struct decompressor *decompressor_new(enum compress_format format);
/* Frees it. NULL is harmless. */
void decompressor_free(struct decompressor *d);
/* Consumes bytes from the front of <in>, adds at most one block to <out>. Consecutive members of
 * gzip, and frames of Zstandard, are one stream.
 */
enum decompress_result decompressor_step(struct decompressor *d, struct slice *in,
					 struct block_queue *out);
/* Is the stream complete? Otherwise it was cut off. */
bool decompressor_is_whole(const struct decompressor *d);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compress_priv.h - shared by compress.c, decompress.c and the files of the libraries
 *
 * A library is a row of functions on its own state. They write to the given room, and tell whether
 * they need more.
 */
#ifndef CODEC_COMPRESS_PRIV_H
#define CODEC_COMPRESS_PRIV_H

#include "codec/compress.h"

/* Room for a library's output; moved past what it has written. */
struct compress_room {
	char *ptr;
	size_t len;
};

enum compress_step {
	COMPRESS_DONE,  /* all input is used, and the output is as complete as requested */
	COMPRESS_FULL,  /* no room left: call again */
	COMPRESS_OVER,  /* decompression: the end of a stream */
	COMPRESS_WRONG, /* invalid bytes, or an error of the library */
	COMPRESS_SHORT, /* out of memory */
};

struct compress_engine {
	const char *library;          /* ""; not built in, and no other member is set */
	const char *(*version)(void);
	/* Creates a state; NULL: out of memory. */
	void *(*make)(enum compress_format format, int level, const struct compress_params *p);
	void (*free)(void *state);
	/* Prepares it for other input at this level; false: create a new one. */
	bool (*reset)(void *state, int level);
	/* Returns its current size in bytes; estimate(): the approximate size before there is one.
	 */
	size_t (*size)(const void *state);
	size_t (*estimate)(enum compress_format format, const struct compress_params *p);
	/* NULL: it keeps its initial level. */
	enum compress_step (*set_level)(void *state, int level, struct compress_room *room);
	enum compress_step (*put)(void *state, struct slice *in, enum compress_flush flush,
				  struct compress_room *room);
	/* decompression */
	void *(*read_make)(enum compress_format format);
	void (*read_free)(void *state);
	size_t (*read_size)(const void *state);
	enum compress_step (*read)(void *state, struct slice *in, struct compress_room *room);
	bool joins;                   /* another stream may directly follow one */
};

extern const struct compress_engine compress_zlib, compress_isal, compress_brotli, compress_zstd;
const struct compress_engine *compress_engine_of(enum compress_format format);

/* Accounts for the memory of a state; false: the limit would be exceeded. */
bool compress_memory_take(size_t bytes);
/* Updates the accounted size *<counted> of a state to <now> bytes. */
void compress_memory_set(size_t *counted, size_t now);

/* Makes room at the end of *block, in a new one if there is none. False: out of memory. */
bool compress_room_make(struct block **block, struct compress_room *room);
/* What was written to it goes to the queue. False: no memory. */
bool compress_room_use(struct block *block, const struct compress_room *room,
		       struct block_queue *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compress_priv.h - what compress.c, decompress.c and the files of the libraries share
 *
 * A library is a row of functions over a state of its own. They write to the room that is given,
 * and say whether they want more.
 */
#ifndef CODEC_COMPRESS_PRIV_H
#define CODEC_COMPRESS_PRIV_H

#include "codec/compress.h"

/* Where a library writes to, and has written up to. */
struct compress_room {
	char *ptr;
	size_t len;
};

enum compress_step {
	COMPRESS_DONE,  /* all is taken, and written as far as was wanted */
	COMPRESS_FULL,  /* there is no room left: again */
	COMPRESS_OVER,  /* decompression: this was the end of a stream */
	COMPRESS_WRONG, /* bad bytes, or an error of the library */
	COMPRESS_SHORT, /* no memory */
};

struct compress_engine {
	const char *library;          /* ""; not built in, and nothing else is there */
	const char *(*version)(void);
	/* A state; NULL: no memory. */
	void *(*make)(enum compress_format format, int level, const struct compress_params *p);
	void (*free)(void *state);
	/* Ready for other bytes at this level; false: a new one is better. */
	bool (*reset)(void *state, int level);
	/* Its bytes, at present; before there is one: about. */
	size_t (*size)(const void *state);
	size_t (*estimate)(enum compress_format format, const struct compress_params *p);
	/* NULL: it keeps the level that it began with. */
	enum compress_step (*set_level)(void *state, int level, struct compress_room *room);
	enum compress_step (*put)(void *state, struct slice *in, enum compress_flush flush,
				  struct compress_room *room);
	/* decompression */
	void *(*read_make)(enum compress_format format);
	void (*read_free)(void *state);
	size_t (*read_size)(const void *state);
	enum compress_step (*read)(void *state, struct slice *in, struct compress_room *room);
	bool joins;                   /* another stream may stand right behind one */
};

extern const struct compress_engine compress_zlib, compress_isal, compress_brotli, compress_zstd;
const struct compress_engine *compress_engine_of(enum compress_format format);

/* Memory of states that is counted; false: there is a limit, which it would pass. */
bool compress_memory_take(size_t bytes);
/* A state has now <now> bytes, and was counted with *<counted>. */
void compress_memory_set(size_t *counted, size_t now);

/* Room at the end of *block, a new one if it has none. False: no memory. */
bool compress_room_make(struct block **block, struct compress_room *room);
/* What was written to it goes to the queue. False: no memory. */
bool compress_room_use(struct block *block, const struct compress_room *room,
		       struct block_queue *out);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* block.h - refcounted blocks of received bytes, and queues of pieces of them
 *
 * A block has `tune.bufsize` bytes, filled once by the kernel and then only read; the owner that
 * has filled it may append to its free tail. A piece is a run of bytes in a block and holds a
 * reference. A block queue is a FIFO of pieces: moving bytes between queues moves pieces, and
 * copies nothing.
 * Owns   : a queue owns one reference per piece.
 * Threads: blocks, pieces and queues belong to one thread (counts are not atomic).
 * Fails  : creating a block or adding a piece fails when out of memory (false / NULL).
 */
#ifndef BASE_BLOCK_H
#define BASE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include "base/slice.h"

#define BLOCK_FOREIGN UINT32_MAX

struct block {
	uint32_t refs;
	uint32_t size; /* capacity of data */
	uint32_t used; /* bytes filled from the start */
	uint32_t kind; /* allocator that takes it back; BLOCK_FOREIGN */
	char data[];
};

/* The source of blocks: core installs its pools; the default is malloc. */
struct block_allocator {
	struct block *(*take)(size_t size);
	void (*release)(struct block *b);
};
void block_set_allocator(const struct block_allocator *a);
/* Sets and returns the usual capacity (tune.bufsize), 16384 by default. */
void block_set_size(size_t size);
size_t block_size(void);

/* Creates an empty block with one reference. NULL: out of memory. */
struct block *block_new(void);
/* Creates a block of another capacity, for small texts that the program generates. */
struct block *block_new_sized(size_t size);
/* Creates a block whose bytes belong to another module: the thread that drops the last reference
 * calls <release>. Its pieces point to wherever the bytes are.
 */
struct block *block_new_foreign(void (*release)(void *ctx), void *ctx);
void block_free(struct block *b); /* for block_drop() only */
/* Returns how many blocks the calling thread holds now; this bounds large reads. */
unsigned block_thread_count(void);

static inline struct block *block_take(struct block *b)
{
	b->refs++;
	return b;
}

static inline void block_drop(struct block *b)
{
	if (b && --b->refs == 0)
		block_free(b);
}

static inline size_t block_room(const struct block *b)
{
	return b->size - b->used;
}

struct piece {
	struct piece *next;
	struct block *block; /* counted; NULL: static bytes */
	const char *ptr;
	size_t len;
};

struct block_queue {
	struct piece *first, *last;
	uint32_t len;    /* bytes of all pieces: muxes take far less than 4 GB at a time */
	uint32_t count;  /* pieces */
};

static inline void block_queue_init(struct block_queue *q)
{
	*q = (struct block_queue){ 0 };
}

static inline bool block_queue_is_empty(const struct block_queue *q)
{
	return q->len == 0;
}

/* Drops everything from a non-empty queue. */
void block_queue_drop(struct block_queue *q);
/* Drops everything. */
static inline void block_queue_clear(struct block_queue *q)
{
	if (q->first) /* else the rest is zero too */
		block_queue_drop(q);
}
/* Adds a run of <b> and takes a reference; merges it with the last piece if it is adjacent. False:
 * out of memory.
 */
bool block_queue_add(struct block_queue *q, struct block *b, const char *ptr, size_t len);
/* Adds bytes that outlive the queue (string constants, configuration). */
bool block_queue_add_static(struct block_queue *q, struct slice s);
/* Copies bytes into the free tail of the last block, if no other reference to it exists, or into a
 * new block.
 */
bool block_queue_add_copy(struct block_queue *q, struct slice s);
/* Moves all pieces from <from> to the end of <to>. */
void block_queue_move(struct block_queue *to, struct block_queue *from);
/* Moves the first <len> bytes (at most all). False: a piece could not be split (out of memory); the
 * pieces already moved stay moved.
 */
bool block_queue_move_len(struct block_queue *to, struct block_queue *from, size_t len);
/* Drops the first <len> bytes. */
void block_queue_skip(struct block_queue *q, size_t len);
/* Fills at most <max> vectors with the first pieces; returns how many; *bytes: their sum. */
int block_queue_vectors(const struct block_queue *q, struct iovec *v, int max, size_t *bytes);
/* Frees the spare pieces of the calling thread, at its end. */
void block_queue_trim_thread(void);
/* Copies up to <len> bytes from offset <from> to <dst>; returns how many. */
size_t block_queue_peek(const struct block_queue *q, size_t from, char *dst, size_t len);

#endif

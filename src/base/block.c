/* SPDX-License-Identifier: GPL-2.0-or-later */
/* block.c - received bytes: refcounted blocks, and queues of pieces of them */
#include "base/block.h"
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"

#define BLOCK_SIZE_DEFAULT 16384

static struct block *heap_take(size_t size)
{
	struct block *b = malloc(sizeof(*b) + size);

	if (b)
		b->kind = 0;
	return b;
}

static void heap_release(struct block *b)
{
	free(b);
}

static struct block_allocator allocator = { heap_take, heap_release };
static size_t usual_size = BLOCK_SIZE_DEFAULT;

/* Spare pieces of the thread: a piece is taken and given back for every run of bytes. */
#define PIECES_SPARE_MAX 256
static __thread struct piece *spare_pieces;
static __thread unsigned spare_count;

static __thread unsigned blocks_held;

unsigned block_thread_count(void)
{
	return blocks_held;
}

void block_set_allocator(const struct block_allocator *a)
{
	allocator = *a;
}

void block_set_size(size_t size)
{
	usual_size = size;
}

size_t block_size(void)
{
	return usual_size;
}

struct block *block_new_sized(size_t size)
{
	struct block *b = allocator.take(size);

	if (!b)
		return NULL;
	blocks_held++;
	b->refs = 1;
	b->size = (uint32_t)size;
	b->used = 0;
	return b;
}

struct block *block_new(void)
{
	return block_new_sized(usual_size);
}

/* What stands in a foreign block. */
struct foreign {
	void (*release)(void *ctx);
	void *ctx;
};

struct block *block_new_foreign(void (*release)(void *ctx), void *ctx)
{
	struct block *b = malloc(sizeof(*b) + sizeof(struct foreign));
	const struct foreign f = { release, ctx };

	if (!b)
		return NULL;
	blocks_held++;
	*b = (struct block){ .refs = 1, .kind = BLOCK_FOREIGN };
	memcpy(b->data, &f, sizeof(f));
	return b;
}

void block_free(struct block *b)
{
	struct foreign f;

	blocks_held--;
	if (b->kind != BLOCK_FOREIGN) {
		allocator.release(b);
		return;
	}
	memcpy(&f, b->data, sizeof(f));
	free(b);
	f.release(f.ctx);
}

static void piece_free(struct piece *p)
{
	block_drop(p->block);
	if (spare_count >= PIECES_SPARE_MAX) {
		free(p);
		return;
	}
	p->next = spare_pieces;
	spare_pieces = p;
	spare_count++;
}

void block_queue_trim_thread(void)
{
	while (spare_pieces) {
		struct piece *p = spare_pieces;

		spare_pieces = p->next;
		free(p);
	}
	spare_count = 0;
}

void block_queue_drop(struct block_queue *q)
{
	while (q->first) {
		struct piece *p = q->first;

		q->first = p->next;
		piece_free(p);
	}
	block_queue_init(q);
}

/* Appends a piece that already holds its reference. */
static void queue_append(struct block_queue *q, struct piece *p)
{
	p->next = NULL;
	if (q->last)
		q->last->next = p;
	else
		q->first = p;
	q->last = p;
	q->len += p->len;
	q->count++;
}

static struct piece *queue_pop(struct block_queue *q)
{
	struct piece *p = q->first;

	q->first = p->next;
	if (!q->first)
		q->last = NULL;
	q->len -= p->len;
	q->count--;
	return p;
}

static bool queue_add_run(struct block_queue *q, struct block *b, const char *ptr, size_t len);

/* As queue_add_run(), where the thread has no spare piece: it gets one first. */
static __attribute__((noinline)) bool queue_add_first_run(struct block_queue *q, struct block *b,
							  const char *ptr, size_t len)
{
	struct piece *p = malloc(sizeof(*p));

	if (!p)
		return false;
	p->next = NULL;
	spare_pieces = p;
	spare_count = 1;
	return queue_add_run(q, b, ptr, len);
}

/* Adds a run of <b> (NULL: static), which continues the last piece or becomes one. */
static bool queue_add_run(struct block_queue *q, struct block *b, const char *ptr, size_t len)
{
	struct piece *p = q->last;

	if (!len)
		return true;
	if (p && b && p->block == b && p->ptr + p->len == ptr) {
		p->len += len;
		q->len += len;
		return true;
	}
	p = spare_pieces;
	if (unlikely(!p))
		return queue_add_first_run(q, b, ptr, len);
	spare_pieces = p->next;
	spare_count--;
	*p = (struct piece){ .block = b, .ptr = ptr, .len = len };
	if (b)
		block_take(b);
	queue_append(q, p);
	return true;
}

bool block_queue_add(struct block_queue *q, struct block *b, const char *ptr, size_t len)
{
	return queue_add_run(q, b, ptr, len);
}

bool block_queue_add_static(struct block_queue *q, struct slice s)
{
	return queue_add_run(q, NULL, s.ptr, s.len);
}

bool block_queue_add_copy(struct block_queue *q, struct slice s)
{
	while (s.len) {
		struct piece *p = q->last;
		struct block *b = p ? p->block : NULL;
		size_t n = s.len;
		bool added;

		/* the room behind the last piece is ours when we have the only reference */
		if (b && b->refs == 1 && p->ptr + p->len == b->data + b->used && block_room(b))
			block_take(b);
		else
			b = block_new();
		if (!b)
			return false;
		if (n > block_room(b))
			n = block_room(b);
		memcpy(b->data + b->used, s.ptr, n);
		b->used += (uint32_t)n;
		added = queue_add_run(q, b, b->data + b->used - n, n);
		block_drop(b);
		if (!added)
			return false;
		s = slice_sub(s, n, s.len);
	}
	return true;
}

void block_queue_move(struct block_queue *to, struct block_queue *from)
{
	if (!from->first)
		return;
	if (to->last)
		to->last->next = from->first;
	else
		to->first = from->first;
	to->last = from->last;
	to->len += from->len;
	to->count += from->count;
	block_queue_init(from);
}

bool block_queue_move_len(struct block_queue *to, struct block_queue *from, size_t len)
{
	if (len >= from->len) {
		block_queue_move(to, from);
		return true;
	}
	while (len && from->first->len <= len) {
		len -= from->first->len;
		queue_append(to, queue_pop(from));
	}
	if (!len)
		return true;
	if (!queue_add_run(to, from->first->block, from->first->ptr, len))
		return false;
	block_queue_skip(from, len);
	return true;
}

void block_queue_skip(struct block_queue *q, size_t len)
{
	BUG_ON(len > q->len);
	if (len == q->len) {
		block_queue_clear(q);
		return;
	}
	while (len && q->first->len <= len) {
		len -= q->first->len;
		piece_free(queue_pop(q));
	}
	if (len) {
		q->first->ptr += len;
		q->first->len -= len;
		q->len -= len;
	}
}

int block_queue_vectors(const struct block_queue *q, struct iovec *v, int max, size_t *bytes)
{
	const struct piece *p = q->first;
	int n = 0;

	*bytes = 0;
	for (; p && n < max; p = p->next, n++) {
		v[n].iov_base = (char *)p->ptr;
		v[n].iov_len = p->len;
		*bytes += p->len;
	}
	return n;
}

size_t block_queue_peek(const struct block_queue *q, size_t from, char *dst, size_t len)
{
	const struct piece *p = q->first;
	size_t done = 0;

	for (; p && from >= p->len; p = p->next)
		from -= p->len;
	for (; p && done < len; p = p->next, from = 0) {
		size_t n = p->len - from;

		if (n > len - done)
			n = len - done;
		memcpy(dst + done, p->ptr + from, n);
		done += n;
	}
	return done;
}

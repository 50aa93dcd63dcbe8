/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arena.c - memory that is freed all at once */
#include "base/arena.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct arena_chunk {
	struct arena_chunk *next;
	char bytes[] __attribute__((aligned(16)));
};

#define ARENA_CHUNK_DEFAULT 4096

void arena_init(struct arena *a, size_t chunk_size)
{
	a->at = a->end = NULL;
	a->chunks = NULL;
	a->chunk_size = chunk_size ? chunk_size : ARENA_CHUNK_DEFAULT;
}

void arena_init_in(struct arena *a, void *area, size_t size, size_t chunk_size)
{
	arena_init(a, chunk_size);
	a->at = area;
	a->end = a->at + size;
}

void arena_fini(struct arena *a)
{
	while (a->chunks) {
		struct arena_chunk *c = a->chunks;

		a->chunks = c->next;
		free(c);
	}
	a->at = a->end = NULL;
}

/* An object too large for the current chunk: a new chunk, or one of its own kept behind the
 * current. */
void *arena_alloc_slow(struct arena *a, size_t size)
{
	size_t room = a->chunk_size - sizeof(struct arena_chunk);
	bool own = size > room / 2;
	struct arena_chunk *c;

	if (size > SIZE_MAX / 2)
		return NULL;
	c = malloc(sizeof(*c) + (own ? size : room));
	if (!c)
		return NULL;
	if (own && a->chunks) {
		c->next = a->chunks->next;
		a->chunks->next = c;
		return c->bytes;
	}
	c->next = a->chunks;
	a->chunks = c;
	a->at = c->bytes + size;
	a->end = c->bytes + (own ? size : room);
	return c->bytes;
}

void *arena_zalloc(struct arena *a, size_t size)
{
	void *p = arena_alloc(a, size);

	return p ? memset(p, 0, size) : NULL;
}

struct slice arena_copy(struct arena *a, struct slice s)
{
	char *p = arena_alloc(a, s.len + 1);

	if (!p)
		return slice_none();
	if (s.len)
		memcpy(p, s.ptr, s.len);
	p[s.len] = 0;
	return slice_make(p, s.len);
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *p;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0)
		return NULL;
	p = arena_alloc(a, (size_t)len + 1);
	if (!p)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(p, (size_t)len + 1, fmt, ap);
	va_end(ap);
	return p;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ring.c - the last messages, in a fixed amount of memory */
#include "core/ring.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/file.h"

#define LOCK_TRIES 100 /* before the processor is given to another thread */

struct ring {
	unsigned refs;         /* atomic */
	unsigned lock;         /* of all that follows, and of the area */
	struct list readers;
	struct ring_area *area; /* mapped */
	size_t mapped;          /* bytes */
	uint64_t size;          /* area->size, which a file's other users might change */
	uint64_t head, tail;    /* same */
};

static void ring_lock(struct ring *r)
{
	for (unsigned tries = 0; __atomic_exchange_n(&r->lock, 1, __ATOMIC_ACQUIRE); tries++)
		if (tries >= LOCK_TRIES)
			sched_yield();
}

static void ring_unlock(struct ring *r)
{
	__atomic_store_n(&r->lock, 0, __ATOMIC_RELEASE);
}

/* --- making ---------------------------------------------------------------------------------- */

/* A ring over <fd>, or over memory if it is -1. */
static struct ring *ring_map(int fd, size_t bytes)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	struct ring *r = calloc(1, sizeof(*r));
	void *area;

	if (!r || bytes <= sizeof(struct ring_area) + RING_OVERHEAD) {
		free(r);
		errno = r ? EINVAL : ENOMEM;
		return NULL;
	}
	area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (area == MAP_FAILED) {
		free(r);
		return NULL;
	}
	r->refs = 1;
	r->area = area;
	r->mapped = bytes;
	r->size = bytes - sizeof(struct ring_area);
	list_init(&r->readers);
	memcpy(r->area->magic, RING_MAGIC, sizeof(r->area->magic));
	r->area->size = r->size;
	return r;
}

struct ring *ring_new(size_t bytes)
{
	return ring_map(-1, bytes);
}

struct ring *ring_open_file(const char *path, size_t bytes)
{
	struct ring *r = NULL;
	int fd, error;

	fd = file_make(path, 0600);
	if (fd < 0)
		return NULL;
	/* a disk that fills up later must not kill us: all room is taken now */
	error = posix_fallocate(fd, 0, (off_t)bytes);
	if (!error) {
		r = ring_map(fd, bytes);
		error = errno;
	}
	if (!r)
		unlink(path);
	close(fd);
	errno = error;
	return r;
}

struct ring *ring_take(struct ring *r)
{
	__atomic_fetch_add(&r->refs, 1, __ATOMIC_RELAXED);
	return r;
}

void ring_drop(struct ring **pr)
{
	struct ring *r = *pr;

	*pr = NULL;
	if (!r || __atomic_sub_fetch(&r->refs, 1, __ATOMIC_ACQ_REL))
		return;
	BUG_ON(!list_is_empty(&r->readers));
	munmap(r->area, r->mapped);
	free(r);
}

size_t ring_max_len(const struct ring *r)
{
	return (size_t)r->size - RING_OVERHEAD;
}

/* --- bytes ----------------------------------------------------------------------------------- */

static void copy_in(struct ring *r, uint64_t place, const void *from, size_t len)
{
	size_t at = place % r->size, first = r->size - at < len ? r->size - at : len;

	if (!len)
		return;
	memcpy(r->area->data + at, from, first);
	memcpy(r->area->data, (const char *)from + first, len - first);
}

static void copy_out(const struct ring *r, uint64_t place, void *to, size_t len)
{
	size_t at = place % r->size, first = r->size - at < len ? r->size - at : len;

	memcpy(to, r->area->data + at, first);
	memcpy((char *)to + first, r->area->data, len - first);
}

/* Bytes of the message at <place>, its length included. A file may have been written by others:
 * nothing goes beyond the end.
 */
static uint64_t message_span(const struct ring *r, uint64_t place)
{
	uint64_t span, most = r->tail - place;
	uint32_t len = 0;

	copy_out(r, place, &len, sizeof(len));
	span = (uint64_t)len + RING_OVERHEAD;
	return span < most ? span : most;
}

/* --- writing --------------------------------------------------------------------------------- */

/* Frees room for <need> bytes. False: a reader holds them. */
static bool make_room(struct ring *r, uint64_t need)
{
	uint64_t head = r->head;
	struct ring_reader *reader;

	while (r->tail + need - head > r->size)
		head += message_span(r, head);
	if (head == r->head)
		return true;
	list_for_each(reader, &r->readers, link)
		if (reader->holds && reader->at < head)
			return false;
	r->head = head;
	return true;
}

static void wake_readers(struct ring *r)
{
	struct ring_reader *reader;

	list_for_each(reader, &r->readers, link) {
		if (!reader->waits)
			continue;
		reader->waits = false;
		reader->wake(reader);
	}
}

bool ring_write(struct ring *r, const struct iovec *v, int count)
{
	uint64_t place;
	size_t len = 0;
	uint32_t length;
	bool ok;

	for (int i = 0; i < count; i++)
		len += v[i].iov_len;
	if (len > ring_max_len(r))
		return false;
	ring_lock(r);
	ok = make_room(r, len + RING_OVERHEAD);
	if (ok) {
		length = (uint32_t)len;
		copy_in(r, r->tail, &length, sizeof(length));
		place = r->tail + RING_OVERHEAD;
		for (int i = 0; i < count; place += v[i].iov_len, i++)
			copy_in(r, place, v[i].iov_base, v[i].iov_len);
		r->tail = place;
		r->area->head = r->head;
		r->area->tail = r->tail;
		wake_readers(r);
	}
	ring_unlock(r);
	return ok;
}

/* --- reading --------------------------------------------------------------------------------- */

void ring_reader_start(struct ring *r, struct ring_reader *reader, bool at_end)
{
	ring_lock(r);
	reader->at = at_end ? r->tail : r->head;
	reader->waits = false;
	reader->missed = 0;
	list_append(&r->readers, &reader->link);
	ring_unlock(r);
}

void ring_reader_stop(struct ring *r, struct ring_reader *reader)
{
	ring_lock(r);
	list_remove(&reader->link);
	ring_unlock(r);
}

bool ring_read(struct ring *r, struct ring_reader *reader, struct strbuf *out, bool wait)
{
	uint64_t span;
	bool found;

	ring_lock(r);
	if (reader->at < r->head) {
		reader->missed++; /* at least */
		reader->at = r->head;
	}
	found = reader->at < r->tail;
	reader->waits = !found && wait;
	if (found) {
		span = message_span(r, reader->at);
		if (span > RING_OVERHEAD && strbuf_reserve(out, span - RING_OVERHEAD)) {
			copy_out(r, reader->at + RING_OVERHEAD, out->ptr + out->len,
				 span - RING_OVERHEAD);
			out->len += span - RING_OVERHEAD;
			out->ptr[out->len] = '\0';
		}
		reader->at += span;
	}
	ring_unlock(r);
	return found;
}

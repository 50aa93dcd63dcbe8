/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recvbuf.c - QUIC: received bytes, put in order
 *
 * What comes in order is copied behind what is ready. What comes early is kept as it came: the list
 * has no overlaps but with what is ready, which are cut when their turn comes.
 */
#include <stdlib.h>
#include <string.h>
#include "quic_priv.h"

/* A client that sends one byte in each frame, with holes, costs more than its bytes. */
#define EARLY_MAX 4096

struct early {
	struct list link;
	uint64_t from;
	uint32_t len;
	uint8_t bytes[];
};

void quic_recvbuf_init(struct quic_recvbuf *b)
{
	*b = (struct quic_recvbuf){ 0 };
	list_init(&b->early);
}

static void drop(struct quic_recvbuf *b, struct early *e)
{
	list_remove(&e->link);
	b->early_len -= e->len;
	b->early_count--;
	free(e);
}

static bool append(struct quic_recvbuf *b, const uint8_t *bytes, size_t len)
{
	if (!block_queue_add_copy(&b->ready, slice_make((const char *)bytes, len)))
		return false;
	b->at += len;
	return true;
}

/* Moves what is no longer early. */
static bool settle(struct quic_recvbuf *b)
{
	while (!list_is_empty(&b->early)) {
		struct early *e = list_first(&b->early, struct early, link);
		uint64_t end = e->from + e->len;

		if (e->from > b->at)
			break;
		if (end > b->at && !append(b, e->bytes + (b->at - e->from), (size_t)(end - b->at)))
			return false;
		drop(b, e);
	}
	return true;
}

static bool keep(struct quic_recvbuf *b, struct list *before, uint64_t from, const uint8_t *bytes,
		 size_t len)
{
	struct early *e = b->early_count < EARLY_MAX ? malloc(sizeof(*e) + len) : NULL;

	if (!e)
		return false;
	e->from = from;
	e->len = (uint32_t)len;
	memcpy(e->bytes, bytes, len);
	list_insert_before(before, &e->link);
	b->early_len += len;
	b->early_count++;
	return true;
}

/* Keeps the parts of the bytes that are not there yet. */
static bool add_early(struct quic_recvbuf *b, uint64_t from, const uint8_t *bytes, size_t len)
{
	uint64_t end = from + len;
	struct early *e;

	/* most often it is behind all others */
	if (!list_is_empty(&b->early)) {
		e = list_entry(b->early.prev, struct early, link);
		if (from >= e->from + e->len)
			return keep(b, &b->early, from, bytes, len);
	}
	list_for_each(e, &b->early, link) {
		if (end <= e->from)
			return keep(b, &e->link, from, bytes, len);
		if (from < e->from) {
			size_t n = (size_t)(e->from - from);

			if (!keep(b, &e->link, from, bytes, n))
				return false;
		}
		if (from < e->from + e->len) {
			if (end <= e->from + e->len)
				return true;
			bytes += e->from + e->len - from;
			len = (size_t)(end - e->from - e->len);
			from = e->from + e->len;
		}
	}
	return keep(b, &b->early, from, bytes, len);
}

bool quic_recvbuf_add(struct quic_recvbuf *b, uint64_t from, const uint8_t *bytes, size_t len)
{
	uint64_t end = from + len;

	if (end <= b->at)
		return true;
	if (from > b->at)
		return add_early(b, from, bytes, len);
	return append(b, bytes + (b->at - from), (size_t)(end - b->at)) && settle(b);
}

void quic_recvbuf_free(struct quic_recvbuf *b)
{
	block_queue_clear(&b->ready);
	while (!list_is_empty(&b->early))
		drop(b, list_first(&b->early, struct early, link));
}

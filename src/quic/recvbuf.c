/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recvbuf.c - QUIC: received bytes, put in order
 *
 * Bytes in order are appended to the ready ones. Early bytes are kept as they arrived: the tree has
 * no overlaps except with the ready bytes, which are cut when their turn comes.
 */
#include <stdlib.h>
#include <string.h>
#include "base/list.h"
#include "buffers_priv.h"

/* A client that sends one byte in each frame, with holes, costs more than its bytes. */
#define EARLY_MAX 4096

struct early {
	struct tree_node node;         /* by offset */
	uint32_t len;
	uint8_t bytes[];
};

void quic_recvbuf_init(struct quic_recvbuf *b)
{
	*b = (struct quic_recvbuf){ 0 };
}

static struct early *early_of(const struct tree_node *n)
{
	return list_entry(n, struct early, node);
}

static uint64_t end_of(const struct tree_node *n)
{
	return n->key + early_of(n)->len;
}

static void drop(struct quic_recvbuf *b, struct tree_node *n)
{
	struct early *e = early_of(n);

	tree_remove(&b->early, n);
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
	struct tree_node *n;

	while ((n = tree_first(&b->early)) && n->key <= b->at) {
		uint64_t end = end_of(n);

		if (end > b->at && !append(b, early_of(n)->bytes + (b->at - n->key),
					   (size_t)(end - b->at)))
			return false;
		drop(b, n);
	}
	return true;
}

/* Keeps bytes that overlap with none that are kept. */
static bool keep(struct quic_recvbuf *b, uint64_t from, const uint8_t *bytes, size_t len)
{
	struct early *e = b->early_count < EARLY_MAX ? malloc(sizeof(*e) + len) : NULL;

	if (!e)
		return false;
	e->node = (struct tree_node){ 0 };
	e->len = (uint32_t)len;
	memcpy(e->bytes, bytes, len);
	tree_insert(&b->early, &e->node, from);
	b->early_len += len;
	b->early_count++;
	return true;
}

/* Keeps the parts of the bytes that are not there yet. */
static bool add_early(struct quic_recvbuf *b, uint64_t from, const uint8_t *bytes, size_t len)
{
	struct tree_node *next = tree_find_ge(&b->early, from);
	struct tree_node *n = next ? tree_prev(next) : tree_last(&b->early);
	uint64_t end = from + len, at = from, until;

	for (; at < end; n = next, next = next ? tree_next(next) : NULL) {
		if (n && end_of(n) > at)
			at = end_of(n);
		until = next && next->key < end ? next->key : end;
		if (at < until) {
			if (!keep(b, at, bytes + (at - from), (size_t)(until - at)))
				return false;
			at = until;
		}
	}
	return true;
}

bool quic_recvbuf_add(struct quic_recvbuf *b, uint64_t from, const uint8_t *bytes, size_t len)
{
	uint64_t end = from + len;

	if (end <= b->at || !len)
		return true;
	if (from > b->at)
		return add_early(b, from, bytes, len);
	return append(b, bytes + (b->at - from), (size_t)(end - b->at)) && settle(b);
}

void quic_recvbuf_free(struct quic_recvbuf *b)
{
	struct tree_node *n;

	block_queue_clear(&b->ready);
	while ((n = tree_first(&b->early)))
		drop(b, n);
}

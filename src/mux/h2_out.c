/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_out.c - the HTTP/2 mux: the queue of a connection, and its turns
 *
 * Output is written to one block of the thread, of which each queue holds pieces: the frames of one
 * turn are adjacent.
 */
#include <string.h>
#include "base/clock.h"
#include "h2_conn_priv.h"
#include "h2_in_priv.h"
#include "h2_out_priv.h"

static __thread struct block *text;
/* Connections that go on reading in the next turn, and those that send at the end of this one. */
static __thread struct turn_list resume, flush;

static void resume_one(struct list *link)
{
	struct conn *c = list_entry(link, struct h2_conn, turn)->conn;

	c->ops->ready(c);
}

bool h2_out_thread_init(void (*flush_one)(struct list *link))
{
	turn_list_init(&resume, resume_one);
	resume.limit_ns = H2_TURN_NS;
	turn_list_init(&flush, flush_one);
	return true;
}

void h2_out_thread_fini(void)
{
	block_drop(text);
	text = NULL;
}

void h2_resume_later(struct h2_conn *h)
{
	if (!(h->flags & H2C_FL_DEAD))
		turn_list_add(&resume, &h->turn);
}

bool h2_turn_work(struct h2_conn *h, uint32_t units)
{
	uint64_t now;

	h->spent.work += units;
	if (h->spent.work < H2_TURN_WORK)
		return false;
	h->spent.work = 0;
	now = clock_read_ns();
	if (!h->spent.since_ns)
		h->spent.since_ns = now;
	if (now - h->spent.since_ns < H2_TURN_NS)
		return false;
	h->flags |= H2C_FL_PAUSE;
	return true;
}

void h2_flush_later(struct h2_conn *h)
{
	if (!(h->flags & H2C_FL_DEAD))
		turn_list_add(&flush, &h->flush);
}

void h2_out_failed(struct h2_conn *h)
{
	h->flags |= H2C_FL_BROKEN;
	h->conn->flags |= CONN_ERROR;
	h2_resume_later(h);
}

char *h2_out_reserve(struct h2_conn *h, size_t n)
{
	if (!text || block_room(text) < n) {
		block_drop(text);
		text = n <= block_size() ? block_new() : block_new_sized(n);
	}
	if (!text) {
		h2_out_failed(h);
		return NULL;
	}
	return text->data + text->used;
}

void h2_out_commit(struct h2_conn *h, const char *end)
{
	const char *start = text->data + text->used;

	text->used = (uint32_t)(end - text->data);
	if (!block_queue_add(&h->out, text, start, (size_t)(end - start)))
		h2_out_failed(h);
	h2_flush_later(h);
}

void h2_out_control(struct h2_conn *h, const char *frame, size_t len)
{
	char *p = h2_out_reserve(h, len);

	if (!p)
		return;
	memcpy(p, frame, len);
	h->control.bytes += (uint32_t)len;
	h2_out_commit(h, p + len);
	h->control.end = (uint32_t)h->out.len;
}

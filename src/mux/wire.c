/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire.c - shared by the muxes: received bytes, and work for the end of a turn */
#include <string.h>
#include "base/clock.h"
#include "wire_priv.h"

/* --- received bytes --------------------------------------------------------------------------- */

void wire_in_drop(struct wire_in *in)
{
	struct piece *p = in->more.first;

	block_drop(in->block);
	in->block = NULL;
	in->at = 0;
	if (!p)
		return;
	/* the first bytes of this one may have been copied behind the last: append_more() */
	in->block = block_take(p->block);
	in->at = (uint32_t)(p->ptr - p->block->data);
	block_queue_skip(&in->more, p->len);
}

void wire_in_clear(struct wire_in *in)
{
	block_queue_clear(&in->more);
	wire_in_drop(in);
}

void wire_in_give(struct wire_in *in, struct block_queue *q)
{
	block_queue_move(&in->more, q);
	wire_in_drop(in);
}

/* Room for more bytes behind those that are there, contiguous; a full block's are copied to a new
 * one.
 */
static bool make_room(struct wire_in *in)
{
	struct block *b;
	size_t n;

	if (!in->block) {
		in->block = block_new();
		in->at = 0;
		return in->block != NULL;
	}
	if (block_room(in->block))
		return true;
	n = in->block->used - in->at;
	b = block_new();
	if (!b)
		return false;
	if (n >= b->size) {
		block_drop(b);
		return false;
	}
	memcpy(b->data, in->block->data + in->at, n);
	b->used = (uint32_t)n;
	block_drop(in->block);
	in->block = b;
	in->at = 0;
	return true;
}

/* Copies received bytes to the room behind those which they follow: what is parsed there must be
 * contiguous.
 */
static void append_more(struct wire_in *in)
{
	const struct piece *p = in->more.first;
	size_t n = block_room(in->block) < p->len ? block_room(in->block) : p->len;

	memcpy(in->block->data + in->block->used, p->ptr, n);
	in->block->used += (uint32_t)n;
	block_queue_skip(&in->more, n);
}

enum io wire_in_recv(struct wire_in *in, struct conn *c, bool body)
{
	size_t got;
	enum io r;

	if (body && !in->block && c->read_blocks > 1) {
		r = conn_recv(c, &in->more, SIZE_MAX, &got);
		if (got)
			wire_in_drop(in);
		return r;
	}
	if (!make_room(in))
		return IO_ERR;
	if (in->more.len) {
		append_more(in);
		return IO_OK;
	}
	r = conn_recv_block(c, in->block, &got);
	if (!got && in->block->used == in->at)
		wire_in_drop(in);
	return r;
}

enum io wire_drain(struct conn *c)
{
	struct block *b = block_new();
	size_t got;
	enum io r = b ? IO_OK : IO_ERR;

	for (int i = 0; r == IO_OK && i < WIRE_READ_BUDGET; i++) {
		b->used = 0;
		if (!(c->flags & CONN_CAN_RECV))
			r = IO_AGAIN;
		else
			r = conn_recv_block(c, b, &got);
	}
	block_drop(b);
	return r;
}

/* --- work for the end of a turn --------------------------------------------------------------- */

static void turn_list_run(struct turn_hook *hook)
{
	struct turn_list *t = list_entry(hook, struct turn_list, hook);
	uint64_t until = t->limit_ns ? clock_read_ns() + t->limit_ns : 0;
	struct list todo;

	list_init(&todo);
	list_splice(&todo, &t->list);
	while (!list_is_empty(&todo)) {
		struct list *link = todo.next;

		list_remove(link);
		t->run(link);
		if (until && clock_read_ns() >= until)
			break;
	}
	if (list_is_empty(&todo))
		return;
	list_splice(&todo, &t->list);
	list_splice(&t->list, &todo);
	turn_hook_add(&t->hook);
}

void turn_list_init(struct turn_list *t, void (*run)(struct list *link))
{
	turn_hook_init(&t->hook, turn_list_run);
	list_init(&t->list);
	t->run = run;
}

void turn_list_add(struct turn_list *t, struct list *link)
{
	if (list_is_linked(link))
		return;
	list_append(&t->list, link);
	turn_hook_add(&t->hook);
}

bool turn_list_defers(struct turn_list *t, struct list *link, const struct conn *c)
{
	if (list_is_linked(link))
		return true;
	if (c->read_blocks == 1 || list_is_empty(&t->list))
		return false;
	turn_list_add(t, link);
	return true;
}

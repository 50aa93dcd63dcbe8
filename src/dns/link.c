/* SPDX-License-Identifier: GPL-2.0-or-later */
/* link.c - questions over TCP: two bytes of length stand before each message (RFC 1035 4.2.2)
 *
 * A connection takes several queries before their answers; another one is opened when all have
 * LINK_QUERIES outstanding. A connection that was idle for LINK_IDLE_MS is closed. Queries on a
 * connection that breaks are lost: they time out and are sent again.
 */
#include <stdlib.h>
#include <string.h>
#include "base/block.h"
#include "base/bug.h"
#include "base/clock.h"
#include "net/conn.h"
#include "net/dial.h"
#include "dns_priv.h"

struct stream_link {
	struct list link;
	struct nameserver *server;
	struct conn *conn;
	struct block_queue out, in;
	unsigned under_way;
	unsigned strangers; /* messages that answered no question, in a row */
	bool busy; /* in ready(): an answer makes the next question, which may find it broken */
	bool dead; /* to be freed at the end of that */
	struct timer idle;
};

static void link_free(struct stream_link *k)
{
	list_remove(&k->link);
	timer_cancel(&k->idle);
	k->dead = true;
	if (k->busy)
		return;
	if (k->conn)
		conn_close(&k->conn);
	block_queue_clear(&k->out);
	block_queue_clear(&k->in);
	free(k);
}

void links_close(struct nameserver *ns)
{
	while (!list_is_empty(&ns->links))
		link_free(list_first(&ns->links, struct stream_link, link));
}

/* A server that says so much unasked is not listened to: the thread has other work. */
#define STRANGERS_MAX 1000

static void link_idle(struct timer *t)
{
	link_free(container_of(t, struct stream_link, idle));
}

static void link_used(struct stream_link *k)
{
	timer_set(&k->idle, clock_now_ms() + LINK_IDLE_MS);
}

/* --- receiving ------------------------------------------------------------------------------ */

/* Hands over the messages that are whole. */
static void take_messages(struct stream_link *k)
{
	static char buffer[UINT16_MAX]; /* thread 0's */
	uint8_t size[2];

	while (!k->dead && block_queue_peek(&k->in, 0, (char *)size, 2) == 2) {
		size_t len = (size_t)size[0] << 8 | size[1];

		if (k->in.len < len + 2)
			return;
		block_queue_peek(&k->in, 2, buffer, len);
		block_queue_skip(&k->in, len + 2);
		k->under_way -= k->under_way > 0;
		k->strangers = resolution_answer(k->server, slice_make(buffer, len))
			? 0 : k->strangers + 1;
		if (k->strangers > STRANGERS_MAX && !k->dead)
			link_free(k);
	}
}

static bool receive(struct stream_link *k)
{
	size_t got;

	while (!k->dead && k->conn->flags & CONN_CAN_RECV && k->in.len <= UINT16_MAX + 2) {
		enum io r = conn_recv(k->conn, &k->in, UINT16_MAX, &got);

		if (r == IO_EOF || r == IO_ERR)
			return false;
		if (r == IO_AGAIN)
			break;
		take_messages(k);
	}
	return true;
}

static void ready(struct conn *c)
{
	struct stream_link *k = c->owner;
	bool good;

	k->busy = true;
	good = !(c->flags & CONN_ERROR) &&
	       (!k->out.len || conn_send(c, &k->out, false) != IO_ERR) && receive(k);
	k->busy = false;
	if (!good || k->dead)
		link_free(k);
}

/* --- sending -------------------------------------------------------------------------------- */

static const struct conn_ops ops = { .name = "dns", .ready = ready };

static struct stream_link *link_open(struct nameserver *ns)
{
	struct dial_want want = { .to = &ns->addr.ss, .to_len = ns->addr.len };
	struct stream_link *k = calloc(1, sizeof(*k));

	if (!k || dial_open(&want, &ops, k, &k->conn) != DIAL_DONE) {
		free(k);
		return NULL;
	}
	k->server = ns;
	timer_init(&k->idle, link_idle);
	list_append(&ns->links, &k->link);
	return k;
}

/* The connection with the fewest questions under way; a new one if they are many. */
static struct stream_link *link_choose(struct nameserver *ns)
{
	struct stream_link *best = NULL, *k, *made;
	unsigned count = 0;

	list_for_each(k, &ns->links, link) {
		count++;
		if (!best || k->under_way < best->under_way)
			best = k;
	}
	if (best && (best->under_way < LINK_QUERIES || count >= ns->links_max))
		return best;
	made = link_open(ns);
	return made ? made : best;
}

bool links_send(struct nameserver *ns, struct slice query)
{
	uint8_t size[2] = { (uint8_t)(query.len >> 8), (uint8_t)query.len };
	struct stream_link *k = link_choose(ns);

	if (!k)
		return false;
	/* nothing has been taken of it for long: more would only wait behind it */
	if (k->out.len > UINT16_MAX)
		return false;
	if (!block_queue_add_copy(&k->out, slice_make((char *)size, 2)) ||
	    !block_queue_add_copy(&k->out, query)) {
		link_free(k);
		return false;
	}
	k->under_way++;
	link_used(k);
	if (k->conn->flags & CONN_CAN_SEND && conn_send(k->conn, &k->out, false) == IO_ERR) {
		link_free(k);
		return false;
	}
	return true;
}

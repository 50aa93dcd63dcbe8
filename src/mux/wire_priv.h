/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_priv.h - shared by the muxes: received bytes, and work at the end of a turn
 *
 * Purpose: protocol-independent parts. A mux embeds a wire_in and one list link per kind of
 *          deferred work.
 * Owns   : a wire_in owns its blocks; a turn_list nothing.
 * Threads: that of the connection; a turn_list is one thread's.
 */
#ifndef MUX_WIRE_PRIV_H
#define MUX_WIRE_PRIV_H

#include "base/block.h"
#include "base/list.h"
#include "core/thread.h"
#include "net/conn.h"

/* Budget of one event before other connections get their turn: this many reads, or this many times
 * WIRE_READ_UNIT bytes. One large read uses all of it.
 */
#define WIRE_READ_BUDGET 8
#define WIRE_READ_UNIT (32 * 1024)
/* Time that connections continued from the previous turn may take of a turn, all together. */
#define WIRE_TURN_NS 100000

/* --- received bytes that were not used yet --------------------------------------------------- */

struct wire_in {
	struct block *block;      /* unparsed bytes start at <at>; NULL: none */
	struct block_queue more;  /* whole blocks received after it, by one large read */
	uint32_t at;
};

static inline bool wire_in_has(const struct wire_in *in)
{
	return in->block && in->at < in->block->used;
}

/* Returns the contiguous bytes. */
static inline struct slice wire_in_bytes(const struct wire_in *in)
{
	if (!in->block)
		return slice_make(NULL, 0);
	return slice_make(in->block->data + in->at, in->block->used - in->at);
}

/* Returns the number of all bytes. */
static inline size_t wire_in_len(const struct wire_in *in)
{
	return (in->block ? in->block->used - in->at : 0) + in->more.len;
}

/* Drops the block; the one received after it, if any, takes its place. */
void wire_in_drop(struct wire_in *in);
/* Consumes <n> of the contiguous bytes. */
static inline void wire_in_use(struct wire_in *in, size_t n)
{
	in->at += (uint32_t)n;
	if (in->at == in->block->used)
		wire_in_drop(in);
}
/* Drops all unused bytes. */
void wire_in_clear(struct wire_in *in);
/* Takes the bytes of <q>, in whole blocks, which were received before this mux existed; <in> must
 * be empty.
 */
void wire_in_give(struct wire_in *in, struct block_queue *q);
/* Receives after the bytes that are there, so that they can be parsed as one run: into the block
 * or, if that is empty, the throughput is high and a <body> is expected, into several blocks.
 * IO_ERR also if a whole block is not enough.
 */
enum io wire_in_recv(struct wire_in *in, struct conn *c, bool body);
/* May more bytes follow: already received, or in the socket? */
static inline bool wire_in_may_grow(const struct wire_in *in, const struct conn *c)
{
	return in->more.len || c->flags & CONN_CAN_RECV;
}

/* Reads and discards what the peer still sends. IO_OK: there may be more. */
enum io wire_drain(struct conn *c);

/* --- work for the end of a turn --------------------------------------------------------------- */

/* A thread's list of work to do at the end of the turn, once per member. What <run> adds is for the
 * next turn. With a time limit, members that are left out come first in the next turn; at least one
 * is run.
 */
struct turn_list {
	struct turn_hook hook;
	struct list list;
	void (*run)(struct list *link); /* for one member, already removed from the list */
	uint64_t limit_ns;              /* time for all of them in a turn; 0: no limit */
};

/* Initialises a list, once per thread. */
void turn_list_init(struct turn_list *t, void (*run)(struct list *link));
/* Adds <link> (initialised) unless it is linked. */
void turn_list_add(struct turn_list *t, struct list *link);
/* An event says that <c>, whose link this is, has something to read. True: defer it. It already
 * waits for its turn; or it waits from now on, because its throughput is high and others wait.
 */
bool turn_list_defers(struct turn_list *t, struct list *link, const struct conn *c);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_priv.h - what the muxes share: received bytes, and work for the end of a turn
 *
 * Purpose: the parts that do not depend on the protocol. A mux embeds a wire_in and as many
 *          turn_links as it has things to do later.
 * Owns   : a wire_in owns its blocks; a turn_list nothing.
 * Threads: that of the connection; a turn_list is one thread's.
 */
#ifndef MUX_WIRE_PRIV_H
#define MUX_WIRE_PRIV_H

#include "base/block.h"
#include "base/list.h"
#include "core/thread.h"
#include "net/conn.h"

/* What one event may cause before other connections get their turn: so many reads, or so many
 * times WIRE_READ_UNIT bytes. One large read takes it all.
 */
#define WIRE_READ_BUDGET 8
#define WIRE_READ_UNIT (32 * 1024)
/* What connections that go on from the turn before may take of one, all together. */
#define WIRE_TURN_NS 100000

/* --- received bytes that were not used yet --------------------------------------------------- */

struct wire_in {
	struct block *block;      /* those not parsed yet start at <at>; NULL: none */
	struct block_queue more;  /* whole blocks received behind it, by one large read */
	uint32_t at;
};

static inline bool wire_in_has(const struct wire_in *in)
{
	return in->block && in->at < in->block->used;
}

/* The contiguous bytes that are there. */
static inline struct slice wire_in_bytes(const struct wire_in *in)
{
	if (!in->block)
		return slice_make(NULL, 0);
	return slice_make(in->block->data + in->at, in->block->used - in->at);
}

/* All bytes that are there. */
static inline size_t wire_in_len(const struct wire_in *in)
{
	return (in->block ? in->block->used - in->at : 0) + in->more.len;
}

/* Done with the block: what was received behind it, or the next block, takes its place. */
void wire_in_drop(struct wire_in *in);
/* <n> of the contiguous bytes were used. */
static inline void wire_in_use(struct wire_in *in, size_t n)
{
	in->at += (uint32_t)n;
	if (in->at == in->block->used)
		wire_in_drop(in);
}
/* Forgets all that was received and not used. */
void wire_in_clear(struct wire_in *in);
/* Takes the bytes of <q>, in whole blocks, which were received before there was this mux; <in> is
 * empty.
 */
void wire_in_give(struct wire_in *in, struct block_queue *q);
/* Receives behind what is there, so that it can be parsed as one run: into the block; or, when that
 * is empty, the flow is fast and it is a <body> that comes, into several. IO_ERR also when a whole
 * block is not enough.
 */
enum io wire_in_recv(struct wire_in *in, struct conn *c, bool body);
/* May bytes follow: received already, or in the socket? */
static inline bool wire_in_may_grow(const struct wire_in *in, const struct conn *c)
{
	return in->more.len || c->flags & CONN_CAN_RECV;
}

/* Reads and throws away what the peer still sends. IO_OK: there may be more. */
enum io wire_drain(struct conn *c);

/* --- work for the end of a turn --------------------------------------------------------------- */

/* A thread's list of things to do once when its turn ends, each at most once. What <run> adds is
 * for the next turn. With a limit, those that it leaves out are first in the next turn; one at
 * least gets its time.
 */
struct turn_list {
	struct turn_hook hook;
	struct list list;
	void (*run)(struct list *link); /* of one member, which was taken off the list */
	uint64_t limit_ns;              /* what all may take of a turn; 0: as long as it lasts */
};

/* Once per thread, before the first use. */
void turn_list_init(struct turn_list *t, void (*run)(struct list *link));
/* Adds <link> (initialised), if it is in no list. */
void turn_list_add(struct turn_list *t, struct list *link);
/* An event says that <c>, whose link this is, has something to read. True: not now. It waits for
 * its turn already; or it waits from now on, because its flow is fast and others wait.
 */
bool turn_list_defers(struct turn_list *t, struct list *link, const struct conn *c);

#endif

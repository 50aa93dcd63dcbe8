/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ring.h - the last messages, in a fixed amount of memory
 *
 * Messages are written at the end; when room is out the oldest go. A reader has a place of its own:
 * one that *holds* keeps what it has not read (a message that then finds no room is refused), any
 * other is moved on when its place is overwritten, and told how many messages it missed.
 * The memory may be a file's: after a crash it still has what was written (ring_open_file()).
 * Owns   : its memory. Refcounted: a generation hands its rings to the next.
 * Threads: any; one lock, held for the copy of one message.
 * Fails  : only when it is made.
 *
 * The area, all numbers in the order of the machine, places counted from the first byte ever
 * written, so that a message of place P begins at data[P % size]:
 *
 *	"HAPRING1" | size | head: place of the oldest | tail: place of the next | data[size]
 *	a message: its length on 4 bytes, its bytes
 */
#ifndef CORE_RING_H
#define CORE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include "base/list.h"
#include "base/strbuf.h"

#define RING_MAGIC "HAPRING1"
#define RING_OVERHEAD 4 /* bytes that a message takes besides its own */

struct ring_area {
	char magic[8];
	uint64_t size, head, tail;
	char data[];
};

struct ring;

struct ring_reader {
	struct list link;   /* of the ring */
	uint64_t at;        /* place of the next message */
	uint64_t missed;    /* messages overwritten before they were read */
	bool holds, waits;
	/* A message came while it waited: called once, by the writer's thread, under the ring's
	 * lock: only to wake a task.
	 */
	void (*wake)(struct ring_reader *r);
};

/* A ring over <bytes> of memory, its area's head included. NULL: no memory. */
struct ring *ring_new(size_t bytes);
/* A ring over a file of that size, made anew with mode 0600; one that is there and not empty is
 * renamed to "<path>.bak". Room is reserved on the disk. NULL: errno tells.
 */
struct ring *ring_open_file(const char *path, size_t bytes);
struct ring *ring_take(struct ring *r);
void ring_drop(struct ring **r);
/* The longest message that fits. */
size_t ring_max_len(const struct ring *r);

/* Adds one message made of the vectors. False: longer than ring_max_len(), or a reader that holds
 * has not read what stands in its place.
 */
bool ring_write(struct ring *r, const struct iovec *v, int count);

/* Registers <reader>, whose wake and holds are set, before the oldest message (or after the last
 * one). It must be stopped before its memory goes.
 */
void ring_reader_start(struct ring *r, struct ring_reader *reader, bool at_end);
void ring_reader_stop(struct ring *r, struct ring_reader *reader);
/* Appends the next message to <out> and moves on. False: there is none; if <wait>, wake() will be
 * called when one comes.
 */
bool ring_read(struct ring *r, struct ring_reader *reader, struct strbuf *out, bool wait);

#endif

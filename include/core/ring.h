/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ring.h - the last messages, in a fixed amount of memory
 *
 * Messages are appended; when there is no room the oldest are removed. Each reader has its own
 * position. A reader that *holds* keeps what it has not read, so that a message without room is
 * refused; any other reader is moved forward when its position is overwritten, and told how many
 * messages it missed. The memory may be a file's: after a crash the file still has what was written
 * (ring_open_file()).
 * Owns   : its memory. Refcounted: a generation passes its rings to the next.
 * Threads: any; one lock, held while one message is copied.
 * Fails  : only when it is created.
 *
 * Layout of the area. All numbers are in native byte order; positions count from the first byte
 * ever written, so that a message at position P begins at data[P % size]:
 *
 *	"HAPRING1" | size | head: position of the oldest | tail: position of the next | data[size]
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
#define RING_OVERHEAD 4 /* bytes per message besides its own */

struct ring_area {
	char magic[8];
	uint64_t size, head, tail;
	char data[];
};

struct ring;

struct ring_reader {
	struct list link;   /* of the ring */
	uint64_t at;        /* position of the next message */
	uint64_t missed;    /* messages overwritten before they were read */
	bool holds, waits;
	/* A message came while the reader was waiting. Called once, by the writer's thread, under
	 * the ring's lock: it must only wake a task.
	 */
	void (*wake)(struct ring_reader *r);
};

/* Creates a ring over <bytes> of memory, including the head of its area. NULL: out of memory. */
struct ring *ring_new(size_t bytes);
/* Creates a ring over a new file of that size, with mode 0600; an existing non-empty file is
 * renamed to "<path>.bak". Disk space is reserved. NULL: see errno.
 */
struct ring *ring_open_file(const char *path, size_t bytes);
struct ring *ring_take(struct ring *r);
void ring_drop(struct ring **r);
/* Returns the length of the longest message that fits. */
size_t ring_max_len(const struct ring *r);

/* Adds one message made of the vectors. False: it is longer than ring_max_len(), or a reader that
 * holds has not read the messages in its place.
 */
bool ring_write(struct ring *r, const struct iovec *v, int count);

/* Registers <reader>, whose <wake> and <holds> are set, before the oldest message or after the last
 * one. It must be stopped before its memory is freed.
 */
void ring_reader_start(struct ring *r, struct ring_reader *reader, bool at_end);
void ring_reader_stop(struct ring *r, struct ring_reader *reader);
/* Appends the next message to <out> and moves on. False: none; with <wait>, wake() will be called
 * when one comes.
 */
bool ring_read(struct ring *r, struct ring_reader *reader, struct strbuf *out, bool wait);

#endif

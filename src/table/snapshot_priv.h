/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshot_priv.h - snapshots of tables on disk: their format, writer and reader
 *
 *	head     "HAPTABLE", version 4, length of the shape 4, wall clock in us 8, start time of the
 *	         writing process in us 8
 *	shape    a text: type, length of keys, stored data types with periods and array sizes
 *	entries  age in ms 4, key, cells
 *	tail     number of entries 8, bytes of the whole file 8, checksum of all bytes before it 8
 *
 * Numbers are little-endian. Keys of fixed length are stored as they are, others after their length
 * (2). A rate is stored as the age of its period in ms (4, UINT32_MAX: none) and its two counts (4,
 * 4); a pace as the time left in ns (8); a text after its length (2). Ages are relative to the wall
 * clock in the head. The checksum is XXH3 of each block of 64 KB, seeded with that of the block
 * before.
 */
#ifndef TABLE_SNAPSHOT_PRIV_H
#define TABLE_SNAPSHOT_PRIV_H

#include "base/strbuf.h"
#include "table_priv.h"

#define SNAPSHOT_MAGIC "HAPTABLE"
#define SNAPSHOT_VERSION 1
#define SNAPSHOT_HEAD 32
#define SNAPSHOT_TAIL 24
#define SNAPSHOT_BLOCK 65536
#define SNAPSHOT_NO_RATE UINT32_MAX

/* `file PATH [every <time>]`: in the arena of the configuration. */
struct table_snapshot {
	const char *path;    /* absolute */
	const char *name;    /* its last part */
	int directory;       /* owned; -1: not open */
	uint32_t every_ms;   /* 0: only when the process ends */
	uint64_t due_ms;     /* of thread 0; TIMER_NEVER */
	bool failed;         /* of thread 0: the write failure has been reported */
};

/* Appends the shape as a text to <out>. Equal shapes give equal texts. */
void snapshot_shape(const struct table_shape *s, struct strbuf *out);

enum snapshot_result { SNAPSHOT_WRITTEN, SNAPSHOT_FAILED, SNAPSHOT_NOT_OURS };
/* Writes all entries; traffic continues meanwhile. Returns FAILED with errno set, or NOT_OURS if
 * the file was written by a process that started after this one; that file is kept. Any thread;
 * blocks on the disk.
 */
enum snapshot_result snapshot_write(const struct table_snapshot *f, struct table_state *st);

struct snapshot_loaded {
	uint64_t entries;    /* in the file */
	uint64_t expired, no_room; /* skipped: too old, table full */
	uint32_t version;    /* of the file */
	char error[512];     /* why the file is refused */
};
/* Returns true if a file of <len> bytes may be a whole snapshot, judged by its first SNAPSHOT_HEAD
 * and last SNAPSHOT_TAIL bytes. They are not read when the file is shorter than both. Returns false
 * with the reason in <out>.
 */
bool snapshot_may_be_whole(const char *head, const char *tail, uint64_t len,
			   struct snapshot_loaded *out);
/* Loads the bytes of a file into an empty table; <now_us> is the wall clock. Returns false:
 * refused, and the table is unchanged.
 */
bool snapshot_load(struct table_state *st, const char *bytes, size_t len, uint64_t now_us,
		   struct snapshot_loaded *out);
/* Returns the start time of the process that wrote this head, or 0 if it is not a snapshot head. */
uint64_t snapshot_born_us(const char *head, size_t len);

/* --- snapshot.c */

extern uint64_t snapshots_born_us; /* start time of this process, as its snapshots store it */

/* Returns the last part of f->path, or NULL if it does not name a file. */
const char *snapshot_name(const char *path);
void snapshot_close(struct table_snapshot *f);
/* Opens the directories of a generation's snapshots and loads the snapshots of new tables. Must be
 * called on thread 0, before the generation is live. Returns false: reported, and the generation
 * must not start.
 */
bool snapshots_start(struct config *cfg, struct diag_list *diags);
/* Copies the state of <old> to <next>, its successor. */
void snapshot_adopt(struct table_snapshot *next, const struct table_snapshot *old);
/* Called when thread 0's loop has ended: writes all tables in force. */
void snapshots_end(void);

#endif

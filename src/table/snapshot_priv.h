/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshot_priv.h - snapshots of tables on disk: their format, their writer and reader
 *
 *	head     "HAPTABLE", version 4, length of the shape 4, wall clock in us 8, start of the
 *	         process that wrote it in us 8
 *	shape    a text: type, length of keys, what is stored with periods and sizes of arrays
 *	entries  age in ms 4, key, cells
 *	tail     number of entries 8, bytes of the whole file 8, checksum of all before it 8
 *
 * Numbers are little-endian. Keys of fixed length are as they are, others behind their length (2).
 * A rate is the age of its period in ms (4, UINT32_MAX: none), and its two figures (4, 4); a pace
 * is what is left of it in ns (8); a text is behind its length (2). Ages are those of the head's
 * wall clock. The checksum is XXH3 of each 64 KB, seeded with that of the 64 KB before.
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
	uint32_t every_ms;   /* 0: when the process ends only */
	uint64_t due_ms;     /* of thread 0; TIMER_NEVER */
	bool failed;         /* of thread 0: it was told that it cannot be written */
};

/* The shape as a text, which is equal when shapes are. */
void snapshot_shape(const struct table_shape *s, struct strbuf *out);

enum snapshot_result { SNAPSHOT_WRITTEN, SNAPSHOT_FAILED, SNAPSHOT_NOT_OURS };
/* Writes all entries. Traffic goes on meanwhile. FAILED: errno. NOT_OURS: the file is of a process
 * that was started after this one, and stays. Any thread; waits for the disk.
 */
enum snapshot_result snapshot_write(const struct table_snapshot *f, struct table_state *st);

struct snapshot_loaded {
	uint64_t entries;    /* in the file */
	uint64_t expired, no_room;
	uint32_t version;    /* of the file */
	char error[512];     /* why it is refused */
};
/* Can a file of <len> bytes be one, by its first SNAPSHOT_HEAD and its last SNAPSHOT_TAIL bytes?
 * They are not looked at when it is shorter than both. False: <out> says why not.
 */
bool snapshot_may_be_whole(const char *head, const char *tail, uint64_t len,
			   struct snapshot_loaded *out);
/* Puts what is in a file into an empty table, <now_us> being the wall clock. False: refused, and
 * the table is as it was.
 */
bool snapshot_load(struct table_state *st, const char *bytes, size_t len, uint64_t now_us,
		   struct snapshot_loaded *out);
/* When the process was started that wrote the file of this head; 0: it is none. */
uint64_t snapshot_born_us(const char *head, size_t len);

/* --- snapshot.c */

extern uint64_t snapshots_born_us; /* when this process was started, as its snapshots tell */

/* The last part of f->path, NULL: it is none of a file. */
const char *snapshot_name(const char *path);
void snapshot_close(struct table_snapshot *f);
/* Opens the directories of a generation's snapshots, and reads those of new tables. On thread 0,
 * before the generation is live. False: reported, it must not start.
 */
bool snapshots_start(struct config *cfg, struct diag_list *diags);
/* <next> goes on with what <old> has noted. */
void snapshot_adopt(struct table_snapshot *next, const struct table_snapshot *old);
/* Thread 0's loop begins, and is over: then all tables in force are written. */
void snapshots_end(void);

#endif

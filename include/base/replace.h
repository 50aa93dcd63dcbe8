/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replace.h - replaces a file by a new one completely, or not at all
 *
 * Purpose: files that a process keeps on disk must survive a crash at any moment. The new contents
 *          are written to <name>.tmp in the same directory, synchronised and renamed to <name>, and
 *          the directory is synchronised: readers see either the old or the new file, never a part.
 * Owns   : from replace_begin() to its end, the temporary file, by a lock: two processes never
 *          write it together. The temporary file of a process that died is reused.
 * Threads: any; one at a time per replacement. All calls may block on the disk.
 * Errors : errno. The old file stays.
 */
#ifndef BASE_REPLACE_H
#define BASE_REPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct replacement {
	int directory;       /* borrowed */
	int fd;              /* of the temporary file; -1: none */
	const char *name;    /* borrowed */
	char temporary[256];
};

/* Begins to replace <name>, without a slash, in an open directory. False: errno; EAGAIN if another
 * process is writing it.
 */
bool replace_begin(struct replacement *r, int directory, const char *name, mode_t mode);
/* Appends bytes to the new file. */
bool replace_write(struct replacement *r, const void *bytes, size_t len);
/* The new file is complete: replaces the old one. False: errno; the new file is removed. */
bool replace_commit(struct replacement *r);
/* Gives up the new file. Keeps errno. */
void replace_abandon(struct replacement *r);

#endif

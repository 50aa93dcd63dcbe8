/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replace.h - a file that is replaced by a whole new one, or not at all
 *
 * Purpose: what a process keeps on disk must survive a crash at any moment. The new contents are
 *          written to <name>.tmp in the same directory, synchronised, renamed to <name>, and the
 *          directory is synchronised: readers see the old file or the new one, never a part.
 * Owns   : between replace_begin() and its end, the temporary file, by a lock: two processes do not
 *          write one. That of a process that died is used again.
 * Threads: any; one at a time for each replacement. All calls may wait for the disk.
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

/* Begins to replace <name>, without a slash, in an open directory. False: EAGAIN when another
 * process is writing it.
 */
bool replace_begin(struct replacement *r, int directory, const char *name, mode_t mode);
/* Appends. */
bool replace_write(struct replacement *r, const void *bytes, size_t len);
/* The new file is complete: it takes the place of the old one. False: it does not, and is gone. */
bool replace_commit(struct replacement *r);
/* The new file is given up. Keeps errno. */
void replace_abandon(struct replacement *r);

#endif

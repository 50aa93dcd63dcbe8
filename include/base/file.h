/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* file.h - the door for files: every file that the configuration names is opened here
 *
 * Purpose: one interface between the program and the file system, as net/socket.h is for addresses.
 *          The kernel or a privileged parent opens: base/door.h.
 * Owns   : nothing; descriptors and buffers belong to the caller.
 * Threads: any.
 * Errors : -1 or NULL with errno.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* Opens <path>, no directory, with the flags of open(2); close-on-exec. -1: errno. */
int file_open(const char *path, int flags, mode_t mode);

/* A new, empty file, for reading and writing; one with contents that is there is renamed to
 * <path>.bak. -1: errno.
 */
int file_make(const char *path, mode_t mode);

/* Reads <fd> up to its end into a heap buffer with a NUL behind; *len gets the bytes. NULL: errno
 * (EFBIG when there are more than <max> bytes, ENOMEM...). The descriptor stays open. There is no
 * other copy of it in memory: a caller that reads keys wipes this one.
 */
char *file_read_all(int fd, size_t max, size_t *len);

/* Opens, reads and closes. */
char *file_load(const char *path, size_t max, size_t *len);

#endif

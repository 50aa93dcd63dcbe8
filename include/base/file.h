/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* file.h - opens and reads all files that the configuration names
 *
 * Purpose: one interface between the program and the file system, as net/socket.h is for addresses.
 *          The kernel or a privileged parent opens the files: base/door.h.
 * Owns   : nothing; descriptors and buffers belong to the caller.
 * Threads: any.
 * Errors : -1 or NULL with errno.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* Opens <path>, which must not be a directory, with the flags of open(2); close-on-exec. -1: errno.
 */
int file_open(const char *path, int flags, mode_t mode);

/* Creates an empty file for reading and writing; an existing file with contents is renamed to
 * <path>.bak. -1: errno.
 */
int file_make(const char *path, mode_t mode);

/* Reads <fd> to its end into a heap buffer with a NUL at the end; *len: the number of bytes. NULL:
 * errno (EFBIG if there are more than <max> bytes, ENOMEM...). The descriptor stays open. There is
 * no other copy in memory: a caller that reads keys must wipe this one.
 */
char *file_read_all(int fd, size_t max, size_t *len);

/* Opens, reads and closes a file: see file_read_all(). */
char *file_load(const char *path, size_t max, size_t *len);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* door.h - everything that is asked of the system by name: files, directories, users, hosts
 *
 * Purpose: one struct of operations between the program and the system, so that a chrooted,
 *          unprivileged worker can ask a privileged parent while it reads a new configuration
 *          (src/main/door.c). At other times, and in other processes, the operations are the
 *          kernel's. base/file.h is for file contents, net/socket.h for listening sockets.
 * Owns   : returned descriptors and texts belong to the caller.
 * Threads: any. The directory of door_enter() is that of the whole process: one reader at a time.
 * Errors : -1 or NULL with errno.
 */
#ifndef BASE_DOOR_H
#define BASE_DOOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

enum door_kind { DOOR_REGULAR, DOOR_DIRECTORY, DOOR_OTHER };

struct door {
	/* As open(2); the descriptor is close-on-exec. Directories are for list(). */
	int (*open)(const char *path, int flags, mode_t mode);
	/* Creates an empty file, open for reading and writing. An existing file with contents is
	 * renamed to <path>.bak, or removed, but never emptied: another process may have it mapped.
	 */
	int (*make)(const char *path, mode_t mode);
	/* Returns what <path> is: enum door_kind. */
	int (*kind)(const char *path);
	/* Returns the names in a directory, in byte order, except those that begin with a dot: each
	 * with its NUL, then an empty one. The caller frees it.
	 */
	char *(*list)(const char *path);
	/* Makes relative names begin in <path>; NULL: where they began initially. Returns its
	 * absolute name, which the caller frees.
	 */
	char *(*enter)(const char *path);
	/* Return -1 with errno 0 if there is no such user or group. */
	int (*user)(const char *name, uid_t *uid);
	int (*group)(const char *name, gid_t *gid);
	/* Finds the first address of a host (<family> may be AF_UNSPEC), with port 0. False: none.
	 */
	bool (*host)(const char *name, int family, struct sockaddr_storage *out, socklen_t *len);
};

extern const struct door door_of_kernel;
/* Sets the functions to use from now on; NULL: the kernel's. */
void door_set(const struct door *door);

/* The operation make(), for a name in an open directory (AT_FDCWD: as for open(2)). */
int door_make_at(int directory, const char *name, mode_t mode);
/* Returns what <path> is: enum door_kind. */
int door_kind(const char *path);
/* Returns the names in a directory, see struct door; the caller frees it. */
char *door_list(const char *path);
/* Changes where relative names begin, see struct door; the caller frees the result. */
char *door_enter(const char *path);
/* Finds the id of a user. */
int door_user(const char *name, uid_t *uid);
/* Finds the id of a group. */
int door_group(const char *name, gid_t *gid);
/* Finds the first address of a host. */
bool door_host(const char *name, int family, struct sockaddr_storage *out, socklen_t *len);

#endif

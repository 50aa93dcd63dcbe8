/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* door.h - everything that is asked of the system by a name: files, directories, users, hosts
 *
 * Purpose: one struct of operations between the program and the system, so that a chrooted,
 *          unprivileged worker can ask a privileged parent while it reads a new configuration
 *          (src/main/door.c). At other times, and in other processes, it is the kernel's. File
 *          contents are base/file.h's, listening sockets net/socket.h's.
 * Owns   : descriptors and texts that are returned belong to the caller.
 * Threads: any. The directory of door_enter() is the whole process's: one reader at a time.
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
	/* A new, empty file, open for reading and writing; one with contents that is there is
	 * renamed to <path>.bak, or removed, but never emptied: another process may have it mapped.
	 */
	int (*make)(const char *path, mode_t mode);
	/* What <path> is: enum door_kind. */
	int (*kind)(const char *path);
	/* The names in a directory but those that begin with a dot, in the order of their bytes:
	 * each with its NUL, then an empty one. To be freed.
	 */
	char *(*list)(const char *path);
	/* Relative names begin there from now on; NULL: where they began at first. Its absolute
	 * name, to be freed.
	 */
	char *(*enter)(const char *path);
	/* -1, errno 0: there is none of that name. */
	int (*user)(const char *name, uid_t *uid);
	int (*group)(const char *name, gid_t *gid);
	/* The first address of a host (<family> may be AF_UNSPEC), with port 0. False: none. */
	bool (*host)(const char *name, int family, struct sockaddr_storage *out, socklen_t *len);
};

extern const struct door door_of_kernel;
/* The functions that are used from now on; NULL: the kernel's. */
void door_set(const struct door *door);

/* The operation make(), for a name in an open directory (AT_FDCWD: as open(2) takes it). */
int door_make_at(int directory, const char *name, mode_t mode);
/* What <path> is: enum door_kind. */
int door_kind(const char *path);
/* The names in a directory, as the operation of that name says; to be freed. */
char *door_list(const char *path);
/* Relative names begin there from now on, NULL: where they did at first. Its name, to be freed. */
char *door_enter(const char *path);
/* The id of a user. */
int door_user(const char *name, uid_t *uid);
/* The id of a group. */
int door_group(const char *name, gid_t *gid);
/* The first address of a host. */
bool door_host(const char *name, int family, struct sockaddr_storage *out, socklen_t *len);

#endif

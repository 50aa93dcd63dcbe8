/* SPDX-License-Identifier: GPL-2.0-or-later */
/* door.c - everything that is asked of the system by a name: files, directories, users, hosts */
#include "base/door.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/strbuf.h"
#include "door_priv.h"

/* --- the kernel's ----------------------------------------------------------------------------- */

static int kernel_open(const char *path, int flags, mode_t mode)
{
	return open(path, flags | O_CLOEXEC, mode);
}

/* What is there with contents, or is no file, gets another name or none. False: it cannot. */
static bool put_aside(int directory, const char *name)
{
	char backup[PATH_MAX];
	struct stat st;

	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	if (S_ISREG(st.st_mode) && !st.st_size)
		return true;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return false;
	}
	return (snprintf(backup, sizeof(backup), "%s.bak", name) < (int)sizeof(backup) &&
		renameat(directory, name, directory, backup) == 0) ||
	       unlinkat(directory, name, 0) == 0;
}

int door_make_at(int directory, const char *name, mode_t mode)
{
	if (!put_aside(directory, name))
		return -1;
	return openat(directory, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode);
}

static int kernel_make(const char *path, mode_t mode)
{
	return door_make_at(AT_FDCWD, path, mode);
}

static int kernel_kind(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -1;
	return S_ISDIR(st.st_mode) ? DOOR_DIRECTORY : S_ISREG(st.st_mode) ? DOOR_REGULAR
									  : DOOR_OTHER;
}

static int is_shown(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static char *kernel_list(const char *path)
{
	struct dirent **entries;
	struct strbuf b;
	int count = scandir(path, &entries, is_shown, by_bytes);

	if (count < 0)
		return NULL;
	strbuf_init(&b);
	for (int i = 0; i < count; i++) {
		strbuf_add(&b, slice_make(entries[i]->d_name, strlen(entries[i]->d_name) + 1));
		free(entries[i]);
	}
	free(entries);
	strbuf_add_char(&b, '\0');
	if (!b.overflow)
		return b.ptr;
	strbuf_fini(&b);
	errno = ENOMEM;
	return NULL;
}

/* Where relative names began; -1 while they still do. */
static int home = -1;

static char *kernel_enter(const char *path)
{
	char name[PATH_MAX];

	if (home < 0 && path)
		home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (home < 0 && path)
		return NULL;
	if (path ? chdir(path) < 0 : home >= 0 && fchdir(home) < 0)
		return NULL;
	if (!path && home >= 0) {
		close(home);
		home = -1;
	}
	return getcwd(name, sizeof(name)) ? strdup(name) : NULL;
}

static int kernel_user(const char *name, uid_t *uid)
{
	const struct passwd *found;

	errno = 0;
	found = getpwnam(name);
	if (!found)
		return -1;
	*uid = found->pw_uid;
	return 0;
}

static int kernel_group(const char *name, gid_t *gid)
{
	const struct group *found;

	errno = 0;
	found = getgrnam(name);
	if (!found)
		return -1;
	*gid = found->gr_gid;
	return 0;
}

static bool kernel_host(const char *name, int family, struct sockaddr_storage *out, socklen_t *len)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_family = family }, *list = NULL;

	if (getaddrinfo(name, NULL, &hints, &list) != 0 || !list)
		return false;
	memset(out, 0, sizeof(*out));
	memcpy(out, list->ai_addr, list->ai_addrlen);
	*len = list->ai_addrlen;
	freeaddrinfo(list);
	return true;
}

const struct door door_of_kernel = {
	.open = kernel_open, .make = kernel_make, .kind = kernel_kind, .list = kernel_list,
	.enter = kernel_enter, .user = kernel_user, .group = kernel_group, .host = kernel_host,
};

/* --- the functions in force ------------------------------------------------------------------- */

static const struct door *current = &door_of_kernel; /* atomic */

void door_set(const struct door *door)
{
	__atomic_store_n(&current, door ? door : &door_of_kernel, __ATOMIC_RELEASE);
}

const struct door *door_get(void)
{
	return __atomic_load_n(&current, __ATOMIC_ACQUIRE);
}

int door_kind(const char *path)
{
	return door_get()->kind(path);
}

char *door_list(const char *path)
{
	return door_get()->list(path);
}

char *door_enter(const char *path)
{
	return door_get()->enter(path);
}

int door_user(const char *name, uid_t *uid)
{
	return door_get()->user(name, uid);
}

int door_group(const char *name, gid_t *gid)
{
	return door_get()->group(name, gid);
}

bool door_host(const char *name, int family, struct sockaddr_storage *out, socklen_t *len)
{
	return door_get()->host(name, family, out, len);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replace.c - a file that is replaced by a whole new one, or not at all */
#include "base/replace.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A process that ends between our open() and our lock leaves another file there. */
#define TRIES 8

static bool lock_file(int fd)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_OFD_SETLK, &whole) == 0)
		return true;
	if (errno == EACCES)
		errno = EAGAIN;
	return false;
}

/* Does the name still lead to this file? */
static bool is_same(int fd, int directory, const char *name)
{
	struct stat there, mine;

	return fstatat(directory, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstat(fd, &mine) == 0 && there.st_ino == mine.st_ino &&
	       there.st_dev == mine.st_dev;
}

static void close_quietly(struct replacement *r)
{
	int error = errno;

	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
	errno = error;
}

bool replace_begin(struct replacement *r, int directory, const char *name, mode_t mode)
{
	r->directory = directory;
	r->name = name;
	r->fd = -1;
	if (snprintf(r->temporary, sizeof(r->temporary), "%s.tmp", name) >=
	    (int)sizeof(r->temporary)) {
		errno = ENAMETOOLONG;
		return false;
	}
	for (unsigned i = 0; i < TRIES; i++) {
		r->fd = openat(directory, r->temporary, O_RDWR | O_CREAT | O_NOFOLLOW |
			       O_NONBLOCK | O_CLOEXEC, mode);
		if (r->fd < 0)
			return false;
		if (!lock_file(r->fd))
			break;
		if (!is_same(r->fd, directory, r->temporary)) {
			close_quietly(r);
			errno = EAGAIN;
			continue;
		}
		if (ftruncate(r->fd, 0) == 0)
			return true;
		break;
	}
	close_quietly(r);
	return false;
}

bool replace_write(struct replacement *r, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		ssize_t put = write(r->fd, at, len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0) {
			errno = put < 0 ? errno : ENOSPC;
			return false;
		}
		at += put;
		len -= (size_t)put;
	}
	return true;
}

bool replace_commit(struct replacement *r)
{
	if (fsync(r->fd) < 0 ||
	    renameat(r->directory, r->temporary, r->directory, r->name) < 0) {
		replace_abandon(r);
		return false;
	}
	/* the new file is in place: a directory that cannot be synchronised loses it in a power
	 * failure only, and the old one is there then
	 */
	fsync(r->directory);
	close_quietly(r);
	return true;
}

void replace_abandon(struct replacement *r)
{
	int error = errno;

	if (r->fd >= 0)
		unlinkat(r->directory, r->temporary, 0);
	errno = error;
	close_quietly(r);
}

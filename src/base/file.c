/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file.c - the door for files: every file that the configuration names is opened here */
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "door_priv.h"

#define READ_FIRST 4096

int file_open(const char *path, int flags, mode_t mode)
{
	return door_get()->open(path, flags, mode);
}

int file_make(const char *path, mode_t mode)
{
	return door_get()->make(path, mode);
}

/* What a buffer for all of <fd> needs at first: its size when it tells one. 0: more than <max>. */
static size_t first_size(int fd, size_t max)
{
	struct stat st;
	size_t size = READ_FIRST;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		if ((uint64_t)st.st_size > max)
			return 0;
		size = (size_t)st.st_size + 2; /* one more byte tells the end, one is the NUL */
	}
	return max < SIZE_MAX - 2 && size > max + 2 ? max + 2 : size;
}

/* Files may hold keys: nothing of what was read stays in free memory. */
static void wipe_free(char *buffer, size_t used)
{
	int error = errno;

	if (buffer)
		explicit_bzero(buffer, used);
	free(buffer);
	errno = error;
}

char *file_read_all(int fd, size_t max, size_t *len)
{
	size_t size = first_size(fd, max), used = 0;
	char *buffer = size ? malloc(size) : NULL, *grown;
	ssize_t got;

	if (!size)
		errno = EFBIG;

	while (buffer) {
		got = read(fd, buffer + used, size - 1 - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		used += (size_t)got;
		if (used > max) {
			errno = EFBIG;
			break;
		}
		if (!got) {
			buffer[used] = 0;
			*len = used;
			return buffer;
		}
		if (used < size - 1)
			continue;
		size *= 2;
		grown = malloc(size);
		if (grown)
			memcpy(grown, buffer, used);
		wipe_free(buffer, used);
		buffer = grown;
	}
	wipe_free(buffer, used);
	return NULL;
}

char *file_load(const char *path, size_t max, size_t *len)
{
	int fd = file_open(path, O_RDONLY, 0), error;
	char *buffer;

	if (fd < 0)
		return NULL;
	buffer = file_read_all(fd, max, len);
	error = errno;
	close(fd);
	errno = error;
	return buffer;
}

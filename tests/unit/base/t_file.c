/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_file - the door for files: sizes, bounds, what has no size, another opener */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/door.h"
#include "base/file.h"
#include "../tap.h"

static int calls;

static int refusing_opener(const char *path, int flags, mode_t mode)
{
	calls++;
	errno = EACCES;
	return -1;
}

static void write_file(const char *path, size_t len)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	for (size_t i = 0; i < len; i++)
		if (write(fd, "x", 1) != 1)
			break;
	close(fd);
}

int main(void)
{
	char path[] = "/tmp/t_file.XXXXXX";
	int fd = mkstemp(path), pipes[2];
	struct door other = door_of_kernel;
	size_t len = 99;
	char *bytes;

	close(fd);
	bytes = file_load(path, 10, &len);
	ok(bytes && len == 0 && bytes[0] == 0, "an empty file is an empty text");
	free(bytes);
	write_file(path, 10);
	bytes = file_load(path, 10, &len);
	ok(bytes && len == 10 && bytes[10] == 0, "as many bytes as allowed");
	free(bytes);
	write_file(path, 11);
	errno = 0;
	ok(!file_load(path, 10, &len) && errno == EFBIG, "one more is refused");
	ok(!file_load("/nonexistent/file", 10, &len) && errno == ENOENT, "a missing file: errno");
	ok(!file_load("/tmp", 10, &len) && errno == EISDIR, "a directory cannot be read");
	if (pipe(pipes) == 0 && write(pipes[1], "hello", 5) == 5) {
		close(pipes[1]);
		bytes = file_read_all(pipes[0], 1 << 20, &len);
		ok(bytes && len == 5 && !strcmp(bytes, "hello"), "a pipe has no size");
		free(bytes);
	}
	bytes = file_load("/proc/self/maps", 1 << 24, &len);
	ok(bytes && len > 0 && strlen(bytes) == len, "a file whose size is said to be 0");
	free(bytes);
	other.open = refusing_opener;
	door_set(&other);
	ok(!file_load(path, 10, &len) && errno == EACCES && calls == 1, "another opener is asked");
	door_set(NULL);
	bytes = file_load(path, 11, &len);
	ok(bytes != NULL, "and the kernel again");
	free(bytes);
	unlink(path);
	return done_testing();
}

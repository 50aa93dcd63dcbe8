/* SPDX-License-Identifier: GPL-2.0-or-later */
/* archive.c - -dA: the program and its libraries in one file, to look at a core elsewhere
 *
 * The format is POSIX.1's ustar: for each file a head of 512 bytes, then its bytes, padded to whole
 * blocks of 512; two blocks of zeros at the end. Names are below a directory "core-<pid>".
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/diag.h"
#include "base/file.h"
#include "dump_priv.h"

#define BLOCK 512

struct tar_head {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100];
	char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct tar_head) == BLOCK, "a head is one block");

struct archive {
	FILE *out;
	bool failed;
};

/* A long name is cut at a slash, its beginning is the prefix. False: it does not fit. */
static bool put_name(struct tar_head *h, const char *path)
{
	char whole[PATH_MAX + 32];
	const char *cut = whole;
	size_t len = (size_t)snprintf(whole, sizeof(whole), "core-%d%s", (int)getpid(), path);

	while (len - (size_t)(cut - whole) > sizeof(h->name)) {
		cut = strchr(cut + (cut != whole), '/');
		if (!cut || (size_t)(cut - whole) > sizeof(h->prefix))
			return false;
		cut++;
	}
	if (cut != whole)
		memcpy(h->prefix, whole, (size_t)(cut - whole) - 1);
	memcpy(h->name, cut, len - (size_t)(cut - whole));
	return true;
}

static void finish_head(struct tar_head *h, const struct stat *st)
{
	unsigned sum = 0;

	snprintf(h->mode, sizeof(h->mode), "%07o", (unsigned)st->st_mode & 0555);
	snprintf(h->uid, sizeof(h->uid), "%07o", 0);
	snprintf(h->gid, sizeof(h->gid), "%07o", 0);
	snprintf(h->size, sizeof(h->size), "%011llo", (unsigned long long)st->st_size);
	snprintf(h->mtime, sizeof(h->mtime), "%011o", 0);
	h->type = '0';
	memcpy(h->magic, "ustar", sizeof(h->magic));
	memcpy(h->version, "00", sizeof(h->version));
	memset(h->sum, ' ', sizeof(h->sum));
	for (size_t i = 0; i < BLOCK; i++)
		sum += ((const unsigned char *)h)[i];
	snprintf(h->sum, sizeof(h->sum), "%06o", sum);
}

/* A file that cannot be read, or whose name does not fit, is left out. */
static void add_file(struct archive *a, const char *path)
{
	struct tar_head h = { 0 };
	char block[BLOCK];
	struct stat st;
	int fd = file_open(path, O_RDONLY, 0);
	off_t left;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && put_name(&h, path)) {
		finish_head(&h, &st);
		a->failed |= fwrite(&h, sizeof(h), 1, a->out) != 1;
		for (left = st.st_size; left > 0 && !a->failed; left -= BLOCK) {
			size_t want = left < BLOCK ? (size_t)left : BLOCK;

			memset(block, 0, sizeof(block));
			a->failed = read(fd, block, want) != (ssize_t)want ||
				    fwrite(block, sizeof(block), 1, a->out) != 1;
		}
	}
	close(fd);
}

static int add_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
	if (info->dlpi_name[0] == '/')
		add_file(ctx, info->dlpi_name);
	return 0;
}

bool libraries_archive(const char *program, const char *path)
{
	static const char end[2 * BLOCK];
	int fd = file_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct archive a = { .out = fd < 0 ? NULL : fdopen(fd, "w") };

	if (!a.out) {
		diag_say(DIAG_ALERT, "Cannot create output file to dump dependencies: %s.",
			 strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	add_file(&a, program);
	dl_iterate_phdr(add_object, &a);
	a.failed |= fwrite(end, sizeof(end), 1, a.out) != 1;
	a.failed |= fclose(a.out) != 0;
	if (a.failed)
		diag_say(DIAG_ALERT, "Cannot write the dependencies to '%s'.", path);
	return !a.failed;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_shared_file.c - the file of shm-stats-file: objects, and which processes use them
 *
 * Locks (fcntl, of the open file, so they end with the process): byte 0 while objects are searched,
 * taken or released; byte 1 + n as long as process n lives.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "stats_shared_priv.h"

#define PROCESSES_MAX 64
#define VERSION 1

static const char magic[8] = "OWNSTATS";

struct shared_head {
	char magic[8];
	uint32_t version, object_size;
	uint64_t layout;
	uint32_t used, unused;        /* none behind the first <used> objects was ever taken */
};

static struct {
	int fd;                       /* -1: none */
	struct shared_head *head;
	struct shared_object *objects;
	size_t bytes;
	unsigned max, process;
	unsigned next;                /* behind the object that was found last */
} file = { .fd = -1 };

bool shared_file_is_open(void)
{
	return file.fd >= 0;
}

/* F_WRLCK or F_UNLCK. False: another process has it (<wait> false), or errno. */
static bool set_lock(short type, off_t byte, bool wait)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
	int result;

	do {
		result = fcntl(file.fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
	} while (result < 0 && errno == EINTR);
	return result == 0;
}

static bool is_alive(unsigned process)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 1 + process,
			      .l_len = 1 };

	return process == file.process ||
	       (fcntl(file.fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK);
}

/* Those of <users> that live. Under the lock. */
static uint64_t alive(uint64_t users)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < PROCESSES_MAX; i++)
		if (users >> i & 1 && is_alive(i))
			bits |= UINT64_C(1) << i;
	return bits;
}

/* Takes a number. False: there are too many processes. */
static bool take_number(void)
{
	for (file.process = 0; file.process < PROCESSES_MAX; file.process++)
		if (set_lock(F_WRLCK, 1 + file.process, false))
			return true;
	return false;
}

/* Is it a file of this layout? An empty one becomes one. */
static bool take_head(uint64_t layout, off_t size)
{
	struct shared_head head = { .version = VERSION, .object_size = sizeof(struct shared_object),
				    .layout = layout }, seen;

	memcpy(head.magic, magic, sizeof(head.magic));
	if (size == 0)
		return pwrite(file.fd, &head, sizeof(head), 0) == sizeof(head);
	return pread(file.fd, &seen, sizeof(seen), 0) == sizeof(seen) &&
	       memcmp(&head, &seen, offsetof(struct shared_head, used)) == 0;
}

/* Maps the file, which is made longer if it is too short. */
static bool map_file(unsigned max)
{
	struct stat st;

	if (fstat(file.fd, &st) < 0)
		return false;
	file.max = ((size_t)st.st_size - sizeof(struct shared_head)) / sizeof(struct shared_object);
	if (file.max < max) {
		file.max = max;
		if (ftruncate(file.fd, (off_t)(sizeof(struct shared_head) +
					       max * sizeof(struct shared_object))) < 0)
			return false;
	}
	file.bytes = sizeof(struct shared_head) + file.max * sizeof(struct shared_object);
	file.head = mmap(NULL, file.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, 0);
	if (file.head == MAP_FAILED)
		return false;
	file.objects = (struct shared_object *)(file.head + 1);
	file.max = max;
	return true;
}

/* What is not a file of this layout gets another name. */
static bool open_right_one(const char *path, uint64_t layout, bool *renamed)
{
	struct stat st;

	file.fd = file_open(path, O_RDWR | O_CREAT, 0600);
	if (file.fd < 0)
		return false;
	set_lock(F_WRLCK, 0, true);
	if (fstat(file.fd, &st) == 0 && take_head(layout, st.st_size))
		return true;
	close(file.fd);
	*renamed = true;
	file.fd = file_make(path, 0600);
	if (file.fd < 0)
		return false;
	set_lock(F_WRLCK, 0, true);
	return take_head(layout, 0);
}

bool shared_file_open(const char *path, unsigned max, uint64_t layout, bool *renamed, char *why,
		      size_t size)
{
	*renamed = false;
	if (open_right_one(path, layout, renamed) && map_file(max) && take_number()) {
		set_lock(F_UNLCK, 0, false);
		return true;
	}
	snprintf(why, size, "%s", file.fd >= 0 && file.process == PROCESSES_MAX
		 ? "too many processes use it" : strerror(errno));
	if (file.fd >= 0)
		close(file.fd);
	file.fd = -1;
	return false;
}

/* The object of this name; NULL: there is none. Processes take theirs in the same order, so the one
 * behind the last is mostly it. *free_at: the first place where there is none.
 */
static struct shared_object *find(enum shared_kind kind, const char *guid, unsigned *free_at)
{
	unsigned used = file.head->used < file.max ? file.head->used : file.max;

	*free_at = used;
	for (unsigned n = 0; n < used; n++) {
		unsigned i = (file.next + n) % used;
		struct shared_object *o = &file.objects[i];

		if (o->kind == SHARED_FREE && i < *free_at)
			*free_at = i;
		if (o->kind != kind || strcmp(o->guid, guid) != 0)
			continue;
		file.next = i + 1;
		return o;
	}
	return NULL;
}

/* Objects of dead processes stay until another user of the object drops it: what they have counted
 * counts.
 */
struct shared_object *shared_object_take(enum shared_kind kind, const char *guid, bool *is_new)
{
	struct shared_object *o;
	unsigned free_at;

	set_lock(F_WRLCK, 0, true);
	o = find(kind, guid, &free_at);
	*is_new = !o;
	if (!o && free_at < file.max) {
		o = &file.objects[free_at];
		memset(o, 0, sizeof(*o));
		snprintf(o->guid, sizeof(o->guid), "%s", guid);
		o->kind = kind;
		if (file.head->used <= free_at)
			file.head->used = free_at + 1;
	}
	if (o)
		o->users |= UINT64_C(1) << file.process;
	set_lock(F_UNLCK, 0, false);
	return o;
}

void shared_object_drop(struct shared_object *o)
{
	set_lock(F_WRLCK, 0, true);
	o->users = alive(o->users & ~(UINT64_C(1) << file.process));
	if (!o->users)
		memset(o, 0, sizeof(*o));
	set_lock(F_UNLCK, 0, false);
}

void shared_file_close(void)
{
	munmap(file.head, file.bytes);
	close(file.fd);
	file.fd = -1;
}

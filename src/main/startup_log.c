/* SPDX-License-Identifier: GPL-2.0-or-later */
/* startup_log.c - messages from the start of the program, in memory shared by processes */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/diag.h"
#include "base/strbuf.h"
#include "master_priv.h"

#define LOG_SIZE 65536

struct log {
	unsigned used; /* atomic: bytes asked for, may exceed the room */
	char text[LOG_SIZE - sizeof(unsigned)];
};

static struct log *shared;
static int shared_fd = -1;

/* Several processes may write at the same time: each takes its room first. */
static void append(const char *text, size_t len)
{
	unsigned at = __atomic_fetch_add(&shared->used, (unsigned)len, __ATOMIC_RELAXED);

	if (at + len <= sizeof(shared->text))
		memcpy(shared->text + at, text, len);
}

/* Goes on with the log of descriptor <fd> (from before an exec). */
static void startup_log_take(int fd)
{
	void *p = mmap(NULL, LOG_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED) {
		close(fd);
		return;
	}
	shared = p;
	shared_fd = fd;
	diag_set_copy(append);
}

void startup_log_begin(void)
{
	int fd = memfd_create("startup-logs", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	/* no process that shares it can make it shorter while we read */
	if (fd >= 0 && ftruncate(fd, LOG_SIZE) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		startup_log_take(fd);
	else if (fd >= 0)
		close(fd);
}

/* The copy in the place of what is shared: this process faces the network from here on, and others
 * believe what they read there.
 */
void startup_log_end(void)
{
	struct log *mine;

	diag_set_copy(NULL);
	if (!shared)
		return;
	mine = malloc(sizeof(*mine));
	if (mine)
		memcpy(mine, shared, sizeof(*mine));
	munmap(shared, LOG_SIZE);
	close(shared_fd);
	shared = mine;
	shared_fd = -1;
}

void startup_log_replace(const char *text, size_t len)
{
	if (!shared)
		return;
	__atomic_store_n(&shared->used, 0, __ATOMIC_RELAXED);
	append(text, len < sizeof(shared->text) ? len : sizeof(shared->text));
}

void startup_log_read(struct strbuf *out)
{
	unsigned len;

	if (!shared)
		return;
	len = __atomic_load_n(&shared->used, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < len && i < sizeof(shared->text); i++)
		if (shared->text[i])
			strbuf_add_char(out, shared->text[i]);
}

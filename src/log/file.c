/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file.c - log files: registry, pending lines, the thread that writes them
 *
 * A line is appended to the pending buffer, under a lock for that moment; a separate thread swaps
 * that buffer for an empty one several times a second and writes it, so that no turn waits for a
 * disk. Rotation cuts at line ends only. A file that was renamed or removed by another program
 * (logrotate) is opened again within a second.
 *
 * Accepted lines are written, even at the end of the process; a line for which there is no room,
 * because the disk is stuck or full, is refused, and counted by the caller.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/clock.h"
#include "base/diag.h"
#include "core/lock.h"
#include "core/mailbox.h"
#include "core/spawn.h"
#include "file_priv.h"

#define BUFFER_BYTES (4 << 20)
/* Lines of so long a time are written together. */
#define GATHER_MS 20
/* Between looks at whether the file is still the one of that name, and tries of a full disk. */
#define LOOK_MS 1000
#define FILE_MODE 0640

struct buffer {
	char *bytes;               /* BUFFER_BYTES; owned */
	size_t len;
};

struct log_file {
	struct log_file *next;     /* under the lock of the registry */
	unsigned refs;             /* same */
	char *path;                /* owned */
	const char *name;          /* in <path>: behind the last slash */
	int directory;
	unsigned lock;             /* of: */
	struct buffer waiting;
	struct log_rotation wanted; /* of the target that opened it last */
	/* the writer's, but before the first line: */
	struct log_rotation rotation;
	struct buffer leaving;
	size_t written;            /* of <leaving> */
	int fd;
	struct stat seen;          /* of <fd>, when it was opened */
	uint64_t size;
	int64_t period;            /* number of the period that it was begun in */
	uint64_t look_ms;
	int write_problem, rotate_problem; /* errno that was told of; 0: none */
};

static struct log_file *files;
static unsigned files_lock;

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	pthread_t thread;
	bool may_run;              /* the process is the one that stays */
	bool is_running, is_due, is_over;
} writer = { .mutex = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER };

/* --- opening ---------------------------------------------------------------------------------- */

static int64_t period_of(const struct log_file *f)
{
	uint64_t now_s = clock_wall_us() / 1000000;
	struct tm tm;
	time_t t = (time_t)now_s;

	if (!f->rotation.period_s)
		return 0;
	localtime_r(&t, &tm);
	/* (the clock's first day was a Thursday; weeks begin on Mondays) */
	return ((int64_t)now_s + tm.tm_gmtoff + 3 * 86400) / f->rotation.period_s;
}

/* Behind a process that was killed amid a line there is half of one: it goes, unless another
 * process is writing to the file.
 */
static void cut_half_line(int fd, struct stat *st)
{
	char tail[4096];
	off_t from = st->st_size > (off_t)sizeof(tail) ? st->st_size - (off_t)sizeof(tail) : 0;
	ssize_t n;

	if (!S_ISREG(st->st_mode) || !st->st_size || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return;
	n = pread(fd, tail, sizeof(tail), from);
	while (n > 0 && tail[n - 1] != '\n')
		n--;
	if (n > 0 && from + n < st->st_size && ftruncate(fd, from + n) == 0)
		st->st_size = from + n;
}

/* Opens the file of that name. False: errno; the one that was open stays so. */
static bool log_file_reopen(struct log_file *f)
{
	int fd = openat(f->directory, f->name, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY |
			O_NONBLOCK, FILE_MODE);
	struct stat st;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		errno = EINVAL;
		return false;
	}
	cut_half_line(fd, &st);
	flock(fd, LOCK_SH | LOCK_NB); /* others see that it is written to */
	if (f->fd >= 0)
		close(f->fd);
	f->fd = fd;
	f->seen = st;
	f->size = (uint64_t)st.st_size;
	f->period = period_of(f);
	return true;
}

static bool directory_open(struct log_file *f)
{
	char *slash = strrchr(f->path, '/');

	if (!slash) {
		f->name = f->path;
		f->directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		return f->directory >= 0;
	}
	f->name = slash + 1;
	*slash = 0;
	f->directory = open(slash == f->path ? "/" : f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*slash = '/';
	return f->directory >= 0;
}

static void file_free(struct log_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->directory >= 0)
		close(f->directory);
	free(f->waiting.bytes);
	free(f->leaving.bytes);
	free(f->path);
	free(f);
}

static struct log_file *file_new(const char *path)
{
	struct log_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->refs = 1;
	f->fd = f->directory = -1;
	f->path = strdup(path);
	f->waiting.bytes = malloc(BUFFER_BYTES); /* the system gives pages that are written to */
	f->leaving.bytes = malloc(BUFFER_BYTES);
	errno = ENOMEM;
	if (f->path && f->waiting.bytes && f->leaving.bytes && directory_open(f) &&
	    log_file_reopen(f))
		return f;
	file_free(f);
	return NULL;
}

struct log_file *log_file_open(const char *path, const struct log_rotation *r)
{
	struct log_file *f;

	lock_take(&files_lock);
	for (f = files; f && strcmp(f->path, path) != 0; f = f->next)
		;
	if (f)
		f->refs++;
	lock_drop(&files_lock);
	if (!f) { /* only thread 0 opens some */
		f = file_new(path);
		if (!f)
			return NULL;
		lock_take(&files_lock);
		f->next = files;
		files = f;
		lock_drop(&files_lock);
	}
	lock_take(&f->lock);
	f->wanted = *r;
	lock_drop(&f->lock);
	return f;
}

/* --- rotation --------------------------------------------------------------------------------- */

/* Once for each problem. */
static void tell(const struct log_file *f, int *problem, const char *what)
{
	if (*problem == errno)
		return;
	*problem = errno;
	diag_say(DIAG_WARNING, "log file %s: cannot %s: %s.", f->path, what, strerror(errno));
}

/* Is the file still the one of its name? */
static bool is_ours(const struct log_file *f, struct stat *st)
{
	return fstatat(f->directory, f->name, st, 0) == 0 && st->st_ino == f->seen.st_ino &&
	       st->st_dev == f->seen.st_dev;
}

/* "name.1" becomes "name.2", ... The one behind the last goes. */
static void move_names(struct log_file *f)
{
	char from[NAME_MAX + 1], to[NAME_MAX + 1];

	for (unsigned i = f->rotation.keep; i > 0; i--) {
		snprintf(to, sizeof(to), "%s.%u", f->name, i);
		snprintf(from, sizeof(from), i > 1 ? "%s.%u" : "%s", f->name, i - 1);
		if (renameat(f->directory, from, f->directory, to) < 0 && errno != ENOENT)
			tell(f, &f->rotate_problem, "rotate it");
	}
	if (!f->rotation.keep && unlinkat(f->directory, f->name, 0) < 0)
		tell(f, &f->rotate_problem, "rotate it");
}

/* Lines go into a new file. When that cannot be, into the same one, as if it were empty. */
static void file_rotate(struct log_file *f)
{
	ino_t before = f->seen.st_ino;
	struct stat st;

	if (is_ours(f, &st)) /* another process may have rotated it */
		move_names(f);
	if (!log_file_reopen(f))
		tell(f, &f->rotate_problem, "open it");
	if (f->seen.st_ino == before)
		f->size = 0;
	else
		f->rotate_problem = 0;
	f->period = period_of(f);
}

/* Another program has renamed or removed it: the next line goes into a new one of the name. */
static void file_look(struct log_file *f)
{
	struct stat st;

	if (clock_read_ns() / NS_PER_MS < f->look_ms)
		return;
	f->look_ms = clock_read_ns() / NS_PER_MS + LOOK_MS;
	if (is_ours(f, &st)) {
		if (!f->rotate_problem)
			f->size = (uint64_t)st.st_size; /* others write; or it was emptied */
	} else if (!log_file_reopen(f)) {
		tell(f, &f->rotate_problem, "open it");
	}
}

/* --- writing ---------------------------------------------------------------------------------- */

/* How much of what leaves fits into the file: whole lines, one at least in an empty file; 0: the
 * file is full.
 */
static size_t that_fits(const struct log_file *f)
{
	const char *from = f->leaving.bytes + f->written;
	size_t left = f->leaving.len - f->written;
	uint64_t room = f->rotation.bytes > f->size ? f->rotation.bytes - f->size : 0;
	const char *end;

	if (!f->rotation.bytes || left <= room)
		return left;
	end = room ? memrchr(from, '\n', room) : NULL;
	if (!end && !f->size)
		end = memchr(from, '\n', left);
	return end ? (size_t)(end + 1 - from) : 0;
}

/* False: not all of <n> bytes, now. */
static bool file_put(struct log_file *f, size_t n)
{
	while (n) {
		ssize_t done = write(f->fd, f->leaving.bytes + f->written, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			tell(f, &f->write_problem, "write to it, lines wait");
			return false;
		}
		n -= (size_t)done;
		f->written += (size_t)done;
		f->size += (size_t)done;
	}
	f->write_problem = 0;
	return true;
}

/* Writes what leaves, in as many files as that takes. */
static bool file_write(struct log_file *f)
{
	while (f->written < f->leaving.len) {
		size_t n = that_fits(f);

		if (!n)
			file_rotate(f);
		if (!file_put(f, n))
			return false;
	}
	return true;
}

static void file_serve(struct log_file *f)
{
	struct buffer empty;

	lock_spin(&f->lock);
	f->rotation = f->wanted;
	lock_drop(&f->lock);
	file_look(f);
	if (f->rotation.period_s && f->period != period_of(f) && f->written == f->leaving.len)
		file_rotate(f);
	if (!file_write(f))
		return;
	f->leaving.len = f->written = 0;
	empty = f->leaving;
	lock_spin(&f->lock);
	f->leaving = f->waiting;
	f->waiting = empty;
	lock_drop(&f->lock);
	file_write(f);
}

static bool waits(struct log_file *f)
{
	bool any;

	lock_spin(&f->lock);
	any = f->waiting.len || f->written < f->leaving.len;
	lock_drop(&f->lock);
	return any;
}

/* All files once; those without a reference are closed, when all is written. */
static void serve_all(bool last)
{
	struct log_file *f, *next, **at, *gone = NULL;

	lock_spin(&files_lock);
	f = files;
	lock_drop(&files_lock);
	for (; f; f = next) { /* new ones come in front; only this thread takes some out */
		file_serve(f);
		lock_spin(&files_lock);
		next = f->next;
		lock_drop(&files_lock);
	}
	lock_spin(&files_lock);
	for (at = &files; (f = *at);) {
		if (f->refs || (waits(f) && !last)) {
			at = &f->next;
			continue;
		}
		*at = f->next;
		f->next = gone;
		gone = f;
	}
	lock_drop(&files_lock);
	for (; gone; gone = next) {
		next = gone->next;
		file_free(gone);
	}
}

/* Sleeps until it is woken, or for so long. True: it is over. */
static bool writer_sleep(uint64_t ms, bool until_due)
{
	struct timespec at;
	bool over;

	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_nsec += (long)(ms % 1000) * 1000000;
	at.tv_sec += (time_t)(ms / 1000) + at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	pthread_mutex_lock(&writer.mutex);
	while (!writer.is_over && !(until_due && writer.is_due))
		if (pthread_cond_timedwait(&writer.wake, &writer.mutex, &at) == ETIMEDOUT)
			break;
	writer.is_due = writer.is_due && !until_due;
	over = writer.is_over;
	pthread_mutex_unlock(&writer.mutex);
	return over;
}

static void *writer_run(void *arg)
{
	bool over = false;

	mailbox_outsider();
	while (!over) {
		over = writer_sleep(LOOK_MS, true) || writer_sleep(GATHER_MS, false);
		serve_all(false);
	}
	return NULL;
}

/* Under the mutex. No signal comes to this thread. */
static void writer_start(void)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	writer.is_over = false;
	writer.is_running = spawn_thread(&writer.thread, writer_run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void writer_wake(void)
{
	pthread_mutex_lock(&writer.mutex);
	if (writer.may_run && !writer.is_running)
		writer_start();
	writer.is_due = true;
	pthread_cond_signal(&writer.wake);
	pthread_mutex_unlock(&writer.mutex);
}

/* --- lines ------------------------------------------------------------------------------------ */

bool log_file_add(struct log_file *f, const struct iovec *v, int count)
{
	size_t len = 0;
	bool first, fits;

	for (int i = 0; i < count; i++)
		len += v[i].iov_len;
	lock_take(&f->lock);
	first = !f->waiting.len;
	fits = len <= BUFFER_BYTES - f->waiting.len;
	for (int i = 0; i < count && fits; i++) {
		memcpy(f->waiting.bytes + f->waiting.len, v[i].iov_base, v[i].iov_len);
		f->waiting.len += v[i].iov_len;
	}
	lock_drop(&f->lock);
	if (first)
		writer_wake();
	return fits;
}

void log_file_drop(struct log_file *f)
{
	if (!f)
		return;
	lock_take(&files_lock);
	f->refs--;
	lock_drop(&files_lock);
}

bool log_files_thread_init(void)
{
	bool any;

	pthread_mutex_lock(&writer.mutex);
	writer.may_run = true;
	any = writer.is_due;
	pthread_mutex_unlock(&writer.mutex);
	if (any)
		writer_wake();
	return true;
}

void log_files_fini(void)
{
	bool was_running;

	pthread_mutex_lock(&writer.mutex);
	was_running = writer.is_running;
	writer.may_run = false;
	writer.is_over = true;
	writer.is_running = false;
	pthread_cond_signal(&writer.wake);
	pthread_mutex_unlock(&writer.mutex);
	if (!was_running)
		return; /* of a process that has written nothing, its child will */
	pthread_join(writer.thread, NULL);
	serve_all(true); /* files without a reference are freed */
}

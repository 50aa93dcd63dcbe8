/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshot.c - when tables are written to their files and read from them
 *
 * Read before the generation that adds a table is live, unless the table keeps the entries of a
 * previous generation. Written in the background at each period, one table at a time, and after the
 * loops have ended. The directory is opened while the process has all its rights; afterwards files
 * are accessed only by names in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/diag.h"
#include "base/file.h"
#include "conf/conf.h"
#include "core/background.h"
#include "core/thread.h"
#include "core/timer.h"
#include "expr/expr.h"
#include "snapshot_priv.h"

#define LOOK_AGAIN_MS 1000

uint64_t snapshots_born_us;

/* Of thread 0, but for what the work reads and answers while it runs. */
static struct {
	struct timer timer;
	struct config *cfg;         /* counted: that of the table being written; NULL: none is */
	struct table *table;
	enum snapshot_result result;
	int error;
} job;

/* Held while a file is written. */
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
static bool is_over;                /* under <writing>: the loops are */

/* --- directories ------------------------------------------------------------------------------ */

const char *snapshot_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] && strcmp(slash, "/.") != 0 && strcmp(slash, "/..") != 0
		? slash + 1 : NULL;
}

const char *table_file_path(const struct table *t)
{
	return t->snapshot ? t->snapshot->path : NULL;
}

void snapshot_close(struct table_snapshot *f)
{
	if (f->directory >= 0)
		close(f->directory);
	f->directory = -1;
}

static int open_directory(const struct table_snapshot *f)
{
	size_t len = (size_t)(f->name - f->path);
	char *folder = strndup(f->path, len);
	int fd;

	if (!folder)
		return -1;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(folder);
	return fd;
}

/* The snapshot of this path in a generation; NULL: none. */
static struct table_snapshot *snapshot_of_path(const struct config *cfg, const char *path)
{
	struct table *t = cfg ? tables_first(cfg) : NULL;

	while (t && (!t->snapshot || strcmp(t->snapshot->path, path) != 0))
		t = t->next;
	return t ? t->snapshot : NULL;
}

/* A process that has given up its rights goes on with the directories that it has. */
static bool directory_take(struct table *t, const struct config *prev, struct diag_list *diags)
{
	struct table_snapshot *f = t->snapshot;
	const struct table_snapshot *old = snapshot_of_path(prev, f->path);

	f->directory = open_directory(f);
	if (f->directory < 0 && old && old->directory >= 0)
		f->directory = fcntl(old->directory, F_DUPFD_CLOEXEC, 3);
	if (f->directory >= 0)
		return true;
	diag_add(diags, prev ? DIAG_WARNING : DIAG_ALERT, NULL, NULL, "stick-table '%s': cannot "
		 "open the folder of 'file %s' (%s).%s", t->name, f->path, strerror(errno), prev
		 ? " The table is not written before the next start." : "");
	return prev != NULL;
}

static bool is_same_file(const struct table_snapshot *a, const struct table_snapshot *b)
{
	struct stat x, y;

	return strcmp(a->name, b->name) == 0 && fstat(a->directory, &x) == 0 &&
	       fstat(b->directory, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

/* Two tables would take turns in one file. */
static bool is_alone(const struct table *t, struct diag_list *diags)
{
	for (const struct table *o = t->next; o; o = o->next) {
		if (!o->snapshot || !is_same_file(t->snapshot, o->snapshot))
			continue;
		diag_add(diags, DIAG_ALERT, NULL, NULL, "stick-table '%s': 'file %s' is the file "
			 "of table '%s' too. Give each table a file of its own.", t->name,
			 t->snapshot->path, o->name);
		return false;
	}
	return true;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Looks at both ends before there is memory for all of it: a path may name anything. False: it is
 * refused, or errno.
 */
static bool looks_right(int fd, uint64_t len, struct snapshot_loaded *got)
{
	char head[SNAPSHOT_HEAD], tail[SNAPSHOT_TAIL];

	if (len >= sizeof(head) + sizeof(tail) &&
	    (pread(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	     pread(fd, tail, sizeof(tail), (off_t)(len - sizeof(tail))) != (ssize_t)sizeof(tail)))
		return false;
	return snapshot_may_be_whole(head, tail, len, got);
}

/* The contents, to be freed. NULL: errno, or got->error. */
static char *file_contents(const struct table_snapshot *f, size_t *len,
			   struct snapshot_loaded *got)
{
	int fd = openat(f->directory, f->name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char *bytes = NULL;
	struct stat st;
	int error;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		errno = EINVAL;
	else if (looks_right(fd, (uint64_t)st.st_size, got))
		bytes = file_read_all(fd, (size_t)st.st_size, len);
	error = errno;
	close(fd);
	errno = error;
	return bytes;
}

static void read_table(const struct table *t, struct diag_list *diags)
{
	struct snapshot_loaded got = { 0 };
	size_t len = 0;
	char *bytes = file_contents(t->snapshot, &len, &got);

	if (!bytes && !*got.error && errno == ENOENT)
		return; /* the first start */
	if (bytes)
		snapshot_load(t->state, bytes, len, clock_read_wall_us(), &got);
	else if (!*got.error)
		snprintf(got.error, sizeof(got.error), "%s", strerror(errno));
	free(bytes);
	if (*got.error)
		diag_add(diags, DIAG_WARNING, NULL, NULL, "stick-table '%s': the snapshot '%s' is "
			 "refused, the table starts empty: %s.", t->name, t->snapshot->path,
			 got.error);
	else if (got.no_room)
		diag_add(diags, DIAG_WARNING, NULL, NULL, "stick-table '%s': %llu entries of the "
			 "snapshot '%s' find no room ('size').", t->name,
			 (unsigned long long)got.no_room, t->snapshot->path);
}

/* Will this table go on with the entries of another generation? */
static bool is_adopted(const struct table *t, const struct config *prev)
{
	const struct table *old = prev ? table_lookup(prev, t->name) : NULL;

	return old && old->state && table_shape_eq(&old->shape, &t->shape);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* In the background. */
static void write_table(void *ctx)
{
	pthread_mutex_lock(&writing);
	if (!is_over) {
		job.result = snapshot_write(job.table->snapshot, job.table->state);
		job.error = errno;
	}
	pthread_mutex_unlock(&writing);
}

/* What cannot be written is told once. */
static void tell(const struct table *t, enum snapshot_result result, int error)
{
	struct table_snapshot *f = t->snapshot;

	if (result == SNAPSHOT_WRITTEN && f->failed)
		diag_say(DIAG_NOTICE, "stick-table '%s': '%s' is written again.", t->name, f->path);
	else if (result == SNAPSHOT_NOT_OURS && !f->failed)
		diag_say(DIAG_NOTICE, "stick-table '%s': '%s' is left to the process that was "
			 "started after this one.", t->name, f->path);
	else if (result == SNAPSHOT_FAILED && !f->failed)
		diag_say(DIAG_WARNING, "stick-table '%s': cannot write '%s' (%s). What it held "
			 "stays; it is tried again at each period.", t->name, f->path,
			 strerror(error));
	f->failed = result != SNAPSHOT_WRITTEN;
}

static void look_at_tables(struct timer *timer);

static void written(void *ctx)
{
	struct table_snapshot *f = job.table->snapshot;

	tell(job.table, job.result, job.error);
	f->due_ms = clock_now_ms() + f->every_ms;
	config_drop(&job.cfg);
	look_at_tables(&job.timer);
}

static void begin(struct config *cfg, struct table *t)
{
	job.cfg = config_take(cfg);
	job.table = t;
	if (background_run(write_table, written, NULL))
		return;
	config_drop(&job.cfg);
	timer_set(&job.timer, clock_now_ms() + LOOK_AGAIN_MS);
}

static void look_at_tables(struct timer *timer)
{
	struct config *cfg = expr_config_in_force();
	uint64_t next_ms = TIMER_NEVER;

	if (job.cfg)
		return; /* its end looks again */
	for (struct table *t = tables_first(cfg); t; t = t->next) {
		if (!t->snapshot || !t->snapshot->every_ms || t->snapshot->directory < 0)
			continue;
		if (t->snapshot->due_ms <= clock_now_ms()) {
			begin(cfg, t);
			return;
		}
		next_ms = t->snapshot->due_ms < next_ms ? t->snapshot->due_ms : next_ms;
	}
	if (next_ms != TIMER_NEVER)
		timer_set(timer, next_ms);
}

/* --- life ------------------------------------------------------------------------------------- */

bool snapshots_start(struct config *cfg, struct diag_list *diags)
{
	const struct config *prev = expr_config_in_force();
	uint64_t soon_ms = TIMER_NEVER;

	if (!snapshots_born_us)
		snapshots_born_us = clock_read_wall_us();
	for (struct table *t = tables_first(cfg); t; t = t->next)
		if (t->snapshot && !directory_take(t, prev, diags))
			return false;
	for (struct table *t = tables_first(cfg); t; t = t->next) {
		if (!t->snapshot || t->snapshot->directory < 0)
			continue;
		if (!is_alone(t, diags))
			return false;
		if (!is_adopted(t, prev))
			read_table(t, diags);
		t->snapshot->due_ms = clock_now_ms() + t->snapshot->every_ms;
		if (t->snapshot->every_ms && t->snapshot->due_ms < soon_ms)
			soon_ms = t->snapshot->due_ms;
	}
	if (!job.timer.fire)
		timer_init(&job.timer, look_at_tables);
	if (soon_ms != TIMER_NEVER)
		timer_set(&job.timer, soon_ms);
	return true;
}

void snapshot_adopt(struct table_snapshot *next, const struct table_snapshot *old)
{
	if (strcmp(next->path, old->path) != 0)
		return;
	next->failed = old->failed;
	if (old->every_ms && old->due_ms < next->due_ms)
		next->due_ms = old->due_ms;
}

void snapshots_end(void)
{
	const struct config *cfg = expr_config_in_force();

	if (thread_id || !snapshots_born_us)
		return;
	pthread_mutex_lock(&writing); /* waits for the file that is being written */
	is_over = true;
	for (struct table *t = cfg ? tables_first(cfg) : NULL; t; t = t->next) {
		enum snapshot_result result;

		if (!t->snapshot || t->snapshot->directory < 0)
			continue;
		result = snapshot_write(t->snapshot, t->state);
		tell(t, result, errno);
	}
	pthread_mutex_unlock(&writing);
	if (job.cfg) /* its end is not told any more */
		config_drop(&job.cfg);
}

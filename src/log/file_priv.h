/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file_priv.h - log files: the target `file@PATH` (an extension)
 *
 * Purpose: writes lines to a file without a syslog daemon and without blocking a turn on a disk: a
 *          separate thread writes them (src/log/file.c). Rotates by size or by period, at line ends
 *          only. Each path is open once, however many targets and generations use it.
 * Owns   : each opener has a reference; after the last one is dropped, the file is closed once
 *          everything is written.
 * Threads: opened on thread 0; lines from any.
 * Errors : log_file_open(): NULL with errno set. A line for which there is no room: false.
 * Manual : doc/configuration/logs.md
 */
#ifndef SRC_LOG_FILE_PRIV_H
#define SRC_LOG_FILE_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

struct log_rotation {
	uint64_t bytes;    /* rotate at this size; 0: not by size */
	int64_t period_s;  /* rotate at each multiple of this in local time; 0: not by time */
	unsigned keep;     /* number of old files to keep: NAME.1 is the newest */
};

struct log_file;

/* Opens the file <path>, creating it if needed, and rotates it as <r> says from now on. A relative
 * path starts in the current directory. Returns NULL with errno set on failure.
 */
struct log_file *log_file_open(const char *path, const struct log_rotation *r);
/* Drops a reference. NULL is allowed. */
void log_file_drop(struct log_file *f);
/* Adds one line of <count> pieces, its line end included. Returns false: there is no room. */
bool log_file_add(struct log_file *f, const struct iovec *v, int count);
/* Called when a thread enters its loop: from now on this process writes the lines. Returns true. */
bool log_files_thread_init(void);
/* Called at exit: writes what is still queued. */
void log_files_fini(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file_priv.h - log files: the target `file@PATH` (an extension)
 *
 * Purpose: lines into a file without a syslog daemon, and without a turn that waits for a disk:
 *          a thread of their own writes them (src/log/file.c). Rotation by size or by period, whole
 *          lines only. Of each name one file is open, whatever number of targets, and of
 *          generations, have it.
 * Owns   : each opener has a reference; with the last one the file is closed when all was written.
 * Threads: opened on thread 0; lines from any.
 * Errors : log_file_open(): NULL and errno. A line that finds no room: false.
 * Manual : doc/configuration/logs.md
 */
#ifndef SRC_LOG_FILE_PRIV_H
#define SRC_LOG_FILE_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

struct log_rotation {
	uint64_t bytes;    /* at this size; 0: not by size */
	int64_t period_s;  /* at the begin of such a period of local time; 0: not by time */
	unsigned keep;     /* so many of before: NAME.1 is the youngest */
};

struct log_file;

/* The file of this name, made if there is none; rotated as <r> says from now on. A relative name
 * begins in the current directory. NULL: errno.
 */
struct log_file *log_file_open(const char *path, const struct log_rotation *r);
/* NULL is allowed. */
void log_file_drop(struct log_file *f);
/* One line of <count> pieces, its end included. False: there is no room. */
bool log_file_add(struct log_file *f, const struct iovec *v, int count);
/* The calling thread enters its loop: lines are written from now on, by this process. True. */
bool log_files_thread_init(void);
/* At exit: writes what waits. */
void log_files_fini(void);

#endif

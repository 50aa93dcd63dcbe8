/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sandbox.h - `sandbox on`: restrictions of a process once it serves
 *
 * Two barriers of the kernel, both permanent, for all threads started later:
 *
 * seccomp  : a list of the system calls needed for serving. Others give EPERM; those of another
 *            machine's calling convention kill the process. No program can be run, no process
 *            started, no other process signalled; only TCP, UDP and UNIX sockets can be made, and
 *            route netlink ones for the C library's resolver.
 * Landlock : no file can be opened, made or removed, except below the directories named here; no
 *            process outside can be signalled. Without it, only chroot and user protect files.
 *
 * The filter is raw BPF, and Landlock three raw system calls: some 200 lines without a library. A
 * process that must open files to reload has a master that opens them (door_priv.h), and needs no
 * directories; a process without one keeps the directories named in its configuration.
 * Manual: doc/configuration/sandbox.md; its lists are tested by tests/unit/main/t_sandbox.c.
 */
#ifndef MAIN_SANDBOX_H
#define MAIN_SANDBOX_H

#include <stdbool.h>

enum sandbox_use {
	SANDBOX_READ = 1 << 0,   /* reading files, listing directories */
	SANDBOX_SOCKETS = 1 << 1, /* making and replacing UNIX sockets */
	SANDBOX_WRITE = 1 << 2,  /* making and writing files */
};

/* Records a directory or a file for sandbox_enter(); ignores one that does not exist. */
bool sandbox_allow(const char *path, unsigned use);
/* Records system calls that only some configurations need. */
enum sandbox_calls {
	SANDBOX_VISIT = 1 << 0,  /* open network namespaces are entered for sockets */
	SANDBOX_WATCH = 1 << 1,  /* directories are watched for changes */
};
void sandbox_allow_calls(unsigned calls);
/* System calls that rename, remove or change files are allowed only if a path was recorded for
 * SANDBOX_SOCKETS or SANDBOX_WRITE. Opening files is left to Landlock.
 */
enum sandbox_result { SANDBOX_DONE, SANDBOX_NO_LANDLOCK, SANDBOX_FAILED };
/* Enters the sandbox and forgets the records. SANDBOX_FAILED: errno, the process must not continue.
 * Must be called before the threads start.
 */
enum sandbox_result sandbox_enter(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sandbox.h - `sandbox on`: what a process may still do once it serves
 *
 * Two walls of the kernel, both for good, for every thread that is started later:
 *
 * seccomp  : a list of the system calls that serving needs. Others give EPERM; those of another
 *            machine's convention end the process. No program is run, no process is started, no
 *            other process is signalled; sockets are those of TCP, UDP and UNIX.
 * Landlock : no file is opened, made or removed, but below the folders that are named here; no
 *            process outside is signalled. A kernel without it leaves that to chroot and user.
 *
 * The filter is raw BPF, and Landlock three raw system calls: it is some 200 lines without a
 * library. A process that must open files to reload has a master, which opens them (door_priv.h),
 * and needs no folder; a process without one keeps the folders that its configuration names.
 * Manual: doc/configuration/sandbox.md, whose lists are tried by tests/unit/main/t_sandbox.c.
 */
#ifndef MAIN_SANDBOX_H
#define MAIN_SANDBOX_H

#include <stdbool.h>

enum sandbox_use {
	SANDBOX_READ = 1 << 0,   /* files may be read, folders listed */
	SANDBOX_SOCKETS = 1 << 1, /* UNIX sockets may be made and replaced */
	SANDBOX_WRITE = 1 << 2,  /* files may be made and written */
};

/* Takes note of a folder, or of a file, for sandbox_enter(); what is not there is passed over. */
bool sandbox_allow(const char *path, unsigned use);
/* Takes note of system calls that only some configurations need. */
enum sandbox_calls {
	SANDBOX_VISIT = 1 << 0,  /* network namespaces that are open are entered for sockets */
	SANDBOX_WATCH = 1 << 1,  /* folders are watched for changes */
};
void sandbox_allow_calls(unsigned calls);
/* Without folders: what opens files is not on the list of system calls at all but for reading. */
enum sandbox_result { SANDBOX_DONE, SANDBOX_NO_LANDLOCK, SANDBOX_FAILED };
/* Forgets the notes. SANDBOX_FAILED: errno, the process must not go on. Before the threads. */
enum sandbox_result sandbox_enter(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_id.c - getpid() without a system call
 *
 * OpenSSL 3.0 asks for the process number with every random number, to notice a fork: some twelve
 * system calls per handshake. This getpid() takes precedence over the C library's, remembers the
 * answer, and forgets it in the child of each fork(). The program makes processes in no other way;
 * a child of vfork() or posix_spawn() runs another program immediately.
 */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static pid_t known;

static void forget(void)
{
	__atomic_store_n(&known, 0, __ATOMIC_RELAXED);
}

pid_t getpid(void)
{
	pid_t pid = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (__builtin_expect(!pid, 0)) {
		pid = (pid_t)syscall(SYS_getpid);
		__atomic_store_n(&known, pid, __ATOMIC_RELAXED);
	}
	return pid;
}

__attribute__((constructor)) static void start(void)
{
	pthread_atfork(NULL, NULL, forget);
}

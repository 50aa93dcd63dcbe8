/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sandbox.c - `sandbox on`: the system calls and files that the process may still use */
#include "sandbox.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/bug.h"
#include "sandbox_priv.h"

/* --- system calls ----------------------------------------------------------------------------- */

/* Whatever their arguments are. Those of each request come first: older kernels try one after the
 * other, newer ones remember which need no look.
 */
static const int harmless[] = {
	SYS_recvfrom, SYS_sendto, SYS_sendmsg, SYS_recvmsg, SYS_epoll_pwait, SYS_read, SYS_write,
	SYS_readv, SYS_writev, SYS_splice, SYS_accept4, SYS_close, SYS_connect, SYS_setsockopt,
	SYS_getsockopt, SYS_epoll_ctl, SYS_shutdown, SYS_futex, SYS_clock_gettime,
#ifdef SYS_epoll_wait
	SYS_epoll_wait, SYS_poll, SYS_select, SYS_pipe, SYS_dup2, SYS_eventfd, SYS_epoll_create,
	SYS_time, SYS_getrlimit, SYS_arch_prctl, SYS_alarm, SYS_pause,
	/* as files: Landlock decides */
	SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_getdents,
#endif
	SYS_recvmmsg, SYS_sendmmsg, SYS_accept, SYS_bind, SYS_listen, SYS_getsockname,
	SYS_getpeername, SYS_socketpair, SYS_dup, SYS_dup3, SYS_fcntl, SYS_ppoll, SYS_pselect6,
	SYS_epoll_create1, SYS_eventfd2, SYS_pipe2, SYS_tee, SYS_vmsplice, SYS_sendfile,
	SYS_lseek, SYS_pread64, SYS_fstat, SYS_ftruncate, SYS_close_range,
	SYS_timerfd_create, SYS_timerfd_settime, SYS_timerfd_gettime, SYS_signalfd4,
	/* memory: compiled expressions are run, so pages may be executable */
	SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_brk, SYS_mincore,
	SYS_msync, SYS_membarrier,
	/* threads and signals of this process */
	SYS_sched_yield, SYS_sched_getaffinity, SYS_set_robust_list, SYS_get_robust_list,
	SYS_set_tid_address, SYS_rseq, SYS_exit, SYS_exit_group, SYS_rt_sigaction,
	SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigtimedwait, SYS_rt_sigpending,
	SYS_rt_sigsuspend, SYS_sigaltstack, SYS_restart_syscall, SYS_gettid, SYS_getpid,
	SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getcpu,
	SYS_timer_create, SYS_timer_settime, SYS_timer_gettime, SYS_timer_delete,
	SYS_timer_getoverrun,
	/* time and figures */
	SYS_nanosleep, SYS_clock_nanosleep, SYS_clock_getres, SYS_gettimeofday, SYS_times,
	SYS_getrusage, SYS_getrandom, SYS_uname, SYS_sysinfo,
	/* files: Landlock decides */
	SYS_openat, SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_readlinkat, SYS_getdents64,
	SYS_getcwd, SYS_chdir, SYS_fchdir, SYS_fstatfs,
};

/* For sockets of UNIX paths and files, where folders were named. */
static const int makes_files[] = {
#ifdef SYS_unlink
	SYS_unlink, SYS_rename, SYS_chmod, SYS_chown,
#endif
	SYS_unlinkat, SYS_renameat, SYS_fchmodat, SYS_fchownat, SYS_pwrite64, SYS_fchmod,
	SYS_fchown, SYS_fallocate, SYS_fsync, SYS_fdatasync,
};

/* For crt-watch. Of folders that may be read by the rights of the user they tell names, too. */
static const int watches_files[] = {
	SYS_inotify_init1, SYS_inotify_add_watch, SYS_inotify_rm_watch,
};

#if defined(__x86_64__) || defined(__aarch64__)
#define HALF(n) (offsetof(struct seccomp_data, args[n])) /* low: these are little-endian */
#else
#define HALF(n) (offsetof(struct seccomp_data, args[n]) + (__BYTE_ORDER == __BIG_ENDIAN ? 4 : 0))
#endif

/* A program that grows. */
struct program {
	struct sock_filter code[BPF_MAXINSNS > 1024 ? 1024 : BPF_MAXINSNS];
	unsigned short len;
};

static void put(struct program *p, struct sock_filter instruction)
{
	BUG_ON(p->len == sizeof(p->code) / sizeof(*p->code));
	p->code[p->len++] = instruction;
}

#define PUT(p, ...) put(p, (struct sock_filter)__VA_ARGS__)

static void give(struct program *p, uint32_t what)
{
	PUT(p, BPF_STMT(BPF_RET | BPF_K, what));
}

/* Is the number that of the system call at hand? Then the next <length> instructions are for it;
 * they end with give().
 */
static void if_call(struct program *p, int number, unsigned char length)
{
	PUT(p, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, length));
}

static void load_argument(struct program *p, unsigned n)
{
	PUT(p, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, HALF(n)));
}

static void allow_all(struct program *p, const int *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if_call(p, numbers[i], 1);
		give(p, SECCOMP_RET_ALLOW);
	}
}

/* Only with one of these values of an argument; else errno <error>. */
static void allow_with(struct program *p, int number, unsigned argument, const uint32_t *values,
		       unsigned count)
{
	if_call(p, number, (unsigned char)(2 * count + 2));
	load_argument(p, argument);
	for (unsigned i = 0; i < count; i++) {
		PUT(p, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, values[i], 0, 1));
		give(p, SECCOMP_RET_ALLOW);
	}
	give(p, SECCOMP_RET_ERRNO | EPERM);
}

#define ALLOW_WITH(p, number, argument, ...) \
	do { \
		static const uint32_t values_[] = { __VA_ARGS__ }; \
		allow_with(p, number, argument, values_, sizeof(values_) / sizeof(*values_)); \
	} while (0)

/* Threads, no processes. clone3() has its flags in memory: the library falls back to clone(). */
static void allow_threads(struct program *p)
{
	if_call(p, SYS_clone3, 1);
	give(p, SECCOMP_RET_ERRNO | ENOSYS);
	if_call(p, SYS_clone, 4);
	load_argument(p, 0);
	PUT(p, BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1));
	give(p, SECCOMP_RET_ALLOW);
	give(p, SECCOMP_RET_ERRNO | EAGAIN);
}

/* The sockets of TCP, UDP and UNIX, and the kernel's own for the resolver of the library; no raw
 * ones.
 */
static void allow_sockets(struct program *p)
{
	if_call(p, SYS_socket, 12);
	load_argument(p, 0);
	PUT(p, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 6, 0));
	PUT(p, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 2, 0));
	PUT(p, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 1, 0));
	PUT(p, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 5));
	load_argument(p, 1);
	PUT(p, BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf));
	PUT(p, BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, SOCK_DGRAM, 2, 3));
	load_argument(p, 2); /* NETLINK_ROUTE is 0 */
	PUT(p, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NETLINK_ROUTE, 1, 0));
	give(p, SECCOMP_RET_ERRNO | EPERM);
	give(p, SECCOMP_RET_ALLOW);
}

/* Limits are read, not set; other processes are none of ours. */
static void allow_own(struct program *p)
{
	uint32_t self[] = { (uint32_t)getpid() };

	if_call(p, SYS_prlimit64, 6);
	load_argument(p, 2);
	PUT(p, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3));
	PUT(p, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, HALF(2) ^ 4));
	PUT(p, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1));
	give(p, SECCOMP_RET_ALLOW);
	give(p, SECCOMP_RET_ERRNO | EPERM);
	allow_with(p, SYS_kill, 0, self, 1);
	allow_with(p, SYS_tgkill, 0, self, 1);
	ALLOW_WITH(p, SYS_sched_setaffinity, 0, 0);
	ALLOW_WITH(p, SYS_prctl, 0, PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_SET_VMA,
		   PR_GET_NO_NEW_PRIVS);
	ALLOW_WITH(p, SYS_ioctl, 1, FIONREAD, FIONBIO, TIOCOUTQ, TCGETS_REQUEST);
}

static unsigned allowed_calls;

void sandbox_allow_calls(unsigned calls)
{
	allowed_calls |= calls;
}

static void write_program(struct program *p, bool makes)
{
	p->len = 0;
	PUT(p, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
	PUT(p, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SANDBOX_ARCHITECTURE, 1, 0));
	give(p, SECCOMP_RET_KILL_PROCESS);
	PUT(p, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
	allow_all(p, harmless, sizeof(harmless) / sizeof(*harmless));
	if (makes)
		allow_all(p, makes_files, sizeof(makes_files) / sizeof(*makes_files));
	if (allowed_calls & SANDBOX_VISIT)
		ALLOW_WITH(p, SYS_setns, 1, CLONE_NEWNET);
	if (allowed_calls & SANDBOX_WATCH)
		allow_all(p, watches_files, sizeof(watches_files) / sizeof(*watches_files));
	allow_threads(p);
	allow_sockets(p);
	allow_own(p);
	give(p, SECCOMP_RET_ERRNO | EPERM);
}

static bool filter_calls(bool makes)
{
	static struct program program;
	struct sock_fprog f = { .filter = program.code };

	write_program(&program, makes);
	f.len = program.len;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &f, 0, 0) == 0;
}

/* --- files ------------------------------------------------------------------------------------ */

struct allowed {
	struct allowed *next;
	unsigned use;
	int fd;               /* owned */
	bool is_directory;
};

static struct allowed *all_allowed;

bool sandbox_allow(const char *path, unsigned use)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	struct allowed *a;
	struct stat st;

	if (fd < 0)
		return true;
	a = calloc(1, sizeof(*a));
	if (!a || fstat(fd, &st) < 0) {
		close(fd);
		free(a);
		return false;
	}
	*a = (struct allowed){ .next = all_allowed, .use = use, .fd = fd,
			       .is_directory = S_ISDIR(st.st_mode) };
	all_allowed = a;
	return true;
}

static void forget_allowed(void)
{
	while (all_allowed) {
		struct allowed *a = all_allowed;

		all_allowed = a->next;
		close(a->fd);
		free(a);
	}
}

/* Rights of files are for any path, the others for folders. */
static uint64_t rights_of(const struct allowed *a)
{
	uint64_t rights = 0;

	if (a->use & SANDBOX_READ)
		rights |= LANDLOCK_READ_FILE | (a->is_directory ? LANDLOCK_READ_DIR : 0);
	if (a->use & SANDBOX_WRITE)
		rights |= LANDLOCK_READ_FILE | LANDLOCK_WRITE_FILE | LANDLOCK_TRUNCATE |
			  (a->is_directory ? LANDLOCK_MAKE_REG | LANDLOCK_REMOVE_FILE : 0);
	if (a->use & SANDBOX_SOCKETS && a->is_directory)
		rights |= LANDLOCK_MAKE_SOCK | LANDLOCK_REMOVE_FILE;
	return rights;
}

static bool add_rules(int rules, uint64_t handled)
{
	for (const struct allowed *a = all_allowed; a; a = a->next) {
		struct landlock_rule rule = { .rights = rights_of(a) & handled, .parent = a->fd };

		if (rule.rights && syscall(SYS_LANDLOCK_ADD_RULE, rules, LANDLOCK_BELOW_FOLDER,
					   &rule, 0) < 0)
			return false;
	}
	return true;
}

/* Forbids what this kernel's version of it knows. */
static enum sandbox_result close_files(void)
{
	struct landlock_rules set = { .files = LANDLOCK_FILES_1 };
	long version = syscall(SYS_LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_VERSION);
	int rules;
	bool good;

	if (version < 1)
		return SANDBOX_NO_LANDLOCK;
	if (version >= 2)
		set.files |= LANDLOCK_REFER;
	if (version >= 3)
		set.files |= LANDLOCK_TRUNCATE;
	if (version >= 5)
		set.files |= LANDLOCK_IOCTL;
	if (version >= 6)
		set.scoped = LANDLOCK_SIGNALS;
	rules = (int)syscall(SYS_LANDLOCK_CREATE_RULESET, &set,
			     version >= 6 ? sizeof(set) : sizeof(set.files), 0);
	if (rules < 0)
		return SANDBOX_FAILED;
	good = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && add_rules(rules, set.files) &&
	       syscall(SYS_LANDLOCK_RESTRICT_SELF, rules, 0) == 0;
	close(rules);
	return good ? SANDBOX_DONE : SANDBOX_FAILED;
}

enum sandbox_result sandbox_enter(void)
{
	enum sandbox_result files = close_files();
	bool makes = false;

	for (const struct allowed *a = all_allowed; a; a = a->next)
		makes |= (a->use & (SANDBOX_SOCKETS | SANDBOX_WRITE)) != 0;
	forget_allowed();
	if (files == SANDBOX_FAILED)
		return files;
	if (!SANDBOX_ARCHITECTURE)
		errno = ENOSYS;
	return SANDBOX_ARCHITECTURE && filter_calls(makes) ? files : SANDBOX_FAILED;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_sandbox - what a process in the sandbox can do, each line of doc/configuration/sandbox.md
 *
 * Each is tried by a child of its own, which enters the sandbox and tells by its exit status.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "sandbox.h"
#include "../tap.h"

static char folder[] = "/tmp/t_sandbox.XXXXXX";
static char inside[100], outside[100], made[100];
static pid_t other;    /* a process outside */
static int given;      /* a file that was open before */
static bool has_landlock;

/* --- what is tried: 0 when it worked, else errno ---------------------------------------------- */

#define TRY(call) ((call) < 0 ? errno : 0)

static int try_socket(int family, int type, int protocol)
{
	int fd = socket(family, type, protocol);

	return fd < 0 ? errno : close(fd);
}

static int try_tcp(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	socklen_t len = sizeof(sin);
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), client, one = 1;
	char byte = 'x';

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (server < 0 || bind(server, (struct sockaddr *)&sin, len) < 0 || listen(server, 1) < 0 ||
	    getsockname(server, (struct sockaddr *)&sin, &len) < 0)
		return errno;
	client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (setsockopt(client, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one)) < 0 ||
	    (connect(client, (struct sockaddr *)&sin, len) < 0 && errno != EINPROGRESS))
		return errno;
	server = accept4(server, NULL, NULL, SOCK_CLOEXEC);
	return server < 0 || send(server, &byte, 1, MSG_NOSIGNAL) != 1 ? errno : 0;
}

static int try_udp(void) { return try_socket(AF_INET6, SOCK_DGRAM, 0); }
static int try_unix(void) { return try_socket(AF_UNIX, SOCK_STREAM, 0); }
static int try_raw(void) { return try_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP); }
static int try_packet(void) { return try_socket(AF_PACKET, SOCK_DGRAM, 0); }
static int try_vsock(void) { return try_socket(40, SOCK_STREAM, 0); }
static int try_audit(void) { return try_socket(AF_NETLINK, SOCK_RAW, 9); }
static int try_route(void) { return try_socket(AF_NETLINK, SOCK_RAW, 0); }

static void *nothing(void *arg)
{
	return arg;
}

static int try_thread(void)
{
	pthread_t t;
	int e = pthread_create(&t, NULL, nothing, NULL);

	return e ? e : pthread_join(t, NULL);
}

static int try_events(void)
{
	struct epoll_event ev;
	int fd = epoll_create1(0);

	return TRY(fd < 0 ? -1 : epoll_wait(fd, &ev, 1, 1));
}

static int try_pipe(void)
{
	int ends[2];

	return pipe2(ends, O_CLOEXEC) < 0 || write(ends[1], "x", 1) != 1 ||
	       splice(ends[0], NULL, ends[1], NULL, 1, SPLICE_F_NONBLOCK) < -1 ? errno : 0;
}

static int try_memory(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? errno : TRY(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}

static int try_time(void)
{
	struct timespec t = { .tv_nsec = 1000 };

	return clock_gettime(CLOCK_REALTIME, &t) < 0 ? errno : 0;
}

static int try_random(void)
{
	char bytes[16];

	return TRY(syscall(SYS_getrandom, bytes, sizeof(bytes), 0));
}

static int try_given(void) { char c; return TRY(pread(given, &c, 1, 0)); }
static int try_raise(void) { signal(SIGUSR1, SIG_IGN); return TRY(kill(getpid(), SIGUSR1)); }
static int try_limits(void) { struct rlimit l; return TRY(getrlimit(RLIMIT_NOFILE, &l)); }
static int try_read(void) { return TRY(open(inside, O_RDONLY)); }
static int try_read_other(void) { return TRY(open(outside, O_RDONLY)); }
static int try_passwd(void) { return TRY(open("/etc/passwd", O_RDONLY)); }
static int try_write(void) { return TRY(open(inside, O_WRONLY)); }
static int try_make(void) { return TRY(open(made, O_WRONLY | O_CREAT, 0600)); }
static int try_remove(void) { return TRY(unlink(inside)); }
static int try_rename(void) { return TRY(rename(inside, made)); }
static int try_folder(void) { return TRY(mkdir(made, 0700)); }
static int try_link(void) { return TRY(symlink("/etc", made)); }
static int try_mode(void) { return TRY(chmod(inside, 0777)); }

static int try_path(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(un.sun_path, sizeof(un.sun_path), "%.99s", made);
	return TRY(bind(fd, (struct sockaddr *)&un, sizeof(un)));
}

static int try_fork(void) { return TRY(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }

static int try_program(void)
{
	char *argv[] = { "/bin/true", NULL };

	return TRY(execv(argv[0], argv));
}

static int try_kill(void) { return TRY(kill(other, SIGTERM)); }
static int try_trace(void) { return TRY(ptrace(PTRACE_ATTACH, other, 0, 0)); }
static int try_peek(void) { return TRY(syscall(SYS_process_vm_readv, other, NULL, 0, NULL, 0, 0)); }
static int try_pidfd(void) { return TRY(syscall(SYS_pidfd_open, other, 0)); }
static int try_mount(void) { return TRY(mount("none", folder, "no-such-thing", 0, NULL)); }
static int try_chroot(void) { return TRY(chroot(folder)); }
static int try_unshare(void) { return TRY(unshare(CLONE_NEWUSER)); }
static int try_setns(void) { return TRY(setns(0, 0)); }
static int try_visit(void) { return TRY(setns(given, CLONE_NEWNET)); } /* which it is not */

static int try_watch(void)
{
	int fd = inotify_init1(IN_CLOEXEC);

	return fd < 0 ? errno : TRY(inotify_add_watch(fd, "/", IN_CREATE));
}

static int try_uid(void) { return TRY(setuid(0)); }
static int try_bpf(void) { return TRY(syscall(SYS_bpf, 0, NULL, 0)); }
static int try_uring(void) { return TRY(syscall(425, 1, NULL)); }
static int try_userfault(void) { return TRY(syscall(SYS_userfaultfd, 0)); }
static int try_keys(void) { return TRY(syscall(SYS_keyctl, 0, 0, 0, 0, 0)); }
static int try_module(void) { return TRY(syscall(SYS_init_module, NULL, 0, "")); }
static int try_clock(void) { return TRY(syscall(SYS_clock_settime, CLOCK_REALTIME, NULL)); }

static int try_terminal(void) { return TRY(ioctl(0, 0x5412, "x")); } /* TIOCSTI: types for others */
static int try_handle(void) { return TRY(syscall(SYS_open_by_handle_at, 0, NULL, 0)); }
static int try_memfd(void) { return TRY(syscall(SYS_memfd_create, "x", 0)); }

static int try_raise_limits(void)
{
	struct rlimit l = { .rlim_cur = 10, .rlim_max = 10 };

	return TRY(setrlimit(RLIMIT_NOFILE, &l));
}

static int try_filter(void)
{
	return TRY(prctl(PR_SET_SECCOMP, 2, NULL, 0, 0));
}

/* --- trying ----------------------------------------------------------------------------------- */

enum expected { WORKS, REFUSED, NEEDS_LANDLOCK };

static const struct attempt {
	int (*run)(void);
	enum expected expected;
	const char *name;
} attempts[] = {
	{ try_tcp, WORKS, "TCP connections" },
	{ try_udp, WORKS, "UDP sockets" },
	{ try_unix, WORKS, "UNIX sockets" },
	{ try_route, WORKS, "the resolver's question for interfaces" },
	{ try_thread, WORKS, "threads" },
	{ try_events, WORKS, "waiting for events" },
	{ try_pipe, WORKS, "pipes" },
	{ try_memory, WORKS, "memory, executable too" },
	{ try_time, WORKS, "reading clocks" },
	{ try_random, WORKS, "random bytes" },
	{ try_given, WORKS, "files that were open before" },
	{ try_raise, WORKS, "signals to itself" },
	{ try_limits, WORKS, "reading limits" },
	{ try_read, WORKS, "reading below a folder that was named" },
	{ try_raw, REFUSED, "raw sockets" },
	{ try_packet, REFUSED, "packet sockets" },
	{ try_vsock, REFUSED, "other kinds of sockets" },
	{ try_audit, REFUSED, "the kernel's other sockets" },
	{ try_read_other, NEEDS_LANDLOCK, "reading elsewhere" },
	{ try_passwd, NEEDS_LANDLOCK, "reading /etc/passwd" },
	{ try_write, NEEDS_LANDLOCK, "writing a file" },
	{ try_make, NEEDS_LANDLOCK, "making a file" },
	{ try_path, NEEDS_LANDLOCK, "making a UNIX socket in a folder" },
	{ try_remove, REFUSED, "removing a file" },
	{ try_rename, REFUSED, "renaming a file" },
	{ try_folder, REFUSED, "making a folder" },
	{ try_link, REFUSED, "making a link" },
	{ try_mode, REFUSED, "changing a mode" },
	{ try_fork, REFUSED, "starting a process" },
	{ try_program, REFUSED, "running a program" },
	{ try_kill, REFUSED, "signals to others" },
	{ try_trace, REFUSED, "tracing others" },
	{ try_peek, REFUSED, "reading the memory of others" },
	{ try_pidfd, REFUSED, "holding others" },
	{ try_mount, REFUSED, "mounting" },
	{ try_chroot, REFUSED, "changing the root folder" },
	{ try_unshare, REFUSED, "new namespaces" },
	{ try_setns, REFUSED, "other namespaces" },
	{ try_watch, REFUSED, "watching folders" },
	{ try_uid, REFUSED, "changing the user" },
	{ try_bpf, REFUSED, "programs in the kernel" },
	{ try_uring, REFUSED, "io_uring" },
	{ try_userfault, REFUSED, "handling page faults" },
	{ try_keys, REFUSED, "the kernel's keys" },
	{ try_module, REFUSED, "kernel modules" },
	{ try_clock, REFUSED, "setting clocks" },
	{ try_terminal, REFUSED, "typing on a terminal" },
	{ try_handle, REFUSED, "opening by handle" },
	{ try_memfd, REFUSED, "files in memory" },
	{ try_raise_limits, REFUSED, "changing limits" },
	{ try_filter, REFUSED, "another filter" },
};

/* What it gave in the sandbox; -1: the child did not end by itself. */
static int try_inside(const struct attempt *a)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		sandbox_allow(folder, SANDBOX_READ);
		sandbox_allow("/nonexistent/folder", SANDBOX_READ);
		if (sandbox_enter() == SANDBOX_FAILED)
			_exit(255);
		_exit(a->run());
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* The same with the calls that few configurations need. */
static int try_with_calls(int (*run)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		sandbox_allow_calls(SANDBOX_VISIT | SANDBOX_WATCH);
		_exit(sandbox_enter() == SANDBOX_FAILED ? 255 : run());
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The same with a folder for sockets. */
static int try_with_sockets(int (*run)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		sandbox_allow(folder, SANDBOX_READ | SANDBOX_SOCKETS);
		_exit(sandbox_enter() == SANDBOX_FAILED ? 255 : run());
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#ifdef __x86_64__
/* getpid() as a 32-bit program asks for it: another convention, with other numbers. */
static int try_convention(void)
{
	long got;

	__asm__ volatile ("int $0x80" : "=a" (got) : "a" (20) : "memory");
	return got == getpid() ? 0 : 1;
}

static void check_convention(void)
{
	ok(try_with_sockets(try_convention) == -1, "another convention of calls ends the process");
}
#else
static void check_convention(void)
{
}
#endif

static void check(const struct attempt *a)
{
	int got = try_inside(a);

	if (a->expected == NEEDS_LANDLOCK && !has_landlock) {
		ok(true, "%s # skip this kernel has no Landlock", a->name);
		return;
	}
	if (a->expected == WORKS)
		ok(got == 0, "possible: %s (%d)", a->name, got);
	else
		ok(got == EPERM || got == EACCES || got == EAGAIN, "refused: %s (%d)", a->name,
		   got);
}

static void make_file(char *path, size_t size, const char *name)
{
	int fd;

	snprintf(path, size, "%s", name);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	if (fd >= 0 && write(fd, "x", 1) == 1)
		close(fd);
}

/* Of sanitizers, where they are linked in: they do what the sandbox forbids. */
extern void __lsan_do_leak_check(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

int main(void)
{
	char name[300];

	if (__lsan_do_leak_check || __tsan_init) {
		ok(true, "the sandbox # skip sanitizers do what it forbids");
		return done_testing();
	}
	if (!mkdtemp(folder))
		return 1;
	snprintf(name, sizeof(name), "%s/inside", folder);
	make_file(inside, sizeof(inside), name);
	snprintf(name, sizeof(name), "%s.outside", folder);
	make_file(outside, sizeof(outside), name);
	snprintf(made, sizeof(made), "%s/made", folder);
	given = open(outside, O_RDONLY);
	has_landlock = syscall(444, NULL, 0, 1) > 0;
	other = fork();
	if (other == 0) {
		pause();
		_exit(0);
	}
	for (size_t i = 0; i < sizeof(attempts) / sizeof(*attempts); i++)
		check(&attempts[i]);
	ok(try_with_sockets(try_path) == 0, "possible: a UNIX socket in a folder for them");
	ok(try_with_sockets(try_remove) == 0, "possible: replacing one");
	ok(try_with_sockets(try_make) == EACCES || !has_landlock, "refused: another file there");
	ok(try_with_calls(try_watch) == 0, "possible: watching folders where that is wanted");
	ok(try_with_calls(try_visit) == EINVAL, "possible: entering a network namespace");
	ok(try_with_calls(try_setns) == EPERM, "refused: those of any kind");
	check_convention();
	ok(waitpid(other, NULL, WNOHANG) == 0, "the process outside lives");
	kill(other, SIGKILL);
	unlink(made);
	unlink(inside);
	unlink(outside);
	rmdir(folder);
	return done_testing();
}

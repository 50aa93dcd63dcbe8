/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rights.c - the rights of the process once it serves
 *
 * Capabilities: those of `setcap` survive the change of user, all others are lost with it.
 * Programs: unless `insecure-fork-wanted` or -dI asks for it, the kernel forbids running programs
 * (Landlock), for this thread and all that it will start, and users other than root may start no
 * process. Without Landlock both are done by a filter of system calls (seccomp), which costs some
 * 80 ns per call.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/spawn.h"
#include "landlock.h"
#include "process_priv.h"

/* --- capabilities ----------------------------------------------------------------------------- */

static const struct {
	const char *name;
	unsigned bit;
} known[] = {
	{ "cap_net_raw", CAP_NET_RAW }, { "cap_net_admin", CAP_NET_ADMIN },
	{ "cap_net_bind_service", CAP_NET_BIND_SERVICE }, { "cap_sys_admin", CAP_SYS_ADMIN },
};

bool rights_parse(const char *text, uint64_t *caps, const char **bad, size_t *bad_len)
{
	while (*text) {
		size_t len = strcspn(text, ","), i = 0, n = sizeof(known) / sizeof(*known);

		while (i < n && (strlen(known[i].name) != len ||
				 strncmp(known[i].name, text, len) != 0))
			i++;
		if (i == n) {
			*bad = text;
			*bad_len = len;
			return false;
		}
		*caps |= (uint64_t)1 << known[i].bit;
		text += len + (text[len] == ',');
	}
	return true;
}

static bool are_given_up;

/* One line into a file of /proc/self: the numbers of its user or group in a name space. */
static void map_self(const char *file, const char *line)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, line, strlen(line));
	close(fd);
}

bool rights_go_apart(void)
{
	unsigned uid = geteuid(), gid = getegid();
	char line[40];

	if (unshare(CLONE_NEWUSER) < 0)
		return false;
	/* the user and group that it has, it may still be asked to have */
	snprintf(line, sizeof(line), "%u %u 1", uid, uid);
	map_self("/proc/self/uid_map", line);
	map_self("/proc/self/setgroups", "deny");
	snprintf(line, sizeof(line), "%u %u 1", gid, gid);
	map_self("/proc/self/gid_map", line);
	return true;
}

bool rights_give_up(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	are_given_up = true;
	return syscall(SYS_capset, &header, data) == 0;
}

/* What the process has of <caps> becomes its effective capabilities, beside <others> of these. */
static bool put_in_force(uint64_t caps, bool others)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	for (int i = 0; i < 2; i++) {
		uint32_t has = data[i].permitted & (uint32_t)(caps >> (32 * i));

		data[i].effective = others ? data[i].effective | has : has;
		if (!others) {
			data[i].permitted = has;
			data[i].inheritable = 0;
		}
	}
	header.version = _LINUX_CAPABILITY_VERSION_3;
	return syscall(SYS_capset, &header, data) == 0;
}

void rights_raise(uint64_t caps)
{
	if (caps && geteuid() != 0)
		put_in_force(caps, true);
}

uint64_t rights_in_force(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) < 0)
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

bool rights_reach_net(uint64_t caps)
{
	return caps & ((uint64_t)1 << CAP_NET_RAW | (uint64_t)1 << CAP_NET_ADMIN);
}

bool rights_keep(uint64_t caps)
{
	return !caps || prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0;
}

bool rights_restrict(uint64_t caps)
{
	return !caps || are_given_up || geteuid() == 0 || put_in_force(caps, false);
}

/* --- programs --------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define ARCHITECTURE 0 /* not known here: nothing is refused */
#endif

/* x32's numbers begin there. */
#define OTHER_NUMBERS 0x40000000u
/* The low half of a system call's first argument (these machines are little-endian). */
#define FIRST_ARGUMENT offsetof(struct seccomp_data, args[0])
#define FAIL_WITH(e) (SECCOMP_RET_ERRNO | (e))
#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define GIVE(value) BPF_STMT(BPF_RET | BPF_K, value)
/* When the number is <n>, the next instruction; else the one behind it. */
#define IF_CALL(n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n, 0, 1)

static const struct sock_filter no_programs[] = {
	LOAD(offsetof(struct seccomp_data, arch)),
	/* another convention has other numbers for the same calls: none of this program uses it */
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
	GIVE(FAIL_WITH(ENOSYS)),
	LOAD(offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_NUMBERS, 0, 1),
	GIVE(FAIL_WITH(ENOSYS)),
	IF_CALL(SYS_execve), GIVE(FAIL_WITH(EPERM)),
	IF_CALL(SYS_execveat), GIVE(FAIL_WITH(EPERM)),
#ifdef SYS_fork
	IF_CALL(SYS_fork), GIVE(FAIL_WITH(EAGAIN)),
	IF_CALL(SYS_vfork), GIVE(FAIL_WITH(EAGAIN)),
#endif
	/* its flags are in memory, which cannot be looked at: the library takes clone() instead */
	IF_CALL(SYS_clone3), GIVE(FAIL_WITH(ENOSYS)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
	LOAD(FIRST_ARGUMENT),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
	GIVE(FAIL_WITH(EAGAIN)),
	GIVE(SECCOMP_RET_ALLOW),
};

/* Of sanitizers, where they are linked in: they look for leaks in a process of their own. */
extern void __lsan_do_leak_check(void) __attribute__((weak));

static bool forbid_by_filter(void)
{
	struct sock_fprog program = {
		.len = sizeof(no_programs) / sizeof(*no_programs),
		.filter = (struct sock_filter *)(uintptr_t)no_programs,
	};

	return ARCHITECTURE != 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* Files may still be moved from folder to folder, which Landlock else forbids, too. */
static bool forbid_by_landlock(void)
{
	const struct landlock_rules set = { .files = LANDLOCK_EXECUTE | LANDLOCK_REFER };
	struct landlock_rule anywhere = { .rights = LANDLOCK_REFER };
	int rules;
	bool good;

	if (syscall(SYS_LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_VERSION) < 2)
		return false; /* REFER came with its second version */
	rules = (int)syscall(SYS_LANDLOCK_CREATE_RULESET, &set, sizeof(set.files), 0);
	if (rules < 0)
		return false;
	anywhere.parent = open("/", O_PATH | O_CLOEXEC);
	good = anywhere.parent >= 0 &&
	       syscall(SYS_LANDLOCK_ADD_RULE, rules, LANDLOCK_BELOW_FOLDER, &anywhere, 0) == 0 &&
	       syscall(SYS_LANDLOCK_RESTRICT_SELF, rules, 0) == 0;
	if (anywhere.parent >= 0)
		close(anywhere.parent);
	close(rules);
	return good;
}

void rights_forbid_programs(void)
{
	if (__lsan_do_leak_check)
		return;
	/* without privilege and with insecure-setuid-wanted the kernel takes neither: no harm */
	if (forbid_by_landlock())
		spawn_forbid_processes();
	else
		forbid_by_filter();
}

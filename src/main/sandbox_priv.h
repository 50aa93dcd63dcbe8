/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sandbox_priv.h - words of the kernel that headers of older systems lack: its fixed interface */
#ifndef MAIN_SANDBOX_PRIV_H
#define MAIN_SANDBOX_PRIV_H

#include <linux/audit.h>
#include <stdint.h>
#include <sys/prctl.h>

#if defined(__x86_64__)
#define SANDBOX_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define SANDBOX_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define SANDBOX_ARCHITECTURE 0 /* not known here */
#endif

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
#define TCGETS_REQUEST 0x5401
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_rseq
#ifdef __x86_64__
#define SYS_rseq 334
#else
#define SYS_rseq 293
#endif
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif

/* --- Landlock: the same numbers on all machines */
#define SYS_LANDLOCK_CREATE_RULESET 444
#define SYS_LANDLOCK_ADD_RULE 445
#define SYS_LANDLOCK_RESTRICT_SELF 446
#define LANDLOCK_VERSION 1u

enum {
	LANDLOCK_WRITE_FILE = 1 << 1, LANDLOCK_READ_FILE = 1 << 2, LANDLOCK_READ_DIR = 1 << 3,
	LANDLOCK_REMOVE_FILE = 1 << 5, LANDLOCK_MAKE_REG = 1 << 8, LANDLOCK_MAKE_SOCK = 1 << 9,
	LANDLOCK_FILES_1 = (1 << 13) - 1, /* all of its first version */
	LANDLOCK_REFER = 1 << 13, LANDLOCK_TRUNCATE = 1 << 14, LANDLOCK_IOCTL = 1 << 15,
	LANDLOCK_SIGNALS = 1 << 1,        /* of <scoped> */
};

struct landlock_rules {
	uint64_t files, ports, scoped;
};

struct landlock_rule {
	uint64_t rights;
	int32_t parent;
} __attribute__((packed));

#endif

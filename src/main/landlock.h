/* SPDX-License-Identifier: GPL-2.0-or-later */
/* landlock.h - names and numbers of the Landlock interface (landlock(7)): the headers of the C
 * library may be older than the kernel. The numbers are the same on all machines.
 */
#ifndef MAIN_LANDLOCK_H
#define MAIN_LANDLOCK_H

#include <stdint.h>

#define SYS_LANDLOCK_CREATE_RULESET 444
#define SYS_LANDLOCK_ADD_RULE 445
#define SYS_LANDLOCK_RESTRICT_SELF 446
#define LANDLOCK_VERSION 1u /* a flag: asks for the kernel's version */
#define LANDLOCK_BELOW_FOLDER 1  /* the type of a rule */

enum {
	LANDLOCK_EXECUTE = 1 << 0,
	LANDLOCK_WRITE_FILE = 1 << 1, LANDLOCK_READ_FILE = 1 << 2, LANDLOCK_READ_DIR = 1 << 3,
	LANDLOCK_REMOVE_FILE = 1 << 5, LANDLOCK_MAKE_REG = 1 << 8, LANDLOCK_MAKE_SOCK = 1 << 9,
	LANDLOCK_FILES_1 = (1 << 13) - 1, /* all rights of the first version */
	LANDLOCK_REFER = 1 << 13, LANDLOCK_TRUNCATE = 1 << 14, LANDLOCK_IOCTL = 1 << 15,
	LANDLOCK_SIGNALS = 1 << 1,        /* of <scoped> */
};

/* Rights that are denied unless a rule allows them. */
struct landlock_rules {
	uint64_t files, ports, scoped;
};

/* Rights allowed below a directory. */
struct landlock_rule {
	uint64_t rights;
	int32_t parent;
} __attribute__((packed));

#endif

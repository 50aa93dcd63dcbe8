/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait.h - conditions for the command `wait`, besides time
 *
 * Higher floors register conditions at start-up; the command tests one from time to time, on its
 * session's thread. Manual: management 9.3, wait.
 */
#ifndef CORE_WAIT_H
#define CORE_WAIT_H

enum wait_result {
	WAIT_DONE,   /* the condition holds */
	WAIT_MORE,   /* not yet: *error may tell why, in case the time runs out */
	WAIT_FAILED, /* it will never hold */
	WAIT_WRONG,  /* the argument is missing or wrong: see *error */
};

struct wait_condition {
	const char *name;   /* "srv-removable" */
	const char *syntax, *help;
	enum wait_result (*test)(const char *arg, const char **error);
};

/* Registers <c> (at most 4), which must remain valid. At start-up. */
void wait_add_condition(const struct wait_condition *c);
/* Returns the <i>-th condition, from 0. NULL: after the last. */
const struct wait_condition *wait_condition(unsigned i);
/* Finds a condition by name. NULL: none. */
const struct wait_condition *wait_find_condition(const char *name);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait.h - what the command `wait` may wait for besides time
 *
 * Higher floors tell of their conditions at start-up; the command asks one now and then, on the
 * thread of its session. Manual: management 9.3, wait.
 */
#ifndef CORE_WAIT_H
#define CORE_WAIT_H

enum wait_result {
	WAIT_DONE,   /* it holds */
	WAIT_MORE,   /* not yet: *error may tell why, for when the time is over */
	WAIT_FAILED, /* it never will */
	WAIT_WRONG,  /* the argument is missing or wrong: *error tells */
};

struct wait_condition {
	const char *name;   /* "srv-removable" */
	const char *syntax, *help;
	enum wait_result (*test)(const char *arg, const char **error);
};

/* Makes <c> known (at most 4); it must live on. At start-up. */
void wait_add_condition(const struct wait_condition *c);
/* The <i>th that is known, from 0; NULL behind the last. */
const struct wait_condition *wait_condition(unsigned i);
/* The one of this name, or NULL. */
const struct wait_condition *wait_find_condition(const char *name);

#endif

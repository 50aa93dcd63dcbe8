/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait.h - what the command `wait` may wait for besides time
 *
 * Higher floors tell of one condition each, at start-up; the command asks it now and then, on the
 * thread of its session. Manual: management 9.3, wait.
 */
#ifndef CORE_WAIT_H
#define CORE_WAIT_H

enum wait_result {
	WAIT_DONE,   /* it holds */
	WAIT_MORE,   /* not yet */
	WAIT_FAILED, /* it never will */
	WAIT_WRONG,  /* the argument is missing or wrong: *error tells */
};

struct wait_condition {
	const char *name;   /* "srv-removable" */
	const char *syntax, *help;
	enum wait_result (*test)(const char *arg, const char **error);
};

/* Makes <c> known (there is one for now); it must live on. At start-up. */
void wait_set_condition(const struct wait_condition *c);
/* The one that is known, or NULL. */
const struct wait_condition *wait_get_condition(void);

#endif

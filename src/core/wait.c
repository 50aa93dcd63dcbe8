/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wait.c - what the command `wait` may wait for besides time */
#include "core/wait.h"
#include <stddef.h>

static const struct wait_condition *condition;

void wait_set_condition(const struct wait_condition *c)
{
	condition = c;
}

const struct wait_condition *wait_get_condition(void)
{
	return condition;
}

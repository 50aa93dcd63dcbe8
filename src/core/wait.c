/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wait.c - conditions for the command `wait`, besides time */
#include "core/wait.h"
#include <stddef.h>
#include <string.h>
#include "base/bug.h"

#define CONDITIONS_MAX 4

static const struct wait_condition *conditions[CONDITIONS_MAX];
static unsigned count;

void wait_add_condition(const struct wait_condition *c)
{
	BUG_ON(count == CONDITIONS_MAX);
	conditions[count++] = c;
}

const struct wait_condition *wait_condition(unsigned i)
{
	return i < count ? conditions[i] : NULL;
}

const struct wait_condition *wait_find_condition(const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (strcmp(conditions[i]->name, name) == 0)
			return conditions[i];
	return NULL;
}

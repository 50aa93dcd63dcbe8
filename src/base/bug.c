/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bug.c - message printed for a violated invariant before the process aborts */
#include "base/bug.h"
#include <stdio.h>
#include <stdlib.h>

_Noreturn void bug_report(const char *file, int line, const char *text)
{
	fprintf(stderr, "FATAL: bug condition \"%s\" matched at %s:%d\n", text, file, line);
	abort();
}

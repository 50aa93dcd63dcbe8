/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lint.c - --lint: reads files, runs the rules and the parser, prints the findings */
#include <errno.h>
#include <string.h>
#include "base/diag.h"
#include "lint_priv.h"

void lint_look(struct lint *x)
{
	if (!lint_index(x))
		return;
	lint_dead(x);
	lint_reached(x);
	lint_twice(x);
	lint_patterns(x);
	lint_counters(x);
	lint_running(x);
	lint_secure(x);
}

/* --- files --------------------------------------------------------------------------------- */

/* Each file is one configuration with what it includes; a directory is one, too. */
static bool look_at_file(struct lint *x, const struct tools_host *host, const char *path)
{
	struct diag_list diags;

	source_init(&x->source);
	if (!source_add_file(&x->source, path)) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return false;
	}
	lint_look(x);
	diag_list_init(&diags);
	host->check(path, NULL, &diags, false);
	lint_add_diagnostics(x, &diags);
	diag_list_fini(&diags);
	lint_settle(x);
	return true;
}

int lint_run(const struct tools_host *host, const char *const *paths, int count,
	     enum tools_output output)
{
	int status = 0;

	for (int i = 0; i < count; i++) {
		struct lint x = { .count = 0 };

		if (!look_at_file(&x, host, paths[i])) {
			status = 2;
		} else {
			lint_print(&x, output, stdout);
			for (int k = 0; k < x.count && !status; k++)
				status = lint_rules[x.findings[k].id].level != LINT_NOTE;
		}
		lint_fini(&x);
	}
	return status;
}

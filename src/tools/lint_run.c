/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lint_run.c - settings that hurt in operation: timeouts, servers, limits, logs */
#include <stdlib.h>
#include <string.h>
#include "lint_priv.h"

/* --- timeouts ------------------------------------------------------------------------------ */

static void look_at_timeout(struct lint *x, const struct source_line *l)
{
	const char *value = source_word(l, 2);

	if (!source_begins(l, "timeout") || *value == '\0' || strspn(value, "0") == 0)
		return;
	if (strspn(value, "0") + strspn(value + strspn(value, "0"), "usmhd") == strlen(value))
		lint_say(x, LINT_TIMEOUT_INFINITE, l, 2, "0 is no timeout at all");
}

static bool is_open_to_clients(const struct lint *x, int section)
{
	for (int i = lint_next(x, section, section); i >= 0; i = lint_next(x, section, i)) {
		const struct source_line *l = &x->source.lines[i];

		if (source_begins(l, "bind") && !lint_is_local(source_word(l, 1)))
			return true;
	}
	return false;
}

static void look_at_clients(struct lint *x, int section)
{
	const struct source_line *l = &x->source.lines[section];

	if (lint_is_http(x, section) && is_open_to_clients(x, section) &&
	    lint_setting(x, section, "timeout client") &&
	    !lint_setting(x, section, "timeout http-request"))
		lint_say(x, LINT_NO_REQUEST_TIMEOUT, l, 1,
			 "'%s' waits for a whole request as long as "
			 "`timeout client` after every byte",
			 source_word(l, 1));
}

/* --- servers ------------------------------------------------------------------------------- */

struct servers {
	int all, checked, backup;
	const struct source_line *unchecked;
};

static struct servers count_servers(const struct lint *x, int section)
{
	struct servers n = { 0 };

	for (int i = lint_next(x, section, section); i >= 0; i = lint_next(x, section, i)) {
		const struct source_line *l = &x->source.lines[i];

		if (!source_begins(l, "server"))
			continue;
		n.all++;
		n.backup += lint_word(l, "backup") > 0;
		if (lint_word(l, "check") > 0 || lint_word(l, "agent-check") > 0 ||
		    lint_word(l, "track") > 0 || lint_word(l, "disabled") > 0)
			n.checked++;
		else
			n.unchecked = l;
	}
	return n;
}

static void look_at_servers(struct lint *x, int section)
{
	const struct source_line *defaults = lint_setting(x, section, "default-server");
	struct servers n = count_servers(x, section);

	if (n.checked && n.unchecked && !(defaults && lint_word(defaults, "check") > 0))
		lint_say(x, LINT_PARTLY_CHECKED, n.unchecked, 1,
			 "server '%s' is not checked, others of its backend are",
			 source_word(n.unchecked, 1));
	if (n.all && n.backup == n.all)
		lint_say(x, LINT_ONLY_BACKUP, &x->source.lines[section], 1,
			 "all servers of '%s' are backups",
			 source_word(&x->source.lines[section], 1));
}

/* --- limits -------------------------------------------------------------------------------- */

static const struct source_line *global_line(const struct lint *x, const char *words)
{
	const struct source_line *found = NULL;

	for (int s = lint_next_section(x, -1); s >= 0; s = lint_next_section(x, s))
		for (int i = lint_is(x, s, "global") ? lint_next(x, s, s) : -1; i >= 0;
		     i = lint_next(x, s, i))
			if (source_begins(&x->source.lines[i], words))
				found = &x->source.lines[i];
	return found;
}

static void look_at_maxconn(struct lint *x, const struct source_line *l,
			    const struct source_line *global)
{
	long limit = global ? strtol(source_word(global, 1), NULL, 10) : 0;

	if (global && l != global && limit > 0 &&
	    lint_is(x, l->section, "frontend listen defaults") &&
	    strtol(source_word(l, 1), NULL, 10) > limit)
		lint_say(x, LINT_MAXCONN_ABOVE, l, 1,
			 "the process takes %ld connections at most (line "
			 "%d)",
			 limit, global->number);
}

/* --- logs ---------------------------------------------------------------------------------- */

/* What sections global say. */
struct process {
	const struct source_line *maxconn, *daemon; /* NULL: they do not say it */
	bool logs; /* there is a target, or a line that cannot be read */
};

/* In global or in a section itself: is there a target? */
static bool has_target(const struct lint *x)
{
	for (int i = 0; i < x->source.count; i++) {
		const struct source_line *l = &x->source.lines[i];

		if (l->kind == SOURCE_BROKEN ||
		    (l->kind == SOURCE_KEYWORD && source_begins(l, "log") &&
		     lint_is(x, l->section, "global")))
			return true;
	}
	return false;
}

static void look_at_log(struct lint *x, const struct source_line *l, const struct process *p)
{
	const char *target = source_word(l, 1);

	if (strcmp(target, "global") == 0 && !p->logs)
		lint_say(x, LINT_LOG_NOWHERE, l, 1,
			 "section `global` has no `log` line: nothing is logged");
	if ((strcmp(target, "stdout") == 0 || strcmp(target, "stderr") == 0) &&
	    p->daemon)
		lint_say(x, LINT_LOG_DAEMON, l, 1, "a daemon has no %s: these lines are lost",
			 target);
}

static void look_at_format(struct lint *x, int section)
{
	if (lint_is_http(x, section) && lint_setting(x, section, "log") &&
	    !lint_setting(x, section, "option httplog") &&
	    !lint_setting(x, section, "option tcplog") &&
	    !lint_setting(x, section, "option httpslog") && !lint_setting(x, section, "log-format"))
		lint_say(x, LINT_LOG_NO_HTTP, &x->source.lines[section], 1,
			 "'%s' logs connections only, not requests",
			 source_word(&x->source.lines[section], 1));
}

void lint_running(struct lint *x)
{
	const struct process p = {
		.maxconn = global_line(x, "maxconn"),
		.daemon = global_line(x, "daemon"),
		.logs = has_target(x),
	};

	for (int i = 0; i < x->source.count; i++) {
		const struct source_line *l = &x->source.lines[i];

		if (l->kind == SOURCE_SECTION) {
			if (lint_is(x, i, "frontend listen")) {
				look_at_clients(x, i);
				look_at_format(x, i);
			}
			if (lint_is(x, i, "backend listen"))
				look_at_servers(x, i);
		} else if (l->kind == SOURCE_KEYWORD) {
			look_at_timeout(x, l);
			if (source_begins(l, "maxconn"))
				look_at_maxconn(x, l, p.maxconn);
			if (source_begins(l, "log"))
				look_at_log(x, l, &p);
		}
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* how diagnostics are printed: the forms that scripts know, the source line, the hint */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/diag.h"
#include "tap.h"

/* Prints and empties the list; to be free()d. The process number becomes P. */
static char *print_all(struct diag_list *l, enum diag_level least)
{
	char *text = NULL, pid[32];
	size_t len = 0, pid_len;
	FILE *out = open_memstream(&text, &len);

	diag_print(l, least, out);
	fclose(out);
	diag_list_fini(l);
	pid_len = (size_t)snprintf(pid, sizeof(pid), "(%d)", (int)getpid());
	for (char *at = text; (at = strstr(at, pid)) != NULL; at += 3) {
		memcpy(at, "(P)", 3);
		memmove(at + 3, at + pid_len, strlen(at + pid_len) + 1);
	}
	return text;
}

static void is_printed(struct diag_list *l, enum diag_level least, const char *wanted,
		       const char *what)
{
	char *text = print_all(l, least);

	is_str(text, wanted, "%s", what);
	free(text);
}

static void check_levels(void)
{
	struct diag_list l;

	diag_list_init(&l);
	diag_add(&l, DIAG_ALERT, NULL, NULL, "a %d", 1);
	diag_add(&l, DIAG_WARNING, NULL, NULL, "w\n");
	diag_add(&l, DIAG_NOTICE, NULL, NULL, "n");
	diag_add(&l, DIAG_DIAG, NULL, NULL, "d");
	is_int(l.alerts, 1, "alerts are counted");
	is_int(l.warnings, 1, "warnings too");
	is_printed(&l, DIAG_DIAG, "[ALERT]    (P) : config : a 1\n[WARNING]  (P) : config : w\n"
		   "[NOTICE]   (P) : config : n\n[DIAG]     (P) : config : d\n", "heads");
	is_int(l.alerts + l.warnings, 0, "and forgotten");
	diag_add(&l, DIAG_NOTICE, NULL, NULL, "n");
	diag_add(&l, DIAG_WARNING, NULL, NULL, "w");
	is_printed(&l, DIAG_WARNING, "[WARNING]  (P) : config : w\n", "the least level");
}

static void check_forms(void)
{
	struct diag_place place = { .file = "f.cfg", .line = 12 };
	struct diag_list l, more;

	diag_list_init(&l);
	diag_add(&l, DIAG_ALERT, &place, NULL, "m");
	place.form = DIAG_TIGHT;
	diag_add(&l, DIAG_ALERT, &place, NULL, "m");
	place.form = DIAG_AT;
	diag_add(&l, DIAG_ALERT, &place, NULL, "m");
	place.form = DIAG_BARE;
	diag_add(&l, DIAG_ALERT, &place, "one\ntwo", "m");
	is_printed(&l, DIAG_ALERT, "[ALERT]    (P) : config : parsing [f.cfg:12] : m\n"
		   "[ALERT]    (P) : config : parsing [f.cfg:12]: m\n"
		   "[ALERT]    (P) : config : [f.cfg:12] : m\n"
		   "[ALERT]    (P) : m\n   | one\n   | two\n", "places and hints");
	diag_list_init(&more);
	diag_add(&l, DIAG_ALERT, NULL, NULL, "1");
	diag_add(&more, DIAG_WARNING, NULL, NULL, "2");
	diag_list_splice(&l, &more);
	is_int(l.alerts + l.warnings, 2, "two lists in one");
	is_int(more.warnings, 0, "the other is empty");
	is_printed(&l, DIAG_ALERT, "[ALERT]    (P) : config : 1\n", "in order");
}

/* The source line and caret for a column of a text. */
static void check_source(const char *text, int column, const char *wanted, const char *what)
{
	struct diag_place place = { .form = DIAG_BARE, .column = column, .text = text };
	struct diag_list l;
	char all[512];

	snprintf(all, sizeof(all), "[ALERT]    (P) : m\n%s", wanted);
	diag_list_init(&l);
	diag_add(&l, DIAG_ALERT, &place, NULL, "m");
	is_printed(&l, DIAG_ALERT, all, what);
}

static void check_sources(void)
{
	char line[301], shown[400];

	check_source("abc def", 5, "  abc def\n      ^\n", "a caret");
	check_source("\t abc def\r\n", 7, "  abc def\n      ^\n", "without indentation");
	check_source("a\tb\x1b[c", 3, "  a b?[c\n    ^\n", "without control characters");
	check_source("abc", 99, "  abc\n     ^\n", "behind the end");
	check_source("   abc", 1, "  abc\n  ^\n", "before the start");
	check_source("abc", 0, "", "no column");
	memset(line, 'y', 300);
	line[300] = '\0';
	snprintf(shown, sizeof(shown), "  %.80s\n  %79s^\n", line, "");
	check_source(line, 80, shown, "the head of a long line");
	snprintf(shown, sizeof(shown), "  ...%.74s...\n  %40s^\n", line, "");
	check_source(line, 81, shown, "a window of a long line");
}

static void check_banner(void)
{
	struct diag_list l;

	diag_list_init(&l);
	diag_set_banner("3.2.0", "/bin/x");
	diag_add(&l, DIAG_NOTICE, NULL, NULL, "n");
	diag_add(&l, DIAG_WARNING, NULL, NULL, "w");
	diag_add(&l, DIAG_ALERT, NULL, NULL, "a");
	is_printed(&l, DIAG_NOTICE, "[NOTICE]   (P) : config : n\n"
		   "[NOTICE]   (P) : haproxy version is 3.2.0\n"
		   "[NOTICE]   (P) : path to executable is /bin/x\n"
		   "[WARNING]  (P) : config : w\n[ALERT]    (P) : config : a\n",
		   "the banner stands before the first problem, once");
}

int main(void)
{
	check_levels();
	check_forms();
	check_sources();
	check_banner();
	return done_testing();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lint_findings.c - findings of --lint: of rules or the parser, ignored, sorted */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/diag.h"
#include "lint_priv.h"

static struct lint_finding *finding_new(struct lint *x, enum lint_id id)
{
	if (x->count == x->room) {
		int room = x->room * 2 + 64;
		struct lint_finding *all = realloc(x->findings, (size_t)room * sizeof(*all));

		if (!all)
			return NULL;
		x->findings = all;
		x->room = room;
	}
	x->findings[x->count] = (struct lint_finding){ .id = id, .at = -1 };
	return &x->findings[x->count++];
}

static char *copy(struct lint *x, const char *text)
{
	return text ? arena_printf(&x->source.arena, "%s", text) : NULL;
}

void lint_say(struct lint *x, enum lint_id id, const struct source_line *l, int word,
	      const char *fmt, ...)
{
	struct lint_finding *f = finding_new(x, id);
	char text[512];
	va_list ap;

	if (!f)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	f->message = copy(x, text);
	f->at = (int)(l - x->source.lines);
	f->file = l->file;
	f->line = l->number;
	if (word >= 0 && word < l->count) {
		f->column = l->words[word].at + 1;
		f->length = l->words[word].end - l->words[word].at;
	}
}

/* --- the parser's words -------------------------------------------------------------------- */

static enum lint_id id_of(enum diag_level level)
{
	return level == DIAG_ALERT     ? LINT_PARSER_ERROR
	       : level == DIAG_WARNING ? LINT_PARSER_WARNING
				       : LINT_PARSER_DIAGNOSTIC;
}

/* Sums at the end of a file or of all. */
static bool says_nothing(const struct diag *d)
{
	return !d->message || strncmp(d->message, "Error(s) found in ", 18) == 0 ||
	       strncmp(d->message, "Fatal errors found", 18) == 0;
}

/* "Proxy 'NAME': ...", "frontend 'NAME' ..." without a place: that of the section. */
static void find_place(const struct lint *x, struct lint_finding *f)
{
	const char *open = strchr(f->message, '\''), *close = open ? strchr(open + 1, '\'') : NULL;

	for (int i = lint_next_section(x, -1); close && i >= 0; i = lint_next_section(x, i)) {
		const struct source_line *l = &x->source.lines[i];
		const char *name = source_word(l, 1);
		size_t len = (size_t)(close - open - 1);

		if (l->count > 1 && strncmp(name, open + 1, len) == 0 && !name[len]) {
			f->at = i;
			f->file = l->file;
			f->line = l->number;
			f->column = l->words[1].at + 1;
			f->length = l->words[1].end - l->words[1].at;
			return;
		}
	}
}

/* Of which lines has a rule told what the parser warns of, too? One for each line; NULL: of none,
 * or no memory.
 */
static bool *told_lines(const struct lint *x)
{
	bool *told = calloc((size_t)x->source.count + 1, sizeof(*told));

	for (int i = 0; told && i < x->count; i++)
		if (x->findings[i].id == LINT_RULE_AFTER_FINAL ||
		    x->findings[i].id == LINT_ACL_SHADOWS)
			told[x->findings[i].at] = true;
	return told;
}

void lint_add_diagnostics(struct lint *x, const struct diag_list *diags)
{
	const struct diag *d;
	bool *told = told_lines(x);

	list_for_each(d, &diags->diags, link)
	{
		int at = d->file ? lint_line_at(x, d->file, d->line) : -1;
		struct lint_finding *f;

		/* (what -dD tells of no line is of the machine) */
		if (d->level == DIAG_DEBUG || says_nothing(d) ||
		    (d->level == DIAG_DIAG && !d->file) ||
		    (d->level == DIAG_WARNING && at >= 0 && told && told[at]))
			continue;
		f = finding_new(x, id_of(d->level));
		if (!f)
			break;
		f->at = at;
		f->file = copy(x, d->file);
		f->line = d->line;
		f->column = d->column;
		f->message = copy(x, d->message);
		f->hint = copy(x, d->hint);
		if (!f->file && f->message)
			find_place(x, f);
	}
	free(told);
}

/* --- what is ignored, and in which order ----------------------------------------------------- */

/* Does a comment "# lint: ignore ID..." stand on the line, or alone above it? No ID: all. */
static bool comment_ignores(const struct source_line *l, const char *id)
{
	struct slice text =
		l->comment < 0 ? slice_none() : slice_sub(l->raw, (size_t)l->comment, l->raw.len);
	size_t at = slice_find(text, SLICE("lint: ignore"));
	char ids[256];

	if (at == SIZE_MAX)
		return false;
	slice_copy(slice_trim(slice_sub(text, at + 12, text.len)), ids, sizeof(ids));
	return !*ids || lint_names(ids, id);
}

static bool is_ignored(const struct lint *x, const struct lint_finding *f)
{
	const struct source_line *l = &x->source.lines[f->at < 0 ? 0 : f->at];
	const char *id = lint_rules[f->id].id;

	if (f->at < 0 || f->id == LINT_PARSER_ERROR)
		return false;
	return comment_ignores(l, id) || (f->at > 0 && l[-1].kind == SOURCE_COMMENT &&
					  comment_ignores(&l[-1], id));
}

static int compare_findings(const void *a, const void *b)
{
	const struct lint_finding *f = a, *g = b;
	int files = f->file == g->file
			    ? 0
			    : strcmp(f->file ? f->file : "", g->file ? g->file : "");

	if (files)
		return files;
	return f->line != g->line	? f->line - g->line
	       : f->column != g->column ? f->column - g->column
					: (int)f->id - (int)g->id;
}

void lint_settle(struct lint *x)
{
	int kept = 0;

	for (int i = 0; i < x->count; i++)
		if (x->findings[i].message && !is_ignored(x, &x->findings[i]))
			x->findings[kept++] = x->findings[i];
	x->count = kept;
	if (kept)
		qsort(x->findings, (size_t)kept, sizeof(*x->findings), compare_findings);
}

void lint_fini(struct lint *x)
{
	free(x->findings);
	free(x->names);
	free(x->sections);
	free(x->places);
	source_fini(&x->source);
}

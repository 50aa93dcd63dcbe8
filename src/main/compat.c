/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compat.c - --compat: the lines of a configuration that meant something else in an older version
 *
 *	conf_watch_lines() -> sections and lines -> each row of compat_rows.c -> stdout
 *
 * The lines are those that count: conditions are evaluated, variables replaced, included files
 * read.
 * -dD uses the same rows to tell where a default is not the one of 3.2.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/diag.h"
#include "compat_priv.h"
#include "dump_priv.h"
#include "options_priv.h"

/* What -dD compares with: the version of long-term support before this one. */
#define COMPAT_DIAG 302

struct compat {
	struct arena arena;
	struct compat_section *sections, **last, *current;
	const struct compat_section *defaults; /* that sections without `from` inherit from */
	struct conf_watch watch;
	bool lost; /* no memory: the answer would not be whole */
};

int compat_version(const char *text)
{
	static const char *const known[] = { "2.0", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6",
					     "2.7", "2.8", "2.9", "3.0", "3.1", "3.2", "3.3" };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strncmp(text, known[i], 3) == 0 && (!text[3] || text[3] == '.'))
			return (text[0] - '0') * 100 + (text[2] - '0');
	return 0;
}

/* --- words ------------------------------------------------------------------------------- */

static bool words_fit(const struct compat_line *l, const char *words, size_t len)
{
	for (int i = 0; i < l->count; i++) {
		size_t part = 0;

		while (part < len && words[part] != ' ')
			part++;
		if (strlen(l->words[i]) != part || strncmp(l->words[i], words, part) != 0)
			return false;
		if (part == len)
			return true;
		words += part + 1;
		len -= part + 1;
	}
	return false;
}

bool compat_line_is(const struct compat_line *l, const char *alternatives)
{
	while (*alternatives) {
		size_t len = strcspn(alternatives, "|");

		if (*alternatives == '*' || words_fit(l, alternatives, len))
			return true;
		alternatives += len + (alternatives[len] == '|');
	}
	return false;
}

bool compat_line_has(const struct compat_line *l, int from, const char *word)
{
	for (int i = from; i < l->count; i++)
		if (strcmp(l->words[i], word) == 0)
			return true;
	return false;
}

const struct compat_line *compat_says(const struct compat_section *s, const char *alternatives)
{
	const struct compat_line *found = NULL;

	for (; s && !found; s = s->defaults)
		for (const struct compat_line *l = s->first; l; l = l->next)
			if (compat_line_is(l, alternatives))
				found = l;
	return found;
}

const struct compat_line *compat_global(const struct compat_site *at, const char *alternatives)
{
	const struct compat_line *found = NULL;

	for (const struct compat_section *s = at->sections; s; s = s->next)
		if (s->place == IN_GLOBAL && compat_says(s, alternatives))
			found = compat_says(s, alternatives);
	return found;
}

/* --- collecting -------------------------------------------------------------------------- */

static enum compat_place place_of(const char *word)
{
	static const struct {
		const char *name;
		enum compat_place place;
	} kinds[] = { { "global", IN_GLOBAL }, { "defaults", IN_DEFAULTS },
		      { "frontend", IN_FRONTEND }, { "backend", IN_BACKEND },
		      { "listen", IN_LISTEN }, { "ruleset", IN_RULESET } };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(word, kinds[i].name) == 0)
			return kinds[i].place;
	return IN_OTHER;
}

static const char *copy_text(struct compat *c, const char *text)
{
	return arena_copy(&c->arena, slice_make(text, strlen(text))).ptr;
}

static bool fill_line(struct compat *c, struct compat_line *l, const struct conf_seen *seen)
{
	int skip = seen->count > 1 && (strcmp(seen->words[0], "no") == 0 ||
				       strcmp(seen->words[0], "default") == 0);

	l->no = skip;
	l->is_cut = seen->is_cut;
	l->number = seen->line;
	l->file = copy_text(c, seen->file);
	l->words = arena_zalloc(&c->arena, ((size_t)seen->count + 1) * sizeof(*l->words));
	if (!l->words || !l->file)
		return false;
	for (int i = skip; i < seen->count; i++) {
		l->words[l->count] = copy_text(c, seen->words[i]);
		if (!l->words[l->count++])
			return false;
	}
	return true;
}

/* "from NAME", else the anonymous or last section `defaults` above. */
static const struct compat_section *find_defaults(const struct compat *c,
						  const struct compat_line *opening)
{
	const char *name = NULL;

	for (int i = 1; i + 1 < opening->count; i++)
		if (strcmp(opening->words[i], "from") == 0)
			name = opening->words[i + 1];
	if (!name)
		return c->defaults;
	for (const struct compat_section *s = c->sections; s; s = s->next)
		if (s->place == IN_DEFAULTS && s->opening.count > 1 &&
		    strcmp(s->opening.words[1], name) == 0)
			return s;
	return NULL;
}

static bool open_section(struct compat *c, const struct conf_seen *seen)
{
	struct compat_section *s = arena_zalloc(&c->arena, sizeof(*s));

	if (!s || !fill_line(c, &s->opening, seen))
		return false;
	s->place = place_of(s->opening.words[0]);
	s->last = &s->first;
	if (s->place == IN_DEFAULTS) {
		/* it inherits only where it says from which one */
		if (compat_line_has(&s->opening, 1, "from"))
			s->defaults = find_defaults(c, &s->opening);
		c->defaults = s;
	} else if (s->place & (IN_FE | IN_BE)) {
		s->defaults = find_defaults(c, &s->opening);
	}
	*c->last = s;
	c->last = &s->next;
	c->current = s;
	return true;
}

static void see_line(void *data, const struct conf_seen *seen)
{
	struct compat *c = data;
	struct compat_line *l;

	if (conf_is_own_text(seen->file))
		return;
	if (seen->opens) {
		c->lost |= !open_section(c, seen);
		return;
	}
	if (!c->current)
		return;
	l = arena_zalloc(&c->arena, sizeof(*l));
	if (!l || !fill_line(c, l, seen)) {
		c->lost = true;
		return;
	}
	*c->current->last = l;
	c->current->last = &l->next;
}

struct compat *compat_begin(struct config *cfg, const struct main_options *o)
{
	struct compat *c;

	if (!o->compat_version && !o->diagnostics)
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	arena_init(&c->arena, 16384);
	c->last = &c->sections;
	c->watch = (struct conf_watch){ .line = see_line, .data = c };
	conf_watch_lines(cfg, &c->watch);
	return c;
}

/* --- answering --------------------------------------------------------------------------- */

struct answer {
	const struct main_options *o;
	struct diag_list *diags;
	int version, count;
};

static void print_version(const struct compat_row *row)
{
	if (row->before && row->before + 1 < row->since)
		printf("between %d.%d and %d.%d", row->before / 100, row->before % 100,
		       row->since / 100, row->since % 100);
	else
		printf("since %d.%d", row->since / 100, row->since % 100);
}

static void print_site(const struct compat_row *row, const struct compat_site *at)
{
	const struct compat_line *l = at->line;

	printf("%s:%d: ", l->file, l->number);
	print_version(row);
	printf(" [%s]%s", row->name, l->no ? " no" : "");
	for (int i = 0; i < l->count && i < 4; i++)
		printf(" %s", l->words[i]);
	printf("%s\n    was:  %s\n    is:   %s\n", l->count > 4 ? " ..." : "", row->was, row->is);
	if (row->keep)
		printf("    keep: %s\n", row->keep);
}

static void answer(struct answer *a, const struct compat_row *row, const struct compat_site *at)
{
	struct diag_place place = { .form = DIAG_PARSING, .file = at->line->file,
				    .line = at->line->number };

	if (row->applies && !row->applies(at))
		return;
	a->count++;
	if (a->o->compat_version)
		print_site(row, at);
	if (a->o->diagnostics && row->kind == COMPAT_DEFAULT && row->since > COMPAT_DIAG)
		diag_add(a->diags, DIAG_DIAG, &place, NULL, "%s, since %d.%d. Before: %s.%s%s%s",
			 row->is, row->since / 100, row->since % 100, row->was,
			 row->keep ? " '" : "", row->keep ? row->keep : "",
			 row->keep ? "' keeps that." : "");
}

/* The lines of a section come in their order, the section's own first. */
static void judge_line(struct answer *a, struct compat_site *at, bool is_opening)
{
	for (const struct compat_row *row = compat_rows; row->name; row++) {
		if (row->since <= a->version || !(row->places & at->section->place))
			continue;
		if (is_opening ? !row->lines : row->lines && compat_line_is(at->line, row->lines))
			answer(a, row, at);
	}
}

static void judge(struct compat *c, struct answer *a)
{
	struct compat_site at = { .sections = c->sections };

	for (const struct compat_section *s = c->sections; s; s = s->next) {
		at.section = s;
		at.line = &s->opening;
		judge_line(a, &at, true);
		for (const struct compat_line *l = s->first; l; l = l->next) {
			at.line = l;
			judge_line(a, &at, false);
		}
	}
}

void compat_end(struct compat *c, struct config *cfg, const struct main_options *o,
		struct diag_list *diags)
{
	struct answer a = { .o = o, .diags = diags,
			    .version = o->compat_version ? o->compat_version : COMPAT_DIAG };

	if (!c)
		return;
	conf_watch_lines(cfg, NULL);
	if (c->lost)
		diag_add(diags, DIAG_ALERT, NULL, NULL, "out of memory for --compat.");
	judge(c, &a);
	if (o->compat_version)
		printf("%d meaning%s changed since %d.%d.\n", a.count, a.count == 1 ? "" : "s",
		       a.version / 100, a.version % 100);
	arena_fini(&c->arena);
	free(c);
}

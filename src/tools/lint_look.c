/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lint_look.c - questions of --lint about lines and sections */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "lint_priv.h"

int lint_next(const struct lint *x, int section, int i)
{
	while (++i < x->source.count) {
		const struct source_line *l = &x->source.lines[i];

		if (l->section != section)
			return -1;
		if (l->kind == SOURCE_KEYWORD)
			return i;
	}
	return -1;
}

int lint_next_section(const struct lint *x, int i)
{
	if (!x->sections || !x->source.count)
		return -1;
	if (i < 0 && x->source.lines[0].kind == SOURCE_SECTION)
		return 0;
	return x->sections[i < 0 ? 0 : i].next;
}

bool lint_is(const struct lint *x, int section, const char *names)
{
	return section >= 0 && lint_names(names, source_word(&x->source.lines[section], 0));
}

/* The defaults that stand behind a section; -1: none. */
static int defaults_of(const struct lint *x, int section)
{
	const char *from = lint_value(&x->source.lines[section], "from");
	bool is_proxy = lint_is(x, section, "frontend listen backend");

	if (!from && !is_proxy)
		return -1;
	section = x->sections[section].defaults;
	while (section >= 0 && from && strcmp(source_word(&x->source.lines[section], 1), from) != 0)
		section = x->sections[section].defaults;
	return section;
}

const struct source_line *lint_setting(const struct lint *x, int section, const char *words)
{
	for (int hops = 0; section >= 0 && hops < 16; hops++) {
		const struct source_line *found = NULL;

		for (int i = lint_next(x, section, section); i >= 0; i = lint_next(x, section, i))
			if (source_begins(&x->source.lines[i], words))
				found = &x->source.lines[i];
		if (found)
			return found;
		section = defaults_of(x, section);
	}
	return NULL;
}

bool lint_is_http(const struct lint *x, int section)
{
	const struct source_line *mode = lint_setting(x, section, "mode");

	return mode && strcmp(source_word(mode, 1), "http") == 0;
}

/* --- names --------------------------------------------------------------------------------- */

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.' || c == ':';
}

bool lint_names(const char *text, const char *name)
{
	size_t len = strlen(name);

	if (!len)
		return false;
	for (const char *at = text; (at = strchr(at, *name)) != NULL; at++)
		if ((at == text || !is_name_char(at[-1])) && strncmp(at, name, len) == 0 &&
		    !is_name_char(at[len]))
			return true;
	return false;
}

/* --- the index ----------------------------------------------------------------------------- */

static bool note(struct lint *x, const char *name, size_t len, int line, int word)
{
	if (x->name_count == x->name_room) {
		size_t room = x->name_room * 2 + 1024;
		struct lint_name *names = realloc(x->names, room * sizeof(*names));

		if (!names)
			return false;
		x->names = names;
		x->name_room = room;
	}
	x->names[x->name_count++] =
		(struct lint_name){ .hash = hash_bytes(name, len, 0), .line = line, .word = word };
	return true;
}

static inline int compare_names(const struct lint_name *m, const struct lint_name *n)
{
	if (m->hash != n->hash)
		return m->hash < n->hash ? -1 : 1;
	return m->line != n->line ? m->line - n->line : m->word - n->word;
}

/* The names of "stable:95 canary:5", whose weights are parts of the words. */
static bool note_shares(struct lint *x, const struct source_line *l, int line)
{
	bool good = true;

	for (int w = 1; w < l->count && good; w++) {
		const char *colon = strrchr(l->words[w].text, ':');

		if (colon)
			good = note(x, l->words[w].text, (size_t)(colon - l->words[w].text), line,
				    w);
	}
	return good;
}

static void note_sections(struct lint *x)
{
	int next = -1, defaults = -1;

	for (int i = x->source.count - 1; i >= 0; i--) {
		x->sections[i].next = next;
		if (x->source.lines[i].kind == SOURCE_SECTION)
			next = i;
	}
	for (int i = 0; i < x->source.count; i++) {
		x->sections[i].defaults = defaults;
		if (x->source.lines[i].kind == SOURCE_SECTION && lint_is(x, i, "defaults"))
			defaults = i;
	}
}

static int compare_to_place(const struct source_line *l, const char *file, int number)
{
	int files = l->file == file ? 0 : strcmp(l->file, file);

	return files ? files : l->number - number;
}

static int compare_places(const void *a, const void *b, void *lines)
{
	const struct source_line *l = (const struct source_line *)lines + *(const int *)a;
	const struct source_line *m = (const struct source_line *)lines + *(const int *)b;
	int order = compare_to_place(l, m->file, m->number);

	/* a file may be read twice: the first one counts */
	return order ? order : *(const int *)a - *(const int *)b;
}

static bool note_lines(struct lint *x)
{
	size_t count = (size_t)x->source.count;

	x->sections = malloc((count + 1) * sizeof(*x->sections));
	x->places = malloc((count + 1) * sizeof(*x->places));
	if (!x->sections || !x->places)
		return false;
	note_sections(x);
	for (int i = 0; i < x->source.count; i++)
		x->places[i] = i;
	if (count)
		qsort_r(x->places, count, sizeof(*x->places), compare_places, x->source.lines);
	return true;
}

int lint_line_at(const struct lint *x, const char *file, int number)
{
	int low = 0, high = x->places ? x->source.count : 0;

	while (low < high) {
		int middle = (low + high) / 2;

		if (compare_to_place(&x->source.lines[x->places[middle]], file, number) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (!x->places || low == x->source.count ||
	    compare_to_place(&x->source.lines[x->places[low]], file, number) != 0)
		return -1;
	return x->places[low];
}

/* By hash, which spreads them well: each is put near its place at once. */
static bool sort_names(struct lint *x)
{
	unsigned bits = 1;
	size_t *places;
	struct lint_name *sorted;

	while (bits < 20 && (size_t)1 << bits < x->name_count)
		bits++;
	places = calloc(((size_t)1 << bits) + 1, sizeof(*places));
	sorted = malloc((x->name_count + 1) * sizeof(*sorted));
	for (size_t i = 0; places && i < x->name_count; i++)
		places[(x->names[i].hash >> (64 - bits)) + 1]++;
	for (size_t i = 0; places && i < (size_t)1 << bits; i++)
		places[i + 1] += places[i];
	for (size_t i = 0; places && sorted && i < x->name_count; i++)
		sorted[places[x->names[i].hash >> (64 - bits)]++] = x->names[i];
	free(places);
	if (!places || !sorted) {
		free(sorted);
		return false;
	}
	for (size_t i = 1; i < x->name_count; i++) {
		struct lint_name n = sorted[i];
		size_t at = i;

		for (; at && compare_names(&n, &sorted[at - 1]) < 0; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = n;
	}
	free(x->names);
	x->names = sorted;
	x->name_room = x->name_count + 1;
	return true;
}

bool lint_index(struct lint *x)
{
	bool good = note_lines(x);

	for (int i = 0; good && i < x->source.count; i++) {
		const struct source_line *l = &x->source.lines[i];

		if (l->kind == SOURCE_DIRECTIVE)
			continue;
		if (source_begins(l, "use_backends"))
			good = note_shares(x, l, i) && good;
		for (int w = l->kind == SOURCE_SECTION ? 2 : 1; w < l->count; w++) {
			const char *at = l->words[w].text;

			while (good && *at) {
				size_t len = 0;

				while (is_name_char(at[len]))
					len++;
				if (len)
					good = note(x, at, len, i, w);
				at += len ? len : 1;
			}
		}
	}
	return sort_names(x) && good;
}

const struct lint_name *lint_first_use(const struct lint *x, const char *name, int line)
{
	struct lint_name wanted = { .hash = hash_bytes(name, strlen(name), 0), .line = line };
	size_t low = 0, high = x->name_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (compare_names(&x->names[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < x->name_count && x->names[low].hash == wanted.hash ? &x->names[low] : NULL;
}

const struct lint_name *lint_next_use(const struct lint *x, const char *name,
				      const struct lint_name *at)
{
	if (!at)
		return lint_first_use(x, name, 0);
	return at + 1 < x->names + x->name_count && at[1].hash == at->hash ? at + 1 : NULL;
}

bool lint_is_used(const struct lint *x, const char *name, int except, int line)
{
	const struct lint_name *at = NULL;

	while ((at = lint_next_use(x, name, at)) != NULL)
		if (at->line != line && (except < 0 || x->source.lines[at->line].section != except))
			return true;
	return false;
}

/* --- words --------------------------------------------------------------------------------- */

int lint_condition(const struct source_line *l)
{
	int i = 1;

	while (i < l->count && strcmp(l->words[i].text, "if") != 0 &&
	       strcmp(l->words[i].text, "unless") != 0)
		i++;
	return i < l->count ? i : l->count;
}

int lint_word(const struct source_line *l, const char *option)
{
	for (int i = 1; i < l->count; i++)
		if (strcmp(l->words[i].text, option) == 0)
			return i;
	return -1;
}

const char *lint_value(const struct source_line *l, const char *option)
{
	int i = lint_word(l, option);

	return i >= 0 && i + 1 < l->count ? l->words[i + 1].text : NULL;
}

bool lint_is_local(const char *address)
{
	static const char *const local[] = {
		"127.",	 "ipv4@127.", "localhost:", "[::1]", "::1:", "ipv6@::1",  "ipv6@[::1]",
		"unix@", "abns@",     "abnsz@",	    "/",     "fd@",  "sockpair@",
	};

	for (size_t i = 0; i < sizeof(local) / sizeof(*local); i++)
		if (strncmp(address, local[i], strlen(local[i])) == 0)
			return true;
	return false;
}

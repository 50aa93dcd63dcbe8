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
	while (++i < x->source.count)
		if (x->source.lines[i].kind == SOURCE_SECTION)
			return i;
	return -1;
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
	for (int i = section - 1; i >= 0; i--)
		if (x->source.lines[i].kind == SOURCE_SECTION && lint_is(x, i, "defaults") &&
		    (!from || strcmp(source_word(&x->source.lines[i], 1), from) == 0))
			return i;
	return -1;
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
	for (const char *at = text; (at = strstr(at, name)) != NULL; at++)
		if ((at == text || !is_name_char(at[-1])) && !is_name_char(at[len]))
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

static int compare_names(const void *a, const void *b)
{
	const struct lint_name *m = a, *n = b;

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

bool lint_index(struct lint *x)
{
	bool good = true;

	for (int i = 0; i < x->source.count; i++) {
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
	if (x->name_count)
		qsort(x->names, x->name_count, sizeof(*x->names), compare_names);
	return good;
}

const struct lint_name *lint_next_use(const struct lint *x, const char *name,
				      const struct lint_name *at)
{
	const struct lint_name *end = x->names + x->name_count;
	uint64_t hash = hash_bytes(name, strlen(name), 0);
	size_t low = 0, high = x->name_count;

	if (at)
		return at + 1 < end && at[1].hash == hash ? at + 1 : NULL;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (x->names[middle].hash < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return low < x->name_count && x->names[low].hash == hash ? &x->names[low] : NULL;
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

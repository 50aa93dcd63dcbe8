/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lsp_vocabulary.c - the keywords of the program, from the modules' tables */
#include <stdlib.h>
#include <string.h>
#include "lsp_priv.h"

#define FIELDS 7

/* Cuts a record into its fields. */
static struct lsp_record record_of(char *line)
{
	const char *fields[FIELDS];

	for (int i = 0; i < FIELDS; i++) {
		fields[i] = line;
		line += strcspn(line, "\t");
		if (*line)
			*line++ = '\0';
	}
	return (struct lsp_record){ fields[0], fields[1], fields[2], fields[3],
				    fields[4], fields[5], fields[6] };
}

bool lsp_vocabulary_read(struct lsp *x)
{
	char *text = NULL, *copy, *save = NULL;
	size_t size = 0, lines = 0;
	FILE *memory = open_memstream(&text, &size);

	arena_init(&x->arena, 1 << 16);
	if (!memory)
		return false;
	x->host->vocabulary(memory);
	fclose(memory);
	copy = (char *)arena_copy(&x->arena, slice_make(text, size)).ptr;
	free(text);
	for (const char *c = copy; c && *c; c++)
		lines += *c == '\n';
	x->words = calloc(lines + 1, sizeof(*x->words));
	if (!copy || !x->words)
		return false;
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		x->words[x->word_count++] = record_of(line);
	return true;
}

bool lsp_lists(const char *list, const char *item)
{
	size_t len = strlen(item);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (strncmp(list, item, len) == 0 && (list[len] == ',' || !list[len]))
			return true;
	return false;
}

/* How many words <name> has if the line begins with them, from word <from> on; else 0. */
static int words_matched(const struct source_line *l, int from, const char *name)
{
	int count = 0;

	while (*name) {
		size_t len = strcspn(name, " ");
		const char *word = source_word(l, from + count);

		if (strlen(word) != len || strncmp(word, name, len) != 0)
			return 0;
		count++;
		name += len;
		name += *name == ' ';
	}
	return count;
}

const struct lsp_record *lsp_keyword(const struct lsp *x, const struct source_line *l,
				     const char *section, int *used)
{
	const struct lsp_record *best = NULL;
	int from =
		strcmp(source_word(l, 0), "no") == 0 || strcmp(source_word(l, 0), "default") == 0;

	*used = 0;
	for (int i = 0; i < x->word_count; i++) {
		const struct lsp_record *r = &x->words[i];
		int count;

		if (strcmp(r->kind, "keyword") != 0 || !lsp_lists(r->where, section))
			continue;
		count = words_matched(l, from, r->name);
		if (count > *used) {
			*used = count;
			best = r;
		}
	}
	*used += best ? from : 0;
	return best;
}

const struct lsp_record *lsp_word(const struct lsp *x, const char *kind, const char *name,
				  size_t len)
{
	for (int i = 0; i < x->word_count; i++)
		if (strcmp(x->words[i].kind, kind) == 0 && strlen(x->words[i].name) == len &&
		    memcmp(x->words[i].name, name, len) == 0)
			return &x->words[i];
	return NULL;
}

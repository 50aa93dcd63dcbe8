/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source.c - a configuration as it is written, for the tools that read files
 *
 * Quotes and escapes follow the same rules as tokens.c, which parses the lines for the program: a
 * test compares the words of both.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/door.h"
#include "base/num.h"
#include "conf/source.h"
#include "conf_priv.h"

/* Files that include one another. */
#define INCLUDES_MAX 16

/* --- words ------------------------------------------------------------------------------- */

struct splitter {
	struct source *s;
	struct source_line *line;
	struct source_word words[CONF_MAX_WORDS + 1];
	char *out; /* where the next byte of a word goes */
	char quote;
	bool open, broken;
};

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static void word_begin(struct splitter *p, int at)
{
	if (p->open)
		return;
	p->open = true;
	p->words[p->line->count].at = at;
	p->words[p->line->count].text = p->out;
}

static void word_put(struct splitter *p, int at, char c)
{
	word_begin(p, at);
	*p->out++ = c;
}

static void word_end(struct splitter *p, int at)
{
	if (!p->open)
		return;
	p->open = false;
	*p->out++ = '\0';
	p->words[p->line->count].end = at;
	if (p->line->count == CONF_MAX_WORDS)
		p->broken = true;
	else
		p->line->count++;
}

/* The backslash at <at>; returns how many bytes it takes. */
static int take_escape(struct splitter *p, int at)
{
	struct slice raw = p->line->raw;
	char next = (size_t)at + 1 < raw.len ? raw.ptr[at + 1] : '\0';
	static const char plain[] = " \t\\#'\"";

	if (next == 'x') {
		if ((size_t)at + 3 >= raw.len || num_hex_digit(raw.ptr[at + 2]) < 0 ||
		    num_hex_digit(raw.ptr[at + 3]) < 0 || memcmp(raw.ptr + at + 2, "00", 2) == 0) {
			p->broken = true;
			return 1;
		}
		word_put(p, at,
			 (char)(num_hex_digit(raw.ptr[at + 2]) * 16 +
				num_hex_digit(raw.ptr[at + 3])));
		return 4;
	}
	if (next && strchr(plain, next))
		word_put(p, at, next);
	else if (next == 'n')
		word_put(p, at, '\n');
	else if (next == 'r')
		word_put(p, at, '\r');
	else if (next == 't')
		word_put(p, at, '\t');
	else if (next == '$' && p->quote == '"')
		word_put(p, at, '$');
	else {
		word_put(p, at, '\\');
		return 1;
	}
	return 2;
}

/* The length of "${NAME-default}" at <at>, whose default value may have quotes; 0: no such thing.
 */
static int braced_len(struct slice raw, int at)
{
	struct slice rest = slice_sub(raw, (size_t)at, raw.len);
	size_t close = slice_find_char(rest, 0, '}'), i = 2;

	if (close == SIZE_MAX || rest.ptr[1] != '{')
		return 0;
	while (i < close &&
	       (rest.ptr[i] == '_' || rest.ptr[i] == '.' || isalnum((unsigned char)rest.ptr[i])))
		i++;
	return rest.ptr[i] == '-' || rest.ptr[i] == '[' ? (int)close + 1 : 0;
}

/* One character or sequence; returns how many bytes it takes. */
static int take_next(struct splitter *p, int at)
{
	char c = p->line->raw.ptr[at];
	int len = c == '$' && p->quote == '"' ? braced_len(p->line->raw, at) : 0;

	for (int i = 0; i < len; i++)
		word_put(p, at, p->line->raw.ptr[at + i]);
	if (len)
		return len;
	if ((c == '"' || c == '\'') && (!p->quote || p->quote == c)) {
		word_begin(p, at);
		p->quote = p->quote ? 0 : c;
		return 1;
	}
	if (c == '\\' && p->quote != '\'')
		return take_escape(p, at);
	if (!p->quote && is_blank(c)) {
		word_end(p, at);
		return 1;
	}
	if (!p->quote && c == '#') {
		p->line->comment = at;
		return (int)p->line->raw.len - at;
	}
	word_put(p, at, c);
	return 1;
}

/* Cuts the line; its words and their texts go to the arena. */
static void split(struct source *s, struct source_line *l)
{
	struct splitter p = { .s = s, .line = l };
	size_t len = l->raw.len;
	int at = 0;

	l->comment = -1;
	p.out = arena_alloc(&s->arena, len * 2 + 2);
	if (!p.out) {
		s->failed = true;
		return;
	}
	while ((size_t)at < len && !p.broken)
		at += take_next(&p, at);
	word_end(&p, l->comment >= 0 ? l->comment : at);
	/* what stands behind a carriage return is not read */
	if (p.quote || p.broken || memchr(l->raw.ptr, '\0', len) || memchr(l->raw.ptr, '\r', len))
		l->kind = SOURCE_BROKEN;
	l->words = arena_alloc(&s->arena, sizeof(*l->words) * ((size_t)l->count + 1));
	if (l->words)
		memcpy(l->words, p.words, sizeof(*l->words) * (size_t)l->count);
	else
		s->failed = true;
}

/* --- lines ------------------------------------------------------------------------------- */

static struct source_line *line_new(struct source *s)
{
	if (s->count == s->room) {
		int room = s->room * 2 + 64;
		struct source_line *lines = realloc(s->lines, (size_t)room * sizeof(*lines));

		if (!lines) {
			s->failed = true;
			return NULL;
		}
		s->lines = lines;
		s->room = room;
	}
	memset(&s->lines[s->count], 0, sizeof(*s->lines));
	return &s->lines[s->count];
}

static enum source_kind kind_of(const struct source_line *l)
{
	if (!l->count)
		return l->comment >= 0 ? SOURCE_COMMENT : SOURCE_BLANK;
	if (l->words[0].text[0] == '.')
		return SOURCE_DIRECTIVE;
	if (conf_section_find(l->words[0].text, NULL) || conf_later_section(l->words[0].text))
		return SOURCE_SECTION;
	return SOURCE_KEYWORD;
}

/* What a directive does to the depth: that of its own line, and of those behind it. */
static void nest(struct source_line *l, int *depth)
{
	const char *word = source_word(l, 0);

	l->depth = *depth;
	if (l->kind != SOURCE_DIRECTIVE)
		return;
	if (strcmp(word, ".if") == 0) {
		++*depth;
	} else if (*depth && (strcmp(word, ".endif") == 0 || strncmp(word, ".el", 3) == 0)) {
		l->depth--;
		*depth -= word[2] == 'n';
	}
}

static bool add_included(struct source *s, const struct source_line *l, int includes);

static void add_line(struct source *s, const char *file, struct slice raw, int number, int *depth)
{
	struct source_line *l = line_new(s);

	if (!l)
		return;
	if (raw.len && raw.ptr[raw.len - 1] == '\r')
		raw.len--;
	*l = (struct source_line){ .file = file, .raw = raw, .number = number };
	split(s, l);
	if (s->failed)
		return;
	if (l->kind != SOURCE_BROKEN)
		l->kind = kind_of(l);
	nest(l, depth);
	if (l->kind == SOURCE_SECTION)
		s->section = s->count;
	l->section = s->section;
	s->count++;
}

/* <includes>: how deep; -1: they are not followed. */
static void add_lines(struct source *s, const char *file, struct slice text, int includes)
{
	struct slice copy = arena_copy(&s->arena, text);
	struct slice name = arena_copy(&s->arena, slice_of(file));
	const char *at = copy.ptr, *end = at + copy.len;
	int number = 0, depth = 0;

	if (!at || !name.ptr)
		s->failed = true;
	while (!s->failed && at < end) {
		const char *feed = memchr(at, '\n', (size_t)(end - at));
		const char *stop = feed ? feed : end;
		int index = s->count;

		add_line(s, name.ptr, slice_make(at, (size_t)(stop - at)), ++number, &depth);
		s->is_truncated |= !feed;
		at = stop + 1;
		if (!s->failed && includes >= 0 && source_begins(&s->lines[index], ".include"))
			add_included(s, &s->lines[index], includes);
	}
}

/* Those that are not there are for the reader to tell of. */
static bool add_included(struct source *s, const struct source_line *l, int includes)
{
	struct conf_texts texts = { 0 };
	bool good = includes < INCLUDES_MAX && l->count > 1 &&
		    conf_texts_include(&texts, l->file, source_word(l, 1), true);

	for (int i = 0; good && i < texts.count; i++) {
		struct slice text = slice_make(texts.all[i].bytes, texts.all[i].len);

		if (s->text_of)
			s->text_of(s->data, texts.all[i].name, &text);
		add_lines(s, texts.all[i].name, text, includes + 1);
	}
	conf_texts_fini(&texts);
	return good;
}

/* --- sources ----------------------------------------------------------------------------- */

void source_init(struct source *s)
{
	memset(s, 0, sizeof(*s));
	arena_init(&s->arena, 1 << 16);
	s->section = -1;
}

void source_fini(struct source *s)
{
	arena_fini(&s->arena);
	free(s->lines);
	memset(s, 0, sizeof(*s));
}

void source_add(struct source *s, const char *file, struct slice text)
{
	s->section = -1;
	add_lines(s, file, text, -1);
}

void source_add_all(struct source *s, const char *file, struct slice text)
{
	s->section = -1;
	add_lines(s, file, text, 0);
}

bool source_add_file(struct source *s, const char *path)
{
	struct conf_texts texts = { 0 };
	struct diag_list lost;

	errno = ENOENT;
	diag_list_init(&lost);
	conf_texts_load(&texts, path, &lost);
	s->failed |= lost.alerts > 0;
	for (int i = 0; i < texts.count && !s->failed; i++) {
		s->section = -1;
		add_lines(s, texts.all[i].name, slice_make(texts.all[i].bytes, texts.all[i].len),
			  0);
	}
	conf_texts_fini(&texts);
	diag_list_fini(&lost);
	return !s->failed;
}

const char *source_word(const struct source_line *l, int i)
{
	return i >= 0 && i < l->count ? l->words[i].text : "";
}

bool source_goes_on(const struct source_line *l, const char *words)
{
	for (int i = 0; *words; i++) {
		const char *word = source_word(l, i);

		while (*word && *word == *words) {
			word++;
			words++;
		}
		if (*word || (*words && *words != ' '))
			return false;
		words += *words == ' ';
	}
	return true;
}

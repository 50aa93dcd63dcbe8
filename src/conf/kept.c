/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kept.c - the lines of a configuration as read, and as shown without their secrets */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/hash.h"
#include "conf/kept.h"
#include "conf_priv.h"

void conf_keep_lines(struct config *cfg)
{
	cfg->state->kept.on = true;
}

const struct conf_kept *conf_kept_first(const struct config *cfg)
{
	return cfg->state->kept.first;
}

const char *conf_kept_word(const struct conf_kept *k, int i)
{
	const char *word = k->words;

	if (i >= k->count)
		return "";
	while (i-- > 0)
		word += strlen(word) + 1;
	return word;
}

void conf_kept_add(struct config *cfg, const struct conf_seen *seen)
{
	struct conf_kept *last = cfg->state->kept.last, *k;
	size_t len = 0, at = 0;

	for (int i = 0; i < seen->count; i++)
		len += strlen(seen->words[i]) + 1;
	k = arena_alloc(&cfg->arena, sizeof(*k) + len);
	if (!k)
		return;
	*k = (struct conf_kept){ .line = seen->line, .count = seen->count, .opens = seen->opens };
	k->file = last && strcmp(last->file, seen->file) == 0 ? last->file
							      : conf_strdup(cfg, seen->file);
	if (!k->file)
		return;
	for (int i = 0; i < seen->count; i++) {
		size_t size = strlen(seen->words[i]) + 1;

		memcpy(k->words + at, seen->words[i], size);
		at += size;
	}
	k->hash = hash_bytes(k->words, len, seen->opens);
	if (last)
		last->next = k;
	else
		cfg->state->kept.first = k;
	cfg->state->kept.last = k;
}

/* --- writing ---------------------------------------------------------------------------------- */

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

static bool needs_quotes(const char *word)
{
	for (const char *p = word; *p; p++)
		if (is_control(*p))
			return true;
	return !*word || strpbrk(word, " #\"'\\$") != NULL;
}

/* A byte of a word that stands in quotes, or needs none. */
static void put_byte(struct strbuf *out, char c)
{
	if (c == '\n' || c == '\r' || c == '\t')
		strbuf_add_str(out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
	else if (is_control(c))
		strbuf_printf(out, "\\x%02x", (unsigned char)c);
	else
		strbuf_printf(out, "%s%c", strchr("\"\\$", c) ? "\\" : "", c);
}

static void put_word(struct strbuf *out, const char *word, const char *mask)
{
	bool quoted = needs_quotes(word);
	size_t len = strlen(word);

	if (len && !memchr(mask, 0, len))
		quoted = false;
	if (quoted)
		strbuf_add_char(out, '"');
	for (size_t i = 0; i < len; i++) {
		if (!mask[i])
			put_byte(out, word[i]);
		else if (!i || !mask[i - 1])
			strbuf_add_str(out, "***");
	}
	if (quoted)
		strbuf_add_char(out, '"');
}

void conf_kept_put(const struct conf_kept *k, struct strbuf *out)
{
	for (int i = 0; i < k->count; i++) {
		const char *word = conf_kept_word(k, i);
		char *mask = malloc(strlen(word) + 1);

		if (i)
			strbuf_add_char(out, ' ');
		if (mask) {
			conf_secrets_mark(k, i, mask);
			put_word(out, word, mask);
		} else {
			strbuf_add_str(out, "***");
		}
		free(mask);
	}
}

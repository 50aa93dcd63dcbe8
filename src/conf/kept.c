/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kept.c - the lines of a configuration that were read, and how they look without their secrets */
#include <string.h>
#include <strings.h>
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

/* --- secrets ---------------------------------------------------------------------------------- */

/* Where the <from>-th byte of the word and what follows it, up to <to>, are not shown. */
struct hidden {
	size_t from, to;
};

static bool is_one_of(const char *word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcasecmp(word, list[i]) == 0)
			return true;
	return false;
}

#define IS_ONE_OF(word, list) is_one_of(word, list, ARRAY_LEN(list))

/* Is it the name of a field or variable whose value is none of everybody's business? */
static bool names_a_secret(const char *word)
{
	static const char *const parts[] = {
		"authorization", "password", "passwd", "secret", "token", "api-key", "apikey",
		"api_key", "access-key", "access_key", "private_key", "cookie",
	};

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (strcasestr(word, parts[i]))
			return true;
	return false;
}

/* Is word <i> a secret as a whole? */
static bool is_secret(const struct conf_kept *k, int i)
{
	static const char *const holders[] = {
		"password", "insecure-password", "dynamic-cookie-key", "anonkey", "cluster-secret",
		"acme-vars", "tcp-md5sig",
	};
	static const char *const setters[] = {
		"set-header", "add-header", "hdr", "header", "setenv", "presetenv",
	};
	const char *before = i ? conf_kept_word(k, i - 1) : "";

	if (IS_ONE_OF(before, holders))
		return true;
	return i > 1 && names_a_secret(before) && IS_ONE_OF(conf_kept_word(k, i - 2), setters) &&
	       strncmp(conf_kept_word(k, i), "%[", 2) != 0;
}

/* The arguments of a converter that has a key: from the first comma on. */
static bool find_key(const char *word, struct hidden *h)
{
	static const char *const converters[] = {
		"hmac(", "jwt_verify(", "aes_gcm_enc(", "aes_gcm_dec(", "aes_cbc_enc(",
		"aes_cbc_dec(", "jwt_decrypt_secret(",
	};

	for (size_t i = 0; i < ARRAY_LEN(converters); i++) {
		const char *at = strstr(word, converters[i]), *end = at ? strchr(at, ')') : NULL;
		const char *comma = at ? strchr(at, ',') : NULL;

		if (!end)
			continue;
		if (strncmp(converters[i], "jwt_decrypt", 11) == 0)
			comma = strchr(at, '(');
		if (!comma || comma >= end)
			continue;
		*h = (struct hidden){ (size_t)(comma + 1 - word), (size_t)(end - word) };
		return true;
	}
	return false;
}

/* A password amid a word. */
static bool find_part(const struct conf_kept *k, int i, struct hidden *h)
{
	const char *word = conf_kept_word(k, i), *scheme = strstr(word, "://"), *at, *colon;

	if (i == 2 && strcmp(conf_kept_word(k, 0), "stats") == 0 &&
	    strcmp(conf_kept_word(k, 1), "auth") == 0) {
		colon = strchr(word, ':');
		*h = (struct hidden){ colon ? (size_t)(colon + 1 - word) : 0, strlen(word) };
		return true;
	}
	if (i && strcmp(conf_kept_word(k, i - 1), "send") == 0 &&
	    (strncasecmp(word, "AUTH ", 5) == 0 || strncasecmp(word, "PASS ", 5) == 0)) {
		*h = (struct hidden){ 5, strlen(word) };
		return true;
	}
	at = scheme ? strchr(scheme, '@') : NULL;
	colon = scheme ? strchr(scheme + 3, ':') : NULL;
	if (at && colon && colon < at && !memchr(scheme + 3, '/', (size_t)(at - scheme - 3))) {
		*h = (struct hidden){ (size_t)(colon + 1 - word), (size_t)(at - word) };
		return true;
	}
	return find_key(word, h);
}

/* --- writing ---------------------------------------------------------------------------------- */

static bool needs_quotes(const char *word)
{
	return !*word || strpbrk(word, " \t\r\n#\"'\\$") != NULL;
}

/* A word, in quotes that leave nothing in it special. */
static void put_word(struct strbuf *out, const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = word[i];

		if (c == '\n' || c == '\r' || c == '\t') {
			strbuf_add_str(out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
			continue;
		}
		if (c == '"' || c == '\\' || c == '$')
			strbuf_add_char(out, '\\');
		strbuf_add_char(out, c);
	}
}

void conf_kept_put(const struct conf_kept *k, struct strbuf *out)
{
	struct hidden h;

	for (int i = 0; i < k->count; i++) {
		const char *word = conf_kept_word(k, i);
		size_t len = strlen(word);
		bool quoted = needs_quotes(word);

		if (i)
			strbuf_add_char(out, ' ');
		if (is_secret(k, i)) {
			strbuf_add_str(out, "***");
			continue;
		}
		if (!find_part(k, i, &h))
			h = (struct hidden){ len, len };
		if (quoted)
			strbuf_add_char(out, '"');
		put_word(out, word, h.from);
		if (h.to > h.from)
			strbuf_add_str(out, "***");
		put_word(out, word + h.to, len - h.to);
		if (quoted)
			strbuf_add_char(out, '"');
	}
}

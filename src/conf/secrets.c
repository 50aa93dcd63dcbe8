/* SPDX-License-Identifier: GPL-2.0-or-later */
/* secrets.c - recognises the secrets in configuration lines
 *
 * Secrets are recognised by their position: an argument of certain keywords, the value of a field
 * or variable with a telling name, the key of a converter, the user of a URL. In doubt a word is
 * secret.
 */
#include <string.h>
#include <strings.h>
#include "base/bug.h"
#include "conf/kept.h"
#include "conf_priv.h"

static bool is_one_of(const char *word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!((*word ^ *list[i]) & ~0x20) && strcasecmp(word, list[i]) == 0)
			return true;
	return false;
}

#define IS_ONE_OF(word, list) is_one_of(word, list, ARRAY_LEN(list))

/* Has the field, variable or argument a name that tells of a secret? */
static bool names_a_secret(const char *name, size_t len)
{
	static const char *const parts[] = {
		"auth", "pass", "secret", "token", "credential", "cookie", "key",
	};

	for (size_t p = 0; p < ARRAY_LEN(parts); p++)
		for (size_t i = 0; i + strlen(parts[p]) <= len; i++)
			if (strncasecmp(name + i, parts[p], strlen(parts[p])) == 0)
				return true;
	return false;
}

static bool is_telling(const char *word)
{
	return names_a_secret(word, strlen(word));
}

/* --- whole words ------------------------------------------------------------------------------ */

static bool ends_rule(const char *word)
{
	static const char *const words[] = { "if", "unless", "{", "!{", "}", "or", "||", "and" };

	return IS_ONE_OF(word, words);
}

/* Does the value come from elsewhere, as a format without constants? */
static bool is_fetched(const char *word)
{
	return strncmp(word, "%[", 2) == 0 && !strstr(word, "str(") && !strstr(word, "bin(");
}

/* Is word <i> what a field, a variable or the environment is given by word <j> and its keyword? */
static bool is_given_by(const struct conf_kept *k, int j)
{
	static const char *const setters[] = {
		"set-header", "add-header", "replace-header", "replace-value", "hdr", "header",
		"setenv", "presetenv",
	};
	const char *word = conf_kept_word(k, j);

	if (strncmp(word, "set-var(", 8) == 0 || strncmp(word, "set-var-fmt(", 12) == 0)
		return is_telling(strchr(word, '('));
	return j > 0 && IS_ONE_OF(conf_kept_word(k, j - 1), setters) && is_telling(word);
}

static bool is_value(const struct conf_kept *k, int i)
{
	if (strcmp(conf_kept_word(k, 0), "capture") == 0 || is_fetched(conf_kept_word(k, i)))
		return false;
	for (int j = i - 1; j > 0 && !ends_rule(conf_kept_word(k, j)); j--)
		if (is_given_by(k, j))
			return true;
	return false;
}

/* Is word <i> a pattern behind a fetch whose argument has a telling name? */
static bool is_pattern(const struct conf_kept *k, int i)
{
	if (conf_kept_word(k, i)[0] == '-' || strcmp(conf_kept_word(k, i - 1), "-m") == 0)
		return false;
	for (int j = i - 1; j > 0 && !ends_rule(conf_kept_word(k, j)); j--) {
		const char *word = conf_kept_word(k, j), *argument = strchr(word, '(');
		const char *before = conf_kept_word(k, j - 1);
		bool is_acl = strcmp(before, "{") == 0 || strcmp(before, "!{") == 0 ||
			      (j == 2 && strcmp(conf_kept_word(k, 0), "acl") == 0);

		if (argument && is_acl && is_telling(argument))
			return true;
	}
	return false;
}

enum conf_secret conf_secret_behind(const char *word)
{
	static const char *const hashes[] = { "password", "acme-vars" };
	static const char *const clear[] = {
		"insecure-password", "dynamic-cookie-key", "anonkey", "cluster-secret",
		"tcp-md5sig",
	};

	return IS_ONE_OF(word, clear) ? CONF_SECRET_CLEAR
	       : IS_ONE_OF(word, hashes) ? CONF_SECRET_HASH : CONF_SECRET_NONE;
}

static bool is_secret(const struct conf_kept *k, int i)
{
	static const char *const payloads[] = {
		"send", "send-lf", "send-binary", "send-binary-lf",
	};
	const char *before = i ? conf_kept_word(k, i - 1) : "";

	if (!i || ends_rule(conf_kept_word(k, i)))
		return false;
	return conf_secret_behind(before) != CONF_SECRET_NONE ||
	       strcmp(before, "agent-send") == 0 ||
	       strncmp(before, "set-proxy-v2-tlv-fmt(", 21) == 0 ||
	       (i == 2 && strcmp(conf_kept_word(k, 0), "tcp-check") == 0 &&
		IS_ONE_OF(before, payloads)) || is_value(k, i) || is_pattern(k, i);
}

/* --- parts of words --------------------------------------------------------------------------- */

const char *conf_secret_converter(unsigned i)
{
	static const char *const names[] = {
		"hmac(", "jwt_verify(", "aes_gcm_enc(", "aes_gcm_dec(", "aes_cbc_enc(",
		"aes_cbc_dec(", "jwt_decrypt_",
	};

	return i < ARRAY_LEN(names) ? names[i] : NULL;
}

/* The arguments of converters that have a key: from the first comma on, or all of them. */
static void mark_keys(const char *word, char *mask)
{
	const char *name;

	for (unsigned c = 0; (name = conf_secret_converter(c)); c++)
		for (const char *at = word; (at = strstr(at, name)); at++) {
			const char *from = strchr(at, '(');
			const char *comma = from ? strchr(from, ',') : NULL;
			const char *end = from ? strchr(from, ')') : NULL;

			if (!from)
				break;
			if (strchr(name, '('))
				from = comma;
			if (!end)
				end = word + strlen(word);
			if (from && from < end)
				memset(mask + (from + 1 - word), 1, (size_t)(end - from - 1));
		}
}

/* http://user:password@host: up to the last "@" of the URL. */
static void mark_users(const char *word, char *mask)
{
	for (const char *at = word; (at = strstr(at, "://")); at++) {
		const char *from = at + 3, *last = NULL, *colon;

		for (const char *p = from; *p && !strchr(" \t\"'", *p); p++)
			if (*p == '@')
				last = p;
		colon = strchr(from, ':');
		if (!last)
			continue;
		if (colon && colon < last)
			from = colon + 1;
		memset(mask + (from - word), 1, (size_t)(last - from));
	}
}

/* ?name=value and &name=value with telling names. */
static void mark_queries(const char *word, char *mask)
{
	for (const char *at = word; (at = strpbrk(at, "?&")); at++) {
		size_t name = strcspn(at + 1, "=&? \t\"'"), value;

		if (at[1 + name] != '=' || !names_a_secret(at + 1, name))
			continue;
		value = strcspn(at + name + 2, "& \t\"'");
		if (!is_fetched(at + name + 2))
			memset(mask + (at + name + 2 - word), 1, value);
	}
}

void conf_secrets_mark(const struct conf_kept *k, int i, char *mask)
{
	const char *word = conf_kept_word(k, i), *colon = strchr(word, ':');
	size_t len = strlen(word);

	memset(mask, is_secret(k, i), len);
	if (i == 2 && strcmp(conf_kept_word(k, 0), "stats") == 0 &&
	    strcmp(conf_kept_word(k, 1), "auth") == 0 && colon)
		memset(mask + (colon + 1 - word), 1, len - (size_t)(colon + 1 - word));
	mark_keys(word, mask);
	mark_users(word, mask);
	mark_queries(word, mask);
}

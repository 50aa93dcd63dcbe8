/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regex.c - the PCRE2 implementation of regex.h
 *
 * One block of match data per thread, with room for REGEX_GROUPS_MAX groups: matching allocates
 * nothing.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/regex.h"

struct regex {
	pcre2_code *code;
	bool jit;
};

static __thread pcre2_match_data *thread_match_data;
static __thread pcre2_match_context *thread_match_context;

/* Steps of the interpreter, and of the JIT's own count, before a match is given up. */
#define MATCH_LIMIT 1000000

static bool regex_thread_init(void)
{
	if (!thread_match_data)
		thread_match_data = pcre2_match_data_create(REGEX_GROUPS_MAX, NULL);
	if (!thread_match_context) {
		thread_match_context = pcre2_match_context_create(NULL);
		if (thread_match_context)
			pcre2_set_match_limit(thread_match_context, MATCH_LIMIT);
	}
	return thread_match_data && thread_match_context;
}

struct regex *regex_new(struct slice pattern, unsigned flags, char *error, size_t size)
{
	uint32_t options = flags & REGEX_NOCASE ? PCRE2_CASELESS : 0;
	struct regex *re = calloc(1, sizeof(*re));
	PCRE2_UCHAR text[128] = "";
	size_t offset = 0;
	int code = 0;

	if (!re) {
		snprintf(error, size, "out of memory");
		return NULL;
	}
	re->code = pcre2_compile((PCRE2_SPTR)(pattern.ptr ? pattern.ptr : ""), pattern.len, options,
				 &code, &offset, NULL);
	if (!re->code) {
		pcre2_get_error_message(code, text, sizeof(text));
		snprintf(error, size, "regex '%.*s' is invalid (error=%s, erroffset=%zu)",
			 SLICE_FMT(pattern), (const char *)text, offset);
		free(re);
		return NULL;
	}
	re->jit = pcre2_jit_compile(re->code, PCRE2_JIT_COMPLETE) == 0;
	return re;
}

void regex_free(struct regex **re)
{
	if (!*re)
		return;
	pcre2_code_free((*re)->code);
	free(*re);
	*re = NULL;
}

/* The number of groups set, 0 when there is no match. */
static int regex_run(const struct regex *re, struct slice text, uint32_t options)
{
	int count;

	if (!regex_thread_init())
		return 0;
	count = pcre2_match(re->code, (PCRE2_SPTR)(text.ptr ? text.ptr : ""), text.len, 0, options,
			    thread_match_data, thread_match_context);
	if (count < 0)
		return 0;
	return count == 0 ? REGEX_GROUPS_MAX : count; /* 0: more groups than room */
}

bool regex_match(const struct regex *re, struct slice text)
{
	return regex_run(re, text, 0) > 0;
}

bool regex_match_groups(const struct regex *re, struct slice text, unsigned flags,
			struct slice *groups)
{
	int count = regex_run(re, text, flags & REGEX_NOT_BEGIN ? PCRE2_NOTBOL : 0);
	const size_t *at;

	if (count <= 0)
		return false;
	at = pcre2_get_ovector_pointer(thread_match_data);
	for (int i = 0; i < REGEX_GROUPS_MAX; i++) {
		if (i >= count || at[2 * i] == PCRE2_UNSET || at[2 * i + 1] < at[2 * i])
			groups[i] = slice_none();
		else
			groups[i] = slice_make((text.ptr ? text.ptr : "") + at[2 * i],
					       at[2 * i + 1] - at[2 * i]);
	}
	return true;
}

static int hex_value(char c)
{
	if (ascii_is_digit(c))
		return c - '0';
	c = ascii_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool regex_expand(struct slice pattern, const struct slice *groups, struct strbuf *out)
{
	for (size_t i = 0; i < pattern.len; i++) {
		char c = pattern.ptr[i];

		if (c != '\\' || i + 1 == pattern.len) {
			if (!strbuf_add_char(out, c))
				return false;
			continue;
		}
		c = pattern.ptr[++i];
		if (ascii_is_digit(c)) {
			if (!slice_is_none(groups[c - '0']) && !strbuf_add(out, groups[c - '0']))
				return false;
			continue;
		}
		if (c == 'x' && i + 2 < pattern.len && hex_value(pattern.ptr[i + 1]) >= 0 &&
		    hex_value(pattern.ptr[i + 2]) >= 0) {
			c = (char)(hex_value(pattern.ptr[i + 1]) << 4 |
				   hex_value(pattern.ptr[i + 2]));
			i += 2;
		}
		if (!strbuf_add_char(out, c))
			return false;
	}
	return true;
}

void regex_trim_thread(void)
{
	if (thread_match_data)
		pcre2_match_data_free(thread_match_data);
	if (thread_match_context)
		pcre2_match_context_free(thread_match_context);
	thread_match_data = NULL;
	thread_match_context = NULL;
}

const char *regex_version(void)
{
	static char version[64];

	if (!*version && pcre2_config(PCRE2_CONFIG_VERSION, NULL) <= (int)sizeof(version))
		pcre2_config(PCRE2_CONFIG_VERSION, version);
	return version;
}

bool regex_has_jit(void)
{
	uint32_t jit = 0;

	return pcre2_config(PCRE2_CONFIG_JIT, &jit) >= 0 && jit;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lint_match.c - patterns that match something else than they look like, and names that mislead */
#include <ctype.h>
#include <string.h>
#include <strings.h>
#include "lint_priv.h"

/* A test: `acl name criterion ...`, or what stands between braces. */
struct test {
	const struct source_line *line;
	int criterion, end; /* words */
	int first;	    /* pattern: behind flags; == end: none */
	const char *method; /* of -m, or NULL */
	bool no_case, from_file;
};

static void find_patterns(struct test *t)
{
	int i = t->criterion + 1;

	for (; i < t->end; i++) {
		const char *word = t->line->words[i].text;

		if (strcmp(word, "-m") == 0 && i + 1 < t->end)
			t->method = t->line->words[++i].text;
		else if (strcmp(word, "-i") == 0)
			t->no_case = true;
		else if (strcmp(word, "-f") == 0 || strcmp(word, "-M") == 0)
			t->from_file = true;
		else if (strcmp(word, "--") == 0 || word[0] != '-' || word[1] == '\0' || word[2])
			break;
	}
	t->first = i + (i < t->end && strcmp(t->line->words[i].text, "--") == 0);
}

/* How the test compares: "reg", "beg", "end", "sub", "str". */
static const char *method_of(const struct test *t)
{
	const char *criterion = t->line->words[t->criterion].text;
	static const char *const methods[] = { "reg", "beg", "end", "sub", "dom", "dir", "len" };
	size_t len = strcspn(criterion, "(,");

	if (t->method)
		return t->method;
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (len > 4 && criterion[len - 4] == '_' &&
		    strncmp(criterion + len - 3, methods[i], 3) == 0 && !strchr(criterion, ','))
			return methods[i];
	return "str";
}

/* Does the criterion give the name of the host? */
static bool is_about_host(const struct test *t)
{
	const char *c = t->line->words[t->criterion].text;
	const char *open = strchr(c, '(');
	static const char *const names[] = { "hdr", "hdr_", "req.hdr", "req.fhdr", "base" };
	bool is_header = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && open; i++)
		is_header |= strncmp(c, names[i], strlen(names[i])) == 0;
	return is_header && strncasecmp(open, "(host", 5) == 0;
}

static bool is_lowered(const struct test *t)
{
	return t->no_case || strstr(t->line->words[t->criterion].text, "lower") != NULL;
}

static void look_at_regex(struct lint *x, const struct test *t, int word)
{
	const char *text = t->line->words[word].text;
	size_t len = strlen(text);
	bool from = *text == '^', to = len && text[len - 1] == '$';
	size_t plain = strcspn(text + from, ".\\[](){}*+?|^$");

	if (plain + from + to == len && plain) {
		lint_say(x, LINT_PATTERN_NO_REGEX, t->line, word,
			 "'%s' needs no regular expression: "
			 "-m %s compares faster",
			 text,
			 from && to ? "str"
			 : from	    ? "beg"
			 : to	    ? "end"
				    : "sub");
		return;
	}
	/* "www.example.com": dots between names, none of which is meant to be any character */
	for (size_t i = 1; is_about_host(t) && i + 1 < len; i++)
		if (text[i] == '.' && text[i - 1] != '\\' && isalnum((unsigned char)text[i - 1]) &&
		    isalnum((unsigned char)text[i + 1])) {
			lint_say(x, LINT_REGEX_DOT, t->line, word,
				 "a dot of '%s' matches any character", text);
			return;
		}
}

static void look_at_host(struct lint *x, const struct test *t, int word)
{
	const char *text = t->line->words[word].text, *method = method_of(t);
	bool has_upper = false;

	for (const char *c = text; *c; c++)
		has_upper |= isupper((unsigned char)*c) != 0;
	if (strcmp(method, "sub") == 0 && strchr(text, '.'))
		lint_say(x, LINT_HOST_SUBSTRING, t->line, word,
			 "'%s' is found in the middle of other names, too", text);
	if (strcmp(method, "end") == 0 && text[0] != '.' && strchr(text, '.'))
		lint_say(x, LINT_HOST_SUFFIX, t->line, word, "'%s' is the end of other names, too",
			 text);
	if (has_upper && !t->no_case && strcmp(method, "reg") != 0)
		lint_say(x, LINT_HOST_CASE, t->line, word,
			 "names of hosts mostly come in lower case: "
			 "'%s' does not match them",
			 text);
	else if (is_lowered(t) && has_upper && !t->no_case)
		lint_say(x, LINT_HOST_CASE, t->line, word,
			 "'%s' never matches what was made lower case", text);
}

static void look_at_test(struct lint *x, const struct source_line *l, int criterion, int end)
{
	struct test t = { .line = l, .criterion = criterion, .end = end };

	find_patterns(&t);
	for (int i = t.first; i < t.end && !t.from_file; i++) {
		if (strcmp(method_of(&t), "reg") == 0)
			look_at_regex(x, &t, i);
		if (is_about_host(&t))
			look_at_host(x, &t, i);
	}
}

/* --- names that mean something already ----------------------------------------------------- */

static void look_at_name(struct lint *x, const struct source_line *l)
{
	static const char predefined[] =
		"TRUE FALSE LOCALHOST HTTP HTTP_1.0 HTTP_1.1 HTTP_2.0 HTTP_3.0 HTTP_CONTENT "
		"HTTP_URL_ABS HTTP_URL_SLASH HTTP_URL_STAR METH_CONNECT METH_DELETE METH_GET "
		"METH_HEAD "
		"METH_OPTIONS METH_POST METH_PUT METH_TRACE RDP_COOKIE REQ_CONTENT WAIT_END";

	if (lint_names(predefined, source_word(l, 1)))
		lint_say(x, LINT_ACL_SHADOWS, l, 1,
			 "'%s' is the name of an ACL that is always there", source_word(l, 1));
}

/* --- to where it came from --------------------------------------------------------------- */

/* `redirect scheme https` for every request, where clients come by TLS. */
static void look_at_redirect(struct lint *x, const struct source_line *l)
{
	const char *scheme = lint_value(l, "scheme");

	if (!scheme || strcmp(scheme, "https") != 0 || lint_condition(l) < l->count)
		return;
	for (int i = lint_next(x, l->section, l->section); i >= 0;
	     i = lint_next(x, l->section, i)) {
		const struct source_line *bind = &x->source.lines[i];

		if (source_begins(bind, "bind") && lint_word(bind, "ssl") > 0) {
			lint_say(x, LINT_REDIRECT_LOOP, l, lint_word(l, "scheme"),
				 "clients of line %d come by TLS and are sent where they are",
				 bind->number);
			return;
		}
	}
}

void lint_patterns(struct lint *x)
{
	for (int i = 0; i < x->source.count; i++) {
		const struct source_line *l = &x->source.lines[i];
		int open = -1;

		if (l->kind != SOURCE_KEYWORD)
			continue;
		if (source_begins(l, "acl") && l->count > 2) {
			look_at_name(x, l);
			look_at_test(x, l, 2, l->count);
		}
		for (int w = lint_condition(l); w < l->count; w++) {
			const char *word = l->words[w].text;

			if (strcmp(word, "{") == 0 || strcmp(word, "!{") == 0)
				open = w + 1;
			else if (strcmp(word, "}") == 0 && open >= 0 && open < w)
				look_at_test(x, l, open, w);
		}
		if (source_begins(l, "redirect") || source_begins(l, "http-request redirect"))
			look_at_redirect(x, l);
	}
}

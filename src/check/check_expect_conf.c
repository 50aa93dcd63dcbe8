/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_expect_conf.c - parses the arguments of `http-check expect` and `tcp-check expect` */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/regex.h"
#include "conf/conf.h"
#include "check_priv.h"

#define expect_error(l, fmt, ...) \
	conf_error(l, (l)->at - 1, NULL, "'%s %s' : " fmt, (l)->words[0], (l)->words[1], \
		   ##__VA_ARGS__)

static bool no_memory(struct conf_line *l)
{
	return conf_error(l, 0, NULL, "out of memory.");
}

static const char *take_value(struct conf_line *l, const char *what)
{
	const char *option = l->words[l->at - 1], *value = conf_next(l);

	if (!value)
		expect_error(l, "'%s' expects %s as argument.", option, what);
	return value;
}

static bool take_regex(struct conf_line *l, const char *text, unsigned flags, struct regex **out)
{
	char error[160];

	*out = regex_new(slice_of(text), flags, error, sizeof(error));
	return *out ? check_keep_regex(l, *out) : expect_error(l, "%s.", error);
}

static bool parse_format(struct conf_line *l, const char *text, struct logformat **out)
{
	*out = logformat_parse(l, text, EXPR_BE_CHK_RUL, 0);
	return *out != NULL;
}

/* --- status codes --------------------------------------------------------------------------- */

static bool range_add(struct conf_line *l, struct check_expect *e, int low, int high)
{
	size_t size = (size_t)(e->range_count + 1) * sizeof(*e->ranges);
	struct status_range *more = arena_alloc(&l->cfg->arena, size);

	if (!more)
		return no_memory(l);
	if (e->range_count)
		memcpy(more, e->ranges, size - sizeof(*more));
	more[e->range_count++] = (struct status_range){ low, high };
	e->ranges = more;
	return true;
}

/* "200,300-399" */
static bool ranges_parse(struct conf_line *l, struct check_expect *e, const char *text)
{
	const char *p = text;

	while (*p) {
		const char *begin = p;
		char *end;
		long low, high;

		if (!ascii_is_digit(*p))
			return expect_error(l, "invalid character '%c' in the list of status "
					    "codes.", *p);
		low = high = strtol(p, &end, 10);
		if (*end == '-') {
			if (!ascii_is_digit(end[1]))
				return expect_error(l, "invalid range of status codes '%s'.",
						    begin);
			high = strtol(end + 1, &end, 10);
		}
		if (low > 999 || high > 999 || low > high)
			return expect_error(l, "invalid range of status codes '%s'.", begin);
		if (*end && *end != ',')
			return expect_error(l, "invalid character '%c' in the list of status "
					    "codes.", *end);
		if (!range_add(l, e, (int)low, (int)high))
			return false;
		p = *end ? end + 1 : end;
	}
	return true;
}

/* --- header fields -------------------------------------------------------------------------- */

static bool field_match_parse(struct conf_line *l, const char *what, enum field_match *out)
{
	static const char *const names[] = { [FIELD_STR] = "str", [FIELD_BEG] = "beg",
					     [FIELD_END] = "end", [FIELD_SUB] = "sub",
					     [FIELD_REG] = "reg" };
	const char *word = take_value(l, "a matching method");

	for (unsigned i = 0; word && i < ARRAY_LEN(names); i++)
		if (strcmp(word, names[i]) == 0) {
			*out = i;
			return true;
		}
	return word && expect_error(l, "'%s' : '-m' only supports 'str', 'beg', 'end', 'sub' or "
				    "'reg' (got '%s').", what, word);
}

/* [-m <method>] <pattern>; the case of names does not matter. */
static bool field_pattern_parse(struct conf_line *l, const char *what, bool is_name, bool format,
				struct check_field_pattern *p)
{
	const char *word;

	if (conf_peek(l) && strcmp(conf_peek(l), "-m") == 0) {
		l->at++;
		if (!field_match_parse(l, what, &p->match))
			return false;
	}
	word = take_value(l, "a pattern");
	if (!word)
		return false;
	if (p->match == FIELD_REG)
		return format ? expect_error(l, "'%s' : log-format strings cannot be used with "
					     "regex matching.", what)
			: take_regex(l, word, is_name ? REGEX_NOCASE : 0, &p->regex);
	if (format)
		return parse_format(l, word, &p->value.format);
	p->value.text = slice_of(word);
	return true;
}

/* name <pattern> [value <pattern>] */
static bool field_parse(struct conf_line *l, struct check_expect *e, const char *what)
{
	const char *word = conf_next(l);

	if (!word || (strcmp(word, "name") != 0 && strcmp(word, "name-lf") != 0))
		return expect_error(l, "'%s' expects at the name keyword as first argument "
				    "followed by a pattern.", what);
	if (!field_pattern_parse(l, what, true, word[4], &e->name))
		return false;
	word = conf_peek(l);
	if (!word || (strcmp(word, "value") != 0 && strcmp(word, "value-lf") != 0))
		return true;
	l->at++;
	e->has_field_value = true;
	return field_pattern_parse(l, what, false, word[5], &e->field_value);
}

/* --- matches -------------------------------------------------------------------------------- */

static const struct expect_word {
	const char *word;
	enum expect_match match;
	unsigned languages; /* 1 tcp-check, 2 http-check */
} matches[] = {
	{ "string", EXPECT_STRING, 3 }, { "rstring", EXPECT_REGEX, 3 },
	{ "string-lf", EXPECT_STRING_LF, 3 }, { "binary", EXPECT_BINARY, 1 },
	{ "rbinary", EXPECT_BINARY_REGEX, 1 }, { "binary-lf", EXPECT_BINARY_LF, 1 },
	{ "status", EXPECT_STATUS, 2 }, { "rstatus", EXPECT_STATUS_REGEX, 2 },
	{ "hdr", EXPECT_FIELD, 2 }, { "fhdr", EXPECT_FULL_FIELD, 2 },
};

static const struct expect_word *match_find(const char *word, bool http)
{
	for (unsigned i = 0; i < ARRAY_LEN(matches); i++)
		if (matches[i].languages & (http ? 2 : 1) && strcmp(matches[i].word, word) == 0)
			return &matches[i];
	return NULL;
}

/* The pattern behind the word of the match. */
static bool pattern_parse(struct conf_line *l, struct check_expect *e, const char *what)
{
	const char *word, *error;

	if (e->match == EXPECT_FIELD || e->match == EXPECT_FULL_FIELD)
		return field_parse(l, e, what);
	word = conf_next(l);
	if (!word)
		return expect_error(l, "'%s' expects a <pattern> as argument.", what);
	switch (e->match) {
	case EXPECT_STATUS:
		return ranges_parse(l, e, word);
	case EXPECT_REGEX:
	case EXPECT_BINARY_REGEX:
	case EXPECT_STATUS_REGEX:
		return take_regex(l, word, 0, &e->regex);
	case EXPECT_BINARY_LF:
		e->value.hex = true;
		return parse_format(l, word, &e->value.format);
	case EXPECT_STRING_LF:
		return parse_format(l, word, &e->value.format);
	case EXPECT_BINARY:
		e->value.text = check_hex_bytes(&l->cfg->arena, word, &error);
		return e->value.text.ptr || expect_error(l, "invalid binary string (%s).", error);
	default:
		e->value.text = slice_of(word);
		return true;
	}
}

/* --- options -------------------------------------------------------------------------------- */

static const struct status_word {
	const char *word;
	enum check_status allowed[6]; /* up to CHECK_UNKNOWN */
	const char *names;
	size_t offset;
} status_words[] = {
	{ "ok-status", { CHECK_L4OK, CHECK_L6OK, CHECK_L7OK, CHECK_L7OKC },
	  "'L4OK', 'L6OK', 'L7OK' or 'L7OKC'", offsetof(struct check_expect, ok) },
	{ "error-status", { CHECK_L7OKC, CHECK_L7RSP, CHECK_L7STS, CHECK_L6RSP, CHECK_L4CON },
	  "'L4CON', 'L6RSP', 'L7RSP' or 'L7STS'", offsetof(struct check_expect, error) },
	{ "tout-status", { CHECK_L7TOUT, CHECK_L6TOUT, CHECK_L4TOUT },
	  "'L4TOUT', 'L6TOUT' or 'L7TOUT'", offsetof(struct check_expect, timeout) },
};

static bool status_parse(struct conf_line *l, struct check_expect *e, const struct status_word *w)
{
	const char *word = take_value(l, "a string");

	for (unsigned i = 0; word && w->allowed[i]; i++)
		if (strcmp(word, check_status_code(w->allowed[i])) == 0) {
			*(enum check_status *)(void *)((char *)e + w->offset) = w->allowed[i];
			return true;
		}
	return word && expect_error(l, "'%s' only supports %s status (got '%s').", w->word,
				    w->names, word);
}

static bool min_recv_parse(struct conf_line *l, struct check_expect *e)
{
	const char *word = take_value(l, "a integer");
	char *end;
	long v = word ? strtol(word, &end, 10) : 0;

	if (!word)
		return false;
	if (end == word || *end || v < -1 || v > INT32_MAX)
		return expect_error(l, "'min-recv' : '%s' is not a number from -1 on.", word);
	e->min_recv = (int)v;
	return true;
}

/* *known: it was an option. */
static bool option_parse(struct conf_line *l, struct check_rule *rule, const char *word,
			 bool *known)
{
	struct check_expect *e = &rule->expect;

	*known = true;
	for (unsigned i = 0; i < ARRAY_LEN(status_words); i++)
		if (strcmp(word, status_words[i].word) == 0)
			return status_parse(l, e, &status_words[i]);
	if (strcmp(word, "min-recv") == 0)
		return min_recv_parse(l, e);
	if (strcmp(word, "comment") == 0) {
		rule->comment = take_value(l, "a string");
		return rule->comment != NULL;
	}
	if (strcmp(word, "on-success") == 0 || strcmp(word, "on-error") == 0) {
		const char *text = take_value(l, "a log-format string");

		return text && parse_format(l, text, word[3] == 's' ? &e->on_success
					    : &e->on_error);
	}
	if (strcmp(word, "status-code") == 0) {
		if (!conf_peek(l))
			return take_value(l, "an expression") != NULL;
		e->status_code = expr_take(l, EXPR_BE_CHK_RUL);
		return e->status_code != NULL;
	}
	*known = false;
	return false;
}

static bool unknown(struct conf_line *l, const char *word, bool http)
{
	if (http)
		return expect_error(l, "'only supports min-recv, [!]string', '[!]rstring', "
				    "'[!]string-lf', '[!]status', '[!]rstatus', [!]hdr, [!]fhdr "
				    "or comment but got '%s' as argument.", word);
	return expect_error(l, "'only supports min-recv, '[!]binary', '[!]string', '[!]rstring', "
			    "'[!]string-lf''[!]rbinary', '[!]binary-lf' or comment but got '%s' "
			    "as argument.", word);
}

/* "!" may stand alone or before the word of the match. */
static bool match_parse(struct conf_line *l, struct check_expect *e, const char *word, bool http)
{
	const struct expect_word *m;

	if (word[0] == '!') {
		e->negated = true;
		word = word[1] ? word + 1 : conf_next(l);
		if (!word)
			return expect_error(l, "'!' expects a match as argument.");
	}
	m = match_find(word, http);
	if (!m)
		return unknown(l, word, http);
	e->match = m->match;
	return pattern_parse(l, e, word);
}

bool check_expect_parse(struct conf_line *l, struct check_rules *rules, bool http)
{
	struct check_rule *rule = check_rule_add(&l->cfg->arena, rules, CHECK_EXPECT);
	bool known, has_match = false, good = true;
	const char *word;

	if (!rule)
		return no_memory(l);
	rule->expect.min_recv = -1;
	while (good && (word = conf_next(l))) {
		good = option_parse(l, rule, word, &known);
		if (known)
			continue;
		if (has_match)
			return match_find(word + (*word == '!'), http) || *word == '!'
				? expect_error(l, "only one pattern expected.")
				: unknown(l, word, http);
		has_match = true;
		good = match_parse(l, &rule->expect, word, http);
	}
	check_comment_inherit(rules, rule);
	return good && (has_match || expect_error(l, "expects at least a matching pattern as "
						  "arguments."));
}

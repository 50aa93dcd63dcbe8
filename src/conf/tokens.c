/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tokens.c - a line cut into words: quotes, escapes, variables (manual 2.2, 2.3)
 *
 * Three states: outside quotes, inside "" (escapes and variables are recognised), inside ''
 * (nothing is). A word exists once a character or a quote of it was seen, so that "" is an empty
 * word; an empty expansion of ${NAME[*]} is the exception: it gives no word.
 */
#include <stdlib.h>
#include <string.h>
#include "base/num.h"
#include "conf_priv.h"

struct cutter {
	struct conf_where *where;
	struct conf_tokens *out;
	const char *line;
	size_t len, at;
	char quote; /* 0, '"' or '\'' */
	size_t quote_at;
	bool open;	/* a word was begun */
	bool vanishing; /* it consists of expanded lists only */
	bool failed;
};

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Reports about the character at <at>; the message ends with its position. */
static void cut_error(struct cutter *c, size_t at, const char *what)
{
	c->failed = true;
	c->where->place.form = DIAG_TIGHT;
	c->where->place.column = (int)at + 1;
	diag_add(c->where->diags, DIAG_ALERT, &c->where->place, NULL, "%s at position %d:", what,
		 (int)at + 1);
}

static void word_open(struct cutter *c, size_t at)
{
	struct conf_tokens *t = c->out;

	if (c->open)
		return;
	c->open = true;
	c->vanishing = true;
	t->starts[t->count] = t->text.len;
	t->columns[t->count] = (int)at + 1;
}

static void word_add(struct cutter *c, char ch)
{
	word_open(c, c->at);
	c->vanishing = false;
	if (!strbuf_add_char(&c->out->text, ch))
		cut_error(c, c->at, "out of memory");
}

static void report_too_many(struct cutter *c)
{
	struct conf_tokens *t = c->out;
	int last = CONF_MAX_WORDS - 1, indent = 0;

	/* this position, alone of all, does not count the indentation */
	while (is_blank(c->line[indent]))
		indent++;
	c->failed = true;
	c->where->place.form = DIAG_TIGHT;
	c->where->place.column = t->columns[last];
	diag_add(c->where->diags, DIAG_ALERT, &c->where->place, NULL,
		 "too many words, truncating after word %d, position %d: <%s>.", CONF_MAX_WORDS,
		 t->columns[last] - indent, t->text.ptr + t->starts[last]);
}

static void word_close(struct cutter *c)
{
	struct conf_tokens *t = c->out;

	if (!c->open)
		return;
	c->open = false;
	if (t->text.len == t->starts[t->count] && c->vanishing)
		return;
	if (t->count == CONF_MAX_WORDS) {
		report_too_many(c);
		return;
	}
	if (t->text.len == t->starts[t->count] && t->empty < 0)
		t->empty = t->count;
	t->count++;
	if (!strbuf_add_char(&t->text, '\0'))
		cut_error(c, c->at, "out of memory");
}

/* \xNN at c->at */
static void cut_hex(struct cutter *c)
{
	int high = c->at + 2 < c->len ? num_hex_digit(c->line[c->at + 2]) : -1;
	int low = high >= 0 && c->at + 3 < c->len ? num_hex_digit(c->line[c->at + 3]) : -1;

	if (low < 0) {
		cut_error(c, c->at, "truncated or invalid hexadecimal sequence");
		return;
	}
	if (high == 0 && low == 0) {
		/* words are C strings: what follows would be lost without a word */
		cut_error(c, c->at, "NUL character not possible in a word");
		return;
	}
	word_add(c, (char)(high * 16 + low));
	c->at += 4;
}

/* The backslash at c->at. One that escapes nothing stands for itself. */
static void cut_escape(struct cutter *c)
{
	char next = c->at + 1 < c->len ? c->line[c->at + 1] : '\0';

	switch (next) {
	case 'x':
		cut_hex(c);
		return;
	case 'n':
		word_add(c, '\n');
		break;
	case 'r':
		word_add(c, '\r');
		break;
	case 't':
		word_add(c, '\t');
		break;
	case ' ':
	case '\t':
	case '\\':
	case '#':
	case '\'':
	case '"':
		word_add(c, next);
		break;
	case '$':
		if (c->quote == '"') {
			word_add(c, next);
			break;
		}
		/* fall through */
	default:
		word_add(c, '\\');
		c->at++;
		return;
	}
	c->at += 2;
}

/* --- variables --------------------------------------------------------------------------- */

struct variable {
	size_t start, len; /* name */
	bool list;	   /* [*] */
	const char *dflt;  /* or NULL */
	size_t dflt_len;
};

static bool is_name_char(char ch)
{
	char low = ascii_lower(ch);

	return (low >= 'a' && low <= 'z') || ascii_is_digit(ch) || ch == '_';
}

static char cut_peek(const struct cutter *c)
{
	return c->at < c->len ? c->line[c->at] : '\0';
}

/* What may follow the name within braces: [*], -default, the brace. */
static bool cut_brace(struct cutter *c, struct variable *v, size_t brace)
{
	const char *end;

	if (cut_peek(c) == '[') {
		if (c->len - c->at < 3 || memcmp(c->line + c->at, "[*]", 3) != 0) {
			cut_error(c, c->at, "truncated or invalid word expansion sequence");
			return false;
		}
		v->list = true;
		c->at += 3;
	}
	if (cut_peek(c) == '-') {
		v->dflt = c->line + c->at + 1;
		end = memchr(v->dflt, '}', c->len - c->at - 1);
		if (end) {
			v->dflt_len = (size_t)(end - v->dflt);
			c->at = (size_t)(end - c->line);
		}
	}
	if (cut_peek(c) != '}') {
		cut_error(c, brace, "unmatched brace in environment variable name");
		return false;
	}
	c->at++;
	return true;
}

/* The value of a pseudo-variable; NULL: there is none of this name. <number> is a work area. */
static const char *pseudo_value(const struct cutter *c, const char *name, size_t len,
				char number[12])
{
	struct slice s = slice_make(name, len);

	if (slice_eq(s, SLICE(".FILE")))
		return c->where->place.file ? c->where->place.file : "";
	if (slice_eq(s, SLICE(".LINE"))) {
		struct strbuf b;

		strbuf_init_fixed(&b, number, 12);
		strbuf_add_int(&b, c->where->place.line);
		return number;
	}
	if (slice_eq(s, SLICE(".SECTION")))
		return c->where->section ? c->where->section : "";
	return NULL;
}

static void add_value(struct cutter *c, const char *value, size_t len, bool list)
{
	if (!list) {
		/* also when empty, this is a word: "$EMPTY"; "${EMPTY[*]}" is none */
		word_open(c, c->at);
		c->vanishing = false;
	}
	for (size_t i = 0; i < len && !c->failed; i++) {
		if (list && is_blank(value[i])) {
			word_close(c);
			continue;
		}
		word_add(c, value[i]);
	}
}

/* The dollar at c->at, within "". */
static void cut_variable(struct cutter *c)
{
	struct variable v = { 0 };
	char number[12];
	const char *value;
	size_t brace = 0, name_at;

	c->at++;
	if (cut_peek(c) == '{') {
		brace = c->at;
		c->at++;
	}
	name_at = c->at;
	v.start = c->at;
	if (cut_peek(c) == '.')
		c->at++;
	while (is_name_char(cut_peek(c)))
		c->at++;
	v.len = c->at - v.start;
	if (c->line[name_at] == '.')
		value = pseudo_value(c, c->line + v.start, v.len, number);
	else
		value = conf_env_get(c->where->cfg->state, c->line + v.start, v.len);
	if (!v.len || ascii_is_digit(c->line[name_at]) || (c->line[name_at] == '.' && !value)) {
		cut_error(c, name_at, "forbidden first char in environment variable name");
		return;
	}
	if (brace && !cut_brace(c, &v, brace))
		return;
	if (value)
		add_value(c, value, strlen(value), v.list);
	else if (v.dflt)
		add_value(c, v.dflt, v.dflt_len, v.list);
	else if (!v.list)
		add_value(c, "", 0, false);
}

/* --- the line ---------------------------------------------------------------------------- */

/* A quote character at c->at: does it open or close? False: it is an ordinary character. */
static bool cut_quote(struct cutter *c)
{
	char ch = c->line[c->at];

	if (c->quote && c->quote != ch)
		return false;
	if (c->quote) {
		c->quote = 0;
	} else {
		bool list;

		c->quote = ch;
		c->quote_at = c->at;
		word_open(c, c->at);
		/* "${LIST[*]}" may come to nothing, "" is an empty word */
		list = ch == '"' && c->at + 1 < c->len && c->line[c->at + 1] == '$';
		if (!list)
			c->vanishing = false;
	}
	c->at++;
	return true;
}

/* One character or sequence. */
static void cut_next(struct cutter *c)
{
	char ch = c->line[c->at];

	if ((ch == '"' || ch == '\'') && cut_quote(c))
		return;
	if (ch == '\\' && c->quote != '\'') {
		cut_escape(c);
		return;
	}
	if (ch == '$' && c->quote == '"') {
		cut_variable(c);
		return;
	}
	if (!c->quote && is_blank(ch)) {
		word_close(c);
		c->at++;
		return;
	}
	if (!c->quote && ch == '#' && !c->where->no_comments) {
		c->at = c->len;
		return;
	}
	word_add(c, ch);
	c->at++;
}

bool conf_tokenize(struct conf_where *w, struct conf_tokens *t)
{
	struct cutter c = { .where = w, .out = t, .line = w->place.text };

	/* a carriage return ends a line as a line feed does */
	c.len = strcspn(c.line, "\r\n");
	strbuf_reset(&t->text);
	t->count = 0;
	t->empty = -1;
	while (c.at < c.len && !c.failed)
		cut_next(&c);
	if (!c.failed && c.quote)
		cut_error(&c, c.quote_at, "unmatched quote");
	if (!c.failed)
		word_close(&c);
	if (c.failed)
		return false;
	for (int i = 0; i < t->count; i++)
		t->words[i] = t->text.ptr + t->starts[i];
	t->words[t->count] = NULL;
	return true;
}

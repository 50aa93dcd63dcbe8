/* SPDX-License-Identifier: GPL-2.0-or-later */
/* directive.c - lines that start with a dot: conditional blocks and messages (manual 2.4)
 *
 * A wrong directive is reported and then handled in the way that causes the fewest further
 * messages: a wrong condition disables all branches of its block, a wrong .endif still closes the
 * block.
 */
#include <stdlib.h>
#include <string.h>
#include "conf_priv.h"

static void directive_error(struct conf_where *w, int column, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void directive_error(struct conf_where *w, int column, const char *fmt, ...)
{
	va_list ap;

	w->place.form = DIAG_TIGHT;
	w->place.column = column;
	va_start(ap, fmt);
	diag_vadd(w->diags, DIAG_ALERT, &w->place, NULL, fmt, ap);
	va_end(ap);
}

/* The words from <first> on, with one blank between them. */
static bool join_words(const struct conf_tokens *t, int first, struct strbuf *b)
{
	strbuf_add_str(b, "");
	for (int i = first; i < t->count; i++) {
		if (i > first)
			strbuf_add_char(b, ' ');
		strbuf_add_str(b, t->words[i]);
	}
	return !b->overflow && b->ptr;
}

/* The position counts within the joined words, so these are what is shown. */
static void report_condition(struct conf_where *w, const char *name, const char *text,
			     const char *error, size_t at)
{
	struct diag_place place = w->place;
	struct strbuf shown;

	strbuf_init(&shown);
	strbuf_printf(&shown, "%s %s", name, text);
	place.form = DIAG_TIGHT;
	place.column = (int)(strlen(name) + 1 + at) + 1;
	place.text = shown.ptr;
	diag_add(w->diags, DIAG_ALERT, &place, NULL,
		 "%s in '%s' at position %d:", error ? error : "out of memory", name, (int)at + 1);
	strbuf_fini(&shown);
}

static int eval_text(struct config *cfg, const char *text, struct diag_list *diags)
{
	char *error;
	size_t at;
	int value = conf_cond_eval(cfg, text, &error, &at);

	if (value < 0) {
		struct diag_place place = { .form = DIAG_BARE,
					    .column = (int)at + 1,
					    .text = text };

		diag_add(diags, DIAG_ALERT, &place, NULL, "Failed to evaluate condition: %s",
			 error ? error : "out of memory");
		free(error);
	}
	return value;
}

int conf_condition(struct config *cfg, const char *text, struct diag_list *diags)
{
	struct conf_where where = { .cfg = cfg, .diags = diags, .place.text = text, .section = "",
				    .no_comments = true };
	struct conf_tokens t = { .count = 0 };
	struct strbuf joined;
	int value = -1;

	strbuf_init(&t.text);
	strbuf_init(&joined);
	if (conf_tokenize(&where, &t)) {
		if (join_words(&t, 0, &joined))
			value = eval_text(cfg, joined.ptr, diags);
		else
			diag_add(diags, DIAG_ALERT, NULL, NULL, "out of memory.");
	}
	strbuf_fini(&joined);
	strbuf_fini(&t.text);
	return value;
}

/* Which branch the condition of the line makes. */
static enum conf_branch eval_line(struct conf_where *w, const struct conf_tokens *t)
{
	enum conf_branch branch = BRANCH_DONE;
	struct strbuf text;
	char *error = NULL;
	size_t at = 0;
	int value = -1;

	strbuf_init(&text);
	if (join_words(t, 1, &text))
		value = conf_cond_eval(w->cfg, text.ptr, &error, &at);
	if (value < 0)
		report_condition(w, t->words[0], text.ptr ? text.ptr : "", error, at);
	else
		branch = value ? BRANCH_TAKEN : BRANCH_PENDING;
	free(error);
	strbuf_fini(&text);
	return branch;
}

static void check_no_words(struct conf_where *w, const struct conf_tokens *t)
{
	if (t->count > 1)
		directive_error(w, t->columns[1], "Unexpected argument '%s' for '%s'.", t->words[1],
				t->words[0]);
}

static void run_if(struct conf_where *w, struct conf_nesting *n, const struct conf_tokens *t)
{
	bool skipped = conf_nesting_skips(n);

	if (n->depth == CONF_MAX_NESTED) {
		directive_error(w, t->columns[0], "too many nested '.if', max is %d",
				CONF_MAX_NESTED);
		return;
	}
	n->levels[n->depth].line = w->place.line;
	n->levels[n->depth].in_else = false;
	n->levels[n->depth].branch = skipped ? BRANCH_DONE : eval_line(w, t);
	n->depth++;
}

static void run_elif(struct conf_where *w, struct conf_nesting *n, const struct conf_tokens *t)
{
	if (!n->depth) {
		directive_error(w, t->columns[0], "lone '.elif' with no matching '.if'.");
		return;
	}
	if (n->levels[n->depth - 1].in_else) {
		directive_error(w, t->columns[0], "'.elif' after '.else' is not permitted.");
		return;
	}
	if (n->levels[n->depth - 1].branch == BRANCH_PENDING)
		n->levels[n->depth - 1].branch = eval_line(w, t);
	else
		n->levels[n->depth - 1].branch = BRANCH_DONE;
}

static void run_else(struct conf_where *w, struct conf_nesting *n, const struct conf_tokens *t)
{
	check_no_words(w, t);
	if (!n->depth) {
		directive_error(w, t->columns[0], "lone '.else' with no matching '.if'.");
		return;
	}
	if (n->levels[n->depth - 1].in_else) {
		directive_error(w, t->columns[0], "'.else' after '.else' is not permitted.");
		return;
	}
	n->levels[n->depth - 1].in_else = true;
	n->levels[n->depth - 1].branch =
		n->levels[n->depth - 1].branch == BRANCH_PENDING ? BRANCH_TAKEN : BRANCH_DONE;
}

static void run_endif(struct conf_where *w, struct conf_nesting *n, const struct conf_tokens *t)
{
	check_no_words(w, t);
	if (!n->depth)
		directive_error(w, t->columns[0], "lone '.endif' with no matching '.if'.");
	else
		n->depth--;
}

static const struct {
	const char *name;
	void (*run)(struct conf_where *w, struct conf_nesting *n, const struct conf_tokens *t);
} branches[] = {
	{ ".if", run_if },
	{ ".elif", run_elif },
	{ ".else", run_else },
	{ ".endif", run_endif },
};

static const struct {
	const char *name;
	enum diag_level level;
} messages[] = {
	{ ".diag", DIAG_DIAG },
	{ ".notice", DIAG_NOTICE },
	{ ".warning", DIAG_WARNING },
	{ ".alert", DIAG_ALERT },
};

static void run_message(struct conf_where *w, const struct conf_tokens *t, enum diag_level level)
{
	if (t->count > 2) {
		directive_error(w, t->columns[2],
				"Unexpected argument '%s' for '%s'. Use quotes if the"
				" message should contain spaces.",
				t->words[2], t->words[0]);
		return;
	}
	w->place.form = DIAG_TIGHT;
	w->place.column = t->columns[t->count > 1];
	diag_add(w->diags, level, &w->place, NULL, "'%s'.", t->count > 1 ? t->words[1] : "");
}

void conf_directive(struct conf_where *w, struct conf_nesting *n, struct conf_tokens *t, bool early)
{
	for (size_t i = 0; i < sizeof(branches) / sizeof(*branches); i++) {
		if (strcmp(t->words[0], branches[i].name) == 0) {
			branches[i].run(w, n, t);
			return;
		}
	}
	if (early || conf_nesting_skips(n))
		return;
	for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++) {
		if (strcmp(t->words[0], messages[i].name) == 0) {
			run_message(w, t, messages[i].level);
			return;
		}
	}
	directive_error(w, t->columns[0], "unknown directive '%s'.", t->words[0]);
}

void conf_nesting_end(struct conf_where *w, struct conf_nesting *n)
{
	while (n->depth) {
		char hint[64];
		struct strbuf b;

		n->depth--;
		strbuf_init_fixed(&b, hint, sizeof(hint));
		strbuf_printf(&b, "the '.if' is in line %d", n->levels[n->depth].line);
		w->place.form = DIAG_TIGHT;
		w->place.column = 0;
		diag_add(w->diags, DIAG_ALERT, &w->place, hint, "non-terminated '.if' block.");
	}
}

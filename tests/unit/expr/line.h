/* SPDX-License-Identifier: GPL-2.0-or-later */
/* line.h - a configuration of one line, for tests of what parses words */
#ifndef TESTS_UNIT_EXPR_LINE_H
#define TESTS_UNIT_EXPR_LINE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "expr/expr.h"
#include "expr/modules.h"

struct line {
	struct conf_line l;
	struct diag_list diags;
	char *words[64];
	int columns[64];
	char text[1024];
};

static struct config *cfg;

/* Registers what <modules> bring and makes <cfg>. False: the test cannot go on. */
static inline bool line_setup(const struct module *const *modules)
{
	for (const struct module *const *m = modules; *m; m++)
		for (struct slot *const *s = (*m)->slots; s && *s; s++)
			slot_register(*s);
	clock_refresh();
	cfg = expr_register(modules) ? config_new() : NULL;
	return cfg != NULL;
}

static inline void line_teardown(void)
{
	config_drop(&cfg);
	mod_expr.thread_fini();
}

static inline void line_begin(struct line *line)
{
	memset(line, 0, sizeof(*line));
	diag_list_init(&line->diags);
	line->l = (struct conf_line){
		.cfg = cfg, .diags = &line->diags, .words = line->words,
		.columns = line->columns, .place = { .file = "test", .line = 1 },
	};
}

/* The line is one word. */
static inline void line_word(struct line *line, const char *word)
{
	line_begin(line);
	snprintf(line->text, sizeof(line->text), "%s", word);
	line->words[line->l.count++] = line->text;
}

/* The line is <words>, separated by single spaces. */
static inline void line_words(struct line *line, const char *words)
{
	line_begin(line);
	snprintf(line->text, sizeof(line->text), "%s", words);
	for (char *w = strtok(line->text, " "); w && line->l.count < 60; w = strtok(NULL, " "))
		line->words[line->l.count++] = w;
}

/* The first diagnostic, "" when there is none. */
static inline const char *line_message(const struct line *line)
{
	if (list_is_empty(&line->diags.diags))
		return "";
	return list_first(&line->diags.diags, struct diag, link)->message;
}

static inline void line_end(struct line *line)
{
	diag_list_fini(&line->diags);
}

#endif

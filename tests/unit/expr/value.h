/* SPDX-License-Identifier: GPL-2.0-or-later */
/* value.h - an expression is parsed and evaluated, and its text compared */
#ifndef EXPR_VALUE_H
#define EXPR_VALUE_H

#include "expr/expr.h"
#include "line.h"
#include "tap.h"

/* <value>: the text that it gives, "" for nothing, or the error that it is refused with. */
static void test_value(const char *expression, const char *value)
{
	struct slice got = slice_none();
	struct arena arena;
	struct expr_ctx ctx = { .arena = &arena, .flags = EXPR_FINAL };
	char text[512] = "";
	struct line line;
	struct expr *e;

	arena_init(&arena, 0);
	line_word(&line, expression);
	e = expr_take(&line.l, EXPR_FE_HRQ_HDR);
	if (e)
		expr_eval_string(e, &ctx, &got);
	slice_copy(got, text, sizeof(text));
	is_str(e ? text : line_message(&line), value, "%s", expression);
	line_end(&line);
	arena_fini(&arena);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fz_expr.c - fuzzes expressions, conditions and log formats: compiled, then evaluated
 *
 * The first byte chooses what the rest is: an expression, the words of a condition, a log format.
 */
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/strbuf.h"
#include "expr/expr.h"
#include "expr/modules.h"
#include "expr/logformat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void setup(void)
{
	static const struct module *const modules[] = { EXPR_MODULE_LIST NULL };
	static bool done;

	if (done)
		return;
	for (struct slot *const *s = mod_expr.slots; *s; s++)
		slot_register(*s);
	if (!expr_register(modules))
		abort();
	clock_refresh();
	done = true;
}

static void run_expression(struct conf_line *l, struct expr_ctx *ctx)
{
	struct expr *e = expr_take(l, 0);
	struct slice text;

	if (e && expr_eval_string(e, ctx, &text) == EXPR_WAIT)
		abort(); /* the context is final */
}

static void run_condition(struct conf_line *l, struct expr_ctx *ctx)
{
	struct acl_set *set = acl_set_new(l->cfg);
	struct condition *c = NULL;

	if (set && condition_parse(l, set, EXPR_FE_HRQ_HDR, &c) &&
	    condition_eval(c, ctx) == EXPR_WAIT)
		abort();
}

static void run_format(struct conf_line *l, struct expr_ctx *ctx, unsigned options)
{
	struct logformat *f = l->count ? logformat_parse(l, l->words[0], 0, options) : NULL;
	struct strbuf out;

	if (!f)
		return;
	strbuf_init(&out);
	logformat_build(f, ctx, &out);
	for (size_t i = 0; options & LOGFORMAT_HTTP && i < out.len; i++)
		if ((out.ptr[i] == '\n' || out.ptr[i] == '\r') && !memchr(l->words[0], out.ptr[i],
									  strlen(l->words[0])))
			abort(); /* a line end that only an expression can have made */
	strbuf_fini(&out);
}

/* Names are not resolved: this stands for the C library's. */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
		struct addrinfo **list)
{
	return EAI_NONAME;
}

/* Files are not for fuzzers to open. */
static bool is_harmless(const char *word)
{
	return strcmp(word, "-f") != 0 && strcmp(word, "-M") != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag_list diags;
	struct config *cfg;
	struct arena arena;
	struct expr_ctx ctx = { .arena = &arena, .flags = EXPR_FINAL };
	char text[2048], *words[66] = { NULL };
	int columns[66] = { 0 };
	struct conf_line l = { .words = words, .columns = columns, .place = { .file = "fuzz" } };

	if (size < 2 || size >= sizeof(text))
		return 0;
	setup();
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	cfg = config_new();
	if (!cfg)
		return 0;
	arena_init(&arena, 0);
	diag_list_init(&diags);
	l.cfg = cfg;
	l.diags = &diags;
	if (data[0] % 3 == 1) {
		char *rest = text, *word;

		words[l.count++] = "if";
		while ((word = strsep(&rest, " ")) && l.count < 64)
			if (*word && is_harmless(word))
				words[l.count++] = word;
		run_condition(&l, &ctx);
	} else {
		words[l.count++] = text;
		if (data[0] % 3 == 0)
			run_expression(&l, &ctx);
		else
			run_format(&l, &ctx, data[0] & 128 ? LOGFORMAT_HTTP : LOGFORMAT_LOG);
	}
	diag_list_fini(&diags);
	arena_fini(&arena);
	config_drop(&cfg);
	return 0;
}

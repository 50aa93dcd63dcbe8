/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fz_packet.c - fuzzes the converters that read headers of packets: eth.*, ip.*, tcp.*
 *
 * The whole input is a packet: every converter reads it, as a frame, as what a frame contains, and
 * as what an IP packet contains. A second reading says the same; a part of the packet lies in it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "expr/expr.h"
#include "expr/modules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct slice input;

static enum expr_result fetch_bytes(struct expr_ctx *ctx, const struct expr_arg *args,
				    struct sample *out)
{
	*out = (struct sample){ .type = SMP_BIN, .text = input };
	return EXPR_FOUND;
}

static const struct expr_fetch fetches[] = {
	{ .name = "in.bytes", .out = SMP_BIN, .use = EXPR_USE_CONST, .fetch = fetch_bytes },
	{ 0 }
};
static const struct module mod_input = { .name = "input", .fetches = fetches };

static const char *const converters[] = {
	"eth.data", "eth.dst", "eth.hdr", "eth.proto", "eth.src", "eth.vlan",
	"ip.data", "ip.df", "ip.dst", "ip.fp", "ip.fp(7)", "ip.hdr", "ip.proto", "ip.src", "ip.tos",
	"ip.ttl", "ip.ver",
	"tcp.dst", "tcp.flags", "tcp.options.mss", "tcp.options.sack", "tcp.options.tsopt",
	"tcp.options.tsval", "tcp.options.wscale", "tcp.options.wsopt", "tcp.options_list",
	"tcp.seq", "tcp.src", "tcp.win",
};
static const char *const before[] = { "", "eth.data,", "ip.data,", "eth.data,ip.data," };

static struct config *cfg;
static struct expr *exprs[ARRAY_LEN(before)][ARRAY_LEN(converters)];

static struct expr *compile(const char *first, const char *last)
{
	struct diag_list diags;
	char text[128], *words[] = { text, NULL };
	int columns[] = { 1, 1 };
	struct conf_line l = { .cfg = cfg, .diags = &diags, .words = words, .columns = columns,
			       .count = 1, .place = { .file = "fuzz" } };
	struct expr *e;

	diag_list_init(&diags);
	snprintf(text, sizeof(text), "in.bytes,%s%s", first, last);
	e = expr_take(&l, 0);
	diag_list_fini(&diags);
	if (!e)
		abort(); /* a name that is not there */
	return e;
}

static void setup(void)
{
	static const struct module *const modules[] = { EXPR_MODULE_LIST &mod_input, NULL };

	for (struct slot *const *s = mod_expr.slots; *s; s++)
		slot_register(*s);
	clock_refresh();
	if (!expr_register(modules))
		abort();
	cfg = config_new();
	if (!cfg)
		abort();
	for (size_t b = 0; b < ARRAY_LEN(before); b++)
		for (size_t i = 0; i < ARRAY_LEN(converters); i++)
			exprs[b][i] = compile(before[b], converters[i]);
}

/* The text of what an expression gives; empty: nothing. */
static struct slice result_of(struct expr *e, struct arena *arena)
{
	struct expr_ctx ctx = { .arena = arena, .flags = EXPR_FINAL };
	struct slice text = { 0 };

	if (expr_eval_string(e, &ctx, &text) == EXPR_WAIT)
		abort(); /* the context is final */
	return text;
}

static void check(struct expr *e, struct arena *arena)
{
	struct slice once = result_of(e, arena), again = result_of(e, arena);

	if (!slice_eq(once, again))
		abort();
	if (once.ptr && once.ptr >= input.ptr && once.ptr < input.ptr + input.len &&
	    once.len > (size_t)(input.ptr + input.len - once.ptr))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena;
	char *copy;

	if (!size || size > 70000)
		return 0;
	if (!cfg)
		setup();
	copy = malloc(size); /* no byte behind it */
	if (!copy)
		abort();
	memcpy(copy, data, size);
	input = slice_make(copy, size);
	arena_init(&arena, 0);
	for (size_t b = 0; b < ARRAY_LEN(before); b++)
		for (size_t i = 0; i < ARRAY_LEN(converters); i++)
			check(exprs[b][i], &arena);
	arena_fini(&arena);
	free(copy);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conv_debug.c - the converter that prints its input: debug([<prefix>][,<destination>]) */
#include <string.h>
#include "base/clock.h"
#include "base/diag.h"
#include "base/strbuf.h"
#include "core/sink.h"
#include "expr/modules.h"
#include "expr_priv.h"

/* A destination left out is buf0. */
static bool check_debug(struct conf_line *l, struct expr_arg *args, const char **error)
{
	if (args[1].type == ARG_SINK)
		return true; /* found once all rings are known */
	args[1].type = ARG_SINK;
	args[1].object = sink_of_config(l->cfg, "buf0");
	return true;
}

void expr_resolve_sinks(struct config *of, const struct config *cfg, struct diag_list *diags)
{
	static const struct diag_place bare = { .form = DIAG_BARE };

	for (struct expr_pending *p = expr_pending_first(of); p; p = p->next) {
		if (p->arg->type != ARG_SINK)
			continue;
		p->arg->object = sink_of_config(cfg, p->arg->name.len ? p->arg->name.ptr : "buf0");
		if (!p->arg->object)
			diag_add(diags, DIAG_ALERT, &bare, NULL,
				 "parsing [%s:%d] : %s converter: sink '%s' doesn't exist.",
				 p->file ? p->file : "-", p->line, p->keyword, p->arg->name.ptr);
	}
}

/* The text between the angle brackets; what would move the cursor of a terminal is a dot. */
static void put_sample(struct expr_ctx *ctx, struct strbuf *out, const struct sample *s)
{
	struct sample copy = *s;
	size_t start = out->len;

	if (sample_cast(&copy, SMP_STR, ctx->arena))
		strbuf_add(out, copy.text);
	for (size_t i = start; i < out->len; i++)
		if (out->ptr[i] < ' ' || out->ptr[i] == 127)
			out->ptr[i] = '.';
}

static bool convert_debug(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	struct slice prefix = args[0].type == ARG_STR ? args[0].text : SLICE("");
	struct syslog_header h = { .format = SYSLOG_RAW, .wall_us = clock_read_wall_us() };
	struct strbuf out;

	if (!args[1].object)
		return true;
	strbuf_init(&out);
	strbuf_printf(&out, "[debug] %.*s: type=%s <", SLICE_FMT(prefix),
		      sample_type_name(s->type));
	put_sample(ctx, &out, s);
	strbuf_add_char(&out, '>');
	sink_write(args[1].object, &h, strbuf_slice(&out), 0); /* or dropped, and counted there */
	strbuf_fini(&out);
	return true;
}

static const struct expr_converter converters[] = {
	{ .name = "debug", .args = { ARG_STR, ARG_SINK }, .in = SMP_ANY, .out = SMP_ANY,
	  .context = true, .convert = convert_debug, .check = check_debug,
	  .syntax = "([<prefix>][,<sink>])",
	  .help = "shows the sample in a ring (buf0), or on stdout or stderr" },
	{ 0 }
};

bool expr_converter_keeps_type(const struct expr_converter *c)
{
	return c == converters;
}

const struct module mod_conv_debug = { .name = "conv_debug", .converters = converters };

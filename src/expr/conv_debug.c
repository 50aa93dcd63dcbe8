/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conv_debug.c - the converter that shows what passes: debug([<prefix>][,<destination>]) */
#include <string.h>
#include <unistd.h>
#include "expr_priv.h"

/* Longest line; what is longer is cut. */
#define LINE_MAX_LEN 1024

/* The destination becomes a descriptor. */
static bool check_debug(struct conf_line *l, struct expr_arg *args, const char **error)
{
	const char *name = args[1].type == ARG_STR && args[1].name.len ? args[1].name.ptr : "buf0";

	args[1].type = ARG_INT;
	args[1].integer = strcmp(name, "stdout") == 0 ? STDOUT_FILENO :
			  strcmp(name, "stderr") == 0 ? STDERR_FILENO : -1;
	if (args[1].integer < 0)
		*error = arena_printf(&l->cfg->arena, "destination '%s' is not supported yet, only "
				      "'stdout' and 'stderr' are", name);
	return args[1].integer >= 0;
}

static bool convert_debug(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	struct slice prefix = args[0].type == ARG_STR ? args[0].text : SLICE("");
	struct sample copy = *s;
	char line[LINE_MAX_LEN];
	struct strbuf out;

	strbuf_init_fixed(&out, line, sizeof(line) - 2); /* the end always has room */
	strbuf_printf(&out, "[debug] %.*s: type=%s <", SLICE_FMT(prefix),
		      sample_type_name(s->type));
	if (sample_cast(&copy, SMP_STR, ctx->arena))
		strbuf_add(&out, copy.text);
	for (size_t i = 0; i < out.len; i++)
		if (line[i] < ' ' || line[i] == 127)
			line[i] = '.';
	memcpy(line + out.len, ">\n", 2);
	if (write((int)args[1].integer, line, out.len + 2) < 0)
		return true; /* nobody reads: the sample passes all the same */
	return true;
}

const struct expr_converter expr_debug_converters[] = {
	{ .name = "debug", .args = { ARG_STR, ARG_STR }, .in = SMP_ANY, .out = SMP_ANY,
	  .context = true, .convert = convert_debug, .check = check_debug,
	  .syntax = "([<prefix>][,stdout|stderr])",
	  .help = "shows the sample on the standard output or error" },
	{ 0 }
};

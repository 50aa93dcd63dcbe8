/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conv_json.c - JSON, RFC 8259: texts as the inside of a string, and values by their path */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "codec/json.h"
#include "expr/modules.h"
#include "expr_priv.h"

enum json_input {
	JSON_UTF8 = 1 << 0,       /* else every byte is a character */
	JSON_SILENT = 1 << 1,     /* what is wrong is left out; else nothing is given */
	JSON_PERMISSIVE = 1 << 2, /* a character may take more bytes than it needs */
};

static bool check_json(struct conf_line *l, struct expr_arg *args, const char **error)
{
	static const struct { const char *name; unsigned flags; } inputs[] = {
		{ "", 0 }, { "ascii", 0 }, { "utf8", JSON_UTF8 },
		{ "utf8s", JSON_UTF8 | JSON_SILENT }, { "utf8p", JSON_UTF8 | JSON_PERMISSIVE },
		{ "utf8ps", JSON_UTF8 | JSON_SILENT | JSON_PERMISSIVE },
	};

	*error = "Unexpected input code type. Allowed value are 'ascii', 'utf8', 'utf8s', "
		 "'utf8p' and 'utf8ps'";
	for (unsigned i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
		if (strcmp(args[0].name.ptr, inputs[i].name) != 0)
			continue;
		args[0].type = ARG_INT;
		args[0].integer = inputs[i].flags;
		return true;
	}
	return false;
}

/* The character at *at, moving past it (past what belongs to it when it is wrong). -1: wrong. */
static int64_t utf8_next(struct slice text, size_t *at, bool permissive)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char first = (unsigned char)text.ptr[(*at)++];
	unsigned len = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 :
		       first < 0xf8 ? 4 : 0;
	uint32_t c = len > 1 ? first & (0x7fu >> len) : first;

	if (!len)
		return -1;
	for (unsigned i = 1; i < len; i++) {
		if (*at == text.len || ((unsigned char)text.ptr[*at] & 0xc0) != 0x80)
			return -1;
		c = c << 6 | ((unsigned char)text.ptr[(*at)++] & 0x3f);
	}
	if ((c < least[len] && !permissive) || (c >= 0xd800 && c <= 0xdfff) || c > 0xfffd)
		return -1;
	return c;
}

static void put_character(struct strbuf *out, uint32_t c)
{
	static const char escaped[] = "\b\f\n\r\t\"\\/", letters[] = "bfnrt\"\\/";
	const char *found = c && c < 128 ? strchr(escaped, (int)c) : NULL;

	if (found)
		strbuf_printf(out, "\\%c", letters[found - escaped]);
	else if (c >= 32 && c < 127)
		strbuf_add_char(out, (char)c);
	else
		strbuf_printf(out, "\\u%04x", c);
}

static bool convert_json(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	unsigned flags = (unsigned)args[0].integer;
	struct slice result = slice_none();
	struct strbuf out;
	bool ok = true;
	size_t at = 0;

	strbuf_init(&out);
	while (ok && at < s->text.len) {
		int64_t c = flags & JSON_UTF8 ? utf8_next(s->text, &at, flags & JSON_PERMISSIVE) :
			    (unsigned char)s->text.ptr[at++];

		if (c >= 0)
			put_character(&out, (uint32_t)c);
		ok = c >= 0 || flags & JSON_SILENT;
	}
	if (ok && !out.overflow)
		result = arena_copy(ctx->arena, slice_make(out.ptr ? out.ptr : "", out.len));
	strbuf_fini(&out);
	s->text = result;
	return result.ptr != NULL;
}

/* --- reading ------------------------------------------------------------------------------ */

bool expr_json_check(struct conf_line *l, struct expr_arg *args, const char **error)
{
	*error = "json_path must not be empty";
	if (!args[0].name.len)
		return false;
	*error = "output_type only supports \"int\" as argument";
	return args[1].type != ARG_STR || slice_eq(args[1].name, SLICE("int"));
}

/* Beyond these a number of JSON is not exact everywhere, RFC 8259 section 6. */
#define EXACT_MAX (1ll << 53)

/* A number: with its fraction as a text, or (int) as an integer without it. */
static bool give_number(struct expr_ctx *ctx, struct slice text, bool is_int, struct sample *s)
{
	char copy[64];

	slice_copy(text, copy, sizeof(copy));
	if (is_int) {
		errno = 0;
		s->type = SMP_INT;
		s->integer = strtoll(copy, NULL, 10);
		return !errno && s->integer > -EXACT_MAX && s->integer < EXACT_MAX;
	}
	s->type = SMP_STR;
	s->text = slice_of(arena_printf(ctx->arena, "%g", strtod(copy, NULL)));
	return s->text.ptr != NULL;
}

bool expr_json_query(struct expr_ctx *ctx, const struct expr_arg *args, struct slice text,
		     struct sample *s)
{
	struct slice value;
	enum json_type type = json_find(text, args[0].text, &value);
	char *out;
	long len;

	switch (type) {
	case JSON_TRUE:
	case JSON_FALSE:
		s->type = SMP_BOOL;
		s->boolean = type == JSON_TRUE;
		return true;
	case JSON_NUMBER:
		return give_number(ctx, value, args[1].type == ARG_STR, s);
	case JSON_ARRAY:
		s->type = SMP_STR;
		s->text = value;
		return true;
	case JSON_STRING:
		out = arena_alloc(ctx->arena, value.len + 1);
		len = out ? json_unescape(value, out) : -1;
		s->type = SMP_STR;
		s->text = slice_make(out, len < 0 ? 0 : (size_t)len);
		return len >= 0;
	default:
		return false;
	}
}

static bool convert_json_query(struct expr_ctx *ctx, const struct expr_arg *args,
			       struct sample *s)
{
	return expr_json_query(ctx, args, s->text, s);
}

static const struct expr_converter converters[] = {
	{ .name = "json", .args_min = 1, .args = { ARG_STR }, .in = SMP_STR, .out = SMP_STR,
	  .convert = convert_json, .check = check_json,
	  .syntax = "[(ascii|utf8|utf8s|utf8p|utf8ps)]", .help = "escaped for a JSON string" },
	{ .name = "json_query", .args_min = 1, .args = { ARG_STR, ARG_STR }, .in = SMP_STR,
	  .out = SMP_ANY, .convert = convert_json_query, .check = expr_json_check,
	  .syntax = "(<path>[,int])", .help = "the value of a JSON text that the path leads to" },
	{ 0 }
};

const struct module mod_conv_json = { .name = "conv_json", .converters = converters };

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conv_field.c - converters of values of HTTP fields: Accept-Language, Forwarded */
#include <string.h>
#include "base/num.h"
#include "codec/rfc7239.h"
#include "expr/modules.h"
#include "expr_priv.h"

static bool give_text(struct sample *s, struct slice text)
{
	s->type = SMP_STR;
	s->text = text;
	s->flags |= SMP_CONST;
	return text.ptr != NULL;
}

static bool give_int(struct sample *s, int64_t v)
{
	s->type = SMP_INT;
	s->integer = v;
	return true;
}

/* --- Accept-Language, RFC 9110 12.5.4 ----------------------------------------------------- */

/* The item of the list "a;b;c" that is <wanted>, or none. */
static struct slice list_find(struct slice list, struct slice wanted)
{
	while (list.len) {
		size_t end = slice_find_char(list, 0, ';');
		struct slice item = slice_sub(list, 0, end);

		if (wanted.len && slice_eq(item, wanted))
			return item;
		if (end == SIZE_MAX)
			break;
		list = slice_sub(list, end + 1, list.len);
	}
	return slice_none();
}

/* The language of one range that we speak: with its variant, else without. */
static struct slice match_language(struct slice list, struct slice range)
{
	struct slice found = list_find(list, range);
	size_t dash = slice_find_char(range, 0, '-');

	if (found.ptr || dash == SIZE_MAX)
		return found;
	return list_find(list, slice_sub(range, 0, dash));
}

/* language(<list>[,<default>]): the one of the highest quality, the first of those. */
static bool convert_language(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	struct slice rest = s->text, best = slice_none();
	unsigned best_quality = 0;

	while (rest.len) {
		size_t end = slice_find_char(rest, 0, ',');
		struct slice range = slice_sub(rest, 0, end), found;
		size_t semicolon = slice_find_char(range, 0, ';');
		unsigned quality = semicolon == SIZE_MAX ? 1000 :
				   num_parse_quality(slice_sub(range, semicolon + 1, range.len));

		found = match_language(args[0].text, slice_trim(slice_sub(range, 0, semicolon)));
		if (found.ptr && quality > best_quality) {
			best = found;
			best_quality = quality;
		}
		if (end == SIZE_MAX)
			break;
		rest = slice_sub(rest, end + 1, rest.len);
	}
	if (!best.ptr && args[1].type == ARG_STR)
		best = args[1].text;
	return give_text(s, best);
}

/* --- Forwarded, RFC 7239 ------------------------------------------------------------------ */

static bool convert_rfc7239_is_valid(struct expr_ctx *ctx, const struct expr_arg *args,
				     struct sample *s)
{
	struct rfc7239 parsed;

	s->boolean = rfc7239_parse(s->text, &parsed);
	s->type = SMP_BOOL;
	return true;
}

static bool check_rfc7239_field(struct conf_line *l, struct expr_arg *args, const char **error)
{
	args[0].type = ARG_INT;
	args[0].integer = rfc7239_field_find(args[0].name);
	*error = "expects 'for', 'by', 'host' or 'proto'";
	return args[0].integer != RFC7239_FIELDS;
}

static bool convert_rfc7239_field(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *s)
{
	struct rfc7239 parsed;

	return rfc7239_parse(s->text, &parsed) && give_text(s, parsed.fields[args[0].integer]);
}

static bool convert_rfc7239_n2nn(struct expr_ctx *ctx, const struct expr_arg *args,
				 struct sample *s)
{
	struct rfc7239_node node;
	size_t used;

	if (!rfc7239_parse_node(s->text, &node, &used))
		return false;
	give_text(s, node.name);
	if (node.kind == RFC7239_NAME)
		return true;
	return sample_cast(s, node.kind == RFC7239_IPV4 ? SMP_IPV4 : SMP_IPV6, ctx->arena);
}

static bool convert_rfc7239_n2np(struct expr_ctx *ctx, const struct expr_arg *args,
				 struct sample *s)
{
	struct rfc7239_node node;
	size_t used;

	if (!rfc7239_parse_node(s->text, &node, &used))
		return false;
	if (node.number)
		return give_int(s, node.number);
	return give_text(s, node.port);
}

/* '_' in front of a text of the permitted characters. */
static bool give_obfuscated(struct expr_ctx *ctx, struct sample *s)
{
	if (!rfc7239_is_obfuscated(s->text))
		return false;
	return give_text(s, slice_of(arena_printf(ctx->arena, "_%.*s", SLICE_FMT(s->text))));
}

static bool convert_rfc7239_nn(struct expr_ctx *ctx, const struct expr_arg *args,
			       struct sample *s)
{
	bool is_ipv4 = s->type == SMP_IPV4, is_ipv6 = s->type == SMP_IPV6;

	if (!sample_cast(s, SMP_STR, ctx->arena))
		return false;
	if (is_ipv4)
		return true;
	if (is_ipv6)
		return give_text(s, slice_of(arena_printf(ctx->arena, "[%.*s]",
							  SLICE_FMT(s->text))));
	return s->text.len ? give_obfuscated(ctx, s) : give_text(s, SLICE("unknown"));
}

static bool convert_rfc7239_np(struct expr_ctx *ctx, const struct expr_arg *args,
			       struct sample *s)
{
	if (s->type == SMP_INT) /* unsigned, 32 bits */
		return give_text(s, slice_of(arena_printf(ctx->arena, "%u",
							  (unsigned)s->integer)));
	return sample_cast(s, SMP_STR, ctx->arena) && give_obfuscated(ctx, s);
}

static const struct expr_converter converters[] = {
	{ .name = "language", .args_min = 1, .args = { ARG_STR, ARG_STR }, .in = SMP_STR,
	  .out = SMP_STR, .convert = convert_language,
	  .syntax = "(<language>[;<language>]*[,<default>])",
	  .help = "the language of the list that an Accept-Language prefers" },
	{ .name = "rfc7239_field", .args_min = 1, .args = { ARG_STR }, .in = SMP_STR,
	  .out = SMP_STR, .convert = convert_rfc7239_field, .check = check_rfc7239_field,
	  .syntax = "(for|by|host|proto)", .help = "a parameter of a Forwarded value" },
	{ .name = "rfc7239_is_valid", .in = SMP_STR, .out = SMP_BOOL,
	  .convert = convert_rfc7239_is_valid, .help = "is it a well-formed Forwarded value?" },
	{ .name = "rfc7239_n2nn", .in = SMP_STR, .out = SMP_ANY, .convert = convert_rfc7239_n2nn,
	  .help = "the name or address of a node of Forwarded" },
	{ .name = "rfc7239_n2np", .in = SMP_STR, .out = SMP_ANY, .convert = convert_rfc7239_n2np,
	  .help = "the port of a node of Forwarded" },
	{ .name = "rfc7239_nn", .in = SMP_ANY, .out = SMP_STR, .convert = convert_rfc7239_nn,
	  .help = "an address or a text as the name of a node of Forwarded" },
	{ .name = "rfc7239_np", .in = SMP_ANY, .out = SMP_STR, .convert = convert_rfc7239_np,
	  .help = "a number or a text as the port of a node of Forwarded" },
	{ 0 }
};

const struct module mod_conv_field = { .name = "conv_field", .converters = converters };

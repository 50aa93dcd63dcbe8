/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conv_core.c - converters of integers, booleans and addresses */
#include <stdlib.h>
#include <string.h>
#include "expr/modules.h"
#include "expr_priv.h"

/* --- arithmetic: results saturate --------------------------------------------------------- */

/* The argument is an integer (empty: 0) or a variable. */
static bool check_integer(struct conf_line *l, struct expr_arg *args, const char **error)
{
	return expr_arg_number_check(l, &args[0], error);
}

static int64_t saturate(int64_t result, bool overflow, bool negative)
{
	if (!overflow)
		return result;
	return negative ? INT64_MIN : INT64_MAX;
}

static bool convert_add(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	int64_t b, r;
	bool over;

	if (!expr_arg_number(&args[0], ctx, &b))
		return false;
	over = __builtin_add_overflow(s->integer, b, &r);
	s->integer = saturate(r, over, b < 0);
	return true;
}

static bool convert_sub(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	int64_t b, r;
	bool over;

	if (!expr_arg_number(&args[0], ctx, &b))
		return false;
	over = __builtin_sub_overflow(s->integer, b, &r);
	s->integer = saturate(r, over, b > 0);
	return true;
}

static bool convert_mul(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	int64_t b, r;
	bool over;

	if (!expr_arg_number(&args[0], ctx, &b))
		return false;
	over = __builtin_mul_overflow(s->integer, b, &r);
	s->integer = saturate(r, over, (s->integer < 0) != (b < 0));
	return true;
}

/* Dividing by zero gives the largest integer. */
static bool convert_div(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	int64_t b;

	if (!expr_arg_number(&args[0], ctx, &b))
		return false;
	if (b == 0 || (b == -1 && s->integer == INT64_MIN))
		s->integer = INT64_MAX;
	else
		s->integer /= b;
	return true;
}

static bool convert_mod(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	int64_t b;

	if (!expr_arg_number(&args[0], ctx, &b))
		return false;
	s->integer = b == 0 || b == -1 ? 0 : s->integer % b;
	return true;
}

static bool convert_and(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	int64_t b;

	if (!expr_arg_number(&args[0], ctx, &b))
		return false;
	s->integer &= b;
	return true;
}

static bool convert_or(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	int64_t b;

	if (!expr_arg_number(&args[0], ctx, &b))
		return false;
	s->integer |= b;
	return true;
}

static bool convert_xor(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	int64_t b;

	if (!expr_arg_number(&args[0], ctx, &b))
		return false;
	s->integer ^= b;
	return true;
}

static bool convert_neg(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	s->integer = s->integer == INT64_MIN ? INT64_MAX : -s->integer;
	return true;
}

static bool convert_cpl(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	s->integer = ~s->integer;
	return true;
}

/* --- verdicts ----------------------------------------------------------------------------- */

static bool set_bool(struct sample *s, bool v)
{
	s->type = SMP_BOOL;
	s->boolean = v;
	return true;
}

static bool convert_bool(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return set_bool(s, s->integer != 0);
}

static bool convert_not(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return set_bool(s, s->integer == 0);
}

static bool convert_odd(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return set_bool(s, s->integer & 1);
}

static bool convert_even(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return set_bool(s, !(s->integer & 1));
}

static bool convert_iif(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	s->text = s->boolean ? args[0].text : args[1].text;
	s->type = SMP_STR;
	s->flags |= SMP_CONST;
	return true;
}

/* --- addresses ---------------------------------------------------------------------------- */

/* An IPv6 address that holds an IPv4 one is masked as such; others need the second mask. */
static bool convert_ipmask(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	if (s->type == SMP_IPV4 || sample_cast(s, SMP_IPV4, ctx->arena)) {
		s->ipv4 &= args[0].ipv4;
		return true;
	}
	if (s->type != SMP_IPV6 || args[1].type != ARG_MASK6)
		return false;
	for (int i = 0; i < 16; i++)
		s->ipv6[i] &= args[1].ipv6[i];
	return true;
}

#define INT_TO_INT(n, f, h) \
	{ .name = n, .args_min = 1, .args = { ARG_STR }, .in = SMP_INT, .out = SMP_INT, \
	  .convert = f, .check = check_integer, .syntax = "(<value>)", .help = h }
#define INT_ALONE(n, o, f, h) { .name = n, .in = SMP_INT, .out = o, .convert = f, .help = h }

static const struct expr_converter converters[] = {
	INT_TO_INT("add", convert_add, "adds"),
	INT_TO_INT("sub", convert_sub, "subtracts"),
	INT_TO_INT("mul", convert_mul, "multiplies"),
	INT_TO_INT("div", convert_div, "divides; the largest integer when by zero"),
	INT_TO_INT("mod", convert_mod, "the rest of the division; zero when by zero"),
	INT_TO_INT("and", convert_and, "bitwise and"),
	INT_TO_INT("or", convert_or, "bitwise or"),
	INT_TO_INT("xor", convert_xor, "bitwise exclusive or"),
	INT_ALONE("neg", SMP_INT, convert_neg, "the opposite"),
	INT_ALONE("cpl", SMP_INT, convert_cpl, "the one's complement"),
	INT_ALONE("bool", SMP_BOOL, convert_bool, "true unless zero"),
	INT_ALONE("not", SMP_BOOL, convert_not, "true when zero"),
	INT_ALONE("odd", SMP_BOOL, convert_odd, "true when odd"),
	INT_ALONE("even", SMP_BOOL, convert_even, "true when even"),
	{.name = "iif",
	 .args_min = 2,
	 .args = {ARG_STR, ARG_STR},
	 .in = SMP_BOOL,
	 .out = SMP_STR,
	 .convert = convert_iif,
	 .syntax = "(<if true>,<if false>)",
	 .help = "one of two texts"},
	{.name = "ipmask",
	 .args_min = 1,
	 .args = {ARG_MASK4, ARG_MASK6},
	 .in = SMP_ADDR,
	 .out = SMP_ADDR,
	 .convert = convert_ipmask,
	 .syntax = "(<mask4>[,<mask6>])",
	 .help = "the network of an address"},
	{0}
};

const struct module mod_conv_core = { .name = "conv_core", .converters = converters };

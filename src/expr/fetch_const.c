/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fetch_const.c - fetches that need no traffic: constants, dates, and facts of the process */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/num.h"
#include "core/activity.h"
#include "core/thread.h"
#include "expr/modules.h"
#include "expr_priv.h"

static enum expr_result give_bool(struct sample *out, bool v)
{
	out->type = SMP_BOOL;
	out->boolean = v;
	return EXPR_FOUND;
}

static enum expr_result give_int(struct sample *out, int64_t v)
{
	out->type = SMP_INT;
	out->integer = v;
	return EXPR_FOUND;
}

static enum expr_result give_text(struct sample *out, enum sample_type type, struct slice text)
{
	out->type = type;
	out->text = text.ptr ? text : SLICE("");
	out->flags |= SMP_CONST;
	return EXPR_FOUND;
}

/* --- constants ---------------------------------------------------------------------------- */

static enum expr_result fetch_true(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	return give_bool(out, true);
}

static enum expr_result fetch_false(struct expr_ctx *ctx, const struct expr_arg *args,
				    struct sample *out)
{
	return give_bool(out, false);
}

static bool check_bool(struct conf_line *l, struct expr_arg *args, const char **error)
{
	const char *text = args[0].name.ptr;

	if (strcasecmp(text, "true") == 0 || strcmp(text, "1") == 0) {
		args[0].integer = 1;
	} else if (strcasecmp(text, "false") == 0 || strcmp(text, "0") == 0) {
		args[0].integer = 0;
	} else {
		*error = "Expects 'true', 'false', '0' or '1'";
		return false;
	}
	args[0].type = ARG_INT;
	return true;
}

static enum expr_result fetch_bool(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	return give_bool(out, args[0].integer);
}

static enum expr_result fetch_int(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *out)
{
	return give_int(out, args[0].integer);
}

static enum expr_result fetch_ipv4(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	out->type = SMP_IPV4;
	out->ipv4 = args[0].ipv4;
	return EXPR_FOUND;
}

static enum expr_result fetch_ipv6(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	out->type = SMP_IPV6;
	memcpy(out->ipv6, args[0].ipv6, 16);
	return EXPR_FOUND;
}

static enum expr_result fetch_str(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *out)
{
	return give_text(out, SMP_STR, args[0].text);
}

static int hex_value(char c)
{
	if (ascii_is_digit(c))
		return c - '0';
	c = ascii_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool check_bin(struct conf_line *l, struct expr_arg *args, const char **error)
{
	struct slice in = args[0].name;
	char *bytes = arena_alloc(&l->cfg->arena, in.len / 2 + 1);

	*error = "an even number of hex digit is expected";
	if (!bytes || !in.len || in.len % 2)
		return false;
	for (size_t i = 0; i < in.len; i += 2) {
		int high = hex_value(in.ptr[i]), low = hex_value(in.ptr[i + 1]);

		if (high < 0 || low < 0) {
			char bad = in.ptr[high < 0 ? i : i + 1];

			*error = arena_printf(&l->cfg->arena,
					      "an hex digit is expected (found '%c')", bad);
			return false;
		}
		bytes[i / 2] = (char)(high << 4 | low);
	}
	args[0].text = slice_make(bytes, in.len / 2);
	return true;
}

static enum expr_result fetch_bin(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *out)
{
	return give_text(out, SMP_BIN, args[0].text);
}

static enum expr_result fetch_meth(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	give_text(out, SMP_METH, args[0].text);
	out->method = sample_method_find(args[0].text);
	return EXPR_FOUND;
}

/* The variable is read while the configuration is, so a setenv above this line counts. */
static bool check_env(struct conf_line *l, struct expr_arg *args, const char **error)
{
	const char *value = conf_getenv(l->cfg, args[0].name.ptr);

	args[0].text = value ? arena_copy(&l->cfg->arena, slice_of(value)) : slice_none();
	*error = "out of memory";
	return !value || args[0].text.ptr;
}

static enum expr_result fetch_env(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *out)
{
	return args[0].text.ptr ? give_text(out, SMP_STR, args[0].text) : EXPR_NONE;
}

/* --- dates -------------------------------------------------------------------------------- */

enum date_unit { DATE_S, DATE_MS, DATE_US };

/* date([<offset>[,<unit>]]): the unit becomes a number. */
static bool check_date(struct conf_line *l, struct expr_arg *args, const char **error)
{
	const char *unit = args[1].type == ARG_STR ? args[1].name.ptr : "s";

	if (strcmp(unit, "s") != 0 && strcmp(unit, "ms") != 0 && strcmp(unit, "us") != 0) {
		*error = arena_printf(&l->cfg->arena, "expects 's', 'ms' or 'us', got '%s'", unit);
		return false;
	}
	args[1].integer = unit[0] == 's' ? DATE_S : unit[0] == 'm' ? DATE_MS : DATE_US;
	args[1].type = ARG_INT;
	return true;
}

static enum expr_result fetch_date(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	int64_t now = (int64_t)clock_wall_us();

	if (args[1].integer == DATE_S)
		now /= 1000000;
	else if (args[1].integer == DATE_MS)
		now /= 1000;
	out->flags |= SMP_VOLATILE | SMP_MAY_CHANGE;
	return give_int(out, now + (args[0].type == ARG_INT ? args[0].integer : 0));
}

static enum expr_result fetch_date_us(struct expr_ctx *ctx, const struct expr_arg *args,
				      struct sample *out)
{
	out->flags |= SMP_VOLATILE | SMP_MAY_CHANGE;
	return give_int(out, (int64_t)(clock_wall_us() % 1000000));
}

/* --- chance ------------------------------------------------------------------------------- */

static enum expr_result fetch_rand(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	uint64_t v = num_random() >> 32;

	if (args[0].type == ARG_INT)
		v = v * (uint64_t)args[0].integer >> 32;
	out->flags |= SMP_VOLATILE | SMP_MAY_CHANGE;
	return give_int(out, (int64_t)v);
}

static bool check_uuid(struct conf_line *l, struct expr_arg *args, const char **error)
{
	if (args[0].type != ARG_INT) {
		args[0].type = ARG_INT;
		args[0].integer = 4;
	}
	if (args[0].integer == 4 || args[0].integer == 7)
		return true;
	*error = arena_printf(&l->cfg->arena, "Unsupported UUID version: '%lld'",
			      (long long)args[0].integer);
	return false;
}

/* RFC 9562: version 4 is chance alone, version 7 begins with the date in ms. */
static enum expr_result fetch_uuid(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	uint64_t high = 0, low = 0;
	char *text;

	if (getrandom(&high, sizeof(high), 0) != sizeof(high) ||
	    getrandom(&low, sizeof(low), 0) != sizeof(low))
		return EXPR_NONE;
	if (args[0].integer == 7)
		high = clock_wall_us() / 1000 << 16 | (high & 0xffff);
	high = (high & ~0xf000ull) | (uint64_t)args[0].integer << 12;
	low = (low & ~(3ull << 62)) | 2ull << 62;
	text = arena_printf(ctx->arena, "%08llx-%04llx-%04llx-%04llx-%012llx",
			    (unsigned long long)high >> 32, (unsigned long long)high >> 16 & 0xffff,
			    (unsigned long long)high & 0xffff, (unsigned long long)low >> 48,
			    (unsigned long long)low & 0xffffffffffffull);
	if (!text)
		return EXPR_NONE;
	out->flags |= SMP_VOLATILE | SMP_MAY_CHANGE;
	return give_text(out, SMP_STR, slice_of(text));
}

/* --- the process -------------------------------------------------------------------------- */

static enum expr_result fetch_hostname(struct expr_ctx *ctx, const struct expr_arg *args,
				       struct sample *out)
{
	char name[256] = "";
	struct slice copy;

	if (gethostname(name, sizeof(name) - 1) != 0)
		return EXPR_NONE;
	copy = arena_copy(ctx->arena, slice_of(name));
	return copy.ptr ? give_text(out, SMP_STR, copy) : EXPR_NONE;
}

static enum expr_result fetch_one(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *out)
{
	return give_int(out, 1);
}

static enum expr_result fetch_pid(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *out)
{
	return give_int(out, getpid());
}

static enum expr_result fetch_thread(struct expr_ctx *ctx, const struct expr_arg *args,
				     struct sample *out)
{
	return give_int(out, thread_id);
}

static enum expr_result fetch_group(struct expr_ctx *ctx, const struct expr_arg *args,
				    struct sample *out)
{
	return give_int(out, thread_group);
}

/* What part of the last period <count> threads from <first> on were busy, in percent. */
static int64_t usage_of(unsigned first, unsigned count)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += activity_read(first + i, ACTIVITY_avg_cpu_pct);
	return (int64_t)(count ? sum / count : 0);
}

static enum expr_result fetch_usage_group(struct expr_ctx *ctx, const struct expr_arg *args,
					  struct sample *out)
{
	return give_int(out, usage_of(thread_group_first(thread_group),
				      thread_group_size(thread_group)));
}

static enum expr_result fetch_usage_process(struct expr_ctx *ctx, const struct expr_arg *args,
					    struct sample *out)
{
	return give_int(out, usage_of(0, thread_count()));
}

static enum expr_result fetch_usage_thread(struct expr_ctx *ctx, const struct expr_arg *args,
					   struct sample *out)
{
	return give_int(out, usage_of(thread_id, 1));
}

static const struct expr_fetch fetches[] = {
	{ .name = "cpu_usage_grp", .out = SMP_INT, .use = EXPR_USE_INTERNAL,
	  .fetch = fetch_usage_group, .help = "how busy the thread's group is, in percent" },
	{ .name = "cpu_usage_proc", .out = SMP_INT, .use = EXPR_USE_INTERNAL,
	  .fetch = fetch_usage_process, .help = "how busy all threads are, in percent" },
	{ .name = "cpu_usage_thr", .out = SMP_INT, .use = EXPR_USE_INTERNAL,
	  .fetch = fetch_usage_thread, .help = "how busy the thread is, in percent" },
	{ .name = "tgroup", .out = SMP_INT, .use = EXPR_USE_CONST, .fetch = fetch_group,
	  .help = "the number of the thread's group, from 0" },
	{ .name = "always_true", .out = SMP_BOOL, .use = EXPR_USE_CONST, .constant = true,
	  .fetch = fetch_true, .help = "true" },
	{ .name = "always_false", .out = SMP_BOOL, .use = EXPR_USE_CONST, .constant = true,
	  .fetch = fetch_false, .help = "false" },
	{ .name = "bool", .args_min = 1, .args = { ARG_STR }, .out = SMP_BOOL,
	  .use = EXPR_USE_CONST, .constant = true, .fetch = fetch_bool, .check = check_bool,
	  .syntax = "(<bool>)", .help = "a constant: true, false, 1 or 0" },
	{ .name = "int", .args_min = 1, .args = { ARG_INT }, .out = SMP_INT,
	  .use = EXPR_USE_CONST, .constant = true, .fetch = fetch_int,
	  .syntax = "(<integer>)", .help = "a constant" },
	{ .name = "ipv4", .args_min = 1, .args = { ARG_IPV4 }, .out = SMP_IPV4,
	  .use = EXPR_USE_CONST, .constant = true, .fetch = fetch_ipv4,
	  .syntax = "(<address>)", .help = "a constant" },
	{ .name = "ipv6", .args_min = 1, .args = { ARG_IPV6 }, .out = SMP_IPV6,
	  .use = EXPR_USE_CONST, .constant = true, .fetch = fetch_ipv6,
	  .syntax = "(<address>)", .help = "a constant" },
	{ .name = "str", .args_min = 1, .args = { ARG_STR }, .out = SMP_STR,
	  .use = EXPR_USE_CONST, .constant = true, .fetch = fetch_str,
	  .syntax = "(<text>)", .help = "a constant" },
	{ .name = "bin", .args_min = 1, .args = { ARG_STR }, .out = SMP_BIN,
	  .use = EXPR_USE_CONST, .constant = true, .fetch = fetch_bin, .check = check_bin,
	  .syntax = "(<hexadecimal digits>)", .help = "a constant of bytes" },
	{ .name = "meth", .args_min = 1, .args = { ARG_STR }, .out = SMP_METH,
	  .use = EXPR_USE_CONST, .constant = true, .fetch = fetch_meth,
	  .syntax = "(<method>)", .help = "a constant method" },
	{ .name = "env", .args_min = 1, .args = { ARG_STR }, .out = SMP_STR,
	  .use = EXPR_USE_CONST, .constant = true, .fetch = fetch_env, .check = check_env,
	  .syntax = "(<name>)", .help = "an environment variable, when the configuration is read" },
	{ .name = "date", .args = { ARG_INT, ARG_STR }, .out = SMP_INT, .use = EXPR_USE_CONST,
	  .fetch = fetch_date, .check = check_date, .syntax = "([<offset>[,<unit>]])",
	  .help = "now, since 1970, in s, ms or us" },
	{ .name = "date_us", .out = SMP_INT, .use = EXPR_USE_CONST, .fetch = fetch_date_us,
	  .help = "microseconds within the current second" },
	{ .name = "rand", .args = { ARG_INT }, .out = SMP_INT, .use = EXPR_USE_CONST,
	  .fetch = fetch_rand, .syntax = "([<range>])", .help = "a random integer below <range>" },
	{ .name = "uuid", .args = { ARG_INT }, .out = SMP_STR, .use = EXPR_USE_CONST,
	  .fetch = fetch_uuid, .check = check_uuid, .syntax = "([<version>])",
	  .help = "a new UUID, version 4 or 7" },
	{ .name = "hostname", .out = SMP_STR, .use = EXPR_USE_CONST, .fetch = fetch_hostname,
	  .help = "the system's host name" },
	{ .name = "nbproc", .out = SMP_INT, .use = EXPR_USE_CONST, .fetch = fetch_one,
	  .help = "1: there is one process" },
	{ .name = "proc", .out = SMP_INT, .use = EXPR_USE_CONST, .fetch = fetch_one,
	  .help = "1: there is one process" },
	{ .name = "pid", .out = SMP_INT, .use = EXPR_USE_CONST, .fetch = fetch_pid,
	  .help = "the process id" },
	{ .name = "thread", .out = SMP_INT, .use = EXPR_USE_CONST, .fetch = fetch_thread,
	  .help = "the number of the thread, from 0" },
	{ 0 }
};

const struct module mod_fetch_const = { .name = "fetch_const", .fetches = fetches };

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conv_date.c - converters of dates, which are integers since the epoch */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "codec/date.h"
#include "expr/modules.h"
#include "expr_priv.h"

#define DATE_MAX 1024

/* How a name of the family counts, and where. */
struct date_kind {
	int64_t per_second; /* 1, 1000 or 1000000 */
	int64_t unit_ns;    /* nanoseconds of one; 0: %N means nothing */
	bool local;
};

/* Where the conversion that <format> begins with has its N, if it is %N or %3N; *width: digits. */
static const char *nanoseconds_end(const char *format, unsigned *width)
{
	const char *at = format + 1;

	*width = 0;
	while (*at >= '0' && *at <= '9')
		*width = *width > 9 ? 9 : *width * 10 + (unsigned)(*at++ - '0');
	if (at == format + 1 || *width > 9)
		*width = 9;
	return *at == 'N' ? at : NULL;
}

/* Writes <format> with the nanoseconds (unless -1) in the place of %N, as many digits as its width
 * says. False: no room.
 */
static bool expand_part(const char *format, int64_t ns, struct strbuf *out)
{
	char digits[24];
	unsigned width;

	snprintf(digits, sizeof(digits), "%09lld", (long long)ns);
	for (; *format; format++) {
		const char *end = *format == '%' && ns >= 0 ? nanoseconds_end(format, &width)
							    : NULL;

		if (end) {
			strbuf_add(out, slice_make(digits, width));
			format = end;
			continue;
		}
		strbuf_add_char(out, *format);
		if (format[0] == '%' && format[1])
			strbuf_add_char(out, *++format);
	}
	return !out->overflow;
}

/* The date with the offset that the argument gives, if there. False: beyond all dates. */
static bool add_offset(int64_t date, const struct expr_arg *arg, int64_t *out)
{
	return !__builtin_add_overflow(date, arg->type == ARG_INT ? arg->integer : 0, out);
}

static bool convert_date(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	const struct date_kind *kind = ctx->data;
	int64_t when, part;
	time_t seconds;
	char format[DATE_MAX], text[DATE_MAX];
	struct strbuf expanded;
	struct slice copy;
	struct tm tm;

	if (!add_offset(s->integer, &args[1], &when))
		return false;
	part = when % kind->per_second;
	seconds = (time_t)(when / kind->per_second);
	if (part < 0) {
		part += kind->per_second;
		seconds--;
	}
	strbuf_init_fixed(&expanded, format, sizeof(format));
	if (!expand_part(args[0].name.ptr, kind->unit_ns ? part * kind->unit_ns : -1, &expanded) ||
	    !(kind->local ? localtime_r(&seconds, &tm) : gmtime_r(&seconds, &tm)))
		return false;
	text[0] = 0;
	copy = slice_make(text, expanded.len ? strftime(text, sizeof(text), format, &tm) : 0);
	copy = arena_copy(ctx->arena, copy);
	s->type = SMP_STR;
	s->text = copy;
	return copy.ptr != NULL;
}

/* http_date([<offset>[,<unit>]]): the unit becomes what a second is worth. */
static bool check_http_date(struct conf_line *l, struct expr_arg *args, const char **error)
{
	const char *unit = args[1].type == ARG_STR ? args[1].name.ptr : "s";

	if (strcmp(unit, "s") == 0)
		args[1].integer = 1;
	else if (strcmp(unit, "ms") == 0)
		args[1].integer = 1000;
	else if (strcmp(unit, "us") == 0)
		args[1].integer = 1000000;
	else {
		*error = arena_printf(&l->cfg->arena, "expects 's', 'ms' or 'us', got '%s'", unit);
		return false;
	}
	args[1].type = ARG_INT;
	return true;
}

/* IMF-fixdate, RFC 9110 5.6.7, whatever the locale; finer units add theirs to the seconds. */
static bool convert_http_date(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	static const char days[][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	static const char months[][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	int64_t when, part;
	time_t seconds;
	char below[16] = "";
	struct tm tm;

	if (!add_offset(s->integer, &args[0], &when))
		return false;
	part = when % args[1].integer;
	seconds = (time_t)(when / args[1].integer);
	if (part < 0) {
		part += args[1].integer;
		seconds--;
	}
	if (args[1].integer > 1)
		snprintf(below, sizeof(below), args[1].integer == 1000 ? ".%03d" : ".%06d",
			 (int)part);

	if (!gmtime_r(&seconds, &tm))
		return false;
	s->type = SMP_STR;
	s->text = slice_of(arena_printf(ctx->arena, "%s, %02d %s %04d %02d:%02d:%02d%s GMT",
					days[tm.tm_wday], tm.tm_mday, months[tm.tm_mon],
					tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec,
					below));
	return s->text.ptr != NULL;
}

static bool convert_parse_date(struct expr_ctx *ctx, const struct expr_arg *args,
			       struct sample *s)
{
	s->type = SMP_INT;
	return date_parse(s->text, &s->integer);
}

#define DATE(n, per, ns, where, h) \
	{ .name = n, .args_min = 1, .args = { ARG_STR, ARG_INT }, .in = SMP_INT, .out = SMP_STR, \
	  .context = true, .convert = convert_date, .syntax = "(<format>[,<offset>])", .help = h, \
	  .data = &(const struct date_kind){ .per_second = per, .unit_ns = ns, .local = where } }

static const struct expr_converter converters[] = {
	{ .name = "date", .in = SMP_STR, .out = SMP_INT, .convert = convert_parse_date,
	  .help = "the seconds since 1970 of a date as HTTP writes it" },
	DATE("ltime", 1, 0, true, "seconds as a local date, by strftime()"),
	DATE("utime", 1, 0, false, "seconds as a date of UTC, by strftime()"),
	DATE("ms_ltime", 1000, 1000000, true, "milliseconds as a local date; %N: nanoseconds"),
	DATE("ms_utime", 1000, 1000000, false, "milliseconds as a date of UTC; %N: nanoseconds"),
	DATE("us_ltime", 1000000, 1000, true, "microseconds as a local date; %N: nanoseconds"),
	DATE("us_utime", 1000000, 1000, false, "microseconds as a date of UTC; %N: nanoseconds"),
	{ .name = "http_date", .args = { ARG_INT, ARG_STR }, .in = SMP_INT, .out = SMP_STR,
	  .context = true, .convert = convert_http_date, .check = check_http_date,
	  .syntax = "[(<offset>[,<unit>])]", .help = "a date as HTTP writes it" },
	{ 0 }
};

const struct module mod_conv_date = { .name = "conv_date", .converters = converters };

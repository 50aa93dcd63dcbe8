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

/* --- the last second of the thread -------------------------------------------------------- */

/* What stands before and behind the nanoseconds of a format that has them once, in that second:
 * the log asks for such a date at every request.
 */
struct date_parts {
	const struct date_kind *kind;
	time_t second;
	unsigned width;              /* digits */
	size_t head_len, tail_len;
	char format[64], head[64], tail[32];
};

/* Splits a format at its %N. False: it has none or several, or is too long. */
static bool split_format(const char *format, char *head, const char **tail, unsigned *width)
{
	const char *from = NULL, *end;
	unsigned any;

	for (const char *at = format; *at; at++) {
		if (*at != '%')
			continue;
		end = nanoseconds_end(at, &any);
		if (end && from)
			return false;
		if (end) {
			from = at;
			*tail = end + 1;
			*width = any;
			at = end;
		} else if (at[1]) {
			at++;
		}
	}
	if (!from)
		return false;
	memcpy(head, format, (size_t)(from - format));
	head[from - format] = 0;
	return true;
}

/* What strftime() makes of it, which is not empty unless <format> is. False: it does not fit. */
static bool format_part(char *out, size_t size, const char *format, const struct tm *tm,
			size_t *len)
{
	*len = *format ? strftime(out, size, format, tm) : 0;
	return *len || !*format;
}

/* Fills <c>. False: <format> is none that can be had in parts. */
static bool make_parts(struct date_parts *c, const struct date_kind *kind, const char *format,
		       time_t second)
{
	char head[sizeof(c->format)];
	const char *tail = NULL;
	struct tm tm;

	c->kind = NULL;
	if (strlen(format) >= sizeof(c->format) || !split_format(format, head, &tail, &c->width) ||
	    !(kind->local ? localtime_r(&second, &tm) : gmtime_r(&second, &tm)) ||
	    !format_part(c->head, sizeof(c->head), head, &tm, &c->head_len) ||
	    !format_part(c->tail, sizeof(c->tail), tail, &tm, &c->tail_len))
		return false;
	memcpy(c->format, format, strlen(format) + 1);
	c->second = second;
	c->kind = kind;
	return true;
}

/* The date out of its parts, into <out>, which has room for DATE_MAX bytes. 0: it has none. */
static size_t date_by_parts(const struct date_kind *kind, const char *format, time_t second,
			    int64_t ns, char *out)
{
	static __thread struct date_parts last;
	struct date_parts *c = &last;
	char *digits = out;

	if (!(c->kind == kind && c->second == second && strcmp(c->format, format) == 0) &&
	    !make_parts(c, kind, format, second))
		return 0;
	memcpy(out, c->head, c->head_len);
	digits += c->head_len;
	for (unsigned i = 9; i > 0; i--, ns /= 10)
		if (i <= c->width)
			digits[i - 1] = (char)('0' + ns % 10);
	memcpy(digits + c->width, c->tail, c->tail_len);
	return c->head_len + c->width + c->tail_len;
}

/* The date of any format. False: it has none. */
static bool format_date(const struct date_kind *kind, const char *format, time_t second, int64_t ns,
			char *out, size_t *len)
{
	char expanded[DATE_MAX];
	struct strbuf b;
	struct tm tm;

	strbuf_init_fixed(&b, expanded, sizeof(expanded));
	if (!expand_part(format, ns, &b) ||
	    !(kind->local ? localtime_r(&second, &tm) : gmtime_r(&second, &tm)))
		return false;
	*len = b.len ? strftime(out, DATE_MAX, expanded, &tm) : 0;
	return true;
}

static bool convert_date(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	const struct date_kind *kind = ctx->data;
	const char *format = args[0].name.ptr;
	int64_t when, part;
	time_t seconds;
	char text[DATE_MAX];
	size_t len = 0;
	struct slice copy;

	if (!add_offset(s->integer, &args[1], &when))
		return false;
	part = when % kind->per_second;
	seconds = (time_t)(when / kind->per_second);
	if (part < 0) {
		part += kind->per_second;
		seconds--;
	}
	if (kind->unit_ns)
		len = date_by_parts(kind, format, seconds, part * kind->unit_ns, text);
	if (!len && !format_date(kind, format, seconds, kind->unit_ns ? part * kind->unit_ns : -1,
				 text, &len))
		return false;
	copy = arena_copy(ctx->arena, slice_make(text, len));
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* value.c - reading values: integers, times, sizes (manual 2.5, 2.6); errors about a word */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "base/num.h"
#include "conf_priv.h"

char conf_name_bad_char(const char *name)
{
	return name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			   "0123456789-_.:")];
}

/* --- errors ------------------------------------------------------------------------------ */

/* The column of words[<word>]; of a missing word: behind the last one. */
static int column_of(const struct conf_line *l, int word)
{
	int last = l->count - 1;

	if (word >= 0 && word < l->count)
		return l->columns[word];
	return last >= 0 ? l->columns[last] + (int)strlen(l->words[last]) : 0;
}

static void conf_vreport(struct conf_line *l, int word, enum diag_level level, const char *hint,
		  const char *fmt, va_list ap)
{
	struct strbuf b;

	bool is_option = l->where == CONF_BIND || l->where == CONF_SERVER;

	l->place.form = l->about && l->where == CONF_SERVER ? DIAG_AT : DIAG_PARSING;
	l->place.column = column_of(l, word);
	if (!l->about || (level != DIAG_ALERT && !is_option)) {
		diag_vadd(l->diags, level, &l->place, hint, fmt, ap);
		return;
	}
	strbuf_init(&b);
	strbuf_add_str(&b, l->about);
	strbuf_vprintf(&b, fmt, ap);
	diag_add(l->diags, level, &l->place, hint, "%s", b.ptr ? b.ptr : "out of memory");
	strbuf_fini(&b);
}

bool conf_error(struct conf_line *l, int word, const char *hint, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	conf_vreport(l, word, DIAG_ALERT, hint, fmt, ap);
	va_end(ap);
	return false;
}

void conf_needs_net(struct conf_line *l, const char *what)
{
	if (!l->cfg->needs_net && !l->cfg->is_checked)
		l->cfg->needs_net = arena_printf(&l->cfg->arena, "'%s' [%s:%d]", what,
						 l->place.file, l->place.line);
}

void conf_warn(struct conf_line *l, int word, const char *hint, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	conf_vreport(l, word, DIAG_WARNING, hint, fmt, ap);
	va_end(ap);
}

void conf_note(struct conf_line *l, int word, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	conf_vreport(l, word, DIAG_NOTICE, NULL, fmt, ap);
	va_end(ap);
}

bool conf_report(struct conf_line *l, int word, enum diag_level level, enum diag_form form,
		 const char *fmt, ...)
{
	va_list ap;

	l->place.form = form;
	l->place.column = column_of(l, word);
	va_start(ap, fmt);
	diag_vadd(l->diags, level, &l->place, NULL, fmt, ap);
	va_end(ap);
	return false;
}

/* The name under which errors speak of the keyword being parsed. */
static const char *conf_line_subject(const struct conf_line *l)
{
	if (l->keyword)
		return l->keyword->words;
	return l->count ? l->words[0] : "";
}

/* --- integers ---------------------------------------------------------------------------- */

/* Decimal digits of <text> into <out>, clamped to INT64_MAX; returns where they end. */
static const char *take_digits(const char *text, int64_t *out)
{
	int64_t value = 0;

	while (ascii_is_digit(*text)) {
		if (value > (INT64_MAX - 9) / 10)
			value = INT64_MAX / 10;
		else
			value = value * 10 + (*text - '0');
		text++;
	}
	*out = value;
	return text;
}

bool conf_take_int(struct conf_line *l, int64_t min, int64_t max, int64_t *out)
{
	const char *subject = conf_line_subject(l), *word = conf_next(l), *digits, *end;
	int64_t value;

	if (!word)
		return conf_error(l, l->count, NULL, "'%s' expects an integer argument.", subject);
	digits = word + (*word == '-' || *word == '+');
	end = take_digits(digits, &value);
	if (end == digits || *end)
		return conf_error(l, l->at - 1, NULL,
				  "cannot parse '%s' value '%s', an integer is expected.", subject,
				  word);
	if (*word == '-')
		value = -value;
	if (value < min || value > max) {
		if (min > 0 && value <= 0 && max >= INT_MAX)
			return conf_error(l, l->at - 1, NULL,
					  "'%s' expects a positive integer argument"
					  " (got '%s').",
					  subject, word);
		return conf_error(l, l->at - 1, NULL,
				  "'%s' value must be between %lld and %lld"
				  " (was %s)",
				  subject, (long long)min, (long long)max, word);
	}
	*out = value;
	return true;
}

/* --- times ------------------------------------------------------------------------------- */

/* Microseconds of a unit; 0: unknown. <len> gets its length; no unit gives <dflt>. */
static int64_t time_unit(const char *text, int64_t dflt, size_t *len)
{
	*len = 1;
	switch (*text) {
	case '\0':
		*len = 0;
		return dflt;
	case 's':
		return 1000000;
	case 'h':
		return 3600 * (int64_t)1000000;
	case 'd':
		return 86400 * (int64_t)1000000;
	case 'u':
		*len = 2;
		return text[1] == 's' ? 1 : 0;
	case 'm':
		if (text[1] != 's')
			return 60 * (int64_t)1000000;
		*len = 2;
		return 1000;
	}
	return 0;
}

/* What stands behind a whole time, as the "in" of "15min", is passed over: HAProxy does so too. */
static void warn_behind_time(struct conf_line *l, const char *word, const char *behind)
{
	int column = (int)(behind - word);

	conf_warn(l, l->at - 1, "a time is digits and one unit: us, ms, s, m, h or d",
		  "unexpected character '%c' after the timer value '%s': '%.*s' is taken. This "
		  "will be reported as an error in next versions.", *behind, word, column, word);
}

/* The next word as milliseconds, rounded up so that a little is not nothing. */
static bool take_time(struct conf_line *l, int64_t dflt_us, int64_t max_ms, int64_t *out)
{
	const char *subject = conf_line_subject(l), *word = conf_next(l), *end;
	int64_t value, unit;
	size_t len;

	if (!word)
		return conf_error(l, l->count, NULL, "'%s' expects an integer value (in %s)",
				  subject, dflt_us == 1000 ? "milliseconds" : "seconds");
	end = take_digits(word, &value);
	unit = time_unit(end, dflt_us, &len);
	if (end == word || !unit) {
		if (!*end)
			return conf_error(l, l->at - 1, NULL,
					  "'%s' expects an integer value (in %s)", subject,
					  dflt_us == 1000 ? "milliseconds" : "seconds");
		return conf_error(l, l->at - 1,
				  "a time is digits and one unit: us, ms, s, m, h or d",
				  "unexpected character '%c' in '%s'", *end, subject);
	}
	if (end[len])
		warn_behind_time(l, word, end + len);
	if (value > INT64_MAX / unit - 1000 || (value * unit + 999) / 1000 > max_ms)
		return conf_error(l, l->at - 1, NULL,
				  max_ms == INT_MAX ? "timer overflow in argument '%s' to '%s' "
						      "(maximum value is 2147483647"
						      " ms or ~24.8 days)" :
						      "timer overflow in argument '%s' to '%s' "
						      "(maximum value is 2147483647"
						      " s or ~68 years)",
				  word, subject);
	*out = (value * unit + 999) / 1000;
	return true;
}

bool conf_take_time_ms(struct conf_line *l, int64_t *out)
{
	return take_time(l, 1000, INT_MAX, out);
}

bool conf_is_small_time(const char *word)
{
	const char *end;
	int number = num_prefix_int(word ? word : "", &end);

	return number > 0 && number < 100 && !*end;
}

bool conf_take_time_s(struct conf_line *l, int64_t *out_ms)
{
	return take_time(l, 1000000, INT_MAX * (int64_t)1000, out_ms);
}

/* --- sizes, strings ---------------------------------------------------------------------- */

bool conf_take_size(struct conf_line *l, uint64_t *out)
{
	const char *subject = conf_line_subject(l), *word = conf_next(l), *end;
	int64_t value;
	unsigned shift;

	if (!word)
		return conf_error(l, l->count, NULL, "'%s' expects an integer argument", subject);
	end = take_digits(word, &value);
	shift = num_size_shift(*end);
	if (end == word || end[shift ? 1 : 0])
		return conf_error(l, l->at - 1, "a size is digits and one unit: k, m or g",
				  "unexpected '%s' after size passed to '%s'",
				  end == word ? word : end + (shift ? 1 : 0), subject);
	if (value > INT64_MAX >> shift || value >= INT64_MAX / 10)
		return conf_error(l, l->at - 1, NULL, "size overflow in argument '%s' to '%s'",
				  word, subject);
	*out = (uint64_t)value << shift;
	return true;
}

bool conf_parse_size(struct conf_line *l)
{
	const struct conf_keyword *k = l->keyword;
	uint64_t bytes;

	if (!conf_take_size(l, &bytes))
		return false;
	if (bytes < (uint64_t)k->min || bytes > (uint64_t)k->max)
		return conf_error(l, l->at - 1, NULL, "'%s' value must be between %lld and %lld "
				  "(was %s)", k->words, (long long)k->min, (long long)k->max,
				  l->words[l->at - 1]);
	*(int *)((char *)slot_of(k->slot, config_slots(l->cfg)) + k->offset) = (int)bytes;
	return true;
}

bool conf_take_string(struct conf_line *l, const char **out)
{
	const char *word = conf_next(l);

	if (!word)
		return conf_error(l, l->count, NULL, "'%s' expects a string argument.",
				  conf_line_subject(l));
	*out = word;
	return true;
}

bool conf_take_end(struct conf_line *l)
{
	const char *word = conf_peek(l);

	if (!word)
		return true;
	return conf_error(l, l->at, NULL, "'%s' cannot handle unexpected argument '%s'.",
			  conf_line_subject(l), word);
}

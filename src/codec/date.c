/* SPDX-License-Identifier: GPL-2.0-or-later */
/* date.c - dates in HTTP fields (RFC 9110 5.6.7)
 *
 * The proleptic Gregorian calendar in 400-year eras that start on March 1st, so that a
 * leap day is the last of its year: an era has 146097 days, and a month's first day follows from
 * (153 * m + 2) / 5.
 */
#include "codec/date.h"

static const char day_names[] = "SunMonTueWedThuFriSat";
static const char month_names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

static int64_t days_from_civil(int64_t year, int month, int day)
{
	int64_t era, year_of_era, day_of_year;

	year -= month <= 2;
	era = (year >= 0 ? year : year - 399) / 400;
	year_of_era = year - era * 400;
	day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
	       day_of_year - 719468;
}

/* Seconds to broken-down time. */
static struct date date_of(int64_t seconds)
{
	int64_t days = seconds / 86400, left = seconds % 86400;
	int64_t era, day_of_era, year_of_era, day_of_year, month;
	struct date d;

	if (left < 0) {
		left += 86400;
		days--;
	}
	d.hour = (int)(left / 3600);
	d.minute = (int)(left / 60 % 60);
	d.second = (int)(left % 60);
	d.weekday = (int)(((days + 4) % 7 + 7) % 7);
	days += 719468;
	era = (days >= 0 ? days : days - 146096) / 146097;
	day_of_era = days - era * 146097;
	year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 -
		       day_of_era / 146096) / 365;
	day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	month = (5 * day_of_year + 2) / 153;
	d.day = (int)(day_of_year - (153 * month + 2) / 5 + 1);
	d.month = (int)(month < 10 ? month + 3 : month - 9);
	d.year = (int)(year_of_era + era * 400 + (d.month <= 2));
	return d;
}

/* The inverse; fields must be in their ranges. weekday is ignored. */
static int64_t date_seconds(const struct date *d)
{
	return days_from_civil(d->year, d->month, d->day) * 86400 + d->hour * 3600 +
	       d->minute * 60 + d->second;
}

static void put_digits(char *out, int value, int count)
{
	while (count-- > 0) {
		out[count] = (char)('0' + value % 10);
		value /= 10;
	}
}

void date_put_imf(char out[DATE_IMF_LEN], int64_t seconds)
{
	struct date d = date_of(seconds);

	memcpy(out, "Sun, 00 Jan 0000 00:00:00 GMT", DATE_IMF_LEN);
	memcpy(out, day_names + 3 * d.weekday, 3);
	put_digits(out + 5, d.day, 2);
	memcpy(out + 8, month_names + 3 * (d.month - 1), 3);
	put_digits(out + 12, d.year, 4);
	put_digits(out + 17, d.hour, 2);
	put_digits(out + 20, d.minute, 2);
	put_digits(out + 23, d.second, 2);
}

static bool take_number(struct slice *s, size_t count, int *value)
{
	if (s->len < count)
		return false;
	*value = 0;
	for (size_t i = 0; i < count; i++) {
		if (!ascii_is_digit(s->ptr[i]))
			return false;
		*value = *value * 10 + (s->ptr[i] - '0');
	}
	*s = slice_make(s->ptr + count, s->len - count);
	return true;
}

static bool take_text(struct slice *s, struct slice text)
{
	if (!slice_starts(*s, text))
		return false;
	*s = slice_make(s->ptr + text.len, s->len - text.len);
	return true;
}

static bool take_month(struct slice *s, int *month)
{
	for (*month = 1; *month <= 12; ++*month)
		if (take_text(s, slice_make(month_names + 3 * (*month - 1), 3)))
			return true;
	return false;
}

static bool take_time(struct slice *s, struct date *d)
{
	return take_number(s, 2, &d->hour) && take_text(s, SLICE(":")) &&
	       take_number(s, 2, &d->minute) && take_text(s, SLICE(":")) &&
	       take_number(s, 2, &d->second);
}

/* "06 Nov 1994 08:49:37 GMT" */
static bool parse_imf(struct slice s, struct date *d)
{
	return take_number(&s, 2, &d->day) && take_text(&s, SLICE(" ")) &&
	       take_month(&s, &d->month) && take_text(&s, SLICE(" ")) &&
	       take_number(&s, 4, &d->year) && take_text(&s, SLICE(" ")) && take_time(&s, d) &&
	       slice_eq(s, SLICE(" GMT"));
}

/* "06-Nov-94 08:49:37 GMT": years up to 69 are of this century */
static bool parse_850(struct slice s, struct date *d)
{
	if (!take_number(&s, 2, &d->day) || !take_text(&s, SLICE("-")) ||
	    !take_month(&s, &d->month) || !take_text(&s, SLICE("-")) ||
	    !take_number(&s, 2, &d->year) || !take_text(&s, SLICE(" ")) || !take_time(&s, d))
		return false;
	d->year += d->year < 70 ? 2000 : 1900;
	return slice_eq(s, SLICE(" GMT"));
}

/* "Nov  6 08:49:37 1994" */
static bool parse_asctime(struct slice s, struct date *d)
{
	if (!take_month(&s, &d->month) || !take_text(&s, SLICE(" ")))
		return false;
	if (!take_number(&s, take_text(&s, SLICE(" ")) ? 1 : 2, &d->day))
		return false;
	return take_text(&s, SLICE(" ")) && take_time(&s, d) && take_text(&s, SLICE(" ")) &&
	       take_number(&s, 4, &d->year) && s.len == 0;
}

static bool date_is_valid(const struct date *d)
{
	static const uint8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (d->year % 4 == 0 && d->year % 100 != 0) || d->year % 400 == 0;

	/* second 60 is a leap second */
	return d->day >= 1 && d->day <= days[d->month - 1] + (leap && d->month == 2) &&
	       d->hour < 24 && d->minute < 60 && d->second <= 60;
}

bool date_parse(struct slice text, int64_t *seconds)
{
	size_t comma = slice_find_char(text, 0, ',');
	struct date d = { 0 };
	struct slice rest;

	if (comma == SIZE_MAX) {
		if (text.len < 4 || !parse_asctime(slice_sub(text, 4, text.len), &d))
			return false;
	} else {
		rest = slice_trim(slice_sub(text, comma + 1, text.len));
		if (!parse_imf(rest, &d) && !parse_850(rest, &d))
			return false;
	}
	if (!date_is_valid(&d))
		return false;
	*seconds = date_seconds(&d);
	return true;
}

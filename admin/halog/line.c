/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "line.h"

#include <string.h>
#include <time.h>

#define DATE_LEN 24 /* 06/Feb/2009:12:14:14.655 */
#define DIGITS_MAX 18

/* Takes the next word, which a space must end. */
static bool word_next(struct line *line, struct text *word)
{
	const char *end = memchr(line->next, ' ', line->end - line->next);

	if (!end || end == line->next)
		return false;
	*word = (struct text) { line->next, end - line->next };
	line->next = end + 1;
	return true;
}

/* The same for a word that the end of the line may end. */
static bool word_last(struct line *line, struct text *word)
{
	if (word_next(line, word))
		return true;
	if (line->next == line->end || *line->next == ' ')
		return false;
	*word = (struct text) { line->next, line->end - line->next };
	line->next = line->end;
	return true;
}

/* Reads "n/n/...", at most <max> numbers with an optional sign, into <numbers>. Returns how
 * many there are, 0 when <word> is anything else. */
static int numbers_parse(struct text word, int64_t *numbers, int max)
{
	const char *p = word.at, *end = word.at + word.len;
	int count = 0;

	while (count < max) {
		bool negative = p < end && *p == '-';
		const char *first;
		int64_t n = 0;

		p += p < end && (*p == '-' || *p == '+');
		for (first = p; p < end && *p >= '0' && *p <= '9' && p - first < DIGITS_MAX; p++)
			n = n * 10 + (*p - '0');
		if (p == first)
			return 0;
		numbers[count++] = negative ? -n : n;
		if (p == end)
			return count;
		if (*p++ != '/')
			return 0;
	}
	return 0;
}

static bool date_at(const char *p, const char *end)
{
	return end - p > DATE_LEN + 2 && *p == '[' && p[3] == '/' && p[7] == '/' && p[12] == ':' &&
	       p[15] == ':' && p[18] == ':' && p[21] == '.' && p[DATE_LEN + 1] == ']' &&
	       p[DATE_LEN + 2] == ' ';
}

/* Returns the bracket that opens the date, NULL when there is none. */
static const char *date_find(struct line *line, const char *text, int skip)
{
	const char *p = text;

	while (skip-- > 0) {
		while (p < line->end && *p == ' ')
			p++;
		p = memchr(p, ' ', line->end - p);
		if (!p)
			return NULL;
	}
	while (p < line->end && *p == ' ')
		p++;
	p = memchr(p, ' ', line->end - p);
	return p && date_at(p + 1, line->end) ? p + 1 : NULL;
}

static const char *date_search(struct line *line, const char *text)
{
	const char *p = text;

	while ((p = memchr(p, '[', line->end - p))) {
		if (p - text >= 2 && p[-1] == ' ' && p[-2] != ' ' && date_at(p, line->end))
			return p;
		p++;
	}
	return NULL;
}

static bool head_parse(struct line *line, const char *text, int skip)
{
	const char *date, *first, *colon;
	struct text frontend;

	date = skip == SKIP_AUTO ? date_search(line, text) : date_find(line, text, skip);
	if (!date)
		return false;
	first = memrchr(text, ' ', date - 1 - text);
	first = first ? first + 1 : text;
	colon = memrchr(first, ':', date - 1 - first);
	line->client = (struct text) { first, (colon ? colon : date - 1) - first };
	line->date = (struct text) { date + 1, DATE_LEN };
	line->next = date + DATE_LEN + 3;
	return word_next(line, &frontend) && word_next(line, &line->server) &&
	       memchr(line->server.at, '/', line->server.len);
}

static bool timers_parse(struct line *line)
{
	struct text word;
	int count;

	if (!word_next(line, &word))
		return false;
	count = numbers_parse(word, line->timers, TIMER_NB);
	line->http = count == TIMER_NB;
	if (count != 3)
		return line->http;
	line->timers[TIMER_TOTAL] = line->timers[2];
	line->timers[TIMER_TC] = line->timers[1];
	line->timers[TIMER_TW] = line->timers[0];
	line->timers[TIMER_TR] = line->timers[TIMER_RESPONSE] = -1;
	return true;
}

static bool result_parse(struct line *line)
{
	struct text word;

	line->status = 0;
	if (line->http && (!word_next(line, &word) || !numbers_parse(word, &line->status, 1)))
		return false;
	return word_next(line, &word) && numbers_parse(word, &line->bytes, 1);
}

static bool state_parse(struct line *line)
{
	struct text cookie;

	if (line->http && (!word_next(line, &cookie) || !word_next(line, &cookie)))
		return false;
	return word_next(line, &line->state) && line->state.len == (line->http ? 4 : 2);
}

static bool queues_parse(struct line *line)
{
	struct text word;

	return word_next(line, &word) && word_last(line, &word) &&
	       numbers_parse(word, line->queues, 2) == 2;
}

/* Takes "{captures} ", if it is there. Braces inside are encoded by the logger. */
static void capture_parse(struct line *line, struct text *capture)
{
	const char *end;

	*capture = (struct text) { line->next, 0 };
	if (line->next == line->end || *line->next != '{')
		return;
	end = memchr(line->next, '}', line->end - line->next);
	if (!end)
		return;
	*capture = (struct text) { line->next + 1, end - line->next - 1 };
	line->next = end + 1;
	line->next += line->next < line->end && *line->next == ' ';
}

/* A request whose closing quote is missing was cut by syslog: it counts with what is left of
 * it. */
static bool request_parse(struct line *line)
{
	const char *first, *last, *space;

	capture_parse(line, &line->captures[0]);
	capture_parse(line, &line->captures[1]);
	first = memchr(line->next, '"', line->end - line->next);
	if (!first)
		return false;
	first++;
	last = memchr(first, '"', line->end - first);
	last = last ? last : line->end;
	space = memchr(first, ' ', last - first);
	if (space) {
		first = space + 1;
		space = memchr(first, ' ', last - first);
		last = space ? space : last;
	}
	line->url = (struct text) { first, last - first };
	line->next = line->end;
	return true;
}

void line_parse(struct line *line, const char *text, size_t len, int skip, enum line_part wanted)
{
	static bool (*const parts[])(struct line *line) = {
		[PART_TIMERS] = timers_parse, [PART_RESULT] = result_parse,
		[PART_STATE] = state_parse, [PART_QUEUES] = queues_parse,
		[PART_REQUEST] = request_parse,
	};

	line->http = false;
	line->reached = PART_NONE;
	line->next = text;
	line->end = text + len - (len && text[len - 1] == '\r');
	if (wanted == PART_NONE)
		return;
	if (!head_parse(line, text, skip)) {
		line->reached = line_parse_clf(line, text);
		return;
	}
	line->reached = PART_HEAD;
	while (line->reached < wanted && parts[line->reached + 1](line)) {
		line->reached++;
		if (line->reached == PART_QUEUES && !line->http)
			break;
	}
}

bool line_has(const struct line *line, enum line_part wanted)
{
	return line->reached >= wanted || (line->reached == PART_QUEUES && !line->http);
}

bool line_failed(const struct line *line)
{
	if (line->http)
		return line->status < 0 || (line->status >= 500 && line->status <= 599);
	return line->state.at[0] != '-' && line->state.at[0] != 'C' && line->state.at[0] != 'c';
}

static int digits2(const char *p)
{
	unsigned int tens = (unsigned char)p[0] - '0', ones = (unsigned char)p[1] - '0';

	return tens > 9 || ones > 9 ? -1 : (int)(tens * 10 + ones);
}

/* Of "+0100" the other way round: what makes such a date one of Greenwich, in seconds. */
static int64_t zone_seconds(const char *p)
{
	int hours = digits2(p + 1), minutes = digits2(p + 3);

	if (hours < 0 || minutes < 0)
		return 0;
	return (*p == '-' ? 1 : -1) * (hours * 3600 + minutes * 60);
}

/* Seconds since 1970 of the minute that <p> ("06/Feb/2009:12:14") names, -1 when it names
 * none. <zone>: behind its second, of the date; NULL: it is local time. */
static int64_t minute_parse(const char *p, const char *zone)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	struct tm tm = { .tm_isdst = -1 };
	int century = digits2(p + 7), year = digits2(p + 9);

	tm.tm_mday = digits2(p);
	tm.tm_hour = digits2(p + 12);
	tm.tm_min = digits2(p + 15);
	while (tm.tm_mon < 12 && memcmp(months + 3 * tm.tm_mon, p + 3, 3) != 0)
		tm.tm_mon++;
	if (tm.tm_mday < 1 || tm.tm_hour < 0 || tm.tm_min < 0 || tm.tm_mon == 12 ||
	    century < 0 || year < 0)
		return -1;
	tm.tm_year = century * 100 + year - 1900;
	return zone ? timegm(&tm) + zone_seconds(zone) : mktime(&tm);
}

/* Neighbouring lines are of the same minute: the conversion is remembered, it is slow. */
int64_t line_date_ms(const struct line *line)
{
	static char minute[17];
	static int64_t start = -1;
	const char *p = line->date.at, *zone = line->date.len > DATE_LEN ? p + 21 : NULL;
	int second = digits2(p + 18), first = digits2(p + 21), last = digits2(p + 22);

	if (zone)
		start = minute_parse(p, zone);
	else if (memcmp(minute, p, sizeof(minute)) != 0)
		start = minute_parse(p, NULL);
	memcpy(minute, zone ? "" : p, zone ? 1 : sizeof(minute));
	if (start < 0 || second < 0)
		return -1;
	if (zone)
		return (start + second) * 1000 + line->ms;
	return first < 0 || last < 0 ? -1 : (start + second) * 1000 + first * 10 + last % 10;
}

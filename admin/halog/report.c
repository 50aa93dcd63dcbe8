/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"

#define TIMER_FAST 65536

enum rank {
	RANK_NAME, RANK_REQ, RANK_ERR, RANK_TIME, RANK_TIME_AVG, RANK_OK_TIME, RANK_OK_TIME_AVG,
	RANK_BYTES, RANK_BYTES_AVG,
};

struct report_kind {
	const char *option;
	enum line_part needs;
	bool (*take)(struct report *report, const struct line *line, struct text text);
	void (*print)(struct report *report);
	enum rank rank;
};

/* ---- lines */

static bool lines_take(struct report *report, const struct line *line, struct text text)
{
	fwrite_unlocked(text.at, 1, text.len, stdout);
	putc_unlocked('\n', stdout);
	return ++report->rows < report->max_rows;
}

static bool count_take(struct report *report, const struct line *line, struct text text)
{
	return ++report->rows < report->max_rows;
}

static void count_print(struct report *report)
{
	printf("%" PRId64 "\n", report->rows);
}

static bool capture_take(struct report *report, const struct line *line, struct text text)
{
	struct text rest = line->captures[report->capture];
	const char *bar = rest.at;

	if (!line->http)
		return true;
	for (int i = 1; i < report->field && bar; i++) {
		bar = memchr(rest.at, '|', rest.len);
		rest.len -= bar ? bar + 1 - rest.at : 0;
		rest.at = bar ? bar + 1 : rest.at;
	}
	if (!bar)
		rest.len = 0;
	bar = memchr(rest.at, '|', rest.len);
	rest.len = bar ? (size_t)(bar - rest.at) : rest.len;
	return lines_take(report, line, rest);
}

/* ---- tables of requests, errors, times and bytes: URLs, addresses */

static void request_count(struct tally *t, const struct line *line)
{
	int64_t time = line->timers[TIMER_RESPONSE];
	bool failed = line_failed(line);

	if (time < 0)
		time = line->http || line->timers[TIMER_TOTAL] < 0 ? 0 : line->timers[TIMER_TOTAL];
	t->n[TALLY_REQ]++;
	t->n[TALLY_ERR] += failed;
	t->n[TALLY_TIME] += time;
	t->n[TALLY_OK_TIME] += failed ? 0 : time;
	t->n[TALLY_BYTES] += line->bytes;
}

static bool url_take(struct report *report, const struct line *line, struct text text)
{
	struct text url = line->url;
	const char *query;

	if (!line->http)
		return true;
	query = report->query ? NULL : memchr(url.at, '?', url.len);
	url.len = query ? (size_t)(query - url.at) : url.len;
	request_count(tallies_get(&report->tallies, url), line);
	return true;
}

static bool client_take(struct report *report, const struct line *line, struct text text)
{
	request_count(tallies_get(&report->tallies, line->client), line);
	return true;
}

static int64_t ratio(int64_t part, int64_t whole)
{
	return whole ? part / whole : 0;
}

static double rank_of(const struct tally *t, enum rank rank)
{
	int64_t ok = t->n[TALLY_REQ] - t->n[TALLY_ERR];

	switch (rank) {
	case RANK_REQ:         return t->n[TALLY_REQ];
	case RANK_ERR:         return t->n[TALLY_ERR];
	case RANK_TIME:        return t->n[TALLY_TIME];
	case RANK_TIME_AVG:    return ratio(t->n[TALLY_TIME], t->n[TALLY_REQ]);
	case RANK_OK_TIME:     return t->n[TALLY_OK_TIME];
	case RANK_OK_TIME_AVG: return ratio(t->n[TALLY_OK_TIME], ok);
	case RANK_BYTES:       return t->n[TALLY_BYTES];
	case RANK_BYTES_AVG:   return ratio(t->n[TALLY_BYTES], t->n[TALLY_REQ]);
	case RANK_NAME:        break;
	}
	return 0;
}

/* Sorts the rows; returns how many are to be printed. */
static size_t rows_sort(struct report *report)
{
	struct tallies *tallies = &report->tallies;

	for (size_t i = 0; i < tallies->size; i++) {
		if (tallies->slots[i])
			tallies->slots[i]->rank = rank_of(tallies->slots[i], report->kind->rank);
	}
	tallies_sort(tallies);
	return (int64_t)tallies->used < report->max_rows ? tallies->used : (size_t)report->max_rows;
}

static void name_print(const struct tally *t)
{
	fwrite_unlocked(t->name, 1, t->len, stdout);
	putc_unlocked('\n', stdout);
}

/* Prints <count> numbers with a space between. */
static void numbers_print(const int64_t *numbers, int count)
{
	for (int i = 0; i < count; i++)
		printf("%s%" PRId64, i ? " " : "", numbers[i]);
}

static void requests_print(struct report *report)
{
	size_t rows = rows_sort(report);

	printf("#req err ttot tavg oktot okavg bavg btot %s\n",
	       report->kind->take == client_take ? "src" : "url");
	for (size_t i = 0; i < rows; i++) {
		const int64_t *n = report->tallies.slots[i]->n;

		numbers_print((int64_t[]) {
			n[TALLY_REQ], n[TALLY_ERR],
			n[TALLY_TIME], ratio(n[TALLY_TIME], n[TALLY_REQ]),
			n[TALLY_OK_TIME], ratio(n[TALLY_OK_TIME], n[TALLY_REQ] - n[TALLY_ERR]),
			ratio(n[TALLY_BYTES], n[TALLY_REQ]), n[TALLY_BYTES] }, 8);
		putchar(' ');
		name_print(report->tallies.slots[i]);
	}
}

/* ---- servers */

static bool server_take(struct report *report, const struct line *line, struct text text)
{
	struct tally *t = tallies_get(&report->tallies, line->server);
	int64_t hundreds = line->status / 100;

	request_count(t, line);
	t->n[hundreds >= 1 && hundreds <= 5 ? TALLY_1XX + hundreds - 1 : TALLY_OTHER]++;
	if (line->timers[TIMER_TC] >= 0) {
		t->n[TALLY_CONNECT] += line->timers[TIMER_TC];
		t->n[TALLY_CONNECTED]++;
	}
	t->n[TALLY_ANSWERED] += line->timers[TIMER_RESPONSE] >= 0 || !line->http;
	return true;
}

static void servers_print(struct report *report)
{
	size_t rows = rows_sort(report);

	puts("#srv_name 1xx 2xx 3xx 4xx 5xx other tot_req req_ok pct_ok avg_ct avg_rt");
	for (size_t i = 0; i < rows; i++) {
		const struct tally *t = report->tallies.slots[i];
		int64_t ok = t->n[TALLY_REQ] - t->n[TALLY_ERR];

		fwrite_unlocked(t->name, 1, t->len, stdout);
		for (int column = TALLY_1XX; column <= TALLY_OTHER; column++)
			printf(" %" PRId64, t->n[column]);
		printf(" %" PRId64 " %" PRId64, t->n[TALLY_REQ], ok);
		printf(" %.1f", 100.0 * ok / t->n[TALLY_REQ]);
		printf(" %" PRId64, ratio(t->n[TALLY_CONNECT], t->n[TALLY_CONNECTED]));
		printf(" %" PRId64 "\n", ratio(t->n[TALLY_TIME], t->n[TALLY_ANSWERED]));
	}
}

/* ---- codes: termination, cookies, statuses */

static void name_count(struct report *report, const char *name, size_t len)
{
	tallies_get(&report->tallies, (struct text) { name, len })->n[TALLY_REQ]++;
}

static bool state_take(struct report *report, const struct line *line, struct text text)
{
	name_count(report, line->state.at, 2);
	return true;
}

static bool cookie_take(struct report *report, const struct line *line, struct text text)
{
	if (line->http)
		name_count(report, line->state.at + 2, 2);
	return true;
}

static bool status_take(struct report *report, const struct line *line, struct text text)
{
	char name[24];

	if (line->http)
		name_count(report, name, snprintf(name, sizeof(name), "%" PRId64, line->status));
	return true;
}

static void codes_print(struct report *report)
{
	size_t rows = rows_sort(report);

	for (size_t i = 0; i < rows; i++) {
		printf("%" PRId64 " ", report->tallies.slots[i]->n[TALLY_REQ]);
		name_print(report->tallies.slots[i]);
	}
}

static void statuses_print(struct report *report)
{
	size_t rows = rows_sort(report);

	for (size_t i = 0; i < rows; i++) {
		const struct tally *t = report->tallies.slots[i];

		printf("%.*s %" PRId64 "\n", (int)t->len, t->name, t->n[TALLY_REQ]);
	}
}

/* ---- times: a number of lines for each ms, in an array for usual times, by name for the
 * others */

static bool timers_take(struct report *report, const struct line *line, struct text text)
{
	for (int i = 0; i < TIMER_NB; i++) {
		int64_t ms = line->timers[i];
		struct text name = { (const char *)&ms, sizeof(ms) };

		if (ms >= 0 && ms < TIMER_FAST)
			report->fast[ms][i]++;
		else if (ms >= 0)
			tallies_get(&report->tallies, name)->n[i]++;
	}
	return true;
}

static int64_t name_number(const struct tally *t)
{
	int64_t number;

	memcpy(&number, t->name, sizeof(number));
	return number;
}

/* Sorts rows whose names are numbers, the least first. */
static void numbers_sort(struct tallies *tallies)
{
	for (size_t i = 0; i < tallies->size; i++) {
		if (tallies->slots[i])
			tallies->slots[i]->rank = -(double)name_number(tallies->slots[i]);
	}
	tallies_sort(tallies);
}

/* One ms of the times: false behind the last. <n>: how many lines have it, by timer. */
static bool times_get(const struct report *report, size_t i, int64_t *ms, int64_t *n)
{
	if (i >= TIMER_FAST + report->tallies.used)
		return false;
	*ms = i;
	for (int timer = 0; timer < TIMER_NB && i < TIMER_FAST; timer++)
		n[timer] = report->fast[i][timer];
	if (i < TIMER_FAST)
		return true;
	*ms = name_number(report->tallies.slots[i - TIMER_FAST]);
	memcpy(n, report->tallies.slots[i - TIMER_FAST]->n, TIMER_NB * sizeof(*n));
	return true;
}

static void times_print(struct report *report)
{
	int64_t ms, n[TIMER_NB];

	numbers_sort(&report->tallies);
	puts("#ms TR Tw Tc Tr Ta");
	for (size_t i = 0; times_get(report, i, &ms, n) && report->rows < report->max_rows; i++) {
		if (!(n[0] | n[1] | n[2] | n[3] | n[4]))
			continue;
		report->rows++;
		printf("%" PRId64 " ", ms);
		numbers_print(n, TIMER_NB);
		putchar('\n');
	}
}

/* In 1/100 %. */
static const int percentiles[] = {
	10, 50, 100, 200, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 4500, 5000, 5500, 6000,
	6500, 7000, 7500, 8000, 8500, 9000, 9500, 9600, 9700, 9800, 9900, 9950, 9990, 9999, 10000,
};
#define PERCENTILES (sizeof(percentiles) / sizeof(*percentiles))

/* The least time that at least so many of the lines that have the timer do not exceed. */
static void percentiles_find(struct report *report, const int64_t *total, int64_t (*out)[TIMER_NB])
{
	size_t next[TIMER_NB] = { 0 };
	int64_t seen[TIMER_NB] = { 0 }, ms, n[TIMER_NB];

	for (size_t i = 0; times_get(report, i, &ms, n); i++) {
		for (int timer = 0; timer < TIMER_NB; timer++) {
			size_t *p = &next[timer];

			seen[timer] += n[timer];
			while (n[timer] && *p < PERCENTILES &&
			       seen[timer] * 10000.0 >= (double)total[timer] * percentiles[*p])
				out[(*p)++][timer] = ms;
		}
	}
}

static void percentiles_print(struct report *report)
{
	int64_t out[PERCENTILES][TIMER_NB], total[TIMER_NB] = { 0 }, ms, n[TIMER_NB];

	memset(out, -1, sizeof(out));
	numbers_sort(&report->tallies);
	for (size_t i = 0; times_get(report, i, &ms, n); i++) {
		for (int timer = 0; timer < TIMER_NB; timer++)
			total[timer] += n[timer];
	}
	percentiles_find(report, total, out);
	puts("#pct TR Tw Tc Tr Ta");
	for (size_t i = 0; i < PERCENTILES && (int64_t)i < report->max_rows; i++) {
		printf("%d.%02d", percentiles[i] / 100, percentiles[i] % 100);
		putchar(' ');
		numbers_print(out[i], TIMER_NB);
		putchar('\n');
	}
	printf("#req ");
	numbers_print(total, TIMER_NB);
	putchar('\n');
}

/* ---- activity: bursts of lines behind a silence */

static bool activity_take(struct report *report, const struct line *line, struct text text)
{
	int64_t ms = line_date_ms(line);

	if (ms >= 0)
		name_count(report, (char *)&ms, sizeof(ms));
	return true;
}

static void burst_print(struct report *report, int64_t *burst, int64_t last)
{
	if (burst[2] < report->burst_min || report->rows >= report->max_rows)
		return;
	report->rows++;
	printf("%" PRId64 ".%03d %" PRId64 " %" PRId64 " %" PRId64 "\n", burst[0] / 1000,
	       (int)(burst[0] % 1000), burst[1], last - burst[0], burst[2]);
}

static void activity_print(struct report *report)
{
	int64_t burst[3] = { 0 }, last = -1; /* start, silence before, lines */

	numbers_sort(&report->tallies);
	puts("#start silence length req");
	for (size_t i = 0; i < report->tallies.used; i++) {
		const struct tally *t = report->tallies.slots[i];
		int64_t ms = name_number(t), silence = last < 0 ? 0 : ms - last;

		if (last < 0 || silence >= report->silence_ms) {
			if (last >= 0)
				burst_print(report, burst, last);
			burst[0] = ms;
			burst[1] = silence;
			burst[2] = 0;
		}
		burst[2] += t->n[TALLY_REQ];
		last = ms;
	}
	if (last >= 0)
		burst_print(report, burst, last);
}

/* ---- which */

static const struct report_kind kinds[] = {
	{ "", PART_NONE, lines_take, NULL, 0 },
	{ "-c", PART_NONE, count_take, count_print, 0 },
	{ "-hdr", PART_REQUEST, capture_take, NULL, 0 },
	{ "-u", PART_REQUEST, url_take, requests_print, RANK_NAME },
	{ "-uc", PART_REQUEST, url_take, requests_print, RANK_REQ },
	{ "-ue", PART_REQUEST, url_take, requests_print, RANK_ERR },
	{ "-ut", PART_REQUEST, url_take, requests_print, RANK_TIME },
	{ "-ua", PART_REQUEST, url_take, requests_print, RANK_TIME_AVG },
	{ "-uto", PART_REQUEST, url_take, requests_print, RANK_OK_TIME },
	{ "-uao", PART_REQUEST, url_take, requests_print, RANK_OK_TIME_AVG },
	{ "-ubt", PART_REQUEST, url_take, requests_print, RANK_BYTES },
	{ "-uba", PART_REQUEST, url_take, requests_print, RANK_BYTES_AVG },
	{ "-ic", PART_STATE, client_take, requests_print, RANK_REQ },
	{ "-srv", PART_STATE, server_take, servers_print, RANK_NAME },
	{ "-st", PART_RESULT, status_take, statuses_print, RANK_NAME },
	{ "-tc", PART_STATE, state_take, codes_print, RANK_REQ },
	{ "-cc", PART_STATE, cookie_take, codes_print, RANK_REQ },
	{ "-pct", PART_TIMERS, timers_take, percentiles_print, 0 },
	{ "-gt", PART_TIMERS, timers_take, times_print, 0 },
	{ "-ad", PART_HEAD, activity_take, activity_print, 0 },
};

static const struct report_kind *kind_find(const char *option)
{
	for (size_t i = 1; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!strcmp(option, kinds[i].option))
			return &kinds[i];
	}
	return NULL;
}

/* BLOCK:FIELD: the first or second pair of braces, and which of the values between the bars. */
static bool capture_parse(struct report *report, const char *value)
{
	int64_t field;

	if ((value[0] != '1' && value[0] != '2') || value[1] != ':' ||
	    !number_parse(value + 2, &field) || field < 1 || field > 10000)
		return false;
	report->capture = value[0] - '1';
	report->field = field;
	return true;
}

static bool value_parse(struct report *report, const char *option, const char *value)
{
	if (!strcmp(option, "-m"))
		return number_parse(value, &report->max_rows) && report->max_rows > 0;
	if (!strcmp(option, "-ad"))
		return number_parse(value, &report->silence_ms);
	if (!strcmp(option, "-ac"))
		return number_parse(value, &report->burst_min);
	return capture_parse(report, value);
}

int report_parse(struct report *report, const char *option, const char *value)
{
	const struct report_kind *kind = kind_find(!strcmp(option, "-ac") ? "-ad" : option);

	if (!strcmp(option, "-qry")) {
		report->query = true;
		return 1;
	}
	if (kind && report->kind && report->kind != kind)
		return -2;
	if (kind)
		report->kind = kind;
	if (!strcmp(option, "-m") || !strcmp(option, "-ad") || !strcmp(option, "-ac") ||
	    !strcmp(option, "-hdr"))
		return value && value_parse(report, option, value) ? 2 : -1;
	return kind ? 1 : 0;
}

void report_init(struct report *report)
{
	if (!report->kind)
		report->kind = kinds;
	if (report->kind->take == lines_take || report->kind->take == count_take)
		return;
	tallies_init(&report->tallies);
	if (report->kind->take != timers_take)
		return;
	report->fast = calloc(TIMER_FAST, sizeof(*report->fast));
	if (!report->fast) {
		fprintf(stderr, "halog: out of memory\n");
		exit(1);
	}
}

enum line_part report_needs(const struct report *report)
{
	return report->kind->needs;
}

bool report_take(struct report *report, const struct line *line, struct text text)
{
	return report->kind->take(report, line, text);
}

void report_print(struct report *report)
{
	if (report->kind->print)
		report->kind->print(report);
}

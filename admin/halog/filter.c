/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "filter.h"

#include <stdlib.h>
#include <string.h>

bool number_parse(const char *text, int64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9' || strlen(text) > 18)
		return false;
	*number = strtoll(text, &end, 10);
	return !*end;
}

/* One end of a range, <len> bytes at <text>; nothing there leaves <end> as it is. Negative
 * ones are for -1, which is a status. */
static bool range_end_parse(const char *text, size_t len, int64_t *end)
{
	bool negative = len && *text == '-';
	char copy[20];

	if (!len)
		return true;
	text += negative;
	len -= negative;
	if (len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = 0;
	if (!number_parse(copy, end))
		return false;
	*end = negative ? -*end : *end;
	return true;
}

/* [min][:[max]]: without a colon, exactly that when <exact>, else from there on. */
static bool range_parse(const char *text, bool exact, struct range *range)
{
	const char *colon = strchr(text, ':');

	*range = (struct range) { INT64_MIN, INT64_MAX };
	if (!*text || !range_end_parse(text, strcspn(text, ":"), &range->min))
		return false;
	if (!colon) {
		range->max = exact ? range->min : INT64_MAX;
		return true;
	}
	return range_end_parse(colon + 1, strlen(colon + 1), &range->max);
}

static void filters_need(struct filters *filters, enum line_part part)
{
	if (filters->needs < part)
		filters->needs = part;
}

/* The filters without a value. */
static bool filters_parse_flag(struct filters *filters, const char *option)
{
	const struct {
		const char *option;
		bool *flag;
		enum line_part needs;
	} flags[] = {
		{ "-v", &filters->invert, PART_NONE },
		{ "-H", &filters->http, PART_TIMERS },
		{ "-e", &filters->errors, PART_STATE },
		{ "-E", &filters->successes, PART_STATE },
		{ "-Q", &filters->queued, PART_QUEUES },
		{ "-QS", &filters->server_queued, PART_QUEUES },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (strcmp(option, flags[i].option) != 0)
			continue;
		*flags[i].flag = true;
		filters_need(filters, flags[i].needs);
		return true;
	}
	return false;
}

static bool state_option_parse(struct filters *filters, const char *value)
{
	filters->state = (struct text) { value, strlen(value) };
	return filters->state.len >= 1 && filters->state.len <= 4;
}

int filters_parse(struct filters *filters, const char *option, const char *value)
{
	enum line_part needs;
	bool good;

	if (filters_parse_flag(filters, option))
		return 1;
	if (!strcmp(option, "-rt")) {
		needs = PART_TIMERS;
		filters->slower_on = true;
		good = value && number_parse(value, &filters->slower);
	} else if (!strcmp(option, "-RT")) {
		needs = PART_TIMERS;
		filters->faster_on = true;
		good = value && number_parse(value, &filters->faster);
	} else if (!strcmp(option, "-hs") || !strcmp(option, "-HS")) {
		needs = PART_RESULT;
		filters->status_on = true;
		filters->status_out = option[1] == 'H';
		good = value && range_parse(value, true, &filters->status);
	} else if (!strcmp(option, "-tcn") || !strcmp(option, "-TCN")) {
		needs = PART_STATE;
		filters->state_on = true;
		filters->state_out = option[1] == 'T';
		good = value && state_option_parse(filters, value);
	} else if (!strcmp(option, "-time")) {
		needs = PART_HEAD;
		filters->date_on = true;
		good = value && range_parse(value, false, &filters->date);
	} else {
		return 0;
	}
	filters_need(filters, needs);
	return good ? 2 : -1;
}

static bool range_has(const struct range *range, int64_t n)
{
	return n >= range->min && n <= range->max;
}

static bool times_pass(const struct filters *filters, const struct line *line)
{
	const int64_t *response = &line->timers[TIMER_RESPONSE];
	int64_t date;

	if (filters->slower_on && *response <= filters->slower)
		return false;
	if (filters->faster_on && (*response < 0 || *response >= filters->faster))
		return false;
	if (!filters->date_on)
		return true;
	date = line_date_ms(line);
	return date >= 0 && range_has(&filters->date, date / 1000);
}

static bool state_pass(const struct filters *filters, const struct line *line)
{
	bool same = line->state.len >= filters->state.len &&
		    !memcmp(line->state.at, filters->state.at, filters->state.len);

	return same != filters->state_out;
}

static bool filters_accept(const struct filters *filters, const struct line *line)
{
	if (!line_has(line, filters->needs) || (filters->http && !line->http))
		return false;
	if ((filters->errors && !line_failed(line)) || (filters->successes && line_failed(line)))
		return false;
	if (filters->queued && line->queues[0] <= 0 && line->queues[1] <= 0)
		return false;
	if (filters->server_queued && line->queues[0] <= 0)
		return false;
	if (filters->status_on &&
	    (!line->http || range_has(&filters->status, line->status) == filters->status_out))
		return false;
	if (filters->state_on && !state_pass(filters, line))
		return false;
	return times_pass(filters, line);
}

bool filters_pass(const struct filters *filters, const struct line *line)
{
	return (filters->needs == PART_NONE || filters_accept(filters, line)) != filters->invert;
}

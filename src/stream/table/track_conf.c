/* SPDX-License-Identifier: GPL-2.0-or-later */
/* track_conf.c - edge file: tune.stick-counters, http-err-codes, http-fail-codes */
#include <stdlib.h>
#include <string.h>
#include "base/num.h"
#include "conf/conf.h"
#include "track_priv.h"

/* --- statuses --------------------------------------------------------------------------------- */

static bool form_error(struct conf_line *l, const char *word, const char *at)
{
	return conf_error(l, l->at - 1, NULL, "Invalid status codes range '%s' in '%s' at position "
			  "%zu. Ranges must be in the form [+-]{low[-{high}]}[,...].", word,
			  l->words[0], (size_t)(at - word));
}

/* A number at *at, behind which that is; false: reported. */
static bool take_code(struct conf_line *l, const char *word, const char **at, unsigned *code)
{
	if (!ascii_is_digit(**at))
		return form_error(l, word, *at);
	*code = (unsigned)num_prefix_int(*at, at);
	return true;
}

/* One word: "[+-]low[-high],..." */
static bool parse_codes(struct conf_line *l, struct status_set *set)
{
	const char *word = conf_next(l), *at = word;
	bool remove = *at == '-';

	if (*at == '+' || *at == '-')
		at++;
	else
		memset(set, 0, sizeof(*set));
	for (;; at++) {
		unsigned low = 0, high;

		if (!take_code(l, word, &at, &low))
			return false;
		high = low;
		if (*at == '-' && (at++, !take_code(l, word, &at, &high)))
			return false;
		if (low < STATUS_FIRST || high > STATUS_LAST || high < low)
			return conf_error(l, l->at - 1, NULL, "Invalid status codes range '%s' in "
					  "'%s'.\n Codes must be between 100 and 599 and ranges in "
					  "ascending order.", word, l->words[0]);
		status_set_range(set, low, high, !remove);
		if (!*at)
			return true;
		if (*at != ',')
			return form_error(l, word, at);
	}
}

static bool codes_parse(struct conf_line *l)
{
	struct track_config *tc = slot_of(&track_config_slot, l->slots);
	struct status_set *set = strcmp(l->words[0], "http-err-codes") == 0 ? &tc->errors
									    : &tc->failures;

	if (!conf_peek(l) || !*conf_peek(l))
		return conf_error(l, l->at, "http-err-codes 400-499 -404",
				  "Missing status codes range for '%s'.", l->words[0]);
	while (conf_peek(l) && *conf_peek(l))
		if (!parse_codes(l, set))
			return false;
	return true;
}

/* --- counters --------------------------------------------------------------------------------- */

static bool count_parse(struct conf_line *l)
{
	struct track_config *tc = slot_of(&track_config_slot, l->slots);
	const char *word = conf_peek(l) ? conf_next(l) : "";
	char *end;
	long n = strtol(word, &end, 10);

	if (*end)
		return conf_error(l, l->at - 1, NULL, "%s: '%s' is an invalid number", l->words[0],
				  word);
	if (n < 0 || n > TRACKERS_MAX)
		return conf_error(l, l->at - 1, NULL, "%s: the number of stick-counters must be "
				  "between 1 and %d (was %ld)", l->words[0], TRACKERS_MAX, n);
	tc->count = (unsigned)n;
	return true;
}

static const struct conf_keyword keywords[] = {
	{ .words = "http-err-codes", .where = CONF_GLOBAL, .max_args = -1, .parse = codes_parse,
	  .syntax = "[+-]<range>[,...]...", .help = "statuses that are a client's error" },
	{ .words = "http-fail-codes", .where = CONF_GLOBAL, .max_args = -1, .parse = codes_parse,
	  .syntax = "[+-]<range>[,...]...", .help = "statuses that are a server's failure" },
	{ .words = "tune.stick-counters", .where = CONF_GLOBAL, .max_args = 1,
	  .parse = count_parse, .syntax = "<number>",
	  .help = "how many entries of stick tables a request may track" },
	{ 0 }
};

const struct module mod_track = {
	.name = "sticky-counters", .keywords = keywords, .slots = track_slots,
};

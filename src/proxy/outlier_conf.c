/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outlier_conf.c - edge file: outlier-ejection */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"

#define FACTOR_MAX 1000

static bool take_percent(struct conf_line *l, int64_t *out)
{
	const char *word = conf_next(l);
	char *end = NULL;
	long n = word ? strtol(word, &end, 10) : 0;

	if (!word || end == word || (*end && strcmp(end, "%") != 0) || n < 1 || n > 100)
		return conf_error(l, l->at - 1, NULL, "'outlier-ejection': '%s' expects a share "
				  "from 1%% to 100%%, not '%s'", l->words[l->at - (word ? 2 : 1)],
				  word ? word : "");
	*out = n;
	return true;
}

/* "3x", "2.5x": how many times as long as the others, in percent. */
static bool take_factor(struct conf_line *l, int64_t *out)
{
	const char *word = conf_next(l);
	char *end = NULL;
	double n = word ? strtod(word, &end) : 0;

	if (!word || end == word || (*end && strcmp(end, "x") != 0) || !(n > 1) ||
	    n > FACTOR_MAX)
		return conf_error(l, l->at - 1, NULL, "'outlier-ejection': 'latency' expects how "
				  "many times as long as the others, from 1.01x to %dx, not '%s'",
				  FACTOR_MAX, word ? word : "");
	*out = (int64_t)(n * 100 + 0.5);
	return *out > 100 || conf_error(l, l->at - 1, NULL, "'outlier-ejection': 'latency' expects "
					"more than 1x, not '%s'", word);
}

static bool take_time(struct conf_line *l, int64_t *out)
{
	if (!conf_take_time_ms(l, out))
		return false;
	return *out > 0 || conf_error(l, l->at - 1, NULL, "'outlier-ejection': '%s' expects a time "
				      "above 0", l->words[l->at - 2]);
}

static bool take_count(struct conf_line *l, int64_t *out)
{
	return conf_take_int(l, 1, INT32_MAX, out);
}

static bool take_any_time(struct conf_line *l, int64_t *out)
{
	return conf_take_time_ms(l, out);
}

static const struct {
	const char *word;
	bool (*take)(struct conf_line *l, int64_t *out);
	size_t offset;
} options[] = {
#define OPTION(word, take, member) { word, take, offsetof(struct outlier_settings, member) }
	OPTION("error-rate", take_percent, error_percent),
	OPTION("latency", take_factor, latency_percent),
	OPTION("latency-floor", take_any_time, latency_floor_ms),
	OPTION("min-requests", take_count, min_requests),
	OPTION("interval", take_time, interval_ms),
	OPTION("time", take_time, time_ms),
	OPTION("max-time", take_time, max_time_ms),
	OPTION("max-share", take_percent, max_percent),
#undef OPTION
};

static bool take_option(struct conf_line *l, struct outlier_settings *set)
{
	const char *word = conf_next(l);

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (strcmp(options[i].word, word) == 0)
			return options[i].take(l, (int64_t *)((char *)set + options[i].offset));
	return conf_error(l, l->at - 1, NULL, "'outlier-ejection': unknown word '%s', it knows "
			  "'off', 'error-rate', 'latency', 'latency-floor', 'min-requests', "
			  "'interval', 'time', 'max-time' and 'max-share'", word);
}

/* Ten times the first ejection, unless said. */
#define MAX_TIME_FACTOR 10

static bool parse_outlier_ejection(struct conf_line *l)
{
	struct outlier_settings set = {
		.latency_floor_ms = 10, .min_requests = 20, .interval_ms = 10000, .time_ms = 30000,
		.max_percent = 30,
	};
	struct proxy *px = l->object;

	if (conf_peek(l) && strcmp(conf_peek(l), "off") == 0) {
		conf_next(l);
		px->outlier = (struct outlier_settings){ 0 };
		return conf_take_end(l);
	}
	while (conf_peek(l))
		if (!take_option(l, &set))
			return false;
	if (!set.error_percent && !set.latency_percent)
		set.error_percent = 50;
	if (!set.max_time_ms)
		set.max_time_ms = MAX_TIME_FACTOR * set.time_ms;
	if (set.max_time_ms < set.time_ms)
		return conf_error(l, l->at - 1, NULL, "'outlier-ejection': 'max-time' is less than "
				  "the 'time' of a first ejection");
	px->outlier = set;
	return true;
}

static const struct conf_keyword keywords[] = {
	{ .words = "outlier-ejection", .where = CONF_DEF_BE, .max_args = -1,
	  .parse = parse_outlier_ejection,
	  .syntax = "{ off | [error-rate <pct>] [latency <factor>x] [latency-floor <time>] "
		    "[min-requests <n>] [interval <time>] [time <time>] [max-time <time>] "
		    "[max-share <pct>] }",
	  .help = "leave servers that do worse than the others out for a while" },
	{ 0 }
};

static void check(struct config *cfg, struct diag_list *d)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		if (px->outlier.interval_ms && px->caps & PROXY_BE && px->mode == PROXY_MODE_LOG)
			diag_add(d, DIAG_WARNING, &nowhere, NULL, "backend '%s' : "
				 "'outlier-ejection' has no effect in mode log.", px->name);
}

/* Their watches begin with the threads, and end with the generation. */
static void check_added(struct proxy *be, struct diag_list *d)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };

	if (be->outlier.interval_ms)
		diag_add(d, DIAG_ALERT, &nowhere, NULL, "'outlier-ejection' is not supported in "
			 "backends that are made at run time.");
}

const struct module mod_outlier = {
	.name = "outlier",
	.keywords = keywords,
	.check = check,
	.check_backend = check_added,
};

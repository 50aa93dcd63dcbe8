/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filter_bwlim.c - filter bwlim-in, bwlim-out: so many bytes of bodies in so much time
 *
 * A stream has a clock of its own, which says up to when its bytes are paid for: n bytes move it
 * n * period / limit ahead. Bytes pass while it is behind the time of day, a slice (SLICE_MS) worth
 * of them at once; so the rate is kept from the first byte on. A stream that sent less than it
 * could, or that a busy thread has woken late, catches up with a quarter of a period, not more.
 * Manual: configuration 9.7, set-bandwidth-limit.
 */
#include <string.h>
#include "base/clock.h"
#include "base/num.h"
#include "conf/conf.h"
#include "proxy/proxy.h"
#include "stream/action.h"
#include "stream/filter.h"

#define SLICE_MS 25

/* A line `filter bwlim-*`. */
struct bwlim {
	enum filter_side side;
	uint64_t limit, min_size;    /* bytes */
	int64_t period_ms;
};

/* Of one stream. */
struct bwlim_state {
	bool on;
	uint64_t limit;
	int64_t period_ms;
	uint64_t paid_ns;            /* bytes are paid for until then */
};

static const struct bwlim *settings(const struct filter *f)
{
	return f->conf->data;
}

/* --- bytes ------------------------------------------------------------------------------------ */

static uint64_t bytes_in(const struct bwlim_state *st, uint64_t ns)
{
	return (uint64_t)((double)ns * (double)st->limit /
			  ((double)st->period_ms * (double)NS_PER_MS));
}

static uint64_t time_of(const struct bwlim_state *st, uint64_t bytes)
{
	return (uint64_t)((double)bytes * (double)st->period_ms * (double)NS_PER_MS /
			  (double)st->limit);
}

/* What is worth a move: a slice's bytes, or what the line says. */
static uint64_t least(const struct filter *f)
{
	const struct bwlim_state *st = f->state;
	uint64_t slice = bytes_in(st, (uint64_t)SLICE_MS * NS_PER_MS);
	uint64_t min = settings(f)->min_size;

	if (min > slice)
		return min;
	return slice ? slice : 1;
}

static enum filter_result bwlim_data(struct filter *f, enum filter_side side,
				     struct block_queue *in, struct block_queue *out, bool end)
{
	struct bwlim_state *st = f->state;
	uint64_t now_ns = clock_now_ns(), unit = least(f), most_ns, want, n;

	if (!st->on || side != settings(f)->side) {
		block_queue_move(out, in);
		return FILTER_NEXT;
	}
	if (!in->len)
		return FILTER_NEXT;
	most_ns = time_of(st, 2 * unit) + (uint64_t)st->period_ms * NS_PER_MS / 4;
	if (st->paid_ns + most_ns < now_ns)
		st->paid_ns = now_ns - most_ns;
	want = in->len < unit ? in->len : unit;
	n = st->paid_ns < now_ns ? bytes_in(st, now_ns - st->paid_ns) : 0;
	if (n < want) {
		filter_wake_ms(f, (int64_t)((st->paid_ns + time_of(st, want) - now_ns) /
					    NS_PER_MS) + 1);
		return FILTER_NEXT;
	}
	n = n < in->len ? n : in->len;
	st->paid_ns += time_of(st, n);
	if (!block_queue_move_len(out, in, n))
		return FILTER_ERROR;
	if (in->len)
		filter_wake_ms(f, SLICE_MS);
	return FILTER_NEXT;
}

/* --- set-bandwidth-limit ---------------------------------------------------------------------- */

struct set_limit {
	const char *name;
	const struct filter_conf *filter;
	struct rule_value limit, period;
	bool has_limit, has_period;
};

static const struct filter_kind kinds[];

/* A size, or an expression that gives a number of bytes. */
static bool take_size(struct conf_line *l, struct rule *r, struct rule_value *v)
{
	const char *word = rule_at_end(l) ? "" : conf_peek(l);
	uint64_t size;

	if (*word && !ascii_is_digit(*word))
		return rule_value_take_expr(l, r, v);
	if (num_parse_size(slice_of(word), &size, NULL) != NUM_OK || size > INT64_MAX)
		return rule_error(l, r, l->at, "'limit': invalid size value or unknown fetch "
				  "method '%s'", word);
	v->number = (int64_t)size;
	l->at++;
	return true;
}

static bool take_time(struct conf_line *l, struct rule *r, struct rule_value *v)
{
	const char *word = rule_at_end(l) ? "" : conf_peek(l);
	uint64_t us;

	if (*word && !ascii_is_digit(*word))
		return rule_value_take_expr(l, r, v);
	if (num_parse_time(slice_of(word), NUM_MS, &us, NULL) != NUM_OK)
		return rule_error(l, r, l->at, "'period': invalid time value or unknown fetch "
				  "method '%s'", word);
	v->number = (int64_t)num_us_to_ms(us);
	l->at++;
	return true;
}

static bool set_limit_parse(struct conf_line *l, struct rule *r)
{
	struct set_limit *set = arena_zalloc(&l->cfg->arena, sizeof(*set));

	if (!set)
		return rule_no_memory(l, r);
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "missing bwlim filter name");
	set->name = conf_next(l);
	r->data = set;
	while (!rule_at_end(l)) {
		const char *word = conf_peek(l);

		if (strcmp(word, "limit") == 0) {
			l->at++;
			set->has_limit = true;
			if (!take_size(l, r, &set->limit))
				return false;
		} else if (strcmp(word, "period") == 0) {
			l->at++;
			set->has_period = true;
			if (!take_time(l, r, &set->period))
				return false;
		} else {
			break;
		}
	}
	return true;
}

static bool set_limit_check(struct config *cfg, struct rule *r, struct diag_list *diags)
{
	struct set_limit *set = r->data;

	for (const struct filter_kind *k = kinds; k->name && !set->filter; k++)
		set->filter = filter_conf_find(r->proxy, k, set->name);
	if (!set->filter) {
		struct diag_place place = { .file = r->file, .line = r->line };

		diag_add(diags, DIAG_ALERT, &place, NULL, "Proxy '%s': unable to find bwlim filter "
			 "'%s' referenced by set-bandwidth-limit rule.", r->proxy->name, set->name);
	}
	return set->filter != NULL;
}

static enum rule_result set_limit_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct set_limit *set = r->data;
	struct filter *f = filter_of_stream(ctx->stream, set->filter);
	const struct bwlim *b = set->filter->data;
	struct bwlim_state *st;
	int64_t value;

	if (!f)
		return RULE_CONTINUE;
	st = f->state;
	st->limit = b->limit;
	st->period_ms = b->period_ms;
	if (set->has_limit && rule_value_eval(&set->limit, ctx, &value) && value > 0)
		st->limit = (uint64_t)value;
	if (set->has_period && rule_value_eval(&set->period, ctx, &value) && value > 0)
		st->period_ms = value;
	st->paid_ns = clock_now_ns();
	st->on = true;
	filter_watch(f, b->side);
	filter_wake(f);
	return RULE_CONTINUE;
}

/* --- configuration ---------------------------------------------------------------------------- */

static bool bad_value(struct conf_line *l, const struct filter_conf *conf, const char *option,
		      size_t at)
{
	const char *word = l->words[l->at];

	return conf_error(l, l->at, NULL, "'filter' : '%s' : invalid value for option '%s' "
			  "(unexpected character '%c')", conf->kind->name, option, word[at]);
}

static bool take_option(struct conf_line *l, const struct filter_conf *conf, struct bwlim *b)
{
	const char *option = conf_next(l), *word = conf_peek(l);
	bool is_limit = strcmp(option, "default-limit") == 0;
	uint64_t us;
	size_t at = 0;

	if (!is_limit && strcmp(option, "default-period") != 0 && strcmp(option, "min-size") != 0) {
		if (strcmp(option, "limit") == 0 || strcmp(option, "key") == 0 ||
		    strcmp(option, "table") == 0)
			return conf_error(l, l->at - 1, NULL, "'filter' : '%s' : '%s' needs stick "
					  "tables, which are not supported yet: limit each stream "
					  "with 'default-limit' and 'default-period'.",
					  conf->kind->name, option);
		return conf_error(l, l->at - 1, NULL, "'filter %s' : unknown keyword '%s'.",
				  conf->kind->name, option);
	}
	if (!word)
		return conf_error(l, l->at - 1, NULL, "'filter' : '%s' : the value is missing for "
				  "'%s' option", conf->kind->name, option);
	if (strcmp(option, "default-period") == 0) {
		if (num_parse_time(slice_of(word), NUM_MS, &us, &at) != NUM_OK)
			return bad_value(l, conf, option, at);
		b->period_ms = (int64_t)num_us_to_ms(us);
	} else if (num_parse_size(slice_of(word), is_limit ? &b->limit : &b->min_size, &at) !=
		   NUM_OK) {
		return bad_value(l, conf, option, at);
	}
	l->at++;
	return true;
}

/* Is there another one of this name in the proxy? */
static bool is_there(const struct filter_conf *conf)
{
	for (const struct filter_kind *k = kinds; k->name; k++)
		if (filter_conf_find(conf->proxy, k, conf->name))
			return true;
	return false;
}

static bool bwlim_parse(struct conf_line *l, struct filter_conf *conf)
{
	struct bwlim *b = arena_zalloc(&l->cfg->arena, sizeof(*b));

	if (!b)
		return conf_error(l, 0, NULL, "out of memory.");
	if (!conf_peek(l))
		return conf_error(l, l->at - 1, NULL, "'filter' : '%s' : a name is expected as "
				  "first argument", conf->kind->name);
	conf->name = conf_next(l);
	conf->data = b;
	b->side = conf->kind == kinds ? FILTER_REQUEST : FILTER_RESPONSE;
	if (is_there(conf))
		return conf_error(l, l->at - 1, NULL, "'filter' : bwlim filter '%s' already "
				  "declared for proxy '%s'", conf->name, conf->proxy->name);
	while (conf_peek(l))
		if (!take_option(l, conf, b))
			return false;
	if (!b->period_ms || !b->limit)
		return conf_error(l, 1, NULL, "'filter' : '%s' : <%s> option is missing",
				  conf->kind->name,
				  b->period_ms ? "default-limit" : "default-period");
	return true;
}

/* --- tables ----------------------------------------------------------------------------------- */

#define HOLD_MAX (32 * 1024)
#define KIND(word, text) \
	{ .name = word, .group = "BWLIM", .id = "bwlim filter", .hold_max = HOLD_MAX, \
	  .state_size = sizeof(struct bwlim_state), .parse = bwlim_parse, .data = bwlim_data, \
	  .syntax = "<name> default-limit <size> default-period <time> [min-size <size>]", \
	  .help = text }

static const struct filter_kind kinds[] = {
	KIND("bwlim-in", "limit the rate of what clients send, see set-bandwidth-limit"),
	KIND("bwlim-out", "limit the rate of what clients get, see set-bandwidth-limit"),
	{ 0 }
};

static const struct rule_action actions[] = {
	{ .words = "set-bandwidth-limit",
	  .rulesets = RULES_BIT(RULES_TCP_CONTENT) | RULES_BIT(RULES_TCP_RESPONSE) |
		      RULES_BIT(RULES_HTTP_REQUEST) | RULES_BIT(RULES_HTTP_RESPONSE),
	  .parse = set_limit_parse, .check = set_limit_check, .run = set_limit_run,
	  .syntax = "<name> [limit {<size>|<expr>}] [period {<time>|<expr>}]",
	  .help = "have a filter bwlim-in or bwlim-out limit this stream" },
	{ 0 }
};

const struct module mod_filter_bwlim = {
	.name = "filter bwlim", .filters = kinds, .actions = actions,
};

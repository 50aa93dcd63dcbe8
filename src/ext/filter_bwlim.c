/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filter_bwlim.c - filter bwlim-in, bwlim-out: so many bytes of bodies in so much time
 *
 * A stream has its own clock, which says up to when its bytes are accounted for: n bytes advance it
 * by n * period / limit. Bytes pass while it is behind the current time, a slice (SLICE_MS) worth
 * of them in one piece; so the rate holds from the first byte on. A stream that sent less than
 * allowed, or that a busy thread has woken late, can catch up by a quarter of a period, not more;
 * the time before its first byte, such as the server's response time, does not count.
 *
 * A shared limit is kept in a stick table: streams of the same key count their bytes in the rate of
 * its entry, and pass the bytes that remain up to the limit, each no faster than its own clock
 * allows.
 * Manual: configuration 9.7, set-bandwidth-limit.
 */
#include <string.h>
#include "base/clock.h"
#include "base/num.h"
#include "conf/conf.h"
#include "proxy/proxy.h"
#include "stream/action.h"
#include "stream/filter.h"
#include "table/table.h"

#define SLICE_MS 25
/* The longest time that is reckoned with: any two of them, and the time of day, have a sum. */
#define LONGEST_NS ((uint64_t)1 << 61)

/* A line `filter bwlim-*`. */
struct bwlim {
	enum filter_side side;
	uint64_t limit, min_size;    /* bytes */
	int64_t period_ms;
	/* of a shared limit; NULL: each stream has its own */
	const struct expr *key;
	const char *table_name;      /* NULL: the proxy's own */
	const struct table *table;
	uint64_t shared_limit;       /* `limit`; 0: not said */
};

/* Of one stream. */
struct bwlim_state {
	bool on;
	bool begun;                  /* a byte has come since */
	uint64_t limit;
	int64_t period_ms;
	uint64_t paid_ns;            /* bytes are paid for until then */
	struct table_entry *entry;   /* held, of a shared limit; or NULL */
};

static const struct bwlim *settings(const struct filter *f)
{
	return f->conf->data;
}

/* --- bytes ------------------------------------------------------------------------------------ */

/* <v> without its fraction, <most> where it is more: no cast overflows. */
static uint64_t at_most(double v, uint64_t most)
{
	return v < (double)most ? (uint64_t)v : most;
}

static uint64_t bytes_in(const struct bwlim_state *st, uint64_t ns)
{
	return at_most((double)ns * (double)st->limit / ((double)st->period_ms * (double)NS_PER_MS),
		       INT64_MAX);
}

static uint64_t time_of(const struct bwlim_state *st, double bytes)
{
	return at_most(bytes * (double)st->period_ms * (double)NS_PER_MS / (double)st->limit,
		       LONGEST_NS);
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

/* --- shared limits ---------------------------------------------------------------------------- */

static enum table_data rate_of(const struct bwlim *b)
{
	return b->side == FILTER_REQUEST ? TABLE_BYTES_IN_RATE : TABLE_BYTES_OUT_RATE;
}

/* What the streams of the key may pass now; sets the pace of this one: its share of the limit, or,
 * while the others leave an eighth of it unused, all. What only tracks the entry has a share too.
 */
static uint64_t shared_left(const struct filter *f)
{
	const struct bwlim *b = settings(f);
	struct bwlim_state *st = f->state;
	uint64_t limit = b->shared_limit, rate = 0, share;

	table_read(&b->table->shape, st->entry, rate_of(b), 0, &rate);
	rate *= table_state_limits(b->table->state).bytes_factor;
	share = limit / table_refs(st->entry);
	st->limit = rate < limit - limit / 8 || !share ? limit : share;
	return rate < limit ? limit - rate : 0;
}

static void shared_count(const struct filter *f, uint64_t n)
{
	const struct bwlim *b = settings(f);
	const struct bwlim_state *st = f->state;
	uint32_t factor = table_state_limits(b->table->state).bytes_factor;

	table_add(&b->table->shape, st->entry, rate_of(b), 0, (n + factor - 1) / factor);
	table_changed(b->table->state, st->entry);
}

static void shared_end(struct filter *f)
{
	struct bwlim_state *st = f->state;

	if (st->entry)
		table_drop(st->entry);
	st->entry = NULL;
}

/* Finds or makes the entry of the stream's key. False: it has none, or there is no room for it. */
static bool shared_begin(struct bwlim_state *st, const struct bwlim *b, struct expr_ctx *ctx)
{
	struct table_key key;
	struct sample smp;

	if (st->entry)
		return true;
	if (expr_eval(b->key, ctx, &smp) != EXPR_FOUND ||
	    !table_key_of_sample(&b->table->shape, &smp, ctx->arena, &key))
		return false;
	st->entry = table_get(b->table->state, &key);
	st->limit = b->shared_limit;
	st->period_ms = b->table->shape.period_ms[rate_of(b)];
	return st->entry != NULL;
}

/* --- the filter ------------------------------------------------------------------------------- */

/* The most that may pass now. */
static uint64_t passable(const struct filter *f)
{
	struct bwlim_state *st = f->state;
	uint64_t now_ns = clock_now_ns(), left = UINT64_MAX, most_ns, n;

	if (st->entry)
		left = shared_left(f);
	most_ns = time_of(st, 2 * (double)least(f)) +
		  at_most((double)st->period_ms * (double)NS_PER_MS / 4, LONGEST_NS);
	if (!st->begun)
		most_ns = (uint64_t)SLICE_MS * NS_PER_MS;
	st->begun = true;
	if (st->paid_ns + most_ns < now_ns)
		st->paid_ns = now_ns - most_ns;
	n = st->paid_ns < now_ns ? bytes_in(st, now_ns - st->paid_ns) : 0;
	return n < left ? n : left;
}

/* Comes back when <want> bytes are paid for; to a shared limit, which others use, soon. */
static enum filter_result come_back(struct filter *f, uint64_t want)
{
	const struct bwlim_state *st = f->state;
	uint64_t now_ns = clock_now_ns(), at_ns = st->paid_ns + time_of(st, (double)want);

	filter_wake_ms(f, st->entry || at_ns < now_ns ? SLICE_MS
		       : (int64_t)((at_ns - now_ns) / NS_PER_MS) + 1);
	return FILTER_NEXT;
}

static enum filter_result bwlim_data(struct filter *f, enum filter_side side,
				     struct block_queue *in, struct block_queue *out, bool end)
{
	struct bwlim_state *st = f->state;
	uint64_t unit, want, n;

	if (!st->on || side != settings(f)->side) {
		block_queue_move(out, in);
		return FILTER_NEXT;
	}
	if (!in->len)
		return FILTER_NEXT;
	unit = least(f);
	want = in->len < unit ? in->len : unit;
	if (st->entry && want > settings(f)->shared_limit)
		want = settings(f)->shared_limit;
	n = passable(f);
	if (n < want)
		return come_back(f, want);
	n = n < in->len ? n : in->len;
	st->paid_ns += time_of(st, (double)n);
	if (st->entry)
		shared_count(f, n);
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
	const struct bwlim *b;

	for (const struct filter_kind *k = kinds; k->name && !set->filter; k++)
		set->filter = filter_conf_find(r->proxy, k, set->name);
	if (!set->filter) {
		struct diag_place place = { .file = r->file, .line = r->line };

		diag_add(diags, DIAG_ALERT, &place, NULL, "Proxy '%s': unable to find bwlim filter "
			 "'%s' referenced by set-bandwidth-limit rule.", r->proxy->name, set->name);
		return false;
	}
	b = set->filter->data;
	if (b->key && (set->has_limit || set->has_period)) {
		static const struct diag_place nowhere = { .form = DIAG_BARE };

		diag_add(diags, DIAG_ALERT, &nowhere, NULL, "Proxy '%s': set-bandwidth-limit rule "
			 "cannot define a %s for a shared bwlim filter.", r->proxy->name,
			 set->has_limit ? "limit" : "period");
		return false;
	}
	return true;
}

static void limit_begin(struct bwlim_state *st)
{
	st->paid_ns = clock_now_ns();
	st->on = true;
	st->begun = false;
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
	if (b->key) {
		if (!shared_begin(st, b, ctx) || !st->period_ms)
			return RULE_CONTINUE;
		limit_begin(st);
		filter_watch(f, b->side);
		filter_wake(f);
		return RULE_CONTINUE;
	}
	st->limit = b->limit;
	st->period_ms = b->period_ms;
	if (set->has_limit && rule_value_eval(&set->limit, ctx, &value) && value > 0)
		st->limit = (uint64_t)value;
	if (set->has_period && rule_value_eval(&set->period, ctx, &value) && value > 0)
		st->period_ms = value;
	limit_begin(st);
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

/* key <expr> or table <name>. */
static bool take_key(struct conf_line *l, const struct filter_conf *conf, struct bwlim *b,
		     const char *option)
{
	const struct proxy *px = conf->proxy;
	unsigned phases = 0;

	if (!conf_peek(l))
		return conf_error(l, l->at - 1, NULL, "'filter' : '%s' : the %s is missing for "
				  "'%s' option", conf->kind->name,
				  *option == 'k' ? "sample expression" : "table name", option);
	if (*option == 't') {
		b->table_name = conf_next(l);
		return true;
	}
	for (unsigned set = RULES_TCP_CONTENT; set <= RULES_HTTP_RESPONSE; set++)
		phases |= rule_phases(px, (enum ruleset)set);
	b->key = expr_take(l, phases);
	return b->key != NULL;
}

static bool take_option(struct conf_line *l, const struct filter_conf *conf, struct bwlim *b)
{
	const char *option = conf_next(l), *word = conf_peek(l);
	bool is_time = strcmp(option, "default-period") == 0;
	uint64_t us, *size = NULL;
	size_t at = 0;

	if (strcmp(option, "key") == 0 || strcmp(option, "table") == 0)
		return take_key(l, conf, b, option);
	if (strcmp(option, "default-limit") == 0)
		size = &b->limit;
	else if (strcmp(option, "limit") == 0)
		size = &b->shared_limit;
	else if (strcmp(option, "min-size") == 0)
		size = &b->min_size;
	else if (!is_time)
		return conf_error(l, l->at - 1, NULL, "'filter %s' : unknown keyword '%s'.",
				  conf->kind->name, option);
	if (!word)
		return conf_error(l, l->at - 1, NULL, "'filter' : '%s' : the value is missing for "
				  "'%s' option", conf->kind->name, option);
	if (is_time) {
		if (num_parse_time(slice_of(word), NUM_MS, &us, &at) != NUM_OK)
			return bad_value(l, conf, option, at);
		b->period_ms = (int64_t)num_us_to_ms(us);
	} else if (num_parse_size(slice_of(word), size, &at) != NUM_OK) {
		return bad_value(l, conf, option, at);
	}
	l->at++;
	return true;
}

/* Is all said that makes a limit? False: reported. */
static bool options_fit(struct conf_line *l, const struct filter_conf *conf, const struct bwlim *b)
{
	bool shared = b->key || b->table_name || b->shared_limit;
	const char *missing = NULL;

	if (shared && (b->limit || b->period_ms))
		return conf_error(l, 1, NULL, "'filter' : '%s' : cannot mix per-stream and shared "
				  "parameter", conf->kind->name);
	if (shared)
		missing = !b->key ? "key" : !b->shared_limit ? "limit" : NULL;
	else if (!b->period_ms || !b->limit)
		missing = b->period_ms ? "default-limit" : "default-period";
	return !missing || conf_error(l, 1, NULL, "'filter' : '%s' : <%s> option is missing",
				      conf->kind->name, missing);
}

static bool bwlim_check(struct config *cfg, struct filter_conf *conf, struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };
	struct bwlim *b = conf->data;
	const char *name = b->table_name ? b->table_name : conf->proxy->name;
	const struct table *t;

	if (!b->key)
		return true;
	t = table_lookup(cfg, name);
	if (!t)
		diag_add(diags, DIAG_ALERT, &nowhere, NULL, "Proxy %s : unable to find table '%s' "
			 "referenced by bwlim filter '%s'", conf->proxy->name, name, conf->name);
	else if (!table_type_takes((enum table_type)t->shape.type, expr_type(b->key)))
		diag_add(diags, DIAG_ALERT, &nowhere, NULL, "Proxy %s : stick-table '%s' uses a "
			 "key type incompatible with bwlim filter '%s'", conf->proxy->name, name,
			 conf->name);
	else if (!t->shape.count[rate_of(b)])
		diag_add(diags, DIAG_ALERT, &nowhere, NULL, "Proxy %s : stick-table '%s' uses a "
			 "data type incompatible with bwlim filter '%s'. It must be '%s'",
			 conf->proxy->name, name, conf->name, table_data_rows[rate_of(b)].name);
	else
		b->table = t;
	return b->table != NULL;
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
	return options_fit(l, conf, b);
}

/* --- tables ----------------------------------------------------------------------------------- */

#define HOLD_MAX (32 * 1024)
#define KIND(word, text) \
	{ .name = word, .group = "BWLIM", .id = "bwlim filter", .hold_max = HOLD_MAX, \
	  .state_size = sizeof(struct bwlim_state), .parse = bwlim_parse, .check = bwlim_check, \
	  .data = bwlim_data, .detach = shared_end, \
	  .syntax = "<name> {default-limit <size> default-period <time> | limit <size> " \
		    "key <expr> [table <table>]} [min-size <size>]", \
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

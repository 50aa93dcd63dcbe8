/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rate_limit_act.c - edge file: rate-limit: an even pace and a burst for each key, in one rule
 *
 * The remaining allowance of a key is one cell of its entry in a stick table (table/pace.h): one
 * lookup, one lock, no tracker. An extension.
 */
#include <stdlib.h>
#include <string.h>
#include "base/num.h"
#include "expr/vars.h"
#include "stream/action.h"
#include "stream/reply.h"
#include "table/pace.h"
#include "table/table.h"

#define EXAMPLE "as in 'rate-limit key src rate 100/10s burst 20 table clients'"

struct limit {
	const struct expr *key;
	const char *table_name;     /* NULL: that of the proxy itself */
	const struct table *table;  /* the same, resolved */
	const struct reply *reply;  /* of HTTP; NULL: the connection is closed */
	const struct var_ref *var;  /* gets what was decided; NULL: nothing does */
	struct table_pace pace;
	uint64_t events, period_ns, burst;
	bool has_burst, dry_run, tells, checked;
};

/* --- parsing ---------------------------------------------------------------------------------- */

/* The argument of the word before; NULL: reported. */
static const char *take_value(struct conf_line *l, const struct rule *r)
{
	if (!rule_at_end(l))
		return conf_next(l);
	rule_error(l, r, l->at - 1, "'%s' expects an argument, " EXAMPLE, l->words[l->at - 1]);
	return NULL;
}

static bool parse_key(struct conf_line *l, struct rule *r, struct limit *lim)
{
	if (rule_at_end(l))
		return take_value(l, r) != NULL;
	lim->key = expr_take(l, rule_phases(r->proxy, r->set));
	return lim->key != NULL;
}

/* 100/10s, 5/s */
static bool parse_rate(struct conf_line *l, struct rule *r, struct limit *lim)
{
	const char *word = take_value(l, r), *slash = word ? strchr(word, '/') : NULL;
	bool has_number = slash && ascii_is_digit(slash[1]);
	const char *time = !slash ? "" : has_number ? slash + 1
		: arena_printf(&l->cfg->arena, "1%s", slash + 1);
	uint64_t us;

	if (!word)
		return false;
	if (!slash || !slash[1] || !time ||
	    !num_parse_u64(slice_make(word, strcspn(word, "/")), &lim->events) ||
	    num_parse_time(slice_of(time), NUM_SEC, &us, NULL) != NUM_OK)
		return rule_error(l, r, l->at - 1, "'rate' expects <number>/<time>, " EXAMPLE
				  ", but got '%s'", word);
	lim->period_ns = us > TABLE_PACE_MAX_NS / 1000 ? UINT64_MAX : us * 1000;
	if (!lim->events || !us || !table_pace_make(&lim->pace, lim->events, lim->period_ns, 0))
		return rule_error(l, r, l->at - 1, "a rate of '%s' cannot be kept: from 1 in 24 "
				  "days to 1000 in 1us can", word);
	return true;
}

static bool parse_burst(struct conf_line *l, struct rule *r, struct limit *lim)
{
	const char *word = take_value(l, r);

	lim->has_burst = true;
	return word && (num_parse_u64(slice_of(word), &lim->burst) ||
			rule_error(l, r, l->at - 1, "'burst' expects how many may come at once "
				   "above an even pace (0: none), but got '%s'", word));
}

static bool parse_delay(struct conf_line *l, struct rule *r, struct limit *lim)
{
	const char *word;
	uint64_t us;

	if (r->set != RULES_HTTP_REQUEST)
		return rule_error(l, r, l->at - 1, "'delay' is for http-request rules: a "
				  "connection does not wait, it is closed");
	word = take_value(l, r);
	if (!word)
		return false;
	if (num_parse_time(slice_of(word), NUM_MS, &us, NULL) != NUM_OK ||
	    us > TABLE_PACE_MAX_NS / 1000)
		return rule_error(l, r, l->at - 1, "'delay' expects the longest time that a "
				  "request may wait, as in 'delay 2s', but got '%s'", word);
	lim->pace.delay_ns = us * 1000;
	return true;
}

static bool parse_table(struct conf_line *l, struct rule *r, struct limit *lim)
{
	lim->table_name = take_value(l, r);
	return lim->table_name != NULL;
}

static bool parse_var(struct conf_line *l, struct rule *r, struct limit *lim)
{
	const char *word = take_value(l, r), *error;

	if (!word)
		return false;
	lim->var = var_ref_parse(l->cfg, word, false, &error);
	if (!lim->var)
		return rule_error(l, r, l->at - 1, "%s", error);
	if (r->set <= RULES_TCP_SESSION && !var_ref_outlives_stream(lim->var))
		return rule_error(l, r, l->at - 1, "only the scopes 'proc' and 'sess' exist here, "
				  "not that of '%s'", word);
	return true;
}

static bool parse_dry_run(struct conf_line *l, struct rule *r, struct limit *lim)
{
	lim->dry_run = true;
	return true;
}

static bool parse_headers(struct conf_line *l, struct rule *r, struct limit *lim)
{
	lim->tells = true;
	return r->set == RULES_HTTP_REQUEST ||
	       rule_error(l, r, l->at - 1, "'headers' is for http-request rules");
}

static const struct {
	const char *word;
	bool (*parse)(struct conf_line *l, struct rule *r, struct limit *lim);
} words[] = {
	{ "key", parse_key }, { "rate", parse_rate }, { "burst", parse_burst },
	{ "delay", parse_delay }, { "table", parse_table }, { "var", parse_var },
	{ "dry-run", parse_dry_run }, { "headers", parse_headers },
};

/* One of our words and what follows it; *ours is false when the next word is none. */
static bool parse_word(struct conf_line *l, struct rule *r, struct limit *lim, bool *ours)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcmp(conf_peek(l), words[i].word) != 0)
			continue;
		l->at++;
		return words[i].parse(l, r, lim);
	}
	*ours = false;
	return true;
}

/* What the words say together. */
static bool limit_finish(struct conf_line *l, struct rule *r, struct limit *lim)
{
	uint64_t delay_ns = lim->pace.delay_ns;

	if (!lim->events)
		return rule_error(l, r, l->at - 1, "missing 'rate <number>/<time>', " EXAMPLE);
	if (!lim->key)
		return rule_error(l, r, l->at - 1, "missing 'key <expression>', " EXAMPLE);
	/* unless told otherwise all of a period may come at the same time */
	if (!lim->has_burst)
		lim->burst = lim->events - 1;
	if (!table_pace_make(&lim->pace, lim->events, lim->period_ns, lim->burst))
		return rule_error(l, r, l->at - 1, "a burst of %llu at this rate would last longer "
				  "than 24 days: set a smaller 'burst'",
				  (unsigned long long)lim->burst);
	lim->pace.delay_ns = delay_ns;
	return true;
}

static bool limit_parse(struct conf_line *l, struct rule *r)
{
	struct limit *lim = arena_zalloc(&l->cfg->arena, sizeof(*lim));
	bool ours = true;

	if (!lim)
		return rule_no_memory(l, r);
	r->data = lim;
	while (ours && !rule_at_end(l))
		if (!parse_word(l, r, lim, &ours))
			return false;
	if (!ours && r->set != RULES_HTTP_REQUEST)
		return rule_error(l, r, l->at, "unknown word '%s': expects key, rate, burst, "
				  "table, var or dry-run", conf_peek(l));
	if (!limit_finish(l, r, lim))
		return false;
	if (r->set != RULES_HTTP_REQUEST)
		return true;
	lim->reply = reply_parse(l, r, 429, true);
	return lim->reply && (rule_at_end(l) ||
			      rule_error(l, r, l->at, "unknown word '%s': expects key, rate, "
					 "burst, delay, table, var, headers or dry-run, then what "
					 "'deny' takes", conf_peek(l)));
}

/* --- check ------------------------------------------------------------------------------------ */

static void warn_of_expiry(const struct limit *lim, const struct rule *r, const struct table *t,
			   struct diag_list *diags)
{
	struct diag_place place = { .file = r->file, .line = r->line };
	uint64_t lasts_ms = (lim->pace.early_ns + lim->pace.interval_ns + lim->pace.delay_ns +
			     NS_PER_MS - 1) / NS_PER_MS;

	if (t->limits.expire_ms && t->limits.expire_ms < lasts_ms)
		diag_add(diags, DIAG_WARNING, &place, NULL, "'%s rate-limit': an entry of "
			 "stick-table '%s' expires in %u ms, before its limit is over in up to "
			 "%llu ms: set a longer 'expire'.", ruleset_name(r->set), t->name,
			 t->limits.expire_ms, (unsigned long long)lasts_ms);
}

static bool limit_check(struct config *cfg, struct rule *r, struct diag_list *diags)
{
	struct diag_place place = { .file = r->file, .line = r->line };
	struct limit *lim = r->data;
	const char *name = lim->table_name ? lim->table_name : r->proxy->name;
	struct table *t;

	if (lim->checked)
		return lim->table != NULL; /* with another proxy of the same defaults */
	lim->checked = true;
	t = table_lookup(cfg, name);
	if (!t) {
		diag_add(diags, DIAG_ALERT, &place, "as in 'stick-table type ipv6 size 100k expire "
			 "10m', in that section", "'%s rate-limit': there is no "
			 "stick-table '%s': declare one, or name another by 'table'.",
			 ruleset_name(r->set), name);
		return false;
	}
	if (!table_type_takes((enum table_type)t->shape.type, expr_type(lim->key))) {
		diag_add(diags, DIAG_ALERT, &place, NULL, "'%s rate-limit': stick-table '%s' of "
			 "type %s cannot hold what 'key' gives.", ruleset_name(r->set), name,
			 table_type_name((enum table_type)t->shape.type));
		return false;
	}
	if (lim->reply && !reply_check(cfg, (struct reply *)lim->reply, r, diags))
		return false;
	table_store(t, TABLE_RATE_LIMIT);
	warn_of_expiry(lim, r, t, diags);
	lim->table = t;
	return true;
}

/* --- deciding --------------------------------------------------------------------------------- */

static uint64_t seconds(uint64_t ns)
{
	return ns / NS_PER_SEC + (ns % NS_PER_SEC != 0);
}

/* Without memory it is not told. */
static void say_number(struct stream *s, struct slice name, uint64_t v)
{
	char *text = arena_alloc(&s->arena, NUM_U64_MAX);

	if (text)
		stream_answer_field(s, name, slice_make(text, num_put_u64(text, v)));
}

/* The fields of the answer: of one that refuses, and with `headers` of all. */
static void say_limits(struct stream *s, const struct limit *lim, const struct table_admission *a)
{
	bool refused = a->verdict == TABLE_REFUSE && !lim->dry_run;
	uint64_t wait_s = seconds(a->wait_ns);

	if (!s || (!refused && !lim->tells))
		return;
	say_number(s, SLICE("ratelimit-limit"), lim->pace.burst + 1);
	say_number(s, SLICE("ratelimit-remaining"), a->left);
	say_number(s, SLICE("ratelimit-reset"), seconds(a->reset_ns));
	if (refused)
		say_number(s, SLICE("retry-after"), wait_s ? wait_s : 1);
}

static void set_var(const struct limit *lim, struct expr_ctx *ctx, enum table_verdict v)
{
	static const char *const names[] = {
		[TABLE_PASS] = "pass", [TABLE_WAIT] = "delay", [TABLE_REFUSE] = "refuse",
	};
	struct sample value = { .type = SMP_STR, .flags = SMP_CONST, .text = slice_of(names[v]) };

	if (lim->var)
		var_set(lim->var, ctx, &value);
}

/* Counts the event in its entry, and decides. False: nothing limits it. */
static bool limit_take(const struct limit *lim, struct sample *key_sample, struct expr_ctx *ctx,
		       struct table_admission *out)
{
	const struct table *t = lim->table;
	struct table_entry *e;
	struct table_key key;

	if (!table_key_of_sample(&t->shape, key_sample, ctx->arena, &key))
		return false;
	e = table_get(t->state, &key);
	if (!e)
		return false;
	table_pace_take(table_cell(&t->shape, e, TABLE_RATE_LIMIT, 0), &lim->pace, clock_now_ns(),
			out);
	if (out->verdict == TABLE_REFUSE)
		table_add(&t->shape, e, TABLE_RATE_LIMITED_CNT, 0, 1);
	table_changed(t->state, e);
	table_drop(e);
	return true;
}

/* A request waits for its time. */
static enum rule_result limit_wait(struct stream *s)
{
	/* no client is left to be slowed down */
	if (!stream_is_late(s) && !(s->front.flags & EP_ERROR))
		return RULE_WAIT;
	s->due.stage_ms = TIMER_NEVER;
	return RULE_CONTINUE;
}

static enum rule_result limit_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct limit *lim = r->data;
	struct stream *s = ctx->stream;
	struct table_admission a;
	struct sample smp;

	if (s && s->rule.data)
		return limit_wait(s);
	switch (expr_eval(lim->key, ctx, &smp)) {
	case EXPR_WAIT:
		return RULE_WAIT;
	case EXPR_NONE:
		return RULE_CONTINUE;
	case EXPR_FOUND:
		break;
	}
	if (!limit_take(lim, &smp, ctx, &a))
		return RULE_CONTINUE;
	set_var(lim, ctx, a.verdict);
	if (r->set == RULES_HTTP_REQUEST)
		say_limits(s, lim, &a);
	if (a.verdict == TABLE_PASS || lim->dry_run)
		return RULE_CONTINUE;
	if (a.verdict == TABLE_REFUSE)
		return r->set == RULES_HTTP_REQUEST ? RULE_DENY : RULE_REJECT;
	stream_wait_ms(s, (int64_t)((a.wait_ns + NS_PER_MS - 1) / NS_PER_MS));
	s->rule.data = r->data;
	return RULE_WAIT;
}

static const struct reply *limit_reply(const struct rule *r)
{
	return ((const struct limit *)r->data)->reply;
}

#define LIMIT_SYNTAX "key <expr> rate <number>/<time> [burst <number>] [delay <time>] " \
	"[table <table>] [var <name>] [headers] [dry-run] [<reply>]"

static const struct rule_action actions[] = {
	{ .words = "rate-limit", .rulesets = RULES_BIT(RULES_HTTP_REQUEST) |
	  RULES_BIT(RULES_TCP_CONNECTION) | RULES_BIT(RULES_TCP_SESSION) |
	  RULES_BIT(RULES_TCP_CONTENT), .parse = limit_parse, .run = limit_run,
	  .check = limit_check, .ends_with_client = true, .reply = limit_reply,
	  .syntax = LIMIT_SYNTAX,
	  .help = "refuse or delay what comes faster than a rate, for each key (an extension)" },
	{ 0 }
};

const struct module mod_rate_limit_act = { .name = "rate-limit-actions", .actions = actions };

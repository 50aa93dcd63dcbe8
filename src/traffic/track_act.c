/* SPDX-License-Identifier: GPL-2.0-or-later */
/* track_act.c - edge file: actions on stick tables: track-sc0, sc-inc-gpc0 and its kin
 *
 * Manual: configuration 4.4.
 */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/num.h"
#include "stream/action.h"
#include "stream/track.h"

/* --- track-sc<i> ------------------------------------------------------------------------------ */

struct track_arg {
	const struct expr *key;
	const char *table_name;     /* NULL: that of the proxy itself */
	const struct table *table;  /* the same, resolved */
	unsigned number;
	bool checked;
};

/* The number behind the action's word. False: reported. */
static bool track_number(struct conf_line *l, const struct rule *r, unsigned *number)
{
	unsigned count = track_count(l->cfg);

	*number = (unsigned)num_prefix_int(l->words[l->at - 1] + strlen("track-sc"), NULL);
	if (!count)
		return rule_error(l, r, l->at - 1, "%u track-sc number not usable, stick-counters "
				  "are disabled by tune.stick-counters", *number);
	if (*number >= count)
		return rule_error(l, r, l->at - 1, "%u track-sc number exceeding %u "
				  "(tune.stick-counters-1) value", *number, count - 1);
	return true;
}

static bool track_parse(struct conf_line *l, struct rule *r)
{
	struct track_arg *arg = arena_zalloc(&l->cfg->arena, sizeof(*arg));

	if (!arg)
		return rule_no_memory(l, r);
	r->data = arg;
	if (!track_number(l, r, &arg->number))
		return false;
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "missing fetch method");
	arg->key = expr_take(l, rule_phases(r->proxy, r->set));
	if (!arg->key)
		return false;
	if (!conf_peek(l) || strcmp(conf_peek(l), "table") != 0)
		return true;
	l->at++;
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "missing table name");
	arg->table_name = conf_next(l);
	return true;
}

static bool track_check(struct config *cfg, struct rule *r, struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };
	struct track_arg *arg = r->data;
	const struct table *t;
	const char *name = arg->table_name ? arg->table_name : r->proxy->name;

	if (arg->checked)
		return arg->table != NULL; /* with another proxy of the same defaults */
	arg->checked = true;
	t = table_lookup(cfg, name);
	if (!t) {
		diag_add(diags, DIAG_ALERT, &nowhere, NULL, "Proxy '%s': unable to find table '%s' "
			 "referenced by track-sc%u.", r->proxy->name, name, arg->number);
		return false;
	}
	if (!table_type_takes((enum table_type)t->shape.type, expr_type(arg->key))) {
		diag_add(diags, DIAG_ALERT, &nowhere, NULL, "Proxy '%s': stick-table '%s' uses a "
			 "type incompatible with the 'track-sc%u' rule.", r->proxy->name, name,
			 arg->number);
		return false;
	}
	arg->table = t;
	return true;
}

static enum rule_result track_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct track_arg *arg = r->data;
	const struct table *t = arg->table;
	struct table_entry *e;
	struct table_key key;
	struct sample smp;

	if (tracked_at(ctx, arg->number))
		return RULE_CONTINUE;
	switch (expr_eval(arg->key, ctx, &smp)) {
	case EXPR_WAIT:
		return RULE_WAIT;
	case EXPR_NONE:
		return RULE_CONTINUE;
	case EXPR_FOUND:
		break;
	}
	if (!table_key_of_sample(&t->shape, &smp, ctx->arena, &key))
		return RULE_CONTINUE;
	e = table_get(t->state, &key);
	if (e)
		track_begin(ctx, arg->number, t->state, e);
	return RULE_CONTINUE;
}

/* --- sc-inc-gpc(i,t), sc-add-gpc, sc-set-gpt -------------------------------------------------- */

struct gpc_arg {
	enum table_data data, rate; /* <rate> is TABLE_DATA_COUNT: none */
	unsigned cell, number;
	bool sets;                  /* else it adds */
	struct rule_value value;
};

/* A number at *at; false: none, or not followed by <end>. */
static bool take_number(const char **at, char end, unsigned *out)
{
	if (!ascii_is_digit(**at))
		return false;
	*out = (unsigned)num_prefix_int(*at, at);
	if (**at != end)
		return false;
	(*at)++;
	return true;
}

/* What stands in the parentheses: <cell>,<number>, or <number> alone. False: reported. */
static bool gpc_parameters(struct conf_line *l, const struct rule *r, struct gpc_arg *arg,
			   bool both)
{
	const char *word = l->words[l->at - 1], *at = strchr(word, '(');
	const char *kind = arg->sets ? "gpt" : "gpc";
	const char *name = r->action->words;
	unsigned count = track_count(l->cfg);

	at += at != NULL;
	if (both && at && !take_number(&at, ',', &arg->cell))
		return rule_error(l, r, l->at - 1, "Missing %s ID '%s'. Expects %s(<%s ID>,<Track "
				  "ID>)", kind, word, name, arg->sets ? "GPT" : "GPC");
	if (at && !take_number(&at, ')', &arg->number))
		return rule_error(l, r, l->at - 1, "invalid stick table track ID. Expects %s(%s"
				  "<Track ID>)", both ? name : word, both ? "<ID>," : "");
	if (arg->number < count || !at)
		return true;
	if (both)
		return rule_error(l, r, l->at - 1, "invalid stick table track ID '%s'. The max "
				  "allowed ID is %u (tune.stick-counters)", word, count - 1);
	return rule_error(l, r, l->at - 1, "invalid stick table track ID. The max allowed ID is %u "
			  "(tune.stick-counters)", count - 1);
}

static bool gpc_parse(struct conf_line *l, struct rule *r)
{
	static const struct {
		const char *name;
		uint8_t data, rate;
		bool both, sets;
	} rows[] = {
		{ "sc-inc-gpc", TABLE_GPC, TABLE_GPC_RATE, true, false },
		{ "sc-add-gpc", TABLE_GPC, TABLE_GPC_RATE, true, false },
		{ "sc-inc-gpc0", TABLE_GPC0, TABLE_GPC0_RATE, false, false },
		{ "sc-inc-gpc1", TABLE_GPC1, TABLE_GPC1_RATE, false, false },
		{ "sc-set-gpt", TABLE_GPT, TABLE_DATA_COUNT, true, true },
		{ "sc-set-gpt0", TABLE_GPT0, TABLE_DATA_COUNT, false, true },
	};
	struct gpc_arg *arg = arena_zalloc(&l->cfg->arena, sizeof(*arg));
	unsigned i = 0;

	if (!arg)
		return rule_no_memory(l, r);
	while (strcmp(r->action->words, rows[i].name) != 0)
		i++;
	r->data = arg;
	arg->data = (enum table_data)rows[i].data;
	arg->rate = (enum table_data)rows[i].rate;
	arg->sets = rows[i].sets;
	arg->value.number = 1;
	if (!gpc_parameters(l, r, arg, rows[i].both))
		return false;
	if (strncmp(r->action->words, "sc-inc", 6) == 0)
		return true;
	if (rule_at_end(l)) {
		arg->value.number = 0;
		return true;
	}
	return rule_value_take_number(l, r, &arg->value);
}

/* <d> of the entry, or what stands for it; false: not stored. */
static bool gpc_change(const struct tracked *t, const struct gpc_arg *arg, enum table_data d,
		       uint64_t n)
{
	const struct table_shape *s = table_state_shape(t->table);
	unsigned cell = arg->cell;

	if (d == TABLE_DATA_COUNT)
		return false;
	d = table_data_stored(s, d, &cell);
	return arg->sets ? table_write(s, t->entry, d, cell, n)
			 : table_add(s, t->entry, d, cell, n);
}

static enum rule_result gpc_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct gpc_arg *arg = r->data;
	const struct tracked *t = tracked_at(ctx, arg->number);
	bool changed;
	int64_t n;

	if (!t || !rule_value_eval(&arg->value, ctx, &n))
		return RULE_CONTINUE;
	changed = gpc_change(t, arg, arg->data, (uint32_t)n);
	changed = gpc_change(t, arg, arg->rate, (uint32_t)n) || changed;
	if (changed)
		table_changed(t->table, t->entry);
	return RULE_CONTINUE;
}

#define ALL ((RULES_BIT(RULES_COUNT) - 1) & ~RULES_BIT(RULES_QUIC_INITIAL))
#define TRACKED (ALL & ~(RULES_BIT(RULES_HTTP_AFTER) | RULES_BIT(RULES_TCP_RESPONSE)))
#define GPC(name, what, text) \
	{ .words = name, .rulesets = ALL, .has_parameter = true, .parse = gpc_parse, \
	  .run = gpc_run, .syntax = what, .help = text }

static const struct rule_action actions[] = {
	GPC("sc-add-gpc", "(<index>,<counter>) {<number>|<expr>}",
	    "add to a general purpose counter of what is tracked"),
	GPC("sc-inc-gpc", "(<index>,<counter>)", "count in a general purpose counter"),
	GPC("sc-inc-gpc0", "(<counter>)", "count in the general purpose counter 0"),
	GPC("sc-inc-gpc1", "(<counter>)", "count in the general purpose counter 1"),
	GPC("sc-set-gpt", "(<index>,<counter>) {<number>|<expr>}",
	    "set a general purpose tag of what is tracked"),
	GPC("sc-set-gpt0", "(<counter>) {<number>|<expr>}", "set the general purpose tag 0"),
	{ .words = "track-sc", .rulesets = TRACKED, .has_number = true, .parse = track_parse,
	  .run = track_run, .check = track_check, .syntax = "<key> [table <table>]",
	  .help = "count in the entry of this key until the connection or the request ends" },
	{ 0 }
};

const struct module mod_track_act = { .name = "stick-table-actions", .actions = actions };

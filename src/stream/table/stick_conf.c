/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stick_conf.c - edge file: stick on, match, store-request, store-response; non-stick */
#include <string.h>
#include "base/bug.h"
#include "conf/conf.h"
#include "proxy/proxy.h"
#include "stream/rule.h"
#include "stick_priv.h"

static bool stick_parse(struct conf_line *l)
{
	const struct proxy *px = l->object;
	struct stick_proxy *sp = slot_of(&stick_proxy_slot, l->slots);
	struct stick_rule *r = arena_zalloc(&l->cfg->arena, sizeof(*r));
	unsigned phase;

	if (!r)
		return conf_error(l, 0, NULL, "'stick': out of memory.");
	r->does = (unsigned)l->keyword->min;
	r->table_name = px->name;
	phase = r->does & STICK_RESPONSE ? EXPR_BE_STO_RUL : EXPR_BE_SET_SRV;
	if (!conf_peek(l))
		return conf_error(l, l->at, NULL, "'stick' expects a fetch method.");
	r->key = expr_take(l, phase);
	if (!r->key)
		return false;
	if (conf_peek(l) && strcmp(conf_peek(l), "table") == 0) {
		l->at++;
		r->table_name = conf_peek(l) ? conf_next(l) : "";
	}
	if (!rule_at_end(l))
		return conf_error(l, l->at, "expects 'table', 'if' or 'unless'",
				  "'stick': unknown keyword '%s'.", conf_peek(l));
	if (!rule_take_condition(l, "stick", phase, &r->condition))
		return false;
	if (sp->last)
		sp->last->next = r;
	else
		sp->first = r;
	sp->last = r;
	return true;
}

static bool stick_unknown_parse(struct conf_line *l)
{
	return conf_error(l, conf_peek(l) ? l->at : 0,
			  "on, match, store-request or store-response",
			  "'stick' expects 'on', 'match', or 'store'.");
}

static bool server_stick_parse(struct conf_line *l)
{
	struct stick_server *ss = slot_of(&stick_server_slot, l->slots);

	ss->never = l->keyword->min;
	return true;
}

static void check_rule(struct config *cfg, const struct proxy *px, struct stick_rule *r,
		       struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };
	struct table *t = table_lookup(cfg, r->table_name);

	if (!t) {
		diag_add(diags, DIAG_ALERT, &nowhere, NULL,
			 "Proxy '%s': unable to find stick-table '%s'.", px->name, r->table_name);
		return;
	}
	if (!table_type_takes((enum table_type)t->shape.type, expr_type(r->key))) {
		diag_add(diags, DIAG_ALERT, &nowhere, NULL, "Proxy '%s': type of fetch not usable "
			 "with type of stick-table '%s'.", px->name, t->name);
		return;
	}
	table_store(t, TABLE_SERVER_ID);
	table_store(t, TABLE_SERVER_KEY);
	r->table = t;
}

/* Logs are sent to no client's server. */
static void check_mode(struct config *cfg, const struct proxy *px, const struct stick_proxy *sp,
		       struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };

	if (px->mode != PROXY_MODE_LOG)
		return;
	if (sp->first)
		diag_add(diags, DIAG_WARNING, &nowhere, NULL, "Cannot use sticking rules with "
			 "'mode log' in backend '%s'. They will be ignored.", px->name);
	if (table_lookup(cfg, px->name))
		diag_add(diags, DIAG_WARNING, &nowhere, NULL, "Cannot use stick table with 'mode "
			 "log' in backend '%s'. It will be ignored.", px->name);
}

static void stick_check(struct config *cfg, struct diag_list *diags)
{
	for (const struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		const struct stick_proxy *sp = slot_of(&stick_proxy_slot, proxy_slots(px));

		check_mode(cfg, px, sp, diags);
		for (struct stick_rule *r = sp->first; r; r = r->next)
			check_rule(cfg, px, r, diags);
	}
}

#define STICK(text, what, about) \
	{ .words = "stick " text, .where = CONF_BE, .max_args = -1, .parse = stick_parse, \
	  .min = (what), .syntax = "<key> [table <table>] [{if|unless} <condition>]", \
	  .help = about }

static const struct conf_keyword keywords[] = {
	STICK("on", STICK_MATCH | STICK_STORE, "match and store-request at once"),
	STICK("match", STICK_MATCH, "send requests whose key is known to the same server"),
	STICK("store-request", STICK_STORE, "remember the server of this key of the request"),
	STICK("store-response", STICK_STORE | STICK_RESPONSE,
	      "remember the server of this key of the answer"),
	{ .words = "stick", .where = CONF_BE, .flags = CONF_HIDDEN, .max_args = -1,
	  .parse = stick_unknown_parse, .syntax = "on|match|store-request|store-response <key>",
	  .help = "see stick on, match, store-request, store-response" },
	{ .words = "non-stick", .where = CONF_SERVER, .parse = server_stick_parse, .min = 1,
	  .syntax = "", .help = "never stored by stick rules" },
	{ .words = "stick", .where = CONF_SERVER, .parse = server_stick_parse, .min = 0,
	  .syntax = "", .help = "stored by stick rules" },
	{ 0 }
};

static struct slot *const slots[] = {
	&stick_proxy_slot, &stick_server_slot, &stick_stream_slot, NULL,
};

const struct module mod_stick = {
	.name = "stick-rules", .keywords = keywords, .slots = slots, .check = stick_check,
};

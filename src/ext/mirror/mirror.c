/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mirror.c - edge file: the action mirror, and the command that shows what became of copies
 *
 * An extension, see ext/mirror.h.
 */
#include <stdlib.h>
#include <string.h>
#include "base/diag.h"
#include "base/slot.h"
#include "conf/conf.h"
#include "ctl/ctl.h"
#include "ext/mirror.h"
#include "proxy/proxy.h"
#include "mirror_priv.h"

#define COPIES 1000
#define BUFFER (256 * 1024)

static bool rules_init(void *data)
{
	struct mirror_rules *all = data;

	all->last = &all->first;
	return true;
}

static void rules_fini(void *data)
{
	for (struct mirror_rule *m = ((struct mirror_rules *)data)->first; m; m = m->next)
		counter_set_fini(&m->counts);
}

static struct slot mirror_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct mirror_rules), .init = rules_init,
	.fini = rules_fini,
};

/* --- the action ------------------------------------------------------------------------------- */

static bool parse_sample(struct conf_line *l, const struct rule *r, struct mirror_rule *m)
{
	const char *word = conf_next(l);
	char *end;
	double percent = strtod(word, &end);

	if (end == word || (*end && strcmp(end, "%") != 0) || !(percent >= 0 && percent <= 100))
		return rule_error(l, r, l->at - 1, "'sample %s' : expects a part of 100, as in "
				  "'sample 2.5%%'", word);
	m->sample = (uint64_t)(percent / 100 * 4294967296.0);
	return true;
}

static bool parse_option(struct conf_line *l, struct rule *r, struct mirror_rule *m)
{
	const char *word = conf_next(l);

	if (strcmp(word, "sample") != 0 && strcmp(word, "max") != 0 && strcmp(word, "buffer") != 0)
		return rule_error(l, r, l->at - 1, "unknown option '%s': expects sample, max, "
				  "buffer", word);
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "'%s' expects a value", word);
	if (*word == 's')
		return parse_sample(l, r, m);
	if (*word == 'm')
		return conf_take_int(l, 1, INT32_MAX, &m->max);
	return conf_take_size(l, &m->buffer);
}

static bool action_parse(struct conf_line *l, struct rule *r)
{
	struct mirror_rule *m = arena_zalloc(&l->cfg->arena, sizeof(*m));
	struct mirror_rules *all = slot_of(&mirror_slot, config_slots(l->cfg));

	if (!m || !counter_set_init(&m->counts, MIRROR_COUNT))
		return rule_no_memory(l, r);
	*all->last = m;
	all->last = &m->next;
	r->data = m;
	m->rule = r;
	m->sample = (uint64_t)1 << 32;
	m->max = COPIES;
	m->buffer = BUFFER;
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "'mirror' expects the name of a backend");
	m->backend_name = conf_next(l);
	while (!rule_at_end(l))
		if (!parse_option(l, r, m))
			return false;
	return true;
}

static const struct filter_conf *filter_of(struct config *cfg, struct proxy *px)
{
	for (int i = 0; i < 2; i++) {
		for (const struct filter_conf *f = filter_confs(px); f; f = f->next)
			if (f->kind == &mirror_filter)
				return f;
		if (!filter_conf_add(px, &mirror_filter))
			return NULL;
	}
	return NULL;
}

static bool action_check(struct config *cfg, struct rule *r, struct diag_list *diags)
{
	struct diag_place place = { .file = r->file, .line = r->line };
	struct mirror_rule *m = r->data;

	m->backend = proxy_find_kept(cfg, m->backend_name, PROXY_BE);
	m->filter = filter_of(cfg, r->proxy);
	if (!m->backend || m->backend->mode != PROXY_MODE_HTTP)
		diag_add(diags, DIAG_ALERT, &place, NULL, "'http-request mirror' in proxy '%s': "
			 "there is no backend '%s' in mode http.", r->proxy->name,
			 m->backend_name);
	else if (m->backend == r->proxy)
		diag_add(diags, DIAG_ALERT, &place, "give it a backend of its own",
			 "'http-request mirror' in proxy '%s': its copies would be copied without "
			 "end.", r->proxy->name);
	else if (!m->filter)
		diag_add(diags, DIAG_ALERT, &place, NULL, "out of memory.");
	else
		return true;
	return false;
}

static const struct rule_action actions[] = {
	{ .words = "mirror", .rulesets = RULES_BIT(RULES_HTTP_REQUEST), .parse = action_parse,
	  .check = action_check, .run = mirror_run,
	  .syntax = "<backend> [sample <percent>] [max <number>] [buffer <size>]",
	  .help = "send a copy of the request to another backend" },
	{ 0 }
};

/* --- the command ------------------------------------------------------------------------------ */

static enum ctl_step show(struct ctl_request *rq)
{
	static const char *const columns[] = {
#define X(name, column) column,
		MIRROR_COUNTS(X)
#undef X
	};
	const struct mirror_rules *all = slot_of(&mirror_slot, config_slots(proxies_current()));

	strbuf_add_str(rq->out, "# proxy backend line");
	for (unsigned i = 0; i < MIRROR_COUNT; i++)
		strbuf_printf(rq->out, " %s", columns[i]);
	for (const struct mirror_rule *m = all->first; m; m = m->next) {
		strbuf_printf(rq->out, "\n%s %s %d", m->rule->proxy->name, m->backend_name,
			      m->rule->line);
		for (unsigned i = 0; i < MIRROR_COUNT; i++)
			strbuf_printf(rq->out, " %llu",
				      (unsigned long long)counter_read(&m->counts, i));
	}
	strbuf_add_char(rq->out, '\n');
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "show mirror", .run = show, .help = "copies of requests, by rule" },
	{ 0 }
};

static struct slot *const slots[] = { &mirror_slot, NULL };

const struct module mod_mirror = {
	.name = "mirror", .actions = actions, .commands = commands, .slots = slots,
};

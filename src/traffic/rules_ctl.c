/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rules_ctl.c - edge file: show rules */
#include "ctl/ctl.h"
#include "proxy/walk.h"
#include "stream/action.h"
#include "stream/rule_list.h"
#include "stream/split.h"

static bool begin_rules(struct ctl_request *rq)
{
	const char *word = rq->words[rq->at];
	struct proxy_walk *d = proxy_walk_begin(rq, sizeof(*d));

	if (!d)
		return false;
	if (word) {
		d->only = proxy_find(d->config, word, 0);
		if (!d->only) {
			ctl_error(rq, "No such proxy.");
			return false;
		}
	}
	strbuf_add_str(rq->out, "# evaluated matched proxy rule (place)\n");
	return true;
}

struct acl_reader {
	const struct proxy *proxy;
	struct strbuf *out;
};

static void put_hits(struct strbuf *out, const struct proxy *px, unsigned number)
{
	struct rule_hits hits = rule_hits_sum(rule_proxy_of(px), number);

	strbuf_printf(out, "%llu %llu %s ", (unsigned long long)hits.evaluated,
		      (unsigned long long)hits.matched, px->name);
}

static void put_place(struct strbuf *out, const char *file, int line)
{
	strbuf_printf(out, " (%s:%d)\n", file ? file : "-", line);
}

/* The rule's own place, then those of the use-ruleset lines by which it came. */
static void put_rule_place(struct strbuf *out, const struct rule *r)
{
	strbuf_printf(out, " (%s:%d", r->file ? r->file : "-", r->line);
	for (const struct rule_use *u = r->use; u; u = u->outer)
		strbuf_printf(out, ", %s used at %s:%d", u->name, u->file ? u->file : "-", u->line);
	strbuf_add_str(out, ")\n");
}

/* The backends of a use_backends rule: of the requests that it applied to, those that each got. */
static void dump_split(const struct proxy *px, const struct switch_rule *sr, struct strbuf *out)
{
	const struct rule_proxy *rp = rule_proxy_of(px);
	struct rule_hits of_rule = rule_hits_sum(rp, sr->number);

	for (unsigned i = 0; i < sr->split->count; i++) {
		struct rule_hits hits = rule_hits_sum(rp, sr->number + 1 + i);

		strbuf_printf(out, "%llu %llu %s %s %s", (unsigned long long)of_rule.matched,
			      (unsigned long long)hits.matched, px->name, sr->word,
			      sr->split->targets[i].name);
		put_place(out, sr->file, sr->line);
	}
}

static void dump_switches(const struct proxy *px, const struct list *rules, struct strbuf *out)
{
	const struct switch_rule *sr;

	list_for_each(sr, rules, link) {
		put_hits(out, px, sr->number);
		strbuf_printf(out, "%s %s", sr->word, sr->name);
		put_place(out, sr->file, sr->line);
		if (sr->split)
			dump_split(px, sr, out);
	}
}

/* One ACL's line; <data> is the reader of dump_proxy(). */
static void put_acl(void *data, const char *name, const char *file, int line,
		    const struct acl_hits *hits)
{
	struct acl_reader *r = data;

	strbuf_printf(r->out, "%llu %llu %s acl %s", (unsigned long long)hits->evaluated,
		      (unsigned long long)hits->matched, r->proxy->name, name);
	put_place(r->out, file, line);
}

static void dump_proxy(const struct proxy *px, struct strbuf *out)
{
	const struct rule_proxy *rp = rule_proxy_of(px);
	struct acl_reader reader = { px, out };
	const struct redirect_rule *rr;

	for (int set = 0; set < RULES_COUNT; set++) {
		for (unsigned i = 0; i < rp->count[set]; i++) {
			const struct rule *r = rp->all[set][i];

			put_hits(out, px, rp->first_number[set] + i);
			strbuf_printf(out, "%s %s", ruleset_name(set), r->action->words);
			put_rule_place(out, r);
		}
	}
	list_for_each(rr, &rp->redirects, link) {
		put_hits(out, px, rr->number);
		strbuf_add_str(out, "redirect");
		put_place(out, rr->rule.file, rr->rule.line);
	}
	dump_switches(px, &rp->backends, out);
	dump_switches(px, &rp->servers, out);
	acl_set_each(rp->acls, put_acl, &reader);
}

static enum ctl_step show_rules(struct ctl_request *rq)
{
	struct proxy_walk *d;

	if (!rq->state && !begin_rules(rq))
		return CTL_DONE;
	d = rq->state;
	for (; d->at; d->at = proxy_next(d->at)) {
		if (ctl_is_due(rq))
			return CTL_MORE;
		if (!(d->at->caps & PROXY_DEFAULTS) && (!d->only || d->at == d->only))
			dump_proxy(d->at, rq->out);
	}
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "show rules", .level = CTL_OPERATOR, .syntax = "[<px>]",
	  .help = "show how often each rule and ACL was evaluated and applied", .run = show_rules,
	  .release = proxy_walk_release },
	{ 0 }
};

const struct module mod_rules_ctl = { .name = "rules_ctl", .commands = commands };

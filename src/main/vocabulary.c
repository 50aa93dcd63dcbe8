/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vocabulary.c - -dKdoc: all entries of the modules' tables, for the manual's tables
 *
 * One record per line, seven fields separated by tabs:
 *
 *   kind  name  syntax  where or type  notes  help  hint
 *
 * scripts/make-keyword-tables makes doc/configuration/keywords.md and doc/commands.md of them, and
 * `make lint` compares these with the program: the manual cannot disagree with the code.
 */
#include <stdio.h>
#include "conf/conf.h"
#include "ctl/ctl.h"
#include "expr/expr.h"
#include "expr/logformat.h"
#include "expr/pattern.h"
#include "manage/stats_fields.h"
#include "stream/filter.h"
#include "stream/rule.h"
#include "stream/stream.h"
#include "dump_priv.h"

/* A table's member, or nothing. */
static const char *text(const char *s)
{
	return s ? s : "";
}

/* Names of the bits that are set, separated by commas. */
struct bit_name {
	unsigned bit;
	const char *name;
};

static void print_bits(FILE *out, unsigned mask, const struct bit_name *names)
{
	const char *comma = "";

	for (; names->name; names++) {
		if (!(mask & names->bit))
			continue;
		fprintf(out, "%s%s", comma, names->name);
		comma = ",";
	}
}

static void print_keyword(FILE *out, const struct conf_keyword *k)
{
	static const struct bit_name places[] = {
		{ CONF_GLOBAL, "global" }, { CONF_DEFAULTS, "defaults" },
		{ CONF_FRONTEND, "frontend" }, { CONF_LISTEN, "listen" },
		{ CONF_BACKEND, "backend" }, { CONF_BIND, "bind" }, { CONF_SERVER, "server" },
		{ 0, NULL },
	};
	static const struct bit_name notes[] = {
		{ CONF_CAN_NO, "no" }, { CONF_CAN_DEFAULT, "default" },
		{ CONF_EXPERIMENTAL, "experimental" }, { CONF_DEPRECATED, "deprecated" },
		{ CONF_REFUSED, "refused" }, { CONF_IGNORED, "ignored" },
		{ CONF_MOOT, "ignored" }, { CONF_HTTP, "http" },
		{ 0, NULL },
	};

	if (k->flags & CONF_HIDDEN)
		return;
	fprintf(out, "keyword\t%s\t%s\t", k->words, text(k->syntax));
	print_bits(out, k->where, places);
	if (k->where & CONF_OTHER)
		fprintf(out, "%s", text(k->section));
	fputc('\t', out);
	print_bits(out, k->flags, notes);
	fprintf(out, "\t%s\t%s\n", text(k->help), text(k->hint));
}

static void print_configuration(FILE *out, const struct module *m)
{
	for (const struct conf_section *s = m->sections; s && s->name; s++)
		fprintf(out, "section\t%s\t%s\t\t\t%s\t\n", s->name, text(s->syntax),
			text(s->help));
	for (const struct conf_keyword *k = m->keywords; k && k->words; k++)
		print_keyword(out, k);
}

static void print_actions(FILE *out, const struct module *m)
{
	for (const struct rule_action *a = m->actions; a && a->words; a++) {
		const char *comma = "";

		if (a->waits_for)
			continue;
		fprintf(out, "action\t%s\t%s\t", a->words, text(a->syntax));
		for (unsigned i = 0; i < RULES_COUNT; i++) {
			if (!(a->rulesets & RULES_BIT(i)))
				continue;
			fprintf(out, "%s%s", comma, ruleset_name((enum ruleset)i));
			comma = ",";
		}
		fprintf(out, "\t\t%s\t\n", text(a->help));
	}
}

static void print_filters(FILE *out, const struct module *m)
{
	for (const struct filter_kind *k = m->filters; k && k->name; k++)
		fprintf(out, "filter\t%s\t%s\t\t\t%s\t\n", k->name, text(k->syntax),
			text(k->help));
}

static void print_expressions(FILE *out, const struct module *m)
{
	for (const struct expr_acl_keyword *k = m->acl_keywords; k && k->name; k++)
		fprintf(out, "acl\t%s\t\t%s\t%s\t\t\n", k->name, k->fetch,
			pattern_method_name(k->match));
	for (const struct expr_alias *a = m->aliases; a && a->name; a++)
		fprintf(out, "alias\t%s\t\t\t%s\t%s\t\n", a->name,
			a->flags & ALIAS_HTTP ? "http" : "", text(a->help));
}

static void print_commands(FILE *out, const struct module *m)
{
	static const char *const levels[] = {
		[CTL_USER] = "user", [CTL_OPERATOR] = "operator", [CTL_ADMIN] = "admin",
	};
	static const struct bit_name notes[] = {
		{ CTL_EXPERT, "expert" }, { CTL_EXPERIMENTAL, "experimental" },
		{ CTL_MASTER, "master" }, { CTL_ANYWHERE, "master and worker" },
		{ 0, NULL },
	};

	for (const struct ctl_command *c = m->commands; c && c->words; c++) {
		if (c->flags & CTL_HIDDEN)
			continue;
		fprintf(out, "command\t%s\t%s\t%s\t", c->words, text(c->syntax), levels[c->level]);
		print_bits(out, c->flags, notes);
		fprintf(out, "\t%s\t\n", text(c->help));
	}
}

/* where: cause and phase; notes: the status; syntax: the event of retry-on. */
static void print_end(FILE *out, const struct stream_end_row *e)
{
	static const char causes[] = {
#define X(name, c, text) c,
		STREAM_CAUSES(X)
#undef X
	};

	fprintf(out, "end\t%s\t%s\t%c%c\t", e->name, e->retried, causes[e->cause],
		e->cause == CAUSE_NONE ? '-' : e->phase ? e->phase : '*');
	if (e->status)
		fprintf(out, "%u", e->status);
	fprintf(out, "\t%s\t\n", e->text);
}

/* What is no module's: X-macro tables. */
static void print_lists(FILE *out)
{
#define X(id, name, help) fprintf(out, "column\t%s\t\t\t\t%s\t\n", name, help);
	STATS_FIELDS(X)
#undef X
#define X(name, c, help) fprintf(out, "cause\t%c\t\t\t\t%s\t\n", c, help);
	STREAM_CAUSES(X)
#undef X
#define X(name, cause, phase, status, retried, text) \
	print_end(out, &stream_ends[END_##name]);
	STREAM_ENDS(X)
#undef X
}

/* Those of modules and of the engine itself. */
static void print_fetches(FILE *out)
{
	const struct expr_converter *c;
	const struct expr_fetch *f;

	for (size_t i = 0; (f = expr_fetch_at(i)) != NULL; i++)
		fprintf(out, "fetch\t%s\t%s\t%s\t\t%s\t\n", f->name, text(f->syntax),
			sample_type_name(f->out), text(f->help));
	for (size_t i = 0; (c = expr_converter_at(i)) != NULL; i++)
		fprintf(out, "converter\t%s\t%s\t%s\t%s\t%s\t\n", c->name, text(c->syntax),
			sample_type_name(c->in), sample_type_name(c->out), text(c->help));
}

void vocabulary_dump(const struct module *const *modules, FILE *out)
{
	for (const struct module *const *m = modules; *m; m++) {
		print_configuration(out, *m);
		print_actions(out, *m);
		print_filters(out, *m);
		print_expressions(out, *m);
		print_commands(out, *m);
	}
	print_fetches(out);
	print_lists(out);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* condition.c - `if` and `unless`: ACLs under and, or and negation (manual 7.2)
 *
 * Three values: an unknown term does not decide, a false one decides its conjunction and a true
 * conjunction decides the whole, so that a rule waits only when the result depends on data still to
 * come.
 */
#include <string.h>
#include "base/bug.h"
#include "acl_priv.h"

struct term {
	struct term *next;
	struct acl *acl;
	bool negated;
};

struct conjunction {
	struct conjunction *next;
	struct term *terms;
};

struct condition {
	struct conjunction *any;
	bool unless;
};

struct condition_parser {
	struct conf_line *l;
	struct acl_set *set;
	unsigned phase;
	struct condition *condition;
	struct term **tail;
	struct conjunction **next;
	const char *where;
};

static bool is_or(const char *word)
{
	return strcasecmp(word, "or") == 0 || strcmp(word, "||") == 0;
}

/* Warns about a test whose fetch has no value where the condition stands. */
static void check_phase(struct condition_parser *cp, const struct acl *a, int word)
{
	if (!cp->phase)
		return;
	for (const struct acl_test *t = a->tests; t; t = t->next) {
		if (expr_phases(t->expr) & cp->phase) {
			if (a->name)
				return; /* one test of it can match */
			continue;
		}
		if (!a->name)
			conf_warn(cp->l, word, NULL,
				  "anonymous acl will never match because it uses "
				  "keyword '%s' which is incompatible with '%s'",
				  t->keyword, expr_phase_name(cp->phase));
		else if (!t->next)
			conf_warn(cp->l, word, NULL, "acl '%s' will never match because it only "
				  "involves keywords that are incompatible with '%s'", a->name,
				  expr_phase_name(cp->phase));
	}
}

static struct acl *parse_anonymous(struct condition_parser *cp)
{
	struct conf_line *l = cp->l;
	struct acl *a;
	int end;

	l->at++; /* { */
	for (end = l->at; end < l->count && strcmp(l->words[end], "}") != 0;)
		end++;
	if (end == l->count) {
		conf_error(l, l->at - 1, NULL, "%smissing closing '}' in condition.", cp->where);
		return NULL;
	}
	a = arena_zalloc(&l->cfg->arena, sizeof(*a));
	if (!a) {
		conf_error(l, l->at, NULL, "out of memory.");
		return NULL;
	}
	a->tests = acl_test_parse(l, end, cp->where);
	l->at = end + 1;
	return a->tests ? a : NULL;
}

struct acl_walk {
	const struct acl *at;
};

static const char *acl_next_name(void *ctx)
{
	struct acl_walk *w = ctx;
	const struct acl *a = w->at;

	w->at = a ? a->next : NULL;
	return a ? a->name : NULL;
}

/* What may have been meant by a word that is no ACL; NULL: nothing that is known. In the arena. */
static const char *named_hint(struct condition_parser *cp, const char *name)
{
	struct acl_walk walk = { .at = cp->set->first };
	const char *near;

	if (strcmp(name, "&&") == 0 || strcasecmp(name, "and") == 0)
		return "conditions that stand behind one another must all hold: there is no word "
		       "for 'and'";
	if ((*name == '{' && name[1]) || strcmp(name, "}") == 0)
		return "braces are words of their own: '{ path /a }'";
	near = conf_closest(name, acl_next_name, &walk);
	return near ? arena_printf(&cp->l->cfg->arena, "did you mean '%s' ?", near) : NULL;
}

static struct acl *parse_named(struct condition_parser *cp, const char *name)
{
	struct acl *a = acl_find(cp->set, name);

	if (!a && acl_is_predefined(name)) {
		a = acl_find_predefined(cp->l, cp->set, name, cp->where);
		if (!a)
			return NULL; /* reported */
	}
	if (!a)
		conf_error(cp->l, cp->l->at, named_hint(cp, name), "%sno such ACL : '%s'.",
			   cp->where, name);
	cp->l->at++;
	return a;
}

static bool add_term(struct condition_parser *cp, struct acl *a, bool negated)
{
	struct arena *arena = &cp->l->cfg->arena;
	struct term *t = arena_zalloc(arena, sizeof(*t));

	if (t && !cp->tail) {
		*cp->next = arena_zalloc(arena, sizeof(**cp->next));
		if (*cp->next) {
			cp->tail = &(*cp->next)->terms;
			cp->next = &(*cp->next)->next;
		}
	}
	if (!t || !cp->tail)
		return conf_error(cp->l, cp->l->at, NULL, "out of memory.");
	t->acl = a;
	t->negated = negated;
	*cp->tail = t;
	cp->tail = &t->next;
	return true;
}

/* One word: `or`, or a possibly negated ACL. */
static bool parse_word(struct condition_parser *cp)
{
	struct conf_line *l = cp->l;
	const char *word = conf_peek(l);
	bool negated = false;
	int column = l->at;
	struct acl *a;

	while (word && *word == '!') {
		negated = !negated;
		word++;
		if (!*word) {
			l->at++;
			word = conf_peek(l);
		}
	}
	if (!word)
		return conf_error(l, l->at - 1, NULL, "%sa term is missing after '!'.", cp->where);
	if (is_or(word)) {
		if (negated || !cp->tail)
			return conf_error(l, l->at, NULL, "%sa term is missing before '%s'.",
					  cp->where, word);
		cp->tail = NULL;
		l->at++;
		return true;
	}
	a = strcmp(word, "{") == 0 ? parse_anonymous(cp) : parse_named(cp, word);
	if (!a)
		return false;
	check_phase(cp, a, column);
	return add_term(cp, a, negated);
}

/* What the line is about, for messages: its first words up to the condition, or its keyword. */
static const char *describe(struct conf_line *l)
{
	const char *what = l->keyword ? l->keyword->words : l->count ? l->words[0] : "";

	return arena_printf(&l->cfg->arena,
			    "error detected while parsing an '%s' condition : ", what);
}

bool condition_parse(struct conf_line *l, struct acl_set *set, unsigned phase,
		     struct condition **out)
{
	return condition_parse_in(l, set, phase, describe(l), out);
}

bool condition_parse_in(struct conf_line *l, struct acl_set *set, unsigned phase,
			const char *where, struct condition **out)
{
	const char *word = conf_peek(l);
	struct condition_parser cp = { .l = l, .set = set, .phase = phase, .where = where };

	*out = NULL;
	if (!word)
		return true;
	if (strcmp(word, "if") != 0 && strcmp(word, "unless") != 0)
		return conf_error(l, l->at, NULL,
				  "'%s' expects either 'if' or 'unless' followed by a "
				  "condition but found '%s'.",
				  l->keyword ? l->keyword->words : l->words[0], word);
	cp.condition = arena_zalloc(&l->cfg->arena, sizeof(*cp.condition));
	if (!cp.condition || !cp.where)
		return conf_error(l, l->at, NULL, "out of memory.");
	cp.condition->unless = word[0] == 'u';
	cp.next = &cp.condition->any;
	l->at++;
	if (l->at == l->count)
		return conf_error(l, l->at - 1, NULL, "%sno term after '%s'.", cp.where, word);
	while (l->at < l->count)
		if (!parse_word(&cp))
			return false;
	if (!cp.tail)
		return conf_error(l, l->count - 1, NULL, "%sa term is missing after '%s'.",
				  cp.where, l->words[l->count - 1]);
	*out = cp.condition;
	return true;
}

unsigned condition_uses(const struct condition *c)
{
	unsigned uses = 0;

	if (!c)
		return 0;
	for (const struct conjunction *j = c->any; j; j = j->next)
		for (const struct term *t = j->terms; t; t = t->next)
			for (const struct acl_test *test = t->acl->tests; test; test = test->next)
				uses |= expr_uses(test->expr);
	return uses;
}

static enum expr_result negate(enum expr_result r)
{
	return r == EXPR_WAIT ? r : r == EXPR_FOUND ? EXPR_NONE : EXPR_FOUND;
}

static enum expr_result conjunction_eval(const struct conjunction *j, struct expr_ctx *ctx)
{
	enum expr_result result = EXPR_FOUND;

	for (const struct term *t = j->terms; t; t = t->next) {
		enum expr_result r = acl_eval(t->acl, ctx);

		if (t->negated)
			r = negate(r);
		if (r == EXPR_NONE)
			return r;
		if (r == EXPR_WAIT)
			result = r;
	}
	return result;
}

enum expr_result condition_eval(const struct condition *c, struct expr_ctx *ctx)
{
	enum expr_result result = EXPR_NONE;

	if (!c)
		return EXPR_FOUND;
	for (const struct conjunction *j = c->any; j; j = j->next) {
		enum expr_result r = conjunction_eval(j, ctx);

		if (r == EXPR_FOUND) {
			result = r;
			break;
		}
		if (r == EXPR_WAIT)
			result = r;
	}
	return c->unless ? negate(result) : result;
}

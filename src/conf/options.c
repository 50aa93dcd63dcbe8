/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.c - the options after the address on bind and server lines */
#include <string.h>
#include "conf_priv.h"

#define SUBJECT_MAX 256

/* What each message is about: "'bind :80' in section 'listen'", "'server a/s1'", or nothing. */
static void describe(const struct conf_line *l, char *out, size_t size)
{
	const char *second = l->count > 1 ? l->words[1] : "";
	struct strbuf b;

	out[0] = '\0';
	strbuf_init_fixed(&b, out, size);
	if (l->where == CONF_BIND)
		strbuf_printf(&b, "'%s %s' in section '%s'", l->words[0], second,
			      l->section ? l->section->name : "");
	else if (strcmp(l->words[0], "default-server") != 0)
		strbuf_printf(&b, "'%s %s/%s'", l->words[0], l->section_name, second);
}

/* Moves behind the option at line->at, and behind the next word where that looks like its value:
 * neither an option nor close to one.
 */
static void skip_option(struct conf_line *l)
{
	int used;

	l->at++;
	if (l->at < l->count && !conf_keyword_find(l->words + l->at, 1, l->where, NULL, &used) &&
	    !conf_later_feature(l->words + l->at, 1, l->where) &&
	    !conf_keyword_suggest(l->words + l->at, l->where, NULL, false))
		l->at++;
}

/* Reports the word at line->at and moves behind it. */
static bool unknown_option(struct conf_line *l)
{
	const char *near = conf_keyword_suggest(l->words + l->at, l->where, NULL, false);
	const char *about = l->about;
	const char *feature = conf_later_feature(l->words + l->at, 1, l->where);
	char subject[SUBJECT_MAX];

	if (feature) {
		conf_error(l, l->at, NULL, "'%s' is not supported yet: it comes with %s.",
			   l->words[l->at], feature);
		skip_option(l);
		return false;
	}
	/* here, and only for bind, the colon has no blank before it */
	describe(l, subject, sizeof(subject));
	l->about = l->where == CONF_BIND ? "" : about;
	conf_error(l, l->at, NULL, "%s%sunknown keyword '%s'%s%s%s",
		   l->where == CONF_BIND ? subject : "", l->where == CONF_BIND ? ": " : "",
		   l->words[l->at], near ? "; did you mean '" : "", near ? near : "",
		   near ? "' maybe ?" : "");
	l->about = about;
	skip_option(l);
	return false;
}

/* One option at line->at; moves behind it and its values. */
static bool take_option(struct conf_line *l)
{
	const struct conf_keyword *k;
	int used, start = l->at, most, least;
	bool done;

	k = conf_keyword_find(l->words + start, 1, l->where, NULL, &used);
	if (!k)
		return unknown_option(l);
	l->keyword = k;
	l->at++;
	most = conf_keyword_most(k);
	/* a typed value is no option */
	least = k->type != CONF_NONE ? most : k->min_args;
	if (l->count - l->at < least) {
		l->at = l->count;
		return conf_error(l, start, NULL, "'%s' : missing value", k->words);
	}
	if (l->reverse && !(k->flags & CONF_REVERSE))
		done = conf_error(l, start, NULL, "'%s' option is not accepted for reverse HTTP",
				  k->words);
	else
		done = conf_keyword_allowed(l, k, start);
	if (done)
		done = k->parse ? k->parse(l) : conf_store(l, k, l->slots);
	else if (k->flags & CONF_IGNORED)
		done = true;
	if (l->at < start + 1 + most)
		l->at = start + 1 + most;
	if (l->at > l->count)
		l->at = l->count;
	return done;
}

bool conf_take_options(struct conf_line *l, enum conf_place where, void *object,
		       struct slot_area *slots)
{
	char subject[SUBJECT_MAX + 4];
	struct conf_line outer = *l;
	bool all = true;

	/* (*l is as it was when this returns) */
	/* cppcheck-suppress autoVariables */
	l->outer = &outer;
	l->object = object;
	l->slots = slots;
	l->no = false;
	l->dflt = false;
	l->where = where;
	describe(l, subject, SUBJECT_MAX);
	if (subject[0])
		strcat(subject, " : ");
	l->about = subject;
	while (l->at < l->count)
		all &= take_option(l);
	outer.at = l->at;
	*l = outer;
	return all;
}

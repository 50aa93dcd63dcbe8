/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.c - what follows the address on bind and server lines */
#include <string.h>
#include "conf_priv.h"

/* What a message about the line starts with: "'bind :80' in section 'listen'", "'server a/s1'". */
static const char *describe(const struct conf_line *l, enum conf_place where, char *out, size_t size)
{
	const char *second = l->count > 1 ? l->words[1] : "";
	struct strbuf b;

	strbuf_init_fixed(&b, out, size);
	if (where == CONF_BIND)
		strbuf_printf(&b, "'%s %s' in section '%s'", l->words[0], second,
			      l->section ? l->section->name : "");
	else if (strcmp(l->words[0], "default-server") == 0)
		strbuf_printf(&b, "'%s'", l->words[0]);
	else
		strbuf_printf(&b, "'%s %s/%s'", l->words[0], l->section_name ? l->section_name : "",
			      second);
	return out;
}

static bool option_error(struct conf_line *l, enum conf_place where, int word, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static bool option_error(struct conf_line *l, enum conf_place where, int word, const char *fmt, ...)
{
	char subject[256];
	struct strbuf b;
	va_list ap;

	strbuf_init(&b);
	strbuf_add_str(&b, describe(l, where, subject, sizeof(subject)));
	va_start(ap, fmt);
	strbuf_vprintf(&b, fmt, ap);
	va_end(ap);
	l->place.form = where == CONF_SERVER ? DIAG_AT : DIAG_PARSING;
	l->place.column = l->columns[word];
	diag_add(l->diags, DIAG_ALERT, &l->place, NULL, "%s", b.ptr ? b.ptr : "out of memory");
	strbuf_fini(&b);
	return false;
}

/* Reports the word at line->at and moves behind it, and behind the next one where that looks like
 * its value: neither an option nor close to one.
 */
static bool unknown_option(struct conf_line *l, enum conf_place where)
{
	const char *near = conf_keyword_suggest(l->words + l->at, where, NULL, false);
	int used;

	option_error(l, where, l->at, "%s: unknown keyword '%s'%s%s%s",
			    where == CONF_SERVER ? " " : "", l->words[l->at],
			    near ? "; did you mean '" : "", near ? near : "", near ? "' maybe ?" : "");
	l->at++;
	if (l->at < l->count && !conf_keyword_find(l->words + l->at, 1, where, NULL, &used) &&
	    !conf_keyword_suggest(l->words + l->at, where, NULL, false))
		l->at++;
	return false;
}

/* One option at line->at; moves behind it and its values. */
static bool take_option(struct conf_line *l, enum conf_place where, struct slot_area *slots)
{
	const struct conf_keyword *k;
	int used, start = l->at, values;
	bool done;

	k = conf_keyword_find(l->words + start, 1, where, NULL, &used);
	if (!k)
		return unknown_option(l, where);
	l->keyword = k;
	l->at++;
	values = k->max_args > 0 ? k->max_args : k->min_args;
	if (l->count - l->at < k->min_args) {
		l->at = l->count;
		return option_error(l, where, start, " : '%s' : missing value", k->words);
	}
	done = conf_keyword_allowed(l, k, start);
	if (done)
		done = k->parse ? k->parse(l) : conf_store(l, k, slots);
	else if (k->flags & CONF_IGNORED)
		done = true;
	if (l->at < start + 1 + values && k->max_args >= 0)
		l->at = start + 1 + values;
	if (l->at > l->count)
		l->at = l->count;
	return done;
}

bool conf_take_options(struct conf_line *l, enum conf_place where, void *object,
		       struct slot_area *slots)
{
	const struct conf_keyword *keyword = l->keyword;
	struct slot_area *outer_slots = l->slots;
	void *outer_object = l->object;
	enum conf_place outer_where = l->where;
	bool no = l->no, dflt = l->dflt, all = true;

	l->object = object;
	l->slots = slots;
	l->no = false;
	l->dflt = false;
	l->where = where;
	while (l->at < l->count)
		all &= take_option(l, where, slots);
	l->object = outer_object;
	l->slots = outer_slots;
	l->where = outer_where;
	l->no = no;
	l->dflt = dflt;
	l->keyword = keyword;
	return all;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registry.c - the tables of all modules, sorted by name once at start-up, and their dumps */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "expr_priv.h"
#include "expr/logformat.h"

/* Sorted arrays of pointers to records whose first member is the name. */
struct table {
	const void **rows;
	size_t count;
};

static struct table fetches, converters, acl_keywords, aliases;

static const char *row_name(const void *row)
{
	return *(const char *const *)row;
}

static bool rows_add(struct table *t, const void *rows, size_t row_size)
{
	const char *at = rows;

	for (; at && row_name(at); at += row_size) {
		const void **bigger = realloc(t->rows, (t->count + 1) * sizeof(*t->rows));

		if (!bigger)
			return false;
		t->rows = bigger;
		t->rows[t->count++] = at;
	}
	return true;
}

static int compare_rows(const void *a, const void *b)
{
	return strcmp(row_name(*(const void *const *)a), row_name(*(const void *const *)b));
}

static void table_sort(struct table *t)
{
	if (t->count)
		qsort(t->rows, t->count, sizeof(*t->rows), compare_rows);
	for (size_t i = 1; i < t->count; i++)
		BUG_ON(strcmp(row_name(t->rows[i - 1]), row_name(t->rows[i])) == 0);
}

static const void *rows_find(const struct table *t, struct slice name)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		size_t mid = (low + high) / 2;
		int order = slice_cmp(name, slice_of(row_name(t->rows[mid])));

		if (order == 0)
			return t->rows[mid];
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

static void table_clear(struct table *t)
{
	free(t->rows);
	*t = (struct table){ 0 };
}

bool expr_register(const struct module *const *modules)
{
	table_clear(&fetches);
	table_clear(&converters);
	table_clear(&acl_keywords);
	table_clear(&aliases);
	for (; *modules; modules++) {
		const struct module *m = *modules;

		if (!rows_add(&fetches, m->fetches, sizeof(struct expr_fetch)) ||
		    !rows_add(&converters, m->converters, sizeof(struct expr_converter)) ||
		    !rows_add(&acl_keywords, m->acl_keywords, sizeof(struct expr_acl_keyword)) ||
		    !rows_add(&aliases, m->aliases, sizeof(struct expr_alias)))
			return false;
	}
	table_sort(&fetches);
	table_sort(&converters);
	table_sort(&acl_keywords);
	table_sort(&aliases);
	return true;
}

const struct expr_fetch *expr_fetch_find(struct slice name)
{
	return rows_find(&fetches, name);
}

const struct expr_converter *expr_converter_find(struct slice name)
{
	return rows_find(&converters, name);
}

const struct expr_fetch *expr_fetch_at(size_t index)
{
	return index < fetches.count ? fetches.rows[index] : NULL;
}

const struct expr_converter *expr_converter_at(size_t index)
{
	return index < converters.count ? converters.rows[index] : NULL;
}

const struct expr_acl_keyword *expr_acl_keyword_find(struct slice name)
{
	return rows_find(&acl_keywords, name);
}

const struct expr_alias *expr_alias_find(struct slice name)
{
	return rows_find(&aliases, name);
}

/* Names of criteria one by one; <ctx> is a counter. */
static const char *criterion_next(void *ctx)
{
	size_t i = (*(size_t *)ctx)++;

	if (i < fetches.count)
		return row_name(fetches.rows[i]);
	i -= fetches.count;
	return i < acl_keywords.count ? row_name(acl_keywords.rows[i]) : NULL;
}

static const char *converter_next(void *ctx)
{
	size_t i = (*(size_t *)ctx)++;

	return i < converters.count ? row_name(converters.rows[i]) : NULL;
}

const char *expr_suggest(struct conf_line *l, const char *error, const char *text)
{
	static const char unknown[] = "unknown converter '";
	const char *converter = strstr(error, unknown);
	struct slice name;
	char *word;
	const char *best;
	size_t at = 0;

	if (!converter && !strstr(error, "unknown fetch"))
		return NULL;
	if (converter)
		text = converter + strlen(unknown);
	name = slice_make(text, strcspn(text, "(,]) '"));
	word = arena_printf(&l->cfg->arena, "%.*s", SLICE_FMT(name));
	best = word ? conf_closest(word, converter ? converter_next : criterion_next, &at) : NULL;

	return best ? arena_printf(&l->cfg->arena, "did you mean '%s' ?", best) : NULL;
}

/* --- dumps -------------------------------------------------------------------------------- */

static void dump_args(FILE *out, const uint8_t *types, unsigned min)
{
	if (types[0] == ARG_END)
		return;
	fputc('(', out);
	for (unsigned i = 0; i < EXPR_ARGS_MAX && types[i] != ARG_END; i++)
		fprintf(out, "%s%s%s", i == min ? "[" : "", i ? "," : "",
			expr_arg_type_name(types[i]));
	for (unsigned i = min; i < EXPR_ARGS_MAX && types[i] != ARG_END; i++)
		if (i + 1 == EXPR_ARGS_MAX || types[i + 1] == ARG_END)
			fputc(']', out);
	fputc(')', out);
}

void expr_dump_fetches(FILE *out)
{
	fputs("# List of registered sample fetch functions:\n", out);
	expr_phase_legend(out);
	for (size_t i = 0; i < fetches.count; i++) {
		const struct expr_fetch *f = fetches.rows[i];

		expr_phase_columns(out, expr_use_phases(f->use));
		fputs(f->name, out);
		dump_args(out, f->args, f->args_min);
		fprintf(out, ": %s\n", sample_type_name(f->out));
	}
}

void expr_dump_converters(FILE *out)
{
	fputs("# List of registered sample converter functions:\n", out);
	for (size_t i = 0; i < converters.count; i++) {
		const struct expr_converter *c = converters.rows[i];

		fputs(c->name, out);
		dump_args(out, c->args, c->args_min);
		fprintf(out, ": %s => %s\n", sample_type_name(c->out), sample_type_name(c->in));
	}
}

void expr_dump_acls(FILE *out)
{
	fputs("# List of registered ACL keywords:\n", out);
	for (size_t i = 0; i < acl_keywords.count; i++) {
		const struct expr_acl_keyword *k = acl_keywords.rows[i];

		fprintf(out, "%s = %s -m %s\n", k->name, k->fetch, pattern_method_name(k->match));
	}
}

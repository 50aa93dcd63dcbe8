/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conv_map.c - converters that look a value up in a map: a file of keys and values */
#include <string.h>
#include "expr/modules.h"
#include "pattern_priv.h"

/* What a name of the family means. */
struct map_kind {
	enum pattern_method method;
	enum sample_type out;     /* SMP_STR, SMP_INT or SMP_ADDR */
	bool key;                 /* gives the key that matched */
	bool groups;              /* the value may hold \1: what the key's groups captured */
};

/* Turns a value of a file, or a default one, into a sample. */
bool pattern_read_value(enum sample_type type, struct slice text, struct sample *out)
{
	size_t digits = text.len && (text.ptr[0] == '-' || text.ptr[0] == '+');

	out->type = SMP_STR;
	out->text = text;
	out->flags |= SMP_CONST;
	if (type == SMP_STR)
		return true;
	for (; type == SMP_INT && digits < text.len; digits++)
		if (!ascii_is_digit(text.ptr[digits]))
			return false;
	return sample_cast(out, type, NULL);
}

/* Every value must be of the type that the converter gives. */
static bool check_values(struct config *cfg, struct pattern_ref *ref, enum sample_type type,
			 const char **error)
{
	ref->value_types |= 1u << type;
	for (uint32_t i = 0; i < ref->table->count; i++) {
		const struct pattern_entry *entry = &ref->table->entries[i];
		struct slice value = pattern_entry_value(entry);
		struct sample ignored = { .flags = 0 };

		if (pattern_read_value(type, value, &ignored))
			continue;
		*error = arena_printf(&cfg->arena, "unable to parse '%.*s' at line %u of file '%s'",
				      SLICE_FMT(value), entry->line, ref->name);
		return false;
	}
	return true;
}

/* map(<file>[,<default>]): args[0].object gets the set. */
static bool map_prepare(struct conf_line *l, const struct expr_converter *c, struct expr_arg *args,
			const char **error)
{
	const struct map_kind *kind = c->data;
	struct expr_error e = { "" };
	struct pattern_ref *ref;
	struct sample ignored = { .flags = 0 };

	*error = "map: cannot load map at runtime";
	if (expr_config_of(l->cfg)->lent_vars)
		return false;
	ref = pattern_ref_open(l, args[0].name.ptr, PATTERN_TWO_COLUMNS, "map", &e);
	if (ref && kind->out != SMP_STR && !check_values(l->cfg, ref, kind->out, error))
		return false;
	args[0].object = ref ? pattern_set_make(ref, kind->method, 0, &e) : NULL;
	if (!args[0].object) {
		*error = arena_printf(&l->cfg->arena, "%s", e.text);
		return false;
	}
	if (kind->out == SMP_ADDR && args[1].type == ARG_STR &&
	    !pattern_read_value(SMP_ADDR, args[1].text, &ignored)) {
		*error = arena_printf(&l->cfg->arena, "unable to parse '%.*s' as an address",
				      SLICE_FMT(args[1].text));
		return false;
	}
	return true;
}

static bool map_default(const struct map_kind *kind, const struct expr_arg *arg, struct sample *s)
{
	if (arg->type == ARG_STR)
		return pattern_read_value(kind->out, arg->text, s);
	s->type = SMP_INT;
	s->integer = arg->integer;
	return arg->type == ARG_INT;
}

/* The value, with \0 to \9 replaced by what the key captured in <text>. */
static bool map_expand(struct expr_ctx *ctx, const struct regex *re, struct slice value,
		       struct sample *s)
{
	struct slice groups[REGEX_GROUPS_MAX], result = slice_none();
	struct strbuf out;

	strbuf_init(&out);
	if (regex_match_groups(re, s->text, 0, groups) && regex_expand(value, groups, &out))
		result = arena_copy(ctx->arena, slice_make(out.ptr ? out.ptr : "", out.len));
	strbuf_fini(&out);
	return result.ptr && pattern_read_value(SMP_STR, result, s);
}

static bool convert_map(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	const struct map_kind *kind = ctx->data;
	struct pattern_match match;
	struct slice copy;

	if (!pattern_set_find(args[0].object, s, &match))
		return map_default(kind, &args[1], s);
	if (kind->groups)
		return map_expand(ctx, match.regex, match.value, s);
	if (kind->out != SMP_STR)
		return pattern_read_value(kind->out, match.value, s);
	/* the map may change before the result is used */
	copy = arena_copy(ctx->arena, kind->key ? match.text : match.value);
	return copy.ptr && pattern_read_value(SMP_STR, copy, s);
}

#define KIND(m, ...) (&(const struct map_kind){ .method = PATTERN_##m, __VA_ARGS__ })
#define MAP(n, i, m, h) \
	{ .name = n, .args_min = 1, .args = { ARG_STR, ARG_STR }, .in = i, .out = SMP_STR, \
	  .context = true, .convert = convert_map, .prepare = map_prepare, \
	  .data = KIND(m, .out = SMP_STR), .syntax = "(<file>[,<default>])", .help = h }
#define MAP_FAMILY(n, i, m, h) \
	MAP(n, i, m, h), \
	{ .name = n "_int", .args_min = 1, .args = { ARG_STR, ARG_INT }, .in = i, .out = SMP_INT, \
	  .context = true, .convert = convert_map, .prepare = map_prepare, \
	  .data = KIND(m, .out = SMP_INT), .syntax = "(<file>[,<default>])", \
	  .help = h ", an integer" }, \
	{ .name = n "_ip", .args_min = 1, .args = { ARG_STR, ARG_STR }, .in = i, .out = SMP_ADDR, \
	  .context = true, .convert = convert_map, .prepare = map_prepare, \
	  .data = KIND(m, .out = SMP_ADDR), .syntax = "(<file>[,<default>])", \
	  .help = h ", an address" }, \
	{ .name = n "_key", .args_min = 1, .args = { ARG_STR }, .in = i, .out = SMP_STR, \
	  .context = true, .convert = convert_map, .prepare = map_prepare, \
	  .data = KIND(m, .out = SMP_STR, .key = true), .syntax = "(<file>)", \
	  .help = h ": the key itself" }

static const struct expr_converter converters[] = {
	MAP("map", SMP_STR, STR, "the value of the key that is equal"),
	MAP_FAMILY("map_str", SMP_STR, STR, "the value of the key that is equal"),
	MAP_FAMILY("map_beg", SMP_STR, BEG,
		   "the value of the longest key that the text starts with"),
	MAP_FAMILY("map_end", SMP_STR, END, "the value of the first key that the text ends with"),
	MAP_FAMILY("map_sub", SMP_STR, SUB, "the value of the first key that the text holds"),
	MAP_FAMILY("map_dir", SMP_STR, DIR, "the value of the first key between slashes"),
	MAP_FAMILY("map_dom", SMP_STR, DOM, "the value of the first key between dots"),
	MAP_FAMILY("map_reg", SMP_STR, REG, "the value of the first regex that matches"),
	MAP_FAMILY("map_int", SMP_INT, INT, "the value of the first range that holds the integer"),
	MAP_FAMILY("map_ip", SMP_ADDR, IP, "the value of the narrowest network of the address"),
	{ .name = "map_regm", .args_min = 1, .args = { ARG_STR, ARG_STR }, .in = SMP_STR,
	  .out = SMP_STR, .context = true, .convert = convert_map, .prepare = map_prepare,
	  .data = KIND(REG, .out = SMP_STR, .groups = true), .syntax = "(<file>[,<default>])",
	  .help = "the value of the first regex that matches, with its captures" },
	{ 0 }
};

const struct module mod_conv_map = { .name = "conv_map", .converters = converters };

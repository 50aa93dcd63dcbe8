/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conv_text.c - converters of texts: case, parts, edits */
#include <stdlib.h>
#include <string.h>
#include "base/block.h"
#include "expr/modules.h"
#include "expr_priv.h"

static bool set_text(struct sample *s, struct slice text)
{
	s->type = SMP_STR;
	s->text = text;
	s->flags |= SMP_CONST;
	return text.ptr != NULL;
}

static bool convert_case(struct expr_ctx *ctx, struct sample *s, char (*f)(char))
{
	char *copy = arena_alloc(ctx->arena, s->text.len + 1);

	if (!copy)
		return false;
	for (size_t i = 0; i < s->text.len; i++)
		copy[i] = f(s->text.ptr[i]);
	return set_text(s, slice_make(copy, s->text.len));
}

static bool convert_lower(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return convert_case(ctx, s, ascii_lower);
}

static bool convert_upper(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return convert_case(ctx, s, ascii_upper);
}

static bool convert_reverse(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	char *copy = arena_alloc(ctx->arena, s->text.len + 1);

	if (!copy)
		return false;
	for (size_t i = 0; i < s->text.len; i++)
		copy[i] = s->text.ptr[s->text.len - 1 - i];
	return set_text(s, slice_make(copy, s->text.len));
}

/* The labels of a name from the last to the first. */
static bool convert_reverse_dom(struct expr_ctx *ctx, const struct expr_arg *args,
				struct sample *s)
{
	size_t len = s->text.len, end;
	char *copy = arena_alloc(ctx->arena, len + 1), *to = copy;

	if (len && s->text.ptr[len - 1] == '.')
		len--;
	if (!copy || !len)
		return false;
	for (size_t at = end = len;; at--) {
		if (at && s->text.ptr[at - 1] != '.')
			continue;
		if (at == end)
			return false;
		memcpy(to, s->text.ptr + at, end - at);
		to += end - at;
		if (!at)
			break;
		*to++ = '.';
		end = at - 1;
	}
	return set_text(s, slice_make(copy, len));
}

static bool convert_length(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	s->integer = (int64_t)s->text.len;
	s->type = SMP_INT;
	return true;
}

/* --- fields and words --------------------------------------------------------------------- */

static bool check_part(struct conf_line *l, struct expr_arg *args, const char **error)
{
	if (args[0].integer == 0) {
		*error = "Unexpected value 0 for index";
		return false;
	}
	if (args[0].integer == INT64_MIN)
		args[0].integer++; /* its opposite must exist */
	if (!args[1].text.len) {
		*error = "Empty separators list";
		return false;
	}
	if (args[2].type != ARG_INT)
		args[2].integer = 1;
	else if (args[2].integer < 0)
		args[2].integer = 0; /* all the others */
	return true;
}

static bool is_separator(struct slice separators, char c)
{
	return memchr(separators.ptr, c, separators.len) != NULL;
}

/* Walks over parts of <text>. Fields stand between separators and may be empty; words are runs
 * of anything else. From the left with step 1, from the right with step -1. Positions are counted
 * from the side where the walk starts; text is read through at().
 */
struct part_walk {
	struct slice text, separators;
	bool words, backwards;
	size_t at; /* bytes done */
};

static bool walk_at_separator(const struct part_walk *w)
{
	return is_separator(w->separators,
			    w->text.ptr[w->backwards ? w->text.len - 1 - w->at : w->at]);
}

/* The next part: from *start (inclusive) to w->at. False: no more. */
static bool walk_next(struct part_walk *w, size_t *start, bool first)
{
	if (w->words) {
		while (w->at < w->text.len && walk_at_separator(w))
			w->at++;
		if (w->at == w->text.len)
			return false;
	} else if (!first) {
		if (w->at == w->text.len)
			return false;
		w->at++;
	}
	*start = w->at;
	while (w->at < w->text.len && !walk_at_separator(w))
		w->at++;
	return true;
}

/* Part number |index| and the <count - 1> that follow it on the way; 0: all. */
static bool take_part(const struct expr_arg *args, struct sample *s, bool words)
{
	bool backwards = args[0].integer < 0;
	int64_t index = backwards ? -args[0].integer : args[0].integer, count = args[2].integer;
	struct part_walk w = { .text = s->text, .separators = args[1].text, .words = words,
			       .backwards = backwards };
	size_t start = 0, ignored, len = s->text.len;

	for (int64_t i = 1; i <= index; i++)
		if (!walk_next(&w, &start, i == 1))
			return false;
	for (int64_t i = 1; count != 0 && i < count; i++) {
		if (!walk_next(&w, &ignored, false)) {
			w.at = len; /* fewer than asked: all there is */
			break;
		}
	}
	if (count == 0)
		w.at = len;
	s->text = backwards ? slice_sub(s->text, len - w.at, len - start) :
		  slice_sub(s->text, start, w.at);
	if (!s->text.ptr)
		s->text = SLICE("");
	return true;
}

static bool convert_field(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return take_part(args, s, false);
}

static bool convert_word(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	return take_part(args, s, true);
}

/* --- cuts --------------------------------------------------------------------------------- */

static bool check_bytes(struct conf_line *l, struct expr_arg *args, const char **error)
{
	for (int i = 0; i < 2 && args[i].type == ARG_STR; i++) {
		if (!expr_arg_number_check(l, &args[i], error))
			return false;
		if (args[i].type == ARG_INT && args[i].integer < i) {
			*error =
				i ? "expects a positive integer" : "expects a non-negative integer";
			return false;
		}
	}
	return true;
}

static bool convert_bytes(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	int64_t from, len = INT64_MAX;
	size_t start, end = s->text.len;

	if (!expr_arg_number(&args[0], ctx, &from) || from < 0)
		return false;
	if (args[1].type != ARG_END && (!expr_arg_number(&args[1], ctx, &len) || len < 0))
		return false;
	start = (uint64_t)from < end ? (size_t)from : end;
	if ((uint64_t)len < end - start)
		end = start + (size_t)len;
	s->text = slice_sub(s->text, start, end);
	if (!s->text.ptr)
		s->text = SLICE("");
	return true;
}

static bool convert_ltrim(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	while (s->text.len && is_separator(args[0].text, s->text.ptr[0])) {
		s->text.ptr++;
		s->text.len--;
	}
	return true;
}

static bool convert_rtrim(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	while (s->text.len && is_separator(args[0].text, s->text.ptr[s->text.len - 1]))
		s->text.len--;
	return true;
}

static bool convert_cut_crlf(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	for (size_t i = 0; i < s->text.len; i++) {
		if (s->text.ptr[i] == '\r' || s->text.ptr[i] == '\n') {
			s->text.len = i;
			break;
		}
	}
	return true;
}

/* --- Host values -------------------------------------------------------------------------- */

/* The last ':' that is not inside brackets; SIZE_MAX: no port. */
static size_t port_colon(struct slice host)
{
	for (size_t i = host.len; i > 0; i--) {
		if (host.ptr[i - 1] == ']')
			return SIZE_MAX;
		if (host.ptr[i - 1] == ':')
			return i - 1;
	}
	return SIZE_MAX;
}

static bool convert_host_only(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	size_t colon = port_colon(s->text);

	if (colon != SIZE_MAX)
		s->text.len = colon;
	return convert_case(ctx, s, ascii_lower);
}

static bool convert_port_only(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	size_t colon = port_colon(s->text);
	int64_t port = 0;

	for (size_t i = colon == SIZE_MAX ? s->text.len : colon + 1;
	     i < s->text.len && ascii_is_digit(s->text.ptr[i]) && port < 100000000; i++)
		port = port * 10 + (s->text.ptr[i] - '0');
	s->type = SMP_INT;
	s->integer = port;
	return true;
}

/* --- edits -------------------------------------------------------------------------------- */

static bool check_concat(struct conf_line *l, struct expr_arg *args, const char **error)
{
	const char *reason;

	if (args[1].type != ARG_STR || !args[1].name.len)
		return true;
	*error = arena_printf(&l->cfg->arena, "failed to register variable name '%s'",
			      args[1].name.ptr);
	args[1].object = var_ref_parse(l->cfg, args[1].name.ptr, false, &reason);
	args[1].type = ARG_VAR;
	return args[1].object != NULL;
}

/* The variable between the two texts, as text; nothing when it is not set. */
static struct slice concat_variable(struct expr_ctx *ctx, const struct expr_arg *arg)
{
	struct sample s;

	if (arg->type == ARG_VAR && var_get(arg->object, ctx, &s) &&
	    sample_cast(&s, SMP_STR, ctx->arena))
		return s.text;
	return SLICE("");
}

static bool convert_concat(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	struct slice end = args[2].type == ARG_STR ? args[2].text : SLICE("");
	struct slice middle = concat_variable(ctx, &args[1]);
	size_t len = s->text.len + args[0].text.len + middle.len + end.len;
	char *out = arena_alloc(ctx->arena, len + 1), *at = out;
	struct slice parts[] = { s->text, args[0].text, middle, end };

	for (int i = 0; out && i < 4; i++) {
		if (parts[i].len)
			memcpy(at, parts[i].ptr, parts[i].len);
		at += parts[i].len;
	}
	return set_text(s, slice_make(out, len));
}

/* add_item(<delimiter>,[<variable>][,<suffix>]) */
static bool check_add_item(struct conf_line *l, struct expr_arg *args, const char **error)
{
	if (args[2].type != ARG_STR && !args[1].name.len) {
		*error = "one of the optional arguments has to be nonempty";
		return false;
	}
	return check_concat(l, args, error);
}

/* Nothing is added, not even the delimiter, when there is no item. */
static bool convert_add_item(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	struct slice end = args[2].type == ARG_STR ? args[2].text : SLICE("");
	struct slice item = concat_variable(ctx, &args[1]);
	struct strbuf out;
	struct slice result;

	if (!item.len && !end.len)
		return true;
	strbuf_init(&out);
	strbuf_add(&out, s->text);
	if (s->text.len)
		strbuf_add(&out, args[0].text);
	strbuf_add(&out, item);
	strbuf_add(&out, end);
	result = out.overflow ? slice_none() : arena_copy(ctx->arena, strbuf_slice(&out));
	strbuf_fini(&out);
	return set_text(s, result);
}

/* --- parameters --------------------------------------------------------------------------- */

static bool check_param(struct conf_line *l, struct expr_arg *args, const char **error)
{
	*error = "Delimiter must be exactly 1 character.";
	return args[1].type != ARG_STR || args[1].text.len == 1;
}

/* The value of the first "name=value", empty without '='. */
static bool convert_param(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	char delimiter = args[1].type == ARG_STR ? args[1].text.ptr[0] : '&';
	struct slice name = args[0].text, rest = s->text;

	while (rest.len) {
		size_t end = slice_find_char(rest, 0, delimiter);
		struct slice part = slice_sub(rest, 0, end);

		if (slice_starts(part, name) &&
		    (part.len == name.len || part.ptr[name.len] == '=')) {
			s->text = part.len > name.len ?
				  slice_sub(part, name.len + 1, part.len) : SLICE("");
			if (!s->text.ptr)
				s->text = SLICE("");
			return true;
		}
		if (end == SIZE_MAX)
			break;
		rest = slice_sub(rest, end + 1, rest.len);
	}
	return false;
}

static void free_regex(void *ptr)
{
	struct regex *re = ptr;

	regex_free(&re);
}

/* regsub(<regex>,<subst>[,<flags>]): the regex is compiled once; g in args[2].integer. */
static bool check_regsub(struct conf_line *l, struct expr_arg *args, const char **error)
{
	char *text = arena_alloc(&l->cfg->arena, 256);
	bool nocase = false, all = false;

	*error = "out of memory";
	if (!text)
		return false;
	*error = "missing regex";
	if (!args[0].name.len)
		return false;
	for (size_t i = 0; args[2].type == ARG_STR && i < args[2].name.len; i++) {
		char c = args[2].name.ptr[i];

		if (c != 'i' && c != 'g') {
			*error = arena_printf(&l->cfg->arena,
					      "invalid regex flag '%c', only 'i' and "
					      "'g' are supported",
					      c);
			return false;
		}
		nocase |= c == 'i';
		all |= c == 'g';
	}
	args[2].integer = all;
	*error = text;
	args[0].object = regex_new(args[0].name, nocase ? REGEX_NOCASE : 0, text, 256);
	if (!args[0].object)
		return false;
	if (expr_own(l->cfg, args[0].object, free_regex))
		return true;
	free_regex(args[0].object);
	*error = "out of memory";
	return false;
}

/* Each match is replaced; the search goes on after it (one byte further when it was empty). What
 * does not fit into a buffer is cut: chained, each could multiply what it gets.
 */
static bool convert_regsub(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	struct slice rest = s->text, groups[REGEX_GROUPS_MAX];
	size_t max = block_size() - 1;
	struct slice result;
	struct strbuf out;
	unsigned flags = 0;

	if (!rest.ptr)
		rest = SLICE("");
	strbuf_init(&out);
	while (out.len < max && regex_match_groups(args[0].object, rest, flags, groups)) {
		const char *end = groups[0].ptr + groups[0].len, *rest_end = rest.ptr + rest.len;
		bool at_end = end == rest_end && !groups[0].len;

		strbuf_add(&out, slice_make(rest.ptr, (size_t)(groups[0].ptr - rest.ptr)));
		regex_expand(args[1].text, groups, &out);
		if (groups[0].len == 0 && !at_end)
			strbuf_add_char(&out, *end++);
		rest = slice_make(end, (size_t)(rest_end - end));
		flags = REGEX_NOT_BEGIN;
		if (!args[2].integer || at_end)
			break;
	}
	strbuf_add(&out, rest);
	result = out.overflow ? slice_none() :
		 arena_copy(ctx->arena, slice_make(out.ptr ? out.ptr : "",
						   out.len < max ? out.len : max));
	strbuf_fini(&out);
	return set_text(s, result);
}

#define TEXT(n, f, h) { .name = n, .in = SMP_STR, .out = SMP_STR, .convert = f, .help = h }
#define PART(n, f, h) \
	{ .name = n, .args_min = 2, .args = { ARG_INT, ARG_STR, ARG_INT }, .in = SMP_STR, \
	  .out = SMP_STR, .convert = f, .check = check_part, \
	  .syntax = "(<index>,<delimiters>[,<count>])", .help = h }

static const struct expr_converter converters[] = {
	TEXT("lower", convert_lower, "to lower case"),
	TEXT("upper", convert_upper, "to upper case"),
	TEXT("reverse", convert_reverse, "byte by byte, from the last to the first"),
	TEXT("reverse_dom", convert_reverse_dom, "a name, from its last label to its first"),
	{.name = "length",
	 .in = SMP_STR,
	 .out = SMP_INT,
	 .convert = convert_length,
	 .help = "the number of bytes"},
	PART("field", convert_field,
	     "parts between delimiters, from the left or (negative) the right"),
	PART("word", convert_word, "words between runs of delimiters"),
	{.name = "bytes",
	 .args_min = 1,
	 .args = {ARG_STR, ARG_STR},
	 .in = SMP_BIN,
	 .out = SMP_BIN,
	 .keeps_text = true,
	 .convert = convert_bytes,
	 .check = check_bytes,
	 .syntax = "(<offset>[,<length>])",
	 .help = "some bytes"},
	{.name = "ltrim",
	 .args_min = 1,
	 .args = {ARG_STR},
	 .in = SMP_STR,
	 .out = SMP_STR,
	 .convert = convert_ltrim,
	 .syntax = "(<characters>)",
	 .help = "without these at the start"},
	{.name = "rtrim",
	 .args_min = 1,
	 .args = {ARG_STR},
	 .in = SMP_STR,
	 .out = SMP_STR,
	 .convert = convert_rtrim,
	 .syntax = "(<characters>)",
	 .help = "without these at the end"},
	TEXT("cut_crlf", convert_cut_crlf, "up to the end of the line"),
	TEXT("host_only", convert_host_only, "a Host value without its port, in lower case"),
	{.name = "port_only",
	 .in = SMP_STR,
	 .out = SMP_INT,
	 .convert = convert_port_only,
	 .help = "the port of a Host value, 0 when there is none"},
	{.name = "concat",
	 .args_min = 1,
	 .args = {ARG_STR, ARG_STR, ARG_STR},
	 .in = SMP_STR,
	 .out = SMP_STR,
	 .convert = convert_concat,
	 .check = check_concat,
	 .syntax = "(<start>[,<variable>[,<end>]])",
	 .help = "more text after it"},
	{ .name = "add_item", .args_min = 2, .args = { ARG_STR, ARG_STR, ARG_STR }, .in = SMP_STR,
	  .out = SMP_STR, .convert = convert_add_item, .check = check_add_item,
	  .syntax = "(<delimiter>,[<variable>][,<suffix>])", .help = "one more item of a list" },
	{ .name = "param", .args_min = 1, .args = { ARG_STR, ARG_STR }, .in = SMP_STR,
	  .out = SMP_STR, .convert = convert_param, .check = check_param,
	  .syntax = "(<name>[,<delimiter>])", .help = "the value of a parameter of a query" },
	{.name = "regsub",
	 .args_min = 2,
	 .args = {ARG_REGEX, ARG_STR, ARG_STR},
	 .in = SMP_STR,
	 .out = SMP_STR,
	 .convert = convert_regsub,
	 .check = check_regsub,
	 .syntax = "(<regex>,<text>[,<flags>])",
	 .help = "replaces what a regex matches"},
	{0}
};

const struct module mod_conv_text = { .name = "conv_text", .converters = converters };

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* args.c - the arguments of fetches and converters: words, quotes, types
 *
 * "(word,word)". A word ends at a comma or a closing parenthesis outside quotes. Outside of quotes
 * and between double quotes a backslash starts \n, \r, \t, and makes a quote, a space, '#' or
 * another backslash literal; before any other character it is literal itself. Between single quotes
 * it is always literal.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "expr_priv.h"

static const char *const type_names[] = {
	[ARG_END] = "end", [ARG_INT] = "integer", [ARG_TIME] = "time delay", [ARG_SIZE] = "size",
	[ARG_STR] = "string", [ARG_IPV4] = "IPv4 address", [ARG_IPV6] = "IPv6 address",
	[ARG_MASK4] = "IPv4 mask", [ARG_MASK6] = "IPv6 mask", [ARG_REGEX] = "regex",
	[ARG_FRONTEND] = "frontend", [ARG_BACKEND] = "backend", [ARG_PROXY] = "proxy",
	[ARG_SERVER] = "server", [ARG_TABLE] = "table", [ARG_MAP] = "map", [ARG_VAR] = "variable",
	[ARG_ENUM] = "enum", [ARG_USERLIST] = "user list", [ARG_SINK] = "sink",
	[ARG_BYTES] = "string",
};

const char *expr_arg_type_name(enum expr_arg_type t)
{
	return t < ARRAY_LEN(type_names) ? type_names[t] : "?";
}

/* What one is resolved later, and may be left out: the current one is meant. */
static bool arg_type_is_object(enum expr_arg_type t)
{
	return t == ARG_FRONTEND || t == ARG_BACKEND || t == ARG_PROXY || t == ARG_SERVER ||
	       t == ARG_TABLE || t == ARG_USERLIST || t == ARG_SINK;
}

static char unescape(char c)
{
	switch (c) {
	case 'n': return '\n';
	case 'r': return '\r';
	case 't': return '\t';
	case '\\': case '"': case '\'': case ' ': case '#': return c;
	default: return 0;
	}
}

/* Reads one word from p->at into the arena, up to ',' or ')' or the end. False: unclosed quote or
 * no memory.
 */
static bool arg_word(struct expr_parser *p, struct slice *word)
{
	char *out = arena_alloc(&p->line->cfg->arena, strlen(p->at) + 1), *w = out;
	const char *s = p->at;
	char quote = 0;

	if (!out) {
		expr_fail(p->error, "out of memory");
		return false;
	}
	for (; *s && (quote || (*s != ',' && *s != ')')); s++) {
		if (quote ? *s == quote : (*s == '"' || *s == '\'')) {
			quote = quote ? 0 : *s;
		} else if (*s == '\\' && quote != '\'' && s[1] && unescape(s[1])) {
			*w++ = unescape(*++s);
		} else {
			*w++ = *s;
		}
	}
	if (quote) {
		expr_fail(p->error, "unterminated quote in '%s'", p->at);
		return false;
	}
	*w = 0;
	*word = slice_make(out, (size_t)(w - out));
	p->at = s;
	return true;
}

static bool word_to_int(const char *text, int64_t *out)
{
	char *end;

	if (!ascii_is_digit(text[text[0] == '-' || text[0] == '+']))
		return false;
	*out = strtoll(text, &end, 10);
	return *end == 0;
}

/* Number and unit to milliseconds (bare: ms) or bytes. */
static bool word_to_amount(const char *text, bool is_time, int64_t *out)
{
	static const struct { const char *unit; int64_t factor; } times[] = {
		{ "", 1 }, { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 },
		{ "d", 86400000 },
	}, sizes[] = {
		{ "", 1 }, { "k", 1024 }, { "m", 1024 * 1024 }, { "g", 1024 * 1024 * 1024 },
	};
	char *end;
	unsigned long long v;

	if (!ascii_is_digit(*text))
		return false;
	v = strtoull(text, &end, 10);
	for (unsigned i = 0; i < (is_time ? ARRAY_LEN(times) : ARRAY_LEN(sizes)); i++) {
		int64_t factor = is_time ? times[i].factor : sizes[i].factor;

		if (strcmp(end, is_time ? times[i].unit : sizes[i].unit) != 0)
			continue;
		if (v > (unsigned long long)(INT64_MAX / factor))
			return false;
		*out = (int64_t)v * factor;
		return true;
	}
	if (is_time && strcmp(end, "us") == 0) {
		*out = (int64_t)((v + 999) / 1000);
		return true;
	}
	return false;
}

static bool word_to_mask4(const char *text, uint32_t *mask)
{
	int64_t bits;

	if (strchr(text, '.'))
		return inet_pton(AF_INET, text, mask) == 1;
	if (!word_to_int(text, &bits) || bits < 0 || bits > 32)
		return false;
	*mask = htonl(bits ? ~0u << (32 - bits) : 0);
	return true;
}

static bool word_to_mask6(const char *text, uint8_t mask[16])
{
	int64_t bits;

	if (strchr(text, ':'))
		return inet_pton(AF_INET6, text, mask) == 1;
	if (!word_to_int(text, &bits) || bits < 0 || bits > 128)
		return false;
	memset(mask, 0, 16);
	for (int i = 0; i < (int)bits; i++)
		mask[i / 8] |= (uint8_t)(0x80 >> i % 8);
	return true;
}

static bool word_to_value(const char *text, struct expr_arg *arg)
{
	switch (arg->type) {
	case ARG_INT:
		return word_to_int(text, &arg->integer);
	case ARG_TIME:
	case ARG_SIZE:
		return word_to_amount(text, arg->type == ARG_TIME, &arg->integer);
	case ARG_IPV4:
		return inet_pton(AF_INET, text, &arg->ipv4) == 1;
	case ARG_IPV6:
		return inet_pton(AF_INET6, text, arg->ipv6) == 1;
	case ARG_MASK4:
		return word_to_mask4(text, &arg->ipv4);
	case ARG_MASK6:
		return word_to_mask6(text, arg->ipv6);
	default:
		arg->text = arg->name;
		return true;
	}
}

/* Notes that <arg> waits for the floor that knows such objects. */
static bool arg_pend(struct expr_parser *p, struct expr_arg *arg, int position, const char *what,
		     const char *keyword)
{
	struct expr_config *ec = expr_config_of(p->line->cfg);
	struct expr_pending **list = p->line->cfg->is_lent ? &ec->lent.pending : &ec->pending;
	struct expr_pending *pending = arena_zalloc(&p->line->cfg->arena, sizeof(*pending));

	if (!pending) {
		expr_fail(p->error, "out of memory");
		return false;
	}
	*pending = (struct expr_pending){
		.next = *list, .arg = arg, .position = position, .what = what,
		.keyword = keyword, .object = conf_section_object(p->line),
		.line = p->line->place.line,
		.file = p->line->place.file ? conf_strdup(p->line->cfg, p->line->place.file) : NULL,
	};
	*list = pending;
	arg->object = NULL;
	return true;
}

/* One argument at p->at, of type <type> and number <position>. */
static bool arg_parse(struct expr_parser *p, struct expr_arg *arg, enum expr_arg_type type,
		      int position, bool mandatory)
{
	if (!arg_word(p, &arg->name))
		return false;
	arg->type = type;
	if (arg_type_is_object(type))
		return true;
	if (!arg->name.len && type != ARG_STR && type != ARG_BYTES && type != ARG_REGEX) {
		if (mandatory) {
			expr_fail(p->error, "expected type '%s' at position %d, but got nothing",
				  expr_arg_type_name(type), position);
			return false;
		}
		arg->type = ARG_END;
		return true;
	}
	if (!word_to_value(arg->name.ptr, arg)) {
		expr_fail(p->error, "failed to parse '%s' as type '%s' at position %d",
			  arg->name.ptr, expr_arg_type_name(type), position);
		return false;
	}
	return true;
}

/* The words between the parentheses; *count gets how many. p->at is after '('. */
static bool args_read(struct expr_parser *p, struct expr_arg *args, const uint8_t *types,
		      unsigned min, unsigned *count)
{
	unsigned n = 0;

	if (*p->at == ')' && (types[0] == ARG_END || min == 0)) {
		p->at++;
		*count = 0;
		return true;
	}
	while (n < EXPR_ARGS_MAX && types[n] != ARG_END) {
		p->position = n + 1;
		if (!arg_parse(p, &args[n], types[n], (int)n + 1, n < min))
			return false;
		if (args[n].type == ARG_END)
			break; /* left out: nothing may follow */
		n++;
		if (*p->at != ',' || n == EXPR_ARGS_MAX || types[n] == ARG_END)
			break;
		p->at++;
	}
	*count = n;
	if (!*p->at) {
		expr_fail(p->error, "expected ')'");
		return false;
	}
	if (*p->at != ')') {
		expr_fail(p->error, "expected ')' before '%s'", p->at);
		return false;
	}
	p->at++;
	return true;
}

struct expr_arg *expr_args_parse(struct expr_parser *p, const uint8_t *types, unsigned min,
				 const char *what, const char *keyword)
{
	struct expr_arg *args;
	unsigned count = 0;

	args = arena_zalloc(&p->line->cfg->arena, sizeof(*args) * (EXPR_ARGS_MAX + 1));
	if (!args) {
		expr_fail(p->error, "out of memory");
		return NULL;
	}
	p->position = 1;
	if (*p->at == '(') {
		p->at++;
		if (!args_read(p, args, types, min, &count))
			return NULL;
	}
	while (count < min && (arg_type_is_object(types[count]) ||
			       (count == 0 && types[0] == ARG_STR && min == 1))) {
		args[count].type = types[count]; /* the current one; an empty text */
		args[count].name = args[count].text = SLICE("");
		count++;
	}
	if (count < min) {
		p->position = count + 1;
		if (count == 0)
			expr_fail(p->error, "expected type '%s' at position 1, but got nothing",
				  expr_arg_type_name(types[0]));
		else
			expr_fail(p->error, "missing arguments (got %u/%u), type '%s' expected",
				  count, min, expr_arg_type_name(types[count]));
		return NULL;
	}
	for (unsigned i = 0; i < count; i++)
		if (arg_type_is_object(args[i].type) &&
		    !arg_pend(p, &args[i], (int)i + 1, what, keyword))
			return NULL;
	return args;
}

/* --- a number or a variable ------------------------------------------------------------------ */

bool expr_arg_number_check(struct conf_line *l, struct expr_arg *arg, const char **error)
{
	const char *text = arg->name.ptr, *reason;
	char *end;

	arg->integer = strtoll(text, &end, 10);
	arg->type = ARG_INT;
	if (!*end || (end == text && (*text == '-' || *text == '+') && !text[1]))
		return true;
	*error = "expects an integer or a variable name";
	arg->object = var_ref_parse(l->cfg, text, false, &reason);
	arg->type = ARG_VAR;
	return arg->object != NULL;
}

bool expr_arg_number(const struct expr_arg *arg, struct expr_ctx *ctx, int64_t *out)
{
	struct sample s;

	if (arg->type == ARG_INT) {
		*out = arg->integer;
		return true;
	}
	if (arg->type != ARG_VAR || !var_get(arg->object, ctx, &s) ||
	    !sample_cast(&s, SMP_INT, ctx->arena))
		return false;
	*out = s.integer;
	return true;
}

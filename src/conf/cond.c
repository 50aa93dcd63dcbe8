/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cond.c - the conditions of .if, .elif and -cc (manual 2.4)
 *
 *     or   : and { "||" and }
 *     and  : term { "&&" term }
 *     term : "!" term | "(" or ")" | integer | predicate [ "(" argument { "," argument } ")" ]
 *
 * Everything is parsed, even parts that no longer affect the value, so that errors are reported
 * immediately.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "conf_priv.h"

#define MAX_ARGS 2
#define MAX_DEPTH 64

struct cond {
	const struct conf_state *state;
	const char *text, *at;
	struct strbuf error; /* empty: none */
	const char *error_at;
	int depth;
};

static struct conf_facts facts = { .version = "3.4.0", .features = "" };

void conf_set_facts(const struct conf_facts *given)
{
	facts = *given;
}

static bool cond_fail(struct cond *c, const char *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static bool cond_fail(struct cond *c, const char *at, const char *fmt, ...)
{
	va_list ap;

	if (c->error.len)
		return false;
	va_start(ap, fmt);
	strbuf_vprintf(&c->error, fmt, ap);
	va_end(ap);
	c->error_at = at;
	return false;
}

static void skip_blanks(struct cond *c)
{
	while (*c->at == ' ' || *c->at == '\t')
		c->at++;
}

/* --- versions ---------------------------------------------------------------------------- */

/* Takes a number; 0 where there is none. */
static int take_number(const char **at)
{
	int64_t value = 0;

	while (ascii_is_digit(**at)) {
		value = value * 10 + (**at - '0');
		if (value > INT_MAX)
			value = INT_MAX;
		(*at)++;
	}
	return (int)value;
}

/* "3.2-dev19-25", "3.2.4-7", "3.2-rc1": major, minor, maturity, patch, commits. What is missing or
 * not understood counts as zero.
 */
static void parse_version(const char *text, int parts[5])
{
	memset(parts, 0, 5 * sizeof(*parts));
	parts[2] = INT_MAX;
	parts[0] = take_number(&text);
	if (*text == '.') {
		text++;
		parts[1] = take_number(&text);
	}
	if (*text == '.') {
		text++;
		parts[3] = take_number(&text);
	}
	if (strncmp(text, "-dev", 4) == 0) {
		text += 4;
		parts[2] = take_number(&text);
	} else if (strncmp(text, "-rc", 3) == 0) {
		text += 3;
		parts[2] = take_number(&text);
		parts[2] = parts[2] > INT_MAX / 2 ? parts[2] : parts[2] + INT_MAX / 2;
	}
	text = strrchr(text, '-');
	if (text) {
		text++;
		parts[4] = take_number(&text);
		if (*text)
			parts[4] = 0; /* that was a commit's name */
	}
}

static int compare_parts(const int *a, const int *b, int count)
{
	for (int i = 0; i < count; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

static int compare_version(const char *ours, const char *asked)
{
	int a[5], b[5];

	parse_version(ours, a);
	parse_version(asked, b);
	return compare_parts(a, b, 5);
}

/* "1.1.1f", "3.6.5", "3.6.5-beta1": three numbers are required, then the maturity and the letter.
 */
static bool parse_tls_version(const char *text, int parts[5])
{
	memset(parts, 0, 5 * sizeof(*parts));
	for (int i = 0; i < 3; i++) {
		if (!ascii_is_digit(*text))
			return false;
		parts[i] = take_number(&text);
		if (i < 2 && *text++ != '.')
			return false;
	}
	parts[3] = INT_MAX;
	if (*text >= 'a' && *text <= 'z') {
		parts[4] = *text++ - 'a' + 1;
	} else if (strncmp(text, "-alpha", 6) == 0 || strncmp(text, "-beta", 5) == 0) {
		bool beta = text[1] == 'b';

		text += beta ? 5 : 6;
		parts[3] = (beta ? 1000 : 0) + take_number(&text) % 1000;
	}
	return *text == '\0' || *text == '-' || *text == ' ';
}

/* --- predicates -------------------------------------------------------------------------- */

enum verdict { FALSE_VERDICT, TRUE_VERDICT, BAD_ARGUMENT };

static enum verdict verdict_of(bool value)
{
	return value ? TRUE_VERDICT : FALSE_VERDICT;
}

static enum verdict is_defined(const struct conf_state *s, char *const *args)
{
	return verdict_of(conf_env_get(s, args[0], strlen(args[0])) != NULL);
}

static enum verdict has_feature(const struct conf_state *s, char *const *args)
{
	const char *at = facts.features;
	size_t len = strlen(args[0]);

	while (len && (at = strstr(at, args[0])) != NULL) {
		if (at > facts.features && at[-1] == '+' && (at[len] == ' ' || at[len] == '\0'))
			return TRUE_VERDICT;
		at++;
	}
	return FALSE_VERDICT;
}

static enum verdict is_streq(const struct conf_state *s, char *const *args)
{
	return verdict_of(strcmp(args[0], args[1]) == 0);
}

static enum verdict is_strneq(const struct conf_state *s, char *const *args)
{
	return verdict_of(strcmp(args[0], args[1]) != 0);
}

static enum verdict is_strstr(const struct conf_state *s, char *const *args)
{
	return verdict_of(strstr(args[0], args[1]) != NULL);
}

static enum verdict is_atleast(const struct conf_state *s, char *const *args)
{
	return verdict_of(compare_version(facts.version, args[0]) >= 0);
}

static enum verdict is_before(const struct conf_state *s, char *const *args)
{
	return verdict_of(compare_version(facts.version, args[0]) < 0);
}

/* <sign>: 1 for "at least", -1 for "before" */
static enum verdict compare_tls(const char *asked, bool before)
{
	int ours[5], theirs[5], order;

	if (!parse_tls_version(asked, theirs))
		return BAD_ARGUMENT;
	if (!facts.ssl_version || !parse_tls_version(facts.ssl_version, ours))
		return FALSE_VERDICT;
	order = compare_parts(ours, theirs, 5);
	return verdict_of(before ? order < 0 : order >= 0);
}

static enum verdict is_tls_atleast(const struct conf_state *s, char *const *args)
{
	return compare_tls(args[0], false);
}

static enum verdict is_tls_before(const struct conf_state *s, char *const *args)
{
	return compare_tls(args[0], true);
}

static enum verdict is_tls_named(const struct conf_state *s, char *const *args)
{
	return verdict_of(facts.ssl_name && strncmp(facts.ssl_name, args[0], strlen(args[0])) == 0);
}

static enum verdict is_enabled(const struct conf_state *s, char *const *args)
{
	return verdict_of(facts.enabled && facts.enabled(args[0]));
}

static const struct predicate {
	const char *name;
	int args;
	bool may_lack; /* no argument is an empty one */
	enum verdict (*run)(const struct conf_state *s, char *const *args);
} predicates[] = {
	{ "defined", 1, true, is_defined },
	{ "enabled", 1, true, is_enabled },
	{ "feature", 1, true, has_feature },
	{ "openssl_version_atleast", 1, true, is_tls_atleast },
	{ "openssl_version_before", 1, true, is_tls_before },
	{ "ssllib_name_startswith", 1, true, is_tls_named },
	{ "streq", 2, false, is_streq },
	{ "strneq", 2, false, is_strneq },
	{ "strstr", 2, false, is_strstr },
	{ "version_atleast", 1, true, is_atleast },
	{ "version_before", 1, true, is_before },
};

/* --- arguments --------------------------------------------------------------------------- */

/* One argument up to an unquoted comma or parenthesis, quotes and escapes resolved (manual 2.2,
 * second level). Returns where it ends, NULL when a quote is not closed or memory is out.
 */
static const char *take_argument(const char *at, struct strbuf *out)
{
	char quote = 0;

	for (; *at; at++) {
		if (!quote && (*at == ',' || *at == ')'))
			break;
		if ((*at == '"' || *at == '\'') && (!quote || quote == *at)) {
			quote = quote ? 0 : *at;
			continue;
		}
		if (*at == '\\' && quote != '\'' && at[1] && strchr("nrt \\'\",()", at[1])) {
			at++;
			strbuf_add_char(out, *at == 'n' ? '\n' :
					     *at == 'r' ? '\r' :
					     *at == 't' ? '\t' :
							  *at);
			continue;
		}
		strbuf_add_char(out, *at);
	}
	return quote || out->overflow ? NULL : at;
}

/* "(a,b)" at c->at, if any. */
static bool take_arguments(struct cond *c, const struct predicate *p, struct strbuf out[MAX_ARGS])
{
	int count = 0;
	const char *end = c->at;
	bool listed = *c->at == '(' && c->at[1] != ')';

	while (listed && count < p->args) {
		end = take_argument(end + 1, &out[count]);
		if (!end)
			return cond_fail(c, c->at + 1,
					 "unmatched quote or out of memory in argument"
					 " %d of predicate '%s' used in conditional expression",
					 count + 1, p->name);
		count++;
		if (*end != ',' || count == p->args)
			break;
	}
	if (!listed && *c->at == '(')
		end = c->at + 1;
	if (count < p->args && !(count == 0 && p->may_lack))
		return cond_fail(c, end,
				 "missing arguments (got %d/%d), type 'string' expected in"
				 " argument %d of predicate '%s' used in conditional expression",
				 count ? count : 1, p->args, count ? count : 1, p->name);
	if (*c->at == '(' && *end != ')')
		return cond_fail(c, end,
				 "expected ')'%s%s%s in argument %d of predicate '%s' used in"
				 " conditional expression",
				 *end ? " before '" : "", end, *end ? "'" : "",
				 count > 1 ? count - 1 : 1, p->name);
	c->at = *c->at == '(' ? end + 1 : end;
	return true;
}

static int eval_predicate(struct cond *c, const struct predicate *p)
{
	const char *start = c->at + strlen(p->name);
	struct strbuf out[MAX_ARGS];
	char *args[MAX_ARGS];
	enum verdict verdict = FALSE_VERDICT;

	c->at = start;
	for (int i = 0; i < MAX_ARGS; i++) {
		strbuf_init(&out[i]);
		strbuf_add_str(&out[i], "");
	}
	if (take_arguments(c, p, out)) {
		static char nothing[1];

		for (int i = 0; i < MAX_ARGS; i++)
			args[i] = out[i].len ? out[i].ptr : nothing;
		verdict = p->run(c->state, args);
		if (verdict == BAD_ARGUMENT)
			cond_fail(c, c->at,
				  "invalid argument to conditional expression predicate"
				  " '%s': '%s'",
				  p->name, args[0]);
	}
	for (int i = 0; i < MAX_ARGS; i++)
		strbuf_fini(&out[i]);
	return c->error.len ? -1 : verdict == TRUE_VERDICT;
}

/* --- grammar ----------------------------------------------------------------------------- */

static int eval_or(struct cond *c);

static int eval_group(struct cond *c)
{
	const char *start = c->at;
	int value;

	c->at++;
	value = eval_or(c);
	if (value < 0)
		return -1;
	skip_blanks(c);
	if (*c->at != ')') {
		cond_fail(c, start, "expected ')' after conditional expression '%s'", start);
		return -1;
	}
	c->at++;
	return value;
}

/* An integer, or -1 with nothing taken. As strtol() reads it, in base 0. */
static int eval_number(struct cond *c)
{
	const char *digits = c->at + (*c->at == '-' || *c->at == '+');
	char *end;
	long value;

	if (!ascii_is_digit(*digits))
		return -1;
	value = strtol(c->at, &end, 0);
	c->at = end;
	return value != 0;
}

static const struct predicate *find_predicate(const char *at)
{
	size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	for (size_t i = 0; i < sizeof(predicates) / sizeof(*predicates); i++)
		if (strlen(predicates[i].name) == len && strncmp(predicates[i].name, at, len) == 0)
			return &predicates[i];
	return NULL;
}

static int eval_term(struct cond *c)
{
	const struct predicate *p;
	const char *start;
	bool negate = false;
	int value;

	skip_blanks(c);
	start = c->at;
	while (*c->at == '!') {
		negate = !negate;
		c->at++;
		skip_blanks(c);
	}
	if (++c->depth > MAX_DEPTH) {
		cond_fail(c, start, "conditional expression nested too deep");
		return -1;
	}
	p = find_predicate(c->at);
	if (*c->at == '(')
		value = eval_group(c);
	else if (p)
		value = eval_predicate(c, p);
	else
		value = eval_number(c);
	c->depth--;
	if (value < 0) {
		cond_fail(c, start, "unparsable conditional expression '%s'", start);
		return -1;
	}
	return negate ? !value : value;
}

/* Takes "&&" or "||", given as one character, and the blanks around it. 1: taken, an operand
 * follows; 0: something else stands there; -1: nothing follows, which is reported.
 */
static int take_operator(struct cond *c, char character)
{
	const char *operator;

	skip_blanks(c);
	operator = c->at;
	if (operator[0] != character || operator[1] != character)
		return 0;
	c->at += 2;
	skip_blanks(c);
	if (*c->at)
		return 1;
	cond_fail(c, operator, "unparsable conditional expression '%s'", operator);
	return -1;
}

static int eval_and(struct cond *c)
{
	int value = eval_term(c), right, taken = 0;

	while (value >= 0 && (taken = take_operator(c, '&')) > 0) {
		right = eval_term(c);
		value = right < 0 ? -1 : (value && right);
	}
	return taken < 0 ? -1 : value;
}

static int eval_or(struct cond *c)
{
	int value = eval_and(c), right, taken = 0;

	while (value >= 0 && (taken = take_operator(c, '|')) > 0) {
		right = eval_and(c);
		value = right < 0 ? -1 : (value || right);
	}
	return taken < 0 ? -1 : value;
}

int conf_cond_eval(const struct config *cfg, const char *text, char **error, size_t *at)
{
	struct cond c = { .state = cfg->state, .text = text, .at = text };
	int value;

	*error = NULL;
	*at = 0;
	strbuf_init(&c.error);
	skip_blanks(&c);
	if (!*c.at)
		return 0; /* nothing is false */
	value = eval_or(&c);
	if (value >= 0) {
		skip_blanks(&c);
		if (*c.at) {
			cond_fail(&c, c.at,
				  "unexpected character '%c' at the end of conditional expression"
				  " '%s'",
				  *c.at, text);
			value = -1;
		}
	}
	if (value < 0) {
		*error = c.error.ptr;
		*at = (size_t)(c.error_at ? c.error_at - text : 0);
		return -1;
	}
	strbuf_fini(&c.error);
	return value;
}

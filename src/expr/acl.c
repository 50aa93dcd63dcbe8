/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acl.c - tests with a name: `acl <name> <criterion> [flags] [operator] <value>...`
 *
 * An ACL is a list of tests: it passes when one does. A test is an expression, a method and one
 * pattern set per source of values (the words of the line, each file).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/hash.h"
#include "acl_priv.h"
#include "pattern_priv.h"

/* Manual 7.4: made when a condition names them. */
static const struct { const char *name, *words[5]; } predefined[] = {
	{ "FALSE", { "always_false" } },
	{ "HTTP", { "req.proto_http" } },
	{ "HTTP_1.0", { "req.ver", "-m", "str", "1.0" } },
	{ "HTTP_1.1", { "req.ver", "-m", "str", "1.1" } },
	{ "HTTP_2.0", { "req.ver", "-m", "str", "2.0" } },
	{ "HTTP_3.0", { "req.ver", "-m", "str", "3.0" } },
	{ "HTTP_CONTENT", { "req.hdr_val(content-length)", "gt", "0" } },
	{ "HTTP_URL_ABS", { "url", "-m", "reg", "^[^/:]*://" } },
	{ "HTTP_URL_SLASH", { "url", "-m", "beg", "/" } },
	{ "HTTP_URL_STAR", { "url", "-m", "str", "*" } },
	{ "LOCALHOST", { "src", "127.0.0.1/8", "::1" } },
	{ "METH_CONNECT", { "method", "CONNECT" } },
	{ "METH_DELETE", { "method", "DELETE" } },
	{ "METH_GET", { "method", "GET", "HEAD" } },
	{ "METH_HEAD", { "method", "HEAD" } },
	{ "METH_OPTIONS", { "method", "OPTIONS" } },
	{ "METH_POST", { "method", "POST" } },
	{ "METH_PUT", { "method", "PUT" } },
	{ "METH_TRACE", { "method", "TRACE" } },
	{ "RDP_COOKIE", { "req.rdp_cookie_cnt", "gt", "0" } },
	{ "REQ_CONTENT", { "req.len", "gt", "0" } },
	{ "TRUE", { "always_true" } },
	{ "WAIT_END", { "wait_end" } },
};

/* What is being read of one line. */
struct acl_parser {
	struct conf_line *l;
	const char *criterion;
	const struct expr_acl_keyword *keyword; /* or NULL */
	struct acl_test *test;
	unsigned flags;              /* enum pattern_flags in force */
	enum pattern_columns columns; /* of files: two after -M */
	struct pattern_ref *values;  /* of the words */
	bool has_id, has_dashes, has_method, any;
	unsigned id;
};

/* --- errors ------------------------------------------------------------------------------- */

static bool acl_error(struct acl_parser *ap, int word, const char *hint, const char *text)
{
	return conf_error(ap->l, word, hint, "%s%s.", ap->test->where, text);
}

/* --- criterion ---------------------------------------------------------------------------- */

/* `path_beg`, not followed by a converter (whose type then decides), is an ACL keyword. */
static const struct expr_acl_keyword *find_keyword(const char *text)
{
	return expr_acl_keyword_find(slice_make(text, strcspn(text, "(,")));
}

static bool parse_criterion(struct acl_parser *ap, const char *text)
{
	struct expr_error error = { "" };
	struct expr_parser p = { .line = ap->l, .text = text, .at = text, .error = &error };
	struct expr *e;

	ap->criterion = text;
	ap->keyword = find_keyword(text);
	text = expr_join_words(ap->l, text);
	p.text = p.at = ap->criterion = text;
	e = expr_compile(&p, ap->keyword);
	if (e && *p.at) {
		expr_fail(&error, "missing comma after fetch keyword");
		e = NULL;
	}
	if (!e) {
		const char *hint = expr_suggest(ap->l, error.text, text);
		bool of_expression = !ap->keyword;

		return conf_error(ap->l, ap->l->at, hint, "%s%s%s%s%s.", ap->test->where,
				  error.text, of_expression ? " in ACL expression '" : "",
				  of_expression ? text : "", of_expression ? "'" : "");
	}
	ap->test->expr = e;
	ap->test->keyword = ap->keyword ? ap->keyword->name : expr_fetch_name(e);
	if (ap->keyword && !e->step_count)
		ap->test->method = ap->keyword->match;
	else
		ap->test->method = pattern_method_default(expr_type(e));
	ap->l->at++;
	return true;
}

/* --- flags -------------------------------------------------------------------------------- */

/* -m bool asks whether a number is other than 0: an IPv4 address is one, too. */
static enum sample_type cast_of_method(enum pattern_method m)
{
	return m == PATTERN_BOOL ? SMP_INT : pattern_method_type(m);
}

static bool set_method(struct acl_parser *ap, const char *name)
{
	enum pattern_method m = pattern_method_find(slice_of(name ? name : ""));
	char text[256];

	if (ap->any) {
		return acl_error(ap, ap->l->at - 1, NULL, "'-m' must only be specified before "
				 "patterns and files in parsing ACL expression");
	}
	if (ap->has_method) {
		return acl_error(ap, ap->l->at - 1, NULL, "only one explicit matching method can "
				 "be defined with '-m' parameter. if migrating from an old "
				 "version, just keep the last one");
	}
	if (!m) {
		snprintf(text, sizeof(text),
			 "unknown matching method '%.100s' when parsing ACL expression",
			 name ? name : "");
		return acl_error(ap, ap->l->at, NULL, text);
	}
	if (!sample_can_cast(expr_type(ap->test->expr), cast_of_method(m))) {
		snprintf(text, sizeof(text),
			 "matching method '%.20s' cannot be used with fetch keyword '%.100s'",
			 name, ap->test->keyword);
		return acl_error(ap, ap->l->at, NULL, text);
	}
	ap->test->method = m;
	ap->has_method = true;
	ap->l->at++;
	return true;
}

/* `path_beg` whose method -m or a converter has replaced does not do what its name says. */
static void warn_of_lost_method(struct acl_parser *ap)
{
	static const bool named[PATTERN_METHODS] = {
		[PATTERN_BEG] = true, [PATTERN_END] = true, [PATTERN_SUB] = true,
		[PATTERN_DIR] = true, [PATTERN_DOM] = true, [PATTERN_LEN] = true,
		[PATTERN_REG] = true, [PATTERN_METH] = true,
	};

	if (ap->keyword && named[ap->keyword->match] && ap->keyword->match != ap->test->method)
		conf_warn(ap->l, ap->l->at - 1, NULL, "original matching method '%s' was "
			  "overwritten and will not be applied as expected.", ap->keyword->name);
}

static bool add_set(struct acl_parser *ap, struct pattern_ref *ref, unsigned flags)
{
	struct acl_source *source = arena_zalloc(&ap->l->cfg->arena, sizeof(*source));
	struct acl_source **tail = &ap->test->sources;
	struct expr_error e = { "" };

	if (!source)
		return acl_error(ap, ap->l->at, NULL, "out of memory");
	source->set = pattern_set_make(ref, ap->test->method, flags, &e);
	if (!source->set)
		return acl_error(ap, ap->l->at, NULL, e.text);
	while (*tail)
		tail = &(*tail)->next;
	*tail = source;
	return true;
}

static bool add_file(struct acl_parser *ap, const char *name)
{
	struct expr_error e = { "" };
	struct pattern_ref *ref = pattern_ref_open(ap->l, name ? name : "", ap->columns, "acl", &e);

	ap->any = true;
	if (!ref)
		return acl_error(ap, ap->l->at, NULL, e.text);
	if (!add_set(ap, ref, ap->flags))
		return false;
	ap->l->at++;
	return true;
}

static bool set_id(struct acl_parser *ap, const char *text)
{
	char *end;

	ap->id = text ? (unsigned)strtoul(text, &end, 10) : 0;
	if (!text || !ascii_is_digit(*text) || *end)
		return acl_error(ap, ap->l->at, NULL, "the argument of -u must be an integer");
	ap->has_id = true;
	ap->l->at++;
	return true;
}

/* An operator written as an option, as ancient versions did: `-lt`. */
static bool is_operator(const char *word)
{
	static const char *const ops[] = { "eq", "lt", "le", "gt", "ge" };

	for (unsigned i = 0; i < ARRAY_LEN(ops); i++)
		if (strcmp(word, ops[i]) == 0)
			return true;
	return false;
}

static bool has_operators(const struct acl_parser *ap)
{
	return ap->test->method == PATTERN_INT || ap->test->method == PATTERN_LEN ||
	       ap->test->method == PATTERN_DOTTED;
}

/* One flag. *done when there are no more. */
static bool parse_flag(struct acl_parser *ap, bool *done)
{
	struct conf_line *l = ap->l;
	const char *word = conf_peek(l);
	char text[256];

	*done = false;
	if (!word || word[0] != '-') {
		*done = true;
		return true;
	}
	if (has_operators(ap) && is_operator(word + 1)) {
		*done = true;
		return true;
	}
	l->at++;
	if (strcmp(word, "--") == 0) {
		ap->has_dashes = *done = true;
		return true;
	}
	if (strcmp(word, "-i") == 0)
		ap->flags |= PATTERN_NOCASE;
	else if (strcmp(word, "-n") == 0)
		ap->flags |= PATTERN_NO_DNS;
	else if (strcmp(word, "-m") == 0)
		return set_method(ap, conf_peek(l));
	else if (strcmp(word, "-f") == 0)
		return add_file(ap, conf_peek(l));
	else if (strcmp(word, "-u") == 0)
		return set_id(ap, conf_peek(l));
	else if (strcmp(word, "-M") == 0)
		ap->columns = PATTERN_TWO_COLUMNS;
	else {
		snprintf(text, sizeof(text), "'%.100s' is not a valid ACL option. Please use '--' "
			 "before any pattern beginning with a '-'", word);
		return acl_error(ap, l->at - 1, NULL, text);
	}
	return true;
}

/* --- values ------------------------------------------------------------------------------- */

/* The words up to <end>; an operator applies to those after it. */
static bool parse_values(struct acl_parser *ap, int end)
{
	struct conf_line *l = ap->l;
	const char *op = "";
	char text[300];

	ap->values = pattern_ref_new(l, ap->test->keyword);
	if (!ap->values)
		return false;
	if (ap->has_id && !pattern_ref_set_id(l, ap->values, ap->id))
		return acl_error(ap, l->at - 1, NULL, "the id is already used");
	for (; l->at < end; l->at++) {
		const char *word = l->words[l->at];

		if (has_operators(ap) && word[0] == '-' && is_operator(word + 1)) {
			conf_warn(l, l->at, NULL, "the operator '%s' is written '%s' nowadays.",
				  word, word + 1);
			op = word + 1;
			continue;
		}
		if (has_operators(ap) && strcmp(word, "ne") == 0)
			return acl_error(ap, l->at, "write 'eq' and put '!' before the ACL",
					 "there is no operator 'ne'");
		if (has_operators(ap) && is_operator(word)) {
			op = word;
			continue;
		}
		snprintf(text, sizeof(text), "%s %.250s", op, word);
		if (!pattern_ref_add(l, ap->values, slice_of(*op ? text : word)))
			return false;
	}
	return true;
}

static bool finish_values(struct acl_parser *ap)
{
	bool needs_none = ap->test->method == PATTERN_FOUND || ap->test->method == PATTERN_BOOL;

	if (!pattern_ref_count(ap->values) && !needs_none && !ap->any && !ap->has_dashes)
		conf_warn(ap->l, ap->l->at - 1, NULL,
			  "acl keyword '%s' :\n"
			  "  no pattern to match against were provided, so this ACL will never "
			  "match.\n"
			  "  If this is what you intended, please add '--' to get rid of this "
			  "warning.\n"
			  "  If you intended to match only for existence, please use '-m found'.\n"
			  "  If you wanted to force an int to match as a bool, please use '-m "
			  "bool'.\n",
			  ap->criterion);
	return add_set(ap, ap->values, ap->flags); /* maybe empty: values may come at run time */
}

struct acl_test *acl_test_parse(struct conf_line *l, int end, const char *where)
{
	struct acl_parser ap = { .l = l };
	char text[256];
	bool done = false;
	int count = l->count;

	ap.test = arena_zalloc(&l->cfg->arena, sizeof(*ap.test));
	if (!ap.test) {
		conf_error(l, l->at, NULL, "out of memory.");
		return NULL;
	}
	ap.test->where = where;
	l->count = end; /* what follows is not ours */
	if (!parse_criterion(&ap, l->at < end ? l->words[l->at] : ""))
		goto fail;
	while (!done)
		if (!parse_flag(&ap, &done))
			goto fail;
	warn_of_lost_method(&ap);
	if (!ap.test->method) {
		snprintf(text, sizeof(text),
			 "matching method must be specified first (using '-m') when "
			 "using a sample fetch of this type ('%.100s')",
			 ap.test->keyword);
		acl_error(&ap, l->at - 1, NULL, text);
		goto fail;
	}
	if (!parse_values(&ap, end) || !finish_values(&ap))
		goto fail;
	l->count = count;
	return ap.test;
fail:
	l->count = count;
	return NULL;
}

/* --- named ACLs --------------------------------------------------------------------------- */

struct acl_set *acl_set_new(struct config *cfg)
{
	struct acl_set *set = arena_zalloc(&cfg->arena, sizeof(*set));

	if (set)
		set->cfg = cfg;
	return set;
}

struct acl_set *acl_set_inner(struct acl_set *outer)
{
	struct acl_set *set = acl_set_new(outer->cfg);

	if (!set)
		return NULL;
	set->outer = outer;
	set->next = outer->inner;
	outer->inner = set;
	return set;
}

/* Of this set alone. */
static struct acl *acl_find_own(const struct acl_set *set, const char *name)
{
	uint64_t key = hash_bytes(name, strlen(name), 0);

	for (struct tree_node *n = tree_find(&set->by_name, key); n && n->key == key;
	     n = tree_next(n)) {
		struct acl *a = container_of(n, struct acl, by_name);

		if (strcmp(a->name, name) == 0)
			return a;
	}
	return NULL;
}

struct acl *acl_find(const struct acl_set *set, const char *name)
{
	struct acl *a = NULL;

	for (; set && !a; set = set->outer)
		a = acl_find_own(set, name);
	return a;
}

static struct acl *acl_add(struct acl_set *set, const char *name)
{
	struct acl *a = arena_zalloc(&set->cfg->arena, sizeof(*a));

	if (!a)
		return NULL;
	a->name = conf_strdup(set->cfg, name);
	if (!a->name)
		return NULL;
	if (!acl_hits_number(set->cfg, a))
		return NULL;
	a->next = set->first;
	set->first = a;
	tree_insert(&set->by_name, &a->by_name, hash_bytes(name, strlen(name), 0));
	return a;
}

static bool acl_append(struct acl *a, struct acl_test *t)
{
	struct acl_test **tail = &a->tests;

	while (*tail)
		tail = &(*tail)->next;
	*tail = t;
	return true;
}

static bool check_name(struct conf_line *l, const char *name)
{
	for (const char *c = name; *c; c++) {
		if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || ascii_is_digit(*c) ||
		    strchr("-_.:", *c))
			continue;
		return conf_error(l, l->at, NULL,
				  "character '%c' is not permitted in acl name '%s'.", *c, name);
	}
	if (strcasecmp(name, "or") == 0)
		return conf_error(l, l->at, NULL, "acl name '%s' will never match. 'or' is used to "
				  "express a logical disjunction within a condition.", name);
	return true;
}

bool acl_parse(struct conf_line *l, struct acl_set *set, unsigned phase)
{
	const char *name = conf_peek(l), *where;
	struct acl_test *t;
	struct acl *a;

	if (!name)
		return conf_error(l, l->at, NULL, "missing ACL name.");
	if (!check_name(l, name))
		return false;
	l->at++;
	where = arena_printf(&l->cfg->arena, "error detected while parsing ACL '%s' : ", name);
	t = where ? acl_test_parse(l, l->count, where) : NULL;
	if (!t)
		return false;
	a = acl_find_own(set, name);
	if (!a)
		a = acl_add(set, name);
	if (!a)
		return conf_error(l, l->at, NULL, "out of memory.");
	if (!a->line) {
		a->line = l->place.line;
		a->file = l->place.file ? conf_strdup(l->cfg, l->place.file) : NULL;
	}
	return acl_append(a, t);
}

/* The predefined ACL of this name, made now. NULL without report: there is none. */
struct acl *acl_find_predefined(struct conf_line *l, struct acl_set *set, const char *name,
				const char *where)
{
	static const int columns[6] = { 1, 1, 1, 1, 1, 1 };
	struct conf_line fake = *l;
	struct acl_test *t;
	struct acl *a;

	for (unsigned i = 0; i < ARRAY_LEN(predefined); i++) {
		if (strcmp(predefined[i].name, name) != 0)
			continue;
		fake.words = (char **)predefined[i].words;
		fake.columns = columns;
		for (fake.count = 0; fake.count < 5 && fake.words[fake.count];)
			fake.count++;
		fake.at = 0;
		t = acl_test_parse(&fake, fake.count, where);
		a = t ? acl_add(set, name) : NULL;
		if (a)
			acl_append(a, t);
		return a;
	}
	return NULL;
}

bool acl_is_predefined(const char *name)
{
	for (unsigned i = 0; i < ARRAY_LEN(predefined); i++)
		if (strcmp(predefined[i].name, name) == 0)
			return true;
	return false;
}

/* --- evaluating --------------------------------------------------------------------------- */

static bool test_matches(const struct acl_test *t, struct expr_ctx *ctx, struct sample *s)
{
	enum sample_type type = pattern_method_type(t->method);

	if (!t->sources)
		return false;
	if (s->type != type && !(sample_cast(s, cast_of_method(t->method), ctx->arena) &&
				 sample_cast(s, type, ctx->arena)))
		return false;
	for (const struct acl_source *source = t->sources; source; source = source->next)
		if (pattern_set_find(source->set, s, NULL))
			return true;
	return false;
}

static enum expr_result test_eval(const struct acl_test *t, struct expr_ctx *ctx)
{
	unsigned flags = ctx->flags;
	enum expr_result r;
	struct sample s;
	bool may_change;

	ctx->flags |= EXPR_ITERATE;
	memset(ctx->cursor, 0, sizeof(ctx->cursor));
	do {
		s.flags = 0;
		r = expr_eval(t->expr, ctx, &s);
		if (r != EXPR_FOUND)
			break;
		may_change = s.flags & SMP_MAY_CHANGE && !(flags & EXPR_FINAL);
		if (test_matches(t, ctx, &s))
			break;
		r = may_change ? EXPR_WAIT : EXPR_NONE;
	} while (s.flags & SMP_NOT_LAST);
	ctx->flags = flags;
	return r;
}

enum expr_result acl_eval(const struct acl *a, struct expr_ctx *ctx)
{
	enum expr_result result = EXPR_NONE;

	for (const struct acl_test *t = a->tests; t; t = t->next) {
		enum expr_result r = test_eval(t, ctx);

		if (r != EXPR_NONE)
			result = r;
		if (r == EXPR_FOUND)
			break;
	}
	if (result != EXPR_WAIT)
		acl_hits_count(a, result == EXPR_FOUND);
	return result;
}

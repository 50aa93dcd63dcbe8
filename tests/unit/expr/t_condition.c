/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_condition.c - ACLs, patterns and conditions: verdicts as the reference program gives them */
#include "expr/modules.h"
#include "tap.h"
#include "line.h"
#include "expr/pattern.h"

/* Anonymous ACLs that HAProxy 3.2 was asked. */
static const struct { const char *acl; bool passes; } verdicts[] = {
	{ "always_true", true },
	{ "always_false", false },
	{ "int(5) eq 5", true },
	{ "int(5) lt 5", false },
	{ "int(5) le 5", true },
	{ "int(5) gt 4", true },
	{ "int(5) ge 6", false },
	{ "int(5) 1:4 5", true },
	{ "int(5) 6:", false },
	{ "int(5) :5", true },
	{ "int(5) gt 1:10", true },
	{ "int(5) lt 1:10", true },
	{ "int(5) le 1:3", false },
	{ "int(5) ge 7:10", false },
	{ "int(5) gt 1 lt 3", true },
	{ "int(-5) lt 0", true },
	{ "int(-5) -- -5", true },
	{ "int(5) -m bool", true },
	{ "int(0) -m bool", false },
	{ "int(5) -m str 5", true },
	{ "int(5) -m found", true },
	{ "env(NO) -m found", false },
	{ "str(abc) abc", true },
	{ "str(abc) ABC", false },
	{ "str(abc) -i ABC", true },
	{ "str(abc) x abc y", true },
	{ "str(abc) -m beg a", true },
	{ "str(abc) -m beg b", false },
	{ "str(abc) -m beg -i AB", true },
	{ "str(abc) -m end c", true },
	{ "str(abc) -m end bc abc", true },
	{ "str(abc) -m end ab", false },
	{ "str(abc) -m end -i BC", true },
	{ "str(abc) -m sub b", true },
	{ "str(abc) -m sub -i B", true },
	{ "str(abc) -m sub z", false },
	{ "str(abc) -m len 3", true },
	{ "str(abc) -m len gt 3", false },
	{ "str(abc) -m len 1:2", false },
	{ "str(abc) -m reg ^a.c$", true },
	{ "str(abc) -m reg -i ^A", true },
	{ "str(abc) -m reg ^b", false },
	{ "str(5) -m int 5", true },
	{ "str(5x) -m int 5", true },
	{ "str(x) -m int 0", true },
	{ "str() -m int 0", false },
	{ "str(1.2.3.4) -m ip 1.2.3.0/24", true },
	{ "str(1.2.3.4) -m ip 1.2.4.0/24", false },
	{ "ipv4(1.2.3.4) 1.2.3.4", true },
	{ "ipv4(1.2.3.4) 1.2/16", false },
	{ "ipv4(1.2.0.4) 1.2.4", true },
	{ "ipv4(1.2.3.4) 1.0.3.0/255.0.255.0", true },
	{ "ipv4(1.2.3.4) ::ffff:1.2.3.0/120", true },
	{ "ipv4(1.2.3.4) ::1", false },
	{ "ipv6(::ffff:1.2.3.4) 1.2.3.4", true },
	{ "ipv6(2002:102:304::1) 1.2.3.4", true },
	{ "ipv6(::1.2.3.4) 1.2.3.4", true },
	{ "ipv6(2001:db8::1) 2001:db8::/32", true },
	{ "ipv6(2001:db8::1) 2001:db9::/32", false },
	{ "ipv6(::1) ::1", true },
	{ "ipv4(1.2.3.4) 0.0.0.0/0", true },
	{ "ipv6(::1) 0.0.0.0/0", true },
	{ "str(/images/png/logo/32x32.png) -m dir /images", true },
	{ "str(/images/png/logo/32x32.png) -m dir /images/png", true },
	{ "str(/images/png/logo/32x32.png) -m dir images/png", true },
	{ "str(/images/png/logo/32x32.png) -m dir /png/logo", true },
	{ "str(/images/png/logo/32x32.png) -m dir logo/32x32.png", true },
	{ "str(/images/png/logo/32x32.png) -m dir 32x32.png", true },
	{ "str(/images/png/logo/32x32.png) -m dir 32x32", false },
	{ "str(/images/png/logo/32x32.png) -m dir mages", false },
	{ "str(/images/png/logo/32x32.png) -m dir /", false },
	{ "str(/images/png/logo/32x32.png) -m dir -i LOGO/", true },
	{ "str(/images//png) -m dir images/png", false },
	{ "str(/images?png) -m dir images", true },
	{ "str(http://www1.dc-eu.example.com:80/blah) -m dom http", true },
	{ "str(http://www1.dc-eu.example.com:80/blah) -m dom .www1", true },
	{ "str(http://www1.dc-eu.example.com:80/blah) -m dom eu", false },
	{ "str(http://www1.dc-eu.example.com:80/blah) -m dom dc-eu.example:80", false },
	{ "str(http://www1.dc-eu.example.com:80/blah) -m dom example.com:80", true },
	{ "str(http://www1.dc-eu.example.com:80/blah) -m dom 80", true },
	{ "str(http://www1.dc-eu.example.com:80/blah) -m dom :www1:", true },
	{ "str(http://www1.dc-eu.example.com:80/blah) -m dom .", false },
	{ "str(http://www1.dc-eu.example.com:80/blah) -m dom -i COM", true },
	{ "str(a.b) -m dom a..b", false },
	{ "str() -m beg a", false },
	{ "str() -m str a", false },
	{ "bin(616263) -m bin 616263", true },
	{ "bin(616263) -m bin 6162", false },
	{ "bin(61006263) -m bin 61006263", true },
	{ "bin(61006263) -m str a", true },
	{ "str(abc) -m bin 616263", true },
	{ "method GET", true },
	{ "method -i get", false },
	{ "method POST GET", true },
	{ "bool(1)", true },
	{ "bool(0)", false },
	{ "bool(1) -m int 1", true },
	{ "bool(1) -m str 1", true },
	{ "bool(1) foo", true },
	{ "bool(0) foo", false },
	{ "str(1) -m bool", true },
	{ "str(x) -m bool", false },
	{ "str(abc),length 3", true },
	{ "str(abc) -m found x", true },
	{ "str(abc) --", false },
	{ "str(abc) -- abc", true },
	{ "str(-i) -- -i", true },
	{ "str(-i) x -i", true },
	{ "str(a) -m str -i -- A", true },
	{ "str(abc) eq abc", true },
	{ "str(eq) eq abc", true },
	{ "int(9223372036854775807) gt 9223372036854775806", true },
	{ "str(abc),upper ABC", true },
	{ "str(abc),upper -m beg AB", true },
	{ "ipv4(1.2.3.4) -n 1.2.3.4", true },
};

static const struct { const char *acl, *error; } errors[] = {
	{ "str(a,b) x",
	  "fetch method 'str' : expected ')' before ',b)' in ACL expression 'str(a,b)'." },
	{ "int(196609) -m int 3.1", "'3.1' is not a number." },
	{ "str(a) -m ip a", "'a' is not a valid IPv4 or IPv6 address." },
	{ "str(a b) \"a b\"", "fetch method 'str' : expected ')' in ACL expression 'str(a'." },
	{ "foo", "unknown fetch method 'foo' in ACL expression 'foo'." },
	{ "int(1) -z", "'-z' is not a valid ACL option. Please use '--' before any pattern "
		       "beginning with a '-'." },
	{ "str(a) -m foo", "unknown matching method 'foo' when parsing ACL expression." },
	{ "bin(00) -m int 1", "matching method 'int' cannot be used with fetch keyword 'bin'." },
	{ "int(1) ne 2", "there is no operator 'ne'." },
	{ "str(a) -m reg (", "regex '(' is invalid (error=missing closing parenthesis, "
			     "erroffset=1)." },
};

/* Whole conditions. */
static const struct { const char *words; enum expr_result result; } conditions[] = {
	{ "if TRUE", EXPR_FOUND },
	{ "unless TRUE", EXPR_NONE },
	{ "if FALSE", EXPR_NONE },
	{ "if !FALSE", EXPR_FOUND },
	{ "if !!FALSE", EXPR_NONE },
	{ "if ! FALSE", EXPR_FOUND },
	{ "if TRUE FALSE", EXPR_NONE },
	{ "if TRUE FALSE or TRUE", EXPR_FOUND },
	{ "if TRUE FALSE || TRUE !FALSE", EXPR_FOUND },
	{ "unless FALSE or FALSE", EXPR_FOUND },
	{ "if !{ int(1) 2 } { int(1) 1 }", EXPR_FOUND },
	{ "if late", EXPR_WAIT },
	{ "unless late", EXPR_WAIT },
	{ "if !late", EXPR_WAIT },
	{ "if late FALSE", EXPR_NONE },
	{ "if late TRUE", EXPR_WAIT },
	{ "if late or TRUE", EXPR_FOUND },
	{ "if late or FALSE", EXPR_WAIT },
	{ "if many", EXPR_FOUND },
	{ "if METH_GET", EXPR_FOUND },
	{ "if METH_POST", EXPR_NONE },
};

static const struct { const char *words, *error; } wrong[] = {
	{ "when TRUE", "'http-request' expects either 'if' or 'unless' followed by a condition but "
		       "found 'when'." },
	{ "if nothing", "no such ACL : 'nothing'." },
	{ "if { int(1) 1", "missing closing '}' in condition." },
	{ "if", "no term after 'if'." },
	{ "if TRUE or", "a term is missing after 'or'." },
	{ "if or TRUE", "a term is missing before 'or'." },
	{ "if TRUE !", "a term is missing after '!'." },
};

/* --- fetches of the test's own ------------------------------------------------------------ */

static enum expr_result fetch_late(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	return EXPR_WAIT;
}

/* "a", "b", "c" in turn when the caller iterates. */
static enum expr_result fetch_many(struct expr_ctx *ctx, const struct expr_arg *args,
				   struct sample *out)
{
	static const char letters[] = "abc";

	out->type = SMP_STR;
	out->text = slice_make(letters + ctx->cursor[0], 1);
	if (ctx->flags & EXPR_ITERATE && ++ctx->cursor[0] < 3)
		out->flags |= SMP_NOT_LAST;
	return EXPR_FOUND;
}

static enum expr_result fetch_method(struct expr_ctx *ctx, const struct expr_arg *args,
				     struct sample *out)
{
	out->type = SMP_METH;
	out->method = 2;
	out->text = slice_none();
	return EXPR_FOUND;
}

static const struct expr_fetch fetches[] = {
	{ .name = "test.late", .out = SMP_STR, .use = EXPR_USE_HTTP_REQUEST_VOLATILE,
	  .fetch = fetch_late },
	{ .name = "test.many", .out = SMP_STR, .use = EXPR_USE_HTTP_REQUEST_VOLATILE,
	  .fetch = fetch_many },
	{ .name = "method", .out = SMP_METH, .use = EXPR_USE_HTTP_REQUEST, .fetch = fetch_method },
	{ 0 }
};
static const struct expr_acl_keyword acl_keywords[] = {
	{ "method", "method", PATTERN_METH },
	{ "test.many_end", "test.many", PATTERN_END },
	{ 0 }
};
static const struct module mod_test = {
	.name = "test", .fetches = fetches, .acl_keywords = acl_keywords,
};

static struct acl_set *set;

static bool read_condition(struct line *line, const char *words, struct condition **c)
{
	char text[1024];

	snprintf(text, sizeof(text), "http-request %s", words);
	line_words(line, text);
	line->l.at = 1;
	return condition_parse(&line->l, set, EXPR_FE_HRQ_HDR, c);
}

static int run(const struct condition *c, unsigned flags)
{
	struct arena arena;
	struct expr_ctx ctx = { .arena = &arena, .flags = flags };
	enum expr_result r;

	arena_init(&arena, 0);
	r = condition_eval(c, &ctx);
	arena_fini(&arena);
	return (int)r;
}

static void test_verdicts(void)
{
	for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
		struct condition *c = NULL;
		struct line line;
		char text[512];
		bool parsed;

		snprintf(text, sizeof(text), "if { %s }", verdicts[i].acl);
		parsed = read_condition(&line, text, &c);
		ok(parsed && (run(c, EXPR_FINAL) == EXPR_FOUND) == verdicts[i].passes, "%s: %s%s",
		   verdicts[i].acl, verdicts[i].passes ? "passes" : "fails", line_message(&line));
		line_end(&line);
	}
}

static const char *after(const char *message)
{
	const char *at = strstr(message, "condition : ");

	return at ? at + strlen("condition : ") : message;
}

static void test_errors(void)
{
	struct condition *c;
	struct line line;
	char text[512];

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		snprintf(text, sizeof(text), "if { %s }", errors[i].acl);
		ok(!read_condition(&line, text, &c), "%s is refused", errors[i].acl);
		is_str(after(line_message(&line)), errors[i].error, "and why: %s", errors[i].acl);
		line_end(&line);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ok(!read_condition(&line, wrong[i].words, &c), "'%s' is refused", wrong[i].words);
		is_str(after(line_message(&line)), wrong[i].error, "and why: %s", wrong[i].words);
		line_end(&line);
	}
}

static bool define(const char *words)
{
	struct line line;
	bool good;

	line_words(&line, words);
	good = acl_parse(&line.l, set, 0);
	line_end(&line);
	return good;
}

static void test_conditions(void)
{
	ok(define("late test.late -m found"), "an ACL is defined");
	ok(define("many test.many b") && define("many test.many z"), "one of two tests");
	ok(!define("or int(1)") && !define("a$ int(1)"), "bad names are refused");
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		struct condition *c = NULL;
		struct line line;
		bool parsed = read_condition(&line, conditions[i].words, &c);

		ok(parsed, "'%s' is read: %s", conditions[i].words, line_message(&line));
		is_int(run(c, 0), conditions[i].result, "'%s' is evaluated", conditions[i].words);
		line_end(&line);
	}
	is_int(run(NULL, 0), EXPR_FOUND, "no condition is true");
}

static void test_warnings(void)
{
	struct condition *c;
	struct line line;

	ok(read_condition(&line, "if { int(1) -lt 2 }", &c), "an operator written -lt is accepted");
	is_int(line.diags.warnings, 1, "with a warning");
	is_int(run(c, EXPR_FINAL), EXPR_FOUND, "and means lt");
	line_end(&line);
	ok(read_condition(&line, "if { str(a) }", &c), "an ACL without pattern is accepted");
	is_int(line.diags.warnings, 1, "with a warning");
	line_end(&line);
	ok(read_condition(&line, "if { str(a) -- }", &c), "after '--' too");
	is_int(line.diags.warnings, 0, "without a warning");
	line_end(&line);
}

/* Many patterns: prefixes, suffixes and networks are found whatever their number. */
static void test_many_patterns(void)
{
	const struct { enum pattern_method method; const char *hit, *miss;
	} cases[] = {
		{PATTERN_STR, "key777", "key1000"},	    {PATTERN_BEG, "key777/x", "kez777"},
		{PATTERN_END, "xkey777", "key777x"},	    {PATTERN_SUB, "xkey777x", "xkez777"},
		{PATTERN_DIR, "/a/key777/b", "/a/key777b"}, {PATTERN_DOM, "a.key777.b", "a-key777"},
	};
	struct pattern_ref *ref;
	struct line line;
	char text[32];

	line_words(&line, "x");
	ref = pattern_ref_new(&line.l, "str");
	for (int i = 0; ref && i < 1000; i++) {
		snprintf(text, sizeof(text), "key%d", i);
		pattern_ref_add(&line.l, ref, slice_of(text));
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pattern_set *ps = pattern_set_get(&line.l, ref, cases[i].method, 0);
		struct sample s = { .type = SMP_STR, .text = slice_of(cases[i].hit) };
		const char *name = pattern_method_name(cases[i].method);

		struct pattern_match match = { .regex = NULL };

		ok(ps && pattern_set_find(ps, &s, &match), "%s finds one", name);
		ok(slice_eq(match.text, cases[i].method == PATTERN_SUB ? SLICE("key7") :
			    SLICE("key777")), "%s finds the right one", name);
		s.text = slice_of(cases[i].miss);
		ok(ps && !pattern_set_find(ps, &s, NULL), "%s misses", name);
	}
	line_end(&line);
}

int main(void)
{
	static const struct module *const modules[] = {
		EXPR_MODULE_LIST &mod_test, NULL
	};

	if (!line_setup(modules))
		return 1;
	set = acl_set_new(cfg);
	test_verdicts();
	test_errors();
	test_conditions();
	test_warnings();
	test_many_patterns();
	line_teardown();
	return done_testing();
}

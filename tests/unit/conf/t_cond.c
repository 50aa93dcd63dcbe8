/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conditions of .if: values and messages as HAProxy 3.2.26 gives them (manual 2.4) */
#include "fake.h"
#include "tap.h"

static const struct {
	const char *text;
	int value;         /* 1, 0, -1: wrong */
	const char *error;
} conditions[] = {
	{ "0", 0, NULL },
	{ "1", 1, NULL },
	{ "2", 1, NULL },
	{ "00", 0, NULL },
	{ "1x", -1,
	  "unexpected character 'x' at the end of conditional expression '1x' at position 2"
	  ":" },
	{ "-1", 1, NULL },
	{ "!1", 0, NULL },
	{ "!0", 1, NULL },
	{ "!!1", 1, NULL },
	{ "! 1", 0, NULL },
	{ "!", -1, "unparsable conditional expression '!' at position 1:" },
	{ "1 &&", -1, "unparsable conditional expression '&&' at position 3:" },
	{ "1 && 1", 1, NULL },
	{ "1&&1", 1, NULL },
	{ "1 || 0", 1, NULL },
	{ "|| 1", -1, "unparsable conditional expression '|| 1' at position 1:" },
	{ "0 || (1 && 1)", 1, NULL },
	{ "(1", -1, "expected ')' after conditional expression '(1' at position 1:" },
	{ "1)", -1,
	  "unexpected character ')' at the end of conditional expression '1)' at position 2"
	  ":" },
	{ "()", -1, "unparsable conditional expression ')' at position 2:" },
	{ "( 1 )", 1, NULL },
	{ "(1)", 1, NULL },
	{ "!(1)", 0, NULL },
	{ "! (0)", 1, NULL },
	{ "streq(a,a)", 1, NULL },
	{ "streq(a)", -1,
	  "missing arguments (got 1/2), type 'string' expected in argument 1 of predicate '"
	  "streq' used in conditional expression at position 8:" },
	{ "streq(a,b,c)", -1,
	  "expected ')' before ',c)' in argument 1 of predicate 'streq' used in conditional"
	  " expression at position 10:" },
	{ "streq()", -1,
	  "missing arguments (got 1/2), type 'string' expected in argument 1 of predicate '"
	  "streq' used in conditional expression at position 7:" },
	{ "streq", -1,
	  "missing arguments (got 1/2), type 'string' expected in argument 1 of predicate '"
	  "streq' used in conditional expression at position 6:" },
	{ "streq (a,a)", -1,
	  "missing arguments (got 1/2), type 'string' expected in argument 1 of predicate '"
	  "streq' used in conditional expression at position 6:" },
	{ "streq(a, a)", 0, NULL },
	{ "streq( a,a)", 0, NULL },
	{ "strneq(a,b)", 1, NULL },
	{ "strstr(abc,bc)", 1, NULL },
	{ "strstr(abc,)", 1, NULL },
	{ "streq(,)", 1, NULL },
	{ "defined(HOME)", 1, NULL },
	{ "defined(NOPE)", 0, NULL },
	{ "defined()", 0, NULL },
	{ "defined", 0, NULL },
	{ "defined(A,B)", -1,
	  "expected ')' before ',B)' in argument 1 of predicate 'defined' used in condition"
	  "al expression at position 10:" },
	{ "feature(OPENSSL)", 1, NULL },
	{ "feature(PCRE)", 0, NULL },
	{ "feature(FOO)", 0, NULL },
	{ "feature(openssl)", 0, NULL },
	{ "feature()", 0, NULL },
	{ "version_atleast(3.2)", 1, NULL },
	{ "version_atleast(3.2.26)", 1, NULL },
	{ "version_atleast(3.2.27)", 0, NULL },
	{ "version_atleast(3.2-dev1)", 1, NULL },
	{ "version_atleast(3.3)", 0, NULL },
	{ "version_atleast(2)", 1, NULL },
	{ "version_atleast(foo)", 1, NULL },
	{ "version_atleast()", 1, NULL },
	{ "version_before(3.2.26)", 0, NULL },
	{ "version_before(3.2.27)", 1, NULL },
	{ "version_atleast(3.2.26-1)", 1, NULL },
	{ "version_atleast(3.2.26-2)", 0, NULL },
	{ "version_atleast(3.2.26-foo)", 1, NULL },
	{ "version_before(x)", 0, NULL },
	{ "openssl_version_atleast(1.1.1)", 1, NULL },
	{ "openssl_version_atleast(1.1.1f)", 1, NULL },
	{ "openssl_version_atleast(3.6.6)", 0, NULL },
	{ "openssl_version_atleast(foo)", -1,
	  "invalid argument to conditional expression predicate 'openssl_version_atleast': "
	  "'foo' at position 29:" },
	{ "openssl_version_atleast(3)", -1,
	  "invalid argument to conditional expression predicate 'openssl_version_atleast': "
	  "'3' at position 27:" },
	{ "openssl_version_before(3.6)", -1,
	  "invalid argument to conditional expression predicate 'openssl_version_before': '"
	  "3.6' at position 28:" },
	{ "ssllib_name_startswith(OpenSSL)", 1, NULL },
	{ "ssllib_name_startswith(openssl)", 0, NULL },
	{ "ssllib_name_startswith(Wolf)", 0, NULL },
	{ "awslc_api_atleast(1)", -1,
	  "unparsable conditional expression 'awslc_api_atleast(1)' at position 1:" },
	{ "awslc_api_before(1)", -1,
	  "unparsable conditional expression 'awslc_api_before(1)' at position 1:" },
	{ "foo", -1, "unparsable conditional expression 'foo' at position 1:" },
	{ "foo(", -1, "unparsable conditional expression 'foo(' at position 1:" },
	{ "1 1", -1,
	  "unexpected character '1' at the end of conditional expression '1 1' at position "
	  "3:" },
	{ "1 &&", -1, "unparsable conditional expression '&&' at position 3:" },
	{ "1 & 1", -1,
	  "unexpected character '&' at the end of conditional expression '1 & 1' at positio"
	  "n 3:" },
	{ "1 | 1", -1,
	  "unexpected character '|' at the end of conditional expression '1 | 1' at positio"
	  "n 3:" },
	{ "1 && && 1", -1, "unparsable conditional expression '&& 1' at position 6:" },
	{ "streq(a,a)x", -1,
	  "unexpected character 'x' at the end of conditional expression 'streq(a,a)x' at p"
	  "osition 11:" },
	{ "streq(a,a) x", -1,
	  "unexpected character 'x' at the end of conditional expression 'streq(a,a) x' at "
	  "position 12:" },
	{ "streq(a,a)&&1", 1, NULL },
	{ "streq(a,a)||foo", -1, "unparsable conditional expression 'foo' at position 13:" },
	{ "1||foo", -1, "unparsable conditional expression 'foo' at position 4:" },
	{ "0&&foo", -1, "unparsable conditional expression 'foo' at position 4:" },
	{ "1&&foo", -1, "unparsable conditional expression 'foo' at position 4:" },
	{ "streq(a,a", -1,
	  "expected ')' in argument 1 of predicate 'streq' used in conditional expression a"
	  "t position 10:" },
	{ "1 || 0 && 0", 1, NULL },
	{ "(1 || 0) && 0", 0, NULL },
	{ "0 0", -1,
	  "unexpected character '0' at the end of conditional expression '0 0' at position "
	  "3:" },
	{ "0x10", 1, NULL },
	{ "1.5", -1,
	  "unexpected character '.' at the end of conditional expression '1.5' at position "
	  "2:" },
	{ "99999999999999999999", 1, NULL },
	{ "Streq(a,a)", -1, "unparsable conditional expression 'Streq(a,a)' at position 1:" },
	{ "STREQ(a,a)", -1, "unparsable conditional expression 'STREQ(a,a)' at position 1:" },
	/* quotes and escapes of arguments */
	{ "streq(\"'a,b'\",\"'a,b'\")", 1, NULL },
	{ "streq(\"'a,b'\",a)", 0, NULL },
	{ "streq(\"'a)'\",'a\\)')", 1, NULL },
	{ "streq(\"a b\",\"a b\")", 1, NULL },
	{ "", 0, NULL },
	{ "   ", 0, NULL },
	{ "enabled(POLL)", 1, NULL },
	{ "enabled(KQUEUE)", 0, NULL },
	{ "enabled()", 0, NULL },
	/* this version is the one: the manual's "at least" includes it */
	{ "openssl_version_atleast(3.6.5)", 1, NULL },
	{ "openssl_version_atleast(3.6.5-beta1)", 1, NULL },
	{ "openssl_version_before(3.6.5)", 0, NULL },
	{ "openssl_version_before(3.7.0-alpha2)", 1, NULL },
	{ "version_before(3.3-dev1)", 1, NULL },
	{ "version_atleast(3.2-rc1)", 1, NULL },
};

/* As the message of an .if has it: with the position that here is shown by the caret alone. */
static const char *describe(const struct diag *d)
{
	static const char head[] = "Failed to evaluate condition: ";
	static char text[512];

	if (!d)
		return NULL;
	if (strncmp(d->message, head, sizeof(head) - 1) != 0)
		return d->message;
	snprintf(text, sizeof(text), "%s at position %d:", d->message + sizeof(head) - 1,
		 d->column);
	return text;
}

/* Nesting must end somewhere. */
static void check_depth(void)
{
	char text[2001], *said;
	struct diag_list diags;
	struct config *cfg = config_new();

	memset(text, '(', 1000);
	text[1000] = '\0';
	diag_list_init(&diags);
	is_int(conf_condition(cfg, text, &diags), -1, "a thousand parentheses");
	said = fake_print(&diags);
	ok(strstr(said, "nested too deep"), "are too deep");
	free(said);
	memset(text, '!', 2000);
	text[1999] = '1';
	text[2000] = '\0';
	is_int(conf_condition(cfg, text, &diags), 0, "1999 negations are not");
	diag_list_fini(&diags);
	config_drop(&cfg);
}

int main(void)
{
	fake_start();
	for (size_t i = 0; i < sizeof(conditions) / sizeof(*conditions); i++) {
		struct config *cfg = config_new();
		struct diag_list diags;
		struct diag *first;

		diag_list_init(&diags);
		is_int(conf_condition(cfg, conditions[i].text, &diags), conditions[i].value, "%s",
		       conditions[i].text);
		first = diags.alerts ? list_first(&diags.diags, struct diag, link) : NULL;
		is_str(describe(first), conditions[i].error, "%s: message", conditions[i].text);
		diag_list_fini(&diags);
		config_drop(&cfg);
	}
	check_depth();
	return done_testing();
}

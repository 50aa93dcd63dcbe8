/* SPDX-License-Identifier: GPL-2.0-or-later */
/* words of a line: quotes, escapes, variables (manual 2.2, 2.3), as HAProxy 3.2 cuts them */
#include "fake.h"
#include "tap.h"

static const struct {
	const char *line, *words;
} cuts[] = {
	{ "a b\tc", "<a><b><c>" },
	{ "  a   b  ", "<a><b>" },
	{ "a#b c", "<a>" },
	{ "a #b c", "<a>" },
	{ "a\\#b", "<a#b>" },
	{ "\"a#b\"", "<a#b>" },
	{ "'a#b'", "<a#b>" },
	{ "a\\ b", "<a b>" },
	{ "a\\\tb", "<a\tb>" },
	{ "\"a b\" 'c d'", "<a b><c d>" },
	{ "a\"b c\"d'e f'g", "<ab cde fg>" },
	{ "\"a'b\" 'a\"b'", "<a'b><a\"b>" },
	{ "\\' \\\" \\\\", "<'><\"><\\>" },
	{ "'\\' \\q \"\\q\"", "<\\><\\q><\\q>" },
	{ "'\\n' \"x\\ny\" x\\ny", "<\\n><x\ny><x\ny>" },
	{ "\\t\\r", "<\t\r>" },
	{ "\\x41\\x6a\\x6A \"\\x42\" '\\x43'", "<Ajj><B><\\x43>" },
	{ "\\", "<\\>" },
	{ "a\\", "<a\\>" },
	{ "$ONE '$ONE' \"$ONE\"", "<$ONE><$ONE><1>" },
	{ "\\$ONE \"\\$ONE\" \"\\\\$ONE\"", "<\\$ONE><$ONE><\\1>" },
	{ "\"${ONE}2\" \"$ONE-x\" \"x$ONE\"y", "<12><1-x><x1y>" },
	{ "\"$FOO\"", "<a b  c>" },
	{ "\"${FOO[*]}\"", "<a><b><c>" },
	{ "x\"${FOO[*]}\"y", "<xa><b><cy>" },
	{ "\"x${FOO[*]}y\"", "<xa><b><cy>" },
	{ "\"${SP[*]}\"", "<a>" },
	{ "x\"${SP[*]}\"y", "<x><a><y>" },
	{ "a \"${NOPE[*]}\" b", "<a><b>" },
	{ "a \"${EMPTY[*]}\" b", "<a><b>" },
	{ "a \"x${NOPE[*]}y\" b", "<a><xy><b>" },
	{ "a x\"${EMPTY[*]}\"y b", "<a><xy><b>" },
	{ "\"${NOPE-d e}\"", "<d e>" },
	{ "\"${NOPE[*]-d e}\"", "<d><e>" },
	{ "\"${FOO-x}\"", "<a b  c>" },
	{ "\"${FOO[*]-x}\"", "<a><b><c>" },
	{ "x\"${EMPTY-def}\"", "<x>" },
	{ "\"${NOPE-a$ONE}\"", "<a$ONE>" },
	{ "\"${NOPE-\"x\"}\"", "<\"x\">" },
	{ "\"${NOPE-a\\}b}\"", "<a\\b}>" },
	{ "\"${FOO-a${ONE}b}\"", "<a b  cb}>" },
	{ "x\"$NOPE\"", "<x>" },
	{ "\"$_A.B\"", "<.B>" },
	{ "\"${.FILE}:${.LINE}:${.SECTION}\"", "<t.cfg:2:p>" },
	{ "\"$.FILE\"", "<t.cfg>" },
	{ "a\rb", "<a>" },
	{ "a\fb\vc", "<a><b><c>" },
	{ "a\"\"b", "<ab>" },
};

/* An empty word is an error: such a line is not parsed. */
static const char *const refused[] = { "a \"\" b", "a '' b", "a \"$NOPE\" b" };

static void check_cut(size_t number, const char *line, const char *wanted)
{
	char text[512];
	char *said;

	snprintf(text, sizeof(text), "listen p\n words %s\n", line);
	said = fake_read(text, strlen(text), NULL);
	is_str(fake_words, wanted, "line %zu", number);
	ok(!strstr(said, "[ALERT]"), "line %zu: no alert", number);
	free(said);
}

static void check_refused(size_t number, const char *line)
{
	char text[512];
	char *said;

	snprintf(text, sizeof(text), "listen p\n words %s\n", line);
	said = fake_read(text, strlen(text), NULL);
	is_str(fake_words, "", "empty word %zu: not parsed", number);
	ok(strstr(said, "argument number 2 at position"), "empty word %zu: an alert", number);
	free(said);
}

static void check_limits(void)
{
	char *text = malloc(100000), *said;
	int len = sprintf(text, "listen p\n words");

	for (int i = 0; i < 63; i++)
		len += sprintf(text + len, " w");
	sprintf(text + len, "\n");
	said = fake_read(text, strlen(text), NULL);
	is_str(said, "", "64 words fit");
	is_int(strlen(fake_words), 63 * 3, "all of them arrive");
	free(said);
	sprintf(text + len, " y\n");
	said = fake_read(text, strlen(text), NULL);
	ok(strstr(said, "t.cfg:2]: too many words, truncating after word 64, position 131: <w>."),
	   "65 words do not");
	is_str(fake_words, "", "and the line is not parsed");
	free(said);
	len = sprintf(text, "listen p\n mode ");
	memset(text + len, 'a', 70000);
	strcpy(text + len + 70000, "\n");
	said = fake_read(text, strlen(text), NULL);
	is_str(said, "", "a line may be long");
	free(said);
	free(text);
}

int main(void)
{
	fake_start();
	for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++)
		check_cut(i, cuts[i].line, cuts[i].words);
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		check_refused(i, refused[i]);
	check_limits();
	return done_testing();
}

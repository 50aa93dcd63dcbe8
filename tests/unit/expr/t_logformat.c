/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_logformat.c - log formats: parsing, flags, quoting, encoding, as the reference program does */
#include "expr/modules.h"
#include "tap.h"
#include "line.h"
#include "expr/logformat.h"

/* --- aliases of the test's own ------------------------------------------------------------ */

static bool print_status(struct expr_ctx *ctx, const struct logformat_item *item,
			 struct strbuf *out)
{
	return logformat_put_int(item, out, 200, false);
}

static bool print_method(struct expr_ctx *ctx, const struct logformat_item *item,
			 struct strbuf *out)
{
	return logformat_put_text(item, out, SLICE("GET"));
}

static bool print_nothing(struct expr_ctx *ctx, const struct logformat_item *item,
			  struct strbuf *out)
{
	return logformat_put_text(item, out, slice_none());
}

static bool print_client(struct expr_ctx *ctx, const struct logformat_item *item,
			 struct strbuf *out)
{
	static const uint8_t ip[4] = { 127, 0, 0, 1 };
	uint32_t v;

	memcpy(&v, ip, 4);
	return logformat_put_ipv4(item, out, v);
}

static bool print_port(struct expr_ctx *ctx, const struct logformat_item *item, struct strbuf *out)
{
	return logformat_put_port(item, out, 26011);
}

static bool print_uri(struct expr_ctx *ctx, const struct logformat_item *item, struct strbuf *out)
{
	return logformat_put_quote(item, out) &&
	       logformat_put_encoded(item, out, SLICE("/a\"b{c}#\x80\n"), "{|}") &&
	       logformat_put_quote(item, out);
}

static const struct expr_alias aliases[] = {
	{ .name = "ST", .print = print_status, .needs = 1 },
	{ .name = "HM", .print = print_method },
	{ .name = "CC", .print = print_nothing, .needs = 4 },
	{ .name = "ci", .print = print_client },
	{ .name = "fp", .print = print_port },
	{ .name = "HU", .print = print_uri },
	{ .name = "late", .print = print_method, .phases = EXPR_FE_LOG_END },
	{ 0 }
};
static const struct module mod_test = { .name = "test", .aliases = aliases };

/* What HAProxy 3.2 wrote with "log-format"; control bytes apart, which it leaves alone. */
static const struct { const char *format, *text;
} logs[] = {
	{"%ST %%  a   b", "200 % a b"},
	{"%{+Q}ST %{+Q}HM", "200 \"GET\""},
	{"%{+Q}[str(a)] %{+Q}[int(5)]", "\"a\" \"5\""},
	{"%{+E}[str('a\"]\\b')]", "a\\\"\\]\\\\b"},
	{"%[env(NO)] %{+Q}[env(NO)] %{+Q}[str()] %[str()]", "- \"\" \"\" -"},
	{"%{+X}ci %{+X}fp %{+X}ST %{+X}[int(255)] %ci %fp",
	 "7F000001 659B 200 255 127.0.0.1 26011"},
	{"%{+Q}ci", "\"127.0.0.1\""},
	{"%{+Q}o %ST %HM %[str(x)] %{-Q}HM", "200 \"GET\" \"x\" GET"},
	{"%{+Q,+X}o%ci", "7F000001"},
	{"%{+Q}o%{-Q}ST %HM %{-Q}o %HM", "200 \"GET\" GET"},
	{"%CC|%{+Q}CC", "-|\"\""},
	{" %ST", "200"},
	{" a  %{+Q}o  b %ST  %o  c ", "a b 200 c "},
	{"x%{+Q}o %ST", "x 200"},
	{"[%ST]", "[200]"},
	{"%{}ST", "200"},
	{"%{Q}HM", "\"GET\""},
	{"%(name)ST %(name:str)ST %(n){+Q}[int(5)]", "200 200 \"5\""},
	{"%-ST", "-ST"},
	{"\\%ST", "\\200"},
	{"%[bool(1)] %[int(-3)] %[bin(6100ff41)] %[meth(GET)] %[ipv6(::1)]", "1 -3 a GET ::1"},
	{"%[str('a\"b')] %[str(\"a'b\")] %[str(])] %[str(\"]\")]x]", "a\"b a'b ] ]x]"},
	{"%[int(1),add(1)]%[int(2)]", "22"},
	{"%HU %{+Q}HU", "/a#22b#7Bc#7D#23#80#0A \"/a#22b#7Bc#7D#23#80#0A\""},
	{"%[str(\"a\\nb\\tc\")]", "a#0Ab\tc"},
	{"", ""},
};

/* The same without options, as an lf-string, and for a header field. */
static const struct { unsigned options; const char *format, *text; } strings[] = {
	{ 0, "a  b %% x", "a  b % x" },
	{ 0, " %{+Q}o  b %HM ", "   b \"GET\" " },
	{ 0, "%[env(NO)]|%{+Q}[env(NO)]|%[str()]|%CC|%{+Q}CC", "|\"\"|||\"\"" },
	{ 0, "%[str(\"a\\nb\\r\\t#%{|}\")]", "a\nb\r\t#%{|}" },
	{ LOGFORMAT_HTTP, "%[str(\"a\\nb\\tc%#\")]", "a%0Ab\tc%#" },
	{ LOGFORMAT_HTTP, "%[str(\"a\\r\\nX: y\")]", "a%0D%0AX: y" },
};

static const struct { const char *format, *error;
} errors[] = {
	{"%{+Q}(name)ST", "parse argument modifier without alias name near '%{+Q}'."},
	{"%ST%", "truncated line after '%'."},
	{"100% sure",
	 "unexpected alias name near ' ' at position 4 line : '100% sure'. Maybe you want "
	 "to write a single '%', use the syntax '%%'."},
	{"%[foo", "failed to parse sample expression <foo> : unknown fetch method 'foo'."},
	{"%[str(a)", "missing ']' after 'str(a)'."},
	{"%[str(a)x", "expected ']' after 'str(a)', but found 'x'."},
	{"%{+QST", "truncated line after '+QST'."},
	{"%zz",
	 "no such format alias 'zz'. If you wanted to emit the '%' character verbatim, you need "
	 "to use '%%'."},
	{"%[", "failed to parse sample expression <> : missing fetch method."},
	{"%[]", "failed to parse sample expression <]> : missing fetch method."},
	{"%(a:real)[int(1)]",
	 "unknown type 'real' of item 'a': expects 'str', 'sint' or 'bool'."},
	{"%late", "format alias 'late' may not be reliably used here."},
};

static void check(unsigned options, const char *format, const char *wanted)
{
	struct arena arena;
	struct expr_ctx ctx = { .arena = &arena, .flags = EXPR_FINAL };
	struct logformat *f;
	struct strbuf out;
	struct line line;

	arena_init(&arena, 0);
	strbuf_init(&out);
	line_word(&line, "x");
	f = logformat_parse(&line.l, format, EXPR_FE_HRQ_HDR, options);
	if (f)
		logformat_build(f, &ctx, &out);
	is_str(f ? out.len ? out.ptr : "" : line_message(&line), wanted, "'%s'", format);
	line_end(&line);
	strbuf_fini(&out);
	arena_fini(&arena);
}

static void test_errors(void)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct line line;

		line_word(&line, "x");
		ok(!logformat_parse(&line.l, errors[i].format, EXPR_FE_HRQ_HDR, LOGFORMAT_LOG),
		   "'%s' is refused", errors[i].format);
		is_str(line_message(&line), errors[i].error, "and why");
		line_end(&line);
	}
}

static void test_facts(void)
{
	struct logformat *f;
	struct line line;

	line_word(&line, "x");
	f = logformat_parse(&line.l, "a%[str(b),upper]%%", 0, 0);
	ok(f && slice_eq(logformat_constant(f), SLICE("aB%")), "a constant text is known at once");
	f = logformat_parse(&line.l, "a%ST%CC%[date]", 0, 0);
	ok(f && slice_is_none(logformat_constant(f)), "an alias makes it vary");
	is_int(f ? logformat_needs(f) : 0, 5, "what aliases need is gathered");
	is_int(f ? logformat_uses(f) : 0, EXPR_USE_CONST, "and what expressions use");
	ok(f && logformat_item_at(f, 0) && !logformat_item_at(f, 4), "items are counted");
	line_end(&line);
}

static void test_room(void)
{
	struct arena arena;
	struct expr_ctx ctx = { .arena = &arena };
	struct logformat *f;
	struct strbuf out;
	struct line line;
	char area[4];

	arena_init(&arena, 0);
	line_word(&line, "x");
	f = logformat_parse(&line.l, "%HM%HM", 0, 0);
	strbuf_init_fixed(&out, area, sizeof(area));
	ok(f && !logformat_build(f, &ctx, &out), "a text too long says so");
	is_str(area, "GET", "and is cut");
	ok(f && slice_eq(logformat_make(f, &ctx, 5), SLICE("GETGE")), "made in the arena, bounded");
	line_end(&line);
	arena_fini(&arena);
}

/* A text of letters, but for one byte: at each place of each length, as byte by byte. */
static void put_slowly(char *to, struct slice text, bool encoded)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned c = (unsigned char)text.ptr[i];
		bool stop = c < 32 || c == 127;

		if (encoded ? stop || c >= 128 || strchr("#\"{|}", (int)c) : stop && c != '\t')
			to += sprintf(to, "%c%02X", encoded ? '#' : '%', c);
		else
			*to++ = (char)c;
	}
	*to = 0;
}

static void test_every_byte(void)
{
	struct logformat_item item = { .options = LOGFORMAT_HTTP };
	unsigned wrong[2] = { 0 };
	char text[40], wanted[128], got[128];

	memset(text, 'm', sizeof(text));
	for (size_t len = 1; len <= sizeof(text); len++) {
		for (size_t at = 0; at < len; at++) {
			for (int c = 0; c < 256 * 2; c++) {
				struct slice s = slice_make(text, len);
				struct strbuf out;

				text[at] = (char)(c >> 1);
				strbuf_init_fixed(&out, got, sizeof(got));
				if (c & 1)
					logformat_put_encoded(&item, &out, s, "{|}");
				else
					logformat_put_text(&item, &out, s);
				put_slowly(wanted, s, c & 1);
				wrong[c & 1] += strcmp(got, wanted) != 0;
			}
			text[at] = 'm';
		}
	}
	is_int(wrong[0], 0, "every byte at every place, in a field");
	is_int(wrong[1], 0, "every byte at every place, of a client");
}

static void test_dates(void)
{
	static const char *const wanted[] = {"14/Nov/2023:22:13:20.123",
					     "14/Nov/2023:22:13:20 +0000",
					     "14/Nov/2023:22:13:20 +0000"};
	struct logformat_item item = { 0 };

	for (int i = LOGFORMAT_DATE_LOCAL_MS; i <= LOGFORMAT_DATE_GMT; i++) {
		struct strbuf out;

		strbuf_init(&out);
		logformat_put_date(&item, &out, (enum logformat_date)i, 1700000000123456ull);
		is_str(out.ptr, wanted[i], "a date, form %d", i);
		strbuf_fini(&out);
	}
}

int main(void)
{
	static const struct module *const modules[] = {
		EXPR_MODULE_LIST &mod_test, NULL
	};

	setenv("TZ", "UTC", 1);
	if (!line_setup(modules))
		return 1;
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++)
		check(LOGFORMAT_LOG, logs[i].format, logs[i].text);
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		check(strings[i].options, strings[i].format, strings[i].text);
	test_errors();
	test_facts();
	test_room();
	test_every_byte();
	test_dates();
	line_teardown();
	return done_testing();
}

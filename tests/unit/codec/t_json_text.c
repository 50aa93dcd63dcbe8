/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/hash.h"
#include "codec/json_text.h"
#include "tap.h"

static const struct {
	bool data;
	const char *said, *want;
} table[] = {
	{ false, "", ",\"output\":\"\"" },
	{ false, "\n\n", ",\"output\":\"\"" },
	{ false, "a\n\nb\n\n", ",\"output\":\"a\\n\\nb\"" },
	{ false, "[3]: no\n\n", ",\"severity\":3,\"output\":\"no\"" },
	{ true, "[3]: no\n\n", ",\"severity\":3,\"output\":\"no\"" },
	{ false, "[6]: \n", ",\"severity\":6,\"output\":\"\"" },
	{ true, "[[{}]]\n\n", ",\"data\":[[{}]]\n\n" },
	{ true, "{}\n", ",\"data\":{}\n" },
	{ false, "[[{}]]\n", ",\"output\":\"[[{}]]\"" },
	{ true, "no json\n", ",\"output\":\"no json\"" },
	{ false, "\"\\\t\001\177/", ",\"output\":\"\\\"\\\\\\u0009\\u0001\\u007f/\"" },
	{ false, "caf\xc3\xa9 \xe2\x82\xac \xf0\x9d\x84\x9e.",
	  ",\"output\":\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9d\x84\x9e.\"" },
	/* Latin-1, cut sequences, too long forms, surrogates, beyond the last character */
	{ false, "\xe9t\xe9 \xc3", ",\"output\":\"\\u00e9t\\u00e9 \\u00c3\"" },
	{ false, "\xc0\x80 \xe0\x80\x80", ",\"output\":\"\\u00c0\\u0080 \\u00e0\\u0080\\u0080\"" },
	{ false, "\xed\xa0\x80 \xf4\x90\x80\x80",
	  ",\"output\":\"\\u00ed\\u00a0\\u0080 \\u00f4\\u0090\\u0080\\u0080\"" },
	{ false, "\xe2\x82\nx", ",\"output\":\"\\u00e2\\u0082\\nx\"" },
	{ false, "\xf0\x9d\n", ",\"output\":\"\\u00f0\\u009d\"" },
};

/* However the bytes come, the text is the same. */
static bool is_written(unsigned i, uint64_t seed, struct strbuf *out)
{
	struct slice rest = slice_of(table[i].said);
	struct json_writer w;

	strbuf_reset(out);
	json_writer_begin(&w, table[i].data);
	while (rest.len) {
		size_t n = 1 + (seed ? hash_u64(seed += rest.len) % rest.len : rest.len - 1);

		json_writer_add(&w, out, slice_sub(rest, 0, n));
		rest = slice_sub(rest, n, rest.len);
	}
	json_writer_end(&w, out);
	return slice_eq(strbuf_slice(out), slice_of(table[i].want));
}

static void decodes(const char *text, const char *want)
{
	char out[64];
	long len = json_text_decode(slice_of(text), out);

	if (!want) {
		is_int(len, -1, "refused: %s", text);
		return;
	}
	ok(len == (long)strlen(want) && memcmp(out, want, (size_t)len) == 0, "decoded: %s", text);
}

/* Each byte at each place, before and behind others that stop nothing. */
static void test_plain(void)
{
	unsigned wrong = 0;

	for (unsigned c = 0; c < 256; c++)
		for (size_t at = 0; at < 24; at++)
			for (size_t from = 0; from < 3; from++) {
				bool stops = c < ' ' || c > 126 || c == '"' || c == '\\';
				char text[24];

				memset(text, (int)(' ' + at), sizeof(text));
				if (at == 2) /* ('"') */
					memset(text, '~', sizeof(text));
				text[at] = (char)c;
				wrong += json_plain_len(slice_make(text, sizeof(text)), from) !=
					 (stops && at >= from ? at : sizeof(text)) - from;
			}
	is_int(wrong, 0, "bytes that stand for themselves");
	is_int(json_plain_len(slice_none(), 0), 0, "of no text");
}

int main(void)
{
	struct strbuf out;

	strbuf_init(&out);
	for (unsigned i = 0; i < sizeof(table) / sizeof(*table); i++) {
		bool good = is_written(i, 0, &out);

		for (uint64_t seed = 1; seed < 300 && good; seed++)
			good = is_written(i, seed * 1000, &out);
		ok(good, "row %u: %.*s", i, SLICE_FMT(strbuf_slice(&out)));
	}
	strbuf_fini(&out);
	decodes("", "");
	decodes("plain", "plain");
	decodes("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t");
	decodes("\\u0041\\u00e9\\u20ac", "A\xc3\xa9\xe2\x82\xac");
	decodes("\\ud834\\udd1e", "\xf0\x9d\x84\x9e");
	decodes("\\udbff\\udfff", "\xf4\x8f\xbf\xbf");
	decodes("\\u0000", NULL);
	decodes("\\ud834", NULL);
	decodes("\\ud834x", NULL);
	decodes("\\udd1e\\ud834", NULL);
	decodes("\\u12", NULL);
	decodes("\\u12G4", NULL);
	decodes("\\x", NULL);
	decodes("\\", NULL);
	test_plain();
	return done_testing();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Normalizers of targets: what the rules' tests do not reach, and that none leaves its room. */
#include "codec/uri_normalize.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

enum kind {
	ENCODE, STRIP, MERGE, DOT, DOTDOT, FULL, DECODE, DECODE_STRICT, UPPER, UPPER_STRICT, SORT
};

static size_t run(enum kind kind, struct slice text, char *out)
{
	switch (kind) {
	case ENCODE: return uri_encode_fragment(text, out);
	case STRIP: return uri_strip_fragment(text, out);
	case MERGE: return uri_merge_slashes(text, out);
	case DOT: return uri_strip_dot(text, out);
	case DOTDOT: return uri_strip_dotdot(text, false, out);
	case FULL: return uri_strip_dotdot(text, true, out);
	case DECODE: return uri_decode_unreserved(text, false, out);
	case DECODE_STRICT: return uri_decode_unreserved(text, true, out);
	case UPPER: return uri_upper_percent(text, false, out);
	case UPPER_STRICT: return uri_upper_percent(text, true, out);
	default: return uri_sort_query(text, out);
	}
}

static const struct {
	enum kind kind;
	const char *text, *wanted; /* NULL: invalid */
} cases[] = {
	{ ENCODE, "/##", "/%23%23" }, { ENCODE, "", "" },
	{ STRIP, "#", "" }, { STRIP, "/a", "/a" },
	{ MERGE, "//", "/" }, { MERGE, "a//b", "a/b" },
	{ DOT, "/././.", "/" }, { DOT, ".", "" }, { DOT, "/..", "/.." },
	{ DOT, "/a./.b", "/a./.b" },
	{ DOTDOT, "/..", "/.." }, { DOTDOT, "/a/..", "/" }, { DOTDOT, "/a/b/../../c", "/c" },
	{ DOTDOT, "/../../a", "/../../a" }, { DOTDOT, "/..a/..", "/" }, { DOTDOT, "..", ".." },
	{ FULL, "/..", "/" }, { FULL, "/a/../../..", "/" }, { FULL, "/a/b/..", "/a/" },
	{ DECODE, "%41%7e%2e%2F", "A~.%2F" }, { DECODE, "%", "%" }, { DECODE, "%4", "%4" },
	{ DECODE_STRICT, "%", NULL }, { DECODE_STRICT, "%4", NULL }, { DECODE_STRICT, "%41", "A" },
	{ UPPER, "%aa%a", "%AA%a" }, { UPPER_STRICT, "%aa%a", NULL },
	{ SORT, "", "" }, { SORT, "b&a", "a&b" }, { SORT, "a=2&a=1", "a=2&a=1" },
	{ SORT, "ab&a&b", "a&ab&b" },
};

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t len = strlen(cases[i].text), room = len * (cases[i].kind == ENCODE ? 3 : 1);
		char *out = malloc(room + 1);
		size_t n = run(cases[i].kind, slice_of(cases[i].text), out);

		if (!cases[i].wanted)
			ok(n == URI_INVALID, "'%s' is invalid", cases[i].text);
		else
			ok(n <= room && slice_eq(slice_make(out, n), slice_of(cases[i].wanted)),
			   "'%s' gives '%s'", cases[i].text, cases[i].wanted);
		free(out);
	}
	return done_testing();
}

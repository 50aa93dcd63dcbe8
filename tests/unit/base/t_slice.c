/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slices, text buffers and arenas. */
#include <stdlib.h>
#include "base/arena.h"
#include "base/strbuf.h"
#include "tap.h"

static void check_slices(void)
{
	struct slice s = SLICE(" \tHello World ");
	char small[4], *copy;

	ok(slice_eq(slice_trim(s), SLICE("Hello World")), "trim");
	is_int(slice_trim(SLICE("  ")).len, 0, "trim of blanks");
	ok(slice_eq_nocase(SLICE("aZ-"), SLICE("Az-")) &&
	   !slice_eq_nocase(SLICE("a"), SLICE("b")) &&
	   !slice_eq_nocase(SLICE("@"), SLICE("`")), "case is ignored for letters only");
	ok(slice_cmp(SLICE("a"), SLICE("b")) < 0 && slice_cmp(SLICE("ab"), SLICE("a")) > 0 &&
	   slice_cmp(SLICE("a"), SLICE("a")) == 0 && slice_cmp(slice_none(), SLICE("")) == 0 &&
	   slice_cmp(SLICE("\x80"), SLICE("a")) > 0, "order of bytes");
	ok(slice_starts(SLICE("abc"), SLICE("ab")) && !slice_starts(SLICE("a"), SLICE("ab")) &&
	   slice_starts(SLICE("a"), slice_none()), "starts");
	ok(slice_starts_nocase(SLICE("ABc"), SLICE("ab")), "starts, any case");
	ok(slice_ends(SLICE("abc"), SLICE("bc")) && !slice_ends(SLICE("c"), SLICE("bc")), "ends");
	is_int(slice_find_char(SLICE("abca"), 1, 'a'), 3, "find a byte");
	ok(slice_find_char(SLICE("abc"), 3, 'a') == SIZE_MAX &&
	   slice_find_char(SLICE("abc"), 9, 'a') == SIZE_MAX, "no such byte");
	is_int(slice_find(SLICE("aabab"), SLICE("bab")), 2, "find");
	ok(slice_find(SLICE("ab"), SLICE("abc")) == SIZE_MAX, "nothing found");
	is_int(slice_find_nocase(SLICE("xxABy"), SLICE("aB")), 2, "find, any case");
	ok(slice_eq(slice_sub(SLICE("abcd"), 1, 3), SLICE("bc")) &&
	   slice_eq(slice_sub(SLICE("ab"), 1, 9), SLICE("b")) &&
	   slice_sub(SLICE("ab"), 5, 9).len == 0 && slice_sub(SLICE("ab"), 2, 1).len == 0, "sub");
	is_int(slice_copy(SLICE("abcdef"), small, sizeof(small)), 3, "copy is cut");
	is_str(small, "abc", "and ended");
	copy = slice_dup(SLICE("abc"));
	is_str(copy, "abc", "dup");
	free(copy);
}

/* All lengths, and each byte at each place against some others: as one letter after the other. */
static void check_nocase(void)
{
	char a[33], b[33];
	unsigned wrong = 0, count = 0;

	for (size_t len = 1; len < sizeof(a); len++) {
		for (size_t at = 0; at < len; at++) {
			for (int c = 0; c < 256 * 4; c++) {
				static const uint8_t changes[] = { 0, 0x20, 0x80, 1 };

				memset(a, 'x', len);
				memset(b, 'X', len);
				a[at] = (char)(c >> 2);
				b[at] = (char)(a[at] ^ (char)changes[c & 3]);
				count++;
				wrong += slice_eq_nocase(slice_make(a, len), slice_make(b, len)) !=
					 (ascii_lower(a[at]) == ascii_lower(b[at]));
			}
		}
	}
	ok(count == 528 * 1024 && !wrong, "case ignored in words: %u wrong of %u", wrong, count);
}

static void check_strbufs(void)
{
	struct strbuf b;
	char area[8];

	strbuf_init(&b);
	for (int i = 0; i < 1000; i++)
		strbuf_add_uint(&b, 7);
	ok(b.len == 1000 && b.ptr[1000] == 0 && !b.overflow, "grows");
	strbuf_reset(&b);
	strbuf_printf(&b, "%d-%s", -5, "x");
	strbuf_add_char(&b, '.');
	strbuf_add_str(&b, "str");
	strbuf_add_int(&b, INT64_MIN);
	is_str(b.ptr, "-5-x.str-9223372036854775808", "text");
	strbuf_fini(&b);
	strbuf_init_fixed(&b, area, sizeof(area));
	ok(strbuf_add_str(&b, "1234567"), "fits");
	ok(!strbuf_add_char(&b, 'x') && b.overflow, "no more");
	is_str(area, "1234567", "the text stays");
	strbuf_fini(&b);
}

static void check_arenas(void)
{
	struct arena a;
	bool good = true;
	char *text, *first;

	arena_init(&a, 64);
	first = arena_alloc(&a, 1);
	for (size_t size = 0; size < 300; size++) {
		char *at = arena_zalloc(&a, size);

		good &= at && (uintptr_t)at % 8 == 0;
		for (size_t i = 0; at && i < size; i++)
			good &= at[i] == 0;
		if (at)
			memset(at, 0xff, size);
	}
	ok(good && first, "aligned and zeroed, larger than a chunk too");
	text = arena_printf(&a, "%0200d", 1);
	is_int(strlen(text), 200, "printf");
	ok(slice_eq(arena_copy(&a, SLICE("abc")), SLICE("abc")) &&
	   arena_copy(&a, SLICE("abc")).ptr[3] == 0, "copy, with NUL");
	arena_fini(&a);
	ok(arena_alloc(&a, 10) != NULL, "may be used again");
	arena_fini(&a);
}

int main(void)
{
	check_slices();
	check_nocase();
	check_strbufs();
	check_arenas();
	return done_testing();
}

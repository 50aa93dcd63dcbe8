/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include "base/num.h"
#include "tap.h"

static const struct {
	const char *text;
	enum num_error error;
	uint64_t us;
	size_t offset;
} times[] = {
	{ "0", NUM_OK, 0, 1 }, { "5", NUM_OK, 5000, 1 }, { "1us", NUM_OK, 1, 3 },
	{ "2ms", NUM_OK, 2000, 3 }, { "3s", NUM_OK, 3000000, 2 }, { "4m", NUM_OK, 240000000, 2 },
	{ "1h", NUM_OK, 3600000000, 2 }, { "1d", NUM_OK, 86400000000, 2 },
	{ "01", NUM_OK, 1000, 2 }, { "", NUM_EMPTY, 0, 0 }, { "-1", NUM_CHAR, 0, 0 },
	{ "+1", NUM_CHAR, 0, 0 }, { "1S", NUM_CHAR, 0, 1 }, { "1x", NUM_CHAR, 0, 1 },
	{ "1.5s", NUM_CHAR, 0, 1 }, { "1ss", NUM_CHAR, 0, 2 }, { "1u", NUM_CHAR, 0, 1 },
	{ "1 s", NUM_CHAR, 0, 1 }, { "1msx", NUM_CHAR, 0, 3 }, { "ms", NUM_CHAR, 0, 0 },
	{ "99999999999999999999", NUM_OVERFLOW, 0, 19 },
	{ "18446744073709551615d", NUM_OVERFLOW, 0, 0 },
}, sizes[] = {
	{ "0", NUM_OK, 0, 1 }, { "16384", NUM_OK, 16384, 5 }, { "16k", NUM_OK, 16384, 3 },
	{ "16K", NUM_OK, 16384, 3 }, { "1m", NUM_OK, 1 << 20, 2 }, { "4g", NUM_OK, 1ull << 32, 2 },
	{ "1t", NUM_CHAR, 0, 1 }, { "16kb", NUM_CHAR, 0, 3 }, { "1.5k", NUM_CHAR, 0, 1 },
	{ "k", NUM_CHAR, 0, 0 }, { "", NUM_EMPTY, 0, 0 }, { "-1", NUM_CHAR, 0, 0 },
	{ "17179869184g", NUM_OVERFLOW, 0, 11 }, { "17179869183g", NUM_OK, ~0ull << 30, 12 },
};

static void check_units(void)
{
	uint64_t got;
	size_t at;

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		got = 0;
		ok(num_parse_time(slice_of(times[i].text), NUM_MS, &got, &at) == times[i].error &&
		   got == times[i].us && at == times[i].offset, "time '%s'", times[i].text);
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		got = 0;
		ok(num_parse_size(slice_of(sizes[i].text), &got, &at) == sizes[i].error &&
		   got == sizes[i].us && at == sizes[i].offset, "size '%s'", sizes[i].text);
	}
	is_int(num_us_to_ms(1), 1, "rounded up");
	is_int(num_us_to_ms(2000), 2, "exact");
	is_int(num_us_to_ms(UINT64_MAX), UINT64_MAX / 1000 + 1, "no overflow");
}

static void check_prefixes(void)
{
	static const struct {
		const char *text, *rest;
		int number;
	} prefixes[] = {
		{ "5", "", 5 }, { "-5", "", -5 }, { "12x", "x", 12 }, { "x", "x", 0 },
		{ "", "", 0 },
		{ "2147483647", "", INT_MAX }, { "2147483648", "", INT_MAX },
		{ "4294967297", "", INT_MAX }, { "-4294967297", "", INT_MIN },
		{ "99999999999999999999", "", INT_MAX }, { "-99999999999999999999", "", INT_MIN },
	};
	const char *end;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		is_int(num_prefix_int(prefixes[i].text, &end), prefixes[i].number,
		       "prefix of '%s'", prefixes[i].text);
		ok(strcmp(end, prefixes[i].rest) == 0, "what follows in '%s'", prefixes[i].text);
	}
}

static void check_integers(void)
{
	static const char *const bad[] = { "", "-", "+", "1 ", " 1", "1x", "--1",
					   "9223372036854775808", "-9223372036854775809" };
	uint64_t u;
	int64_t v;

	check_prefixes();
	ok(num_parse_u64(SLICE("18446744073709551615"), &u) && u == UINT64_MAX, "largest");
	ok(!num_parse_u64(SLICE("18446744073709551616"), &u), "too large");
	ok(!num_parse_u64(SLICE("+1"), &u), "no sign");
	ok(num_parse_i64(SLICE("-9223372036854775808"), &v) && v == INT64_MIN, "smallest");
	ok(num_parse_i64(SLICE("+7"), &v) && v == 7, "sign");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!num_parse_i64(slice_of(bad[i]), &v), "'%s' is no integer", bad[i]);
	ok(num_parse_range(SLICE("5"), 1, 5, &v) && !num_parse_range(SLICE("6"), 1, 5, &v) &&
	   !num_parse_range(SLICE("0"), 1, 5, &v), "range");
	ok(num_parse_hex(SLICE("FfffFFFFffffffff"), &u) && u == UINT64_MAX, "hex");
	ok(!num_parse_hex(SLICE("10000000000000000"), &u) && !num_parse_hex(SLICE(""), &u) &&
	   !num_parse_hex(SLICE("g"), &u), "bad hex");
}

static void check_format(void)
{
	uint64_t v = 1;
	char ours[32], libc[32];
	bool same = true;

	for (int i = 0; i < 2000; i++) {
		for (int d = -1; d <= 1; d++) {
			ours[num_put_u64(ours, v + d)] = 0;
			snprintf(libc, sizeof(libc), "%" PRIu64, v + d);
			same &= strcmp(ours, libc) == 0;
			ours[num_put_i64(ours, (int64_t)v + d)] = 0;
			snprintf(libc, sizeof(libc), "%" PRId64, (int64_t)v + d);
			same &= strcmp(ours, libc) == 0;
			ours[num_put_hex(ours, v + d)] = 0;
			snprintf(libc, sizeof(libc), "%" PRIx64, v + d);
			same &= strcmp(ours, libc) == 0;
		}
		v = i < 20 ? v * 10 : v * 6364136223846793005ull + 1442695040888963407ull;
	}
	ok(same, "same text as the C library");
	num_put_hex_bytes(ours, "\x01\xaf", 2);
	is_mem(ours, "01af", 4, "bytes");
}

int main(void)
{
	check_units();
	check_integers();
	check_format();
	return done_testing();
}

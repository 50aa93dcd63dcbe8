/* SPDX-License-Identifier: GPL-2.0-or-later */
/* num.c - numbers as text: strict integers, times and sizes with units (manual 2.5, 2.6) */
#include "base/num.h"
#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>
#include "base/clock.h"

/* Reads the digits at the start of <s>; *at is their number. */
static enum num_error num_read(struct slice s, uint64_t *out, size_t *at)
{
	uint64_t v = 0;
	size_t i = 0;

	for (; i < s.len && ascii_is_digit(s.ptr[i]); i++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s.ptr[i] - '0'), &v)) {
			*at = i;
			return NUM_OVERFLOW;
		}
	}
	*at = i;
	if (i == 0)
		return s.len ? NUM_CHAR : NUM_EMPTY;
	*out = v;
	return NUM_OK;
}

bool num_parse_u64(struct slice s, uint64_t *out)
{
	uint64_t v;
	size_t at;

	if (num_read(s, &v, &at) != NUM_OK || at != s.len)
		return false;
	*out = v;
	return true;
}

bool num_parse_i64(struct slice s, int64_t *out)
{
	bool negative = s.len && s.ptr[0] == '-';
	uint64_t v, most = (uint64_t)INT64_MAX + negative;

	if (negative || (s.len && s.ptr[0] == '+'))
		s = slice_make(s.ptr + 1, s.len - 1);
	if (!num_parse_u64(s, &v) || v > most)
		return false;
	*out = negative ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

bool num_parse_range(struct slice s, int64_t low, int64_t high, int64_t *out)
{
	int64_t v;

	if (!num_parse_i64(s, &v) || v < low || v > high)
		return false;
	*out = v;
	return true;
}

int num_prefix_int(const char *text, const char **end)
{
	char *after;
	long v = strtol(text, &after, 10);

	if (end)
		*end = after;
	return v > INT_MAX ? INT_MAX : v < INT_MIN ? INT_MIN : (int)v;
}

int num_hex_digit(char c)
{
	if (ascii_is_digit(c))
		return c - '0';
	c = ascii_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool num_parse_hex(struct slice s, uint64_t *out)
{
	uint64_t v = 0;
	int digit;

	if (s.len == 0 || s.len > 16)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		digit = num_hex_digit(s.ptr[i]);
		if (digit < 0)
			return false;
		v = v << 4 | (uint64_t)digit;
	}
	*out = v;
	return true;
}

/* The unit at the start of <s>, in microseconds; *used is its length. 0: none. */
static uint64_t num_time_unit(struct slice s, size_t *used)
{
	*used = 1;
	switch (s.ptr[0]) {
	case 'u':
		*used = 2;
		return s.len > 1 && s.ptr[1] == 's' ? 1 : 0;
	case 'm':
		if (s.len > 1 && s.ptr[1] == 's') {
			*used = 2;
			return NUM_MS;
		}
		return 60 * NUM_SEC;
	case 's':
		return NUM_SEC;
	case 'h':
		return 3600 * NUM_SEC;
	case 'd':
		return 86400 * NUM_SEC;
	}
	return 0;
}

static enum num_error num_end(enum num_error error, size_t at, size_t *offset)
{
	if (offset)
		*offset = at;
	return error;
}

enum num_error num_parse_time(struct slice s, uint64_t default_unit_us, uint64_t *out_us,
			      size_t *offset)
{
	uint64_t v, unit = default_unit_us;
	size_t at, used = 0;
	enum num_error error = num_read(s, &v, &at);

	if (error != NUM_OK)
		return num_end(error, at, offset);
	if (at < s.len) {
		unit = num_time_unit(slice_make(s.ptr + at, s.len - at), &used);
		if (unit == 0)
			return num_end(NUM_CHAR, at, offset);
		if (at + used < s.len)
			return num_end(NUM_CHAR, at + used, offset);
	}
	if (__builtin_mul_overflow(v, unit, &v))
		return num_end(NUM_OVERFLOW, 0, offset);
	*out_us = v;
	return num_end(NUM_OK, s.len, offset);
}

unsigned num_size_shift(char unit)
{
	switch (ascii_lower(unit)) {
	case 'k': return 10;
	case 'm': return 20;
	case 'g': return 30;
	default: return 0;
	}
}

enum num_error num_parse_size(struct slice s, uint64_t *out, size_t *offset)
{
	unsigned shift = 0;
	uint64_t v;
	size_t at;
	enum num_error error = num_read(s, &v, &at);

	if (error != NUM_OK)
		return num_end(error, at, offset);
	if (at < s.len) {
		shift = num_size_shift(s.ptr[at]);
		if (!shift)
			return num_end(NUM_CHAR, at, offset);
		if (at + 1 < s.len)
			return num_end(NUM_CHAR, at + 1, offset);
		if (v > UINT64_MAX >> shift)
			return num_end(NUM_OVERFLOW, at, offset);
	}
	*out = v << shift;
	return num_end(NUM_OK, s.len, offset);
}

static const char digit_pairs[] =
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
	"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

size_t num_put_u64(char *out, uint64_t v)
{
	char text[NUM_U64_MAX];
	size_t at = sizeof(text);

	while (v >= 100) {
		at -= 2;
		memcpy(text + at, digit_pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10) {
		at -= 2;
		memcpy(text + at, digit_pairs + 2 * v, 2);
	} else {
		text[--at] = (char)('0' + v);
	}
	memcpy(out, text + at, sizeof(text) - at);
	return sizeof(text) - at;
}

size_t num_put_i64(char *out, int64_t v)
{
	if (v >= 0)
		return num_put_u64(out, (uint64_t)v);
	*out = '-';
	return 1 + num_put_u64(out + 1, 0 - (uint64_t)v);
}

static const char hex_digits[] = "0123456789abcdef";

size_t num_put_hex(char *out, uint64_t v)
{
	size_t len = v ? (size_t)(67 - __builtin_clzll(v)) / 4 : 1;

	for (size_t i = len; i-- > 0; v >>= 4)
		out[i] = hex_digits[v & 15];
	return len;
}

void num_put_hex_bytes(char *out, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < len; i++) {
		out[2 * i] = hex_digits[at[i] >> 4];
		out[2 * i + 1] = hex_digits[at[i] & 15];
	}
}

unsigned num_parse_quality(struct slice text)
{
	unsigned v = 0, unit = 1000;

	text = slice_trim(text);
	if (!slice_starts(text, SLICE("q=")) || text.len < 3 || !ascii_is_digit(text.ptr[2]))
		return 1000;
	v = text.ptr[2] == '0' ? 0 : 1000;
	for (size_t i = 4; text.len > 3 && text.ptr[3] == '.' && i < text.len && i < 7; i++) {
		if (!ascii_is_digit(text.ptr[i]))
			break;
		unit /= 10;
		v += (unsigned)(text.ptr[i] - '0') * unit;
	}
	return v < 1000 ? v : 1000;
}

/* xorshift64*. */
uint64_t num_random(void)
{
	static __thread uint64_t state;

	while (!state) {
		if (getrandom(&state, sizeof(state), GRND_NONBLOCK) != sizeof(state))
			state = clock_read_ns() * 0x9e3779b97f4a7c15ull;
	}
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dull;
}
